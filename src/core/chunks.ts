/**
 * Byte sources: the bytes of a page or a history as an async iterable of chunks. A reader takes the iterable and knows no
 * path.
 *
 * The memory of a chunk may be reused as soon as the next chunk is asked for. A reader that keeps bytes copies them.
 */
import { createHash } from 'node:crypto'

export type ByteChunks = AsyncIterable<Uint8Array>
export type ByteGenerator = AsyncGenerator<Uint8Array, void, void>

/** Counts and hashes the bytes that pass. In front of `gunzipped` they are the bytes of the file as it lies on disk. */
export class ByteTally {
  /** bytes so far */
  bytes = 0
  readonly #hash = createHash('sha256')

  update(chunk: Uint8Array): void {
    this.bytes += chunk.length
    this.#hash.update(chunk)
  }

  /** SHA-256 of all bytes, hexadecimal; ends the tally. */
  sha256(): string {
    return this.#hash.digest('hex')
  }
}

/** The same chunks, counted and hashed on the way. */
export async function* tallied(chunks: ByteChunks, tally: ByteTally): ByteGenerator {
  for await (const chunk of chunks) {
    tally.update(chunk)
    yield chunk
  }
}
