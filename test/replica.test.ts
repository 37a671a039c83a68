/**
 * The synthetic replica: the same bytes everywhere, in the formats that the program reads, and every published value of
 * the critic traces recomputed here in plain loops from what was written. The hashes pin the generator: where they change, `REPLICA_MANIFEST_SHA256` does.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { html, parse, type DefaultTreeAdapterTypes } from 'parse5'
import t from 'tap'
import { defaultCacheDir, ensureReplica, generateReplica, REPLICA_FOLDER, REPLICA_MANIFEST_SHA256 } from '../src/replica/index.js'
import { quantize, spacing } from '../src/replica/bfloat16.js'
import { PAGE_HEAD, PAGE_TAIL } from '../src/replica/page.js'
import { pythonFloat } from '../src/replica/python-json.js'
import { Random } from '../src/replica/random.js'
import { Fault } from '../src/core/errors.js'
import { readManifest } from '../src/study/manifest.js'
import { updatedManifest } from '../src/study/manifest-update.js'
import { asFloat64 } from '../src/ingest/npz/npy.js'
import { openNpz } from '../src/ingest/npz/npz.js'
import { loadStudy } from '../src/study/study.js'
import { replicaSource, root } from './support/paths.js'

const PINNED = {
  // with the manifest, every file
  'source_manifest.json': REPLICA_MANIFEST_SHA256,
  'critic_traces/index.html': '3fc633395ca8a43aeee1f9ac6074500aa4daafa244a7b8156383f3c363b5bfa2',
  'critic_traces/step_000127_success_a5ba8a51.npz': 'e07ce4cd53221232088e761b52bea637fa3f37136a493072aadc92963507a95e',
  'critic_traces/step_000118_failure_0c24eb70.npz': '1c7cb81f5c97ddf7da544e6ba1b1a368290fd034853572ef509fb4d35d770f6a',
  'critic_traces/step_000132_success_d3e73453.npz': 'ec13e1f0fcfec36ba3230731a97e43669ad9f6c3967e02304bc660b24b9a57de'
} as const

interface Trace {
  readonly step: number
  readonly outcome: 'success' | 'failure'
  readonly score: number
  readonly uid: string
  readonly prediction_stage: string
  readonly npz: string
  readonly value_mean: number
  readonly value_rmse: number
  readonly values: readonly number[]
  readonly returns: readonly number[]
  readonly response_positions: readonly number[]
  readonly segment_texts: readonly string[]
}

interface Snapshot {
  readonly synthetic: boolean
  readonly snapshot_time: string
  readonly alignment: string
  readonly traces: readonly Trace[]
}

interface Claim {
  readonly id: string
  readonly value: number | string | readonly number[]
  readonly kind: string
  readonly decimals?: number
  readonly unit: string
  readonly from?: string | readonly string[]
  readonly elements?: readonly string[]
  readonly scale?: number
}

interface Manifest {
  readonly snapshot: string
  readonly files: ReadonlyArray<{
    readonly path: string
    readonly sha256: string
    readonly bytes: number
    readonly role: string
  }>
  readonly revisions: Readonly<Record<string, unknown>>
}

interface StudyFile {
  readonly synthetic: boolean
  readonly claims: string
  readonly critic_traces: { readonly jump_threshold: number }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function readJson<T>(...path: string[]): T {
  return JSON.parse(readFileSync(join(...path), 'utf8')) as T
}

const cacheDir = t.testdir()
const began = performance.now()
const study = await ensureReplica({ cacheDir })
t.comment(`replica made in ${Math.round(performance.now() - began)} ms`)
const page = readFileSync(join(study, 'critic_traces', 'index.html'), 'utf8')
const OPENING = '<script type="application/json" id="data">'
const opened = page.indexOf(OPENING) + OPENING.length
const snapshot = JSON.parse(page.slice(opened, page.indexOf('</script>', opened))) as Snapshot
const manifest = readJson<Manifest>(study, 'source_manifest.json')

/** 2^30 times a value, exact: every value of the replica is a multiple of 2^-30. */
function units(value: number): bigint {
  return BigInt(value * 2 ** 30)
}

interface Changes {
  transitions: number
  sum: bigint
  jumps: number
}

interface Summary {
  readonly boundary: Changes
  readonly internal: Changes
  readonly largest: { readonly index: number; readonly from: number; readonly to: number; readonly next: number }
}

