/**
 * Quality statistics of random samples against the definitions, token by token: traces shorter than ten tokens, many turns,
 * missing arrays and outcomes, repeated uids. Every null has a reason and no number is NaN.
 */
import t from 'tap'
import { sweepThresholds } from '../src/compute/diagnostics/quality/changes.js'
import type { Estimate } from '../src/compute/diagnostics/quality/contract.js'
import { SAMPLING_DESIGNS } from '../src/schema/diagnostics.js'
import { quality } from '../src/compute/diagnostics/quality/quality.js'
import { traceQualityRecord, type RetainedTrace } from '../src/compute/diagnostics/quality/record.js'
import { Random } from './support/random.js'
import { rounds, seedOf } from './support/rounds.js'

interface Tokens {
  readonly values: number[]
  readonly returns: number[]
}

function randomTrace(random: Random, index: number): RetainedTrace {
  const tokens = 1 + random.below(random.below(3) === 0 ? 200 : 12)
  const gaps = random.unit()
  let position = 0
  const positions = Array.from({ length: tokens }, () => (position += random.unit() < gaps ? 3 : 1))
  const y = random.below(2)
  const coarse = random.below(2) === 0
  const value = () => (coarse ? random.below(5) / 4 : random.unit() * 2 - 0.5)
  return {
    index,
    place: {},
    step: random.below(5) === 0 ? null : random.below(3),
    uid: random.below(5) === 0 ? null : `u${random.below(12)}`,
    outcome: random.below(6) === 0 ? null : y === 1 ? 'success' : 'failure',
    values: random.below(12) === 0 ? null : Float64Array.from({ length: tokens }, value),
    returns: random.below(12) === 0 ? null : Float64Array.from({ length: tokens }, () => (coarse ? y : y + random.unit() / 8)),
    positions
  }
}

const mean = (numbers: readonly number[]) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length
const variance = (numbers: readonly number[]) => mean(numbers.map(x => (x - mean(numbers)) ** 2))

/** By the definitions: mse, bias, explained variance; null without a token or where the returns do not vary. */
function errorsOf({ values, returns }: Tokens): Record<'mse' | 'bias' | 'explained_variance', number | null> {
  if (values.length === 0) return { mse: null, bias: null, explained_variance: null }
  const errors = values.map((v, i) => v - returns[i])
  const constant = returns.every(r => r === returns[0])
  return {
    mse: mean(errors.map(e => e * e)),
    bias: mean(errors),
    explained_variance: constant ? null : 1 - variance(errors) / variance(returns)
  }
}

function tokensOf(traces: readonly RetainedTrace[], chosen: (i: number, trace: RetainedTrace) => boolean): Tokens {
  const tokens: Tokens = { values: [], returns: [] }
  for (const trace of traces) {
    const { values, returns } = trace
    if (values === null || returns === null) continue
    for (let i = 0; i < values.length; i++) {
      if (!chosen(i, trace)) continue
      tokens.values.push(values[i])
      tokens.returns.push(returns[i])
    }
  }
  return tokens
}

const decileOf = (i: number, { positions }: RetainedTrace) => Math.floor((10 * i) / positions.length)

function turnOf(i: number, { positions }: RetainedTrace): number {
  let turn = 0
  for (let k = 1; k <= i; k++) if (positions[k] !== positions[k - 1] + 1) turn++
  return turn
}

/** The share of pairs in which the success is ahead, pair by pair. */
function areaOf(traces: readonly RetainedTrace[], decile: number): number | null {
  const scored = traces.flatMap(trace => {
    const values = trace.values === null ? [] : [...trace.values].filter((_, i) => decileOf(i, trace) === decile)
    return values.length === 0 || trace.outcome === null ? [] : [{ success: trace.outcome === 'success', score: mean(values) }]
  })
  const pairs = scored.filter(s => s.success).flatMap(a => scored.filter(s => !s.success).map(b => Math.sign(a.score - b.score)))
  return pairs.length === 0 ? null : mean(pairs.map(sign => (1 + sign) / 2))
}

const agrees = ({ value }: Estimate, expected: number | null) =>
  value === null || expected === null ? value === expected : Math.abs(value - expected) < 1e-9 * (1 + Math.abs(expected))

t.test('random samples against the definitions', async t => {
  const random = new Random(seedOf(16))
  for (let round = 0; round < rounds(40); round++) {
    const traces = Array.from({ length: 1 + random.below(24) }, (_, i) => randomTrace(random, i))
    const sampling = SAMPLING_DESIGNS[random.below(SAMPLING_DESIGNS.length)]
    const records = traces.map(trace => traceQualityRecord(trace, sweepThresholds(0.25)))
    const options = { sampling, jumpThreshold: 0.25, seed: round, resamples: 20 }
    const found = await quality(records, options)
    const wrong: string[] = []
    const hold = (name: string, estimate: Estimate, expected: number | null) => {
      if (!agrees(estimate, expected)) wrong.push(`${name}: ${estimate.value}, expected ${expected}`)
    }
    const holdErrors = (name: string, row: Readonly<Record<'mse' | 'bias' | 'explained_variance', Estimate>>, tokens: Tokens) => {
      if (sampling === 'stratified by outcome') return
      for (const [key, expected] of Object.entries(errorsOf(tokens))) hold(`${name} ${key}`, row[key as 'mse'], expected)
    }
    holdErrors(
      'pooled',
      found,
      tokensOf(traces, () => true)
    )
    found.by_decile.forEach((row, d) =>
      holdErrors(
        `decile ${d}`,
        row,
        tokensOf(traces, (i, trace) => decileOf(i, trace) === d)
      )
    )
    found.by_turn.from_start.forEach((row, k) =>
      holdErrors(
        `turn ${k}`,
        row,
        tokensOf(traces, (i, trace) => turnOf(i, trace) === k)
      )
    )
    found.by_turn.from_end.forEach((row, k) =>
      holdErrors(
        `turn ${k} from the end`,
        row,
        tokensOf(traces, (i, trace) => turnOf(trace.positions.length - 1, trace) - turnOf(i, trace) === k)
      )
    )
    found.auc_by_decile.forEach((estimate, d) => hold(`area ${d}`, estimate, areaOf(traces, d)))
    for (const row of found.by_step) {
      const ofStep = traces.filter(trace => trace.step === row.step)
      holdErrors(
        `step ${row.step}`,
        row,
        tokensOf(ofStep, () => true)
      )
      row.auc_by_decile.forEach((estimate, d) => hold(`step ${row.step}, area ${d}`, estimate, areaOf(ofStep, d)))
    }
    JSON.stringify(found, (key, x: unknown) => {
      if (typeof x === 'number' && !Number.isFinite(x)) wrong.push(`${key} is ${x}`)
      return x
    })
    t.same(wrong, [], `round ${round}: ${traces.length} traces, ${sampling}`)
    t.same(await quality([...records].reverse(), options), found)
  }
  t.end()
})
