/** Snapshots through the whole pipeline: same bytes at any thread count and chunk size, every change of a number caught. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { Random } from '../src/replica/random.js'
import { openTracePool } from '../src/compute/traces/pool.js'
import type { Fault } from '../src/core/errors.js'
import { openNpz } from '../src/ingest/npz/npz.js'
import { encodeNpy, encodeNpyBool, encodeNpyFloat, encodeNpyHeader, NpzWriter } from '../src/ingest/npz/write.js'
import type { SnapshotSettings } from '../src/runs/snapshot-work.js'
import { faultsOf, hashes, run, settings } from './support/run.js'
import {
  npzOf,
  page,
  randomTraces,
  SNAPSHOT_TIME,
  withStored,
  writeSnapshot,
  type SnapshotOptions,
  type TestTrace
} from './support/snapshot.js'

const root = mkdtempSync(join(tmpdir(), 'critic-traces-pipeline-'))
const pool = openTracePool(2)
t.teardown(async () => {
  await pool.destroy()
  rmSync(root, { recursive: true, force: true })
})
let folders = 0
const fresh = (): string => join(root, `f${folders++}`)

/** Values over 30 orders of magnitude: sums of bfloat16 values are exact in doubles and would hide an order of summation. */
function wideTraces(random: Random): TestTrace[] {
  return randomTraces(random, 4, i => 300 + 91 * i).map(trace => {
    const values = trace.values.map(() => (random.uniform() < 0.5 ? -1 : 1) * 10 ** random.between(-15, 15))
    return { ...trace, values, ...fsumStored(values, trace.returns) }
  })
}

/** Mean and RMSE by exact rational arithmetic over BigInt: doubles are integers times 2^-1074. */
function fsumStored(values: readonly number[], returns: readonly number[]): { value_mean: number; value_rmse: number } {
  const exact = (x: number): bigint => {
    const bits = new DataView(new ArrayBuffer(8))
    bits.setFloat64(0, x)
    const word = bits.getBigUint64(0)
    const exponent = (word >> 52n) & 2047n
    const fraction = word & ((1n << 52n) - 1n)
    const magnitude = exponent === 0n ? fraction : ((1n << 52n) | fraction) << (exponent - 1n)
    return word >> 63n === 0n ? magnitude : -magnitude
  }
  const toNumber = (sum: bigint, count: number): number => {
    const negative = sum < 0n
    const scaled = negative ? -sum : sum
    const shift = BigInt(Math.max(0, scaled.toString(2).length - 64))
    const value = (Number(scaled >> shift) / count) * 2 ** (Number(shift) - 1074)
    return negative ? -value : value
  }
  const squares = values.map((v, i) => (v - returns[i]) ** 2)
  return {
    value_mean: toNumber(
      values.reduce((sum, v) => sum + exact(v), 0n),
      values.length
    ),
    value_rmse: Math.sqrt(
      toNumber(
        squares.reduce((sum, v) => sum + exact(v), 0n),
        values.length
      )
    )
  }
}

t.test('outputs are the same bytes for 1, 2 and 7 threads and any chunk size', async t => {
  const snapshot = fresh()
  await writeSnapshot(snapshot, wideTraces(new Random('wide')))
  const reference = fresh()
  await run(snapshot, reference, pool, { formats: ['png', 'svg', 'pdf'] })
  const expected = hashes(reference)
  t.equal(Object.keys(expected).length, 11)
  for (const threads of [1, 7]) {
    const other = openTracePool(threads)
    const out = fresh()
    await run(snapshot, out, other, { formats: ['png', 'svg', 'pdf'], chunkBytes: 4099 })
    await other.destroy()
    t.same(hashes(out), expected, `${threads} threads`)
  }
  const data = Object.fromEntries(Object.entries(expected).filter(([path]) => !path.startsWith('figures/')))
  for (const chunkBytes of [7, 64, 1000, 65536]) {
    const out = fresh()
    await run(snapshot, out, pool, { chunkBytes })
    t.same(hashes(out), data, `chunks of ${chunkBytes} bytes`)
  }
})

