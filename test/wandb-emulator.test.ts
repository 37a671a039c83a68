/**
 * The emulator of W&B's API against the facts about the real one. Requests go over node:http, not through the client that is
 * tested with it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { writeHistoryStudy, RUNS } from './support/history-folder.js'
import { start, type Emulator, type EmulatorOptions } from './support/wandb/emulator.js'
import { nested, runsOfFolder } from './support/wandb/folder.js'
import { post, send, type PostOptions, type Reply } from './support/wandb/post.js'
import { manyRows, parseRow } from './support/wandb/rows.js'
import { retryAfter, type Behaviour } from './support/wandb/script.js'
import type { EmulatedRun } from './support/wandb/store.js'

const KEY = '0123456789abcdef0123456789abcdef01234567'
const AT = { entity: 'team', project: 'rl' }

const row = (step: number, rest = ''): string => `{"_step": ${step}, "_timestamp": ${1_780_000_000 + step}.5, "loss": ${step}.25${rest}}`

function run(name: string, more: Partial<EmulatedRun> = {}): EmulatedRun {
  return {
    ...AT,
    name,
    displayName: `run ${name}`,
    state: 'finished',
    createdAt: '2026-09-01T00:00:00Z',
    heartbeatAt: '2026-09-01T01:00:00Z',
    config: {},
    rows: [row(0), row(1), row(2)],
    ...more
  }
}

async function emulator(t: Test, options: Partial<EmulatorOptions> = {}): Promise<Emulator> {
  const started = await start({ key: KEY, runs: [run('a')], ...options })
  t.teardown(() => started.close())
  return started
}

function value(reply: Reply): unknown {
  return JSON.parse((reply.headers['content-encoding'] === 'gzip' ? gunzipSync(reply.bytes) : reply.bytes).toString())
}

const RUN = `query OneRun($entity: String, $project: String, $run: String!) {
  project(name: $project, entityName: $entity) { run(name: $run) {
    id name displayName state config createdAt heartbeatAt summaryMetrics historyLineCount historyKeys
  } }
}`
const HISTORY = `query Page($entity: String!, $project: String!, $run: String!, $minStep: Int64, $maxStep: Int64, $samples: Int) {
  project(name: $project, entityName: $entity) { run(name: $run) { history(minStep: $minStep, maxStep: $maxStep, samples: $samples) } }
}`
const SAMPLED = `query Sampled($entity: String!, $project: String!, $run: String!, $specs: [JSONString!]!) {
  project(name: $project, entityName: $entity) { run(name: $run) { sampledHistory(specs: $specs) } }
}`
const LIST = `query List($entity: String!, $project: String!, $filters: JSONString, $after: String, $first: Int, $order: String) {
  project(name: $project, entityName: $entity) {
    runCount(filters: $filters)
    runs(filters: $filters, after: $after, first: $first, order: $order) {
      edges { node { name displayName createdAt } cursor } pageInfo { endCursor hasNextPage }
    }
  }
}`

interface Answered {
  readonly data: { readonly project: { readonly run: Readonly<Record<string, unknown>> | null; readonly runs: RunsAnswer } | null } | null
  readonly errors?: readonly unknown[]
}

interface RunsAnswer {
  readonly edges: ReadonlyArray<{ readonly node: { readonly name: string }; readonly cursor: string }>
  readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean }
}

type Variables = Readonly<Record<string, unknown>>

async function ask(e: Emulator, query: string, variables: Variables = {}): Promise<Answered> {
  return value(await post(e.url, query, { ...AT, run: 'a', ...variables }, { key: KEY })) as Answered
}

async function history(e: Emulator, variables: Variables = {}): Promise<readonly string[]> {
  return (await ask(e, HISTORY, variables)).data?.project?.run?.history as readonly string[]
}

const steps = (rows: readonly string[]): readonly unknown[] => rows.map(text => parseRow(text)._step)

t.test('a run: all its fields, config and summary as JSON strings', async t => {
  const rows = [row(0), row(0, ', "note": "x"'), '{"_step": 7, "loss": NaN, "hist": {"_type": "histogram", "bins": [0.5]}}']
  const e = await emulator(t, {
    runs: [
      run('a', { createdAt: '2026-09-01T00:00:00', config: { lr: 1e-6, actor: { optim: { lr: 0.5 } } }, rows }),
      run('empty', { rows: [], heartbeatAt: null })
    ]
  })
  const answer = (await ask(e, RUN)).data?.project?.run
  t.match(answer, {
    id: String,
    name: 'a',
    displayName: 'run a',
    state: 'finished',
    createdAt: '2026-09-01T00:00:00',
    heartbeatAt: '2026-09-01T01:00:00Z',
    historyLineCount: 3
  })
  const config = JSON.parse(answer?.config as string)
  t.match(config, { lr: { value: 1e-6 }, actor: { value: { optim: { lr: 0.5 } } } })
  t.strictSame(Object.keys(config), ['lr', 'actor', '_wandb'])
  t.strictSame(JSON.parse(answer?.summaryMetrics as string), {
    _step: 7,
    _timestamp: 1_780_000_000.5,
    loss: 'NaN',
    note: 'x',
    hist: { _type: 'histogram', bins: [0.5] }
  })
  t.strictSame((answer?.historyKeys as { lastStep: number } | undefined)?.lastStep, 7)
  t.match(answer?.historyKeys, {
    keys: {
      loss: { typeCounts: [{ type: 'number', count: 3 }], previousValue: 'NaN' },
      note: { typeCounts: [{ type: 'string', count: 1 }] },
      hist: { typeCounts: [{ type: 'histogram', count: 1 }] }
    }
  })
  t.strictSame((await ask(e, RUN, { run: 'none' })).data, { project: { run: null } })
  t.strictSame((await ask(e, RUN, { project: 'none' })).data, { project: null })
  t.match((await ask(e, RUN, { run: 'empty' })).data?.project?.run, {
    historyLineCount: 0,
    historyKeys: null,
    heartbeatAt: null,
    summaryMetrics: '{}'
  })
  t.strictSame(e.invalidQueries, [])
})

t.test('history: minStep inclusive, maxStep exclusive, row texts untouched', async t => {
  const rows = [row(-2), row(0), row(3, ', "lr": 1e-07'), row(3, ', "x": -Infinity'), row(9, ', "s": "NaN, Infinity"')]
  const e = await emulator(t, { runs: [run('a', { rows })] })
  t.strictSame(await history(e), rows)
  t.strictSame(await history(e, { minStep: 0, maxStep: 3 }), [rows[1]])
  t.strictSame(await history(e, { minStep: 3, maxStep: 9 }), [rows[2], rows[3]])
  t.strictSame(await history(e, { minStep: 4, maxStep: 9 }), [], 'an empty page is not the end')
  t.strictSame(await history(e, { minStep: 9, maxStep: 10 }), [rows[4]])
  t.strictSame(await history(e, { minStep: 5, maxStep: 1 }), [])
})

t.test('history samples at random where the window has more rows than samples', async t => {
  const e = await emulator(t, { runs: [run('a', { rows: manyRows(2000) })] })
  const byDefault = await history(e)
  t.equal(byDefault.length, 500)
  const kept = steps(byDefault) as number[]
  t.strictSame(
    kept,
    [...new Set(kept)].sort((a, b) => a - b),
    'in step order, each once'
  )
  t.notSame(steps(await history(e)), kept, 'another sample each time')
  t.equal((await history(e, { minStep: 100, maxStep: 200, samples: 99 })).length, 99)
  t.strictSame(
    steps(await history(e, { minStep: 100, maxStep: 200, samples: 100 })),
    Array.from({ length: 100 }, (_, k) => 100 + k)
  )
  t.equal((await history(e, { samples: 1000 })).length, 1000)
  t.equal((await history(e, { samples: 2000 })).length, 2000)
  const again = await emulator(t, { runs: [run('a', { rows: manyRows(2000) })] })
  t.strictSame(await history(again), byDefault, 'the seed says which')
  const counts = new Array<number>(10).fill(0)
  for (let k = 0; k < 40; k++) for (const step of steps(await history(e, { maxStep: 10, samples: 5 }))) counts[step as number]++
  t.ok(
    counts.every(count => count > 5 && count < 35),
    `each of ten rows about 20 times in 40: ${counts.join(' ')}`
  )
})

t.test('sampledHistory: rows that have every key, objects, maxStep inclusive', async t => {
  const rows = [row(0), row(1, ', "acc": 0.5'), row(2), row(3, ', "acc": NaN'), row(4, ', "acc": 1')]
  const e = await emulator(t, { runs: [run('a', { rows })] })
  const specs = [{ keys: ['_step', 'acc'] }, { keys: ['_step', 'loss'], minStep: 1, maxStep: 3 }, { keys: ['_step'], samples: 2 }].map(
    spec => JSON.stringify(spec)
  )
  const answer = (await ask(e, SAMPLED, { specs })).data?.project?.run?.sampledHistory as unknown[][]
  t.strictSame(answer[0], [
    { _step: 1, acc: 0.5 },
    { _step: 3, acc: 'NaN' },
    { _step: 4, acc: 1 }
  ])
  t.strictSame(answer[1], [
    { _step: 1, loss: 1.25 },
    { _step: 2, loss: 2.25 },
    { _step: 3, loss: 3.25 }
  ])
  t.equal(answer[2].length, 2)
  t.match(await ask(e, SAMPLED, { specs: ['{}'] }), { errors: [{ message: /no keys/ }] })
})

const LISTED = [
  run('b', { displayName: 'sao-r7', createdAt: '2026-09-02T00:00:00' }),
  run('c', { displayName: 'sao-r7-trainnode', createdAt: '2026-09-03T00:00:00Z' }),
  run('d', { displayName: 'sao-r7', createdAt: '2026-09-04T00:00:00Z', state: 'crashed' }),
  run('e', { displayName: 'SAO-r7', createdAt: '2026-09-05T00:00:00Z' }),
  run('a', { displayName: 'sao-r7', createdAt: '2026-09-01T00:00:00.500Z' })
]

async function list(e: Emulator, variables: Variables = {}): Promise<string[][]> {
  const pages: string[][] = []
  for (let after: string | null = null; ; ) {
    const runs: RunsAnswer | undefined = (await ask(e, LIST, { order: '+created_at', ...variables, after })).data?.project?.runs
    if (runs === undefined) throw new Error('no runs')
    pages.push(runs.edges.map(edge => edge.node.name))
    const { endCursor, hasNextPage }: RunsAnswer['pageInfo'] = runs.pageInfo
    if (runs.edges.length > 0 && endCursor !== runs.edges.at(-1)?.cursor) throw new Error('endCursor is not the last cursor')
    if (!hasNextPage) return pages
    after = endCursor
  }
}

t.test('runs: pages, orders, filters', async t => {
  const e = await emulator(t, { runs: LISTED, projects: ['team/nothing'] })
  t.strictSame(await list(e), [['a', 'b', 'c', 'd', 'e']])
  t.strictSame(await list(e, { first: 2 }), [['a', 'b'], ['c', 'd'], ['e']])
  t.strictSame(await list(e, { first: 5 }), [['a', 'b', 'c', 'd', 'e']], 'no next page after the last run')
  t.strictSame(await list(e, { order: '-created_at', first: 3 }), [
    ['e', 'd', 'c'],
    ['b', 'a']
  ])
  t.strictSame(await list(e, { order: null }), [['e', 'd', 'c', 'b', 'a']], 'newest first where no order is asked for')
  t.strictSame(await list(e, { project: 'nothing' }), [[]])
  const filtered = async (filter: unknown): Promise<readonly string[]> => (await list(e, { filters: JSON.stringify(filter) })).flat()
  t.strictSame(await filtered({ displayName: 'sao-r7' }), ['a', 'b', 'd'], 'exact, with case')
  t.strictSame(await filtered({ display_name: { $eq: 'sao-r7' }, state: 'crashed' }), ['d'])
  t.strictSame(await filtered({ display_name: { $regex: '^sao-r7' } }), ['a', 'b', 'c', 'd'])
  t.strictSame(await filtered({ $or: [{ name: 'e' }, { $and: [{ state: { $in: ['crashed'] } }, { displayName: 'sao-r7' }] }] }), ['d', 'e'])
  t.strictSame(await filtered({}), ['a', 'b', 'c', 'd', 'e'])
  t.match(await ask(e, LIST, { filters: '{"state":"crashed"}' }), { data: { project: { runCount: 1 } } })
  for (const [what, variables] of [
    ['an unknown field', { filters: '{"config.lr":1}' }],
    ['an unknown operator', { filters: '{"state":{"$ne":"crashed"}}' }],
    ['a filter that is a list', { filters: '[]' }],
    ['another order', { order: '+heartbeat_at' }],
    ['a wrong cursor', { after: 'x' }]
  ] as const)
    t.equal(Array.isArray((await ask(e, LIST, variables)).errors), true, what)
  const capped = await emulator(t, { runs: LISTED, pageCap: 2 })
  t.strictSame(await list(capped, { first: 100 }), [['a', 'b'], ['c', 'd'], ['e']], 'a page may be shorter than asked')
  const many = await emulator(t, { runs: Array.from({ length: 60 }, (_, k) => run(`r${k}`)) })
  t.strictSame(
    (await list(many)).map(page => page.length),
    [50, 10]
  )
})

t.test('queries are validated, and variables', async t => {
  const e = await emulator(t)
  const invalid: ReadonlyArray<readonly [string, string, RegExp]> = [
    ['a syntax error', 'query {', /Syntax Error/],
    ['an unknown field', 'query { project(name: "rl", entityName: "team") { run(name: "a") { rows } } }', /Cannot query field "rows"/],
    ['an unknown argument', 'query { project(project: "rl") { name } }', /Unknown argument "project"/],
    ['no run name', 'query { project(name: "rl", entityName: "team") { run { name } } }', /argument "name" of type "String!" is required/],
    ['Int for Int64', HISTORY.replace('$minStep: Int64', '$minStep: Int'), /type "Int" used in position expecting type "Int64"/],
    ['String for JSONString', LIST.replace('$filters: JSONString', '$filters: String'), /expecting type "JSONString"/],
    ['an unused variable', 'query Q($x: Int) { project(name: "rl", entityName: "team") { name } }', /never used/]
  ]
  for (const [what, query, message] of invalid) {
    const reply = await post(e.url, query, AT, { key: KEY })
    t.equal(reply.status, 400, what)
    t.match(value(reply), { errors: [{ message }] }, what)
  }
  for (const [what, query, variables] of [
    ['a step that is no integer', HISTORY, { run: 'a', minStep: 1.5 }],
    ['a step as text', HISTORY, { run: 'a', minStep: '1' }],
    ['a missing variable', RUN, {}],
    ['filters that are no JSON', LIST, { filters: '{' }],
    ['filters as an object', LIST, { filters: {} }]
  ] as const)
    t.equal((await post(e.url, query, { ...AT, ...variables }, { key: KEY })).status, 400, what)
  t.equal(e.invalidQueries.length, 12)
  t.match(e.invalidQueries[1], { query: /rows/, messages: [/Cannot query field/] })
  t.equal((await send(`${e.url}/graphql`, 'no JSON', { key: KEY })).status, 400)
})

t.test('authorization, paths, methods, forbidden projects', async t => {
  const e = await emulator(t, { forbidden: ['team/secret'] })
  const variables = { ...AT, run: 'a' }
  t.equal((await post(e.url, RUN, variables, { key: KEY })).status, 200)
  t.equal((await post(e.url, RUN, variables, { key: 'other' })).status, 401)
  t.equal((await post(e.url, RUN, variables, {})).status, 401)
  t.equal((await post(e.url, RUN, variables, { headers: { authorization: `Bearer ${KEY}` } })).status, 401)
  const refused = await post(e.url, RUN, { ...variables, project: 'secret' }, { key: KEY })
  t.equal(refused.status, 403)
  t.match(value(refused), { errors: [{ message: 'permission denied' }], data: { project: null } })
  t.equal((await send(`${e.url}/`, '', { key: KEY })).status, 404)
  t.equal((await send(`${e.url}/graphql/`, '', { key: KEY })).status, 404)
  t.equal((await send(`${e.url}/graphql`, '', { key: KEY, method: 'PUT' })).status, 405)
  t.strictSame(
    e.requests.map(r => r.authorized),
    [true, false, false, false, true, true, true, true]
  )
  t.strictSame(
    e.requests.map(r => r.status),
    [200, 401, 401, 401, 403, 404, 404, 405]
  )
  t.match(e.requests[0], { index: 0, operation: 'OneRun', variables, attempt: 1, at: Number, method: 'POST', path: '/graphql' })
  t.equal(e.requests[0].fields.includes('historyKeys'), true)
  t.ok(e.url.startsWith('http://127.0.0.1:'))
})

t.test('gzip where it is accepted', async t => {
  const e = await emulator(t)
  const plain = await post(e.url, RUN, { ...AT, run: 'a' }, { key: KEY })
  const packed = await post(e.url, RUN, { ...AT, run: 'a' }, { key: KEY, headers: { 'accept-encoding': 'br, gzip' } })
  t.equal(plain.headers['content-encoding'], undefined)
  t.equal(packed.headers['content-encoding'], 'gzip')
  t.ok(packed.bytes.length < plain.bytes.length)
  t.strictSame(value(packed), value(plain))
})

/** The reply to one history request of run `a` that meets a behaviour. */
async function meeting(t: Test, then: Behaviour | readonly Behaviour[], options: PostOptions = {}): Promise<Reply> {
  const e = await emulator(t, { script: [{ times: 1, then }] })
  return post(e.url, HISTORY, { ...AT, run: 'a' }, { key: KEY, ...options })
}

