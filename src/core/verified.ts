/** Files that are read must be those that were verified before: the hash of the bytes read against the manifest's. */
import { join } from 'node:path'
import { EXIT, Fault } from './errors.js'

export interface ReadFile {
  /** relative to the study */
  readonly path: string
  readonly sha256: string
  readonly bytes: number
}

/**
 * @param verified SHA-256 by path relative to the study; undefined: nothing was verified
 * @throws Fault exit 1
 */
export function requireVerified<F extends ReadFile>(dir: string, file: F, verified: ReadonlyMap<string, string> | undefined): F {
  const expected = verified?.get(file.path)
  if (verified === undefined || expected === file.sha256) return file
  throw new Fault({
    format: 'manifest',
    problem: expected === undefined ? 'file not listed' : 'file changed after it was verified',
    found: file.sha256,
    expected: expected ?? 'an entry in the manifest',
    place: { file: join(dir, file.path) },
    exitCode: EXIT.checkFailed
  })
}
