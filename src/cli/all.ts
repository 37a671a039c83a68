/**
 * `all`: verifies the study's inputs against its manifest, then measures, checks, draws and writes its sections. Where
 * nothing has changed since the last run, it compares the outputs with their record instead.
 */
import { join } from 'node:path'
import type { TracePool } from '../compute/traces/pool.js'
import { auditPasses } from '../compute/audit/audit.js'
import type { AuditReport } from '../compute/audit/contract.js'
import { toldFaults } from '../compute/diagnostics/failures.js'
import type { Diagnosis } from '../compute/diagnostics/contract.js'
import { EXIT, printable, type Fault } from '../core/errors.js'
import { readText } from '../core/still-file.js'
import { counted, formatCount } from '../core/counts.js'
import type { Phase, PhaseOptions } from '../render/terminal/progress.js'
import { AUDIT_PATH, DIAGNOSTIC_PATHS } from '../render/outputs/output-names.js'
import { refuseOutputsAtStudy } from '../render/outputs/output-place.js'
import type { CriticDiagnosticsDocument } from '../schema/outputs/critic-diagnostics.js'
import { analyseStudy, studyOrigin, unchangedStudy, type StudyOutcome } from '../runs/study.js'
import type { ManifestReport } from '../study/manifest.js'
import type { AllOptions } from './args.js'
import { auditFaults, auditHead } from './audit-summary.js'
import { outputsTable, problems, toOpen, verdictLine } from './closing.js'
import type { CliIo, CommandResult } from './io.js'
import { datasetsTable, historiesTables } from './history-summary.js'
import { manifestFaults } from './manifest-faults.js'
import { refuse, reporting, type Reporter } from './reporter.js'
import { Stopwatch } from './timings.js'
import { certificateLine, checksSummary, checksTable, leftNote, manifestTable, statisticsTables } from './summary.js'
import { checkCertificates, shownPhases, studyFolder, verifyStudy } from './verified-study.js'

export async function runAll(options: AllOptions, io: CliIo, pool: TracePool): Promise<CommandResult> {
  return reporting({ ...options, note: pool.note }, io, async reporter => {
    const { out, formats, tables, threads } = options
    const watch = new Stopwatch(io.now)
    // 1. Inputs against their manifest
    const dir = await studyFolder(options.study, reporter)
    refuseOutputsAtStudy(dir, out)
    watch.lap('study')
    const verified = await verifyStudy(dir, reporter)
    watch.lap('verify')
    const { study, studyFile, manifest } = verified
    refuse(manifestFaults(manifest, dir))
    const run = { ...verified, pool, out, formats, tables, signal: io.signal }
    const about = {
      synthetic: study.synthetic,
      study: { name: study.name, path: dir, sha256: studyFile.sha256 },
      manifest: { sha256: manifest.manifest_sha256, counts: manifest.counts },
      out
    }
    const head = `study ${printable(study.name)} in ${dir}${study.synthetic ? ', SYNTHETIC data' : ''}\nmanifest: `
    // 2. Nothing to do
    const record = options.cache ? await unchangedStudy(run) : null
    watch.lap('cache')
    if (record !== null) {
      const { outputs } = record
      await watch.write(out, studyOrigin(run), { unchanged: true, threads })
      const all = outputs.length === 1 ? 'the one output' : `all ${formatCount(outputs.length)} outputs`
      const unchanged = `unchanged since the last run: ${all} in ${out} ${outputs.length === 1 ? 'is' : 'are'} as recorded (--no-cache computes again)\n`
      const audit = await recorded<AuditReport>(out, outputs, AUDIT_PATH)
      const diagnosed = await recorded<CriticDiagnosticsDocument>(out, outputs, DIAGNOSTIC_PATHS.document)
      const faults = faultsOf(audit, diagnosed)
      const exitCode = tellFaults(audit, faults, reporter)
      const verdict = verdictLine(exitCode, ['unchanged', ...verdictParts(manifest, null, audit, faults)])
      await reporter.tell(table => `${head}${manifestTable(manifest, table)}\n${unchanged}${verdict}${toOpen(out, outputs)}`)
      return { exitCode, report: { ...about, unchanged: true, outputs } }
    }
    // 3. Certificates
    const certificates = await checkCertificates(verified, reporter)
    watch.lap('certificates')
    // 4. Sections, figures, pages
    let shown: { readonly label: string; readonly phase: Phase } | null = null
    const finish = (): void => {
      shown?.phase.finish()
      if (shown !== null) watch.lap(shown.label)
      shown = null
    }
    const begin = (next: PhaseOptions): ((done: number) => void) => {
      finish()
      const phase = reporter.progress.phase(next)
      shown = { label: next.label, phase }
      return done => {
        phase.update(done)
      }
    }
    const outcome = await analyseStudy({ ...run, progress: shownPhases(begin) })
    finish()
    watch.lap('commit')
    await watch.write(out, studyOrigin(run), { unchanged: false, threads })
    // 5. Summary
    const { snapshot, diagnosis, histories, evidence, audit, outputs, left } = outcome
    const faults = faultsOf(audit, diagnosis)
    const exitCode = tellFaults(audit, faults, reporter)
    const { findingsText } = await import('./diagnose-summary.js')
    const { verbose } = reporter
    await reporter.tell(table =>
      [
        `${head}${manifestTable(manifest, table)}${certificateLine(certificates)}`,
        ...(snapshot === null
          ? []
          : verbose
            ? [statisticsTables(snapshot.statistics, table), checksTable(snapshot.checks, table)]
            : [`${statisticsTables(snapshot.statistics, table)}${checksSummary(snapshot.checks, table)}`]),
        ...(diagnosis === null ? [] : [`critic ${findingsText(diagnosis)}`]),
        ...(histories === null ? [] : [historiesTables(histories, verbose, table)]),
        ...(evidence === null || evidence.datasets.length === 0 ? [] : [datasetsTable(evidence.datasets, table)]),
        ...(audit === null ? [] : [auditHead(audit)]),
        ...(study.article === null || outputs.some(({ path }) => path.endsWith('.html'))
          ? []
          : ['no pages: they are made of the figures as PNG\n']),
        outputsTable(out, outputs, verbose, table),
        ...(left.length === 0 ? [] : [leftNote(left)]),
        `${verdictLine(exitCode, verdictParts(manifest, snapshot, audit, faults))}${toOpen(out, outputs)}`
      ].join('\n')
    )
    return { exitCode, report: { ...about, unchanged: false, ...sectionReports(outcome), outputs, left } }
  })
}

