/**
 * `study init DIR`: writes a commented study file for a folder of exports, and a manifest over the folder. The study then
 * runs as it is, unless a history holds rows that the reader refuses; those among the first lines are listed. Nothing is
 * overwritten. With `--out FILE` elsewhere only the study file is written, as a draft.
 */
import { unlink } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { EXIT, printable } from '../core/errors.js'
import { draftStudy, type DraftHistories } from '../study/init/draft.js'
import { draftManifest, planManifest, snapshotDate } from '../study/init/manifest.js'
import { refusedHistories } from '../study/init/strict-look.js'
import { surveyFolder, type FolderSurvey } from '../study/init/survey.js'
import { titleLike } from '../study/init/words.js'
import { parseStrictJson } from '../core/strict-json.js'
import { STUDY_FILE } from '../study/label.js'
import { checkStudy } from '../study/study.js'
import { realPlace } from '../core/system/folder.js'
import { counted } from '../core/counts.js'
import type { InitOptions } from './args.js'
import { csvFilesIn, writeCsvRuns } from './csv-exports.js'
import { historiesText, lines, readDraft, refuseExisting, writeNew } from './drafting.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting, type Reporter } from './reporter.js'

const MANIFEST_FILE = 'source_manifest.json'

export async function runStudyInit(options: InitOptions, io: CliIo): Promise<CommandResult> {
  return reporting(options, io, async reporter => {
    const { dir } = options
    const studyPath = options.out ?? join(dir, STUDY_FILE)
    const inPlace = realPlace(studyPath) === realPlace(join(dir, STUDY_FILE))
    const manifestPath = inPlace ? join(dir, MANIFEST_FILE) : null
    await refuseExisting(studyPath)
    if (manifestPath !== null) await refuseExisting(manifestPath)
    // A draft elsewhere writes nothing into the folder, so CSV files stay unread.
    const csv = await writeCsvRuns(dir, manifestPath === null ? [] : await csvFilesIn(dir))
    try {
      return await initStudy(options, { studyPath, manifestPath, csv: csv.notes }, reporter)
    } catch (error) {
      await csv.undo()
      throw csv.fault ?? error
    }
  })
}

interface InitPlaces {
  readonly studyPath: string
  /** null: the study is a draft elsewhere */
  readonly manifestPath: string | null
  /** what was made of CSV files, one line each */
  readonly csv: readonly string[]
}

async function initStudy(options: InitOptions, { studyPath, manifestPath, csv }: InitPlaces, reporter: Reporter): Promise<CommandResult> {
  const { dir } = options
  const { io } = reporter
  // 1. Look
  const survey = await surveyFolder(dir)
  const histories = survey.exports === null ? null : await readDraft(dir, survey.exports, reporter)
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
      ...csv.map(note => `note: ${printable(note, 400)}`),
      ...survey.notes.map(note => `note: ${printable(note, 400)}`),
      ...(refused.length === 0 ? [] : lines('to be mended before the study runs', refused)),
      `${nextText(dir, studyPath, manifestPath, manifest?.files ?? 0)}\n`
    ].join('\n')
  )
  return { exitCode: EXIT.ok, report: { ...reportOf(studyPath, manifestPath, histories, survey), refused } }
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

function nextText(dir: string, studyPath: string, manifestPath: string | null, files: number): string {
  if (manifestPath === null) {
    return `wrote ${studyPath}, a draft: its paths are relative to ${dir}, where study init without --out writes it with a manifest`
  }
  return [
    `wrote ${studyPath} and ${manifestPath} (${counted(files, 'file')})`,
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
