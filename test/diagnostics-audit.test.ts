/** The audit of the estimator and the faults, on dumps whose estimator is known: `support/diagnostic-dumps.ts` made them. */
import { isDeepStrictEqual } from 'node:util'
import { deserialize, serialize } from 'node:v8'
import t, { type Test } from 'tap'
import { firstGap, packGaps, unpackGaps } from '../src/compute/diagnostics/estimator/packed-gaps.js'
import type { TokenNumbers, Transition } from '../src/compute/diagnostics/estimator/transition.js'
import { neighbourValues, sampleRecord, traceRecord } from '../src/compute/diagnostics/record.js'
import { diagnoseEstimator, type EstimatorDiagnosis, type ToldValues } from '../src/compute/diagnostics/diagnose.js'
import { FINDING_KINDS } from '../src/schema/diagnostics.js'
import { FAULT_KINDS } from '../src/compute/diagnostics/faults/index.js'
import type { Sample, SampleNumbers } from '../src/schema/samples.js'
import { bfloat16, CLEAN, diagnosticDump, type DumpPlan } from './support/diagnostic-dumps.js'
import { estimates } from './support/diagnostic-recursions.js'
import { diagnose, faultsOf, recordsOf } from './support/diagnostic-runs.js'
import { faultyPlan, PLANTED } from './support/diagnostic-plans.js'
import { Random } from './support/random.js'
import { seedOf } from './support/rounds.js'

function planned(plan: Partial<DumpPlan>): EstimatorDiagnosis {
  return diagnose(diagnosticDump({ ...CLEAN, ...plan }).samples)
}

function isNear(t: Test, found: unknown, wanted: number, within: number, what: string): void {
  t.ok(typeof found === 'number' && Math.abs(found - wanted) <= within, `${what}: ${String(found)}, made with ${wanted}`)
}

t.test('the estimator of a dump of 12 samples', t => {
  const kinds: Partial<DumpPlan>[] = [
    {},
    { gamma: 1, lambdaReturns: 0.9, lambdaAdvantages: 0.9, whitening: 'none' },
    { gamma: 0.97, lambdaReturns: 0.97, lambdaAdvantages: 0.9 },
    { lambdaReturns: 1, lambdaAdvantages: 0.95, gamma: 1 },
    { lambdaReturns: 0.5, lambdaAdvantages: 0.5, gamma: 0.9 },
    { beta: 0.02 },
    { beta: 0.001, tokenRewards: true },
    { scores: 'real', tokenRewards: true },
    { turnTokens: [3, 6], turns: 8 },
    { steps: 3, whitening: 'batch' }
  ]
  for (const rule of ['every-token', 'carry', 'trainable-only', 'zeroed-values'] as const) {
    kinds.forEach((kind, seed) => {
      // where masked tokens count, KL behind the end is a fault of its own
      const counts = rule === 'every-token' || rule === 'zeroed-values'
      const plan: DumpPlan = { ...CLEAN, trailing: counts && (kind.beta ?? 0) > 0 ? 0 : 0.4, ...kind, rule, seed: seedOf(seed + 1) }
      const name = `${rule} ${JSON.stringify(kind)}`
      const found = diagnose(diagnosticDump(plan).samples)
      const { audit } = found
      t.equal(audit.rule, rule, name)
      // returns of 0 may be those of another rule, multiplied by the mask
      t.same(audit.alternatives, rule === 'trainable-only' ? ['carry'] : [], name)
      isNear(t, audit.gamma, plan.gamma, 1e-3, `${name}: gamma`)
      isNear(t, audit.lambda_returns, plan.lambdaReturns, 1e-3, `${name}: lambda of returns`)
      isNear(t, audit.lambda_advantages, plan.lambdaAdvantages as number, 1e-3, `${name}: lambda of advantages`)
      isNear(t, audit.kl_coefficient, plan.beta, 1e-3, `${name}: beta`)
      t.equal(audit.whitening, plan.whitening, name)
      t.equal(audit.value_alignment, plan.lambdaReturns === 1 ? null : 'pre-action', name)
      t.equal(audit.not_identifiable.includes('value_alignment'), plan.lambdaReturns === 1, name)
      t.equal(audit.final_reward, plan.trailing > 0 ? 'last trainable token' : null, name)
      t.ok(audit.max_residual !== null && audit.max_residual < 1e-6, `${name}: residual ${audit.max_residual}`)
      t.same(faultsOf(found), [], `${name}: no fault`)
      const property = { 'every-token': 'masked-bootstrap', 'zeroed-values': 'masked-zeroed', carry: null, 'trainable-only': null }[rule]
      if (property !== null)
        t.ok(
          found.findings.some(f => f.kind === property && f.severity === 'property'),
          `${name}: ${property}`
        )
    })
  }
  t.end()
})

