/**
 * What a trace says of itself, and what it may leave out: outcome and score, uid, prediction stage, stored statistics, texts,
 * the NPZ file. What nothing states is null and "not stated", never 0 of N; one source alone is a fact, not a fault.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Random } from '../src/replica/random.js'
import { checksTable, statisticsTables } from '../src/cli/summary.js'
import type { CheckReport } from '../src/compute/traces/expectations.js'
import { openTracePool } from '../src/compute/traces/pool.js'
import { openNpz } from '../src/ingest/npz/npz.js'
import { encodeNpy, encodeNpyBool, encodeNpyFloat, encodeNpyInt, encodeNpyText, NpzWriter } from '../src/ingest/npz/write.js'
import type { SnapshotSettings } from '../src/runs/snapshot-work.js'
import { nullPointers, schemaProblems } from './support/json-schema.js'
import { ROOT } from './support/output-fixture.js'
import { parseCsv } from './support/csv-parse.js'
import { faultsOf, run, settings } from './support/run.js'
import { npzOf, page, randomTraces, SNAPSHOT_TIME, withStored, writeSnapshot, type TestTrace } from './support/snapshot.js'

const root = mkdtempSync(join(tmpdir(), 'critic-traces-facts-'))
const pool = openTracePool(2)
t.teardown(async () => {
  await pool.destroy()
  rmSync(root, { recursive: true, force: true })
})
let folders = 0
const fresh = (): string => join(root, `f${folders++}`)
const six = (seed: string): TestTrace[] => randomTraces(new Random(seed), 3, i => 24 + i)

type Loose = Record<string, unknown>

/** A page over traces of any shape, beside the NPZ files of the traces that they were made of. */
async function looseSnapshot(traces: readonly TestTrace[], change: (trace: Loose, i: number) => Loose): Promise<string> {
  const folder = fresh()
  mkdirSync(folder)
  const loose = traces.map((trace, i) => change({ ...withStored(trace) }, i))
  writeFileSync(join(folder, 'index.html'), page(JSON.stringify({ snapshot_time: SNAPSHOT_TIME, traces: loose }).replaceAll('</', '<\\/')))
  for (const trace of traces) writeFileSync(join(folder, trace.npz), await npzOf(trace))
  return folder
}

async function npzFile(path: string, members: ReadonlyArray<readonly [string, Uint8Array]>): Promise<void> {
  const chunks: Uint8Array[] = []
  const npz = new NpzWriter(bytes => {
    chunks.push(bytes.slice())
  })
  for (const [name, npy] of members) await npz.add(name, npy)
  await npz.finish()
  writeFileSync(path, Buffer.concat(chunks))
}

const arraysOf = (trace: TestTrace): ReadonlyArray<readonly [string, Uint8Array]> => [
  ['values', encodeNpy(Float64Array.from(trace.values))],
  ['returns', encodeNpy(Float64Array.from(trace.returns))],
  ['response_positions', encodeNpy(BigInt64Array.from(trace.response_positions, BigInt))]
]

const named = (checks: readonly CheckReport[], name: string): Omit<CheckReport, 'faults'> | undefined => {
  const found = checks.find(c => c.check === name)
  if (found === undefined) return undefined
  const { faults: _, ...rest } = found
  return rest
}

interface IndexDocument {
  readonly verified: boolean
  readonly traces: ReadonlyArray<Record<string, unknown>>
}

function json<T>(out: string, name: string): T {
  return JSON.parse(readFileSync(join(out, `training_data/${name}.json`), 'utf8')) as T
}

