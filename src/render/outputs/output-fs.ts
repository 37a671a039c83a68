/**
 * The file operations that an output needs, as an interface. Tests inject a full disk or a folder without rights, and
 * the code above is the same. `nodeOutputFs` is the real one. POSIX rename is assumed, which replaces the target in one
 * step. Windows is not supported, because there an open file cannot be replaced by rename.
 */
import { constants } from 'node:fs'
import * as fs from 'node:fs/promises'
import { fileSystemTime } from '../../core/system/alive.js'
import { systemName } from '../../core/system/error.js'
import { makeFolder, syncFolder } from '../../core/system/folder.js'

export interface OutputHandle {
  /** Writes at a byte position. Returns the number of bytes taken, which may be smaller than the number given. */
  writev(chunks: readonly Uint8Array[], position: number): Promise<number>
  /** Reads bytes that were written before. Returns their number, which is smaller at the end of the file. */
  read(into: Uint8Array, position: number): Promise<number>
  /** fdatasync: afterwards the data is on the disk */
  datasync(): Promise<void>
  /** fsync: afterwards the data and its metadata are on the disk */
  sync(): Promise<void>
  close(): Promise<void>
}

export interface Inspected {
  readonly kind: 'file' | 'folder' | 'other'
  /** last change of content or name, in milliseconds since 1970 */
  readonly changed: number
  /** last change of content, or the time that `touch` set */
  readonly modified: number
}

export interface OutputFs {
  /** Creates a file that must not exist yet. */
  create(path: string): Promise<OutputHandle>
  /** Creates a folder and its parents. Returns the created ones, deepest first. */
  makeFolder(path: string): Promise<readonly string[]>
  /** Fails unless files can be created in the folder. */
  checkWritable(folder: string): Promise<void>
  removeFolder(path: string): Promise<void>
  /** fsync of a folder: afterwards renames inside it are on the disk */
  syncFolder(path: string): Promise<void>
  link(existing: string, path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  list(folder: string): Promise<readonly string[]>
  /** The entry at the path, without following links. Null where there is none. */
  inspect(path: string): Promise<Inspected | null>
  /**
   * The time that the file system gives to a file made in the folder now. Hosts that share the file system may have
   * different clocks.
   */
  now(folder: string): Promise<number>
  /** Sets the file's time of last modification, without following links. */
  touch(path: string, modified: number): Promise<void>
  /** The path with every link followed. */
  realPath(path: string): Promise<string>
}

export const nodeOutputFs: OutputFs = {
  async create(path) {
    const handle = await fs.open(path, 'wx+')
    return {
      async writev(chunks, position) {
        return (await handle.writev([...chunks], position)).bytesWritten
      },
      async read(into, position) {
        return (await handle.read(into, 0, into.length, position)).bytesRead
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
