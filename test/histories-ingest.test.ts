/**
 * Training histories, read: lists of runs and JSON Lines. The tables are in `fixtures/histories`; their expected columns and
 * seconds are those of Python 3.11.7 (json with parse_constant; datetime and fractions), their messages were written down
 * and looked at. Numbers and grammar are compared with JSON.parse.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { Fault } from '../src/core/errors.js'
import { findHistory, readHistory, type ReadHistoryOptions } from '../src/ingest/histories/history.js'
import { compareInstants, instantOf, parseInstant, parseIsoSeconds, type Instant } from '../src/ingest/histories/iso-time.js'
import { MAX_KEY_BYTES, MAX_KEYS } from '../src/ingest/histories/key-index.js'
import { HistoryParser, MAX_ROW_BYTES, parseHistory, type ParseOptions } from '../src/ingest/histories/parse.js'
import { earliestFirst } from '../src/ingest/histories/row-order.js'
import { MAX_NUMBERS, MAX_ROWS, type HistoryKeys, type HistoryRows } from '../src/ingest/histories/rows.js'
import { isSafeName, MAX_RUNS_BYTES, readRuns } from '../src/ingest/histories/runs.js'
import type { ListedRun, RunHistory } from '../src/ingest/histories/types.js'
import { MAX_DEPTH } from '../src/ingest/json/faults.js'
import { casesOf } from './support/cases.js'
import { cut, cutAsync, seeded } from './support/chunks.js'
import { root } from './support/paths.js'
import { Random } from './support/random.js'
import { rounds, seedOf } from './support/rounds.js'

const CASES = process.env['CRITIC_TRACES_CASES'] ?? join(root, '../shared/cases')
const POSIX_ONLY = { skip: process.platform === 'win32' ? 'needs named pipes and symbolic links' : false }
const KEYS: HistoryKeys = { step: '_step', timestamp: '_timestamp', global_step: 'training/global_step' }
const REWARD = 'critic/score/mean'
const DEFAULTS: ParseOptions = { keys: KEYS, wanted: [REWARD] }

/** A history as plain data that compares bit by bit: NaN is null, -0 is "-0". */
function plain(rows: HistoryRows): unknown {
  const numbers = (values: ArrayLike<number>): unknown[] =>
    Array.from(values, value => (Number.isNaN(value) ? null : Object.is(value, -0) ? '-0' : value))
  return {
    rows: rows.rows,
    step: numbers(rows.step),
    timestamp: numbers(rows.timestamp),
    globalStep: numbers(rows.globalStep),
    unusableGlobalSteps: numbers(rows.unusableGlobalSteps),
    columns: rows.columns.map(column => ({
      ...column,
      row: numbers(column.row),
      value: numbers(column.value),
      nonFiniteRow: numbers(column.nonFiniteRow)
    })),
    inexact: rows.inexact,
    nested: rows.nested
  }
}

function read(bytes: Uint8Array | string, options: ParseOptions = DEFAULTS, size: number | (() => number) = Infinity): HistoryRows {
  const parser = new HistoryParser(options)
  for (const chunk of cut(Buffer.from(bytes), size)) parser.push(chunk)
  return parser.finish()
}

/** What reading throws; null when it throws nothing. */
function faultOf(task: () => unknown): Fault | null {
  try {
    task()
    return null
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

async function faultFrom(promise: Promise<unknown>): Promise<Fault> {
  const error: unknown = await promise.then(
    () => null,
    (e: unknown) => e
  )
  if (!(error instanceof Fault)) throw new Error(`expected a Fault, got ${String(error)}`)
  return error
}

// ---------------------------------------------------------------------------------------------------------- the tables

interface Expected extends ParseOptions {
  readonly wanted: readonly string[]
}

/** -0 as "-0", as `plain` writes it. */
function negativeZeros(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_key, inner: unknown) => (Object.is(inner, -0) ? '-0' : inner)))
}

t.test('fixtures/histories/valid.jsonl: the columns that Python gives, in chunks of every size', t => {
  const cases = casesOf<{ readonly expected: Expected & Record<string, unknown> }>('histories/valid')
  t.ok(cases.length >= 20, 'the table is there')
  for (const { name, bytes, expected: stated } of cases) {
    const { keys, wanted, ...expected } = negativeZeros(stated) as typeof stated
    const columns = (expected['columns'] as object[]).map(column => ({ nonFiniteRow: [], ...column }))
    t.strictSame(plain(read(bytes, { keys, wanted })), { unusableGlobalSteps: [], inexact: [], nested: null, ...expected, columns }, name)
    const whole = JSON.stringify(plain(read(bytes, { keys, wanted })))
    const wrong: number[] = []
    for (let size = 1; size <= bytes.length; size++) {
      if (JSON.stringify(plain(read(bytes, { keys, wanted }, size))) !== whole) wrong.push(size)
    }
    t.strictSame(wrong, [], `${name}, in chunks`)
  }
  t.end()
})

