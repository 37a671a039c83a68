/** The explorer's server: what it answers, to the token, to whom, and what it refuses. Expected numbers are numpy's. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { tableFromIPC } from 'apache-arrow'
import { load } from 'cheerio'
import t, { type Test } from 'tap'
import { parseCommand } from '../src/cli/args.js'
import { openTracePool } from '../src/compute/traces/pool.js'
import { ServedStore } from '../src/render/explorer/browser/served-store.js'
import { VIEW_COLUMNS, type ExplorerDocument, type TraceTexts } from '../src/render/explorer/contract.js'
import { Random as SeededRandom } from '../src/replica/random.js'
import { answerOf, ExplorerServer } from '../src/runs/explorer-server.js'
import { readServed } from '../src/runs/serve-explorer.js'
import { ServedTraces } from '../src/runs/served-traces.js'
import { SpillFile } from '../src/runs/spill-file.js'
import { findSnapshots } from '../src/study/inventory.js'
import { SHAPES, shownIn } from './support/canaries.js'
import { runCli } from './support/cli.js'
import { fixture } from './support/paths.js'
import { settings } from './support/run.js'
import { randomTraces, writeSnapshot } from './support/snapshot.js'

interface ExpectedTrace {
  readonly name: string
  readonly values: readonly number[]
  readonly returns: readonly number[]
  readonly positions: readonly number[]
  readonly turn: readonly number[]
  readonly tokens: number
  readonly view: { readonly from: number; readonly to: number; readonly buckets: number; readonly index: readonly number[] }
}

const TRACES = (JSON.parse(readFileSync(fixture('explorer/expected.json'), 'utf8')) as { readonly traces: readonly ExpectedTrace[] }).traces

const pool = openTracePool(1)
t.teardown(() => pool.destroy())

async function served(t: Test, paths: readonly string[], texts = false): Promise<ExplorerServer> {
  const server = await ExplorerServer.open(0)
  t.teardown(() => server.close())
  const run = await readServed({ plans: await findSnapshots(paths), settings: settings(), pool, texts })
  t.teardown(() => run.close())
  server.serve(run.explorer)
  return server
}

interface Answered {
  readonly status: number | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** A request as no browser makes it: the path as it is, any method, any host. */
function ask(
  server: ExplorerServer,
  path: string,
  { method = 'GET', host }: { readonly method?: string; readonly host?: string | readonly string[] } = {}
) {
  const { hostname, port } = new URL(server.url)
  return new Promise<Answered>((resolve, reject) => {
    const asked = request({ hostname, port, path, method, agent: false, headers: headersOf(host) }, answer => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }))
    })
    asked.on('error', reject)
    asked.end()
  })
}

/** A list of names and values in turn is sent as it is, so that a host may stand twice. */
function headersOf(host: string | readonly string[] | undefined): Record<string, string> | string[] {
  return host === undefined ? {} : typeof host === 'string' ? { host } : host.flatMap(each => ['Host', each])
}

/** The store of a page of this server: a browser takes its addresses from that of the page. */
function storeOf(t: Test, server: ExplorerServer): { readonly store: ServedStore; readonly asked: string[] } {
  const asked: string[] = []
  const { fetch } = globalThis
  globalThis.fetch = (address, ...more) => {
    asked.push(address as string)
    return fetch(new URL(address as string, server.url), ...more)
  }
  t.teardown(() => {
    globalThis.fetch = fetch
  })
  return { store: new ServedStore(), asked }
}

