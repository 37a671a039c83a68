/**
 * What the operating system said, in one form: `ENOSPC no space left on device`. Node's own message is
 * `ENOSPC: no space left on device, write`, or, of an error that libuv does not know (a disk quota, a stale file handle),
 * `Unknown system error -122: Unknown system error -122, write`: neither reaches the user.
 */
import { constants } from 'node:os'
import { getSystemErrorMap } from 'node:util'

/** Where libuv has no words, or words that speak of a system call. */
const WORDS: Readonly<Record<string, string>> = {
  EBADMSG: 'damaged data',
  ECHILD: 'no such child process',
  EDEADLK: 'a lock that would wait for itself',
  EDOM: 'a number out of range',
  EDQUOT: 'disk quota exceeded',
  EIDRM: 'it was removed',
  EINPROGRESS: 'still under way',
  EISDIR: 'a folder',
  EMULTIHOP: 'a path over several servers',
  ENETRESET: 'the network dropped the connection',
  ENOEXEC: 'not a program',
  ENOLCK: 'no lock to be had',
  ENOLINK: 'the server is out of reach',
  ENOMSG: 'no message',
  ENOSR: 'no streams to be had',
  ENOSTR: 'not a stream',
  ENXIO: 'a socket, or a device that is not there',
  EOPNOTSUPP: 'operation not supported',
  ESTALE: 'the network file system no longer knows it',
  ETIME: 'it took too long',
  EWOULDBLOCK: 'not available now'
}

/** What would have had to be true for a write, by the name; in all other cases a folder that can be written to. */
const TO_WRITE: Readonly<Record<string, string>> = {
  EDQUOT: 'free space in the disk quota',
  EFBIG: 'a file system that takes files of this size',
  EIO: 'a disk without errors',
  EISDIR: 'a file',
  EMFILE: 'a higher limit of open files',
  EMLINK: 'a file system that takes more folders or links',
  ENAMETOOLONG: 'a shorter path',
  ENFILE: 'a higher limit of open files',
  ENOMEM: 'more memory',
  ENOSPC: 'free space on the disk',
  EROFS: 'a file system that can be written to',
  ESTALE: 'a network file system that keeps the folder',
  ETXTBSY: 'a file that no program runs from'
}

/**
 * Null for anything that is no error of the system. A number counts only where Node says that it is the system's: errors of
 * zlib have an `errno` of their own.
 */
export function systemName(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const { code, errno } = error as { readonly code?: unknown; readonly errno?: unknown }
  if (typeof code !== 'string') return null
  // Of a thread that could not start, Node gives the system's name at the end of its own words.
  if (code === 'ERR_WORKER_INIT_FAILED') return /: (E[A-Z0-9]+)$/.exec(error.message)?.[1] ?? null
  if (/^E[A-Z0-9]+$/.test(code)) return code
  const unnamed = /^Unknown system error (-?\d+)$/.exec(code)
  const number = unnamed !== null ? Number(unnamed[1]) : code.startsWith('ERR_FS_') && typeof errno === 'number' ? errno : null
  if (number === null) return null
  const name = Object.entries(constants.errno).find(([, value]) => value === Math.abs(number))?.[0]
  return name ?? `system error ${Math.abs(number)}`
}

/** The system's name of an error, or of what it was made of. */
export function causeName(error: unknown): string | null {
  return systemName(error) ?? (error instanceof Error ? systemName(error.cause) : null)
}

/** One phrase on one line; null for anything that is no error of the system. */
export function systemText(error: unknown): string | null {
  const name = systemName(error)
  if (name === null) return null
  if (Object.hasOwn(WORDS, name)) return `${name} ${WORDS[name]}`
  const known = [...getSystemErrorMap().values()].find(([its]) => its === name)
  if (known !== undefined) return `${name} ${known[1]}`
  // A resolver's or a library's code of that form (ENOTFOUND) keeps the message that came with it.
  return name.startsWith('system error') || Object.hasOwn(constants.errno, name) ? `${name} without a word of its own` : null
}

/** What a write that failed so would have needed. */
export function neededToWrite(name: string): string {
  return Object.hasOwn(TO_WRITE, name) ? TO_WRITE[name] : 'a writable folder'
}
