/**
 * Drafts a study file: the content of the exports in the terms of a study, with comments on what was left out and what the
 * author may want to add. The same folder gives the same text, wherever it lies.
 */
import { printable } from '../../core/errors.js'
import type { FetchStudy } from '../../schema/fetch.js'
import type { HistoryStudy } from '../../schema/histories.js'
import { isSecretText } from '../../core/secrets.js'
import { findCoordinates, numbersOf, stepAdvice } from './coordinates.js'
import { draftMetrics, type DraftMetric, type DraftMetrics } from './known-metrics.js'
import { mergeSamples, type KeySample, type RowSample } from './row-keys.js'
import { COMPANION_SUFFIX, type DraftSelection, type DraftSelections } from './selections.js'
import type { ExportSurvey, SnapshotSurvey } from './survey.js'
import { capped, nameLike } from './words.js'

/** Most curves of one analysis. More cannot be told apart in a figure. */
const MAX_CURVES = 6
const PANELS = 4
/** Most metrics in the figures of a study with one analysis. With several, each analysis shows its first four. */
const MAX_DRAWN = 12
const MAX_LISTED = 60
/** Windows of the statistics, in observations. A short history has shorter ones. */
const ENDS = 20
const FINAL = 5

/** The histories of a draft, for the file and for the terminal. */
export interface DraftHistories {
  readonly survey: ExportSurvey
  readonly keys: HistoryStudy['keys']
  readonly selections: readonly DraftSelection[]
  readonly companions: readonly string[]
  readonly leftOut: readonly string[]
  readonly metrics: DraftMetrics
  readonly sample: RowSample
  /** one line each: how coordinates were found, and holes */
  readonly notes: readonly string[]
}

/** Leaves out selections in which some row has no step. Without selections there are no metrics. */
export function draftHistories(survey: ExportSurvey, { selections, companions, leftOut }: DraftSelections): DraftHistories {
  const all = mergeSamples(selections.map(s => s.sample))
  const { keys, own: coordinates, notes } = findCoordinates(all)
  const { step } = keys
  const stepped = selections.filter(({ sample }) => numbersOf(sample, step) === sample.rows)
  const stepless = selections
    .filter(s => !stepped.includes(s))
    .map(
      ({ display_name, sample }) =>
        `${printable(JSON.stringify(display_name))}: ${sample.rows - numbersOf(sample, step)} of ${sample.rows} rows without ${step}`
    )
  const advice = selections.length > 0 && stepped.length === 0 ? [stepAdvice(all)] : []
  const sample = mergeSamples(stepped.map(s => s.sample))
  const candidates = [...sample.keys].filter(([key]) => !key.startsWith('_') && !coordinates.has(key))
  const logged = new Map<string, KeySample>(candidates.filter(([key]) => !isSecretText(key, 'key')))
  const secret = candidates.length - logged.size
  const withheld = secret === 0 ? [] : [`${secret} ${secret === 1 ? 'key' : 'keys'} of numbers, which look like secrets`]
  const metrics = draftMetrics(logged)
  const skipped = stepped.flatMap(s => holesLine(s, step))
  return {
    survey,
    keys,
    selections: stepped,
    companions,
    leftOut: [...leftOut, ...stepless, ...advice, ...withheld],
    metrics,
    sample,
    notes: [...notes, ...skipped]
  }
}

/** Steps that no row has, of the rows that were looked at. */
function holesLine({ display_name: name, sample }: DraftSelection, step: string): string[] {
  const skipped = sample.order.get(step)?.skipped ?? 0
  if (skipped === 0) return []
  return [`${printable(JSON.stringify(name))}: between its rows ${skipped} ${skipped === 1 ? 'step is' : 'steps are'} missing`]
}

/**
 * The study file's text.
 *
 * @param fetch where the histories came from; null: from files that were there
 */