/** Every JSON output against its schema, and every null of the statistics against its reason. */
function judgeOutputs(t: Test, out: string, label: string): void {
  for (const name of ['critic-trace-index', 'critic-trace-statistics', 'critic-turn-boundary-audit']) {
    const schema: unknown = JSON.parse(readFileSync(new URL(`docs/schemas/${name}.schema.json`, ROOT), 'utf8'))
    t.strictSame(schemaProblems(schema, json(out, name)), [], `${label}: ${name}`)
  }
  const statistics = json<{ undefined_reasons: object }>(out, 'critic-trace-statistics')
  const nulls = nullPointers(statistics).filter(
    pointer => pointer !== '/inputs_verified' && !pointer.endsWith('/uid') && !pointer.endsWith('/step')
  )
  t.strictSame(nulls.sort(), Object.keys(statistics.undefined_reasons).sort(), `${label}: a reason for every null`)
}

t.test('a score against the outcome is one sentence where a study demands it, and is reported elsewhere', async t => {
  const traces = six('score')
  const demanding: SnapshotSettings = settings(true)
  t.strictSame(await faultsOf(run(await looseSnapshot(traces, trace => trace), fresh(), pool, { settings: demanding })), [])
  const place = (i: number): string => `trace ${i}, uid ${traces[i].uid}, step ${traces[i].step})`
  const cases: ReadonlyArray<readonly [what: string, i: number, score: unknown, problem: string]> = [
    [
      'half of a failure',
      3,
      0.5,
      'score and outcome disagree: score 0.5, outcome failure, expected a score of at most 0, or the outcome success'
    ],
    [
      'one of a failure',
      5,
      1,
      'score and outcome disagree: score 1, outcome failure, expected a score of at most 0, or the outcome success'
    ],
    [
      'zero of a success',
      2,
      0,
      'score and outcome disagree: score 0, outcome success, expected a score of more than 0, or the outcome failure'
    ],
    [
      'below zero of a success',
      0,
      -1,
      'score and outcome disagree: score -1, outcome success, expected a score of more than 0, or the outcome failure'
    ],
    ['null of a failure', 1, null, 'score and outcome not stated: no score, outcome failure, expected a score of at most 0'],
    ['none of a success', 4, undefined, 'score and outcome not stated: no score, outcome success, expected a score of more than 0']
  ]
  for (const [what, i, score, problem] of cases) {
    const folder = await looseSnapshot(traces, (trace, k) => (k === i ? { ...trace, score } : trace))
    const faults = await faultsOf(run(folder, fresh(), pool, { settings: demanding }))
    t.strictSame(
      faults.map(f => [f.message, f.exitCode]),
      [[`snapshot ${problem} (${join(folder, 'index.html')}, ${place(i)}`, 1]],
      what
    )
    const { checks } = await run(folder, fresh(), pool)
    const unstated = score === null || score === undefined ? 1 : 0
    t.strictSame(
      named(checks, 'score and outcome'),
      {
        check: 'score and outcome',
        expected: false,
        passed: 5,
        total: 6 - unstated,
        unstated
      },
      `${what}: reported`
    )
  }
  const { statistics } = await run(await looseSnapshot(traces, (trace, k) => (k === 3 ? { ...trace, score: 0.5 } : trace)), fresh(), pool)
  t.equal(statistics.checks.score_agrees_with_outcome, 5)
  // A success by half a point is none by the study's threshold.
  const half = await looseSnapshot(traces, trace => ({ ...trace, score: trace['score'] === 1 ? 0.5 : 0.25 }))
  const above = (success_threshold: number): SnapshotSettings => ({ ...demanding, traces: { ...demanding.traces, success_threshold } })
  t.strictSame(await faultsOf(run(half, fresh(), pool, { settings: above(0.25) })), [])
  t.equal((await faultsOf(run(half, fresh(), pool, { settings: above(0.5) }))).length, 3, 'strictly above')
  // A study whose scores are 0 or 1 says so.
  const binary: SnapshotSettings = { ...demanding, expectations: { ...demanding.expectations, score_agrees_with_outcome: 'binary' } }
  const success = traces.findIndex(trace => trace.outcome === 'success')
  const only = await looseSnapshot(traces, (trace, k) => (k === success ? { ...trace, score: 0.5 } : trace))
  t.strictSame(await faultsOf(run(only, fresh(), pool, { settings: demanding })), [], 'positive is success')
  t.strictSame(await faultsOf(run(await looseSnapshot(traces, trace => trace), fresh(), pool, { settings: binary })), [])
  t.strictSame(
    (await faultsOf(run(only, fresh(), pool, { settings: binary }))).map(f => [f.message, f.exitCode]),
    [
      [
        `snapshot score and outcome disagree: score 0.5, outcome success, expected a score of 1 (${join(only, 'index.html')}, ${place(success)}`,
        1
      ]
    ]
  )
  t.equal((await faultsOf(run(half, fresh(), pool, { settings: above(0) }))).length, 3)
})

