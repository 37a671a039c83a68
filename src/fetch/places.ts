/** The places that a fetch writes to: inside the study, and one for each history. */
import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Fault, printable, printableId } from '../core/errors.js'
import { resolveInside } from '../core/paths.js'
import { historyPath } from './fetch-rows.js'
import type { LabelledRun } from './listing.js'

/** Refuses a folder that leads out of the study by a link, its own or one above a folder that does not exist yet. */
export function requireInside(dir: string, folder: string): void {
  const root = realpathSync.native(dir)
  for (let path = folder; path !== '.'; path = dirname(path)) {
    const resolved = resolveInside(root, path)
    if (resolved.kind === 'inside') return
    if (resolved.kind === 'missing' && lstatSync(join(dir, path), { throwIfNoEntry: false }) === undefined) continue
    throw new Fault({
      format: 'study',
      problem: 'unsafe path',
      found: `${printable(path)}, a link that leads out of the study or nowhere`,
      expected: 'a folder inside the study',
      place: { file: join(dir, path) }
    })
  }
}

/** Checks that each history has a path of its own inside the study. */
export function requirePlaces(dir: string, folder: string, runs: readonly LabelledRun[]): void {
  const places = new Map<string, LabelledRun>()
  for (const run of runs) {
    const path = historyPath(folder, run)
    requireInside(dir, dirname(path))
    const other = places.get(path.toLowerCase())
    if (other !== undefined) {
      throw new Fault({
        format: 'wandb',
        problem: 'ids differ in case only',
        found: `${printableId(other.id)} and ${printableId(run.id)}`,
        expected: 'ids that are different file names on every system'
      })
    }
    places.set(path.toLowerCase(), run)
    if (lstatSync(join(dir, `${path}.gz`), { throwIfNoEntry: false }) === undefined) continue
    throw new Fault({
      format: 'history',
      problem: 'stated twice',
      found: 'a history with .gz',
      expected: 'none: fetch writes it without',
      place: { file: join(dir, `${path}.gz`) }
    })
  }
}
