/**
 * The one way to open a file for reading. Opening never waits: a named pipe without a writer would hold the program for ever.
 * What was opened is checked before a byte is read: anything but a regular file is a Fault.
 */
import { closeSync, constants, fstatSync, openSync, type BigIntStats, type Stats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { describeCause, Fault, printable } from '../errors.js'
import { causeName, systemName } from './error.js'

export interface OpenOptions {
  /** `refuse`: a link in the file's place is an error, wherever it leads; for files that the program itself wrote. Default: `follow` */
  readonly links?: 'follow' | 'refuse'
  /** true: the file is opened for writing too and created where it is missing; it is not truncated */
  readonly create?: boolean
}

/** The flags that are missing on Windows are 0 there. */
function flagsOf({ links = 'follow', create = false }: OpenOptions): number {
  return (
    (create ? constants.O_RDWR | constants.O_CREAT : constants.O_RDONLY) |
    (constants.O_NONBLOCK ?? 0) |
    (constants.O_NOCTTY ?? 0) |
    (links === 'refuse' ? (constants.O_NOFOLLOW ?? 0) : 0)
  )
}

/** What lies there, in words; null where it is a regular file. */
export function kindOf(stat: Stats | BigIntStats): string | null {
  if (stat.isFile()) return null
  if (stat.isDirectory()) return 'a folder'
  if (stat.isFIFO()) return 'a named pipe'
  if (stat.isSocket()) return 'a socket'
  return stat.isSymbolicLink() ? 'a link' : 'a device'
}

/** A file that cannot be read, and why. */
export function unreadable(path: string, found: string, cause?: unknown, expected = 'a regular file'): Fault {
  return new Fault({
    format: 'file',
    problem: 'unreadable',
    found: printable(found, 400),
    expected,
    place: { file: path },
    cause
  })
}

function notOpened(path: string, cause: unknown, { links }: OpenOptions): Fault {
  return unreadable(path, links === 'refuse' && systemName(cause) === 'ELOOP' ? 'a link' : describeCause(cause), cause)
}

export interface OpenedFile {
  readonly handle: FileHandle
  readonly stat: BigIntStats
}

/**
 * The caller closes the handle.
 *
 * @throws Fault exit 3; its cause is the system's error where there was one
 */
export async function openRegular(path: string, options: OpenOptions = {}): Promise<OpenedFile> {
  const handle = await open(path, flagsOf(options)).catch((cause: unknown) => {
    throw notOpened(path, cause, options)
  })
  let found: string | null
  try {
    const stat = await handle.stat({ bigint: true })
    found = kindOf(stat)
    if (found === null) return { handle, stat }
  } catch (cause) {
    found = describeCause(cause)
  }
  await handle.close()
  throw unreadable(path, found)
}

/** The same on the calling thread; the caller closes `fd`. */
export function openRegularSync(path: string, options: OpenOptions = {}): { readonly fd: number; readonly stat: BigIntStats } {
  let fd: number
  try {
    fd = openSync(path, flagsOf(options))
  } catch (cause) {
    throw notOpened(path, cause, options)
  }
  let found: string | null
  try {
    const stat = fstatSync(fd, { bigint: true })
    found = kindOf(stat)
    if (found === null) return { fd, stat }
  } catch (cause) {
    found = describeCause(cause)
  }
  closeSync(fd)
  throw unreadable(path, found)
}

/** Why a file was not opened, for a reader that makes a Fault of its own: `a named pipe`, `EACCES permission denied`. */
export function whyUnreadable(error: unknown): string {
  return error instanceof Fault ? (error.details.found ?? error.message) : printable(describeCause(error), 400)
}

/** True where a file was not opened because its path names nothing. */
export function isMissing(error: unknown): boolean {
  const name = causeName(error)
  return name === 'ENOENT' || name === 'ENOTDIR'
}
