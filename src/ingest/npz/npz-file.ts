/**
 * NPZ archives that are not in memory whole: headers first, then arrays whole, or row by row. Fortran order is read whole, for
 * its rows lie apart in the file. `npz.ts` reads archives in memory.
 */
import type { ByteSource } from '../../core/byte-source.js'
import { Fault, printable, type Place } from '../../core/errors.js'
import { decodeElements, toNativeOrder } from '../tensors/dtypes.js'
import type { TensorDtype, TensorNumbers } from '../tensors/tensor.js'
import type { MemberReader } from '../zip/member-reader.js'
import { openZipFile, type ZipFile } from '../zip/zip-file.js'
import { integersAsFloat64, isText, readNpy, type NpyArray } from './npy.js'
import { checkNpyLength, npyHeaderLength, NPY_PREAMBLE, parseNpyHeader, type NpyHeader } from './npy-header.js'

/** Largest array that is read whole: as in `npz.ts`. */
const MAX_WHOLE = 2 ** 28

export interface NpzFile {
  /** array names in archive order; a fault where the header cannot be read, as of an object array */
  readonly headers: ReadonlyMap<string, NpyHeader | Fault>
  /** @throws Fault for a member of more than 256 MiB */
  read(name: string): Promise<NpyArray>
  /** The elements from the first to the last, in the order of the file. Not for text. */
  elements(name: string): Promise<ArrayElements>
}

export interface ArrayElements {
  next(count: number): Promise<TensorNumbers>
  /** Behind the last element. @throws Fault for a wrong CRC-32 */
  end(): Promise<void>
  close(): Promise<void>
}

export async function openNpzFile(source: ByteSource, file: string): Promise<NpzFile> {
  const place = { file }
  const zip = await openZipFile(source, place)
  const members = new Map<string, string>()
  for (const member of zip.names) {
    const name = member.endsWith('.npy') ? member.slice(0, -4) : member
    if (members.has(name)) {
      const found = `members '${printable(name)}' and '${printable(name)}.npy'`
      throw new Fault({ format: 'npz', problem: 'ambiguous array', found, expected: 'one', place })
    }
    members.set(name, member)
  }
  const headers = new Map<string, NpyHeader | Fault>()
  for (const [name, member] of members) headers.set(name, await headerOf(zip, member, { ...place, member }))
  return new SourceNpz(zip, members, headers, place)
}

async function headerOf(zip: ZipFile, member: string, place: Place): Promise<NpyHeader | Fault> {
  const parts = await zip.parts(member)
  try {
    const header = await readHeader(parts, zip.size(member), place)
    checkNpyLength(header, zip.size(member), place)
    return header
  } catch (error) {
    if (error instanceof Fault && error.details.format === 'npy') return error
    throw error
  } finally {
    await parts.close()
  }
}

async function readHeader(parts: MemberReader, size: number, place: Place): Promise<NpyHeader> {
  const start = await parts.read(Math.min(NPY_PREAMBLE, size))
  const length = npyHeaderLength(start, size, place)
  const rest = await parts.read(Math.max(0, length - start.length))
  return parseNpyHeader(Buffer.concat([start, rest]), place, size)
}

class SourceNpz implements NpzFile {
  readonly headers: ReadonlyMap<string, NpyHeader | Fault>
  readonly #zip: ZipFile
  readonly #members: ReadonlyMap<string, string>
  readonly #place: Place

  constructor(zip: ZipFile, members: ReadonlyMap<string, string>, headers: ReadonlyMap<string, NpyHeader | Fault>, place: Place) {
    this.#zip = zip
    this.#members = members
    this.headers = headers
    this.#place = place
  }

  async read(name: string): Promise<NpyArray> {
    const member = this.#memberOf(name)
    return readNpy(await this.#zip.read(member, MAX_WHOLE), { ...this.#place, member })
  }

  async elements(name: string): Promise<ArrayElements> {
    const member = this.#memberOf(name)
    const place = { ...this.#place, member }
    const known = this.headers.get(name)
    if (known instanceof Fault) throw known
    if (known?.fortranOrder === true && known.shape.filter(n => n > 1).length > 1)
      return new WholeArray(npyNumbers(await this.read(name), place))
    const parts = await this.#zip.parts(member)
    try {
      const header = await readHeader(parts, this.#zip.size(member), place)
      return new MemberElements(parts, header, place)
    } catch (error) {
      await parts.close()
      throw error
    }
  }

  #memberOf(name: string): string {
    const member = this.#members.get(name)
    if (member === undefined) throw new Error(`no array ${name}`)
    return member
  }
}

/** Numbers of an array that was read whole. */
export function npyNumbers({ data, descr }: NpyArray, place: Place): TensorNumbers {
  if (isText(data)) throw new Fault({ format: 'npy', problem: 'wrong dtype', found: `text (${descr})`, expected: 'numbers', place })
  return data instanceof BigInt64Array || data instanceof BigUint64Array ? integersAsFloat64(data, 'npy', place) : data
}

/** The name that tensors have for a dtype of numbers; null: text. */
export function tensorDtypeOf({ dtype: { kind, itemSize } }: NpyHeader): TensorDtype | null {
  if (kind === 'U' || kind === 'S') return null
  if (kind === 'b') return 'BOOL'
  return `${kind.toUpperCase()}${8 * itemSize}` as TensorDtype
}

class MemberElements implements ArrayElements {
  readonly #parts: MemberReader
  readonly #header: NpyHeader
  readonly #place: Place
  #index = 0

  constructor(parts: MemberReader, header: NpyHeader, place: Place) {
    this.#parts = parts
    this.#header = header
    this.#place = place
  }

  async next(count: number): Promise<TensorNumbers> {
    const { dtype } = this.#header
    const raw = await this.#parts.read(count * dtype.itemSize)
    toNativeOrder(raw, dtype.itemSize, dtype.bigEndian)
    const data = decodeElements(raw, tensorDtypeOf(this.#header) ?? 'U8')
    const first = this.#index
    this.#index += count
    if (!(data instanceof BigInt64Array || data instanceof BigUint64Array)) return data
    try {
      return integersAsFloat64(data, 'npy', this.#place)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      const { place, ...details } = error.details
      throw new Fault({ ...details, place: { ...place, index: first + (place?.index ?? 0) } })
    }
  }

  end(): Promise<void> {
    return this.#parts.end()
  }

  close(): Promise<void> {
    return this.#parts.close()
  }
}

class WholeArray implements ArrayElements {
  readonly #data: TensorNumbers
  #at = 0

  constructor(data: TensorNumbers) {
    this.#data = data
  }

  async next(count: number): Promise<TensorNumbers> {
    this.#at += count
    return this.#data.subarray(this.#at - count, this.#at)
  }

  async end(): Promise<void> {
    // The member's CRC-32 was checked when it was read.
  }

  async close(): Promise<void> {
    // Nothing is open.
  }
}
