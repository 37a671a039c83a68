/**
 * Removes files of `dist/` that no source makes any more. The TypeScript compiler never removes a file. What a moved module
 * left behind would be published, and imports of it would still be found. The folder is not emptied before the build, so that
 * an incremental compiler finds what it wrote.
 */
import { existsSync } from 'node:fs'
import { readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Files that the build makes from more than one source, and what it keeps for the next one. */
const MADE = /^(?:bundle\/|maps\/|src\/kernel\/kernel\.wasm$|\.tsbuildinfo$|\.built$)/

/** The source of a file below `dist/`: a module, its types or its source map, or a file that is copied as it is. */
export function sourceOf(built: string): string {
  return built.replace(
    /(?:\.d\.(c?)ts|\.(c?)js(?:\.map)?)$/,
    (_, declaration?: string, module?: string) => `.${declaration ?? module ?? ''}ts`
  )
}

/** Removes such files, and folders that are then empty. */
export async function removeStale(root: string): Promise<void> {
  const dist = join(root, 'dist')
  const entries = await readdir(dist, { recursive: true, withFileTypes: true })
  const paths = entries.map(entry => ({ folder: entry.isDirectory(), path: join(entry.parentPath, entry.name).slice(dist.length + 1) }))
  for (const { folder, path } of paths) {
    if (!folder && !MADE.test(path) && !existsSync(join(root, sourceOf(path)))) await rm(join(dist, path))
  }
  // the deepest first
  for (const { folder, path } of paths.sort((a, b) => b.path.length - a.path.length)) {
    if (folder && (await readdir(join(dist, path))).length === 0) await rmdir(join(dist, path))
  }
}
