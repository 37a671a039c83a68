/**
 * `all`: the study's inputs against its manifest, then its sections measured, checked, drawn and written; or, where nothing has
 * changed since the last run, its outputs against their record.
 */
import { join } from 'node:path'
import type { TracePool } from '../compute/traces/pool.js'
import { auditPasses } from '../compute/audit/audit.js'
import type { AuditReport } from '../compute/audit/contract.js'
import { EXIT, Failures, printable } from '../core/errors.js'
import { amountOf } from '../study/inventory.js'
import { verifyManifest } from '../study/manifest.js'
import { manifestBytes } from './amounts.js'
import { manifestFaults, studyManifest } from './manifest-faults.js'
import { loadStudy } from '../study/study.js'
import { verifyCertificates } from '../ingest/certificate/verify.js'
import { viewFaults } from '../fetch/views.js'
import { readText } from '../core/system/open.js'
import { formatCount } from '../render/terminal/numbers.js'
import { createProgress, type Phase as ShownPhase, type PhaseOptions } from '../render/terminal/progress.js'
import { wantsColour } from '../render/terminal/text.js'
import { AUDIT_PATH } from '../render/outputs/output-names.js'
import { refuseOutputsAtStudy } from '../render/outputs/output-place.js'
import { analyseStudy, studyOrigin, unchangedStudy, type StudyOutcome } from '../runs/study.js'
import type { AllOptions } from './args.js'
import { auditFaults, auditHead } from './audit-summary.js'
import type { CliIo, CommandResult } from './io.js'
import { faultLines } from './lines.js'
import { studyFolder } from './replica.js'
import { Stopwatch } from './timings.js'
import { certificateLine, checksTable, datasetsTable, historiesTables, leftNote, manifestTable, outputsTable, statisticsTables } from './summary.js'

