/**
 * `study init DIR`: writes a commented study file for a folder of exports, and a manifest over the folder. The study then
 * runs as it is, unless a history holds rows that the reader refuses; those among the first lines are listed. Nothing is
 * overwritten. With `--out FILE` elsewhere only the study file is written, as a draft.
 */
import { lstat, open, unlink } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { EXIT, Fault, describeCause, printable } from '../core/errors.js'
import { draftHistories, draftStudy, type DraftHistories } from '../study/init/draft.js'
import { draftManifest, planManifest, snapshotDate } from '../study/init/manifest.js'
import { draftSelections } from '../study/init/selections.js'
import { refusedHistories } from '../study/init/strict-look.js'
import { LAYOUT_EXPECTED, surveyFolder, type ExportSurvey, type FolderSurvey } from '../study/init/survey.js'
import { titleLike } from '../study/init/words.js'
import { parseStrictJson } from '../core/strict-json.js'
import { errorCode } from '../core/paths.js'
import { STUDY_FILE } from '../study/label.js'
import { checkStudy } from '../study/study.js'
import { realPlace } from '../core/system/folder.js'
import { formatCount } from '../core/counts.js'
import { formatTable, type TableOptions } from '../render/terminal/table.js'
import type { InitOptions } from './args.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting, type Reporter } from './reporter.js'

const MANIFEST_FILE = 'source_manifest.json'

/** Lines of a list on the terminal; the rest is counted. */
const MAX_LINES = 20

export async function runStudyInit(options: InitOptions, io: CliIo): Promise<CommandResult> {
  return reporting(options, io, async reporter => {
    const { dir } = options
    const studyPath = options.out ?? join(dir, STUDY_FILE)
    const inPlace = realPlace(studyPath) === realPlace(join(dir, STUDY_FILE))
    const manifestPath = inPlace ? join(dir, MANIFEST_FILE) : null
    await refuseExisting(studyPath)
    if (manifestPath !== null) await refuseExisting(manifestPath)
    // 1. Look
    const survey = await surveyFolder(dir)
    const histories = survey.exports === null ? null : await readHistories(dir, survey.exports, reporter)
    const refused =
      histories === null ? [] : await refusedHistories(histories.selections, { keys: histories.keys, ...histories.metrics }, io.signal)
    // 2. Draft
    const name = options.name ?? titleLike(basename(resolve(dir)), 'study', new Set(), 100)
    const text = draftStudy(name, histories, survey.snapshot)
    checkStudy(parseStrictJson(text, 'study'), { format: 'study', place: { file: studyPath }, paths: [] })
    const manifest = manifestPath === null ? null : await hashAll(dir, histories, survey, text, reporter)
    // 3. Write
    await writeNew(studyPath, text)
    if (manifestPath !== null && manifest !== null) {
      await writeNew(manifestPath, manifest.text).catch(async (error: unknown) => {
        await unlink(studyPath)
        throw error
      })
    }
    await reporter.tell(table =>
      [
        ...(histories === null ? [] : [historiesText(histories, table)]),
        ...(survey.snapshot === null ? [] : [`critic traces: ${printable(survey.snapshot.path, 400)}`]),
        ...survey.notes.map(note => `note: ${printable(note, 400)}`),
        ...(refused.length === 0 ? [] : lines('to be mended before the study runs', refused)),
        `${nextText(dir, studyPath, manifestPath, manifest?.files ?? 0)}\n`
      ].join('\n')
    )
    return { exitCode: EXIT.ok, report: { ...reportOf(studyPath, manifestPath, histories, survey), refused } }
  })
}

async function refuseExisting(path: string): Promise<void> {
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

async function readHistories(dir: string, exports: ExportSurvey, { io, progress }: Reporter): Promise<DraftHistories> {
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
    found: `${formatCount(count)} ${count === 1 ? 'run' : 'runs'}${missing === 0 ? '' : `, ${formatCount(missing)} of them without one`}${reasons}`,
    expected: LAYOUT_EXPECTED,
    place: { file: dir }
  })
}