t.test('fixtures/histories/invalid.jsonl: one fault each, the written message, in chunks of any size', t => {
  const cases = casesOf<{ readonly message: string }>('histories/invalid')
  t.ok(cases.length >= 70, 'the table is there')
  for (const { name, bytes, message } of cases) {
    const fault = faultOf(() => read(bytes))
    t.equal(fault?.message, message, name)
    t.equal(fault?.exitCode, 3, name)
    // the stated line is the one in which the stated byte lies
    const before = bytes.subarray(0, fault?.place.offset)
    const line = Buffer.from(before).toString('latin1').split('\n').length
    t.match(message, new RegExp(`line ${line}\\b`), `${name}: line`)
    const wrong: string[] = []
    for (let size = 1; size <= 40; size++) {
      const again = faultOf(() => read(bytes, DEFAULTS, size))?.message
      if (again !== message) wrong.push(`chunks of ${size}: ${again ?? 'accepted'}`)
    }
    t.strictSame(wrong.slice(0, 3), [], name)
  }
  t.end()
})

t.test('fixtures/histories/runs/valid.jsonl: the runs that Python gives', async t => {
  const path = join(t.testdir(), 'runs.json')
  const cases = casesOf<{ readonly expected: unknown }>('histories/runs/valid')
  t.ok(cases.length >= 6, 'the table is there')
  for (const { name, bytes, expected } of cases) {
    writeFileSync(path, bytes)
    t.strictSame(await readRuns(path), expected, name)
  }
})

t.test('fixtures/histories/runs/invalid.jsonl: one fault each, the written message', async t => {
  const path = join(t.testdir(), 'runs.json')
  const cases = casesOf<{ readonly message: string }>('histories/runs/invalid')
  t.ok(cases.length >= 50, 'the table is there')
  for (const { name, bytes, message } of cases) {
    writeFileSync(path, bytes)
    const fault = await faultFrom(readRuns(path))
    t.equal(fault.message.replace(path, 'runs.json'), message, name)
    t.equal(fault.exitCode, 3, name)
  }
})

// ---------------------------------------------------------------------------------------------------------- runs.json

t.test('createdAt: whole seconds and fraction are one decimal number', t => {
  const random = new Random(seedOf(31))
  const wrong: string[] = []
  for (let k = 0; k < rounds(5000); k++) {
    const seconds = random.below(4_000_000_000)
    const fraction = Array.from({ length: 1 + random.below(24) }, () => random.below(10)).join('')
    const text = `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${fraction}${random.pick(['', 'Z', '+00:00'])}`
    if (parseIsoSeconds(text) !== Number(`${seconds}.${fraction}`)) wrong.push(text)
  }
  t.strictSame(wrong, [])
  // half a unit in the last place of 2026's seconds, and a little more: Python's fractions give these
  t.equal(parseIsoSeconds('2026-09-30T07:05:03.00000011920928955078125Z'), 1790751903)
  t.equal(parseIsoSeconds('2026-09-30T07:05:03.000000119209289550781250001Z'), 1790751903.0000002)
  t.equal(parseIsoSeconds(`2026-09-30T07:05:03.${'0'.repeat(1000)}`), 1790751903)
  t.equal(parseIsoSeconds(`2026-09-30T07:05:03.${'0'.repeat(1001)}`), null)
  t.end()
})

t.test('a list of runs is capped and must be a file', async t => {
  const run = { id: 'x', displayName: 'x', createdAt: '2026-01-02T03:04:05', label: 'l' }
  const dir = t.testdir({
    'many.json': JSON.stringify(Array.from({ length: 10_001 }, (_, i) => ({ ...run, id: `r${i}` }))),
    'large.json': `[${' '.repeat(17 * 1024 * 1024)}]`,
    'latin1.json': Buffer.from('[{"id": "\xe9"}]', 'latin1')
  })
  const message = async (name: string): Promise<string> => (await faultFrom(readRuns(join(dir, name)))).message
  t.equal(await message('many.json'), `runs too many runs: 10001, expected at most 10000 (${join(dir, 'many.json')})`)
  t.match(await message('large.json'), 'runs file too large')
  t.match(await message('latin1.json'), 'runs wrong encoding')
  t.match(await message('nowhere.json'), 'runs missing file: nothing, expected a readable JSON file')
  t.match(await message('.'), 'runs unreadable file: a folder')
})

t.test('a name is safe where it cannot be a path on any system', t => {
  for (const name of ['a', 'sao_r7', 'x.y', '-', '.hidden', '名', 'a'.repeat(200)]) t.ok(isSafeName(name), name)
  for (const name of ['', '.', '..', 'a/b', 'a\\b', 'a:b', 'a\0', '\x7f', 'a..b', 'a.', 'a ', ' a', '名'.repeat(67), '\udc00']) {
    t.notOk(isSafeName(name), JSON.stringify(name))
  }
  t.end()
})

// ---------------------------------------------------------------------------------------------------------- JSON Lines

