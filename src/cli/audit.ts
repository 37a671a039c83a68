/**
 * `audit`: the study computed afresh, its published values compared with what comes out. Everything goes into a folder of its
 * own that is removed: an output that lies somewhere is not looked at, whoever wrote it.
 */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { auditPasses } from '../compute/audit/audit.js'
import type { TracePool } from '../compute/traces/pool.js'
import type { AuditReport } from '../compute/audit/contract.js'
import { EXIT, Failures, Fault, printable } from '../core/errors.js'
import { amountOf } from '../study/inventory.js'
import { verifyManifest } from '../study/manifest.js'
import { loadStudy } from '../study/study.js'
import { verifyCertificates } from '../ingest/certificate/verify.js'
import { viewFaults } from '../fetch/views.js'
import { AUDIT_PATH } from '../render/outputs/output-names.js'
import { refuseOutputsAtStudy } from '../render/outputs/output-place.js'
import { OutputSet } from '../render/outputs/output-set.js'
import { createProgress, type Phase } from '../render/terminal/progress.js'
import { wantsColour } from '../render/terminal/text.js'
import { analyseStudy } from '../runs/study.js'
import { readText } from '../core/system/open.js'
import { makeWorkFolder, sweepWorkFolders } from '../core/system/work-folder.js'
import { manifestBytes } from './amounts.js'
import type { AuditOptions } from './args.js'
import { auditFaults, auditTables } from './audit-summary.js'
import type { CliIo, CommandResult } from './io.js'
import { faultLines } from './lines.js'
import { manifestFaults, studyManifest } from './manifest-faults.js'
import { studyFolder } from './replica.js'
import { certificateLine } from './summary.js'

const WORK_NAME = 'critic-traces-audit'

export async function runAudit(options: AuditOptions, io: CliIo, pool: TracePool): Promise<CommandResult> {
  const progress = await createProgress({ stream: io.stderr, env: io.env, now: io.now, quiet: options.quiet })
  try {
    const dir = await studyFolder(options.study, io, line => progress.line(line))
    if (options.out !== null) refuseOutputsAtStudy(dir, options.out)
    const { study, ...studyFile } = await loadStudy(dir)
    const manifest = await studyManifest(dir, study.manifest)
    const hashing = progress.phase({ label: 'verifying', total: manifestBytes(manifest), unit: 'bytes' })
    const verified = await verifyManifest(dir, manifest, { signal: io.signal, onProgress: p => hashing.update(p.bytesDone) })
    hashing.finish()
    const changed = manifestFaults(verified, dir)
    if (changed.length > 0) throw new Failures(changed)
    const certificates = await verifyCertificates(dir, study, io.signal)
    const contradicted = [...certificates.faults, ...(await viewFaults(dir, study))]
    if (contradicted.length > 0) throw new Failures(contradicted)
    await sweepWorkFolders(tmpdir(), WORK_NAME)
    const temporary = await makeWorkFolder(tmpdir(), WORK_NAME)
    let report: AuditReport | null
    let text = ''
    try {
      const outcome = await analyseStudy({
        dir, study, studyFile, pool, manifest: verified, out: temporary.path, formats: [], strict: options.strict, signal: io.signal,
        progress: {
          onSnapshot: async plan => updater(progress.phase({ label: 'measuring traces', ...(await amountOf(plan)) })),
          onHistories: total => updater(progress.phase({ label: 'reading histories', total, unit: 'bytes' })),
          onEvidence: total => updater(progress.phase({ label: 'reading evidence', total, unit: 'bytes' }))
        }
      })
      report = outcome.audit
      if (report !== null) text = await readText(join(temporary.path, AUDIT_PATH))
    } finally {
      await temporary.remove()
    }
    if (report === null) {
      throw new Fault({
        format: 'study', problem: 'no claims', found: 'claims is not stated', expected: 'the path of a claims file', place: { file: dir }
      })
    }
    progress.close()
    if (options.out !== null) await OutputSet.writeAlone(options.out, AUDIT_PATH, text)
    if (!options.quiet && !options.json) {
      const head = `${study.synthetic ? 'SYNTHETIC ' : ''}study ${printable(study.name)} in ${dir}`
      io.stdout.write(`${head}\n${certificateLine(certificates)}${auditTables(report, { colour: wantsColour(io.stdout, io.env) })}`)
    }
    for (const line of faultLines(auditFaults(report), options.verbose)) io.stderr.write(`${line}\n`)
    return {
      exitCode: auditPasses(report) ? EXIT.ok : EXIT.checkFailed,
      report: { study: { name: study.name, path: dir }, certificates: certificates.histories, audit: JSON.parse(text) as unknown }
    }
  } finally {
    progress.close()
  }
}

/** The next phase ends it. */
function updater(phase: Phase): (done: number) => void {
  return done => phase.update(done)
}
