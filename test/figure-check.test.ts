/** `verify --figures` on panels drawn by hand: 100 points square, from 0 to 10 upwards, so that a value is ten points. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readDrawnFigure, type SvgPanel } from '../src/ingest/svg/drawn-figure.js'
import type { BarPanel } from '../src/schema/outputs/figure-constants.js'
import { checkBars } from '../src/runs/figures-check/bars.js'
import { checkFigures } from '../src/runs/figures-check/check.js'
import type { ExpectedSeries } from '../src/runs/figures-check/compare.js'
import { bandSeriesOf } from '../src/runs/figures-check/diagnostics.js'
import { checkPanel } from '../src/runs/figures-check/panel.js'
import { curveStyle } from '../src/render/figures/curves/style.js'
import { faultOf } from './support/folders.js'

const LINEAR = 'data-x-scale="linear" data-x-min="0" data-x-max="10" data-x-from="0" data-x-to="100"'
const UPWARDS = 'data-y-scale="linear" data-y-min="0" data-y-max="10" data-y-from="100" data-y-to="0"'
/** 1 to 100 */
const LOG = 'data-y-scale="log" data-y-min="1" data-y-max="100" data-y-from="100" data-y-to="0"'

async function drawn(t: Test, paths: string, name = 's', y = UPWARDS): Promise<SvgPanel> {
  const file = join(t.testdir({}), 'a.svg')
  const series = `<g class="series" data-panel="a" data-series="${name}">${paths}</g>`
  writeFileSync(file, `<svg xmlns="http://www.w3.org/2000/svg"><g class="panel" data-panel="a" ${LINEAR} ${y}>${series}</g></svg>`)
  return (await readDrawnFigure(file))[0]
}

const line = (d: string): string => `<path d="${d}" stroke="#000000"/>`
/** A circle of two arcs, as Chart.js draws a marker. */
const circle = (x: number, y: number): string =>
  `<path d="M${x + 2} ${y}A2 2 0 0 1 ${x - 2} ${y}A2 2 0 0 1 ${x + 2} ${y}Z" fill="#000000"/>`

const expected = (kind: ExpectedSeries['kind'], x: readonly number[], y: readonly number[]): ExpectedSeries[] => [
  { name: 's', kind, either: [() => ({ x, y })], total: x.length }
]

/** What is found and where; null: nothing. */
async function found(t: Test, paths: string, want: readonly ExpectedSeries[]): Promise<string | null> {
  const [check] = checkPanel(await drawn(t, paths), want, () => false)
  return check.difference === null ? null : `${check.difference.index}: ${check.difference.found}`
}

t.test('a line', async t => {
  const want = expected('line', [1, 2], [3, 4])
  t.equal(await found(t, line('M10 70L20 60'), want), null)
  t.equal(await found(t, line('M10 70L20 60.0005'), want), null)
  t.equal(await found(t, line('M10 70L20 60.0011'), want), '1: x 2, y 3.99989')
  t.equal(await found(t, line('M10 70L20 60L30 50'), want), '2: x 3, y 5')
  t.equal(await found(t, line('M10 70'), want), '1: no further point')
  t.equal(await found(t, line('M10 70L20 60') + circle(20, 60), want), null)
  t.equal(await found(t, line('M10 70L20 60') + circle(20, 50), want), '2: a marker at x 2, y 5')
})

t.test('markers', async t => {
  const want = expected('markers', [1, 1, 2], [3, 3, 4])
  const [first, third] = [circle(10, 70), circle(20, 60)]
  t.equal(await found(t, third + first + first, want), null)
  t.equal(await found(t, first + third, want), '1: no marker')
  t.equal(await found(t, first + first + first + third, want), '2: x 1, y 3')
  t.equal(await found(t, first + line('M10 70L20 60') + third, want), '0: a line')
  t.equal(await found(t, first, expected('some', [1, 2], [3, 4])), null)
})

t.test('ticks: those close behind one may be left out, and no other', async t => {
  const at = (...x: readonly number[]): string => x.map(one => line(`M${one} 100L${one} 0`)).join('')
  const want = expected('ticks', [1, 1.04, 2], [0, 0, 0])
  t.equal(await found(t, at(10, 20), want), null)
  t.equal(await found(t, at(10, 10.4, 20), want), null)
  t.equal(await found(t, at(10), want), '2: no further line')
  t.equal(await found(t, at(10, 20, 30), want), '3: x 3, y 0')
  t.equal(await found(t, at(10, 20), expected('ticks', [1, 1.06, 2], [0, 0, 0])), '1: x 2, y 0')
})

