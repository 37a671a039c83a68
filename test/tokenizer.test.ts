import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openTracePool } from '../src/compute/traces/pool.js'
import { spansOf } from '../src/ingest/tokenizer/spans.js'
import { parseTokenizer, readTokenizer, type TokenDecoder } from '../src/ingest/tokenizer/tokenizer.js'
import { runBatch } from '../src/runs/batch.js'
import type { TraceIndexDocument } from '../src/schema/outputs/trace-index.js'
import type { TraceStatisticsDocument } from '../src/schema/outputs/trace-statistics.js'
import { rowsOf } from './support/cases.js'
import { sha256 } from './support/folders.js'
import { fixture } from './support/paths.js'
import { Random } from './support/random.js'
import { rounds, seedOf } from './support/rounds.js'
import { settings } from './support/run.js'

/** Texts as the package of Python gives them (fixtures/tokenizer/make.py). */
interface Case {
  readonly name: string
  readonly tokenizer: string
  readonly ids: readonly number[]
  readonly text: string
}

const CASES = rowsOf<Case>('tokenizer/expected')
const NAMES = [...new Set(CASES.map(({ tokenizer }) => tokenizer))]

async function load(name: string): Promise<TokenDecoder> {
  return (await readTokenizer(fixture(join('tokenizer', name)))).load()
}

t.test('texts equal those of the package of Python', async t => {
  t.equal(NAMES.length, 4)
  for (const name of NAMES) {
    const tokenizer = await load(name)
    const own = CASES.filter(c => c.tokenizer === name)
    t.strictSame(
      own.map(({ ids }) => tokenizer.text(Int32Array.from(ids))),
      own.map(({ text }) => text),
      name
    )
  }
})

t.test('the end of a text is told from its last ids', async t => {
  const random = new Random(seedOf(31))
  for (const name of NAMES) {
    const tokenizer = await load(name)
    let marked = 0
    for (let k = 0; k < rounds(400); k++) {
      const { ids } = random.pick(CASES.filter(c => c.tokenizer === name))
      const list = Int32Array.from(random.chance(0.5) ? ids : [...ids, ...random.pick(CASES).ids])
      const text = tokenizer.text(list)
      const marker = random.pick(['<|im_end|>', 'e', 'answers', '？', '\n', text.slice(-1 - random.below(9)) || 'x'])
      const ends = tokenizer.endsWith(list, marker)
      if (ends !== text.endsWith(marker)) t.fail(`${name}: ${JSON.stringify([...list])} ends in ${JSON.stringify(marker)}`)
      marked += Number(ends)
    }
    t.ok(marked > rounds(400) / 10, `${name}: ${marked} of the texts end so`)
  }
})

t.test('spans are the stretches of mask 1; a character may be cut between them', async t => {
  const tokenizer = await load('byte-level.json')
  const { ids = [] } = CASES.find(({ text }) => text === '🙂🎉 done<|im_end|>\n') ?? {}
  const end = CASES.find(({ text }) => text === '<|im_start|>assistant\nyes<|im_end|>')?.ids.at(-1) ?? -1
  t.equal(tokenizer.text(Int32Array.of(end)), '<|im_end|>')
  t.match(tokenizer.text(Int32Array.from(ids.slice(0, 1))), /^\ufffd+$/, 'the first id is a part of a character')
  const tokenIds = Int32Array.of(ids[0], end, ids[1], ids[2], end, ids[0])
  const ends = (mask: readonly number[], marker: string | null = '<|im_end|>') =>
    [spansOf({ mask: Uint8Array.from(mask), tokenIds }, tokenizer, marker)].map(spans => [
      spans?.count,
      ...(spans?.endsWithMarker ?? [])
    ])[0]
  t.strictSame(ends([1, 1, 0, 1, 1, 1]), [2, 1, 0])
  t.strictSame(ends([1, 0, 1, 0, 1, 0]), [3, 0, 0, 1])
  t.strictSame(ends([0, 1, 0, 0, 0, 0]), [1, 1])
  t.strictSame(ends([1, 1, 1, 1, 1, 1]), [1, 0])
  t.strictSame(ends([1, 1, 0, 1, 1, 0], null), [2, 0, 0], 'no marker is looked for')
  t.equal(spansOf({ mask: Uint8Array.of(1), tokenIds: null }, tokenizer, '<|im_end|>'), null)
})

