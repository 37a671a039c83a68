/** The audit and the faults where dumps leave little to see: returns of masked tokens cleared, lambda 0, equal first values, no KL. */
import t from 'tap'
import { maxOf, minOf } from '../src/core/extremes.js'
import { sweepThresholds } from '../src/compute/diagnostics/quality/changes.js'
import { NO_NEIGHBOURS } from '../src/compute/diagnostics/record.js'
import { recordOfSample } from '../src/compute/diagnostics/trace-record.js'
import { omissionNotes } from '../src/compute/diagnostics/usable-columns.js'
import { EXPLAINED_VARIANCE, readLoggedValues } from '../src/ingest/histories/logged-value.js'
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

t.test('an average explains a logged explained variance at every compared step, or is not given', t => {
  const plan: Partial<DumpPlan> = { steps: 2, samples: 16, fault: 'explained-variance-log' }
  const { samples, loggedExplainedVariance } = diagnosticDump({ ...CLEAN, seed: seedOf(6), ...plan })
  const evidence = (logged: ReadonlyMap<number, number>) =>
    diagnose(samples, { loggedExplainedVariance: logged }).findings.find(f => f.kind === 'explained-variance-log')?.evidence
  t.equal(evidence(loggedExplainedVariance)?.['agrees_with'], 'the mean over micro-batches of 2 samples')
  const other = new Map([...loggedExplainedVariance].map(([step, value]) => [step, step === 0 ? value : value - 0.01]))
  t.notOk('agrees_with' in (evidence(other) ?? { agrees_with: '' }), 'one step follows it, the other does not')
  t.end()
})

t.test('a sum that is set to 0 before it is stored', t => {
  for (const [gamma, lambdaReturns] of [
    [1, 0.95],
    [0.99, 1],
    [1, 1]
  ] as const) {
    const found = diagnose(samplesOf({ rule: 'reset', resetForm: 'before it is stored', trailing: 0, gamma, lambdaReturns }))
    t.equal(found.audit.rule, 'reset')
    t.same(found.audit.alternatives, [])
    t.same(
      found.findings.map(f => f.kind),
      ['observations-cut-return']
    )
  }
  t.end()
})

t.test('the place of the final reward is that in the returns', t => {
  for (const beta of [0, 0.02]) {
    const plan: Partial<DumpPlan> = { rule: 'trainable-only', trailing: 0.6, tokenRewards: true, storedAtEnd: true, gamma: 1, beta }
    const found = diagnose(samplesOf(plan))
    t.equal(found.audit.final_reward, 'last trainable token', `beta ${beta}`)
    t.same(found.audit.alternatives, [], 'carry would have dropped it')
    t.same(faultsOf(found), [])
    const lost = diagnose(samplesOf({ ...plan, rule: 'carry', storedAtEnd: false, finalReward: 'last token' }))
    t.equal(lost.audit.final_reward, 'last token')
    t.same(faultsOf(lost), ['final-reward-masked'])
  }
  t.end()
})

t.test('cleared returns do not tell rules that fit alike', t => {
  const { audit } = diagnose(samplesOf({ rule: 'carry', cleared: true, trailing: 0 }))
  t.equal(audit.rule, 'trainable-only')
  t.same(audit.alternatives, ['carry'])
  t.ok(audit.not_identifiable.includes('rule'))
  t.end()
})

t.test('a leak of KL that looks like a reward behind the end in one sample', t => {
  const leaking = samplesOf({
    rule: 'every-token',
    beta: 0.02,
    trailing: 0,
    tokenRewards: true,
    fault: 'padding-leak',
    variant: 1,
    margin: 40
  })
  const at = leaking.findIndex(s => s.fields.score === 1)
  const alike = changed(leaking, ({ index, arrays }) => {
    const returns = Float32Array.from(arrays.returns ?? [])
    const [before, last] = Array.from(arrays.token_rewards ?? []).slice(-2)
    if (index === at) returns[returns.length - 1] = before + 0.99 * last
    return { arrays: { ...arrays, returns } }
  })
  t.same(faultsOf(diagnose(alike)), ['padding-leak'])
  t.end()
})

t.test('KL of padding to a fixed width, behind the longest response too', t => {
  for (const tokenRewards of [false, true]) {
    for (const lambdaReturns of [1, 0.95]) {
      const plan: Partial<DumpPlan> = { rule: 'every-token', trailing: 0, beta: 0.02, tokenRewards, lambdaReturns }
      const leak = diagnose(samplesOf({ ...plan, fault: 'padding-leak', variant: 1, margin: 40 }))
      t.same(faultsOf(leak), ['padding-leak'])
      t.equal(leak.findings.find(f => f.kind === 'padding-leak')?.evidence['samples'], 8)
      t.same(faultsOf(diagnose(samplesOf(plan))), [])
    }
  }
  // rewards are the score less a penalty of length: nothing leaks
  const penalised = changed(
    samplesOf({ rule: 'every-token', trailing: 0, beta: 0.02, gamma: 1, lambdaReturns: 1 }),
    ({ mask, arrays }) => ({
      arrays: { ...arrays, returns: Float32Array.from(arrays.returns ?? [], r => r - 0.0005 * mask.length) }
    })
  )
  t.same(faultsOf(diagnose(penalised)), [])
  t.end()
})

