/** What `traces` says at its end: a table of the snapshots, sums, what was written, the verdict. */
import { posix } from 'node:path'
import type { SnapshotStatistics } from '../compute/traces/contract.js'
import { counted, formatCount } from '../core/counts.js'
import { printableId, type Fault } from '../core/errors.js'
import type { FigureFile } from '../render/figures/config.js'
import { BATCH_INDEX, EXPLORER_PAGE, SAMPLE_PATHS } from '../render/outputs/output-names.js'
import { formatBytes } from '../render/terminal/numbers.js'
import { formatTable, type TableOptions } from '../render/terminal/table.js'
import type { WrittenIndex } from '../runs/batch-index.js'
import { batchCounts, type SnapshotResult } from '../runs/batch-result.js'
import { exploreLine, outputsTable, toOpen, verdictLine, type ListedOutput } from './closing.js'
import { batchNotes, dumpText, samplesText } from './dump-summary.js'
import { checksTable, leftNote, NOT_STATED, statisticsTables, valueText } from './summary.js'

export interface BatchSummary {
  readonly out: string
  readonly formats: readonly FigureFile[]
  readonly verbose: boolean
  readonly exitCode: number
  /** what fails the command although no snapshot failed */
  readonly failed?: readonly Fault[]
}

export function batchSummary(
  results: readonly SnapshotResult[],
  index: WrittenIndex | null,
  { out, formats, verbose, exitCode, failed: judged = [] }: BatchSummary,
  table: TableOptions
): string {
  const [only] = results
  const single = results.length === 1 && only.statistics !== null ? `${statisticsTables(only.statistics, table)}\n` : ''
  const dumps =
    results.length > 1
      ? batchNotes(results, verbose)
      : results.map(({ dump }) => (dump == null ? '' : `${dumpText(dump, verbose)}\n`)).join('')
  const checks = single === '' || only.outcome === null ? '' : `${checksTable(only.outcome.checks, table)}\n`
  const samples = results.length === 1 && only.samples !== undefined ? `${samplesText(only.samples)}\n` : ''
  const { done, unchanged, failed } = batchCounts(results)
  const left = [...results.flatMap(r => r.left ?? []), ...(index?.left ?? [])]
  const outputs = results.flatMap(({ plan, outcome }) =>
    plan === null ? [] : (outcome?.outputs ?? []).map(({ path, bytes }) => ({ path: `${plan.name}/${path}`, bytes }))
  )
  const over = index?.outputs ?? []
  const parts = [
    ...new Set(judged.map(({ details: { format, problem } }) => `${format} ${problem}`)),
    `${counted(results.length, 'snapshot')}: ${formatCount(done)} done`,
    `${formatCount(unchanged)} unchanged`,
    `${formatCount(failed)} failed`
  ]
  return [
    `${single}${checks}${samples}${dumps}${batchTable(results, verbose, table)}`,
    single + samples === '' ? `\n${batchLine(results)}` : '\n',
    index === null || index.kept === 0 ? '' : keptText(index),
    leftNote(left),
    writtenText(out, [...outputs, ...over], verbose || results.length === 1 ? { whole: verbose } : null, table),
    `index: ${posix.join(out, BATCH_INDEX)}\n`,
    verdictLine(exitCode, parts),
    ...(single === ''
      ? [toOpen(out, [...over, ...figuresOf(results, formats), ...statisticsOf(results)])]
      : [toOpen(out, over), toOpen(out, figuresOf(results, formats))]),
    explorerText(out, results)
  ].join('')
}

/** Where to touch the traces: the first page of several, or the command that shows what no page holds. */
function explorerText(out: string, results: readonly SnapshotResult[]): string {
  const pages = results.flatMap(({ plan, explorer }) => (plan === null || explorer !== true ? [] : [`${plan.name}/${EXPLORER_PAGE}`]))
  const [first] = pages
  if (first !== undefined) return exploreLine(posix.join(out, first), pages.length - 1)
  return results.some(({ explorer }) => explorer === false)
    ? 'explore: too large for a page beside the outputs; explore PATH --serve shows it\n'
    : ''
}

function keptText({ kept, keptFailed }: WrittenIndex): string {
  const failed = keptFailed === 0 ? '' : `, ${formatCount(keptFailed)} of them failed`
  return `kept in the index: ${counted(kept, 'snapshot')} of earlier runs${failed}\n\n`
}

/** Figures of the snapshots, those of unchanged ones too. */
function figuresOf(results: readonly SnapshotResult[], formats: readonly FigureFile[]): Array<{ readonly path: string }> {
  return results.flatMap(({ plan, status, samples }) =>
    plan === null || status === 'failed' || samples !== undefined
      ? []
      : formats.map(format => ({ path: `${plan.name}/figures/08-critic-traces.${format}` }))
  )
}

