/**
 * Dumps of a trainer as it may have written them, with and without the faults of public reports: values of a critic that learns
 * from noise, observations between turns, rewards, KL, and the estimates of `diagnostic-recursions.ts`. Seeded.
 */
import type { Sample, SampleArray, SampleNumbers } from '../../src/schema/samples.js'
import { estimates, type MaskRule, type Recursion, type ResetForm, whiten } from './diagnostic-recursions.js'
import { Random } from './random.js'

export type PlantedFault =
  | 'final-reward-masked'
  | 'observations-cut-return'
  | 'values-off-by-one'
  | 'rewards-off-by-one'
  | 'padding-leak'
  | 'whitening-groups'
  | 'foreign-bootstrap'
  | 'explained-variance-log'
  | 'critic-frozen'

/** Values of a critic that learns from noise, of noise alone, of almost one number, or that follow the score to the end. */
export type CriticKind = 'learns' | 'noise' | 'almost constant' | 'follows'

export interface DumpPlan {
  readonly seed: number
  readonly samples: number
  readonly gamma: number
  readonly lambdaReturns: number
  readonly lambdaAdvantages: number | { readonly alpha: number }
  /** coefficient of the KL reward; 0: no KL array */
  readonly beta: number
  readonly rule: MaskRule
  readonly resetForm: ResetForm
  readonly finalReward: 'last token' | 'last trainable token'
  /** the stored token rewards hold the final one on the last token, wherever the returns do */
  readonly storedAtEnd: boolean
  readonly whitening: 'none' | 'batch' | 'rank' | 'sample' | 'halves' | 'zigzag' | 'columns'
  /** variance divided by n, or by n - 1 */
  readonly bessel: boolean
  /** returns and advantages of masked tokens are stored as 0 */
  readonly cleared: boolean
  readonly dtype: 'float32' | 'bfloat16'
  /** 1: single-turn, no gap */
  readonly turns: number
  readonly turnTokens: readonly [number, number]
  readonly gapTokens: readonly [number, number]
  /** the response begins with an observation */
  readonly leading: boolean
  readonly critic: CriticKind
  /** share of samples that end in an observation */
  readonly trailing: number
  readonly tokenRewards: boolean
  readonly scores: '0 or 1' | '-1 or 1' | 'real'
  readonly advantages: boolean
  readonly steps: number
  readonly ranks: number
  readonly truncated: number
  readonly fault: PlantedFault | null
  /** tokens of padding behind the longest response too, for a leak of padding */
  readonly margin: number
  /** direction or variant of the fault: 0 or 1 */
  readonly variant: 0 | 1
}

export const CLEAN: DumpPlan = {
  seed: 1,
  samples: 12,
  gamma: 0.99,
  lambdaReturns: 0.95,
  lambdaAdvantages: 0.95,
  beta: 0,
  rule: 'carry',
  resetForm: 'own value',
  finalReward: 'last trainable token',
  storedAtEnd: false,
  whitening: 'batch',
  bessel: false,
  cleared: false,
  dtype: 'float32',
  turns: 3,
  turnTokens: [12, 40],
  gapTokens: [3, 15],
  leading: false,
  critic: 'learns',
  trailing: 0.3,
  tokenRewards: false,
  scores: '0 or 1',
  advantages: true,
  steps: 1,
  ranks: 1,
  truncated: 0,
  fault: null,
  margin: 0,
  variant: 0
}

export interface DiagnosticDump {
  readonly samples: readonly Sample[]
  /** what a history logged for each step */
  readonly loggedExplainedVariance: ReadonlyMap<number, number>
}

/** The nearest bfloat16, ties to even: the upper 16 bits of a single. */
export function bfloat16(x: number): number {
  const view = new DataView(new ArrayBuffer(4))
  view.setFloat32(0, x)
  const bits = view.getUint32(0)
  view.setUint32(0, ((bits + 0x7fff + ((bits >>> 16) & 1)) & 0xffff0000) >>> 0)
  return view.getFloat32(0)
}

interface Draft {
  readonly mask: Uint8Array
  values: Float64Array
  readonly kl: Float64Array
  readonly score: number
  readonly step: number
  readonly rank: number
  readonly uid: string
  readonly truncated: boolean
  readonly pad: number
}

function between(random: Random, [low, high]: readonly [number, number]): number {
  return low + random.below(high - low + 1)
}

function drawMask(random: Random, plan: DumpPlan, trailing: boolean): Uint8Array {
  const mask = plan.leading ? Array<number>(between(random, plan.gapTokens)).fill(0) : []
  for (let turn = 0; turn < plan.turns; turn++) {
    if (turn > 0) mask.push(...Array<number>(between(random, plan.gapTokens)).fill(0))
    mask.push(...Array<number>(between(random, plan.turnTokens)).fill(1))
  }
  if (trailing) mask.push(...Array<number>(between(random, plan.gapTokens)).fill(0))
  return Uint8Array.from(mask)
}

