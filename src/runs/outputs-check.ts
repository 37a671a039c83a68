/**
 * Compares a folder of outputs with what its run recorded: the `run.json` of a study, or those of each snapshot's folder of a
 * batch: `run.json` of `traces`, `diagnose-run.json` of `diagnose`. Nothing is computed. Neither the study nor its inputs are read.
 *
 * A record that is missing, malformed or of another program is a Fault here. In `runs/record.ts`, which decides whether a run
 * is skipped, it is none.
 */
import type { Stats } from 'node:fs'
import { lstat, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { describeCause, EXIT, Fault, printable } from '../core/errors.js'
import {
  anyObject,
  integer,
  list,
  nullable,
  object,
  oneOf,
  pattern,
  refine,
  text,
  type CheckContext,
  type Field,
  type Kind
} from '../core/checker.js'
import { outputPath } from '../core/path-kinds.js'
import { mapLimited } from '../core/limited.js'
import { hashFile } from '../core/still-file.js'
import { readJsonFile } from '../core/strict-json.js'
import { compareCodepoints, errorCode } from '../core/paths.js'
import { findUnlisted } from '../study/unlisted.js'
import { SCHEMA_VERSIONS } from '../schema/outputs/versions.js'
import { BATCH_INDEX, RECORD_NAMES, RUN_RECORD, TIMINGS_PATH } from '../render/outputs/output-names.js'
import { parseTempName } from '../render/outputs/temp-names.js'
import { isBySize } from '../render/outputs/removed-outputs.js'
import { whyNoFolder } from '../core/system/folder.js'
import { kindOf, whyUnreadable } from '../core/system/open.js'
import { GENERATOR } from '../core/version.js'

/** `size only`: recorded without a hash. `beside`: is in no record, for the reason given, and no fault. */
export type OutputStatus = 'ok' | 'size only' | 'mismatch' | 'missing' | 'unlisted' | 'beside'

export interface CheckedOutput {
  /** relative to the folder */
  readonly path: string
  readonly status: OutputStatus
  /** as recorded; null: in no record. A hash of null: recorded by size alone. */
  readonly expected: { readonly sha256: string | null; readonly bytes: number } | null
  readonly found: { readonly sha256: string | null; readonly bytes: number } | null
  /** what is wrong, or why the file is in no record */
  readonly reason: string | null
}

export interface OutputsReport {
  /** relative to the folder: `run.json`, or `<snapshot>/run.json` and `<snapshot>/diagnose-run.json` for each of a batch */
  readonly records: readonly string[]
  /** ordered by code point */
  readonly files: readonly CheckedOutput[]
  readonly counts: Readonly<Record<OutputStatus, number>>
  readonly ok: boolean
}

/** Git knows no empty folders: an output folder that a repository is to have holds this empty file, as this repository's own does. */
const FOLDER_KEEPER = '.gitkeep'
const MAX_RECORD_BYTES = 64 * 1024 * 1024

/** A field without a sentence for the docs: docs/schemas documents the fields. */
const field = <T>(kind: Kind<T>): Field<T> => ({ kind, doc: '' })
const sha256 = pattern('64 lower-case hexadecimal digits', /^[0-9a-f]{64}$/)
const RECORD = object(
  {
    schema: field(oneOf('run')),
    schema_version: field(oneOf(SCHEMA_VERSIONS.run)),
    generator: field(object({ name: field(oneOf(GENERATOR.name)), version: field(text()) })),
    manifest: field(nullable(anyObject)),
    settings_sha256: field(sha256),
    inputs: field(list(object({ path: field(text(4096)), sha256: field(sha256), bytes: field(integer(0)) }))),
    // Every run writes something.
    outputs: field(
      refine(list(object({ path: field(outputPath), sha256: field(nullable(sha256)), bytes: field(integer(0)) }), 1), distinct)
    )
  },
  'skip'
)

type Recorded = ReturnType<typeof RECORD.read>['outputs'][number]

const INDEX = object(
  {
    schema: field(oneOf('critic-trace-snapshots')),
    snapshots: field(list(object({ name: field(nullable(outputPath)), status: field(oneOf('ok', 'failed')) }, 'skip'))),
    // Absent in an index of the first version.
    outputs: {
      ...field(refine(list(object({ path: field(outputPath), sha256: field(sha256), bytes: field(integer(0)) })), distinct)),
      default: []
    }
  },
  'skip'
)

function distinct<T extends { readonly path: string }>(files: readonly T[], at: string, { format, place }: CheckContext): readonly T[] {
  const seen = new Set<string>()
  for (const { path } of files) {
    if (seen.has(path)) {
      throw new Fault({
        format,
        problem: 'file stated twice',
        found: `${at} has ${printable(JSON.stringify(path))} twice`,
        expected: 'each once',
        place
      })
    }
    seen.add(path)
  }
  return files
}

export interface CheckOutputsOptions {
  readonly signal?: AbortSignal | undefined
  readonly onBytes?: ((bytes: number) => void) | undefined
}

/** @throws Fault exit 3: no such folder, no record in it, or one that is malformed or of another program */
export async function checkOutputs(out: string, options: CheckOutputsOptions = {}): Promise<OutputsReport> {
  const root = await realpath(out).catch((cause: unknown) => {
    throw unreadableFolder(out, describeCause(cause), cause)
  })
  const noFolder = await whyNoFolder(root)
  if (noFolder !== null) throw unreadableFolder(out, noFolder)
  // 1. Read the records.
  const { records, overSteps } = await recordsIn(out, root)
  const recorded = new Map(overSteps.map(file => [statement(file), file]))
  for (const record of records) {
    for (const file of await readRecord(out, root, record)) {
      const path = below(record.slice(0, Math.max(0, record.lastIndexOf('/'))), file.path)
      recorded.set(statement({ ...file, path }), { ...file, path })
    }
  }
  // 2. Compare every recorded file with its record.
  const files: CheckedOutput[] = await mapLimited([...recorded.values()], 4, async ({ path, sha256, bytes }) => {
    const expected = { sha256, bytes }
    return { path, expected, ...(await hold(root, path, expected, options)) }
  })
  // 3. List what else lies there.
  for (const path of await findUnlisted(root, {
    listed: new Set(files.map(({ path }) => path)),
    except: new Set(),
    outputs: true,
    signal: options.signal
  })) {
    const found = await lstat(join(root, path)).catch(() => null)
    const special = found === null ? null : kindOf(found)
    // A run writes regular files only.
    const reason = special === null ? besideReason(path, found?.size ?? null, records) : null
    files.push({
      path,
      status: reason === null ? 'unlisted' : 'beside',
      expected: null,
      found: found === null || special !== null ? null : { sha256: null, bytes: found.size },
      reason: reason ?? (special === null ? (isTemporary(path) ? TEMPORARY : 'in no record') : `${special}, in no record`)
    })
  }
  files.sort((a, b) => compareCodepoints(a.path, b.path))
  const count = (status: OutputStatus): number => files.filter(f => f.status === status).length
  const counts = {
    ok: count('ok'),
    'size only': count('size only'),
    mismatch: count('mismatch'),
    missing: count('missing'),
    unlisted: count('unlisted'),
    beside: count('beside')
  }
  return {
    records,
    files,
    counts,
    ok: counts.mismatch === 0 && counts.missing === 0 && counts.unlisted === 0
  }
}

function unreadableFolder(out: string, found: string, cause?: unknown): Fault {
  return new Fault({
    format: 'outputs',
    problem: 'unreadable folder',
    found,
    expected: 'a folder of outputs',
    place: { file: out },
    cause
  })
}

/** Two records may state one path: each statement is held against the file. */
function statement({ path, sha256, bytes }: Recorded): string {
  return JSON.stringify([path, sha256, bytes])
}

function below(folder: string, path: string): string {
  return folder === '' ? path : `${folder}/${path}`
}

/**
 * Paths of the records: those in the folder itself, those in each subfolder, and that of each snapshot which the index of a batch
 * names. Files over the steps of a batch stand in its index itself.
 */
async function recordsIn(
  out: string,
  root: string
): Promise<{ readonly records: readonly string[]; readonly overSteps: readonly Recorded[] }> {
  const entries = await readdir(root, { withFileTypes: true }).catch((cause: unknown) => {
    throw unreadableFolder(out, describeCause(cause), cause)
  })
  const names = new Set(entries.map(entry => entry.name))
  const found = new Set(RECORD_NAMES.filter(name => names.has(name)))
  let overSteps: readonly Recorded[] = []
  for (const entry of entries) {
    if (!entry.isDirectory()) continue
    for (const path of RECORD_NAMES.map(name => below(entry.name, name))) if (await exists(join(root, path))) found.add(path)
  }
  if (names.has(BATCH_INDEX)) {
    const place = { file: join(out, BATCH_INDEX) }
    await refuseLink(out, root, BATCH_INDEX, 'batch index')
    const { value } = await readJsonFile(place.file, 'batch index', MAX_RECORD_BYTES)
    // The folder of a snapshot that failed may hold what an earlier run wrote, with its record.
    const index = INDEX.read(value, '', { format: 'batch index', place, paths: [] })
    overSteps = index.outputs
    for (const { name, status } of index.snapshots) {
      if (name !== null && status === 'ok') found.add(below(name, RUN_RECORD))
    }
  }
  if (found.size > 0) return { records: [...found].sort(compareCodepoints), overSteps }
  throw new Fault({
    format: 'run record',
    problem: 'missing file',
    found: 'nothing',
    place: { file: join(out, RUN_RECORD) },
    expected: `${RECORD_NAMES.join(' or ')}, which a run writes last (of a batch ${BATCH_INDEX}, and one in each snapshot's folder)`
  })
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false
  )
}