t.test('a lambda of advantages that depends on the length', t => {
  for (const alpha of [0.05, 0.1, 0.3]) {
    for (const whitening of ['none', 'batch'] as const) {
      const { audit } = planned({ lambdaReturns: 1, gamma: 1, lambdaAdvantages: { alpha }, whitening, seed: seedOf(3) })
      const found = audit.lambda_advantages
      if (found === null || typeof found === 'number') t.fail(`an alpha of ${alpha}, found ${found}`)
      else isNear(t, found.adaptive_alpha, alpha, alpha / 100, 'alpha')
      t.equal(audit.whitening, whitening)
    }
  }
  t.end()
})

t.test('groups of whitening', t => {
  for (const [whitening, named] of [
    ['rank', 'rank'],
    ['sample', 'sample'],
    ['halves', 'within-sample'],
    ['zigzag', 'within-sample']
  ] as const) {
    const { audit, findings } = planned({ whitening, ranks: 2, seed: seedOf(9) })
    t.equal(audit.whitening, named)
    isNear(t, audit.lambda_advantages, 0.95, 1e-3, `${whitening}: lambda of advantages`)
    t.same(
      findings.filter(f => f.severity === 'fault').map(f => f.kind),
      ['whitening-groups']
    )
  }
  const unnamed = diagnosticDump({ ...CLEAN, whitening: 'rank', ranks: 2, seed: seedOf(10) }).samples
  const { audit } = diagnose(unnamed.map(s => ({ ...s, fields: { ...s.fields, rank: null } })))
  t.equal(audit.whitening, 'rank', 'two groups of samples are seen without the names of ranks')
  t.end()
})

