/**
 * Second reading of NPZ archives by fflate and npyjs: names of the members, then shape and every element of each.
 *
 * fflate checks no CRC-32 (our reader did), and counts offsets from the file's first byte, so it cannot read an archive
 * with bytes before it. npyjs silently returns wrong arrays for Fortran order, texts beyond the basic plane or with NULs
 * inside, and Python 2's long shapes. For everything else that it cannot read it throws.
 */
import { readStillSync } from '../core/still-file-sync.js'
import type { NpyArray } from '../ingest/npz/npy.js'
import { openNpz, type Npz } from '../ingest/npz/npz.js'
import { readZipDirectory } from '../ingest/zip/zip.js'
import { Fault } from '../core/errors.js'
import { Comparison, thrown, type SecondReading } from './reading.js'

/** Problems that our reader reports for a member that is no array: its first bytes or its packing are not an array's. */
const NO_ARRAY = ['not recognised', 'empty', 'unsupported']

/** Most characters of a text array that npyjs can read: it passes them all as arguments of one call. */
const MAX_TEXT_POINTS = 10_000

export type OpenOwn = (bytes: Uint8Array, file: string) => Pick<Npz, 'names' | 'read'>

const openOwn: OpenOwn = (bytes, file) => openNpz(bytes, { file })

export async function compareNpz(path: string, open = openOwn): Promise<SecondReading> {
  const comparison = new Comparison('npz', 'fflate and npyjs', path)
  return comparison.run(async () => {
    const { bytes } = readStillSync(path, 'npz')
    const npz = open(bytes, path)
    const members = new Map(readZipDirectory(bytes, { file: path }).map(entry => [arrayName(entry.name), entry]))
    // 1. Our reader alone: its refusals count, whatever the second reader can judge of the file.
    const unreadable = new Map(npz.names.map(name => [name, whyUnread(npz, name, members.get(name)?.name ?? name)]))
    // 2. Both readers.
    if ([...members.values()].some(entry => !startsMember(bytes, entry.headerOffset)) || isPrepended(bytes)) {
      comparison.unread(null, 'bytes before the archive, from which its offsets do not count: fflate does not see that')
      return
    }
    const { unzipSync } = await import('fflate')
    for (const name of npz.names) {
      const entry = members.get(name)
      // A name without the UTF-8 flag is in code page 437, which fflate reads as Latin-1.
      if (entry === undefined || !/^[\x20-\x7e]*$/.test(entry.name)) {
        comparison.unread(name, 'a name that is not ASCII: fflate decodes it otherwise')
        continue
      }
      const unread = unreadable.get(name) ?? null
      if (unread !== null) {
        comparison.unread(name, unread)
        continue
      }
      let second: Uint8Array | undefined
      try {
        second = unzipSync(bytes, { filter: file => file.name === entry.name })[entry.name]
      } catch (error) {
        comparison.unread(name, `fflate: ${thrown(error)}`)
        continue
      }
      if (second === undefined) throw comparison.otherwise('a member', 'none', { member: name })
      await compareNpy(comparison, npz.read(name), second, name)
    }
  })
}

/**
 * Why our reader gives no array for a member although the file is right: an array of objects, or no array (a text, a
 * folder's entry), which nothing needs. Null for an array.
 *
 * @throws Fault: the member is broken
 */
function whyUnread(npz: Pick<Npz, 'read'>, name: string, member: string): string | null {
  try {
    npz.read(name)
    return null
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { problem } = error.details
    if (problem === 'unsupported dtype') return `our reader refuses it: ${error.message}`
    if (!member.endsWith('.npy') && NO_ARRAY.includes(problem)) return `no .npy file: ${error.message}`
    throw error
  }
}

function arrayName(member: string): string {
  return member.endsWith('.npy') ? member.slice(0, -4) : member
}

function startsMember(bytes: Uint8Array, offset: number): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset).readUInt32LE(offset) === 0x04034b50
}

/** True if the file starts with neither a member nor, for an empty archive, its end record. */
function isPrepended(bytes: Uint8Array): boolean {
  return !['504b0304', '504b0506', '504b0606'].includes(Buffer.from(bytes.subarray(0, 4)).toString('hex'))
}

/** Compares the second reading of one `.npy` file with ours. */
export async function compareNpy(comparison: Comparison, ours: NpyArray, bytes: Uint8Array, name: string): Promise<void> {
  const doubt = doubtOf(ours, bytes)
  if (doubt !== null) return comparison.unread(name, doubt)
  const { parse } = await import('npyjs')
  let second: { readonly data: ArrayLike<unknown>; readonly shape: readonly number[] }
  try {
    // A buffer of its own, from offset 0, since npyjs views the buffer.
    second = parse(new Uint8Array(bytes).buffer) as unknown as typeof second
  } catch (error) {
    return comparison.unread(name, `npyjs: ${thrown(error)}`)
  }
  const place = { member: name }
  const { data, shape } = ours
  if (shape.join() !== second.shape.join())
    throw comparison.otherwise(`(${shape.join(', ')})`, `(${second.shape.join(', ')})`, { ...place, array: 'shape' })
  comparison.agree(data.length, second.data.length, place)
  for (let index = 0; index < data.length; index++) {
    const found = second.data[index]
    const value = typeof found === 'boolean' ? Number(found) : found
    if (!Object.is(data[index], value)) throw comparison.different(data[index], value, { ...place, index })
  }
  comparison.add(data.length)
}

/** Files that npyjs reads wrongly without an error. */
function doubtOf({ descr, shape, fortranOrder, data }: NpyArray, bytes: Uint8Array): string | null {
  if (/^[>=]|^[a-zA-Z]/.test(descr)) return `dtype ${descr}: npyjs knows no other byte order than the one it states as < or |`
  if (fortranOrder && shape.filter(length => length > 1).length > 1) return 'Fortran order: npyjs leaves the elements as they lie'
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 2 ** 16)).toString('latin1')
  if (/\d[lL]/.test(/'shape'\s*:\s*\(([^)]*)\)/.exec(header)?.[1] ?? '')) return 'a shape as Python 2 writes it'
  if (!/U/.test(descr)) return null
  const texts = data as readonly string[]
  const size = Number(/\d+/.exec(descr)?.[0] ?? 0)
  if (size === 0 || texts.length * size > MAX_TEXT_POINTS)
    return `texts of ${size} characters, ${texts.length} of them: npyjs reads neither none nor many`
  return texts.some(text => /[\0\u{10000}-\u{10ffff}]/u.test(text))
    ? 'a text with NUL or a character beyond the basic plane: npyjs cuts by halves'
    : null
}
