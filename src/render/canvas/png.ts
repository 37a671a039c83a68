/**
 * Adds texts to a PNG, which node-canvas cannot do. They follow the header, as the PNG specification allows (third
 * edition, 11.3.3). First comes the description: a tEXt chunk where it is Latin-1, else an iTXt chunk with uncompressed
 * UTF-8. The program follows as `Software`.
 */
import { crc32 } from 'node:zlib'
import type { FigureConfig } from '../figures/config.js'
import { pngSoftware } from './mark.js'

/** Signature (8 bytes) and IHDR: length, type, 13 bytes, CRC. */
const HEAD = 8 + 12 + 13
const KEYWORD = 'Description\0'

/**
 * @param description text without NUL, which would end it in the chunk
 * @param generator name and version of the program
 */
export function finishPng(png: Buffer, { description }: Pick<FigureConfig, 'description'>, generator: string): Buffer {
  const text = /^[^\u0100-\uffff]*$/.test(description)
    ? chunk('tEXt', Buffer.from(KEYWORD + description, 'latin1'))
    : // The four NUL bytes say: not compressed, compression method 0, no language, no translated keyword.
      chunk('iTXt', Buffer.from(`${KEYWORD}\0\0\0\0${description}`, 'utf8'))
  return Buffer.concat([png.subarray(0, HEAD), text, chunk('tEXt', Buffer.from(pngSoftware(generator), 'latin1')), png.subarray(HEAD)])
}

function chunk(type: 'tEXt' | 'iTXt', data: Buffer): Buffer {
  const bytes = Buffer.alloc(data.length + 12)
  bytes.writeUInt32BE(data.length, 0)
  bytes.write(type, 4, 'latin1')
  data.copy(bytes, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length)
  return bytes
}
