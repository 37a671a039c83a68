/**
 * A whole file, read at once and only if it stood still: for the NPZ of one trace, which a worker reads synchronously.
 * Files of 2 GiB and more are refused (one buffer holds the file).
 */
import { hash } from 'node:crypto'
import { closeSync, fstatSync, readSync, statSync, type BigIntStats } from 'node:fs'
import { EXIT, Fault, describeCause, printable } from './errors.js'
import { causeName } from './system/error.js'
import { openRegularSync, whyUnreadable } from './system/open.js'

export interface FileContent {
  /** in the memory that was given, where some was */
  readonly bytes: Uint8Array
  /** lower-case hexadecimal SHA-256 of `bytes` */
  readonly sha256: string
}

const MAX_FILE_BYTES = 2 ** 31 - 1

/**
 * @throws Fault exit 3 where the file is missing, unreadable or no regular file; exit 1 where size, modification time or
 * the file itself changed between opening and the last byte.
 */
export function readStableFile(path: string, format: string, allocate: (length: number) => Uint8Array = length => new Uint8Array(length)): FileContent {
  const { fd, stat: before } = opened(path, format)
  try {
    if (before.size > BigInt(MAX_FILE_BYTES)) {
      throw new Fault({
        format, problem: 'file too large', found: `${before.size} bytes`, expected: `at most ${MAX_FILE_BYTES}`, place: { file: path }
      })
    }
    const bytes = allocate(Number(before.size))
    let filled = 0
    while (filled < bytes.length) {
      const n = readSync(fd, bytes, filled, bytes.length - filled, filled)
      if (n === 0) break
      filled += n
    }
    const named = statSync(path, { bigint: true })
    const replaced = named.ino !== before.ino || named.dev !== before.dev
    refuseChange(before, replaced ? fstatSync(fd, { bigint: true }) : named, replaced, filled, format, path)
    return { bytes, sha256: hash('sha256', bytes) }
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault({ format, problem: 'unreadable file', found: printable(describeCause(cause)), place: { file: path }, cause })
  } finally {
    closeSync(fd)
  }
}

function opened(path: string, format: string): ReturnType<typeof openRegularSync> {
  try {
    return openRegularSync(path)
  } catch (cause) {
    const missing = causeName(cause) === 'ENOENT'
    throw new Fault({
      format, problem: missing ? 'missing file' : 'unreadable file', found: missing ? 'nothing' : whyUnreadable(cause),
      expected: 'a regular file', place: { file: path }, cause
    })
  }
}

function refuseChange(
  before: BigIntStats,
  after: BigIntStats,
  replaced: boolean,
  read: number,
  format: string,
  path: string
): void {
  const change =
    BigInt(read) !== before.size || after.size !== before.size ? 'its size changed'
    : after.mtimeNs !== before.mtimeNs ? 'its modification time changed'
    : replaced ? 'it was replaced'
    : null
  if (change === null) return
  throw new Fault({
    format,
    problem: 'changed while it was read',
    found: change,
    expected: 'a file that stands still',
    place: { file: path },
    exitCode: EXIT.checkFailed
  })
}
