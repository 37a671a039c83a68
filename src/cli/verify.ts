/** `verify`: every file of the study against its source_manifest.json. */
import { EXIT, printable } from '../errors.js'
import { formatSha256sum, verifyManifest } from '../ingest/manifest.js'
import { loadStudy } from '../ingest/study.js'
import { verifyCertificates } from '../ingest/wandb/verify.js'
import { viewFaults } from '../ingest/wandb/views.js'
import { createProgress } from '../render/terminal/progress.js'
import { wantsColour } from '../render/terminal/text.js'
import type { CommonOptions } from './args.js'
import type { CliIo, CommandResult } from './io.js'
import { manifestBytes } from './amounts.js'
import { missingClaims } from './claims.js'
import { faultLines } from './lines.js'
import { manifestFaults, studyManifest } from './manifest-faults.js'
import { studyFolder } from './replica.js'
import { certificateLine, manifestTable } from './summary.js'

export interface VerifyCommand extends CommonOptions {
  readonly study: string | null
  readonly format: 'text' | 'sha256sum'
}

export async function runVerify(options: VerifyCommand, io: CliIo): Promise<CommandResult> {
  const progress = await createProgress({ stream: io.stderr, env: io.env, now: io.now, quiet: options.quiet })
  try {
    const dir = await studyFolder(options.study, io, line => progress.line(line))
    const { study } = await loadStudy(dir)
    const manifest = await studyManifest(dir, study.manifest)
    const hashing = progress.phase({ label: 'verifying', total: manifestBytes(manifest), unit: 'bytes' })
    const report = await verifyManifest(dir, manifest, { signal: io.signal, onProgress: p => hashing.update(p.bytesDone) })
    hashing.finish()
    // Of files that are not those of the manifest a certificate says nothing.
    const certificates = report.ok ? await verifyCertificates(dir, study, io.signal) : null
    const views = report.ok ? await viewFaults(dir, study) : []
    progress.close()
    if (options.format === 'sha256sum') io.stdout.write(formatSha256sum(report))
    else if (!options.quiet && !options.json) {
      io.stdout.write(`${study.synthetic ? 'SYNTHETIC ' : ''}study ${printable(study.name)} in ${dir}\n`)
      const missing = await missingClaims(dir, study)
      if (missing !== null) io.stdout.write(`note: ${missing}\n`)
      io.stdout.write(manifestTable(report, { colour: wantsColour(io.stdout, io.env) }))
      io.stdout.write(certificateLine(certificates))
    }
    const faults = [...manifestFaults(report, dir), ...(certificates?.faults ?? []), ...views]
    for (const line of faultLines(faults, options.verbose)) io.stderr.write(`${line}\n`)
    return { exitCode: faults.length > 0 ? EXIT.checkFailed : EXIT.ok, report: { synthetic: study.synthetic, study: dir, ...report, certificates: certificates?.histories ?? null } }
  } finally {
    progress.close()
  }
}
