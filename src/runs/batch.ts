/**
 * Many snapshots, one after another over one pool. Each is written into its own subfolder; one index lists all. A bad
 * snapshot does not stop the rest. A snapshot whose inputs, settings and outputs are unchanged since its last run is skipped,
 * so that a batch that was killed continues where it was.
 */
import { join, posix, relative, resolve, sep } from 'node:path'
import type { SnapshotStatistics } from '../compute/traces/contract.js'
import type { TracePool } from '../compute/traces/pool.js'
import { EXIT, Failures, Fault, toFault, type FailureCode } from '../core/errors.js'
import { amountOf, findSnapshots, type Amount, type SnapshotPlan } from '../study/inventory.js'
import { originOf } from './context.js'
import { analyseSnapshot, snapshotInputs, type SnapshotOutcome, type SnapshotSettings } from './snapshot.js'
import type { FigureFormat } from '../render/figures/config.js'
import { jsonText } from '../render/outputs/json-text.js'
import { BATCH_INDEX, DEFAULT_OUT, OUTPUT_PATHS } from '../render/outputs/output-names.js'
import { refuseOutputsAtInputs } from '../render/outputs/output-place.js'
import { OutputSet } from '../render/outputs/output-set.js'
import type { RecordedOutput } from '../render/outputs/removed-outputs.js'
import { isOfSyntheticStudy } from '../study/label.js'
import { retireRecord, settingsHash, unchangedRun, writeRunRecord } from './record.js'
import { secretFault } from '../core/secret-guard.js'
import { isSecretText } from '../core/secrets.js'
import { isInside, realPlace } from '../core/system/folder.js'
import { readText } from '../core/still-file.js'
import type { TraceSnapshotsDocument } from '../schema/outputs/trace-snapshots.js'

export interface BatchRun {
  readonly paths: readonly string[]
  readonly settings: SnapshotSettings
  readonly pool: TracePool
  readonly out: string
  readonly formats: readonly FigureFormat[]
  readonly chunkBytes?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onStart?: (plan: SnapshotPlan, amount: Amount) => void
  readonly onProgress?: ((done: number) => void) | undefined
  readonly onEnd?: (result: SnapshotResult) => void
}

export interface SnapshotResult {
  /** null for a path that led to no snapshot */
  readonly plan: SnapshotPlan | null
  readonly status: 'done' | 'unchanged' | 'failed'
  readonly statistics: SnapshotStatistics | null
  /** null where nothing was computed */
  readonly outcome: SnapshotOutcome | null
  readonly faults: readonly Fault[]
  /** the snapshot's name in outputs, or the path that led to none */
  readonly source: string
  /**
   * paths in the output folder that an earlier run recorded and this one did not write; they stay, because nothing shows that
   * they are the program's
   */
  readonly left?: readonly string[]
}

/** @throws Fault (exit 130) when interrupted; every other fault is in its snapshot's result */
export async function runBatch(run: BatchRun): Promise<SnapshotResult[]> {
  refuseOutputsAtInputs(run.paths, run.out)
  // Opened once before all snapshots: a folder that cannot be written to is then one fault, not one for each snapshot.
  const folder = await OutputSet.open(run.out)
  try {
    await folder.sweepSnapshots()
  } finally {
    await folder.abort()
  }
  const results: SnapshotResult[] = []
  const end = (result: SnapshotResult): void => {
    results.push(result)
    run.onEnd?.(result)
  }
  const plans = await findSnapshots(
    run.paths,
    (fault, source) => {
      end({ plan: null, status: 'failed', statistics: null, outcome: null, faults: [fault], source })
    },
    realPlace(DEFAULT_OUT)
  )
  for (const plan of plans) {
    if (isSecretText(plan.name, 'name') || isSecretText(plan.source, 'source')) {
      const fault = secretFault('snapshot', 'the name of a folder or page', { file: plan.html ?? plan.folder })
      end({ plan: null, status: 'failed', statistics: null, outcome: null, faults: [fault], source: plan.source })
      continue
    }
    run.onStart?.(plan, await amountOf(plan))
    end(await runOne(run, plan))
  }
  await writeIndex(run, results)
  return results
}

/** Whether a batch is synthetic as a whole: its study is, or one of its snapshots is. */
export function isSynthetic(settings: SnapshotSettings, results: readonly SnapshotResult[]): boolean {
  return settings.synthetic || results.some(r => r.statistics?.synthetic === true)
}

/** The gravest exit code of a batch. */
export function batchExitCode(results: readonly SnapshotResult[]): FailureCode | 0 {
  return gravest(results.flatMap(r => r.faults))
}

