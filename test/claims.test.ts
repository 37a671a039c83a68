/**
 * The claims files in fixtures/claims/; every computed claim of the replica's claims file, out of the pipeline's own outputs, at its
 * published precision.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'cheerio'
import t from 'tap'
import { defaultCacheDir, ensureReplica } from '../src/replica/index.js'
import type { AuditedClaim } from '../src/compute/audit/contract.js'
import { claimsJsonSchema, readClaims } from '../src/study/claims.js'
import { casesOf } from './support/cases.js'
import { runCli } from './support/cli.js'
import { schemaProblems } from './support/json-schema.js'
import { faultsOf } from './support/run.js'

t.test(
  'every claims file in fixtures/claims/valid.jsonl reads as expected; every one in invalid.jsonl is refused with its message',
  async t => {
    const schema = claimsJsonSchema()
    const path = join(t.testdir(), 'claims.json')
    for (const { name, bytes, expected } of casesOf<{ readonly expected: unknown }>('claims/valid')) {
      writeFileSync(path, bytes)
      const { claims, same, discrepancies, guards } = await readClaims(path)
      t.strictSame({ claims, same, discrepancies, guards }, expected, name)
      t.same(schemaProblems(schema, JSON.parse(Buffer.from(bytes).toString())), [], `${name} follows the schema`)
    }
    const invalid = casesOf<{ readonly message: string }>('claims/invalid')
    t.ok(invalid.length >= 55)
    for (const { name, bytes, message } of invalid) {
      writeFileSync(path, bytes)
      const faults = await faultsOf(readClaims(path))
      t.ok(
        faults.every(fault => fault.exitCode === 3),
        name
      )
      t.equal(faults.map(fault => fault.message.replace(path, 'FILE')).join('\n'), message, name)
    }
  }
)

interface Claim {
  readonly id: string
  readonly kind: string
  readonly value: unknown
  readonly decimals?: number
  readonly scale?: number
  /** file in the output folder and JSON pointer into it; several where the claim holds of each */
  readonly from?: string | readonly string[]
  /** where each element of a list stands */
  readonly elements?: readonly string[]
}

/** Published and computed agree: to half a unit of the last published decimal, a decimal tie either way; else exactly. */
function agrees(published: unknown, computed: unknown, decimals: number | undefined): boolean {
  if (Array.isArray(published)) {
    return Array.isArray(computed) && published.length === computed.length && published.every((p, i) => agrees(p, computed[i], decimals))
  }
  if (typeof published !== 'number' || typeof computed !== 'number' || decimals === undefined) return published === computed
  const ulp = 2 ** (Math.floor(Math.log2(Math.max(Math.abs(computed), Number.MIN_VALUE))) - 52)
  return Math.abs(computed - published) <= 0.5 * 10 ** -decimals + ulp
}

function at(document: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (value, key) => (value as Record<string, unknown> | undefined)?.[key.replaceAll('~1', '/').replaceAll('~0', '~')],
      document
    )
}

