/** What a fetch tells on the terminal and in its report. */
import { printable, printableId, type Fault } from '../core/errors.js'
import type { FetchOutcome } from '../fetch/fetch.js'
import type { StoppedRun } from '../fetch/fetch-run.js'
import type { LeftOutKinds } from '../ingest/certificate/fields.js'
import { isGrowingState } from '../ingest/certificate/states.js'
import { counted, formatCount } from '../core/counts.js'
import { formatTable, type TableOptions } from '../render/terminal/table.js'

/** Most names in a message, and most characters of a name in the table. */
const MAX_NAMED = 8
const MAX_NAME = 40

const COLUMNS = [
  { title: 'label' },
  { title: 'run' },
  { title: 'state' },
  { title: 'rows', align: 'right' },
  { title: 'steps', align: 'right' },
  { title: 'holes', align: 'right' },
  { title: 'history' },
  { title: 'certificate' }
] as const

/** The table of the fetched runs, and what a reader should know of them. */
export function fetchTable(outcome: FetchOutcome, options: TableOptions): string {
  const table = formatTable(
    COLUMNS,
    outcome.runs.map(({ certificate: { run, steps, snapshot }, status, faults }) => [
      printable(run.label, MAX_NAME),
      printableId(run.id, MAX_NAME),
      printable(run.state, MAX_NAME),
      formatCount(steps.rows),
      steps.first_step === null ? 'none' : `${formatCount(steps.first_step)} to ${formatCount(steps.last_step ?? 0)}`,
      formatCount(steps.holes.reduce((sum, [from, to]) => sum + to - from + 1, 0)),
      status,
      faults.length > 0 ? 'INCOMPLETE' : snapshot.growing ? 'so far' : 'complete'
    ]),
    options
  )
  return `${table}${notes(outcome)
    .map(line => `${line}\n`)
    .join('')}`
}

function notes(outcome: FetchOutcome): string[] {
  const { runs, notChosen, leftOut, unlisted, replaced } = outcome
  const growing = runs.filter(run => run.certificate.snapshot.growing)
  return [
    ...growing.map(
      ({ entry, certificate: { snapshot, run } }) =>
        `${isGrowingState(run.state) ? 'still growing' : 'grown meanwhile'}: ${printableId(entry.id)}, taken up to step ` +
        `${snapshot.last_step === null ? 'none' : formatCount(snapshot.last_step)}; a fetch after it has logged again takes it anew`
    ),
    ...outcome.stopped.map(stopped => stoppedLine(stopped)),
    ...(notChosen.length === 0 ? [] : [`not asked for this time: ${idList(notChosen)}`]),
    ...(leftOut.length === 0 ? [] : [`not fetched, as their ids say: ${idList(leftOut)}`]),
    ...leftOutLines(outcome),
    ...excludedLines(outcome),
    ...(unlisted === 0 ? [] : [`not listed: ${counted(unlisted, 'run')} of other names, too many`]),
    ...replaced.map(
      ({ id, label, displayName }) =>
        `no longer listed: ${printableId(id)} (${printable(displayName)}) under ${printable(label)}, which the study does not fetch; its files there are to be removed`
    ),
    ...runs.flatMap(({ certificate: { requests }, entry, status }) =>
      requests.reordered === 0 || status === 'unchanged'
        ? []
        : [`sorted: ${counted(requests.reordered, 'answer')} of ${printableId(entry.id)} with rows out of order`]
    ),
    ...runs.flatMap(({ narrowed, entry }) =>
      narrowed ? [`asked for again: ${printableId(entry.id)} in windows of 100 steps, since wide ones did not give every row`] : []
    ),
    ...runs.flatMap(({ entry, withheld }) =>
      withheld.map(({ name, reason }) => `not kept of ${printableId(entry.id)}: ${printable(name)} (${reason})`)
    )
  ]
}

function stoppedLine({ run, fault }: StoppedRun): string {
  const { problem } = fault.details
  return `stopped: ${printableId(run.id)} of ${printable(`${run.entity}/${run.project}`)}, ${problem}; the next fetch asks for it again`
}

function idList(runs: ReadonlyArray<{ readonly id: string }>): string {
  const more = runs.length > MAX_NAMED ? ` and ${counted(runs.length - MAX_NAMED, 'more run')}` : ''
  return `${runs
    .slice(0, MAX_NAMED)
    .map(({ id }) => printableId(id))
    .join(', ')}${more}`
}

const KINDS: ReadonlyArray<readonly [kind: keyof LeftOutKinds, singular: string]> = [
  ['objects', 'object (media, histograms, nested values)'],
  ['lists', 'list'],
  ['texts', 'text'],
  ['flags', 'flag']
]

/** One line for all runs: histories hold numbers, and what else was logged is left out of them. */
function leftOutLines({ runs }: FetchOutcome): string[] {
  const sums = KINDS.map(([kind, singular]) => [runs.reduce((sum, run) => sum + run.certificate.left_out[kind], 0), singular] as const)
  const named = sums.filter(([count]) => count > 0).map(([count, singular]) => plural(count, singular))
  if (named.length === 0) return []
  const concerned = runs.filter(({ certificate }) => KINDS.some(([kind]) => certificate.left_out[kind] > 0)).length
  return [`left out of the rows of ${counted(concerned, 'run')}: ${named.join(', ')}`]
}

function plural(count: number, singular: string): string {
  const [word, ...rest] = singular.split(' ')
  return [counted(count, word), ...rest].join(' ')
}

function excludedLines({ excluded }: FetchOutcome): string[] {
  const names = [...new Set(excluded.map(run => run.displayName))]
  if (names.length === 0) return []
  const named = names
    .slice(0, MAX_NAMED)
    .map(name => printable(name))
    .join(', ')
  const more = names.length > MAX_NAMED ? ` and ${counted(names.length - MAX_NAMED, 'more name')}` : ''
  return [`listed, not fetched: ${counted(excluded.length, 'run')} of ${counted(names.length, 'name')}: ${named}${more}`]
}

/** The outcome as `--json` prints it. */
export function fetchReport(outcome: FetchOutcome, dir: string, faults: readonly Fault[], files: object): object {
  const { runs, stopped, notChosen, leftOut, excluded, unlisted, replaced, lists } = outcome
  return {
    study: dir,
    runs: runs.map(({ certificate, status, withheld }) => ({
      label: certificate.run.label,
      id: certificate.run.id,
      status,
      rows: certificate.steps.rows,
      complete: certificate.complete,
      growing: certificate.snapshot.growing,
      left_out: certificate.left_out,
      withheld
    })),
    stopped: stopped.map(({ run: { id, label }, fault }) => ({ label, id, fault: fault.message })),
    not_chosen: notChosen.map(({ id, label }) => ({ label, id })),
    left_out_runs: leftOut.map(({ id, label }) => ({ label, id })),
    excluded: excluded.map(({ id, displayName, label }) => ({ id, display_name: displayName, label })),
    unlisted,
    replaced: replaced.map(({ id, displayName, label }) => ({ id, display_name: displayName, label })),
    lists,
    ...files,
    faults: faults.map(f => f.message)
  }
}
