/** CSV exports in a folder that is to become a study: they are written as histories beside the CSV files, which stay. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../core/errors.js'
import { compareCodepoints } from '../core/paths.js'
import { readWhole } from '../core/still-file.js'
import { comparingWords } from '../core/still.js'
import { runsText } from '../fetch/runs-file.js'
import { OutputSet } from '../render/outputs/output-set.js'
import { FETCHED_PLACES } from '../schema/fetch.js'
import { CSV_LABEL, runsOfCsv, type CsvFile, type CsvRun } from '../study/init/csv-exports.js'
import { capped, initFault } from '../study/init/words.js'

/** Most CSV files of a folder. */
const MAX_FILES = 1000

export interface CsvExports {
  /** one line each, for the terminal */
  readonly notes: readonly string[]
  /** the first file's fault, where no file could be read */
  readonly fault: Fault | null
  /** Removes what was written, where no study comes of it. */
  undo(): Promise<void>
}

const NONE: CsvExports = { notes: [], fault: null, undo: async () => undefined }

/** Names of the folder's CSV files where no list of runs is there. */
export async function csvFilesIn(dir: string): Promise<readonly string[]> {
  for (const list of [FETCHED_PLACES.runs, 'runs.json']) {
    if ((await stat(join(dir, list)).catch(() => null)) !== null) return []
  }
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => [])
  return entries
    .filter(entry => entry.isFile() && /\.csv$/i.test(entry.name))
    .map(entry => entry.name)
    .sort(compareCodepoints)
}

/**
 * Writes the runs of CSV files as a list of runs and histories. A folder without CSV files stays as it is.
 *
 * @throws Fault exit 3: two files that contradict each other. A file that cannot be read is noted
 */
export async function writeCsvRuns(dir: string, names: readonly string[]): Promise<CsvExports> {
  if (names.length === 0) return NONE
  if (names.length > MAX_FILES) throw initFault('too many CSV files', String(names.length), `at most ${MAX_FILES}`, dir)
  const { MAX_CSV_BYTES, readCsv } = await import('../ingest/csv/table.js')
  const files: CsvFile[] = []
  const faults: Fault[] = []
  for (const name of names) {
    const file = join(dir, name)
    try {
      files.push({ name, table: readCsv(await readWhole(file, comparingWords('csv'), MAX_CSV_BYTES), file) })
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      faults.push(error)
    }
  }
  const { runs, notes: ofRuns } = runsOfCsv(files)
  const notes = [...faults.map(({ message }) => `left out: ${message}`), ...ofRuns]
  if (runs.length === 0) return { ...NONE, notes, fault: faults[0] ?? null }
  const outputs = [
    ...runs.map(({ id, text }) => ({ path: `${FETCHED_PLACES.folder}/${CSV_LABEL}/${id}.jsonl`, text })),
    { path: FETCHED_PLACES.runs, text: runsText(runs.map(entryOf)) }
  ]
  const undo = async (): Promise<void> => {
    for (const { path } of outputs) await rm(join(dir, path), { force: true })
  }
  try {
    for (const { path, text } of outputs) await OutputSet.writeAlone(dir, path, text)
  } catch (error) {
    await undo()
    throw error
  }
  const from = `${names.length} CSV ${names.length === 1 ? 'file' : 'files'} (${capped(names, 5).join(', ')})`
  return {
    notes: [`wrote ${FETCHED_PLACES.runs} and ${runs.length} ${runs.length === 1 ? 'history' : 'histories'} of ${from}`, ...notes],
    fault: null,
    undo
  }
}

function entryOf({ id, displayName, createdAt, fetchedAt }: CsvRun): Parameters<typeof runsText>[0][number] {
  return { id, displayName, entity: null, project: null, createdAt, state: null, url: null, fetchedAt, label: CSV_LABEL, config: {} }
}
