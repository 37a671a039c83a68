/**
 * `source_manifest.json`: the files that a study reads, with their SHA-256. This module reads it, checks the files against
 * it, and writes it as `sha256sum` lines. Documented in `docs/study.md`.
 *
 * Unknown fields are skipped, since other tools write manifests too. All fields of an entry are required. Not supported:
 * other hashes than SHA-256, glob patterns, files outside the study.
 */
import { lstat, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault, describeCause, printable } from '../core/errors.js'
import { isMissing, kindOf, whyUnreadable } from '../core/system/open.js'
import { isInside } from '../core/system/folder.js'
import {
  freeObject,
  integer,
  list,
  object,
  pattern,
  refine,
  text,
  type CheckContext,
  type Infer,
  type JsonSchema
} from '../core/checker.js'
import { writtenPath } from '../core/path-kinds.js'
import { mapLimited } from '../core/limited.js'
import { CHUNK_BYTES } from '../core/still.js'
import { hashFile } from '../core/still-file.js'
import { readJsonFile } from '../core/strict-json.js'
import { canonicalRelative, compareCodepoints, resolveInside } from '../core/paths.js'
import { findUnlisted } from './unlisted.js'

/** Largest manifest: about 300,000 files. */
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024

const snapshotDate = refine(pattern('an ISO 8601 date', /^\d{4}-\d{2}-\d{2}(?:[T ][0-9:.+\-Z]+)?$/), (date, at, context) => {
  const day = date.slice(0, 10)
  const time = Date.parse(`${day}T00:00:00Z`)
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(day)) return date
  throw new Fault({
    format: context.format,
    problem: 'wrong field',
    found: `${at} is ${printable(JSON.stringify(date))}`,
    expected: 'a day of the calendar',
    place: context.place
  })
})

const manifestFile = object(
  {
    path: {
      kind: refine(writtenPath, (path, at, context) => {
        const canonical = canonicalRelative(path)
        if (canonical !== '.' && !path.endsWith('/')) return canonical
        const found = `${at} is ${printable(JSON.stringify(path))}`
        throw new Fault({ format: context.format, problem: 'unsafe path', found, expected: 'the path of a file', place: context.place })
      }),
      doc: 'Path relative to the study.'
    },
    sha256: {
      kind: refine(pattern('64 hexadecimal digits', /^[0-9a-fA-F]{64}$/), hex => hex.toLowerCase()),
      doc: 'SHA-256 of the file, hexadecimal.'
    },
    bytes: { kind: integer(0), doc: 'Length of the file.' },
    role: { kind: text(200), doc: 'What the file is to the study; "excluded" is never read into statistics.' }
  },
  'skip'
)

const MANIFEST_KIND = object(
  {
    snapshot: { kind: snapshotDate, doc: 'Date of the snapshot, ISO 8601.' },
    files: {
      kind: list(manifestFile),
      doc: 'Every file that the pipeline reads.'
    },
    revisions: { kind: freeObject, doc: 'Revisions of the code that made the files, kept as they are.', default: {} }
  },
  'skip'
)

/** An entry. Its path is canonical: `/` between names, no `.`, no empty name; its hash has lower-case digits. */
export type ManifestFile = Infer<typeof manifestFile>

export type Manifest = Infer<typeof MANIFEST_KIND> & {
  /** path of the manifest, as given */
  readonly path: string
  /** of the manifest's own bytes */
  readonly sha256: string
}

/** JSON Schema (draft 2020-12) of a manifest: the content of `docs/schemas/source-manifest.schema.json`. */
export function manifestJsonSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:critic-traces:source-manifest:1',
    title: 'critic-traces source manifest',
    ...MANIFEST_KIND.schema
  }
}

/** Reads and checks a manifest. The files that it lists are not read. */
export async function readManifest(path: string): Promise<Manifest> {
  const { value, sha256 } = await readJsonFile(path, 'manifest', MAX_MANIFEST_BYTES)
  const context: CheckContext = { format: 'manifest', place: { file: path }, paths: [] }
  const manifest = MANIFEST_KIND.read(value, '', context)
  const first = new Map<string, number>()
  manifest.files.forEach((file, i) => {
    const j = first.get(file.path)
    if (j !== undefined) {
      const found = `${printable(JSON.stringify(file.path))} is files[${j}] and files[${i}]`
      throw new Fault({ format: 'manifest', problem: 'path listed twice', found, expected: 'each file once', place: context.place })
    }
    first.set(file.path, i)
  })
  return { path, sha256, ...manifest }
}

