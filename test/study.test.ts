/** The study file: the tables in `fixtures/study` (a line added there is a case), the checker, the strict JSON reader, the docs. */
import { execFileSync } from 'node:child_process'
import { createHash, randomInt } from 'node:crypto'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { Failures, Fault } from '../src/core/errors.js'
import { DEFAULT_CRITIC_TRACE_STUDY, DEFAULT_KEYS } from '../src/schema/traces.js'
import { csvMetadataPath, RESERVED_FIGURES, RESERVED_OUTPUTS } from '../src/schema/outputs.js'
import { STUDY_KIND } from '../src/schema/study.js'
import { checkStudy, loadStudy, studyJsonSchema } from '../src/study/study.js'
import { isJsonObject, list, object, pair, type Kind } from '../src/core/checker.js'
import { MAX_FAULTS } from '../src/core/read-each.js'
import { parseStrictJson } from '../src/core/strict-json.js'
import { canonicalRelative, compareCodepoints, isSafeRelative } from '../src/core/paths.js'
import { figure08 } from '../src/render/figures/08-critic-traces/index.js'
import { BATCH_INDEX, HISTORY_PATHS, OUTPUT_PATHS } from '../src/render/outputs/output-names.js'
import { caseOf, casesOf } from './support/cases.js'
import { runCli } from './support/cli.js'
import { REPLICA_HISTORIES } from './support/history-study.js'
import { schemaProblems } from './support/json-schema.js'
import { faultsOf } from './support/run.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const VALID = casesOf<{ readonly expected: unknown }>('study/valid')
const INVALID = casesOf<{ readonly message: string }>('study/invalid')

/** The text of a valid study of the table. */
const textOf = (name: string): string => Buffer.from(caseOf('study/valid', name).bytes).toString()

async function messageOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => null,
    (e: unknown) => e
  )
  if (!(error instanceof Fault)) throw new Error(`expected a Fault, got ${String(error)}`)
  return error.message
}

function context(): { format: string; place: object; paths: { at: string; path: string }[] } {
  return { format: 'study', place: {}, paths: [] }
}

t.test('every study in fixtures/study/valid.jsonl reads as expected', async t => {
  t.ok(VALID.length >= 7)
  for (const { name, bytes, expected } of VALID) {
    const dir = t.testdir({ 'study.json': Buffer.from(bytes) })
    const { study, path, sha256 } = await loadStudy(dir)
    t.same(study, expected, name)
    t.equal(path, join(dir, 'study.json'))
    t.equal(sha256, createHash('sha256').update(bytes).digest('hex'))
  }
})

t.test('every study in fixtures/study/invalid.jsonl is refused with its message', async t => {
  t.ok(INVALID.length >= 160)
  for (const { name, bytes, message: expected } of INVALID) {
    const dir = t.testdir({ 'study.json': Buffer.from(bytes) })
    const messages = (await faultsOf(loadStudy(dir))).map(fault => fault.message)
    t.equal(messages.join('\n').replaceAll(join(dir, 'study.json'), 'FILE'), expected, name)
    for (const message of messages) t.notMatch(message, /[\u0000-\u001f]/, 'one line, nothing a terminal would act on')
  }
})

t.test('two thousand wrong fields: each is told, on twenty lines and one that counts the rest', async t => {
  const study = {
    schema_version: 1,
    name: 'n',
    histories: { runs: 'r.json', folder: 'f', companion_suffixes: Array(2000).fill(0), selections: [], metrics: 1, analyses: [] }
  }
  const dir = t.testdir({ 'study.json': JSON.stringify(study) })
  const faults = await faultsOf(loadStudy(dir))
  t.equal(faults.length, 2003)
  t.match(faults[1999].message, 'histories.companion_suffixes[1999] is 0')
  t.match(
    faults.slice(2000).map(fault => fault.details.found),
    ['histories.selections is', 'histories.metrics is 1', 'histories.analyses is']
  )
  const { code, stdout, stderr } = await runCli(['verify', '--study', dir])
  t.equal(code, 3)
  t.equal(stdout, '')
  const lines = stderr.trimEnd().split('\n')
  t.equal(lines.length, 21)
  t.equal(lines[20], 'critic-traces: and 1,983 more like these')
})

