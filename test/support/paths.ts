/** Where tests find the repository and its fixtures, seen from dist/test/support. */
import { fileURLToPath } from 'node:url'

/** The repository's root. */
export const root = fileURLToPath(new URL('../../../', import.meta.url))

/** A file or folder below fixtures/. */
export function fixture(...parts: readonly string[]): string {
  return [root.replace(/\/$/, ''), 'fixtures', ...parts].join('/')
}

/** A file that the replica's generator copies as it is. */
export function replicaSource(...parts: readonly string[]): string {
  return [root.replace(/\/$/, ''), 'src/replica', ...parts].join('/')
}
