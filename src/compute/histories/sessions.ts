/**
 * Sessions of a selection. The runs are put in order, and each run is cut where its step does not increase from one row
 * to the next. The same rule covers a restart inside a file, a repeated step and a step that goes back: the rows that
 * follow are a new session of the same run.
 *
 * Order of runs (total): by createdAt with all its digits; then by the first timestamp in the run's rows, where a run
 * without one comes last; then by the run id in code units.
 *
 * Order of sessions: by their start; then in the order of runs. A run's first session starts at the run's creation. A
 * later session starts at the first timestamp of its rows. The sessions of one run stay in the order of its file: a
 * session without a timestamp, or with one before the start of the session before it, gets that session's start.
 */
import { Fault, printableId } from '../../core/errors.js'
import { compareCreation, compareInstants, createdInstant, instantOf, type Instant } from '../../ingest/histories/iso-time.js'
import type { RunHistory } from '../../ingest/histories/types.js'
import type { Rollback, SelectionHistory, Session, Tie } from './contract.js'
import { compareText } from './selection.js'
import { lowerBound, missingSteps, type MissingSteps } from './steps.js'

/** Rows [from, to) of a history: one session. */
export interface Stretch {
  readonly history: RunHistory
  readonly from: number
  readonly to: number
  readonly start: Instant
  /** `start` rounded to a double, in seconds */
  readonly starts: number
  readonly isUnplaced: boolean
  readonly firstTimestamp: number | null
}

/** Number of rows that W&B's API returns for a history by default: a random sample of the real rows. */
const DEFAULT_SAMPLE = 500
/** Ten years in seconds. A timestamp later than this after the run's creation must have another unit. */
const LONG_AFTER = 10 * 365.25 * 86_400
/** Largest number of missing steps that a session lists. */
const LISTED_HOLES = 10
/** With more sessions than this in one file, its step key is not a step. */
const MAX_SESSIONS = 100_000

export function orderHistories(histories: readonly RunHistory[]): RunHistory[] {
  return histories
    .map(history => ({ history, first: firstTimestamp(history) }))
    .sort(
      (a, b) =>
        compareCreation(a.history.run, b.history.run) || compareNumbers(a.first, b.first) || compareText(a.history.run.id, b.history.run.id)
    )
    .map(({ history }) => history)
}

/** The groups of ordered histories whose order `createdAt` alone does not decide. */
export function tiesOf(ordered: readonly RunHistory[]): Tie[] {
  const ties: Tie[] = []
  for (let from = 0, to = 0; from < ordered.length; from = to) {
    while (to < ordered.length && compareCreation(ordered[to].run, ordered[from].run) === 0) to++
    if (to - from === 1) continue
    const group = ordered.slice(from, to)
    const times = new Set(group.map(firstTimestamp)).size
    const decidedBy = times === group.length ? 'first timestamp' : times === 1 ? 'run id' : 'first timestamp, then run id'
    ties.push({ runs: group.map(({ run }) => run.id), decidedBy })
  }
  return ties
}

/** The distinct pairs of entity and project of ordered histories, as listed. */
export function ownersOf(ordered: readonly RunHistory[]): SelectionHistory['owners'] {
  return [
    ...new Map(ordered.map(({ run: { entity, project } }) => [JSON.stringify([entity, project]), [entity, project] as const])).values()
  ]
}

/**
 * The ordered sessions of ordered histories. A history without rows gives one stretch without rows.
 * @throws Fault (exit 3) where the steps go back too often
 */
export function stretchesOf(ordered: readonly RunHistory[]): Stretch[] {
  // The sort is stable: sessions with equal starts stay in the order of runs, and of rows within a run.
  return ordered.flatMap(cut).sort((a, b) => a.starts - b.starts || compareInstants(a.start, b.start))
}

function cut(history: RunHistory): Stretch[] {
  const stretches: Stretch[] = []
  const add = (from: number, to: number): void => {
    const stated = history.timestamp.subarray(from, to).find(Number.isFinite)
    const before = stretches.at(-1)?.start
    const own = before === undefined ? createdInstant(history.run) : stated === undefined ? before : instantOf(stated)
    const start = before !== undefined && compareInstants(own, before) < 0 ? before : own
    stretches.push({
      history,
      from,
      to,
      start,
      starts: Number(`${start.units}e-${start.digits}`),
      isUnplaced: before !== undefined && stated === undefined,
      firstTimestamp: stated ?? null
    })
  }
  let from = 0
  for (let i = 1; i < history.rows; i++) {
    if (history.step[i] > history.step[i - 1]) continue
    add(from, i)
    from = i
    if (stretches.length === MAX_SESSIONS) throw tooManySessions(history, i)
  }
  add(from, history.rows)
  return stretches
}

