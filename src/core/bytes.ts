/**
 * Byte sources: where the bytes of a page come from, as async iterables of chunks, so that no reader knows a path.
 *
 * A chunk's memory may be used again as soon as the next chunk is asked for: whoever keeps bytes copies them.
 * Not supported: pipes, devices and other files that are not regular (they have no size to compare, and may never end).
 */
import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createGunzip, type Gunzip } from 'node:zlib'
import { describeCause, EXIT, Fault, printable } from './errors.js'
import { openRegular } from './system/open.js'

export type ByteChunks = AsyncIterable<Uint8Array>
export type ByteGenerator = AsyncGenerator<Uint8Array, void, void>

export interface FileChunksOptions {
  /** bytes a chunk; default 1 MiB */
  readonly chunkSize?: number
  /** memory for the chunks, asked for when the file is open; default: new */
  readonly allocate?: (length: number) => Uint8Array
  /** stops the reading between two chunks, by throwing the signal's reason */
  readonly signal?: AbortSignal
}

const MIB = 1024 * 1024
/** Two buffers in turn: one is read into while the other is worked on. */
const BUFFERS = 2

/**
 * The bytes of a regular file. The file must be the same before and after: size, modification time (ns) and identity,
 * of the open file and of what the path then names; else Fault `snapshot changed while it was read`, exit code 1.
 * A file that cannot be read is a Fault with exit code 3. The check runs only when the iteration goes to the end.
 */
export async function* fileChunks(path: string, options: FileChunksOptions = {}): ByteGenerator {
  const { chunkSize = MIB, allocate = Buffer.allocUnsafe, signal } = options
  const { handle: file, stat: before } = await openRegular(path)
  /** settles always, so that a failed read ahead is no unhandled rejection */
  let ahead: Promise<Uint8Array | Fault> | undefined
  try {
    const size = Math.min(chunkSize, Number(before.size) + 1)
    const buffers = Array.from({ length: BUFFERS }, () => allocate(size))
    const read = (buffer: Uint8Array): Promise<Uint8Array | Fault> => file.read(buffer, 0, size, null).then(
      ({ bytesRead }) => buffer.subarray(0, bytesRead),
      (error: unknown) => unreadable(path, describeCause(error), error))
    let total = 0n
    ahead = read(buffers[0])
    for (let turn = 1; ; turn++) {
      const chunk = await ahead
      signal?.throwIfAborted()
      if (chunk instanceof Fault) throw chunk
      if (chunk.length === 0) break
      total += BigInt(chunk.length)
      ahead = read(buffers[turn % BUFFERS])
      yield chunk
    }
    assertUnchanged(path, before, await file.stat({ bigint: true }))
    assertUnchanged(path, before, await statOf(path))
    if (total !== before.size) throw changed(path, `${before.size} bytes, then ${total} read`)
  } finally {
    await ahead
    await file.close()
  }
}

async function statOf(path: string): Promise<BigIntStats> {
  return stat(path, { bigint: true }).catch((error: unknown) => { throw unreadable(path, describeCause(error), error) })
}

function assertUnchanged(path: string, before: BigIntStats, after: BigIntStats): void {
  if (before.size !== after.size) throw changed(path, `${before.size} bytes, then ${after.size}`)
  if (before.mtimeNs !== after.mtimeNs) throw changed(path, 'another modification time')
  if (before.ino !== after.ino || before.dev !== after.dev) throw changed(path, 'another file under its name')
}

function changed(path: string, found: string): Fault {
  return new Fault({
    format: 'snapshot',
    problem: 'changed while it was read',
    found,
    expected: 'the same file before and after',
    place: { file: path },
    exitCode: EXIT.checkFailed
  })
}

function unreadable(path: string, found: string, cause?: unknown): Fault {
  return new Fault({
    format: 'file',
    problem: 'unreadable',
    found: printable(found, 400),
    expected: 'a regular file',
    place: { file: path },
    cause
  })
}

/** Counts and hashes the bytes that pass: those of the file as it lies on disk, when it stands before `gunzipped`. */
export class ByteTally {
  /** bytes so far */
  bytes = 0
  private readonly hash = createHash('sha256')

  update(chunk: Uint8Array): void {
    this.bytes += chunk.length
    this.hash.update(chunk)
  }

  /** SHA-256 of all bytes, hexadecimal; ends the tally. */
  sha256(): string {
    return this.hash.digest('hex')
  }
}

/** The same chunks, tallied on the way. */
export async function* tallied(chunks: ByteChunks, tally: ByteTally): ByteGenerator {
  for await (const chunk of chunks) {
    tally.update(chunk)
    yield chunk
  }
}

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
