/**
 * The study that a fetch leaves: its histories are drafted where it states none, and its manifest lists what the fetch wrote.
 * So `all` runs at once. What the fetch did not write keeps its entries in the manifest.
 */
import { stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { EXIT, Fault, printable } from '../core/errors.js'
import { parseStrictJson } from '../core/strict-json.js'
import { readText } from '../core/still-file.js'
import { historyPath } from '../fetch/fetch-rows.js'
import type { FetchOutcome } from '../fetch/fetch.js'
import { certificatePath } from '../ingest/certificate/file.js'
import { OutputSet } from '../render/outputs/output-set.js'
import type { FetchStudy } from '../schema/fetch.js'
import type { Study } from '../schema/study.js'
import { draftStudy, withHistories, type DraftHistories } from '../study/init/draft.js'
import { surveyExports, surveyFolder } from '../study/init/survey.js'
import { titleLike } from '../study/init/words.js'
import { STUDY_FILE } from '../study/label.js'
import { readManifest } from '../study/manifest.js'
import { fetchedManifest, updatedManifest } from '../study/manifest-update.js'
import { checkStudy, loadStudy } from '../study/study.js'
import { readDraft, writeNew } from './drafting.js'
import type { Reporter } from './reporter.js'

export interface FetchedStudy {
  /** the drafted histories; null: the study had its own, or nothing has come yet */
  readonly drafted: DraftHistories | null
  /** true: the study file was made, not completed */
  readonly isNew: boolean
  /** files of the study that were written besides those of the fetch, relative to it */
  readonly written: readonly string[]
  /** display names of fetched runs that no selection of the study takes */
  readonly unselected: readonly string[]
}

export interface FetchedFolder {
  readonly dir: string
  /** null: there is no study file yet */
  readonly study: Study | null
  readonly fetch: FetchStudy
  /** where histories lie below the folder */
  readonly folder: string
  /** ISO 8601 date for a new manifest */
  readonly today: string
}

/** Drafts what the study lacks and writes the manifest. Without a single history nothing is drafted: the same fetch goes on later. */
export async function completeStudy(where: FetchedFolder, outcome: FetchOutcome, reporter: Reporter): Promise<FetchedStudy> {
  const { dir } = where
  const isNew = where.study === null
  const drafted = (where.study?.histories ?? null) === null && outcome.runs.length > 0 ? await draft(where, outcome, reporter) : null
  if (isNew && drafted === null) return { drafted, isNew, written: [], unselected: [] }
  const { study } = await loadStudy(dir)
  const manifest = await writeManifest(where, study, outcome, drafted !== null, reporter)
  const selected = new Set(study.histories?.selections.map(selection => selection.display_name))
  const names = new Set(outcome.runs.map(({ entry }) => entry.displayName))
  const unselected = [...names].filter(name => !selected.has(name))
  return { drafted, isNew, unselected, written: [...(drafted === null ? [] : [STUDY_FILE]), ...(manifest ? [study.manifest] : [])] }
}

async function draft({ dir, study, fetch }: FetchedFolder, { runs }: FetchOutcome, reporter: Reporter): Promise<DraftHistories> {
  const { exports, snapshot } = study === null ? await surveyFolder(dir) : { exports: await surveyExports(dir, []), snapshot: null }
  if (exports === null) throw new Error('a fetch without a list of runs')
  // Runs that are listed and not fetched have no history and are no curve.
  const isFetched = ({ id, label }: { readonly id: string; readonly label: string }): boolean =>
    runs.some(({ entry }) => entry.id === id && entry.label === label)
  const fetched = { ...exports, runs: exports.runs.filter(({ run }) => isFetched(run)) }
  const histories = await readDraft(dir, fetched, reporter)
  const path = join(dir, STUDY_FILE)
  if (study === null) {
    const text = draftStudy(titleLike(basename(resolve(dir)), 'study', new Set(), 100), histories, snapshot, fetch)
    check(text, path)
    await writeNew(path, text)
  } else {
    const text = withHistories(await readText(path), histories)
    check(text, path)
    await OutputSet.writeAlone(dir, STUDY_FILE, text)
  }
  return histories
}

function check(text: string, path: string): void {
  checkStudy(parseStrictJson(text, 'study'), { format: 'study', place: { file: path }, paths: [] })
}

/** @returns false where the manifest is as it was */
async function writeManifest(
  { dir, folder, today }: FetchedFolder,
  study: Study,
  { runs, lists }: FetchOutcome,
  drafted: boolean,
  { io, progress }: Reporter
): Promise<boolean> {
  const path = join(dir, study.manifest)
  const exists = await stat(path).then(
    () => true,
    () => false
  )
  const hashing = progress.phase({ label: 'hashing', total: null, unit: 'bytes' })
  let done = 0
  const onBytes = (bytes: number): void => {
    done += bytes
    hashing.update(done)
  }
  const options = { signal: io.signal, today, allowPartial: true, onBytes }
  const filesOf = (statuses: readonly string[]): string[] =>
    runs
      .filter(({ status }) => statuses.includes(status))
      .flatMap(({ entry }) => [historyPath(folder, entry), certificatePath(folder, entry)])
  const written = [...filesOf(['fetched', 'resumed']), ...lists, ...(drafted ? [STUDY_FILE] : [])]
  const text = exists
    ? await fetchedManifest(dir, study, await readManifest(path), { written, proved: filesOf(['unchanged']) }, options)
    : (await updatedManifest(dir, study, null, options)).text
  hashing.finish()
  if (exists && (await readText(path)) === text) return false
  await OutputSet.writeAlone(dirname(path), basename(path), text)
  return true
}

/** The study in a folder; null where there is no study file and none is needed. */
export async function studyIn(dir: string, needed: boolean): Promise<Study | null> {
  const found = needed || (await stat(join(dir, STUDY_FILE)).catch(() => null)) !== null
  return found ? (await loadStudy(dir)).study : null
}

/** @throws Fault exit 2: the folder's study fetches something else than what is asked for */
export function requireSameFetch(dir: string, { fetch }: Study, asked: FetchStudy): void {
  const of = (section: FetchStudy | null): string =>
    (section?.runs ?? [])
      .map(({ entity, project, display_name, ids, not_ids }) => JSON.stringify([entity, project, display_name, ids, not_ids]))
      .sort()
      .join()
  if (of(fetch) === of(asked)) return
  throw new Fault({
    format: 'usage',
    problem: 'study exists',
    found: `${STUDY_FILE}, which ${fetch === null ? 'fetches nothing' : 'fetches other runs'}`,
    expected: `fetch --study ${printable(dir, 400)} after an edit of its fetch section, or another folder`,
    place: { file: join(dir, STUDY_FILE) },
    exitCode: EXIT.usage
  })
}
