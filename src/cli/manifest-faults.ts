/** What differs from a study's manifest: one fault for each file. */
import { join } from 'node:path'
import { EXIT, Fault } from '../core/errors.js'
import type { ManifestReport, VerifiedFile } from '../study/manifest.js'

const PROBLEMS = { mismatch: 'file differs', missing: 'file missing', unlisted: 'file not listed' } as const

export function manifestFaults(report: ManifestReport, dir: string): Fault[] {
  return report.files.flatMap(file =>
    file.status === 'ok'
      ? []
      : [
          new Fault({
            format: 'manifest',
            problem: PROBLEMS[file.status],
            found: foundText(file),
            expected:
              file.expected === null
                ? 'an entry in the manifest (manifest --write makes one)'
                : `${file.expected.sha256}, ${file.expected.bytes} bytes (manifest --write after a change that is meant)`,
            place: { file: join(dir, file.path) },
            exitCode: EXIT.checkFailed
          })
        ]
  )
}

/** What was found. The reason is added where the hash alone does not say what is wrong: the file changed while it was read. */
function foundText({ found, reason, expected }: VerifiedFile): string {
  if (found === null) return reason ?? 'nothing'
  const bytes = found.sha256 === null ? `${found.bytes} bytes` : `${found.sha256}, ${found.bytes} bytes`
  return reason !== null && found.sha256 === expected?.sha256 ? `${bytes}, ${reason}` : bytes
}
