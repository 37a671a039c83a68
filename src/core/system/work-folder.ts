/**
 * A temporary folder for one piece of work, beside its result or in the system's folder of temporary files:
 *
 *     <name>@<host>@<pid>@XXXXXX
 *
 * The next process that looks removes what a killed process left: at once where that process ran on this host, and after an
 * hour without a sign of life where it ran on another (or in a container that shares the folder). While the work goes on, the
 * folder is changed every ten minutes. Its time, by the clock of its file system, shows that the process is running.
 */
import { lstat, mkdtemp, readdir, rm, rmdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileSystemTime, HEARTBEAT_MS, isAlive, isSilent } from './alive.js'

export interface WorkFolder {
  readonly path: string
  /** Removes the folder with everything in it. */
  remove(): Promise<void>
}

function hostPart(): string {
  return hostname().replaceAll(/[^\w.-]/g, '_')
}

/** Makes a work folder in an existing folder. */
export async function makeWorkFolder(parent: string, name: string): Promise<WorkFolder> {
  const path = await mkdtemp(join(parent, `${name}@${hostPart()}@${process.pid}@`))
  const heart = setInterval(() => {
    void beat(path)
  }, HEARTBEAT_MS).unref()
  return {
    path,
    async remove() {
      clearInterval(heart)
      await rm(path, { recursive: true, force: true })
    }
  }
}

/** Creates and removes an entry, which changes the folder's time. An error is ignored: the work itself then fails and reports it. */
async function beat(folder: string): Promise<void> {
  await mkdtemp(join(folder, '.alive-'))
    .then(rmdir)
    .catch(() => undefined)
}

/**
 * Removes folders that dead processes left, of names that begin with `begin`. A folder that cannot be looked at or removed
 * (another user's, or on a read-only disk) stays.
 */
export async function sweepWorkFolders(parent: string, begin: string): Promise<void> {
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => [])
  let now: number | null = null
  for (const entry of entries) {
    const match = entry.isDirectory() && entry.name.startsWith(begin) ? /^[^@]*@([^@]*)@(\d+)@\w+$/.exec(entry.name) : null
    if (match === null) continue
    const path = join(parent, entry.name)
    const info = await lstat(path).catch(() => null)
    if (info === null || (process.getuid !== undefined && info.uid !== process.getuid())) continue
    if (match[1] !== hostPart()) now ??= await fileSystemTime(parent).catch(() => null)
    const dead = match[1] === hostPart() ? !isAlive(Number(match[2])) : now !== null && isSilent(now, info.mtimeMs)
    if (dead) await rm(path, { recursive: true }).catch(() => undefined)
  }
}
