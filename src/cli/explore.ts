/** `explore PATH…`: the traces of one or several snapshots in one page. */
import type { TracePool } from '../compute/traces/pool.js'
import { counted } from '../core/counts.js'
import { EXIT, printableId } from '../core/errors.js'
import { realPlace } from '../core/system/folder.js'
import { DEFAULT_OUT, EXPLORER_PAGE } from '../render/outputs/output-names.js'
import { refuseOutputsAtInputs, refuseOutputsAtStudy } from '../render/outputs/output-place.js'
import type { Phase } from '../render/terminal/progress.js'
import type { Done } from '../runs/context.js'
import { exploreSnapshots, type ExploredTraces, type ExploreRun } from '../runs/explore.js'
import { amountOf, findSnapshots, type SnapshotPlan } from '../study/inventory.js'
import type { ExploreOptions } from './args.js'
import { exploreLine } from './closing.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting, type Reporter } from './reporter.js'
import { leftNote } from './summary.js'
import { settingsOf } from './trace-settings.js'

export async function runExploreCommand(options: ExploreOptions, io: CliIo, pool: TracePool): Promise<CommandResult> {
  const { port } = options
  if (port !== null) return (await import('./explore-serve.js')).runExploreServer({ ...options, port }, io, pool)
  return reporting({ ...options, note: pool.note }, io, async reporter => {
    const { paths, out, study, texts } = options
    if (study !== null) refuseOutputsAtStudy(study, out)
    refuseOutputsAtInputs(paths, out)
    const { begun, finish } = await beginExploring(options, reporter)
    const { synthetic, snapshots, withoutTexts, outputs, left } = await exploreSnapshots({ ...begun, pool, out, texts, signal: io.signal })
    finish()
    const listed = snapshots.map(listedSnapshot)
    await reporter.tell(() =>
      [
        exploredText(synthetic, listed),
        ...(withoutTexts === 0 ? [] : [`texts of ${counted(withoutTexts, 'trace')} left out: the page has no more room for them\n`]),
        leftNote(left),
        exploreLine(`${out}/${EXPLORER_PAGE}`)
      ].join('')
    )
    return {
      exitCode: EXIT.ok,
      report: { synthetic, out, snapshots: listed, without_texts: withoutTexts, outputs: outputs.map(({ path }) => path), left }
    }
  })
}

/** What both kinds of the explorer begin with: the snapshots, with their progress on the terminal, and the settings. */
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