t.test('numbers are the doubles of JSON.parse', t => {
  const random = new Random(20)
  const spellings: ((value: number) => string)[] = [
    String,
    v => JSON.stringify(Math.fround(v)),
    v => v.toExponential(),
    v => v.toExponential(17).replace('e', 'E'),
    v => v.toPrecision(1 + random.below(25)),
    v => String(Math.trunc(v % 1e15)),
    v => (v % 1e9).toFixed(random.below(20))
  ]
  const written: string[] = []
  while (written.length < 40_000) {
    const value = random.chance(0.5) ? random.anyDouble() : random.normal() * 10 ** (random.below(12) - 6)
    const text = random.pick(spellings)(value)
    if (Number.isFinite(Number(text))) written.push(text)
  }
  const lines = written.map((text, i) => `{"_step": ${i}, "_timestamp": ${text}, "${REWARD}": ${text}, "skipped": ${text}}\n`)
  const {
    step,
    timestamp,
    columns: [{ value, row }]
  } = read(lines.join(''), DEFAULTS, 65_537)
  const differing = written.filter((text, i) => {
    const expected: unknown = JSON.parse(text)
    return !Object.is(value[i], expected) || !Object.is(timestamp[i], expected) || step[i] !== i || row[i] !== i
  })
  t.strictSame(differing, [])
  t.equal(value.length, written.length)
  t.end()
})

const isFiniteNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)

t.test('docs/study.md states the limits', t => {
  const doc = readFileSync(join(root, 'docs/study.md'), 'utf8')
  const stated = (count: number): string => count.toLocaleString('en-US')
  for (const text of [
    `${stated(MAX_ROWS)} (2^${Math.log2(MAX_ROWS)}) rows a history`,
    `${stated(MAX_NUMBERS)} (2^${Math.log2(MAX_NUMBERS)}) numbers of all wanted keys`,
    `${stated(MAX_KEYS)} keys a row`,
    `${MAX_ROW_BYTES / 2 ** 20} MiB a line`,
    `${MAX_KEY_BYTES / 2 ** 10} KiB a key`,
    `${stated(MAX_DEPTH)} open brackets`,
    `a list of at most ${MAX_RUNS_BYTES / 2 ** 20} MiB`
  ])
    t.ok(doc.replaceAll(/\s+/g, ' ').includes(text), text)
  t.end()
})

