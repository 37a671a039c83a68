/**
 * Calibration: do values mean what they say, for outcomes of 0 and 1? Every retained token of a trajectory with a known outcome
 * y predicts y. Tokens are put into ten bins of about equal count by their value; in each the mean value is held against the
 * share of tokens that belong to successes (scikit-learn's `calibration_curve`, strategy `quantile`). The expected calibration
 * error is Σ n_b / n · |mean y - mean V| (Naeini, Cooper, Hauskrecht, AAAI 2015; no unit).
 *
 * Bins are made of the cells of the fixed histogram (`histogram.ts`): a cell belongs to bin floor(10 k / n), where k tokens lie
 * in lower cells. So a bin has whole cells, and one cell with many tokens leaves the bins behind it empty; empty bins are left
 * out. Resamples keep the bins of the sample. Values outside [0, 1] are no probabilities: they are counted, and binned as they
 * are.
 */
import type { Calibration, Estimate, ReliabilityBin } from './contract.js'
import type { TakeEstimate } from './estimate.js'
import { ALL_CELLS, cellEdge } from './histogram.js'
import type { SumFamily, QualityPlanBuilder } from './plan.js'
import type { QualityRecord } from './record.js'

const BINS = 10
/** Sums of a bin: tokens, Σ V, tokens of successes. */
const SUMS = 3

interface CalibrationBin {
  readonly bin: number
  /** first and last cell with tokens */
  readonly first: number
  last: number
  tokens: number
  sum: number
  trajectories: number
}

interface CalibrationBins {
  /** [cells] place in `used` of each cell's bin */
  readonly ofCell: Uint8Array
  /** bins with tokens, in order */
  readonly used: readonly CalibrationBin[]
}

export interface CalibrationSlots {
  readonly error: number
  /** makes the whole of it, once the estimates are known */
  readonly describe: (take: TakeEstimate<Estimate>, refusal: string | null) => Omit<Calibration, keyof Estimate>
}

/** Adds the expected calibration error, and the success rate of each bin. */
export function addCalibration(builder: QualityPlanBuilder): CalibrationSlots {
  const records = builder.units.flat().filter(r => r.hasValues && r.outcome !== null)
  const bins = binsOf(records)
  const first = builder.add(calibrationFamily(records, bins))
  return {
    error: first,
    describe: (take, refusal) => ({
      bins: refusal === null ? describedBins(bins, take, first + 1) : [],
      below_0: records.reduce((sum, r) => sum + r.histogram.below0, 0),
      above_1: records.reduce((sum, r) => sum + r.histogram.above1, 0),
      tokens: records.reduce((sum, r) => sum + r.tokens, 0)
    })
  }
}

function binsOf(records: readonly QualityRecord[]): CalibrationBins {
  const tokens = new Float64Array(ALL_CELLS)
  for (const { histogram } of records) {
    const { cells, counts } = histogram
    for (let i = 0; i < cells.length; i++) tokens[cells[i]] += counts[i]
  }
  const all = tokens.reduce((sum, count) => sum + count, 0)
  const ofCell = new Uint8Array(ALL_CELLS)
  const used: CalibrationBin[] = []
  let lower = 0
  for (let cell = 0; cell < ALL_CELLS; cell++) {
    if (tokens[cell] === 0) continue
    const bin = Math.floor((BINS * lower) / all)
    lower += tokens[cell]
    if (used.at(-1)?.bin !== bin) used.push({ bin, first: cell, last: cell, tokens: 0, sum: 0, trajectories: 0 })
    used[used.length - 1].last = cell
    ofCell[cell] = used.length - 1
  }
  for (const { histogram } of records) {
    const { cells, counts, sums } = histogram
    let before = -1
    for (let i = 0; i < cells.length; i++) {
      const at = ofCell[cells[i]]
      used[at].tokens += counts[i]
      used[at].sum += sums[i]
      if (at !== before) used[at].trajectories++
      before = at
    }
  }
  return { ofCell, used }
}

function calibrationFamily(records: readonly QualityRecord[], { ofCell, used }: CalibrationBins): SumFamily {
  const counted = new Set(records)
  return {
    columns: BINS * SUMS,
    slots: 1 + BINS,
    fill(unit, row, at) {
      for (const record of unit) {
        if (!counted.has(record)) continue
        const { cells, counts, sums } = record.histogram
        const success = record.outcome === 'success' ? 1 : 0
        for (let i = 0; i < cells.length; i++) {
          const b = at + ofCell[cells[i]] * SUMS
          row[b] += counts[i]
          row[b + 1] += sums[i]
          row[b + 2] += success * counts[i]
        }
      }
    },
    read(sums, at, out, to) {
      let [tokens, error] = [0, 0]
      for (let b = 0; b < BINS; b++) {
        const s = at + b * SUMS
        tokens += sums[s]
        error += Math.abs(sums[s + 2] - sums[s + 1])
        out[to + 1 + b] = sums[s + 2] / sums[s]
      }
      out[to] = error / tokens
    },
    trajectories: slot => (slot === 0 ? records.length : (used[slot - 1]?.trajectories ?? 0)),
    why: () => NO_VALUED_OUTCOME
  }
}

const NO_VALUED_OUTCOME = 'no trajectory has values and an outcome'

function describedBins({ used }: CalibrationBins, take: TakeEstimate<Estimate>, first: number): ReliabilityBin[] {
  const edge = (cell: number) => (cell === 0 || cell === ALL_CELLS ? null : cellEdge(cell))
  return used.map(({ first: cell, last, tokens, sum }, i) => ({
    from: edge(cell),
    to: edge(used[i + 1]?.first ?? last + 1),
    tokens,
    mean_value: sum / tokens,
    success_rate: take(first + i)
  }))
}
