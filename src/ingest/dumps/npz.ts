/** NPZ archives of padded batches. An archive of one trace, whose arrays have one axis, is none. */
import type { ByteSource } from '../../core/byte-source.js'
import { Fault } from '../../core/errors.js'
import { isText } from '../npz/npy.js'
import type { NpyHeader } from '../npz/npy-header.js'
import { npyNumbers, openNpzFile, tensorDtypeOf, type ArrayElements, type NpzFile } from '../npz/npz-file.js'
import { ZIP_MAGIC } from './magic.js'
import { openPadded } from './padded.js'
import type { DumpFile, DumpFormat } from './part.js'
import {
  columnLength,
  MAX_COLUMN_BYTES,
  type ArrayTable,
  type ArrayRows,
  type StoredArray,
  type TableColumn,
  type TableEntry
} from './table.js'
import { widthOf } from './tensor-table.js'

export const NPZ_DUMP: DumpFormat = {
  name: 'npz',
  async recognises(head, source) {
    if (!ZIP_MAGIC.every((byte, i) => head[i] === byte)) return false
    const headers = await headersOf(source)
    return headers.some(header => header.shape.length === 2 && tensorDtypeOf(header) !== null)
  },
  async open(file, keys) {
    return openPadded(tableOf(file, await openNpzFile(file.source, file.name)), keys)
  }
}

async function headersOf(source: ByteSource): Promise<NpyHeader[]> {
  try {
    const { headers } = await openNpzFile(source, '')
    return [...headers.values()].flatMap(header => (header instanceof Fault ? [] : [header]))
  } catch (error) {
    if (error instanceof Fault) return []
    throw error
  }
}

function tableOf({ name: file }: DumpFile, npz: NpzFile): ArrayTable {
  const entries = new Map<string, TableEntry>()
  const refused = new Map<string, Fault>()
  for (const [name, header] of npz.headers) {
    if (header instanceof Fault) refused.set(name, header)
    else entries.set(name, entryOf(npz, name, header, file))
  }
  return { format: 'npz', place: { file }, entries, refused }
}

function entryOf(npz: NpzFile, name: string, header: NpyHeader, file: string): TableEntry {
  const dtype = tensorDtypeOf(header)
  const place = { file, array: name }
  const array: StoredArray | null =
    dtype === null
      ? null
      : {
          shape: header.shape,
          itemSize: header.dtype.itemSize,
          width: widthOf(dtype),
          rows: () => new NpyRows(npz, name, header.count / Math.max(1, header.shape[0]))
        }
  return {
    array,
    columnLength: columnLength(header.shape),
    async column(): Promise<TableColumn> {
      if (header.dataBytes > MAX_COLUMN_BYTES) {
        const expected = `at most ${MAX_COLUMN_BYTES}`
        throw new Fault({ format: 'npz', problem: 'column too large', found: `${header.dataBytes} bytes`, expected, place })
      }
      const read = await npz.read(name)
      return isText(read.data) ? read.data : npyNumbers(read, place)
    }
  }
}

class NpyRows implements ArrayRows {
  readonly #npz: NpzFile
  readonly #name: string
  readonly #rowLength: number
  #elements: Promise<ArrayElements> | null = null

  constructor(npz: NpzFile, name: string, rowLength: number) {
    this.#npz = npz
    this.#name = name
    this.#rowLength = rowLength
  }

  async next(count: number): ReturnType<ArrayRows['next']> {
    return (await this.#open()).next(count * this.#rowLength)
  }

  async end(): Promise<void> {
    await (await this.#open()).end()
  }

  async close(): Promise<void> {
    const elements = await this.#elements?.catch(() => null)
    await elements?.close()
  }

  #open(): Promise<ArrayElements> {
    this.#elements ??= this.#npz.elements(this.#name)
    return this.#elements
  }
}