t.test('an outcome as text, bool or number; without one the score against the threshold; and outputs say which', async t => {
  const traces = six('outcomes')
  const forms: ReadonlyArray<readonly [unknown, unknown]> = [
    ['success', 'failure'],
    [true, false],
    [1, 0],
    ['success', 0]
  ]
  const { statistics: wanted } = await run(await looseSnapshot(traces, trace => trace), fresh(), pool)
  for (const [success, failure] of forms) {
    const folder = await looseSnapshot(traces, trace => ({ ...trace, outcome: trace['outcome'] === 'success' ? success : failure }))
    t.same((await run(folder, fresh(), pool)).statistics, wanted, JSON.stringify([success, failure]))
  }
  t.strictSame(wanted.outcome_from, { outcome: 6, score: 0, unknown: 0 })

  // Scores 1 and 0 of the pairs, two traces of which say an outcome, one against its score, and one says neither.
  const folder = await looseSnapshot(traces, (trace, i) => {
    const { outcome, score, ...rest } = trace
    if (i === 0) return { ...rest, outcome: false, score }
    if (i === 1) return { ...rest, outcome }
    return i === 5 ? rest : { ...rest, score: i === 2 ? 0.5 : score }
  })
  const expected = (half: string): unknown[] => [
    ['failure', 'outcome', 1],
    ['failure', 'outcome', null],
    [half, 'score', 0.5],
    ['failure', 'score', 0],
    ['success', 'score', 1],
    [null, null, null]
  ]
  for (const [success_threshold, half] of [
    [0, 'success'],
    [0.5, 'failure'],
    [-1, 'success']
  ] as const) {
    const out = fresh()
    const judge: SnapshotSettings = { ...settings(), traces: { ...settings().traces, success_threshold } }
    const { statistics } = await run(folder, out, pool, { settings: judge, formats: ['svg'] })
    judgeOutputs(t, out, `above ${success_threshold}`)
    t.equal(statistics.success_threshold, success_threshold)
    t.strictSame(statistics.outcome_from, { outcome: 2, score: 3, unknown: 1 })
    if (success_threshold >= 0) {
      t.strictSame(
        json<IndexDocument>(out, 'critic-trace-index').traces.map(r => [r['outcome'], r['outcome_from'], r['score']]),
        expected(half)
      )
      t.equal((statistics.success.traces ?? NaN) + (statistics.failure.traces ?? NaN), 5, 'the unknown one is in no pool')
    }
    const [heading, ...rows] = parseCsv(readFileSync(join(out, 'training_data/critic-trace-trajectories.csv'), 'utf8'))
    const from = heading.indexOf('outcome_from')
    t.strictSame(rows.map(row => row[from] ?? '').sort(), ['', 'outcome', 'outcome', 'score', 'score', 'score'])
    const figure = readFileSync(join(out, 'figures/08-critic-traces.svg'), 'utf8')
    t.ok(figure.includes(`The outcome of 3 traces is told by the score: above ${success_threshold} is a success.`))
    t.ok(figure.includes('1 trace without an outcome.'))
    const text = statisticsTables(statistics, { colour: false })
    t.match(text, `outcome told by the score, above ${success_threshold} a success: 3 of 6 traces`)
    t.match(text, 'outcome unknown: 1 of 6 traces, which are in no count of successes or failures')
  }
})

