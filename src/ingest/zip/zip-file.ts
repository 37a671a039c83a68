/**
 * ZIP archives that are not in memory whole: the directory and the members that are asked for are read. The checks are those
 * of `zip.ts`; a local header is checked when its member is first read.
 *
 * A part of a stored member can be read alone. Before the first part, the whole member is read once, a megabyte at a time,
 * for its CRC-32.
 */
import { crc32 } from 'node:zlib'
import type { Place } from '../../core/errors.js'
import type { ByteSource } from '../../core/byte-source.js'
import { readMemberParts, type MemberReader } from './member-reader.js'
import { checkCrc, checkReadable, readMember } from './unzip.js'
import { checkDistinct, checkLocal, LOCAL_SIZE, readCentrals, type Central, type ZipEntry } from './zip.js'
import { END_BYTES, readEnd, STORED, ZipFields, zipFault, type Directory } from './zip-end.js'

/** Room for the extra fields of a local header. torch aligns data with one. */
const EXTRA_ROOM = 512
/** bytes of a step of the CRC-32 */
const STEP = 2 ** 20
/** Largest directory: more than a million members. */
const MAX_DIRECTORY = 2 ** 27

export interface ZipFile {
  /** in directory order */
  readonly names: readonly string[]
  has(name: string): boolean
  /** bytes of a member, uncompressed, as the directory states */
  size(name: string): number
  /** bytes of a member in the file */
  storedSize(name: string): number
  /** Compares a member's local header with the directory. `read` and `slice` do it too. */
  check(name: string): Promise<void>
  /** A whole member, its CRC-32 checked, in memory of its own. @throws Fault for more than `maxBytes` */
  read(name: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>>
  /** Bytes `start` to `end` of a stored member, in memory of their own. */
  slice(name: string, start: number, end: number): Promise<Uint8Array<ArrayBuffer>>
  /** A reader of the member's uncompressed bytes from the first to the last. The caller closes it. */
  parts(name: string): Promise<MemberReader>
}

interface Member {
  readonly central: Central
  /** offset of what follows the member in the file: the next local header, or the directory */
  readonly limit: number
  /** with its local header checked */
  entry?: ZipEntry
  /** settles when the CRC-32 of the whole member is checked */
  checked?: Promise<void>
}

export interface ZipFileOptions {
  /** Nothing is compared where every member states the CRC-32 0: torch writes so with `set_crc32_options(False)`. */
  readonly sumsMayBeZero?: boolean
}

/** Opens an archive. @param place names the file. @throws Fault if it is not a ZIP, or contradicts itself */
export async function openZipFile(source: ByteSource, place: Place = {}, options: ZipFileOptions = {}): Promise<ZipFile> {
  const length = source.size
  if (length === 0) throw zipFault('empty', '0 bytes', 'a ZIP archive', place)
  const base = Math.max(0, length - END_BYTES)
  const head = await source.slice(0, Math.min(8, length))
  const directory = readEnd(new ZipFields(await source.slice(base, length), { base, length, head }), place)
  const directoryBytes = directory.end - directory.start
  if (directoryBytes > MAX_DIRECTORY) throw zipFault('directory too large', `${directoryBytes} bytes`, `at most ${MAX_DIRECTORY}`, place)
  const bytes = await source.slice(directory.start, directory.end)
  const centrals = readCentrals(new ZipFields(bytes, { base: directory.start, length, head }), directory, place)
  checkDistinct(
    centrals.map(({ name, nameBytes, headerOffset, compressedSize }) => ({
      name,
      headerOffset,
      end: headerOffset + LOCAL_SIZE + nameBytes.length + compressedSize
    })),
    place
  )
  const summed = options.sumsMayBeZero !== true || centrals.some(central => central.crc32 !== 0)
  return new SourceZip(source, directory, membersOf(centrals, directory), place, summed)
}

function membersOf(centrals: readonly Central[], directory: Directory): ReadonlyMap<string, Member> {
  const starts = centrals.map(central => central.headerOffset).sort((a, b) => a - b)
  const next = new Map(starts.map((start, i) => [start, starts[i + 1] ?? directory.start]))
  return new Map(centrals.map(central => [central.name, { central, limit: next.get(central.headerOffset) ?? directory.start }]))
}

class SourceZip implements ZipFile {
  readonly names: readonly string[]
  readonly #source: ByteSource
  readonly #directory: Directory
  readonly #members: ReadonlyMap<string, Member>
  readonly #place: Place
  /** whether members have a CRC-32 */
  readonly #summed: boolean