/** What holds, or how many problems the audit has. */
function verdictParts(
  manifest: ManifestReport,
  snapshot: StudyOutcome['snapshot'],
  audit: AuditReport | null,
  faults: readonly Fault[]
): string[] {
  const expected = snapshot?.checks.filter(c => c.expected) ?? []
  const held = expected.filter(c => c.faults.length === 0).length
  const agree = audit?.counts.agrees ?? 0
  return [
    ...problems(faults.length),
    `${counted(manifest.counts.ok, 'input')} as listed`,
    ...(expected.length === 0 ? [] : [`${counted(held, 'check')} ${held === 1 ? 'holds' : 'hold'}`]),
    ...(audit === null ? [] : [`${counted(agree, 'claim')} ${agree === 1 ? 'agrees' : 'agree'}`])
  ]
}

/** Published values that do not hold, and told ones that the traces contradict. */
function faultsOf(audit: AuditReport | null, diagnosis: Pick<CriticDiagnosticsDocument, 'audit'> | Diagnosis | null): readonly Fault[] {
  const told = diagnosis === null ? [] : toldFaults(diagnosis.audit.told, DIAGNOSTIC_PATHS.document)
  return [...(audit === null ? [] : auditFaults(audit)), ...told]
}

/** They fail the run after everything is written: the outputs say what differs. */
function tellFaults(audit: AuditReport | null, faults: readonly Fault[], reporter: Reporter): number {
  reporter.tellFaults(faults)
  return faults.length === 0 && (audit === null || auditPasses(audit)) ? EXIT.ok : EXIT.checkFailed
}

/** A document of the last run; null: it has none. The file was just compared with the run's record. */
async function recorded<T>(out: string, outputs: ReadonlyArray<{ readonly path: string }>, document: string): Promise<T | null> {
  if (!outputs.some(({ path }) => path === document)) return null
  return JSON.parse(await readText(join(out, document))) as T
}

function sectionReports({ snapshot, diagnosis, histories }: StudyOutcome): object {
  return {
    ...(snapshot === null
      ? {}
      : {
          statistics: snapshot.statistics,
          checks: snapshot.checks.map(({ check, expected, passed, total, unstated }) => ({ check, expected, passed, total, unstated }))
        }),
    ...(diagnosis === null ? {} : { diagnostics: { audit: diagnosis.audit, findings: diagnosis.findings } }),
    ...(histories === null
      ? {}
      : {
          histories: {
            analyses: Object.fromEntries(histories.analyses.map(({ analysis, statistics }) => [analysis.name, statistics])),
            excluded_runs: histories.excluded,
            warnings: histories.warnings
          }
        })
  }
}