function summarize({ values, response_positions: positions }: Trace): Summary {
  const boundary: Changes = { transitions: 0, sum: 0n, jumps: 0 }
  const internal: Changes = { transitions: 0, sum: 0n, jumps: 0 }
  let index = -1
  let most = 0
  let next = 0
  for (let i = 0; i + 1 < values.length; i++) {
    const kind = positions[i + 1] - positions[i] === 1 ? internal : boundary
    const change = Math.abs(values[i + 1] - values[i])
    kind.transitions++
    kind.sum += units(change)
    if (change > 0.1) kind.jumps++
    if (kind !== boundary) continue
    if (change > most) {
      next = most
      most = change
      index = i
    } else if (change > next) {
      next = change
    }
  }
  return { boundary, internal, largest: { index, from: values[index], to: values[index + 1], next } }
}

const summaries = snapshot.traces.map(summarize)

function pool(kind: 'boundary' | 'internal'): Changes {
  return summaries
    .map(s => s[kind])
    .reduce((p, q) => ({
      transitions: p.transitions + q.transitions,
      sum: p.sum + q.sum,
      jumps: p.jumps + q.jumps
    }))
}

function example(step: number, outcome: string): { trace: Trace; summary: Summary } {
  const i = snapshot.traces.findIndex(trace => trace.step === step && trace.outcome === outcome)
  return { trace: snapshot.traces[i], summary: summaries[i] }
}

function sumOf(values: readonly number[]): bigint {
  return values.reduce((sum, value) => sum + units(value), 0n)
}

/** Mean of an exact sum: one rounding in the division of two doubles that hold their integers exactly. */
function mean(sum: bigint, n: number): number {
  return Number(sum) / 2 ** 30 / n
}

t.test('the bytes are pinned', t => {
  for (const [path, expected] of Object.entries(PINNED)) t.equal(sha256(readFileSync(join(study, path))), expected, path)
  t.equal(study, join(cacheDir, REPLICA_FOLDER))
  t.ok(page.length > 33e6 && Buffer.byteLength(page) > 34e6 && Buffer.byteLength(page) < 34.6e6)
  t.end()
})

t.test('the manifest lists every file, with its hash and role', t => {
  for (const file of manifest.files) {
    const bytes = readFileSync(join(study, file.path))
    t.equal(sha256(bytes), file.sha256, file.path)
    t.equal(bytes.length, file.bytes, file.path)
  }
  const found = readdirSync(study, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile()).length
  t.equal(found, manifest.files.length + 1, 'nothing unlisted but the manifest')
  const roles: Record<string, number> = {}
  for (const { role } of manifest.files) roles[role] = (roles[role] ?? 0) + 1
  t.same(
    roles,
    {
      snapshot: 1,
      npz: 40,
      excluded: 3,
      runs: 3,
      certificate: 10,
      history: 10,
      workbook: 1,
      slides: 1,
      config: 11,
      dataset: 3,
      article: 2,
      document: 3,
      claims: 1,
      study: 1
    },
    "a companion's history is excluded too"
  )
  for (const { path, role } of manifest.files) {
    if (path.endsWith('.npz')) t.equal(role === 'excluded', path.includes('step_000132'), path)
  }
  t.equal(manifest.snapshot, '2026-09-25')
  t.end()
})

t.test('a manifest made anew gives nearly every file the role that it has here', async t => {
  const { study: loaded } = await loadStudy(study)
  const { files } = await updatedManifest(study, loaded, null, { today: '2026-09-25' })
  const roles = new Map<string, string>(manifest.files.map((f: { path: string; role: string }) => [f.path, f.role]))
  const others = files.filter(({ path, role }) => roles.get(path) !== role).map(({ path, role }) => [role, path])
  // What a configuration inherits from stands in no study file; what is not to be read is the study's own knowledge.
  t.strictSame(
    others.filter(([, path]) => !path.startsWith('configs/base/')).map(([role]) => role),
    ['npz', 'npz', 'history']
  )
  // One of those is a document too, for its comment.
  t.ok(
    others.every(
      ([role, path]) => !path.startsWith('configs/base/') || role === (path === 'configs/base/multilingual.env' ? 'document' : 'excluded')
    )
  )
  t.equal(files.length, manifest.files.length)

  // Made again, it keeps what is excluded from among others; of a manifest of before the study had its sections, nothing.
  const own = await readManifest(join(study, 'source_manifest.json'))
  const again = await updatedManifest(study, loaded, own, { today: '2026-09-25' })
  t.strictSame(
    again.files.map(({ path, role }) => [path, role]),
    [...roles].sort(([a], [b]) => (a < b ? -1 : 1))
  )
  t.strictSame(again.changes.named, [])
  const before = { ...own, files: own.files.map(f => ({ ...f, role: 'excluded' })) }
  t.strictSame((await updatedManifest(study, loaded, before, { today: '2026-09-25' })).files, files)
})

