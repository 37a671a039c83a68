/**
 * NPY arrays: one `.npy` file's bytes as a typed array in C order.
 *
 * Source: numpy/lib/_format_impl.py; dtypes as in `npy-header.ts`. Float16 is widened to Float32Array (exactly). A bool is
 * 0 or 1 in a Uint8Array (any non-zero byte is true, as in numpy). Text is an array of strings, U from UCS-4 and S from
 * ASCII, without trailing NULs, as numpy drops them. A truncated file and trailing bytes are refused.
 */
import { createRequire } from 'node:module'
import type Ndarray from 'ndarray'
import { Fault, type Place } from '../../core/errors.js'
import { encodeNpyHeader, LITTLE_ENDIAN_HOST, swapItems, type NumericArray } from './encode.js'
import { checkNpyLength, parseNpyHeader, type Dtype, type NpyHeader } from './npy-header.js'

export type NpyData = NumericArray | readonly string[]

export interface NpyArray {
  /** dtype as the file writes it, e.g. `>f8` */
  readonly descr: string
  readonly shape: readonly number[]
  /** order of the elements in the file; `data` and `raw` are always in C order */
  readonly fortranOrder: boolean
  /** elements in C order, in the machine's byte order; a view of the file's bytes where possible */
  readonly data: NpyData
  /** the stored elements' bytes in C order, little-endian: lossless for every dtype. May share memory with `data`. */
  readonly raw: Uint8Array
  /** dtype of `raw`, as numpy writes it */
  readonly rawDescr: string
}

/** 2^53 / 2^32: at this high half a 64-bit integer leaves the range that doubles hold exactly. */
const HIGH_LIMIT = 2 ** 21

/** Copies bytes to an address that is aligned for any typed array. */
export type Copy = (bytes: Uint8Array) => Uint8Array

const copyToNew: Copy = bytes => new Uint8Array(bytes)

/** The bytes at an address that is aligned for typed arrays: a copy, or the bytes themselves if they are aligned. */
function aligned(bytes: Uint8Array, size: number, copy: Copy = copyToNew): Uint8Array {
  return bytes.byteOffset % size === 0 ? bytes : copy(bytes)
}

function alignment(dtype: Dtype): number {
  return dtype.kind === 'U' ? 4 : dtype.kind === 'S' ? 1 : dtype.itemSize
}

function unitsOf(bytes: Uint8Array, unit: 1 | 2 | 4): Uint8Array | Uint16Array | Uint32Array {
  if (unit === 1) return bytes
  const { buffer, byteOffset, byteLength } = aligned(bytes, unit)
  return unit === 2 ? new Uint16Array(buffer, byteOffset, byteLength / 2) : new Uint32Array(buffer, byteOffset, byteLength / 4)
}

/**
 * Reorders items from Fortran order to C order. ndarray gives the strides: an array in Fortran order is the C-ordered array
 * of the reversed axes, transposed.
 */
function toCOrder(bytes: Uint8Array, shape: readonly number[], itemSize: number): Uint8Array {
  const unit = itemSize % 4 === 0 ? 4 : itemSize % 2 === 0 ? 2 : 1
  const from = unitsOf(bytes, unit)
  const ordered = new Uint8Array(bytes.length)
  const to = unitsOf(ordered, unit)
  const units = itemSize / unit
  // ndarray is loaded on demand: few files need it, and loading it (3 ms) takes longer than reading an archive.
  const ndarray = createRequire(import.meta.url)('ndarray') as typeof Ndarray
  const axes = shape.length
  const { stride } = ndarray(from, [...shape].reverse()).transpose(...shape.map((_, i) => axes - 1 - i))

  const index = new Array<number>(axes).fill(0)
  const [innerLength, innerStride] = [shape[axes - 1], stride[axes - 1]]
  let out = 0
  let start = 0
  while (out < to.length) {
    for (let i = 0, item = start; i < innerLength; i++, item += innerStride) {
      for (let u = 0; u < units; u++) to[out++] = from[item * units + u]
    }
    for (let axis = axes - 2; axis >= 0; axis--) {
      start += stride[axis]
      if (++index[axis] < shape[axis]) break
      start -= stride[axis] * shape[axis]
      index[axis] = 0
    }
  }
  return ordered
}

