/**
 * Relative paths from a file. They are not trusted until checked: first the text (`isSafeRelative`), then the file system
 * (`resolveInside`), because a symbolic link may leave the folder although its name does not.
 *
 * One rule holds on every system: `/` separates names. A backslash and a drive letter are refused everywhere, so that a study
 * that is safe on Linux is safe on Windows too.
 */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { systemName } from './system/error.js'
import { isInside } from './system/folder.js'

/** PATH_MAX of Linux. A longer path cannot be opened, so it is refused before it is handled. */
const MAX_PATH = 4096

/** True when the text of `path` is relative, non-empty and has no segment `..`. `.` and `a//b` are safe. */
export function isSafeRelative(path: string): boolean {
  if (path === '' || path.length > MAX_PATH) return false
  // A lone surrogate has no UTF-8 form: the system would open another file than the one named.
  if (path.includes('\0') || path.includes('\\') || !path.isWellFormed()) return false
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return false
  return !path.split('/').includes('..')
}

/** A safe relative path in its one canonical form: no `.`, no empty segment, no slash at either end; `.` for the folder. */
export function canonicalRelative(path: string): string {
  const segments = path.split('/').filter(s => s !== '' && s !== '.')
  return segments.length === 0 ? '.' : segments.join('/')
}

/** True when a text is ASCII. It then needs no pattern with Unicode properties, which are slow to compile. */
export function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text)
}

/** Where a safe relative path leads, symbolic links followed. */
export type Resolved =
  | { readonly kind: 'inside'; readonly real: string }
  | { readonly kind: 'outside'; readonly real: string }
  /** nothing is there; `ENOENT`, `ENOTDIR` or `ENAMETOOLONG` */
  | { readonly kind: 'missing' }
  /** something is there, and the system does not resolve it: `EACCES`, `ELOOP` … */
  | { readonly kind: 'unreadable'; readonly code: string }

/**
 * Follows the links of `path` (already safe as text) below `rootReal` (a real path). Synchronous: the system answers in
 * microseconds, and the way through a thread pool takes a hundred times as long.
 */
export function resolveInside(rootReal: string, path: string): Resolved {
  try {
    const real = realpathSync.native(join(rootReal, path))
    return { kind: isInside(rootReal, real) ? 'inside' : 'outside', real }
  } catch (error) {
    const code = errorCode(error)
    return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG' ? { kind: 'missing' } : { kind: 'unreadable', code }
  }
}

/** The system's short name of an error (`ENOENT`), else a library's, else its message. */
export function errorCode(error: unknown): string {
  const name = systemName(error)
  if (name !== null) return name
  if (error instanceof Error) return 'code' in error && typeof error.code === 'string' ? error.code : error.message
  return String(error)
}

/**
 * Order by Unicode code point, the order of Python's `sorted` and of `LC_ALL=C sort` on UTF-8. JavaScript's own order
 * (UTF-16 units) differs where U+E000-U+FFFF meets a character beyond U+FFFF.
 */
export function compareCodepoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x === y) continue
    // All units before are equal. A surrogate on one side only belongs to a character beyond U+FFFF, which is the larger one.
    const astralX = x >= 0xd800 && x <= 0xdfff
    const astralY = y >= 0xd800 && y <= 0xdfff
    return astralX === astralY ? x - y : astralX ? 1 : -1
  }
  return a.length - b.length
}
