/**
 * Which keys an exported history logs numbers under: a look at its first rows, for a draft of a study. Tolerant, because
 * a look is not a reading: what is no row is counted and passed over, bare NaN and Infinity are allowed. The reader of
 * histories is another one, and strict.
 */
import { StringDecoder } from 'node:string_decoder'
import { ByteChunks } from '../../core/chunks.js'
import { isJsonObject } from '../../core/checker.js'

/** What is looked at of one file: whichever ends first. */
export const MAX_LINES = 1000
export const MAX_BYTES = 16 * 1024 * 1024

/** A longer line is passed over: a row of a thousand metrics has 50 kB. */
const MAX_LINE = 1024 * 1024

/** More keys than this, or longer ones, are no metrics of a study. */
const MAX_KEYS = 10_000
const MAX_KEY_LENGTH = 200

/** The finite numbers of one key in the rows that were looked at. */
export interface KeySample {
  count: number
  min: number
  max: number
}

/** What the first rows of some histories hold together. */
export interface RowSample {
  /** rows that were read */
  rows: number
  /** lines that are no JSON object, or too long */
  unreadable: number
  readonly keys: Map<string, KeySample>
  /** keys under which an object or a list stands: nothing in it can be a metric */
  readonly nested: Set<string>
}

export function emptySample(): RowSample {
  return { rows: 0, unreadable: 0, keys: new Map(), nested: new Set() }
}

/** Adds the first rows of a text in JSON Lines. Memory is one chunk, one line and the keys. */
export async function sampleRows(chunks: ByteChunks, sample: RowSample): Promise<void> {
  let count = 0
  for await (const line of lines(chunks)) {
    if (line.trim() === '') continue
    const row = line.length > MAX_LINE ? null : parseRow(line)
    if (row === null) sample.unreadable++
    else {
      sample.rows++
      countKeys(row, sample)
    }
    if (++count === MAX_LINES) return
  }
}

/** Lines without their ends; of a long one, only so much that it is seen to be too long. A line that the limit cuts is left out. */
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
 * A text, or a word that JSON does not know; texts are matched so that words inside them are left alone. A text without an
 * end goes to the end of the line: were it no match, each quote in it would be tried anew.
 */
const TEXT_OR_WORD = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|-?\b(?:NaN|nan|Infinity|inf)\b/g

function parseRow(line: string): { readonly [key: string]: unknown } | null {
  const value = parseJson(line) ?? parseJson(line.replace(TEXT_OR_WORD, found => found.startsWith('"') ? found : 'null'))
  return isJsonObject(value) ? value : null
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function countKeys(row: { readonly [key: string]: unknown }, { keys, nested }: RowSample): void {
  for (const [key, value] of Object.entries(row)) {
    if (typeof value === 'object' && value !== null && nested.size < MAX_KEYS && key.length <= MAX_KEY_LENGTH) nested.add(key)
    if (typeof value !== 'number' || !Number.isFinite(value) || key === '' || key.length > MAX_KEY_LENGTH) continue
    addTo(keys, key, { count: 1, min: value, max: value })
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

/** Several samples as one. */
export function mergeSamples(samples: readonly RowSample[]): RowSample {
  const merged = emptySample()
  for (const { rows, unreadable, keys, nested } of samples) {
    merged.rows += rows
    merged.unreadable += unreadable
    for (const [key, sample] of keys) addTo(merged.keys, key, sample)
    for (const key of nested) merged.nested.add(key)
  }
  return merged
}