/** Widens IEEE half precision to single, bit by bit: exact, and NaN payloads are kept. */
export function widenFloat16(halves: Uint16Array): Float32Array {
  const bits = new Uint32Array(halves.length)
  for (let i = 0; i < halves.length; i++) {
    const half = halves[i]
    const sign = (half & 0x8000) << 16
    const exponent = (half >> 10) & 0x1f
    const fraction = half & 0x3ff
    if (exponent === 0x1f) bits[i] = sign | 0x7f800000 | (fraction << 13)
    else if (exponent !== 0) bits[i] = sign | ((exponent + 112) << 23) | (fraction << 13)
    else if (fraction === 0) bits[i] = sign
    else {
      // Subnormal: the leading one bit moves up to the implicit place.
      const shift = Math.clz32(fraction) - 21
      bits[i] = sign | ((113 - shift) << 23) | (((fraction << shift) & 0x3ff) << 13)
    }
  }
  return new Float32Array(bits.buffer)
}

function decodeUcs4(bytes: Uint8Array, itemSize: number, place: Place): string[] {
  const points = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const texts: string[] = []
  for (let at = 0; at < bytes.length; at += itemSize) {
    let end = at + itemSize
    while (end > at && points.getUint32(end - 4, true) === 0) end -= 4
    let text = ''
    for (let i = at; i < end; i += 4) {
      const point = points.getUint32(i, true)
      if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
        const found = `code point 0x${point.toString(16)}`
        const where = { index: at / itemSize, ...place }
        throw new Fault({ format: 'npy', problem: 'bad text', found, expected: 'a Unicode scalar value', place: where })
      }
      text += String.fromCodePoint(point)
    }
    texts.push(text)
  }
  return texts
}

function decodeAscii(bytes: Uint8Array, itemSize: number, place: Place): string[] {
  const texts: string[] = []
  for (let at = 0; at < bytes.length; at += itemSize) {
    let end = at + itemSize
    while (end > at && bytes[end - 1] === 0) end--
    const item = bytes.subarray(at, end)
    const bad = item.findIndex(b => b > 0x7f)
    if (bad >= 0) {
      const found = `byte 0x${item[bad].toString(16)} in an S dtype`
      const where = { index: at / itemSize, ...place }
      throw new Fault({ format: 'npy', problem: 'bad text', found, expected: 'ASCII', place: where })
    }
    texts.push(Buffer.from(item.buffer, item.byteOffset, item.length).toString('latin1'))
  }
  return texts
}

/** The elements of `raw` (C order, little-endian, aligned) as arrays of the machine's byte order. */
function decode(raw: Uint8Array, dtype: Dtype, place: Place): NpyData {
  const { kind, itemSize } = dtype
  if (kind === 'U') return decodeUcs4(raw, itemSize, place)
  if (kind === 'S') return decodeAscii(raw, itemSize, place)
  if (kind === 'b') return raw.every(b => b < 2) ? raw : raw.map(b => (b === 0 ? 0 : 1))
  let native = raw
  if (!LITTLE_ENDIAN_HOST) {
    native = new Uint8Array(raw)
    swapItems(native, itemSize)
  }
  const at = [native.buffer, native.byteOffset, native.byteLength / itemSize] as const
  switch (`${kind}${itemSize}`) {
    case 'f2':
      return widenFloat16(new Uint16Array(...at))
    case 'f4':
      return new Float32Array(...at)
    case 'f8':
      return new Float64Array(...at)
    case 'i1':
      return new Int8Array(...at)
    case 'i2':
      return new Int16Array(...at)
    case 'i4':
      return new Int32Array(...at)
    case 'i8':
      return new BigInt64Array(...at)
    case 'u1':
      return new Uint8Array(...at)
    case 'u2':
      return new Uint16Array(...at)
    case 'u4':
      return new Uint32Array(...at)
    default:
      return new BigUint64Array(...at)
  }
}

