/**
 * ZIP containers in memory. The central directory and its statements about each member are checked before anything is
 * read. `unzip.ts` reads the members.
 *
 * Sources: PKWARE APPNOTE 6.3.9 (4.3.6-4.3.12, 4.4, 4.5.3) and Python's zipfile.py, which reads the same files. This reader
 * is stricter where an archive contradicts itself: local headers must agree with the directory in name, method, sizes and
 * CRC-32, and members may not overlap or share a name. Not supported: multi-volume archives, encryption, methods other
 * than 0 (stored) and 8 (deflated). Names are returned as text and never used as a path here. Data descriptors are not
 * read: they repeat what the directory states.
 */
import { isAscii, isUtf8 } from 'node:buffer'
import { printable, type Place } from '../../core/errors.js'
import {
  ALL_ONES_16,
  ALL_ONES_32,
  CENTRAL_SIZE,
  hex,
  LOCAL_SIGNATURE,
  readEnd,
  STORED,
  zipFault,
  ZipFields,
  type Directory
} from './zip-end.js'

export interface ZipEntry {
  readonly name: string
  readonly method: number
  readonly encrypted: boolean
  readonly crc32: number
  readonly compressedSize: number
  /** uncompressed size in bytes, as declared */
  readonly size: number
  /** offset of the local header in the file */
  readonly headerOffset: number
  /** offset of the first compressed byte in the file */
  readonly dataOffset: number
}

const CENTRAL = 0x02014b50
/** Bytes of a local header before its name and extra fields. */
export const LOCAL_SIZE = 30
const ZIP64_EXTRA = 1

/** Encrypted, compressed patched data, strong encryption, masked local headers: the stored bytes are not the content. */
const UNREADABLE_FLAGS = 0x0001 | 0x0020 | 0x0040 | 0x2000
/** Sizes and CRC-32 follow the data; the local header may say 0. */
const DESCRIPTOR_FLAG = 0x0008
const UTF8_FLAG = 0x0800

/** Code page 437, bytes 0x80-0xff: the encoding of member names without the UTF-8 flag. */
const CP437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0'

/** One central header, before its local header is checked. */
export interface Central {
  readonly name: string
  /** the name as the directory spells it */
  readonly nameBytes: Uint8Array
  readonly flags: number
  readonly method: number
  readonly crc32: number
  readonly compressedSize: number
  readonly size: number
  /** absolute offset */
  readonly headerOffset: number
}

/** Offset and length of the zip64 field's data among the extra fields at `start`, or null. */
function findZip64Extra(f: ZipFields, start: number, length: number, place: Place): { at: number; length: number } | null {
  const end = start + length
  let found: { at: number; length: number } | null = null
  // Up to three bytes of padding may end the list, as in Python's zipfile.
  for (let at = start; at + 4 <= end; ) {
    const size = f.u16(at + 2)
    if (at + 4 + size > end) {
      throw zipFault('bad extra field', `${size} bytes`, `at most ${end - at - 4}`, { offset: at, ...place })
    }
    if (f.u16(at) === ZIP64_EXTRA) {
      if (found !== null) throw zipFault('bad extra field', 'two zip64 fields', 'one', { offset: at, ...place })
      found = { at: at + 4, length: size }
    }
    at += 4 + size
  }
  return found
}

/** Replaces each field of 32 ones by its zip64 value. The extra field holds the values of those fields only, in order. */
function widen(f: ZipFields, fields: readonly number[], extraAt: number, extraLength: number, place: Place): number[] {
  const extra = findZip64Extra(f, extraAt, extraLength, place)
  let used = 0
  return fields.map(value => {
    if (value !== ALL_ONES_32) return value
    if (extra === null || used + 8 > extra.length) {
      const found = extra === null ? 'no zip64 field' : `a zip64 field of ${extra.length} bytes`
      throw zipFault('bad zip64 field', found, 'a value for every size that says 0xffffffff', { offset: extraAt, ...place })
    }
    used += 8
    return f.u64(extra.at + used - 8, place)
  })
}

function decodeName(bytes: Uint8Array, utf8: boolean, place: Place): string {
  const encoded = Buffer.from(bytes)
  if (utf8 && !isUtf8(encoded)) throw zipFault('bad member name', 'bytes that are not UTF-8', 'UTF-8', place)
  const name =
    utf8 || isAscii(encoded)
      ? encoded.toString('utf8')
      : Array.from(encoded, b => (b < 0x80 ? String.fromCharCode(b) : CP437[b - 0x80])).join('')
  if (name.includes('\0')) throw zipFault('bad member name', `'${printable(name)}'`, 'no NUL in it', place)
  return name
}

