/**
 * Does the value tell good from bad early? The area under the ROC curve of a trace's mean value in a decile of progress for its
 * outcome: the share of pairs of a success and a failure in which the success has the larger mean, ties half (Mann-Whitney U;
 * Hanley and McNeil 1982; scikit-learn's `roc_auc_score`). No unit; 0.5 is chance.
 *
 * Over pairs within groups it is the number of such pairs over the number of pairs, both summed over groups: the rollouts of
 * one prompt at one step where uids repeat, else the trajectories of one step.
 *
 * With weights w (how often a resample drew each trajectory) the area is exact in one pass over the traces in the order of
 * their means: Σ w_i (2 · negatives below + negatives equal) / (2 · positives · negatives). The order is sorted once, so a
 * resample costs O(n).
 */
import type { ResampleCounts } from '../../../kernel/kernel.js'
import { kernelOfThread } from '../../../kernel/open.js'
import type { PairGroup } from './contract.js'
import type { TakeEstimate } from './estimate.js'
import { MOMENTS } from './moments.js'
import type { SumFamily, QualityPlanBuilder, RankFamily, ResampleUnit } from './plan.js'
import { DECILES, type QualityRecord } from './record.js'
import type { RankedTraces } from './resample-task.js'

/** Of two resamples of one unit the first draws it, the second does not. */
const ONCE: ResampleCounts = { counts: Uint16Array.of(1, 0), width: 2 }
const NO_PAIR = 'no pair of a success and a failure with values there'

interface OrderedTraces extends RankedTraces {
  /** traces of groups that have a pair */
  readonly inPairs: number
}

interface ScoredTrace {
  readonly unit: number
  readonly record: QualityRecord
  readonly score: number
  readonly group: number
}

/** Adds the areas over all pairs, one a decile. */
export function addAuc(builder: QualityPlanBuilder): <E>(take: TakeEstimate<E>) => E[] {
  return ten(builder.rank(ranked(builder.units, () => '')))
}

/** Adds the areas within groups, one a decile. */
export function addAucWithin(builder: QualityPlanBuilder, group: Exclude<PairGroup, null>): <E>(take: TakeEstimate<E>) => E[] {
  // The rollouts of a prompt are drawn together: what they contribute is a sum of their unit.
  return ten(
    group === 'prompt'
      ? builder.add(promptFamily(builder.units))
      : builder.rank(ranked(builder.units, ({ step }) => (step === null ? null : `${step}`)))
  )
}

function ten(first: number): <E>(take: TakeEstimate<E>) => E[] {
  return take => Array.from({ length: DECILES }, (_, decile) => take(first + decile))
}

/** What pairs are within a group of. */
export function pairGroupOf(records: readonly QualityRecord[]): PairGroup {
  const repeats = (keys: readonly unknown[]) => new Set(keys).size < keys.length
  if (repeats(records.flatMap(r => promptOf(r) ?? []))) return 'prompt'
  return repeats(records.flatMap(r => r.step ?? [])) ? 'step' : null
}

/** One prompt at one step: values of two steps are those of two critics. */
function promptOf({ uid, step }: QualityRecord): string | null {
  return uid === null ? null : JSON.stringify([step, uid])
}

function tracesAt(units: readonly ResampleUnit[], decile: number, groupOf: (record: QualityRecord) => string | null): ScoredTrace[] {
  const groups = new Map<string, number>()
  const traces: ScoredTrace[] = []
  units.forEach((records, unit) => {
    for (const record of records) {
      const key = groupOf(record)
      if (record.outcome === null || key === null || record.deciles[decile * MOMENTS] === 0) continue
      const group = groups.get(key) ?? groups.size
      groups.set(key, group)
      traces.push({ unit, record, score: record.decileValues[decile], group })
    }
  })
  return traces.sort((a, b) => a.group - b.group || a.score - b.score)
}

function ordered(traces: readonly ScoredTrace[]): OrderedTraces {
  const flags = new Uint8Array(traces.length)
  let [begin, successes, inPairs] = [0, 0, 0]
  traces.forEach(({ record, group, score }, i) => {
    const next = traces[i + 1]
    const endsGroup = next?.group !== group
    const success = record.outcome === 'success' ? 1 : 0
    flags[i] = (endsGroup || next.score !== score ? 1 : 0) + (endsGroup ? 2 : 0) + 4 * success
    successes += success
    if (!endsGroup) return
    const size = i + 1 - begin
    if (successes > 0 && successes < size) inPairs += size
    begin = i + 1
    successes = 0
  })
  return { unit: Int32Array.from(traces, t => t.unit), flags, inPairs }
}

function ranked(units: readonly ResampleUnit[], groupOf: (record: QualityRecord) => string | null): RankFamily {
  const deciles = Array.from({ length: DECILES }, (_, decile) => ordered(tracesAt(units, decile, groupOf)))
  return {
    slots: DECILES,
    traces: deciles.map(({ unit, flags }) => ({ unit, flags })),
    trajectories: decile => deciles[decile].inPairs,
    why: () => NO_PAIR
  }
}

/** Pairs and twice the pairs ahead of each decile, within the prompts of a unit. */
function promptFamily(units: readonly ResampleUnit[]): SumFamily {
  const inPairs = new Float64Array(DECILES)
  const contributed = new Map(
    units.map(unit => {
      const sums = new Float64Array(2 * DECILES)
      for (let decile = 0; decile < DECILES; decile++) {
        const traces = ordered(tracesAt([unit], decile, promptOf))
        const pairs = kernelOfThread().countPairs(traces.unit, traces.flags, ONCE)
        sums[2 * decile] = pairs[0]
        sums[2 * decile + 1] = pairs[ONCE.width]
        inPairs[decile] += traces.inPairs
      }
      return [unit, sums]
    })
  )
  return {
    columns: 2 * DECILES,
    slots: DECILES,
    fill(unit, row, at) {
      row.set(contributed.get(unit) ?? [], at)
    },
    read(sums, at, out, to) {
      for (let decile = 0; decile < DECILES; decile++) out[to + decile] = sums[at + 2 * decile + 1] / (2 * sums[at + 2 * decile])
    },
    trajectories: decile => inPairs[decile],
    why: () => NO_PAIR
  }
}