/**
 * Reads a whole `.npy` file. `place` names the file and member; offsets in faults count from the start of `bytes`. The
 * result may view `bytes`, which must stay unchanged while it is used. `known` is the header of the same bytes, if it is
 * parsed already.
 */
export function readNpy(bytes: Uint8Array, place: Place = {}, copy: Copy = copyToNew, known?: NpyHeader): NpyArray {
  const header = known ?? parseNpyHeader(bytes, place)
  checkNpyLength(header, bytes.length, place)
  const { descr, shape, fortranOrder, dtype, dataOffset } = header
  const size = alignment(dtype)
  // A plain view: a Buffer would become the data of u1 arrays, and its slice() does not copy.
  let raw = new Uint8Array(bytes.buffer, bytes.byteOffset + dataOffset, bytes.length - dataOffset)
  const permuted = fortranOrder && shape.filter(n => n > 1).length > 1 && raw.length > 0
  if (permuted) raw = toCOrder(raw, shape, dtype.itemSize)
  if (dtype.bigEndian && size > 1) {
    if (!permuted) raw = new Uint8Array(raw)
    swapItems(raw, size)
  }
  raw = aligned(raw, size, copy)
  const length = dtype.kind === 'U' ? dtype.itemSize / 4 : dtype.itemSize
  return {
    descr,
    shape,
    fortranOrder,
    data: decode(raw, dtype, place),
    raw,
    rawDescr: `${size === 1 ? '|' : '<'}${dtype.kind}${length}`
  }
}

/** The array as an `.npy` file in two parts, header and elements: C order, little-endian, the stored dtype, lossless. */
export function rawNpyParts(array: NpyArray): [Uint8Array, Uint8Array] {
  return [encodeNpyHeader(array.rawDescr, array.shape), array.raw]
}

export function isText(data: NpyData): data is readonly string[] {
  return Array.isArray(data)
}

/** 64-bit integers as doubles. @param format first word of the message. @throws Fault for a value beyond 2^53 */
export function integersAsFloat64(data: BigInt64Array | BigUint64Array, format: string, place: Place): Float64Array {
  // Read as two 32-bit halves: this needs no bigint per element, and checks the range by the high half alone.
  const count = data.length
  const layout = [data.buffer, data.byteOffset, 2 * count] as const
  const halves = new Uint32Array(...layout)
  const highHalves = data instanceof BigInt64Array ? new Int32Array(...layout) : halves
  const first = LITTLE_ENDIAN_HOST ? 0 : 1
  const numbers = new Float64Array(count)
  for (let i = 0; i < count; i++) {
    const low = halves[2 * i + first]
    const high = highHalves[2 * i + 1 - first]
    if ((high >= HIGH_LIMIT && !(high === HIGH_LIMIT && low === 0)) || high < -HIGH_LIMIT) {
      throw new Fault({
        format,
        problem: 'integer out of range',
        found: String(data[i]),
        expected: 'at most 2^53 in size, where every integer has a double of its own',
        place: { index: i, ...place }
      })
    }
    numbers[i] = high * 4294967296 + low
  }
  return numbers
}

/**
 * Any numeric array as doubles that equal the stored numbers exactly. Float64 data are returned without a copy.
 * @throws Fault for int64 and uint64 values beyond 2^53
 */
export function asFloat64(array: NpyArray, place: Place = {}): Float64Array {
  const { data, descr } = array
  if (isText(data)) {
    throw new Fault({ format: 'npy', problem: 'wrong dtype', found: `text (${descr})`, expected: 'numbers', place })
  }
  if (data instanceof Float64Array) return data
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) return integersAsFloat64(data, 'npy', place)
  return new Float64Array(data)
}