t.test('a page of one-byte chunks', async t => {
  const snapshot = fresh()
  await writeSnapshot(
    snapshot,
    randomTraces(new Random('bytes'), 1, () => 25)
  )
  const [whole, bytes] = [fresh(), fresh()]
  await run(snapshot, whole, pool)
  await run(snapshot, bytes, pool, { chunkBytes: 1 })
  t.same(hashes(bytes), hashes(whole))
})

t.test('gzip, other encodings and decoys give the same numbers', async t => {
  const traces = randomTraces(new Random('spelling'), 2, () => 40)
  const plain = fresh()
  await writeSnapshot(plain, traces)
  const { statistics } = await run(plain, fresh(), pool)
  const text = readFileSync(join(plain, 'index.html'), 'utf8')
  const decoys = text
    .replace(
      '<body>',
      `<body><!-- <script id="data">{}</script> --><textarea><script id="data">{}</script></textarea>
      <template><script id=data>{}</script></template><script>const s = '<script id="data">'</script>`
    )
    .replace('<script id="data" type="application/json">', `<SCRIPT title="a>b" ID='d&#97;ta'\r\n>`)
  const spellings: ReadonlyArray<readonly [string, string, Uint8Array]> = [
    ['decoys', 'index.html', Buffer.from(decoys)],
    ['gzip', 'index.html.gz', gzipSync(text)],
    ['utf-16', 'index.html', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])],
    ['bom', 'index.html', Buffer.from(`\ufeff${text}`)],
    ['crlf', 'index.html', Buffer.from(text.replaceAll('\n', '\r\n'))]
  ]
  for (const [name, file, bytes] of spellings) {
    const folder = fresh()
    cpSync(plain, folder, { recursive: true })
    rmSync(join(folder, 'index.html'))
    writeFileSync(join(folder, file), bytes)
    t.same((await run(folder, fresh(), pool)).statistics, statistics, name)
  }
})

t.test('the outputs are read back by others', async t => {
  const snapshot = fresh()
  const traces = randomTraces(new Random('readback'), 2, i => 30 + i)
  await writeSnapshot(snapshot, traces, { float32: true, deflate: true })
  const out = fresh()
  const { statistics } = await run(snapshot, out, pool)
  const { tableFromIPC } = await import('apache-arrow')
  const table = tableFromIPC(readFileSync(join(out, 'training_data/critic-traces.arrow')))
  const column = (name: string): number[] => Array.from(table.getChild(name) as Iterable<number | bigint>, Number)
  t.same(
    column('value'),
    traces.flatMap(trace => trace.values)
  )
  t.same(
    column('return'),
    traces.flatMap(trace => trace.returns)
  )
  t.same(
    column('response_position'),
    traces.flatMap(trace => trace.response_positions)
  )
  t.same(
    column('trace'),
    traces.flatMap((trace, i) => trace.values.map(() => i))
  )
  t.equal(table.schema.metadata.get('snapshot_time'), SNAPSHOT_TIME)
  const { default: Npyjs } = await import('npyjs')
  const { unzipSync } = await import('fflate')
  const members = unzipSync(readFileSync(join(out, 'training_data/critic-trace-arrays.npz')))
  t.equal(Object.keys(members).length, 13)
  const third = new Npyjs().parse(Uint8Array.from(members['trace_002_values.npy']).buffer)
  t.same(Array.from(third.data as Float32Array), traces[2].values)
  t.equal(third.dtype, 'f4')
  t.equal(statistics.tokens, 126)
})

