/**
 * Second reading of histories by JSON.parse, row by row: the row's coordinates, and the number, null or other value under
 * every key of the file. Our reader is asked for all keys, not only for those that a study wants.
 *
 * The text is read in two passes: one collects the keys, one compares. JSON.parse silently keeps the last of two equal
 * keys; our reader refuses them. A row with the bare words NaN or Infinity is no JSON.
 */
import { fileChunks } from '../core/still-file.js'
import { historyText } from '../ingest/histories/history.js'
import { parseHistory } from '../ingest/histories/parse.js'
import type { HistoryKeys, HistoryRows } from '../ingest/histories/rows.js'
import { BEYOND_RANGE } from '../ingest/histories/values.js'
import { jsonReason } from './page.js'
import { Comparison, type SecondReading } from './reading.js'

/** Largest history, inflated. It is held in memory as a whole. */
export const MAX_HISTORY_BYTES = 256 * 2 ** 20
/** Most keys. Each is a column of our reader. */
const MAX_DISTINCT_KEYS = 20_000

export type OwnHistory = (text: Buffer, keys: HistoryKeys, wanted: readonly string[]) => Promise<HistoryRows>

const ownHistory: OwnHistory = (text, keys, wanted) =>
  parseHistory(
    (async function* whole() {
      yield text
    })(),
    { keys, wanted }
  )

/** @param maxBytes another limit; tests pass a small one */
export async function compareHistory(
  path: string,
  keys: HistoryKeys,
  read = ownHistory,
  maxBytes = MAX_HISTORY_BYTES
): Promise<SecondReading> {
  const comparison = new Comparison('history', 'JSON.parse', path)
  return comparison.run(async () => {
    const text = await readText(path, maxBytes)
    if (text === null) {
      // Our reader still checks the file, piece by piece and for the coordinates alone, and may refuse it.
      await parseHistory(historyText(path, fileChunks(path)), { keys, wanted: [] })
      comparison.unread(null, `more than ${maxBytes} bytes, which are held whole for the second reading`)
      return
    }
    const wanted = keysOf(text)
    if (wanted === null) {
      await read(text, keys, [])
      comparison.unread(null, `more than ${MAX_DISTINCT_KEYS} different keys`)
      return
    }
    compareRows(comparison, text, keys, await read(text, keys, wanted))
  })
}

async function readText(path: string, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of historyText(path, fileChunks(path))) {
    length += chunk.length
    if (length > maxBytes) return null
    chunks.push(Buffer.from(chunk))
  }
  return Buffer.concat(chunks, length)
}

type PlainRow = { readonly [key: string]: unknown }

/** The rows in order; a text with the reason for a row that JSON.parse refuses. Lines of white space alone are skipped. */
function* rowsOf(text: Buffer): Generator<{ readonly line: number; readonly row: PlainRow | string }> {
  let line = 1
  for (let at = 0; at < text.length; line++) {
    const found = text.indexOf(0x0a, at)
    const end = found < 0 ? text.length : found
    const written = text.toString('utf8', line === 1 && text.subarray(0, 3).toString('latin1') === '\xef\xbb\xbf' ? 3 : at, end)
    at = end + 1
    if (/^[ \t\r]*$/.test(written)) continue
    yield { line, row: parsedRow(written) }
  }
}

/** The row, or the reason why JSON.parse refuses it. */
function parsedRow(written: string): PlainRow | string {
  try {
    const row: unknown = JSON.parse(written)
    return typeof row === 'object' && row !== null ? (row as PlainRow) : 'JSON.parse: no object'
  } catch (error) {
    return jsonReason(written, error)
  }
}

/** The keys of all rows; null if there are too many. */
function keysOf(text: Buffer): string[] | null {
  const keys = new Set<string>()
  for (const { row } of rowsOf(text)) {
    if (typeof row === 'string') continue
    for (const key of Object.keys(row)) keys.add(key)
    if (keys.size > MAX_DISTINCT_KEYS) return null
  }
  return [...keys]
}

/** Counts of values that are no finite numbers, as our reader makes them. */
interface Counts {
  nulls: number
  notNumbers: number
  readonly nonFinite: Map<string, number>
}

function compareRows(comparison: Comparison, text: Buffer, keys: HistoryKeys, ours: HistoryRows): void {
  const columns = new Map(
    ours.columns.map(column => [column.key, { column, next: 0, counts: { nulls: 0, notNumbers: 0, nonFinite: new Map<string, number>() } }])
  )
  let count = 0
  let unread = 0
  for (const { line, row } of rowsOf(text)) {
    const index = count++
    if (typeof row === 'string') {
      unread++
      comparison.unread(`line ${line}`, row)
      for (const entry of columns.values()) if (entry.column.row[entry.next] === index) entry.next++
      continue
    }
    // Our reader turns a step -0 into 0.
    comparison.same(ours.step[index], numberAt(row, keys.step) + 0, { line, array: keys.step })
    if (keys.timestamp !== null) comparison.same(ours.timestamp[index], numberAt(row, keys.timestamp), { line, array: keys.timestamp })
    if (keys.global_step !== null)
      comparison.same(ours.globalStep[index], numberAt(row, keys.global_step), { line, array: keys.global_step })
    for (const [key, value] of Object.entries(row)) {
      const entry = columns.get(key)
      if (entry === undefined) throw comparison.different(undefined, value, { line, array: key })
      const isLogged = entry.column.row[entry.next] === index
      const second = typeof value === 'number' && Number.isFinite(value) ? value : undefined
      comparison.same(isLogged ? entry.column.value[entry.next] : undefined, second, { line, array: key })
      if (isLogged) entry.next++
      if (second === undefined) tally(entry.counts, value)
    }
  }
  comparison.agree(ours.rows, count)
  for (const [key, { column, next }] of columns) {
    if (next < column.row.length) throw comparison.different(column.value[next], undefined, { array: key, index: column.row[next] })
  }
  // The other values of a row that was not read twice are not counted here, so counts are compared only without such rows.
  if (unread === 0) for (const { column, counts } of columns.values()) compareCounts(comparison, column, counts)
}

/** A coordinate; NaN if the row has no finite one. */
function numberAt(row: PlainRow, key: string): number {
  const value = Object.hasOwn(row, key) ? row[key] : undefined
  return typeof value === 'number' && Number.isFinite(value) ? value : NaN
}

function tally(counts: Counts, value: unknown): void {
  const spelling =
    typeof value === 'number' ? BEYOND_RANGE : typeof value === 'string' && /^[+-]?(?:nan|inf|infinity)$/i.test(value) ? value : null
  if (spelling !== null) counts.nonFinite.set(spelling, (counts.nonFinite.get(spelling) ?? 0) + 1)
  else if (value === null) counts.nulls++
  else counts.notNumbers++
}

function compareCounts(
  comparison: Comparison,
  { key, nulls, notNumbers, nonFinite }: HistoryRows['columns'][number],
  counts: Counts
): void {
  const place = { array: key }
  comparison.agree(nulls, counts.nulls, place)
  comparison.agree(notNumbers, counts.notNumbers, place)
  comparison.agree(Object.keys(nonFinite).length, counts.nonFinite.size, place)
  for (const [spelling, times] of counts.nonFinite)
    comparison.agree(Object.hasOwn(nonFinite, spelling) ? nonFinite[spelling] : undefined, times, place)
}
