/**
 * Tells whether a snapshot belongs to a synthetic study, without the study's whole reader: loading that takes longer than
 * measuring a trace.
 */
import { realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { readText } from '../core/still-file.js'

export const STUDY_FILE = 'study.json'

/** Largest study file. Studies are written by hand; a larger file is something else. */
export const MAX_STUDY_BYTES = 1024 * 1024

/**
 * True if a synthetic study beside or above the folder names it as its snapshot. Such a snapshot is synthetic even if only
 * its path is given. A study that cannot be read is ignored.
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

/** The snapshot that a synthetic study names, as it is written there; null for any other file. */
async function syntheticSnapshot(file: string): Promise<string | null> {
  const info = await stat(file).catch(() => null)
  if (info === null || !info.isFile() || info.size > MAX_STUDY_BYTES) return null
  try {
    const study = JSON.parse(await readText(file)) as {
      readonly synthetic?: unknown
      readonly critic_traces?: { readonly snapshot?: unknown } | null
    } | null
    const snapshot = study?.critic_traces?.snapshot
    return study?.synthetic === true && typeof snapshot === 'string' ? snapshot : null
  } catch {
    return null
  }
}