export function gravest(faults: readonly Fault[]): FailureCode | 0 {
  let worst: FailureCode | 0 = 0
  for (const { exitCode } of faults) if (exitCode > worst) worst = exitCode
  return worst
}

async function runOne(run: BatchRun, plan: SnapshotPlan): Promise<SnapshotResult> {
  const out = join(run.out, plan.name)
  const { source } = plan
  try {
    const settings = { ...run.settings, synthetic: run.settings.synthetic || (await isOfSyntheticStudy(plan.folder)) }
    const settingsSha256 = settingsHash(settings, run.formats)
    if ((await unchangedRun(out, plan, settingsSha256, run.pool)) !== null) {
      return { plan, status: 'unchanged', statistics: await readStatistics(out), outcome: null, faults: [], source }
    }
    const { pool, formats, chunkBytes, signal, onProgress } = run
    let earlier: readonly RecordedOutput[] = []
    const outcome = await analyseSnapshot({
      plan,
      settings,
      pool,
      out,
      formats,
      chunkBytes,
      signal,
      onProgress,
      beforeCommit: async () => {
        earlier = await retireRecord(out)
      }
    })
    const aside = outcome.excluded.map(({ path, sha256, bytes }) => ({ path, sha256, bytes }))
    const finished = {
      settingsSha256,
      origin: originOf(outcome.statistics.synthetic, null),
      inputs: [...snapshotInputs(plan, outcome), ...aside],
      outputs: outcome.outputs
    }
    const left = (await writeRunRecord(out, finished, earlier, null)).map(path => `${plan.name}/${path}`)
    return { plan, status: 'done', statistics: outcome.statistics, outcome, faults: [], source, left }
  } catch (error) {
    const faults = error instanceof Failures ? error.faults : [toFault(error, 'snapshot', { file: plan.html ?? plan.folder })]
    if (faults.some(f => f.exitCode === EXIT.interrupted)) throw error
    return { plan, status: 'failed', statistics: null, outcome: null, faults, source }
  }
}

/** The statistics of an unchanged run. The file was just compared with the run's record. */
async function readStatistics(out: string): Promise<SnapshotStatistics> {
  return JSON.parse(await readText(join(out, OUTPUT_PATHS.statistics))) as SnapshotStatistics
}

/** Writes the index: the same bytes whether a snapshot was computed now or before. */
async function writeIndex(run: BatchRun, results: readonly SnapshotResult[]): Promise<void> {
  const { envelope } = await import('../render/outputs/documents.js')
  const index: TraceSnapshotsDocument = {
    ...envelope('critic-trace-snapshots', originOf(isSynthetic(run.settings, results), null)),
    snapshots: results.map(({ plan, status, statistics, faults, source }) => ({
      name: plan?.name ?? null,
      source: plan === null ? null : source,
      status: status === 'failed' ? 'failed' : 'ok',
      synthetic: statistics?.synthetic ?? null,
      verified: statistics?.verified ?? null,
      traces: statistics?.traces ?? null,
      tokens: statistics?.tokens ?? null,
      snapshot_time: statistics?.snapshot_time ?? null,
      statistics: plan === null || status === 'failed' ? null : `${plan.name}/${OUTPUT_PATHS.statistics}`,
      faults: faults.map(f => ({ message: inOutputs(f, plan, source, run.out).message, exit_code: faultCode(f) }))
    }))
  }
  await OutputSet.writeAlone(run.out, BATCH_INDEX, jsonText(index))
}

/** An interrupt ends the command: no snapshot has it. */
function faultCode({ exitCode }: Fault): TraceSnapshotsDocument['snapshots'][number]['faults'][number]['exit_code'] {
  if (exitCode === EXIT.interrupted) throw new Error('a snapshot was interrupted')
  return exitCode
}

/** The fault with its file as outputs call it: below what was given, or below the output folder. */
function inOutputs(fault: Fault, plan: SnapshotPlan | null, source: string, out: string): Fault {
  const { file } = fault.place
  if (file === undefined) return fault
  const below = (folder: string, name: string): string | null => {
    const path = resolve(file)
    return isInside(resolve(folder), path) ? posix.join(name, relative(resolve(folder), path).split(sep).join('/')) : null
  }
  const named = plan === null ? source : (below(plan.folder, plan.html === null ? source : posix.dirname(source)) ?? below(out, '.'))
  return new Fault({ ...fault.details, place: { ...fault.place, file: named ?? posix.basename(file) } })
}
