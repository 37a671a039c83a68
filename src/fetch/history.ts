/**
 * The rows of a run, asked for in windows of steps: at most 100 possible steps a request and more samples than rows, so
 * that the server picks none at random. Windows are asked for ahead of their turn, and handed on in order.
 *
 * An empty answer is not the end: what ends a history is its last step.
 */
import { EXIT, Fault, printableId } from '../core/errors.js'
import { SAMPLES_PER_REQUEST, STEPS_PER_REQUEST, type FetchedInterval } from '../schema/fetch.js'
import { nameOf, readHistoryRows, type ProjectName } from './answers.js'
import { HISTORY_QUERY } from './queries.js'
import type { ExportedRow, RowExporter } from '../ingest/certificate/row.js'

/** Sends a query; answers its `data`. `what` says in messages what was asked for. */
export type Ask = (query: string, variables: Readonly<Record<string, unknown>>, what: string) => Promise<unknown>

/** Answers that wait for their turn: the client sends no more at a time than this either. */
const AHEAD = 4

export interface HistoryWindow extends FetchedInterval {
  /** lines in the order of their steps, each with its end */
  readonly text: string
  /** the answer had another order */
  readonly reordered: boolean
}

export interface WindowRequest extends ProjectName {
  readonly id: string
  /** first step that is asked for */
  readonly from: number
  /** last one, inclusive */
  readonly to: number
  /** takes the rows in order, and counts what is left out of them */
  readonly rows: RowExporter
}

/**
 * The windows in order. A Fault in place of one is the last: of a row that is none (exit 3), outside its window, or there
 * twice (exit 1); it concerns this run alone.
 *
 * @throws Fault exit 3: an answer that is none, which concerns every run
 */
export async function* historyWindows(ask: Ask, request: WindowRequest): AsyncGenerator<HistoryWindow | Fault, void, undefined> {
  const underWay: Array<{ readonly from: number; readonly to: number; readonly answer: Promise<unknown> }> = []
  let next = request.from
  const askAhead = (): void => {
    while (underWay.length < AHEAD && next <= request.to) {
      const from = next
      const to = Math.min(from + STEPS_PER_REQUEST - 1, request.to)
      const answer = askFor(ask, request, from, to)
      // It is awaited in its turn; until then a failure is nobody's.
      answer.catch(() => undefined)
      underWay.push({ from, to, answer })
      next = to + 1
    }
  }
  askAhead()
  for (let window = underWay.shift(); window !== undefined; window = underWay.shift()) {
    const { from, to, answer } = window
    const raw = readHistoryRows(await answer, request, request.id)
    askAhead()
    const rows = exportedOrFault(raw, from, to, request)
    yield rows
    if (rows instanceof Fault) return
  }
}

function askFor(ask: Ask, { entity, project, id }: WindowRequest, from: number, to: number): Promise<unknown> {
  const variables = { entity, project, run: id, minStep: from, maxStep: to + 1, samples: SAMPLES_PER_REQUEST }
  return ask(HISTORY_QUERY, variables, `steps ${from} to ${to} of run ${id}`)
}

function exportedOrFault(raw: readonly string[], from: number, to: number, request: WindowRequest): HistoryWindow | Fault {
  try {
    return exported(raw, from, to, request)
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

function exported(raw: readonly string[], from: number, to: number, request: WindowRequest): HistoryWindow {
  const where = `run ${printableId(request.id)} of ${nameOf(request)}, steps ${from} to ${to}`
  const rows = raw.map((text, i): ExportedRow => {
    try {
      return request.rows.read(text)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      const { found = '', ...details } = error.details
      throw new Fault({ ...details, format: 'wandb', found: `${found.replace(/ on line 1$/, '')} in row ${i + 1} of ${where}` })
    }
  })
  for (const { step } of rows) {
    if (step >= from && step <= to) continue
    throw new Fault({
      format: 'wandb', problem: 'row outside its window', found: `step ${step}`, expected: `a step that was asked for (${where})`,
      exitCode: EXIT.checkFailed
    })
  }
  // By all that it logs, also what is not exported: several rows of one step are legal.
  const texts = new Set<string>()
  for (const [i, text] of raw.entries()) {
    if (texts.has(text)) {
      throw new Fault({
        format: 'wandb', problem: 'row stands twice', found: `step ${rows[i].step}`, expected: `each row once (${where})`, exitCode: EXIT.checkFailed
      })
    }
    texts.add(text)
  }
  const reordered = rows.some(({ step }, i) => i > 0 && step < rows[i - 1].step)
  if (reordered) rows.sort((a, b) => a.step - b.step)
  return { from, to, rows: rows.length, text: rows.map(({ line }) => `${line}\n`).join(''), reordered }
}
