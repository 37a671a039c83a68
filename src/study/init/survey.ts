/**
 * Surveys a folder that is to become a study: it looks for a list of runs with exported histories and for a critic-trace
 * snapshot, in the places where exporters put them. An unexpected layout is reported and never guessed at.
 */
import { join, relative, sep } from 'node:path'
import { stat } from 'node:fs/promises'
import { Fault, describeCause, printable } from '../../core/errors.js'
import { DEFAULT_KEYS } from '../../schema/traces.js'
import { gunzippedIfGzip } from '../../core/gunzip.js'
import { fileChunks } from '../../core/still-file.js'
import { readStillSync } from '../../core/still-file-sync.js'
import { findHistory, type HistoryFile } from '../../ingest/histories/history.js'
import { readRuns } from '../../ingest/histories/runs.js'
import type { ListedRun } from '../../ingest/histories/types.js'
import { DataElement } from '../../ingest/html/data-element.js'
import { findSnapshots, resolveBeside, type SnapshotPlan } from '../inventory.js'
import { Outline } from '../../ingest/json/outline.js'
import { openNpz } from '../../ingest/npz/npz.js'
import { saysSynthetic } from '../../ingest/traces/npz-fields.js'
import { capped, initFault } from './words.js'

/** Possible places of a list of runs, each with the possible places of its histories. */
const RUNS_FILES = ['wandb/runs.json', 'runs.json'] as const
const HISTORY_FOLDERS: { readonly [file in (typeof RUNS_FILES)[number]]: readonly string[] } = {
  'wandb/runs.json': ['wandb/history', 'history'],
  'runs.json': ['history', 'wandb/history']
}

export const LAYOUT_EXPECTED = 'wandb/runs.json with wandb/history/<label>/<run id>.jsonl (or runs.json with history/…)'

/** Number of bytes of a page that are searched for script#data. */
const MIB = 1024 * 1024
const MAX_SEARCHED = 4 * MIB
const CHUNK = 64 * 1024

/** A listed run and its history. */
export interface SurveyedRun {
  readonly run: ListedRun
  /** null if there is none that could be opened */
  readonly history: HistoryFile | null
  /** why there is none; null if there is one */
  readonly problem: string | null
}

export interface ExportSurvey {
  /** relative to the folder */
  readonly runsFile: string
  readonly historyFolder: string
  /** in the list's order */
  readonly runs: readonly SurveyedRun[]
}

export interface SnapshotSurvey {
  /** folder or page, relative to the surveyed folder, as a study names it */
  readonly path: string
  readonly plan: SnapshotPlan
  /** true if it begins with the statement that its data were generated */
  readonly synthetic: boolean
}

export interface FolderSurvey {
  readonly exports: ExportSurvey | null
  readonly snapshot: SnapshotSurvey | null
  /** what was found and not expected, one line each */
  readonly notes: readonly string[]
}

/** @throws Fault exit 3: no such folder, nothing in it that a study could read, a malformed list of runs. */
export async function surveyFolder(dir: string): Promise<FolderSurvey> {
  if ((await fileKind(dir)) !== 'folder') throw initFault('no folder', await fileKind(dir), 'a folder of exports', dir)
  const notes: string[] = []
  const exports = await surveyExports(dir, notes)
  const snapshot = await surveySnapshot(dir, notes)
  if (exports === null && snapshot === null) {
    const found = notes.length === 0 ? 'neither a list of runs nor a snapshot' : printable(notes.join('; '), 400)
    throw initFault('nothing to read', found, `${LAYOUT_EXPECTED}, or a folder with a critic-trace snapshot`, dir)
  }
  return { exports, snapshot, notes }
}

async function fileKind(path: string): Promise<string> {
  const found = await stat(path).catch((error: unknown) => describeCause(error))
  if (typeof found === 'string') return found
  return found.isDirectory() ? 'folder' : found.isFile() ? 'file' : 'special file'
}

