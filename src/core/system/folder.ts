/** Folders: made one level at a time, synced to the disk, and resolved where they do not exist yet. */
import { constants, readlinkSync, realpathSync, statSync } from 'node:fs'
import { access, lstat, mkdir, open, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { systemName } from './error.js'
import { kindOf } from './open.js'

/**
 * Creates a folder and its parents; returns those that it created, deepest first. mkdir's own recursive mode is not used: it
 * never returns where a file system like /proc refuses new names.
 *
 * @throws the system's error; EEXIST where something other than a folder is in the way
 */
export async function makeFolder(path: string): Promise<readonly string[]> {
  const missing: string[] = []
  let folder = resolve(path)
  while (!(await exists(folder)) && dirname(folder) !== folder) {
    missing.push(folder)
    folder = dirname(folder)
  }
  if (missing.length === 0) {
    if (!(await isFolder(path))) throw Object.assign(new Error(`EEXIST: not a folder, '${path}'`), { code: 'EEXIST' })
    return []
  }
  for (const level of [...missing].reverse()) {
    await mkdir(level).catch(async (error: unknown) => {
      // Another process may have made it meanwhile.
      if (systemName(error) !== 'EEXIST' || !(await isFolder(level))) throw error
    })
  }
  return missing
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false
  )
}

/** What lies there instead of a folder, in words; null where a folder is there, or where the system refuses to say. */
export async function whyNoFolder(path: string): Promise<string | null> {
  return stat(path).then(
    found => (found.isDirectory() ? null : (kindOf(found) ?? 'a file')),
    () => null
  )
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    found => found.isDirectory(),
    () => false
  )
}

/** What prevents a folder from being made: the nearest entry in its place or above it that is no folder. Null where there is none. */
export async function inTheWay(path: string): Promise<{ readonly path: string; readonly found: string } | null> {
  for (let at = path; ; at = dirname(at)) {
    const found = await stat(at).catch(async (error: unknown) => {
      const link = await lstat(at).then(
        info => info.isSymbolicLink(),
        () => false
      )
      return link ? (systemName(error) === 'ELOOP' ? 'a link that leads back to itself' : 'a link to nothing') : null
    })
    if (typeof found === 'string') return { path: at, found }
    if (found !== null) return found.isDirectory() ? null : { path: at, found: kindOf(found) ?? 'a file' }
    if (dirname(at) === at) return null
  }
}

/** Errors of a file system that cannot sync folders. How durable its renames are depends on it alone. */
const CANNOT_SYNC_FOLDERS: ReadonlySet<string | null> = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/** fsync of a folder: afterwards, renames inside it are on the disk. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_DIRECTORY ?? 0))
  try {
    await handle.sync()
  } catch (error) {
    if (!CANNOT_SYNC_FOLDERS.has(systemName(error))) throw error
  } finally {
    await handle.close()
  }
}

/** A longer chain of links is taken for a loop. */
const MAX_LINKS = 40

/** The path with every link followed as far as the path exists. The rest is appended: it would be created there. */
export function realPlace(path: string, links = 0): string {
  const absolute = resolve(path)
  try {
    return realpathSync.native(absolute)
  } catch {
    const parent = dirname(absolute)
    if (parent === absolute) return absolute
    const target = links < MAX_LINKS ? linkTarget(absolute) : null
    if (target !== null) return realPlace(resolve(realPlace(parent, links + 1), target), links + 1)
    return join(realPlace(parent, links), basename(absolute))
  }
}

/** The target of a link that leads to nothing; null for anything else. */
function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

/** True when `inner` is `outer` or lies below it; both are real paths. */
export function isInside(outer: string, inner: string): boolean {
  const rest = relative(outer, inner)
  return rest === '' || !(rest === '..' || rest.startsWith(`..${sep}`) || isAbsolute(rest))
}

/**
 * Device and inode number of the path and of every folder above it. A folder that is mounted in two places has the same
 * numbers in both.
 */
function identities(path: string): readonly string[] {
  const above = dirname(path) === path ? [] : identities(dirname(path))
  const own = identity(path)
  return own === null ? above : [own, ...above]
}

/** Device and inode number; null where nothing is there, where access is refused, and where a file system has no inode numbers. */
function identity(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return ino === 0n ? null : `${dev}:${ino}`
  } catch (error) {
    if (systemName(error) !== null) return null
    throw error
  }
}

/**
 * True when `outer` leads to the same place as `inner`, or to a folder that holds it. Real paths are compared first, then
 * device and inode numbers: a folder may be mounted in a second place, and a file system may not distinguish cases.
 */
export function holds(outer: string, inner: string): boolean {
  const [place, below] = [realPlace(outer), realPlace(inner)]
  const own = identity(place)
  return isInside(place, below) || (own !== null && identities(below).includes(own))
}
