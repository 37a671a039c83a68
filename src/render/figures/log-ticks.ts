/**
 * Ticks of logarithmic and symmetric-logarithmic axes. They are powers of ten, as many as have room for their labels.
 * An axis of less than two decades also has twice and five times a power, or plain round numbers. Between them are
 * minor ticks: the other multiples, or the powers that are left out.
 */
import { formatFigureCount, formatPower, formatScientific } from './format.js'
import { axisMap, type AxisMap } from './scales.js'
import { niceTicks, type Range, type Ticks } from './ticks.js'

/** Smallest distance of two labels on a vertical axis, in points. */
const LABEL_SPACING = 11
/** Points that a decade needs so that lines at the multiples 2 to 9 stay apart. */
const MINOR_DECADE = 24

function power(exponent: number): number {
  return Number(`1e${exponent}`)
}

function isPlain(exponent: number): boolean {
  return exponent >= -3 && exponent <= 4
}

/** Label such as `100`, or `10⁵` where a power of the axis has more than four zeros. */
function powerLabel(multiple: number, exponent: number, plain: boolean): string {
  if (plain) return formatFigureCount(Number(`${multiple}e${exponent}`))
  return `${multiple === 1 ? '' : `${multiple}\u00d7`}${formatPower(exponent)}`
}

interface Tick {
  readonly value: number
  /** null for a minor tick */
  readonly label: string | null
}

function sorted(ticks: readonly Tick[], range: Range): Ticks {
  const inside = ticks.filter(({ value }) => value >= range.min && value <= range.max).sort((a, b) => a.value - b.value)
  return {
    values: inside.map(({ value }) => value),
    labels: inside.map(({ label }) => label ?? ''),
    minor: inside.map(({ label }) => label === null)
  }
}

/** Powers of ten from `first` to `last`, and ticks between them. Every `stride`th power has a label. */
function decades(
  first: number,
  last: number,
  {
    stride,
    multiples,
    pointsPerDecade,
    plain
  }: Readonly<Record<'stride' | 'pointsPerDecade', number>> & {
    readonly multiples: readonly number[]
    readonly plain: boolean
  }
): Tick[] {
  const ticks: Tick[] = []
  for (let exponent = first; exponent <= last; exponent++) {
    for (let multiple = 1; multiple < 10; multiple++) {
      const labelled = multiples.includes(multiple) && exponent % stride === 0
      if (!labelled && multiple > 1 && pointsPerDecade < MINOR_DECADE) continue
      // Grid lines closer than three points would look like an area.
      if (!labelled && pointsPerDecade < 3) continue
      const label = labelled ? powerLabel(multiple, exponent, plain) : null
      ticks.push({ value: Number(`${multiple}e${exponent}`), label })
    }
  }
  return ticks
}

function labelled({ labels }: Ticks): number {
  return labels.filter(label => label !== '').length
}

/** @param height height of the axis, in points */
export function logTicks(range: Range, height: number): Ticks {
  const [low, high] = [Math.log10(range.min), Math.log10(range.max)]
  const pointsPerDecade = height / (high - low)
  const [first, last] = [Math.floor(low), Math.floor(high)]
  const stride = Math.max(1, Math.ceil(LABEL_SPACING / pointsPerDecade))
  const make = (multiples: readonly number[], lowest: number): Ticks =>
    sorted(decades(first, last, { stride, multiples, pointsPerDecade, plain: isPlain(lowest) && isPlain(last) }), range)
  // The power below the range has no label.
  const powers = make([1], Math.ceil(low))
  if (labelled(powers) >= 2) return powers
  const multiples = make([1, 2, 5], first)
  return labelled(multiples) >= 3 ? multiples : niceTicks(range, 6, 'value')
}

/**
 * Ticks at 0, at the threshold and at powers of ten beyond it, on both sides as far as the range extends. Round numbers
 * where fewer than three of these would have a label.
 */
export function symlogTicks(range: Range, linearTo: number, height: number): Ticks {
  const map = axisMap({ kind: 'symlog', linear_to: linearTo })
  const pointsPerDecade = height / (map.forward(range.max) - map.forward(range.min))
  const threshold = Math.log10(linearTo)
  const last = Math.floor(Math.log10(Math.max(-range.min, range.max, linearTo)))
  const stride = Math.max(1, Math.ceil(LABEL_SPACING / pointsPerDecade))
  const isPower = power(Math.round(threshold)) === linearTo
  const from = Math.floor(threshold)
  const beyond = decades(from, last, { stride, multiples: [1], pointsPerDecade, plain: isPlain(from) && isPlain(last) }).filter(
    ({ value }) => value > linearTo
  )
  const plain = isPlain(Math.round(threshold)) && isPlain(last)
  const label = isPower ? powerLabel(1, Math.round(threshold), plain) : shortest(linearTo)
  const positive: Tick[] = [{ value: linearTo, label }, ...beyond]
  // Within the linear part, minor ticks stand at tenths of the threshold.
  if (pointsPerDecade >= MINOR_DECADE) for (let k = 1; k < 10; k++) positive.push({ value: (linearTo * k) / 10, label: null })
  const negative = positive.map(({ value, label: text }) => ({ value: -value, label: text === null ? null : `\u2212${text}` }))
  const all = sorted([...negative, { value: 0, label: '0' }, ...positive], range)
  const ticks = spaced(all, map, pointsPerDecade, [0, linearTo, -linearTo])
  return labelled(ticks) >= 3 ? ticks : niceTicks(range, 6, 'value')
}

function shortest(value: number): string {
  return value >= 1e6 || value < 1e-4 ? formatScientific(value) : formatFigureCount(value)
}

/**
 * Removes labels that are closer than a label's height to a label kept before. The values in `first` are kept before
 * all others.
 */
function spaced(ticks: Ticks, map: AxisMap, pointsPerDecade: number, first: readonly number[]): Ticks {
  const at = (value: number): number => map.forward(value) * pointsPerDecade
  const kept: number[] = []
  const keep = (value: number): boolean => {
    if (!ticks.values.includes(value) || kept.some(other => Math.abs(at(other) - at(value)) < LABEL_SPACING - 1)) return false
    kept.push(value)
    return true
  }
  first.forEach(keep)
  const labels = ticks.values.map((value, k) => (ticks.labels[k] !== '' && (kept.includes(value) || keep(value)) ? ticks.labels[k] : ''))
  return { values: ticks.values, labels, minor: labels.map(label => label === '') }
}
