/**
 * Checks the further lists of runs against the list of which they are views: each must hold the runs of its labels as they
 * are in the list. Nothing is computed from a view. A reader takes the provenance of runs from it, so it must be the same.
 */
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { EXIT, Fault, printable } from '../core/errors.js'
import type { Study } from '../schema/study.js'
import { MAX_RUNS_BYTES } from '../ingest/histories/runs.js'
import { isJsonObject } from '../core/checker.js'
import { readJsonFile } from '../core/strict-json.js'
import { readRunEntries } from './runs-file.js'

/** A run with the fields that its list states. */
interface StatedRun {
  readonly id: string
  readonly label: string
  readonly stated: Readonly<Record<string, unknown>>
}

/** @returns faults (exit 1), one for each run and field that differs. @throws Fault exit 3: a list that cannot be read */
export async function viewFaults(dir: string, { histories, fetch }: Pick<Study, 'histories' | 'fetch'>): Promise<Fault[]> {
  if (histories === null || fetch === null || fetch.views.length === 0) return []
  const listed = await statedRuns(join(dir, histories.runs))
  const faults: Fault[] = []
  for (const { path, labels } of fetch.views) {
    const file = join(dir, path)
    const view = await statedRuns(file)
    const refuse = (problem: string, run: StatedRun, found: string, expected: string): void => {
      const place = { file, member: `run ${run.id}, label ${run.label}` }
      faults.push(new Fault({ format: 'runs', problem: `view ${problem}`, found, expected, place, exitCode: EXIT.checkFailed }))
    }
    for (const run of listed.filter(({ label }) => labels.includes(label))) {
      const shown = view.find(other => isSame(other, run))
      if (shown === undefined) refuse('lacks a run', run, 'nothing', `the run, as in ${histories.runs}`)
      else
        for (const [field, found, expected] of differences(shown.stated, run.stated))
          refuse('differs', run, `${field} ${stateValue(found)}`, `${stateValue(expected)}, as in ${histories.runs}`)
    }
    for (const run of view) {
      if (!labels.includes(run.label)) refuse('has a run too many', run, `label ${run.label}`, `one of ${labels.join(', ')}`)
      else if (!listed.some(other => isSame(other, run))) refuse('has a run too many', run, 'the run', `those of ${histories.runs}`)
    }
  }
  return faults
}

/** The runs as written. The reader of lists checks them and fills in defaults, so the fields are taken from the file. */
async function statedRuns(path: string): Promise<StatedRun[]> {
  const entries = await readRunEntries(path)
  if (entries.length === 0) return []
  const { value } = await readJsonFile(path, 'runs', MAX_RUNS_BYTES)
  const raw = value as ReadonlyArray<Readonly<Record<string, unknown>>>
  return entries.map(({ id, label }, i) => ({ id, label, stated: raw[i] }))
}

function isSame(a: StatedRun, b: StatedRun): boolean {
  return a.id === b.id && a.label === b.label
}

type FieldDifference = readonly [field: string, found: unknown, expected: unknown]

/** Differing fields among those that both state; for a configuration, each setting. */
function differences(shown: StatedRun['stated'], run: StatedRun['stated']): FieldDifference[] {
  return Object.keys(run)
    .filter(field => Object.hasOwn(shown, field) && !isDeepStrictEqual(shown[field], run[field]))
    .flatMap(field => {
      const [a, b] = [shown[field], run[field]]
      if (field !== 'config' || !isJsonObject(a) || !isJsonObject(b)) return [[field, a, b] as const]
      return [...new Set([...Object.keys(a), ...Object.keys(b)])]
        .filter(key => !isDeepStrictEqual(a[key], b[key]))
        .map((key): FieldDifference => [`config ${key}`, a[key], b[key]])
    })
}

function stateValue(value: unknown): string {
  return value === undefined ? 'nothing' : printable(JSON.stringify(value))
}