/** Rows of random keys, values and layout, and the columns that they make by JSON.parse and a few loops. */
function randomHistory(random: Random): { readonly text: string; readonly expected: unknown; readonly options: ParseOptions } {
  const pool = ['a', 'b', 'a/b', 'a/b/c', '', 'critic/score/mean', 'critic/score/means', '路径', '"', 'x\\', 'x\u0001y']
  const wanted = random.shuffle(pool).slice(0, random.below(5))
  const space = (): string => (random.chance(0.8) ? '' : random.pick([' ', '\t', '\r', '  \t']))
  const spelled = (key: string): string =>
    random.chance(0.9) ? JSON.stringify(key) : `"${Array.from(key, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
  const value = (): string =>
    random.pick([
      () => String(random.normal()),
      () => String(random.below(1000)),
      () => 'null',
      () => 'true',
      () => '"text \\" \\\\"',
      () => '"NaN"',
      () => '[1, {"a": [2, null]}, "]"]',
      () => '{"b": {"a/b": 1}}',
      () => '{}',
      () => '1e999',
      () => '-1.5E-7',
      () => '"12"'
    ])()
  const lines: string[] = []
  const rows: Record<string, unknown>[] = []
  const shownKeys: string[][] = []
  const count = random.below(30)
  for (let r = 0; r < count; r++) {
    const members: [string, string][] = [['_step', String(random.below(50))]]
    if (random.chance(0.8)) members.push(['_timestamp', String(1.7e9 + random.unit() * 1e6)])
    if (random.chance(0.8)) {
      members.push(['training/global_step', random.chance(0.8) ? String(random.below(50)) : random.pick(['null', '"NaN"', '1e999'])])
    }
    for (const key of pool) if (random.chance(0.4)) members.push([key, value()])
    const shown = random.chance(0.5) ? members : random.shuffle(members)
    const line = `{${shown.map(([k, v]) => `${space()}${spelled(k)}${space()}:${space()}${v}${space()}`).join(',')}}`
    rows.push(JSON.parse(line) as Record<string, unknown>)
    shownKeys.push(shown.map(([k]) => k))
    lines.push(`${space()}${line}${space()}`)
  }
  const columns = wanted.map(key => {
    const column = {
      key,
      row: [] as number[],
      value: [] as number[],
      nonFiniteRow: [] as number[],
      nonFinite: {} as Record<string, number>,
      nulls: 0,
      notNumbers: 0
    }
    rows.forEach((row, r) => {
      const count = (name: string): void => {
        column.nonFiniteRow.push(r)
        column.nonFinite[name] = (column.nonFinite[name] ?? 0) + 1
      }
      const v = row[key]
      if (v === undefined) return
      if (v === null) column.nulls++
      else if (v === 'NaN') count('NaN')
      else if (typeof v !== 'number') column.notNumbers++
      else if (!Number.isFinite(v)) count('beyond the double range')
      else {
        column.row.push(r)
        column.value.push(v)
      }
    })
    return column
  })
  const nested = lines.flatMap((_, r) =>
    shownKeys[r].filter(key => typeof rows[r][key] === 'object' && rows[r][key] !== null).map(key => [r + 1, key] as const)
  )
  const expected = {
    rows: rows.length,
    step: rows.map(r => r['_step']),
    timestamp: rows.map(r => r['_timestamp'] ?? null),
    globalStep: rows.map(r => (isFiniteNumber(r['training/global_step']) ? r['training/global_step'] : null)),
    unusableGlobalSteps: [...rows.keys()].filter(
      i => 'training/global_step' in rows[i] && !isFiniteNumber(rows[i]['training/global_step'])
    ),
    columns,
    inexact: [],
    nested: nested.length === 0 ? null : { count: nested.length, line: nested[0][0], key: nested[0][1] }
  }
  const end = random.pick(['\n', '\r\n'])
  return { text: lines.map(line => line + end).join(''), expected, options: { keys: KEYS, wanted } }
}

t.test('random histories, in random chunks: the columns of JSON.parse and a few loops', t => {
  const random = new Random(seedOf(7))
  const chance = seeded(seedOf(8))
  let rows = 0
  for (let k = 0; k < rounds(400); k++) {
    const { text, expected, options } = randomHistory(random)
    const found = read(text, options, () => 1 + chance() * 60)
    rows += found.rows
    if (JSON.stringify(sorted(plain(found))) !== JSON.stringify(sorted(expected))) t.strictSame(plain(found), expected, `history ${k}`)
  }
  t.ok(rows > 4000, `${rows} rows`)
  t.end()
})

/** The same data with keys in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, sorted(v)])
  )
}

/** Whether every line is a row by JSON.parse and the rules on coordinates. Duplicate keys are not looked for. */
function acceptable(text: string): boolean {
  const lines = text.split('\n')
  while (lines.length > 0 && /^[ \t\r]*$/.test(lines[lines.length - 1])) lines.pop()
  return lines.every(line => {
    let row: unknown
    try {
      row = JSON.parse(line)
    } catch (error) {
      if (error instanceof SyntaxError) return false
      throw error
    }
    if (typeof row !== 'object' || row === null || Array.isArray(row)) return false
    const { _step: step, _timestamp: timestamp } = row as Record<string, unknown>
    return (
      Number.isSafeInteger(step) && Number(step) >= 0 && ['number', 'undefined'].includes(timestamp === null ? 'number' : typeof timestamp)
    )
  })
}

t.test('any truncation and any change of one byte: accepted exactly where JSON.parse accepts the lines', t => {
  const text =
    `{"_step": 0, "_timestamp": 1.5e3, "${REWARD}": -0.25, "text": "a\\n\\u00e9\\"", "list": [1, {"key": null}, true]}\r\n` +
    `{"_step": 12, "${REWARD}": null, "flag": false, "object": {}}`
  const changed: string[] = Array.from({ length: text.length + 1 }, (_, length) => text.slice(0, length))
  for (let at = 0; at < text.length; at++) {
    for (const byte of '\0\t\n\v\r\x1f !"#+,-./0129:;AEIN[\\]_abeflnrstux{|}~\x7f')
      changed.push(text.slice(0, at) + byte + text.slice(at + 1))
  }
  const wrong: string[] = []
  let accepted = 0
  for (const variant of changed) {
    const fault = faultOf(() => read(variant))
    if (fault === null) accepted++
    if ((fault === null) !== acceptable(variant)) wrong.push(`${JSON.stringify(variant)}: ${fault?.message ?? 'accepted'}`)
    if (fault !== null && !(Number(fault.place.offset) <= variant.length && / line [12]\b/.test(fault.message))) wrong.push(fault.message)
  }
  t.strictSame(wrong.slice(0, 5), [])
  t.ok(accepted > 1000 && accepted < changed.length - 1000, `${accepted} of ${changed.length} accepted`)
  t.end()
})

t.test('every truncation of a last line is told with its line and the end of the file', t => {
  const whole = `{"_step": 0}\n{"_step": 1, "${REWARD}": 0.5, "x": ["a\\u0041", true, null, NaN, -Infinity, 1.5e-7]}`
  const start = whole.indexOf('\n') + 1
  for (let length = start + 1; length < whole.length; length++) {
    const fault = faultOf(() => read(whole.slice(0, length)))
    t.equal(fault?.details.problem, 'truncated', whole.slice(start, length))
    t.equal(fault?.details.found, 'the end of the file on line 2')
    t.equal(fault?.place.offset, length)
  }
  t.equal(read(whole.slice(0, start)).rows, 1)
  t.equal(read(whole).rows, 2)
  t.end()
})

