/**
 * NPZ archives: a ZIP of `.npy` members, as `np.savez` and `np.savez_compressed` write it. The archive's structure is
 * checked on opening. Members are read on demand: an object array among readable ones is refused only when it is read.
 *
 * Sources: numpy/lib/_npyio_impl.py (NpzFile). `zip.ts`, `unzip.ts` and `npy.ts` state what they do not support.
 */
import { Fault, nearest, printable, type Place } from '../../core/errors.js'
import { readNpy, type Copy, type NpyArray } from './npy.js'
import { checkNpyLength, npyHeaderLength, NPY_PREAMBLE, parseNpyHeader, type NpyHeader } from './npy-header.js'
import { isDeflated, readMember, readMemberPrefix } from '../zip/unzip.js'
import { readZipDirectory, type ZipEntry } from '../zip/zip.js'

export interface NpzOptions {
  /** name of the archive, for faults */
  readonly file?: string
  /** largest member that is read, in bytes uncompressed; default 256 MiB: 33 million float64 */
  readonly maxMemberBytes?: number
  /** makes copies at aligned addresses; default: in new memory for each */
  readonly copy?: Copy
}

export interface Npz {
  /** array names in archive order: member names without `.npy`, as numpy's `files` */
  readonly names: readonly string[]
  has(name: string): boolean
  /** Dtype and shape, from the member's first bytes. Of a large member no more is inflated, and no CRC-32 is checked. */
  header(name: string): NpyHeader
  /** The array, with size and CRC-32 checked. It may be a view of the archive's bytes. */
  read(name: string): NpyArray
  /** The array as `read` gives it, and its `.npy` file verbatim with its CRC-32, for archiving it again. */
  readFile(name: string): NpyFile
}

export interface NpyFile {
  readonly array: NpyArray
  readonly bytes: Uint8Array
  readonly crc32: number
}

const DEFAULT_MAX_MEMBER_BYTES = 2 ** 28
/** Of a member above this size the NPY header is checked before the rest is inflated. A smaller one is inflated at once. */
const LARGE = 2 ** 20

class ZipNpz implements Npz {
  readonly names: readonly string[]
  readonly #members: ReadonlyMap<string, ZipEntry>
  readonly #bytes: Uint8Array
  readonly #place: Place
  readonly #maxMemberBytes: number
  readonly #copy: Copy | undefined
  /** headers parsed so far */
  readonly #headers = new Map<ZipEntry, NpyHeader>()
  /** members that were inflated whole and checked for their header, until they are read */
  readonly #inflated = new Map<ZipEntry, Uint8Array>()

  constructor(bytes: Uint8Array, members: ReadonlyMap<string, ZipEntry>, place: Place, options: NpzOptions) {
    this.#bytes = bytes
    this.#members = members
    this.names = [...members.keys()]
    this.#place = place
    this.#maxMemberBytes = options.maxMemberBytes ?? DEFAULT_MAX_MEMBER_BYTES
    this.#copy = options.copy
  }

  has(name: string): boolean {
    return this.#members.has(name)
  }

  header(name: string): NpyHeader {
    return this.#readHeader(this.#entry(name))
  }

  read(name: string): NpyArray {
    return this.readFile(name).array
  }

  readFile(name: string): NpyFile {
    const entry = this.#entry(name)
    // The directory's size bounds the inflated bytes. A huge size in the directory is checked against the array's header.
    if (entry.size > LARGE) checkNpyLength(this.#readHeader(entry), entry.size, this.#at(entry))
    const bytes = this.#inflated.get(entry) ?? readMember(this.#bytes, entry, this.#maxMemberBytes, this.#at(entry))
    this.#inflated.delete(entry)
    const array = readNpy(bytes, this.#at(entry), this.#copy, this.#headers.get(entry))
    return { array, bytes, crc32: entry.crc32 }
  }

  #readHeader(entry: ZipEntry): NpyHeader {
    const known = this.#headers.get(entry)
    if (known !== undefined) return known
    const place = this.#at(entry)
    const whole = this.#inflateSmall(entry)
    const first = (length: number): Uint8Array => whole ?? readMemberPrefix(this.#bytes, entry, length, this.#maxMemberBytes, place)
    const start = first(NPY_PREAMBLE)
    const length = npyHeaderLength(start, entry.size, place)
    const header = parseNpyHeader(start.length >= length ? start : first(length), place, entry.size)
    this.#headers.set(entry, header)
    return header
  }

  /** Inflates a small member and keeps it for `readFile`. Null if it is large or damaged: then its prefix is read alone. */
  #inflateSmall(entry: ZipEntry): Uint8Array | null {
    if (!isDeflated(entry) || entry.size > LARGE) return null
    try {
      const bytes = readMember(this.#bytes, entry, this.#maxMemberBytes, this.#at(entry))
      this.#inflated.set(entry, bytes)
      return bytes
    } catch (error) {
      if (error instanceof Fault) return null
      throw error
    }
  }

  #entry(name: string): ZipEntry {
    const entry = this.#members.get(name)
    if (entry !== undefined) return entry
    const found = this.names.length === 0 ? 'an empty archive' : `only ${printable(this.names.join(', '))}`
    const near = nearest(name, this.names)
    throw new Fault({
      format: 'npz',
      problem: 'missing array',
      found,
      expected: `an array '${printable(name)}'${near === null ? '' : ` (is it ${printable(near)}?)`}`,
      place: this.#place
    })
  }

  #at(entry: ZipEntry): Place {
    return { member: entry.name, ...this.#place }
  }
}

function isNpyFile(bytes: Uint8Array): boolean {
  return bytes.length >= 6 && bytes[0] === 0x93 && Buffer.from(bytes.subarray(1, 6)).toString('latin1') === 'NUMPY'
}

/** Opens an archive held in memory. @throws Fault if it is not a ZIP, or contradicts itself */
export function openNpz(bytes: Uint8Array, options: NpzOptions = {}): Npz {
  const place: Place = options.file === undefined ? {} : { file: options.file }
  const fault = (problem: string, found: string, expected: string): Fault => new Fault({ format: 'npz', problem, found, expected, place })
  if (bytes.length === 0) throw fault('empty', '0 bytes', 'a ZIP archive of .npy members')
  if (isNpyFile(bytes)) throw fault('not an archive', 'a single .npy file', 'a ZIP archive of .npy members')
  const members = new Map<string, ZipEntry>()
  for (const entry of readZipDirectory(bytes, place)) {
    const name = entry.name.endsWith('.npy') ? entry.name.slice(0, -4) : entry.name
    if (members.has(name)) {
      throw fault('ambiguous array', `members '${printable(name)}' and '${printable(name)}.npy'`, 'one')
    }
    members.set(name, entry)
  }
  return new ZipNpz(bytes, members, place, options)
}
