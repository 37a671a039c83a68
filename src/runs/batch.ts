/**
 * Many snapshots, one after another over one pool. Each is written into its own subfolder; one index lists all, with those of
 * earlier runs into the same folder (`batch-index.ts`). A bad
 * snapshot does not stop the rest. A snapshot whose inputs, settings and outputs are unchanged since its last run is skipped,
 * so that a batch that was killed continues where it was.
 */
import { join } from 'node:path'
import type { SnapshotStatistics } from '../compute/traces/contract.js'
import type { TracePool } from '../compute/traces/pool.js'
import { EXIT, Failures, Fault, toFault, type FailureCode } from '../core/errors.js'
import { amountOf, findSnapshots, type Amount, type SnapshotPlan } from '../study/inventory.js'
import { writeBatchIndex, type WrittenIndex } from './batch-index.js'
import type { SnapshotResult } from './batch-result.js'
import { originOf } from './context.js'
import { analyseSnapshot, snapshotInputs, type SnapshotRun } from './snapshot.js'
import type { SnapshotSettings } from './snapshot-work.js'
import type { FigureFile } from '../render/figures/config.js'
import { DEFAULT_OUT, OUTPUT_PATHS, SAMPLE_PATHS } from '../render/outputs/output-names.js'
import { refuseOutputsAtInputs } from '../render/outputs/output-place.js'
import { OutputSet } from '../render/outputs/output-set.js'
import type { RecordedOutput } from '../render/outputs/removed-outputs.js'
import { isOfSyntheticStudy } from '../study/label.js'
import type { TokenizerFile } from '../ingest/tokenizer/tokenizer.js'
import { retireRecord, settingsHash, unchangedRun, writeRunRecord, type RunRecord } from './record.js'
import { secretFault } from '../core/secret-guard.js'
import { isSecretText } from '../core/secrets.js'
import { realPlace } from '../core/system/folder.js'
import { readText } from '../core/still-file.js'
import type { SampleStatisticsDocument } from '../schema/outputs/sample-statistics.js'
import type { TraceIndexDocument } from '../schema/outputs/trace-index.js'

export interface BatchRun {
  readonly paths: readonly string[]
  readonly settings: SnapshotSettings
  readonly pool: TracePool
  readonly out: string
  readonly formats: readonly FigureFile[]
  readonly chunkBytes?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onStart?: (plan: SnapshotPlan, amount: Amount) => void
  readonly onProgress?: ((done: number) => void) | undefined
  readonly onEnd?: (result: SnapshotResult) => void
  /** called when the index is written */
  readonly onIndex?: (written: WrittenIndex) => void
}

/** @throws Fault (exit 130) when interrupted; every other fault is in its snapshot's result */
export async function runBatch(run: BatchRun): Promise<SnapshotResult[]> {
  refuseOutputsAtInputs(run.paths, run.out)
  // Opened once before all snapshots: a folder that cannot be written to is then one fault, not one for each snapshot.
  await sweepOutputs(run.out)
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
  const tokenizerOf = tokenizerReader()
  for (const plan of plans) {
    const refused = refusedName(plan)
    if (refused !== null) {
      end(refused)
      continue
    }
    run.onStart?.(plan, await amountOf(plan))
    end(await runOne(run, plan, tokenizerOf))
  }
  const { out, formats, pool, signal } = run
  const written = await writeBatchIndex({ out, formats, threads: pool.threads, synthetic: run.settings.synthetic, signal }, results)
  run.onIndex?.(written)
  return results
}

/** Removes what killed runs left in the folder and its snapshots. @throws Fault (exit 3) where the folder cannot be written to */
export async function sweepOutputs(out: string): Promise<void> {
  const folder = await OutputSet.open(out)
  try {
    await folder.sweepSnapshots()
  } finally {
    await folder.abort()
  }
}

type ReadTokenizer = (path: string) => Promise<TokenizerFile>

/** Reads the tokenizer's file once for all snapshots. */
export function tokenizerReader(): ReadTokenizer {
  let tokenizer: Promise<TokenizerFile> | null = null
  return async path => {
    tokenizer ??= (await import('../ingest/tokenizer/tokenizer.js')).readTokenizer(path)
    return tokenizer
  }
}

