/**
 * Whether the process that made a temporary file is still running. On this host its process id tells. On other hosts, and in
 * containers that share a folder, the time of the file tells: the process sets it to the present every HEARTBEAT_MS. A file
 * is left over when its time is STALE_MS old or a day ahead. The clocks of hosts may differ, so "now" is the time of the file
 * system.
 */
import { lstat, mkdtemp, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemName } from './error.js'

export const HEARTBEAT_MS = 10 * 60 * 1000
/** Five heartbeats may be missed: a machine may sleep, a network may be down. */
export const STALE_MS = 60 * 60 * 1000

/** How far ahead a time may lie. After a clock was set back, times lie ahead until the next heartbeat of a running process. */
const AHEAD_MS = 24 * 60 * 60 * 1000

/** True where the last sign of life is too old, or lies so far ahead that no heartbeat can have given it. */
export function isSilent(now: number, lastSign: number): boolean {
  return now - lastSign > STALE_MS || lastSign - now > AHEAD_MS
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process runs and belongs to another user
    return systemName(error) !== 'ESRCH'
  }
}

/** The present time by the clock of the folder's file system, in milliseconds. */
export async function fileSystemTime(folder: string): Promise<number> {
  const probe = await mkdtemp(join(folder, '.critic-traces-now-'))
  try {
    return (await lstat(probe)).mtimeMs
  } finally {
    await rmdir(probe)
  }
}