async function readRecord(out: string, root: string, path: string): Promise<readonly Recorded[]> {
  await refuseLink(out, root, path, 'run record')
  const place = { file: join(out, path) }
  const { value } = await readJsonFile(place.file, 'run record', MAX_RECORD_BYTES)
  const { outputs, manifest } = RECORD.read(value, '', { format: 'run record', place, paths: [] })
  outputs.forEach(({ path: output, sha256: hash }, i) => {
    if (hash !== null || isBySize(output, manifest)) return
    throw new Fault({
      format: 'run record',
      problem: 'wrong field',
      found: `outputs[${i}].sha256 is null`,
      place,
      expected: `${sha256.expected}: only the files of columns of a batch are recorded by size`
    })
  })
  return outputs
}

/** A record is checked like an output: a link in its place or on the way to it is not followed. */
async function refuseLink(out: string, root: string, path: string, format: string): Promise<void> {
  const standing = await standsAt(root, path)
  if (typeof standing === 'number' || !LINKS.includes(standing.reason ?? '')) return
  throw new Fault({
    format,
    problem: 'unreadable file',
    found: `it ${standing.reason ?? ''}`,
    expected: 'the file that the run wrote',
    place: { file: join(out, path) }
  })
}

const [IS_LINK, BEHIND_LINK] = ['is a link', 'lies behind a link']
const LINKS: readonly string[] = [IS_LINK, BEHIND_LINK]

