/**
 * Writes the whole replica into a folder: every part, the claims, the study file, and the manifest of all of them.
 *
 *     parts -> their files and sections -> claims.json, study.json -> source_manifest.json
 *
 * All files are on the disk when this returns. The bytes depend on this code alone: it uses no clock, no locale, no
 * transcendental functions of the engine and no compression library of the machine.
 */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { syncFolder } from '../core/system/folder.js'
import { readText } from '../core/still-file.js'
import { article } from './article.js'
import { criticTraces } from './critic-traces.js'
import { evidence } from './evidence.js'
import { fetched, histories } from './histories.js'
import { StudyFolder } from './part.js'
import type { ReplicaPart } from './part.js'
import { Random } from './random.js'
import { SNAPSHOT_TIME } from './targets.js'

const PARTS: readonly ReplicaPart[] = [criticTraces, histories, evidence, article, fetched]

/** File beside the compiled module. The build copies it there. */
const CLAIMS = new URL('claims.json', import.meta.url)

const NAME = 'Synthetic replica'

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

export interface WriteOptions {
  readonly version: string
  readonly signal?: AbortSignal | undefined
  readonly log?: ((line: string) => void) | undefined
}

/** Writes the replica into `dir`, an existing folder without files of these names. */
export async function writeReplica(dir: string, { version, signal, log }: WriteOptions): Promise<void> {
  const folder = new StudyFolder(dir, signal)
  const sections: Record<string, object> = {}
  for (const part of PARTS) {
    log?.(`replica: making ${part.section.replaceAll('_', ' ')}`)
    sections[part.section] = await part.write(folder, new Random(part.seed))
  }
  await folder.writeText('claims.json', 'claims', await readText(fileURLToPath(CLAIMS)))
  await folder.writeText(
    'study.json',
    'study',
    json({
      schema_version: 1,
      name: NAME,
      synthetic: true,
      manifest: 'source_manifest.json',
      claims: 'claims.json',
      ...sections
    })
  )
  await new StudyFolder(dir, signal).writeText(
    'source_manifest.json',
    'manifest',
    json({
      schema_version: 1,
      synthetic: true,
      snapshot: SNAPSHOT_TIME.slice(0, 10),
      files: folder.files,
      revisions: { replica: version }
    })
  )
  for (const sub of new Set(folder.files.map(file => dirname(file.path)))) await syncFolder(join(dir, sub))
}
