/**
 * Files of `torch.save` since torch 1.6: a ZIP of `<prefix>/data.pkl`, which is the pickle, `<prefix>/data/<key>` for each
 * storage, `byteorder` and `version`.
 *
 * Source: torch/serialization.py (`_save`, `_load`) and caffe2/serialize/inline_container.cc. Not supported: members that are
 * deflated, and archives of TorchScript, whose values are of classes in the archive.
 */
import { printable, type Place } from '../../core/errors.js'
import type { ByteSource } from '../../core/byte-source.js'
import { openZipFile, type ZipFile } from '../zip/zip-file.js'
import { torchFault } from './faults.js'
import { TorchNames } from './names.js'
import { readPickle, type Pickle, type PickleLimits } from './pickle.js'
import { EndOfPickle } from './pickle-bytes.js'

const PICKLE = '/data.pkl'
/** Most bytes of the small members. */
const MAX_NOTE = 64
/** Most bytes of a pickle for each byte that it has in the file, beside those that any may have. */
const MAX_INFLATION = 64
const FREE_INFLATED = 2 ** 24
/** The versions that torch 2.14 reads. */
const MAX_VERSION = 10

/** Opens the archive. A CRC-32 of 0 on every member says that the writer left them out. */
export function openArchive(source: ByteSource, place: Place): Promise<ZipFile> {
  return openZipFile(source, place, { sumsMayBeZero: true })
}

/** Whether the members are those of a torch file. */
export function isArchive(names: readonly string[]): boolean {
  return names.some(isPickleName)
}

function isPickleName(name: string): boolean {
  return name.endsWith(PICKLE) && name.indexOf('/') === name.length - PICKLE.length
}

/** Reads the pickle, and finds the storages that it refers to. */
export async function readArchive(zip: ZipFile, limits: PickleLimits, file: Place): Promise<Pickle> {
  const pickles = zip.names.filter(isPickleName)
  if (pickles.length === 0) throw torchFault('not recognised', 'a ZIP archive without a pickle', 'a member <prefix>/data.pkl', file)
  if (pickles.length > 1) {
    throw torchFault('ambiguous archive', `members ${printable(pickles.join(', '))}`, 'one <prefix>/data.pkl', file)
  }
  const [member] = pickles
  const prefix = member.slice(0, -PICKLE.length)
  // A damaged name in the directory would hide the byte order.
  for (const name of zip.names) if (!name.startsWith(`${prefix}/data/`)) await zip.check(name)
  const bigEndian = await isBigEndian(zip, prefix, file)
  await checkVersion(zip, prefix, file)
  refuseInflated(zip, member, file)
  const bytes = await zip.read(member, limits.bytes)
  const place = { ...file, member }
  const names = new TorchNames({ ...place, offset: 0 })
  const pickle = readWhole(bytes, names, limits, place)
  for (const [key, storage] of names.storages.byKey) {
    const name = `${prefix}/data/${key}`
    const where = { ...file, member: name }
    if (!zip.has(name)) throw torchFault('missing storage', 'no such member', `${storage.bytes} bytes`, where)
    if (zip.size(name) !== storage.bytes) {
      throw torchFault('wrong storage size', `${zip.size(name)} bytes`, `${storage.bytes} as the pickle states`, where)
    }
    storage.bind((start, end) => zip.slice(name, start, end), bigEndian)
  }
  return pickle
}

/** torch stores its pickle. One that was deflated by other hands may state a gigabyte of values in a few bytes. */
function refuseInflated(zip: ZipFile, member: string, file: Place): void {
  const [size, stored] = [zip.size(member), zip.storedSize(member)]
  if (size <= Math.max(FREE_INFLATED, MAX_INFLATION * stored)) return
  throw torchFault('pickle too large', `${size} bytes out of ${stored}`, `at most ${MAX_INFLATION} times as many`, { ...file, member })
}

function readWhole(bytes: Uint8Array<ArrayBuffer>, names: TorchNames, limits: PickleLimits, place: Place): Pickle {
  let pickle: Pickle
  try {
    pickle = readPickle(bytes, names, limits, { ...place, offset: 0 })
  } catch (error) {
    if (!(error instanceof EndOfPickle)) throw error
    throw torchFault('truncated pickle', `the end of its ${bytes.length} bytes`, 'the rest of it', place)
  }
  if (pickle.length === bytes.length) return pickle
  const found = `${bytes.length - pickle.length} bytes after the pickle`
  throw torchFault('trailing bytes', found, 'none', { ...place, offset: pickle.length })
}

async function note(zip: ZipFile, member: string): Promise<string | null> {
  if (!zip.has(member)) return null
  return Buffer.from(await zip.read(member, MAX_NOTE)).toString('latin1')
}

/** Before torch 2.1 nothing states the byte order, and it is little-endian. */
async function isBigEndian(zip: ZipFile, prefix: string, file: Place): Promise<boolean> {
  const member = `${prefix}/byteorder`
  const order = await note(zip, member)
  if (order === null || order === 'little') return false
  if (order === 'big') return true
  throw torchFault('unknown byte order', printable(order), 'little or big', { ...file, member })
}

async function checkVersion(zip: ZipFile, prefix: string, file: Place): Promise<void> {
  const member = `${prefix}/version`
  const version = await note(zip, member)
  if (version === null) return
  if (/^\d{1,3}\s*$/.test(version) && Number(version) >= 1 && Number(version) <= MAX_VERSION) return
  throw torchFault('unsupported version', printable(version.trimEnd()), `1 to ${MAX_VERSION}`, { ...file, member })
}