t.test('every change of a single number is caught', async t => {
  const random = new Random('mutations')
  const traces = randomTraces(random, 3, () => 24)
  const good = fresh()
  await writeSnapshot(good, traces)
  const text = readFileSync(join(good, 'index.html'), 'utf8')
  // Numbers of the JSON, each with its place: digits after a colon, comma or bracket, not inside a string.
  const spans = numberSpans(text)
  t.ok(spans.length >= 6 * (3 * 24 + 4), `${spans.length} numbers`)
  const verified = new Map(Object.entries(hashes(good)))
  t.same(await faultsOf(run(good, fresh(), pool, { settings: settings(true), verified })), [], 'the unchanged snapshot passes')
  let caught = 0
  let alone = 0
  let tried = 0
  const missed: string[] = []
  for (let k = 0; k < 260; k++) {
    const [from, to] = spans[random.below(spans.length)]
    const mutated = changeDigit(text.slice(from, to), random)
    if (Number(mutated) === Number(text.slice(from, to))) continue
    const folder = fresh()
    cpSync(good, folder, { recursive: true })
    writeFileSync(join(folder, 'index.html'), text.slice(0, from) + mutated + text.slice(to))
    tried++
    const faults = await faultsOf(run(folder, fresh(), pool, { settings: settings(true) }))
    // Step and score are not in the arrays; the manifest's hash is what covers them.
    if (faults.length > 0) alone++
    const covered = faults.length > 0 ? faults : await faultsOf(run(folder, fresh(), pool, { settings: settings(true), verified }))
    if (covered.length > 0 && covered.every(f => f.exitCode === 1 || f.exitCode === 3)) caught++
    else missed.push(`${text.slice(from, to)} -> ${mutated}`)
    rmSync(folder, { recursive: true })
  }
  t.ok(tried > 200)
  t.same(missed, [])
  t.equal(caught, tried, `${caught} of ${tried} changed numbers caught`)
  t.ok(alone > 0.95 * tried, `${alone} of them without the manifest`)
})

function numberSpans(text: string): Array<readonly [number, number]> {
  const spans: Array<readonly [number, number]> = []
  const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
  token.lastIndex = text.indexOf('{')
  for (let m = token.exec(text); m !== null; m = token.exec(text)) if (!m[0].startsWith('"')) spans.push([m.index, token.lastIndex])
  return spans
}

function changeDigit(number: string, random: Random): string {
  const digits = [...number].flatMap((c, i) => (c >= '0' && c <= '9' ? [i] : []))
  const at = random.pick(digits)
  const digit = String((Number(number[at]) + 1 + random.below(9)) % 10)
  return number.slice(0, at) + digit + number.slice(at + 1)
}

t.test('a flipped bit of an NPZ is caught', async t => {
  const random = new Random('bits')
  const good = fresh()
  const traces = randomTraces(random, 1, () => 30)
  await writeSnapshot(good, traces)
  const path = join(good, traces[0].npz)
  const bytes = readFileSync(path)
  const verified = new Map(Object.entries(hashes(good)))
  t.same(await faultsOf(run(good, fresh(), pool, { verified })), [], 'the unchanged snapshot passes')
  let caught = 0
  let alone = 0
  for (let k = 0; k < 120; k++) {
    const mutated = Uint8Array.from(bytes)
    const at = random.below(bytes.length)
    mutated[at] ^= 1 << random.below(8)
    writeFileSync(path, mutated)
    if ((await faultsOf(run(good, fresh(), pool))).length > 0) alone++
    if ((await faultsOf(run(good, fresh(), pool, { verified }))).length > 0) caught++
  }
  writeFileSync(path, bytes)
  t.equal(caught, 120, 'every one by the manifest')
  // Time stamps, attributes and the members that are not compared may change without a change of a number.
  t.ok(alone > 60, `${alone} of 120 without the manifest`)
})

interface BadCase {
  readonly name: string
  readonly message: RegExp
  readonly exitCode: 1 | 3
  readonly break: (folder: string, traces: readonly TestTrace[]) => void | Promise<void>
}

const rewrite = (folder: string, edit: (text: string) => string): void => {
  const path = join(folder, 'index.html')
  const before = readFileSync(path, 'utf8')
  const after = edit(before)
  if (after === before) throw new Error('the case changes nothing')
  writeFileSync(path, after)
}

const withNpz = async (folder: string, name: string, arrays: Readonly<Record<string, Uint8Array>>): Promise<void> => {
  const chunks: Uint8Array[] = []
  const npz = new NpzWriter(bytes => {
    chunks.push(bytes.slice())
  })
  for (const [member, npy] of Object.entries(arrays)) await npz.add(member, npy)
  await npz.finish()
  writeFileSync(join(folder, name), Buffer.concat(chunks))
}

