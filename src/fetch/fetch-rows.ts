/**
 * Fetches the rows of one run into its file, and certifies the whole. If an earlier fetch of the same run was killed, this
 * one resumes it: the journal states which windows are on the disk.
 */
import { join } from 'node:path'
import { Fault } from '../core/errors.js'
import { ByteTally, tallied } from '../core/chunks.js'
import { fileChunks } from '../core/still-file.js'
import { parseHistory } from '../ingest/histories/parse.js'
import { isGrowingState } from '../ingest/certificate/states.js'
import type { RunDetails } from './answers.js'
import { certificatePath, certificateText, isFetchState, STEP_KEYS, type FetchState } from '../ingest/certificate/file.js'
import { certify, type CertificateFacts, type HistoryOnDisk } from '../ingest/certificate/certificate.js'
import { AHEAD, historyWindows, type Ask } from './history.js'
import type { LabelledRun } from './listing.js'
import { RowExporter } from '../ingest/certificate/row.js'
import { OutputSet } from '../render/outputs/output-set.js'
import { ResumableFile } from './resumable-file.js'
import type { HistoryCertificate } from '../ingest/certificate/fields.js'
import { SAMPLES_PER_REQUEST, STEPS_PER_REQUEST } from '../schema/fetch.js'
import { mostWindows, narrowWindows } from './plausible.js'
import { isWide, WindowWidths } from './widths.js'

export interface RowsRequest {
  /** the study's folder, and the folder of its histories in it */
  readonly dir: string
  readonly folder: string
  readonly synthetic: boolean
  readonly run: LabelledRun
  /** the run as the server describes it now */
  readonly details: RunDetails
  /** address of the server; a fetch from another server is not resumed */
  readonly server: string
  /** UTC */
  readonly time: string
  readonly ask: Ask
  /** asks the server for the run's description again */
  readonly describe: () => Promise<RunDetails>
  /** called with the number of rows that have arrived */
  readonly count: (rows: number) => void
  readonly signal?: AbortSignal | undefined
}

export interface FetchedRows {
  readonly certificate: HistoryCertificate
  readonly resumed: boolean
  /** true: wide windows did not give the rows that the server counts, and narrow ones were asked for */
  readonly narrowed: boolean
  /** the run, described after its last row was fetched */
  readonly now: RunDetails
}

/**
 * @returns the Fault of a row that cannot be kept. It ends this run only. Rows before it stay in the partial file
 * @throws any other Fault; fetched rows stay too
 */
export async function fetchRows(request: RowsRequest): Promise<FetchedRows | Fault> {
  const { dir, folder, run, signal } = request
  const path = historyPath(folder, run)
  const fresh = freshState(request)
  let file = await ResumableFile.open(join(dir, path), state => isFetchState(state) && isSameFetch(state, fresh))
  try {
    const earlier = isFetchState(file.state) ? file.state : null
    let state = await fetchWindows(request, file, earlier ?? fresh, true)
    const narrowed = !(state instanceof Fault) && isDoubtful(state)
    if (narrowed) {
      request.count(-rowsOf(state as FetchState))
      await file.close()
      await ResumableFile.discard(join(dir, path))
      file = await ResumableFile.open(join(dir, path), () => false)
      state = await fetchWindows(request, file, fresh, false)
    }
    if (state instanceof Fault) {
      await file.close()
      return state
    }
    const now = await request.describe()
    // Read back before the file gets its name, so that no unreadable history ever has it.
    const onDisk = await readBack(await file.partial(), signal)
    const { bytes, sha256 } = await file.finish()
    const facts = factsOf(state, now, { path, bytes, sha256 }, request.synthetic)
    const certificate = certify(facts, onDisk)
    await OutputSet.writeAlone(dir, certificatePath(folder, run), certificateText(certificate))
    return { certificate, resumed: earlier !== null, narrowed, now }
  } catch (error) {
    // The first error is reported. If the journal cannot be written either, the next fetch only loses some rows.
    await file.close().catch(() => undefined)
    throw error
  }
}

function rowsOf({ requests: { intervals } }: FetchState): number {
  return intervals.reduce((sum, { rows }) => sum + rows, 0)
}

/**
 * True if wide windows did not give as many rows as the server counts. Then they are not proved, and windows of 100 steps are
 * asked for, unless these would be too many.
 */
