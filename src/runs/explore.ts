/**
 * The explorer of the traces of one or several snapshots, in one page: one pass over each of them, with columns for the page's tokens
 * and records for the diagnostics beside them.
 *
 *     traces ──► threads: columns and record ──► in canonical order ──► rows, blocks, diagnosis ──► page ──► commit ──► record
 */
import type { SourcedRecord } from '../compute/diagnostics/reduce.js'
import type { TraceColumns, TraceResult } from '../compute/traces/contract.js'
import type { PageBlocks, PageWanted } from '../compute/traces/page-blocks.js'
import type { TracePool } from '../compute/traces/pool.js'
import { EXIT, Fault } from '../core/errors.js'
import { formatCount } from '../core/counts.js'
import { ExplorerCollector, PageBudget, type TextCounts } from '../render/explorer/collector.js'
import type { ExplorerOverview } from '../render/explorer/overview.js'
import { writeExplorerPage, type PageSnapshot } from '../render/explorer/page.js'
import type { FileSummary } from '../render/outputs/output-file.js'
import { EXPLORE_RECORD } from '../render/outputs/output-names.js'
import type { RecordedOutput } from '../render/outputs/removed-outputs.js'
import { diagnosisHtml } from '../render/page/diagnostics.js'
import type { HashedFile } from '../schema/study.js'
import type { SnapshotPlan } from '../study/inventory.js'
import { isOfSyntheticStudy } from '../study/label.js'
import { GENERATOR } from '../core/version.js'
import { originOf, RunContext, type Done } from './context.js'
import { reduceRecords, toldOfStudy, wantedRecord } from './diagnosis.js'
import { measureTraces, recordsOf } from './measure.js'
import { retireRecord, settingsHash, writeRunRecord } from './record.js'
import { RecordSpill } from './record-spill.js'
import { snapshotInputs, whatSaysSynthetic } from './snapshot.js'
import type { SnapshotSettings } from './snapshot-work.js'
import { inTransaction, type TransactionOptions } from './transaction.js'

/** What a page of its own embeds at most. Its blocks are in memory until it is written. */
const IN_A_PAGE = { tokens: 5_000_000, bytes: 64_000_000, textBytes: 32_000_000 }

export interface ExploreRun extends TransactionOptions {
  /** in the order of the page */
  readonly plans: readonly SnapshotPlan[]
  readonly settings: SnapshotSettings
  readonly pool: TracePool
  readonly out: string
  /** whether the page has the texts of turns */
  readonly texts: boolean
  /** called when a snapshot is begun; takes how much of it is done */
  readonly onSnapshot?: ((plan: SnapshotPlan) => Done) | undefined
}

export interface ExploreOutcome {
  readonly synthetic: boolean
  readonly snapshots: readonly ExploredTraces[]
  readonly texts: TextCounts
  readonly outputs: readonly FileSummary[]
  /** of an earlier record, left because nothing shows that this program made them as they are */
  readonly left: readonly string[]
}

/** What was read of one snapshot. */
export interface ExploredTraces extends Pick<PageSnapshot, 'snapshot' | 'diagnostics'> {
  readonly plan: SnapshotPlan
  /** with paths below the snapshot's folder */
  readonly inputs: readonly HashedFile[]
}