type Held = Pick<CheckedOutput, 'status' | 'found' | 'reason'>

async function hold(
  root: string,
  path: string,
  expected: { readonly sha256: string | null; readonly bytes: number },
  options: CheckOutputsOptions
): Promise<Held> {
  options.signal?.throwIfAborted()
  const standing = await standsAt(root, path)
  if (typeof standing !== 'number') return standing
  if (expected.sha256 === null) {
    const found = { sha256: null, bytes: standing }
    return standing === expected.bytes
      ? { status: 'size only', found, reason: null }
      : { status: 'mismatch', found, reason: `${standing} bytes, recorded ${expected.bytes}` }
  }
  try {
    const { sha256, bytes, changed } = await hashFile(join(root, path), options)
    const reason = changed
      ? 'changed while it was read'
      : bytes !== expected.bytes
        ? `${bytes} bytes, recorded ${expected.bytes}`
        : sha256 !== expected.sha256
          ? 'other content'
          : null
    return { status: reason === null ? 'ok' : 'mismatch', found: { sha256, bytes }, reason }
  } catch (error) {
    options.signal?.throwIfAborted()
    return { status: 'mismatch', found: null, reason: `cannot be read: ${whyUnreadable(error)}` }
  }
}

/** The size of the regular file there, or why there is none. A link, in the file's place or on the way to it, is not followed. */
async function standsAt(root: string, path: string): Promise<number | Held> {
  const mismatch = (reason: string): Held => ({ status: 'mismatch', found: null, reason })
  const segments = path.split('/')
  for (let i = 1; i <= segments.length; i++) {
    let info: Stats
    try {
      info = await lstat(join(root, ...segments.slice(0, i)))
    } catch (error) {
      const code = errorCode(error)
      return code === 'ENOENT' || code === 'ENOTDIR'
        ? { status: 'missing', found: null, reason: 'no such file' }
        : mismatch(`cannot be read: ${whyUnreadable(error)}`)
    }
    if (info.isSymbolicLink()) return mismatch(i === segments.length ? IS_LINK : BEHIND_LINK)
    if (i < segments.length) continue
    // Only a regular file is opened later: reading a named pipe would wait for its writer.
    return info.isFile() ? info.size : mismatch(info.isDirectory() ? 'is a folder' : 'is a special file')
  }
  return mismatch('names no file')
}

const TEMPORARY = 'left by a run that was interrupted, unless one is writing now: the next run into the folder removes it'

function isTemporary(path: string): boolean {
  return parseTempName(path.slice(path.lastIndexOf('/') + 1)) !== null
}

/** Why a file may lie there that is in no record; null: it is not known to be of a run. */
function besideReason(path: string, bytes: number | null, records: readonly string[]): string | null {
  if (path === FOLDER_KEEPER && bytes === 0) return 'keeps the folder in a repository, has no content'
  if (records.includes(path)) return 'the record itself'
  if (path === TIMINGS_PATH && records.includes(RUN_RECORD)) return 'how long the run took: differs from run to run'
  return path === BATCH_INDEX ? 'the index of a batch: no run of one snapshot records it' : null
}

const PROBLEMS = { mismatch: 'file differs', missing: 'file missing', unlisted: 'file not recorded' } as const

/** One Fault for each difference, exit 1. */
export function outputFaults({ files }: OutputsReport, out: string): Fault[] {
  return files.flatMap(({ path, status, expected, found, reason }) => {
    if (status === 'ok' || status === 'size only' || status === 'beside') return []
    const bytes = found === null ? null : `${found.sha256 === null ? '' : `${found.sha256}, `}${found.bytes} bytes`
    return [
      new Fault({
        format: 'outputs',
        problem: PROBLEMS[status],
        found: [bytes, status === 'unlisted' && bytes !== null && reason !== TEMPORARY ? null : reason]
          .filter(part => part !== null)
          .join(', '),
        expected:
          expected === null
            ? 'only what the run recorded'
            : `${expected.sha256 === null ? '' : `${expected.sha256}, `}${expected.bytes} bytes as recorded`,
        place: { file: join(out, path) },
        exitCode: EXIT.checkFailed
      })
    ]
  })
}
