/**
 * Requests the rows of a run in windows of steps: 100 where rows are dense, more where they are sparse (`widths.ts`). A request
 * asks for more samples than rows, so that the server does not sample at random. A wide window whose answer is at its limit is
 * asked for again in parts. Windows are requested ahead and yielded in order.
 *
 * An empty answer does not end a history; only its last step does.
 */
import { EXIT, Fault, printableId } from '../core/errors.js'
import type { FetchedInterval } from '../ingest/certificate/fields.js'
import { SAMPLES_PER_REQUEST } from '../schema/fetch.js'
import { projectPath, readHistoryRows, type ProjectName } from './answers.js'
import { HISTORY_QUERY } from './queries.js'
import type { ExportedRow, RowExporter } from '../ingest/certificate/row.js'
import { narrower, type WindowWidths } from './widths.js'

/** Sends a query and returns its `data`. @param what the subject of the query, for messages */
export type Ask = (query: string, variables: Readonly<Record<string, unknown>>, what: string) => Promise<unknown>

/** Most answers that wait for their turn, but for the parts of a wide window. The client sends no more requests at a time. */
export const AHEAD = 4

export interface HistoryWindow extends FetchedInterval {
  /** lines in the order of their steps, each with its end */
  readonly text: string
  /** true if the rows of the answer were not in order */
  readonly reordered: boolean
}

export interface WindowRequest extends ProjectName {
  readonly id: string
  /** first step of the request */
  readonly from: number
  /** last step, inclusive */
  readonly to: number
  /** reads the rows in order, and counts what is left out of them */
  readonly rows: RowExporter
  readonly widths: WindowWidths
}

interface AskedWindow {
  readonly from: number
  readonly to: number
  readonly answer: Promise<unknown>
}

/**
 * Yields the windows in order. A Fault takes the place of the last window if a row is malformed (exit 3), outside its
 * window or repeated (exit 1). It concerns this run only.
 *
 * @throws Fault exit 3: an answer of another shape, which concerns every run
 */
export async function* historyWindows(ask: Ask, request: WindowRequest): AsyncGenerator<HistoryWindow | Fault, void, undefined> {
  const { widths } = request
  const underWay: AskedWindow[] = []
  let next = request.from
  const begin = (from: number, to: number): AskedWindow => {
    const answer = askFor(ask, request, from, to)
    // The promise is awaited in its turn; until then its rejection must count as handled.
    answer.catch(() => undefined)
    return { from, to, answer }
  }
  const askAhead = (): void => {
    while (underWay.length < AHEAD && next <= request.to) {
      const to = Math.min(next + widths.next - 1, request.to)
      underWay.push(begin(next, to))
      next = to + 1
    }
  }
  askAhead()
  for (let window = underWay.shift(); window !== undefined; window = underWay.shift()) {
    const { from, to, answer } = window
    const raw = readHistoryRows(await answer, request, request.id)
    const parts = narrower(window, raw.length)
    if (parts !== null) {
      underWay.unshift(...parts.map(part => begin(part.from, part.to)))
      continue
    }
    widths.saw(window, raw.length)
    askAhead()
    const rows = exportedOrFault(raw, from, to, request)
    yield rows
    if (rows instanceof Fault) return
  }
}

function askFor(ask: Ask, { entity, project, id }: WindowRequest, from: number, to: number): Promise<unknown> {
  const variables = { entity, project, run: id, minStep: from, maxStep: to + 1, samples: SAMPLES_PER_REQUEST }
  return ask(HISTORY_QUERY, variables, `steps ${from} to ${to} of run ${id} of ${projectPath({ entity, project })}`)
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
  const where = `run ${printableId(request.id)} of ${projectPath(request)}, steps ${from} to ${to}`
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
      format: 'wandb',
      problem: 'row outside its window',
      found: `step ${step}`,
      expected: `a step that was asked for (${where})`,
      exitCode: EXIT.checkFailed
    })
  }
  // Rows are compared by their whole text, which includes values that are not exported: one step may have several rows.
  const texts = new Set<string>()
  for (const [i, text] of raw.entries()) {
    if (texts.has(text)) {
      throw new Fault({
        format: 'wandb',
        problem: 'row stands twice',
        found: `step ${rows[i].step}`,
        expected: `each row once (${where})`,
        exitCode: EXIT.checkFailed
      })
    }
    texts.add(text)
  }
  const reordered = rows.some(({ step }, i) => i > 0 && step < rows[i - 1].step)
  if (reordered) rows.sort((a, b) => a.step - b.step)
  return { from, to, rows: rows.length, text: rows.map(({ line }) => `${line}\n`).join(''), reordered }
}
