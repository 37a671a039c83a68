/** Random plans of dumps: clean ones, and for each kind of finding those in which a reader could see it. */
import type { FindingKind } from '../../src/schema/diagnostics.js'
import { CLEAN, type DumpPlan, type PlantedFault } from './diagnostic-dumps.js'
import { Random } from './random.js'

export const PLANTED: readonly PlantedFault[] = [
  'final-reward-masked',
  'observations-cut-return',
  'values-off-by-one',
  'rewards-off-by-one',
  'padding-leak',
  'whitening-groups',
  'foreign-bootstrap',
  'explained-variance-log',
  'critic-frozen'
]

export type Shape = Pick<DumpPlan, 'samples' | 'dtype'>

/** Responses of hundreds of samples are shorter, so that a soak ends. */
const MANY_SAMPLES = 100

function structure(random: Random, { samples }: Shape): Pick<DumpPlan, 'turns' | 'turnTokens' | 'gapTokens' | 'leading'> {
  const leading = random.chance(0.15)
  const gapTokens = random.pick([
    [1, 3],
    [3, 15]
  ] as const)
  if (samples >= MANY_SAMPLES) return { turns: 1 + random.below(3), turnTokens: [8, 24], gapTokens: [1, 6], leading }
  if (random.chance(0.15)) return { turns: 8 + random.below(12), turnTokens: [2, 7], gapTokens: [1, 3], leading }
  // few samples of very different lengths
  if (random.chance(0.1) && samples <= 16) return { turns: 1 + random.below(4), turnTokens: [10, 600], gapTokens, leading }
  const turnTokens = random.pick([
    [8, 20],
    [12, 40],
    [30, 90]
  ] as const)
  return { turns: 1 + random.below(5), turnTokens, gapTokens, leading }
}

export function cleanPlan(seed: number, shape: Shape): DumpPlan {
  const random = new Random(seed)
  const rule = random.pick(['every-token', 'carry', 'trainable-only', 'zeroed-values'] as const)
  const beta = random.pick([0, 0, 0.02, 0.001, 0.1])
  const counted = rule === 'every-token' || rule === 'zeroed-values'
  const finalReward = counted ? random.pick(['last token', 'last trainable token'] as const) : 'last trainable token'
  // where masked tokens count, an observation at the end takes the final reward or adds its KL: that is a fault
  const trailing = counted && (beta > 0 || finalReward === 'last token') ? 0 : random.pick([0, 0.3])
  const lambdaReturns = random.pick([1, 0.95, 0.9, 0.97, 0])
  return {
    ...CLEAN,
    ...shape,
    ...structure(random, shape),
    seed,
    rule,
    beta,
    finalReward,
    trailing,
    gamma: random.pick([1, 1, 0.99, 0.95]),
    lambdaReturns,
    lambdaAdvantages: random.pick([lambdaReturns, lambdaReturns, 0.95, 1, 0, { alpha: random.pick([0.05, 0.1, 0.3, 1]) }]),
    whitening: random.pick(['none', 'batch'] as const),
    bessel: random.chance(0.5),
    cleared: random.chance(0.2),
    critic: random.pick(['learns', 'learns', 'noise', 'almost constant', 'follows'] as const),
    tokenRewards: random.chance(0.3),
    scores: random.pick(['0 or 1', '0 or 1', '-1 or 1', 'real'] as const),
    steps: shape.samples >= 8 ? random.pick([1, 1, 2, 4]) : 1,
    ranks: random.pick([1, 2]),
    truncated: random.pick([0, 0, 0.2]),
    storedAtEnd: rule === 'trainable-only' && random.chance(0.3)
  }
}

/** A plan in which the fault shows: some hide where gamma lambda is 1, without a gap, or without a second sample. */
export function faultyPlan(seed: number, shape: Shape, fault: PlantedFault): DumpPlan {
  const random = new Random(seed + 0x5eed)
  const variant = random.chance(0.5) ? 1 : 0
  const plan: DumpPlan = { ...cleanPlan(seed, shape), fault, variant }
  const turns = Math.max(2, plan.turns)
  const decaying = { gamma: random.pick([1, 0.99]), lambdaReturns: random.pick([0.95, 0.9, 0.97]) }
  switch (fault) {
    case 'final-reward-masked':
      return {
        ...plan,
        ...decaying,
        turns,
        rule: random.pick(['every-token', 'carry', 'zeroed-values'] as const),
        finalReward: 'last token',
        trailing: 0.5
      }
    case 'observations-cut-return':
      return {
        ...plan,
        // without a lambda no sum is cut
        lambdaReturns: random.pick([1, 0.95, 0.9]),
        turns,
        rule: 'reset',
        resetForm: random.pick(['own value', 'no value', 'rewards only', 'before it is stored'] as const),
        finalReward: 'last trainable token'
      }
    case 'values-off-by-one':
      return { ...plan, ...decaying }
    case 'rewards-off-by-one':
      // equal scores that no return holds may have been centred
      return { ...plan, trailing: 0, truncated: 0, scores: 'real' }
    case 'padding-leak':
      return {
        ...plan,
        lambdaReturns: random.pick([1, 0.95, 0.9]),
        rule: 'every-token',
        finalReward: 'last trainable token',
        trailing: 0,
        cleared: false,
        beta: random.pick([0.02, 0.1]),
        storedAtEnd: false,
        margin: random.pick([0, 0, 40])
      }
    case 'whitening-groups':
      // halves of a response of a dozen tokens have too few of them
      return { ...plan, turns, whitening: random.pick(['rank', 'sample', 'halves', 'zigzag', 'columns'] as const), ranks: 2, steps: 1 }
    case 'foreign-bootstrap':
      return { ...plan, rule: 'every-token', trailing: 0 }
    case 'explained-variance-log':
      // returns of one number have no explained variance
      return { ...plan, critic: random.pick(['learns', 'follows'] as const), lambdaReturns: random.pick([0.95, 0.9, 0]), steps: 1 }
    case 'critic-frozen':
      return { ...plan, leading: false, critic: 'learns', steps: variant === 0 ? 1 : 2 }
  }
}

/** A plan in which a finding of this kind shows, a fault or a property. */
export function showingPlan(seed: number, shape: Shape, kind: FindingKind): DumpPlan {
  const random = new Random(seed + 0x5eed)
  const plan = cleanPlan(seed, shape)
  const masked = { ...plan, turns: Math.max(2, plan.turns), lambdaReturns: random.pick([0.95, 0.9, 0]), trailing: 0 }
  switch (kind) {
    case 'masked-bootstrap':
      return { ...masked, rule: 'every-token' }
    case 'masked-zeroed':
      return { ...masked, rule: 'zeroed-values' }
    case 'truncation':
      return { ...plan, truncated: 1 }
    default:
      return faultyPlan(seed, shape, kind)
  }
}
