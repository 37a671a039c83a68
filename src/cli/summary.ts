/** Tables and lines that a finished command prints on standard output. */
import type { PooledChanges, SnapshotStatistics } from '../compute/traces/contract.js'
import type { CheckReport } from '../compute/traces/expectations.js'
import type { ManifestReport } from '../study/manifest.js'
import type { CertificateReport } from '../ingest/certificate/verify.js'
import { printableId } from '../core/errors.js'
import { counted, formatCount } from '../core/counts.js'
import { formatTable, type TerminalCell, type TableOptions } from '../render/terminal/table.js'

export const NONE = 'undefined'

/** A double of the statistics file, rounded for reading to ten significant digits. */
export function valueText(x: number | null, digits = 10): string {
  return x === null ? NONE : formatCount(Number(x.toPrecision(digits)))
}

function percent(x: number | null): string {
  return x === null ? NONE : `${valueText(x * 100, 9)} %`
}

export function stepsText(first: number, last: number): string {
  return `${formatCount(first)}-${formatCount(last)}`
}

/** `trainer step 12`, `trainer steps 1-40`, `steps unknown` */
export function trainerSteps(steps: readonly [first: number, last: number] | null): string {
  if (steps === null) return 'steps unknown'
  const [first, last] = steps
  return first === last ? `trainer step ${formatCount(first)}` : `trainer steps ${stepsText(first, last)}`
}

/** What holds for traces, then a table of boundary against internal transitions. */
export function statisticsTables(s: SnapshotStatistics, options: TableOptions): string {
  const both = (of: (c: PooledChanges) => string): [string, string] => [of(s.boundary), of(s.internal)]
  const transitions = formatTable(
    [{ title: 'transitions' }, { title: 'at turn boundaries', align: 'right' }, { title: 'inside spans', align: 'right' }],
    [
      ['count', ...both(c => formatCount(c.transitions))],
      ['mean |change of value|', ...both(c => valueText(c.mean_abs_change))],
      [`jumps, |change| > ${s.threshold}`, ...both(c => formatCount(c.jumps))],
      ['jump rate', ...both(c => percent(c.jump_rate))]
    ],
    options
  )
  const lines = [
    `${counted(s.traces, 'trace')}, ${counted(s.tokens, 'token')}, ${trainerSteps(s.steps)}${s.synthetic ? ', SYNTHETIC data' : ''}`,
    comparedLine(s),
    ...outcomeLines(s),
    `jump rate ratio ${valueText(s.jump_rate_ratio, 9)}; boundary mean above internal ` +
      (s.traces_boundary_exceeds_internal === null
        ? `${NOT_STATED}: no trace has transitions of both kinds`
        : `in ${formatCount(s.traces_boundary_exceeds_internal)} of ${counted(s.traces_with_both_kinds, 'trace')}`),
    `successes that end above their first value: ${share(s.success.positive_delta, s.success.traces)}; ` +
      `failures that end below: ${share(s.failure.negative_delta, s.failure.traces)}`
  ]
  const notes = s.notes.map(note => `note: ${note}\n`).join('')
  return `${lines.join('\n')}\n\n${transitions}${notes}`
}

/** Whether the arrays were compared: a trace with one source has nothing to compare with. */
function comparedLine({ verified, traces, one_source: alone, checks, stated }: SnapshotStatistics): string {
  if (verified) {
    const all = traces === 1 ? 'the one trace equal' : `all ${formatCount(traces)} traces equal`
    // Traces without NPZ files were compared with those of a second dump.
    const second = stated.npz === 0 ? 'those of the second dump' : `${traces === 1 ? 'its' : 'their'} NPZ arrays`
    return `values, returns and positions of ${all} ${second} exactly`
  }
  if (checks.npz_exactly_equal === null) return 'one source for every trace, not compared'
  return (
    `values, returns and positions of ${formatCount(checks.npz_exactly_equal)} of ${counted(traces, 'trace')} equal their NPZ arrays ` +
    `exactly; one source for the other ${formatCount(alone)}, not compared`
  )
}

/** Lines only where a trace does not state its own outcome. */
function outcomeLines({ traces, outcome_from: from, success_threshold: threshold }: SnapshotStatistics): string[] {
  return [
    ...(from.score === 0
      ? []
      : [`outcome told by the score, above ${threshold} a success: ${formatCount(from.score)} of ${counted(traces, 'trace')}`]),
    ...(from.unknown === 0
      ? []
      : [`outcome unknown: ${formatCount(from.unknown)} of ${counted(traces, 'trace')}, which are in no count of successes or failures`])
  ]
}

