/**
 * Does the value tell good from bad early? The area under the ROC curve of a trace's mean value in a decile of progress for its
 * outcome: the share of pairs of a success and a failure in which the success has the larger mean, ties half (Mann-Whitney U; Hanley
 * and McNeil 1982; scikit-learn's `roc_auc_score`). No unit; 0.5 is chance.
 *
 * Over pairs within groups it is the number of such pairs over the number of pairs, both summed over groups: the rollouts of one
 * prompt at one step where uids repeat, else the trajectories of one step.
 *
 * With weights w (how often a resample drew each trajectory) the area is exact in one pass over the traces in the order of their
 * means: Σ w_i (2 · negatives below + negatives equal) / (2 · positives · negatives). The order is sorted once, so a resample costs O(n).
 */
import type { PairGroup } from './contract.js'
import type { Take } from './estimate.js'
import { MOMENTS } from './moments.js'
import type { Family, PlanBuilder, Ranked, Unit } from './plan.js'
import { DECILES, type QualityRecord } from './record.js'

const NO_PAIR = 'no pair of a success and a failure with values there'

/** Traces in the order of group and mean. */
interface Ordered {
  /** [traces] unit of each */
  readonly unit: Int32Array
  /** [traces] 1: a success */
  readonly success: Uint8Array
  /** [traces] bit 0: the last of those with one mean in one group; bit 1: the last of its group */
  readonly last: Uint8Array
}

interface Trace {
  readonly unit: number
  readonly record: QualityRecord
  readonly score: number
  readonly group: number
}

/** Adds the areas over all pairs, one a decile. */
export function addAuc(builder: PlanBuilder): <E>(take: Take<E>, refusal: string | null) => E[] {
  return ten(builder.rank(ranked(builder.units, () => '')))
}

/** Adds the areas within groups, one a decile. */
export function addAucWithin(builder: PlanBuilder, group: PairGroup): <E>(take: Take<E>, refusal: string | null) => E[] {
  // The rollouts of a prompt are drawn together: what they contribute is a sum of their unit.
  return ten(
    group === 'prompt'
      ? builder.add(promptFamily(builder.units))
      : builder.rank(ranked(builder.units, ({ step }) => (step === null ? null : `${step}`)))
  )
}

function ten(first: number): <E>(take: Take<E>, refusal: string | null) => E[] {
  return (take, refusal) => Array.from({ length: DECILES }, (_, decile) => take(first + decile, refusal))
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

function tracesAt(units: readonly Unit[], decile: number, groupOf: (record: QualityRecord) => string | null): Trace[] {
  const groups = new Map<string, number>()
  const traces: Trace[] = []
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

function ordered(traces: readonly Trace[]): Ordered {
  const last = new Uint8Array(traces.length)
  traces.forEach((trace, i) => {
    const next = traces[i + 1]
    const endsGroup = next?.group !== trace.group
    last[i] = (endsGroup || next.score !== trace.score ? 1 : 0) + (endsGroup ? 2 : 0)
  })
  return {
    unit: Int32Array.from(traces, t => t.unit),
    success: Uint8Array.from(traces, t => (t.record.outcome === 'success' ? 1 : 0)),
    last
  }
}

/** Pairs, and twice the pairs in which the success is ahead (a tie counts one), of weighted traces, summed over groups. */
function countPairs({ unit, success, last }: Ordered, weights: ArrayLike<number>, at: number): { pairs: number; ahead2: number } {
  let [pairs, ahead2, positives, below, tiedPositives, tiedNegatives] = [0, 0, 0, 0, 0, 0]
  for (let i = 0; i < unit.length; i++) {
    const w = weights[at + unit[i]]
    const positive = w * success[i]
    tiedPositives += positive
    tiedNegatives += w - positive
    if (last[i] === 0) continue
    ahead2 += tiedPositives * (2 * below + tiedNegatives)
    positives += tiedPositives
    below += tiedNegatives
    tiedPositives = 0
    tiedNegatives = 0
    if (last[i] === 1) continue
    pairs += positives * below
    positives = 0
    below = 0
  }
  return { pairs, ahead2 }
}

function ranked(units: readonly Unit[], groupOf: (record: QualityRecord) => string | null): Ranked {
  const deciles = Array.from({ length: DECILES }, (_, decile) => ordered(tracesAt(units, decile, groupOf)))
  return {
    slots: DECILES,
    read(weights, at, out, to) {
      deciles.forEach((traces, decile) => {
        const { pairs, ahead2 } = countPairs(traces, weights, at)
        out[to + decile] = ahead2 / (2 * pairs)
      })
    },
    trajectories: decile => deciles[decile].unit.length,
    why: () => NO_PAIR
  }
}

/** Pairs and twice the pairs ahead of each decile, within the prompts of a unit. */
function promptFamily(units: readonly Unit[]): Family {
  const pairsOf = (unit: Unit, decile: number) => countPairs(ordered(tracesAt([unit], decile, promptOf)), [1], 0)
  return {
    columns: 2 * DECILES,
    slots: DECILES,
    fill(unit, row, at) {
      for (let decile = 0; decile < DECILES; decile++) {
        const { pairs, ahead2 } = pairsOf(unit, decile)
        row[at + 2 * decile] = pairs
        row[at + 2 * decile + 1] = ahead2
      }
    },
    read(sums, at, out, to) {
      for (let decile = 0; decile < DECILES; decile++) out[to + decile] = sums[at + 2 * decile + 1] / (2 * sums[at + 2 * decile])
    },
    trajectories: decile =>
      units.reduce((sum, unit) => sum + (pairsOf(unit, decile).pairs > 0 ? tracesAt([unit], decile, promptOf).length : 0), 0),
    why: () => NO_PAIR
  }
}
