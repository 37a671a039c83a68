/** A change of shape raises the version of an output: CONTRIBUTING.md. An older folder of outputs is computed again. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tableFromIPC } from 'apache-arrow'
import t, { type Test } from 'tap'
import { isJsonObject, type JsonSchema } from '../src/core/checker.js'
import { JSON_OUTPUTS } from '../src/schema/outputs/index.js'
import { SCHEMA_VERSIONS, type SchemaName } from '../src/schema/outputs/versions.js'
import { runCli } from './support/cli.js'
import { unprefixed } from './support/csv-tables.js'
import { tree } from './support/folders.js'
import { writeHistoryStudy } from './support/history-folder.js'
import { fixture } from './support/paths.js'
import { hashes } from './support/run.js'

/** The shape of version 1, of version 2, and so on. An entry stays as it is; a change of shape appends one. */
const SHAPES: Readonly<Record<SchemaName, readonly string[]>> = {
  'case-evidence': ['96afa0e73edb04bc'],
  'claims-audit': ['8e613b0159bc17fe'],
  'critic-diagnostics': ['8dafcfd000fd5928'],
  'critic-trace-index': ['a97537e2abe47e1a', 'f08049e4e257bf01'],
  'critic-trace-snapshots': ['0175e4f8c335e0ca', '6d7812bd260b998f'],
  'critic-trace-statistics': ['5bfdeec308d1a487', '91c7c7ebfdc56fc8'],
  'critic-traces': ['c9d6af1400979549', '5c2ffa485caf8148'],
  'critic-turn-boundary-audit': ['299fa071997c1fa5'],
  'csv-metadata': ['2f8e9ce1f2066be6'],
  'derived-metrics': ['0b3897fac4a434dd'],
  'evidence-data': ['2a35d082ececec24'],
  'figure-constants': ['838e69c6223765dd'],
  'history-observations': ['84292a188a1f1df4'],
  'history-points': ['bf7daf5d2a0a36ae'],
  'history-shared-reference': ['485ce002a2320b9b'],
  'history-statistics': ['b1684506408ea6eb'],
  'history-time-display': ['31c00a04189966fb'],
  run: ['468a16c082655bd1'],
  'sample-statistics': ['6746696055dd7017'],
  timings: ['4e605bdb735c44a8']
}

const WORDS = new Set(['$schema', '$id', 'title', 'description', '$defs'])

/** A schema without its words and its version, its keys in one order, what it defines in place of each reference. */
function shapeOf(root: JsonSchema, schema: unknown = root, within: readonly string[] = []): unknown {
  if (Array.isArray(schema)) return schema.map(one => shapeOf(root, one, within))
  if (!isJsonObject(schema)) return schema
  const name = /^#\/\$defs\/(\w+)$/.exec(String(schema['$ref']))?.[1]
  if (name !== undefined) return within.includes(name) ? name : shapeOf(root, (root['$defs'] as JsonSchema)[name], [...within, name])
  return Object.fromEntries(
    Object.keys(schema)
      .sort()
      .filter(keyword => !WORDS.has(keyword))
      .map((keyword): [string, unknown] => {
        const value = schema[keyword]
        if (keyword === 'required' && Array.isArray(value)) return [keyword, value.map(String).sort()]
        if (keyword !== 'properties' || !isJsonObject(value)) return [keyword, shapeOf(root, value, within)]
        return [
          keyword,
          Object.keys(value)
            .sort()
            .map(member => [member, /(?:^|:)schema_version$/.test(member) ? 'version' : shapeOf(root, value[member], within)])
        ]
      })
  )
}

function hashOf(shape: unknown): string {
  return createHash('sha256').update(JSON.stringify(shape)).digest('hex').slice(0, 16)
}

function held(t: Test, name: SchemaName, shape: unknown): void {
  const [hash, version, recorded] = [hashOf(shape), SCHEMA_VERSIONS[name], SHAPES[name]]
  t.equal(
    recorded[version - 1],
    hash,
    recorded.length < version
      ? `the shape of version ${version} of ${name} is ${hash}: append it to SHAPES in test/output-versions.test.ts`
      : `the shape of ${name} changed to ${hash}: raise its version in src/schema/outputs/versions.ts to ${version + 1}, run npm run docs, and append the ` +
          'hash to SHAPES in test/output-versions.test.ts; the entries that stand there stay (CONTRIBUTING.md)'
  )
  t.equal(recorded.length, version, `${name}: one shape for each version`)
}

