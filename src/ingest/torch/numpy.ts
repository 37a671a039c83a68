/**
 * numpy's values in a pickle: scalars, arrays of numbers, texts and plain objects. Their dtype is a text that is checked, and their
 * bytes are as many as dtype and shape say. Nothing is called.
 *
 * Sources: numpy/_core/src/multiarray/methods.c (`array_reduce`, `array_setstate`), descriptor.c (`arraydescr_reduce`),
 * scalartypes.c.src (`gentype_reduce`). Not supported: structured arrays, dates, complex numbers, texts of bytes.
 */
import { printable, type Place } from '../../core/errors.js'
import { contiguousStride, lengthOf } from '../tensors/strides.js'
import { decodeElements, ITEM_SIZE, toNativeOrder } from '../tensors/dtypes.js'
import { storedTensor, type TensorStorage } from '../tensors/stored-tensor.js'
import { Opaque, type TensorDtype } from '../tensors/tensor.js'
import { torchFault } from './faults.js'
import { EncodedBytes, pickleKind, Unbuilt, type PickleValue } from './pickle-machine.js'

const READ = 'numbers, texts or None'

const NUMBERS: Readonly<Record<string, TensorDtype>> = {
  f8: 'F64',
  f4: 'F32',
  f2: 'F16',
  i8: 'I64',
  i4: 'I32',
  i2: 'I16',
  i1: 'I8',
  u8: 'U64',
  u4: 'U32',
  u2: 'U16',
  u1: 'U8',
  b1: 'BOOL'
}

/** A dtype. Its byte order follows with BUILD. */
class NumpyDtype extends Unbuilt {
  constructor(
    readonly code: string,
    readonly bigEndian = false
  ) {
    super('torch', `numpy.dtype(${code})`, READ)
  }

  /** @param state version, byte order, then what structured dtypes have */
  override build(state: PickleValue, place: Place): PickleValue {
    const [, order = null, base = null, names = null] = Array.isArray(state) ? (state as readonly PickleValue[]) : []
    if (typeof order !== 'string' || !/^[<>|=]$/.test(order)) throw malformed('a dtype without a byte order', '<, > or |', place)
    if (base !== null || names !== null) return new Opaque('torch', this.name, READ)
    return new NumpyDtype(this.code, order === '>')
  }
}

/** An array whose shape and elements follow with BUILD. */
class NumpyArray extends Unbuilt {
  constructor() {
    super('torch', 'numpy.ndarray', READ)
  }

  override build(state: PickleValue, place: Place): PickleValue {
    const [, shape = null, dtype = null, isFortran = null, data = null] = Array.isArray(state) ? (state as readonly PickleValue[]) : []
    return arrayOf(dtype, shape, isFortran === true, data, place)
  }
}

export function numpyDtype([code]: readonly PickleValue[], place: Place): PickleValue {
  if (typeof code !== 'string') throw malformed(`a dtype of ${pickleKind(code ?? null)}`, 'of a text', place)
  return new NumpyDtype(code)
}

export function numpyReconstruct(): PickleValue {
  return new NumpyArray()
}

/** As protocol 5 has arrays: buffer, dtype, shape and order. */
export function numpyFromBuffer(
  [data = null, dtype = null, shape = null, order = null]: readonly PickleValue[],
  place: Place
): PickleValue {
  return arrayOf(dtype, shape, order === 'F', data, place)
}

export function numpyScalar([dtype = null, data = null]: readonly PickleValue[], place: Place): PickleValue {
  if (!(dtype instanceof NumpyDtype)) return opaqueOf(dtype, place)
  const read = NUMBERS[dtype.code]
  if (read === undefined) return textsOf(dtype, 1, data, place)?.[0] ?? new Opaque('torch', dtype.name, READ)
  const raw = bytesOf(data, ITEM_SIZE[read], place).slice()
  toNativeOrder(raw, ITEM_SIZE[read], dtype.bigEndian)
  const [x] = decodeElements(raw, read)
  if (read === 'BOOL') return x === 1
  return typeof x === 'bigint' && Number.isSafeInteger(Number(x)) ? Number(x) : x
}