export type FileStatus = 'ok' | 'mismatch' | 'missing' | 'unlisted'

export interface VerifiedFile {
  readonly path: string
  /** null for an unlisted file */
  readonly role: string | null
  readonly status: FileStatus
  /** what the manifest states; null for an unlisted file */
  readonly expected: { readonly sha256: string; readonly bytes: number } | null
  /**
   * the file as found; null if it is missing or cannot be read. The hash is null for an unlisted file (it is not read) and
   * for a file that grew while it was read.
   */
  readonly found: { readonly sha256: string | null; readonly bytes: number } | null
  /** why the status is not ok; null if it is */
  readonly reason: string | null
}

export interface ManifestReport {
  /** path and hash of the manifest */
  readonly manifest: string
  readonly manifest_sha256: string
  readonly revisions: Manifest['revisions']
  /** listed and unlisted files, ordered by code point of the path */
  readonly files: readonly VerifiedFile[]
  readonly counts: { readonly [status in FileStatus]: number }
  /** no file mismatches or is missing; an unlisted file alone does not fail a study, as in `sha256sum -c` */
  readonly ok: boolean
}

export interface VerifyProgress {
  readonly bytesDone: number
  readonly bytesTotal: number
  readonly filesDone: number
  readonly filesTotal: number
}

export interface VerifyOptions {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined
  /** number of files that are read at once, default 4 */
  readonly concurrency?: number | undefined
  /** files and folders inside the study, relative to it, that are not reported as unlisted, such as an output folder */
  readonly except?: readonly string[] | undefined
}

/** A listed file before anything is read: to be hashed, or already known to be missing or different. */
type Planned =
  | { readonly file: ManifestFile; readonly real: string; readonly bytes: number }
  | { readonly file: ManifestFile; readonly real: null; readonly status: 'missing' | 'mismatch'; readonly reason: string }

/**
 * Checks every listed file of the study in `studyDir`. Links that leave the study are refused (a Fault) before the first
 * byte is read. A file of a different size is hashed too, since the report states what was found.
 */
export async function verifyManifest(studyDir: string, manifest: Manifest, options: VerifyOptions = {}): Promise<ManifestReport> {
  const { signal, onProgress, concurrency = 4, except = [] } = options
  const root = await realpath(studyDir).catch((cause: unknown) => {
    throw new Fault({ format: 'manifest', problem: 'unreadable folder', found: describeCause(cause), place: { file: studyDir }, cause })
  })

  // 1. Plan: the place and size of each listed file, and the unlisted files.
  const plan = await mapLimited(manifest.files, concurrency, file => {
    signal?.throwIfAborted()
    return planFile(root, manifest, file)
  })
  const reached = plan.flatMap(p => (p.real === null ? [] : [toRelative(root, p.real)]))
  const listed = new Set([...manifest.files.map(f => f.path), ...reached])
  const own = await realpath(manifest.path).catch(() => manifest.path)
  const passOver = new Set([...except.map(canonicalRelative), ...(isInside(root, own) ? [toRelative(root, own)] : [])])
  const unlisted = await findUnlisted(root, { listed, except: passOver, signal })

  // 2. Hash.
  const bytesTotal = plan.reduce((sum, p) => sum + (p.real === null ? 0 : p.bytes), 0)
  let bytesDone = 0
  let filesDone = 0
  const report = (): void => onProgress?.({ bytesDone, bytesTotal, filesDone, filesTotal: plan.length })
  const buffers = new Map<number, Buffer>()
  const files = await mapLimited(plan, concurrency, async (planned, _index, slot) => {
    signal?.throwIfAborted()
    const buffer = buffers.get(slot) ?? Buffer.allocUnsafe(CHUNK_BYTES)
    buffers.set(slot, buffer)
    const onBytes = (bytes: number): void => {
      bytesDone += bytes
      report()
    }
    const verified = await verifyFile(planned, { signal, buffer, onBytes })
    filesDone++
    report()
    return verified
  })

  // 3. Report.
  files.push(...(await mapLimited(unlisted, concurrency, path => describeUnlisted(root, path))))
  files.sort((a, b) => compareCodepoints(a.path, b.path))
  const count = (status: FileStatus): number => files.filter(f => f.status === status).length
  const counts = { ok: count('ok'), mismatch: count('mismatch'), missing: count('missing'), unlisted: count('unlisted') }
  return {
    manifest: manifest.path,
    manifest_sha256: manifest.sha256,
    revisions: manifest.revisions,
    files,
    counts,
    ok: counts.mismatch === 0 && counts.missing === 0
  }
}

