/** The tables of cases in fixtures/: what test/support/cases.ts refuses, that a test reads each table, and that no file lies unread beside one. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import t, { type Test } from 'tap'
import { caseOf, casesOf } from './support/cases.js'
import { fixture, root } from './support/paths.js'

/** A table outside fixtures/, as a name of one. */
function tableOf(t: Test, content: string): string {
  const dir = t.testdir({ 'input.bin': 'of a file' })
  writeFileSync(join(dir, 'table.jsonl'), content)
  return relative(fixture(), join(dir, 'table'))
}

t.test('a case has its input in one of three ways, and its other fields', async t => {
  const table = tableOf(t, '{"name":"a","text":"é","x":1}\n{"name":"b","base64":"AP8="}\n{"name":"c","file":"input.bin"}\n')
  t.strictSame(
    casesOf<{ readonly x?: number }>(table).map(({ bytes, ...rest }) => ({ ...rest, bytes: [...bytes] })),
    [
      { name: 'a', x: 1, bytes: [0xc3, 0xa9] },
      { name: 'b', bytes: [0, 255] },
      { name: 'c', bytes: [...Buffer.from('of a file')] }
    ]
  )
  t.strictSame([...caseOf(table, 'b').bytes], [0, 255])
  t.throws(() => caseOf(table, 'd'), /no case 'd'/)
})

t.test('a table that is not right is refused', async t => {
  const one = '{"name":"b","text":"x"}'
  const refusals: readonly (readonly [what: string, table: string, message: RegExp])[] = [
    ['no order', `${one}\n{"name":"a","text":"x"}\n`, /'a' stands behind 'b', expected names in order, each once$/],
    ['a name twice', `${one}\n${one}\n`, /'b' stands behind 'b', expected names in order, each once$/],
    ['no name', '{"text":"x"}\n', /'undefined' stands behind ''/],
    ['no input', '{"name":"a"}\n', /: a: 0 inputs, expected one of text, base64 and file$/],
    ['two inputs', '{"name":"a","text":"x","base64":"AA=="}\n', /: a: 2 inputs, expected one of text, base64 and file$/],
    ['a file and a text', '{"name":"a","text":"x","file":"input.bin"}\n', /: a: 2 inputs/],
    ['no base64', '{"name":"a","base64":"A?=="}\n', /: a: an input that base64 does not give again$/],
    ['base64 without its end', '{"name":"a","base64":"AA"}\n', /: a: an input that base64 does not give again$/],
    ['half a character', '{"name":"a","text":"\\ud800"}\n', /: a: an input that utf8 does not give again$/],
    ['no final line break', one, /: expected one or more lines, each with a line break at its end$/],
    ['nothing', '', /: expected one or more lines, each with a line break at its end$/],
    ['an empty line', `${one}\n\n`, /JSON/]
  ]
  for (const [what, content, message] of refusals) {
    t.throws(() => casesOf(tableOf(t, content)), { message }, what)
  }
  t.throws(() => casesOf(tableOf(t, '{"name":"a","file":"none.bin"}\n')), { code: 'ENOENT' }, 'a file that is not there')
})

const FILES = readdirSync(fixture(), { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile())
  .map(entry => relative(fixture(), join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
  .sort()

/** Beside the tables, and no case of one: what made them, and what a test reads by name, an input of JSON Lines among them. */
const NO_CASES = [
  'diagnostics/final-reward-masked.jsonl',
  'diagnostics/make.py',
  'dumps/rows.expected.json',
  'dumps/rows.parquet',
  'dumps/train_data_step12.expected.json',
  'dumps/train_data_step12.jsonl',
  'json/numbers.txt',
  'npz/make.py',
  'npz/numpy-headers.json',
  'statistics/make.py',
  'tokenizer/byte-fallback.json',
  'tokenizer/byte-level.json',
  'tokenizer/make.py',
  'tokenizer/unigram.json',
  'tokenizer/word-piece.json'
]
const TABLES = FILES.filter(path => path.endsWith('.jsonl') && !NO_CASES.includes(path))

/** What runs the cases of a folder's tables, where it is not the test of the folder's name. */
const OTHER_TESTS: Readonly<Record<string, string>> = {
  diagnostics: 'diagnostics-quality',
  histories: 'histories-ingest',
  'histories/runs': 'histories-ingest',
  statistics: 'compute'
}

t.test('a test reads each table', async t => {
  t.ok(TABLES.length >= 17)
  for (const path of TABLES) {
    const table = path.slice(0, -'.jsonl'.length)
    const name = OTHER_TESTS[dirname(table)] ?? dirname(table)
    const texts = [`${name}.test.ts`, `support/${name}-fixtures.ts`].flatMap(file => {
      try {
        return [readFileSync(join(root, 'test', file), 'utf8')]
      } catch {
        return []
      }
    })
    const reads = new RegExp(`\\b(?:casesOf|rowsOf)(?:<[^(]*>)?\\('${table}'\\)`)
    t.ok(
      texts.some(text => reads.test(text)),
      `test/${name}.test.ts reads ${path}`
    )
  }
})

t.test('a line of a table names each file that lies beside or below it', async t => {
  const named = TABLES.flatMap(path => {
    const lines = readFileSync(fixture(path), 'utf8').trimEnd().split('\n')
    return lines.flatMap(line => {
      const { file } = JSON.parse(line) as { readonly file?: string }
      return file === undefined ? [] : [`${dirname(path)}/${file}`]
    })
  })
  const folders = new Set(TABLES.map(dirname))
  const strays = FILES.filter(path => [...folders].some(folder => path.startsWith(`${folder}/`)) && !TABLES.includes(path))
  t.strictSame(strays, [...new Set([...named, ...NO_CASES])].sort())
})
