/**
 * Records as plain numbers and back, without loss, and records of several shards as one list. A record merges with nothing:
 * the state of any set of trajectories is the list of their records, so the cut into shards leaves no trace in a result.
 */
import { Fault } from '../../../core/errors.js'
import type { Outcome } from '../../../schema/traces.js'
import type { ChangesOfKind } from './changes.js'
import type { QualityRecord } from './record.js'

type PlainArrays<T> = T extends Float64Array | Uint32Array | Uint16Array
  ? readonly number[]
  : T extends string | number | boolean | null
    ? T
    : { readonly [key in keyof T]: PlainArrays<T[key]> }

/** A record whose arrays are lists of numbers: what JSON and Arrow can hold. */
export type PlainQualityRecord = PlainArrays<QualityRecord>

export function plainQualityRecord(record: QualityRecord): PlainQualityRecord {
  return plain(record) as PlainQualityRecord
}

function plain(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as Float64Array)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]))
}

/** The record that `plainQualityRecord` was given. Its caller has checked that the numbers are those that were written. */
export function qualityRecordFromPlain(p: PlainQualityRecord): QualityRecord {
  const changes = ({ transitions, sum, jumps }: PlainArrays<ChangesOfKind>) => ({ transitions, sum, jumps: Uint32Array.from(jumps) })
  const { turns, histogram } = p
  return {
    index: p.index,
    step: p.step,
    uid: p.uid,
    outcome: p.outcome as Outcome | null,
    tokens: p.tokens,
    hasValues: p.hasValues,
    hasReturns: p.hasReturns,
    whole: Float64Array.from(p.whole),
    deciles: Float64Array.from(p.deciles),
    decileValues: Float64Array.from(p.decileValues),
    turns: { count: turns.count, sums: Float64Array.from(turns.sums), largest: Float64Array.from(turns.largest) },
    changes: {
      thresholds: Float64Array.from(p.changes.thresholds),
      boundary: changes(p.changes.boundary),
      internal: changes(p.changes.internal)
    },
    histogram: {
      cells: Uint16Array.from(histogram.cells),
      counts: Uint32Array.from(histogram.counts),
      sums: Float64Array.from(histogram.sums),
      below0: histogram.below0,
      above1: histogram.above1
    }
  }
}

/**
 * Records of any number of shards, in any order, in canonical order.
 * @throws Fault where two records have one index, or their sweeps differ
 */
export function mergedQualityRecords(shards: readonly (readonly QualityRecord[])[]): readonly QualityRecord[] {
  const records = shards.flat().sort((a, b) => a.index - b.index)
  for (let i = 1; i < records.length; i++) {
    const [before, record] = [records[i - 1], records[i]]
    if (before.index === record.index) throw mergeFault('trajectory given twice', `index ${record.index}`, 'each trajectory once')
    if (String(before.changes.thresholds) !== String(record.changes.thresholds)) {
      throw mergeFault('other thresholds', `${record.changes.thresholds} and ${before.changes.thresholds}`, 'one sweep for all shards')
    }
  }
  return records
}

function mergeFault(problem: string, found: string, expected: string): Fault {
  return new Fault({ format: 'quality records', problem, found, expected })
}
