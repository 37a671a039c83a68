/** The study file: `fixtures/study` is the table (a file added there is a case), the checker, the strict JSON reader, the docs. */
import { execFileSync } from 'node:child_process'
import { createHash, randomInt } from 'node:crypto'
import { mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { Fault } from '../src/errors.js'
import { DEFAULT_KEYS } from '../src/schema.js'
import { DEFAULT_CRITIC_TRACE_STUDY, STUDY_KIND, checkStudy, loadStudy, studyJsonSchema } from '../src/ingest/study.js'
import { isJsonObject, type Field, type Fields } from '../src/ingest/study/checker.js'
import { parseStrictJson } from '../src/ingest/study/json.js'
import { canonicalRelative, compareCodepoints, isSafeRelative } from '../src/ingest/study/paths.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FIXTURES = join(ROOT, 'fixtures/study')

async function messageOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(() => null, (e: unknown) => e)
  if (!(error instanceof Fault)) throw new Error(`expected a Fault, got ${String(error)}`)
  return error.message
}

function context(): { format: string; place: object; paths: { at: string; path: string }[] } {
  return { format: 'study', place: {}, paths: [] }
}

t.test('every study in fixtures/study reads as its .expected.json says', async t => {
  const names = (await readdir(FIXTURES)).filter(n => n.endsWith('.json') && !n.endsWith('.expected.json'))
  t.ok(names.length >= 4)
  for (const name of names) {
    const bytes = await readFile(join(FIXTURES, name))
    const dir = t.testdir({ 'study.json': bytes })
    const { study, path, sha256 } = await loadStudy(dir)
    t.same(study, JSON.parse(await readFile(join(FIXTURES, name.replace('.json', '.expected.json')), 'utf8')), name)
    t.equal(path, join(dir, 'study.json'))
    t.equal(sha256, createHash('sha256').update(bytes).digest('hex'))
  }
})

t.test('every study in fixtures/study/invalid is refused with its message', async t => {
  const folder = join(FIXTURES, 'invalid')
  const names = (await readdir(folder)).filter(n => n.endsWith('.json'))
  t.ok(names.length >= 60)
  for (const name of names) {
    const dir = t.testdir({ 'study.json': await readFile(join(folder, name)) })
    const expected = (await readFile(join(folder, name.replace('.json', '.txt')), 'utf8')).trimEnd()
    const message = await messageOf(loadStudy(dir))
    t.equal(message.replace(join(dir, 'study.json'), 'FILE'), expected, name)
    // eslint-disable-next-line no-control-regex
    t.notMatch(message, /[\u0000-\u001f]/, 'one line, nothing a terminal would act on')
  }
})

t.test('what is not a readable file is a Fault with exit code 3', async t => {
  const dir = t.testdir({ folder: { 'study.json': {} }, 'file.txt': '' })
  const cases: [string, string][] = [
    [join(dir, 'nowhere'), 'study missing file: ENOENT, expected a readable JSON file'],
    [join(dir, 'folder'), 'study unreadable file: a folder, expected a JSON file'],
    [join(dir, 'file.txt'), 'study unreadable file: ENOTDIR, expected a readable JSON file']
  ]
  for (const [path, expected] of cases) {
    const error = await loadStudy(path).catch((e: unknown) => e)
    t.ok(error instanceof Fault && error.exitCode === 3)
    t.equal(error instanceof Fault && error.message, `${expected} (${join(path, 'study.json')})`)
  }
  await writeFile(join(dir, 'study.json'), ' '.repeat(1024 * 1024 + 1))
  t.match(await messageOf(loadStudy(dir)), 'study file too large: more than 1048576 bytes')
})

t.test('a named pipe in place of study.json is refused at once', { skip: process.platform === 'win32' ? 'no named pipes' : false }, async t => {
  const dir = t.testdir({})
  execFileSync('mkfifo', [join(dir, 'study.json')])
  t.match(await messageOf(loadStudy(dir)), 'study unreadable file: a special file')
})

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
    t.match(await messageOf(loadStudy(study)),
      `study unsafe path: critic_traces.snapshot is "${path}", a link that leads out of the study, expected a path inside the study`)
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

t.test('defaults are the shared schema\'s', async t => {
  t.same(DEFAULT_CRITIC_TRACE_STUDY.keys, DEFAULT_KEYS)
  t.equal(DEFAULT_CRITIC_TRACE_STUDY.jump_threshold, 0.1)
  t.same(DEFAULT_CRITIC_TRACE_STUDY.expectations,
    { outcomes_per_step: null, returns_equal_outcome: false, prediction_stage: null, boundary_end_marker: null })
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
  const value = parseStrictJson('{"schema_version": 1, "name": "n", "critic_traces": {"snapshot": "s", "keys": {"__proto__": {"x": 1}}}}', 'study')
  t.throws(() => checkStudy(value, context()), /unknown field: critic_traces\.keys\.__proto__/)
  t.equal(Reflect.get({}, 'x'), undefined)
})

