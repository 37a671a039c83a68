/** Refuses output folders that are, contain or lie in what is read. */
import { EXIT, Fault } from '../../core/errors.js'
import { holds, isInside, realPlace } from '../../core/system/folder.js'
import { DEFAULT_OUT } from './output-names.js'

/**
 * Outputs in the study's own folder would be unlisted inputs of the next run. Outputs in a folder that contains the
 * study could replace its files.
 *
 * @throws Fault (exit 2) where the output folder is, contains or lies in the study
 */
export function refuseOutputsAtStudy(dir: string, out: string): void {
  refuseNested('the study', dir, out)
}

/**
 * `refuseOutputsAtStudy` for paths of snapshots. The default output folder in the working folder may lie in such a
 * path, because it is never read as a snapshot (`findSnapshots` skips it).
 *
 * @throws Fault (exit 2) where the output folder is, contains or lies in an input
 */
export function refuseOutputsAtInputs(paths: readonly string[], out: string): void {
  const unread = realPlace(DEFAULT_OUT)
  const place = realPlace(out)
  for (const path of paths) {
    const input = realPlace(path)
    if (isInside(unread, place) && isInside(input, unread) && input !== unread) continue
    refuseNested('an input', path, out)
  }
}

function refuseNested(what: string, input: string, out: string): void {
  const problem = holds(input, out) ? `output inside ${what}` : holds(out, input) ? `output around ${what}` : null
  if (problem === null) return
  throw new Fault({
    format: 'usage',
    problem,
    found: out,
    expected: `a folder outside ${input} that does not hold it`,
    exitCode: EXIT.usage
  })
}