t.test('limits: rows, numbers, keys, the length of a line and of a key', t => {
  const lines = (count: number): string => Array.from({ length: count }, (_, i) => `{"_step": ${i}, "${REWARD}": ${i}}\n`).join('')
  const message = (text: string, limits: ParseOptions['limits'], size?: number): string | undefined =>
    faultOf(() => read(text, { ...DEFAULTS, ...(limits === undefined ? {} : { limits }) }, size))?.message
  t.equal(message(lines(3), { rows: 3 }), undefined)
  t.equal(message(lines(4), { rows: 3 }), 'history too many rows: row 4 on line 4, expected at most 3 (byte 111)')
  t.equal(message(lines(3), { numbers: 3 }), undefined)
  t.equal(
    message(lines(4), { numbers: 3 }),
    'history too many numbers: number 4 of the wanted keys on line 4, expected at most 3 (byte 145)'
  )
  const long = `{"_step": 0}\n{"_step": 1, "a": "${'x'.repeat(50)}"}\n`
  for (const size of [1, 7, 64, 1000]) {
    t.equal(message(long, { rowBytes: 71 }, size), undefined)
    t.equal(message(long, { rowBytes: 70 }, size), 'history too long: more than 70 bytes on line 2, expected at most 70 (byte 13)')
    t.equal(
      message(long.slice(0, -1), { rowBytes: 70 }, size),
      'history too long: more than 70 bytes on line 2, expected at most 70 (byte 13)'
    )
  }
  const keys = (count: number): string => `{"_step": 0${Array.from({ length: count - 1 }, (_, i) => `,"${i}":0`).join('')}}\n`
  t.equal(message(keys(MAX_KEYS), undefined), undefined)
  t.match(message(keys(MAX_KEYS + 1), undefined), `history too many keys: key ${MAX_KEYS + 1} on line 1`)
  t.equal(message(`{"${'k'.repeat(MAX_KEY_BYTES)}": 0, "_step": 1}`, undefined), undefined)
  t.match(message(`{"${'k'.repeat(MAX_KEY_BYTES + 1)}": 0, "_step": 1}`, undefined), 'history too long: a key of 65537 bytes on line 1')
  t.end()
})

t.test('ever new keys are read in bounded memory, and a key that stands twice is still found', t => {
  const parser = new HistoryParser(DEFAULTS)
  let next = 0
  for (let row = 0; row < 100; row++) {
    const keys = Array.from({ length: 2000 }, () => `"new/${next++}":1`)
    parser.push(Buffer.from(`{"_step":${row},"${REWARD}":${row},${keys.join(',')}}\n`))
  }
  const last = `"_step":100,"${REWARD}":100,"new/1":1,"other":2`
  parser.push(Buffer.from(`{${last}}\n`))
  t.match(
    faultOf(() => {
      parser.push(Buffer.from(`{${last},"new/1":3}\n`))
    })?.message,
    'history duplicate key: "new/1" on line 102'
  )
  const again = new HistoryParser(DEFAULTS)
  for (let row = 0; row < 60; row++) {
    again.push(Buffer.from(`{"_step":${row},"${REWARD}":${row},${Array.from({ length: 2000 }, () => `"${next++}":1`).join(',')}}\n`))
  }
  const rows = again.finish()
  t.strictSame(
    [...rows.step],
    Array.from({ length: 60 }, (_, i) => i)
  )
  t.strictSame(
    [...rows.columns[0].value],
    Array.from({ length: 60 }, (_, i) => i)
  )
  t.end()
})

t.test('a row longer than many chunks, and a chunk of many rows', t => {
  const wide = `{"_step": 3, "note": "${'abc\\n'.repeat(200_000)}", "${REWARD}": 0.125}\n`
  t.strictSame([...read(wide.repeat(3), DEFAULTS, 4096).columns[0].value], [0.125, 0.125, 0.125])
  const short = '{"_step": 1}\n'.repeat(300_000)
  t.equal(read(short).rows, 300_000)
  t.equal(read(short, DEFAULTS, 1_000_003).step.length, 300_000)
  t.end()
})

t.test('parseHistory stops at the signal, and passes on what the source throws', async t => {
  const stop = new AbortController()
  const source = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{"_step": 0}\n')
    stop.abort(new Error('enough'))
    yield Buffer.from('{"_step": 1}\n')
  }
  await t.rejects(parseHistory(source(), DEFAULTS, stop.signal), { message: 'enough' })
  const failing = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{"_step": 0}\n')
    throw new Error('the source failed')
  }
  await t.rejects(parseHistory(failing(), DEFAULTS), { message: 'the source failed' })
  const rows = await parseHistory(cutAsync(Buffer.from('{"_step": 5}'), 3), DEFAULTS)
  t.strictSame([...rows.step], [5])
})

// ---------------------------------------------------------------------------------------------------------- files

const RUN: ListedRun = {
  id: 'r1',
  displayName: 'a run',
  entity: null,
  project: null,
  createdAt: '2026-01-02T03:04:05',
  createdSeconds: 1767323045,
  state: null,
  url: null,
  fetchedAt: null,
  label: 'main',
  config: {}
}
const ROWS = Array.from({ length: 200 }, (_, i) => `{"_step": ${i}, "${REWARD}": ${i / 8}}\n`).join('')
const hash = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

async function readMain(study: string, options: ReadHistoryOptions = {}): Promise<RunHistory> {
  return readHistory(study, 'wandb/history', RUN, KEYS, [REWARD], options)
}

type Folder = Record<string, string | Buffer>

function study(main: Folder): { wandb: { history: { main: Folder } } } {
  return { wandb: { history: { main } } }
}

