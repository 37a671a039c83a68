/**
 * Decides which listed runs make which curve. A selection takes every run with exactly its display name, and with its
 * project, entity and label where it states them. A run that no selection takes is excluded with a reason. Several
 * selections may take the same run. Names are compared code unit by code unit: no case folding, no trimming, no
 * patterns.
 */
import { Fault, printable, printableId } from '../../core/errors.js'
import { compareCreation } from '../../ingest/histories/iso-time.js'
import type { ListedRun } from '../../ingest/histories/types.js'
import type { HistoryStudy, RunSelection } from '../../schema/histories.js'
import type { ExcludedRun } from './contract.js'

export interface SelectedRuns {
  /** name of the selection -> its runs by creation, then id and label (`orderHistories` refines this order by the rows) */
  readonly chosen: ReadonlyMap<string, readonly ListedRun[]>
  /** by creation, then id and label; the order of the list has no effect */
  readonly excluded: readonly ExcludedRun[]
}

/**
 * Limits of a message: the number of suggested display names, the longest name and the longest list that are searched
 * for them.
 */
const MAX_SUGGESTIONS = 3
const MAX_COMPARED_NAME = 200
const MAX_COMPARED_NAMES = 2000

/** @throws Fault (exit 3) for a selection without a run, and for one that takes the same run twice */
export function selectRuns(runs: readonly ListedRun[], study: HistoryStudy): SelectedRuns {
  const chosen = new Map<string, readonly ListedRun[]>()
  const taken = new Set<ListedRun>()
  for (const [i, selection] of study.selections.entries()) {
    const at = selectionPath(i)
    const own = runs.filter(run => whyNot(run, selection) === null).sort(byCreation)
    if (own.length === 0) throw withoutRuns(selection, runs, at)
    refuseTwice(selection, own, at)
    for (const run of own) taken.add(run)
    chosen.set(selection.name, own)
  }
  const excluded = runs
    .filter(run => !taken.has(run))
    .sort(byCreation)
    .map(run => ({
      run: run.id,
      displayName: run.displayName,
      reason: reasonOf(run, study)
    }))
  return { chosen, excluded }
}

/** Path of selection i in the study file. */
export function selectionPath(i: number): string {
  return `histories.selections[${i}]`
}

/** Compares two texts by code units. The order is the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function byCreation(a: ListedRun, b: ListedRun): number {
  return compareCreation(a, b) || compareText(a.id, b.id) || compareText(a.label, b.label)
}

function whyNot(run: ListedRun, selection: RunSelection): Exclude<ExcludedRun['reason'], 'companion'> | null {
  if (run.displayName !== selection.display_name) return 'other display name'
  if (selection.project !== null && run.project !== selection.project) return 'other project'
  if (selection.entity !== null && run.entity !== selection.entity) return 'other entity'
  if (selection.label !== null && run.label !== selection.label) return 'other label'
  return null
}

/**
 * The reason comes from the first selection with the run's display name. Without such a selection it comes from the
 * name alone.
 */
function reasonOf(run: ListedRun, study: HistoryStudy): ExcludedRun['reason'] {
  for (const selection of study.selections) {
    const why = whyNot(run, selection)
    if (why !== null && why !== 'other display name') return why
  }
  const companion = study.selections.some(selection =>
    study.companion_suffixes.some(suffix => suffix !== '' && run.displayName === selection.display_name + suffix)
  )
  return companion ? 'companion' : 'other display name'
}

function refuseTwice(selection: RunSelection, runs: readonly ListedRun[], at: string): void {
  const seen = new Map<string, ListedRun>()
  for (const run of runs) {
    const identity = JSON.stringify([run.entity, run.project, run.id])
    const before = seen.get(identity)
    if (before !== undefined) {
      throw new Fault({
        format: 'study',
        problem: `selection ${printable(selection.name)} takes run ${printableId(run.id)} twice`,
        found: `${at}, labels "${printable(before.label)}" and "${printable(run.label)}"`,
        expected: 'each run once: state the label in the selection'
      })
    }
    seen.set(identity, run)
  }
}

function withoutRuns(selection: RunSelection, runs: readonly ListedRun[], at: string): Fault {
  const named = runs.filter(run => run.displayName === selection.display_name)
  const near = nearNames(
    selection.display_name,
    runs.map(run => run.displayName)
  )
  const expected =
    named.length > 0
      ? `its project, entity and label as listed; by display name: ${named.slice(0, MAX_SUGGESTIONS).map(describeRun).join('; ')}`
      : near.length > 0
        ? `an exact display name; near: ${near.map(name => `"${printable(name)}"`).join(', ')}`
        : 'an exact display name of the list of runs'
  return new Fault({
    format: 'study',
    problem: `selection ${printable(selection.name)} has no run`,
    found: `${at}.display_name is "${printable(selection.display_name)}", ${runs.length} runs listed`,
    expected
  })
}

function describeRun(run: ListedRun): string {
  const part = (name: string, text: string | null): string => `${name} ${text === null ? 'not stated' : `"${printable(text)}"`}`
  return [part('project', run.project), part('entity', run.entity), part('label', run.label)].join(', ')
}

/** The listed names nearest to a name that is not listed. At most a third of its characters may differ. */
function nearNames(name: string, listed: readonly string[]): string[] {
  if (name.length > MAX_COMPARED_NAME) return []
  const names = [...new Set(listed)].filter(other => other.length <= MAX_COMPARED_NAME).slice(0, MAX_COMPARED_NAMES)
  return names
    .map(other => ({ other, distance: levenshtein(name, other) }))
    .filter(({ distance }) => distance * 3 <= Math.max(name.length, 3))
    .sort((a, b) => a.distance - b.distance || compareText(a.other, b.other))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ other }) => other)
}

/** Levenshtein distance, computed one row of the table at a time. */
function levenshtein(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = above[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(change, above[j] + 1, row[j - 1] + 1))
    }
    above = row
  }
  return above[b.length]
}
