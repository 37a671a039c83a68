/**
 * Names of the files that exist only while an output set is open, and the rule by which a later run may remove them.
 *
 *     .<name>.ct<pid>-<host>-<random>.tmp    the new content, until commit renames it to <name>
 *     .<name>.ct<pid>-<host>-<random>.bak    the old content, while commit replaces several files
 *
 * `host` is a hash of the host name. Machines or containers may share a folder, and their process numbers are
 * unrelated. For files of another host, every temporary file is its own lock (see core/system/alive.ts): a run
 * regularly sets the file's time to the present, and a file that was not touched for an hour is left over. (The package
 * proper-lockfile does the same with a folder beside each file, by the clock of the process.)
 */
import { createHash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isAlive, isSilent } from '../../core/system/alive.js'
import { systemName } from '../../core/system/error.js'
import type { Inspected, OutputFs } from './output-fs.js'

export type TempKind = 'tmp' | 'bak'

export interface TempName {
  /** the final name of the file */
  readonly name: string
  readonly pid: number
  readonly host: string
  readonly kind: TempKind
}

const PATTERN = /^\.(.+)\.ct([1-9][0-9]{0,9})-([0-9a-f]{8})-[0-9a-f]{8}\.(tmp|bak)$/s

/** The clock of a file system may be coarser than that of the process by this much, in milliseconds. */
const CLOCK_SLACK = 2000

function hostTag(): string {
  return createHash('sha256').update(hostname()).digest('hex').slice(0, 8)
}

export function tempName(name: string, kind: TempKind): string {
  return `.${name}.ct${process.pid}-${hostTag()}-${randomBytes(4).toString('hex')}.${kind}`
}

/** Null for a name that `tempName` cannot have made. */
export function parseTempName(file: string): TempName | null {
  const match = PATTERN.exec(file)
  if (match === null) return null
  const [, name = '', pid = '', host = '', kind] = match
  return { name, pid: Number(pid), host, kind: kind === 'bak' ? 'bak' : 'tmp' }
}

/**
 * True when the process that made the file is certainly gone. On this host, either no process has its number, or this
 * process has it and started after the file was last changed (in a container every run may have number 1). For another
 * host, `silent` decides.
 *
 * @param silent the file has had no sign of life for too long
 */
export function isLeftOver(temp: TempName, changed: number, silent = false): boolean {
  if (temp.host !== hostTag()) return silent
  if (temp.pid !== process.pid) return !isAlive(temp.pid)
  const started = Date.now() - process.uptime() * 1000
  return changed < started - CLOCK_SLACK
}

/**
 * The time of the last sign of life. A `.bak` file keeps the modification time of the old content and is never touched.
 * It is made in the last moments of a run, so the time of its last change is used.
 */
function lastSign({ kind }: TempName, { changed, modified }: Inspected): number {
  return kind === 'tmp' ? modified : changed
}

export async function unlinkIfThere(fs: OutputFs, path: string): Promise<void> {
  await ifThere(fs.unlink(path))
}

/** Ignores a file that is missing because another run, or another sweep of this run, removed it first. */
async function ifThere(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (systemName(error) !== 'ENOENT') throw error
  }
}

/** Removes from one folder the files that ended runs left. An old file that such a run had moved aside gets its name back. */
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
    if (temp.kind === 'bak' && (await fs.inspect(target)) === null) await ifThere(fs.rename(path, target))
    else await unlinkIfThere(fs, path)
  }
}

/** Sweeps those of the named subfolders that exist and are no links. */
export async function sweepFolders(fs: OutputFs, dir: string, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const path = join(dir, folder)
    if ((await fs.inspect(path))?.kind === 'folder') await sweepLeftOvers(fs, path)
  }
}
