/** All kinds of figures, in the order of their numbers. A new kind is a folder and a line here. */
import { Fault, printable } from '../../core/errors.js'
import { figure08 } from './08-critic-traces/index.js'
import { barFigureDefinition } from './bars/index.js'
import { boundaryJumps } from './boundary-jumps/index.js'
import type { FigureConfig } from './config.js'
import { criticQuality } from './critic-quality/index.js'
import { curveFigureDefinition } from './curves/index.js'
import type { FigureDefinition, FigureInputs, PlannedFigure } from './definition.js'
import { PAGE_SHEET, type FigureSheet } from './sheet.js'

export const FIGURES: readonly FigureDefinition[] = [barFigureDefinition, curveFigureDefinition, figure08, criticQuality, boundaryJumps]

/**
 * All figures that the data allow.
 * @throws Fault where two have one name, because they would be one file
 */
export function buildFigures(inputs: FigureInputs, sheet: FigureSheet = PAGE_SHEET): FigureConfig[] {
  return plannedFigures(inputs, sheet).map(({ config }) => config)
}

/** The same figures, each with the outputs that it is drawn from. */
export function plannedFigures(inputs: FigureInputs, sheet: FigureSheet = PAGE_SHEET): PlannedFigure[] {
  const figures = FIGURES.flatMap(figure => figure.build(inputs, sheet))
  refuseSameNames(figures)
  return figures
}

export function refuseSameNames(figures: readonly PlannedFigure[]): void {
  const names = new Set<string>()
  for (const { name } of figures.map(({ config }) => config)) {
    if (names.has(name)) {
      throw new Fault({ format: 'figure', problem: 'has the name of another', found: printable(name), expected: 'a name of its own' })
    }
    names.add(name)
  }
}
