/**
 * JSON Lines with one object a sample. The first object tells which names the rows have. A file is recognised by a first line
 * that is an object with a list of numbers in it, so that other JSON is none.
 */
import type { ByteSource } from '../../core/byte-source.js'
import { Fault, type Place } from '../../core/errors.js'
import { KernelText } from '../json/kernel-text.js'
import { Kernel } from '../../kernel/kernel.js'
import { linesOf, type JsonLine } from './json-line-reader.js'
import { JsonRecordReader } from './json-record.js'
import type { DumpFormat, PlacedRow } from './part.js'
import { findNames, isNumbers, rowOfRecord } from './records.js'
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
    const first = await firstRow(source, file)
    const place = { ...first.place, trace: 0 }
    const known = new Set(Object.values(keys).flat())
    const { values, names } = reader.read(first, known, place)
    const found = findNames(keys, (name, kind) => {
      const value = values.get(name)
      return kind === 'list' ? isNumbers(value) : value !== undefined && !isNumbers(value)
    })
    const step = values.get(found.get('step') ?? '')
    return rowPart(
      {
        format: 'jsonl',
        file,
        names,
        found,
        step: typeof step === 'number' && Number.isSafeInteger(step) && step >= 0 ? step : null,
        rows: null,
        width: () => 'float64',
        async *read(wanted, needed): AsyncGenerator<PlacedRow, void, void> {
          let index = 0
          for await (const line of linesOf(source, file)) {
            const at: Place = { ...line.place, trace: index++ }
            const context = { format: 'jsonl', place: at }
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

async function firstRow(source: ByteSource, file: string): Promise<JsonLine> {
  for await (const line of linesOf(source, file)) return line
  throw new Fault({ format: 'jsonl', problem: 'empty', found: 'no line', expected: 'one object a line', place: { file } })
}
