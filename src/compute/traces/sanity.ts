/**
 * Signs that a snapshot is not what its author thinks. Each is a note and never a failure: an export may well be so. Four
 * mistakes in exporting give traces that pass every check, and one of them, values shifted by a token, turns the finding at
 * turn boundaries around.
 */
import { counted, formatCount } from '../../core/counts.js'

/** Offsets of transitions from a boundary: -2 to 2. Offset 0 is the boundary itself. */
const REACH = 2

/** What one trace adds to the notes. */
export interface TraceSigns {
  /** values that are exactly 0 */
  readonly zeros: number
  /** zeros with which a turn begins or ends, and those next to them: of a turn 0, 0, 5, 0, 7 the first two */
  readonly edgeZeros: number
  /** boundaries with a 0 right behind them, and with a 0 right before them */
  readonly zeroFirsts: number
  readonly zeroLasts: number
  /** number of last tokens with one value and one return */
  readonly tail: number
  /** sum of |change| and number of transitions at each offset from a boundary; other boundaries are left out */
  readonly near: ReadonlyArray<{ readonly sum: number; readonly transitions: number }>
}

/** @param boundaries from-indexes of the boundary transitions, increasing */
export function signsOf(values: Float64Array, returns: Float64Array, boundaries: Int32Array): TraceSigns {
  const n = values.length
  let zeros = 0
  for (let i = 0; i < n; i++) if (values[i] === 0) zeros++
  let first = n - 1
  while (first > 0 && values[first - 1] === values[n - 1] && returns[first - 1] === returns[n - 1]) first--
  const near = Array.from({ length: 2 * REACH + 1 }, () => ({ sum: 0, transitions: 0 }))
  const at = new Set(boundaries)
  for (const boundary of boundaries) {
    for (let offset = -REACH; offset <= REACH; offset++) {
      const i = boundary + offset
      if (i < 0 || i >= n - 1 || (offset !== 0 && at.has(i))) continue
      const cell = near[offset + REACH]
      cell.sum += Math.abs(values[i + 1] - values[i])
      cell.transitions++
    }
  }
  return { zeros, ...zerosAtEdges(values, boundaries), tail: n - first, near }
}

function zerosAtEdges(values: Float64Array, boundaries: Int32Array): Pick<TraceSigns, 'edgeZeros' | 'zeroFirsts' | 'zeroLasts'> {
  let edgeZeros = 0
  let zeroFirsts = 0
  let zeroLasts = 0
  let start = 0
  for (let turn = 0; turn <= boundaries.length; turn++) {
    const end = turn < boundaries.length ? boundaries[turn] + 1 : values.length
    let from = start
    let to = end
    while (from < end && values[from] === 0) from++
    while (to > from && values[to - 1] === 0) to--
    edgeZeros += from - start + (end - to)
    if (turn > 0 && values[start] === 0) zeroFirsts++
    if (turn < boundaries.length && values[end - 1] === 0) zeroLasts++
    start = end
  }
  return { edgeZeros, zeroFirsts, zeroLasts }
}

/** A trace and its signs, as far as the notes need them. */
export interface SignedTrace {
  readonly tokens: number
  readonly boundaries: number
  readonly signs: TraceSigns
}

/** Share of exact zeros above which they are noted. A critic's float is hardly ever exactly 0. */
const MANY_ZEROS = 0.01
/** Length from which a constant end is more than chance. */
const LONG_TAIL = 8
/** Fewest boundaries and least ratio for a peak beside the boundary; below, chance may make one. */
const MIN_BOUNDARIES = 30
const PEAK_RATIO = 1.5
/** Fewest turns that begin (or end) with 0 */
const MIN_ZERO_TURNS = 5