const work = mkdtempSync(join(tmpdir(), 'critic-traces-versions-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))
const study = join(work, 'study')
const out = join(work, 'out')
const all = (...more: readonly string[]) => runCli(['all', '--study', study, '--out', out, '--no-figures', ...more])

t.before(async () => {
  writeHistoryStudy(study)
  const runs = [
    await all(),
    await runCli(['traces', fixture('snapshot'), '--out', join(work, 'traces'), '--no-figures']),
    await runCli(['diagnose', fixture('snapshot'), '--out', join(work, 'diagnose'), '--no-figures'])
  ]
  for (const { code, stderr } of runs) if (code !== 0) throw new Error(stderr)
})

t.test('the shape of every JSON output is that of its version', t => {
  for (const { name, jsonSchema } of JSON_OUTPUTS) held(t, name, shapeOf(jsonSchema))
  t.end()
})

function arrowFiles(): (readonly [name: SchemaName, metadata: ReadonlyMap<string, string>, columns: readonly string[]])[] {
  return tree(work)
    .filter(path => path.endsWith('.arrow'))
    .map(path => {
      const { schema } = tableFromIPC(readFileSync(join(work, path)))
      const columns = schema.fields.map(({ name, type, nullable }) => `${name} ${String(type)}${nullable ? ', null' : ''}`)
      // Sound: the test below finds the name in the list.
      return [schema.metadata.get('schema') as SchemaName, schema.metadata, columns] as const
    })
}

t.test('the shape of every Arrow output, its columns and its metadata, is that of its version', t => {
  for (const [name, metadata, columns] of arrowFiles()) held(t, name, [columns, [...metadata.keys()].sort()])
  t.end()
})

t.test('every JSON and Arrow output names its schema and its version', t => {
  const found = new Map<string, string>()
  for (const path of tree(work).filter(file => file.endsWith('.json') && !file.startsWith('study/'))) {
    const { schema, schema_version: version } = unprefixed(JSON.parse(readFileSync(join(work, path), 'utf8')) as object)
    found.set(String(schema), String(version))
  }
  for (const [name, metadata] of arrowFiles()) found.set(name, String(metadata.get('schema_version')))
  for (const [name, version] of found) t.equal(version, String(SCHEMA_VERSIONS[name as SchemaName]), name)
  const names = new Set([...JSON_OUTPUTS.map(({ name }) => name), ...arrowFiles().map(([name]) => name)])
  t.strictSame([...names].sort(), Object.keys(SCHEMA_VERSIONS).sort(), 'the list has every output, and no other')
  t.end()
})

t.test('outputs of an earlier version are computed again', async t => {
  const path = join(out, 'run.json')
  const record = readFileSync(path, 'utf8')
  const outputs = hashes(out)
  const again = async (): Promise<unknown> => (JSON.parse((await all('--json')).stdout) as { unchanged: unknown }).unchanged
  t.equal(await again(), true)
  for (const [name, change] of [
    ['another version', record.replace('"schema:history-statistics": "1"', '"schema:history-statistics": "0"')],
    ['no versions of schemas', record.replace(/,\n {4}"schema:[^}]*?\n(?= {2}\})/, '\n')],
    ['another version of the record', record.replace('"schema_version": 1', '"schema_version": 0')]
  ] as const) {
    t.not(change, record, name)
    t.doesNotThrow(() => JSON.parse(change) as unknown, name)
    writeFileSync(path, change)
    t.equal(await again(), false, name)
    t.equal(readFileSync(path, 'utf8'), record, name)
    t.strictSame({ ...hashes(out), 'timings.json': '' }, { ...outputs, 'timings.json': '' }, name)
    t.equal(await again(), true, name)
  }
})

t.test('of a snapshot too', async t => {
  const [path] = tree(join(work, 'traces'))
    .filter(file => file.endsWith('/run.json'))
    .map(file => join(work, 'traces', file))
  const record = readFileSync(path, 'utf8')
  const traces = (): ReturnType<typeof runCli> => runCli(['traces', fixture('snapshot'), '--out', join(work, 'traces'), '--no-figures'])
  const change = record.replace('"schema:critic-trace-statistics": "2"', '"schema:critic-trace-statistics": "0"')
  t.not(change, record)
  writeFileSync(path, change)
  t.equal((await traces()).code, 0)
  t.equal(readFileSync(path, 'utf8'), record, 'a run that is skipped writes no record')
})
