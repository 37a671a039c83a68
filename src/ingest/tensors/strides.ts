/** Elements by their strides: where they lie, and how they come into C order. */

/** Number of elements of a shape; Infinity beyond 2^53. */
export function lengthOf(shape: readonly number[]): number {
  // torch allows [0, 2^62]: no elements
  if (shape.includes(0)) return 0
  const length = shape.reduce((product, n) => product * n, 1)
  return Number.isSafeInteger(length) ? length : Number.POSITIVE_INFINITY
}

/** Elements from the first to the last one of a tensor that is not empty, both included; Infinity beyond 2^53. */
export function elementSpan(shape: readonly number[], stride: readonly number[]): number {
  const span = shape.reduce((sum, n, axis) => sum + (n - 1) * stride[axis], 1)
  return Number.isSafeInteger(span) ? span : Number.POSITIVE_INFINITY
}

/** The strides of C order. */
export function contiguousStride(shape: readonly number[]): number[] {
  const stride = new Array<number>(shape.length)
  let step = 1
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    stride[axis] = step
    step *= Math.max(1, shape[axis])
  }
  return stride
}

/** Whether the elements lie in C order without holes. The stride of an axis of one item says nothing. */
export function isContiguous(shape: readonly number[], stride: readonly number[]): boolean {
  const wanted = contiguousStride(shape)
  return shape.every((n, axis) => n === 1 || stride[axis] === wanted[axis])
}

/** A block of elements of a storage and where they go. All numbers count elements. */
export interface StridedBlock {
  readonly shape: readonly number[]
  readonly stride: readonly number[]
  /** first element in the storage */
  readonly offset: number
  readonly outStride: readonly number[]
  readonly outOffset: number
}

/**
 * Cuts a block into parts that each span at most `most` elements of the storage, along the axis of the largest stride. So
 * every part of the storage is read about once, whichever way the tensor lies in it.
 */
export function* cut(block: StridedBlock, most: number): Generator<StridedBlock, void, void> {
  const { shape, stride, offset, outStride, outOffset } = block
  const span = elementSpan(shape, stride)
  let axis = -1
  for (let k = 0; k < shape.length; k++) if (shape[k] > 1 && (axis < 0 || stride[k] > stride[axis])) axis = k
  if (span <= most || axis < 0) {
    yield block
    return
  }
  const n = shape[axis]
  const step = stride[axis]
  const item = span - (n - 1) * step
  const many = Math.max(1, Math.floor((most - item) / step) + 1)
  for (let i = 0; i < n; i += many) {
    const part = { ...block, shape: shape.with(axis, Math.min(many, n - i)), offset: offset + i * step }
    yield* cut({ ...part, outOffset: outOffset + i * outStride[axis] }, most)
  }
}

type Units = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>

function unitsOf({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>, unit: number): Units {
  if (unit === 1) return new Uint8Array(buffer, byteOffset, byteLength)
  return unit === 2 ? new Uint16Array(buffer, byteOffset, byteLength / 2) : new Uint32Array(buffer, byteOffset, byteLength / 4)
}

/** A run of neighbours up to this length is copied one by one, which is faster than a call. */
const SHORT_RUN = 16

/** Copies a block to its places in `out`. `bytes` are the storage's from the block's first element on; both are aligned. */
export function gather(bytes: Uint8Array<ArrayBuffer>, block: StridedBlock, itemSize: number, out: Uint8Array<ArrayBuffer>): void {
  // An element of eight bytes is two neighbours of four: copied as integers, a NaN keeps its payload.
  const isPair = itemSize === 8
  const unit = isPair ? 4 : itemSize
  const from = unitsOf(bytes, unit)
  const to = unitsOf(out, unit)
  const factor = isPair ? 2 : 1
  const shape = isPair ? [...block.shape, 2] : [...block.shape]
  const stride = isPair ? [...block.stride.map(n => 2 * n), 1] : [...block.stride]
  const outStride = isPair ? [...block.outStride.map(n => 2 * n), 1] : [...block.outStride]
  // Axes that are one run in both places become one axis.
  for (let axis = shape.length - 2; axis >= 0; axis--) {
    if (stride[axis] === stride[axis + 1] * shape[axis + 1] && outStride[axis] === outStride[axis + 1] * shape[axis + 1]) {
      shape[axis + 1] *= shape[axis]
      shape.splice(axis, 1)
      stride.splice(axis, 1)
      outStride.splice(axis, 1)
    }
  }
  const last = shape.length - 1
  const [count, step, outStep] = last < 0 ? [1, 1, 1] : [shape[last], stride[last], outStride[last]]
  const index = new Array<number>(Math.max(0, last)).fill(0)
  let start = 0
  let target = block.outOffset * factor
  for (;;) {
    if (step === 1 && outStep === 1 && count > SHORT_RUN) to.set(from.subarray(start, start + count), target)
    else for (let i = 0, a = start, b = target; i < count; i++, a += step, b += outStep) to[b] = from[a]
    let axis = last - 1
    for (; axis >= 0; axis--) {
      start += stride[axis]
      target += outStride[axis]
      if (++index[axis] < shape[axis]) break
      start -= stride[axis] * shape[axis]
      target -= outStride[axis] * shape[axis]
      index[axis] = 0
    }
    if (axis < 0) return
  }
}