t.test("readHistory: the run's file, plain or gzipped, with its hash", async t => {
  const dir = t.testdir(study({ 'r1.jsonl': ROWS }))
  const chunks: number[] = []
  const history = await readMain(dir, {
    chunkBytes: 1000,
    onBytes: n => {
      chunks.push(n)
    }
  })
  t.equal(history.run, RUN)
  t.equal(history.file.path, 'wandb/history/main/r1.jsonl')
  t.equal(history.file.sha256, hash(ROWS))
  t.equal(history.file.bytes, ROWS.length)
  t.equal(history.rows, 200)
  t.strictSame(
    [...history.columns[0].value],
    Array.from({ length: 200 }, (_, i) => i / 8)
  )
  t.strictSame(chunks, [...Array<number>(Math.floor(ROWS.length / 1000)).fill(1000), ROWS.length % 1000])

  const zipped = gzipSync(ROWS)
  const other = join(dir, 'zipped')
  mkdirSync(join(other, 'wandb/history/main'), { recursive: true })
  writeFileSync(join(other, 'wandb/history/main/r1.jsonl.gz'), zipped)
  const inflated = await readMain(other, { chunkBytes: 50 })
  t.equal(inflated.file.path, 'wandb/history/main/r1.jsonl.gz')
  t.equal(inflated.file.sha256, hash(zipped), 'of the file as it lies on disk')
  t.equal(inflated.file.bytes, zipped.length)
  t.strictSame(plain(inflated), plain(history))

  truncateSync(join(other, 'wandb/history/main/r1.jsonl.gz'), zipped.length - 9)
  const fault = await faultFrom(readMain(other))
  t.match(fault.message, /^gzip truncated: .*wandb\/history\/main\/r1\.jsonl\.gz/)
  t.equal(fault.exitCode, 3)
})

t.test('readHistory: an empty file is a history of no rows', async t => {
  const history = await readMain(t.testdir(study({ 'r1.jsonl': '' })))
  t.equal(history.rows, 0)
  t.equal(history.step.length, 0)
  t.strictSame(plain(history), {
    rows: 0,
    step: [],
    timestamp: [],
    globalStep: [],
    unusableGlobalSteps: [],
    columns: [{ key: REWARD, row: [], value: [], nonFiniteRow: [], nonFinite: {}, nulls: 0, notNumbers: 0 }],
    inexact: [],
    nested: null
  })
})

t.test('readHistory: what is not there, or not to be read', async t => {
  const dir = t.testdir(study({ 'r1.jsonl': ROWS, 'r1.jsonl.gz': gzipSync(ROWS) }))
  const file = join(dir, 'wandb/history/main/r1.jsonl')
  const message = async (run: Partial<ListedRun>, folder = 'wandb/history', options: ReadHistoryOptions = {}): Promise<string> =>
    (await faultFrom(readHistory(dir, folder, { ...RUN, ...run }, KEYS, [], options))).message
  t.equal(await message({}), `history stated twice: the file and the same with .gz, expected one of them (${file})`)
  t.equal(
    await message({ id: 'r2' }),
    `history missing file: nothing, expected this file, or the same with .gz (${join(dir, 'wandb/history/main/r2.jsonl')})`
  )
  t.match(await message({}, 'nowhere'), 'history missing file')
  for (const id of ['../r1', '..', 'a/b', '', '\0']) t.match(await message({ id }), 'history unsafe path', JSON.stringify(id))
  for (const folder of ['../wandb', '/etc', 'wandb\\history']) t.match(await message({}, folder), 'history unsafe path', folder)
  t.match((await faultFrom(readMain(join(dir, 'nowhere')))).message, 'history unreadable folder: ENOENT')
  mkdirSync(join(dir, 'wandb/history/main/r3.jsonl'))
  t.equal(
    await message({ id: 'r3' }),
    `history unreadable: a folder, expected a regular file (${join(dir, 'wandb/history/main/r3.jsonl')})`
  )
})

t.test('readHistory: links may lead about the study, not out of it; a named pipe is not opened', POSIX_ONLY, async t => {
  const dir = t.testdir({ outside: { 'r1.jsonl': ROWS }, study: study({ 'real.jsonl': ROWS }) })
  const main = join(dir, 'study/wandb/history/main')
  symlinkSync('real.jsonl', join(main, 'r1.jsonl'))
  symlinkSync(join(dir, 'outside/r1.jsonl'), join(main, 'r2.jsonl'))
  symlinkSync('r4.jsonl', join(main, 'r4.jsonl'))
  execFileSync('mkfifo', [join(main, 'r3.jsonl')])
  const history = await readMain(join(dir, 'study'))
  t.equal(history.file.path, 'wandb/history/main/r1.jsonl')
  t.equal(history.rows, 200)
  const message = async (id: string): Promise<string> =>
    (await faultFrom(readHistory(join(dir, 'study'), 'wandb/history', { ...RUN, id }, KEYS, []))).message
  t.match(await message('r2'), 'history unsafe path: "wandb/history/main/r2.jsonl", a link that leads out of the study')
  t.match(await message('r3'), 'history unreadable: a named pipe')
  t.match(await message('r4'), 'history unreadable file: ELOOP')
  t.equal(findHistory(join(dir, 'study'), './wandb//history/', RUN).path, 'wandb/history/main/r1.jsonl')
})

