/** What `npm run docs` writes: the files in `docs/` are its own, every output follows its schema, and no changed one does. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { integer, list, nullable, oneOf } from '../src/core/checker.js'
import { Fault } from '../src/core/errors.js'
import { closed } from '../src/schema/outputs/kinds.js'
import { JSON_OUTPUTS } from '../src/schema/outputs/index.js'
import { docsFiles } from '../tools/docs/files.js'
import { withSampleKeys } from '../tools/docs/sample-keys.js'
import { documentedFields, withTables } from '../tools/docs/tables.js'
import { runCli } from './support/cli.js'
import { unprefixed } from './support/csv-tables.js'
import { mutated, mutationsOf } from './support/document-mutations.js'
import { tree } from './support/folders.js'
import { CLEAN, diagnosticDump } from './support/diagnostic-dumps.js'
import { writeDump } from './support/diagnostic-files.js'
import { schemaProblems } from './support/json-schema.js'
import { fixture, root } from './support/paths.js'
import { Random } from './support/random.js'
import { runReplica } from './support/replica-run.js'

/** Of each document. */
const MUTATIONS = 200

const out = mkdtempSync(join(tmpdir(), 'critic-traces-docs-'))
const dumpFolder = mkdtempSync(join(tmpdir(), 'critic-traces-docs-dumps-'))
t.teardown(() => {
  for (const folder of [out, dumpFolder]) rmSync(folder, { recursive: true, force: true })
})

t.test('the files in docs are those that npm run docs writes', t => {
  const files = docsFiles()
  for (const [path, text] of files) t.equal(readFileSync(join(root, path), 'utf8'), text, `${path}: npm run docs writes it`)
  const schemas = readdirSync(join(root, 'docs/schemas')).map(name => `docs/schemas/${name}`)
  t.strictSame(schemas, [...files.keys()].filter(path => path.startsWith('docs/schemas/')).sort())
  t.end()
})

t.test('a table of fields has every field, each in a row of its own, and no other', t => {
  const fields = documentedFields(
    closed({
      a: {
        kind: nullable(list(closed({ b: { kind: oneOf('x', 'y'), doc: 'B | b.' } }), 1, 3)),
        doc: 'A, as docs/outputs.md says.',
        default: null
      },
      c: { kind: integer(1), doc: 'C.' }
    }).schema
  )
  const table = (...rows: readonly string[]): string =>
    ['# T', '| field | value | meaning | default |', '|---|---|---|---|', ...rows, '', '| `c` | of another table |'].join('\n')
  const filled = table(
    '| `c` | integer >= 1 | C. | required |',
    '| `a` | list of 1 to 3, or `null` | A, as [outputs.md](outputs.md) says. | `null` |',
    '| `a[].b` | `"x"` or `"y"` | B \\| b. | required |'
  )
  t.equal(withTables(table('| `c` |', '| `a` | old | cells |', '| `a[].b` |'), fields, 'T'), filled)
  t.equal(withTables(filled, fields, 'T'), filled)
  t.throws(() => withTables(table('| `c` |', '| `a` |'), fields, 'T'), { message: 'T: no row for a[].b' })
  t.throws(() => withTables(table('| `d` |'), fields, 'T'), { message: 'T: no field d' })
  t.end()
})

t.test('a table of names has every array and field that a dump may have, each in one row', t => {
  const text = readFileSync(join(root, 'docs/formats.md'), 'utf8')
  const uid = text.split('\n').find(line => line.startsWith('| `uid` |')) ?? ''
  t.equal(withSampleKeys(text.replace(uid, '| `uid` | old |'), 'F'), text)
  t.throws(() => withSampleKeys(text.replace(`${uid}\n`, ''), 'F'), { message: 'F: no row for uid' })
  t.throws(() => withSampleKeys(text.replace(uid, `${uid}\n${uid}`), 'F'), { message: 'F: no name uid, or a second row of it' })
  t.throws(() => withSampleKeys(text.replace(uid, '| `uids` |'), 'F'), { message: 'F: no name uids, or a second row of it' })
  t.end()
})

/** The documents below a folder by the name of their schema. */
function documentsIn(folder: string): (readonly [schema: string, path: string, document: unknown])[] {
  return tree(folder)
    .filter(path => path.endsWith('.json'))
    .map(path => {
      const document = JSON.parse(readFileSync(join(folder, path), 'utf8')) as object
      return [String(unprefixed(document)['schema']), path, document] as const
    })
}

t.test('every output follows its schema and its kind; each of 200 mutations of it is refused by both', async t => {
  const { out: replica } = await runReplica(t)
  const rows = [1, 0].map(score => `${JSON.stringify({ step: 3, score, response_mask: [1, 0, 1], advantages: [0.5, 0, score - 0.25] })}\n`)
  const dump = join(t.testdir({ 'no-values.jsonl': rows.join('') }), 'no-values.jsonl')
  t.equal((await runCli(['traces', fixture('snapshot'), fixture('outputs'), dump, '--out', out, '--no-figures', '--quiet'])).code, 3)
  const dumps = [1, 2].map(seed => join(dumpFolder, `dump-${seed}.jsonl`))
  for (const [i, path] of dumps.entries()) writeDump(path, diagnosticDump({ ...CLEAN, seed: i + 1, steps: 2, fault: 'values-off-by-one' }))
  const [first, second] = dumps
  t.equal((await runCli(['diagnose', first, '--against', second, '--gamma', '0.99', '--out', out, '--no-figures', '--quiet'])).code, 0)
  const documents = [...documentsIn(replica), ...documentsIn(out)]
  for (const kind of JSON_OUTPUTS) {
    const { name, jsonSchema } = kind
    const written = documents.filter(([schema]) => schema === name)
    t.ok(written.length > 0, name)
    const read = (value: unknown): unknown => kind.read(value, '', { format: name, place: {}, paths: [] })
    for (const [, path, document] of written) {
      t.strictSame(schemaProblems(jsonSchema, document), [], path)
      t.strictSame(read(document), document, path)
    }
    const [, , document] = written.reduce((one, other) => (JSON.stringify(one[2]).length >= JSON.stringify(other[2]).length ? one : other))
    const mutations = new Random(13).shuffle([...mutationsOf(jsonSchema, document)]).slice(0, MUTATIONS)
    t.equal(mutations.length, MUTATIONS, name)
    for (const mutation of mutations) {
      const what = `${name} ${mutation.change} /${mutation.path.join('/')}`
      const wrong = mutated(document, mutation)
      if (schemaProblems(jsonSchema, wrong).length === 0) t.fail(`${what}: the schema takes it`)
      if (!refused(() => read(wrong))) t.fail(`${what}: the kind takes it`)
    }
  }
})

function refused(read: () => unknown): boolean {
  try {
    read()
    return false
  } catch (error) {
    if (error instanceof Fault) return true
    throw error
  }
}
