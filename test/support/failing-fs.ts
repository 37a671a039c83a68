/** The real file system with one operation replaced: the nth call fails as the operating system would say it. */
import { nodeOutputFs, type OutputFs, type OutputHandle } from '../../src/render/outputs/output-fs.js'

export function systemError(code: string, text: string, call: string): Error {
  return Object.assign(new Error(`${code}: ${text}, ${call}`), { code, syscall: call })
}

export interface CountingFs {
  readonly fs: OutputFs
  /** names of the operations so far, in order; the failed one is the last that was counted before it failed */
  readonly calls: string[]
}

/** Fails the call number `failAt` (0-based) of any kind, file handles included; Infinity fails none. */
export function countingFs(failAt: number, error: Error): CountingFs {
  const calls: string[] = []
  const counted = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
    calls.push(name)
    if (calls.length - 1 === failAt) throw error
    return run()
  }
  const handle = (real: OutputHandle): OutputHandle => ({
    writev: (chunks, position) => counted('writev', () => real.writev(chunks, position)),
    read: (into, position) => counted('read', () => real.read(into, position)),
    datasync: () => counted('datasync', () => real.datasync()),
    sync: () => counted('sync', () => real.sync()),
    async close() {
      // the descriptor goes in any case, as close(2) does it
      calls.push('close')
      const fails = calls.length - 1 === failAt
      await real.close()
      if (fails) throw error
    }
  })
  const fs: OutputFs = {
    create: path => counted('create', async () => handle(await nodeOutputFs.create(path))),
    makeFolder: path => counted('makeFolder', () => nodeOutputFs.makeFolder(path)),
    checkWritable: path => counted('checkWritable', () => nodeOutputFs.checkWritable(path)),
    removeFolder: path => counted('removeFolder', () => nodeOutputFs.removeFolder(path)),
    syncFolder: path => counted('syncFolder', () => nodeOutputFs.syncFolder(path)),
    link: (from, to) => counted('link', () => nodeOutputFs.link(from, to)),
    rename: (from, to) => counted('rename', () => nodeOutputFs.rename(from, to)),
    unlink: path => counted('unlink', () => nodeOutputFs.unlink(path)),
    list: path => counted('list', () => nodeOutputFs.list(path)),
    inspect: path => counted('inspect', () => nodeOutputFs.inspect(path)),
    now: folder => counted('now', () => nodeOutputFs.now(folder)),
    touch: (path, modified) => counted('touch', () => nodeOutputFs.touch(path, modified)),
    realPath: path => counted('realPath', () => nodeOutputFs.realPath(path))
  }
  return { fs, calls }
}

/** The real file system whose files pass their operations through `change`. */
export function withHandles(change: (real: OutputHandle, path: string) => OutputHandle): OutputFs {
  return {
    ...nodeOutputFs,
    async create(path) {
      return change(await nodeOutputFs.create(path), path)
    }
  }
}
