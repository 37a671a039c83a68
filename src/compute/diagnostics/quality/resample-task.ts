/**
 * The work of the bootstrap, as plain numbers in and out: any range of the resamples, in any thread, gives the same bits.
 *
 * Weighted sums are a product of the matrix of weights [resamples × units] and that of rows [units × columns]. It is cut into
 * parts that the processor's cache holds. Units are added in the order of the rows, eight at a time, by a compiled loop
 * (`kernel/assembly/resampling.ts`): the same bits wherever it runs.
 */
import type { BlockedRows, ResampleCounts } from '../../../kernel/kernel.js'
import { kernelOfThread } from '../../../kernel/open.js'
import { drawWeights, type ResampleOptions } from './resampling.js'

/** Resamples whose sums are kept at a time: an even number. */
const RESAMPLES = 50
/** Multiplications of a task: some 25 ms, so that a thread gets the next one in time. */
const TASK_WORK = 2 ** 27

/** Traces in the order of group and score. */
export interface RankedTraces {
  /** [traces] unit of each */
  readonly unit: Int32Array
  /** [traces] bit 0: the last of those with one score in one group; bit 1: the last of its group; bit 2: a success */
  readonly flags: Uint8Array
}

/** What follows from how often a resample drew each unit. */
export interface ResampledNumbers extends BlockedRows {
  /** areas under the ROC curve, one each */
  readonly ranks: readonly RankedTraces[]
}

export interface ResampleTask {
  readonly kind: 'resamples'
  readonly numbers: ResampledNumbers
  readonly draws: ResampleOptions
  /** resamples [from, to) */
  readonly from: number
  readonly to: number
}

/** Answers a task: in a thread of the pool, or at once. */
export type Resample = (task: ResampleTask) => Float64Array | Promise<Float64Array>

/** All resamples, in tasks of about the same work. */
export function resampleTasks({ ranks, order, blocks, rows, columns }: ResampledNumbers, draws: ResampleOptions): ResampleTask[] {
  const { resamples } = draws
  const numbers = { ranks, order, blocks, rows, columns }
  const together = RESAMPLES * Math.max(4, Math.floor(TASK_WORK / Math.max(1, rows.length) / RESAMPLES))
  return Array.from({ length: Math.ceil(resamples / together) }, (_, i) => {
    const from = i * together
    return { kind: 'resamples', numbers, draws, from, to: Math.min(resamples, from + together) }
  })
}

/** [resamples of the task × (columns + ranks)] sums and areas of each resample, in shared memory. */
export function resampledNumbers({ numbers, draws, from, to }: ResampleTask): Float64Array {
  const { columns, ranks, order } = numbers
  const units = order.length
  const all = new Float64Array(new SharedArrayBuffer(8 * (to - from) * (columns + ranks.length)))
  const kernel = kernelOfThread()
  const mark = kernel.used
  try {
    const held = { ...numbers, rows: kernel.held(numbers.rows), blocks: kernel.held(numbers.blocks), order: kernel.held(order) }
    const weights = { counts: kernel.held(new Uint16Array(RESAMPLES * units)), width: RESAMPLES }
    for (let first = from; first < to; first += RESAMPLES) {
      const part = Math.min(RESAMPLES, to - first)
      weights.counts.fill(0)
      for (let b = 0; b < part; b++) drawWeights(units, first + b, draws, weights, b)
      weightedNumbers(held, weights, part, all, first - from)
    }
  } finally {
    kernel.release(mark)
  }
  return all
}

/** Writes the numbers of the first `part` resamples of `weights` to the places of the resamples from `first` on. */
export function weightedNumbers(numbers: ResampledNumbers, weights: ResampleCounts, part: number, into: Float64Array, first: number): void {
  const { columns, ranks } = numbers
  const kernel = kernelOfThread()
  const width = columns + ranks.length
  const sums = kernel.addRows(numbers, weights)
  for (let b = 0; b < part; b++) {
    // The sums of two resamples lie together.
    const lane = b % 2
    const at = (b - lane) * columns + lane
    const to = (first + b) * width
    for (let c = 0; c < columns; c++) into[to + c] = sums[at + 2 * c]
  }
  ranks.forEach(({ unit, flags }, rank) => {
    const pairs = kernel.countPairs(unit, flags, weights)
    for (let b = 0; b < part; b++) into[(first + b) * width + columns + rank] = pairs[weights.width + b] / (2 * pairs[b])
  })
}
