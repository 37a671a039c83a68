/**
 * A sample whose arrays lie in one shared buffer, so that nothing is copied on the way to a thread. The records of its two
 * neighbours read its values too, so the buffer is given back when all three records are made.
 */
import type { SlicePool } from '../../ingest/json/pool.js'
import { SAMPLE_ARRAYS, type Sample, type SampleArray, type SampleNumbers } from '../../schema/samples.js'

export interface SharedSample {
  readonly sample: Sample
  readonly buffer: Uint8Array
}

/** Copies a sample into a buffer of the pool, which gets it back by `give(buffer)`. Token ids are left out. */
export function shareSample(sample: Sample, buffers: SlicePool): SharedSample {
  const { index, place, fields, mask, arrays } = sample
  const named = SAMPLE_ARRAYS.flatMap(name => {
    const numbers = arrays[name]
    return numbers === undefined ? [] : [{ name, numbers }]
  })
  // Wider numbers first, so that each array lies at a multiple of its element's size.
  named.sort((a, b) => b.numbers.BYTES_PER_ELEMENT - a.numbers.BYTES_PER_ELEMENT)
  const buffer = buffers.take(named.reduce((sum, { numbers }) => sum + numbers.byteLength, mask.length))
  let at = 0
  const shared: { [name in SampleArray]?: SampleNumbers } = {}
  for (const { name, numbers } of named) {
    shared[name] = sharedCopy(numbers, buffer.buffer, at)
    at += numbers.byteLength
  }
  const ownMask = new Uint8Array(buffer.buffer, at, mask.length)
  ownMask.set(mask)
  return { sample: { index, place, fields, mask: ownMask, arrays: shared, tokenIds: null }, buffer }
}

function sharedCopy(numbers: SampleNumbers, buffer: ArrayBufferLike, at: number): SampleNumbers {
  const to = numbers instanceof Float32Array ? new Float32Array(buffer, at, numbers.length) : new Float64Array(buffer, at, numbers.length)
  to.set(numbers)
  return to
}