t.test('the same of a folder of NPZ files', async t => {
  const traces = six('npz-outcomes')
  const folder = fresh()
  mkdirSync(folder)
  const members: ReadonlyArray<ReadonlyArray<readonly [string, Uint8Array]>> = [
    [['outcome', encodeNpyText('success')]],
    [['outcome', encodeNpyBool(false)]],
    [
      ['outcome', encodeNpyInt(1)],
      ['score', encodeNpyFloat(-3)]
    ],
    [['outcome', encodeNpyFloat(0)]],
    [['score', encodeNpyFloat(0.25)]],
    []
  ]
  for (const [i, more] of members.entries()) await npzFile(join(folder, `${i}.npz`), [...arraysOf(traces[i]), ...more])
  const out = fresh()
  const { statistics, checks } = await run(folder, out, pool)
  judgeOutputs(t, out, 'NPZ')
  t.strictSame(
    json<IndexDocument>(out, 'critic-trace-index').traces.map(r => [r['outcome'], r['outcome_from'], r['score'], r['compared']]),
    [
      ['success', 'outcome', null, false],
      ['failure', 'outcome', null, false],
      ['success', 'outcome', -3, false],
      ['failure', 'outcome', null, false],
      ['success', 'score', 0.25, false],
      [null, null, null, false]
    ]
  )
  t.match(statistics, {
    verified: false,
    one_source: 6,
    distinct_uids: null,
    steps: null,
    per_step: null,
    stated: { step: 0, score: 2, uid: 0, prediction_stage: 0, npz: 6, value_mean: 0, value_rmse: 0, segment_texts: 0 },
    checks: {
      npz_exactly_equal: null,
      stored_statistics_equal: null,
      score_agrees_with_outcome: 0,
      prediction_stages: null,
      boundaries_with_end_marker: null
    }
  })
  t.strictSame(named(checks, 'score and outcome'), { check: 'score and outcome', expected: false, passed: 0, total: 1, unstated: 5 })
  for (const [what, npy, found] of [
    ['two', encodeNpyInt(2), '2'],
    ['another word', encodeNpyText('won'), '"won"']
  ] as const) {
    const wrong = fresh()
    mkdirSync(wrong)
    await npzFile(join(wrong, 'a.npz'), [...arraysOf(traces[0]), ['outcome', npy]])
    t.strictSame(
      (await faultsOf(run(wrong, fresh(), pool))).map(f => [f.message, f.exitCode]),
      [
        [
          `npz wrong member: ${found}, expected "success", "failure", true, false, 1, 0 or null (${join(wrong, 'a.npz')}, member outcome, trace 0)`,
          3
        ]
      ],
      what
    )
  }
})

