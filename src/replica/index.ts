/**
 * The synthetic replica: the study that the program uses if none is named. It is made once and kept in a cache folder under
 * the hash of its manifest. Its bytes are the same on every machine.
 *
 *     <cache>/replica-<hash>                       complete, or not there
 *     <cache>/.replica-<hash>@<host>@<pid>@XXXXXX  being written
 *
 * A folder is written beside its place and renamed when it is complete. If two processes write at once, the second to
 * finish deletes its own folder. What a killed process left is removed by the next one (core/system/work-folder.ts).
 * The generator is loaded only if the folder does not exist.
 */
import { createHash } from 'node:crypto'
import { lstat, readdir, rename, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describeCause, Fault, printable, printableId } from '../core/errors.js'
import { systemName } from '../core/system/error.js'
import { makeFolder } from '../core/system/folder.js'
import { readText } from '../core/still-file.js'
import { isMissing } from '../core/system/open.js'
import { makeWorkFolder, sweepWorkFolders, type WorkFolder } from '../core/system/work-folder.js'

/** Version in the replica's own manifest. */
const REPLICA_VERSION = '11'
/**
 * SHA-256 of `source_manifest.json`, which contains the hash of every other file. A folder with another manifest was made
 * by another generator and is not read. `test/replica.test.ts` checks that the generator writes this manifest.
 */
export const REPLICA_MANIFEST_SHA256 = '1e60c0c08d625d3556e1a5a8f456a84176c23d8f0c5ca1b1697c089cffa78dd0'

export const REPLICA_FOLDER = `replica-${REPLICA_MANIFEST_SHA256.slice(0, 12)}`
/** Prefix of unfinished folders, for every version of the generator. */
const LEFT_OVER = '.replica-'
/** Most attempts. A folder in the way is first moved aside; if that does not help, another process keeps replacing it. */
const RENAME_ROUNDS = 5

/** `$CRITIC_TRACES_CACHE`, else `$XDG_CACHE_HOME/critic-traces`, else `~/.cache/critic-traces`. Empty counts as unset. */
export function defaultCacheDir(env: Readonly<Record<string, string | undefined>>): string {
  const own = env['CRITIC_TRACES_CACHE']
  if (own !== undefined && own !== '') return own
  const xdg = env['XDG_CACHE_HOME']
  return join(xdg !== undefined && xdg !== '' ? xdg : join(homedir(), '.cache'), 'critic-traces')
}

export interface ReplicaOptions {
  readonly signal?: AbortSignal | undefined
  /** called with one line per step; not called if nothing has to be done */
  readonly log?: ((line: string) => void) | undefined
}

export interface EnsureReplicaOptions extends ReplicaOptions {
  readonly cacheDir: string
}

function notWritten(error: unknown, file: string, expected: string): Fault {
  if (error instanceof Fault) return error
  const found = printable(describeCause(error), 400)
  return new Fault({ format: 'replica', problem: 'not written', found, expected, place: { file }, cause: error })
}

/**
 * Writes the replica's files into `dir`, which is created if it does not exist. This is not atomic; `ensureReplica` is.
 * @throws {Fault} if a file exists or cannot be written; the signal's reason when aborted
 */
export async function generateReplica(dir: string, options: ReplicaOptions = {}): Promise<void> {
  const { writeReplica } = await import('./generate.js')
  try {
    await makeFolder(dir)
    await writeReplica(dir, { ...options, version: REPLICA_VERSION })
  } catch (error) {
    options.signal?.throwIfAborted()
    throw notWritten(error, dir, 'an empty folder that can be written')
  }
}

/** True if the manifest is this generator's and every listed file exists with its size. `verify` checks the content. */
async function isComplete(dir: string): Promise<boolean> {
  try {
    const text = await readText(join(dir, 'source_manifest.json'))
    if (createHash('sha256').update(text).digest('hex') !== REPLICA_MANIFEST_SHA256) return false
    const manifest: unknown = JSON.parse(text)
    if (typeof manifest !== 'object' || manifest === null || !('files' in manifest)) return false
    if (!Array.isArray(manifest.files)) return false
    const files: readonly unknown[] = manifest.files
    const there = await Promise.all(
      files.map(async file => {
        if (typeof file !== 'object' || file === null || !('path' in file) || !('bytes' in file)) return false
        return (await stat(join(dir, String(file.path)))).size === file.bytes
      })
    )
    return there.length > 0 && there.every(Boolean)
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return false
    throw error
  }
}

/**
 * The path of the first entry in `place` that the generator does not write; `place` itself if it is no folder; null if there
 * is none. Such entries belong to the user and are kept.
 *
 * @param made a finished replica, which has all names
 */
async function foreignIn(place: string, made: string, path = ''): Promise<string | null> {
  const [there, ours] = await Promise.all([lstat(join(place, path)), lstat(join(made, path)).catch(() => null)])
  if (ours === null || there.isDirectory() !== ours.isDirectory() || !(there.isDirectory() || there.isFile())) return join(place, path)
  if (!there.isDirectory()) return null
  for (const name of (await readdir(join(place, path))).sort()) {
    const foreign = await foreignIn(place, made, join(path, name))
    if (foreign !== null) return foreign
  }
  return null
}

/**
 * Moves a finished folder to its place, unless a complete one is there. An incomplete one in the way is moved into `work`
 * and removed with it, unless it contains files of others.
 */
async function moveIntoPlace(work: string, made: string, place: string): Promise<void> {
  for (let round = 0; round < RENAME_ROUNDS; round++) {
    try {
      await rename(made, place)
      return
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'EPERM', 'ENOTDIR'].includes(systemName(error) ?? '')) throw error
    }
    if (await isComplete(place)) return
    const foreign = await foreignIn(place, made).catch((error: unknown) => {
      if (isMissing(error)) return null
      throw error
    })
    if (foreign !== null) {
      throw new Fault({
        format: 'replica',
        problem: 'folder in the way',
        found: `${printableId(foreign, 400)}, which no replica has`,
        expected: 'a replica or nothing: move it away, or name another cache folder in CRITIC_TRACES_CACHE',
        place: { file: place }
      })
    }
    await rename(place, join(work, `broken${round}`)).catch((error: unknown) => {
      if (!isMissing(error)) throw error
    })
  }
  throw new Fault({
    format: 'replica',
    problem: 'folder in the way',
    found: 'another folder keeps coming back',
    expected: 'no other program in the cache',
    place: { file: place }
  })
}

/**
 * The folder of the replica's study. It is made first if it does not exist or is incomplete.
 * @throws {Fault} if the cache cannot be written; the signal's reason when aborted (nothing is left behind)
 */
export async function ensureReplica({ cacheDir, signal, log }: EnsureReplicaOptions): Promise<string> {
  const place = join(cacheDir, REPLICA_FOLDER)
  await sweepWorkFolders(cacheDir, LEFT_OVER)
  if (await isComplete(place)) return place
  let work: WorkFolder | null = null
  try {
    await makeFolder(cacheDir)
    log?.(`replica: writing ${place} (once)`)
    work = await makeWorkFolder(cacheDir, `.${REPLICA_FOLDER}`)
    // one level below, because the folder of mkdtemp is closed to other users
    const made = join(work.path, REPLICA_FOLDER)
    await generateReplica(made, { signal, log })
    await moveIntoPlace(work.path, made, place)
    return place
  } catch (error) {
    signal?.throwIfAborted()
    throw notWritten(error, place, 'a writable cache folder (CRITIC_TRACES_CACHE names another)')
  } finally {
    await work?.remove()
  }
}