t.test('each fault is found with its place and report, and no other', t => {
  for (const fault of PLANTED) {
    for (const variant of [0, 1] as const) {
      for (let seed = 1; seed <= 3; seed++) {
        const plan = { ...faultyPlan(seedOf(seed), { samples: 12, dtype: 'float32' }, fault), variant }
        const dump = diagnosticDump(fault === 'critic-frozen' ? { ...plan, steps: variant === 0 ? 1 : 2 } : plan)
        const { findings } = diagnose(dump.samples, { loggedExplainedVariance: dump.loggedExplainedVariance })
        const faults = findings.filter(f => f.severity === 'fault')
        t.same(
          faults.map(f => f.kind),
          [fault],
          `${fault}, variant ${variant}, seed ${seed}`
        )
        for (const { place, message, report, evidence } of faults) {
          t.match(message, /^[A-Z].*\d/, 'a sentence with numbers')
          t.match(report, /^https:\/\/github\.com\//)
          t.ok(
            Object.values(evidence).every(x => typeof x === 'string' || Number.isFinite(x)),
            JSON.stringify(evidence)
          )
          if (place !== null) t.ok(place.token < dump.samples[place.sample].mask.length, 'its place is a token')
        }
      }
    }
  }
  t.same(FAULT_KINDS.map(k => k.kind).sort(), [...FINDING_KINDS].sort())
  t.end()
})

t.test('evidence is what the dump holds', t => {
  const { samples } = diagnosticDump({ ...CLEAN, rule: 'every-token', finalReward: 'last token', trailing: 1, seed: seedOf(21) })
  const found = diagnose(samples).findings.find(f => f.kind === 'final-reward-masked')
  t.ok(found?.place)
  const sample = samples[found?.place?.sample ?? 0]
  const last = sample.mask.lastIndexOf(1)
  t.equal(found?.place?.token, last)
  t.equal(found?.evidence['reward'], sample.fields.score)
  t.ok(Math.abs(Number(found?.evidence['return_at_last_trainable']) - (sample.arrays.returns?.[last] ?? 0)) < 1e-6)
  t.equal(found?.evidence['masked_tokens_behind'], sample.mask.length - 1 - last)
  t.end()
})

t.test('values off by one where lambda of the returns is 1', t => {
  const plan = { fault: 'values-off-by-one', gamma: 1, lambdaReturns: 1, lambdaAdvantages: 0.95 } as const
  const { audit, findings } = planned({ ...plan, advantages: false })
  t.equal(audit.value_alignment, null)
  t.ok(audit.not_identifiable.includes('value_alignment'))
  t.same(
    findings.filter(f => f.severity === 'fault'),
    [],
    'the returns cannot tell'
  )
  const told = planned(plan)
  t.equal(told.audit.value_alignment, null)
  t.match(told.findings.find(f => f.kind === 'values-off-by-one')?.evidence, { seen_in: 'advantages' }, 'the advantages can')
  t.end()
})

t.test('a bootstrap from the start of the next sample', t => {
  const { samples } = diagnosticDump({ ...CLEAN, turns: 1, trailing: 0, seed: seedOf(32), advantages: false })
  const how = { gamma: 0.99, lambda: 0.95, rule: 'every-token', resetForm: 'own value' } as const
  // all samples as one stream, whose ends no flag marks
  const values = Float64Array.from(samples.flatMap(s => [...(s.arrays.values ?? [])]))
  const rewards = Float64Array.from(
    samples.flatMap(s => [...s.mask.keys()].map(i => (i === s.mask.length - 1 ? (s.fields.score ?? 0) : 0)))
  )
  const { returns } = estimates(values, rewards, new Uint8Array(values.length).fill(1), how)
  let from = 0
  const stream = samples.map((s): Sample => {
    const part = Float32Array.from(returns.subarray(from, from + s.mask.length))
    from += s.mask.length
    return { ...s, arrays: { ...s.arrays, returns: part } }
  })
  t.same(faultsOf(diagnose(stream)), ['foreign-bootstrap'])

  // the sum is cut at the end of a sample, the next value is not
  const cut = samples.map((s, i): Sample => {
    const own = Float64Array.from(s.arrays.values ?? [])
    const last = (s.fields.score ?? 0) + 0.99 * (samples[i + 1]?.arrays.values?.[0] ?? 0)
    const paid = own.map((_, at) => (at === own.length - 1 ? last : 0))
    return { ...s, arrays: { ...s.arrays, returns: Float32Array.from(estimates(own, paid, s.mask, how).returns) } }
  })
  t.same(faultsOf(diagnose(cut)), ['foreign-bootstrap'], 'the next value alone')
  t.end()
})

t.test('returns of masked tokens that were cleared are made again', t => {
  for (const rule of ['every-token', 'zeroed-values'] as const) {
    const { samples } = diagnosticDump({ ...CLEAN, rule, trailing: 0, beta: 0.02, seed: seedOf(33) })
    const cleared = samples.map(
      (s): Sample => ({ ...s, arrays: { ...s.arrays, returns: (s.arrays.returns as Float32Array).map((x, i) => x * s.mask[i]) } })
    )
    t.equal(diagnose(cleared).audit.rule, rule)
  }
  t.end()
})

t.test('a critic whose values neither follow the scores nor move, over many trajectories', t => {
  const plan: DumpPlan = { ...CLEAN, samples: 600, steps: 4, turns: 1, turnTokens: [10, 20], trailing: 0, advantages: false }
  const uids = (samples: readonly Sample[]): Sample[] => samples.map(s => ({ ...s, fields: { ...s.fields, uid: null } }))
  // drawn without regard to the score; a first value is nowhere repeated
  const frozen = diagnosticDump({ ...plan, fault: 'critic-frozen', variant: 1, seed: 5 }).samples.map((s): Sample => {
    const values = Float32Array.from(s.arrays.values ?? [])
    values[0] += s.index * 1e-6
    return { ...s, arrays: { ...s.arrays, values } }
  })
  t.match(diagnose(uids(frozen)).findings.find(f => f.kind === 'critic-frozen')?.message, /do not follow the scores/)
  t.same(faultsOf(diagnose(uids(diagnosticDump({ ...plan, seed: 5 }).samples))), [], 'a critic that follows them a little')
  t.end()
})

t.test('values of padding that bootstrap the last token', t => {
  const { audit, findings } = planned({ rule: 'every-token', turns: 1, trailing: 0.5, seed: seedOf(34) })
  t.equal(audit.rule, 'every-token')
  t.match(findings, [{ kind: 'masked-bootstrap', severity: 'property', message: /behind the last turn/ }])
  t.end()
})

t.test('truncated samples are stated', t => {
  const { findings } = planned({ truncated: 0.5, seed: seedOf(31) })
  t.match(findings, [{ kind: 'truncation', severity: 'property' }])
  t.end()
})

t.test('what a snapshot of traces tells: values, returns and positions', t => {
  const fields = { step: 1, outcome: null, score: null, uid: null, truncated: null, rank: null }
  const traces = (plan: Partial<DumpPlan>): EstimatorDiagnosis => {
    const { samples } = diagnosticDump({ ...CLEAN, ...plan, seed: seedOf(41) })
    return diagnoseEstimator(
      samples.map(({ index, mask, arrays }) => {
        const positions = Int32Array.from([...mask.keys()].filter(i => mask[i] === 1))
        const pick = (array: SampleNumbers | undefined): Float64Array => Float64Array.from(positions, i => array?.[i] ?? 0)
        return traceRecord({ index, fields, values: pick(arrays.values), returns: pick(arrays.returns), positions }, null).estimator
      })
    )
  }
  for (const rule of ['every-token', 'carry', 'trainable-only', 'zeroed-values'] as const) {
    const { audit, findings } = traces({ rule, gamma: 1, lambdaReturns: 1 })
    isNear(t, audit.gamma, 1, 1e-3, 'gamma')
    isNear(t, audit.lambda_returns, 1, 1e-3, 'lambda of returns')
    t.same(audit.not_identifiable, ['rule', 'value_alignment', 'lambda_advantages', 'whitening', 'final_reward'], rule)
    t.ok([audit.rule, ...audit.alternatives].includes(rule))
    t.same(findings, [], rule)
  }
  const open = traces({ rule: 'every-token' }).audit
  t.equal(open.rule, null, 'values of masked tokens that bootstrap are not in a trace')
  t.ok(open.not_identifiable.includes('rule'))
  const { audit } = traces({ rule: 'carry' })
  t.equal(audit.rule, 'carry')
  t.same(audit.alternatives, ['trainable-only'])
  isNear(t, audit.gamma, 0.99, 1e-3, 'gamma')
  isNear(t, audit.lambda_returns, 0.95, 1e-3, 'lambda of returns')
  t.end()
})

t.test('told values are held against the recovered ones', t => {
  const { samples } = diagnosticDump({ ...CLEAN, seed: seedOf(51) })
  t.match(diagnose(samples, { gamma: 0.99, lambdaReturns: 0.97, lambdaAdvantages: 0.95 }).audit.told, [
    { name: 'gamma', told: 0.99, agrees: true },
    { name: 'lambda_returns', told: 0.97, agrees: false },
    { name: 'lambda_advantages', told: 0.95, agrees: true }
  ])
  t.match(diagnose(samples, { lambdaAdvantages: { adaptive_alpha: 0.05 } }).audit.told, [{ agrees: false }])
  const agreed = (plan: Partial<DumpPlan>, told: ToldValues): (boolean | null)[] =>
    diagnose(diagnosticDump({ ...CLEAN, seed: seedOf(52), samples: 32, scores: 'real', ...plan }).samples, told).audit.told.map(
      v => v.agrees
    )
  for (const truth of [0.99, 1]) {
    // a reward-to-go of 0 and 1 looks as if it had been stored in a coarse type
    for (const scores of ['real', '0 or 1'] as const) {
      const plan: Partial<DumpPlan> = { gamma: truth, lambdaReturns: truth, lambdaAdvantages: truth, scores }
      for (const [off, same] of [
        [0, true],
        [-1e-5, false],
        [-0.0005, false]
      ] as const) {
        const told = truth + off
        const found = agreed(plan, { gamma: told, lambdaReturns: told, lambdaAdvantages: told })
        t.same(found, [same, same, same], `${told} of singles made with ${truth}`)
      }
    }
  }
  const coarse: Partial<DumpPlan> = { dtype: 'bfloat16', samples: 128, critic: 'noise' }
  for (const [off, found] of [
    [0, true],
    // the numbers are those of both
    [0.002, null],
    [0.005, false]
  ] as const) {
    const told = { gamma: 0.99 - off, lambdaReturns: 0.95 - off, lambdaAdvantages: 0.95 - off }
    t.same(agreed(coarse, told), [found, found, found], `rounding of bfloat16, ${off} beside the truth`)
  }
  const foreign: Partial<DumpPlan> = { fault: 'foreign-bootstrap', rule: 'every-token', trailing: 0 }
  t.same(agreed(foreign, { gamma: 0.99, lambdaReturns: 0.95 }), [true, true], 'beside values of another sample')
  t.same(agreed(foreign, { gamma: 0.98, lambdaReturns: 0.94 }), [false, false], 'beside values of another sample')
  const adaptive: Partial<DumpPlan> = { lambdaAdvantages: { alpha: 0.3 } }
  for (const [alpha, many, one] of [
    [0.3, true, null],
    [0.301, false, false]
  ] as const) {
    const told = { lambdaAdvantages: { adaptive_alpha: alpha } }
    t.same(agreed(adaptive, told), [many], `alpha ${alpha} of singles made with 0.3`)
    t.same(agreed({ ...adaptive, samples: 1 }, told), [one], 'one sample does not tell it from a lambda that is a number')
  }
  t.same(agreed(adaptive, { lambdaAdvantages: 0.95 }), [false], 'no number is the lambda of every sample')
  // a lambda that is a number leaves rounding too
  t.notSame(agreed({ ...adaptive, dtype: 'bfloat16', samples: 2 }, { lambdaAdvantages: { adaptive_alpha: 0.3 } }), [false])
  const bare = diagnose(
    samples.map(s => ({ ...s, arrays: { values: s.arrays.values ?? new Float32Array(0) } })),
    { gamma: 0.99 }
  )
  t.match(bare.audit.told, [{ name: 'gamma', recovered: null, agrees: null }])
  t.end()
})

t.test('no known rule: the nearest, and the first token that departs', t => {
  const { samples } = diagnosticDump({ ...CLEAN, trailing: 0, seed: seedOf(61) })
  // every turn ends with a reward that the dump does not state
  const changed = samples.map((s): Sample => {
    const returns = Float32Array.from(s.arrays.returns ?? [])
    let extra = 0
    for (let i = s.mask.length - 1; i >= 0; i--) {
      if (s.mask[i] === 1) extra *= 0.99 * 0.95
      if (s.mask[i] === 1 && s.mask[i + 1] === 0) extra += 0.3
      returns[i] += extra
    }
    return { ...s, arrays: { ...s.arrays, returns } }
  })
  const { audit } = diagnose(changed)
  t.equal(audit.rule, null)
  t.equal(audit.nearest_rule, 'carry')
  t.same(audit.departs_at, { sample: 0, token: samples[0].mask.indexOf(0) - 1 })
  isNear(t, audit.gamma, 0.99, 1e-3, 'gamma')

  const one = samples.map((s): Sample => {
    const returns = Float32Array.from(s.arrays.returns ?? [])
    if (s.index === 5) returns[4] += 0.25
    return { ...s, arrays: { ...s.arrays, returns } }
  })
  const single = diagnose(one).audit
  t.equal(single.rule, 'carry', 'one changed return leaves the rule')
  t.match(single.departs_at, { sample: 5 })
  t.ok([3, 4].includes(single.departs_at?.token ?? -1), 'its place')
  t.end()
})

t.test('what the program refuses to guess', t => {
  const zero = planned({ truncated: 1, gamma: 1, lambdaReturns: 1, samples: 6, seed: seedOf(71) })
  t.ok(zero.audit.gamma !== null, 'the first sample has a score')
  const { samples } = diagnosticDump({ ...CLEAN, gamma: 1, lambdaReturns: 1, lambdaAdvantages: 1, seed: seedOf(72) })
  const none = diagnose(
    samples.map(s => ({
      ...s,
      fields: { ...s.fields, score: 0 },
      arrays: { values: s.arrays.values as SampleNumbers, returns: new Float32Array(s.mask.length) }
    }))
  )
  t.equal(none.audit.gamma, null, 'returns that are all 0 hold no discount')
  t.equal(none.audit.lambda_returns, null)
  t.ok(['gamma', 'lambda_returns', 'value_alignment', 'whitening'].every(name => none.audit.not_identifiable.some(n => n === name)))
  t.same(none.findings, [])
  const single = planned({ samples: 1 })
  t.equal(single.audit.whitening, null, 'one sample does not tell its batch from itself')
  t.ok(single.audit.not_identifiable.includes('whitening'))
  t.end()
})

t.test('single-turn samples leave the rule open', t => {
  const { audit, findings } = planned({ turns: 1, trailing: 0, rule: 'carry' })
  t.equal(audit.rule, 'every-token')
  t.same(audit.alternatives, ['carry', 'trainable-only', 'zeroed-values', 'reset'])
  t.ok(audit.not_identifiable.includes('rule'))
  t.same(findings, [], 'and no property is claimed')
  t.end()
})

t.test('hostile samples', t => {
  const fields = { step: null, outcome: null, score: 1, uid: null, truncated: null, rank: null }
  const make = (index: number, mask: readonly number[], fill: (name: string, i: number) => number): Sample => ({
    index,
    place: {},
    fields,
    mask: Uint8Array.from(mask),
    arrays: Object.fromEntries(
      ['values', 'returns', 'advantages', 'kl', 'token_rewards'].map(name => [name, Float64Array.from(mask, (_, i) => fill(name, i))])
    ),
    tokenIds: null
  })
  const random = new Random(seedOf(81))
  const masks: readonly (readonly number[])[] = [
    [1],
    [0],
    [1, 0, 0],
    [0, 0, 1],
    [1, 1],
    [1, 0, 1, 0, 1],
    Array<number>(40).fill(1),
    [...Array<number>(20).fill(1), 0, 0, ...Array<number>(20).fill(1)]
  ]
  const fills: readonly ((name: string, i: number) => number)[] = [
    () => 0,
    () => 0.5,
    name => (name === 'returns' ? 1 : 0),
    (_, i) => (i % 2 === 0 ? 1e300 : -1e300),
    () => Number.MIN_VALUE,
    () => random.normal(),
    () => random.anyDouble(),
    (_, i) => i,
    (_, i) => (i === 0 ? Number.NaN : 1),
    () => Number.POSITIVE_INFINITY
  ]
  for (const fill of fills) {
    for (const count of [1, 3, 8]) {
      for (const mask of masks) {
        const samples = Array.from({ length: count }, (_, i) => make(i, mask, fill))
        const { audit, findings } = diagnose(samples)
        const made = samples.map(sample => sampleRecord(sample, neighbourValues(null, null), null))
        const listed: unknown = withLists(made)
        t.same(JSON.parse(JSON.stringify(listed)), listed, 'a record is plain finite numbers')
        const numbers = [audit.gamma, audit.lambda_returns, audit.kl_coefficient, audit.max_residual]
        t.ok(
          numbers.every(x => x === null || Number.isFinite(x)),
          JSON.stringify(numbers)
        )
        t.same(
          findings.filter(f => f.severity === 'fault').map(f => f.kind),
          [],
          `fill ${fills.indexOf(fill)}, ${count} samples, mask ${mask.join('')}`
        )
      }
    }
  }
  t.same(diagnoseEstimator([]).findings, [])
  t.equal(diagnoseEstimator([]).audit.gamma, null)
  t.end()
})

t.test('records have a size that does not grow with the sample', t => {
  const size = (tokens: number): number => {
    const { samples } = diagnosticDump({ ...CLEAN, samples: 2, turnTokens: [tokens, tokens], seed: seedOf(91) })
    return Math.max(...recordsOf(samples).map(r => serialize(r).length))
  }
  t.ok(size(4000) < 1.2 * size(400), 'ten times the tokens')
  t.end()
})

t.test('bfloat16 is known by its empty bits, and rounding by its size', t => {
  t.equal(bfloat16(1.00390625), 1, 'ties go to even')
  const { audit } = planned({ dtype: 'bfloat16', samples: 100, seed: seedOf(95) })
  isNear(t, audit.gamma, 0.99, 2e-3, 'gamma')
  isNear(t, audit.lambda_returns, 0.95, 2e-3, 'lambda of returns')
  t.equal(audit.rule, 'carry')
  t.equal(audit.whitening, 'batch')
  t.end()
})

/** Typed arrays as lists. */
function withLists(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as Float64Array)
  if (Array.isArray(value)) return value.map(withLists)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withLists(inner)]))
}

