/**
 * Updates a manifest to the files that lie in a study now. `manifest` shows the result and `manifest --write` writes it.
 * The roles, revisions and date of an existing manifest stay. Hashes, sizes and the list follow the disk. A new file gets
 * the role that the study gives it, else `excluded`. An excluded file gets its role once the study names it by its path.
 * A file that a study takes by folder (histories, NPZ files) may have been excluded on purpose. It stays excluded, unless
 * all files of its kind were.
 */
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Fault, printable, printableId } from '../core/errors.js'
import { whyUnreadable } from '../core/system/open.js'
import { FETCHED_PLACES } from '../schema/fetch.js'
import type { Study } from '../schema/study.js'
import { secretFault } from '../core/secret-guard.js'
import { isSecretText } from '../core/secrets.js'
import type { Manifest } from './manifest.js'
import { mapLimited } from '../core/limited.js'
import { hashFile } from '../core/still-file.js'
import { compareCodepoints, isSafeRelative } from '../core/paths.js'
import { findUnlisted } from './unlisted.js'

/** Files that an interrupted fetch leaves beside a history. */
const PARTIAL = /(?:^|\/)\.[^/]+\.jsonl\.partial(?:\.json)?$/

export interface ListedFile {
  readonly path: string
  readonly sha256: string
  readonly bytes: number
  readonly role: string
}

export interface ManifestChanges {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly string[]
  /** paths that were excluded until now */
  readonly named: readonly string[]
}

export interface UpdatedManifest {
  readonly files: readonly ListedFile[]
  readonly changes: ManifestChanges
  /** the manifest's text */
  readonly text: string
}

/** The kind of each role that files get by their folder and name. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ['snapshot', 'traces'],
  ['npz', 'traces'],
  ['history', 'histories'],
  ['certificate', 'histories']
])

export interface UpdateOptions {
  readonly signal?: AbortSignal | undefined
  readonly onBytes?: ((bytes: number) => void) | undefined
  /** date for a new manifest */
  readonly today: string
  /** true: what an unfinished fetch left is listed as excluded; otherwise it is refused */
  readonly allowPartial?: boolean
}

/** @param existing null if there is no manifest yet */
export async function updatedManifest(
  dir: string,
  study: Study,
  existing: Manifest | null,
  { signal, onBytes, today, allowPartial = false }: UpdateOptions
): Promise<UpdatedManifest> {
  const found = await findUnlisted(await realpath(dir), { listed: new Set(), except: new Set([study.manifest]), signal })
  const known = new Map(existing?.files.map(file => [file.path, file]) ?? [])
  const named = namedFiles(study)
  const roleOf = rolesOf(study, named)
  const kindsTaken = new Set([...known.values()].filter(({ role }) => role !== 'excluded').map(({ path }) => KINDS.get(roleOf(path))))
  const roleNow = (path: string): string => {
    const role = known.get(path)?.role
    if (role !== undefined && role !== 'excluded') return role
    const kind = KINDS.get(roleOf(path))
    return role !== undefined && !named.has(path) && kind !== undefined && kindsTaken.has(kind) ? role : roleOf(path)
  }
  const files = await mapLimited(found.sort(compareCodepoints), 4, async path => {
    if (PARTIAL.test(path) && !allowPartial)
      throw manifestFault(
        'unfinished fetch',
        'rows of a history that are not all there',
        'fetch run to its end, or no such file',
        join(dir, path)
      )
    return { ...(await hashed(dir, path, { signal, onBytes })), role: roleNow(path) }
  })
  const now = new Set(found)
  const changes = {
    added: found.filter(path => !known.has(path)),
    removed: [...known.keys()].filter(path => !now.has(path)),
    changed: files.filter(({ path, sha256 }) => known.has(path) && known.get(path)?.sha256 !== sha256).map(f => f.path),
    named: files.filter(({ path, role }) => known.has(path) && known.get(path)?.role !== role).map(f => f.path)
  }
  return { files, changes, text: manifestText(study, existing, files, today) }
}

/**
 * The manifest after a fetch: the files that the fetch wrote have their new hashes. Every other entry stays, so that a file
 * which something else changed still differs from the manifest.
 *
 * @param written paths that this fetch wrote
 * @param proved paths of histories that it found whole, with their certificates: listed where the manifest lacks them
 */