/** Bytes as protocol 2 has them: a text of Latin-1. Other encodings are not read. */
export function latin1Bytes([text = null, encoding = null]: readonly PickleValue[], place: Place): PickleValue {
  if (typeof text !== 'string' || (encoding !== 'latin1' && encoding !== 'latin-1')) return new Opaque('torch', '_codecs.encode', READ)
  if (/[^\u0000-\u00ff]/.test(text)) throw malformed('a text beyond Latin-1', 'bytes', place)
  return new EncodedBytes('_codecs.encode', new Uint8Array(Buffer.from(text, 'latin1')))
}

function arrayOf(dtype: PickleValue, shape: PickleValue, isFortran: boolean, data: PickleValue, place: Place): PickleValue {
  if (!(dtype instanceof NumpyDtype)) return opaqueOf(dtype, place)
  const axes = Array.isArray(shape) ? (shape as readonly PickleValue[]) : []
  const sizes = axes.filter(n => typeof n === 'number' && Number.isSafeInteger(n) && n >= 0) as number[]
  if (!Array.isArray(shape) || sizes.length !== axes.length) throw malformed('an array without a shape', 'a tuple of integers', place)
  const length = lengthOf(sizes)
  const read = NUMBERS[dtype.code]
  if (read === undefined) {
    const items = dtype.code === 'O8' ? data : textsOf(dtype, length, data, place)
    // Objects of any number of axes are not needed, and an order of Fortran differs only there.
    if (!Array.isArray(items) || sizes.length !== 1) return new Opaque('torch', dtype.name, READ)
    if (items.length === length) return items
    throw malformed(`an array of ${items.length} objects`, `${length} as its shape says`, place)
  }
  const bytes = bytesOf(data, length * ITEM_SIZE[read], place)
  const storage: TensorStorage = {
    name: 'numpy',
    bytes: bytes.length,
    bigEndian: dtype.bigEndian,
    slice: async (start, end) => bytes.slice(start, end)
  }
  const stride = isFortran ? contiguousStride(sizes.toReversed()).toReversed() : contiguousStride(sizes)
  return storedTensor(storage, { dtype: read, shape: sizes, stride, offset: 0 }, 'torch', place)
}

/** Texts of one length, padded with zeros, in four bytes a character; null: not texts. */
function textsOf({ code, bigEndian }: NumpyDtype, count: number, data: PickleValue, place: Place): readonly string[] | null {
  const width = /^U([1-9]\d{0,6})$/.exec(code)?.[1]
  if (width === undefined) return null
  const size = 4 * Number(width)
  const bytes = bytesOf(data, count * size, place)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: count }, (_, item) => {
    let text = ''
    for (let at = item * size; at < (item + 1) * size; at += 4) {
      const point = view.getUint32(at, !bigEndian)
      if (point > 0x10ffff) throw malformed(`a character of ${point}`, 'one of Unicode', place)
      text += String.fromCodePoint(point)
    }
    return text.replace(/\0+$/, '')
  })
}

function bytesOf(data: PickleValue, length: number, place: Place): Uint8Array<ArrayBuffer> {
  const bytes = data instanceof EncodedBytes ? data.bytes : data
  if (!(bytes instanceof Uint8Array)) throw malformed(`numpy elements of ${pickleKind(data)}`, 'bytes', place)
  if (bytes.length === length) return bytes as Uint8Array<ArrayBuffer>
  throw malformed(`numpy elements of ${bytes.length} bytes`, `${length} as dtype and shape say`, place)
}

function opaqueOf(dtype: PickleValue, place: Place): Opaque {
  if (dtype instanceof Opaque) return dtype
  throw malformed(`${printable(pickleKind(dtype))} as dtype`, 'a dtype of numpy', place)
}

function malformed(found: string, expected: string, place: Place): Error {
  return torchFault('malformed pickle', found, expected, place)
}