t.test('every member is read once, up to the limit of faults', t => {
  let reads = 0
  const odd: Kind<never> = {
    expected: 'nothing',
    schema: {},
    read: (_value, at, { format, place }) => {
      reads++
      throw new Fault({ format, problem: 'wrong field', found: at, expected: 'nothing', place })
    }
  }
  const kind = object({ rows: { kind: list(object({ a: { kind: odd, doc: '' }, b: { kind: pair(odd), doc: '' } })), doc: '' } })
  const told = (rows: number): string[] => {
    reads = 0
    try {
      kind.read({ rows: Array(rows).fill({ b: [1, 2], a: 1 }) }, '', context())
    } catch (error) {
      return error instanceof Failures ? error.faults.map(fault => fault.details.found ?? '') : []
    }
    return []
  }
  t.same(told(2), ['rows[0].b[0]', 'rows[0].b[1]', 'rows[0].a', 'rows[1].b[0]', 'rows[1].b[1]', 'rows[1].a'])
  t.equal(told(2000).length, 6000)
  t.equal(reads, 6000)
  t.equal(told(100_000).length, MAX_FAULTS)
  t.ok(reads < MAX_FAULTS + 3, `${reads} reads`)
  t.end()
})

t.test('what is not a readable file is a Fault with exit code 3', async t => {
  const dir = t.testdir({ folder: { 'study.json': {} }, 'file.txt': '' })
  const cases: [string, string][] = [
    [
      join(dir, 'nowhere'),
      'study missing file: nothing, expected a study file; "node dist/run.js study init FOLDER" writes one from exports'
    ],
    [join(dir, 'folder'), 'study unreadable file: a folder, expected a readable JSON file']
  ]
  t.equal(
    await messageOf(loadStudy(join(dir, 'file.txt'))),
    `study unreadable folder: a file, expected the folder of a study (${join(dir, 'file.txt')})`
  )
  for (const [path, expected] of cases) {
    const error = await loadStudy(path).catch((e: unknown) => e)
    t.ok(error instanceof Fault && error.exitCode === 3)
    t.equal(error instanceof Fault && error.message, `${expected} (${join(path, 'study.json')})`)
  }
  await writeFile(join(dir, 'study.json'), ' '.repeat(1024 * 1024 + 1))
  t.match(await messageOf(loadStudy(dir)), 'study file too large: more than 1048576 bytes')
})

t.test(
  'a named pipe in place of study.json is refused at once',
  { skip: process.platform === 'win32' ? 'no named pipes' : false },
  async t => {
    const dir = t.testdir({})
    execFileSync('mkfifo', [join(dir, 'study.json')])
    t.match(await messageOf(loadStudy(dir)), 'study unreadable file: a named pipe')
  }
)

t.test('links: inside the study they are followed, out of it refused, for stated and for default paths', async t => {
  const dir = t.testdir({ outside: { secret: 'x' }, study: { real: {} } })
  const study = join(dir, 'study')
  const write = (fields: object): Promise<void> =>
    writeFile(join(study, 'study.json'), JSON.stringify({ schema_version: 1, name: 'n', critic_traces: { snapshot: 'snap' }, ...fields }))
  await symlink('real', join(study, 'inner'))
  await symlink('../outside', join(study, 'outer'))
  await symlink(join(dir, 'outside'), join(study, 'absolute'))
  await symlink('loop', join(study, 'loop'))
  await symlink(join(dir, 'study-2'), join(study, 'sibling'))
  await mkdir(join(dir, 'study-2'))

  await write({ critic_traces: { snapshot: 'inner' } })
  t.equal((await loadStudy(study)).study.critic_traces?.snapshot, 'inner')
  for (const path of ['outer', 'absolute', 'outer/secret', 'sibling']) {
    await write({ critic_traces: { snapshot: path } })
    t.match(
      await messageOf(loadStudy(study)),
      `study unsafe path: critic_traces.snapshot is "${path}", a link that leads out of the study, expected a path inside the study`
    )
  }
  await write({ critic_traces: { snapshot: 'loop' } })
  t.match(await messageOf(loadStudy(study)), 'study unreadable path: critic_traces.snapshot is "loop" (ELOOP)')
  await write({ claims: 'outer/secret' })
  t.match(await messageOf(loadStudy(study)), 'study unsafe path: claims is "outer/secret"')
  await symlink('../outside/secret', join(study, 'source_manifest.json'))
  await write({})
  t.match(await messageOf(loadStudy(study)), 'study unsafe path: manifest is "source_manifest.json"')

  // The study folder itself may be reached by a link.
  await write({ manifest: 'm.json' })
  await symlink('study', join(dir, 'alias'))
  t.equal((await loadStudy(join(dir, 'alias'))).study.name, 'n')
})

