/**
 * What the readers of tensor files give: a tensor whose elements are read on demand, and a value that is not interpreted.
 * Of a file, only its table of contents and the elements that are asked for are in memory.
 */
import { Fault, printable, type Place } from '../../core/errors.js'
import type { NumericArray } from '../npz/encode.js'

/** Dtypes whose elements can be read, by the names of safetensors. */
export type TensorDtype = 'F64' | 'F32' | 'F16' | 'BF16' | 'I64' | 'I32' | 'I16' | 'I8' | 'U64' | 'U32' | 'U16' | 'U8' | 'BOOL'

/** The elements as they are stored, in C order. F16 and BF16 are widened to Float32Array (exactly); a bool is 0 or 1. */
export type TensorData = NumericArray

/** The elements as numbers, in C order. */
export type TensorNumbers = Exclude<NumericArray, BigInt64Array | BigUint64Array>

export interface Tensor {
  readonly dtype: TensorDtype
  /** `[]` for a scalar */
  readonly shape: readonly number[]
  /** number of elements: the product of the shape */
  readonly length: number
  /** distance of neighbours along each axis in the storage, in elements; may be 0 (torch's `expand`) */
  readonly stride: readonly number[]
  /** position of the first element in the storage, in elements */
  readonly offset: number
  /** name of the storage: torch's key, or the name of the safetensors tensor. Several tensors may share one. */
  readonly storage: string
  /** Reads the elements. The array has memory of its own. @throws Fault */
  read(): Promise<TensorData>
  /** The same as numbers: I64 and U64 as Float64Array. @throws Fault for an integer beyond 2^53 in size */
  readNumbers(): Promise<TensorNumbers>
  /** Items `start` to `end` of the first axis, not read yet. @throws RangeError for a scalar, or outside of the axis */
  rows(start: number, end: number): Tensor
}

/**
 * A value that is not interpreted: a class or function outside of the allowlist, whatever was built of it, or a tensor of
 * a dtype that is not read. It may stand in a field that nobody needs. Who needs it throws its `fault()`.
 */
export class Opaque {
  /** @param name as the file states it, for example `os.system`; `format` is `torch` or `safetensors` */
  constructor(
    readonly format: string,
    readonly name: string,
    readonly expected: string
  ) {}

  /** `torch global refused: os.system, expected …` */
  fault(place: Place = {}): Fault {
    const problem = this.format === 'torch' ? 'global refused' : 'dtype refused'
    return new Fault({ format: this.format, problem, found: printable(this.name), expected: this.expected, place })
  }
}

/** Whether a value of a file is a tensor. */
export function isTensor(value: unknown): value is Tensor {
  return typeof value === 'object' && value !== null && 'readNumbers' in value
}
