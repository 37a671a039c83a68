/**
 * JSON Lines with one object a sample. All rows tell which names there are. A file is recognised by a first line that is an
 * object with a list of numbers in it, so that other JSON is none.
 */
import type { Place } from '../../core/errors.js'
import { KernelText } from '../json/kernel-text.js'
import { Kernel } from '../../kernel/kernel.js'
import type { SampleKeyName } from '../../schema/sample-keys.js'
import { linesOf } from './json-line-reader.js'
import { isDecisiveName, namesOfLines, type JsonNames } from './json-names.js'
import { JsonRecordReader } from './json-record.js'
import type { DumpFormat, PlacedRow, RawRow } from './part.js'
import { isFieldValue, noteOfNull, rowOfRecord, type FoundNames, type RecordValue } from './records.js'
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
    const seen = await namesOfLines(source, file, keys, reader)
    const { names, found, fields, nulls, doubtful } = seen
    const step = seen.first.get(namesOfRow(seen.first, seen).get('step') ?? '')
    const part = rowPart(
      {
        format: 'jsonl',
        file,
        names,
        found,
        // A name that is null in every row is told below.
        nothing: () => null,
        step: typeof step === 'number' && Number.isSafeInteger(step) && step >= 0 ? step : null,
        rows: null,
        width: () => 'float64',
        async *read(wanted, needed): AsyncGenerator<PlacedRow, void, void> {
          const all = new Set([...wanted, ...[...fields.values()].flat(), ...doubtful])
          let index = 0
          for await (const line of linesOf(source, file)) {
            const at: Place = { ...line.place, trace: index++ }
            const context = { format: 'jsonl', place: at }
            const read = (): RawRow => {
              const { values } = reader.read(line, all, at)
              return rowOfRecord(values, namesOfRow(values, seen), needed, context, key => likeRow(seen, key))
            }
            yield { place: at, offset: line.offset, read }
          }
        }
      },
      keys
    )
    return { ...part, notes: [...nulls.filter(name => isDecisiveName(name, keys)).map(noteOfNull), ...part.notes] }
  }
}

/** Each field under the first of its names that has a value in this row: a row need not have the name that others have. */
function namesOfRow(values: ReadonlyMap<string, RecordValue>, { found, fields }: JsonNames): FoundNames {
  const names = new Map(found)
  for (const [key, candidates] of fields) {
    if (candidates.length < 2) continue
    const name = candidates.find(other => isFieldValue(values.get(other))) ?? candidates.find(other => isThere(values.get(other)))
    if (name !== undefined) names.set(key, name)
  }
  return names
}

function isThere(value: RecordValue): boolean {
  return value !== undefined && value !== null
}

/** Where a list of numbers stands under the name of an array, for the message of a row without it. */
function likeRow({ found, values }: JsonNames, key: SampleKeyName): string {
  const first = values.get(found.get(key) ?? '')
  if (first?.kind !== 'list') return ''
  return first.line === 1 ? ', as in the first row' : `, as in line ${first.line}`
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