t.test('an interval: each stretch around its ends, and on the edge of a logarithmic axis', async t => {
  const point = (x: number, low: number | null, high: number | null) => ({ x, y: null, low, high })
  const series = {
    label: 's',
    style: curveStyle(0),
    dash: [],
    points: [point(1, 0, 10), point(2, 10, 100), point(3, null, null), point(4, 1, 10)]
  }
  const check = async (d: string) => {
    const panel = await drawn(t, `<path d="${d}" fill="#000000"/>`, 's, interval', LOG)
    return checkPanel(panel, bandSeriesOf({ series: [series] }, panel), () => false)[0]
  }
  const first = 'M10 50L20 0L20 0L20 50L10 100L10 100Z'
  t.match(await check(`${first}M40 50L40 100Z`), { status: 'ok', drawn: 6, total: 6 })
  t.match(await check(first), { status: 'differs', difference: { index: 4, found: 'no further corner' } })
  t.match(await check('M10 50L20 0L40 50L40 100L20 50L10 100Z'), { status: 'differs', difference: { index: 2, found: 'x 4, y 10' } })
})

t.test('a series that is not drawn, but for one of which some points are', async t => {
  const panel = await drawn(t, '', 'other')
  const names = (kind: ExpectedSeries['kind']) =>
    checkPanel(panel, expected(kind, [1], [2]), name => name === 'other').map(({ series, status }) => `${series} ${status}`)
  t.same(names('line'), ['other unchecked', 's differs'])
  t.same(names('some'), ['other unchecked'])
})

t.test('bars', async t => {
  const data = { groups: ['g'], from: 0, series: [{ title: 's', bars: [{ value: 4 }] }] } as unknown as BarPanel
  const bar = (d: string) => `<path d="${d}" fill="#000000"/>`
  const check = async (paths: string) => checkBars(await drawn(t, paths), data).map(({ difference }) => difference?.found ?? null)
  const box = 'M2 60L8 60L8 100L2 100Z'
  t.same(await check(bar(box)), [null])
  t.same(await check(bar(box) + bar('M3 61L7 61L7 99L3 99Z')), [null])
  t.same(await check(bar(box) + bar('M3 65L7 65L7 99L3 99Z')), ['a bar whose outline and foot do not agree'])
  t.same(await check(bar('M2 60L8 60L8 98L2 98Z')), ['a bar whose outline and foot do not agree'])
  t.same(await check(bar('M2 60L8 60L8 100L5 100Z')), ['a bar whose outline and foot do not agree'])
  t.same(await check(bar('M12 60L18 60L18 100L12 100Z')), ['a bar to 4 in group 2'])
  const two = { ...data, series: [...data.series, { title: 'u', bars: [{ value: 5 }] }] } as unknown as BarPanel
  t.same(
    checkBars(await drawn(t, bar(box)), two).map(({ difference }) => difference?.found ?? null),
    [null, 'no bar']
  )
  t.same(await check(bar('M2 59.9L8 59.9L8 100L2 100Z')), ['a bar to 4.01 in group 1'])
})

t.test('panels that lack or are one too many', async t => {
  const panel = `<g class="panel" data-panel="e" ${LINEAR} ${UPWARDS}/>`
  const out = t.testdir({
    'critic-trace-by-step.csv': 'step\n',
    figures: { 'critic-traces-over-steps.svg': `<svg xmlns="http://www.w3.org/2000/svg">${panel}</svg>` }
  })
  const { figures } = await checkFigures(out)
  t.same(
    figures[0].series.map(({ panel: letter, difference }) => `${letter} ${difference?.found}`),
    ['a no panel', 'b no panel', 'c no panel', 'd no panel', 'e a panel']
  )
})

t.test('paths and axes that are refused', async t => {
  t.match(await faultOf(drawn(t, line('M0 0L1 1ZL2 2'))), { message: /wrong path: L2 2/, exitCode: 3 })
  t.match(await faultOf(drawn(t, '', 's', LOG.replace('min="1"', 'min="0"'))), { message: /wrong axis: y of panel a/ })
})