t.test('a page that states nothing but arrays loads, and every check is not stated', async t => {
  const traces = six('bare')
  const bare = await looseSnapshot(traces, ({ values, returns, response_positions }) => ({ values, returns, response_positions }))
  for (const trace of traces) rmSync(join(bare, trace.npz))
  const out = fresh()
  const { statistics, checks, excluded } = await run(bare, out, pool, { formats: ['svg'] })
  judgeOutputs(t, out, 'bare')
  t.strictSame(excluded, [])
  const boundaries = traces.reduce((sum, trace) => sum + trace.segment_texts.length - 1, 0)
  t.strictSame(
    checks.map(({ faults: _, ...c }) => c),
    [
      { check: 'distinct uids', expected: false, passed: null, total: 0, unstated: 6 },
      { check: 'outcomes per step', expected: false, passed: null, total: 0, unstated: 6 },
      { check: 'score and outcome', expected: false, passed: null, total: 0, unstated: 6 },
      { check: 'returns equal outcome', expected: false, passed: null, total: 0, unstated: 6 },
      { check: 'prediction stage', expected: false, passed: null, total: 0, unstated: 6 },
      { check: 'end marker', expected: false, passed: null, total: 0, unstated: boundaries }
    ]
  )
  t.match(statistics, {
    verified: false,
    traces: 6,
    one_source: 6,
    distinct_uids: null,
    steps: null,
    per_step: null,
    outcome_from: { outcome: 0, score: 0, unknown: 6 },
    success: { traces: null, positive_delta: null },
    failure: { traces: null, negative_delta: null },
    examples: { success: null, failure: null },
    checks: {
      npz_exactly_equal: null,
      stored_statistics_equal: null,
      returns_equal_outcome: null,
      score_agrees_with_outcome: null,
      prediction_stages: null,
      boundaries_with_end_marker: null
    }
  })
  t.equal(statistics.undefined_reasons['/checks/npz_exactly_equal'], 'one source: the page names no NPZ file, so nothing was compared')
  const text = `${statisticsTables(statistics, { colour: false })}${checksTable(checks, { colour: false })}`
  t.match(text, 'one source for every trace, not compared')
  t.match(
    text,
    /successes that end above their first value: not stated \(outcome unknown\); failures that end below: not stated \(outcome unknown\)/
  )
  t.equal(text.match(/(?<=\s)not stated {2,}reported only, \d+ not stated/g)?.length, 6)
  t.notMatch(text, /\b0 of \d/, 'nothing is 0 of something')
  const drawn = readFileSync(join(out, 'figures/08-critic-traces.svg'), 'utf8')
  t.match(drawn, '6 traces without an outcome.')
  t.notMatch(drawn, 'The lower', 'without an outcome there are no examples, and no panels of them')

  const faults = await faultsOf(run(bare, fresh(), pool, { settings: settings(true) }))
  const kinds = new Map<string, number>()
  for (const {
    details: { problem },
    exitCode
  } of faults) {
    kinds.set(problem, (kinds.get(problem) ?? 0) + 1)
    t.equal(exitCode, 1)
  }
  const marked = traces.filter(trace => trace.segment_texts.length >= 1).length
  t.strictSame(
    Object.fromEntries(kinds),
    {
      'uid not stated': 6,
      'outcomes per step': 6,
      'score and outcome not stated': 6,
      'returns equal outcome': 6,
      'prediction stage': 6,
      'end marker missing': marked
    },
    'a study that demands a check is not content with nothing to look at'
  )
})

t.test('a check of no boundary, and one of no marker, is not stated', async t => {
  const one = randomTraces(new Random('spans'), 1, () => 12).map(trace => ({
    ...trace,
    response_positions: trace.values.map((_, i) => i),
    segment_texts: ['only <|im_end|>']
  }))
  const folder = fresh()
  await writeSnapshot(folder, one)
  const out = fresh()
  const { statistics, checks } = await run(folder, out, pool)
  judgeOutputs(t, out, 'one span')
  t.strictSame(named(checks, 'end marker'), { check: 'end marker', expected: false, passed: null, total: 0, unstated: 0 })
  t.equal(statistics.checks.boundaries_with_end_marker, null)
  t.equal(statistics.traces_boundary_exceeds_internal, null)
  t.match(
    statisticsTables(statistics, { colour: false }),
    'boundary mean above internal not stated: no trace has transitions of both kinds'
  )
  t.strictSame(await faultsOf(run(folder, fresh(), pool, { settings: settings(true) })), [], 'and no fault where a study demands it')
  t.match(json(out, 'critic-turn-boundary-audit'), {
    boundaries: 0,
    boundaries_with_end_marker: null,
    exceptions_total: null,
    traces: [{ boundaries: 0, boundaries_with_end_marker: 0 }],
    undefined_reasons: {
      '/boundaries_with_end_marker': 'no boundary transition',
      '/exceptions_total': 'no boundary transition'
    }
  })
  t.equal(statistics.undefined_reasons['/checks/boundaries_with_end_marker'], 'no boundary transition')
  t.match(checksTable(checks, { colour: false }), /^end marker +not stated +reported only, no boundary to look at$/m)
  const { checks: demanded } = await run(folder, fresh(), pool, { settings: settings(true) })
  t.match(checksTable(demanded, { colour: false }), /^end marker +not stated +no boundary to look at$/m)

  const some = fresh()
  const partly = await looseSnapshot(six('some texts'), (trace, i) => (i === 1 ? { ...trace, segment_texts: null } : trace))
  const { statistics: five } = await run(partly, some, pool)
  judgeOutputs(t, some, 'some texts')
  t.equal(five.undefined_reasons['/checks/boundaries_with_end_marker'], 'span texts in 5 of 6 traces')
  const audit = json<{ undefined_reasons: object; traces: readonly object[] }>(some, 'critic-turn-boundary-audit')
  const withoutTexts = audit.traces.findIndex(trace => 'boundaries_with_end_marker' in trace && trace.boundaries_with_end_marker === null)
  t.strictSame(audit.undefined_reasons, {
    [`/traces/${withoutTexts}/boundaries_with_end_marker`]: 'no span texts',
    '/boundaries_with_end_marker': 'span texts in 5 of 6 traces',
    '/exceptions_total': 'span texts in 5 of 6 traces'
  })

  const many = fresh()
  await writeSnapshot(many, six('no marker'))
  const unmarked: SnapshotSettings = { ...settings(), expectations: { ...settings().expectations, boundary_end_marker: null } }
  const { checks: without, statistics: s } = await run(many, fresh(), pool, { settings: unmarked })
  t.strictSame(named(without, 'end marker'), {
    check: 'end marker',
    expected: false,
    passed: null,
    total: 0,
    unstated: s.boundary.transitions
  })
})

