/** How many steps a run may have for the rows that the server counts. A last step that no row justifies would be asked for without end. */
import { Fault, printableId } from '../core/errors.js'
import { STEPS_PER_REQUEST } from '../schema/fetch.js'
import { projectPath, type ProjectName, type RunDetails } from './answers.js'

/** Most narrow windows of a history. */
const MAX_WINDOWS = 1_000_000

/** Narrow windows that are always allowed, and those for each counted row. A run that logs once in a thousand steps has ten. */
const FREE_WINDOWS = 10_000
const WINDOWS_PER_ROW = 100

/** Steps for each counted row, asked for in wide windows: some trainers count frames or tokens as steps. */
const STEPS_PER_ROW = 1_000_000

/** Windows of 100 steps up to the last step. */
export function narrowWindows(lastStep: number | null): number {
  return Math.ceil(((lastStep ?? -1) + 1) / STEPS_PER_REQUEST)
}

/** Most windows of 100 steps for so many rows. */
export function mostWindows(lineCount: number | null): number {
  return Math.min(MAX_WINDOWS, FREE_WINDOWS + WINDOWS_PER_ROW * (lineCount ?? 0))
}

/** @throws Fault exit 3: more steps than the counted rows can justify */
export function requirePlausible({ id, lastStep, lineCount }: RunDetails, where: ProjectName): void {
  const windows = narrowWindows(lastStep)
  if (windows <= mostWindows(lineCount) || (lineCount !== null && (lastStep ?? 0) <= lineCount * STEPS_PER_ROW)) return
  throw new Fault({
    format: 'wandb',
    problem: 'implausible last step',
    found: `${lastStep ?? 'none'} with ${lineCount ?? 'no'} rows counted`,
    expected: `rows to find in ${windows} windows of ${STEPS_PER_REQUEST} steps (run ${printableId(id)} of ${projectPath(where)})`
  })
}