export function draftStudy(
  name: string,
  histories: DraftHistories | null,
  snapshot: SnapshotSurvey | null,
  fetch: FetchStudy | null = null
): string {
  const study = {
    '//': [
      `A draft made by "${fetch === null ? 'study init' : 'fetch'}" from what the folder holds; yours to edit. docs/study.md lists every field.`,
      'A field whose name begins with // is a comment and is not read.'
    ],
    schema_version: 1,
    name,
    ...(snapshot?.synthetic === true ? { synthetic: true } : {}),
    ...(snapshot === null ? {} : { critic_traces: traceSection(snapshot) }),
    ...(histories === null ? {} : { histories: draftHistorySection(histories) }),
    ...(fetch === null ? {} : { fetch: writtenFetch(fetch) })
  }
  return asciiControls(`${JSON.stringify(study, null, 2)}\n`)
}

/** The section without what is a default. */
function writtenFetch({ runs, config, views }: FetchStudy): object {
  return {
    runs: runs.map(({ ids, not_ids, ...run }) => ({
      ...run,
      ...(ids === null ? {} : { ids }),
      ...(not_ids.length === 0 ? {} : { not_ids })
    })),
    '// config': 'Settings of the runs to keep, with dots between nested names: "actor.optim.lr". None is kept that is not named.',
    config,
    ...(views.length === 0 ? {} : { views })
  }
}

/**
 * A study file's text with a drafted section on histories. The author's own text stays as it is.
 *
 * @param text a study file that has been read; its outer object is not empty
 */
export function withHistories(text: string, histories: DraftHistories): string {
  const end = text.lastIndexOf('}')
  const section = JSON.stringify({ histories: draftHistorySection(histories) }, null, 2)
  return `${text.slice(0, end).trimEnd()},${asciiControls(section.slice(1, -1)).trimEnd()}\n${text.slice(end)}`
}