t.test("defaults are the shared schema's", async t => {
  t.same(DEFAULT_CRITIC_TRACE_STUDY.keys, DEFAULT_KEYS)
  t.equal(DEFAULT_CRITIC_TRACE_STUDY.jump_threshold, 0.1)
  t.equal(DEFAULT_CRITIC_TRACE_STUDY.success_threshold, 0)
  t.same(DEFAULT_CRITIC_TRACE_STUDY.expectations, {
    outcomes_per_step: null,
    returns_equal_outcome: false,
    prediction_stage: null,
    boundary_end_marker: null,
    score_agrees_with_outcome: false,
    distinct_uids: false
  })
  t.same(DEFAULT_CRITIC_TRACE_STUDY.examples, { success: null, failure: null })
  const { critic_traces: read } = checkStudy({ schema_version: 1, name: 'n', critic_traces: { snapshot: '.' } }, context())
  t.same(read, DEFAULT_CRITIC_TRACE_STUDY, 'a study that states only its snapshot has exactly the defaults')
  // Each key of the shared schema can be renamed, and the name arrives.
  for (const key of Object.keys(DEFAULT_KEYS)) {
    const study = checkStudy({ schema_version: 1, name: 'n', critic_traces: { snapshot: '.', keys: { [key]: 'other' } } }, context())
    t.same(study.critic_traces?.keys, { ...DEFAULT_KEYS, [key]: 'other' })
  }
})

t.test('nothing passes into the result or the prototypes by way of __proto__', async t => {
  const value = parseStrictJson(
    '{"schema_version": 1, "name": "n", "critic_traces": {"snapshot": "s", "keys": {"__proto__": {"x": 1}}}}',
    'study'
  )
  t.throws(() => checkStudy(value, context()), /unknown field: critic_traces\.keys\.__proto__/)
  t.equal(Reflect.get({}, 'x'), undefined)
})

t.test("strict JSON: values are JSON.parse's, refusals too, on texts broken at random", async t => {
  const valid = [
    '{"a":[1,-0,1.5e-7,1E+3,true,false,null,"\\u00e9\\n\\ud83d\\ude00",{}],"":{"b":[[],[[]]]}}',
    '"x"',
    ' [ ] ',
    '-0',
    '{"a":{"a":{"a":1}}}'
  ]
  const alphabet = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '0',
    '-',
    '.',
    'e',
    '+',
    't',
    'true',
    'null',
    ' ',
    '\n',
    'u',
    '\u0001',
    '\u2028',
    'é',
    '/'
  ]
  let refused = 0
  for (let i = 0; i < 20000; i++) {
    let text = valid[i % valid.length]
    for (let edits = i % 3; edits > 0; edits--) {
      const at = randomInt(text.length + 1)
      text = text.slice(0, at) + alphabet[randomInt(alphabet.length)] + text.slice(at + randomInt(2))
    }
    let expected: unknown
    let valued = true
    try {
      expected = JSON.parse(text)
    } catch {
      valued = false
      refused++
    }
    try {
      const value = parseStrictJson(text, 'study')
      if (!valued) t.fail(`accepted ${JSON.stringify(text)}`)
      else if (JSON.stringify(value) !== JSON.stringify(expected)) t.fail(`other value for ${JSON.stringify(text)}`)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      // The one thing that is stricter than JSON.parse.
      if (valued && !error.message.startsWith('study field stated twice')) t.fail(`refused ${JSON.stringify(text)}: ${error.message}`)
    }
  }
  t.ok(refused > 5000, `${refused} of the texts were not JSON`)
})

