/**
 * Resamples for the bootstrap (Efron 1979): units drawn with replacement, as many as there are. A unit is a trajectory; where
 * uids repeat it is all trajectories of one uid (the rollouts of a prompt are no independent observations; a cluster
 * bootstrap). Tokens are never drawn: those of one trajectory share their return.
 *
 * Numbers come from sfc32, the Small Fast Counting generator of Chris Doty-Humphrey (PractRand), on 32-bit integers alone. Each
 * resample has its own stream, which starts at a = seed, b = number of the resample, c = stream, counter = 1 and drops 15
 * numbers. So any range of resamples can be drawn in any thread. An index is floor(n u / 2^32) for the 32-bit number u; its
 * probability departs from 1 / n by less than 2^-32.
 */
import type { ResampleCounts } from '../../../kernel/kernel.js'
import type { QualityRecord } from './record.js'

export interface ResampleOptions {
  /** 0 where nothing else is said */
  readonly seed: number
  /** 2,000 where nothing else is said */
  readonly resamples: number
  /** a second stream draws independently of the first */
  readonly stream: number
}

/** Calls `take` with n indices below n: the units of one resample, in the order of their drawing. */
function draw(n: number, resample: number, { seed, stream }: ResampleOptions, take: (unit: number, i: number) => void): void {
  let a = seed | 0
  let b = resample | 0
  let c = stream | 0
  let counter = 1
  for (let i = -15; i < n; i++) {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    if (i >= 0) take(Math.floor(((sum >>> 0) * n) / 4294967296), i)
  }
}

/** [n] the units of one resample. */
export function resampleIndices(n: number, resample: number, options: ResampleOptions): Int32Array {
  const indices = new Int32Array(n)
  draw(n, resample, options, (unit, i) => {
    indices[i] = unit
  })
  return indices
}

/** Counts the drawn units of a resample as resample b of `weights`. A statistic of a resample is that of its units, so weighted. */
export function drawWeights(n: number, resample: number, options: ResampleOptions, { counts, width }: ResampleCounts, b: number): void {
  draw(n, resample, options, unit => {
    counts[unit * width + b]++
  })
}

type UnitKind = 'trajectory' | 'prompt group'

/** Uids that repeat name prompts. */
export function unitKindOf(records: readonly QualityRecord[]): UnitKind {
  const uids = records.flatMap(r => r.uid ?? [])
  return new Set(uids).size < uids.length ? 'prompt group' : 'trajectory'
}

/** The units in the order of their first trajectories. A trajectory without a uid is a unit of its own. */
export function unitsOf(records: readonly QualityRecord[], kind: UnitKind): readonly (readonly QualityRecord[])[] {
  if (kind === 'trajectory') return records.map(record => [record])
  const units = new Map<string | number, QualityRecord[]>()
  for (const record of records) {
    const key = record.uid ?? record.index
    const unit = units.get(key)
    if (unit === undefined) units.set(key, [record])
    else unit.push(record)
  }
  return [...units.values()]
}
