/**
 * Quality statistics of a critic. What is expected of the fixtures was made with scikit-learn, scipy and numpy from the tokens
 * (fixtures/diagnostics/make.py), of each resample anew.
 */
import t, { type Test } from 'tap'
import { sweepThresholds } from '../src/compute/diagnostics/quality/changes.js'
import { compareQuality } from '../src/compute/diagnostics/quality/compare.js'
import type { Estimate, Quality, SamplingDesign } from '../src/compute/diagnostics/quality/contract.js'
import { quality } from '../src/compute/diagnostics/quality/quality.js'
import { qualityRecord, type QualityRecord } from '../src/compute/diagnostics/quality/record.js'
import { resampleIndices } from '../src/compute/diagnostics/quality/resampling.js'
import { mergedQualityRecords, plainQualityRecord, qualityRecordFromPlain } from '../src/compute/diagnostics/quality/serial.js'
import type { Sample, SampleArray, SampleNumbers } from '../src/schema/samples.js'
import type { Outcome } from '../src/schema/traces.js'
import { rowsOf } from './support/cases.js'

interface Trajectory {
  readonly step?: number | null
  readonly uid?: string | null
  readonly outcome?: Outcome | null
  readonly score?: number | null
  readonly positions?: readonly number[]
  readonly values?: readonly number[]
  readonly returns?: readonly number[]
}

type Triple = readonly [number | null, number | null, number | null]

const THRESHOLDS = { successThreshold: 0, thresholds: sweepThresholds(0.1) }

/** A sample whose other tokens hold no number: whoever reads them fails. */
function sampleOf(given: Trajectory, index = 0): Sample {
  const positions = given.positions ?? (given.values ?? given.returns ?? []).map((_, i) => i)
  const tokens = Math.max(...positions) + 2
  const mask = new Uint8Array(tokens)
  for (const p of positions) mask[p] = 1
  const spread = (numbers: readonly number[]) => {
    const array = new Float64Array(tokens).fill(NaN)
    positions.forEach((p, i) => (array[p] = numbers[i]))
    return array
  }
  const arrays: { [name in SampleArray]?: SampleNumbers } = {}
  if (given.values !== undefined) arrays.values = spread(given.values)
  if (given.returns !== undefined) arrays.returns = spread(given.returns)
  const { step = 0, uid = null, outcome = null, score = null } = given
  return { index, place: { file: 'dump' }, fields: { step, outcome, score, uid, truncated: null, rank: null }, mask, arrays, tokenIds: null }
}

const recordsOf = (given: readonly Trajectory[]): QualityRecord[] => given.map((one, i) => qualityRecord(sampleOf(one, i), THRESHOLDS))

const options = (resamples: number, sampling: SamplingDesign = 'not stated') => ({ sampling, jumpThreshold: 0.1, seed: 0, resamples })

const measured = (given: readonly Trajectory[], resamples = 40, sampling: SamplingDesign = 'not stated') =>
  quality(recordsOf(given), options(resamples, sampling))

function at(tree: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce((node, key) => (node as Record<string, unknown> | null | undefined)?.[key], tree)
}

function near(actual: number | null, expected: number | null, tolerance = 1e-10): boolean {
  if (actual === null || expected === null) return actual === expected
  return Math.abs(actual - expected) <= tolerance * (1 + Math.abs(expected))
}

/** Every estimate of a tree with its pointer. */
function estimatesIn(tree: unknown, pointer = ''): [string, Estimate][] {
  if (typeof tree !== 'object' || tree === null) return []
  const own: [string, Estimate][] = 'n_trajectories' in tree && 'value' in tree ? [[pointer, tree as Estimate]] : []
  return [...own, ...Object.entries(tree).flatMap(([key, inner]) => estimatesIn(inner, `${pointer}/${key}`))]
}

function compareTriples(t: Test, tree: unknown, expected: Readonly<Record<string, Triple>>): void {
  const wrong = Object.entries(expected).filter(([pointer, [value, low, high]]) => {
    const found = at(tree, pointer) as Estimate | undefined
    return found === undefined || !near(found.value, value) || !near(found.low, low) || !near(found.high, high)
  })
  t.same(
    wrong.slice(0, 5).map(([pointer, triple]) => ({ pointer, expected: triple, found: at(tree, pointer) })),
    [],
    `${Object.keys(expected).length} statistics, ${wrong.length} differ`
  )
}

interface QualityCase {
  readonly name: string
  readonly unit: string
  readonly group: string
  readonly resamples: number
  readonly trajectories: readonly Trajectory[]
  readonly expected: Readonly<Record<string, Triple>>
}

t.test('values and intervals are those of scikit-learn, scipy and numpy on the tokens of each resample', t => {
  for (const { name, unit, group, resamples, trajectories, expected } of rowsOf<QualityCase>('diagnostics/quality')) {
    t.test(name, t => {
      const found = measured(trajectories, resamples, 'every trajectory')
      t.equal(found.resampling.unit, unit)
      t.equal(found.within_group, group)
      compareTriples(t, found, expected)
      const unexpected = estimatesIn(found).filter(([pointer, { value }]) => value !== null && expected[pointer] === undefined)
      t.same(
        unexpected.map(([pointer]) => pointer),
        [],
        'no estimate that the fixture lacks'
      )
      t.end()
    })
  }
  t.end()
})

