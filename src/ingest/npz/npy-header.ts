/**
 * NPY headers, versions 1.0, 2.0 and 3.0: magic, header length, and a Python dict with exactly `descr`, `fortran_order`
 * and `shape`. This module also decides which dtypes are read.
 *
 * Source: numpy/lib/_format_impl.py (NEP 1). It accepts what numpy accepts, except sizes and types that no JavaScript
 * array holds exactly. Refused by name: object arrays (pickles are never evaluated), structured and void dtypes, complex,
 * long double, datetimes, zero-length text.
 */
import { isUtf8 } from 'node:buffer'
import { Fault, printable, type Place } from '../../core/errors.js'
import { parsePythonLiteral, type Literal } from './literal.js'
import { shapeText } from './encode.js'

/** f: IEEE float, i: signed, u: unsigned, b: bool (a byte), S: bytes as text, U: UCS-4 text */
export type DtypeKind = 'f' | 'i' | 'u' | 'b' | 'S' | 'U'

export interface Dtype {
  readonly kind: DtypeKind
  /** bytes per element */
  readonly itemSize: number
  readonly bigEndian: boolean
}

export interface NpyHeader {
  readonly version: readonly [major: number, minor: number]
  /** as the file writes it */
  readonly descr: string
  readonly dtype: Dtype
  readonly shape: readonly number[]
  readonly fortranOrder: boolean
  /** number of elements: the product of the shape */
  readonly count: number
  /** offset of the first element in the `.npy` file */
  readonly dataOffset: number
  readonly dataBytes: number
}

/** Number of first bytes that give the length of a header, in every version. */
export const NPY_PREAMBLE = 12
/** numpy's own limit (`max_header_size`). */
const MAX_HEADER = 10_000
/** numpy's own limit before version 2.0 of the library; since then it is 64. */
const MAX_AXES = 32
const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]
const READABLE = 'f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1, or U or S text'
const SUPPORTED = /^([<>=|]?)(?:(f[248]|[iu][1248]|b1)|([SU])([1-9]\d{0,8}))$/

const REFUSED: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/^[<>=|]?O\d*$/, 'object array (pickles are never evaluated)'],
  [/^[<>=|]?V\d*$/, 'void or structured array'],
  [/^[<>=|]?c\d+$/, 'complex array'],
  [/^[<>=|]?f(10|12|16)$/, 'long double array'],
  [/^[<>=|]?[Mm]8/, 'datetime or timedelta array']
]

function npyFault(problem: string, found: string, expected: string, place: Place): Fault {
  return new Fault({ format: 'npy', problem, found, expected, place })
}

/**
 * Length in bytes of everything before the data, read from the file's first bytes (12, or all of a shorter file).
 * `available` is the length of the file.
 */
export function npyHeaderLength(start: Uint8Array, available: number, place: Place = {}): number {
  if (available === 0) throw npyFault('empty', '0 bytes', 'an .npy file', place)
  const magic = start.subarray(0, Math.min(6, available))
  if (magic.some((b, i) => b !== MAGIC[i])) {
    const found = Array.from(start.subarray(0, 6), b => b.toString(16).padStart(2, '0')).join(' ')
    throw npyFault('not recognised', `bytes ${found}`, "93 4e 55 4d 50 59 ('\\x93NUMPY')", { offset: 0, ...place })
  }
  if (available < NPY_PREAMBLE) throw npyFault('truncated', `${available} bytes`, 'a whole header', place)
  const [major, minor] = [start[6], start[7]]
  if (major < 1 || major > 3 || minor !== 0) {
    throw npyFault('unsupported version', `${major}.${minor}`, '1.0, 2.0 or 3.0', { offset: 6, ...place })
  }
  const view = new DataView(start.buffer, start.byteOffset, start.byteLength)
  const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true)
  if (length > MAX_HEADER) {
    throw npyFault('header too long', `${length} bytes`, `at most ${MAX_HEADER}, as in numpy`, { offset: 8, ...place })
  }
  const end = (major === 1 ? 10 : 12) + length
  if (end > available) throw npyFault('truncated', `${available} bytes`, `a header of ${end}`, place)
  return end
}

function parseDtype(value: Literal, text: string, place: Place): { descr: string; dtype: Dtype } {
  // Asked for on the way to a fault alone: what it takes to print is much.
  const source = (): string => printable(text.slice(value.at, value.end))
  if (value.kind !== 'string') {
    const what = value.kind === 'list' || value.kind === 'tuple' ? 'structured or nested dtype' : 'not a dtype'
    throw npyFault('unsupported dtype', `descr ${source()} (${what})`, READABLE, place)
  }
  const match = SUPPORTED.exec(value.text)
  if (match === null) {
    const what = REFUSED.find(([pattern]) => pattern.test(value.text))?.[1]
    throw npyFault('unsupported dtype', `descr ${source()}${what === undefined ? '' : ` (${what})`}`, READABLE, place)
  }
  const [, order, numeric, textKind, digits] = match
  const kind = (numeric?.[0] ?? textKind) as DtypeKind
  const itemSize = numeric === undefined ? Number(digits) * (kind === 'U' ? 4 : 1) : Number(numeric[1])
  // `=`, `|` and no sign mean the machine's order. numpy never writes them for wider items, and the machines that it is
  // likely to have written on are little-endian.
  return { descr: value.text, dtype: { kind, itemSize, bigEndian: order === '>' } }
}