const BAD: readonly BadCase[] = [
  {
    name: 'truncated page',
    exitCode: 3,
    message: /^html unterminated element: .*index\.html.*byte \d+/,
    break: f => rewrite(f, s => s.slice(0, 700))
  },
  { name: 'no element', exitCode: 3, message: /^html .*index\.html/, break: f => rewrite(f, s => s.replace('id="data"', 'id="datum"')) },
  {
    name: 'two elements',
    exitCode: 3,
    message: /^html .*index\.html/,
    break: f => rewrite(f, s => s.replace('</body>', '<script id=data>{}</script></body>'))
  },
  {
    name: 'trailing comma',
    exitCode: 3,
    message: /^json .*trace 0.*byte \d+/,
    break: f => rewrite(f, s => s.replace(/\]\}(?=,\{"value_mean".*"npz":"step_10_failure)/, '],}'))
  },
  {
    name: 'raw end tag in a text',
    exitCode: 3,
    message: /^json truncated: the end of script#data \(a raw <\/script> in a text ends it too\), expected .*index\.html.*byte \d+/,
    break: f => rewrite(f, s => s.replace('turn 0', 'turn </script> 0'))
  },
  {
    name: 'NaN',
    exitCode: 1,
    message: /^trace not finite: NaN, .*trace 0, uid .*, step 10, values, index 0/,
    break: f => rewrite(f, s => s.replace(/"values":\[[^,]+/, '"values":[NaN'))
  },
  {
    name: 'Infinity',
    exitCode: 1,
    message: /^trace not finite: -Infinity/,
    break: f => rewrite(f, s => s.replace(/"returns":\[[^,]+/, '"returns":[-Infinity'))
  },
  {
    name: 'unequal lengths',
    exitCode: 1,
    message: /^trace unequal lengths: 25 returns, expected 24/,
    break: f => rewrite(f, s => s.replace('"returns":[', '"returns":[1,'))
  },
  {
    name: 'positions not increasing',
    exitCode: 1,
    message: /^trace positions not increasing: .*response_positions, index 1\)/,
    break: f => rewrite(f, s => s.replace(/("response_positions":\[)(\d+),\d+/, '$1$2,$2'))
  },
  {
    name: 'changed value',
    exitCode: 1,
    message: /^trace NPZ value differs: .* in .*step_10_success\.npz, expected 0.125 as embedded \(.*trace 0.*values, index 0\)/,
    break: f => rewrite(f, s => s.replace(/"values":\[[^,]+/, '"values":[0.125'))
  },
  {
    name: 'stored mean',
    exitCode: 1,
    message: /^trace stored value_mean differs: 7, expected .*trace 3/,
    break: f => rewrite(f, s => s.replace(/"value_mean":[^,]+(?=[^{]*$)/, '"value_mean":7'))
  },
  {
    name: 'missing NPZ',
    exitCode: 3,
    message: /^snapshot missing npz: "step_11_success\.npz", expected .*trace 2/,
    break: (f, traces) => rmSync(join(f, traces[2].npz))
  },
  {
    name: 'missing member',
    exitCode: 3,
    message: /^npz .*returns.*trace 1/,
    break: (f, traces) => withNpz(f, traces[1].npz, { values: encodeNpy(Float64Array.from(traces[1].values)) })
  },
  {
    name: 'wrong dtype',
    exitCode: 3,
    message: /^npz wrong dtype: <i4, expected float32 or float64 \(.*member values/,
    break: (f, traces) => withNpz(f, traces[1].npz, { values: encodeNpy(Int32Array.from(traces[1].values)) })
  },
  {
    name: 'no NPZ archive',
    exitCode: 3,
    message: /^(npz|zip) .*step_10_failure\.npz/,
    break: (f, traces) => writeFileSync(join(f, traces[1].npz), 'not a zip archive, but long enough to be read as one')
  },
  {
    name: 'path that leaves the folder',
    exitCode: 3,
    message: /^snapshot unsafe npz path.*\.\.\/secret\.npz/,
    break: f => rewrite(f, s => s.replace('"npz":"step_10_success.npz"', '"npz":"../secret.npz"'))
  },
  {
    name: 'absolute path',
    exitCode: 3,
    message: /^snapshot unsafe npz path/,
    break: f => rewrite(f, s => s.replace('"npz":"step_10_success.npz"', '"npz":"/etc/passwd"'))
  },
  {
    name: 'link that leaves the folder',
    exitCode: 3,
    message: /^snapshot /,
    break: (f, traces) => {
      rmSync(join(f, traces[0].npz))
      symlinkSync('/etc/hostname', join(f, traces[0].npz))
    }
  },
  {
    name: 'too few texts',
    exitCode: 1,
    message: /^trace span count differs/,
    break: f => rewrite(f, s => s.replace('"segment_texts":[', '"segment_texts":["one more",'))
  },
  {
    name: 'infinite score',
    exitCode: 1,
    message: /^snapshot not finite: score Infinity, expected a finite number \(.*index\.html, trace 0\)/,
    break: f => rewrite(f, s => s.replace('"score":1', '"score":Infinity'))
  },
  {
    name: 'an array that inflates to far more than the page says',
    exitCode: 1,
    message: /^trace NPZ length differs: 4000000 in .*step_10_failure\.npz, expected 24 as embedded/,
    break: async (f, traces) => {
      const chunks: Uint8Array[] = []
      const npz = new NpzWriter(bytes => {
        chunks.push(bytes.slice())
      })
      await npz.add('values', encodeNpy(new Float32Array(4_000_000)), { deflate: true })
      await npz.finish()
      writeFileSync(join(f, traces[1].npz), Buffer.concat(chunks))
    }
  },
  { name: 'empty page', exitCode: 3, message: /^html /, break: f => writeFileSync(join(f, 'index.html'), '') }
]

t.test('bad input is one clear line, and nothing is written', async t => {
  const traces = randomTraces(new Random('bad'), 2, () => 24)
  const good = fresh()
  await writeSnapshot(good, traces)
  for (const bad of BAD) {
    const folder = fresh()
    cpSync(good, folder, { recursive: true })
    await bad.break(folder, traces)
    const out = fresh()
    const faults = await faultsOf(run(folder, out, pool))
    t.ok(faults.length >= 1, bad.name)
    t.match(faults[0]?.message, bad.message, bad.name)
    t.equal(faults[0]?.exitCode, bad.exitCode, `${bad.name}: exit code`)
    t.notOk(
      faults.some(f => f.message.includes('\n')),
      `${bad.name}: one line`
    )
    t.notOk(existsSync(out) && readdirSync(out).length > 0, `${bad.name}: nothing written`)
  }
})

t.test('truncated at any byte before the end of the element', async t => {
  const good = fresh()
  await writeSnapshot(
    good,
    randomTraces(new Random('cut'), 1, () => 6)
  )
  const bytes = readFileSync(join(good, 'index.html'))
  const end = bytes.lastIndexOf('</script>') + '</script>'.length
  const { statistics } = await run(good, fresh(), pool)
  for (let cut = 0; cut <= bytes.length; cut += 7) {
    writeFileSync(join(good, 'index.html'), bytes.subarray(0, cut))
    const faults = await faultsOf(run(good, fresh(), pool))
    if (cut >= end) t.same((await run(good, fresh(), pool)).statistics, statistics)
    else if (faults.length !== 1 || faults[0].exitCode !== 3) t.fail(`cut at ${cut}: ${faults.map(f => f.message).join('; ')}`)
  }
})

t.test('expectations fail where a study states them and are only reported elsewhere', async t => {
  const traces = randomTraces(new Random('expect'), 2, () => 24)
  traces[1].prediction_stage = 'after_critic_update'
  traces[3].segment_texts = traces[3].segment_texts.map(text => text.replace('<|im_end|>', '<|eot|>'))
  traces[2].step = 12
  const snapshot = fresh()
  await writeSnapshot(snapshot, traces)
  const { checks } = await run(snapshot, fresh(), pool)
  t.ok(checks.some(c => c.check === 'prediction stage' && c.passed === 3 && !c.expected))
  const messages = (await faultsOf(run(snapshot, fresh(), pool, { settings: settings(true) }))).map(f => f.message)
  t.match(
    messages.filter(m => m.includes('outcomes per step')),
    { length: 2 }
  )
  t.ok(
    messages.some(m =>
      /prediction stage: "after_critic_update", expected "before_critic_update" \(.*trace 1, uid uid-1-\w+, step 10\)/.test(m)
    )
  )
  t.ok(messages.some(m => /end marker missing: span 0 ends otherwise/.test(m)))
})

/** What every output of a run says. */
async function labels(out: string): Promise<unknown[]> {
  const { tableFromIPC } = await import('apache-arrow')
  const data = (name: string): Buffer => readFileSync(join(out, 'training_data', name))
  const documents = ['critic-trace-index', 'critic-trace-statistics', 'critic-turn-boundary-audit'].map(
    name => (JSON.parse(data(`${name}.json`).toString('utf8')) as { synthetic: unknown }).synthetic
  )
  const arrow = tableFromIPC(data('critic-traces.arrow')).schema.metadata.get('synthetic')
  return [...documents, arrow === 'true', openNpz(data('critic-trace-arrays.npz')).read('synthetic').data[0] === 1]
}

const EVERY = (label: boolean): boolean[] => Array<boolean>(5).fill(label)

t.test('a page that says synthetic makes every output say it, wherever the key stands', async t => {
  const unlabelled = { ...settings(), synthetic: false }
  const traces = randomTraces(new Random('label'), 2, () => 24)
  const first = (json: string): string => json.replace('{', '{"synthetic":true,')
  const spellings: ReadonlyArray<readonly [what: string, label: boolean, edit: (json: string) => string]> = [
    ['none', false, json => json],
    ['first', true, first],
    ['behind the traces', true, json => json.replace(/\}$/, ',"synthetic": true}')],
    ['false', false, json => json.replace('{', '{"synthetic":false,')],
    ["another trainer's", false, json => json.replace('{', '{"synthetic":{"share":0.5,"of":[true]},')],
    ['in a trace', false, json => json.replaceAll('"uid"', '"synthetic":true,"uid"')]
  ]
  for (const [what, label, editJson] of spellings) {
    const snapshot = fresh()
    await writeSnapshot(snapshot, traces, { editJson })
    const out = fresh()
    const { statistics, figure } = await figured(snapshot, out, unlabelled)
    t.equal(statistics.synthetic, label, what)
    t.strictSame(await labels(out), EVERY(label), what)
    t.equal(figure.includes('synthetic replica'), label, `${what}: the figure`)
    for (const chunkBytes of [1, 7, 4099]) {
      const again = fresh()
      await run(snapshot, again, pool, { settings: unlabelled, chunkBytes })
      t.same(hashes(join(again, 'training_data')), hashes(join(out, 'training_data')), `${what}: chunks of ${chunkBytes}`)
    }
  }
  const snapshot = fresh()
  await writeSnapshot(snapshot, traces, { editJson: json => json.replace('{', '{"generated":true,') })
  const keys = { ...unlabelled.traces.keys, synthetic: 'generated' }
  const renamed = { ...unlabelled, traces: { ...unlabelled.traces, keys } }
  t.equal((await run(snapshot, fresh(), pool, { settings: renamed })).statistics.synthetic, true)
  t.equal((await run(snapshot, fresh(), pool, { settings: unlabelled })).statistics.synthetic, false)
})

/** Statistics, and the text of the figure's SVG. */
async function figured(snapshot: string, out: string, judge: SnapshotSettings) {
  const { statistics } = await run(snapshot, out, pool, { settings: judge, formats: ['svg'] })
  return { statistics, figure: readFileSync(join(out, 'figures/08-critic-traces.svg'), 'utf8') }
}

t.test('NPZ files that say synthetic are enough, with a page or without', async t => {
  const unlabelled = { ...settings(), synthetic: false }
  const label: SnapshotOptions = { members: [['synthetic', encodeNpyBool(true)]] }
  const traces = randomTraces(new Random('npz-label'), 2, () => 24)
  for (const paged of [true, false]) {
    const labelOf = async (prepare: (snapshot: string) => unknown): Promise<boolean> => {
      const [snapshot, out] = [fresh(), fresh()]
      await writeSnapshot(snapshot, traces)
      await prepare(snapshot)
      if (!paged) rmSync(join(snapshot, 'index.html'))
      const { statistics } = await run(snapshot, out, pool, { settings: unlabelled })
      t.equal(statistics.verified, paged)
      t.strictSame(await labels(out), EVERY(statistics.synthetic))
      return statistics.synthetic
    }
    t.equal(await labelOf(() => undefined), false)
    for (const i of [0, 3]) {
      t.equal(
        await labelOf(async f => {
          writeFileSync(join(f, traces[i].npz), await npzOf(traces[i], label))
        }),
        true,
        `only trace ${i}`
      )
    }
    const foreign: ReadonlyArray<readonly [string, Uint8Array]> = [
      ['false', encodeNpyBool(false)],
      ['a number', encodeNpyFloat(1)],
      ['no array', Buffer.from('x')],
      ['a pickle', Buffer.concat([encodeNpyHeader('|O', []), Buffer.from([0x80, 4, 0x88, 0x2e])])]
    ]
    for (const [what, npy] of foreign) {
      const members: SnapshotOptions = { members: [['synthetic', npy]] }
      t.equal(
        await labelOf(async f => {
          writeFileSync(join(f, traces[1].npz), await npzOf(traces[1], members))
        }),
        false,
        what
      )
    }
    // Beside a page it is excluded, and nothing is read from it; without one it is a trace like the others.
    t.equal(
      await labelOf(async f => {
        writeFileSync(join(f, 'later.npz'), await npzOf({ ...traces[0], uid: 'later' }, label))
      }),
      !paged
    )
  }
})

t.test('a study that is not synthetic fails on a snapshot that says it is; the other way round is fine', async t => {
  const traces = randomTraces(new Random('denied'), 2, () => 24)
  const labelled = fresh()
  await writeSnapshot(labelled, traces, { editJson: json => json.replace(/\}$/, ',"synthetic":true}') })
  const byNpz = fresh()
  await writeSnapshot(byNpz, traces)
  writeFileSync(join(byNpz, traces[2].npz), await npzOf(traces[2], { members: [['synthetic', encodeNpyBool(true)]] }))
  for (const [snapshot, by] of [
    [labelled, 'the page'],
    [byNpz, traces[2].npz]
  ] as const) {
    const out = fresh()
    const faults = await faultsOf(run(snapshot, out, pool, { settings: { ...settings(true), synthetic: false } }))
    t.strictSame(
      faults.map(f => [f.message, f.exitCode]),
      [
        [
          `snapshot synthetic differs: true in ${by}, false in the study, expected true in the study too (${join(snapshot, 'index.html')})`,
          1
        ]
      ]
    )
    t.notOk(existsSync(out) && readdirSync(out).length > 0, 'nothing written')
    const agreed = await run(snapshot, fresh(), pool, { settings: settings(true) })
    t.match(
      agreed.checks.filter(c => c.check === 'synthetic label'),
      [{ expected: true, passed: 1, total: 1 }]
    )
    const unjudged = await run(snapshot, fresh(), pool, { settings: { ...settings(), synthetic: false } })
    t.equal(unjudged.statistics.synthetic, true)
    t.notOk(
      unjudged.checks.some(c => c.check === 'synthetic label'),
      'without a study there is nothing to contradict'
    )
  }
  const silent = fresh()
  await writeSnapshot(silent, traces)
  t.equal((await run(silent, fresh(), pool, { settings: settings(true) })).statistics.synthetic, true)
  t.equal((await run(silent, fresh(), pool, { settings: { ...settings(true), synthetic: false } })).statistics.synthetic, false)
})

t.test('excluded NPZ files are listed with their step and stay out of the numbers', async t => {
  const traces = randomTraces(new Random('excluded'), 2, () => 24)
  const snapshot = fresh()
  await writeSnapshot(snapshot, traces)
  const before = (await run(snapshot, fresh(), pool)).statistics
  writeFileSync(join(snapshot, 'later.npz'), await npzOf({ ...traces[0], step: 99 }))
  writeFileSync(join(snapshot, 'step_000132_x.npz'), 'broken')
  const { excluded, statistics } = await run(snapshot, fresh(), pool)
  t.match(excluded, [
    { path: 'later.npz', step: 99 },
    { path: 'step_000132_x.npz', step: 132 }
  ])
  t.same(statistics, before)
})

t.test('several failed checks are all named, in canonical order', async t => {
  const traces = randomTraces(new Random('several'), 3, () => 24)
  const snapshot = fresh()
  await writeSnapshot(snapshot, traces)
  for (const k of [4, 1])
    writeFileSync(join(snapshot, traces[k].npz), await npzOf({ ...traces[k], values: traces[k].values.map(v => v + 1) }))
  const faults = await faultsOf(run(snapshot, fresh(), pool))
  t.same(
    faults.map((f: Fault) => f.place.trace),
    [1, 4]
  )
})

t.test('a worker that dies is one clear fault', async t => {
  const snapshot = fresh()
  await writeSnapshot(
    snapshot,
    randomTraces(new Random('dies'), 2, () => 24)
  )
  const worker = `${fresh()}.mjs`
  writeFileSync(worker, 'export default () => process.exit(7)\n')
  const dying = openTracePool(2, { worker })
  const out = fresh()
  const faults = await faultsOf(run(snapshot, out, dying))
  await dying.destroy()
  t.match(faults[0].message, /^worker died: .*trace 0/)
  t.notOk(existsSync(out) && readdirSync(out).length > 0)
})

t.test('an interrupted run writes nothing and exits 130', async t => {
  const snapshot = fresh()
  await writeSnapshot(
    snapshot,
    randomTraces(new Random('stop'), 2, () => 24)
  )
  const out = fresh()
  const faults = await faultsOf(run(snapshot, out, pool, { signal: AbortSignal.abort() }))
  t.match(faults, [{ exitCode: 130 }])
  t.notOk(existsSync(out) && readdirSync(out).length > 0)
})

t.test('stored statistics may be spelt by another summation, to 1e-12', async t => {
  const [trace] = randomTraces(new Random('stored'), 1, () => 24)
  const stored = withStored(trace)
  const snapshot = fresh()
  await writeSnapshot(snapshot, [{ ...stored, value_mean: (stored.value_mean as number) + 5e-13 }])
  t.same(await faultsOf(run(snapshot, fresh(), pool)), [])
  await writeSnapshot(snapshot, [{ ...stored, value_mean: (stored.value_mean as number) + 5e-12 }])
  t.match(await faultsOf(run(snapshot, fresh(), pool)), [{ message: /stored value_mean differs/ }])
  t.ok(page('{}').includes('id="data"'))
})

t.test('an NPZ named with a needless ./ is the file that the manifest lists', async t => {
  const traces = randomTraces(new Random('dotted'), 1, () => 24)
  const snapshot = fresh()
  await writeSnapshot(snapshot, traces, { editJson: json => json.replaceAll('"npz":"', '"npz":"./') })
  const verified = new Map(Object.entries(hashes(snapshot)))
  const { results, excluded } = await run(snapshot, fresh(), pool, { verified })
  t.same(
    results.map(r => r.npz?.path),
    traces.map(trace => trace.npz)
  )
  t.same(excluded, [])
  verified.set(traces[0].npz, 'another hash')
  t.match(await faultsOf(run(snapshot, fresh(), pool, { verified })), [{ message: /^manifest file changed after it was verified/ }])
})