t.test('every token, and what numpy keeps of the middle', async t => {
  const temporary = t.testdir()
  const { TMPDIR: before = tmpdir() } = process.env
  process.env['TMPDIR'] = temporary
  t.teardown(() => {
    process.env['TMPDIR'] = before
  })
  const server = await served(t, [fixture('explorer/traces')])
  const { store, asked } = storeOf(t, server)
  for (const [trace, { name, tokens, values, returns, positions, turn, view }] of TRACES.entries()) {
    const change = values.map((value, i) => (i === 0 ? NaN : value - values[i - 1]))
    const all = await store.view({ snapshot: 0, trace }, 0, tokens, tokens)
    const numbers = VIEW_COLUMNS.map(column => Array.from(all[column]))
    t.strictSame(numbers, [values.map((_, i) => i), values, returns, change, positions, turn], `${name}: every token`)
    t.strictSame([all.from, all.to], [0, tokens])
    const { from, to, buckets, index } = view
    const kept = await store.view({ snapshot: 0, trace }, from, to, buckets)
    const of = (column: readonly number[]): number[] => index.map(i => column[i])
    t.strictSame(
      VIEW_COLUMNS.map(column => Array.from(kept[column])),
      [index, of(values), of(returns), of(change), of(positions), of(turn)],
      `${name}: the middle`
    )
    for (const i of [0, tokens >> 1, tokens - 1]) {
      const one = await store.view({ snapshot: 0, trace }, i, i + 1, 1)
      t.strictSame([[...one.index], [...one.value], [...one.change], [...one.turn]], [[i], [values[i]], [change[i]], [turn[i]]])
    }
  }
  t.strictSame(readdirSync(temporary), [], 'the file has no name')
  const shown = asked.length
  await store.view({ snapshot: 0, trace: 8 }, 0, TRACES[8].tokens, TRACES[8].tokens)
  t.equal(asked.length, shown, 'a view that was shown is not asked for again')
  await t.rejects(store.view({ snapshot: 0, trace: 0 }, 0, 1e6, 1), {
    message: /^the server says: to: 1000000, expected an integer from 1 to/
  })
  await t.rejects(store.texts({ snapshot: 0, trace: 0 }), { message: /^the server says: texts: none of trace 0, / })
  const { fetch } = globalThis
  globalThis.fetch = () => Promise.reject(new TypeError('gone'))
  await t.rejects(store.view({ snapshot: 0, trace: 0 }, 1, 2, 7), { message: 'the server does not answer' })
  globalThis.fetch = fetch
  t.strictSame([...(await store.view({ snapshot: 0, trace: 0 }, 1, 2, 7)).value], [TRACES[0].values[1]], 'when it has come back')
})

t.test('the stream is one that Apache Arrow reads', async t => {
  const server = await served(t, [fixture('explorer/traces')])
  const { status, headers, body } = await ask(server, '/tokens?snapshot=0&trace=8&from=0&to=1&buckets=1')
  t.strictSame([status, headers['content-type']], [200, 'application/vnd.apache.arrow.stream'])
  const table = tableFromIPC(body)
  t.strictSame(
    table.schema.fields.map(({ name, type }) => `${name} ${String(type)}`),
    ['index Int32', 'value Float64', 'return Float64', 'change Float64', 'position Float64', 'turn Int32']
  )
  t.strictSame([table.numRows, table.getChild('value')?.get(0), table.getChild('change')?.get(0)], [1, TRACES[8].values[0], NaN])
})

t.test('the page asks its server alone, and no frame, type or origin is guessed', async t => {
  const server = await served(t, [fixture('explorer/traces')])
  const { status, headers, body } = await ask(server, '/')
  t.equal(status, 200)
  t.match(headers, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "frame-ancestors 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff'
  })
  t.notOk('access-control-allow-origin' in headers)
  const page = load(body)
  t.match(page('meta[http-equiv="Content-Security-Policy"]').attr('content'), /^default-src 'none'; .*; connect-src 'self'; /)
  t.equal(page('script[id^=tokens], script[id^=texts]').length, 0)
  t.equal(page('template#diagnostics-0').length, 1)
  const { tokens, snapshots } = JSON.parse(page('script#explorer').text()) as ExplorerDocument
  t.strictSame([tokens, snapshots[0].traces.tokens], ['served', TRACES.map(trace => trace.tokens)])
})

