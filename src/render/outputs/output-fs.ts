/**
 * The file operations that an output needs, as an interface: tests inject a full disk or a folder without rights, and
 * everything above it is the same code. `nodeOutputFs` is the real one. POSIX rename (replaces the target in one step)
 * is assumed; Windows, where an open file cannot be renamed over, is not supported.
 */
import { constants } from 'node:fs'
import * as fs from 'node:fs/promises'
import { fileSystemTime } from '../../core/system/alive.js'
import { systemName } from '../../core/system/error.js'
import { makeFolder, syncFolder } from '../../core/system/folder.js'

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
  /** last change of content, or what was set as such */
  readonly modified: number
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
  /** The time that the file system gives to a file which is made in the folder now: hosts that share it have clocks of their own. */
  now(folder: string): Promise<number>
  /** Sets when the file was modified last, links not followed. */
  touch(path: string, modified: number): Promise<void>
  /** The path with every link followed. */
  realPath(path: string): Promise<string>
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

  makeFolder,
  checkWritable: folder => fs.access(folder, constants.W_OK | constants.X_OK),
  removeFolder: path => fs.rmdir(path),

  syncFolder,
  link: (existing, path) => fs.link(existing, path),
  rename: (from, to) => fs.rename(from, to),
  unlink: path => fs.unlink(path),
  list: folder => fs.readdir(folder),

  async inspect(path) {
    try {
      const stat = await fs.lstat(path)
      return { kind: stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : 'other', changed: stat.ctimeMs, modified: stat.mtimeMs }
    } catch (error) {
      if (systemName(error) === 'ENOENT') return null
      throw error
    }
  },

  now: fileSystemTime,
  touch: (path, modified) => fs.lutimes(path, modified / 1000, modified / 1000),
  realPath: path => fs.realpath(path)
}
