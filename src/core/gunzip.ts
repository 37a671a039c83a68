/**
 * Chunks of gzip inflated on the way: one member or several, whole, and not without end.
 */
import { createGunzip, type Gunzip } from 'node:zlib'
import type { ByteChunks, ByteGenerator } from './chunks.js'
import { Fault, printable } from './errors.js'

const MIB = 1024 * 1024

export interface GunzipOptions {
  /** inflated bytes that any file may have; default 1 GiB. Beyond, the data may be at most MAX_RATIO times the file. */
  readonly freeBytes?: number
}

/** Deflate reaches 1032. JSON of a snapshot stays below 50. */
const MAX_RATIO = 256

/** The chunks inflated if they start as gzip does (1f 8b), whatever the file's name; else as they are. */
export async function* gunzippedIfGzip(chunks: ByteChunks, options: GunzipOptions = {}): ByteGenerator {
  const source = chunks[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  let step = await source.next()
  while (step.done !== true && head.length + step.value.length < 2) {
    head = Buffer.concat([head, step.value])
    step = await source.next()
  }
  const magic = Buffer.concat(step.done === true ? [head] : [head, step.value.subarray(0, 2)])
  const whole = continued(head, step, source)
  yield* magic[0] === 0x1f && magic[1] === 0x8b ? gunzipped(whole, options) : whole
}

async function* continued(
  head: Uint8Array, first: IteratorResult<Uint8Array>, source: AsyncIterator<Uint8Array>
): ByteGenerator {
  try {
    if (head.length > 0) yield head
    for (let step = first; step.done !== true; step = await source.next()) yield step.value
  } finally {
    await source.return?.()
  }
}

/**
 * Inflates gzip, of one member or several. Cut short, corrupt, followed by anything but zero bytes, or inflating
 * without end: one Fault with exit code 3.
 */
export async function* gunzipped(chunks: ByteChunks, options: GunzipOptions = {}): ByteGenerator {
  const { freeBytes = 1024 * MIB } = options
  const gunzip = createGunzip({ chunkSize: MIB })
  /** settles always: with what the source or the rest behind the last member threw */
  const feeding = feed(chunks, gunzip).then(() => null, (error: unknown) => {
    gunzip.destroy(error instanceof Error ? error : new Error(String(error)))
    return { error }
  })
  let total = 0
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      total += chunk.length
      if (total > freeBytes && total > MAX_RATIO * gunzip.bytesWritten) {
        const found = `${total} bytes from ${gunzip.bytesWritten}`
        throw gzipFault('inflates too far', found, `at most ${MAX_RATIO} times as many`, gunzip)
      }
      yield chunk
    }
    const failed = await feeding
    if (failed !== null) throw failed.error
  } catch (error) {
    throw isZlibError(error) ? zlibFault(error, gunzip) : error
  } finally {
    gunzip.destroy()
    await feeding
  }
}

/**
 * Writes chunk after chunk, each when the one before is used up: its memory may then be used again. Reads its source to
 * the end even when the last member has ended, because zlib leaves what follows a zero byte there unread, silently.
 */
async function feed(chunks: ByteChunks, gunzip: Gunzip): Promise<void> {
  let fed = 0
  // after an error zlib calls back no write
  const closed = new Promise<void>(resolve => { gunzip.once('close', resolve) })
  for await (const chunk of chunks) {
    if (!gunzip.readableEnded) {
      await Promise.race([closed, new Promise<void>(resolve => { gunzip.write(chunk, () => { resolve() }) })])
      if (gunzip.destroyed && !gunzip.readableEnded) return
    }
    fed += chunk.length
    const unread = Math.min(chunk.length, fed - gunzip.bytesWritten)
    if (unread > 0 && chunk.subarray(chunk.length - unread).some(byte => byte !== 0)) {
      throw gzipFault('trailing data', 'bytes behind the last member', 'the end of the file', gunzip)
    }
  }
  gunzip.end()
}

function isZlibError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_')
}

function zlibFault(error: Error & { readonly code: string }, gunzip: Gunzip): Fault {
  return error.code === 'Z_BUF_ERROR'
    ? gzipFault('truncated', 'the end of the file', 'the rest of the compressed data', gunzip, error)
    : gzipFault('corrupt', printable(error.message), 'intact members and nothing else', gunzip, error)
}

function gzipFault(problem: string, found: string, expected: string, gunzip: Gunzip, cause?: unknown): Fault {
  return new Fault({ format: 'gzip', problem, found, expected, place: { offset: gunzip.bytesWritten }, cause })
}
