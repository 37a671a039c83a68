/** What `traces` says at its end: a table of the snapshots, sums, what was written, the verdict. */
import { posix } from 'node:path'
import type { SnapshotStatistics } from '../compute/traces/contract.js'
import { counted, formatCount } from '../core/counts.js'
import { printableId, type Fault } from '../core/errors.js'
import type { FigureFormat } from '../render/figures/config.js'
import { BATCH_INDEX } from '../render/outputs/output-names.js'
import { formatBytes } from '../render/terminal/numbers.js'
import { formatTable, type TableOptions } from '../render/terminal/table.js'
import type { WrittenIndex } from '../runs/batch-index.js'
import { batchCounts, type SnapshotResult } from '../runs/batch-result.js'
import type { ReadDump } from '../schema/samples.js'
import { outputsTable, toOpen, verdictLine, type ListedOutput } from './closing.js'
import { checksTable, leftNote, NOT_STATED, statisticsTables, valueText } from './summary.js'

export interface BatchSummary {
  readonly out: string
  readonly formats: readonly FigureFormat[]
  readonly verbose: boolean
  readonly exitCode: number
}

export function batchSummary(
  results: readonly SnapshotResult[],
  index: WrittenIndex | null,
  { out, formats, verbose, exitCode }: BatchSummary,
  table: TableOptions
): string {
  const [only] = results
  const single = results.length === 1 && only.statistics !== null ? `${statisticsTables(only.statistics, table)}\n` : ''
  const read = results.flatMap(({ plan, outcome }) =>
    plan === null || outcome?.dump == null ? [] : [{ name: plan.name, dump: outcome.dump }]
  )
  const dumps =
    results.length === 1
      ? read.map(({ dump }) => `${dumpText(dump, verbose)}\n`).join('')
      : read
          .filter(({ dump }) => dump.leftOut.length > 0)
          .map(({ name, dump }) => `${noteLine(`${name}: ${counted(dump.leftOut.length, 'row')} left out, as its index lists`)}\n`)
          .join('')
  const checks = single === '' || only.outcome === null ? '' : `${checksTable(only.outcome.checks, table)}\n`
  const samples = results.length === 1 && only.samples !== undefined ? `${samplesText(only.samples)}\n` : ''
  const { done, unchanged, failed } = batchCounts(results)
  const left = [...results.flatMap(r => r.left ?? []), ...(index?.left ?? [])]
  const outputs = results.flatMap(({ plan, outcome }) =>
    plan === null ? [] : (outcome?.outputs ?? []).map(({ path, bytes }) => ({ path: `${plan.name}/${path}`, bytes }))
  )
  const over = index?.outputs ?? []
  const parts = [
    `${counted(results.length, 'snapshot')}: ${formatCount(done)} done`,
    `${formatCount(unchanged)} unchanged`,
    `${formatCount(failed)} failed`
  ]
  return [
    `${single}${checks}${samples}${dumps}${batchTable(results, verbose, table)}`,
    single + samples === '' ? `\n${batchLine(results)}` : '\n',
    index === null || index.kept === 0 ? '' : `kept in the index: ${counted(index.kept, 'snapshot')} of earlier runs\n\n`,
    leftNote(left),
    writtenText(out, [...outputs, ...over], verbose || results.length === 1 ? { whole: verbose } : null, table),
    `index: ${posix.join(out, BATCH_INDEX)}\n`,
    verdictLine(exitCode, parts),
    toOpen(out, single === '' ? [...over, ...figuresOf(results, formats)] : figuresOf(results, formats))
  ].join('')
}

/** Figures of the snapshots, those of unchanged ones too. */
function figuresOf(results: readonly SnapshotResult[], formats: readonly FigureFormat[]): Array<{ readonly path: string }> {
  return results.flatMap(({ plan, status, samples }) =>
    plan === null || status === 'failed' || samples !== undefined
      ? []
      : formats.map(format => ({ path: `${plan.name}/figures/08-critic-traces.${format}` }))
  )
}

/** @param listed null: the outputs of many snapshots, in one line */
function writtenText(
  out: string,
  outputs: readonly ListedOutput[],
  listed: { readonly whole: boolean } | null,
  table: TableOptions
): string {
  if (outputs.length === 0) return ''
  if (listed !== null) return `${outputsTable(out, outputs, listed.whole, table)}\n`
  const bytes = outputs.reduce((sum, file) => sum + file.bytes, 0)
  return `written to ${printableId(out, 400)}: ${counted(outputs.length, 'file')}, ${formatBytes(bytes)} (--verbose lists them)\n`
}

/** In place of what is made of values. */
const NO_CRITIC = 'no values'

/** A dump without values: lengths, turns, outcomes, advantages, and what needs a critic. */
function samplesText(s: SampleSummary): string {
  const spread = (of: SampleSummary['tokens_per_sample'], what: string): string =>
    of === null ? `${what}: ${NOT_STATED}` : `${what}: ${formatCount(of.least)} to ${formatCount(of.most)}, mean ${valueText(of.mean, 6)}`
  const { success, failure, unknown } = s.outcomes
  const { all } = s.advantages
  return [
    `${s.kind}: ${counted(s.samples, 'sample')}, ${counted(s.tokens, 'retained token')} of ${formatCount(s.response_tokens)}` +
      `${s.steps === null ? ', steps unknown' : `, trainer steps ${formatCount(s.steps[0])}-${formatCount(s.steps[1])}`}` +
      `${s.left_out === 0 ? '' : `; ${counted(s.left_out, 'row')} left out`}`,
    spread(s.tokens_per_sample, 'tokens per sample'),
    spread(s.turns_per_sample, 'turns per sample'),
    success + failure === 0
      ? `outcomes: ${NOT_STATED}`
      : `outcomes: ${counted(success, 'success', 'successes')}, ${counted(failure, 'failure')}` +
        `${unknown === 0 ? '' : `, ${formatCount(unknown)} ${NOT_STATED}`}`,
    all === null ? `advantages: ${NOT_STATED}` : `advantages: mean ${valueText(all.mean, 6)}, standard deviation ${valueText(all.sd, 6)}`,
    `needs a critic: ${s.needs_a_critic.join(', ')}`,
    ...s.notes.map(noteLine),
    ''
  ].join('\n')
}

