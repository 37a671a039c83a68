/** The figures of a page that answer, without a browser: which point a reader asks for, and the lines of panels that are drawn anew. */
import t from 'tap'
import type { FigureReadings, PanelReadings, PointReadings } from '../src/compute/histories/contract.js'
import { axesOf, horizontalRange, pathOf, plottedLines, valueAt, verticalRange, type PanelPlace } from '../src/render/page/browser/axes.js'
import { coordinate, nearestStop, panelPoints, pointAt, stopsOf, windowOf } from '../src/render/page/browser/points.js'

function readingsOf(
  step: readonly (number | null)[],
  hours: readonly (number | null)[],
  value: readonly number[],
  gaps: readonly number[] = []
): PointReadings {
  const none = value.map(() => 0)
  return { x: null, value, step, hours, run: none, session: none, provenance: none, gaps, restarts: [] }
}

function figureOf(panel: Partial<PanelReadings>, ...points: readonly PointReadings[]): FigureReadings {
  const series = points.map((step, slot) => ({ title: `s${slot}`, slot, step, time: step }))
  const defaults = { title: '', yTitle: '', scale: { kind: 'linear' }, sparse: false, multiply: 1, divide: 1, window: 2, series } as const
  return { view: 'step', xTitles: { step: '', time: '' }, windows: [2], runs: [], provenances: [], panels: [{ ...defaults, ...panel }] }
}

/** 100 points wide, 100 high, from 0 to 10 on both axes. */
const PLACE: PanelPlace = { x: { min: 0, max: 10, from: 0, to: 100 }, y: { min: 0, max: 10, from: 100, to: 0 }, titleX: 0 }

t.test('the stop nearest to a place', t => {
  const at = [-9, 0, 0.99, 1, 1.5, 2.51, 3.9, 4, 9].map(x => nearestStop([0, 1, 2, 4], x))
  t.same(at, [0, 0, 1, 1, 1, 2, 3, 3, 3], 'the lower of two that are as near')
  t.equal(nearestStop([7], 100), 0)
  t.end()
})

t.test('the point of a series at a stop', t => {
  const [{ series }] = panelPoints(figureOf({}, readingsOf([2, 4, 8], [1, 2, null], [5, 6, 7])), 'step', 'drawn')
  const byStep = [1, 2, 3, 4, 8, 9].map(stop => pointAt(series[0], stop, 'step'))
  t.same(byStep, [-1, 0, -1, 1, 2, -1], 'by step the very one')
  const byTime = [1, 2, 3, 5, 7, 8, 9].map(stop => pointAt(series[0], stop, 'time'))
  t.same(byTime, [-1, 0, 0, 1, 2, 2, -1], 'by time the nearest, within the series')
  t.same(series[0].mean, Float64Array.of(5, 5.5, 6.5))
  t.end()
})

t.test('stops, windows, and a stop in the other view', t => {
  const figure = figureOf({}, readingsOf([10, 2], [4, 8], [1, 1]), readingsOf([2, 3], [null, 9], [1, 1]))
  const panels = panelPoints(figure, 'step', 'none')
  t.same(stopsOf(panels), Float64Array.of(2, 3, 10), 'each once, as numbers')
  t.equal(panels[0].series[0].mean, null)
  t.same(stopsOf(panelPoints(figure, 'time', 'none')), Float64Array.of(4, 8, 9), 'none without hours')
  const sorted = panelPoints(figureOf({}, readingsOf([2, 3], [null, 9], [1, 1]), readingsOf([2, 4], [5, 6], [1, 1])), 'step', 'none')
  const inHours = [2, 3, 4, 7].map(stop => coordinate(sorted, stop, 'step', 'time'))
  t.same(inHours, [5, 9, 6, null], 'of the first series that has both')
  t.equal(coordinate(sorted, 3, 'step', 'step'), 3)
  const [dense] = figureOf({}).panels
  const windows = [dense, { ...dense, sparse: true, window: null }].map(panel =>
    (['drawn', 'none', 5] as const).map(chosen => windowOf(panel, chosen))
  )
  t.same(
    windows,
    [
      [2, null, 5],
      [null, null, null]
    ],
    'markers are never smoothed'
  )
  t.end()
})

