/**
 * Finds the files below a study that its manifest does not list.
 *
 * Every regular file counts, hidden and temporary ones too, since a pipeline can read them. Excepted are the manifest
 * itself, a `.git` folder or file at the top, `.DS_Store` (which macOS writes by itself), and what the caller names (an
 * output folder inside the study). Symbolic links are neither followed nor reported: the target lies in the study and is
 * reported under its own name, or lies outside and is refused by every reader. In a folder of outputs links are reported.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault, describeCause } from '../core/errors.js'

export interface UnlistedOptions {
  /** canonical relative paths of the listed files */
  readonly listed: ReadonlySet<string>
  /** canonical relative paths of files and folders to skip */
  readonly except: ReadonlySet<string>
  /** true for a folder of outputs: links and special files are reported too, since they are passed on with the outputs */
  readonly outputs?: boolean
  readonly signal?: AbortSignal | undefined
}

/** Canonical relative paths, in the order of the walk (not sorted). */
export async function findUnlisted(root: string, options: UnlistedOptions): Promise<string[]> {
  const { listed, except, outputs = false, signal } = options
  const found: string[] = []
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    signal?.throwIfAborted()
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch((cause: unknown) => {
      throw new Fault({
        format: outputs ? 'outputs' : 'manifest',
        problem: 'unreadable folder',
        found: describeCause(cause),
        expected: 'a folder that can be listed',
        place: { file: join(root, folder === undefined ? '' : folder) },
        cause
      })
    })
    for (const entry of entries) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      const passedOver = path === '.git' || entry.name === '.DS_Store'
      if (except.has(path) || (passedOver && (!outputs || entry.isFile() || entry.isDirectory()))) continue
      if (entry.isDirectory()) folders.push(path)
      else if ((outputs || entry.isFile()) && !listed.has(path)) found.push(path)
    }
  }
  return found
}
