/**
 * Which keys of the rows are their coordinates: the step, the time, the trainer's own step. Known names come first. Without
 * one, the step is found among the keys that hold an integer in every row and rise.
 */
import { printable } from '../../core/errors.js'
import type { HistoryStudy } from '../../schema/histories.js'
import { compareCodepoints } from '../../core/paths.js'
import type { RowSample } from './row-keys.js'
import { capped } from './words.js'

/** Names that mean the step of a row, wherever they stand. */
const STEP_KEYS = ['_step', 'step', 'global_step', 'trainer/global_step', 'train/global_step', 'training/global_step']

/** Names of steps in other trainers, the finest first. They must hold integers that rise in every row. */
const OTHER_STEPS = [
  'Step',
  'current_steps',
  'iteration',
  'iter',
  'training_iteration',
  'rollout_id',
  'rollout/step',
  'train/step',
  'update',
  'time/iterations',
  'time/total_timesteps',
  'total_timesteps',
  'timesteps_total',
  'epoch',
  'train/epoch'
]

/** Names of times in seconds since 1970; `Wall time` is TensorBoard's. */
export const TIMESTAMP_KEYS = ['_timestamp', 'timestamp', 'wall_time', 'Wall time']
const GLOBAL_STEP_KEYS = ['training/global_step', 'train/global_step', 'trainer/global_step', 'global_step']

/** Seconds since 1970 up to the year 5138. More are milliseconds, or finer. */
const MAX_SECONDS = 1e11

/** Most keys that a line lists. */
const MAX_LISTED = 10

export interface Coordinates {
  readonly keys: HistoryStudy['keys']
  /** keys that are no metrics */
  readonly own: ReadonlySet<string>
  /** one line each: what was found by its values, and what can be stated otherwise */
  readonly notes: readonly string[]
}

export function numbersOf(sample: RowSample, key: string): number {
  return sample.keys.get(key)?.count ?? 0
}

/** @param sample the rows of all curves together */
export function findCoordinates(sample: RowSample): Coordinates {
  const { step, notes: stepNotes } = findStep(sample)
  const { timestamp, notes: timeNotes } = findTimestamp(sample)
  const globalStep = GLOBAL_STEP_KEYS.find(key => key !== step && numbersOf(sample, key) > 0) ?? null
  return {
    keys: { step, timestamp, global_step: globalStep },
    own: new Set([step, ...STEP_KEYS, ...TIMESTAMP_KEYS]),
    notes: [...stepNotes, ...timeNotes]
  }
}

/** Keys with an integer from 0 on in every row, of which hardly any is below the one before. */
function risingIntegers(sample: RowSample): string[] {
  return [...sample.order]
    .filter(([key, { integers, falls }]) => integers === sample.rows && numbersOf(sample, key) === integers && falls * 10 <= sample.rows)
    .filter(([key]) => (sample.keys.get(key)?.max ?? 0) > (sample.keys.get(key)?.min ?? 0))
    .map(([key]) => key)
}

function findStep(sample: RowSample): { readonly step: string; readonly notes: readonly string[] } {
  const known = STEP_KEYS.reduce((best, key) => (numbersOf(sample, key) > numbersOf(sample, best) ? key : best))
  if (numbersOf(sample, known) > 0) return { step: known, notes: [] }
  const repeatsOf = (key: string): number => sample.order.get(key)?.repeats ?? 0
  const rank = (key: string): number => {
    const at = OTHER_STEPS.indexOf(key)
    return at < 0 ? OTHER_STEPS.length : at
  }
  const candidates = risingIntegers(sample)
    .filter(key => !key.startsWith('_'))
    // A step that every row has anew comes before one that many rows share, such as an epoch.
    .sort(
      (a, b) =>
        Number(repeatsOf(a) > 0) - Number(repeatsOf(b) > 0) || rank(a) - rank(b) || repeatsOf(a) - repeatsOf(b) || compareCodepoints(a, b)
    )
  const [step, ...others] = candidates
  if (step === undefined) return { step: known, notes: [] }
  const more = others.length === 0 ? '' : `; other integers that rise: ${listed(others)}`
  return { step, notes: [`the step of a row is ${quoted(step)}, an integer that rises${more}; histories.keys.step names another`] }
}

/** What to do where no key can be the step: the integers that rows hold. */
export function stepAdvice(sample: RowSample): string {
  const integers = [...sample.order].filter(([, { integers: n }]) => n > 0).map(([key]) => key)
  if (integers.length === 0) return 'no key holds integers; histories.keys.step must name one that does'
  return `keys with integers: ${listed(integers.sort(compareCodepoints))}; histories.keys.step names the step, an integer in every row`
}

function findTimestamp(sample: RowSample): { readonly timestamp: string | null; readonly notes: readonly string[] } {
  const key = TIMESTAMP_KEYS.find(name => numbersOf(sample, name) > 0) ?? null
  const written = TIMESTAMP_KEYS.find(name => (sample.dates.get(name) ?? 0) > 0)
  const unread = (name: string, what: string): string =>
    `${quoted(name)} holds ${what}; histories.keys.timestamp reads seconds since 1970, so there are no hours and no figure over time`
  if (key === null) return { timestamp: null, notes: written === undefined ? [] : [unread(written, 'dates as texts (ISO 8601)')] }
  const least = sample.keys.get(key)?.min ?? 0
  if (least <= MAX_SECONDS) return { timestamp: key, notes: [] }
  const unit = least > 1e17 ? 'nanoseconds' : least > 1e14 ? 'microseconds' : 'milliseconds'
  return { timestamp: null, notes: [unread(key, `${unit} since 1970 by their size`)] }
}

function quoted(key: string): string {
  return printable(JSON.stringify(key))
}

function listed(keys: readonly string[]): string {
  return capped(keys.map(quoted), MAX_LISTED).join(', ')
}