t.test('the page says that it is synthetic before anything else', t => {
  t.ok(page.startsWith('{"synthetic": true, "snapshot_time": "2', opened))
  t.equal(snapshot.synthetic, true)
  t.end()
})

t.test('the study file names the parts', t => {
  const file = readJson<StudyFile>(study, 'study.json')
  t.equal(file.synthetic, true)
  t.same(file.critic_traces, {
    snapshot: 'critic_traces',
    jump_threshold: 0.1,
    sampling: 'stratified by outcome',
    expectations: {
      outcomes_per_step: [1, 1],
      returns_equal_outcome: true,
      prediction_stage: 'before_critic_update',
      boundary_end_marker: '<|im_end|>',
      score_agrees_with_outcome: 'binary',
      distinct_uids: true
    },
    examples: { success: { step: 127, outcome: 'success' }, failure: { step: 118, outcome: 'failure' } }
  })
  t.equal(readFileSync(join(study, file.claims), 'utf8'), readFileSync(replicaSource('claims.json'), 'utf8'))
  t.end()
})

t.test('by the HTML standard the page has one script#data, and six things that look like it', t => {
  const data = '{"snapshot_time": "now", "alignment": "<\\/script>", "traces": []}'
  const document = parse(PAGE_HEAD + data + PAGE_TAIL)
  const found: string[] = []
  const visit = (node: DefaultTreeAdapterTypes.ChildNode): void => {
    if (!('tagName' in node)) return
    // what a template holds is no part of the document: parse5 keeps it apart from the children
    const named = node.attrs.some(a => a.name === 'id' && a.value === 'data')
    if (named && node.tagName === 'script' && node.namespaceURI === html.NS.HTML) {
      found.push(node.childNodes.map(child => ('value' in child ? child.value : '')).join(''))
    }
    node.childNodes.forEach(visit)
  }
  document.childNodes.forEach(visit)
  t.same(found, [data])
  t.equal(page.slice(0, opened), PAGE_HEAD)
  t.ok(page.endsWith(PAGE_TAIL))
  t.equal(PAGE_HEAD.split('<script id="data"').length - 1, 6, 'title, comment, template, attribute, textarea, other script')
  t.match(PAGE_HEAD, /<!--[\s\S]*?<script id="data"[\s\S]*?-->/)
  t.match(PAGE_HEAD, /<template><script id="data">/)
  t.match(PAGE_HEAD, /<textarea hidden><script id="data"/)
  t.end()
})

