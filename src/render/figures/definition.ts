/** The interface of a kind of figure: a name, and a pure function from data to plain configurations with the outputs that hold the data. */
import type { CriticTraceFigureData } from '../../compute/traces/contract.js'
import type { BarFigureData } from '../../compute/evidence/contract.js'
import type { Diagnosis } from '../../compute/diagnostics/contract.js'
import type { CurveFigureData, FigureReadings } from '../../compute/histories/contract.js'
import type { FigureConfig } from './config.js'
import type { FigureSheet } from './sheet.js'

/** All data that figures are drawn from. A run has some of it. */
export interface FigureInputs {
  /** the figures that a study declares over its written evidence */
  readonly bars?: readonly BarFigureData[]
  /** the figures that a study declares over its training histories */
  readonly curves?: readonly CurveFigureData[]
  readonly criticTraces?: CriticTraceFigureData
  /** the diagnostics of one set of samples, or of two */
  readonly diagnosis?: Diagnosis
}

/** A figure as it is to be drawn, and where its numbers stand. */
export interface PlannedFigure {
  readonly config: FigureConfig
  /** the same figure as wide as one column, where it is drawn too */
  readonly column?: FigureConfig
  /** outputs that hold what it draws, relative to the output folder; a page that shows the figure links to them */
  readonly drawnFrom: readonly string[]
  /** of a figure of curves: what a page tells of its points; null where they are too many */
  readonly readings?: FigureReadings | null
}

export interface FigureDefinition {
  /** name of the kind, and of its folder here; each configuration has its own file name */
  readonly name: string
  /** all figures of this kind that the data allow; empty where the run lacks the data */
  build(inputs: FigureInputs, sheet: FigureSheet): readonly PlannedFigure[]
}