/** One sentence for each sign that is found. */
export function sanityNotes(traces: readonly SignedTrace[]): string[] {
  const tokens = traces.reduce((sum, t) => sum + t.tokens, 0)
  if (traces.length === 0) return []
  return [
    noBoundary(traces, tokens),
    keptPadding(traces),
    manyZeros(traces, tokens),
    shifted(traces),
    zerosAtBoundaries(traces, tokens)
  ].filter(note => note !== null)
}

function noBoundary(traces: readonly SignedTrace[], tokens: number): string | null {
  if (traces.some(t => t.boundaries > 0)) return null
  const where = traces.length === 1 ? 'in the one trace' : `in any of ${formatCount(traces.length)} traces`
  return `no turn boundary ${where} of ${counted(tokens, 'token')}: one turn each, or the mask was lost, or positions were numbered anew`
}

function keptPadding(traces: readonly SignedTrace[]): string | null {
  const [{ tokens }] = traces
  const long = traces.filter(t => t.signs.tail >= LONG_TAIL && t.signs.tail < t.tokens)
  if (traces.length < 2 || traces.some(t => t.tokens !== tokens) || 2 * long.length < traces.length) return null
  return (
    `all ${formatCount(traces.length)} traces have ${counted(tokens, 'token')}, and ${formatCount(long.length)} ${long.length === 1 ? 'ends' : 'end'} in ${LONG_TAIL} or ` +
    'more equal values and returns: padding may have been kept'
  )
}

function manyZeros(traces: readonly SignedTrace[], tokens: number): string | null {
  const zeros = traces.reduce((sum, t) => sum + t.signs.zeros, 0)
  if (zeros <= MANY_ZEROS * tokens) return null
  return `${counted(zeros, 'value')} of ${formatCount(tokens)} ${zeros === 1 ? 'is' : 'are'} exactly 0: padding, or masked tokens set to 0`
}

function shifted(traces: readonly SignedTrace[]): string | null {
  const means = Array.from({ length: 2 * REACH + 1 }, (_, k) => {
    const transitions = traces.reduce((sum, t) => sum + t.signs.near[k].transitions, 0)
    return { transitions, mean: traces.reduce((sum, t) => sum + t.signs.near[k].sum, 0) / transitions }
  })
  const own = means[REACH]
  if (own.transitions < MIN_BOUNDARIES) return null
  const peak = means.reduce((best, m, k) => (m.transitions >= MIN_BOUNDARIES && m.mean > means[best].mean ? k : best), REACH)
  if (peak === REACH || means[peak].mean < PEAK_RATIO * own.mean) return null
  const offset = peak - REACH
  return (
    `the mean |change| of the value is largest ${counted(Math.abs(offset), 'token')} ${offset < 0 ? 'before' : 'after'} the boundaries ` +
    `(${means[peak].mean.toPrecision(3)} against ${own.mean.toPrecision(3)} at them): values may be shifted against the mask`
  )
}

/**
 * Masked tokens set to 0, and values shifted against the mask: then the zeros stand where turns begin, or where they end. No note
 * where zeros are common elsewhere too, or where whole traces are 0.
 */
function zerosAtBoundaries(traces: readonly SignedTrace[], tokens: number): string | null {
  const sum = (of: (t: SignedTrace) => number): number => traces.reduce((all, t) => all + of(t), 0)
  const boundaries = sum(t => t.boundaries)
  const [firsts, lasts] = [sum(t => t.signs.zeroFirsts), sum(t => t.signs.zeroLasts)]
  const edges = sum(t => t.signs.edgeZeros)
  const most = Math.max(firsts, lasts)
  if (most < MIN_ZERO_TURNS || 2 * most < boundaries || 2 * edges > tokens) return null
  if (sum(t => t.signs.zeros) - edges > MANY_ZEROS * (tokens - edges)) return null
  const where = firsts >= lasts ? 'first tokens of turns behind' : 'last tokens of turns before'
  return `${formatCount(most)} of ${formatCount(boundaries)} ${where} a boundary have value exactly 0: values may be shifted against the mask`
}
