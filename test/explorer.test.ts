/** The page of the explorer: what it holds, to the token and to the byte, and what it does not. Expected numbers are numpy's. */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { load, type CheerioAPI } from 'cheerio'
import t from 'tap'
import { pageBlocks } from '../src/compute/traces/page-blocks.js'
import { openTracePool } from '../src/compute/traces/pool.js'
import { withheldTexts } from '../src/compute/traces/withheld-texts.js'
import { parseTokenizer } from '../src/ingest/tokenizer/tokenizer.js'
import { EmbeddedStore } from '../src/render/explorer/browser/embedded-store.js'
import { ExplorerCollector, PageBudget } from '../src/render/explorer/collector.js'
import { MAX_JUMPS, type ExplorerDocument } from '../src/render/explorer/contract.js'
import { LargestJumps } from '../src/render/explorer/jumps.js'
import { ExplorerOverview } from '../src/render/explorer/overview.js'
import { explorerParts } from '../src/render/explorer/page.js'
import { traceTokens, viewOf } from '../src/render/explorer/view.js'
import { Random as SeededRandom } from '../src/replica/random.js'
import { exploreSnapshots } from '../src/runs/explore.js'
import { findSnapshots } from '../src/study/inventory.js'
import { SHAPES, shownIn } from './support/canaries.js'
import { rowsOf } from './support/cases.js'
import { runCli } from './support/cli.js'
import { fixture } from './support/paths.js'
import { settings } from './support/run.js'
import { randomTraces, writeSnapshot, type TestTrace } from './support/snapshot.js'
import { outputFixture } from './support/output-fixture.js'

interface ExpectedTrace {
  readonly name: string
  readonly values: readonly number[]
  readonly returns: readonly number[]
  readonly positions: readonly number[]
  readonly turn: readonly number[]
  readonly largestAt: number | null
  readonly largestChange: number | null
  readonly tokens: number
  readonly turns: number
  readonly mean: number
  readonly delta: number
  readonly rmse: number
  readonly view: { readonly from: number; readonly to: number; readonly buckets: number; readonly index: readonly number[] }
}

interface Expected {
  readonly valueRange: readonly [number, number]
  readonly sparks: string
  readonly traces: readonly ExpectedTrace[]
  readonly jumps: ExplorerDocument['snapshots'][number]['jumps']
}

const pool = openTracePool(1)
t.teardown(() => pool.destroy())

async function explored(out: string, paths: readonly string[], texts = false, synthetic = false): Promise<string> {
  const plans = await findSnapshots(paths)
  await exploreSnapshots({ plans, settings: { ...settings(), synthetic }, pool, out, texts })
  return readFileSync(join(out, 'preview/traces.html'), 'utf8')
}

function indexOf(page: CheerioAPI): ExplorerDocument {
  return JSON.parse(page('script#explorer').text()) as ExplorerDocument
}

/** A page as far as the store looks at it. */
function storeOf(page: CheerioAPI): EmbeddedStore {
  const getElementById = (id: string) => (page(`#${id}`).length === 0 ? null : { textContent: page(`#${id}`).text() })
  return new EmbeddedStore({ getElementById } as unknown as Document)
}

