/** `explore PATH…`: the traces of one or several snapshots in one page. */
import type { TracePool } from '../compute/traces/pool.js'
import { counted } from '../core/counts.js'
import { EXIT, printableId } from '../core/errors.js'
import { realPlace } from '../core/system/folder.js'
import { DEFAULT_OUT, EXPLORER_PAGE } from '../render/outputs/output-names.js'
import { refuseOutputsAtInputs, refuseOutputsAtStudy } from '../render/outputs/output-place.js'
import type { Phase } from '../render/terminal/progress.js'
import { exploreSnapshots } from '../runs/explore.js'
import { amountOf, findSnapshots } from '../study/inventory.js'
import type { ExploreOptions } from './args.js'
import { exploreLine } from './closing.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting } from './reporter.js'
import { leftNote } from './summary.js'
import { settingsOf } from './trace-settings.js'

export async function runExploreCommand(options: ExploreOptions, io: CliIo, pool: TracePool): Promise<CommandResult> {
  return reporting({ ...options, note: pool.note }, io, async reporter => {
    const { paths, out, study, texts } = options
    const { progress } = reporter
    if (study !== null) refuseOutputsAtStudy(study, out)
    refuseOutputsAtInputs(paths, out)
    const plans = await findSnapshots(paths, undefined, realPlace(DEFAULT_OUT))
    const { settings, notes } = await settingsOf(options)
    for (const note of notes) progress.line(`note: ${note}`)
    const amounts = new Map(await Promise.all(plans.map(async plan => [plan, await amountOf(plan)] as const)))
    const phases: Phase[] = []
    const { synthetic, snapshots, withoutTexts, outputs, left } = await exploreSnapshots({
      plans,
      settings,
      pool,
      out,
      texts,
      signal: io.signal,
      onSnapshot: plan => {
        const phase = progress.phase({ label: plan.name, total: null, unit: 'bytes', ...amounts.get(plan) })
        phases.push(phase)
        return done => {
          phase.update(done)
        }
      }
    })
    phases.at(-1)?.finish()
    const listed = snapshots.map(({ plan, snapshot: { tokens, traces } }) => ({ name: plan.name, traces: traces.tokens.length, tokens }))
    await reporter.tell(() =>
      [
        ...(synthetic ? ['SYNTHETIC data\n'] : []),
        ...listed.map(({ name, traces, tokens }) => `${printableId(name)}: ${counted(traces, 'trace')}, ${counted(tokens, 'token')}\n`),
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
