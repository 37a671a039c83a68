/**
 * What is drawn of a stretch of a trace: of each bucket of a turn the first, smallest, largest and last token, as the figures
 * keep them. The page's script and its server use this module, so that both show the same tokens. Nothing of Node is imported.
 */
import { decimateSpans } from '../figures/decimate.js'
import type { TraceView } from './contract.js'

/** Every token of a trace. */
export interface TraceTokens {
  /** [tokens] */
  readonly values: Float32Array | Float64Array
  /** [tokens] */
  readonly returns: Float32Array | Float64Array
  /** [turns] of the first token of each turn; inside a turn they grow by 1 */
  readonly positions: Float64Array
  /** [turns + 1] turn k has the tokens `starts[k]` to `starts[k + 1] - 1` */
  readonly starts: Int32Array
}

export interface ViewRange {
  readonly from: number
  /** behind the last token */
  readonly to: number
  /** about the number of pixels across the plot */
  readonly buckets: number
}

/**
 * The tokens of a trace as its page has them.
 * @param steps [tokens] position minus that of the token before; of the first token its position
 */
export function traceTokens(values: TraceTokens['values'], returns: TraceTokens['returns'], steps: Int32Array | Float64Array): TraceTokens {
  const tokens = values.length
  let turns = 1
  for (let i = 1; i < tokens; i++) if (steps[i] > 1) turns++
  const positions = new Float64Array(turns)
  const starts = new Int32Array(turns + 1)
  let position = steps[0]
  positions[0] = position
  for (let i = 1, turn = 0; i < tokens; i++) {
    position += steps[i]
    if (steps[i] === 1) continue
    starts[++turn] = i
    positions[turn] = position
  }
  starts[turns] = tokens
  return { values, returns, positions, starts }
}

/**
 * Keeps at most `4 * (buckets + turns)` tokens.
 * @throws RangeError where the range is not within the trace, or is empty
 */
export function viewOf({ values, returns, positions, starts }: TraceTokens, { from, to, buckets }: ViewRange): TraceView {
  if (!(Number.isInteger(from) && Number.isInteger(to) && 0 <= from && from < to && to <= values.length)) {
    throw new RangeError(`tokens ${from} to ${to} of a trace of ${values.length}`)
  }
  const firstTurn = turnOf(starts, from)
  const lastTurn = turnOf(starts, to - 1)
  const cut = starts.slice(firstTurn, lastTurn + 2)
  for (let k = 0; k < cut.length; k++) cut[k] = Math.min(Math.max(cut[k], from), to) - from
  const { indexes: index, spanOffsets } = decimateSpans(values.subarray(from, to), cut, buckets)
  const kept = index.length
  const view: TraceView = {
    from,
    to,
    index,
    value: new Float64Array(kept),
    return: new Float64Array(kept),
    change: new Float64Array(kept),
    position: new Float64Array(kept),
    turn: new Int32Array(kept)
  }
  for (let turn = 0; turn + 1 < spanOffsets.length; turn++) view.turn.fill(firstTurn + turn, spanOffsets[turn], spanOffsets[turn + 1])
  for (let k = 0; k < kept; k++) {
    const i = index[k] + from
    index[k] = i
    view.value[k] = values[i]
    view.return[k] = returns[i]
    view.change[k] = i === 0 ? NaN : values[i] - values[i - 1]
    view.position[k] = positions[view.turn[k]] + (i - starts[view.turn[k]])
  }
  return view
}

/** 0-based turn of a token. @param starts as of `TraceTokens` */
export function turnOf(starts: Int32Array, token: number): number {
  let low = 0
  let high = starts.length - 2
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (starts[middle] <= token) low = middle
    else high = middle - 1
  }
  return low
}
