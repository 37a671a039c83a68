/**
 * The rows of one run into its file, and the certificate of the whole. What is there of an earlier, killed fetch of the same
 * run is gone on from: its journal knows which windows are on the disk.
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
import { historyWindows, type Ask } from './history.js'
import type { LabelledRun } from './listing.js'
import { RowExporter } from '../ingest/certificate/row.js'
import { OutputSet } from '../render/outputs/output-set.js'
import { ResumableFile } from './resumable-file.js'
import { SAMPLES_PER_REQUEST, STEPS_PER_REQUEST, type HistoryCertificate } from '../schema/fetch.js'

export interface RowsRequest {
  /** the study's folder, and the folder of its histories in it */
  readonly dir: string
  readonly folder: string
  readonly synthetic: boolean
  readonly run: LabelledRun
  /** the run as the server describes it now */
  readonly details: RunDetails
  /** the server: rows of another one are not gone on from */
  readonly server: string
  /** UTC */
  readonly time: string
  readonly ask: Ask
  /** the run as the server describes it once more */
  readonly describe: () => Promise<RunDetails>
  /** takes the number of rows that have come */
  readonly count: (rows: number) => void
  readonly signal?: AbortSignal | undefined
}

export interface FetchedRows {
  readonly certificate: HistoryCertificate
  readonly resumed: boolean
  /** the run after its last row was fetched */
  readonly now: RunDetails
}

/**
 * @returns the Fault of a row that cannot be kept, which ends this run alone; what came before it stays beside the history's place
 * @throws Fault of anything else; what has come stays too
 */
export async function fetchRows(request: RowsRequest): Promise<FetchedRows | Fault> {
  const { dir, folder, run, signal } = request
  const path = historyPath(folder, run)
  const fresh = freshState(request)
  const file = await ResumableFile.open(join(dir, path), state => isFetchState(state) && isSameFetch(state, fresh))
  try {
    const earlier = isFetchState(file.state) ? file.state : null
    const state = await fetchWindows(request, file, earlier ?? fresh)
    if (state instanceof Fault) {
      await file.close()
      return state
    }
    const now = await request.describe()
    // Read back before it has its name: a history that cannot be read never stands there.
    const onDisk = await readBack(await file.partial(), signal)
    const { bytes, sha256 } = await file.finish()
    const facts = factsOf(state, now, { path, bytes, sha256 }, request.synthetic)
    const certificate = certify(facts, onDisk)
    await OutputSet.writeAlone(dir, certificatePath(folder, run), certificateText(certificate))
    return { certificate, resumed: earlier !== null, now }
  } catch (error) {
    // What went wrong first is told; a journal that cannot be written either costs the next fetch some rows.
    await file.close().catch(() => undefined)
    throw error
  }
}

/** Appends one window after another, from where the state ends to the last step that was first seen, or to a row that is none. */
async function fetchWindows({ run, ask, count }: RowsRequest, file: ResumableFile, from: FetchState): Promise<FetchState | Fault> {
  const { entity, project, id } = run
  const { intervals } = from.requests
  count(intervals.reduce((sum, interval) => sum + interval.rows, 0))
  const rows = new RowExporter(from.left_out)
  let state = from
  const windows = historyWindows(ask, {
    entity, project, id, rows, from: (intervals.at(-1)?.to ?? -1) + 1, to: from.snapshot.last_step ?? -1
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

/** Whether a journal is of this run on this server; of a run that does not log any more, all that the server says must be the same. */
function isSameFetch(earlier: FetchState, fresh: FetchState): boolean {
  const of = ({ server, run: { state: _state, ...run }, snapshot }: FetchState): string => (
    JSON.stringify(isGrowingState(fresh.run.state) ? [server, run] : [server, run, { ...snapshot, growing: false }])
  )
  const [before, now] = [earlier.snapshot.last_step, fresh.snapshot.last_step]
  return of(earlier) === of(fresh) && before !== null && now !== null && before <= now
}

/** A run that logs on is marked: its later rows are another fetch's. */
function factsOf(
  state: FetchState, now: RunDetails, history: CertificateFacts['history'], synthetic: boolean
): CertificateFacts {
  const { last_step: lastStep, history_line_count: lineCount, heartbeat_at: heartbeatAt, growing } = state.snapshot
  const changed = now.lastStep !== lastStep || now.lineCount !== lineCount || now.heartbeatAt !== heartbeatAt
  return {
    ...state, synthetic, history, run: { ...state.run, state: now.state },
    snapshot: { ...state.snapshot, growing: growing || changed || isGrowingState(now.state) }
  }
}

/** The file's own word: parsed by the reader that the histories are read with, and hashed. */
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

/** Relative to the study. */
export function historyPath(folder: string, { label, id }: Pick<LabelledRun, 'label' | 'id'>): string {
  return `${folder}/${label}/${id}.jsonl`
}
