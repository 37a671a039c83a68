/**
 * Decompresses pages into exactly the number of bytes that their header states. A codec that would give more is stopped;
 * one that gives fewer is a Fault. The caller has capped the stated size.
 * Not supported: LZO (no current writer offers it).
 */
import { constants, brotliDecompressSync, gunzipSync } from 'node:zlib'
import { snappyUncompress, type CompressionCodec } from 'hyparquet'
import { malformedParquet } from './faults.js'
import { lz4, lz4Raw } from './lz4.js'
import { zstd } from './zstd.js'

type Decompressor = (input: Uint8Array, length: number) => Uint8Array

const DECOMPRESSORS: Readonly<Partial<Record<CompressionCodec, Decompressor>>> = {
  UNCOMPRESSED: input => input,
  SNAPPY: snappy,
  // Several gzip members in a row make up one page.
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(length, 1) }),
  BROTLI: (input, length) =>
    brotliDecompressSync(input, {
      maxOutputLength: Math.max(length, 1),
      params: { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 0 }
    }),
  ZSTD: zstd,
  LZ4: lz4,
  LZ4_RAW: lz4Raw
}

/** Returns `length` bytes in a buffer of their own: hyparquet's plain reader reads to the end of the buffer. */
export function decompress(input: Uint8Array, codec: CompressionCodec, length: number): Uint8Array<ArrayBuffer> {
  const decompressor = DECOMPRESSORS[codec]
  if (decompressor === undefined) throw malformedParquet('unsupported codec', codec, Object.keys(DECOMPRESSORS).join(', '))
  const output = length === 0 && codec !== 'UNCOMPRESSED' ? new Uint8Array(0) : inflate(decompressor, input, codec, length)
  if (output.length !== length) {
    throw malformedParquet('wrong page size', `${output.length} bytes`, `${length} as its header states`)
  }
  return output.buffer instanceof ArrayBuffer && output.buffer.byteLength === length
    ? new Uint8Array(output.buffer)
    : new Uint8Array(output)
}

function inflate(decompressor: Decompressor, input: Uint8Array, codec: string, length: number): Uint8Array {
  try {
    return decompressor(input, length)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
      throw malformedParquet('page inflates too far', `more than ${length} bytes of ${codec}`, `${length} as its header states`)
    }
    throw error
  }
}

function snappy(input: Uint8Array, length: number): Uint8Array {
  // The stream starts with its length, which hyparquet skips.
  let stated = 0
  for (let i = 0; i < 5; i++) {
    stated += (input[i] & 0x7f) * 2 ** (7 * i)
    if (!(input[i] & 0x80)) break
  }
  if (stated !== length) throw malformedParquet('corrupt snappy', `${stated} bytes stated`, `${length} as the page header states`)
  const output = new Uint8Array(length)
  snappyUncompress(input, output)
  return output
}