function drawSample(random: Random, plan: DumpPlan, i: number): Draft {
  const truncated = random.chance(plan.truncated) && (i > 0 || plan.samples === 1)
  const mask = drawMask(random, plan, random.chance(plan.trailing) || (plan.trailing > 0 && i === 0))
  const success = random.chance(0.5) || i === 0
  const drawn = { '0 or 1': Number(success), '-1 or 1': success ? 1 : -1, real: Math.fround(random.normal() + (success ? 1 : -1)) }
  const score = truncated ? 0 : drawn[plan.scores]
  const bias = plan.fault === 'critic-frozen' ? 0.5 : 0.5 + 0.3 * (score - 0.5)
  let noise = 0
  const round = plan.dtype === 'bfloat16' ? bfloat16 : Math.fround
  const values = Float64Array.from(mask, (_, t) => {
    noise = 0.8 * noise + 0.08 * random.normal()
    const small = 0.02 * random.normal()
    switch (plan.critic) {
      case 'learns':
        return round(bias + noise + small)
      case 'noise':
        return round(0.5 + 20 * small)
      case 'almost constant':
        return round(0.4 + small / 20)
      case 'follows':
        return round(0.5 + ((score - 0.5) * t) / mask.length + small)
    }
  })
  const kl = Float64Array.from(mask, () => Math.fround(0.1 * random.normal() + 0.03))
  const step = Math.floor((i * plan.steps) / plan.samples)
  return { mask, values, kl, score, step, rank: i % plan.ranks, uid: `p${i % Math.ceil(plan.samples / plan.steps)}`, truncated, pad: 0 }
}

function rewardsOf(draft: Draft, plan: DumpPlan): Float64Array {
  const { mask, kl, score } = draft
  const rewards = kl.map(k => (plan.beta === 0 ? 0 : Math.fround(-plan.beta * k)))
  if (plan.rule === 'trainable-only') for (let t = 0; t < mask.length; t++) rewards[t] *= mask[t]
  const at = plan.finalReward === 'last token' ? mask.length - 1 : mask.lastIndexOf(1)
  rewards[at] = Math.fround(rewards[at] + score)
  return rewards
}

/** The rewards that the trainer used, where they are not those that it wrote: off by one, or with KL of padding behind the end. */
function usedRewards(rewards: Float64Array, plan: DumpPlan): Float64Array {
  if (plan.fault !== 'rewards-off-by-one') return rewards
  return rewards.map((_, t) => (plan.variant === 0 ? (rewards[t + 1] ?? 0) : (rewards[t - 1] ?? 0)))
}

function lambdaOf(lambda: DumpPlan['lambdaAdvantages'], mask: Uint8Array): number {
  if (typeof lambda === 'number') return lambda
  return 1 - 1 / (lambda.alpha * mask.reduce((sum, m) => sum + m, 0))
}

function shifted(values: Float64Array, by: 1 | -1): Float64Array {
  return values.map((_, t) => values[Math.min(values.length - 1, Math.max(0, t + by))])
}

/** Padded to the longest of the batch or further, KL of a policy on padding behind the response. */
function padded(random: Random, drafts: readonly Draft[], margin: number): Draft[] {
  const width = Math.max(...drafts.map(d => d.mask.length)) + margin
  return drafts.map(draft => {
    const pad = width - draft.mask.length
    const more = (array: Float64Array, fill: () => number): Float64Array =>
      Float64Array.from([...array, ...Array.from({ length: pad }, fill)])
    return {
      ...draft,
      pad,
      mask: Uint8Array.from([...draft.mask, ...Array<number>(pad).fill(0)]),
      values: more(draft.values, () => 0),
      kl: more(draft.kl, () => Math.fround(Math.abs(0.1 * random.normal()) + 0.1))
    }
  })
}

function explainedVariance(values: readonly number[], returns: readonly number[]): number {
  const variance = (x: readonly number[]): number => {
    const mean = x.reduce((a, b) => a + b, 0) / x.length
    return x.reduce((a, b) => a + (b - mean) ** 2, 0) / x.length
  }
  return 1 - variance(returns.map((r, i) => r - values[i])) / variance(returns)
}

