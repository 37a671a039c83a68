/**
 * Names of the files that exist only while an output set is open, and which of them a later run may remove.
 *
 *     .<name>.ct<pid>-<host>-<random>.tmp    the new content, until commit renames it to <name>
 *     .<name>.ct<pid>-<host>-<random>.bak    the old content, while commit replaces several files
 *
 * `host` is a hash of the host name: a folder may be shared by machines or containers, whose process numbers say
 * nothing about each other. There every temporary file is its own lock, see core/system/alive.ts: a run sets its time to the present again
 * and again, and one that has been silent for an hour is left over. (The package proper-lockfile does the same with a folder
 * beside each file, by the clock of the process.)
 */
import { createHash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isAlive, isSilent } from '../../core/system/alive.js'
import { systemName } from '../../core/system/error.js'
import type { Inspected, OutputFs } from './output-fs.js'

export type TempKind = 'tmp' | 'bak'

export interface TempName {
  /** the name under which the file ends */
  readonly name: string
  readonly pid: number
  readonly host: string
  readonly kind: TempKind
}

const PATTERN = /^\.(.+)\.ct([1-9][0-9]{0,9})-([0-9a-f]{8})-[0-9a-f]{8}\.(tmp|bak)$/s

/** Clocks of a file system may be this much coarser than the process's own, in milliseconds. */
const CLOCK_SLACK = 2000

function hostTag(): string {
  return createHash('sha256').update(hostname()).digest('hex').slice(0, 8)
}

export function tempName(name: string, kind: TempKind): string {
  return `.${name}.ct${process.pid}-${hostTag()}-${randomBytes(4).toString('hex')}.${kind}`
}

/** Null for any name that `tempName` does not make. */
export function parseTempName(file: string): TempName | null {
  const match = PATTERN.exec(file)
  if (match === null) return null
  const [, name = '', pid = '', host = '', kind] = match
  return { name, pid: Number(pid), host, kind: kind === 'bak' ? 'bak' : 'tmp' }
}

/**
 * True when the process that made the file is certainly gone: it ran on this host, and no process has its number, or
 * this very process has it and started after the file was last changed (in a container every run may have number 1). Of
 * another host: when it has been silent for too long.
 *
 * @param silent whether it has given no sign of life for too long
 */
export function isLeftOver(temp: TempName, changed: number, silent = false): boolean {
  if (temp.host !== hostTag()) return silent
  if (temp.pid !== process.pid) return !isAlive(temp.pid)
  const started = Date.now() - process.uptime() * 1000
  return changed < started - CLOCK_SLACK
}

/** Of a copy the time of its content is the old one: it is made in the last moments of a run, and never touched. */
function lastSign({ kind }: TempName, { changed, modified }: Inspected): number {
  return kind === 'tmp' ? modified : changed
}

export async function unlinkIfThere(fs: OutputFs, path: string): Promise<void> {
  await ifThere(fs.unlink(path))
}

/** What another run, or another sweep of this one, took away first is done. */
async function ifThere(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (systemName(error) !== 'ENOENT') throw error
  }
}

/** Removes from one folder what runs that are gone left; an old file that one had moved aside goes back to its name. */
export async function sweepLeftOvers(fs: OutputFs, folder: string): Promise<void> {
  let now: number | null = null
  for (const name of await fs.list(folder)) {
    const temp = parseTempName(name)
    if (temp === null) continue
    const path = join(folder, name)
    const found = await fs.inspect(path)
    if (found?.kind !== 'file') continue
    if (temp.host !== hostTag()) now ??= await fs.now(folder)
    if (!isLeftOver(temp, found.changed, now !== null && isSilent(now, lastSign(temp, found)))) continue
    const target = join(folder, temp.name)
    if (temp.kind === 'bak' && await fs.inspect(target) === null) await ifThere(fs.rename(path, target))
    else await unlinkIfThere(fs, path)
  }
}

/** The same for those of the named subfolders that are there and are no links. */
export async function sweepFolders(fs: OutputFs, dir: string, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const path = join(dir, folder)
    if ((await fs.inspect(path))?.kind === 'folder') await sweepLeftOvers(fs, path)
  }
}