/** The failure of a snapshot whose name looks like a secret; null for every other. */
export function refusedName(plan: SnapshotPlan): SnapshotResult | null {
  if (!isSecretText(plan.name, 'name') && !isSecretText(plan.source, 'source')) return null
  const fault = secretFault('snapshot', 'the name of a folder or page', { file: plan.html ?? plan.folder })
  return { plan: null, status: 'failed', statistics: null, outcome: null, faults: [fault], source: plan.source }
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

/**
 * Analyses one snapshot into its own subfolder, or finds it unchanged. Its faults are in the result.
 *
 * @param read the tokenizer's file: once for all snapshots
 * @throws Fault (exit 130) when interrupted
 */
export async function runOne(run: BatchRun, plan: SnapshotPlan, read: ReadTokenizer): Promise<SnapshotResult> {
  const out = join(run.out, plan.name)
  const { source } = plan
  try {
    const settings = { ...run.settings, synthetic: run.settings.synthetic || (await isOfSyntheticStudy(plan.folder)) }
    const named = settings.dump?.tokenizer ?? null
    const tokenizer = plan.kind === 'dump' && named !== null ? await read(named) : undefined
    const hashed = tokenizer === undefined ? settings : { ...settings, tokenizerSha256: tokenizer.sha256 }
    const settingsSha256 = settingsHash(hashed, run.formats)
    // The second dump is no input of the record: it may have changed.
    const compared = settings.dump !== undefined && settings.dump.against !== null
    if (compared && plan.kind !== 'dump') throw notCompared('a page or NPZ files of one trace each', plan)
    const record = compared ? null : await unchangedRun(out, plan, settingsSha256, run.pool)
    if (record !== null) return { plan, status: 'unchanged', ...(await readOutputs(out, record)), outcome: null, faults: [], source }
    const { pool, formats, chunkBytes, signal, onProgress } = run
    let earlier: readonly RecordedOutput[] = []
    const snapshot: SnapshotRun = {
      plan,
      settings,
      tokenizer,
      pool,
      out,
      formats,
      chunkBytes,
      signal,
      onProgress,
      beforeCommit: async () => {
        earlier = await retireRecord(out)
      }
    }
    const dump = plan.kind === 'dump' ? await (await import('./dump-source.js')).openPlannedDump(snapshot, signal, onProgress) : undefined
    if (dump?.arrays.has('values') === false) {
      if (compared) {
        await dump.close()
        throw notCompared('a dump without values', plan)
      }
      const { analyseWithoutCritic } = await import('./without-critic.js')
      const { statistics: samples, inputs, outputs } = await analyseWithoutCritic(snapshot, dump)
      await writeRunRecord(out, { settingsSha256, origin: originOf(settings.synthetic, null), inputs, outputs }, earlier, null)
      return { plan, status: 'done', statistics: null, samples, outcome: null, faults: [], source }
    }
    const outcome = await analyseSnapshot({ ...snapshot, dump }).finally(() => dump?.close())
    const aside = outcome.excluded.map(({ path, sha256, bytes }) => ({ path, sha256, bytes }))
    const finished = {
      settingsSha256,
      origin: originOf(outcome.statistics.synthetic, null),
      inputs: [...snapshotInputs(plan, outcome), ...aside],
      outputs: outcome.outputs
    }
    const left = (await writeRunRecord(out, finished, earlier, null)).map(path => `${plan.name}/${path}`)
    return { plan, status: 'done', statistics: outcome.statistics, outcome, dump: outcome.dump, faults: [], source, left }
  } catch (error) {
    const faults = error instanceof Failures ? error.faults : [toFault(error, 'snapshot', { file: plan.html ?? plan.folder })]
    if (faults.some(f => f.exitCode === EXIT.interrupted)) throw error
    return { plan, status: 'failed', statistics: null, outcome: null, faults: faults.map(f => atDumpFile(f, plan)), source }
  }
}

/** A page is compared with the NPZ files that it names, and nothing else with a dump. */
function notCompared(found: string, { source }: SnapshotPlan): Fault {
  const expected = 'dumps with values and returns; a page is compared with its own NPZ files'
  return new Fault({ format: 'usage', problem: 'wrong --against', found, expected, place: { file: source }, exitCode: EXIT.usage })
}

/** The readers of a dump name its files within the folder; the user gave the folder. */
export function atDumpFile(fault: Fault, { folder, dumpFiles }: SnapshotPlan): Fault {
  const { file } = fault.place
  if (file === undefined || !dumpFiles.includes(file)) return fault
  return new Fault({ ...fault.details, place: { ...fault.place, file: join(folder, file) } })
}

/** What an unchanged run told. The files were just compared with the run's record. */
async function readOutputs(out: string, record: RunRecord): Promise<Pick<SnapshotResult, 'statistics' | 'samples' | 'dump'>> {
  const read = async (path: string): Promise<unknown> => JSON.parse(await readText(join(out, path)))
  if (record.outputs.some(({ path }) => path === OUTPUT_PATHS.statistics)) {
    const { dump } = (await read(OUTPUT_PATHS.index)) as TraceIndexDocument
    return { statistics: (await read(OUTPUT_PATHS.statistics)) as SnapshotStatistics, dump: dump === null ? null : readingOf(dump) }
  }
  return { statistics: null, samples: (await read(SAMPLE_PATHS.statistics)) as SampleStatisticsDocument }
}

function readingOf({ kind, mask, end, notes, left_out: leftOut }: NonNullable<TraceIndexDocument['dump']>): SnapshotResult['dump'] {
  return {
    facts: { kind, mask, end, notes },
    leftOut: leftOut.map(({ index, file, reason }) => ({ index, place: file === null ? {} : { file }, reason }))
  }
}