  constructor(source: ByteSource, directory: Directory, members: ReadonlyMap<string, Member>, place: Place, summed: boolean) {
    this.names = [...members.keys()]
    this.#source = source
    this.#directory = directory
    this.#members = members
    this.#place = place
    this.#summed = summed
  }

  has(name: string): boolean {
    return this.#members.has(name)
  }

  size(name: string): number {
    return this.#member(name).central.size
  }

  storedSize(name: string): number {
    return this.#member(name).central.compressedSize
  }

  async check(name: string): Promise<void> {
    await this.#open(this.#member(name))
  }

  async read(name: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const member = this.#member(name)
    const { compressedSize, size } = member.central
    const place = this.#at(name)
    if (size > maxBytes) throw zipFault('member too large', `${size} bytes`, `at most ${maxBytes}`, place)
    const entry = await this.#open(member)
    checkReadable(entry, maxBytes, place)
    const compressed = await this.#source.slice(entry.dataOffset, entry.dataOffset + compressedSize)
    if (entry.method === STORED && !this.#summed) return ownBytes(compressed)
    const bytes = readMember(compressed, { ...entry, dataOffset: 0 }, maxBytes, place)
    member.checked ??= Promise.resolve()
    return ownBytes(bytes)
  }

  async slice(name: string, start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    const member = this.#member(name)
    const { size } = member.central
    if (start === 0 && end === size && member.central.method === STORED) return this.read(name, size)
    const entry = await this.#open(member)
    checkReadable(entry, size, this.#at(name))
    if (entry.method !== STORED) throw zipFault('unsupported', 'a part of a deflated member', 'a stored one', this.#at(name))
    member.checked ??= this.#check(entry)
    await member.checked
    return this.#source.slice(entry.dataOffset + start, entry.dataOffset + end)
  }

  async parts(name: string): Promise<MemberReader> {
    const entry = await this.#open(this.#member(name))
    return readMemberParts(this.#source, entry, this.#summed, this.#at(name))
  }

  /** Checks the local header. Its bytes are read apart from the data, which then lie in memory of their own and are not copied. */
  async #open(member: Member): Promise<ZipEntry> {
    if (member.entry !== undefined) return member.entry
    const { central, limit } = member
    const base = central.headerOffset
    const room = async (length: number): Promise<ZipFields> => {
      const [start, end] = [base, base + length].map(at => Math.min(at, this.#directory.start))
      return new ZipFields(await this.#source.slice(start, end), { base, length: this.#source.size })
    }
    const first = LOCAL_SIZE + central.nameBytes.length + EXTRA_ROOM
    let fields = await room(first)
    const header = fields.part(base, LOCAL_SIZE)
    if (header.length === LOCAL_SIZE) {
      const needed = LOCAL_SIZE + fields.u16(base + 26) + fields.u16(base + 28)
      if (needed > first) fields = await room(needed)
    }
    const entry = checkLocal(fields, central, this.#directory, this.#place)
    const end = entry.dataOffset + entry.compressedSize
    if (end > limit) {
      const found = `${entry.compressedSize} bytes at byte ${entry.dataOffset}`
      throw zipFault('overlapping members', found, `data that ends before byte ${limit}`, this.#at(entry.name))
    }
    member.entry = entry
    return entry
  }

  async #check(entry: ZipEntry): Promise<void> {
    if (!this.#summed) return
    let crc = 0
    const end = entry.dataOffset + entry.compressedSize
    for (let at = entry.dataOffset; at < end; at += STEP) crc = crc32(await this.#source.slice(at, Math.min(end, at + STEP)), crc)
    checkCrc(crc, entry, this.#at(entry.name))
  }

  #member(name: string): Member {
    const member = this.#members.get(name)
    if (member !== undefined) return member
    throw zipFault('missing member', 'none of this name', 'one', this.#at(name))
  }

  #at(name: string): Place {
    return { member: name, ...this.#place }
  }
}

/** A copy where the bytes are a view of a larger buffer, or of a Buffer's pool. */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes
  if (buffer instanceof ArrayBuffer && byteOffset === 0 && buffer.byteLength === byteLength) return new Uint8Array(buffer)
  return new Uint8Array(bytes)
}