function readCentral(f: ZipFields, at: number, directory: Directory, place: Place): { entry: Central; next: number } {
  const where = { offset: at, ...place }
  if (at + CENTRAL_SIZE > directory.end || f.u32(at) !== CENTRAL) {
    throw zipFault('bad directory', hex(f.part(at, 4)), 'a central header (50 4b 01 02)', where)
  }
  const nameLength = f.u16(at + 28)
  const extraLength = f.u16(at + 30)
  const nameAt = at + CENTRAL_SIZE
  const next = nameAt + nameLength + extraLength + f.u16(at + 32)
  if (next > directory.end) {
    throw zipFault('bad directory', `a header that ends at byte ${next}`, `at most ${directory.end}`, where)
  }
  const flags = f.u16(at + 8)
  const nameBytes = f.part(nameAt, nameLength)
  const name = decodeName(nameBytes, (flags & UTF8_FLAG) !== 0, where)
  const named = { member: name, ...where }
  const disk = f.u16(at + 34)
  if (disk !== 0 && disk !== ALL_ONES_16) throw zipFault('unsupported', `volume ${disk}`, 'a single file', named)
  const [size, compressedSize, offset] = widen(f, [f.u32(at + 24), f.u32(at + 20), f.u32(at + 42)], nameAt + nameLength, extraLength, named)
  const entry = {
    name,
    nameBytes,
    flags,
    method: f.u16(at + 10),
    crc32: f.u32(at + 16),
    compressedSize,
    size,
    headerOffset: offset + directory.shift
  }
  return { entry, next }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Checks that the local header agrees with the directory, and returns the entry. */
export function checkLocal(f: ZipFields, c: Central, directory: Directory, place: Place): ZipEntry {
  const at = c.headerOffset
  const where = { member: c.name, offset: at, ...place }
  if (at + LOCAL_SIZE > directory.start) {
    const expected = `one before the directory at byte ${directory.start}`
    throw zipFault('bad member offset', `a local header at byte ${at}`, expected, where)
  }
  if (f.u32(at) !== LOCAL_SIGNATURE) throw zipFault('bad local header', hex(f.part(at, 4)), '50 4b 03 04', where)
  const flags = f.u16(at + 6)
  const nameLength = f.u16(at + 26)
  const extraLength = f.u16(at + 28)
  const dataOffset = at + LOCAL_SIZE + nameLength + extraLength
  if (dataOffset + c.compressedSize > directory.start) {
    const found = `${c.compressedSize} bytes at byte ${dataOffset}`
    throw zipFault('bad member size', found, `data that ends before the directory at byte ${directory.start}`, where)
  }
  if (!sameBytes(f.part(at + LOCAL_SIZE, nameLength), c.nameBytes)) {
    throw zipFault('local header disagrees', 'another member name', 'the name in the directory', where)
  }
  const [size, compressedSize] = widen(f, [f.u32(at + 22), f.u32(at + 18)], at + LOCAL_SIZE + nameLength, extraLength, where)
  const later = (flags & DESCRIPTOR_FLAG) !== 0
  const claims = [
    ['method', f.u16(at + 8), c.method, false],
    ['size', size, c.size, later],
    ['compressed size', compressedSize, c.compressedSize, later],
    ['CRC-32', f.u32(at + 14), c.crc32, later]
  ] as const
  for (const [what, local, central, maybeZero] of claims) {
    if (local === central || (maybeZero && local === 0)) continue
    throw zipFault('local header disagrees', `${what} ${local}`, `${central} as in the directory`, where)
  }
  const encrypted = ((flags | c.flags) & UNREADABLE_FLAGS) !== 0
  if (c.method === STORED && !encrypted && c.size !== c.compressedSize) {
    throw zipFault('bad member size', `${c.size} bytes stored in ${c.compressedSize}`, 'the same number', where)
  }
  return {
    name: c.name,
    method: c.method,
    encrypted,
    crc32: c.crc32,
    compressedSize: c.compressedSize,
    size: c.size,
    headerOffset: at,
    dataOffset
  }
}

/** What a member takes of the file. */
interface Extent {
  readonly name: string
  readonly headerOffset: number
  readonly end: number
}

/** @throws Fault for two members of one name, or that share bytes */
export function checkDistinct(extents: readonly Extent[], place: Place): void {
  const names = new Set<string>()
  for (const { name, headerOffset } of extents) {
    if (names.has(name)) {
      throw zipFault('duplicate member', `'${printable(name)}' twice`, 'distinct names', { offset: headerOffset, ...place })
    }
    names.add(name)
  }
  const byOffset = [...extents].sort((a, b) => a.headerOffset - b.headerOffset)
  for (let i = 1; i < byOffset.length; i++) {
    const before = byOffset[i - 1]
    const { name, headerOffset } = byOffset[i]
    if (headerOffset < before.end) {
      const found = `a local header inside '${printable(before.name)}', which ends at byte ${before.end}`
      throw zipFault('overlapping members', found, 'members apart', { member: name, offset: headerOffset, ...place })
    }
  }
}

/** The directory of an archive. `f` holds the directory. */
export function readCentrals(f: ZipFields, directory: Directory, place: Place): readonly Central[] {
  const centrals: Central[] = []
  let at = directory.start
  for (let i = 0; i < directory.count; i++) {
    const { entry, next } = readCentral(f, at, directory, place)
    centrals.push(entry)
    at = next
  }
  if (at !== directory.end) {
    const found = `${directory.end - at} bytes after the last of ${directory.count} members`
    throw zipFault('bad directory', found, '0', { offset: at, ...place })
  }
  return centrals
}

/** The members of a ZIP archive in directory order. @param place names the file */
export function readZipDirectory(bytes: Uint8Array, place: Place = {}): readonly ZipEntry[] {
  const f = new ZipFields(bytes)
  if (bytes.length === 0) throw zipFault('empty', '0 bytes', 'a ZIP archive', place)
  const directory = readEnd(f, place)
  const entries = readCentrals(f, directory, place).map(central => checkLocal(f, central, directory, place))
  checkDistinct(
    entries.map(({ name, headerOffset, dataOffset, compressedSize }) => ({ name, headerOffset, end: dataOffset + compressedSize })),
    place
  )
  return entries
}