t.test('rows, jumps, sparklines and every token are those of numpy', async t => {
  const expected = JSON.parse(readFileSync(fixture('explorer/expected.json'), 'utf8')) as Expected
  const page = load(await explored(t.testdir(), [fixture('explorer/traces')]))
  const { snapshots, tokens, texts } = indexOf(page)
  t.strictSame([tokens, texts, snapshots.length], ['embedded', false, 1])
  const [{ traces, jumps, valueRange, tokens: all }] = snapshots
  t.equal(
    all,
    expected.traces.reduce((sum, trace) => sum + trace.tokens, 0)
  )
  for (const [trace, { name, mean, values }] of expected.traces.entries()) {
    // the bound that `core/sums.ts` states: one case cancels
    const bound = 2 ** -53 * Math.abs(mean) + 2 ** -104 * values.reduce((sum, value) => sum + Math.abs(value), 0)
    t.ok(Math.abs(traces.mean[trace] - mean) <= bound, `${name}: mean`)
  }
  for (const column of ['tokens', 'turns', 'delta', 'rmse', 'largestChange', 'largestAt'] as const) {
    t.strictSame(
      traces[column],
      expected.traces.map(trace => trace[column]),
      column
    )
  }
  t.strictSame(traces.step, [0, 0, 1, 1, 2, 2, 3, 3, 4])
  t.strictSame(traces.uid?.slice(0, 4), ['group-0', 'group-1', 'group-2', 'group-0'])
  t.strictSame(valueRange, expected.valueRange)
  t.equal(traces.sparks, expected.sparks)
  t.equal(jumps.at.length, MAX_JUMPS)
  t.strictSame(jumps, expected.jumps)
  const store = storeOf(page)
  for (const [trace, of] of expected.traces.entries()) {
    const whole = await store.view({ snapshot: 0, trace }, 0, of.tokens, of.tokens)
    t.strictSame(
      [...whole.index],
      of.values.map((_, i) => i),
      `${of.name}: every token`
    )
    t.strictSame([...whole.value], of.values)
    t.strictSame([...whole.return], of.returns)
    t.strictSame([...whole.position], of.positions)
    t.strictSame([...whole.turn], of.turn)
    t.strictSame(
      [...whole.change],
      of.values.map((value, i) => (i === 0 ? NaN : value - of.values[i - 1]))
    )
    const { from, to, buckets, index } = of.view
    const view = await store.view({ snapshot: 0, trace }, from, to, buckets)
    t.strictSame([...view.index], index, `${of.name}: what numpy keeps of the middle`)
    t.strictSame(
      [...view.change],
      index.map(i => (i === 0 ? NaN : of.values[i] - of.values[i - 1]))
    )
  }
  await t.rejects(store.view({ snapshot: 0, trace: 99 }, 0, 1, 1), { message: 'the page has no block tokens-0-99' })
  await t.rejects(store.view({ snapshot: 0, trace: 0 }, 5, 5, 1), RangeError)
  await t.rejects(store.view({ snapshot: 0, trace: 0 }, 0, 1e9, 1), RangeError)
  const asked: string[] = []
  const getElementById = (id: string) => {
    asked.push(id)
    return { textContent: page(`#${id}`).text() }
  }
  const counted = new EmbeddedStore({ getElementById } as unknown as Document)
  for (const trace of [0, 1, 2, 3, 0, 4, 0, 2, 1]) await counted.view({ snapshot: 0, trace }, 0, 1, 1)
  t.strictSame(
    asked,
    [0, 1, 2, 3, 4, 1].map(trace => `tokens-0-${trace}`),
    'the last four stay decoded'
  )
})

t.test('numbers of the page are those of the statistics that numpy computed of three traces', async t => {
  const { results, columns, statistics } = outputFixture('three-traces')
  const collector = new ExplorerCollector(0.1, new PageBudget({ tokens: 100, bytes: 1e6, textBytes: 0 }), false)
  for (const [i, result] of results.entries()) collector.take(result, columns[i], pageBlocks(columns[i], null))
  const { traces } = collector.overview.snapshot({ name: 'a', synthetic: false, snapshotTime: null })
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
  t.equal(sum(traces.tokens), statistics.tokens)
  t.equal(sum(traces.turns) - traces.turns.length, statistics.boundary.transitions)
  t.end()
})

t.test('widths: float32 where it loses nothing, positions beyond 32 bits', t => {
  const blocks = pageBlocks(
    {
      values: Float64Array.of(0.1, 0.2),
      returns: Float32Array.of(1, 1),
      responsePositions: BigInt64Array.of(9007199254740990n, 9007199254740991n)
    },
    null
  )
  t.equal(blocks.texts, null)
  t.strictSame(pageBlocks(null, null), { tokens: null, texts: null, withheld: 0 }, 'nothing is packed that is not wanted')
  const text = gunzipSync(blocks.tokens).toString('latin1')
  t.match(text, /value/)
  const steps = traceTokens(Float64Array.of(0.1, 0.2), Float32Array.of(1, 1), Float64Array.of(9007199254740990, 1))
  t.strictSame([...viewOf(steps, { from: 0, to: 2, buckets: 2 }).position], [9007199254740990, 9007199254740991])
  t.strictSame([...viewOf(steps, { from: 1, to: 2, buckets: 1 }).change], [0.2 - 0.1])
  t.end()
})

/** Marked so that no other text of the page is taken for one of them. */
function markedTraces(): TestTrace[] {
  return randomTraces(new SeededRandom('explorer'), 2, () => 60).map((trace, i) => ({
    ...trace,
    segment_texts: trace.segment_texts.map(
      (_, k) => `quokka-${i}-${k} </script><script>alert(1)</script> \u202eevil ${SHAPES[i].text} end\n<|im_end|>`
    )
  }))
}