/** @throws Failures, or the one Fault that stopped the run; no output is touched then */
export async function exploreSnapshots(run: ExploreRun): Promise<ExploreOutcome> {
  const { plans, settings, pool, out, texts, signal } = run
  let earlier: readonly RecordedOutput[] = []
  const beforeCommit = async (): Promise<void> => {
    earlier = await retireRecord(out, EXPLORE_RECORD)
  }
  const { snapshots, counts, outputs } = await inTransaction(out, { signal, beforeCommit }, async set => {
    const budget = new PageBudget(IN_A_PAGE)
    const pages: (ExploredTraces & PageSnapshot)[] = []
    for (const plan of plans) {
      const collector = new ExplorerCollector(settings.traces.jump_threshold, budget, texts)
      const taker: TraceTaker = {
        overview: collector.overview,
        wanted: collector.wanted,
        take(result, columns, page) {
          collector.take(result, columns, page)
          if (budget.isOver) throw tooLarge(budget)
        }
      }
      pages.push({ ...(await readTraces(run, plan, taker)), blocks: collector.blocks })
    }
    await writeExplorerPage(set, { generator: GENERATOR, texts, snapshots: pages })
    return { counts: budget.texts, snapshots: pages.map(({ blocks: _, ...snapshot }) => snapshot) }
  })
  const synthetic = snapshots.some(({ snapshot }) => snapshot.synthetic)
  const finished = {
    origin: originOf(synthetic, null),
    settingsSha256: settingsHash({ sources: plans.map(({ source }) => source), traces: settings.traces, dump: settings.dump, texts }, []),
    inputs: snapshots.flatMap(({ plan, inputs }) => inputs.map(file => ({ ...file, path: `${plan.name}/${file.path}` }))),
    outputs
  }
  const left = await writeRunRecord(out, finished, earlier, pool, EXPLORE_RECORD)
  return { synthetic, snapshots, texts: counts, outputs, left }
}

/** Takes every trace of a snapshot, in canonical order. Its columns may change when that is done. */
export interface TraceTaker {
  readonly overview: ExplorerOverview
  /** what is wanted of the next trace beside its columns */
  wanted(): PageWanted | null
  take(result: TraceResult, columns: TraceColumns, page: PageBlocks | null): Promise<void> | void
}

/** Reads one snapshot: each trace is taken, and its critic is diagnosed. @throws as `measureTraces` does */
export async function readTraces(
  { settings: told, pool, out, signal, onSnapshot }: Pick<ExploreRun, 'settings' | 'pool' | 'out' | 'signal' | 'onSnapshot'>,
  plan: SnapshotPlan,
  taker: TraceTaker
): Promise<ExploredTraces> {
  const settings = { ...told, synthetic: told.synthetic || (await isOfSyntheticStudy(plan.folder)) }
  const { traces } = settings
  const context = new RunContext({ dir: plan.folder, origin: originOf(settings.synthetic, null), signal })
  const spill = new RecordSpill(out)
  try {
    const records: SourcedRecord[] = []
    const results: TraceResult[] = []
    const end = await measureTraces(
      context,
      { plan, settings, pool },
      {
        wanted: { columns: true, record: wantedRecord(traces) },
        page: taker.wanted,
        onProgress: onSnapshot?.(plan),
        async take(trace) {
          const { result, columns, page } = trace
          if (result === null || columns === null) throw new Error('a trace without its columns')
          records.push(...recordsOf(trace, bytes => spill.take(bytes)))
          results.push(result)
          await taker.take(result, columns, page)
        }
      }
    )
    const { header, html, dump } = end
    const synthetic = settings.synthetic || whatSaysSynthetic({ header, results }) !== null
    const inputs = snapshotInputs(plan, { html, dump, results })
    const { facts = null, leftOut = [] } = dump ?? {}
    const { sampling, ...toldValues } = toldOfStudy(traces)
    const { success_threshold: successThreshold, jump_threshold: jumpThreshold } = traces
    const as = { synthetic, told: toldValues, settings: { successThreshold, jumpThreshold, sampling, history: null } }
    const set = await reduceRecords(plan, { records, facts, inputs, leftOut }, as, pool.resample)
    return {
      plan,
      inputs,
      snapshot: taker.overview.snapshot({ name: plan.name, synthetic, snapshotTime: header.snapshotTime }),
      diagnostics: diagnosisHtml({ ...set, settings: as.settings, against: null })
    }
  } finally {
    spill.close()
  }
}

function tooLarge({ limit }: PageBudget): Fault {
  return new Fault({
    format: 'page',
    problem: 'too large',
    found: 'more traces than a page can hold',
    expected: `at most ${formatCount(limit.tokens)} tokens, ${formatCount(limit.bytes)} bytes packed; explore PATH --serve shows any number`,
    exitCode: EXIT.usage
  })
}