t.test('strict JSON: long and deep texts neither hang nor overflow', async t => {
  t.equal(parseStrictJson(`"${'x\\n'.repeat(2_000_000)}"`, 'study'), 'x\n'.repeat(2_000_000))
  t.throws(() => parseStrictJson(`"${'x\\n'.repeat(2_000_000)}`, 'study'), /closed string/)
  t.throws(() => parseStrictJson(`"${'\\'.repeat(1_000_001)}`, 'study'), /closed string/)
  t.throws(() => parseStrictJson('['.repeat(1_000_000), 'study'), /nesting too deep/)
  t.throws(() => parseStrictJson('9'.repeat(1_000_000) + 'x', 'study'), /end of file/)
})

t.test('safe relative paths', async t => {
  for (const path of ['a', 'a/b', './a', 'a//b', '.', 'a/', '..a', 'a..', 'a/...', 'ab:c', 'ä/訓', '😀', ' ', '-', '*', 'a\nb'])
    t.ok(isSafeRelative(path), path)
  for (const path of [
    '',
    '..',
    '../a',
    'a/..',
    'a/../b',
    '/',
    '/a',
    '//a',
    'a\\b',
    '\\a',
    'c:',
    'c:/a',
    'C:a',
    'a\0',
    'a\ud83d',
    '\udc00',
    'x'.repeat(4097)
  ]) {
    t.notOk(isSafeRelative(path), JSON.stringify(path.slice(0, 20)))
  }
  const units = ['a', '\ud7ff', '\ud800', '\udbff', '\udc00', '\udfff', '\ue000']
  for (const path of units.flatMap(a => units.flatMap(b => units.map(c => a + b + c)))) {
    t.equal(isSafeRelative(path), !/\p{Surrogate}/u.test(path), encodeURIComponent(path.toWellFormed()))
  }
  t.equal(canonicalRelative('./a//b/./c/'), 'a/b/c')
  t.equal(canonicalRelative('./.'), '.')
})

t.test("order by code point is Python's sorted()", async t => {
  // python 3.11: sorted(['\U0001f600', '\uff5e', 'z', 'a', '', 'Z', 'é', '\ue000', 'ab', '\U00010000', '\ud7ff', 'a\U0001f600', 'a\uff5e'])
  const sorted = ['', 'Z', 'a', 'ab', 'a\uff5e', 'a\u{1f600}', 'z', 'é', '\ud7ff', '\ue000', '\uff5e', '\u{10000}', '\u{1f600}']
  t.same([...sorted].reverse().sort(compareCodepoints), sorted)
  t.notSame([...sorted].sort(), sorted, "JavaScript's own order differs")
  // UTF-8 bytes sort by code point as well.
  for (let i = 0; i < 5000; i++) {
    const [a, b] = [0, 1].map(() =>
      Array.from({ length: randomInt(4) }, () =>
        String.fromCodePoint([0x61, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff][randomInt(6)])
      ).join('')
    )
    if (Math.sign(compareCodepoints(a, b)) !== Buffer.compare(Buffer.from(a), Buffer.from(b))) t.fail(JSON.stringify([a, b]))
  }
})

/** Every field of a schema with its description: `critic_traces.keys.values`, `histories.metrics[].key`. */
function* fieldsOf(schema: unknown, prefix = ''): Generator<readonly [path: string, doc: string]> {
  if (!isJsonObject(schema)) return
  for (const [name, field] of Object.entries(isJsonObject(schema['properties']) ? schema['properties'] : {})) {
    const path = prefix === '' ? name : `${prefix}.${name}`
    yield [path, isJsonObject(field) ? String(field['description']) : '']
    yield* fieldsOf(field, path)
  }
  if (schema['items'] !== undefined) yield* fieldsOf(schema['items'], `${prefix}[]`)
  if (Array.isArray(schema['anyOf'])) for (const one of schema['anyOf']) yield* fieldsOf(one, prefix)
}

