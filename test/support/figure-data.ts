/**
 * Made-up figure data from a seeded generator: 40 traces whose values wander inside a generated span and jump at some
 * boundaries, on the bfloat16 grid as a critic's would be. Shaped like critic traces; measured from nothing.
 */
import type { CriticTraceFigureData, ExampleTrace, Jump } from '../../src/compute/traces/contract.js'
import { DEFAULT_CRITIC_TRACE_STUDY, type Outcome } from '../../src/schema/traces.js'

/** What every figure of made-up traces is called. */
export const MADE = { source: 'made', labels: DEFAULT_CRITIC_TRACE_STUDY.labels } as const

/** Mulberry32: 32 bits of state, the same numbers everywhere. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

function bfloat16(value: number): number {
  const bits = new Uint32Array(new Float32Array([value]).buffer)
  bits[0] = (bits[0] + 0x8000) & 0xffff0000
  return new Float32Array(bits.buffer)[0]
}

/** `count` different from-indexes in 0 .. length - 2, increasing. */
export function randomBoundaries(random: () => number, length: number, count: number): Int32Array {
  const chosen = new Set<number>()
  while (chosen.size < Math.min(count, length - 1)) chosen.add(Math.floor(random() * (length - 1)))
  return Int32Array.from(chosen).sort()
}

export function largestJump(values: Float64Array, boundaries: Int32Array): Jump | null {
  let best: Jump | null = null
  for (const i of boundaries) {
    const delta = values[i + 1] - values[i]
    if (best === null || Math.abs(delta) > Math.abs(best.delta))
      best = { from_index: i, to_index: i + 1, from: values[i], to: values[i + 1], delta }
  }
  return best
}

export function makeExample(
  values: ArrayLike<number>,
  boundaries: ArrayLike<number>,
  outcome: Outcome,
  step: number | null = 127
): ExampleTrace {
  const v = Float64Array.from(values)
  const b = Int32Array.from(boundaries)
  return { outcome, step, uid: null, values: v, boundaries: b, maxBoundaryJump: largestJump(v, b) }
}

interface Walk {
  readonly outcome: Outcome
  readonly step: number
  readonly tokens: number
  readonly spans: number
  /** level at the share t of the trace, 0 to 1 */
  level(t: number): number
  readonly noise: number
  readonly jump: number
}

/** A walk that is drawn back to its level and is thrown off it at boundaries. */
export function walkExample(seed: number, { outcome, step, tokens, spans, level, noise, jump }: Walk): ExampleTrace {
  const random = seededRandom(seed)
  const boundaries = randomBoundaries(random, tokens, spans - 1)
  const values = new Float64Array(tokens)
  let away = 0
  let next = 0
  for (let i = 0; i < tokens; i++) {
    away = away * 0.93 + gaussian(random) * noise
    if (next < boundaries.length && boundaries[next] === i - 1) {
      next++
      away += gaussian(random) * jump * (random() < 0.15 ? 3 : 1)
    }
    values[i] = bfloat16(level(i / tokens) + away)
  }
  return makeExample(values, boundaries, outcome, step)
}

export function syntheticFigureData(): CriticTraceFigureData {
  const random = seededRandom(8)
  const traces = Array.from({ length: 40 }, (_, k) => {
    const outcome: Outcome = k % 2 === 0 ? 'success' : 'failure'
    const mean = outcome === 'success' ? 0.62 + 0.33 * random() : 0.02 + 0.3 * random() * random()
    const delta = outcome === 'success' ? 0.02 + 0.12 * gaussian(random) : -0.12 + 0.09 * gaussian(random)
    return { step: 112 + Math.floor(k / 2), outcome, mean, delta }
  })
  const success = walkExample(81, {
    outcome: 'success',
    step: 127,
    tokens: 3552,
    spans: 25,
    level: t => 0.88 + 0.1 * t,
    noise: 0.012,
    jump: 0.05
  })
  const failure = walkExample(82, {
    outcome: 'failure',
    step: 118,
    tokens: 22773,
    spans: 90,
    level: t => 0.17 * Math.exp(-t * 9),
    noise: 0.006,
    jump: 0.02
  })
  traces[2 * (127 - 112)].mean = success.values.reduce((a, b) => a + b) / success.values.length
  traces[2 * (127 - 112)].delta = success.values[3551] - success.values[0]
  traces[2 * (118 - 112) + 1].mean = failure.values.reduce((a, b) => a + b) / failure.values.length
  traces[2 * (118 - 112) + 1].delta = failure.values[22772] - failure.values[0]
  return { ...MADE, synthetic: true, traces, success, failure }
}

export interface OddCase {
  readonly name: string
  readonly data: CriticTraceFigureData
  /** text that the figure must state */
  readonly says: string
}

