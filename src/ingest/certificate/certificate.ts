/**
 * The proof that an exported history is whole. It is computed from the file itself, read back, and from what the server
 * stated before the first row was requested. The same function judges after a fetch and at every verification.
 *
 * It shows that the export is what the server counted. It cannot show that the server has everything that was logged.
 */
import { SAMPLES_PER_REQUEST, STEPS_PER_REQUEST } from '../../schema/fetch.js'
import type { CertificateCheck, CertificateCheckName, HistoryCertificate } from './fields.js'
import { firstDisorder, nameRanges, summariseSteps } from './steps.js'

/** The facts of a certificate, without what is judged from them. */
export type CertificateFacts = Omit<HistoryCertificate, 'schema' | 'schema_version' | 'steps' | 'checks' | 'complete'>

/** The history's file as it was read back. */
export interface HistoryOnDisk {
  readonly bytes: number
  readonly sha256: string
  /** in the order of the rows */
  readonly steps: Float64Array
}

type CheckVerdict = readonly [status: CertificateCheck['status'], detail: string | null]

const PASSED: CheckVerdict = ['passed', null]

export function certify(facts: CertificateFacts, found: HistoryOnDisk): HistoryCertificate {
  const steps = summariseSteps(found.steps)
  const judged: Readonly<Record<CertificateCheckName, CheckVerdict>> = {
    history_file: judgeFile(facts, found),
    intervals: judgeIntervals(facts, found),
    order: judgeOrder(found),
    last_step: judgeLastStep(facts, steps.last_step),
    row_count: judgeCount(facts, steps),
    samples: judgeSamples(facts)
  }
  const checks = Object.entries(judged).map(([name, [status, detail]]) => ({ name: name as CertificateCheckName, status, detail }))
  const { synthetic, server, run, fetched_at, snapshot, history, requests, left_out } = facts
  return {
    schema: 'history-certificate',
    schema_version: 1,
    synthetic,
    server,
    run,
    fetched_at,
    snapshot,
    history,
    requests,
    steps,
    left_out,
    checks,
    complete: checks.every(c => c.status !== 'failed')
  }
}

function judgeFile({ history }: CertificateFacts, { bytes, sha256 }: HistoryOnDisk): CheckVerdict {
  if (history.sha256 === sha256 && history.bytes === bytes) return PASSED
  return ['failed', `the file is ${sha256}, ${bytes} bytes, not ${history.sha256}, ${history.bytes} bytes`]
}

/**
 * The intervals cover 0 to the last step without a gap, and the file has the rows of each. One of more than 100 steps passes
 * where the file has as many rows as the server counts: nothing is missing then.
 */
function judgeIntervals({ snapshot, requests }: CertificateFacts, { steps }: HistoryOnDisk): CheckVerdict {
  const { intervals } = requests
  const isCounted = steps.length === snapshot.history_line_count
  let next = 0
  for (const { from, to } of intervals) {
    if (from !== next)
      return ['failed', from > next ? `steps ${next} to ${from - 1} were not asked for` : `steps from ${from} were asked for twice`]
    if (to < from || (to - from >= STEPS_PER_REQUEST && !isCounted))
      return ['failed', `steps ${from} to ${to} in one request, at most ${STEPS_PER_REQUEST} where the count of rows is not the server's`]
    next = to + 1
  }
  const last = snapshot.last_step ?? -1
  if (next !== last + 1) return ['failed', `steps asked for end at ${next - 1}, not at ${last}`]
  const sorted = Float64Array.from(steps).sort()
  let row = 0
  for (const { from, to, rows } of intervals) {
    const start = row
    while (row < sorted.length && sorted[row] <= to) row++
    if (row - start !== rows) return ['failed', `${row - start} rows of steps ${from} to ${to} in the file, ${rows} came`]
  }
  return row === sorted.length ? PASSED : ['failed', `step ${sorted[row]} is beyond the last one, ${last}`]
}

function judgeOrder({ steps }: HistoryOnDisk): CheckVerdict {
  const at = firstDisorder(steps)
  return at < 0 ? PASSED : ['failed', `step ${steps[at]} in row ${at + 1} comes after step ${steps[at - 1]}`]
}

function judgeLastStep({ snapshot }: CertificateFacts, found: number | null): CheckVerdict {
  if (snapshot.last_step === found) return PASSED
  return [
    'failed',
    `the last row is of ${found === null ? 'no step' : `step ${found}`}, the run's last step is ${snapshot.last_step ?? 'none'}`
  ]
}

function judgeCount({ snapshot }: CertificateFacts, steps: HistoryCertificate['steps']): CheckVerdict {
  const { history_line_count: expected, last_step: last } = snapshot
  if (expected === null) return ['failed', 'the server does not say how many rows there are']
  if (steps.rows === expected) return PASSED
  const counted = `${steps.rows} rows, the server counts ${expected}`
  return ['failed', `${counted}; ${doubtful(steps, last)}`]
}

/** Names the steps where rows are missing or surplus. */
function doubtful({ rows, first_step: first, holes, repeated }: HistoryCertificate['steps'], last: number | null): string {
  if (rows === 0) return `no step from 0 to ${last ?? 0} has a row`
  const missing = first !== null && first > 0 ? [[0, first - 1] as const, ...holes] : holes
  const words = [
    ...(missing.length > 0 ? [`steps without a row: ${nameRanges(missing)}`] : []),
    ...(repeated.length > 0 ? [`steps with several rows: ${nameRanges(repeated.map(({ step }) => [step, step]))}`] : [])
  ]
  return words.length > 0 ? words.join('; ') : `every step from 0 to ${last ?? 0} has one row`
}

/** An answer with as many rows as the sample limit, or more, may be a sample of more rows. */
function judgeSamples({ requests }: CertificateFacts): CheckVerdict {
  const full = requests.intervals.filter(({ rows }) => rows >= SAMPLES_PER_REQUEST)
  if (full.length === 0) return PASSED
  return [
    'failed',
    `an answer at its limit of ${SAMPLES_PER_REQUEST} rows, which may be a sample: steps ${nameRanges(full.map(f => [f.from, f.to]))}`
  ]
}
