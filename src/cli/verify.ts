/** `verify`: every file of the study against its source_manifest.json; every certificate; with `--second-reader` every value, read twice. */
import { EXIT, printable } from '../core/errors.js'
import { formatSha256sum, verifyManifest } from '../study/manifest.js'
import { loadStudy } from '../study/study.js'
import { verifyCertificates } from '../ingest/certificate/verify.js'
import { viewFaults } from '../fetch/views.js'
import { createProgress } from '../render/terminal/progress.js'
import { wantsColour } from '../render/terminal/text.js'
import type { VerifyCommand } from './args.js'
import type { SecondOptions } from '../second/run.js'
import type { CliIo, CommandResult } from './io.js'
import { manifestBytes } from './amounts.js'
import { missingClaims } from './claims.js'
import { faultLines } from './lines.js'
import { manifestFaults, studyManifest } from './manifest-faults.js'
import { studyFolder } from './replica.js'
import { certificateLine, manifestTable } from './summary.js'

/** @param second how files are read again; tests pass another reader */
export async function runVerify(options: VerifyCommand, io: CliIo, second: SecondOptions = {}): Promise<CommandResult> {
  if (options.outputs !== null) return (await import('./verify-outputs.js')).verifyOutputs(options.outputs, options, io)
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
    // Loaded only here, and its libraries only in a process of their own.
    const reader = options.secondReader ? await import('./second-reader.js') : null
    const readings = reader === null || !report.ok ? null : await reader.readAgain(dir, study, report, progress, { signal: io.signal, ...second })
    progress.close()
    if (options.format === 'sha256sum') io.stdout.write(formatSha256sum(report))
    else if (!options.quiet && !options.json) {
      io.stdout.write(`${study.synthetic ? 'SYNTHETIC ' : ''}study ${printable(study.name)} in ${dir}\n`)
      const missing = await missingClaims(dir, study)
      if (missing !== null) io.stdout.write(`note: ${missing}\n`)
      const table = { colour: wantsColour(io.stdout, io.env) }
      io.stdout.write(manifestTable(report, table))
      io.stdout.write(certificateLine(certificates))
      if (reader !== null) {
        io.stdout.write(readings === null ? 'second reader: not asked, since files differ from the manifest\n' : reader.secondTable(readings, table))
      }
    }
    const faults = [...manifestFaults(report, dir), ...(certificates?.faults ?? []), ...views, ...(reader?.secondFaults(readings ?? []) ?? [])]
    for (const line of faultLines(faults, options.verbose)) io.stderr.write(`${line}\n`)
    return {
      exitCode: faults.reduce<number>((gravest, fault) => Math.max(gravest, fault.exitCode), EXIT.ok),
      report: {
        synthetic: study.synthetic, study: dir, ...report, certificates: certificates?.histories ?? null,
        ...(reader === null ? {} : { second_reader: readings })
      }
    }
  } finally {
    progress.close()
  }
}
