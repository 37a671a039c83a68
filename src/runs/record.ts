/**
 * `run.json`: what one finished run read and wrote, with hashes. Removed before the outputs of a new run take their places,
 * and written last, on its own: outputs without a record are an unfinished run. A later run over the same inputs with the
 * same settings, program, libraries and schemas is skipped when every input has the hash that the record lists and every output
 * is still there. `diagnose` has a record of its own, so that its outputs may lie beside those of `traces`. In a batch the files of columns are recorded by size alone: hashing them would take a tenth of the run.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { lstat, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { TracePool } from '../compute/traces/pool.js'
import { Fault } from '../core/errors.js'
import { readStillSync } from '../core/still-file-sync.js'
import type { HashedFile } from '../schema/study.js'
import type { SnapshotPlan } from '../study/inventory.js'
import { isSafeRelative } from '../core/paths.js'
import type { FigureFile } from '../render/figures/config.js'
import { jsonText } from '../render/outputs/json-text.js'
import type { FileSummary } from '../render/outputs/output-file.js'
import { RUN_RECORD, type Origin } from '../render/outputs/output-names.js'
import type { RunDocument } from '../schema/outputs/run.js'
import { SCHEMA_VERSIONS } from '../schema/outputs/versions.js'
import { outputFault } from '../render/outputs/output-fault.js'
import { OutputSet } from '../render/outputs/output-set.js'
import { isBySize, removeOutputs, type RecordedOutput } from '../render/outputs/removed-outputs.js'
import { systemName } from '../core/system/error.js'
import { GENERATOR, VERSIONS } from '../core/version.js'

export type RunRecord = RunDocument

/** Of the engine, of the libraries, and of the outputs' schemas: the outputs of an earlier version are computed again. */
export const RUN_VERSIONS: Readonly<Record<string, string>> = {
  ...VERSIONS,
  ...Object.fromEntries(Object.entries(SCHEMA_VERSIONS).map(([name, version]) => [`schema:${name}`, String(version)]))
}

/** @param settings plain data: everything that decides the bytes of the outputs, beside the inputs */
export function settingsHash(settings: object, formats: readonly FigureFile[]): string {
  return createHash('sha256')
    .update(JSON.stringify([settings, formats]))
    .digest('hex')
}

/** Removes the record of the run before and returns the outputs that it listed. */
export async function retireRecord(out: string, name: string = RUN_RECORD): Promise<readonly RecordedOutput[]> {
  const path = join(out, name)
  const earlier = readRecord(path)
  await unlink(path).catch((error: unknown) => {
    if (systemName(error) !== 'ENOENT') throw outputFault(error, path)
  })
  return earlier?.outputs ?? []
}

export interface FinishedRun {
  readonly origin: Origin
  readonly settingsSha256: string
  readonly inputs: readonly HashedFile[]
  readonly outputs: readonly FileSummary[]
}

/**
 * Writes the record of a run whose outputs are in place, and removes what the run before recorded and this one did not write
 * again (`removed-outputs.ts`).
 *
 * @param earlier outputs of the run before, as its record lists them
 * @param pool hashes the column files; null: they are recorded by size
 * @param name of the record
 * @returns paths that the run before recorded and that stay nevertheless
 */
export async function writeRunRecord(
  out: string,
  run: FinishedRun,
  earlier: readonly RecordedOutput[],
  pool: TracePool | null,
  name: string = RUN_RECORD
): Promise<readonly string[]> {
  const record = recordOf(
    run,
    await Promise.all(
      run.outputs.map(async ({ path, bytes, sha256 }) => ({
        path,
        sha256: sha256 ?? (pool === null ? null : await hashOutput(join(out, path), pool)),
        bytes
      }))
    )
  )
  const kept = new Set(record.outputs.map(f => f.path))
  const left = await removeOutputs(
    out,
    earlier.filter(({ path }) => !kept.has(path)),
    GENERATOR.name
  )
  await OutputSet.writeAlone(out, name, jsonText(record))
  return left
}

function recordOf({ origin, settingsSha256, inputs }: Omit<FinishedRun, 'outputs'>, outputs: readonly RecordedOutput[]): RunRecord {
  return {
    schema_version: SCHEMA_VERSIONS.run,
    schema: 'run',
    ...origin,
    versions: RUN_VERSIONS,
    settings_sha256: settingsSha256,
    inputs,
    outputs
  }
}

