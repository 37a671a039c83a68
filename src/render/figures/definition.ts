/** What a kind of figure is to the rest of the program: a name, and a pure function from data to plain configurations. */
import type { CriticTraceFigureData } from '../../compute/traces/contract.js'
import type { BarFigureData } from '../../compute/evidence/contract.js'
import type { CurveFigureData } from '../../compute/histories/contract.js'
import type { FigureConfig } from './config.js'

/** Everything that figures can be drawn from; a run has some of it. */
export interface FigureInputs {
  /** the figures that a study declares of its written evidence */
  readonly bars?: readonly BarFigureData[]
  /** the figures that a study declares of its training histories */
  readonly curves?: readonly CurveFigureData[]
  readonly criticTraces?: CriticTraceFigureData
}

export interface FigureDefinition {
  /** of the kind: its folder here. The file names are the configurations' own. */
  readonly name: string
  /** every figure of this kind that the data allow; empty where the run does not have its data */
  build(inputs: FigureInputs): readonly FigureConfig[]
}
