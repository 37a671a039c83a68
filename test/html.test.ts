/**
 * The page reader. What is right comes from outside: the fixtures' contents and offsets are marked by hand from the HTML
 * standard, parse5 is the oracle of the random pages, the real page's hashes are those of CASES.tsv, code pages are
 * Python's. Every page is read at many chunk sizes, from memory that is overwritten behind the reader.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { Fault } from '../src/core/errors.js'
import type { ByteChunks, ByteGenerator } from '../src/core/chunks.js'
import { gunzippedIfGzip } from '../src/core/gunzip.js'
import { DataElement } from '../src/ingest/html/data-element.js'
import { casesOf } from './support/cases.js'
import { cut, cutAsync, seeded } from './support/chunks.js'
import { rounds, seedOf } from './support/rounds.js'
import { everyTag, randomMarkup, randomPage, scriptsById } from './support/html-oracle.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CASES = process.env['CRITIC_TRACES_CASES'] ?? join(ROOT, '../shared/cases')

interface Read {
  readonly content: Buffer
  readonly offset: number
  readonly encoding: string | null
}

/** Reads a page in chunks; every piece is copied before the next chunk. */
async function read(page: Uint8Array, size: number | (() => number), id = 'data'): Promise<Read> {
  const element = new DataElement({ id })
  const pieces: Buffer[] = []
  for (const chunk of cut(page, size)) for (const piece of await element.push(chunk)) pieces.push(Buffer.from(piece))
  for (const piece of await element.end()) pieces.push(Buffer.from(piece))
  return { content: Buffer.concat(pieces), offset: element.contentOffset, encoding: element.encoding }
}

