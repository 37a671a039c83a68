/** `diagnose PATH…`: how the returns were made, what went wrong, and how good the critic is; each snapshot into its own subfolder. */
import { commonSteps, type LoggedHistory } from '../compute/diagnostics/contract.js'
import { failureFaults } from '../compute/diagnostics/failures.js'
import type { TracePool } from '../compute/traces/pool.js'
import { EXIT, Failures, toFault, type Fault } from '../core/errors.js'
import { realPlace } from '../core/system/folder.js'
import { DEFAULT_OUT, DIAGNOSTIC_PATHS } from '../render/outputs/output-names.js'
import { refuseOutputsAtInputs, refuseOutputsAtStudy } from '../render/outputs/output-place.js'
import type { Phase } from '../render/terminal/progress.js'
import { gravest } from '../runs/batch.js'
import { onePlan, outputFolder, readLoggedHistory } from '../runs/diagnose.js'
import { toldOfStudy } from '../runs/diagnosis.js'
import { diagnoseSnapshot, type RecordedDiagnosis } from '../runs/recorded-diagnosis.js'
import { amountOf, findSnapshots, type SnapshotPlan } from '../study/inventory.js'
import type { DiagnoseOptions } from './args.js'
import { toldOver } from './diagnose-args.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting, type Reporter } from './reporter.js'
import { settingsOf } from './trace-settings.js'

export async function runDiagnoseCommand(options: DiagnoseOptions, io: CliIo, pool: TracePool): Promise<CommandResult> {
  const { shard } = options
  if (shard !== null) return (await import('./shard-run.js')).runShardCommand({ ...options, shard }, io, pool)
  return reporting({ ...options, note: pool.note }, io, async reporter => {
    const { paths, out, against: other, study } = options
    if (study !== null) refuseOutputsAtStudy(study, out)
    refuseOutputsAtInputs([...paths, ...(other === null ? [] : [other])], out)
    const history = options.history === null ? null : readLoggedHistory(options.history)
    const against = other === null ? null : await onePlan(other)
    const faults: Fault[] = []
    const plans = await findSnapshots(paths, fault => faults.push(fault), realPlace(DEFAULT_OUT))
    reporter.tellFaults(faults)
    const { settings, notes } = await settingsOf({ ...options, against: null })
    for (const note of notes) reporter.progress.line(`note: ${note}`)
    const told = { ...toldOver(options, toldOfStudy(settings.traces)), history }
    const done: { readonly plan: SnapshotPlan; readonly outcome: RecordedDiagnosis }[] = []
    for (const plan of plans) {
      const folder = outputFolder(out, plan)
      const shown = await phases(reporter, against === null ? [plan] : [plan, against])
      try {
        const { formats } = options
        const outcome = await diagnoseSnapshot({
          plan,
          against,
          settings,
          told,
          pool,
          out: folder,
          formats,
          signal: io.signal,
          onProgress: shown.begin
        })
        if (outcome.status === 'done') shown.finish()
        else reporter.progress.close()
        done.push({ plan, outcome })
        await reporter.tell(async table => {
          const { diagnosisSummary } = await import('./diagnose-summary.js')
          return diagnosisSummary(outcome, { out: folder, failOn: options.failOn, history }, table)
        })
        const failures = failureFaults(outcome.diagnosis, options.failOn, `${folder}/${DIAGNOSTIC_PATHS.document}`)
        reporter.tellFaults(failures)
        faults.push(...failures)
      } catch (error) {
        const found = error instanceof Failures ? error.faults : [toFault(error, 'trace', { file: plan.html ?? plan.folder })]
        if (found.some(f => f.exitCode === EXIT.interrupted)) throw error
        reporter.progress.close()
        reporter.tellFaults(found)
        faults.push(...found)
      }
    }
    return { exitCode: gravest(faults), report: reportOf(done, faults, out, history) }
  })
}

async function phases(reporter: Reporter, plans: readonly SnapshotPlan[]) {
  const amounts = new Map(await Promise.all(plans.map(async plan => [plan, await amountOf(plan)] as const)))
  let phase: Phase | null = null
  return {
    begin: (plan: SnapshotPlan): ((done: number) => void) => {
      phase?.finish()
      phase = reporter.progress.phase({ label: plan.name, total: null, unit: 'bytes', ...amounts.get(plan) })
      return amount => phase?.update(amount)
    },
    finish: () => phase?.finish()
  }
}

type DiagnosedPlans = readonly { readonly plan: SnapshotPlan; readonly outcome: RecordedDiagnosis }[]

function reportOf(done: DiagnosedPlans, faults: readonly Fault[], out: string, history: LoggedHistory | null): object {
  return {
    synthetic: done.some(({ outcome }) => outcome.diagnosis.synthetic),
    out,
    snapshots: done.map(({ plan, outcome: { status, diagnosis, outputs, left } }) => {
      const { source, audit, findings, quality, against } = diagnosis
      return {
        name: plan.name,
        status,
        source,
        audit,
        findings,
        quality,
        history: history === null ? null : { common_steps: commonSteps(history, quality), left_out: history.leftOut },
        against:
          against === null
            ? null
            : {
                source: against.source,
                audit: against.audit,
                findings: against.findings,
                quality: against.quality,
                comparison: against.comparison
              },
        outputs: outputs.map(({ path }) => path),
        left
      }
    }),
    faults: faults.map(f => ({ message: f.message, exit_code: f.exitCode, place: f.place }))
  }
}