export async function runAll(options: AllOptions, io: CliIo, pool: TracePool): Promise<CommandResult> {
  const progress = await createProgress({ stream: io.stderr, env: io.env, now: io.now, quiet: options.quiet })
  const watch = new Stopwatch(io.now)
  try {
    const dir = await studyFolder(options.study, io, line => progress.line(line))
    refuseOutputsAtStudy(dir, options.out)
    watch.lap('study')
    const { study, ...studyFile } = await loadStudy(dir)
    const manifest = await studyManifest(dir, study.manifest)
    const hashing = progress.phase({ label: 'verifying', total: manifestBytes(manifest), unit: 'bytes' })
    const report = await verifyManifest(dir, manifest, {
      signal: io.signal,
      onProgress: p => hashing.update(p.bytesDone)
    })
    hashing.finish()
    watch.lap('verify')
    const changed = manifestFaults(report, dir)
    if (changed.length > 0) throw new Failures(changed)
    const run = { dir, study, studyFile, pool, manifest: report, out: options.out, formats: options.formats, signal: io.signal }
    const origin = studyOrigin(run)
    const about = {
      synthetic: study.synthetic,
      study: { name: study.name, path: dir, sha256: studyFile.sha256 },
      manifest: { sha256: report.manifest_sha256, counts: report.counts },
      out: options.out
    }
    const table = { colour: wantsColour(io.stdout, io.env) }
    let head = `study ${printable(study.name)} in ${dir}${study.synthetic ? ', SYNTHETIC data' : ''}\nmanifest: ${manifestTable(report, table)}`
    const tell = (...parts: readonly string[]): void => {
      progress.close()
      if (!options.quiet && !options.json) io.stdout.write([head, ...parts].join('\n'))
    }
    const record = options.cache ? await unchangedStudy(run) : null
    watch.lap('cache')
    if (record !== null) {
      await watch.write(options.out, origin, { unchanged: true, threads: options.threads })
      tell(`unchanged since the last run: all ${formatCount(record.outputs.length)} outputs in ${options.out} are as recorded (--no-cache computes them again)\n`)
      const audit = await recordedAudit(options.out, record.outputs)
      const passes = tellAudit(audit, options, io)
      return { exitCode: passes ? EXIT.ok : EXIT.checkFailed, report: { ...about, unchanged: true, outputs: record.outputs } }
    }
    const certificates = await verifyCertificates(dir, study, io.signal)
    const contradicted = [...certificates.faults, ...await viewFaults(dir, study)]
    if (contradicted.length > 0) throw new Failures(contradicted)
    watch.lap('certificates')
    head += certificateLine(certificates)
    let phase: Phase | null = null
    const begin = (next: PhaseOptions): ((done: number) => void) => {
      finish()
      phase = { label: next.label, shown: progress.phase(next) }
      const { shown } = phase
      return done => shown.update(done)
    }
    const finish = (): void => {
      phase?.shown.finish()
      if (phase !== null) watch.lap(phase.label)
      phase = null
    }
    const outcome = await analyseStudy({
      ...run,
      progress: {
        onSnapshot: async plan => begin({ label: 'measuring traces', ...(await amountOf(plan)) }),
        onHistories: total => begin({ label: 'reading histories', total, unit: 'bytes' }),
        onEvidence: total => begin({ label: 'reading evidence', total, unit: 'bytes' }),
        onAnalysis: () => begin({ label: 'analysing histories', total: null, unit: 'parts' }),
        onWriting: () => begin({ label: 'writing histories', total: null, unit: 'rows' }),
        onFigures: total => begin({ label: 'drawing figures', total, unit: 'files' })
      }
    })
    finish()
    watch.lap('commit')
    await watch.write(options.out, origin, { unchanged: false, threads: options.threads })
    tell(
      ...(outcome.snapshot === null ? [] : [statisticsTables(outcome.snapshot.statistics, table), checksTable(outcome.snapshot.checks, table)]),
      ...(outcome.histories === null ? [] : [historiesTables(outcome.histories, table)]),
      ...(outcome.evidence === null || outcome.evidence.datasets.length === 0 ? [] : [datasetsTable(outcome.evidence.datasets, table)]),
      ...(outcome.audit === null ? [] : [auditHead(outcome.audit)]),
      ...(study.article === null || outcome.outputs.some(({ path }) => path.endsWith('.html')) ? [] : ['no pages: they are made of the figures as PNG\n']),
      outputsTable(options.out, outcome.outputs, table),
      ...(outcome.left.length === 0 ? [] : [leftNote(outcome.left)])
    )
    const passes = tellAudit(outcome.audit, options, io)
    return { exitCode: passes ? EXIT.ok : EXIT.checkFailed, report: { ...about, unchanged: false, ...sectionReports(outcome), outputs: outcome.outputs, left: outcome.left } }
  } finally {
    progress.close()
  }
}

/** A published value that does not hold fails the run, when everything is written: the outputs say what differs. */
function tellAudit(audit: AuditReport | null, { verbose }: AllOptions, io: CliIo): boolean {
  if (audit === null) return true
  for (const line of faultLines(auditFaults(audit), verbose)) io.stderr.write(`${line}\n`)
  return auditPasses(audit)
}

/** A phase that is shown, and its name in the timings. */
interface Phase {
  readonly label: string
  readonly shown: ShownPhase
}

/** The audit of the last run: its record has just vouched for the file. */
async function recordedAudit(out: string, outputs: ReadonlyArray<{ readonly path: string }>): Promise<AuditReport | null> {
  if (!outputs.some(({ path }) => path === AUDIT_PATH)) return null
  return JSON.parse(await readText(join(out, AUDIT_PATH))) as AuditReport
}

function sectionReports({ snapshot, histories }: StudyOutcome): object {
  return {
    ...(snapshot === null ? {} : {
      statistics: snapshot.statistics,
      checks: snapshot.checks.map(({ check, expected, passed, total, unstated }) => ({ check, expected, passed, total, unstated }))
    }),
    ...(histories === null ? {} : {
      histories: {
        analyses: Object.fromEntries(histories.analyses.map(({ analysis, statistics }) => [analysis.name, statistics])),
        excluded_runs: histories.excluded,
        warnings: histories.warnings
      }
    })
  }
}