/** Everything in a page: its text, and what its blocks hold. */
function everything(html: string): string {
  const blocks = [...html.matchAll(/id="(?:tokens|texts)-\d+-\d+">([^<]*)</g)]
  return [html, ...blocks.map(([, block]) => gunzipSync(Buffer.from(block, 'base64')).toString('utf8'))].join('\n')
}

t.test('without --texts there is no byte of a text; with it, texts without secrets', async t => {
  const dir = t.testdir()
  const traces = markedTraces()
  await writeSnapshot(join(dir, 'snap'), traces)
  const without = everything(await explored(join(dir, 'without'), [join(dir, 'snap')]))
  t.notMatch(without, /quokka|evil/)
  t.strictSame(shownIn(without, SHAPES.slice(0, 4)), [])
  const html = await explored(join(dir, 'with'), [join(dir, 'snap')], true)
  t.strictSame(shownIn(everything(html), SHAPES.slice(0, 4)), [], 'no secret')
  const settingsOf = (out: string): unknown => JSON.parse(readFileSync(join(dir, out, 'explore-run.json'), 'utf8'))['settings_sha256']
  t.match(settingsOf('with'), /^[0-9a-f]{64}$/)
  t.not(settingsOf('with'), settingsOf('without'), 'a setting of its own')
  const page = load(html)
  t.equal(indexOf(page).texts, true)
  for (const [trace, { segment_texts: texts }] of traces.entries()) {
    const { turns, tokens, removed } = await storeOf(page).texts({ snapshot: 0, trace })
    t.equal(tokens, null)
    t.equal(removed, texts.length, 'one passage a turn')
    const secret = SHAPES[trace].text
    t.strictSame(
      turns.map(turn => turn.replace('[withheld]', secret).length > 0 && turn.startsWith(`quokka-${trace}-`)),
      texts.map(() => true)
    )
    for (const turn of turns)
      t.match(turn, /^quokka-\d-\d+ <\/script><script>alert\(1\)<\/script> \u202eevil .*\[withheld\].* end\n<\|im_end\|>$/)
  }
})

t.test('hostile names are inert, and the policy allows the one script and the one style sheet', async t => {
  const dir = t.testdir()
  const uid = '</script><script>alert(1)</script>\u202e<!--'
  await writeSnapshot(
    join(dir, 'snap'),
    randomTraces(new SeededRandom('names'), 2, () => 20).map(trace => ({ ...trace, uid })),
    {
      editJson: json => json.replaceAll('<', '\\u003c')
    }
  )
  const html = await explored(join(dir, 'out'), [join(dir, 'snap')])
  const page = load(html)
  t.equal(indexOf(page).snapshots[0].traces.uid[0], uid)
  const [script, ...others] = page('script')
    .toArray()
    .filter(element => page(element).attr('type') === undefined)
  t.strictSame(others, [], 'one script')
  const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const policy = page('meta[http-equiv="Content-Security-Policy"]').attr('content')
  t.equal(
    policy,
    `default-src 'none'; img-src data:; style-src ${hash(page('style').text())}; script-src ${hash(page(script).text())}; base-uri 'none'; form-action 'none'`
  )
  t.equal(page('[style], [onclick], [src]:not([src^="data:"])').length, 0)
  t.match(page('template#diagnostics-0').html(), /Findings/)
})

t.test('a dump with a tokenizer: each token has its text, and turns are the stretches that the policy wrote', async t => {
  const dir = t.testdir()
  const [end, other] = [331, 78]
  const decoder = await parseTokenizer(readFileSync(fixture('tokenizer/byte-level.json')), { file: 'tokenizer' })
  const text = decoder.text(Int32Array.of(other))
  const ids = [other, end, other, other, end, other, other]
  const numbers = ids.map((_, i) => i / 8)
  const row = { values: numbers, returns: numbers, response_mask: [1, 1, 0, 1, 1, 0, 1], token_ids: ids, score: 1 }
  writeFileSync(join(dir, 'step_3.jsonl'), `${JSON.stringify(row)}\n${JSON.stringify({ ...row, score: 0 })}\n`)
  const run = await runCli(['explore', 'step_3.jsonl', '--texts', '--tokenizer', fixture('tokenizer/byte-level.json'), '--out', 'out'], {
    cwd: dir
  })
  t.match(run, { code: 0, stdout: 'step_3: 2 traces, 10 tokens\nexplore: out/preview/traces.html\n' })
  const page = load(readFileSync(join(dir, 'out/preview/traces.html'), 'utf8'))
  t.strictSame(await storeOf(page).texts({ snapshot: 0, trace: 0 }), {
    turns: [`${text}<|im_end|>`, `${text}<|im_end|>`, text],
    tokens: [[text, '<|im_end|>'], [text, '<|im_end|>'], [text]],
    removed: 0
  })
  t.strictSame([...(await storeOf(page).view({ snapshot: 0, trace: 1 }, 0, 5, 9)).position], [0, 1, 3, 4, 6])
})

