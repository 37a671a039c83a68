/**
 * Whether the process that made a temporary file is still there. On this host its number tells. Other hosts (and containers
 * that share a folder) say it by the time of what they have made: they set it to the present every HEARTBEAT_MS, and what has
 * been silent for STALE_MS is left over, and what has a time a day ahead. Their clocks may differ: "now" is what the file system says.
 */
import { lstat, mkdtemp, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemName } from './error.js'

export const HEARTBEAT_MS = 10 * 60 * 1000
/** Five heartbeats may be lost: a machine that sleeps, a network that is away. */
export const STALE_MS = 60 * 60 * 1000

/** A clock that was set back leaves times ahead for a while: the next heartbeat mends those of what lives. */
const AHEAD_MS = 24 * 60 * 60 * 1000

/** No sign of life for too long, or one at a time that no heartbeat can have given. */
export function isSilent(now: number, lastSign: number): boolean {
  return now - lastSign > STALE_MS || lastSign - now > AHEAD_MS
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: there is such a process, and it is somebody else's
    return systemName(error) !== 'ESRCH'
  }
}

/** The time that the file system gives to what is made in the folder now. */
export async function fileSystemTime(folder: string): Promise<number> {
  const probe = await mkdtemp(join(folder, '.critic-traces-now-'))
  try {
    return (await lstat(probe)).mtimeMs
  } finally {
    await rmdir(probe)
  }
}
