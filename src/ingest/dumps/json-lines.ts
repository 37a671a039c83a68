/**
 * JSON Lines with one object a sample. The first object tells which names the rows have. A file is recognised by a first line
 * that is an object with a list of numbers in it, so that other JSON is none.
 */
import type { ByteSource } from '../../core/byte-source.js'
import { Fault, type Place } from '../../core/errors.js'
import { KernelText } from '../json/kernel-text.js'
import { Kernel } from '../../kernel/kernel.js'
import { linesOf } from './json-line-reader.js'
import { JsonRecordReader } from './json-record.js'
import type { DumpFormat, PlacedRow } from './part.js'
import type { SampleKeys } from '../../schema/sample-keys.js'
import { findNames, isNumbers, rowOfRecord, type FoundNames, type RecordValue } from './records.js'
import { rowPart } from './row-part.js'

/** Bytes of a first line in which a list of numbers is looked for. */
const RECOGNISED_WITHIN = 2 ** 24
const OBJECT = /^\s*\{\s*"/
const NUMBER_LIST = /"\s*:\s*\[\s*-?\d/

export const JSON_LINES_DUMP: DumpFormat = {
  name: 'jsonl',
  async recognises(head, source) {
    if (!OBJECT.test(textOf(head))) return false
    for (let length = head.length; ; length = Math.min(4 * length, source.size, RECOGNISED_WITHIN)) {
      const bytes = length <= head.length ? head : await source.slice(0, length)
      const end = bytes.indexOf(0x0a)
      if (NUMBER_LIST.test(textOf(end < 0 ? bytes : bytes.subarray(0, end)))) return true
      if (end >= 0 || length >= source.size || length >= RECOGNISED_WITHIN) return false
    }
  },
  async open({ name: file, source }, keys) {
    const reader = readerOfThread()
    const { values, names, found, line: model } = await modelRow(reader, source, file, keys)
    const step = values.get(found.get('step') ?? '')
    return rowPart(
      {
        format: 'jsonl',
        file,
        names,
        found,
        nothing: name => (values.get(name) === null ? 'null' : null),
        step: typeof step === 'number' && Number.isSafeInteger(step) && step >= 0 ? step : null,
        rows: null,
        width: () => 'float64',
        async *read(wanted, needed): AsyncGenerator<PlacedRow, void, void> {
          let index = 0
          for await (const line of linesOf(source, file)) {
            const at: Place = { ...line.place, trace: index++ }
            const context = { format: 'jsonl', place: at, ...(model === null ? {} : { model }) }
            yield { place: at, read: () => rowOfRecord(reader.read(line, wanted, at).values, found, needed, context) }
          }
        }
      },
      keys
    )
  }
}

let ofThread: JsonRecordReader | null = null

/**
 * The one reader of this thread, which copies out what it reads. Its kernel is not the one that reads pages: that one may hold a
 * part of a page while lines are read.
 */
function readerOfThread(): JsonRecordReader {
  ofThread ??= new JsonRecordReader(new KernelText(new Kernel()))
  return ofThread
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '')
}

/** Lines in which values and returns are looked for. */
const MODEL_WITHIN = 64

interface ModelRow {
  readonly values: ReadonlyMap<string, RecordValue>
  readonly names: readonly string[]
  readonly found: FoundNames
  /** in the words of a message; null: it is the first row */
  readonly line: string | null
}

/** The row whose names all rows should have: the first one with values and returns, else with values, else the first one. */
async function modelRow(reader: JsonRecordReader, source: ByteSource, file: string, keys: SampleKeys): Promise<ModelRow> {
  const known = new Set(Object.values(keys).flat())
  let best: ModelRow | null = null
  let index = 0
  for await (const line of linesOf(source, file)) {
    const row = tryRead(() => reader.read(line, known, { ...line.place, trace: index }), index)
    if (row !== null) {
      const found = findNames(keys, (name, kind) => {
        const value = row.values.get(name)
        return kind === 'list' ? isNumbers(value) : value !== undefined && !isNumbers(value)
      })
      const model = { ...row, found, line: index === 0 ? null : `line ${line.place.line}` }
      if (found.has('values') && found.has('returns')) return model
      if (best === null || (found.has('values') && !best.found.has('values'))) best = model
    }
    if (++index === MODEL_WITHIN) break
  }
  if (best !== null) return best
  throw new Fault({ format: 'jsonl', problem: 'empty', found: 'no line', expected: 'one object a line', place: { file } })
}

/** A line behind the first one that is malformed is told where its row is read. */
function tryRead<T>(read: () => T, index: number): T | null {
  try {
    return read()
  } catch (error) {
    if (index === 0 || !(error instanceof Fault)) throw error
    return null
  }
}
