/**
 * The functions that a plain chart configuration may name: an object `{ fn: 'tickLabels', … }` stands for the function
 * that the registry below makes of its other fields. No canvas is needed here, so a page can resolve the same names.
 */
import { Fault, printable } from '../../core/errors.js'
import type { Plain } from './config.js'

type PlainObject = { readonly [key: string]: Plain }

/** The parts of a Chart.js scale that the named functions touch. */
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

/** Every resolved chart is a tree of these. All but the points are Chart.js's own to write to. */
export type Resolved = string | number | boolean | null | ResolvedFunction | Resolved[] | { [key: string]: Resolved } | Point
type Point = PlainObject & { readonly x: Plain; readonly y: Plain }
type ResolvedFunction = (scale: never, index: number) => unknown

function makeFunction(named: NamedFunction): ResolvedFunction {
  switch (named.fn) {
    // Exactly these ticks (option `afterBuildTicks`): Chart.js would choose others for other text sizes.
    case 'tickValues':
      return (scale: ScaleParts) => {
        scale.ticks = named.values.map(value => ({ value }))
      }
    // The text of tick number `index` (option `ticks.callback`).
    case 'tickLabels':
      return (_value: number, index: number) => named.labels[index] ?? ''
    // The axis takes exactly this room (option `afterFit`), so that the plot areas of stacked panels are in line. The
    // paddings are what Chart.js would otherwise take from the plot area for the outermost labels.
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
 * A copy of `plain` with every named function made; an unknown name is a fault. Chart.js and its plugins mark the lists
 * and complete the options that they are given; points, of which there are thousands, they leave alone: those are shared.
 */
export function resolveFunctions(plain: Plain): Resolved {
  if (plain === null || typeof plain !== 'object') return plain
  if (isList(plain)) return plain.map(resolveFunctions)
  if (isPoint(plain)) return plain
  if (isNamedFunction(plain)) return makeFunction(plain)
  if ('fn' in plain) {
    throw new Fault({
      format: 'figure', problem: 'names an unknown function', found: printable(String(plain['fn'])),
      expected: [...NAMES].join(', ')
    })
  }
  const copy: { [key: string]: Resolved } = {}
  for (const key of Object.keys(plain)) copy[key] = resolveFunctions(plain[key] as Plain)
  return copy
}

function isPoint(value: PlainObject): value is Point {
  return 'x' in value && 'y' in value && Object.keys(value).length === 2 && typeof value['x'] === 'number'
}

/** `Array.isArray` does not narrow a readonly array. */
function isList(value: object): value is readonly Plain[] {
  return Array.isArray(value)
}
