/**
 * `verify`: checks every file of the study against its source_manifest.json, and every certificate. With `--second-reader`
 * every value is read twice.
 */
import { counted } from '../core/counts.js'
import { EXIT, printable } from '../core/errors.js'
import { formatSha256sum } from '../study/manifest.js'
import { verifyCertificates } from '../ingest/certificate/verify.js'
import { viewFaults } from '../fetch/views.js'
import type { VerifyCommand } from './args.js'
import type { SecondOptions } from '../second/run.js'
import { problems, verdictLine } from './closing.js'
import type { CliIo, CommandResult } from './io.js'
import { missingClaims } from './claims.js'
import { manifestFaults } from './manifest-faults.js'
import { reporting } from './reporter.js'
import { certificateLine, manifestTable } from './summary.js'
import { studyFolder, verifyStudy } from './verified-study.js'

/** @param second how files are read again; tests pass another reader */
export async function runVerify(options: VerifyCommand, io: CliIo, second: SecondOptions = {}): Promise<CommandResult> {
  if (options.outputs !== null) return (await import('./verify-outputs.js')).verifyOutputs(options.outputs, options, io)
  if (options.figures !== null) return (await import('./verify-figures.js')).verifyFigures(options.figures, options, io)
  return reporting(options, io, async reporter => {
    const { progress } = reporter
    const { dir, study, manifest } = await verifyStudy(await studyFolder(options.study, reporter), reporter)
    // A certificate says nothing of files that differ from the manifest.
    const certificates = manifest.ok ? await verifyCertificates(dir, study, io.signal) : null
    const views = manifest.ok ? await viewFaults(dir, study) : []
    // Loaded only where it is asked for. Its libraries are loaded only in a process of their own.
    const reader = options.secondReader ? await import('./second-reader.js') : null
    const readings =
      reader === null || !manifest.ok ? null : await reader.readAgain(dir, study, manifest, progress, { signal: io.signal, ...second })
    progress.close()
    const faults = [
      ...manifestFaults(manifest, dir),
      ...(certificates?.faults ?? []),
      ...views,
      ...(reader?.secondFaults(readings ?? []) ?? [])
    ]
    const exitCode = faults.reduce<number>((gravest, fault) => Math.max(gravest, fault.exitCode), EXIT.ok)
    reporter.tellFaults(faults)
    if (options.format === 'sha256sum') io.stdout.write(formatSha256sum(manifest))
    else {
      await reporter.tell(async table => {
        const missing = await missingClaims(dir, study)
        return [
          `${study.synthetic ? 'SYNTHETIC ' : ''}study ${printable(study.name)} in ${dir}\n`,
          missing === null ? '' : `note: ${missing}\n`,
          manifestTable(manifest, table),
          certificateLine(certificates),
          reader === null
            ? ''
            : readings === null
              ? 'second reader: not asked, since files differ from the manifest\n'
              : reader.secondTable(readings, table),
          verdictLine(exitCode, [...problems(faults.length), `${counted(manifest.counts.ok, 'file')} as listed`])
        ].join('')
      })
    }
    return {
      exitCode,
      report: {
        synthetic: study.synthetic,
        study: dir,
        ...manifest,
        certificates: certificates?.histories ?? null,
        ...(reader === null ? {} : { second_reader: readings })
      }
    }
  })
}