t.test('texts hold what a reader must survive', t => {
  const texts = snapshot.traces.flatMap(trace => trace.segment_texts)
  const pieces = ['</script>', '<!--', '"', '\\', '\n', '\t', '\r', '\u001b', '\b', '\f', '\u2028', '\u007f', '日', '𠮷', '👩‍💻']
  for (const piece of pieces) {
    t.ok(
      texts.some(text => text.includes(piece)),
      `U+${piece.codePointAt(0)?.toString(16)} …`
    )
  }
  const inside = page.slice(opened, page.indexOf('</script>', opened))
  t.notMatch(inside, /<[/!]/, 'no end tag and no comment inside the element')
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  t.ok(characters / 959418 > 8 && characters / 959418 < 12, `${characters} characters`)
  // a value that spells itself as Python does and JavaScript does not
  t.match(inside, /[ []-0\.0,/)
  t.match(inside, /[ []1\.0,/)
  t.match(inside, / -?\d(?:\.\d+)?e-0\d,/)
  t.end()
})

t.test('numbers are spelt as Python 3.11 spells them', t => {
  // [value, repr(value)] as Python 3.11.7 printed them
  const spelt: ReadonlyArray<readonly [number, string]> = [
    [1, '1.0'],
    [-0, '-0.0'],
    [0, '0.0'],
    [1e-5, '1e-05'],
    [0.0001, '0.0001'],
    [0.00010001659393310547, '0.00010001659393310547'],
    [9.999999747378752e-5, '9.999999747378752e-05'],
    [0.00360107421875, '0.00360107421875'],
    [-0.000331878662109375, '-0.000331878662109375'],
    [7.62939453125e-6, '7.62939453125e-06'],
    [2.5e-7, '2.5e-07'],
    [-2.9802322387695312e-8, '-2.9802322387695312e-08'],
    [1e15, '1000000000000000.0'],
    [1e16, '1e+16'],
    [123456789012345680, '1.2345678901234568e+17'],
    [1.5e300, '1.5e+300'],
    [5e-324, '5e-324'],
    [0.1, '0.1'],
    [1 / 3, '0.3333333333333333'],
    [100, '100.0'],
    [-1.2421875, '-1.2421875'],
    [4503599627370497.5, '4503599627370498.0'],
    [1e22, '1e+22'],
    [2 ** 53, '9007199254740992.0']
  ]
  for (const [value, expected] of spelt) t.equal(pythonFloat(value), expected)
  t.end()
})

t.test('every NPZ file holds its trace, as float32 on the bfloat16 grid', t => {
  const methods = { stored: 0, deflated: 0 }
  for (const trace of snapshot.traces) {
    const bytes = readFileSync(join(study, 'critic_traces', trace.npz))
    // compression method of the first local header
    methods[bytes.readUInt16LE(8) === 0 ? 'stored' : 'deflated']++
    const npz = openNpz(bytes)
    t.same(npz.names, ['values', 'returns', 'response_positions', 'step', 'score', 'uid', 'synthetic'])
    const values = npz.read('values').data
    const returns = npz.read('returns').data
    const positions = npz.read('response_positions').data
    if (!(values instanceof Float32Array && returns instanceof Float32Array && positions instanceof BigInt64Array)) {
      t.fail('dtypes are float32, float32, int64')
      continue
    }
    t.ok(
      new Uint32Array(values.slice().buffer).every(bits => (bits & 0xffff) === 0),
      'on the grid'
    )
    t.ok(values.length === trace.values.length && trace.values.every((v, i) => v === values[i]), 'values')
    t.ok(returns.length === values.length && trace.returns.every((r, i) => r === returns[i]), 'returns')
    t.equal(positions.length, values.length)
    t.ok(
      trace.response_positions.every((p, i) => BigInt(p) === positions[i]),
      'positions'
    )
    t.same(npz.read('uid').data, [trace.uid])
    t.same([...asFloat64(npz.read('step')), ...asFloat64(npz.read('score'))], [trace.step, trace.score])
    t.same(npz.read('step').shape, [])
    const label = npz.read('synthetic')
    t.strictSame([label.descr, label.shape, label.data], ['|b1', [], Uint8Array.of(1)])
  }
  t.ok(methods.stored >= 10 && methods.deflated >= 10, JSON.stringify(methods))
  for (const { path } of manifest.files.filter(file => file.role === 'excluded' && file.path.endsWith('.npz'))) {
    const npz = openNpz(readFileSync(join(study, path)))
    t.same([...asFloat64(npz.read('step'))], [132])
    t.strictSame([npz.header('synthetic').descr, npz.read('synthetic').data], ['|b1', Uint8Array.of(1)])
    t.notOk(page.includes(path.slice(path.indexOf('/') + 1)), 'the page does not name it')
  }
  t.end()
})

t.test('exact sums, in integers', t => {
  const success = example(127, 'success').trace.values
  const failure = example(118, 'failure').trace.values
  // fractions with the denominators 2^8, 2^20, 2^21 and 2^14, times 2^30
  t.equal(sumOf(success.slice(0, 1776)), 412323n << 22n)
  t.equal(sumOf(success.slice(1776)), 435220n << 22n)
  t.equal(sumOf(failure.slice(0, 11386)), 170651531n << 10n)
  t.equal(sumOf(failure.slice(11386)), -6312167n << 10n)
  t.equal(pool('boundary').sum, 214007087n << 9n)
  const off = pool('internal').sum - (282771955n << 16n)
  t.ok(off >= -256n && off <= 256n, `internal sum within 2^-22, off by ${off} * 2^-30`)
  t.end()
})

t.test('every published value comes out at its precision', t => {
  const { traces } = snapshot
  const boundary = pool('boundary')
  const internal = pool('internal')
  const count = (holds: (trace: Trace, summary: Summary) => boolean): number =>
    traces.filter((trace, i) => holds(trace, summaries[i])).length
  const steps = traces.map(trace => trace.step)
  const perStep = (outcome: string): number[] => {
    const counts = Array.from({ length: 20 }, (_, i) => count(trace => trace.step === 112 + i && trace.outcome === outcome))
    return [Math.min(...counts), Math.max(...counts)]
  }
  const outcomeOf = (trace: Trace): number => (trace.outcome === 'success' ? 1 : 0)
  const delta = ({ values }: Trace): number => values[values.length - 1] - values[0]
  const computed: Record<string, unknown> = {
    'trace.snapshot.time': snapshot.snapshot_time,
    'trace.count': traces.length,
    'trace.distinct_uids': new Set(traces.map(trace => trace.uid)).size,
    'trace.steps': [Math.min(...steps), Math.max(...steps)],
    'trace.per_step_outcomes': perStep('success'),
    'trace.tokens': traces.reduce((sum, trace) => sum + trace.values.length, 0),
    'trace.npz_exactly_equal': count(trace => {
      const npz = openNpz(readFileSync(join(study, 'critic_traces', trace.npz)))
      return (['values', 'returns', 'response_positions'] as const).every(name => {
        const stored = asFloat64(npz.read(name))
        return stored.length === trace[name].length && trace[name].every((x, i) => x === stored[i])
      })
    }),
    'trace.boundary.transitions': boundary.transitions,
    'trace.internal.transitions': internal.transitions,
    'trace.boundary.mean_abs_change': mean(boundary.sum, boundary.transitions),
    'trace.internal.mean_abs_change': mean(internal.sum, internal.transitions),
    'trace.boundary.jumps': boundary.jumps,
    'trace.internal.jumps': internal.jumps,
    'trace.boundary.jump_percent': 100 * (boundary.jumps / boundary.transitions),
    'trace.internal.jump_percent': 100 * (internal.jumps / internal.transitions),
    'trace.jump_rate_ratio': boundary.jumps / boundary.transitions / (internal.jumps / internal.transitions),
    'trace.boundary_exceeds_internal': count(
      (_, s) => mean(s.boundary.sum, s.boundary.transitions) > mean(s.internal.sum, s.internal.transitions)
    ),
    'trace.success.positive_delta': count(trace => trace.outcome === 'success' && delta(trace) > 0),
    'trace.failure.negative_delta': count(trace => trace.outcome === 'failure' && delta(trace) < 0),
    'trace.spans_ending_im_end': traces.reduce(
      (sum, trace) => sum + trace.segment_texts.slice(0, -1).filter(text => text.endsWith('<|im_end|>')).length,
      0
    ),
    'trace.successes': count(trace => trace.outcome === 'success'),
    'trace.failures': count(trace => trace.outcome === 'failure'),
    'trace.prediction_stage_before_critic_update': count(trace => trace.prediction_stage === 'before_critic_update'),
    'trace.stored_statistics_within_1e-12': count(trace => {
      const n = trace.values.length
      const squares = trace.values.reduce((sum, v, i) => sum + (v - trace.returns[i]) ** 2, 0)
      return (
        Math.abs(mean(sumOf(trace.values), n) - trace.value_mean) <= 1e-12 && Math.abs(Math.sqrt(squares / n) - trace.value_rmse) <= 1e-12
      )
    }),
    'trace.returns_equal_outcome': count(trace => [trace.score, ...trace.returns].every(r => r === outcomeOf(trace))),
    'trace.threshold': readJson<StudyFile>(study, 'study.json').critic_traces.jump_threshold
  }
  for (const [step, outcome] of [
    [127, 'success'],
    [118, 'failure']
  ] as const) {
    const {
      trace,
      summary: { largest }
    } = example(step, outcome)
    const { values } = trace
    const half = Math.floor(values.length / 2)
    Object.assign(
      computed,
      Object.fromEntries(
        Object.entries({
          step: trace.step,
          tokens: values.length,
          mean: mean(sumOf(values), values.length),
          first: values[0],
          last: values[values.length - 1],
          delta: delta(trace),
          first_half_mean: mean(sumOf(values.slice(0, half)), half),
          second_half_mean: mean(sumOf(values.slice(half)), values.length - half),
          'max_boundary_jump.index': largest.index,
          'max_boundary_jump.from': largest.from,
          'max_boundary_jump.to': largest.to,
          'max_boundary_jump.delta': largest.to - largest.from
        }).map(([name, value]) => [`trace.example.${outcome}.${name}`, value])
      )
    )
    t.ok(Math.abs(largest.to - largest.from) - largest.next > 0.01, `${outcome} example: the largest boundary change stands out`)
  }
  t.same(perStep('failure'), [1, 1])

  const { claims } = readJson<{ claims: readonly Claim[] }>(replicaSource('claims.json'))
  const due = claims.filter(claim => claim.id.startsWith('trace.') && claim.kind !== 'source')
  t.same(due.map(claim => claim.id).sort(), Object.keys(computed).sort())
  for (const { id, value, decimals } of due) {
    const found = computed[id]
    if (typeof value === 'number' && typeof found === 'number' && decimals !== undefined) {
      const ulp = Math.max(2 ** (Math.floor(Math.log2(Math.abs(value) || 1)) - 52), Number.MIN_VALUE)
      t.ok(Math.abs(found - value) <= 0.5 * 10 ** -decimals + ulp, `${id}: ${found}, published ${value}`)
    } else {
      t.same(found, value, id)
    }
  }
  t.end()
})

t.test('claims say where their values stand', t => {
  const { claims } = readJson<{ claims: readonly Claim[] }>(replicaSource('claims.json'))
  t.equal(new Set(claims.map(claim => claim.id)).size, claims.length)
  for (const { id, kind, unit, from, elements, scale } of claims) {
    const places = [from ?? elements ?? []].flat()
    t.equal(places.length === 0, kind === 'source', id)
    t.equal(from !== undefined && elements !== undefined, false, id)
    for (const place of places)
      t.match(
        place,
        /^(?:(?:training_data|wandb)\/[a-z0-9_-]+|data|derived_metrics|figure_constants|time_display)\.json#(?:\/[A-Za-z0-9_.-]+)+$/,
        id
      )
    // statistics hold fractions, but for the one that is a percentage itself; written evidence and what is drawn are percentages
    const isFraction =
      /^(?:percent|points)$/.test(unit) &&
      !id.endsWith('_reduction') &&
      !/^(?:data|derived_metrics|figure_constants)\./.test(places[0]) &&
      !places[0].endsWith('/plotted_value')
    t.equal(scale, isFraction ? 100 : undefined, id)
  }
  t.end()
})

t.test('it looks like critic traces', t => {
  const means = snapshot.traces.map(trace => ({ trace, mean: mean(sumOf(trace.values), trace.values.length) }))
  const of = (outcome: string): number[] =>
    means
      .filter(m => m.trace.outcome === outcome)
      .map(m => m.mean)
      .sort((p, q) => p - q)
  const [success, failure] = [of('success'), of('failure')]
  t.ok(success[10] > 0.75 && failure[10] < 0.4, 'outcomes differ')
  t.ok(success[0] < failure[19], 'and overlap')
  for (const { step, outcome, values, response_positions: positions } of snapshot.traces) {
    const boundaries = positions.filter((p, i) => i > 0 && p !== positions[i - 1] + 1).length
    t.ok(values.length >= 3552 && values.length <= 60000 && boundaries >= 20 && boundaries <= 150, `${step} ${outcome}`)
    t.ok(
      positions.every((p, i) => i === 0 || p > positions[i - 1]),
      `${step} ${outcome}: positions increase`
    )
  }
  t.equal(summaries.filter(s => s.boundary.jumps > 0).length > 20, true, 'boundary jumps are spread')
  t.equal(summaries.filter(s => s.internal.jumps > 0).length > 35, true, 'internal jumps are spread')
  // the tuning moved tokens across the threshold: no hole and no heap may be seen there
  const near = (low: number, high: number): number =>
    snapshot.traces.reduce((sum, { values }) => {
      const changes = values.slice(1).map((v, i) => Math.abs(v - values[i]))
      return sum + changes.filter(change => change > low && change <= high).length
    }, 0)
  const [below, at, above] = [near(0.084, 0.092), near(0.096, 0.104), near(0.108, 0.116)]
  t.ok(below > at && at > above && above > 100, `${below}, ${at}, ${above} changes around the threshold`)
  t.end()
})

t.test('grid arithmetic agrees with float32 bits', t => {
  const random = new Random('grid')
  const one = new Float32Array(1)
  const bits = new Uint32Array(one.buffer)
  for (let i = 0; i < 200000; i++) {
    const x = random.between(-4, 4) * 2 ** -random.below(24)
    const value = quantize(x, 2 ** -30)
    one[0] = value
    if (one[0] !== value || (bits[0] & 0xffff) !== 0) t.fail(`${x} became ${value}`)
    const step = spacing(value, 2 ** -30)
    if (Math.abs(x - value) > step / 2) t.fail(`${x} became ${value}, which is not the nearest`)
    bits[0] += 0x10000
    if (Math.abs(value) < 2 ** -23) continue
    if (Math.abs(one[0] - value) !== step) t.fail(`${value} has its next neighbour at ${one[0]}, not ${step} away`)
  }
  t.equal(quantize(3 * 2 ** -25 + 2 ** -27, 2 ** -24), 2 ** -23, "small values go to the floor's multiples")
  t.ok(Object.is(quantize(-(2 ** -40), 2 ** -30), -0))
  t.end()
})

t.test('the stream is sfc32', t => {
  // the first three as an implementation in Python gave them
  const random = new Random('critic-traces')
  const drawn = Array.from({ length: 1000 }, () => random.next())
  t.same(drawn.slice(0, 3), [556491163, 2459065461, 2229761942])
  t.ok(drawn.every(n => Number.isInteger(n) && n >= 0 && n < 2 ** 32))
  t.same(new Random('critic-traces').fork('a').next(), new Random('critic-traces/a').next())
  t.not(new Random('a').next(), new Random('b').next())
  t.end()
})

t.test('the cache folder', t => {
  t.equal(defaultCacheDir({ CRITIC_TRACES_CACHE: '/c', XDG_CACHE_HOME: '/x' }), '/c')
  t.equal(defaultCacheDir({ CRITIC_TRACES_CACHE: '', XDG_CACHE_HOME: '/x' }), join('/x', 'critic-traces'))
  t.match(defaultCacheDir({}), /\.cache.critic-traces$/)
  t.end()
})

const DIST = join(root, 'dist')
const INDEX = join(DIST, 'src/replica/index.js')

function ensureInChild(index: string, cache: string): ChildProcess {
  const code = `import { ensureReplica } from ${JSON.stringify(pathToFileURL(index).href)}
    process.stdout.write(await ensureReplica({ cacheDir: ${JSON.stringify(cache)} }))`
  return spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
}

async function outputOf(child: ChildProcess): Promise<string> {
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return `${code}: ${output}`
}

t.test('a complete folder is returned at once, and nothing heavy is imported', async t => {
  const lines: string[] = []
  t.equal(await ensureReplica({ cacheDir, log: line => lines.push(line) }), study)
  t.same(lines, [], 'nothing to do')
  // the entry module, the errors, what they withhold and what asks the system alone: a generator that is not there cannot be imported
  const alone = t.testdir()
  for (const file of [
    'replica/index',
    'core/errors',
    'core/still',
    'core/still-file',
    'core/secrets',
    'core/secrets/names',
    'core/secrets/random',
    'core/secrets/shapes',
    ...['alive', 'error', 'folder', 'open', 'work-folder'].map(name => `core/system/${name}`)
  ].map(path => `src/${path}.js`)) {
    mkdirSync(dirname(join(alone, file)), { recursive: true })
    copyFileSync(join(DIST, file), join(alone, file))
  }
  writeFileSync(join(alone, 'package.json'), '{"type": "module"}')
  t.equal(await outputOf(ensureInChild(join(alone, 'src/replica/index.js'), cacheDir)), `0: ${study}`)
})

t.test('two processes at once, a killed one before them, and what others left', async t => {
  const cache = t.testdir()
  const killed = ensureInChild(INDEX, cache)
  // let it get into the middle of the page
  const prefix = `.${REPLICA_FOLDER}@`
  const work = (): string[] => readdirSync(cache).filter(name => name.startsWith(prefix))
  const pageIn = (name: string): boolean =>
    readdirSync(join(cache, name), { recursive: true }).some(path => String(path).endsWith('index.html'))
  while (!work().some(pageIn)) await delay(5)
  killed.kill('SIGKILL')
  await once(killed, 'close')
  const [left] = work()
  t.same(readdirSync(cache), [left], 'nothing that looks finished')

  const host = hostname().replaceAll(/[^\w.-]/g, '_')
  const fresh = `${prefix}elsewhere@1@aaaaaa`
  const old = `${prefix}elsewhere@1@bbbbbb`
  const living = `${prefix}${host}@${process.pid}@cccccc`
  for (const name of [fresh, old, living]) mkdirSync(join(cache, name))
  utimesSync(join(cache, old), 0, 0)
  const place = join(cache, REPLICA_FOLDER)
  const results = await Promise.all([ensureInChild(INDEX, cache), ensureInChild(INDEX, cache)].map(outputOf))
  t.same(results, [`0: ${place}`, `0: ${place}`])
  t.same(readdirSync(cache).sort(), [fresh, living, REPLICA_FOLDER].sort(), 'the dead and the old are gone')
  t.strictSame(readJson(place, 'source_manifest.json'), manifest, 'the same bytes from every process')
})

t.test('a damaged folder is made again', async t => {
  const cache = t.testdir()
  const place = join(cache, REPLICA_FOLDER)
  const own = readFileSync(join(study, 'source_manifest.json'), 'utf8')
  const damaged = { 'a short file': own, 'a manifest of another generator': '{"files": [{"path": "study.json", "bytes": 4}]}' }
  for (const [damage, text] of Object.entries(damaged)) {
    mkdirSync(place)
    writeFileSync(join(place, 'study.json'), 'four')
    writeFileSync(join(place, 'source_manifest.json'), text)
    t.equal(await ensureReplica({ cacheDir: cache }), place, damage)
    t.strictSame(readJson(place, 'source_manifest.json'), manifest, damage)
    t.same(readdirSync(cache), [REPLICA_FOLDER], damage)
    rmSync(place, { recursive: true })
  }
})

t.test("what no replica has is in nobody's way but stays", async t => {
  const cache = t.testdir()
  const place = join(cache, REPLICA_FOLDER)
  const theirs: readonly (readonly [string, () => void])[] = [
    [
      'doc.txt',
      () => {
        mkdirSync(place)
        writeFileSync(join(place, 'study.json'), 'four')
        writeFileSync(join(place, 'doc.txt'), 'precious')
      }
    ],
    [
      join('wandb', 'mine', 'run.jsonl'),
      () => {
        mkdirSync(join(place, 'wandb', 'mine'), { recursive: true })
        writeFileSync(join(place, 'wandb/mine/run.jsonl'), '1')
      }
    ],
    [
      join('study.json', 'x'),
      () => {
        mkdirSync(join(place, 'study.json'), { recursive: true })
        writeFileSync(join(place, 'study.json', 'x'), '1')
      }
    ],
    [
      '',
      () => {
        writeFileSync(place, 'a file')
      }
    ]
  ]
  for (const [path, write] of theirs) {
    write()
    const before = readFileSync(join(place, path), 'utf8')
    const fault = await ensureReplica({ cacheDir: cache }).then(
      () => null,
      (error: unknown) => error
    )
    if (!(fault instanceof Fault)) return t.fail(`not a fault: ${String(fault)}`)
    t.match(
      fault.message,
      /^replica folder in the way: .*replica-[0-9a-f]{12}.*, which no replica has, expected a replica or nothing: move it away, or name another/
    )
    t.equal(fault.exitCode, 3)
    t.equal(fault.place.file, place)
    t.equal(readFileSync(join(place, path), 'utf8'), before)
    t.same(readdirSync(cache), [REPLICA_FOLDER], 'and nothing is left beside it')
    rmSync(place, { recursive: true })
  }
})

t.test('an interrupted or failed run leaves nothing', async t => {
  const cache = t.testdir({ file: '' })
  const stop = new AbortController()
  const reason = new Error('stop')
  const log = (line: string): void => {
    if (line.includes('making')) setImmediate(() => stop.abort(reason))
  }
  await t.rejects(ensureReplica({ cacheDir: cache, signal: stop.signal, log }), reason)
  t.same(readdirSync(cache), ['file'])
  const below = join(cache, 'file', 'below')
  const fault = await ensureReplica({ cacheDir: below }).then(
    () => null,
    (error: unknown) => error
  )
  if (!(fault instanceof Fault)) return t.fail(`not a fault: ${String(fault)}`)
  t.match(fault.message, /^replica not written: ENOTDIR.*, expected a writable cache folder \(CRITIC_TRACES_CACHE names /)
  t.equal(fault.exitCode, 3)
  mkdirSync(join(cache, 'made', 'critic_traces'), { recursive: true })
  writeFileSync(join(cache, 'made', 'critic_traces', 'index.html'), 'mine')
  await t.rejects(generateReplica(join(cache, 'made')), /^replica not written: EEXIST/, 'no file is overwritten')
  t.equal(readFileSync(join(cache, 'made', 'critic_traces', 'index.html'), 'utf8'), 'mine')
  rmSync(join(cache, 'made'), { recursive: true })
})
