/**
 * What stays of the shards in the folder that a merge writes into: the partials, and the files of the dataset of tokens. The merge
 * writes neither, so its own record, `merge-run.json`, lists them: what a later run of `traces` records there leaves them alone.
 */
import { lstat, readdir, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { formatCount } from '../../core/counts.js'
import { Failures, Fault } from '../../core/errors.js'
import { mapLimited } from '../../core/limited.js'
import { hashFile } from '../../core/still-file.js'
import { isInside, realPlace } from '../../core/system/folder.js'
import { MERGE_RECORD } from '../../render/outputs/output-names.js'
import type { HashedFile } from '../../schema/study.js'
import { originOf } from '../context.js'
import { retireRecord, writeRunRecord } from '../record.js'
import { countOfName, PARTIALS_FOLDER, TOKENS_FOLDER } from './names.js'
import type { Partials } from './open-partials.js'

const AT_A_TIME = 8

export interface KeptFiles {
  /** real paths of partials in the folder: those that are read, and the others of the run */
  readonly partials: readonly string[]
  /** of the dataset, as the partials state them */
  readonly tokens: readonly HashedFile[]
}

/**
 * The dataset is taken to lie in `out` where a partial does, or any dataset.
 *
 * @throws Failures with a Fault for each of its files that is not there, or has another size: `verify --outputs` compares the hashes
 */
export async function keptFiles({ files, head, parts }: Partials, out: string): Promise<KeptFiles> {
  const root = realPlace(out)
  const names = await readdir(join(root, PARTIALS_FOLDER)).catch(() => [])
  const beside = names.filter(name => countOfName(name) === head.count).map(name => join(root, PARTIALS_FOLDER, name))
  const read = (await Promise.all(files.map(file => realpath(file)))).filter(file => isInside(root, file))
  const isThere = read.length > 0 || (await lstat(join(root, TOKENS_FOLDER)).catch(() => null)) !== null
  const stated = isThere ? parts.flatMap(({ shard, tokens }) => tokens.map(file => ({ shard, file }))) : []
  const faults = await mapLimited(stated, AT_A_TIME, async ({ shard, file: { path, bytes } }) => {
    const found = await lstat(join(root, path)).catch(() => null)
    if (found?.isFile() === true && found.size === bytes) return null
    return new Fault({
      format: 'dataset',
      problem: found === null ? 'missing file' : 'changed file',
      found: found === null ? 'nothing' : found.isFile() ? `${formatCount(found.size)} bytes` : 'no regular file',
      expected: `${formatCount(bytes)} bytes, as shard ${shard} wrote it: run that shard again`,
      place: { file: join(out, path) }
    })
  })
  const wrong = faults.filter(fault => fault !== null)
  if (wrong.length > 0) throw new Failures(wrong)
  return { partials: [...new Set([...read, ...beside])].sort(), tokens: stated.map(({ file }) => file) }
}

export async function retireMergeRecord(out: string): Promise<void> {
  await retireRecord(out, MERGE_RECORD)
}

/** Nothing is written where nothing of the shards lies in `out`. */
export async function writeMergeRecord({ files, head }: Partials, { partials, tokens }: KeptFiles, out: string): Promise<void> {
  if (partials.length + tokens.length === 0) return
  const root = realPlace(out)
  const hashed = async (path: string): Promise<HashedFile> => {
    const { sha256, bytes, changed } = await hashFile(path)
    if (sha256 === null || changed) {
      const expected = 'a partial that stands still while it is merged'
      throw new Fault({ format: 'partial', problem: 'changed', found: 'other content', expected, place: { file: path } })
    }
    return { path: relative(root, path).split(sep).join('/'), sha256, bytes }
  }
  const kept = await mapLimited(partials, 1, hashed)
  const known = new Map(kept.map(file => [file.path, file]))
  const inputs = await mapLimited(files, 1, async file => {
    const real = await realpath(file)
    return known.get(relative(root, real).split(sep).join('/')) ?? hashed(real)
  })
  const { synthetic } = head.settings.snapshot
  const run = { settingsSha256: head.settingsSha256, origin: originOf(synthetic, null), inputs, outputs: [...kept, ...tokens] }
  await writeRunRecord(out, run, [], null, MERGE_RECORD)
}