t.test('readHistory: a file that changes or is malformed', async t => {
  const dir = t.testdir(study({ 'r1.jsonl': ROWS }))
  const file = join(dir, 'wandb/history/main/r1.jsonl')
  let grown = false
  const growing = await faultFrom(
    readMain(dir, {
      chunkBytes: 500,
      onBytes: () => {
        if (!grown) appendFileSync(file, '{"_step": 200}\n')
        grown = true
      }
    })
  )
  t.match(growing.message, 'history changed while it was read: ')
  t.equal(growing.place.file, file)
  t.equal(growing.exitCode, 1)
  appendFileSync(file, '{"_step": 201, ')
  const cutShort = await faultFrom(readMain(dir))
  t.equal(cutShort.message, `history truncated: the end of the file on line 202, expected a key (${file}, byte ${ROWS.length + 30})`)
  t.equal(cutShort.exitCode, 3)
})

t.test('readHistory: a .gz of no bytes is no gzip; one of no text is an empty history', async t => {
  const dir = t.testdir(study({ 'r1.jsonl.gz': '' }))
  const file = join(dir, 'wandb/history/main/r1.jsonl.gz')
  const fault = await faultFrom(readMain(dir))
  t.equal(fault.message, `gzip truncated: an empty file, expected compressed data (${file}, byte 0)`)
  t.equal(fault.exitCode, 3)
  writeFileSync(file, gzipSync(''))
  t.equal((await readMain(dir)).rows, 0)
  rmSync(file)
  writeFileSync(join(dir, 'wandb/history/main/r1.jsonl'), '')
  t.equal((await readMain(dir)).rows, 0)
})

t.test('readHistory stops at the signal', async t => {
  const dir = t.testdir(study({ 'r1.jsonl': ROWS }))
  await t.rejects(readMain(dir, { signal: AbortSignal.abort(new Error('before')) }), { message: 'before' })
  const stop = new AbortController()
  const reading = readMain(dir, {
    chunkBytes: 500,
    signal: stop.signal,
    onBytes: () => {
      stop.abort(new Error('amid'))
    }
  })
  await t.rejects(reading, { message: 'amid' })
})

t.test('integers that no double holds: a step is refused, a value is counted with its first place', t => {
  const row = (step: string, value = '1', timestamp = '1'): string =>
    `{"_step": ${step}, "_timestamp": ${timestamp}, "${REWARD}": ${value}}\n`
  for (const step of [
    '9007199254740992',
    '9007199254740993',
    '0.99999999999999999999',
    '3.0000000000000000001',
    '1e-400',
    '1E400',
    '-1',
    '0.5'
  ]) {
    const fault = faultOf(() => read(row('0') + row(step)))
    t.equal(fault?.message.split(',')[0], `history wrong step: ${step} as "_step" on line 2`, step)
  }
  for (const [step, read7] of [
    ['7.0', 7],
    ['70e-1', 7],
    ['0.7E+1', 7],
    ['-0', 0],
    ['0e9', 0],
    ['9007199254740991.0', 9007199254740991]
  ] as const) {
    t.strictSame([...read(row(step)).step], [read7], step)
  }
  // 2^53 + 2, 10^20 and 2^64 are doubles; Python writes 1e+16 and 10000000000000000.0 for a double.
  const exact = [
    '9007199254740992',
    '9007199254740994',
    '100000000000000000000',
    '18446744073709551616',
    '1e+16',
    '10000000000000000.0',
    '1e300',
    '12345678901234567890.5',
    '-9007199254740991'
  ]
  t.strictSame(read(exact.map((value, i) => row(String(i), value)).join('')).inexact, [])
  const lines = [
    row('0', '2'),
    row('1', '-9007199254740993'),
    row('2', '123456789012345678901', '1786000000000000001'),
    row('3', '9007199254740993')
  ]
  t.strictSame(read(lines.join('')).inexact, [
    { key: REWARD, count: 3, line: 2, written: '-9007199254740993' },
    { key: '_timestamp', count: 1, line: 3, written: '1786000000000000001' }
  ])
  t.end()
})