function toRelative(root: string, real: string): string {
  return canonicalRelative(real.slice(root.length).replaceAll('\\', '/'))
}

async function planFile(root: string, manifest: Manifest, file: ManifestFile): Promise<Planned> {
  const resolved = resolveInside(root, file.path)
  switch (resolved.kind) {
    case 'outside':
      throw new Fault({
        format: 'manifest',
        problem: 'unsafe path',
        found: `${printable(JSON.stringify(file.path))}, a link that leads out of the study`,
        expected: 'a file inside the study',
        place: { file: manifest.path }
      })
    case 'missing':
      return { file, real: null, status: 'missing', reason: 'no such file' }
    case 'unreadable':
      return { file, real: null, status: 'mismatch', reason: `cannot be read: ${resolved.code}` }
    case 'inside': {
      const { real } = resolved
      const found = await stat(real).catch((error: unknown) => describeCause(error))
      if (typeof found === 'string') return { file, real: null, status: 'mismatch', reason: `cannot be read: ${found}` }
      const kind = kindOf(found)
      if (kind !== null) return { file, real: null, status: 'mismatch', reason: `is ${kind}` }
      return { file, real, bytes: found.size }
    }
  }
}

async function verifyFile(
  planned: Planned,
  options: { readonly signal: AbortSignal | undefined; readonly buffer: Buffer; readonly onBytes: (bytes: number) => void }
): Promise<VerifiedFile> {
  const { path, role, sha256, bytes } = planned.file
  const base = { path, role, expected: { sha256, bytes } }
  if (planned.real === null) return { ...base, status: planned.status, found: null, reason: planned.reason }
  const hashed = await hashFile(planned.real, options).catch((error: unknown) => {
    options.signal?.throwIfAborted()
    return isMissing(error) ? null : whyUnreadable(error)
  })
  if (hashed === null) return { ...base, status: 'missing', found: null, reason: 'removed before it was read' }
  if (typeof hashed === 'string') return { ...base, status: 'mismatch', found: null, reason: `cannot be read: ${hashed}` }
  const found = { sha256: hashed.sha256, bytes: hashed.bytes }
  const reason = hashed.changed
    ? 'changed while it was read'
    : found.bytes !== bytes
      ? `${found.bytes} bytes, expected ${bytes}`
      : found.sha256 !== sha256
        ? 'other content'
        : null
  return { ...base, status: reason === null ? 'ok' : 'mismatch', found, reason }
}

async function describeUnlisted(root: string, path: string): Promise<VerifiedFile> {
  const base = { path, role: null, status: 'unlisted', expected: null, reason: 'not in the manifest' } as const
  // A file that is gone since the folder was listed, or whose name is not UTF-8, is still reported.
  const found = await lstat(join(root, path)).catch(() => null)
  return { ...base, found: found === null ? null : { sha256: null, bytes: found.size } }
}

/**
 * The listed files as lines of `sha256sum`, each with the hash that the manifest states. `sha256sum -c`, run in the study's
 * folder, then accepts exactly what `verifyManifest` accepts, and fails on a mismatching or missing file. (With the hashes
 * found it would accept everything.) A file without a stated hash (unlisted, or an output recorded by size) has no line.
 *
 * Names are written as in GNU coreutils 9: a name with a backslash, newline or carriage return is escaped, and its line
 * begins with a backslash. A file named `-` is written `./-`, since `sha256sum -c` reads standard input under that name.
 */
export function formatSha256sum(report: {
  readonly files: ReadonlyArray<{ readonly path: string; readonly expected: { readonly sha256: string | null } | null }>
}): string {
  return report.files
    .map(({ path, expected }) => {
      if (expected === null || expected.sha256 === null) return ''
      const escaped = path.replace(/[\\\n\r]/g, c => (c === '\\' ? '\\\\' : c === '\n' ? '\\n' : '\\r'))
      return `${escaped === path ? '' : '\\'}${expected.sha256}  ${path === '-' ? './-' : escaped}\n`
    })
    .join('')
}
