/**
 * Finds the keys under which an exported history logs numbers, from its first rows, for a draft of a study. It is tolerant:
 * lines that are no rows are counted and skipped, and bare NaN and Infinity are allowed. The reader of histories is
 * separate and strict.
 */
import { StringDecoder } from 'node:string_decoder'
import type { ByteChunks } from '../../core/chunks.js'
import { isJsonObject } from '../../core/checker.js'
import { DATE_TIME } from '../../ingest/histories/iso-time.js'

/** How much of a file is looked at: the first limit that is reached. */
export const MAX_LINES = 1000
export const MAX_BYTES = 16 * 1024 * 1024

/** Longest line, in characters. A longer one is skipped; a row of a thousand metrics has 50 kB. */
const MAX_LINE = 1024 * 1024

/** Most keys, and the longest key. More keys, or longer ones, are not metrics of a study. */
const MAX_KEYS = 10_000
const MAX_KEY_LENGTH = 200

/** Longest text that is looked at as a date. */
const MAX_DATE_LENGTH = 50

/** The finite numbers of one key in the sampled rows. */
export interface KeySample {
  count: number
  min: number
  max: number
}

/** How the numbers of one key follow each other in the sampled rows of each history. */
export interface KeyOrder {
  /** number that are integers from 0 on, as a step is */
  integers: number
  /** number of integers below the one before, and equal to it */
  falls: number
  repeats: number
  /** integers between one and the next that stand in no row */
  skipped: number
}

/** The content of the first rows of some histories, taken together. */
export interface RowSample {
  /** number of rows that were read */
  rows: number
  /** number of lines that are no JSON object, or too long */
  unreadable: number
  readonly keys: Map<string, KeySample>
  /** of the keys that hold integers */
  readonly order: Map<string, KeyOrder>
  /** number of texts that are dates and times, by key */
  readonly dates: Map<string, number>
  /** keys whose value is an object or a list: its content cannot be a metric */
  readonly nested: Set<string>
}

export function emptySample(): RowSample {
  return { rows: 0, unreadable: 0, keys: new Map(), order: new Map(), dates: new Map(), nested: new Set() }
}

/** Adds the first rows of a text in JSON Lines. Memory is one chunk, one line and the keys. */
export async function sampleRows(chunks: ByteChunks, sample: RowSample): Promise<void> {
  let count = 0
  const before = new Map<string, number>()
  for await (const line of lines(chunks)) {
    if (line.trim() === '') continue
    const row = line.length > MAX_LINE ? null : parseRow(line)
    if (row === null) sample.unreadable++
    else {
      sample.rows++
      countKeys(row, sample, before)
    }
    if (++count === MAX_LINES) return
  }
}

/** Lines without their ends. A long line is cut once it is known to be too long. A line cut by the byte limit is left out. */
async function* lines(chunks: ByteChunks): AsyncGenerator<string, void, void> {
  const decoder = new StringDecoder('utf8')
  let bytes = 0
  let open = ''
  for await (const chunk of chunks) {
    const parts = decoder.write(Buffer.from(chunk.subarray(0, MAX_BYTES - bytes))).split('\n')
    bytes += chunk.length
    for (const [i, part] of parts.entries()) {
      if (open.length <= MAX_LINE) open += part
      if (i + 1 === parts.length) break
      yield open
      open = ''
    }
    if (bytes >= MAX_BYTES) return
  }
  yield open + decoder.end()
}

/**
 * A text, or a word that JSON does not have. Texts are matched so that words inside them are left alone. A text without an
 * end matches to the end of the line: otherwise each of its quotes would start a new attempt.
 */
const TEXT_OR_WORD = /"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|\\?$)|-?\b(?:NaN|nan|Infinity|inf)\b/g

function parseRow(line: string): { readonly [key: string]: unknown } | null {
  const value = parseJson(line) ?? parseJson(line.replace(TEXT_OR_WORD, found => (found.startsWith('"') ? found : 'null')))
  return isJsonObject(value) ? value : null
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** @param before the last integer of each key in this history */
function countKeys(row: { readonly [key: string]: unknown }, sample: RowSample, before: Map<string, number>): void {
  const { keys, dates, nested } = sample
  for (const [key, value] of Object.entries(row)) {
    if (key === '' || key.length > MAX_KEY_LENGTH) continue
    if (typeof value === 'object' && value !== null && nested.size < MAX_KEYS) nested.add(key)
    if (typeof value === 'string' && value.length <= MAX_DATE_LENGTH && DATE_TIME.test(value) && dates.size < MAX_KEYS) {
      dates.set(key, (dates.get(key) ?? 0) + 1)
    }
    if (typeof value !== 'number' || !Number.isFinite(value)) continue
    addTo(keys, key, { count: 1, min: value, max: value })
    if (!Number.isSafeInteger(value) || value < 0 || (sample.order.size >= MAX_KEYS && !sample.order.has(key))) continue
    const last = before.get(key)
    const order = sample.order.get(key) ?? { integers: 0, falls: 0, repeats: 0, skipped: 0 }
    order.integers++
    if (last !== undefined && value < last) order.falls++
    if (value === last) order.repeats++
    if (last !== undefined && value > last + 1) order.skipped += value - last - 1
    sample.order.set(key, order)
    before.set(key, value)
  }
}

function addTo(keys: Map<string, KeySample>, key: string, { count, min, max }: KeySample): void {
  const sample = keys.get(key)
  if (sample !== undefined) {
    sample.count += count
    sample.min = Math.min(sample.min, min)
    sample.max = Math.max(sample.max, max)
  } else if (keys.size < MAX_KEYS) keys.set(key, { count, min, max })
}

/** Merges several samples into one. */
export function mergeSamples(samples: readonly RowSample[]): RowSample {
  const merged = emptySample()
  for (const { rows, unreadable, keys, order, dates, nested } of samples) {
    merged.rows += rows
    merged.unreadable += unreadable
    for (const [key, sample] of keys) addTo(merged.keys, key, sample)
    for (const [key, more] of order) {
      const sum = merged.order.get(key) ?? { integers: 0, falls: 0, repeats: 0, skipped: 0 }
      for (const field of ['integers', 'falls', 'repeats', 'skipped'] as const) sum[field] += more[field]
      merged.order.set(key, sum)
    }
    for (const [key, more] of dates) merged.dates.set(key, (merged.dates.get(key) ?? 0) + more)
    for (const key of nested) merged.nested.add(key)
  }
  return merged
}