/** Data that a figure must draw although something in them is undefined, single, equal or crowded. */
export function oddCases(): readonly OddCase[] {
  const random = seededRandom(3)
  const noise = (length: number, level = 0.5, width = 0.1): number[] => Array.from({ length }, () => level + width * (random() - 0.5))
  const trace = (step: number | null, outcome: Outcome | null, mean: number, delta: number) => ({ step, outcome, mean, delta })
  const few = [trace(1, 'success', 0.9, 0.1), trace(1, 'failure', 0.1, -0.1), trace(2, 'success', 0.8, 0), trace(2, 'failure', 0.2, 0.02)]
  const none = { ...MADE, synthetic: false, traces: few, success: null, failure: null }
  const crowded = makeExample(noise(6000), randomBoundaries(random, 6000, 150), 'failure')
  const huge = makeExample(noise(6000), randomBoundaries(random, 6000, 2000), 'failure')
  return [
    { name: 'nothing at all', data: { ...none, traces: [] }, says: 'no trace' },
    { name: 'no examples', data: none, says: 'No success example: none was chosen.' },
    { name: 'one trace', data: { ...none, traces: [trace(7, 'failure', 0.25, -0.5)] }, says: 'No failure example: none was chosen.' },
    { name: 'no steps', data: { ...none, traces: few.map(t => ({ ...t, step: null })) }, says: 'Snapshot order (no trace states a step)' },
    {
      name: 'some steps',
      data: { ...none, traces: [...few, trace(null, 'success', 0.5, 0.5)] },
      says: 'Trainer step (not drawn: 1 without one)'
    },
    { name: 'no outcomes', data: { ...none, traces: few.map(t => ({ ...t, outcome: null })) }, says: 'outcome not stated' },
    {
      name: 'outcomes by score',
      data: { ...none, outcomesByScore: { traces: 4, threshold: 0 } },
      says: 'Trainer step (outcome of 4 by score)'
    },
    {
      name: 'one token',
      data: { ...none, success: makeExample([0.5], [], 'success') },
      says: '1 retained token in 1 generated span; no transition'
    },
    { name: 'two tokens', data: { ...none, success: makeExample([0.5, 0.75], [0], 'success') }, says: '0.500 \u2192 0.750 (+0.250)' },
    { name: 'no boundary', data: { ...none, failure: makeExample(noise(300), [], 'failure', null) }, says: 'no turn boundary' },
    {
      name: 'all values equal',
      data: { ...none, success: makeExample(new Array<number>(50).fill(0.5), [10, 20], 'success') },
      says: 'no change at a boundary'
    },
    {
      name: 'all values zero',
      data: { ...none, success: makeExample(new Float64Array(50), [10, 20], 'success') },
      says: 'no change at a boundary'
    },
    {
      name: 'every token its own span',
      data: {
        ...none,
        failure: makeExample(
          noise(40),
          Array.from({ length: 39 }, (_, k) => k),
          'failure'
        )
      },
      says: '40 generated spans'
    },
    { name: '150 boundaries', data: { ...none, failure: crowded }, says: '151 generated spans' },
    { name: '2,000 boundaries', data: { ...none, failure: huge }, says: 'turn boundary (tick)' },
    {
      name: 'a full plot',
      data: {
        ...none,
        success: makeExample(
          Array.from({ length: 4000 }, (_, k) => k % 2),
          [1999],
          'success'
        )
      },
      says: '1.000 \u2192 0.000 (\u22121.000)'
    },
    {
      name: 'tiny values',
      data: { ...none, success: makeExample(noise(100, 3e-12, 1e-12), [49], 'success') },
      says: 'Critic value (\u00d710\u207b\u00b9\u00b2)'
    },
    {
      name: 'large values',
      data: { ...none, traces: few.map(t => ({ ...t, mean: t.mean * 1e9 })), success: makeExample(noise(100, -4e8, 1e7), [49], 'success') },
      says: '(+2.58e5)'
    },
    {
      name: 'values at the limits of a double',
      data: { ...none, success: makeExample([-1.7e308, 1.7e308, 0], [1], 'success') },
      says: 'No success example: values beyond 1e100.'
    },
    {
      name: 'a mean that overflowed',
      data: { ...none, traces: [...few, trace(3, 'success', Infinity, NaN)] },
      says: 'Trainer step (not drawn: 1 beyond 1e100)'
    },
    {
      name: 'nearly equal values',
      data: { ...none, success: makeExample([1, 1 + 2 ** -52, 1], [0, 1], 'success') },
      says: '1.000 \u2192 1.000 (+2.22e\u221216)'
    },
    { name: 'large steps', data: { ...none, traces: few.map(t => ({ ...t, step: (t.step ?? 0) * 1_000_000 })) }, says: '1,000,000' }
  ]
}
