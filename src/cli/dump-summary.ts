/** What `traces` says of dumps: how one was read, which of its rows gave no trace, and what one without values tells. */
import { counted, formatCount } from '../core/counts.js'
import { printableId } from '../core/errors.js'
import type { SnapshotResult } from '../runs/batch-result.js'
import { NOT_STATED, trainerSteps, valueText } from './summary.js'

export type SampleSummary = NonNullable<SnapshotResult['samples']>

/** A dump without values: lengths, turns, outcomes, advantages, and what needs a critic. */
export function samplesText(s: SampleSummary): string {
  const spread = (of: SampleSummary['tokens_per_sample'], what: string): string =>
    of === null ? `${what}: ${NOT_STATED}` : `${what}: ${formatCount(of.least)} to ${formatCount(of.most)}, mean ${valueText(of.mean, 6)}`
  const { success, failure, unknown } = s.outcomes
  const { all } = s.advantages
  return [
    `${s.kind}: ${counted(s.samples, 'sample')}, ${counted(s.tokens, 'retained token')} of ${formatCount(s.response_tokens)}` +
      `, ${trainerSteps(s.steps)}${s.left_out === 0 ? '' : `; ${counted(s.left_out, 'row')} left out`}`,
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

export function noteLine(note: string): string {
  return `note: ${printableId(note, 400)}`
}

/** Most rows that are listed of those left out; `--verbose` lists all. */
const MOST_LEFT_OUT = 10

/** How a dump was read, and which of its rows gave no trace. */
export function dumpText({ facts, leftOut }: NonNullable<SnapshotResult['dump']>, verbose: boolean): string {
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

/** Most notes of a batch that are listed; `--verbose` lists all. */
const MOST_NOTES = 20

/** Of a batch: what each snapshot has left out, signs of a wrong export, then what was found out in reading. */
export function batchNotes(results: readonly SnapshotResult[], verbose: boolean): string {
  const of = (notes: (result: SnapshotResult) => readonly string[]): string[] =>
    results.flatMap(result => notes(result).map(note => noteLine(`${result.plan?.name ?? result.source}: ${note}`)))
  const leftOut = of(({ dump, samples }) => {
    const rows = dump?.leftOut.length ?? samples?.left_out ?? 0
    return rows === 0 ? [] : [`${counted(rows, 'row')} left out${samples === undefined ? ', as its index lists' : ''}`]
  })
  const lines = [...leftOut, ...of(({ statistics }) => statistics?.notes ?? []), ...of(r => r.dump?.facts.notes ?? r.samples?.notes ?? [])]
  const shown = verbose ? lines : lines.slice(0, MOST_NOTES)
  const more = lines.length - shown.length
  return [...shown, ...(more === 0 ? [] : [`and ${counted(more, 'more note')} (--verbose lists them)`]), ''].join('\n')
}
