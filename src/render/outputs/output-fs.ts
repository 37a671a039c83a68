/**
 * The file operations that an output needs, as an interface: tests inject a full disk or a folder without rights, and
 * everything above it is the same code. `nodeOutputFs` is the real one. POSIX rename (replaces the target in one step)
 * is assumed; Windows, where an open file cannot be renamed over, is not supported.
 */
import { constants } from 'node:fs'
import * as fs from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

export interface OutputHandle {
  /** Writes at a byte position; answers how many bytes were taken, which may be fewer than given. */
  writev(chunks: readonly Uint8Array[], position: number): Promise<number>
  /** fdatasync: the data is on the disk */
  datasync(): Promise<void>
  /** fsync: the data and everything about it is on the disk */
  sync(): Promise<void>
  close(): Promise<void>
}

export interface Inspected {
  readonly kind: 'file' | 'folder' | 'other'
  /** last change of content or of names, milliseconds since 1970 */
  readonly changed: number
}

export interface OutputFs {
  /** Creates a file that must not exist yet. */
  create(path: string): Promise<OutputHandle>
  /** Creates a folder and its parents; answers those that it created, deepest first. */
  makeFolder(path: string): Promise<readonly string[]>
  /** Fails unless files can be created in the folder. */
  checkWritable(folder: string): Promise<void>
  removeFolder(path: string): Promise<void>
  /** fsync of a folder: renames inside it are on the disk */
  syncFolder(path: string): Promise<void>
  link(existing: string, path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  list(folder: string): Promise<readonly string[]>
  /** What is at the path, links not followed; null where nothing is. */
  inspect(path: string): Promise<Inspected | null>
  /** The path with every link followed. */
  realPath(path: string): Promise<string>
}

/** The operating system's code of a failed operation (`ENOENT`, `ENOSPC` …), null for any other thrown thing. */
export function systemCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null
  return typeof error.code === 'string' ? error.code : null
}

/** A file system that cannot sync a folder says so with one of these; its renames are as durable as it makes them. */
const CANNOT_SYNC_FOLDERS: ReadonlySet<string | null> = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

async function exists(path: string): Promise<boolean> {
  return fs.access(path).then(() => true, () => false)
}

export const nodeOutputFs: OutputFs = {
  async create(path) {
    const handle = await fs.open(path, 'wx')
    return {
      async writev(chunks, position) {
        return (await handle.writev([...chunks], position)).bytesWritten
      },
      datasync: () => handle.datasync(),
      sync: () => handle.sync(),
      close: () => handle.close()
    }
  },

  async makeFolder(path) {
    // One level at a time: mkdir's recursive mode never returns where a file system like /proc refuses new names.
    const missing: string[] = []
    let folder = resolve(path)
    while (!(await exists(folder)) && dirname(folder) !== folder) {
      missing.push(folder)
      folder = dirname(folder)
    }
    if (missing.length === 0) {
      if (!(await fs.stat(path)).isDirectory()) throw Object.assign(new Error(`EEXIST: not a folder, '${path}'`), { code: 'EEXIST' })
      return []
    }
    for (const level of [...missing].reverse()) {
      await fs.mkdir(level).catch((error: unknown) => {
        // Another process may have made it meanwhile.
        if (systemCode(error) !== 'EEXIST') throw error
      })
    }
    return missing
  },

  checkWritable: folder => fs.access(folder, constants.W_OK | constants.X_OK),
  removeFolder: path => fs.rmdir(path),

  async syncFolder(path) {
    const handle = await fs.open(path, 'r')
    try {
      await handle.sync()
    } catch (error) {
      if (!CANNOT_SYNC_FOLDERS.has(systemCode(error))) throw error
    } finally {
      await handle.close()
    }
  },

  link: (existing, path) => fs.link(existing, path),
  rename: (from, to) => fs.rename(from, to),
  unlink: path => fs.unlink(path),
  list: folder => fs.readdir(folder),

  async inspect(path) {
    try {
      const stat = await fs.lstat(path)
      return { kind: stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : 'other', changed: stat.ctimeMs }
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null
      throw error
    }
  },

  realPath: path => fs.realpath(path)
}
