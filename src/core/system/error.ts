/**
 * Errors of the operating system in one form: `ENOSPC no space left on device`. Node's own message is `ENOSPC: no space left
 * on device, write`. For an error that libuv does not know (a disk quota, a stale file handle) it is
 *
 *     Unknown system error -122: Unknown system error -122, write
 *
 * Neither reaches the user.
 */
import { constants } from 'node:os'
import { getSystemErrorMap } from 'node:util'

/** Words for errors for which libuv has none, or words about a system call. */
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

/** What a write needs, by the name of its error. For all others it is a folder that can be written to. */
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
 * The system's name of an error, such as `ENOSPC`; null for any other error. A number counts only where Node says that it is
 * the system's: errors of zlib have an `errno` of their own.
 */
export function systemName(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const { code, errno } = error as { readonly code?: unknown; readonly errno?: unknown }
  if (typeof code !== 'string') return null
  // For a thread that could not start, Node's message ends in the system's name.
  if (code === 'ERR_WORKER_INIT_FAILED') return /: (E[A-Z0-9]+)$/.exec(error.message)?.[1] ?? null
  if (/^E[A-Z0-9]+$/.test(code)) return code
  const unnamed = /^Unknown system error (-?\d+)$/.exec(code)
  const number = unnamed !== null ? Number(unnamed[1]) : code.startsWith('ERR_FS_') && typeof errno === 'number' ? errno : null
  if (number === null) return null
  const name = Object.entries(constants.errno).find(([, value]) => value === Math.abs(number))?.[0]
  return name ?? `system error ${Math.abs(number)}`
}

/** The system's name of an error or of its cause. */
export function causeName(error: unknown): string | null {
  return systemName(error) ?? (error instanceof Error ? systemName(error.cause) : null)
}

/** An error of the system as one phrase on one line; null for any other error. */
export function systemText(error: unknown): string | null {
  const name = systemName(error)
  if (name === null) return null
  if (Object.hasOwn(WORDS, name)) return `${name} ${WORDS[name]}`
  const known = [...getSystemErrorMap().values()].find(([its]) => its === name)
  if (known !== undefined) return `${name} ${known[1]}`
  // A code of this form that is a resolver's or a library's (ENOTFOUND) keeps its own message.
  return name.startsWith('system error') || Object.hasOwn(constants.errno, name) ? `${name} without a word of its own` : null
}

/** What a write that failed with this error needs. */
export function neededToWrite(name: string): string {
  return Object.hasOwn(TO_WRITE, name) ? TO_WRITE[name] : 'a writable folder'
}