/** Escapes characters that JSON.stringify leaves and that a terminal or an editor would act on. All are inside texts. */
function asciiControls(json: string): string {
  return json.replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/g, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** What a source of each kind asks the author to know. */
const KIND_NOTES: Readonly<Record<SnapshotSurvey['plan']['kind'], readonly string[]>> = {
  html: [],
  'npz-folder': ['NPZ files without a page: what is computed from them is marked as unverified.'],
  dump: ["A trainer's dump: one source for every trace, which nothing is compared with."]
}

function traceSection({ path, plan }: SnapshotSurvey): object {
  return {
    '//': [
      ...KIND_NOTES[plan.kind],
      'expectations may state how the traces were sampled; none is stated here, so none can fail a run.',
      'examples may name the two traces of the figure.'
    ],
    snapshot: path
  }
}

function draftHistorySection(draft: DraftHistories): object {
  const { survey, keys, companions, leftOut, metrics, selections, sample, notes } = draft
  const analyses = analysesOf(draft)
  return {
    runs: survey.runsFile,
    folder: survey.historyFolder,
    ...(notes.length === 0 ? {} : { '// keys': capped(notes, MAX_LISTED) }),
    keys,
    companion_suffixes: [COMPANION_SUFFIX],
    '// selections': [
      'One a display name. display_time may scale its hours: { "multiply": 0.5 }, or { "best_of": <metric>, "at_hours": <hours> }.',
      ...(companions.length === 0 ? [] : [`Companions, not selected: ${list(companions)}`]),
      ...(leftOut.length === 0 ? [] : [`Left out: ${capped(leftOut, MAX_LISTED).join('; ')}`])
    ],
    selections: selections.map(({ name, title, display_name, entity, project, label }) => ({
      name,
      title,
      display_name,
      ...(entity === null ? {} : { entity }),
      ...(project === null ? {} : { project }),
      ...(label === null ? {} : { label })
    })),
    '// metrics': [
      metrics.guessed
        ? 'No key of the rows is a known one: these were logged most often. Give them titles and units.'
        : 'Known keys of the rows. multiply and divide are for pictures; files keep values as logged.',
      ...(metrics.others.length === 0 ? [] : [`Other keys of numbers: ${list(metrics.others)}`]),
      ...(sample.nested.size === 0 ? [] : [`Left out, since objects or lists stand there: ${list([...sample.nested])}`])
    ],
    metrics: metrics.metrics.map(({ scale: _scale, drawn: _drawn, validation: _validation, ...metric }) => metric),
    '// analyses': [
      'supplied lets one selection stand in for missing points of another, in pictures.',
      'shared_reference draws a value that belongs to no history.',
      'thresholds, windows, compare, shares and the other statistics are empty: state what the study asks.'
    ],
    analyses: analyses.map(({ name, selections: own, metrics: used, ends }) => ({
      name,
      selections: own.map(s => s.name),
      metrics: used.map(m => m.name),
      statistics: statisticsOf(used, ends),
      outputs: {
        observations: `wandb/${name}-observations.csv`,
        all_attempts: `wandb/${name}-all-attempts.csv`,
        statistics: `wandb/${name}-statistics.json`,
        points: `wandb/${name}-points.csv`
      }
    })),
    figures: figuresOf(analyses, keys.timestamp !== null)
  }
}

function list(texts: readonly string[]): string {
  return capped(
    texts.map(text => printable(text)),
    MAX_LISTED
  ).join(', ')
}

interface DraftAnalysis {
  readonly name: string
  /** name of the project, if there are several; empty if there is one */
  readonly title: string
  readonly selections: readonly DraftSelection[]
  readonly metrics: readonly DraftMetric[]
  /** number of observations in the windows at both ends */
  readonly ends: number
}

/** One analysis per project, in the order of selections; several for a project with many curves. */
function analysesOf({ selections, metrics: { metrics } }: DraftHistories): DraftAnalysis[] {
  const projects = new Map<string, DraftSelection[]>()
  for (const selection of selections) {
    const project = selection.runs[0]?.run.project ?? ''
    projects.set(project, [...(projects.get(project) ?? []), selection])
  }
  const names = new Set<string>()
  const groups = [...projects].flatMap(([project, curves]) =>
    Array.from({ length: Math.ceil(curves.length / MAX_CURVES) }, (_, i) => ({
      project,
      own: curves.slice(i * MAX_CURVES, (i + 1) * MAX_CURVES)
    }))
  )
  return groups.flatMap(({ project, own }) => {
    const used = metrics.filter(({ key }) => own.some(s => numbersOf(s.sample, key) > 0))
    if (used.length === 0) return []
    const name = nameLike(projects.size === 1 || project === '' ? 'training' : project, 'project', names)
    const rows = Math.min(...own.map(s => s.sample.rows))
    const ends = Math.max(1, Math.min(ENDS, Math.floor(rows / 2)))
    return [{ name, title: groups.length === 1 ? '' : name, selections: own, metrics: used, ends }]
  })
}

function statisticsOf(metrics: readonly DraftMetric[], ends: number): object {
  const dense = metrics.filter(m => m.sparse !== true).map(m => m.name)
  const validation = metrics.filter(m => m.validation).map(m => m.name)
  return {
    ...(dense.length === 0 ? {} : { ends: { count: ends, metrics: dense } }),
    ...(validation.length === 0 ? {} : { best: validation, final: { count: FINAL, metrics: validation } })
  }
}

const VIEWS = [
  { view: 'step', file: 'by-step', words: 'by step', x_title: 'Training step' },
  { view: 'time', file: 'over-time', words: 'over time', x_title: 'Time (hours)' }
] as const

function figuresOf(analyses: readonly DraftAnalysis[], timed: boolean): object[] {
  const figures: object[] = []
  for (const { name, title, metrics } of analyses) {
    const drawn = metrics.filter(m => m.drawn)
    // Metrics that are not usually drawn, such as learning rates, are drawn if there are no others.
    const shown = (drawn.length === 0 ? metrics : drawn).slice(0, analyses.length === 1 ? MAX_DRAWN : PANELS)
    for (let first = 0; first < shown.length; first += PANELS) {
      const part = first / PANELS + 1
      for (const { view, file, words, x_title } of VIEWS) {
        if (view === 'time' && !timed) continue
        const number = String(figures.length + 1).padStart(2, '0')
        figures.push({
          name: `${number}-${name}-${file}${part === 1 ? '' : `-${part}`}`,
          title: `Training dynamics ${words}${title === '' ? '' : `: ${title}`}${part === 1 ? '' : ` (${part})`}`,
          analysis: name,
          view,
          x_title,
          panels: shown.slice(first, first + PANELS).map(m => ({ metric: m.name, ...(m.scale === undefined ? {} : { scale: m.scale }) }))
        })
      }
    }
  }
  return figures
}