t.test('the JSON Schema accepts every study in fixtures/study/valid.jsonl and refuses what is wrong in one field alone', t => {
  const schema = studyJsonSchema()
  for (const { name } of VALID) {
    const text = textOf(name).replace(/^\ufeff/, '')
    t.same(schemaProblems(schema, JSON.parse(text)), [], name)
  }
  // What JSON.parse refuses or reads otherwise (a field stated twice, 1e999), and what lies between two fields, is not the schema's.
  const structural = /^study (?:wrong field|missing field|missing section|unknown field|empty selector):/
  let refused = 0
  for (const { name, bytes, message } of INVALID) {
    if (!structural.test(message) || message.includes('is Infinity') || message.includes('is plotted above 0')) continue
    // What a name looks like is a rule in words.
    if (message.includes('looks like a secret') || message.includes('fetch without histories')) continue
    refused++
    const value: unknown = JSON.parse(Buffer.from(bytes).toString())
    t.ok(schemaProblems(schema, value).length > 0, name)
  }
  t.ok(refused >= 70, `${refused} wrong fields`)
  t.end()
})

t.test('the histories of the replica are the typed value', async t => {
  const { histories } = checkStudy(JSON.parse(textOf('histories-replica')), context())
  t.same(histories, REPLICA_HISTORIES)
})

t.test('paths of the histories are kept for the look at the file system; a link out of the study is refused', async t => {
  const histories = JSON.parse(textOf('histories-minimal')) as {
    histories: { selections: { label?: string }[] }
  }
  histories.histories.selections[0].label = 'x'
  const dir = t.testdir({ outside: {}, study: { 'study.json': JSON.stringify(histories), history: {} } })
  const study = join(dir, 'study')
  t.equal((await loadStudy(study)).study.histories?.selections[0].label, 'x')
  await symlink('../../outside', join(study, 'history/x'))
  t.match(
    await messageOf(loadStudy(study)),
    'study unsafe path: histories.selections[0].label is "history/x", a link that leads out of the study'
  )
  await symlink('../outside', join(study, 'runs.json'))
  t.match(await messageOf(loadStudy(study)), 'study unsafe path: histories.runs is "runs.json", a link that leads out of the study')
})

t.test('reserved names are those of the outputs and figures that are always written', async t => {
  const paths = [...Object.values(OUTPUT_PATHS), ...Object.values(HISTORY_PATHS), BATCH_INDEX, 'run.json']
  const metadata = paths.filter(path => path.endsWith('.csv')).map(csvMetadataPath)
  t.equal(metadata.length, 2)
  for (const path of [...paths, ...metadata]) t.ok(RESERVED_OUTPUTS.includes(path), path)
  t.ok(RESERVED_FIGURES.includes(figure08.name), figure08.name)
})

t.test('docs/study.md documents every field, and its examples are valid', async t => {
  const doc = await readFile(join(ROOT, 'docs/study.md'), 'utf8')
  const fields = [...fieldsOf(STUDY_KIND.schema)]
  t.match(doc.slice(doc.indexOf('### `article`')), '](article.md)', 'the section leads to what templates may say')
  t.ok(fields.length > 100)
  for (const [path, sentence] of fields) {
    // Keys and selectors have tables of their own.
    const last = path.startsWith('critic_traces.') ? path.split('.').pop() : path
    t.ok(doc.includes(`\`${path}\``) || doc.includes(`\`${last}\``), `${path} is documented`)
    t.ok(sentence.endsWith('.'), `${path} has a sentence`)
  }
  const examples = [...doc.matchAll(/```json\n(\{\n {2}"schema_version"[\s\S]*?)```/g)].map(m => m[1])
  t.ok(examples.length >= 3)
  for (const example of examples) t.doesNotThrow(() => checkStudy(parseStrictJson(example, 'study'), context()))
  const schema = studyJsonSchema()
  for (const example of examples) t.same(schemaProblems(schema, JSON.parse(example)), [])
  // The example for another trainer's names is a case of the table.
  t.ok(examples.includes(textOf('other-trainer')))
})