async function faultOf(run: () => unknown): Promise<Fault> {
  try {
    await run()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('no fault')
}

/** White space that changes nothing and takes the page past the bytes that are held until the encoding is known. */
const PAD = Buffer.alloc(1024, ' ')

interface Valid {
  readonly why: string
  readonly content: string
  readonly contentOffset: number
  readonly encoding?: string
}

interface Invalid {
  readonly why: string
  readonly message: string
  readonly exitCode: number
}

interface Departure {
  readonly why: string
  readonly contentOffset: number
  readonly message: string
}

t.test('fixtures', async t => {
  for (const { name, bytes: page, ...expected } of casesOf<Valid>('html/valid')) {
    t.test(`${name}: ${expected.why}`, async t => {
      const whole = await read(page, page.length)
      t.equal(whole.content.toString(), expected.content)
      t.equal(whole.offset, expected.contentOffset)
      t.equal(whole.encoding, expected.encoding ?? 'utf-8')
      const hasDeclaration = /^(?:\xef\xbb\xbf|<meta)/.test(Buffer.from(page).toString('latin1'))
      const padded = hasDeclaration ? page : Buffer.concat([PAD, page])
      const shift = padded.length - page.length
      const others: unknown[] = []
      for (let size = 1; size <= page.length; size++) {
        const { content, offset } = await read(padded, size)
        const isSame = content.toString() === expected.content && offset === expected.contentOffset + shift
        if (!isSame) others.push({ size, content: content.toString(), offset })
      }
      t.strictSame(others, [], 'the same at every chunk size')
    })
  }
})

t.test('invalid fixtures', async t => {
  for (const { name, bytes: page, ...expected } of casesOf<Invalid>('html/invalid')) {
    t.test(`${name}: ${expected.why}`, async t => {
      const fault = await faultOf(() => read(page, page.length || 1))
      t.equal(fault.message, expected.message)
      t.equal(fault.exitCode, expected.exitCode)
      const isEncoding = fault.details.problem.includes('encoding')
      const padded = isEncoding ? page : Buffer.concat([PAD, page])
      const problems = new Set<string>()
      for (let size = 1; size < page.length; size++) problems.add((await faultOf(() => read(padded, size))).details.problem)
      problems.delete(fault.details.problem)
      t.strictSame([...problems], [], 'the same at every chunk size')
    })
  }
})

t.test('departures of parse5 from the standard are ours', async t => {
  for (const { name, bytes: page, ...standard } of casesOf<Departure>('html/departures')) {
    t.test(`${name}: not here: ${standard.why}`, async t => {
      const offsets = (scriptsById(Buffer.from(page).toString('latin1')).get('data') ?? []).map(({ offset }) => offset)
      const decoys = offsets.filter(offset => offset < standard.contentOffset)
      t.ok(offsets.includes(standard.contentOffset), 'the element that the standard knows')
      t.equal((await faultOf(() => read(page, 7))).message, standard.message)
      t.ok(
        decoys.some(offset => standard.message.includes(`at byte ${offset},`)),
        'one that parse5 alone finds before it'
      )
    })
  }
})

t.test('parse5 is loaded where a page needs it, and nowhere else', t => {
  const hook =
    "export async function resolve(name, context, next) { if (name === 'parse5') throw new Error('parse5 is asked for'); return next(name, context) }"
  const program = `
    import { register } from 'node:module'
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hook)}))
    const { DataElement } = await import(${JSON.stringify(new URL('../src/ingest/html/data-element.js', import.meta.url).href)})
    for (const before of ['<title><svg></title><!-- <svg> --><table><select><textarea><template></textarea>', '<svg>', '<math>', '<template>', '<frameset>']) {
      const element = new DataElement()
      try {
        await element.push(Buffer.from(before + '<script id=data>{}</script>'))
        console.log((await element.end()).toString())
      } catch (error) {
        console.log(error.message)
      }
    }`
  const child = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' })
  t.strictSame(child.stdout.split('\n'), ['{}', ...Array<string>(4).fill('parse5 is asked for'), ''], child.stderr)
  t.end()
})

/** What the reader answers: offset and content, or a fault's problem. */
interface Answer {
  readonly content: string | null
  readonly problem: string | null
}

/** What the reader has to answer for an id, by what the oracle found. */
function expectedOf(scripts: ReturnType<typeof scriptsById>, id: string): Answer {
  const [first, second] = scripts.get(id) ?? []
  if (first === undefined) return { content: null, problem: 'missing element' }
  if (second !== undefined) return { content: null, problem: 'duplicate element' }
  if (!first.isClosed) return { content: null, problem: 'unterminated element' }
  return { content: `${first.offset} ${first.text}`, problem: null }
}

/** Content as a tree holds it: latin1 text of the bytes, line breaks and NUL as the standard's input stream has them. */
function treeText(content: Buffer): string {
  return content.toString('latin1').replace(/\r\n?/g, '\n').replace(/\0/g, '\ufffd')
}

async function answerOf(page: Buffer, size: number, id: string): Promise<Answer> {
  try {
    const { content, offset } = await read(page, size, id)
    return { content: `${offset - PAD.length} ${treeText(content)}`, problem: null }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { content: null, problem: error.details.problem }
  }
}

t.test('random pages: the same scripts as parse5, at any chunk size', async t => {
  const random = seeded(seedOf(5))
  const differences: unknown[] = []
  const seen = { contents: 0, missing: 0, duplicate: 0, unterminated: 0, removed: 0 }
  for (let i = 0; i < rounds(800); i++) {
    const { page, ids } = randomPage(random, 4 + (i % 30))
    const scripts = scriptsById(page)
    const bytes = Buffer.concat([PAD, Buffer.from(page, 'latin1')])
    for (const id of ids) {
      const expected = expectedOf(scripts, id)
      const size = 1 + Math.floor(random() * 12)
      const actual = await answerOf(bytes, size, id)
      if (actual.content !== null) seen.contents++
      if (actual.problem !== null) seen[actual.problem.split(' ')[0] as keyof typeof seen]++
      // parse5 shows the tree at the end, in which a script in a replaced body is missing
      const problem = actual.problem === 'removed element' ? 'missing element' : actual.problem
      if (actual.content !== expected.content || problem !== expected.problem) {
        differences.push({ page, id, size, expected, actual })
      }
    }
  }
  t.strictSame(differences.slice(0, 3), [], `${differences.length} differences`)
  t.ok(Object.values(seen).every(count => count > 0) && seen.contents > 600, JSON.stringify(seen))
})

/** Scripts behind a page's markup: each shows what is open there, the later ones behind what they close. */
const PROBES = ['', '</svg></math>', '</table>', '</template>'].map((close, i) => `${close}<script id=d${i}>${i}</script>`).join('')

t.test('every tag in every context, and random markup: the same scripts behind it as parse5', async t => {
  const random = seeded(seedOf(20260102))
  const differences: unknown[] = []
  let contents = 0
  const pages = [...everyTag(), ...Array.from({ length: rounds(1500) }, (_, i) => randomMarkup(random, 2 + (i % 25)))]
  for (const [i, markup] of pages.entries()) {
    const page = markup + PROBES
    const scripts = scriptsById(page)
    const bytes = Buffer.concat([PAD, Buffer.from(page, 'latin1')])
    for (let probe = 0; probe < 4; probe++) {
      const { content, problem } = await answerOf(bytes, 1100 + (i % 9), `d${probe}`)
      const expected = expectedOf(scripts, `d${probe}`)
      if (content !== null) contents++
      if (content !== expected.content || problem !== expected.problem) differences.push({ page, probe, expected, content, problem })
    }
  }
  t.strictSame(differences.slice(0, 3), [], `${differences.length} differences`)
  t.ok(contents > pages.length, `${contents} contents`)
})

const SCRIPT = '<script id="data">'
const PAYLOAD = '{"t":"gr\u00fcn \u{1d11e} \u65e5\u672c"}'
const PAGE = `${SCRIPT}${PAYLOAD}</script>`

/** Sizes that cut within every character, and around the bytes that decide the encoding. */
const SIZES = [...Array.from({ length: 40 }, (_, i) => i + 1), 1023, 1024, 1025, 65536]

/** The sizes at which something else is read, and what; `content` is latin1 text of the bytes. */
async function othersOf(page: Buffer, expected: { content: string; encoding: string; offset: number }): Promise<unknown[]> {
  const others: unknown[] = []
  for (const size of SIZES) {
    const { content, encoding, offset } = await read(page, size)
    const actual = { content: content.toString('latin1'), encoding, offset }
    if (JSON.stringify(actual) !== JSON.stringify(expected)) others.push({ size, actual })
  }
  return others
}

t.test('encodings by BOM', async t => {
  const utf8 = Buffer.from(PAYLOAD).toString('latin1')
  const utf16le = Buffer.from(`\ufeff${PAGE}`, 'utf16le')
  const cases: readonly (readonly [string, Buffer, string, number])[] = [
    ['utf-8', Buffer.from(PAGE), 'utf-8', 18],
    ['utf-8 BOM', Buffer.from(`\ufeff${PAGE}`), 'utf-8', 21],
    ['utf-16le BOM; offsets count in the text as utf-8', utf16le, 'utf-16le', 18],
    ['utf-16be BOM', Buffer.from(utf16le).swap16(), 'utf-16be', 18],
    ['a second BOM is text', Buffer.from(`\ufeff\ufeff${PAGE}`, 'utf16le'), 'utf-16le', 21],
    ['a BOM beats a meta element', Buffer.from(`\ufeff<meta charset=latin1>${PAGE}`), 'utf-8', 42]
  ]
  for (const [name, page, encoding, offset] of cases) {
    t.strictSame(await othersOf(page, { content: utf8, encoding, offset }), [], name)
  }
  const long = Buffer.from(`\ufeff${SCRIPT}${PAYLOAD.repeat(500)}</script>`, 'utf16le')
  t.equal((await read(long, 777)).content.toString(), PAYLOAD.repeat(500), 'past the first bytes')
})

t.test('encodings by meta element', async t => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['no declaration', '', false],
    ['charset', '<meta charset=windows-1252>', true],
    ['a label in any case, with white space', '<META/x CHARSET = " Latin1\n">', true],
    ['a pragma', '<meta content="text/html; charset=iso-8859-1" http-equiv=Content-Type>', true],
    ['a pragma with quotes inside', "<meta http-equiv='Content-Type' content='charset = \"ascii\" '>", true],
    ['content without a pragma', '<meta content="text/html; charset=latin1">', false],
    ['charset beats content', '<meta http-equiv=content-type content="charset=latin1" charset=utf8>', false],
    ['the first of two', '<meta charset=utf-8><meta charset=latin1>', false],
    ['of two attributes the first', '<meta charset=cp1252 charset=utf-8>', true],
    ['utf-16 means utf-8', '<meta charset=utf-16>', false],
    ['not in a comment', '<!-- <meta charset=latin1> -->', false],
    ['behind an abrupt comment', '<!--><meta charset=latin1>', true],
    ['not in another tag', '<p x="<meta charset=latin1>" y=\'>\'>', false],
    ['not another name', '<metadata charset=latin1>', false],
    ['not a script that is none to the prescan', '<script>"<meta charset=latin1>"</script>', true],
    ['in the last of the first 1024 bytes', `<meta charset=latin1>`.padStart(1024), true]
  ]
  for (const [name, declaration, isWindows] of cases) {
    const page = Buffer.from(`${declaration}${SCRIPT}\x80\xfc</script>`, 'latin1')
    const content = isWindows ? Buffer.from('\u20ac\u00fc').toString('latin1') : '\x80\xfc'
    const encoding = isWindows ? 'windows-1252' : 'utf-8'
    t.strictSame(await othersOf(page, { content, encoding, offset: declaration.length + 18 }), [], name)
  }
  const cuts = ['<meta charset=latin1>', '<meta charset="latin1" >', '<meta charset="latin1"\n\n>', '<meta x=\'">"\' charset=latin1>']
  for (const meta of cuts) {
    const cut = Buffer.from(`${meta.padStart(1025)}${SCRIPT}</script>`)
    t.equal((await faultOf(() => read(cut, 100))).details.problem, 'late encoding declaration', `cut by the 1024 bytes: ${meta}`)
  }
})