/** For each stretch, the number of rows at or above the first step of a later stretch of the same run. */
function goneBackOver(stretches: readonly Stretch[]): number[] {
  const least = new Map<RunHistory, number>()
  return stretches
    .toReversed()
    .map(({ history, from, to }) => {
      const next = least.get(history) ?? Infinity
      if (to > from) least.set(history, Math.min(next, history.step[from]))
      return to - from - lowerBound(history.step.subarray(from, to), next)
    })
    .reverse()
}

export function describeSessions(stretches: readonly Stretch[]): Session[] {
  const holes = new Map<RunHistory, MissingSteps>()
  for (const { history } of stretches) if (!holes.has(history)) holes.set(history, holesOf(history))
  const lost = goneBackOver(stretches)
  return stretches.map(({ history, from, to, starts, isUnplaced, firstTimestamp }, k) => {
    const runHoles = holes.get(history) ?? NO_HOLES
    const { run, step, timestamp, globalStep, unusableGlobalSteps: unusable } = history
    let rowsWithoutTimestamp = 0
    let rowsBeforeCreation = 0
    let rowsLongAfterCreation = 0
    let rowsWithFractionalGlobalStep = 0
    let firstFractionalGlobalStep: number | null = null
    let firstLongAfterCreation: number | null = null
    for (let i = from; i < to; i++) {
      if (!Number.isFinite(timestamp[i])) rowsWithoutTimestamp++
      else if (timestamp[i] < run.createdSeconds) rowsBeforeCreation++
      else if (timestamp[i] > run.createdSeconds + LONG_AFTER) {
        firstLongAfterCreation ??= timestamp[i]
        rowsLongAfterCreation++
      }
      if (Number.isFinite(globalStep[i]) && !Number.isInteger(globalStep[i])) {
        firstFractionalGlobalStep ??= globalStep[i]
        rowsWithFractionalGlobalStep++
      }
    }
    return {
      run: run.id,
      createdAt: run.createdAt,
      state: run.state,
      url: run.url,
      config: run.config,
      leftOut: run.leftOut === undefined || run.leftOut.unnamed + run.leftOut.withheld === 0 ? null : run.leftOut,
      rows: to - from,
      firstStep: to > from ? step[from] : null,
      lastStep: to > from ? step[to - 1] : null,
      starts,
      rowsGoneBackOver: lost[k],
      isUnplaced,
      firstTimestamp,
      holes: missingSteps(step, from, to, LISTED_HOLES),
      runHoles,
      rowsWithoutTimestamp,
      rowsWithUnusableGlobalStep: lowerBound(unusable, to) - lowerBound(unusable, from),
      rowsWithFractionalGlobalStep,
      firstFractionalGlobalStep,
      rowsBeforeCreation,
      rowsLongAfterCreation,
      firstLongAfterCreation,
      looksSampled: whySampled(history, runHoles)
    }
  })
}

/**
 * A rollback reaches from a session's first step to the last step logged before it, where the first is not above the
 * last. The last step is that of the nearest earlier session with rows, because steps beyond it were rolled back
 * before.
 */
export function rollbacksOf(sessions: readonly Session[]): Rollback[] {
  const rollbacks: Rollback[] = []
  let last: number | null = null
  sessions.forEach((session, k) => {
    if (session.firstStep === null) return
    if (last !== null && session.firstStep <= last) {
      rollbacks.push({ session: k, run: session.run, steps: [session.firstStep, last] })
    }
    last = session.lastStep
  })
  return rollbacks
}

function compareNumbers(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function firstTimestamp(history: RunHistory): number {
  return history.timestamp.find(Number.isFinite) ?? Infinity
}

/**
 * Recognizes a history with exactly as many rows as a default sample and with missing steps between them. A complete
 * export may have the same length, so the result is only a warning. A sample of another size cannot be distinguished
 * from a sparse log and is not looked for.
 */
function whySampled({ rows }: RunHistory, { count }: MissingSteps): string | null {
  return rows !== DEFAULT_SAMPLE || count === 0
    ? null
    : `exactly ${DEFAULT_SAMPLE} rows with ${count} steps missing between them, as in a default sampled export`
}

const NO_HOLES: MissingSteps = { count: 0, first: [] }

/**
 * Steps between the run's lowest and highest step that no session of the run logged. A restart may log steps that the
 * session before it left out.
 */
function holesOf({ step }: RunHistory): MissingSteps {
  const sorted = step.toSorted()
  let distinct = 0
  for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[distinct++] = sorted[i]
  return missingSteps(sorted, 0, distinct, LISTED_HOLES)
}

function tooManySessions(history: RunHistory, index: number): Fault {
  return new Fault({
    format: 'history',
    problem: 'steps go back or repeat too often',
    found: `${MAX_SESSIONS} times in run ${printableId(history.run.id)}`,
    expected: 'steps that increase within a session: is the step key right?',
    place: { file: history.file.path, index }
  })
}
