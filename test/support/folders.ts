/** What is in a folder, and which Fault a piece of work ends with. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../../src/core/errors.js'

/**
 * All files below a folder, relative, sorted: what a user sees, temporary files included. No link is followed: Node 24 follows
 * them where `readdirSync` is asked for everything below.
 */
export function tree(folder: string): string[] {
  const below = (path: string): string[] =>
    readdirSync(join(folder, path), { withFileTypes: true }).flatMap(entry =>
      entry.isDirectory() ? below(join(path, entry.name)) : [join(path, entry.name)]
    )
  return below('').sort()
}

export async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const error: unknown = await work.then(
    () => null,
    thrown => thrown
  )
  if (error instanceof Fault) return error
  throw new Error(`expected a Fault, got ${error instanceof Error ? error.stack : String(error)}`)
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Every file below a folder with its text. */
export function contents(dir: string): Record<string, string> {
  return Object.fromEntries(tree(dir).map(path => [path, readFileSync(join(dir, path), 'utf8')]))
}
