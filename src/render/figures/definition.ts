/** What a figure is to the rest of the program: a name, and a pure function from data to plain configuration. */
import type { CriticTraceFigureData } from '../../compute/contract.js'
import type { FigureConfig } from './config.js'

/** Everything that figures can be drawn from; a run has some of it. */
export interface FigureInputs {
  readonly criticTraces?: CriticTraceFigureData
}

export interface FigureDefinition {
  /** file name without extension */
  readonly name: string
  /** null where the run does not have this figure's data */
  build(inputs: FigureInputs): FigureConfig | null
}
