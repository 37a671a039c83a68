/** Random plans of dumps: clean ones, and for each planted fault those in which a reader could see it. */
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

export function cleanPlan(seed: number, shape: Shape): DumpPlan {
  const random = new Random(seed)
  const rule = random.pick(['every-token', 'carry', 'trainable-only', 'zeroed-values'] as const)
  const beta = random.pick([0, 0, 0.02, 0.001])
  const counted = rule === 'every-token' || rule === 'zeroed-values'
  const finalReward = counted ? random.pick(['last token', 'last trainable token'] as const) : 'last trainable token'
  // where masked tokens count, an observation at the end takes the final reward or adds its KL: that is a fault
  const trailing = counted && (beta > 0 || finalReward === 'last token') ? 0 : random.pick([0, 0.3])
  const lambdaReturns = random.pick([1, 0.95, 0.9, 0.97])
  return {
    ...CLEAN,
    ...shape,
    seed,
    rule,
    beta,
    finalReward,
    trailing,
    gamma: random.pick([1, 1, 0.99, 0.995]),
    lambdaReturns,
    lambdaAdvantages: random.pick([lambdaReturns, lambdaReturns, 0.95, 1, { alpha: random.pick([0.05, 0.1, 0.3]) }]),
    whitening: random.pick(['none', 'batch'] as const),
    turns: 1 + random.below(5),
    turnTokens: random.pick([
      [8, 20],
      [12, 40],
      [30, 90]
    ] as const),
    gapTokens: random.pick([
      [1, 3],
      [3, 15]
    ] as const),
    tokenRewards: random.chance(0.3),
    binaryScore: random.chance(0.6),
    steps: shape.samples >= 8 ? random.pick([1, 1, 2]) : 1,
    ranks: random.pick([1, 2]),
    truncated: random.pick([0, 0, 0.2])
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
        rule: random.pick(['every-token', 'carry', 'zeroed-values'] as const),
        finalReward: 'last token',
        trailing: 0.5
      }
    case 'observations-cut-return':
      return {
        ...plan,
        turns,
        rule: 'reset',
        resetForm: random.pick(['own value', 'no value', 'rewards only'] as const),
        finalReward: 'last trainable token'
      }
    case 'values-off-by-one':
      return { ...plan, ...decaying }
    case 'rewards-off-by-one':
      return { ...plan, trailing: 0 }
    case 'padding-leak':
      return { ...plan, rule: 'every-token', finalReward: 'last trainable token', trailing: 0, beta: random.pick([0.02, 0.1]) }
    case 'whitening-groups':
      return { ...plan, whitening: random.pick(['rank', 'sample', 'halves', 'zigzag'] as const), ranks: 2, steps: 1 }
    case 'foreign-bootstrap':
      return { ...plan, rule: 'every-token', trailing: 0 }
    case 'explained-variance-log':
      return plan
    case 'critic-frozen':
      return { ...plan, steps: variant === 0 ? 1 : 2 }
  }
}
