/**
 * The page reader. What is right comes from outside: the fixtures' contents and offsets are marked by hand from the HTML
 * standard, parse5 is the oracle of the random pages, the real page's hashes are those of CASES.tsv, code pages are
 * Python's. Every page is read at many chunk sizes, from memory that is overwritten behind the reader.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { html as parse5Html, InsertionMode, Parser, type DefaultTreeAdapterTypes as Tree, type Token } from 'parse5'
import t, { type Test } from 'tap'
import { Fault } from '../src/errors.js'
import { DataElement } from '../src/ingest/html/data-element.js'
import { cut, seeded } from './support/chunks.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const FIXTURES = join(ROOT, 'fixtures/html')
const CASES = process.env['CRITIC_TRACES_CASES'] ?? join(ROOT, '../shared/cases')

interface Read {
  readonly content: Buffer
  readonly offset: number
  readonly encoding: string | null
}

/** Reads a page in chunks; every piece is copied before the next chunk. */
function read(page: Uint8Array, size: number | (() => number), id = 'data'): Read {
  const element = new DataElement({ id })
  const pieces: Buffer[] = []
  for (const chunk of cut(page, size)) for (const piece of element.push(chunk)) pieces.push(Buffer.from(piece))
  for (const piece of element.end()) pieces.push(Buffer.from(piece))
  return { content: Buffer.concat(pieces), offset: element.contentOffset, encoding: element.encoding }
}

function faultOf(run: () => unknown): Fault {
  try {
    run()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('no fault')
}

/** White space that changes nothing and takes the page past the bytes that are held until the encoding is known. */
const PAD = Buffer.alloc(1024, ' ')

t.test('fixtures', t => {
  for (const name of readdirSync(FIXTURES).filter(file => file.endsWith('.html')).map(file => file.slice(0, -5))) {
    const page = readFileSync(join(FIXTURES, `${name}.html`))
    const expected = JSON.parse(readFileSync(join(FIXTURES, `${name}.json`), 'utf8')) as {
      why: string, content: string, contentOffset: number, encoding?: string
    }
    t.test(`${name}: ${expected.why}`, t => {
      const whole = read(page, page.length)
      t.equal(whole.content.toString(), expected.content)
      t.equal(whole.offset, expected.contentOffset)
      t.equal(whole.encoding, expected.encoding ?? 'utf-8')
      const hasDeclaration = /^(?:\xef\xbb\xbf|<meta)/.test(page.toString('latin1'))
      const padded = hasDeclaration ? page : Buffer.concat([PAD, page])
      const shift = padded.length - page.length
      for (let size = 1; size <= page.length; size++) {
        const { content, offset } = read(padded, size)
        if (content.toString() !== expected.content || offset !== expected.contentOffset + shift) {
          t.fail(`chunks of ${size} bytes`, { content: content.toString(), offset })
        }
      }
      t.end()
    })
  }
  t.end()
})

t.test('invalid fixtures', t => {
  const folder = join(FIXTURES, 'invalid')
  for (const name of readdirSync(folder).filter(file => file.endsWith('.html')).map(file => file.slice(0, -5))) {
    const page = readFileSync(join(folder, `${name}.html`))
    const expected = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as {
      why: string, message: string, exitCode: number
    }
    t.test(`${name}: ${expected.why}`, t => {
      const fault = faultOf(() => read(page, page.length || 1))
      t.equal(fault.message, expected.message)
      t.equal(fault.exitCode, expected.exitCode)
      const messages = new Set<string>()
      for (let size = 1; size < page.length; size++) messages.add(faultOf(() => read(page, size)).message)
      messages.delete(expected.message)
      t.strictSame([...messages], [], 'the same at every chunk size')
      const isEncoding = fault.details.problem.includes('encoding')
      for (let size = 1; size < page.length && !isEncoding; size++) {
        const { problem } = faultOf(() => read(Buffer.concat([PAD, page]), size)).details
        if (problem !== fault.details.problem) t.fail(`chunks of ${size} bytes behind white space: ${problem}`)
      }
      t.end()
    })
  }
  t.end()
})
