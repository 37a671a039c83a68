/** Checks that a file that was read is the one that was verified before: the hash of the bytes read against the manifest's. */
import { join } from 'node:path'
import { EXIT, Fault } from './errors.js'

export interface ReadFile {
  readonly path: string
  readonly sha256: string
  readonly bytes: number
}

/**
 * @param dir folder to which the paths are relative
 * @param verified SHA-256 by path; undefined: nothing was verified
 * @returns Fault exit 1; null where the file is the one that was verified, or nothing was verified
 */
export function verifiedFault(
  dir: string,
  { path, sha256 }: Omit<ReadFile, 'bytes'>,
  verified: ReadonlyMap<string, string> | undefined
): Fault | null {
  const expected = verified?.get(path)
  if (verified === undefined || expected === sha256) return null
  return new Fault({
    format: 'manifest',
    problem: expected === undefined ? 'file not listed' : 'file changed after it was verified',
    found: sha256,
    expected: expected ?? 'an entry in the manifest',
    place: { file: join(dir, path) },
    exitCode: EXIT.checkFailed
  })
}

/** Returns the file where it is the one that was verified. @throws what `verifiedFault` finds */
export function requireVerified<F extends ReadFile>(dir: string, file: F, verified: ReadonlyMap<string, string> | undefined): F {
  const fault = verifiedFault(dir, file, verified)
  if (fault !== null) throw fault
  return file
}
