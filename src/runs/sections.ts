/**
 * What a run does with each section of a study: each key of `schema/study.ts` has a function with two steps. The first step
 * needs no other section: it reads, and writes what was read. The second step uses the documents that are in the set by then:
 * those of every first step, and of the second steps of the sections before it.
 *
 *     first:   critic traces measured ──► evidence stated
 *     second:                                  └──► histories analysed, with numbers of the evidence ──► evidence derived
 */
import { Documents } from '../compute/documents.js'
import type { Diagnosis } from '../compute/diagnostics/contract.js'
import { withDrawnNumbers } from '../compute/histories/drawn-numbers.js'
import type { TracePool } from '../compute/traces/pool.js'
import { Fault } from '../core/errors.js'
import type { FigureConstants } from '../render/outputs/figure-documents.js'
import type { OutputSet } from '../render/outputs/output-set.js'
import type { EvidenceStudy } from '../schema/evidence.js'
import type { HistoryStudy } from '../schema/histories.js'
import { SECTIONS, type HashedFile, type SectionKey, type Study } from '../schema/study.js'
import type { CriticTraceStudy } from '../schema/critic-traces.js'
import { findSnapshots, type SnapshotPlan } from '../study/inventory.js'
import type { RunContext } from './context.js'
import type { FigureSources } from './drawing.js'
import type { MeasuredEvidence } from './evidence.js'
import { figureData, measureHistories, type MeasuredHistories } from './histories.js'
import { historyInputs, traceInputs, type SectionInputs } from './provenance.js'
import { inRun, snapshotInputs, type MeasuredSnapshot } from './snapshot.js'
import { measureStudyTraces } from './study-traces.js'
import type { TokenTables } from './snapshot-work.js'

/** What the sections of one study have in common, beside the run's context. */
export interface StudyWork {
  readonly study: Study
  /** takes the outputs; the caller commits it */
  readonly set: OutputSet
  readonly pool: TracePool
  /** every file that was verified */
  readonly listed: readonly HashedFile[]
  /** see `SnapshotSettings` */
  readonly tables: TokenTables | undefined
}

/** Null where the study has no such section. */
export interface SectionOutcomes {
  readonly snapshot: Omit<MeasuredSnapshot, 'figure' | 'records'> | null
  /** of the snapshot's critic */
  readonly diagnosis: Diagnosis | null
  readonly histories: MeasuredHistories | null
  readonly evidence: MeasuredEvidence | null
}

export interface SectionResult {
  readonly outcome: Partial<SectionOutcomes>
  /** files that were read and used, relative to the study */
  readonly inputs: readonly HashedFile[]
  readonly inputsOf: SectionInputs
  /** data of its figures */
  readonly figures: FigureSources
  readonly constants: Partial<FigureConstants>
}

type SecondStep = () => Promise<SectionResult>

/** The first step; it returns the second. */
type SectionRun<S> = (context: RunContext, section: S, work: StudyWork) => Promise<SecondStep>

/** Null: the section has no step here. The article is written after all sections (`article.ts`); `fetch` has its own command. */
const RUNS: { readonly [K in SectionKey]: SectionRun<NonNullable<Study[K]>> | null } = {
  critic_traces: runTraces,
  histories: runHistories,
  evidence: runEvidence,
  article: null,
  fetch: null
}

/** Runs every section that the study states, in the order of the list. */
export async function runSections(context: RunContext, work: StudyWork): Promise<SectionResult[]> {
  const second: SecondStep[] = []
  for (const key of Object.keys(SECTIONS) as SectionKey[]) {
    const next = await begin(context, key, work)
    if (next !== null) second.push(next)
  }
  const results: SectionResult[] = []
  for (const step of second) results.push(await step())
  return results
}

async function begin<K extends SectionKey>(context: RunContext, key: K, work: StudyWork): Promise<SecondStep | null> {
  const run = RUNS[key]
  const section = work.study[key]
  return run === null || !section ? null : run(context, section, work)
}

async function runTraces(context: RunContext, traces: CriticTraceStudy, { study, set, pool, tables }: StudyWork): Promise<SecondStep> {
  const plan = await onlySnapshot(context.place(traces.snapshot))
  const { expectations } = traces
  const settings = { traces, expectations, enforced: true, examplesRequired: true, synthetic: study.synthetic, tables }
  const { figure, diagnosis, ...measured } = await measureStudyTraces(context, { plan, settings, pool }, set)
  const inputs = snapshotInputs(plan, measured).map(inRun(context, plan))
  return async () => ({
    outcome: { snapshot: measured, diagnosis },
    inputs,
    inputsOf: traceInputs(context, inputs),
    figures: { criticTraces: figure, diagnosis },
    constants: {}
  })
}

async function onlySnapshot(folder: string): Promise<SnapshotPlan> {
  const plans = await findSnapshots([folder])
  if (plans.length === 1) return plans[0]
  throw new Fault({
    format: 'study',
    problem: 'several snapshots',
    found: `${plans.length} below its snapshot folder`,
    expected: 'one',
    place: { file: folder }
  })
}

async function runHistories(context: RunContext, section: HistoryStudy, { set, listed }: StudyWork): Promise<SecondStep> {
  return async () => {
    // Numbers that figures of curves show may come from the evidence.
    const drawn = withDrawnNumbers(section, new Documents(set.jsonTexts))
    const onBytes = context.progress.onHistories?.(bytesOf(listed, path => path.startsWith(`${drawn.folder}/`)))
    const histories = await measureHistories(context, drawn, set, onBytes)
    return {
      outcome: { histories },
      inputs: [histories.list, ...histories.files],
      inputsOf: historyInputs(histories),
      figures: { curves: figureData(context, drawn, histories) },
      constants: { histories: drawn }
    }
  }
}

async function runEvidence(context: RunContext, section: EvidenceStudy, { study, set, listed }: StudyWork): Promise<SecondStep> {
  const { workbook, slides, configs, datasets, documents, figures: requests } = section
  const own = new Set([workbook, slides, ...configs, ...datasets, ...documents].map(source => source?.path))
  const onBytes = context.progress.onEvidence?.(bytesOf(listed, path => own.has(path)))
  // Loads the readers of office files and Parquet, which only a study with evidence needs.
  const { deriveEvidence, stateEvidence } = await import('./evidence.js')
  const found = await stateEvidence(context, section, set, onBytes)
  return async () => {
    const evidence = await deriveEvidence(context, section, set, found, legendOf(study.histories))
    const { inputs, figures: bars } = evidence
    return { outcome: { evidence }, inputs, inputsOf: () => null, figures: { bars }, constants: { bars: { requests, drawn: bars } } }
  }
}

/** Titles in the order of the colours that the first analysis gives them. A bar figure gives the same title the same colour. */
function legendOf(histories: HistoryStudy | null): string[] {
  const drawn = histories?.analyses[0]?.selections ?? []
  return drawn.flatMap(name => histories?.selections.find(selection => selection.name === name)?.title ?? [])
}

function bytesOf(files: readonly HashedFile[], holds: (path: string) => boolean): number {
  return files.reduce((sum, { path, bytes }) => (holds(path) ? sum + bytes : sum), 0)
}
