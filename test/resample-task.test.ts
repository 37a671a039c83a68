/** The bootstrap in parts: any range of the resamples, in any thread, with the compiled loops or without them, gives the bits of the whole. */
import t from 'tap'
import { resampledStatistics } from '../src/compute/diagnostics/quality/bootstrap.js'
import { sweepThresholds } from '../src/compute/diagnostics/quality/changes.js'
import { compareQuality } from '../src/compute/diagnostics/quality/compare.js'
import { QualityPlanBuilder } from '../src/compute/diagnostics/quality/plan.js'
import { quality } from '../src/compute/diagnostics/quality/quality.js'
import { qualityRecord, type QualityRecord } from '../src/compute/diagnostics/quality/record.js'
import { resampledNumbers, resampleTasks, type ResampleTask } from '../src/compute/diagnostics/quality/resample-task.js'
import { drawWeights, unitsOf } from '../src/compute/diagnostics/quality/resampling.js'
import { addAuc } from '../src/compute/diagnostics/quality/auc.js'
import { addErrors } from '../src/compute/diagnostics/quality/errors.js'
import { openTracePool } from '../src/compute/traces/pool.js'
import { setKernelOfThread } from '../src/kernel/open.js'
import { PlainKernel } from '../src/kernel/plain.js'
import { CLEAN, diagnosticDump } from './support/diagnostic-dumps.js'

const RESAMPLES = 157
const draws = { seed: 3, resamples: RESAMPLES, stream: 0 }
const options = { sampling: 'not stated', jumpThreshold: 0.1, seed: 3, resamples: RESAMPLES } as const

function recordsOf(seed: number): readonly QualityRecord[] {
  const { samples } = diagnosticDump({ ...CLEAN, samples: 21, steps: 3, seed })
  return samples.map(sample => qualityRecord(sample, { successThreshold: 0, thresholds: sweepThresholds(0.1) }))
}

const records = recordsOf(1)

function plan() {
  const builder = new QualityPlanBuilder(unitsOf(records, 'trajectory'))
  addErrors(builder, { array: r => r.whole, at: () => 0, none: '' })
  addAuc(builder)
  return builder.build()
}

const bits = (numbers: Float64Array): string => Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength).toString('hex')

t.test('a plan: six sums and ten areas; a sum of weights is the number of tokens of the drawn units', t => {
  const made = plan()
  const numbers = resampledNumbers({ kind: 'resamples', numbers: made, draws, from: 0, to: RESAMPLES })
  t.equal(numbers.length, RESAMPLES * (6 + 10))
  for (const b of [0, 49, 50, 156]) {
    const counts = new Uint16Array(2 * records.length)
    drawWeights(records.length, b, draws, { counts, width: 2 }, 0)
    const tokens = records.reduce((sum, record, unit) => sum + record.tokens * counts[2 * unit], 0)
    t.equal(numbers[b * 16], tokens, `resample ${b}`)
  }
  t.end()
})

t.test('any range of the resamples', t => {
  const made = plan()
  const [whole] = resampleTasks(made, draws)
  t.strictSame([whole.from, whole.to], [0, RESAMPLES], 'little work is one task')
  const width = made.columns + made.ranks.length
  const all = resampledNumbers(whole)
  for (const [from, to] of [
    [0, 1],
    [1, 2],
    [0, 50],
    [49, 101],
    [100, 157],
    [156, 157]
  ]) {
    t.equal(bits(resampledNumbers({ ...whole, from, to })), bits(all.subarray(from * width, to * width)), `${from} to ${to}`)
  }
  setKernelOfThread(new PlainKernel())
  t.equal(bits(resampledNumbers(whole)), bits(all), 'without the compiled loops')
  setKernelOfThread(null)
  t.end()
})

t.test('much work is cut, each resample once', t => {
  const rows = new Float64Array(new SharedArrayBuffer(8 * 2 ** 20))
  const tasks = resampleTasks({ ...plan(), rows }, { ...draws, resamples: 2001 })
  t.ok(tasks.length > 10)
  t.strictSame([tasks[0].from, tasks[tasks.length - 1].to], [0, 2001])
  tasks.slice(1).forEach(({ from }, i) => t.ok(from === tasks[i].to && from % 2 === 0))
  t.end()
})

t.test('threads, whatever their number, and tasks that end in another order', async t => {
  const made = plan()
  const expected = bits(await resampledStatistics(made, draws, resampledNumbers))
  const here = JSON.stringify(await quality(records, options))
  const both = JSON.stringify(await compareQuality(records, recordsOf(2), { ...options, samplingOfB: 'not stated' }))
  for (const threads of [1, 2, 3]) {
    const pool = openTracePool(threads)
    /** Each task in three, the last one first. */
    const inThirds = async (task: ResampleTask): Promise<Float64Array> => {
      const { from, to } = task
      const cuts = [from, from + Math.floor((to - from) / 3), to - 1, to]
      const parts = [2, 1, 0].map(async i => [i, await pool.resample({ ...task, from: cuts[i], to: cuts[i + 1] })] as const)
      const sorted = (await Promise.all(parts)).sort(([a], [b]) => a - b)
      return Float64Array.from(sorted.flatMap(([, part]) => [...part]))
    }
    t.equal(bits(await resampledStatistics(made, draws, inThirds)), expected, `${threads} threads, in thirds`)
    t.equal(JSON.stringify(await quality(records, options, pool.resample)), here, `${threads} threads`)
    const compared = await compareQuality(records, recordsOf(2), { ...options, samplingOfB: 'not stated' }, inThirds)
    t.equal(JSON.stringify(compared), both, `${threads} threads, two critics`)
    await pool.destroy()
  }
})
