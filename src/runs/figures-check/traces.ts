/**
 * What Figure 8 is to draw: a marker of each trace from the table of trajectories, and of the two examples the token values,
 * thinned span by span, the means of their spans, and their turn boundaries, from the archive of arrays.
 */
import { join } from 'node:path'
import { comparingWords } from '../../core/still.js'
import { openStill } from '../../core/still-file.js'
import { asFloat64 } from '../../ingest/npz/npy.js'
import { openNpzFile } from '../../ingest/npz/npz-file.js'
import type { SvgPanel } from '../../ingest/svg/drawn-figure.js'
import { decimateSpans, spanMeans } from '../../render/figures/decimate.js'
import { spanStarts } from '../../render/figures/spans.js'
import { isDrawable } from '../../render/figures/style.js'
import { OUTPUT_PATHS, tracePrefix } from '../../render/outputs/output-names.js'
import type { DataPoints, ExpectedSeries } from './compare.js'
import type { DataFiles } from './data-files.js'

/** A bucket of token values is about half a point wide; the figure lays them out before it knows the exact width of the plot. */
const BUCKETS_PER_POINT = 2
const LAYOUT = { least: 0.75, most: 1.25 } as const

/** Panels of many traces draw quantiles instead of markers. */
export function isSummary({ series }: SvgPanel): boolean {
  return series.some(({ name }) => name.endsWith(', quartiles'))
}

/** The markers of (a) or (b), by outcome. */
export async function traceSeries(files: DataFiles, quantity: 'mean_value' | 'delta'): Promise<ExpectedSeries[]> {
  const { rows, column } = await files.csv(OUTPUT_PATHS.trajectories)
  const [trace, step, outcome, mean, delta] = ['trace', 'step', 'outcome', 'mean_value', 'delta'].map(column)
  const own = column(quantity)
  const byOrder = rows.every(row => row[step] === '')
  const kinds = new Map<string, { x: number[]; y: number[] }>()
  for (const row of rows) {
    if (![mean, delta].every(at => isDrawable(Number(row[at]))) || (!byOrder && row[step] === '')) continue
    const kind = row[outcome] === '' ? 'unknown' : row[outcome]
    const points = kinds.get(kind) ?? { x: [], y: [] }
    kinds.set(kind, points)
    points.x.push(byOrder ? Number(row[trace]) + 1 : Number(row[step]))
    points.y.push(Number(row[own]))
  }
  return [...kinds].map(([name, points]) => ({ name, kind: 'markers', either: [() => points], total: points.x.length }))
}

export interface ExampleArrays {
  readonly values: Float64Array
  readonly starts: Int32Array
}

/** @param trace its canonical index */
export async function exampleArrays(files: DataFiles, trace: number): Promise<ExampleArrays> {
  const file = join(files.root, OUTPUT_PATHS.archive)
  const source = await openStill(file, comparingWords('npz'))
  try {
    const npz = await openNpzFile(source, file)
    const array = async (name: string): Promise<Float64Array> =>
      asFloat64(await npz.read(`${tracePrefix(trace)}_${name}`), { file, trace, array: name })
    const [values, positions] = [await array('values'), await array('response_positions')]
    await source.assertStill()
    const boundaries = Int32Array.from(positions.keys())
      .filter(i => i > 0 && positions[i] - positions[i - 1] !== 1)
      .map(i => i - 1)
    return { values, starts: spanStarts(values.length, boundaries) }
  } finally {
    await source.close()
  }
}

/** Numbers of buckets that the figure may have had, the likeliest first; of those that give buckets of one length the first. */
function bucketCounts(tokens: number, width: number): number[] {
  const likely = width * BUCKETS_PER_POINT
  const [least, most] = [Math.max(1, Math.floor(likely * LAYOUT.least)), Math.ceil(likely * LAYOUT.most)]
  const counts = new Map<number, number>()
  for (let count = least; count <= most; count++) counts.set(Math.ceil(tokens / count), count)
  return [...counts.values()].sort((a, b) => Math.abs(a - likely) - Math.abs(b - likely))
}

/** The series of the panel of an example. */
export function exampleSeries({ values, starts }: ExampleArrays, { x: axis, series }: SvgPanel): ExpectedSeries[] {
  const tokens = values.length
  const means = spanMeans(values, starts)
  const spans = Array.from(means.keys())
  const isDot = series.some(({ name }) => name === 'span of one token')
  const lone = isDot ? spans.filter(k => starts[k + 1] - starts[k] === 1) : []
  const wide = spans.filter(k => !lone.includes(k))
  const ends: DataPoints = {
    x: wide.flatMap(k => [starts[k] - 0.5, starts[k + 1] - 0.5]),
    y: wide.flatMap(k => [means[k], means[k]])
  }
  const dots: DataPoints = { x: lone.map(k => starts[k]), y: lone.map(k => means[k]) }
  const kept = (buckets: number) => (): DataPoints => {
    const { indexes } = decimateSpans(values, starts, buckets)
    return { x: indexes, y: Float64Array.from(indexes, i => values[i]) }
  }
  const counts = bucketCounts(tokens, Math.abs(axis.to - axis.from))
  const boundaries = Float64Array.from(starts.subarray(1, -1), start => start - 0.5)
  return [
    { name: 'token values', kind: 'line', either: counts.map(kept), total: tokens },
    { name: 'turn boundary', kind: 'ticks', either: [() => ({ x: boundaries, y: boundaries })], total: boundaries.length },
    { name: 'span mean', kind: 'line', either: [() => ends], total: ends.x.length },
    { name: 'span of one token', kind: 'markers', either: [() => dots], total: lone.length }
  ]
}