export const NOT_STATED = 'not stated'

function share(some: number | null, all: number | null): string {
  if (some !== null && all !== null) return `${formatCount(some)} of ${formatCount(all)}`
  return all === null ? `${NOT_STATED} (outcome unknown)` : 'none there'
}

/** One row for each check; only expected checks can fail a run. */
export function checksTable(checks: readonly CheckReport[], options: TableOptions): string {
  return formatTable(
    [{ title: 'check' }, { title: 'holds', align: 'right' }, { title: 'of', align: 'right' }, { title: '' }],
    checks.map(c => [
      c.check,
      c.passed === null ? NOT_STATED : formatCount(c.passed),
      c.passed === null ? '' : formatCount(c.total),
      verdict(c)
    ]),
    options
  )
}

/** `checks: 7 of 7 expected ones hold`, and a table of those that do not; every check where a study expects none. */
export function checksSummary(checks: readonly CheckReport[], options: TableOptions): string {
  const expected = checks.filter(c => c.expected)
  if (expected.length === 0) return checksTable(checks, options)
  const bad = expected.filter(c => c.faults.length > 0)
  const names = bad.length === 0 ? `: ${expected.map(c => c.check).join(', ')}` : ''
  const reported = checks.length - expected.length
  const line =
    `checks: ${formatCount(expected.length - bad.length)} of ${formatCount(expected.length)} expected hold${names}` +
    `${reported === 0 ? '' : `; ${formatCount(reported)} reported only`}\n`
  return bad.length === 0 ? line : line + checksTable(bad, options)
}

/** What a check looks at one by one, where it does not look at traces. */
const LOOKED_AT: Readonly<Record<string, string>> = { 'end marker': 'boundary', 'outcomes per step': 'step' }

function verdict(c: CheckReport): TerminalCell {
  if (c.passed === null && c.unstated === 0 && c.faults.length === 0) {
    const looked = Object.hasOwn(LOOKED_AT, c.check) ? LOOKED_AT[c.check] : 'trace'
    return { text: `${c.expected ? '' : 'reported only, '}no ${looked} to look at`, tone: 'muted' }
  }
  const aside = c.unstated === 0 ? '' : `, ${formatCount(c.unstated)} ${NOT_STATED}`
  if (!c.expected) return { text: `reported only${aside}`, tone: 'muted' }
  return c.faults.length === 0 ? { text: `ok${aside}`, tone: 'good' } : { text: `FAILED${aside}`, tone: 'bad' }
}

/** A note on outputs that stay; empty where there are none. Names at most twenty. */
export function leftNote(left: readonly string[]): string {
  if (left.length === 0) return ''
  const more = left.length > 20 ? ` and ${formatCount(left.length - 20)} more` : ''
  return `note: of an earlier record, left because nothing shows that this program made it as it is: ${left
    .slice(0, 20)
    .map(path => printableId(path))
    .join(', ')}${more}\n`
}

export function manifestTable(report: ManifestReport, options: TableOptions): string {
  const bad = report.files.filter(f => f.status !== 'ok')
  const { ok, mismatch, missing, unlisted } = report.counts
  const [okText, ...rest] = [ok, mismatch, missing, unlisted].map(formatCount)
  const head = `${okText} ok, ${rest[0]} mismatch, ${rest[1]} missing, ${rest[2]} unlisted\n`
  if (bad.length === 0) return head
  return (
    head +
    formatTable(
      [{ title: 'status' }, { title: 'file' }],
      bad.map(f => [{ text: f.status, tone: 'bad' }, f.path]),
      options
    )
  )
}

/** @param report null: files differ from the manifest */
export function certificateLine(report: CertificateReport | null): string {
  if (report === null) return 'certificates: not judged, since files differ from the manifest\n'
  const { histories } = report
  if (histories.length === 0) return 'certificates: no history has one\n'
  const complete = histories.filter(h => h.complete).length
  const growing = histories.filter(h => h.growing).length
  const rows = histories.reduce((sum, h) => sum + h.rows, 0)
  const still = growing > 0 ? `, ${formatCount(growing)} of them of a run that was still growing` : ''
  return `certificates: ${formatCount(complete)} of ${counted(histories.length, 'history', 'histories')} whole, ${counted(rows, 'row')}${still}\n`
}
