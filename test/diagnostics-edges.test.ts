/** The audit and the faults where dumps leave little to see: returns of masked tokens cleared, lambda 0, equal first values, no KL. */
import t from 'tap'
import { maxOf, minOf } from '../src/core/extremes.js'
import type { Sample } from '../src/schema/samples.js'
import { CLEAN, diagnosticDump, type DumpPlan } from './support/diagnostic-dumps.js'
import { estimates } from './support/diagnostic-recursions.js'
import { diagnose, faultsOf } from './support/diagnostic-runs.js'
import { seedOf } from './support/rounds.js'

function samplesOf(plan: Partial<DumpPlan>, seed = 1): readonly Sample[] {
  return diagnosticDump({ ...CLEAN, samples: 8, seed: seedOf(seed), ...plan }).samples
}

function kindsOf(samples: readonly Sample[]): string[] {
  return diagnose(samples).findings.map(f => f.kind)
}

/** The samples with other arrays and fields. */
function changed(samples: readonly Sample[], change: (sample: Sample) => Partial<Sample>): Sample[] {
  return samples.map(sample => ({ ...sample, ...change(sample) }))
}

t.test('masked tokens whose returns were cleared', t => {
  for (const rule of ['every-token', 'zeroed-values'] as const) {
    const property = rule === 'every-token' ? 'masked-bootstrap' : 'masked-zeroed'
    const many: Partial<DumpPlan> = { rule, cleared: true, turns: 12, turnTokens: [3, 8], trailing: 0 }
    t.equal(diagnose(samplesOf(many)).audit.rule, rule, `${rule}: more gaps than a record carries`)
    t.same(kindsOf(samplesOf({ ...many, beta: 0.02 })), [property])

    // KL of observations is in the dump, and was not paid
    const unpaid = samplesOf({ rule, cleared: true, trailing: 0 })
    const withKl = changed(unpaid, ({ mask, arrays }) => ({
      arrays: { ...arrays, kl: Float32Array.from(mask, (m, i) => (m === 1 ? 0 : 0.1 + 0.01 * (i % 7))) }
    }))
    t.equal(diagnose(withKl).audit.rule, rule, `${rule}: KL that was not paid`)

    const ended = diagnose(samplesOf({ rule, cleared: true, finalReward: 'last token', trailing: 1, scores: 'real' }))
    t.equal(ended.audit.final_reward, 'last token', rule)
    t.same(faultsOf(ended), ['final-reward-masked'])
    const fine = diagnose(samplesOf({ rule, cleared: true, trailing: 1, scores: 'real' }))
    t.equal(fine.audit.final_reward, 'last trainable token', rule)
    t.same(faultsOf(fine), [])
  }
  t.end()
})

t.test('a cut of the reward-to-go that shows at the last gap alone', t => {
  // gamma and lambda are 1: every return in front of the last turn is 0, as if no reward had come
  for (const cleared of [false, true]) {
    const plan: Partial<DumpPlan> = {
      rule: 'reset',
      resetForm: 'rewards only',
      cleared,
      gamma: 1,
      lambdaReturns: 1,
      turns: 25,
      turnTokens: [3, 6]
    }
    t.same(kindsOf(samplesOf({ ...plan, trailing: 0, scores: 'real' })), ['observations-cut-return'])
  }
  // KL of observations is in the dump, and was not paid
  const samples = changed(samplesOf({ rule: 'reset', resetForm: 'no value', gamma: 1, lambdaReturns: 0.9 }), ({ mask, arrays }) => ({
    arrays: { ...arrays, kl: Float32Array.from(mask, (m, i) => (m === 1 ? 0 : 0.1 + 0.01 * (i % 7))) }
  }))
  t.same(kindsOf(samples), ['observations-cut-return'])
  t.end()
})

t.test('lambda 0', t => {
  for (const rule of ['every-token', 'zeroed-values'] as const) {
    const plan: Partial<DumpPlan> = { rule, lambdaReturns: 0, lambdaAdvantages: 0, trailing: 0 }
    t.same(kindsOf(samplesOf(plan)), [rule === 'every-token' ? 'masked-bootstrap' : 'masked-zeroed'], 'a sum of nothing is not cut')
    const shifted = diagnose(samplesOf({ ...plan, cleared: true, fault: 'values-off-by-one' }))
    t.same(faultsOf(shifted), ['values-off-by-one'], `${rule}: of cleared returns`)
  }
  t.end()
})

t.test('a slope that the data do not determine names no group', t => {
  // A[t] = r[t-1] + V[t+1] - V[t]: values one later are the next advantage, up to rounding
  for (const seed of [1, 2, 3]) {
    const plan: Partial<DumpPlan> = {
      fault: 'rewards-off-by-one',
      variant: 1,
      gamma: 1,
      lambdaReturns: 1,
      lambdaAdvantages: 0,
      beta: 0.001
    }
    const found = diagnose(samplesOf({ ...plan, rule: 'carry', whitening: 'none', trailing: 0, scores: 'real' }, seed))
    t.same(faultsOf(found), ['rewards-off-by-one'])
  }
  t.end()
})