t.test('uids may repeat: a study that demands distinct ones fails, and no other run does', async t => {
  const traces = six('uids')
  const repeated = await looseSnapshot(traces, (trace, i) => ({ ...trace, uid: traces[i - (i % 2)].uid }))
  const { statistics, checks } = await run(repeated, fresh(), pool)
  t.equal(statistics.distinct_uids, 3)
  t.strictSame(named(checks, 'distinct uids'), { check: 'distinct uids', expected: false, passed: 3, total: 6, unstated: 0 })
  const faults = await faultsOf(run(repeated, fresh(), pool, { settings: settings(true) }))
  t.strictSame(
    faults.map(f => f.message),
    [1, 3, 5].map(
      i =>
        `snapshot repeated uid: "${traces[i - 1].uid}" also in trace ${i - 1}, expected distinct uids ` +
        `(${join(repeated, 'index.html')}, trace ${i}, uid ${traces[i - 1].uid}, step ${traces[i].step})`
    )
  )
  const undemanding: SnapshotSettings = { ...settings(true), expectations: { ...settings().expectations, distinct_uids: false } }
  t.strictSame(await faultsOf(run(repeated, fresh(), pool, { settings: undemanding })), [], 'a study that does not demand it')
  const missing = await looseSnapshot(traces, (trace, i) => (i === 2 ? { ...trace, uid: null } : trace))
  t.match(await faultsOf(run(missing, fresh(), pool, { settings: settings(true) })), [
    {
      message: /^snapshot uid not stated: none, expected a uid of its own \(.*trace 2, step 11\)$/,
      exitCode: 1
    }
  ])
  t.strictSame(named((await run(missing, fresh(), pool)).checks, 'distinct uids'), {
    check: 'distinct uids',
    expected: false,
    passed: 5,
    total: 5,
    unstated: 1
  })
})