t.test('windows-1252 has the characters that Python 3.11 gives it', async t => {
  // bytes([b]).decode('cp1252'); where Python has none, the control character of that number, as encoding.spec.whatwg.org
  const expected = '9ba654722668eee979b3e1b274ff8bcbb1f6b48bb85cbec5ec71309a7da35477'
  const high = Buffer.from(Array.from({ length: 128 }, (_, i) => 128 + i))
  const page = Buffer.concat([Buffer.from(`<meta charset=latin1>${SCRIPT}`), high, Buffer.from('</script>')])
  t.equal(
    createHash('sha256')
      .update((await read(page, 7)).content)
      .digest('hex'),
    expected
  )
})

t.test('a piece is part of the chunk, not a copy', async t => {
  const page = Buffer.from(`${SCRIPT}${'{"a":"<b>"}'.repeat(1000)}</script>`)
  const pieces = await new DataElement().push(page)
  t.equal(pieces.length, 1)
  t.equal(pieces[0].buffer, page.buffer)
  t.equal(pieces[0].byteOffset, page.byteOffset + SCRIPT.length)
})

t.test('ids', async t => {
  const page = Buffer.from('<script id="a:b.c-[1]">1</script><script id="&lt">2</script><script id="&gt">3</script>')
  t.equal((await read(page, 5, 'a:b.c-[1]')).content.toString(), '1')
  t.equal((await read(page, 5, '<')).content.toString(), '2')
  t.equal((await read(page, 5, '>')).content.toString(), '3')
  for (const id of ['', 'a b', 'a&b', 'd\u00e4ta', 'x'.repeat(1025)]) {
    t.equal((await faultOf(() => new DataElement({ id }))).exitCode, 2, JSON.stringify(id.slice(0, 9)))
  }
})

