/**
 * The functions that a plain chart configuration may name. An object `{ fn: 'tickLabels', … }` stands for the function
 * that this module makes from its other fields. No canvas is needed, so a page can resolve the same names.
 */
import { Fault, printable } from '../../core/errors.js'
import type { Plain } from './config.js'

type PlainObject = { readonly [key: string]: Plain }

/** The members of a Chart.js scale that the named functions use. */
interface ScaleParts {
  ticks: Array<{ value: number; label?: string }>
  width: number
  height: number
  paddingLeft: number
  paddingRight: number
  paddingTop: number
  paddingBottom: number
}

export type NamedFunction =
  | { readonly fn: 'tickValues'; readonly values: readonly number[] }
  | { readonly fn: 'tickLabels'; readonly labels: readonly string[] }
  | { readonly fn: 'fixedSize'; readonly size: number; readonly side: 'width' | 'height' }

/** A node of a resolved chart. Chart.js may write to all nodes except the points. */
export type ResolvedChart =
  | string
  | number
  | boolean
  | null
  | ResolvedFunction
  | ResolvedChart[]
  | { [key: string]: ResolvedChart }
  | PlainPoint
type PlainPoint = PlainObject & { readonly x: Plain; readonly y: Plain }
type ResolvedFunction = (scale: never, index: number) => unknown

function makeFunction(named: NamedFunction): ResolvedFunction {
  switch (named.fn) {
    // Sets exactly these ticks (option `afterBuildTicks`). Chart.js would choose different ticks for different text
    // sizes.
    case 'tickValues':
      return (scale: ScaleParts) => {
        scale.ticks = named.values.map(value => ({ value }))
      }
    // Gives the text of tick `index` (option `ticks.callback`).
    case 'tickLabels':
      return (_value: number, index: number) => named.labels[index] ?? ''
    // Gives the axis exactly this size (option `afterFit`), so that the plot areas of stacked panels are aligned.
    // Chart.js would otherwise take the paddings from the plot area for the outermost labels.
    case 'fixedSize':
      return (scale: ScaleParts) => {
        scale[named.side] = named.size
        scale.paddingLeft = scale.paddingRight = scale.paddingTop = scale.paddingBottom = 0
      }
  }
}

const NAMES: ReadonlySet<string> = new Set<NamedFunction['fn']>(['tickValues', 'tickLabels', 'fixedSize'])

function isNamedFunction(value: PlainObject): value is PlainObject & NamedFunction {
  return typeof value['fn'] === 'string' && NAMES.has(value['fn'])
}

/**
 * A copy of `plain` with every named function resolved. Chart.js and its plugins write to the lists and options that
 * they get. They do not write to points, so the thousands of points are shared and not copied.
 * @throws Fault for an unknown name
 */
export function resolveFunctions(plain: Plain): ResolvedChart {
  if (plain === null || typeof plain !== 'object') return plain
  if (isList(plain)) return plain.map(resolveFunctions)
  if (isPoint(plain)) return plain
  if (isNamedFunction(plain)) return makeFunction(plain)
  if ('fn' in plain) {
    throw new Fault({
      format: 'figure',
      problem: 'names an unknown function',
      found: printable(String(plain['fn'])),
      expected: [...NAMES].join(', ')
    })
  }
  const copy: { [key: string]: ResolvedChart } = {}
  for (const key of Object.keys(plain)) copy[key] = resolveFunctions(plain[key] as Plain)
  return copy
}

function isPoint(value: PlainObject): value is PlainPoint {
  return 'x' in value && 'y' in value && Object.keys(value).length === 2 && typeof value['x'] === 'number'
}

/** `Array.isArray` does not narrow a readonly array. */
function isList(value: object): value is readonly Plain[] {
  return Array.isArray(value)
}
