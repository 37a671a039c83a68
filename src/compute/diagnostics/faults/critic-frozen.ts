/**
 * The critic was never trained, or is frozen. Values are one number throughout while returns vary; or the same prompts get
 * exactly the same first value at different steps (the value before the first token depends on the prompt alone); or, over hundreds
 * of trajectories of three steps or more, values neither follow the returns nor move. Fewer do not tell such a critic from a poor one.
 */
import { maxOf, minOf } from '../../../core/extremes.js'
import { counted, formatCount } from '../../../core/counts.js'
import { SINGLE } from '../estimator/precision.js'
import type { EstimatorRecord } from '../estimator/record.js'
import { mergeSpreads, NOTHING, type Spread } from '../estimator/spreads.js'
import { type Case, type FaultKind, type Sighting, shown } from './finding.js'

/** Trajectories and steps from which the statistical sign is looked for. */
const MANY = 512
const STEPS = 3
/**
 * Pairs of one prompt at two steps. More where values are rounded so much that a small change does not show, and many more where
 * different prompts share a value.
 */
const REPEATED = 3
const REPEATED_COARSE = 4
const REPEATED_SHARED = 8

function merged(records: readonly EstimatorRecord[], pick: 'values' | 'returns'): Spread {
  return records.reduce((sum, r) => (r.spreads === null ? sum : mergeSpreads(sum, r.spreads[pick])), NOTHING)
}

function constant(records: readonly EstimatorRecord[]): Sighting | null {
  const values = merged(records, 'values')
  const returns = merged(records, 'returns')
  if (records.length < 2 || values.n < 16 || returns.m2 === 0) return null
  if (values.m2 > 0) return null
  return {
    message: `The critic gives one number, ${shown(values.mean)}, at all ${counted(values.n, 'token')}, while returns vary with a deviation of ${shown(Math.sqrt(returns.m2 / returns.n))}`,
    place: null,
    evidence: { value: values.mean, tokens: values.n, deviation_of_returns: Math.sqrt(returns.m2 / returns.n) }
  }
}

/** First values that are all the same do not tell prompts apart: they say nothing of steps. */
const FEWEST_DIFFERENT = 2

/** True where a uid is met at two steps: then it names the prompt. */
function namesPrompts(records: readonly EstimatorRecord[]): boolean {
  const steps = new Map<string, number | null>()
  return records.some(({ uid, step }) => {
    if (uid === null) return false
    if (!steps.has(uid)) steps.set(uid, step)
    return steps.get(uid) !== step
  })
}

/** The value that depends on the prompt alone: of the first token of the response, where it is not cleared as a masked one. */
function firstValue({ ends }: EstimatorRecord): number | null {
  const start = ends?.start?.value ?? 0
  return start !== 0 ? start : (ends?.first?.value ?? null)
}

function sameFirstValues(records: readonly EstimatorRecord[]): Sighting | null {
  const first = new Map<string, EstimatorRecord>()
  const places = new Map<number, number>()
  const named = namesPrompts(records)
  let [pairs, equal] = [0, 0]
  let place: Sighting['place'] = null
  const different = new Set<number>()
  const prompts = new Set<string>()
  for (const record of records) {
    const value = firstValue(record)
    if (record.step === null || value === null) continue
    const at = places.get(record.step) ?? 0
    places.set(record.step, at + 1)
    // where a dump names no prompt, the place in the step
    const prompt = named && record.uid !== null ? record.uid : `place ${at}`
    const before = first.get(prompt)
    if (before === undefined) first.set(prompt, record)
    else if (before.step !== record.step) {
      pairs += 1
      if (firstValue(before) === value) {
        equal += 1
        different.add(value)
        prompts.add(prompt)
        place ??= { sample: record.index, token: 0 }
      }
    }
  }
  const coarse = records.every(r => r.precision.values.relative > 2 * SINGLE)
  const enough = !coarse ? REPEATED : different.size === prompts.size ? REPEATED_COARSE : REPEATED_SHARED
  if (pairs < enough || equal < 0.95 * pairs || different.size < FEWEST_DIFFERENT) return null
  return {
    message: `The critic did not change between steps: ${equal} of ${counted(pairs, 'repeated prompt')} have exactly the same first value at another step`,
    place,
    evidence: { repeated_prompts: pairs, equal_first_values: equal }
  }
}

function correlation(x: readonly number[], y: readonly number[]): number {
  const [mx, my] = [x, y].map(a => a.reduce((s, v) => s + v, 0) / a.length)
  let [xy, xx, yy] = [0, 0, 0]
  x.forEach((v, i) => {
    xy += (v - mx) * (y[i] - my)
    xx += (v - mx) ** 2
    yy += (y[i] - my) ** 2
  })
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : 0
}

/** Trajectories' mean values against their scores, and the spread of the steps' means against that of trajectories. */
function unrelated(records: readonly EstimatorRecord[]): Sighting | null {
  const known = records.flatMap(r =>
    r.spreads === null || r.score === null || r.step === null ? [] : [{ step: r.step, score: r.score, value: r.spreads.values.mean }]
  )
  const steps = [...new Set(known.map(k => k.step))]
  if (known.length < MANY || steps.length < STEPS) return null
  const r = correlation(
    known.map(k => k.value),
    known.map(k => k.score)
  )
  const scores = known.map(k => k.score)
  if (maxOf(scores) === minOf(scores)) return null
  // 95 % interval of Fisher's z lies below a correlation of 0.2, and includes 0
  const half = 1.96 / Math.sqrt(known.length - 3)
  if (Math.abs(Math.atanh(r)) > half || Math.tanh(Math.abs(Math.atanh(r)) + half) > 0.2) return null
  const mean = known.reduce((s, k) => s + k.value, 0) / known.length
  let [between, within] = [0, 0]
  for (const step of steps) {
    const of = known.filter(k => k.step === step)
    const own = of.reduce((s, k) => s + k.value, 0) / of.length
    between += of.length * (own - mean) ** 2
    for (const k of of) within += (k.value - own) ** 2
  }
  const ratio = between / (steps.length - 1) / (within / (known.length - steps.length))
  if (!(ratio < 1.5)) return null
  return {
    message: `Values do not follow the scores, with a correlation of ${shown(r)} over ${formatCount(known.length)} trajectories, nor move between ${counted(steps.length, 'step')}`,
    place: null,
    evidence: { correlation: r, trajectories: known.length, steps: steps.length, variance_ratio_between_steps: ratio }
  }
}

export const criticFrozen: FaultKind = {
  kind: 'critic-frozen',
  severity: 'fault',
  report: 'https://github.com/jsboige/CoursIA/pull/15256',
  find: ({ evidence }: Case) => {
    const records = evidence.records.filter(r => r.has.values && r.has.returns)
    return constant(records) ?? sameFirstValues(records) ?? unrelated(records)
  }
}
