/** The dtypes of tensors: their sizes, and their stored bytes as typed arrays. */
import { LITTLE_ENDIAN_HOST, swapItems } from '../npz/encode.js'
import { widenFloat16 } from '../npz/npy.js'
import type { TensorData, TensorDtype } from './tensor.js'

/** Bytes of an element. */
export const ITEM_SIZE: Readonly<Record<TensorDtype, 1 | 2 | 4 | 8>> = {
  F64: 8,
  F32: 4,
  F16: 2,
  BF16: 2,
  I64: 8,
  I32: 4,
  I16: 2,
  I8: 1,
  U64: 8,
  U32: 4,
  U16: 2,
  U8: 1,
  BOOL: 1
}

export function isTensorDtype(name: string): name is TensorDtype {
  return Object.hasOwn(ITEM_SIZE, name)
}

/** Turns elements in the file's byte order into those of this machine, in place. */
export function toNativeOrder(raw: Uint8Array, itemSize: number, bigEndian: boolean): void {
  if (bigEndian === LITTLE_ENDIAN_HOST && itemSize > 1) swapItems(raw, itemSize)
}

/** BF16 is the upper half of a float32: exact, and NaN payloads are kept. */
function widenBfloat16(halves: Uint16Array): Float32Array {
  const bits = new Uint32Array(halves.length)
  for (let i = 0; i < halves.length; i++) bits[i] = halves[i] << 16
  return new Float32Array(bits.buffer)
}

/** Elements in native order as a typed array: a view, or a new array where they are widened. `raw` is aligned. */
export function decodeElements(raw: Uint8Array<ArrayBuffer>, dtype: TensorDtype): TensorData {
  const at = [raw.buffer, raw.byteOffset, raw.byteLength / ITEM_SIZE[dtype]] as const
  switch (dtype) {
    case 'F64':
      return new Float64Array(...at)
    case 'F32':
      return new Float32Array(...at)
    case 'F16':
      return widenFloat16(new Uint16Array(...at))
    case 'BF16':
      return widenBfloat16(new Uint16Array(...at))
    case 'I64':
      return new BigInt64Array(...at)
    case 'I32':
      return new Int32Array(...at)
    case 'I16':
      return new Int16Array(...at)
    case 'I8':
      return new Int8Array(...at)
    case 'U64':
      return new BigUint64Array(...at)
    case 'U32':
      return new Uint32Array(...at)
    case 'U16':
      return new Uint16Array(...at)
    case 'U8':
      return raw
    case 'BOOL':
      return toBits(raw)
  }
}

/** Any byte but 0 is true, as in numpy. */
function toBits(raw: Uint8Array): Uint8Array {
  for (let i = 0; i < raw.length; i++) if (raw[i] > 1) raw[i] = 1
  return raw
}
