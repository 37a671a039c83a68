/** Where outputs may lie. */
import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { EXIT, Fault } from '../errors.js'

/**
 * Outputs in the study's own folder would be unlisted inputs of the next run.
 *
 * @throws Fault exit 2
 */
export function refuseOutputsInside(dir: string, out: string): void {
  const path = relative(realPath(resolve(dir)), realPath(resolve(out)))
  if (path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)) return
  throw new Fault({
    format: 'usage', problem: 'output inside the study', found: out, expected: `a folder outside ${dir}`, exitCode: EXIT.usage
  })
}

/** Links resolved as far as there is something; the rest will be made there. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realPath(parent), basename(path))
  }
}
