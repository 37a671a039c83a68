/** Where an output folder may lie: not on, around or in what is read. */
import { EXIT, Fault } from '../../core/errors.js'
import { holds, isInside, realPlace } from '../../core/system/folder.js'
import { DEFAULT_OUT } from './output-names.js'

/**
 * Outputs in the study's own folder would be unlisted inputs of the next run; in a folder that holds the study they could
 * take the place of its files.
 *
 * @throws Fault exit 2
 */
export function refuseOutputsAtStudy(dir: string, out: string): void {
  refuse('the study', dir, out)
}

/**
 * The same for paths of snapshots. The default folder in the working folder is never read as one (`findSnapshots` passes it
 * over), so it may lie in a path that is.
 *
 * @throws Fault exit 2
 */
export function refuseOutputsAtInputs(paths: readonly string[], out: string): void {
  const unread = realPlace(DEFAULT_OUT)
  const place = realPlace(out)
  for (const path of paths) {
    const input = realPlace(path)
    if (isInside(unread, place) && isInside(input, unread) && input !== unread) continue
    refuse('an input', path, out)
  }
}

function refuse(what: string, input: string, out: string): void {
  const problem = holds(input, out) ? `output inside ${what}` : holds(out, input) ? `output around ${what}` : null
  if (problem === null) return
  throw new Fault({ format: 'usage', problem, found: out, expected: `a folder outside ${input} that does not hold it`, exitCode: EXIT.usage })
}