t.test('other hosts, methods, paths and numbers are refused in a line', async t => {
  const server = await served(t, [fixture('explorer/traces')])
  const { port } = new URL(server.url)
  const refused = async (status: number, said: RegExp, path: string, options: Parameters<typeof ask>[2] = {}): Promise<void> => {
    const { status: given, headers, body } = await ask(server, path, options)
    t.strictSame([given, headers['content-type']], [status, 'text/plain; charset=utf-8'], path)
    t.match(body.toString('utf8'), said)
    t.match(body.toString('utf8'), /^[\x20-\x7e…]{1,400}\n$/, 'one line')
  }
  for (const host of [
    `evil.example:${port}`,
    'localhost',
    '127.0.0.1',
    `127.0.0.1:${Number(port) + 1}`,
    `[::1]:${port}`,
    `127.0.0.1:${port}.evil`
  ])
    await refused(421, /^host: /, '/', { host })
  const hostless = answerOf(null, [`127.0.0.1:${port}`], { method: 'GET', url: '/', host: undefined })
  t.match([hostless.status, hostless.body], [421, /^host: "none", expected 127/], 'HTTP/1.0 need not name a host')
  t.equal((await ask(server, '/', { host: `LocalHost:${port}` })).status, 200)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
    await refused(405, /^method: ".*", expected GET or HEAD$/m, '/', { method })
    t.equal((await ask(server, '/', { method })).headers.allow, 'GET, HEAD')
  }
  const [get, head] = [await ask(server, '/'), await ask(server, '/', { method: 'HEAD' })]
  t.strictSame([head.status, head.body.length, head.headers['content-length']], [200, 0, get.headers['content-length']], 'GET without body')
  await refused(400, /^hosts: 2, expected one$/m, '/', { host: [`127.0.0.1:${port}`, 'evil.example'] })
  await refused(400, /^parameter: "x", expected none$/m, '/?x=1')
  for (const path of [
    '/index.html',
    '/../../etc/passwd',
    '/%2e%2e/etc/passwd',
    '/tokens/',
    '//tokens',
    `${server.url}tokens`,
    '/__proto__',
    '/a?b?c'
  ])
    await refused(404, /^path: .* expected \/, \/tokens, \/texts$/m, path)
  const good = { snapshot: '0', trace: '8', from: '0', to: '10', buckets: '5' }
  const tokens = (changed: Readonly<Record<string, string>>): string => `/tokens?${new URLSearchParams({ ...good, ...changed }).toString()}`
  t.equal((await ask(server, tokens({}))).status, 200)
  const { tokens: length } = TRACES[8]
  for (const [name, value, said] of [
    ['snapshot', '1', /^snapshot: 1, expected an integer from 0 to 0$/m],
    ['trace', '9', /^trace: 9, expected an integer from 0 to 8$/m],
    ['from', String(length), /^from: /],
    ['to', '0', /^to: 0, expected an integer from 1 to /],
    ['to', String(length + 1), /^to: /],
    ['buckets', '0', /^buckets: 0, expected an integer from 1 to 100000$/m],
    ['buckets', '100001', /^buckets: /]
  ] as const)
    await refused(400, said, tokens({ [name]: value }))
  for (const name of Object.keys(good))
    for (const value of [
      '',
      '-1',
      '1.5',
      '1e3',
      '0x1',
      ' 1',
      '99999999999',
      'NaN',
      '__proto__',
      '../../etc/passwd',
      '\u202e\n\x1b[31m',
      'x'.repeat(3000)
    ])
      await refused(400, new RegExp(`^${name}: .*, expected an integer$`, 'm'), tokens({ [name]: value }))
  await refused(400, /^parameter: "path", expected each of snapshot, trace, from, to, buckets once$/m, tokens({ path: '/etc/passwd' }))
  await refused(400, /^parameter: "trace"/, `${tokens({})}&trace=1`)
  await refused(400, /^to: "none"/, '/tokens?snapshot=0&trace=0&from=0&buckets=1')
  await refused(400, /^parameter: "x", expected none$/m, '/?x=1')
})

