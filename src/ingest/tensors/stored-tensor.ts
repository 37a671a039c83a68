/** Tensors over a storage in a file. What a file states of a tensor is checked against its storage before it is read. */
import { Fault, type Place } from '../../core/errors.js'
import { shapeText } from '../npz/encode.js'
import { integersAsFloat64 } from '../npz/npy.js'
import { decodeElements, ITEM_SIZE, toNativeOrder } from './dtypes.js'
import { contiguousStride, cut, gather, isContiguous, lengthOf, elementSpan } from './strides.js'
import type { Tensor, TensorData, TensorDtype, TensorNumbers } from './tensor.js'

/** Bytes in a file that tensors lie in. */
export interface TensorStorage {
  readonly name: string
  readonly bytes: number
  /** byte order of the elements */
  readonly bigEndian: boolean
  /** exactly the bytes asked for, in memory of their own */
  slice(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>
}

export interface TensorLayout {
  readonly dtype: TensorDtype
  readonly shape: readonly number[]
  readonly stride: readonly number[]
  readonly offset: number
}

/** Most elements of an array that is read: 2 GiB of doubles. */
const MAX_ELEMENTS = 2 ** 28
/** The same where the storage has fewer: torch's `expand` repeats elements without storing them. */
const MAX_REPEATED = 2 ** 26
/** Most bytes of a storage in memory at once, where elements do not lie in C order. */
const MAX_PART = 2 ** 26
/** Most axes. torch's own operators take 64. */
const MAX_AXES = 64

/**
 * @param format first word of the messages
 * @param place names file and tensor
 * @throws Fault where an element lies outside of the storage
 */
export function storedTensor(storage: TensorStorage, layout: TensorLayout, format: string, place: Place): Tensor {
  const fault = (problem: string, found: string, expected: string): Fault => new Fault({ format, problem, found, expected, place })
  const { dtype, shape, stride, offset } = layout
  if (shape.length > MAX_AXES) throw fault('impossible shape', `${shape.length} axes`, `at most ${MAX_AXES}`)
  if (stride.length !== shape.length) throw fault('impossible stride', `${stride.length} strides`, `${shape.length}, as the shape has axes`)
  for (const [what, numbers] of Object.entries({ shape, stride, offset: [offset] })) {
    const wrong = numbers.find(n => !Number.isSafeInteger(n) || n < 0)
    if (wrong !== undefined) throw fault(`impossible ${what}`, `${wrong}`, 'an integer from 0 to 2^53')
  }
  const stored = Math.floor(storage.bytes / ITEM_SIZE[dtype])
  const length = lengthOf(shape)
  if (length === Number.POSITIVE_INFINITY) throw fault('impossible shape', shapeText(shape), 'at most 2^53 elements')
  if (length > 0 && offset + elementSpan(shape, stride) > stored) {
    const found = `${shapeText(shape)} with strides ${shapeText(stride)} from element ${offset}`
    throw fault('tensor outside of its storage', found, `elements below ${stored}`)
  }
  return new StoredTensor(storage, layout, length, format, place)
}

class StoredTensor implements Tensor {
  readonly dtype: TensorDtype
  readonly shape: readonly number[]
  readonly length: number
  readonly stride: readonly number[]
  readonly offset: number
  readonly storage: string
  readonly #storage: TensorStorage
  readonly #format: string
  readonly #place: Place

  constructor(storage: TensorStorage, layout: TensorLayout, length: number, format: string, place: Place) {
    this.dtype = layout.dtype
    this.shape = layout.shape
    this.length = length
    this.stride = layout.stride
    this.offset = layout.offset
    this.storage = storage.name
    this.#storage = storage
    this.#format = format
    this.#place = place
  }

  async read(): Promise<TensorData> {
    const { dtype, length } = this
    const itemSize = ITEM_SIZE[dtype]
    this.#checkLength(Math.floor(this.#storage.bytes / itemSize))
    if (length === 0) return decodeElements(new Uint8Array(0), dtype)
    const raw = isContiguous(this.shape, this.stride) ? await this.#part(this.offset, length) : await this.#gathered(itemSize)
    return decodeElements(raw, dtype)
  }

  async readNumbers(): Promise<TensorNumbers> {
    const data = await this.read()
    const isWide = data instanceof BigInt64Array || data instanceof BigUint64Array
    return isWide ? integersAsFloat64(data, this.#format, this.#place) : data
  }

  rows(start: number, end: number): Tensor {
    const [axis] = this.shape
    if (axis === undefined) throw new RangeError('rows of a scalar')
    if (!Number.isInteger(start) || !Number.isInteger(end) || start < 0 || start > end || end > axis) {
      throw new RangeError(`rows ${start} to ${end} of ${axis}`)
    }
    const shape = this.shape.with(0, end - start)
    const offset = this.offset + start * this.stride[0]
    const layout = { dtype: this.dtype, shape, stride: this.stride, offset }
    return new StoredTensor(this.#storage, layout, lengthOf(shape), this.#format, this.#place)
  }

  #checkLength(stored: number): void {
    const most = this.length > stored ? MAX_REPEATED : MAX_ELEMENTS
    if (this.length <= most) return
    const found = `${this.length} elements over ${stored} stored ones`
    throw new Fault({ format: this.#format, problem: 'tensor too large', found, expected: `at most ${most}`, place: this.#place })
  }

  /** Elements of the storage that lie one behind the other, in native byte order. */
  async #part(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    const itemSize = ITEM_SIZE[this.dtype]
    const raw = await this.#storage.slice(offset * itemSize, (offset + length) * itemSize)
    toNativeOrder(raw, itemSize, this.#storage.bigEndian)
    return raw
  }

  async #gathered(itemSize: number): Promise<Uint8Array<ArrayBuffer>> {
    const { shape, stride, offset } = this
    const out = new Uint8Array(this.length * itemSize)
    const whole = { shape, stride, offset, outStride: contiguousStride(shape), outOffset: 0 }
    for (const block of cut(whole, MAX_PART / itemSize)) {
      gather(await this.#part(block.offset, elementSpan(block.shape, block.stride)), block, itemSize, out)
    }
    return out
  }
}