export async function fetchedManifest(
  dir: string,
  study: Study,
  existing: Manifest,
  { written, proved }: { readonly written: readonly string[]; readonly proved: readonly string[] },
  options: UpdateOptions
): Promise<string> {
  const entries = new Map(existing.files.map(({ path, sha256, bytes, role }) => [path, { path, sha256, bytes, role }]))
  const roleOf = rolesOf(study)
  const { folder } = study.histories ?? FETCHED_PLACES
  const found = await findUnlisted(await realpath(dir), { listed: new Set(), except: new Set([study.manifest]), signal: options.signal })
  const partial = found.filter(path => PARTIAL.test(path) && path.startsWith(`${folder}/`))
  for (const path of entries.keys()) if (PARTIAL.test(path) && !partial.includes(path)) entries.delete(path)
  const paths = new Set([...written, ...partial, ...proved.filter(path => !entries.has(path))])
  await mapLimited([...paths], 4, async path => {
    const before = entries.get(path)?.role
    const role = before === undefined || before === 'excluded' ? roleOf(path) : before
    entries.set(path, { ...(await hashed(dir, path, options)), role })
  })
  const files = [...entries.values()].sort((a, b) => compareCodepoints(a.path, b.path))
  return manifestText(study, existing, files, options.today)
}

function manifestText(study: Study, existing: Manifest | null, files: readonly ListedFile[], today: string): string {
  const document = {
    ...(study.synthetic ? { synthetic: true } : {}),
    snapshot: existing?.snapshot ?? today,
    files,
    revisions: existing?.revisions ?? {}
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

async function hashed(
  dir: string,
  path: string,
  { signal, onBytes }: Pick<UpdateOptions, 'signal' | 'onBytes'>
): Promise<Omit<ListedFile, 'role'>> {
  const file = join(dir, path)
  if (!isSafeRelative(path))
    throw manifestFault('unsafe file name', printable(JSON.stringify(path)), 'a name without backslash that is UTF-8', file)
  if (isSecretText(path, 'path')) throw secretFault('manifest', `the name of a file in ${printableId(dirname(path))}`, {})
  const { sha256, bytes, changed } = await hashFile(file, { signal, onBytes }).catch((cause: unknown) => {
    signal?.throwIfAborted()
    throw manifestFault('unreadable file', whyUnreadable(cause), 'a readable file', file)
  })
  if (changed || sha256 === null) throw manifestFault('changed while it was read', `${bytes} bytes`, 'a file that stands still', file)
  return { path, sha256, bytes }
}

/** Number of bytes below the study that are read for hashing. */
export async function studyBytes(dir: string, study: Study): Promise<number> {
  const found = await findUnlisted(await realpath(dir), { listed: new Set(), except: new Set([study.manifest]) })
  const sizes = await mapLimited(found, 8, async path => (await stat(join(dir, path)).catch(() => null))?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}

function manifestFault(problem: string, found: string, expected: string, file: string): Fault {
  return new Fault({ format: 'manifest', problem, found, expected, place: { file } })
}

/** The roles that a study gives to files: those it names or takes by folder, `excluded` for all others. */
export function rolesOf(study: Study, named = namedFiles(study)): (path: string) => string {
  const below = (folder: string, path: string): boolean => folder === '.' || path.startsWith(`${folder}/`)
  return path => {
    const known = named.get(path)
    if (known !== undefined) return known
    if (study.histories !== null && below(study.histories.folder, path) && /\.jsonl(?:\.gz)?$/.test(path)) return 'history'
    if (study.histories !== null && below(study.histories.folder, path) && path.endsWith('.certificate.json')) return 'certificate'
    if (study.critic_traces !== null) {
      const { snapshot } = study.critic_traces
      if (snapshot === path) return 'snapshot'
      if (below(snapshot, path) && /^index\.html(?:\.gz)?$/.test(basename(path))) return 'snapshot'
      if (below(snapshot.replace(/[^/]*\.html?(?:\.gz)?$/i, '') || '.', path) && path.endsWith('.npz')) return 'npz'
    }
    return 'excluded'
  }
}

/** Roles of the files that a study names by their paths. */
export function namedFiles(study: Study): ReadonlyMap<string, string> {
  const roles = new Map([['study.json', 'study'], ...(study.claims === null ? [] : ([[study.claims, 'claims']] as const))])
  if (study.histories !== null) roles.set(study.histories.runs, 'runs')
  for (const { path } of study.fetch?.views ?? []) roles.set(path, 'runs')
  for (const [role, paths] of Object.entries(writtenSources(study))) for (const path of paths) roles.set(path, role)
  return roles
}

/** Sources of the evidence and templates, by role. The study file does not name a configuration's parents: `excluded`. */
function writtenSources({ evidence, article }: Study): Readonly<Record<string, readonly string[]>> {
  const { workbook = null, slides = null, configs = [], datasets = [], documents = [] } = evidence ?? {}
  // Quotes may come from the comments of a configuration file: its role stays `config`.
  return {
    document: documents.map(document => document.path),
    workbook: workbook === null ? [] : [workbook.path],
    slides: slides === null ? [] : [slides.path],
    config: configs.map(config => config.path),
    dataset: datasets.map(dataset => dataset.path),
    article: article === null ? [] : [article.article, article.notes]
  }
}
