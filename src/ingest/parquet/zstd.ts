/**
 * Decompresses Zstandard pages with fzstd, and adds the checks that it lacks. fzstd
 * allocates the size and the window that a frame states, and returns a buffer of the stated size whether or not the blocks
 * filled it.
 * Not supported: dictionaries, several frames in one page. A frame's content checksum is not checked (Parquet's own page
 * checksum is).
 * Source: RFC 8878, sections 3.1.1.1 and 3.1.1.2.
 */
import { decompress } from 'fzstd'
import { malformedParquet } from './faults.js'

const MIB = 1024 * 1024
/** Largest window. Levels up to 22 use at most 128 MiB. */
const MAX_WINDOW = 128 * MIB
const MAX_BLOCK = 128 * 1024
/** Most bytes that the blocks of a page may inflate to, each at its largest. */
const MAX_BOUND = 512 * MIB
/** Up to this size the bytes of the blocks are counted exactly. This takes a window as large as the page. */
const MAX_EXACT = 16 * MIB

const corrupt = (found: string, expected: string): Error => malformedParquet('corrupt zstd', found, expected)

/** Decompresses a page. @param length stated size; the caller has capped it at 4 GiB */
export function zstd(input: Uint8Array, length: number): Uint8Array {
  if (input.length < 6) throw corrupt(`${input.length} bytes`, 'a frame')
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength)
  if (view.getUint32(0, true) !== 0xfd2fb528) throw corrupt('another magic number', 'a frame')
  const descriptor = input[4]
  const single = (descriptor & 0x20) !== 0
  const checksum = (descriptor & 0x04) !== 0
  if ((descriptor & 0x08) !== 0) throw corrupt('a reserved bit', 'a frame of RFC 8878')
  if ((descriptor & 0x03) !== 0) throw malformedParquet('unsupported zstd', 'a dictionary', 'a frame without one')
  const sizeBytes = [single ? 1 : 0, 2, 4, 8][descriptor >> 6]
  const blocks = 5 + (single ? 0 : 1) + sizeBytes
  if (blocks > input.length) throw corrupt('its end inside the frame header', 'a frame')
  const end = checkBlocks(input, blocks) + (checksum ? 4 : 0)
  if (end !== input.length) {
    throw corrupt(`${input.length - end} bytes behind the frame`, 'one frame and nothing else')
  }
  if (!single) {
    const exponent = input[5] >> 3
    const window = 2 ** (10 + exponent) * (1 + (input[5] & 7) / 8)
    if (window > MAX_WINDOW) throw malformedParquet('unsupported zstd', `a window of ${window} bytes`, `at most ${MAX_WINDOW}`)
  }
  if (sizeBytes === 0) return decompress(input)
  const at = blocks - sizeBytes
  const stated =
    sizeBytes === 1
      ? input[at]
      : sizeBytes === 2
        ? view.getUint16(at, true) + 256
        : sizeBytes === 4
          ? view.getUint32(at, true)
          : Number(view.getBigUint64(at, true))
  if (stated !== length) throw corrupt(`a content of ${stated} bytes`, `${length} as the page header states`)
  return decompress(length > MAX_EXACT ? input : withoutSize(input, blocks, length))
}

/** The same frame without its content size: fzstd then returns the bytes of the blocks and no more. */
function withoutSize(input: Uint8Array, blocks: number, length: number): Uint8Array {
  const exponent = Math.max(0, Math.ceil(Math.log2(Math.max(length, 1))) - 10)
  const head = [...input.subarray(0, 4), input[4] & 0x04, exponent << 3]
  const frame = new Uint8Array(head.length + input.length - blocks)
  frame.set(head)
  frame.set(input.subarray(blocks), head.length)
  return frame
}

/** Walks the block headers from `start`. Returns the offset behind the last block. */
function checkBlocks(input: Uint8Array, start: number): number {
  let at = start
  let bound = 0
  for (;;) {
    if (at + 3 > input.length) throw corrupt('its end inside a block header', 'a last block')
    const header = input[at] | (input[at + 1] << 8) | (input[at + 2] << 16)
    const size = header >> 3
    const type = (header >> 1) & 3
    if (type === 3) throw corrupt('a block of reserved type', 'raw, run or compressed')
    if (size > MAX_BLOCK) throw corrupt(`a block of ${size} bytes`, `at most ${MAX_BLOCK}`)
    at += 3 + (type === 1 ? 1 : size)
    if (at > input.length) throw corrupt('its end inside a block', 'the whole block')
    bound += type === 2 ? MAX_BLOCK : size
    if (bound > MAX_BOUND) throw malformedParquet('zstd page too large', `blocks for ${bound} bytes`, `at most ${MAX_BOUND}`)
    if ((header & 1) === 1) return at
  }
}