t.test('texts with --texts alone, without secrets', async t => {
  const traces = randomTraces(new SeededRandom('served'), 2, () => 60).map((trace, i) => ({
    ...trace,
    segment_texts: trace.segment_texts.map((_, k) => `quokka-${i}-${k} ${SHAPES[i].text} end\n<|im_end|>`)
  }))
  const dir = t.testdir()
  await writeSnapshot(join(dir, 'snap'), traces)
  const without = await served(t, [join(dir, 'snap')])
  t.notMatch((await ask(without, '/')).body.toString('utf8'), /quokka/)
  const none = await ask(without, '/texts?snapshot=0&trace=1')
  t.strictSame([none.status, none.body.includes('quokka')], [404, false])
  const server = await served(t, [join(dir, 'snap')], true)
  t.notMatch((await ask(server, '/')).body.toString('utf8'), /quokka/)
  const { headers, body } = await ask(server, '/texts?snapshot=0&trace=1')
  t.match(headers, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
  const { turns, removed } = JSON.parse(gunzipSync(body).toString('utf8')) as TraceTexts
  t.strictSame(shownIn(turns.join('\n'), SHAPES.slice(0, 4)), [])
  t.equal(removed, turns.length)
  t.match(turns[0], /^quokka-1-0 .*\[withheld\].* end\n<\|im_end\|>$/)
  t.strictSame(await storeOf(t, server).store.texts({ snapshot: 0, trace: 1 }), { turns, tokens: null, removed })
})

t.test('texts are counted, and no block of tokens is packed beside them', async t => {
  const dir = t.testdir()
  const traces = randomTraces(new SeededRandom('counted'), 2, () => 60).map(trace => ({
    ...trace,
    segment_texts: trace.segment_texts.map(() => `quokka ${SHAPES[0].text} end\n<|im_end|>`)
  }))
  await writeSnapshot(join(dir, 'snap'), traces)
  const row = { values: [0, 1], returns: [0, 1], response_mask: [1, 1], token_ids: [78, 78] }
  writeFileSync(join(dir, 'step_1.jsonl'), `${JSON.stringify(row)}\n${JSON.stringify(row)}\n`)
  const plans = await findSnapshots([join(dir, 'snap'), join(dir, 'step_1.jsonl')])
  const run = await readServed({ plans, settings: settings(), pool, texts: true })
  t.teardown(() => run.close())
  const turns = traces.reduce((sum, trace) => sum + trace.segment_texts.length, 0)
  t.strictSame(run.texts, { none: 2, noRoom: 0, withheld: turns }, 'one passage a turn, and ids without a tokenizer')
  for (const [texts, wanted] of [
    [true, { tokens: false, texts: true }],
    [false, null]
  ] as const)
    t.strictSame(new ServedTraces(new SpillFile(dir), 0.1, texts).wanted(), wanted)
})

t.test('a file without a name gives back each part of what was written, whatever of it still waits', t => {
  const dir = t.testdir()
  const bytes = Uint8Array.from({ length: 11 }, (_, i) => i)
  for (let at = 0; at < 11; at++) {
    for (let end = at; end <= 11; end++) {
      const file = new SpillFile(dir, 4)
      t.strictSame([file.write(bytes.subarray(0, 3)), file.write(bytes.subarray(3), bytes)], [0, 3])
      t.strictSame([...new Uint8Array(file.read(at, end - at))], [...bytes.subarray(at, end)])
      t.strictSame([...new Uint8Array(file.read(11 + at, end - at))], [...bytes.subarray(at, end)], 'and again')
      file.close()
    }
  }
  t.strictSame(readdirSync(dir), [])
  t.end()
})

t.test('a port that is taken, and traces that are still being read', async t => {
  const server = await ExplorerServer.open(0)
  t.teardown(() => server.close())
  const port = Number(new URL(server.url).port)
  await t.rejects(ExplorerServer.open(port), {
    message: /^serve without its port: 127\.0\.0\.1:\d+, EADDRINUSE.*, expected a free one/,
    exitCode: 2
  })
  const { status, body } = await ask(server, '/')
  t.strictSame([status, body.toString('utf8')], [503, 'the traces are still being read\n'])
})

t.test('the command says where it serves, and ends with a signal', async t => {
  const dir = t.testdir()
  const { code, stdout, stderr } = await runCli(['explore', fixture('explorer/traces'), '--serve', '--threads', '1'], {
    cwd: dir,
    onStart: child => {
      let said = ''
      child.stdout?.on('data', (part: string) => {
        said += part
        if (said.includes('serving')) child.kill('SIGINT')
      })
    }
  })
  t.equal(code, 0, stderr)
  t.match(stdout, /^traces: 9 traces, 1,618 tokens\nserving: http:\/\/127\.0\.0\.1:\d+\/ \(Ctrl-C ends it\)\n$/)
  t.strictSame(readdirSync(dir), [], 'nothing is written')
  t.match(parseCommand(['explore', 'a', '--serve', '--port', '8080']), { port: 8080 })
  t.match(parseCommand(['explore', 'a', '--serve']), { port: 0 })
  t.match(parseCommand(['explore', 'a']), { port: null })
  for (const [args, message] of [
    [['--port', '1'], /^usage no --serve: --port alone/],
    [['--serve', '--port', '65536'], /^usage wrong --port: 65536, expected an integer from 0 to 65535/],
    [['--serve', '--port', '0x1'], /^usage wrong --port/],
    [['--serve', '--out', 'o'], /^usage contradiction: --serve and --out/]
  ] as const)
    t.throws(() => parseCommand(['explore', 'a', ...args]), { message, exitCode: 2 })
})
