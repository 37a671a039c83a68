/**
 * A folder for the time of one piece of work, beside what it makes or in the system's folder of temporary files:
 *
 *     <name>@<host>@<pid>@XXXXXX
 *
 * What a killed process left goes when the next one looks: at once where the process ran on this host, and has been silent
 * for an hour where it ran on another (or in a container that shares the folder). While the work goes on, the folder is
 * changed every ten minutes, so that its time, by the clock of the file system that it lies on, says that the process lives.
 */
import { lstat, mkdtemp, readdir, rm, rmdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileSystemTime, HEARTBEAT_MS, isAlive, isSilent } from './alive.js'

export interface WorkFolder {
  readonly path: string
  /** Removes it with all that is in it. */
  remove(): Promise<void>
}

function hostPart(): string {
  return hostname().replaceAll(/[^\w.-]/g, '_')
}

/** Makes one in an existing folder. */
export async function makeWorkFolder(parent: string, name: string): Promise<WorkFolder> {
  const path = await mkdtemp(join(parent, `${name}@${hostPart()}@${process.pid}@`))
  const heart = setInterval(() => { void beat(path) }, HEARTBEAT_MS).unref()
  return {
    path,
    async remove() {
      clearInterval(heart)
      await rm(path, { recursive: true, force: true })
    }
  }
}

/** A name that comes and goes changes the folder's time. Where none can come, the work itself fails and says so. */
async function beat(folder: string): Promise<void> {
  await mkdtemp(join(folder, '.alive-')).then(rmdir).catch(() => undefined)
}

/** Removes what dead processes left under names that begin so. What cannot be looked at or removed (of another user, on a disk that only reads) stays. */
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
    if (dead) await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}
