/**
 * One fetch at a time into a study, one watch at a time into a folder of outputs: two would write the same files.
 *
 *     .critic-traces-<fetch or watch>.lock/              a folder: making it is one step that only one process can win
 *     .critic-traces-<fetch or watch>.lock/<host>@<pid>  a folder in it: who holds the lock
 *
 * They are folders, since a manifest lists every file below a study, and a killed process leaves its lock. The next process takes
 * it over where that process is gone: it removes the inner folder, which again only one process can do. A lock of another
 * host, or of a container that shares the folder, is left over when it was not touched for an hour.
 *
 * proper-lockfile and lockfile were tried. Neither says which process holds a lock: after a kill the first is locked for 10 s, the
 * second for good.
 */
import { lstat, mkdir, readdir, rmdir, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { EXIT, Fault, printableId } from '../../core/errors.js'
import { fileSystemTime, HEARTBEAT_MS, isAlive, isSilent } from '../../core/system/alive.js'
import { makeFolder } from '../../core/system/folder.js'
import { systemName } from '../../core/system/error.js'
import { outputFault } from './output-fault.js'

/** What one process at a time does, and what it is doing where it holds the lock. */
const DOING = { fetch: 'fetching into this study', watch: 'watching into this folder' } as const
type Locked = keyof typeof DOING

/** How often, and after how many ms, a lock without a holder is looked at again: its owner is about to write its name. */
const TRIES = 5
const PAUSE_MS = 50

/** The clock of a file system may be coarser than that of the process by this much, in milliseconds. */
const CLOCK_SLACK = 2000

export interface FolderLock {
  release(): Promise<void>
}

/** @throws Fault exit 2: another process does the same there */
export async function lockFolder(dir: string, what: Locked): Promise<FolderLock> {
  const lock = join(dir, `.critic-traces-${what}.lock`)
  const host = hostname().replaceAll(/[^\w.-]/g, '_')
  const own = join(lock, `${host}@${process.pid}`)
  let folders: readonly string[] = []
  try {
    folders = await makeFolder(dir)
    for (let tries = 0; ; tries++) {
      if ((await made(lock)) && (await made(own))) break
      const holder = (await readdir(lock).catch(() => []))[0]
      if (holder !== undefined && (await isHeld(dir, join(lock, holder), holder, host))) throw locked(what, lock, holder)
      if (holder === undefined) {
        if (tries === TRIES) await rmdir(lock).catch(() => undefined)
        if (tries > TRIES) throw locked(what, lock, null)
        await delay(PAUSE_MS)
      } else if (await removed(join(lock, holder))) {
        if (await made(own)) break
      }
    }
  } catch (error) {
    throw error instanceof Fault ? error : outputFault(error, lock)
  }
  const heart = setInterval(() => {
    const now = new Date()
    void utimes(own, now, now).catch(() => undefined)
  }, HEARTBEAT_MS).unref()
  return {
    async release() {
      clearInterval(heart)
      // A folder that the lock made goes too where the process has left nothing in it.
      for (const folder of [own, lock, ...folders]) await rmdir(folder).catch(() => undefined)
    }
  }
}

/** True if this call made the folder. */
async function made(folder: string): Promise<boolean> {
  return mkdir(folder).then(
    () => true,
    (error: unknown) => {
      if (['EEXIST', 'ENOENT'].includes(systemName(error) ?? '')) return false
      throw error
    }
  )
}

/** True if this call removed the folder. */
async function removed(folder: string): Promise<boolean> {
  return rmdir(folder).then(
    () => true,
    (error: unknown) => {
      if (systemName(error) === 'ENOENT') return false
      throw error
    }
  )
}

async function isHeld(dir: string, path: string, holder: string, host: string): Promise<boolean> {
  const [of, pid] = holder.split('@')
  const info = await lstat(path).catch(() => null)
  // In a container every process may have the same number: an earlier one made a lock that is older than this process.
  if (of === host && Number(pid) === process.pid) return info !== null && info.mtimeMs > Date.now() - process.uptime() * 1000 - CLOCK_SLACK
  if (of === host) return isAlive(Number(pid))
  return info !== null && !isSilent(await fileSystemTime(dir), info.mtimeMs)
}

function locked(what: Locked, lock: string, holder: string | null): Fault {
  const [host, pid] = holder?.split('@') ?? []
  const who = pid === undefined ? 'another process' : `process ${printableId(pid)} on ${printableId(host)}`
  return new Fault({
    format: what,
    problem: 'locked',
    found: `${who} is ${DOING[what]}`,
    expected: `one ${what} at a time; wait for its end`,
    place: { file: lock },
    exitCode: EXIT.usage
  })
}