function noteLine(note: string): string {
  return `note: ${printableId(note, 400)}`
}

/** Most rows that are listed of those left out; `--verbose` lists all. */
const MOST_LEFT_OUT = 10

/** How a dump was read, and which of its rows gave no trace. */
function dumpText({ facts, leftOut }: ReadDump, verbose: boolean): string {
  const { kind, mask, end, notes } = facts
  const listed = verbose ? leftOut : leftOut.slice(0, MOST_LEFT_OUT)
  const more = leftOut.length - listed.length
  return [
    `${kind}; mask: ${mask === null ? 'none, every response token counts' : printableId(mask)}; end of a response: ${printableId(end)}`,
    ...notes.map(noteLine),
    ...(leftOut.length === 0 ? [] : [`left out: ${counted(leftOut.length, 'row')}`]),
    ...listed.map(({ index, reason }) => `  trace ${index}: ${printableId(reason, 400)}`),
    ...(more === 0 ? [] : [`  and ${formatCount(more)} more (--verbose lists them)`]),
    ''
  ].join('\n')
}

type SampleSummary = NonNullable<SnapshotResult['samples']>

/** Labels that belong to a snapshot's numbers. */
function notes(s: SnapshotStatistics | null): string[] {
  return [...(s?.synthetic === true ? ['SYNTHETIC'] : [])]
}

/** Most rows of a batch that a summary has, beside those that failed. */
const MAX_ROWS = 20

/**
 * One row a snapshot, with the reason of a failure.
 * @param whole false: of a long batch the first rows and every failure
 */
function batchTable(results: readonly SnapshotResult[], whole: boolean, options: TableOptions): string {
  let rows = 0
  const shown = results.filter(({ status }) => whole || status === 'failed' || ++rows <= MAX_ROWS)
  const more = results.length - shown.length
  const table = formatTable(
    [
      { title: 'snapshot' },
      { title: 'status' },
      { title: 'traces', align: 'right' },
      { title: 'tokens', align: 'right' },
      { title: 'success mean', align: 'right' },
      { title: 'failure mean', align: 'right' },
      { title: 'jump rate ratio', align: 'right' },
      ...(shown.some(({ status }) => status === 'failed') ? [{ title: 'reason' }] : [])
    ],
    shown.map(({ plan, status, statistics: s, samples, faults }) => [
      plan?.name ?? faults[0]?.place.file ?? '-',
      { text: [status, ...notes(s)].join(', '), tone: status === 'failed' ? 'bad' : 'good' },
      ...(s === null
        ? samples === undefined
          ? ['', '', '', '', '']
          : [formatCount(samples.samples), formatCount(samples.tokens), NO_CRITIC, NO_CRITIC, NO_CRITIC]
        : [formatCount(s.traces), formatCount(s.tokens), meanOf(s, 'success'), meanOf(s, 'failure'), valueText(s.jump_rate_ratio, 6)]),
      reasonOf(faults)
    ]),
    options
  )
  return more === 0 ? table : `${table}and ${counted(more, 'more snapshot')} (--verbose)\n`
}

function meanOf({ mean_values: means }: SnapshotStatistics, outcome: 'success' | 'failure'): string {
  const own = means.find(m => m.outcome === outcome)
  if (own !== undefined) return valueText(own.mean_value, 6)
  return means.every(m => m.outcome === 'unknown') ? NOT_STATED : 'none there'
}

/** What a fault says, without its place: the row names the snapshot. */
function reasonOf(faults: readonly Fault[]): string {
  const [first] = faults
  if (first === undefined) return ''
  const { format, problem, found } = first.details
  const more = faults.length > 1 ? ` (and ${formatCount(faults.length - 1)} more)` : ''
  return `${format} ${problem}${found === undefined ? '' : `: ${found}`}${more}`
}

/** Sums over the snapshots that did not fail. What no snapshot tells is not 0. */
function batchLine(results: readonly SnapshotResult[]): string {
  const known = results.flatMap(({ statistics }) => statistics ?? [])
  const bare = results.flatMap(({ samples }) => samples ?? [])
  if (known.length + bare.length === 0) return `traces and tokens: ${NOT_STATED}, every snapshot failed\n`
  const sum = (of: (s: SnapshotStatistics) => number): number => known.reduce((all, s) => all + of(s), 0)
  const means = known.flatMap(s => s.mean_values)
  const overall = (outcome: 'success' | 'failure'): string => {
    const own = means.filter(m => m.outcome === outcome)
    const tokens = own.reduce((all, m) => all + m.tokens, 0)
    if (known.length === 0) return NO_CRITIC
    if (tokens === 0) return means.every(m => m.outcome === 'unknown') ? NOT_STATED : 'none there'
    return valueText(own.reduce((all, m) => all + m.mean_value * m.tokens, 0) / tokens, 6)
  }
  return `${counted(
    sum(s => s.traces),
    'trace'
  )}, ${counted(
    sum(s => s.tokens),
    'token'
  )}; mean value of successes ${overall('success')}, of failures ${overall('failure')}\n`
}