t.test('strict JSON: values are JSON.parse\'s, refusals too, on texts broken at random', async t => {
  const valid = [
    '{"a":[1,-0,1.5e-7,1E+3,true,false,null,"\\u00e9\\n\\ud83d\\ude00",{}],"":{"b":[[],[[]]]}}', '"x"', ' [ ] ', '-0', '{"a":{"a":{"a":1}}}'
  ]
  const alphabet = ['{', '}', '[', ']', ',', ':', '"', '\\', '0', '-', '.', 'e', '+', 't', 'true', 'null', ' ', '\n', 'u', '\u0001', '\u2028', 'é', '/']
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
  for (const path of ['a', 'a/b', './a', 'a//b', '.', 'a/', '..a', 'a..', 'a/...', 'ab:c', 'ä/訓', '😀', ' ', '-', '*', 'a\nb']) t.ok(isSafeRelative(path), path)
  for (const path of ['', '..', '../a', 'a/..', 'a/../b', '/', '/a', '//a', 'a\\b', '\\a', 'c:', 'c:/a', 'C:a', 'a\0', 'a\ud83d', '\udc00', 'x'.repeat(4097)]) {
    t.notOk(isSafeRelative(path), JSON.stringify(path.slice(0, 20)))
  }
  t.equal(canonicalRelative('./a//b/./c/'), 'a/b/c')
  t.equal(canonicalRelative('./.'), '.')
})

t.test('order by code point is Python\'s sorted()', async t => {
  // python 3.11: sorted(['\U0001f600', '\uff5e', 'z', 'a', '', 'Z', 'é', '\ue000', 'ab', '\U00010000', '\ud7ff', 'a\U0001f600', 'a\uff5e'])
  const sorted = ['', 'Z', 'a', 'ab', 'a\uff5e', 'a\u{1f600}', 'z', 'é', '\ud7ff', '\ue000', '\uff5e', '\u{10000}', '\u{1f600}']
  t.same([...sorted].reverse().sort(compareCodepoints), sorted)
  t.notSame([...sorted].sort(), sorted, 'JavaScript\'s own order differs')
  // UTF-8 bytes sort by code point as well.
  for (let i = 0; i < 5000; i++) {
    const [a, b] = [0, 1].map(() => Array.from({ length: randomInt(4) }, () =>
      String.fromCodePoint([0x61, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff][randomInt(6)])).join(''))
    if (Math.sign(compareCodepoints(a, b)) !== Buffer.compare(Buffer.from(a), Buffer.from(b))) t.fail(JSON.stringify([a, b]))
  }
})

/** `critic_traces.keys.values` … with its field, nested objects included. */
function* fieldsOf(fields: Fields, prefix = ''): Generator<[string, Field<unknown>]> {
  for (const [name, field] of Object.entries(fields)) {
    yield [`${prefix}${name}`, field]
    const properties = field.kind.schema['properties']
    if (isJsonObject(properties)) {
      for (const [inner, schema] of Object.entries(properties)) yield* schemaFields(`${prefix}${name}.${inner}`, schema)
    }
  }
}

function* schemaFields(path: string, schema: unknown): Generator<[string, Field<unknown>]> {
  if (!isJsonObject(schema)) return
  yield [path, { kind: { expected: '', schema, read: value => value }, doc: String(schema['description']) }]
  const inner = schema['properties']
  if (isJsonObject(inner)) for (const [name, value] of Object.entries(inner)) yield* schemaFields(`${path}.${name}`, value)
}

t.test('docs/schemas/study.schema.json is made from the same fields as the checker', async t => {
  const path = join(ROOT, 'docs/schemas/study.schema.json')
  const made = `${JSON.stringify(studyJsonSchema(), null, 2)}\n`
  if (process.env['UPDATE_SCHEMAS'] === '1') await writeFile(path, made)
  t.equal(await readFile(path, 'utf8'), made, 'run with UPDATE_SCHEMAS=1 after a change of fields')
})

t.test('docs/study.md documents every field, and its examples are valid', async t => {
  const doc = await readFile(join(ROOT, 'docs/study.md'), 'utf8')
  for (const [path, field] of fieldsOf(STUDY_KIND.fields)) {
    t.ok(doc.includes(`\`${path}\``) || doc.includes(`\`${path.split('.').pop()}\``), `${path} is documented`)
    t.ok(field.doc.endsWith('.'), `${path} has a sentence`)
  }
  const examples = [...doc.matchAll(/```json\n(\{\n {2}"schema_version"[\s\S]*?)```/g)].map(m => m[1])
  t.ok(examples.length >= 2)
  for (const example of examples) t.doesNotThrow(() => checkStudy(parseStrictJson(example, 'study'), context()))
  // The example for another trainer's names is the fixture.
  const other = await readFile(join(FIXTURES, 'other-trainer.json'), 'utf8')
  t.ok(examples.includes(other))
})
