/** What both kinds of the explorer begin with, and what both say. */
import { counted } from '../core/counts.js'
import { printableId } from '../core/errors.js'
import { realPlace } from '../core/system/folder.js'
import { DEFAULT_OUT } from '../render/outputs/output-names.js'
import type { TextCounts } from '../render/explorer/collector.js'
import type { Phase } from '../render/terminal/progress.js'
import type { Done } from '../runs/context.js'
import type { ExploredTraces, ExploreRun } from '../runs/explore.js'
import { amountOf, findSnapshots, type SnapshotPlan } from '../study/inventory.js'
import type { ExploreOptions } from './args.js'
import type { Reporter } from './reporter.js'
import { settingsOf } from './trace-settings.js'

/** The snapshots, with their progress on the terminal, and the settings. */
export async function beginExploring(options: ExploreOptions, { progress }: Reporter): Promise<BegunExploring> {
  const plans = await findSnapshots(options.paths, undefined, realPlace(DEFAULT_OUT))
  const { settings, notes } = await settingsOf(options)
  for (const note of notes) progress.line(`note: ${note}`)
  const amounts = new Map(await Promise.all(plans.map(async plan => [plan, await amountOf(plan)] as const)))
  let phase: Phase | null = null
  const onSnapshot = (plan: SnapshotPlan): Done => {
    const begun = progress.phase({ label: plan.name, total: null, unit: 'bytes', ...amounts.get(plan) })
    phase = begun
    return done => {
      begun.update(done)
    }
  }
  return { begun: { plans, settings, onSnapshot }, finish: () => phase?.finish() }
}

export interface BegunExploring {
  readonly begun: Pick<ExploreRun, 'plans' | 'settings' | 'onSnapshot'>
  /** ends the progress of the last snapshot */
  finish(): void
}

export interface ListedSnapshot {
  readonly name: string
  readonly traces: number
  readonly tokens: number
}

export function listedSnapshot({ plan, snapshot: { tokens, traces } }: ExploredTraces): ListedSnapshot {
  return { name: plan.name, traces: traces.tokens.length, tokens }
}

export function exploredText(synthetic: boolean, listed: readonly ListedSnapshot[]): string {
  const lines = listed.map(({ name, traces, tokens }) => `${printableId(name)}: ${counted(traces, 'trace')}, ${counted(tokens, 'token')}\n`)
  return [synthetic ? 'SYNTHETIC data\n' : '', ...lines].join('')
}

/** What became of the texts that were asked for; nothing where all are there as they are. @param named whether a tokenizer was named */
export function textsText({ none, noRoom, withheld }: TextCounts, named: boolean): string {
  const why = named ? 'the inputs have none' : 'token ids of a dump become texts with --tokenizer tokenizer.json'
  return [
    none === 0 ? '' : `note: no texts of ${counted(none, 'trace')}: ${why}\n`,
    noRoom === 0 ? '' : `texts of ${counted(noRoom, 'trace')} left out: the page has no more room for them\n`,
    withheld === 0 ? '' : `${counted(withheld, 'passage')} that looked like secrets withheld\n`
  ].join('')
}

/** The same for a report. */
export function textsReport({ none, noRoom, withheld }: TextCounts): { readonly without_texts: number; readonly withheld: number } {
  return { without_texts: none + noRoom, withheld }
}
