/**
 * Where samples differ by rule: the transitions over gaps between turns, and the last tokens, as they are stored. A sample has
 * few of them, so its record carries their numbers, and the coefficients may be known later.
 */
import type { SampleNumbers } from '../../../schema/samples.js'
import { packGaps, type PackedGaps } from './packed-gaps.js'
import type { MaskedChain, MaskedPair, TokenNumbers, Transition } from './transition.js'
import type { AuditView } from './view.js'

/** Gaps of one sample that its record carries. */
export const GAPS_KEPT = 16

/** Masked tokens of a chain that a record carries, and chains of a sample's gaps. */
const CHAIN_KEPT = 256
const CHAINS_KEPT = 4

export interface Ends {
  /** the first gaps between turns, and the last */
  readonly gaps: PackedGaps
  readonly gapCount: number
  /** the last trainable token but one, and the last */
  readonly beforeLast: Transition | null
  readonly last: Transition | null
  /** the last token of the response, where it is masked */
  readonly end: TokenNumbers | null
  /** masked tokens, and those among them with a return, a value, a KL or reward that is not 0 */
  readonly masked: number
  readonly maskedReturns: number
  readonly maskedValues: number
  readonly trailingRewards: number
  /** the first token of the response, and the first trainable one */
  readonly start: TokenNumbers | null
  readonly first: TokenNumbers | null
}

function finiteAt(array: SampleNumbers | null, i: number): number | null {
  return array !== null && Number.isFinite(array[i]) ? array[i] : null
}

function numbersAt(view: AuditView, values: SampleNumbers, returns: SampleNumbers, i: number, token: number): TokenNumbers | null {
  // a masked token may hold anything
  if (i < 0 || i >= view.length || !Number.isFinite(values[i] + returns[i])) return null
  return {
    token,
    value: values[i],
    ret: returns[i],
    reward: finiteAt(view.rewards, i),
    kl: finiteAt(view.kl, i),
    advantage: finiteAt(view.advantages, i)
  }
}

function maskedPairs(view: AuditView, values: SampleNumbers, returns: SampleNumbers, i: number, j: number): MaskedPair[] {
  if (!view.whole) return []
  const at = [...new Set([i + 1, j - 2, j - 1])].filter(m => m > i && m < j)
  return at.flatMap(m => {
    const here = numbersAt(view, values, returns, m, m)
    if (here === null) return []
    return [{ here, next: numbersAt(view, values, returns, m + 1, m + 1), closes: m + 1 === j && j < view.length }]
  })
}

/** `i` is the token in front of the masked ones, `j` the one behind them. */
function isCleared(view: AuditView, returns: SampleNumbers, i: number, j: number): boolean {
  if (!view.whole || j - i < 2) return false
  for (let m = i + 1; m < j; m++) if (returns[m] !== 0) return false
  return true
}

function chainOf(view: AuditView, values: SampleNumbers, i: number, j: number): MaskedChain | null {
  if (j - i - 1 > CHAIN_KEPT) return null
  for (let m = i + 1; m < j; m++) if (!Number.isFinite(values[m])) return null
  const cut = (array: SampleNumbers): number[] => Array.from(array.subarray(i + 1, j))
  const all = [view.rewards, view.kl].every(array => array === null || array.subarray(i + 1, j).every(Number.isFinite))
  if (!all) return null
  return { values: cut(values), rewards: view.rewards === null ? null : cut(view.rewards), kl: view.kl === null ? null : cut(view.kl) }
}

function transitionAt(view: AuditView, values: SampleNumbers, returns: SampleNumbers, k: number, chained: boolean): Transition | null {
  const n = view.positions.length
  if (k < 0 || k >= n) return null
  const i = view.at[k]
  const t = view.positions[k]
  const here = numbersAt(view, values, returns, i, t)
  if (here === null) return null
  const last = k === n - 1
  const contiguous = !last && view.positions[k + 1] === t + 1
  const known = view.whole || contiguous
  const second = view.whole || (contiguous && view.positions[k + 2] === t + 2)
  const j = last ? -1 : view.at[k + 1]
  const end = last ? view.length : j
  const cleared = isCleared(view, returns, i, end)
  const beside = (at: number): number | null =>
    view.whole && j >= 0 && at < view.length && Number.isFinite(values[at]) ? values[at] : null
  return {
    here,
    previous: view.whole || view.positions[k - 1] === t - 1 ? numbersAt(view, values, returns, i - 1, t - 1) : null,
    masked: last ? (view.whole ? view.length - 1 - i : 0) : view.positions[k + 1] - t - 1,
    next: known ? numbersAt(view, values, returns, i + 1, t + 1) : null,
    second: second ? numbersAt(view, values, returns, i + 2, t + 2) : null,
    pairs: maskedPairs(view, values, returns, i, end),
    cleared,
    chain: chained && cleared ? chainOf(view, values, i, end) : null,
    trainable: last ? null : numbersAt(view, values, returns, j, view.positions[k + 1]),
    valueBefore: beside(j - 1),
    valueBehind: beside(j + 1)
  }
}

function maskedCounts(
  view: AuditView,
  values: SampleNumbers,
  returns: SampleNumbers
): Pick<Ends, 'masked' | 'maskedReturns' | 'maskedValues' | 'trailingRewards'> {
  let [masked, maskedReturns, maskedValues, trailingRewards] = [0, 0, 0, 0]
  if (!view.whole) return { masked, maskedReturns, maskedValues, trailingRewards }
  let k = 0
  const n = view.positions.length
  for (let t = 0; t < view.length; t++) {
    if (k < n && view.positions[k] === t) {
      k += 1
      continue
    }
    // in front of the first trainable token nothing depends on a rule
    if (k === 0) continue
    masked += 1
    if (returns[t] !== 0) maskedReturns += 1
    if (values[t] !== 0) maskedValues += 1
    if (k === n && ((view.kl !== null && view.kl[t] !== 0) || (view.rewards !== null && view.rewards[t] !== 0))) trailingRewards += 1
  }
  return { masked, maskedReturns, maskedValues, trailingRewards }
}

export function endsOf(view: AuditView): Ends | null {
  const { values, returns, positions } = view
  const n = positions.length
  if (values === null || returns === null || n === 0) return null
  // the first ones and the last, where a reward at the end shows most
  const kept: number[] = []
  let gapCount = 0
  for (let k = 0; k + 1 < n; k++) {
    if (positions[k + 1] === positions[k] + 1) continue
    gapCount += 1
    if (kept.length === GAPS_KEPT) kept[GAPS_KEPT - 1] = k
    else kept.push(k)
  }
  const gaps = kept.flatMap((k, i) => {
    const gap = transitionAt(view, values, returns, k, i < CHAINS_KEPT - 1 || i === kept.length - 1)
    return gap === null ? [] : [gap]
  })
  const last = transitionAt(view, values, returns, n - 1, true)
  return {
    gaps: packGaps(gaps),
    gapCount,
    beforeLast: transitionAt(view, values, returns, n - 2, false),
    last,
    end: last !== null && last.masked > 0 ? numbersAt(view, values, returns, view.length - 1, view.length - 1) : null,
    ...maskedCounts(view, values, returns),
    start: view.whole ? numbersAt(view, values, returns, 0, 0) : null,
    first: numbersAt(view, values, returns, view.at[0], view.positions[0])
  }
}
