/** What `study init` and `fetch` share: the histories of a draft read, a draft written, and what a draft holds, in words. */
import { lstat, open, unlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { Fault, describeCause, printable } from '../core/errors.js'
import { errorCode } from '../core/paths.js'
import { counted, formatCount } from '../core/counts.js'
import { formatTable, type TableOptions } from '../render/terminal/table.js'
import { draftHistories, type DraftHistories } from '../study/init/draft.js'
import { draftSelections } from '../study/init/selections.js'
import { LAYOUT_EXPECTED, type ExportSurvey } from '../study/init/survey.js'
import type { Reporter } from './reporter.js'

/** Lines of a list on the terminal; the rest is counted. */
const MAX_LINES = 20

export async function refuseExisting(path: string): Promise<void> {
  if (
    await lstat(path).then(
      () => true,
      () => false
    )
  )
    throw existing(path)
}

function existing(path: string): Fault {
  return new Fault({
    format: 'init',
    problem: 'file exists',
    found: basename(path),
    expected: 'none of this name: nothing is overwritten',
    place: { file: path }
  })
}

/** The histories of a draft. @param dir the study's folder, for messages */
export async function readDraft(dir: string, exports: ExportSurvey, { io, progress }: Reporter): Promise<DraftHistories> {
  const phase = progress.phase({ label: 'looking', total: null, unit: 'histories' })
  const selections = await draftSelections(exports.runs, { signal: io.signal, onHistory: done => phase.update(done) })
  phase.finish()
  const histories = draftHistories(exports, selections)
  if (histories.selections.length > 0 && histories.metrics.metrics.length > 0) return histories
  const count = exports.runs.length
  const missing = exports.runs.filter(run => run.history === null).length
  const reasons = histories.leftOut.length === 0 ? '' : ` (${printable(histories.leftOut.slice(0, 3).join('; '), 600)})`
  throw new Fault({
    format: 'init',
    problem: 'no history to read',
    found: `${counted(count, 'run')}${missing === 0 ? '' : `, ${formatCount(missing)} of them without one`}${reasons}`,
    expected: LAYOUT_EXPECTED,
    place: { file: dir }
  })
}

/** Writes a new file, whole or not at all. */
export async function writeNew(path: string, text: string): Promise<void> {
  const unwritable = (cause: unknown): Fault =>
    errorCode(cause) === 'EEXIST'
      ? existing(path)
      : new Fault({
          format: 'init',
          problem: 'unwritable',
          found: describeCause(cause),
          expected: `a folder that can be written to: ${dirname(path)}`,
          place: { file: path },
          cause
        })
  const handle = await open(path, 'wx').catch((cause: unknown) => {
    throw unwritable(cause)
  })
  try {
    await handle.writeFile(text)
    await handle.sync()
  } catch (cause) {
    await unlink(path)
    throw unwritable(cause)
  } finally {
    await handle.close()
  }
}

/** What a draft takes of the histories. */
export function historiesText(
  { survey, selections, companions, leftOut, metrics, sample, notes }: DraftHistories,
  options: TableOptions
): string {
  const rows = selections.map(({ name, title, runs, sample: own }) => [name, title, formatCount(runs.length), formatCount(own.rows)])
  const table = formatTable(
    [{ title: 'selection' }, { title: 'title' }, { title: 'runs', align: 'right' }, { title: 'rows looked at', align: 'right' }],
    rows,
    { ...options, maxCell: 60 }
  )
  const { others, guessed } = metrics
  const used = metrics.metrics.map(m => m.name).join(', ')
  return [
    `${survey.runsFile}: ${counted(survey.runs.length, 'run')}; histories in ${survey.historyFolder}`,
    table,
    `metrics: ${used}${guessed ? ' (no known key: those logged most often)' : ''}`,
    ...(others.length === 0 ? [] : [`other keys of numbers: ${formatCount(others.length)}, listed in the study file`]),
    ...(sample.nested.size === 0
      ? []
      : [`keys of objects or lists, left out: ${formatCount(sample.nested.size)}, listed in the study file`]),
    ...(sample.unreadable === 0 ? [] : [`lines that are no row: ${formatCount(sample.unreadable)} of those looked at`]),
    ...lines('note', notes),
    ...lines('companion, not selected', companions),
    ...lines('left out', leftOut)
  ].join('\n')
}

/** The first texts as lines, and how many more there are. */
export function lines(what: string, texts: readonly string[]): string[] {
  const shown = texts.slice(0, MAX_LINES).map(text => `${what}: ${printable(text, 400)}`)
  return texts.length > MAX_LINES ? [...shown, `${what}: and ${formatCount(texts.length - MAX_LINES)} more`] : shown
}