t.test('all on the replica: every computed claim', async t => {
  const out = mkdtempSync(join(tmpdir(), 'critic-traces-claims-'))
  t.teardown(() => rmSync(out, { recursive: true, force: true }))
  const study = await ensureReplica({ cacheDir: defaultCacheDir(process.env) })
  const run = await runCli(['all', '--out', out, '--formats', 'png'])
  t.match(run, { code: 0 }, run.stderr)
  t.match(run.stdout, /SYNTHETIC/)
  const { claims } = JSON.parse(readFileSync(join(study, 'claims.json'), 'utf8')) as { claims: readonly Claim[] }
  const documents = new Map<string, unknown>()
  const lookUp = (place: string): unknown => {
    const [file, pointer] = place.split('#')
    if (!documents.has(file)) documents.set(file, JSON.parse(readFileSync(join(out, file), 'utf8')))
    return at(documents.get(file), pointer)
  }
  let compared = 0
  for (const { id, kind, value, decimals, scale = 1, from, elements } of claims) {
    if (from === undefined && elements === undefined) {
      t.equal(kind, 'source', `${id} is a property of the source alone`)
      continue
    }
    const places: unknown[] = [from ?? []].flat().map(lookUp)
    if (elements !== undefined) places.push(elements.map(lookUp))
    for (const found of places) {
      const computed = typeof found === 'number' && scale !== 1 ? found * scale : found
      t.ok(agrees(value, computed, decimals), `${id}: published ${JSON.stringify(value)}, computed ${JSON.stringify(computed)}`)
    }
    compared++
  }
  t.equal(compared, claims.length - 1)
  t.equal(claims.length, 337)
  const hashes = new Map<string, string>()
  const sha256 = (path: string): string => {
    const known =
      hashes.get(path) ??
      createHash('sha256')
        .update(readFileSync(join(study, path)))
        .digest('hex')
    hashes.set(path, known)
    return known
  }
  const audit = JSON.parse(readFileSync(join(out, 'audit.json'), 'utf8')) as { claims: readonly AuditedClaim[] }
  for (const { id, provenance } of audit.claims.filter(claim => claim.provenance.length > 0)) {
    t.ok(
      provenance.every(({ inputs }) => inputs.length > 0),
      `${id} names the files that it follows from`
    )
    for (const { path, sha256: stated } of provenance.flatMap(({ inputs }) => inputs)) if (stated !== sha256(path)) t.fail(`${id}: ${path}`)
  }
  const record = JSON.parse(readFileSync(join(out, 'run.json'), 'utf8')) as { readonly inputs: ReadonlyArray<{ readonly sha256: string }> }
  const read = new Set(record.inputs.map(({ sha256: whole }) => whole.slice(0, 8)))
  for (const page of ['article', 'source-notes']) {
    const $ = load(readFileSync(join(out, `preview/${page}.html`), 'utf8'))
    const hashes = (panel: string): string[] =>
      $(`[id="${panel}"] dt`)
        .filter((_, dt) => $(dt).text() === 'from')
        .next('dd')
        .find('code.h')
        .toArray()
        .map(code => $(code).text())
    const bare = $('data.v')
      .toArray()
      .filter(value => {
        const found = hashes($(value).find('button').attr('popovertarget') ?? '')
        return found.length === 0 || found.some(hash => !read.has(hash))
      })
    // The size of the original page is a property of a file that is not here.
    t.same(
      [...new Set(bare.map(value => $(value).text()))],
      page === 'article' ? [] : ['34,293,250'],
      `${page}: every number names an input with its hash`
    )
  }
  const inputsOf = (id: string): unknown => audit.claims.find(claim => claim.id === id)?.provenance[0].inputs.map(({ path }) => path)
  t.same(inputsOf('dataset.mixed.swegen_rows'), ['data/mixed-train.parquet'])
  t.same(inputsOf('recipe.shared_start'), ['study.json', 'sources/evaluation.xlsx'])
  t.same(inputsOf('paper.sao_minus_grpo'), ['study.json'])
  // A trace claim follows from the page and the 40 NPZ files that it names, a jump from the study's threshold too.
  const { files } = JSON.parse(readFileSync(join(study, 'source_manifest.json'), 'utf8')) as {
    files: ReadonlyArray<{ path: string; role: string }>
  }
  const snapshot = files
    .filter(({ role }) => role === 'snapshot' || role === 'npz')
    .map(({ path }) => path)
    .sort()
  t.equal(snapshot.length, 41)
  const traceClaims = audit.claims.filter(({ id, provenance }) => id.startsWith('trace.') && provenance.length > 0)
  t.ok(traceClaims.length > 45)
  for (const { id } of traceClaims) {
    const named = [...(inputsOf(id) as string[])].sort()
    const study = id.includes('jump') || id.includes('.example.') || id === 'trace.spans_ending_im_end' ? ['study.json'] : []
    t.same(named, id === 'trace.threshold' ? ['study.json'] : [...snapshot, ...study].sort(), id)
  }
  t.match(JSON.parse(readFileSync(join(out, 'training_data/recipe-validation-start.json'), 'utf8')), {
    file: 'study.json',
    sha256: sha256('study.json')
  })
  const { inputs } = JSON.parse(readFileSync(join(out, 'run.json'), 'utf8')) as { inputs: ReadonlyArray<{ path: string; sha256: string }> }
  t.match(
    inputs.find(({ path }) => path === 'study.json'),
    { sha256: sha256('study.json') }
  )
  t.notOk(agrees(0.0295787047, 0.02957870481, 10), 'the comparison can fail')
})
