/**
 * A manifest for a draft: every file below the folder with its SHA-256. Files that the draft reads have a role; all others
 * are `excluded`, so that none is unlisted. The page is not parsed: every NPZ file beside it has the role `npz`.
 */
import { createHash } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { printable, printableId } from '../../core/errors.js'
import { secretFault } from '../../core/secret-guard.js'
import { isSecretText } from '../../core/secrets.js'
import { whyUnreadable } from '../../core/system/open.js'
import { parseIsoSeconds } from '../../ingest/histories/iso-time.js'
import { CERTIFICATE_SUFFIX } from '../../ingest/certificate/file.js'
import { mapLimited } from '../../core/limited.js'
import { hashFile } from '../../core/still-file.js'
import { canonicalRelative, compareCodepoints, isSafeRelative, resolveInside } from '../../core/paths.js'
import { findUnlisted } from '../unlisted.js'
import type { DraftHistories } from './draft.js'
import type { SnapshotSurvey } from './survey.js'
import { initFault } from './words.js'

/** Most files. A folder with more is not a study. */
const MAX_FILES = 100_000

export interface PlannedFile {
  /** canonical, relative to the folder */
  readonly path: string
  readonly role: string
  readonly bytes: number
  /** milliseconds since 1970 */
  readonly modified: number
}

/** The files of a manifest, before they are hashed. `except`: the study file and the manifest, relative to the folder. */
export async function planManifest(
  dir: string,
  histories: DraftHistories | null,
  snapshot: SnapshotSurvey | null,
  except: readonly string[]
): Promise<PlannedFile[]> {
  const root = await realpath(dir)
  const below = await findUnlisted(root, { listed: new Set(), except: new Set(except) })
  const roles = rolesOf(histories, snapshot, new Set(below))
  // A history that is a link is listed under the name by which it is read.
  const paths = [...new Set([...below, ...roles.keys()])].sort(compareCodepoints)
  if (paths.length > MAX_FILES) throw initFault('too many files', String(paths.length), `at most ${MAX_FILES}`, dir)
  return mapLimited(paths, 8, async path => {
    const file = join(dir, path)
    if (!isSafeRelative(path)) {
      throw initFault('unsafe file name', printable(JSON.stringify(path)), 'a name without backslash that is UTF-8', file)
    }
    if (isSecretText(path, 'path')) throw secretFault('init', `the name of a file in ${printableId(dirname(path))}`, {})
    if (resolveInside(root, path).kind === 'outside') {
      throw initFault('unsafe path', 'a link that leads out of the folder', 'a file inside it', file)
    }
    const info = await stat(file).catch((cause: unknown) => {
      throw initFault('unreadable file', whyUnreadable(cause), 'a readable file', file)
    })
    return { path, role: roles.get(path) ?? 'excluded', bytes: info.size, modified: info.mtimeMs }
  })
}

function rolesOf(histories: DraftHistories | null, snapshot: SnapshotSurvey | null, below: ReadonlySet<string>): Map<string, string> {
  const roles = new Map<string, string>()
  if (snapshot !== null) {
    const { path, plan } = snapshot
    const beside = (name: string): string => canonicalRelative(`${path}/${name}`)
    for (const name of plan.npzFiles) roles.set(beside(name), 'npz')
    if (plan.html !== null) roles.set(beside(basename(plan.html)), 'snapshot')
  }
  if (histories !== null) {
    roles.set(histories.survey.runsFile, 'runs')
    for (const { history } of histories.selections.flatMap(selection => selection.runs)) {
      if (history === null) continue
      roles.set(history.path, 'history')
      const certificate = history.path.replace(/\.jsonl(?:\.gz)?$/, CERTIFICATE_SUFFIX)
      if (below.has(certificate)) roles.set(certificate, 'certificate')
    }
  }
  return roles
}

export interface ManifestOptions {
  readonly signal?: AbortSignal | undefined
  readonly onBytes?: ((bytes: number) => void) | undefined
}

/** The manifest's text: the planned files, hashed, and the study file, which is not written yet. */
export async function draftManifest(
  dir: string,
  date: string,
  planned: readonly PlannedFile[],
  study: { readonly path: string; readonly text: string },
  { signal, onBytes }: ManifestOptions = {}
): Promise<string> {
  const files = await mapLimited(planned, 4, async ({ path, role }) => {
    signal?.throwIfAborted()
    const file = join(dir, path)
    const { sha256, bytes, changed } = await hashFile(file, { signal, onBytes }).catch((cause: unknown) => {
      signal?.throwIfAborted()
      throw initFault('unreadable file', whyUnreadable(cause), 'a readable file', file)
    })
    if (changed || sha256 === null) throw initFault('changed while it was read', `${bytes} bytes`, 'a file that stands still', file)
    return { path, sha256, bytes, role }
  })
  const own = Buffer.from(study.text)
  files.push({ path: study.path, sha256: createHash('sha256').update(own).digest('hex'), bytes: own.length, role: 'study' })
  files.sort((a, b) => compareCodepoints(a.path, b.path))
  return `${JSON.stringify({ snapshot: date, files, revisions: {} }, null, 2)}\n`
}

/** Date of the newest export; if no run states one, of the newest run; without runs, of the newest file. */
export function snapshotDate(histories: DraftHistories | null, planned: readonly PlannedFile[]): string {
  const runs = histories?.survey.runs.map(({ run }) => run) ?? []
  for (const dates of [runs.map(run => run.fetchedAt ?? ''), runs.map(run => run.createdAt)]) {
    const known = dates.flatMap(text => {
      const seconds = parseIsoSeconds(text)
      return seconds === null ? [] : [{ seconds, date: text.slice(0, 10) }]
    })
    if (known.length > 0) return known.reduce((a, b) => (b.seconds > a.seconds ? b : a)).date
  }
  return new Date(planned.reduce((newest, file) => Math.max(newest, file.modified), 0)).toISOString().slice(0, 10)
}