function isDoubtful(state: FetchState): boolean {
  const { history_line_count: counted, last_step: last } = state.snapshot
  if (!state.requests.intervals.some(isWide) || rowsOf(state) === counted) return false
  return narrowWindows(last) <= mostWindows(counted)
}

/** Appends the windows from the end of the state to the last step first seen, or up to a row that is a Fault. */
async function fetchWindows(
  { run, ask, count }: RowsRequest,
  file: ResumableFile,
  from: FetchState,
  mayWiden: boolean
): Promise<FetchState | Fault> {
  const { entity, project, id } = run
  const { intervals } = from.requests
  count(rowsOf(from))
  const rows = new RowExporter(from.left_out)
  let state = from
  // An earlier fetch that got far with narrow windows alone was of a dense run, or had gone back to narrow ones.
  const isOpen = intervals.length <= AHEAD || intervals.some(isWide)
  const windows = historyWindows(ask, {
    entity,
    project,
    id,
    rows,
    widths: new WindowWidths(mayWiden && isOpen && from.snapshot.history_line_count !== null, intervals),
    from: (intervals.at(-1)?.to ?? -1) + 1,
    to: from.snapshot.last_step ?? -1
  })
  for await (const window of windows) {
    if (window instanceof Fault) return window
    const { text, reordered, ...interval } = window
    const requests = {
      ...state.requests,
      intervals: [...state.requests.intervals, interval],
      reordered: state.requests.reordered + Number(reordered)
    }
    state = { ...state, requests, left_out: { ...rows.leftOut } }
    await file.append(Buffer.from(text, 'utf8'), state)
    count(interval.rows)
  }
  return state
}

function freshState({ run, details: { lastStep, lineCount, heartbeatAt, state }, server, time }: RowsRequest): FetchState {
  const { id, entity, project, displayName, label, createdAt } = run
  return {
    server,
    run: { id, entity, project, display_name: displayName, label, created_at: createdAt, state },
    fetched_at: time,
    snapshot: { last_step: lastStep, history_line_count: lineCount, heartbeat_at: heartbeatAt, growing: isGrowingState(state) },
    requests: { steps: STEPS_PER_REQUEST, samples: SAMPLES_PER_REQUEST, intervals: [], reordered: 0 },
    left_out: { texts: 0, flags: 0, objects: 0, lists: 0 }
  }
}

/** True if a journal is of this run on this server. A run that no longer logs must also have the same description. */
function isSameFetch(earlier: FetchState, fresh: FetchState): boolean {
  const of = ({ server, run: { state: _state, ...run }, snapshot }: FetchState): string =>
    JSON.stringify(isGrowingState(fresh.run.state) ? [server, run] : [server, run, { ...snapshot, growing: false }])
  const [before, now] = [earlier.snapshot.last_step, fresh.snapshot.last_step]
  return of(earlier) === of(fresh) && before !== null && now !== null && before <= now
}

/** The facts for the certificate. A run that goes on logging is marked: its later rows need another fetch. */
function factsOf(state: FetchState, now: RunDetails, history: CertificateFacts['history'], synthetic: boolean): CertificateFacts {
  const { last_step: lastStep, history_line_count: lineCount, heartbeat_at: heartbeatAt, growing } = state.snapshot
  const changed = now.lastStep !== lastStep || now.lineCount !== lineCount || now.heartbeatAt !== heartbeatAt
  return {
    ...state,
    synthetic,
    history,
    run: { ...state.run, state: now.state },
    snapshot: { ...state.snapshot, growing: growing || changed || isGrowingState(now.state) }
  }
}

/** Reads the file back with the reader of histories, and hashes it. */
async function readBack(file: string, signal: AbortSignal | undefined): Promise<HistoryOnDisk> {
  const tally = new ByteTally()
  const chunks = fileChunks(file, signal === undefined ? {} : { signal })
  try {
    const { step } = await parseHistory(tallied(chunks, tally), { keys: STEP_KEYS, wanted: [] }, signal)
    return { bytes: tally.bytes, sha256: tally.sha256(), steps: step }
  } catch (error) {
    throw error instanceof Fault ? error.at({ file }) : error
  }
}

/** Path relative to the study. */
export function historyPath(folder: string, { label, id }: Pick<LabelledRun, 'label' | 'id'>): string {
  return `${folder}/${label}/${id}.jsonl`
}