t.test('token ids without a tokenizer: what has no texts is counted, and what it takes is said', async t => {
  const dir = t.testdir()
  const row = { values: [0, 1], returns: [0, 1], response_mask: [1, 1], token_ids: [78, 78] }
  for (const step of [1, 2]) writeFileSync(join(dir, `step_${step}.jsonl`), `${JSON.stringify(row)}\n${JSON.stringify(row)}\n`)
  const options = ['--texts', '--out', 'out']
  const { stdout } = await runCli(['explore', 'step_1.jsonl', ...options], { cwd: dir })
  t.match(stdout, /^note: no texts of 2 traces: token ids of a dump become texts with --tokenizer tokenizer\.json$/m)
  const told = await runCli(['explore', 'step_1.jsonl', 'step_2.jsonl', ...options, '--json'], { cwd: dir })
  const report = { without_texts: 4, withheld: 0, snapshots: [{ name: 'step_1' }, { name: 'step_2' }] }
  t.match(JSON.parse(told.stdout), report, 'steps that are named one by one are snapshots of their own')
  const page = load(readFileSync(join(dir, 'out/preview/traces.html'), 'utf8'))
  await t.rejects(storeOf(page).texts({ snapshot: 0, trace: 0 }), { message: /^the token ids of a dump need --tokenizer, / })
})

t.test('two snapshots in one page, and a record of what was read and written', async t => {
  const dir = t.testdir()
  for (const name of ['a', 'b'])
    await writeSnapshot(
      join(dir, 'in', name),
      randomTraces(new SeededRandom(name), 2, () => 30)
    )
  const page = load(await explored(join(dir, 'out'), [join(dir, 'in/a'), join(dir, 'in/b')], false, true))
  const { snapshots } = indexOf(page)
  t.strictSame(
    snapshots.map(({ name, synthetic }) => [name, synthetic]),
    [
      ['a', true],
      ['b', true]
    ]
  )
  t.equal(page('meta[name=synthetic]').attr('content'), 'true')
  t.equal(page('template[id^=diagnostics]').length, 2)
  t.equal(page('script[id^=tokens]').length, 8)
  const record = JSON.parse(readFileSync(join(dir, 'out/explore-run.json'), 'utf8')) as {
    readonly inputs: readonly { readonly path: string }[]
    readonly outputs: readonly { readonly path: string; readonly sha256: string }[]
  }
  t.equal(record.inputs.length, 10)
  t.ok(record.inputs.some(({ path }) => path === 'b/index.html'))
  const sha256 = createHash('sha256')
    .update(readFileSync(join(dir, 'out/preview/traces.html')))
    .digest('hex')
  t.match(record.outputs, [{ path: 'preview/traces.html', sha256 }])
})

t.test('above the limit blocks are let go, and texts have a limit of their own', t => {
  const { results, columns } = outputFixture('three-traces')
  const blocks = { ...pageBlocks(columns[0], null), texts: new Uint8Array(40), withheld: 3 }
  const tokens = columns[0].values.length
  const small = new PageBudget({ tokens: 3 * tokens, bytes: 1e6, textBytes: 80 })
  const collector = new ExplorerCollector(0.1, small, true)
  for (let i = 0; i < 3; i++) collector.take(results[0], columns[0], blocks)
  t.strictSame(
    collector.blocks.map(({ texts }) => texts !== null),
    [true, true, false]
  )
  t.strictSame(small.texts, { none: 0, noRoom: 1, withheld: 6 }, 'of those that are there')
  t.strictSame([small.isOver, collector.wanted()], [false, { tokens: true, texts: true }])
  collector.take(results[0], columns[0], blocks)
  t.strictSame([small.isOver, collector.wanted(), collector.blocks.length], [true, null, 0])
  const packed = new PageBudget({ tokens: 1e9, bytes: blocks.tokens.length, textBytes: 0 })
  packed.spend(blocks, tokens)
  t.notOk(packed.isOver)
  packed.spend(blocks, tokens)
  t.ok(packed.isOver)
  t.end()
})