t.test('what is no tokenizer is refused', async t => {
  const messages: Readonly<Record<string, RegExp>> = {
    '{': /^tokenizer not JSON: .* \(x\.json\)$/,
    '[1]': /^tokenizer no vocabulary: JSON without one, expected model\.vocab, as in a tokenizer\.json \(x\.json\)$/,
    '{"model":{"type":"BPE"}}': /^tokenizer no vocabulary/,
    '{"model":{"type":"BPE","vocab":{"a":0}},"decoder":{"type":"Other"}}': /^tokenizer not supported: .*Other/,
    '{"model":{"type":"Other","vocab":{"a":0}}}':
      /^tokenizer not supported: a model of the type "Other", expected BPE, Unigram, WordPiece \(x\.json\)$/
  }
  for (const [text, message] of Object.entries(messages)) {
    await t.rejects(parseTokenizer(Buffer.from(text), { file: 'x.json' }), { name: 'Fault', message }, text)
  }
  await t.rejects(readTokenizer(fixture('tokenizer/missing.json')), { name: 'Fault', message: /missing\.json/ })
})

t.test('a dump with a tokenizer: boundaries behind the end marker are counted, and the index names its hash', async t => {
  const work = mkdtempSync(join(tmpdir(), 'critic-traces-tokenizer-'))
  const pool = openTracePool(1)
  t.teardown(async () => {
    await pool.destroy()
    rmSync(work, { recursive: true, force: true })
  })
  const [marker, other] = [331, 78]
  const row = (ids: readonly number[], mask: readonly number[]) => {
    const numbers = ids.map((_, i) => i / 8)
    return `${JSON.stringify({ values: numbers, returns: numbers, response_mask: mask, token_ids: ids, score: 1 })}\n`
  }
  const dump = join(work, 'step_3.jsonl')
  writeFileSync(
    dump,
    row([other, marker, other, other, marker, other, other], [1, 1, 0, 1, 1, 0, 1]) +
      row([other, other, marker, other, marker], [1, 1, 0, 1, 1])
  )
  const file = join(work, 'tokenizer.json')
  copyFileSync(fixture('tokenizer/byte-level.json'), file)
  const read = <T>(name: string): T => JSON.parse(readFileSync(join(work, 'out/step_3', name), 'utf8')) as T
  const run = async (path: string, tokenizer: string | null) => {
    const dumpSettings = { names: {}, skipBad: false, against: null, tokenizer }
    const wanted = { ...settings(), dump: dumpSettings }
    const [{ status, faults, plan }] = await runBatch({ paths: [path], settings: wanted, pool, out: join(work, 'out'), formats: [] })
    t.same(faults, [])
    t.equal(plan?.name, 'step_3')
    const { checks } = read<TraceStatisticsDocument>('training_data/critic-trace-statistics.json')
    const { dump: index } = read<TraceIndexDocument>('training_data/critic-trace-index.json')
    return { status, marked: checks.boundaries_with_end_marker, index }
  }
  const without = await run(dump, null)
  t.equal(without.index?.tokenizer, null)
  t.equal(without.marked, null)
  const first = await run(dump, file)
  t.equal(first.status, 'done')
  t.strictSame(first.index?.tokenizer, { sha256: sha256(readFileSync(file)), bytes: readFileSync(file).length })
  t.equal(first.marked, 2, 'of three')
  t.equal((await run(dump, file)).status, 'unchanged')
  const bytes = readFileSync(file)
  writeFileSync(file, `${bytes.toString()}\n`)
  t.equal((await run(dump, file)).status, 'done', 'another tokenizer')
})
