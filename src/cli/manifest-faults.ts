/** The manifest of a study, and what differs from it, one fault a file. */
import { join } from 'node:path'
import { EXIT, Fault, printable } from '../core/errors.js'
import { readManifest, type Manifest, type ManifestReport, type VerifiedFile } from '../study/manifest.js'
import { withWayTo } from '../core/strict-json.js'

const PROBLEMS = { mismatch: 'file differs', missing: 'file missing', unlisted: 'file not listed' } as const

/** Reads it. @throws Fault, which names the command that writes one where there is none */
export async function studyManifest(dir: string, path: string): Promise<Manifest> {
  const command = `node dist/run.js manifest --study ${printable(dir, 400)} --write`
  return readManifest(join(dir, path)).catch(withWayTo(`a manifest; "${command}" writes one`))
}

export function manifestFaults(report: ManifestReport, dir: string): Fault[] {
  return report.files.flatMap(file =>
    file.status === 'ok'
      ? []
      : [
          new Fault({
            format: 'manifest',
            problem: PROBLEMS[file.status],
            found: foundText(file),
            expected: file.expected === null
              ? 'an entry in the manifest (manifest --write makes one)'
              : `${file.expected.sha256}, ${file.expected.bytes} bytes (manifest --write after a change that is meant)`,
            place: { file: join(dir, file.path) },
            exitCode: EXIT.checkFailed
          })
        ]
  )
}

/** The reason is told where the hash alone does not say what is wrong: the file moved while it was read. */
function foundText({ found, reason, expected }: VerifiedFile): string {
  if (found === null) return reason ?? 'nothing'
  const bytes = found.sha256 === null ? `${found.bytes} bytes` : `${found.sha256}, ${found.bytes} bytes`
  return reason !== null && found.sha256 === expected?.sha256 ? `${bytes}, ${reason}` : bytes
}