/** The logged value: over all tokens of the step, or the mean over its samples as micro-batches of two. */
function logged(plan: DumpPlan, samples: readonly Sample[]): Map<number, number> {
  const log = new Map<number, number>()
  for (const step of new Set(samples.map(s => s.fields.step ?? 0))) {
    const of = samples.filter(s => s.fields.step === step)
    const size = plan.fault === 'explained-variance-log' ? 2 : of.length
    const parts: number[] = []
    for (let i = 0; i < of.length; i += size) {
      const pick = (name: 'values' | 'returns'): number[] =>
        of.slice(i, i + size).flatMap(s => [...(s.arrays[name] ?? [])].filter((_, t) => s.mask[t] === 1))
      parts.push(explainedVariance(pick('values'), pick('returns')))
    }
    log.set(step, parts.reduce((a, b) => a + b, 0) / parts.length)
  }
  return log
}

function stored(plan: DumpPlan, array: Float64Array): SampleNumbers {
  return Float32Array.from(plan.dtype === 'bfloat16' ? array.map(bfloat16) : array)
}

export function diagnosticDump(plan: DumpPlan): DiagnosticDump {
  const random = new Random(plan.seed)
  let drafts = Array.from({ length: plan.samples }, (_, i) => drawSample(random, plan, i))
  if (plan.fault === 'critic-frozen') {
    // a head that was never trained gives one number; a frozen one gives each prompt the value that it gave at the step before
    const first = new Map<string, number>()
    for (const draft of drafts) {
      if (plan.variant === 0) draft.values.fill(0.25)
      else draft.values[0] = first.get(draft.uid) ?? draft.values[0]
      first.set(draft.uid, draft.values[0])
    }
  }
  const cutBehind = plan.fault === 'padding-leak' && plan.variant === 1
  const lengths = drafts.map(d => d.mask.length)
  if (plan.fault === 'padding-leak') drafts = padded(random, drafts, plan.margin)
  const base: Omit<Recursion, 'lambda'> = { gamma: plan.gamma, rule: plan.rule, resetForm: plan.resetForm }
  const rewards = drafts.map(d => rewardsOf(d, plan))
  const storedRewards = plan.storedAtEnd ? drafts.map(d => rewardsOf(d, { ...plan, finalReward: 'last token' })) : rewards
  const run = (lambdaFor: (mask: Uint8Array) => number): { advantages: Float64Array; returns: Float64Array }[] =>
    drafts.map((draft, i) => {
      const other =
        plan.fault === 'foreign-bootstrap' ? drafts[(i + (plan.variant === 0 ? 1 : drafts.length - 1)) % drafts.length].values : null
      return estimates(draft.values, usedRewards(rewards[i], plan), draft.mask, { ...base, lambda: lambdaFor(draft.mask) }, other)
    })
  const forReturns = run(() => plan.lambdaReturns)
  const advantages = run(mask => lambdaOf(plan.lambdaAdvantages, mask)).map(e => e.advantages)
  const masks = drafts.map(d => d.mask)
  if (plan.whitening !== 'none') whiten(advantages, masks, (i, t) => drafts[i].step * 1000 + groupOf(plan, drafts, i, t), plan.bessel)
  const samples = drafts.map((draft, i): Sample => {
    const values = plan.fault === 'values-off-by-one' ? shifted(draft.values, plan.variant === 0 ? -1 : 1) : draft.values
    const end = cutBehind ? lengths[i] : draft.mask.length
    const kept = (array: Float64Array): Float64Array => (plan.cleared ? array.map((x, t) => x * draft.mask[t]) : array).slice(0, end)
    const arrays: { [name in SampleArray]?: SampleNumbers } = {
      values: stored(plan, values.slice(0, end)),
      returns: stored(plan, kept(forReturns[i].returns)),
      ...(plan.advantages ? { advantages: stored(plan, kept(advantages[i])) } : {}),
      ...(plan.beta > 0 ? { kl: Float32Array.from(draft.kl.slice(0, end)) } : {}),
      ...(plan.tokenRewards ? { token_rewards: Float32Array.from(storedRewards[i].slice(0, end)) } : {})
    }
    return {
      index: i,
      place: { file: 'generated', index: i },
      fields: {
        step: draft.step,
        outcome: null,
        score: draft.score,
        uid: draft.uid,
        truncated: draft.truncated,
        rank: plan.ranks > 1 ? draft.rank : null
      },
      mask: draft.mask.slice(0, end),
      arrays,
      tokenIds: null
    }
  })
  return { samples, loggedExplainedVariance: logged(plan, samples) }
}

function groupOf(plan: DumpPlan, drafts: readonly Draft[], i: number, t: number): number {
  const T = drafts[i].mask.length
  switch (plan.whitening) {
    case 'rank':
      return drafts[i].rank
    case 'sample':
      return i
    case 'halves':
      return Number(t >= Math.floor(T / 2))
    case 'columns':
      return Number(t >= Math.floor(Math.max(...drafts.map(d => d.mask.length)) / 2))
    case 'zigzag':
      return Number(t >= Math.floor(T / 4) && t < T - Math.floor(T / 4))
    default:
      return 0
  }
}