t.test('a redrawn line breaks where a value is not finite, and nowhere else', t => {
  const pathsOf = (panel: Partial<PanelReadings>, points: PointReadings): string[] => {
    const [{ panel: read, series }] = panelPoints(figureOf(panel, points), 'step', 'drawn')
    const place = read.scale.kind === 'log' ? { ...PLACE, y: { ...PLACE.y, min: 1, max: 100 } } : PLACE
    return plottedLines(read, series[0]).map(line => pathOf(line, read.scale, axesOf(place, read.scale)))
  }
  const steps = [0, 1, 2, 3]
  t.same(pathsOf({ multiply: 3, divide: 2 }, readingsOf(steps, steps, [0, 2, 4, 6], [1.5])), [
    'M0.00 100.00L10.00 70.00L20.00 40.00L30.00 10.00',
    'M0.00 100.00L10.00 85.00L20.00 55.00L30.00 25.00'
  ])
  const log = { scale: { kind: 'log' } } as const
  t.same(
    pathsOf({ ...log, window: 1 }, readingsOf(steps, steps, [1, 10, 10, 100], [1.5, 3])),
    ['M0.00 100.00L10.00 50.00M20.00 50.00M30.00 0.00', 'M0.00 100.00L10.00 50.00L20.00 50.00L30.00 0.00'],
    'logged values break at gaps on a logarithmic axis, their mean does not'
  )
  t.equal(pathsOf(log, readingsOf(steps, steps, [1, 0, 10, 100]))[0], 'M0.00 100.00M20.00 50.00L30.00 0.00', 'nor has it a place for 0')
  t.equal(pathsOf({}, readingsOf([0, null, 2, 3], steps, [0, 1, 2, 3]))[0], 'M0.00 100.00M20.00 80.00L30.00 70.00', 'a point without x')
  t.equal(pathsOf({}, readingsOf(steps, steps, [0, 1e101, 2, 3]))[0], 'M0.00 100.00M20.00 80.00L30.00 70.00')
  // 200 columns hold two points each: of 1000 points all are thinned, and the one beyond the axis still breaks the line.
  const many = Array.from({ length: 1000 }, (_, k) => k / 100)
  const broken = pathsOf(
    log,
    readingsOf(
      many,
      many,
      many.map((_, k) => (k === 502 ? 0 : 10))
    )
  )[0].split(/(?=[ML])/)
  t.same(
    broken.filter(part => part.startsWith('M')),
    ['M0.00 50.00', 'M50.30 50.00']
  )
  t.ok(broken.length < 900, `${broken.length} points are drawn`)
  t.end()
})

t.test('ranges of panels that are drawn anew, and the value under a place', t => {
  const [one] = panelPoints(figureOf({}, readingsOf([0, 100], [0, 1], [0, 10])), 'step', 'none')
  t.same(horizontalRange([one]), { min: -2, max: 102 }, 'a fiftieth at each end')
  t.same(verticalRange(one), { min: -0.5, max: 10.5 }, 'a twentieth at each end')
  const [log] = panelPoints(figureOf({ scale: { kind: 'log' } }, readingsOf([0, 1], [0, 1], [10, 0])), 'step', 'none')
  const { min, max } = verticalRange(log)
  t.ok(Math.abs(min - 10 ** 0.5) < 1e-9 && Math.abs(max - 10 ** 1.5) < 1e-9, 'half a decade about a single value')
  t.equal(valueAt(PLACE, axesOf(PLACE, { kind: 'linear' }, { min: 50, max: 150 }), 25), 75)
  t.same(axesOf(PLACE, { kind: 'linear' }).at(2.5, 7.5), [25, 25])
  t.end()
})