t.test('values of one number', t => {
  const made = samplesOf({ trailing: 0 })
  // returns of other values than those that are stored: a neighbour has the same ones, which says nothing
  const constant = changed(made, ({ mask, arrays }) => ({ arrays: { ...arrays, values: new Float32Array(mask.length).fill(0.5) } }))
  t.same(faultsOf(diagnose(constant)), ['critic-frozen'])
  const far = changed(made, ({ arrays }) => ({
    arrays: {
      values: Float64Array.from(arrays.values ?? [], v => v + 1e9),
      returns: Float64Array.from(arrays.returns ?? [], r => r + 1e9)
    }
  }))
  t.same(faultsOf(diagnose(far)), [], 'they vary, far from 0')
  t.end()
})

t.test('numbers that are not finite', t => {
  const made = samplesOf({ beta: 0.02, trailing: 0 })
  const record = (sample: Sample) => recordOfSample(sample, NO_NEIGHBOURS, { successThreshold: 0, thresholds: sweepThresholds(0.1) })
  const [first] = made
  const filled = (name: 'advantages' | 'kl', at: (sample: Sample, i: number) => boolean) =>
    changed(made, sample => ({
      arrays: { ...sample.arrays, [name]: Float32Array.from(sample.arrays[name] ?? [], (x, i) => (at(sample, i) ? Number.NaN : x)) }
    }))
  for (const name of ['advantages', 'kl'] as const) {
    const [broken] = filled(name, (_, i) => i === 2)
    t.throws(() => record(broken), { message: /not finite: NaN/, place: { array: name, index: 2 } }, `one of ${name}`)
    const retained = first.mask.indexOf(1)
    const [one] = filled(name, (_, i) => i !== retained)
    t.throws(() => record(one), { message: /not finite: NaN/ }, `all but one of ${name}`)
    const [empty] = filled(name, () => true)
    t.same(record(empty).omitted, [name])
    t.equal(record(empty).estimator.has[name], false)
  }
  t.same(record(first).omitted, [])
  const masked = filled('kl', ({ mask }, i) => mask[i] === 0)
  t.ok(Math.abs((diagnose(masked).audit.kl_coefficient ?? 0) - 0.02) < 1e-3, 'masked tokens may hold anything')
  t.same(omissionNotes([['kl'], [], ['kl', 'advantages']]), [
    'advantages of 1 of 3 samples hold no finite number at retained tokens, and are left out',
    'kl of 2 of 3 samples hold no finite number at retained tokens, and are left out'
  ])
  t.end()
})

t.test('a logged history: rows left out are counted, two values of a step refused', t => {
  const read = (text: string) => readLoggedValues(Buffer.from(text), 'h', EXPLAINED_VARIANCE)
  const csv = read('step,explained_variance\n0,0.25\n1,abc\n2,NaN\n3,\nzero,0.5\n4,-inf\n5,0.75\n5,0.75\n')
  t.same(
    [...csv.byStep],
    [
      [0, 0.25],
      [5, 0.75]
    ]
  )
  t.same(csv.leftOut, [
    { reason: 'no value', rows: 1 },
    { reason: 'value not finite', rows: 2 },
    { reason: 'value no number', rows: 1 },
    { reason: 'no whole step', rows: 1 }
  ])
  const lines = read(
    '{"step": 0, "explained_variance": 0.5, "note": "NaN, \\"-Infinity\\""}\n{"step": 1, "explained_variance": NaN}\n{"step": 2, "explained_variance": -Infinity}\n'
  )
  t.same([[...lines.byStep], lines.leftOut], [[[0, 0.5]], [{ reason: 'value not finite', rows: 2 }]])
  const refused: readonly (readonly [string, RegExp])[] = [
    ['step,explained_variance\n3,0.5\n3,0.25\n', /^history step stated twice: 0\.5 and 0\.25 at step 3, expected one value a step \(h\)$/],
    [
      '[{"step": 0, "explained_variance": 0.5}]',
      /^history wrong kind of file: a JSON array, expected JSON Lines, one object a line, or a CSV with a head/
    ],
    ['{"step": 0, "explained_variance": nan}', /^history malformed: a line that is no JSON/]
  ]
  for (const [text, message] of refused) t.throws(() => read(text), { message })
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
