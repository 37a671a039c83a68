/**
 * Removes outputs that an earlier run wrote into the folder and that the new run does not write. Otherwise an old
 * figure would stand beside new numbers. The list comes from the `run.json` in the folder, which anybody may have
 * written. A listed file is removed only where
 *
 *     its name    is one that this program gives to an output
 *     its folder  lies in the output folder, with links followed
 *     it itself   is a regular file and no link
 *     its bytes   are those that the record states: a file changed since then belongs to the person who changed it
 *     it says     that this program made it: a name or a hash proves nothing (`own-mark.ts`)
 *
 * All other files stay, and the run names them.
 */
import { lstat, realpath, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Fault } from '../../core/errors.js'
import { hashFile } from '../../core/still-file.js'
import { isOutputName, STREAMED_OUTPUTS } from '../../schema/outputs.js'
import { isInside } from '../../core/system/folder.js'
import { systemName } from '../../core/system/error.js'
import { outputFault } from './output-fault.js'
import { saysGenerator } from './own-mark.js'

export interface RecordedOutput {
  /** relative to the output folder */
  readonly path: string
  /** null where the record states the size alone */
  readonly sha256: string | null
  readonly bytes: number
}

/** Whether a record may state this output without a hash. `manifest` is that of the record; a batch has none. */
export function isBySize(path: string, manifest: unknown): boolean {
  return manifest === null && STREAMED_OUTPUTS.includes(path)
}

/**
 * @param generator name that this program's documents state
 * @returns recorded paths of files that remain under the name of an output and are not known to be outputs of this
 *   program
 * @throws Fault (exit 3) where a file that has to be removed cannot be removed
 */
export async function removeOutputs(out: string, recorded: readonly RecordedOutput[], generator: string): Promise<readonly string[]> {
  const root = await realpath(out)
  const ours: string[] = []
  const left: string[] = []
  // All files are judged before the first is removed, because a CSV is recognized by the document beside it.
  for (const output of recorded) {
    if (!isOutputName(output.path)) continue
    try {
      const real = await placeIn(root, output.path)
      if (real === null) continue
      if (await isOwn(real, output, generator)) ours.push(real)
      else left.push(output.path)
    } catch (error) {
      if (systemName(error) === null) throw error
      // No file has the name.
    }
  }
  for (const real of ours) {
    await unlink(real).catch((error: unknown) => {
      if (systemName(error) !== 'ENOENT') throw outputFault(error, real)
    })
  }
  return left
}

/**
 * The real path of the entry with this name. Null where it lies outside the output folder.
 *
 * @throws the system's error where there is no entry
 */
async function placeIn(root: string, path: string): Promise<string | null> {
  const folder = await realpath(dirname(join(root, path)))
  const real = join(folder, basename(path))
  await lstat(real)
  return isInside(root, folder) ? real : null
}

async function isOwn(real: string, { path, sha256, bytes }: RecordedOutput, generator: string): Promise<boolean> {
  if (sha256 === null && !STREAMED_OUTPUTS.includes(path)) return false
  try {
    const info = await lstat(real)
    if (!info.isFile() || info.size !== bytes) return false
    return (sha256 === null || (await isHash(real, sha256))) && (await saysGenerator(real, generator))
  } catch (error) {
    if (error instanceof Fault || error instanceof SyntaxError || systemName(error) !== null) return false
    throw error
  }
}

async function isHash(path: string, expected: string): Promise<boolean> {
  const { sha256, changed } = await hashFile(path, { links: 'refuse' })
  return sha256 === expected && !changed
}