t.test('scripted statuses, both forms of Retry-After, redirects, pages of HTML, echoed keys', async t => {
  const limited = await meeting(t, retryAfter(7))
  t.match(limited, { status: 429, headers: { 'retry-after': '7' } })
  const dated = await meeting(t, retryAfter(new Date('2026-09-01T00:00:10Z'), 503))
  t.match(dated, { status: 503, headers: { 'retry-after': 'Tue, 01 Sep 2026 00:00:10 GMT' } })
  for (const status of [500, 502, 408, 501]) t.equal((await meeting(t, { kind: 'status', status })).status, status)
  const own = await meeting(t, { kind: 'status', status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' })
  t.match(own, { headers: { 'content-type': 'text/html' }, complete: true })
  t.equal(own.bytes.toString(), '<h1>Bad gateway</h1>')
  const moved = await meeting(t, { kind: 'redirect', to: 'https://elsewhere.example/graphql' })
  t.match(moved, { status: 307, headers: { location: 'https://elsewhere.example/graphql' } })
  const page = await meeting(t, { kind: 'html' })
  t.match(page, { status: 200, headers: { 'content-type': /^text\/html/ } })
  t.match(page.bytes.toString(), /^<!DOCTYPE html>/)
  const echoed = await meeting(t, { kind: 'echoKey', status: 422 })
  t.equal(echoed.status, 422)
  t.match(echoed.bytes.toString(), KEY)
  t.match(echoed.bytes.toString(), Buffer.from(`api:${KEY}`).toString('base64'))
})

t.test('scripted answers: errors with HTTP 200, nulls, bare NaN, edits', async t => {
  t.strictSame(value(await meeting(t, { kind: 'errors200', form: 'objects' })), {
    data: null,
    errors: [{ message: 'scripted error', path: ['project'] }]
  })
  t.strictSame(value(await meeting(t, { kind: 'errors200', form: 'strings', message: 'no' })), { data: null, errors: ['no'] })
  t.strictSame(value(await meeting(t, { kind: 'errors200', form: 'error', message: 'no' })), { error: 'no' })
  t.strictSame(value(await meeting(t, { kind: 'nullProject' })), { data: { project: null } })
  t.strictSame(value(await meeting(t, { kind: 'nullRun' })), { data: { project: { run: null } } })
  t.strictSame(value(await meeting(t, { kind: 'edit', edit: () => ({ data: 1 }) })), { data: 1 })
  const bare = await meeting(t, { kind: 'bareNaN' })
  t.match(bare.bytes.toString(), /"history":\[NaN,"/)
  t.throws(() => value(bare), SyntaxError)
  const e = await emulator(t, { script: () => ({ kind: 'bareNaN' }) })
  for (const query of [RUN, LIST]) t.match((await post(e.url, query, { ...AT, run: 'a' }, { key: KEY })).bytes.toString(), /:NaN/)
})

t.test('scripted connections: reset, slow, silent, cut in four ways', async t => {
  await t.rejects(meeting(t, { kind: 'reset' }), { code: 'ECONNRESET' })
  const before = performance.now()
  t.equal(
    (
      await meeting(t, [
        { kind: 'slow', ms: 80 },
        { kind: 'status', status: 500 }
      ])
    ).status,
    500,
    'two behaviours at once'
  )
  t.ok(performance.now() - before >= 79)
  await t.rejects(meeting(t, { kind: 'slow', ms: 'never' }, { signal: AbortSignal.timeout(100) }), { name: 'AbortError' })
  const short = await meeting(t, { kind: 'truncate', how: 'length' })
  t.equal(short.complete, false)
  t.ok(Number(short.headers['content-length']) > short.bytes.length && short.bytes.length > 0)
  const chunked = await meeting(t, { kind: 'truncate', how: 'chunked' })
  t.match(chunked, { complete: false, headers: { 'transfer-encoding': 'chunked' } })
  t.ok(chunked.bytes.length > 0)
  const gzip = await meeting(t, { kind: 'truncate', how: 'gzip' }, { headers: { 'accept-encoding': 'gzip' } })
  t.match(gzip, { complete: true, headers: { 'content-encoding': 'gzip' } })
  t.throws(() => gunzipSync(gzip.bytes), { code: 'Z_BUF_ERROR' })
  const text = await meeting(t, { kind: 'truncate', how: 'text' })
  t.equal(text.complete, true)
  t.throws(() => value(text), SyntaxError)
})

t.test('scripted pages of history', async t => {
  const rows = Array.from({ length: 30 }, (_, k) => row(k))
  type Kind = 'emptyPage' | 'outOfOrder' | 'duplicateRows' | 'missingRow'
  const page = async (kind: Kind, variables = { minStep: 10, maxStep: 20 }): Promise<readonly unknown[]> => {
    const e = await emulator(t, { runs: [run('a', { rows })], script: [{ field: 'history', then: { kind } }] })
    return steps(await history(e, variables))
  }
  const ten = Array.from({ length: 10 }, (_, k) => 10 + k)
  t.strictSame(await page('emptyPage'), [])
  const shuffled = (await page('outOfOrder')) as number[]
  t.notSame(shuffled, ten)
  t.strictSame(
    shuffled.toSorted((a, b) => a - b),
    ten
  )
  t.strictSame(await page('outOfOrder', { minStep: 4, maxStep: 6 }), [5, 4])
  t.strictSame(await page('duplicateRows'), [9, ...ten])
  t.strictSame(await page('duplicateRows', { minStep: 0, maxStep: 2 }), [0, 1, 2])
  t.strictSame(
    await page('missingRow'),
    ten.filter(step => step !== 15)
  )
})

t.test('an empty page of runs in the middle: its cursor is new and no run is lost', async t => {
  const e = await emulator(t, { runs: LISTED, script: [{ field: 'runs', index: 1, then: { kind: 'emptyPage' } }] })
  t.strictSame(await list(e, { first: 2 }), [['a', 'b'], [], ['c', 'd'], ['e']])
  const cursors = e.requests.map(r => r.variables.after)
  t.equal(new Set(cursors).size, cursors.length)
  const first = await emulator(t, { runs: LISTED, script: [{ times: 2, then: { kind: 'emptyPage' } }] })
  t.strictSame(await list(first, { first: 4 }), [[], [], ['a', 'b', 'c', 'd'], ['e']])
})

t.test('runs that change: grow, rename, another state, rows given later', async t => {
  const e = await emulator(t, {
    script: [
      {
        field: 'history',
        times: 1,
        then: [
          { kind: 'grow', run: 'a', rows: 2 },
          { kind: 'rename', run: 'a', displayName: 'other' },
          { kind: 'setState', run: 'a', state: 'running' }
        ]
      }
    ]
  })
  t.strictSame(steps(await history(e)), [0, 1, 2], 'not in the answer that sets it off')
  const grown = (await ask(e, RUN)).data?.project?.run
  t.match(grown, {
    historyLineCount: 5,
    historyKeys: { lastStep: 4 },
    heartbeatAt: '2026-09-01T01:00:02.000Z',
    displayName: 'other',
    state: 'running'
  })
  t.strictSame(steps(await history(e)), [0, 1, 2, 3, 4])
  t.strictSame(parseRow((await history(e))[4]), { _step: 4, _timestamp: 1_780_000_004.5, _runtime: 2, loss: 2.25 })
  e.store.grow('a', [row(4), row(9)])
  t.match((await ask(e, RUN)).data?.project?.run, { historyLineCount: 7, historyKeys: { lastStep: 9 } })
  t.throws(() => e.store.grow('a', [row(3)]), /step 3 after step 9/)
})

t.test('scripts: rules by operation, field, variables, attempt and number of times; functions; replacement', async t => {
  const status = (code: number): Behaviour => ({ kind: 'status', status: code })
  const e = await emulator(t, {
    script: [
      { operation: 'List', then: status(500) },
      { field: 'sampledHistory', then: status(502) },
      { variables: { minStep: 100 }, attempt: 2, then: status(503) },
      { operation: 'Page', times: 2, then: status(429) }
    ]
  })
  const ask = async (query: string, variables: Variables = {}): Promise<number> =>
    (await post(e.url, query, { ...AT, run: 'a', ...variables }, { key: KEY })).status
  t.equal(await ask(LIST), 500)
  t.equal(await ask(SAMPLED, { specs: [] }), 502)
  const far = { minStep: 100 }
  t.strictSame([await ask(HISTORY, far), await ask(HISTORY, far), await ask(HISTORY), await ask(HISTORY)], [429, 503, 429, 200])
  t.equal(await ask(RUN), 200)
  t.strictSame(
    e.requests.map(r => r.attempt),
    [1, 1, 1, 2, 1, 2, 1]
  )
  e.setScript(({ index, operation, attempt, fields }) =>
    index === 7 && operation === 'OneRun' && attempt === 2 && fields.includes('config') ? [status(418)] : null
  )
  t.strictSame([await ask(RUN), await ask(RUN)], [418, 200])
})

t.test('how many requests are under way at once', async t => {
  const e = await emulator(t, { script: () => ({ kind: 'slow', ms: 'never' }) })
  const leaving = new AbortController()
  const asked = Array.from({ length: 6 }, () => post(e.url, RUN, { ...AT, run: 'a' }, { key: KEY, signal: leaving.signal }))
  const ended = Promise.allSettled(asked)
  while (e.requests.length < 6) await new Promise(resolve => setTimeout(resolve, 5))
  leaving.abort()
  await ended
  t.equal(e.maxUnderWay, 6)
  const one = await emulator(t)
  for (let k = 0; k < 3; k++) await ask(one, RUN)
  t.equal(one.maxUnderWay, 1)
})

t.test('close ends requests that are not answered', async t => {
  const e = await start({ key: KEY, runs: [run('a')], script: () => ({ kind: 'slow', ms: 'never' }) })
  const pending = ask(e, RUN).then(
    () => 'answered',
    () => 'ended'
  )
  while (e.requests.length === 0) await new Promise(resolve => setTimeout(resolve, 5))
  await e.close()
  t.equal(await pending, 'ended')
})

t.test('a script that cannot work is seen when the emulator is closed', async t => {
  const e = await start({ key: KEY, runs: [run('a')], script: () => ({ kind: 'grow', run: 'none', rows: 1 }) })
  await t.rejects(ask(e, RUN))
  await t.rejects(e.close(), { message: 'the emulator failed', cause: { message: 'no run none' } })
})

t.test('a client that goes away while it is sending or waiting', async t => {
  const e = await start({ key: KEY, runs: [run('a')], script: ({ index }) => ({ kind: 'slow', ms: index === 0 ? 'never' : 50 }) })
  const leaving = new AbortController()
  const left = t.rejects(post(e.url, RUN, { ...AT, run: 'a' }, { key: KEY, signal: leaving.signal }))
  while (e.requests.length === 0) await new Promise(resolve => setTimeout(resolve, 1))
  leaving.abort()
  await left
  t.match((await ask(e, RUN)).data?.project?.run, { name: 'a' })
  await new Promise<void>(resolve => {
    const socket = connect(Number(new URL(e.url).port), '127.0.0.1', () => {
      socket.write('POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"query"', () => socket.destroy())
      socket.on('close', () => resolve())
    })
  })
  await new Promise(resolve => setTimeout(resolve, 50))
  await e.close()
  t.equal(e.requests.length, 2)
})

t.test('the name of the operation may be empty, as the SDK sends it, or pick one of several', async t => {
  const e = await emulator(t)
  const two =
    'query A { project(name: "rl", entityName: "team") { name } } query B { project(name: "rl", entityName: "team") { entityName } }'
  const named = async (query: string, operationName: string): Promise<unknown> =>
    value(await send(`${e.url}/graphql`, JSON.stringify({ query, variables: null, operationName }), { key: KEY }))
  t.strictSame(await named(two, 'B'), { data: { project: { entityName: 'team' } } })
  t.strictSame(await named('{ project(name: "rl", entityName: "team") { name } }', ''), { data: { project: { name: 'rl' } } })
  t.strictSame(
    e.requests.map(r => r.operation),
    ['B', null]
  )
})

t.test('50,000 rows, each made when asked for', async t => {
  const e = await emulator(t, { runs: [run('a', { rows: manyRows(50_000) })] })
  t.match((await ask(e, RUN)).data?.project?.run, { historyLineCount: 50_000, historyKeys: { lastStep: 49_999 } })
  const page = await history(e, { minStep: 49_900, maxStep: 50_000, samples: 1000 })
  t.equal(page.length, 100)
  t.strictSame(parseRow(page[99]), {
    _step: 49_999,
    _timestamp: 1_781_499_970.25,
    _runtime: 1_499_970.25,
    'critic/score/mean': 0.081,
    'response_length/mean': 1172.5,
    'actor/lr': 1e-7
  })
  t.match(page[99], /1e-07/)
})

t.test('runs from the files of a study', async t => {
  const dir = mkdtempSync(join(tmpdir(), 'critic-traces-emulator-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  writeHistoryStudy(dir)
  t.throws(() => nested({ a: 1, 'a.b': 2 }), /below a value/)
  t.throws(() => nested({ 'a.b': 2, a: 1 }), /twice/)
  t.strictSame(nested({ 'a.b.c': 1, 'a.b.d': [1], e: null }), { a: { b: { c: 1, d: [1] } }, e: null })
  const runs = runsOfFolder(dir)
  t.strictSame(
    runs.map(r => [r.name, r.displayName, r.createdAt, r.rows]),
    RUNS.map(r => [r.id, r.displayName, r.createdAt, r.lines ?? []])
  )
  t.equal(runs.find(r => r.name === 'second')?.heartbeatAt, '2026-01-01T05:00:00.000Z')
  const extra = runsOfFolder(dir, { extras: true }).find(r => r.name === 'second')
  t.strictSame(Object.keys(parseRow(extra?.rows.at(1) ?? '')), [
    '_step',
    '_timestamp',
    'reward',
    'score',
    'note',
    'rollout/table',
    'gradients/embed',
    'timing',
    'done'
  ])
  t.match(extra?.config, { reward_server: { api_key: String } })
})