function parseShape(value: Literal, text: string, place: Place): { shape: number[]; count: number } {
  const bad = (expected: string): Fault => npyFault('bad shape', printable(text.slice(value.at, value.end)), expected, place)
  if (value.kind !== 'tuple') throw bad('a tuple of integers')
  if (value.items.length > MAX_AXES) {
    throw npyFault('bad shape', `${value.items.length} dimensions`, `at most ${MAX_AXES}`, place)
  }
  const shape: number[] = []
  let product = 1
  for (const item of value.items) {
    if (item.kind !== 'int') throw bad('a tuple of integers')
    if (item.value < 0) throw bad('dimensions of 0 or more')
    shape.push(item.value === 0 ? 0 : item.value)
    // Empty axes do not enter the product, as in numpy: (0, 2^60, 2^60) is refused, and is not an empty array.
    if (item.value > 0) product *= item.value
    if (product > Number.MAX_SAFE_INTEGER) throw bad('at most 2^53 - 1 elements')
  }
  return { shape, count: shape.includes(0) ? 0 : product }
}

function parseOrder(value: Literal, text: string, place: Place): boolean {
  if (value.kind === 'name' && value.text !== 'None') return value.text === 'True'
  throw npyFault('bad header', `'fortran_order': ${printable(text.slice(value.at, value.end))}`, 'True or False', place)
}

/** The header at the start of `bytes`, which contain all of it. @param available the file's length if `bytes` are fewer */
export function parseNpyHeader(bytes: Uint8Array, place: Place = {}, available: number = bytes.length): NpyHeader {
  const end = npyHeaderLength(bytes, available, place)
  const major = bytes[6]
  const start = major === 1 ? 10 : 12
  const encoded = Buffer.from(bytes.subarray(start, end))
  if (major === 3 && !isUtf8(encoded)) {
    throw npyFault('bad header', 'bytes that are not UTF-8', 'UTF-8 in version 3.0', { offset: start, ...place })
  }
  const text = encoded.toString(major === 3 ? 'utf8' : 'latin1')
  const placeAt = (index: number): Place => {
    const before = major === 3 ? Buffer.byteLength(text.slice(0, index)) : index
    return { offset: start + before, ...place }
  }
  const dict = parsePythonLiteral(text, placeAt)
  if (dict.kind !== 'dict') throw npyFault('bad header', printable(text.trim()), 'a dict', placeAt(dict.at))

  const values = new Map<string, Literal>()
  for (const [key, value] of dict.entries) {
    const name = key.kind === 'string' ? key.text : text.slice(key.at, key.end)
    if (key.kind !== 'string' || !['descr', 'fortran_order', 'shape'].includes(name) || values.has(name)) {
      const found = `${values.has(name) ? 'a second' : 'the'} key '${printable(name)}'`
      throw npyFault('bad header', found, 'descr, fortran_order and shape, once each', placeAt(key.at))
    }
    values.set(name, value)
  }
  const get = (key: string): Literal => {
    const value = values.get(key)
    if (value === undefined) {
      throw npyFault('bad header', `no key '${key}'`, 'descr, fortran_order and shape, once each', placeAt(dict.at))
    }
    return value
  }
  const [descrValue, orderValue, shapeValue] = [get('descr'), get('fortran_order'), get('shape')]
  const fortranOrder = parseOrder(orderValue, text, placeAt(orderValue.at))
  const { descr, dtype } = parseDtype(descrValue, text, placeAt(descrValue.at))
  const { shape, count } = parseShape(shapeValue, text, placeAt(shapeValue.at))
  return {
    version: [major, bytes[7]],
    descr,
    dtype,
    shape,
    fortranOrder,
    count,
    dataOffset: end,
    dataBytes: count * dtype.itemSize
  }
}

/** Throws unless a file of `available` bytes is exactly the header and its elements. */
export function checkNpyLength(header: NpyHeader, available: number, place: Place = {}): void {
  const { descr, shape, dataOffset, dataBytes } = header
  const present = available - dataOffset
  if (present === dataBytes) return
  const what = present < dataBytes ? 'truncated' : 'trailing bytes'
  throw npyFault(what, `${present} bytes of data`, `${dataBytes} for ${shapeText(shape)} of ${descr}`, place)
}