/** The list of runs and its histories; null without a list. */
export async function surveyExports(dir: string, notes: string[]): Promise<ExportSurvey | null> {
  const kinds = await Promise.all(RUNS_FILES.map(file => fileKind(join(dir, file))))
  const files = RUNS_FILES.filter((_, i) => kinds[i] === 'file')
  if (files.length === 2) throw initFault('stated twice', files.join(' and '), 'one list of runs', dir)
  if (files.length === 0) {
    for (const folder of HISTORY_FOLDERS['wandb/runs.json']) {
      if ((await fileKind(join(dir, folder))) === 'folder') notes.push(`${folder} without a list of runs`)
    }
    return null
  }
  const [runsFile] = files
  const folders = HISTORY_FOLDERS[runsFile]
  const present = await Promise.all(folders.map(folder => fileKind(join(dir, folder))))
  // If no folder exists, messages name the first.
  const historyFolder = folders[Math.max(0, present.indexOf('folder'))]
  const { runs: listed } = await readRuns(join(dir, runsFile))
  if (listed.length === 0) throw initFault('no runs', 'an empty list', 'at least one run', join(dir, runsFile))
  return { runsFile, historyFolder, runs: listed.map(run => surveyRun(dir, historyFolder, run)) }
}

function surveyRun(dir: string, folder: string, run: ListedRun): SurveyedRun {
  try {
    return { run, history: findHistory(dir, folder, run), problem: null }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { run, history: null, problem: `${printable(`${folder}/${run.label}/${run.id}.jsonl`, 400)}: ${reasonOf(error)}` }
  }
}

/** The problem without its place: a draft's text must not depend on where its folder lies. */
export function reasonOf({ details: { problem, found } }: Fault): string {
  return found === undefined ? problem : `${problem} (${found})`
}

async function surveySnapshot(dir: string, notes: string[]): Promise<SnapshotSurvey | null> {
  const plans: Omit<SnapshotSurvey, 'path'>[] = []
  const found = await findSnapshots([dir], ({ details, message }) => {
    if (details.problem !== 'not found') notes.push(message)
  })
  for (const plan of found) {
    // Whether a dump is synthetic is found by the first run.
    if (plan.kind === 'dump') plans.push({ plan, synthetic: false })
    else if (plan.html === null) plans.push({ plan, synthetic: firstNpzSaysSynthetic(plan) })
    else {
      const data = await beginningOfData(plan.html)
      if (data !== null) plans.push({ plan, synthetic: beginsSynthetic(data) })
      else notes.push(`${inside(dir, plan.html)} is no critic-trace snapshot: no script#data in its first ${MAX_SEARCHED / MIB} MiB`)
    }
  }
  const pages = plans.filter(({ plan }) => plan.html !== null)
  const usable = pages.length > 0 ? pages : plans
  if (usable.length > 1) {
    const folders = capped(
      usable.map(({ plan }) => inside(dir, plan.folder)),
      10
    )
    notes.push(`several snapshots, of which a study has one: ${printable(folders.join(', '), 400)}`)
    return null
  }
  return usable.length === 0 ? null : { ...usable[0], path: inside(dir, usable[0].plan.folder) }
}

/** The path as a study writes it; `.` for the folder itself. */
function inside(dir: string, path: string): string {
  const rel = relative(dir, path).split(sep).join('/')
  return rel === '' ? '.' : rel
}

/** The first bytes of script#data; null without one, since any other page may be called index.html too. */
async function beginningOfData(page: string): Promise<Uint8Array | null> {
  const element = new DataElement()
  const begins = (pieces: readonly Uint8Array[]): Uint8Array | null => pieces.find(piece => piece.length > 0) ?? null
  let searched = 0
  try {
    for await (const chunk of gunzippedIfGzip(fileChunks(page, { chunkSize: CHUNK }))) {
      const data = begins(await element.push(chunk))
      if (data !== null) return data
      searched += chunk.length
      if (searched >= MAX_SEARCHED) return null
    }
    return begins(await element.end())
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}

/** True if the label precedes the first trace, as in the replica. A label behind it is found by the first run. */
function beginsSynthetic(data: Uint8Array): boolean {
  return unlessFaulty(() => {
    const outline = new Outline(DEFAULT_KEYS)
    outline.read(Buffer.from(data.buffer, data.byteOffset, data.byteLength), 0, 0)
    return outline.synthetic
  })
}

function firstNpzSaysSynthetic({ folder, npzFiles: [first] }: SnapshotPlan): boolean {
  return unlessFaulty(() => saysSynthetic(openNpz(readStillSync(resolveBeside(folder, first), 'npz').bytes), DEFAULT_KEYS))
}

/** The answer, or false if the snapshot is faulty. The first run reports its faults. */
function unlessFaulty(says: () => boolean): boolean {
  try {
    return says()
  } catch (error) {
    if (error instanceof Fault) return false
    throw error
  }
}