async function hashAll(
  dir: string,
  histories: DraftHistories | null,
  { snapshot }: FolderSurvey,
  text: string,
  { io, progress }: Reporter
): Promise<{ readonly text: string; readonly files: number }> {
  const planned = await planManifest(dir, histories, snapshot, [STUDY_FILE, MANIFEST_FILE])
  const phase = progress.phase({ label: 'hashing', total: planned.reduce((sum, file) => sum + file.bytes, 0), unit: 'bytes' })
  let done = 0
  const study = { path: STUDY_FILE, text }
  const manifest = await draftManifest(dir, snapshotDate(histories, planned), planned, study, {
    signal: io.signal,
    onBytes: bytes => {
      done += bytes
      phase.update(done)
    }
  })
  phase.finish()
  return { text: manifest, files: planned.length + 1 }
}

/** Writes a new file, whole or not at all. */
async function writeNew(path: string, text: string): Promise<void> {
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

function historiesText({ survey, selections, companions, leftOut, metrics, sample }: DraftHistories, options: TableOptions): string {
  const rows = selections.map(({ name, title, runs, sample: own }) => [name, title, formatCount(runs.length), formatCount(own.rows)])
  const table = formatTable(
    [{ title: 'selection' }, { title: 'title' }, { title: 'runs', align: 'right' }, { title: 'rows looked at', align: 'right' }],
    rows,
    { ...options, maxCell: 60 }
  )
  const { others, guessed } = metrics
  const used = metrics.metrics.map(m => m.name).join(', ')
  return [
    `${survey.runsFile}: ${formatCount(survey.runs.length)} runs; histories in ${survey.historyFolder}`,
    table,
    `metrics: ${used}${guessed ? ' (no known key: those logged most often)' : ''}`,
    ...(others.length === 0 ? [] : [`other keys of numbers: ${formatCount(others.length)}, listed in the study file`]),
    ...(sample.nested.size === 0
      ? []
      : [`keys of objects or lists, left out: ${formatCount(sample.nested.size)}, listed in the study file`]),
    ...(sample.unreadable === 0 ? [] : [`lines that are no row: ${formatCount(sample.unreadable)} of those looked at`]),
    ...lines('companion, not selected', companions),
    ...lines('left out', leftOut)
  ].join('\n')
}

function lines(what: string, texts: readonly string[]): string[] {
  const shown = texts.slice(0, MAX_LINES).map(text => `${what}: ${printable(text, 400)}`)
  return texts.length > MAX_LINES ? [...shown, `${what}: and ${texts.length - MAX_LINES} more`] : shown
}

function nextText(dir: string, studyPath: string, manifestPath: string | null, files: number): string {
  if (manifestPath === null) {
    return `wrote ${studyPath}, a draft: its paths are relative to ${dir}, where study init without --out writes it with a manifest`
  }
  return [
    `wrote ${studyPath} and ${manifestPath} (${formatCount(files)} files)`,
    'next: read the study file; it is yours to edit. After an edit',
    `      node dist/run.js manifest --write --study ${dir}`,
    'writes the manifest again. Then',
    `      node dist/run.js verify --study ${dir}`,
    `      node dist/run.js all --study ${dir}`
  ].join('\n')
}

function reportOf(study: string, manifest: string | null, histories: DraftHistories | null, { snapshot, notes }: FolderSurvey): object {
  return {
    study,
    manifest,
    histories:
      histories === null
        ? null
        : {
            runs: histories.survey.runs.length,
            selections: histories.selections.map(({ name, display_name, runs }) => ({
              name,
              display_name,
              runs: runs.map(({ run }) => run.id)
            })),
            companions: histories.companions,
            left_out: histories.leftOut,
            metrics: histories.metrics.metrics.map(({ name, key }) => ({ name, key })),
            other_keys: histories.metrics.others,
            nested_keys: [...histories.sample.nested]
          },
    critic_traces: snapshot?.path ?? null,
    notes
  }
}
