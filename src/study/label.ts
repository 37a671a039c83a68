/**
 * What a snapshot's surroundings say of it, without the study's whole reader: that takes longer to load than a trace to
 * measure.
 */
import { realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { readText } from '../core/still-file.js'

export const STUDY_FILE = 'study.json'

/** A study is written by hand; more than this is another file. */
export const MAX_STUDY_BYTES = 1024 * 1024

/**
 * Whether a snapshot's folder is the one that a synthetic study beside or above it names: such a snapshot is synthetic
 * even where it is given by its path alone. A study that cannot be read says nothing.
 */
export async function isOfSyntheticStudy(folder: string): Promise<boolean> {
  const real = await realpath(folder).catch(() => null)
  if (real === null) return false
  for (const dir of [real, dirname(real)]) {
    const snapshot = await syntheticSnapshot(join(dir, STUDY_FILE))
    if (snapshot === null) continue
    const named = resolve(dir, snapshot)
    if (named === real || dirname(named) === real) return true
  }
  return false
}

/** The snapshot that a synthetic study names, as it names it. */
async function syntheticSnapshot(file: string): Promise<string | null> {
  const info = await stat(file).catch(() => null)
  if (info === null || !info.isFile() || info.size > MAX_STUDY_BYTES) return null
  try {
    const study = JSON.parse(await readText(file)) as { readonly synthetic?: unknown; readonly critic_traces?: { readonly snapshot?: unknown } | null } | null
    const snapshot = study?.critic_traces?.snapshot
    return study?.synthetic === true && typeof snapshot === 'string' ? snapshot : null
  } catch {
    return null
  }
}
