/** All figures, in the order of their numbers. A new one is a folder and a line here. */
import { figure08 } from './08-critic-traces/index.js'
import type { FigureDefinition } from './definition.js'

export const FIGURES: readonly FigureDefinition[] = [figure08]
