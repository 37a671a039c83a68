/**
 * What a dump without values tells: lengths, turns, outcomes and advantages. One record a sample, reduced in canonical order.
 */
import { EXIT, Fault, type Place } from '../../core/errors.js'
import { decideOutcome } from '../../ingest/traces/outcome.js'
import type { SampleStatisticsDocument } from '../../schema/outputs/sample-statistics.js'
import type { Content } from '../../schema/outputs/document.js'
import type { DumpFacts, Sample, SampleNumbers } from '../../schema/samples.js'
import type { Outcome, OutcomeSource } from '../../schema/traces.js'

/** Numbers of retained tokens: how many, mean, sum of squared deviations from the mean, extremes, exact zeros. */
interface Moments {
  readonly n: number
  readonly mean: number
  readonly squares: number
  readonly least: number
  readonly most: number
  readonly zero: number
}

export interface SampleRecord {
  readonly index: number
  readonly step: number | null
  readonly uid: string | null
  readonly score: number | null
  readonly outcome: Outcome | null
  readonly outcomeFrom: OutcomeSource | null
  readonly file: string
  /** T */
  readonly responseTokens: number
  readonly tokens: number
  readonly turns: number
  readonly advantages: Moments | null
}

/** @throws Fault where an advantage of a retained token is not finite */
export function lengthsOfSample({ index, fields, place, mask, arrays }: Sample, successThreshold: number): SampleRecord {
  let tokens = 0
  let turns = 0
  for (let t = 0; t < mask.length; t++) {
    tokens += mask[t]
    if (mask[t] === 1 && (t === 0 || mask[t - 1] === 0)) turns++
  }
  const { advantages } = arrays
  return {
    index,
    step: fields.step,
    uid: fields.uid,
    score: fields.score,
    ...decideOutcome(fields, successThreshold),
    file: place.file ?? '',
    responseTokens: mask.length,
    tokens,
    turns,
    advantages: advantages === undefined ? null : momentsOf(advantages, mask, place)
  }
}

/** Welford's recurrence, which does not cancel. */
function momentsOf(numbers: SampleNumbers, mask: Uint8Array, place: Place): Moments {
  let [n, mean, squares, least, most, zero] = [0, 0, 0, Infinity, -Infinity, 0]
  for (let t = 0; t < mask.length; t++) {
    if (mask[t] === 0) continue
    const x = numbers[t]
    if (!Number.isFinite(x)) {
      const at = { ...place, array: 'advantages', index: t }
      const expected = 'a finite number'
      throw new Fault({ format: 'trace', problem: 'not finite', found: String(x), expected, place: at, exitCode: EXIT.checkFailed })
    }
    n++
    const before = x - mean
    mean += before / n
    squares += before * (x - mean)
    if (x < least) least = x
    if (x > most) most = x
    if (x === 0) zero++
  }
  return { n, mean, squares, least, most, zero }
}

/** Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979). */
function joined(a: Moments, b: Moments): Moments {
  const n = a.n + b.n
  const apart = b.mean - a.mean
  return {
    n,
    mean: a.mean + (apart * b.n) / n,
    squares: a.squares + b.squares + (apart * apart * a.n * b.n) / n,
    least: Math.min(a.least, b.least),
    most: Math.max(a.most, b.most),
    zero: a.zero + b.zero
  }
}

const NEEDS_A_CRITIC = [
  'changes of the value at turn boundaries and inside turns',
  'value by outcome, explained variance and every other diagnostic of a critic',
  'figure 8'
]

export interface WithoutCriticOptions {
  readonly facts: DumpFacts
  readonly leftOut: number
  readonly successThreshold: number
}

export function sampleStatistics(
  records: readonly SampleRecord[],
  { facts, leftOut, successThreshold }: WithoutCriticOptions
): Content<SampleStatisticsDocument> {
  const sum = (of: (r: SampleRecord) => number): number => records.reduce((total, r) => total + of(r), 0)
  const count = (outcome: Outcome | null): number => records.filter(r => r.outcome === outcome).length
  const steps = records.flatMap(r => r.step ?? [])
  return {
    kind: facts.kind,
    mask: facts.mask,
    notes: facts.notes,
    samples: records.length,
    left_out: leftOut,
    tokens: sum(r => r.tokens),
    response_tokens: sum(r => r.responseTokens),
    steps: steps.length === 0 ? null : extremes(steps),
    tokens_per_sample: spread(records.map(r => r.tokens)),
    turns_per_sample: spread(records.map(r => r.turns)),
    success_threshold: successThreshold,
    outcomes: { success: count('success'), failure: count('failure'), unknown: count(null) },
    advantages: {
      all: advantagesOf(records),
      success: advantagesOf(records.filter(r => r.outcome === 'success')),
      failure: advantagesOf(records.filter(r => r.outcome === 'failure'))
    },
    needs_a_critic: NEEDS_A_CRITIC
  }
}

/** Smallest and largest, of any number of numbers. */
function extremes(numbers: readonly number[]): [number, number] {
  return numbers.reduce<[number, number]>(([least, most], x) => [Math.min(least, x), Math.max(most, x)], [Infinity, -Infinity])
}

function spread(numbers: readonly number[]): { mean: number; least: number; most: number } | null {
  if (numbers.length === 0) return null
  const [least, most] = extremes(numbers)
  return { mean: numbers.reduce((a, b) => a + b, 0) / numbers.length, least, most }
}

function advantagesOf(records: readonly SampleRecord[]): SampleStatisticsDocument['advantages']['all'] {
  const all = records.flatMap(r => r.advantages ?? [])
  if (all.length === 0) return null
  const { n, mean, squares, least, most, zero } = all.reduce(joined)
  return { tokens: n, mean, sd: Math.sqrt(squares / n), least, most, zero }
}
