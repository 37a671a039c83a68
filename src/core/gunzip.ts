/**
 * Inflates gzip chunk by chunk: one member or several. Data that ends too early or inflates too far is refused.
 */
import { createGunzip, type Gunzip } from 'node:zlib'
import type { ByteChunks, ByteGenerator } from './chunks.js'
import { Fault, printable } from './errors.js'

const MIB = 1024 * 1024

export interface GunzipOptions {
  /** inflated bytes that any file may have; default 1 GiB. Above that, the data may be at most MAX_RATIO times the compressed bytes */
  readonly freeBytes?: number
}

/** Most inflated bytes for each compressed byte, above `freeBytes`. Deflate reaches 1032; the JSON of a snapshot stays below 50. */
const MAX_RATIO = 256

/** The chunks inflated if they begin with the bytes of gzip (1f 8b), whatever the file's name; otherwise unchanged. */
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

async function* continued(head: Uint8Array, first: IteratorResult<Uint8Array>, source: AsyncIterator<Uint8Array>): ByteGenerator {
  try {
    if (head.length > 0) yield head
    for (let step = first; step.done !== true; step = await source.next()) yield step.value
  } finally {
    await source.return?.()
  }
}

/**
 * Inflates gzip of one member or several.
 *
 * @throws Fault exit 3 for data that is cut short, corrupt, followed by bytes other than zero, or inflated too far
 */
export async function* gunzipped(chunks: ByteChunks, options: GunzipOptions = {}): ByteGenerator {
  const { freeBytes = 1024 * MIB } = options
  const gunzip = createGunzip({ chunkSize: MIB })
  /** never rejects: resolves to null, or to what the source threw or the check of the bytes after the last member */
  const feeding = feed(chunks, gunzip).then(
    () => null,
    (error: unknown) => {
      gunzip.destroy(error instanceof Error ? error : new Error(String(error)))
      return { error }
    }
  )
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
 * Writes one chunk after another, each when zlib has used up the one before, whose memory may then be reused. Reads the
 * source to its end even after the last member: zlib silently leaves unread what follows a zero byte there.
 */
async function feed(chunks: ByteChunks, gunzip: Gunzip): Promise<void> {
  let fed = 0
  // after an error zlib no longer calls back for a write
  const closed = new Promise<void>(resolve => {
    gunzip.once('close', resolve)
  })
  for await (const chunk of chunks) {
    if (!gunzip.readableEnded) {
      await Promise.race([
        closed,
        new Promise<void>(resolve => {
          gunzip.write(chunk, () => {
            resolve()
          })
        })
      ])
      if (gunzip.destroyed && !gunzip.readableEnded) return
    }
    fed += chunk.length
    const unread = Math.min(chunk.length, fed - gunzip.bytesWritten)
    if (chunk.subarray(chunk.length - unread).some(byte => byte !== 0)) {
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
