/**
 * What an earlier run into a folder wrote and the new one does not: removed, for an old figure would stand beside new
 * numbers. The list comes from the `run.json` that lay there, which anybody can have written. A file of it goes only where
 *
 *     its name    is one that this program gives to an output
 *     its folder  lies in the output folder, links followed
 *     it itself   is a regular file, and no link
 *     its bytes   are those that the record states: what somebody has changed since is theirs
 *     it says so  where its name is one that a study chose (JSON, CSV): that this program made it
 *
 * Everything else stays where it is.
 */
import { createHash } from 'node:crypto'
import { lstat, realpath, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Fault } from '../../errors.js'
import { csvMetadataPath, outputNameOf, STREAMED_OUTPUTS } from '../../schema/outputs.js'
import { isInside } from '../../system/folder.js'
import { openRegular, readText } from '../../system/open.js'
import { systemName } from '../../system/error.js'
import { outputFault } from './output-fault.js'

export interface RecordedOutput {
  /** relative to the output folder */
  readonly path: string
  /** null: by size alone */
  readonly sha256: string | null
  readonly bytes: number
}

/** Whether a record may state this output without a hash. `manifest` is the record's: a batch has none. */
export function isBySize(path: string, manifest: unknown): boolean {
  return manifest === null && STREAMED_OUTPUTS.includes(path)
}

const CHUNK_BYTES = 1024 * 1024

/**
 * @param generator name that this program's documents give
 * @throws Fault exit 3 where a file that has to go cannot be removed
 */
export async function removeOutputs(out: string, recorded: readonly RecordedOutput[], generator: string): Promise<void> {
  const root = await realpath(out)
  const ours: string[] = []
  // All are judged before the first goes: a CSV is known by the document beside it.
  for (const output of recorded) {
    const real = await ownFile(root, output, generator)
    if (real !== null) ours.push(real)
  }
  for (const real of ours) {
    await unlink(real).catch((error: unknown) => {
      if (systemName(error) !== 'ENOENT') throw outputFault(error, real)
    })
  }
}

/** Where the file really lies; null: nothing is there, or not what this program wrote. */
async function ownFile(root: string, { path, sha256, bytes }: RecordedOutput, generator: string): Promise<string | null> {
  const named = outputNameOf(path)
  if (named === null || (sha256 === null && !STREAMED_OUTPUTS.includes(path))) return null
  try {
    const folder = await realpath(dirname(join(root, path)))
    if (!isInside(root, folder)) return null
    const real = join(folder, basename(path))
    const info = await lstat(real)
    if (!info.isFile() || info.size !== bytes) return null
    if (sha256 !== null && await hashOf(real) !== sha256) return null
    if (named === 'fixed') return real
    return await saysGenerator(path.endsWith('.csv') ? csvMetadataPath(real) : real, generator) ? real : null
  } catch (error) {
    if (error instanceof Fault || error instanceof SyntaxError || systemName(error) !== null) return null
    throw error
  }
}

async function hashOf(path: string): Promise<string> {
  const { handle } = await openRegular(path, { links: 'refuse' })
  try {
    const hash = createHash('sha256')
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (;;) {
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, null)
      if (bytesRead === 0) return hash.digest('hex')
      hash.update(chunk.subarray(0, bytesRead))
    }
  } finally {
    await handle.close()
  }
}

/** Every JSON document says which program made it; the metadata of a CSV, whose keys have a prefix, says it for the CSV too. */
async function saysGenerator(path: string, generator: string): Promise<boolean> {
  const document = JSON.parse(await readText(path, { links: 'refuse' })) as unknown
  return member(member(document, 'generator'), 'name') === generator
}

function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.entries(value).find(([name]) => name === key || name.endsWith(`:${key}`))?.[1]
}