/** Where there are only dumps without values: what to read in place of a figure. */
function statisticsOf(results: readonly SnapshotResult[]): Array<{ readonly path: string }> {
  if (results.some(({ statistics }) => statistics !== null)) return []
  return results.flatMap(({ plan, samples }) =>
    plan === null || samples === undefined ? [] : [{ path: `${plan.name}/${SAMPLE_PATHS.statistics}` }]
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

/** Labels that belong to a snapshot's numbers. */
function notes(s: SnapshotStatistics | null): string[] {
  return [...(s?.synthetic === true ? ['SYNTHETIC'] : [])]
}

/** Most rows of a batch that a summary has, beside those that failed. */
const MAX_ROWS = 20

/** Fewest cells of a line that has the reason of a failure beside the numbers; on a narrower one it stands below the table. */
const WIDTH_WITH_REASONS = 110

/**
 * One row a snapshot, with the reason of a failure.
 * @param whole false: of a long batch the first rows and every failure
 */
function batchTable(results: readonly SnapshotResult[], whole: boolean, options: TableOptions): string {
  let rows = 0
  const shown = results.filter(({ status }) => whole || status === 'failed' || ++rows <= MAX_ROWS)
  const more = results.length - shown.length
  const failed = shown.filter(({ status }) => status === 'failed')
  const beside = failed.length > 0 && (options.width ?? Infinity) >= WIDTH_WITH_REASONS
  const below = beside ? [] : failed.map(result => `${printableId(nameOf(result))}: ${printableId(reasonOf(result.faults), 400)}\n`)
  const table = formatTable(
    [
      { title: 'snapshot' },
      { title: 'status' },
      { title: 'traces', align: 'right' },
      { title: 'tokens', align: 'right' },
      { title: 'success mean', align: 'right' },
      { title: 'failure mean', align: 'right' },
      { title: 'jump rate ratio', align: 'right' },
      ...(beside ? [{ title: 'reason' }] : [])
    ],
    shown.map(({ status, statistics: s, samples, ...result }) => [
      nameOf(result),
      { text: [status, ...notes(s)].join(', '), tone: status === 'failed' ? 'bad' : 'good' },
      ...(s === null
        ? samples === undefined
          ? ['', '', '', '', '']
          : [formatCount(samples.samples), formatCount(samples.tokens), NO_CRITIC, NO_CRITIC, NO_CRITIC]
        : [formatCount(s.traces), formatCount(s.tokens), meanOf(s, 'success'), meanOf(s, 'failure'), valueText(s.jump_rate_ratio, 6)]),
      reasonOf(result.faults)
    ]),
    options
  )
  return [table, ...(more === 0 ? [] : [`and ${counted(more, 'more snapshot')} (--verbose)\n`]), ...below].join('')
}

function nameOf({ plan, faults }: Pick<SnapshotResult, 'plan' | 'faults'>): string {
  return plan?.name ?? faults[0]?.place.file ?? '-'
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

/** Sums over the snapshots that did not fail; dumps without values apart. What no snapshot tells is not 0. */
function batchLine(results: readonly SnapshotResult[]): string {
  const known = results.flatMap(({ statistics }) => statistics ?? [])
  const bare = results.flatMap(({ samples }) => samples ?? [])
  if (known.length + bare.length === 0) return `traces and tokens: ${NOT_STATED}, every snapshot failed\n`
  const samples = counted(total(bare, 'samples'), 'sample')
  const without = bare.length === 0 ? [] : [`without values: ${samples}, ${counted(total(bare, 'tokens'), 'token')}`]
  return `${[...(known.length === 0 ? [] : [tracesText(known)]), ...without].join('; ')}\n`
}

function tracesText(known: readonly SnapshotStatistics[]): string {
  const means = known.flatMap(s => s.mean_values)
  const overall = (outcome: 'success' | 'failure'): string => {
    const own = means.filter(m => m.outcome === outcome)
    const tokens = total(own, 'tokens')
    if (tokens === 0) return means.every(m => m.outcome === 'unknown') ? NOT_STATED : 'none there'
    return valueText(own.reduce((all, m) => all + m.mean_value * m.tokens, 0) / tokens, 6)
  }
  return (
    `${counted(total(known, 'traces'), 'trace')}, ${counted(total(known, 'tokens'), 'token')}; ` +
    `mean value of successes ${overall('success')}, of failures ${overall('failure')}`
  )
}

function total<K extends string>(of: ReadonlyArray<{ readonly [key in K]: number }>, key: K): number {
  return of.reduce((sum, one) => sum + one[key], 0)
}