/** The record of an earlier run into `out`, where inputs, settings and outputs are still as it says, to the byte; otherwise null. */
export async function unchangedRun(
  out: string,
  plan: SnapshotPlan,
  settingsSha256: string,
  pool: TracePool,
  name: string = RUN_RECORD
): Promise<RunRecord | null> {
  const record = currentRecord(join(out, name), settingsSha256)
  if (record === null) return null
  const listed = new Set(record.inputs.map(f => f.path))
  const present = [...plan.npzFiles, ...plan.dumpFiles, ...(plan.html === null ? [] : [basename(plan.html)])]
  if (!present.every(path => listed.has(path))) return null
  // Anyone may have written the record: only files in the snapshot's folder and in the output folder are looked at.
  if (![...record.inputs, ...record.outputs].every(({ path }) => isSafeRelative(path))) return null
  const inputs = await Promise.all(record.inputs.map(f => isSameFileAs(join(plan.folder, f.path), f, 'follow', pool)))
  return inputs.every(Boolean) && (await outputsStand(out, record, pool)) ? record : null
}

/**
 * The same for the run of a study, whose inputs were verified just now.
 *
 * @param now what the run would record
 */
export async function unchangedOutputs(out: string, now: Omit<FinishedRun, 'outputs'>, pool: TracePool): Promise<RunRecord | null> {
  const record = currentRecord(join(out, RUN_RECORD), now.settingsSha256)
  if (record === null || !isDeepStrictEqual(record, recordOf(now, record.outputs))) return null
  if (!record.outputs.every(({ path }) => isSafeRelative(path))) return null
  return (await outputsStand(out, record, pool)) ? record : null
}

/** The record of a run with these settings, this program, these libraries and these schemas. */
function currentRecord(path: string, settingsSha256: string): RunRecord | null {
  const record = readRecord(path)
  if (record === null || record.settings_sha256 !== settingsSha256 || record.generator.version !== GENERATOR.version) return null
  return isDeepStrictEqual(record.versions, RUN_VERSIONS) ? record : null
}

async function outputsStand(out: string, record: RunRecord, pool: TracePool): Promise<boolean> {
  const outputs = await Promise.all(record.outputs.map(f => isSameFileAs(join(out, f.path), f, 'refuse', pool)))
  return outputs.every(Boolean)
}

async function hashOutput(path: string, pool: TracePool): Promise<string> {
  const answer = await pool.hash(path, 'refuse')
  if (answer !== null) return answer.sha256
  throw new Fault({ format: 'output', problem: 'vanished', found: 'nothing', expected: 'what was just written', place: { file: path } })
}

export async function isSameFileAs(path: string, expected: RecordedOutput, links: 'follow' | 'refuse', pool: TracePool): Promise<boolean> {
  if (expected.sha256 === null) {
    const found = await lstat(path).catch(() => null)
    return found?.isFile() === true && found.size === expected.bytes
  }
  const answer = await pool.hash(path, links)
  return answer !== null && answer.sha256 === expected.sha256 && answer.bytes === expected.bytes
}

/** The record of a finished run into this folder, of this version of the program or another. Null: there is none. */
export function standingRecord(out: string): RunRecord | null {
  return readRecord(join(out, RUN_RECORD))
}

/** The record at a path. Null where it cannot be read or is none: then no run is skipped. */
function readRecord(path: string): RunRecord | null {
  // A first run has no record. The test saves making a Fault, whose message is searched for secrets.
  if (!existsSync(path)) return null
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(readStillSync(path, 'run record').bytes).toString('utf8'))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof Fault) return null
    throw error
  }
  return isRunRecord(parsed) ? parsed : null
}

function isRunRecord(x: unknown): x is RunRecord {
  if (typeof x !== 'object' || x === null) return false
  const record = x as Partial<Record<keyof RunRecord, unknown>>
  const files = (list: unknown, unhashed: boolean): boolean =>
    Array.isArray(list) &&
    list.every(
      (f: unknown) =>
        typeof f === 'object' &&
        f !== null &&
        typeof (f as HashedFile).path === 'string' &&
        (typeof (f as RecordedOutput).sha256 === 'string' ||
          (unhashed && (f as RecordedOutput).sha256 === null && isBySize((f as RecordedOutput).path, record.manifest))) &&
        typeof (f as HashedFile).bytes === 'number'
    )
  return (
    record.schema === 'run' &&
    record.schema_version === SCHEMA_VERSIONS.run &&
    record.manifest !== undefined &&
    typeof record.settings_sha256 === 'string' &&
    typeof (record.generator as { version?: unknown } | undefined)?.version === 'string' &&
    files(record.inputs, false) &&
    files(record.outputs, true) &&
    // Every run writes something.
    (record.outputs as unknown[]).length > 0
  )
}
