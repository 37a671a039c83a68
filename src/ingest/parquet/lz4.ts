/**
 * LZ4 blocks, and the older codec LZ4: blocks in Hadoop's framing (big-endian sizes), or one block without framing.
 * hyparquet-compressors does not report how many bytes a block gave, so a short one would pass as zeros.
 * Sources: lz4_Block_format.md; parquet-cpp for the framing.
 */
import { malformedParquet } from './faults.js'

const corrupt = (found: string): Error => malformedParquet('corrupt lz4', found, 'an intact block')

/** Decodes one block into `output` from `start`. Returns the position behind the last byte written. */
function block(input: Uint8Array, output: Uint8Array, start: number): number {
  let at = 0
  let out = start
  const extended = (nibble: number): number => {
    let length = nibble
    if (nibble < 15) return length
    for (;;) {
      if (at >= input.length) throw corrupt('its end inside a length')
      const byte = input[at++]
      length += byte
      if (byte < 255) return length
    }
  }
  while (at < input.length) {
    const token = input[at++]
    const literals = extended(token >> 4)
    if (literals > input.length - at || literals > output.length - out) throw corrupt(`${literals} literals`)
    output.set(input.subarray(at, at + literals), out)
    at += literals
    out += literals
    // The last sequence has no match.
    if (at === input.length) return out
    if (at + 2 > input.length) throw corrupt('its end inside an offset')
    const offset = input[at] | (input[at + 1] << 8)
    at += 2
    const length = extended(token & 15) + 4
    if (offset === 0 || offset > out - start) throw corrupt(`offset ${offset}`)
    if (length > output.length - out) throw corrupt(`a match of ${length} bytes`)
    if (offset >= length) output.copyWithin(out, out - offset, out - offset + length)
    else for (let i = 0; i < length; i++) output[out + i] = output[out + i - offset]
    out += length
  }
  return out
}

/** Decodes one block of exactly `length` bytes. */
export function lz4Raw(input: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const output = new Uint8Array(length)
  const end = block(input, output, 0)
  if (end !== length) throw corrupt(`${end} bytes instead of ${length}`)
  return output
}

export function lz4(input: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  return hadoop(input, length) ?? lz4Raw(input, length)
}

/** Decodes blocks in Hadoop's framing; null if the bytes are not framed. */
function hadoop(input: Uint8Array, length: number): Uint8Array<ArrayBuffer> | null {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength)
  const frames: { readonly start: number; readonly end: number; readonly bytes: number }[] = []
  let at = 0
  let total = 0
  while (at < input.length) {
    if (input.length - at < 8) return null
    const bytes = view.getUint32(at)
    const start = at + 8
    at = start + view.getUint32(at + 4)
    total += bytes
    if (at > input.length || total > length) return null
    frames.push({ start, end: at, bytes })
  }
  if (total !== length) return null
  const output = new Uint8Array(length)
  let out = 0
  for (const frame of frames) {
    const end = out + frame.bytes
    if (block(input.subarray(frame.start, frame.end), output.subarray(out, end), 0) !== frame.bytes) {
      throw corrupt('a block of another size')
    }
    out = end
  }
  return output
}