t.test('first values', t => {
  const plan: Partial<DumpPlan> = { steps: 2, trailing: 0, rule: 'every-token' }
  const startAt = (value: (sample: Sample, at: number) => number) =>
    changed(samplesOf({ ...plan, advantages: false, lambdaReturns: 1, gamma: 1 }), sample => {
      const values = Float32Array.from(sample.arrays.values ?? [])
      values[0] = value(sample, sample.index % 4)
      return { arrays: { ...sample.arrays, values } }
    })
  t.same(faultsOf(diagnose(startAt(() => 0.5))), [], 'one that all prompts share says nothing of steps')
  const frozen = startAt((_, place) => 0.25 + 0.125 * place)
  t.same(faultsOf(diagnose(frozen)), ['critic-frozen'])
  const unnamed = changed(frozen, ({ index, fields }) => ({ fields: { ...fields, uid: `own ${index}` } }))
  t.same(faultsOf(diagnose(unnamed)), ['critic-frozen'], 'uids that are met once do not name prompts')
  t.end()
})

t.test('a critic of noise is not called frozen by a few hundred trajectories', t => {
  const plan: Partial<DumpPlan> = {
    samples: 120,
    steps: 4,
    turns: 1,
    turnTokens: [10, 20],
    trailing: 0,
    critic: 'noise',
    advantages: false
  }
  t.same(faultsOf(diagnose(samplesOf(plan))), [])
  t.end()
})

t.test('the coefficient of KL where the dump has none', t => {
  const beta = (samples: readonly Sample[]) => {
    const { kl_coefficient, not_identifiable } = diagnose(samples).audit
    t.equal(not_identifiable.includes('kl_coefficient'), kl_coefficient === null)
    return kl_coefficient
  }
  t.equal(beta(samplesOf({})), 0, 'singles that follow the relation without KL prove it')
  t.equal(beta(samplesOf({ tokenRewards: true })), 0, 'so do stored rewards of 0')
  const without = ({ arrays: { kl: _, ...arrays } }: Sample): Partial<Sample> => ({ arrays })
  t.equal(beta(changed(samplesOf({ beta: 0.02, tokenRewards: true }), without)), null, 'rewards may hold any KL')
  t.equal(beta(changed(samplesOf({ beta: 0.02 }), without)), null, 'returns hold what the dump does not')
  t.equal(beta(samplesOf({ dtype: 'bfloat16' })), null, 'rounding hides a small one')
  t.end()
})

t.test('a stream of samples without ends', t => {
  const samples = samplesOf({ leading: true, trailing: 0, rule: 'every-token', beta: 0.02, advantages: false })
  const join = (pick: (sample: Sample) => ArrayLike<number>): Float64Array => Float64Array.from(samples.flatMap(s => Array.from(pick(s))))
  const { returns } = estimates(
    join(s => s.arrays.values ?? []),
    join(s => Array.from(s.arrays.kl ?? [], (k, i) => -0.02 * k + (i === s.mask.length - 1 ? (s.fields.score ?? 0) : 0))),
    Uint8Array.from(join(s => s.mask)),
    { gamma: 0.99, lambda: 0.95, rule: 'every-token', resetForm: 'own value' }
  )
  let from = 0
  const stream = changed(samples, ({ mask, arrays }) => {
    const part = Float32Array.from(returns.subarray(from, from + mask.length))
    from += mask.length
    return { arrays: { ...arrays, returns: part } }
  })
  t.same(faultsOf(diagnose(stream)), ['foreign-bootstrap'], 'the next sample begins with an observation; no KL leaks')
  t.end()
})

t.test('the final reward beside KL as large as some scores', t => {
  const plan: Partial<DumpPlan> = {
    rule: 'every-token',
    finalReward: 'last token',
    trailing: 1,
    beta: 0.1,
    scores: 'real',
    tokenRewards: true
  }
  for (const seed of [1, 2, 3, 4]) {
    const found = diagnose(samplesOf({ ...plan, samples: 16 }, seed))
    t.equal(found.audit.final_reward, 'last token')
    t.same(faultsOf(found), ['final-reward-masked'])
  }
  t.end()
})

t.test('a logged explained variance that is off by a ten-thousandth', t => {
  const { samples, loggedExplainedVariance } = diagnosticDump({ ...CLEAN, seed: seedOf(5) })
  const pooled = loggedExplainedVariance.get(0) ?? Number.NaN
  const logged = (by: number) => faultsOf(diagnose(samples, { loggedExplainedVariance: new Map([[0, pooled + by]]) }))
  t.same(logged(1e-6), [], 'rounding of singles')
  t.same(logged(1e-4), ['explained-variance-log'])
  t.end()
})

t.test('extremes of more numbers than the stack holds', t => {
  const many = Array.from({ length: 300_000 }, (_, i) => i - 7)
  t.equal(maxOf(many), 299_992)
  t.equal(minOf(many), -7)
  t.equal(maxOf([]), -Infinity)
  t.equal(minOf([]), Infinity)
  t.ok(Number.isNaN(maxOf([1, Number.NaN, 2])) && Number.isNaN(minOf([1, Number.NaN, 2])))
  t.end()
})
