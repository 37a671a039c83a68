/**
 * NPY encoding: the header exactly as numpy writes it, and the bytes of arrays and 0-d scalars.
 *
 * Source: numpy/lib/_format_impl.py (NEP 1, format version 1.0). Data are little-endian, in C order, or in Fortran order if
 * the caller lays them out so. Not written: versions 2.0 and 3.0 (needed only by headers over 64 KB and by non-Latin field
 * names), structured and object arrays.
 */
import { Fault, printable } from '../../core/errors.js'

export type NumericArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array

/** numpy aligns the data to this many bytes so that it can be mapped. */
const ALIGN = 64
/** numpy leaves room for the growing axis to reach 21 digits, so that a header can be rewritten in place. */
const GROWTH_AXIS_DIGITS = 21

const MAGIC = Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0)

function unwritable(problem: string, found: string, expected: string): Fault {
  return new Fault({ format: 'npy', problem, found, expected })
}

/** Number of elements of a shape. Throws on anything that is not a shape. */
export function elementCount(shape: readonly number[]): number {
  let count = 1
  for (const n of shape) {
    if (!Number.isSafeInteger(n) || n < 0) throw unwritable('bad shape', `[${shape.join(', ')}]`, 'dimensions of 0 or more')
    count *= n
  }
  if (!Number.isSafeInteger(count)) throw unwritable('bad shape', `[${shape.join(', ')}]`, 'at most 2^53 - 1 elements')
  return count
}

/** A shape as Python prints the tuple: `()`, `(3,)`, `(2, 3)`. */
export function shapeText(shape: readonly number[]): string {
  return shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`
}

/** The NPY 1.0 header (magic, length, dict text, padding, newline) that numpy writes for this descr, shape and order. */
export function encodeNpyHeader(descr: string, shape: readonly number[], fortranOrder = false): Uint8Array {
  elementCount(shape)
  if (!/^[<>|=]?[a-zA-Z]\d*$/.test(descr)) throw unwritable('bad descr', `'${printable(descr)}'`, 'a plain dtype such as <f4')
  const axis = shape[fortranOrder ? shape.length - 1 : 0]
  const room = axis === undefined ? 0 : GROWTH_AXIS_DIGITS - String(axis).length
  const order = fortranOrder ? 'True' : 'False'
  const dict = `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': ${shapeText(shape)}, }${' '.repeat(room)}`
  const prefix = MAGIC.length + 2
  // numpy adds a whole block of padding to a header that is already aligned; so does this.
  const length = prefix + dict.length + 1
  const total = length + ALIGN - (length % ALIGN)
  if (total - prefix > 0xffff) throw unwritable('header too long', `${total} bytes`, 'at most 65,545')
  const bytes = new Uint8Array(total).fill(0x20)
  bytes.set(MAGIC)
  new DataView(bytes.buffer).setUint16(MAGIC.length, total - prefix, true)
  for (let i = 0; i < dict.length; i++) bytes[prefix + i] = dict.charCodeAt(i)
  bytes[total - 1] = 0x0a
  return bytes
}

/** The dtype under which numpy stores a typed array's elements. */
export function descrOf(data: NumericArray): string {
  if (data instanceof Float32Array) return '<f4'
  if (data instanceof Float64Array) return '<f8'
  if (data instanceof BigInt64Array) return '<i8'
  if (data instanceof BigUint64Array) return '<u8'
  if (data instanceof Int32Array) return '<i4'
  if (data instanceof Uint32Array) return '<u4'
  if (data instanceof Int16Array) return '<i2'
  if (data instanceof Uint16Array) return '<u2'
  if (data instanceof Int8Array) return '|i1'
  return '|u1'
}

/** True if typed arrays have the byte order of NPY's `<` dtypes, as on nearly every machine. */
export const LITTLE_ENDIAN_HOST: boolean = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

/** Reverses the bytes of every item in place if `itemSize` is 2, 4 or 8; other sizes are left unchanged. */
export function swapItems(bytes: Uint8Array, itemSize: number): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (itemSize === 2) buffer.swap16()
  else if (itemSize === 4) buffer.swap32()
  else if (itemSize === 8) buffer.swap64()
}

function littleEndianBytes(data: NumericArray): Uint8Array {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  if (LITTLE_ENDIAN_HOST || data.BYTES_PER_ELEMENT === 1) return bytes
  const copy = bytes.slice()
  swapItems(copy, data.BYTES_PER_ELEMENT)
  return copy
}

/**
 * An `.npy` file in two parts, header and data; the data part is a view of `data`, not a copy.
 * `shape` defaults to one axis of `data.length`.
 */
export function npyParts(data: NumericArray, shape: readonly number[] = [data.length]): [Uint8Array, Uint8Array] {
  if (elementCount(shape) !== data.length) {
    throw unwritable('bad shape', shapeText(shape), `a shape of ${data.length} elements`)
  }
  return [encodeNpyHeader(descrOf(data), shape), littleEndianBytes(data)]
}

function join(header: Uint8Array, data: Uint8Array): Uint8Array {
  const whole = new Uint8Array(header.length + data.length)
  whole.set(header)
  whole.set(data, header.length)
  return whole
}

/** The whole `.npy` file of a typed array in C order. */
export function encodeNpy(data: NumericArray, shape: readonly number[] = [data.length]): Uint8Array {
  return join(...npyParts(data, shape))
}

/** A 0-d text array (`<U7` for seven code points), as `np.array('…')` is saved. */
export function encodeNpyText(text: string): Uint8Array {
  const points = Array.from(text, c => c.codePointAt(0) ?? 0)
  const lone = points.findIndex(p => p >= 0xd800 && p <= 0xdfff)
  if (lone >= 0) throw unwritable('text not encodable', `a lone surrogate at code point ${lone}`, 'Unicode text')
  // numpy drops trailing NULs on reading, so such a text would be read back shorter.
  if (points.at(-1) === 0) throw unwritable('text not encodable', 'a trailing NUL', 'a text that numpy reads back unchanged')
  const size = Math.max(1, points.length)
  const data = new Uint8Array(4 * size)
  const view = new DataView(data.buffer)
  points.forEach((p, i) => view.setUint32(4 * i, p, true))
  return join(encodeNpyHeader(`<U${size}`, []), data)
}

/** A 0-d bool, as `np.array(True)` is saved. */
export function encodeNpyBool(value: boolean): Uint8Array {
  return join(encodeNpyHeader('|b1', []), Uint8Array.of(value ? 1 : 0))
}

/** A 0-d int64, as `np.array(5)` is saved. */
export function encodeNpyInt(value: number | bigint): Uint8Array {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw unwritable('integer not encodable', String(value), 'a safe integer, or a bigint')
  }
  const big = BigInt(value)
  if (BigInt.asIntN(64, big) !== big) throw unwritable('integer not encodable', String(big), 'an int64')
  return encodeNpy(BigInt64Array.of(big), [])
}

/** A 0-d float64, as `np.array(0.5)` is saved. */
export function encodeNpyFloat(value: number): Uint8Array {
  return encodeNpy(Float64Array.of(value), [])
}