t.test('gaps are packed and unpacked without loss', t => {
  const token = (token: number, ...[value, ret, reward, kl, advantage]: readonly (number | null)[]): TokenNumbers => ({
    token,
    value: value ?? 0,
    ret: ret ?? 0,
    reward: reward ?? null,
    kl: kl ?? null,
    advantage: advantage ?? null
  })
  const bare = { masked: 3, cleared: false, previous: null, next: null, second: null, trainable: null, pairs: [], chain: null }
  const gaps: Transition[] = [
    { ...bare, here: token(0, -0, 5e-324), valueBefore: null, valueBehind: -0 },
    {
      ...bare,
      here: token(7, 0.1, 1e300, -0, null, 2),
      previous: token(6, 1, 2, null, 3, null),
      trainable: token(11, 1, 2, 3, 4, 5),
      pairs: [
        { here: token(8, 1, 0), next: null, closes: false },
        { here: token(9, 1, 0), next: token(10, 4, 5), closes: true }
      ],
      cleared: true,
      chain: { values: [1, -0, 3], rewards: null, kl: [0, 1, 2] },
      valueBefore: 0,
      valueBehind: null
    },
    { ...bare, here: token(20), chain: { values: [], rewards: [], kl: null }, valueBefore: 1, valueBehind: 2 }
  ]
  const packed = packGaps(gaps)
  t.ok(packed.numbers.every(Number.isFinite))
  t.ok(isDeepStrictEqual([...unpackGaps(deserialize(serialize(packed)) as typeof packed)], gaps), 'minus zero too')
  t.ok(isDeepStrictEqual(firstGap(packed), gaps[0]))
  t.equal(firstGap(packGaps([])), null)
  t.end()
})