t.test('one synthetic snapshot makes a page synthetic', t => {
  const page = (...synthetic: readonly boolean[]): CheerioAPI => {
    const snapshots = synthetic.map(each => new ExplorerOverview(0.1).snapshot({ name: 'a', synthetic: each, snapshotTime: null }))
    return load(explorerParts({ generator: { name: 'critic-traces', version: '0' }, tokens: 'served', texts: false, snapshots }).before)
  }
  t.equal(page(false, true)('meta[name=synthetic]').attr('content'), 'true')
  t.not(page(false, false)('meta[name=synthetic]').attr('content'), 'true')
  t.end()
})

t.test('the largest jumps of many, the earlier first on a tie', t => {
  const jumps = new LargestJumps(0.1)
  const jump = (trace: number, change: number) => ({ trace, at: 0, change, turn: 0, boundary: false })
  for (let i = 0; i < 5000; i++) if (Math.abs((i % 7) - 3) / 10 > jumps.above) jumps.take(jump(i, ((i % 7) - 3) / 10))
  const { trace, change } = jumps.list()
  t.equal(trace.length, MAX_JUMPS)
  t.ok(change.every(x => Math.abs(x) === 0.3))
  t.strictSame(
    trace,
    Array.from({ length: 5000 }, (_, i) => i)
      .filter(i => i % 7 === 0 || i % 7 === 6)
      .slice(0, MAX_JUMPS)
  )
  t.end()
})

t.test('the largest jumps where later ones are larger', t => {
  const random = new SeededRandom('jumps')
  const changes = Array.from({ length: 4000 }, (_, i) => random.between(-0.5, 0.5) * (1 + i / 1000))
  const jumps = new LargestJumps(0.1)
  for (const [trace, change] of changes.entries())
    if (Math.abs(change) > jumps.above) jumps.take({ trace, at: 0, change, turn: 0, boundary: false })
  const sizes = changes.map(change => Math.abs(change)).sort((a, b) => b - a)
  t.strictSame(
    jumps.list().change.map(change => Math.abs(change)),
    sizes.slice(0, MAX_JUMPS)
  )
  t.end()
})

t.test('a secret over several tokens leaves each of them', t => {
  const secret = SHAPES[0].text
  const pieces = ['so ', ...(secret.match(/.{1,5}/gs) ?? []), ' end']
  const { turns, tokens, removed } = withheldTexts({ turns: [pieces.join(''), 'b'], tokens: [pieces, ['b']] })
  t.equal(removed, 1)
  t.strictSame(shownIn(turns.join(), SHAPES.slice(0, 1)), [])
  t.equal(tokens?.[0].length, pieces.length)
  t.equal(turns[0], tokens?.[0].join(''))
  t.match(turns[0], /^so .*\[withheld\].* end$/s)
  t.strictSame(turns[1], 'b')
  t.end()
})

t.test('a secret over the end of a turn leaves both', t => {
  const secret = SHAPES[0].text
  const half = secret.length >> 1
  const [first, second] = [`so ${secret.slice(0, half)}`, `${secret.slice(half)} end`]
  const cut = withheldTexts({ turns: ['a', first, second, secret], tokens: null })
  t.equal(cut.removed, 2)
  t.strictSame(shownIn(cut.turns.join(''), SHAPES.slice(0, 1)), [])
  t.match(cut.turns[1], /^so .*\[withheld\]$/s)
  t.notMatch(cut.turns.slice(2).join(), secret.slice(half))
  t.ok(cut.turns[2].endsWith(' end'))
  const far = 'word '.repeat(500)
  const tokens = [
    [far, ...first.split('')],
    [...second.split(''), far]
  ]
  const split = withheldTexts({ turns: tokens.map(turn => turn.join('')), tokens })
  t.equal(split.removed, 1)
  t.equal(split.turns[0] + split.turns[1], cut.turns[1].replace(/^/, far) + cut.turns[2] + far)
  t.strictSame(
    split.tokens?.map(turn => turn.length),
    tokens.map(turn => turn.length)
  )
  t.end()
})

t.test('the texts of tokens are together that of their ids', async t => {
  const cases = rowsOf<{ readonly name: string; readonly tokenizer: string; readonly ids: readonly number[]; readonly text: string }>(
    'tokenizer/expected'
  )
  for (const name of new Set(cases.map(({ tokenizer }) => tokenizer))) {
    const decoder = await parseTokenizer(readFileSync(fixture(join('tokenizer', name))), { file: name })
    for (const { ids, text } of cases.filter(({ tokenizer }) => tokenizer === name)) {
      const pieces = decoder.pieces(Int32Array.from(ids))
      t.equal(pieces.length, ids.length)
      t.equal(pieces.join(''), text, name)
    }
  }
})