t.test('rows with the latest first are turned round where timestamps say so', t => {
  const rows = (steps: readonly number[], times: ReadonlyArray<number | null>): HistoryRows =>
    read(
      steps
        .map(
          (step, i) =>
            `{"_step": ${step}, "_timestamp": ${times[i] ?? 'null'}, "training/global_step": ${i === 1 ? 'null' : step}, "${REWARD}": ${i === 2 ? 'NaN' : step}}\n`
        )
        .join('')
    )
  const turned = earliestFirst(rows([5, 4, 3, 1, 0], [50, 40, null, 10, 0]))
  t.equal(turned.reversed, true)
  t.strictSame(plain(turned), {
    rows: 5,
    step: [0, 1, 3, 4, 5],
    timestamp: [0, 10, null, 40, 50],
    globalStep: [0, 1, 3, null, 5],
    unusableGlobalSteps: [3],
    columns: [{ key: REWARD, row: [0, 1, 3, 4], value: [0, 1, 4, 5], nonFiniteRow: [2], nonFinite: { NaN: 1 }, nulls: 0, notNumbers: 0 }],
    inexact: [],
    nested: null
  })
  // A resumed run with the latest first: its steps rise once.
  t.strictSame([...earliestFirst(rows([4, 3, 2, 3, 2, 1, 0], [70, 60, 50, 40, 30, 20, 10])).step], [0, 1, 2, 3, 2, 3, 4])
  const kept = (steps: readonly number[], times: ReadonlyArray<number | null>): void => {
    const history = rows(steps, times)
    t.strictSame(plain(earliestFirst(history)), plain(history), `${steps.join()} at ${times.join()}`)
    t.equal(earliestFirst(history).reversed, false)
  }
  kept([5, 4, 3, 2], [1, 2, 3, 4])
  kept([0, 1, 2, 1, 2], [null, null, null, null, null])
  kept([0, 0, 0, 0], [4, 3, 2, 1])
  kept([0, 1, 2], [3, 2, 1])
  kept([3], [1])
  for (const times of [
    [null, null, null],
    [7, 7, 7],
    [null, 5, null]
  ]) {
    t.equal(
      faultOf(() => earliestFirst(rows([5, 4, 3], times)))?.message,
      'history rows in falling step order: 3 rows from step 5 to 3, and ' +
        'no timestamps that rise or fall, expected rows with the earliest first, or a key of timestamps in histories.keys.timestamp: turn the file round if it has the latest first'
    )
  }
  t.end()
})

t.test('times by all their digits', t => {
  const order = [
    '1969-12-31T23:59:58.9',
    '1970-01-01T00:00:00',
    '2026-08-06T00:00:00.000000001',
    '2026-08-06T00:00:00.0000000010000000001',
    '2026-08-06T00:00:00.000000002+00:00',
    '2026-08-06T02:00:00.5+02:00',
    '2026-08-06T00:00:00.50000000000000000000001Z'
  ]
  const instants = order.map(text => parseInstant(text) as Instant)
  for (const [i, a] of instants.entries()) {
    for (const [j, b] of instants.entries()) t.equal(compareInstants(a, b), Math.sign(i - j), `${order[i]} and ${order[j]}`)
  }
  const at = (text: string): Instant => parseInstant(text) as Instant
  t.equal(compareInstants(instantOf(1785974400), at('2026-08-06T00:00:00Z')), 0)
  t.equal(compareInstants(instantOf(1785974400.1), at('2026-08-06T00:00:00.1Z')), 0, 'a timestamp is the decimal that is written')
  t.equal(compareInstants(instantOf(-1.5), at('1969-12-31T23:59:58.5')), 0)
  t.strictSame(instantOf(1.5e-7), { units: 15n, digits: 8 })
  t.strictSame(instantOf(-2e21), { units: -2n * 10n ** 21n, digits: 0 })
  t.end()
})

// ---------------------------------------------------------------------------------------------------------- a real file

const REAL = join(CASES, 'wandb/tada_grpo_metrics.jsonl')
const NO_CASES = { skip: existsSync(REAL) ? false : `${REAL} is not there (CRITIC_TRACES_CASES names another folder of cases)` }

t.test('a real GRPO run whose restarts append to one file: four rows of step 0, then 1 to 40', NO_CASES, t => {
  // counts, mean, first and last row as the list of cases states them
  const wanted = [
    'learning_rate',
    'batch_size',
    'num_generations',
    'loss',
    'reward_mean',
    'reward_std',
    'num_tokens',
    'step_time',
    'step',
    'time_elapsed'
  ]
  const bytes = readFileSync(REAL)
  const history = read(bytes, { keys: { step: 'step', timestamp: null, global_step: null }, wanted })
  t.equal(history.rows, 44)
  t.strictSame([...history.step], [0, 0, 0, ...Array.from({ length: 41 }, (_, i) => i)])
  t.strictSame(
    history.columns.map(({ key, value, nulls, notNumbers, nonFinite }) => [key, value.length, nulls, notNumbers, nonFinite]),
    wanted.map(key => [key, 44, 0, 0, {}])
  )
  const rates = history.columns[0].value
  t.ok(Math.abs(rates.reduce((a, b) => a + b) / 44 - 1.4090909090909113e-5) < 1e-19)
  t.equal(Math.min(...rates), 1e-5)
  t.equal(Math.max(...rates), 0.0001)
  t.strictSame(
    history.columns.slice(0, 7).map(({ value }) => value[0]),
    [0.0001, 2, 8, 0, 0, 0, 53864]
  )
  t.strictSame(
    history.columns.slice(0, 6).map(({ value }) => value[43]),
    [1e-5, 2, 8, 67.35916519165039, 0.16875000135041773, 0.16571342000704498]
  )
  for (const size of [1, 2, 3, 5, 100, 1000]) {
    t.strictSame(plain(read(bytes, { keys: { step: 'step', timestamp: null, global_step: null }, wanted }, size)), plain(history))
  }
  t.end()
})