t.test('one source is a fact: traces of a page without NPZ files beside traces with them', async t => {
  const traces = six('sources')
  const alone = (i: number): boolean => i === 1 || i === 4
  const folder = await looseSnapshot(traces, (trace, i) => {
    const { npz, ...rest } = trace
    return alone(i) ? (i === 1 ? rest : { ...rest, npz: null }) : { ...rest, npz }
  })
  for (const i of [1, 4]) rmSync(join(folder, traces[i].npz))
  const out = fresh()
  const { statistics } = await run(folder, out, pool, { settings: settings(true) })
  judgeOutputs(t, out, 'some')
  t.match(statistics, { verified: false, one_source: 2, stated: { npz: 4 }, checks: { npz_exactly_equal: 4, stored_statistics_equal: 6 } })
  t.match(
    statisticsTables(statistics, { colour: false }),
    'values, returns and positions of 4 of 6 traces equal their NPZ arrays exactly; one source for the other 2, not compared'
  )
  const index = json<IndexDocument>(out, 'critic-trace-index')
  t.equal(index.verified, false)
  t.strictSame(
    index.traces.map(r => [r['compared'], r['npz'] === null]),
    traces.map((_, i) => [!alone(i), alone(i)])
  )
  const archive = openNpz(readFileSync(join(out, 'training_data/critic-trace-arrays.npz')))
  for (const [i, trace] of traces.entries()) {
    const member = (array: string) => archive.read(`trace_00${i}_${array}`)
    t.strictSame(Array.from(member('values').data, Number), trace.values)
    t.strictSame(Array.from(member('returns').data, Number), trace.returns)
    t.strictSame(Array.from(member('response_positions').data, Number), trace.response_positions)
    t.strictSame(
      ['values', 'returns', 'response_positions'].map(array => member(array).descr),
      // The numbers are float32 and small: without an NPZ file, whose types they keep, narrow ones hold them.
      alone(i) ? ['<f4', '<f4', '<i4'] : ['<f8', '<f8', '<i8']
    )
  }
  const { tableFromIPC } = await import('apache-arrow')
  const table = tableFromIPC(readFileSync(join(out, 'training_data/critic-traces.arrow')))
  t.strictSame(
    Array.from(table.getChild('response_position') as Iterable<bigint>, Number),
    traces.flatMap(trace => trace.response_positions)
  )
  t.equal(table.schema.metadata.get('verified'), 'false')
  // What is named must be there, and equal.
  const absent = await looseSnapshot(traces, trace => trace)
  rmSync(join(absent, traces[3].npz))
  t.match(await faultsOf(run(absent, fresh(), pool)), [{ message: /^snapshot missing npz: "step_11_failure\.npz".*trace 3/, exitCode: 3 }])
})

t.test('a stored mean without an RMSE is checked all the same', async t => {
  const traces = six('stored')
  const half = await looseSnapshot(traces, ({ value_rmse: _, ...rest }) => rest)
  const out = fresh()
  const { statistics } = await run(half, out, pool)
  judgeOutputs(t, out, 'half stored')
  t.match(statistics, { stated: { value_mean: 6, value_rmse: 0 }, checks: { stored_statistics_equal: null } })
  const wrong = await looseSnapshot(traces, ({ value_rmse: _, ...rest }, i) => (i === 2 ? { ...rest, value_mean: 7 } : rest))
  t.match(await faultsOf(run(wrong, fresh(), pool)), [{ message: /^trace stored value_mean differs: 7.*trace 2/, exitCode: 1 }])
})

t.test('the arrays of an NPZ file without a page are checked as those of a page', async t => {
  const cases: ReadonlyArray<readonly [values: number[], positions: bigint[], message: RegExp]> = [
    [[0.5, NaN], [0n, 1n], /^trace not finite: NaN, expected a finite number/],
    [[0.5, 1], [1n, 1n], /^trace positions not increasing: 1 after 1, expected more than 1/]
  ]
  for (const [values, positions, message] of cases) {
    const folder = fresh()
    mkdirSync(folder)
    await npzFile(join(folder, 't.npz'), [
      ['values', encodeNpy(Float64Array.from(values))],
      ['returns', encodeNpy(new Float64Array(2))],
      ['response_positions', encodeNpy(BigInt64Array.from(positions))]
    ])
    const faults = await faultsOf(run(folder, fresh(), pool))
    t.match(
      faults.map(fault => fault.message),
      [message]
    )
  }
})