const REAL_PAGE = join(CASES, 'html/highcharter_index.html')
const SKIP_REAL = existsSync(REAL_PAGE) ? false : `${REAL_PAGE} is absent`
t.test('a real page: JSON blocks of htmlwidgets', { skip: SKIP_REAL }, async t => {
  // the page names its blocks by data-for
  const page = Buffer.from(readFileSync(REAL_PAGE, 'latin1').replaceAll('data-for=', 'id='), 'latin1')
  const rows = readFileSync(join(CASES, 'CASES.tsv'), 'utf8').split('\n')
  const row = rows.find(line => line.startsWith('html/highcharter_index.html')) ?? ''
  const blocks = [...row.matchAll(/#(\S+) type=application\/json chars=(\d+) sha256\(utf8\)=([0-9a-f]+)/g)]
  t.equal(blocks.length, 5)
  const random = seeded(7)
  for (const [, id, chars, sha256] of blocks) {
    for (const size of [page.length, 4096, () => random() * 3000, 11]) {
      const { content } = await read(page, size, id)
      t.equal(content.toString().length, Number(chars))
      t.equal(createHash('sha256').update(content).digest('hex').slice(0, sha256.length), sha256)
    }
  }
  t.equal((await faultOf(() => read(page, 999))).details.problem, 'missing element')
})

/** What costs time or memory where a reader is not careful, by name. */
function hostile(many: number): Readonly<Record<string, string>> {
  return {
    'long comment': `<!--${'- -!x>'.repeat(many)}-->`,
    'long attribute of the element': `<script id="data${' '.repeat(many)}">x</script>`,
    'long attribute': `<p x="${'y'.repeat(many)}">`,
    'many attributes': `<b ${Array.from({ length: many }, (_, i) => `a${i}=1`).join(' ')}>`,
    'nested templates': '<template>'.repeat(many) + '</template>'.repeat(many),
    'nested svg': '<svg>'.repeat(many) + '</svg>'.repeat(many),
    'nested div behind an open p': '<p><object>' + '<div>'.repeat(many) + '<div></div>'.repeat(many),
    'open list items': '<li><b>'.repeat(many),
    'open formatting elements': '<b><p>'.repeat(many),
    'misnested ones': '<a><p>'.repeat(many),
    'open formatting elements, all different': Array.from({ length: many }, (_, i) => `<font size=${i}>`).join('')
  }
}

t.test('hostile pages: bounded, and found behind', async t => {
  for (const [name, head] of Object.entries(hostile(100_000))) {
    t.equal((await read(Buffer.from(head + PAGE), 65536)).content.toString(), PAYLOAD, name)
  }
  for (const [name, head] of Object.entries(hostile(20_000))) {
    t.equal((await read(Buffer.from(`<svg></svg>${head}${PAGE}`), 65536)).content.toString(), PAYLOAD, `${name}, behind an svg`)
    t.equal((await read(Buffer.from(`${head}<svg></svg></template>${PAGE}`), 65536)).content.toString(), PAYLOAD, `${name}, before one`)
  }
  const deep = Buffer.from('<svg>' + '<g>'.repeat(2 ** 20) + PAGE)
  const message = 'html nested too deep: 1048577 open elements, expected at most 1048576 (byte 3145724)'
  t.equal((await faultOf(() => read(deep, 65536))).message, message)
  const long = '<p x>'.repeat(2 ** 24 / 3 + 1)
  t.equal((await read(Buffer.from(long + PAGE), 65536)).content.toString(), PAYLOAD, 'plain markup of any length')
  t.equal(
    (await faultOf(() => read(Buffer.from(`${long}<svg>${PAGE}`), 65536))).message,
    'html too much markup: 16777218 characters of tags before the first svg, math, template or frameset, expected at most 16777216 ' +
      `(byte ${long.length})`
  )
  // Each paragraph opens every formatting element before it again.
  const tangled = Array.from({ length: 20_000 }, (_, i) => `<p><b x=${i}>`).join('')
  t.equal((await read(Buffer.from(tangled + PAGE), 65536)).content.toString(), PAYLOAD, 'no step is taken on a plain page')
  const { details } = await faultOf(() => read(Buffer.from(`<svg></svg>${tangled}${PAGE}`), 65536))
  t.equal(details.problem, 'too tangled')
  t.match(details.found, /^more than \d+ steps to find where its elements stand$/)
})

async function collect(chunks: ByteChunks): Promise<Buffer> {
  const copies: Buffer[] = []
  for await (const chunk of chunks) copies.push(Buffer.from(chunk))
  return Buffer.concat(copies)
}

async function faultIn(chunks: ByteChunks): Promise<Fault> {
  try {
    await collect(chunks)
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('no fault')
}

/** The same gzip of so many bytes: a file name in the header makes up the rest (RFC 1952, flag FNAME). */
function padded(gzip: Buffer, bytes: number): Buffer {
  const named = Buffer.from(gzip.subarray(0, 10))
  named[3] = 8
  const name = Buffer.alloc(bytes - gzip.length, 'a')
  name[name.length - 1] = 0
  return Buffer.concat([named, name, gzip.subarray(10)])
}

t.test('gzip', async t => {
  const random = seeded(3)
  const data = Buffer.from(Array.from({ length: 3000 }, () => `${Math.floor(random() * 1e6)},`).join(''))
  const [first, second] = [gzipSync(data.subarray(0, 7000)), gzipSync(data.subarray(7000))]
  const gzip = gzipSync(data)
  const flipped = Buffer.from(gzip)
  flipped[2000] ^= 4
  const wrongCrc = Buffer.from(gzip)
  wrongCrc[gzip.length - 8] ^= 1
  const good: readonly (readonly [string, Buffer, Buffer])[] = [
    ['one member', gzip, data],
    ['two members', Buffer.concat([first, second]), data],
    ['zero bytes behind it', Buffer.concat([gzip, Buffer.alloc(40)]), data],
    ['no gzip', data, data],
    ['a first byte alone', Buffer.from([0x1f]), Buffer.from([0x1f])],
    ['the second byte of gzip alone', Buffer.from([0, 0x8b, 8]), Buffer.from([0, 0x8b, 8])],
    ['the first byte and another', Buffer.from([0x1f, 0x8c, 8]), Buffer.from([0x1f, 0x8c, 8])],
    ['nothing', Buffer.alloc(0), Buffer.alloc(0)]
  ]
  const bad: readonly (readonly [string, Buffer, string])[] = [
    ['cut', gzip.subarray(0, 5000), 'truncated'],
    ['cut in the header', gzip.subarray(0, 5), 'truncated'],
    ['cut in the check sum', gzip.subarray(0, -3), 'truncated'],
    ['cut in a second member', Buffer.concat([first, second.subarray(0, 100)]), 'truncated'],
    ['a flipped bit', flipped, 'corrupt'],
    ['another check sum', wrongCrc, 'corrupt'],
    ['text behind it', Buffer.concat([gzip, Buffer.from('text')]), 'corrupt'],
    ['a member behind zero bytes', Buffer.concat([first, Buffer.alloc(3), second]), 'trailing data']
  ]
  for (const size of [7, first.length, 1000, 65536]) {
    for (const [name, bytes, expected] of good) {
      t.ok((await collect(gunzippedIfGzip(cutAsync(bytes, size)))).equals(expected), `${name}, chunks of ${size}`)
    }
    for (const [name, bytes, problem] of bad) {
      const { details, exitCode } = await faultIn(gunzippedIfGzip(cutAsync(bytes, size)))
      t.strictSame([details.format, details.problem, exitCode], ['gzip', problem, 3], `${name}, chunks of ${size}`)
    }
  }
  const small = gzipSync('small')
  const twice = Buffer.concat([small, small])
  t.equal(`${await collect(gunzippedIfGzip(cutAsync(twice, 1)))}`, 'smallsmall', 'one byte at a time')
  const bomb = gzipSync(Buffer.alloc(4_000_000))
  const fault = await faultIn(gunzippedIfGzip(cutAsync(bomb, 1024), { freeBytes: 1_000_000 }))
  t.equal(fault.details.problem, 'inflates too far')
  const inflated = async (bytes: Uint8Array, freeBytes: number): Promise<number> =>
    (await collect(gunzippedIfGzip(cutAsync(bytes, bytes.length), { freeBytes }))).length
  t.equal(await inflated(bomb, 4_000_000), 4_000_000, 'any ratio up to the free bytes')
  t.equal((await collect(gunzippedIfGzip(cutAsync(bomb, bomb.length)))).length, 4_000_000, 'which are more where nothing is said')
  t.equal((await faultIn(gunzippedIfGzip(cutAsync(bomb, bomb.length), { freeBytes: 3_999_999 }))).details.problem, 'inflates too far')
  t.equal(await inflated(gzip, 1), data.length, 'any size at an ordinary ratio')
  // 512,000 zero bytes from 2,000 are 256 from each, which is allowed; from 1,999 they are more.
  const zeros = gzipSync(Buffer.alloc(512_000))
  t.equal(await inflated(padded(zeros, 2000), 1), 512_000, 'exactly 256 times as many')
  const over = await faultIn(gunzippedIfGzip(cutAsync(padded(zeros, 1999), 1999), { freeBytes: 1 }))
  t.equal(over.message, 'gzip inflates too far: 512000 bytes from 1999, expected at most 256 times as many (byte 1999)')
  const broken = Object.assign(new Error('the disk is gone'), { code: 'EIO' })
  const breaking = async function* (): ByteGenerator {
    yield gzip.subarray(0, 5000)
    throw broken
  }
  t.equal(await collect(gunzippedIfGzip(breaking())).catch((error: unknown) => error), broken, 'what the source throws comes out')
  let asked = 0
  const zerosBehind = async function* (first: Uint8Array): ByteGenerator {
    yield first
    for (; asked < 100; asked++) yield Buffer.alloc(1000)
  }
  t.equal((await faultIn(gunzippedIfGzip(zerosBehind(flipped)))).details.problem, 'corrupt')
  t.equal(asked, 0, 'what stands behind damage is not read')
  // Behind the header zeros are a stored block whose length and complement disagree (RFC 1951, 3.2.4).
  t.equal((await faultIn(gunzippedIfGzip(zerosBehind(gzip.subarray(0, 10))))).details.problem, 'corrupt')
  t.equal(asked, 0, 'nor behind zeros that are the damage')
  t.ok((await collect(gunzippedIfGzip(zerosBehind(gzip)))).equals(data))
  t.equal(asked, 100, 'what stands behind the last member is read to its end')
  for (const bytes of [gzip, data]) {
    let closed = false
    const source = async function* (): ByteGenerator {
      try {
        yield* cutAsync(bytes, 512)
      } finally {
        closed = true
      }
    }
    for await (const chunk of gunzippedIfGzip(source())) if (chunk.length > 0) break
    t.ok(closed, 'where a reader stops early the source is closed')
  }
})
