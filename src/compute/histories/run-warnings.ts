/** Warnings about single runs of a selection. */
import { printable, printableId } from '../../core/errors.js'
import type { SelectionHistory } from './contract.js'

/** Warnings about what the reader of the files found. */
export function* fileWarnings({ files }: SelectionHistory): Generator<string> {
  for (const {
    run: id,
    file: { path },
    reversed,
    inexact,
    nested
  } of files) {
    const run = `run ${printableId(id)}`
    if (reversed) yield `${run}: its file has the latest row first (steps and timestamps fall); read from its end`
    for (const { key, count, line, written } of inexact) {
      yield `${run}: ${count === 1 ? 'an integer' : `${count} integers`} under "${printable(key)}" beyond 2^53 ` +
        `${count === 1 ? 'is' : 'are'} read as the nearest double, the first ${printable(written)} on line ${line} of ${printable(path)}`
    }
    if (nested !== null) {
      const { count, key, line } = nested
      yield `${run}: ${count} ${count === 1 ? 'value is an object or a list and is' : 'values are objects or lists and are'} left out, ` +
        `the first "${printable(key)}" on line ${line} of ${printable(path)}`
    }
  }
}

interface RunCounts {
  sessions: number
  rows: number
  withoutTimestamp: number
  beforeCreation: number
  longAfterCreation: number
  firstLongAfter: number | null
  unusableGlobalStep: number
  fractionalGlobalStep: number
  firstFractional: number | null
  goneBackOver: number
  holes: SelectionHistory['sessions'][number]['runHoles']
  sampled: string | null
}

/** Largest number of missing steps that a line lists. */
const MAX_HOLES = 5

/** @param isTimed rows are expected to have a timestamp */
export function* runWarnings({ selection, sessions }: SelectionHistory, isTimed: boolean): Generator<string> {
  const runs = new Map<string, RunCounts>()
  for (const session of sessions) {
    const counts = runs.get(session.run) ?? {
      sessions: 0,
      rows: 0,
      withoutTimestamp: 0,
      beforeCreation: 0,
      longAfterCreation: 0,
      firstLongAfter: null,
      unusableGlobalStep: 0,
      fractionalGlobalStep: 0,
      firstFractional: null,
      goneBackOver: 0,
      holes: session.runHoles,
      sampled: null
    }
    counts.sessions++
    counts.rows += session.rows
    counts.withoutTimestamp += session.rowsWithoutTimestamp
    counts.beforeCreation += session.rowsBeforeCreation
    counts.longAfterCreation += session.rowsLongAfterCreation
    counts.firstLongAfter ??= session.firstLongAfterCreation
    counts.unusableGlobalStep += session.rowsWithUnusableGlobalStep
    counts.fractionalGlobalStep += session.rowsWithFractionalGlobalStep
    counts.firstFractional ??= session.firstFractionalGlobalStep
    counts.goneBackOver += session.rowsGoneBackOver
    counts.sampled ??= session.looksSampled
    runs.set(session.run, counts)
  }
  for (const [id, counts] of runs) {
    const run = `run ${printableId(id)}`
    if (counts.rows === 0) yield `${run}: its history has no row`
    if (counts.sampled !== null) yield `${run}: ${counts.sampled}`
    if (counts.holes.count > 0) {
      const { count, first } = counts.holes
      const listed = `${first.slice(0, MAX_HOLES).join(', ')}${count > MAX_HOLES ? ', …' : ''}`
      yield `${run}: between its rows ${count} ${count === 1 ? 'step is' : 'steps are'} missing (${listed})`
    }
    if (counts.sessions > 1) {
      const back = counts.sessions - 1
      yield `${run}: steps go back or repeat ${back === 1 ? 'once' : `${back} times`}; what follows counts as a new session${back === 1 ? '' : ' each time'}`
    }
    if (2 * counts.goneBackOver > counts.rows) {
      yield `${run}: its own restarts go back over ${counts.goneBackOver} of ${counts.rows} rows, which the step view lacks`
    }
    if (counts.beforeCreation > 0) {
      yield `${run}: ${ofRows(counts.beforeCreation, counts.rows)} a timestamp before the run's creation`
    }
    if (counts.longAfterCreation > 0) {
      yield `${run}: ${ofRows(counts.longAfterCreation, counts.rows)} a timestamp more than ten years after the run's creation, ` +
        `the first ${counts.firstLongAfter}; seconds since 1970 are expected`
    }
    if (counts.withoutTimestamp > 0 && isTimed) {
      yield `${run}: ${ofRows(counts.withoutTimestamp, counts.rows)} no timestamp; the time view lacks ${counts.withoutTimestamp === 1 ? 'it' : 'them'}`
    }
    if (counts.unusableGlobalStep > 0) {
      yield `${run}: ${ofRows(counts.unusableGlobalStep, counts.rows)} a global step that is null or not finite; empty in the files`
    }
    if (counts.fractionalGlobalStep > 0) {
      yield `${run}: ${ofRows(counts.fractionalGlobalStep, counts.rows)} a global step that is no integer, the first ${counts.firstFractional}; kept as logged`
    }
  }
  if (sessions[0].rows === 0 && runs.size > 1) {
    const run = printableId(sessions[0].run)
    yield `selection ${printable(selection.name)}: its clock starts at the creation of run ${run}, which has no row`
  }
}

function ofRows(count: number, rows: number): string {
  return `${count} of ${rows} ${rows === 1 ? 'row' : 'rows'} ${count === 1 ? 'has' : 'have'}`
}
