/** Lines of a file, cut from chunks. A byte order mark before the first line and blank lines are passed over. */
import type { ByteSource } from '../../core/byte-source.js'
import { Fault, type Place } from '../../core/errors.js'

const CHUNK = 2 ** 20
/** Longest line: half of Node's longest text. */
const MAX_LINE = 2 ** 28

/** A line that is not blank, without its end. */
export interface JsonLine {
  readonly bytes: Uint8Array
  /** of its first byte in the file */
  readonly offset: number
  readonly place: Place
}

/** The bytes of a line are valid until the next one is asked for. */
export async function* linesOf(source: ByteSource, file: string, chunkSize = CHUNK): AsyncGenerator<JsonLine, void, void> {
  let number = 0
  let offset = 0
  let parts: Uint8Array[] = []
  let length = 0
  const take = (): JsonLine => {
    const whole = parts.length === 1 ? parts[0] : Buffer.concat(parts)
    const hasMark = offset === 0 && whole[0] === 0xef && whole[1] === 0xbb && whole[2] === 0xbf
    const line = { bytes: hasMark ? whole.subarray(3) : whole, offset: hasMark ? 3 : offset, place: { file, line: number } }
    offset += length + 1
    parts = []
    length = 0
    return line
  }
  const read = (at: number): Promise<Uint8Array> => {
    const chunk = source.slice(Math.min(source.size, at), Math.min(source.size, at + chunkSize))
    // Who stops before the end does not wait for the chunk ahead.
    chunk.catch(() => undefined)
    return chunk
  }
  let ahead = read(0)
  for (let at = 0; at < source.size; at += chunkSize) {
    const chunk = await ahead
    ahead = read(at + chunkSize)
    let start = 0
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      parts.push(chunk.subarray(start, end))
      length += end - start
      start = end + 1
      number++
      const line = take()
      if (!isBlank(line.bytes)) yield line
    }
    if (start === chunk.length) continue
    parts.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > MAX_LINE) {
      const place = { file, line: number + 1 }
      throw new Fault({
        format: 'jsonl',
        problem: 'line too long',
        found: `more than ${MAX_LINE} bytes`,
        expected: 'one object a line',
        place
      })
    }
  }
  if (length === 0) return
  number++
  const last = take()
  if (!isBlank(last.bytes)) yield last
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every(byte => byte === 0x20 || byte === 0x0d || byte === 0x09)
}
