/**
 * `audit`: computes the study afresh and compares its published values with the results. All outputs go into a folder of
 * their own, which is removed. Outputs that lie elsewhere are not read.
 */
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { auditPasses } from '../compute/audit/audit.js'
import type { TracePool } from '../compute/traces/pool.js'
import type { AuditReport } from '../compute/audit/contract.js'
import { counted } from '../core/counts.js'
import { EXIT, Fault, printable } from '../core/errors.js'
import { AUDIT_PATH } from '../render/outputs/output-names.js'
import { refuseOutputsAtStudy } from '../render/outputs/output-place.js'
import { OutputSet } from '../render/outputs/output-set.js'
import { analyseStudy } from '../runs/study.js'
import { readText } from '../core/still-file.js'
import { makeWorkFolder, sweepWorkFolders } from '../core/system/work-folder.js'
import type { AuditOptions } from './args.js'
import { auditFaults, auditTables } from './audit-summary.js'
import { problems, verdictLine } from './closing.js'
import type { CliIo, CommandResult } from './io.js'
import { manifestFaults } from './manifest-faults.js'
import { refuse, reporting, type Reporter } from './reporter.js'
import { certificateLine } from './summary.js'
import { checkCertificates, shownPhases, studyFolder, verifyStudy, type VerifiedStudy } from './verified-study.js'

const WORK_NAME = 'critic-traces-audit'

export async function runAudit(options: AuditOptions, io: CliIo, pool: TracePool): Promise<CommandResult> {
  return reporting({ ...options, note: pool.note }, io, async reporter => {
    const dir = await studyFolder(options.study, reporter)
    if (options.out !== null) refuseOutputsAtStudy(dir, options.out)
    const verified = await verifyStudy(dir, reporter)
    refuse(manifestFaults(verified.manifest, dir))
    const certificates = await checkCertificates(verified, reporter)
    const { report, text } = await computedAudit(verified, options.strict, pool, reporter)
    const { study } = verified
    if (options.out !== null) await OutputSet.writeAlone(options.out, AUDIT_PATH, text)
    const head = `${study.synthetic ? 'SYNTHETIC ' : ''}study ${printable(study.name)} in ${dir}`
    const faults = auditFaults(report)
    const exitCode = auditPasses(report) ? EXIT.ok : EXIT.checkFailed
    reporter.tellFaults(faults)
    const { agrees } = report.counts
    const verdict = verdictLine(exitCode, [...problems(faults.length), `${counted(agrees, 'claim')} ${agrees === 1 ? 'agrees' : 'agree'}`])
    const read = options.out === null ? '' : `read: ${posix.join(options.out, AUDIT_PATH)}\n`
    await reporter.tell(table => `${head}\n${certificateLine(certificates)}${auditTables(report, table)}\n${verdict}${read}`)
    return {
      exitCode,
      report: { study: { name: study.name, path: dir }, certificates: certificates.histories, audit: JSON.parse(text) as unknown }
    }
  })
}

/** The audit and its file's text. Nothing else of the run stays. */
async function computedAudit(
  verified: VerifiedStudy,
  strict: boolean,
  pool: TracePool,
  { io, progress }: Reporter
): Promise<{ readonly report: AuditReport; readonly text: string }> {
  const { onSnapshot, onHistories, onEvidence } = shownPhases(next => {
    const phase = progress.phase(next)
    return done => {
      phase.update(done)
    }
  })
  await sweepWorkFolders(tmpdir(), WORK_NAME)
  const temporary = await makeWorkFolder(tmpdir(), WORK_NAME)
  try {
    const { audit: report } = await analyseStudy({
      ...verified,
      pool,
      out: temporary.path,
      formats: [],
      strict,
      signal: io.signal,
      progress: { onSnapshot, onHistories, onEvidence }
    })
    if (report !== null) return { report, text: await readText(join(temporary.path, AUDIT_PATH)) }
  } finally {
    await temporary.remove()
  }
  throw new Fault({
    format: 'study',
    problem: 'no claims',
    found: 'claims is not stated',
    expected: 'the path of a claims file',
    place: { file: verified.dir }
  })
}
