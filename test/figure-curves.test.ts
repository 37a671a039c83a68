/**
 * Curve figures: logarithmic and symmetric-logarithmic axes, decimation, label places, the plain configuration, the three
 * files, and the pool that draws them. Goldens are in fixtures/figures; `UPDATE_GOLDENS=1` writes them anew from what is
 * drawn now.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createCanvas } from 'canvas'
import { BasicPlatform, Chart, type ChartConfiguration } from 'chart.js'
import { parseFragment } from 'parse5'
import t from 'tap'
import type { CurveFigureData, CurvePanelData, CurveSeriesData } from '../src/compute/histories/contract.js'
import { panelCanvas } from '../src/render/canvas/context.js'
import { renderFigure, warmCanvas } from '../src/render/canvas/index.js'
import { openFigurePool } from '../src/render/canvas/pool.js'
import { FIGURE_FORMATS, type FigureConfig, type Plain } from '../src/render/figures/config.js'
import { buildCurveFigure } from '../src/render/figures/curves/index.js'
import { LABEL_HEIGHT, placeGuideLabel } from '../src/render/figures/curves/labels.js'
import { curveStyle } from '../src/render/figures/curves/style.js'
import { decimateColumns } from '../src/render/figures/decimate.js'
import { resolveFunctions } from '../src/render/figures/functions.js'
import { buildFigures, plannedFigures } from '../src/render/figures/index.js'
import { Ink } from '../src/render/figures/ink.js'
import { logTicks, symlogTicks } from '../src/render/figures/log-ticks.js'
import { axisMap, symlogMap } from '../src/render/figures/scales.js'
import { fitWidth, drawnWidth } from '../src/render/figures/text-width.js'
import type { AxisScale } from '../src/schema/histories.js'
import { compare, decode, encode, halve, labelRectangles, shareOfAxis } from './support/compare-pictures.js'
import { curveFigureData } from './support/curve-data.js'
import { annotationsOf, FIXTURES, scalesOf, seriesOf, smallData, type LooseFigure, type Point } from './support/figure-config.js'
import { seededRandom } from './support/figure-data.js'
import { pdfStrings } from './support/pdf-text.js'

const UPDATE = process.env['UPDATE_GOLDENS'] === '1'

await warmCanvas()

/** A thread without the test runner's modules starts and ends ten times as fast. */
const PLAIN_THREADS = { execArgv: [] }

const SMALL = JSON.parse(await readFile(join(FIXTURES, 'curves.data.json'), 'utf8')) as CurveFigureData

function near(
  t: { equal(a: unknown, b: unknown): void; ok(value: unknown, message: string): void },
  found: readonly number[],
  wanted: readonly number[],
  message: string
): void {
  t.equal(found.length, wanted.length)
  const worst = found.reduce((most, value, k) => Math.max(most, Math.abs(value - wanted[k])), 0)
  t.ok(worst < 1e-12, `${message}: off by ${worst}`)
}

function series(y: readonly number[], more: Partial<CurveSeriesData> = {}): CurveSeriesData {
  return { title: 'one', slot: 0, x: y.map((_, i) => i), y, smooth: null, supplied: [], gaps: [], restarts: [], marks: [], ...more }
}

function panel(more: Partial<CurvePanelData> = {}): CurvePanelData {
  return { title: 'Panel', yTitle: 'Value', scale: { kind: 'linear' }, sparse: false, guides: [], series: [series([1, 2, 3])], ...more }
}

function figure(panels: readonly CurvePanelData[], more: Partial<CurveFigureData> = {}): CurveFigureData {
  return { synthetic: false, name: 'figure', title: 'Figure', xTitle: 'Training step', drawnFrom: ['s.json'], panels, ...more }
}

/** Without the gaps of a broken line. */
function pointsOf(config: FigureConfig, k: number, label: string): readonly Point[] {
  return dataOf(config, k, label).filter(({ y }) => y !== null)
}

function dataOf(config: FigureConfig, k: number, label: string): readonly Point[] {
  return seriesOf(config, k).find(one => one.label === label)?.data ?? []
}

function titleIn(more: Partial<CurvePanelData>): string {
  return buildCurveFigure(figure([panel(more), panel()])).panels[0].title
}

/** The chart of a panel, as Chart.js lays it out. */
function withChart(config: FigureConfig, k: number, use: (chart: Chart) => void): void {
  const { box, chart } = config.panels[k]
  const context = createCanvas(600, 600).getContext('2d')
  const canvas = panelCanvas(context, context, box.width, box.height)
  const resolved = resolveFunctions({ ...chart }) as unknown as ChartConfiguration
  const drawn = new Chart(canvas as unknown as HTMLCanvasElement, { ...resolved, platform: BasicPlatform })
  use(drawn)
  drawn.destroy()
}

t.test('axes', async t => {
  t.test('symlog is that of matplotlib', async t => {
    const values = [-4000, -10, -1, -0.25, 0, 0.1, 0.3, 0.9, 1, 12.5, 1e6]
    // matplotlib 3.6.3: SymmetricalLogTransform(10, linthresh, 1).transform(values) / linthresh
    near(
      t,
      values.map(symlogMap(1).forward),
      [
        -4.713171102439073, -2.111111111111111, -1.1111111111111112, -0.2777777777777778, 0, 0.11111111111111112, 0.3333333333333333, 1,
        1.1111111111111112, 2.208021124119168, 7.111111111111111
      ],
      'threshold 1'
    )
    near(
      t,
      values.map(symlogMap(0.3).forward),
      [
        -5.236049847719411, -2.6339898563914486, -1.6339898563914488, -0.925925925925926, 0, 0.3703703703703704, 1.1111111111111112,
        1.5882323658307735, 1.6339898563914488, 2.7308998693995052, 7.633989856391449
      ],
      'threshold 0.3'
    )
  })

  t.test('maps are strictly increasing, and back is their inverse', async t => {
    const random = seededRandom(2)
    const scales: readonly AxisScale[] = [
      { kind: 'linear' },
      { kind: 'log' },
      { kind: 'symlog', linear_to: 1 },
      { kind: 'symlog', linear_to: 1e-7 }
    ]
    for (const scale of scales) {
      const { forward, back } = axisMap(scale)
      for (let round = 0; round < 2000; round++) {
        const value = 10 ** (random() * 60 - 30) * (scale.kind !== 'log' && random() < 0.5 ? -1 : 1)
        const other = value + Math.abs(value) * 10 ** (-10 * random())
        if (!(forward(other) > forward(value))) t.fail(`${scale.kind}: ${value} and ${other}`)
        if (Math.abs(back(forward(value)) / value - 1) > 1e-9) t.fail(`${scale.kind}: ${value} came back as ${back(forward(value))}`)
      }
      if (scale.kind !== 'log') t.equal(forward(0), 0)
    }
    t.equal(symlogMap(2).forward(-7), -symlogMap(2).forward(7))
  })

  t.test('Chart.js puts values where matplotlib and numpy do', async t => {
    // numpy 1.24.2 and matplotlib 3.6.3: (transform(v) - transform(min)) / (transform(max) - transform(min))
    const cases: ReadonlyArray<readonly [AxisScale, number, number, ReadonlyArray<readonly [number, number]>]> = [
      [
        { kind: 'symlog', linear_to: 1 },
        -3000,
        2,
        [
          [-3000, 0],
          [-1000, 0.079515259658072],
          [-1, 0.579484138878043],
          [0, 0.7646577978484026],
          [0.5, 0.8572446273335824],
          [1, 0.9498314568187621],
          [2, 1]
        ]
      ],
      [
        { kind: 'log' },
        0.5,
        2000,
        [
          [0.5, 0],
          [1, 0.08357162190211086],
          [3, 0.21602950874140342],
          [10, 0.36119054063403694],
          [100, 0.638809459365963],
          [2000, 1]
        ]
      ]
    ]
    for (const [scale, min, max, wanted] of cases) {
      const config = structuredClone(buildCurveFigure(figure([panel({ scale, series: [series([1, 2, 3])] })]))) as unknown as {
        panels: Array<{ chart: { options: { scales: { y: { min: number; max: number } } } } }>
      }
      const { y } = config.panels[0].chart.options.scales
      ;[y.min, y.max] = [min, max]
      withChart(config as unknown as FigureConfig, 0, chart => {
        const { top, height } = chart.chartArea
        const shares = wanted.map(([value]) => (top + height - chart.scales['y'].getPixelForValue(value)) / height)
        const worst = Math.max(...shares.map((share, k) => Math.abs(share - wanted[k][1])))
        t.ok(worst < 1e-3, `${scale.kind}: off by ${worst} of the axis`)
        for (const [value] of wanted) {
          const { y } = chart.scales
          const again = y.getPixelForValue(Number(y.getValueForPixel(y.getPixelForValue(value))))
          t.ok(Math.abs(again - y.getPixelForValue(value)) < 0.01, `${scale.kind}: ${value} back from its pixel`)
        }
      })
    }
  })

  const labels = ({ values, labels }: { values: readonly number[]; labels: readonly string[] }): string[] =>
    values.flatMap((value, k) => (labels[k] === '' ? [] : [`${value}=${labels[k]}`]))

  t.test('logarithmic ticks', async t => {
    const ticks = logTicks({ min: 0.5, max: 2000 }, 112)
    t.same(labels(ticks), ['1=1', '10=10', '100=100', '1000=1,000'], 'the powers of ten')
    t.same(ticks.values.slice(0, 7), [0.5, 0.6, 0.7, 0.8, 0.9, 1, 2], 'and what is between them')
    t.same(ticks.minor?.slice(4, 7), [true, false, true])
    t.same(labels(logTicks({ min: 1e-6, max: 2e7 }, 112)), [
      '0.000001=10\u207b\u2076',
      '0.0001=10\u207b\u2074',
      '0.01=10\u207b\u00b2',
      '1=10\u2070',
      '100=10\u00b2',
      '10000=10\u2074',
      '1000000=10\u2076'
    ])
    t.same(labels(logTicks({ min: 0.8, max: 9.9 }, 112)), ['1=1', '2=2', '5=5'])
    t.same(
      labels(logTicks({ min: 0.0008, max: 0.3 }, 112)),
      ['0.001=0.001', '0.01=0.01', '0.1=0.1'],
      'the power below the axis has no say in how those on it are written'
    )
    t.same(labels(logTicks({ min: 0.00008, max: 0.3 }, 112)), [
      '0.0001=10\u207b\u2074',
      '0.001=10\u207b\u00b3',
      '0.01=10\u207b\u00b2',
      '0.1=10\u207b\u00b9'
    ])
    t.same(labels(logTicks({ min: 12, max: 38 }, 112)), ['15=15', '20=20', '25=25', '30=30', '35=35'])
    t.same(labels(logTicks({ min: 3e7, max: 3e8 }, 112)), ['50000000=5\u00d710\u2077', '100000000=10\u2078', '200000000=2\u00d710\u2078'])
  })

  t.test('symmetric-logarithmic ticks', async t => {
    t.same(labels(symlogTicks({ min: -4000, max: 1.2 }, 1, 112)), [
      '-1000=\u22121,000',
      '-100=\u2212100',
      '-10=\u221210',
      '-1=\u22121',
      '0=0',
      '1=1'
    ])
    t.same(labels(symlogTicks({ min: -50, max: 300 }, 0.2, 112)), [
      '-10=\u221210',
      '-1=\u22121',
      '-0.2=\u22120.2',
      '0=0',
      '0.2=0.2',
      '1=1',
      '10=10',
      '100=100'
    ])
    t.same(
      labels(symlogTicks({ min: -0.3, max: 0.8 }, 1, 112)),
      ['-0.2=\u22120.2', '0=0.0', '0.2=0.2', '0.4=0.4', '0.6=0.6', '0.8=0.8'],
      'all linear'
    )
    t.same(labels(symlogTicks({ min: 20, max: 30 }, 1, 112)), ['20=20', '22=22', '24=24', '26=26', '28=28', '30=30'], 'all beyond')
  })

  t.test('ticks of any range are inside it, increasing, and their labels apart', async t => {
    const random = seededRandom(7)
    for (let round = 0; round < 3000; round++) {
      const [a, b] = [10 ** (random() * 190 - 95), 10 ** (random() * 190 - 95)]
      const symlog = round % 2 === 0
      const linearTo = 10 ** (random() * 100 - 50)
      const range = symlog ? { min: -a, max: b } : { min: Math.min(a, b), max: Math.max(a, b) * 1.0001 }
      const height = 60 + 200 * random()
      const ticks = symlog ? symlogTicks(range, linearTo, height) : logTicks(range, height)
      const { values } = ticks
      const what = `${symlog ? `symlog ${linearTo}` : 'log'} ${range.min} to ${range.max}`
      if (!values.every((v, k) => v >= range.min && v <= range.max && (k === 0 || v > values[k - 1]))) t.fail(`${what}: order`)
      const { forward } = axisMap(symlog ? { kind: 'symlog', linear_to: linearTo } : { kind: 'log' })
      const at = (v: number): number => ((forward(v) - forward(range.min)) / (forward(range.max) - forward(range.min))) * height
      const labelled = values.filter((_, k) => ticks.labels[k] !== '')
      if (labelled.length === 0 || labelled.length > 30 || values.length > 400)
        t.fail(`${what}: ${labelled.length} labels, ${values.length} ticks`)
      // niceTicks, of a range within a decade, may be closer
      const close = ticks.minor === undefined ? -1 : labelled.findIndex((v, k) => k > 0 && at(v) - at(labelled[k - 1]) < 9.5)
      if (close > 0) t.fail(`${what}: ${labelled[close - 1]} and ${labelled[close]} touch`)
    }
    t.pass('3,000 ranges')
  })
})

t.test('decimation by columns', async t => {
  t.test('keeps the same points as the numpy reference', async t => {
    const x = Array.from({ length: 3000 }, (_, i) => Math.floor(i * 0.7))
    const y = Array.from({ length: 3000 }, (_, i) => ((i * 7919) % 1009) / 1009)
    const kept = [...decimateColumns(x, y, { min: -10, max: 2109 }, 100)]
    // numpy 1.24.2: np.unique([0, argmin, argmax, len - 1]) of every column floor((x - min) / (max - min) * 100)
    t.equal(kept.length, 387)
    t.same(kept.slice(0, 12), [0, 7, 17, 18, 33, 46, 47, 48, 59, 66, 77, 78])
    t.same(kept.slice(-6), [2981, 2982, 2983, 2988, 2994, 2999])
    t.equal(
      kept.reduce((sum, i, k) => sum + i * k, 0),
      150289995
    )
  })

  t.test('of two columns four points are all kept, and of five in one column the first, lowest, highest and last', async t => {
    const y = [3, 2, 1, 4, 0]
    const x = y.map(() => 0)
    t.same([...decimateColumns(x.slice(0, 4), y.slice(0, 4), { min: 0, max: 1 }, 2)], [0, 1, 2, 3])
    t.same([...decimateColumns(x, y, { min: 0, max: 1 }, 2)], [0, 3, 4])
  })

  t.test('keeps all of few points, and of many every extreme of every column', async t => {
    const random = seededRandom(12)
    for (let round = 0; round < 300; round++) {
      const length = Math.floor(random() * 900)
      const x = Array.from({ length }, () => (round % 3 === 0 ? Math.floor(random() * 50) : random() * 50)).sort((a, b) => a - b)
      const y = Array.from({ length }, () => (round % 2 === 0 ? Math.floor(random() * 4) : random()))
      const columns = 1 + Math.floor(random() * 120)
      const kept = decimateColumns(x, y, { min: 0, max: 50 }, columns)
      if (length <= 2 * columns && kept.length !== length) return t.fail(`round ${round}: dropped one of ${length}`)
      if (kept.length > Math.max(2 * columns, 4 * (columns + 1))) return t.fail(`round ${round}: ${kept.length} of ${columns} columns`)
      if (!kept.every((index, k) => k === 0 || index > kept[k - 1])) return t.fail(`round ${round}: order`)
      const extremes = (indexes: Iterable<number>): Map<number, [number, number]> => {
        const of = new Map<number, [number, number]>()
        for (const i of indexes) {
          const column = Math.floor((x[i] / 50) * columns)
          const [low, high] = of.get(column) ?? [Infinity, -Infinity]
          of.set(column, [Math.min(low, y[i]), Math.max(high, y[i])])
        }
        return of
      }
      if (JSON.stringify([...extremes(kept)]) !== JSON.stringify([...extremes(x.keys())]))
        return t.fail(`round ${round}: an extreme is lost`)
    }
    t.pass('300 lines')
  })

  t.test('a million points make a small configuration that has their extremes', async t => {
    const n = 1e6
    const y = Array.from({ length: n }, (_, i) => ((i * 7919) % 10007) / 10007)
    ;[y[123456], y[777777]] = [40, -40]
    const config = buildCurveFigure(
      figure([panel({ series: [series(y, { smooth: y.map(v => v / 2) })] }), panel({ series: [series(y)], sparse: true })])
    )
    t.ok(JSON.stringify(config).length < 400_000, `${JSON.stringify(config).length} bytes`)
    for (const [k, label] of [
      [0, 'one, raw'],
      [1, 'one']
    ] as const) {
      const drawn = pointsOf(config, k, label)
      t.same(
        drawn.find(point => point.y === 40),
        { x: 123456, y: 40 }
      )
      t.same(
        drawn.find(point => point.y === -40),
        { x: 777777, y: -40 }
      )
      t.same([drawn[0].x, drawn[drawn.length - 1].x], [0, n - 1])
    }
  })
})

t.test('ink', async t => {
  const random = seededRandom(5)
  for (let round = 0; round < 200; round++) {
    const ink = new Ink(40, 30)
    const cells = new Set<string>()
    for (let k = 0; k < 6; k++) {
      const [x1, y1, x2, y2] = [random() * 50 - 5, random() * 40 - 5, random() * 50 - 5, random() * 40 - 5]
      ink.addLine(x1, y1, x2, y2)
      for (let s = 0; s <= 2000; s++) cells.add(`${Math.floor(x1 + ((x2 - x1) * s) / 2000)} ${Math.floor(y1 + ((y2 - y1) * s) / 2000)}`)
    }
    const box = { x: random() * 30, y: random() * 20, width: random() * 10, height: random() * 10 }
    let wanted = 0
    for (let x = Math.floor(box.x); x <= box.x + box.width; x++) {
      for (let y = Math.floor(box.y); y <= box.y + box.height; y++) if (x < 40 && y < 30 && cells.has(`${x} ${y}`)) wanted++
    }
    const found = ink.covered(box)
    // Walking in steps may miss a corner of a cell.
    if (found < wanted || found > wanted + 6) t.fail(`round ${round}: ${found} cells, walked ${wanted}`)
  }
  const ink = new Ink(10, 10)
  t.equal(ink.covered({ x: 0, y: 0, width: 9.5, height: 9.5 }), 0)
  ink.addBox({ x: 2.2, y: 3.7, width: 1, height: 1 })
  t.equal(ink.covered({ x: 0, y: 0, width: 9.5, height: 9.5 }), 4, 'cells 2 and 3 by 3 and 4')
  t.equal(ink.covered({ x: 4.1, y: 0, width: 3, height: 9 }), 0)
  ink.addLine(7.5, 2, 7.5, 2)
  t.equal(ink.covered({ x: 7, y: 2, width: 0, height: 0 }), 1, 'a line without length is a dot')
})

t.test('configuration', async t => {
  t.test('is exactly the golden one for the small fixture', async t => {
    const path = join(FIXTURES, 'curves.config.json')
    const text = `${JSON.stringify(buildCurveFigure(SMALL), null, 1)}\n`
    if (UPDATE) await writeFile(path, text)
    // Node 24 takes another logarithm than Node 20 where the last digit of a position is concerned.
    const rounded = (_key: string, value: unknown): unknown => (typeof value === 'number' ? Number(value.toPrecision(14)) : value)
    t.strictSame(JSON.parse(text, rounded), JSON.parse(await readFile(path, 'utf8'), rounded))
  })

  t.test('draws every point once, on one line, and nothing else', async t => {
    for (const data of [SMALL, ...curveFigureData()]) {
      const config = buildCurveFigure(data)
      data.panels.forEach((wanted, k) => {
        const isShown = (y: number): boolean => wanted.scale.kind !== 'log' || y > 0
        const expected = new Map<string, Plain>()
        for (const { title, x, y, smooth } of wanted.series) {
          const points = (values: Iterable<number>): Point[] =>
            Array.from(values, (value, i) => ({ x: x[i], y: value })).filter(point => isShown(point.y))
          expected.set(smooth === null ? title : `${title}, raw`, points(y) as unknown as Plain)
          if (smooth !== null) expected.set(title, points(smooth) as unknown as Plain)
        }
        for (const [label, points] of expected)
          t.same(pointsOf(config, k, label), points, `${data.name} ${config.panels[k].label} ${label}`)
        const besides = seriesOf(config, k)
          .map(one => one.label)
          .filter(label => !expected.has(label))
        const isEdge = (label: string): boolean => / (?:restart|not on the axis)$/.test(label)
        for (const { title, x, y, gaps, restarts } of wanted.series) {
          t.same(besides.includes(`${title}, restart`) ? pointsOf(config, k, `${title}, restart`).map(point => point.x) : [], restarts)
          const below = Array.from(x).filter((_, i) => !isShown(y[i]))
          const edges = [...below, ...(wanted.scale.kind === 'log' ? gaps : [])].sort((a, b) => a - b)
          t.same(
            besides.includes(`${title}, not on the axis`) ? pointsOf(config, k, `${title}, not on the axis`).map(point => point.x) : [],
            edges
          )
        }
        const others = besides.filter(label => !isEdge(label))
        t.ok(
          others.every(label => label.endsWith(', marker')),
          'besides, only markers'
        )
        for (const label of others) {
          const line = pointsOf(config, k, label.slice(0, -', marker'.length))
          t.ok(
            pointsOf(config, k, label).every(mark => line.some(point => point.x === mark.x && point.y === mark.y)),
            'that stand on their line'
          )
        }
      })
    }
  })

  t.test('sparse panels are dashed with markers; plain ones are not; a mean is stronger than what it is the mean of', async t => {
    const options = (k: number, label: string): { [name: string]: Plain } =>
      seriesOf(buildCurveFigure(SMALL), k).find(one => one.label === label) as unknown as { [name: string]: Plain }
    t.match(options(1, 'Alpha'), { borderDash: [3, 2], pointRadius: 0, borderColor: '#0072b2' })
    t.match(options(1, 'Alpha, marker'), { showLine: false, pointStyle: 'circle', pointBorderColor: '#0072b2' })
    t.match(options(1, 'Beta, marker'), {
      showLine: false,
      pointStyle: 'triangle',
      pointBackgroundColor: '#ffffff',
      pointBorderColor: '#e69f00'
    })
    t.match(options(0, 'Alpha'), { borderDash: [], pointRadius: 0, borderWidth: 1.6, borderColor: '#0072b2' })
    t.match(options(0, 'Alpha, raw'), { borderDash: [], pointRadius: 0, borderWidth: 0.7, borderColor: '#9ccbe6' })
    t.match(options(3, 'Alpha'), { borderDash: [], pointRadius: 0, borderWidth: 0.9, borderColor: '#0072b2' })
    const order = seriesOf(buildCurveFigure(SMALL), 0).map(one => one.label)
    t.ok(order.indexOf('Beta') < order.indexOf('Alpha, raw') && order.indexOf('Alpha') < order.indexOf('Beta, raw'), 'first is on top')
  })

  t.test('a symmetric-logarithmic axis reaches its threshold on both sides of zero that have values', async t => {
    const rangeOf = (y: readonly number[]): { readonly min: number; readonly max: number } =>
      scalesOf(buildCurveFigure(figure([panel({ scale: { kind: 'symlog', linear_to: 1 }, series: [series(y)] })])), 0).y
    const [one, two, three] = [
      [-2000, 0.4],
      [0.2, 300],
      [-0.2, 0.4]
    ].map(rangeOf)
    t.ok(one.max > 1 && one.max < 2, `up to ${one.max}`)
    t.ok(two.min <= 0.2 && two.min > -1, `from ${two.min}: nothing is below zero`)
    t.ok(three.min > -0.3 && three.max < 0.5, 'all linear: as tight as a linear axis')
  })

  t.test('says what a logarithmic axis cannot show', async t => {
    const titleOf = (more: Partial<CurvePanelData>): string => buildCurveFigure(figure([panel(more), panel()])).panels[0].title
    t.equal(buildCurveFigure(SMALL).panels[2].title, 'Gradient norm (3 not shown: \u2264 0; 2 not finite)')
    const log = { scale: { kind: 'log' } } as const
    t.equal(titleOf({ ...log, series: [series([0, -0, -1, 5, 1e-300])] }), 'Panel (3 not shown: \u2264 0; 1 below 1e\u2212100)')
    t.equal(titleOf({ ...log, series: [series([-3, 5], { smooth: [-3, 1] })] }), 'Panel (1 point, 1 mean not shown: \u2264 0)')
    t.equal(titleOf({ ...log, guides: [{ value: 0, label: 'zero', series: null }] }), 'Panel (1 guide not shown: \u2264 0)')
    t.equal(titleOf({ series: [series([1, Infinity, -2e100, 3])] }), 'Panel (2 not shown: beyond 1e100)')
    t.equal(
      titleOf({ scale: { kind: 'symlog', linear_to: 1 }, series: [series([-1e99, -3, 0, 0.2])] }),
      'Panel (linear to \u00b11)',
      'symlog shows all'
    )
  })

  t.test('a logarithmic axis breaks the line where a value is not on it, and marks its lower edge', async t => {
    const log = { scale: { kind: 'log' } } as const
    const gap = (x: number): Point => ({ x, y: null }) as unknown as Point
    const one = buildCurveFigure(figure([panel({ ...log, series: [series([10, 10, 0, 0, 10, -1, 10, 10])] })]))
    t.same(dataOf(one, 0, 'one'), [{ x: 0, y: 10 }, { x: 1, y: 10 }, gap(4), { x: 4, y: 10 }, gap(6), { x: 6, y: 10 }, { x: 7, y: 10 }])
    t.match(
      seriesOf(one, 0).find(({ label }) => label === 'one'),
      { pointRadius: [0, 0, 0, 1.5, 0, 0, 0] },
      'a point alone is a point'
    )
    t.same(
      pointsOf(one, 0, 'one, not on the axis').map(({ x }) => x),
      [2, 3, 5]
    )
    t.match(one.description, 'not on the axis and marked on its lower edge at 2, 3 and 5.')
    // Steps that were not logged are bridged; what is not finite breaks; a mean breaks where it is not shown itself.
    const bridged = series([1, 2, 4, 8], { x: [0, 1, 5, 9], gaps: [7, 12], smooth: [1, -1, 2, 3] })
    const two = buildCurveFigure(figure([panel({ ...log, series: [bridged] }), panel({ series: [bridged] })]))
    t.same(dataOf(two, 0, 'one, raw'), [{ x: 0, y: 1 }, { x: 1, y: 2 }, { x: 5, y: 4 }, gap(9), { x: 9, y: 8 }])
    t.same(dataOf(two, 0, 'one'), [{ x: 0, y: 1 }, gap(5), { x: 5, y: 2 }, { x: 9, y: 3 }])
    t.same(
      pointsOf(two, 0, 'one, not on the axis').map(({ x }) => x),
      [7, 12]
    )
    t.equal(two.panels[0].title, 'Panel (2 not shown: not finite; 1 mean \u2264 0)')
    t.same(dataOf(two, 1, 'one, raw').length, 4, 'a linear axis bridges what is not finite')
    t.equal(two.panels[1].title, 'Panel')
    t.ok(scalesOf(two, 0).x.max > 12, 'the axis reaches the marks')
    const wide = titleIn({
      ...log,
      title: 'A heading that alone has about fifty characters, no',
      series: [series([-3, 5], { smooth: [-3, 1] })]
    })
    t.match(wide, /^A .*\u2026 \(1 point, 1 mean not shown: \u2264 0\)$/, 'the count keeps its reason')
  })

  t.test('thinned, a line is broken where it is', async t => {
    const y = Array.from({ length: 50_000 }, (_, i) => (i >= 20_000 && i < 30_000 ? 0 : 5 + Math.sin(i)))
    const data = dataOf(buildCurveFigure(figure([panel({ scale: { kind: 'log' }, series: [series(y)] })])), 0, 'one') as readonly {
      x: number
      y: number | null
    }[]
    const gaps = data.flatMap(({ y: value }, i) => (value === null ? [i] : []))
    t.equal(gaps.length, 1)
    t.same([data[gaps[0] - 1].x, data[gaps[0] + 1].x], [19_999, 30_000])
    // Every other value is off the axis: no line is left, and the picture stays small.
    const dotted = dataOf(
      buildCurveFigure(figure([panel({ scale: { kind: 'log' }, series: [series(y.map((value, i) => (i % 2 === 0 ? 0 : value)))] })])),
      0,
      'one'
    )
    t.ok(dotted.length < 10_000, `${dotted.length} points`)
  })

  t.test('a tick on the axis where a series passes to another session', async t => {
    const two = [series([1, 2, 3, 4], { restarts: [2] }), series([2, 3, 4, 5], { title: 'two', slot: 1, restarts: [1, 2, 2.0001] })]
    const config = buildCurveFigure(figure([panel({ series: two })]))
    const { plot } = config.panels[0]
    const ticks = ['one', 'two'].map(
      title => seriesOf(config, 0).find(({ label }) => label === `${title}, restart`) as unknown as { [name: string]: Plain }
    )
    t.match(ticks[0], { showLine: false, pointStyle: 'line', pointRotation: 90, pointRadius: 2.5, pointBorderColor: '#0072b2' })
    t.match(ticks[1], { pointBorderColor: '#e69f00' })
    const { min, max } = scalesOf(config, 0).y
    const fromEdge = (label: string): number[] =>
      pointsOf(config, 0, label).map(({ y }) => Math.round((((y ?? NaN) - min) / (max - min)) * plot.height * 10) / 10)
    t.same(fromEdge('one, restart'), [2.5], 'from the axis upwards')
    t.same(
      pointsOf(config, 0, 'two, restart').map(({ x }) => x),
      [1, 2],
      'two at one place are one'
    )
    t.same(fromEdge('two, restart'), [2.5, 7.5], 'above that of another series')
    t.match(config.description, 'passes to another session at 2; two has')
    t.match(config.description, 'passes to another session at 1, 2 and 2.0001.')
    const many = buildCurveFigure(
      figure([panel({ series: [series(new Array(100).fill(1), { restarts: Array.from({ length: 50 }, (_, i) => 2 * i) })] })])
    )
    t.match(many.description, 'passes to another session at 0, 2, 4, 6, 8, 10, 12, 14 and 42 more.')
  })

  t.test('a range that the axis cannot show is said', async t => {
    t.equal(titleIn({ series: [series([1, 1 - 9e-8])] }), 'Panel (range 9e\u22128 too small to show)')
    t.equal(titleIn({ series: [series([1, 1])] }), 'Panel', 'flat it is')
    t.equal(titleIn({ series: [series([1, 1 - 9e-7])] }), 'Panel')
    const two = { value: 2, label: 'two', series: null }
    t.equal(titleIn({ series: [series([1, 1 - 9e-8])], guides: [two] }), 'Panel (range 9e\u22128 too small to show)')
    t.equal(titleIn({ series: [series([1, 1])], guides: [two] }), 'Panel')
    const flat = series([5, 5.001, 5], { title: 'flat', slot: 1 })
    t.equal(titleIn({ series: [series([0, 100, 50]), flat] }), 'Panel (flat: range 1e\u22123 too small to show)')
    t.equal(titleIn({ series: [series([0, 100, 50]), { ...flat, y: [5, 5, 5] }] }), 'Panel', 'equal values look equal')
  })

  t.test('a heading keeps whole reasons, however long it is', async t => {
    const y = [-1, 0, 1e-200, 1e200, 5, 7]
    const log = { scale: { kind: 'log' }, series: [series(y, { smooth: y, gaps: [9] })] } as const
    const one = titleIn({ ...log, title: 'A heading that alone has about fifty characters, no' })
    t.match(one, /^A.*\u2026 \(4 not shown: \u2264 0; 3 more\)$/)
    const long = buildCurveFigure(
      figure([panel({ ...log, series: [series([1, 1 + 1e-9, 1], { title: 'x'.repeat(150) }), series([1, 1e9])] }), panel()])
    )
    t.match(long.panels[0].title, /^Panel \(1 note\)$/)
    t.match(long.description, 'too small to show.')
  })

  t.test('labels side by side read as two', async t => {
    const guides = [10, 10.01, 10.02].map((value, k) => ({ value, label: ['ten', 'ten and a bit', 'x'][k], series: null }))
    const config = buildCurveFigure(
      figure([panel({ guides: [...guides, { value: 1000, label: 'out', series: null }], series: [series([10, 10.2, 9.8, 10])] }), panel()])
    )
    const boxes = guides.flatMap((_, k) => {
      const label = annotationsOf(config, 0)[`guide-label-${k}`] as
        | { readonly xValue: number; readonly yValue: number; readonly content: string }
        | undefined
      if (label === undefined) return []
      const { x, y } = scalesOf(config, 0)
      const { plot } = config.panels[0]
      const width = drawnWidth(label.content, 8)
      const middle = ((label.xValue - x.min) / (x.max - x.min)) * plot.width
      return [{ left: middle - width / 2, right: middle + width / 2, y: ((y.max - label.yValue) / (y.max - y.min)) * plot.height }]
    })
    t.equal(boxes.length, 3)
    boxes.forEach((a, i) =>
      boxes.slice(i + 1).forEach(b => {
        t.ok(Math.abs(a.y - b.y) >= 8 || a.left - b.right >= 9 || b.left - a.right >= 9, JSON.stringify([a, b]))
      })
    )
  })

  t.test('has panel letters, one legend key a series, guides, marks, the synthetic mark', async t => {
    const config = buildCurveFigure(SMALL)
    t.same(
      config.panels.map(one => one.label),
      ['(a)', '(b)', '(c)', '(d)']
    )
    t.same(
      config.legend.map(key => key.label),
      [],
      'the curves are named at their ends'
    )
    t.same(
      config.texts.map(text => text.text),
      ['Two recipes', 'synthetic replica']
    )
    t.equal(buildCurveFigure({ ...SMALL, synthetic: false }).texts.length, 1)
    t.same(
      Object.keys(annotationsOf(config, 1)).filter(name => !name.includes('leader')),
      ['name-0', 'name-1', 'mark-0', 'mark-label-0'],
      'a shared point is marked once'
    )
    t.match(annotationsOf(config, 1), { 'mark-0': { xValue: 0, yValue: 64 }, 'mark-label-0': { content: '64.0 %' } })
    t.match(annotationsOf(config, 2), {
      'guide-0': { yMin: 1, yMax: 1, borderDash: [1, 2], borderColor: '#0072b2' },
      'guide-label-0': { content: 'alpha clip at 1' },
      'guide-1': { yMin: 10, yMax: 10, borderDash: [1, 2], borderColor: '#e69f00' },
      'guide-label-1': { content: 'beta clip at 10' }
    })
    const titles = config.panels.map(one => (one.chart.options['scales'] as { x: { title: { display: boolean; text: string } } }).x.title)
    t.same(
      titles.map(title => title.display && title.text),
      [false, false, 'Training step', 'Training step']
    )
  })

  t.test('for 1 to 8 panels: none over another, all on the page, letters in order, an axis title at the bottom', async t => {
    const all = curveFigureData().flatMap(data => data.panels)
    for (let count = 1; count <= 8; count++) {
      const config = buildCurveFigure(figure(all.slice(0, count)))
      t.equal(config.panels.length, count)
      t.equal((config.height * 300) % 72, 0, 'a whole number of pixels')
      for (const { box, plot } of config.panels) {
        if (
          !(box.x >= 0 && box.x + box.width <= config.width && box.y + box.height <= config.height && plot.width > 150 && plot.height > 100)
        ) {
          t.fail(`${count}: ${JSON.stringify(box)}`)
        }
        const over = config.panels.filter(
          ({ box: b }) =>
            b !== box && b.x < box.x + box.width && box.x < b.x + b.width && b.y < box.y + box.height && box.y < b.y + b.height
        )
        t.equal(over.length, 0)
      }
      const [left] = config.panels
      for (const other of config.panels.filter(one => one.box.x === left.box.x)) t.equal(other.plot.x, left.plot.x, 'plots in line')
    }
  })

  t.test('plots are where the configuration says', async t => {
    const config = buildCurveFigure(SMALL)
    config.panels.forEach(({ box, plot, label }, k) => {
      withChart(config, k, chart => {
        const { left, top, width, height } = chart.chartArea
        const off = Math.max(
          Math.abs(left - plot.x + box.x),
          Math.abs(top - plot.y + box.y),
          Math.abs(width - plot.width),
          Math.abs(height - plot.height)
        )
        t.ok(off < 0.11, `${label}: off by ${off}`)
      })
    })
  })

  t.test('has no point outside its axes and no text smaller than 8 points', async t => {
    const random = seededRandom(21)
    const scales: readonly AxisScale[] = [{ kind: 'linear' }, { kind: 'log' }, { kind: 'symlog', linear_to: 0.5 }]
    const wild = Array.from({ length: 40 }, () =>
      figure(
        scales.map(scale => {
          const y = Array.from({ length: Math.floor(random() * 300) }, () => (random() - 0.3) * 10 ** (random() * 20 - 10))
          return panel({
            scale,
            series: [series(y, { smooth: y.map(v => v / 3) })],
            guides: [{ value: (random() - 0.2) * 100, label: 'a guide', series: 0 }]
          })
        })
      )
    )
    for (const data of [SMALL, ...curveFigureData(), ...wild]) {
      const config = buildCurveFigure(data)
      config.panels.forEach((one, k) => {
        const { x, y } = scalesOf(config, k)
        const outside = seriesOf(config, k)
          .flatMap(line => line.data)
          .filter(
            point =>
              !(
                point.x >= x.min &&
                point.x <= x.max &&
                (point.y === null ? data.panels[k].scale.kind === 'log' : point.y >= y.min && point.y <= y.max)
              )
          )
        if (outside.length > 0) t.fail(`${one.label}: ${JSON.stringify(outside.slice(0, 3))}`)
        if (drawnWidth(one.title, 8.5) + 18 > one.box.width) t.fail(`${one.label}: the heading is too long: ${one.title}`)
      })
      const sizes = [...JSON.stringify(config).matchAll(/"size":(\d+(?:\.\d+)?)[,}]/g)]
        .map(match => Number(match[1]))
        .filter(size => size < 13)
      if (sizes.length === 0 || Math.min(...sizes) < 8) t.fail(`text of ${Math.min(...sizes)} points`)
    }
    t.pass('figures checked')
  })

  t.test('labels cover no data and stay inside their plots', async t => {
    const random = seededRandom(31)
    const figures = Array.from({ length: 30 }, (_, round) => {
      const level = (i: number): number => 20 + 12 * Math.sin(i * 0.05 * (round + 1)) + 4 * random()
      const y = Array.from({ length: 150 }, (_, i) => level(i))
      const guides = [
        { value: 20, label: 'in the middle', series: 0 },
        { value: 3, label: 'far below', series: null }
      ]
      const scale: AxisScale = round % 2 === 0 ? { kind: 'linear' } : { kind: 'log' }
      const at = Math.floor(random() * 150)
      return figure([panel({ scale, guides, series: [series(y, { marks: [{ x: at, y: y[at], label: '64.0 %' }] })] }), panel()])
    })
    for (const data of [SMALL, ...curveFigureData(), ...figures]) {
      const config = buildCurveFigure(data)
      config.panels.forEach(({ plot, label: letter }, k) => {
        const { x, y } = scalesOf(config, k)
        const place = (point: Point): readonly [number, number] => [
          plot.x + shareOfAxis(point.x, x) * plot.width,
          plot.y + (1 - shareOfAxis(point.y ?? NaN, y)) * plot.height
        ]
        for (const drawn of labelRectangles({ ...config, panels: [config.panels[k]] })) {
          // Without the margin that labelRectangles adds.
          const box = { left: drawn.x + 2, right: drawn.x + drawn.width - 2, top: drawn.y + 2, bottom: drawn.y + drawn.height - 2 }
          if (box.left < plot.x || box.right > plot.x + plot.width || box.top < plot.y || box.bottom > plot.y + plot.height)
            t.fail(`${data.name} ${letter}: outside`)
          for (const line of seriesOf(config, k).filter(one => !/, (?:marker|restart|not on the axis)$/.test(one.label))) {
            for (let i = 1; i < line.data.length; i++) {
              const [[xa, ya], [xb, yb]] = [place(line.data[i - 1]), place(line.data[i])]
              for (let s = 0; s <= 1; s += 0.1) {
                const [px, py] = [xa + s * (xb - xa), ya + s * (yb - ya)]
                if (px > box.left && px < box.right && py > box.top && py < box.bottom)
                  return t.fail(`${data.name} ${letter}: ${line.label} is covered`)
              }
            }
          }
        }
      })
    }
    t.pass('labels checked')
  })

  t.test('curves are named at their ends; a legend stands where one is not', async t => {
    const config = buildCurveFigure(SMALL)
    config.panels.forEach(({ plot }, k) => {
      const { x, y } = scalesOf(config, k)
      SMALL.panels[k].series.forEach(({ title, x: xs, y: ys, smooth }, j) => {
        const name = annotationsOf(config, k)[`name-${j}`] as { readonly content: string; readonly xValue: number; readonly yValue: number }
        t.equal(name.content, title)
        const [endX, endY] = [xs[xs.length - 1], (smooth ?? ys)[ys.length - 1]]
        const across = Math.abs(shareOfAxis(name.xValue, x) - shareOfAxis(endX, x)) * plot.width - drawnWidth(title, 8) / 2
        const up = Math.abs(shareOfAxis(name.yValue, y) - shareOfAxis(endY, y)) * plot.height
        t.ok(Math.max(across, 0) < 46 && up < 56, `${title} stands ${across} and ${up} points from its end`)
      })
    })
    const long = 'a name that is longer than the room beside any end'
    t.same(
      buildCurveFigure(figure([panel({ series: [series([1, 2], { title: long })] }), panel()])).legend.map(key => key.label),
      [long, 'one']
    )
  })

  t.test('markers stand on observations only, and dense series lie behind', async t => {
    const own = series([1, 2, 3, 4], { supplied: [0, 2] })
    const config = buildCurveFigure(figure([panel({ sparse: true, series: [own] }), panel({ series: [{ ...own, smooth: [1, 1, 2, 3] }] })]))
    t.same(
      pointsOf(config, 0, 'one, marker').map(({ x }) => x),
      [1, 3]
    )
    t.same(
      pointsOf(config, 0, 'one').map(({ x }) => x),
      [0, 1, 2, 3],
      'the line passes through all'
    )
    t.same(
      seriesOf(config, 1).map(({ label }) => label),
      ['one', 'one, raw'],
      'a trailing mean has no markers'
    )
    t.match(
      config.description,
      '(a) Panel, Value (dashed, with a marker at every point): one has 2 observed and 2 supplied points from 0 to 3'
    )
    const dense = series(
      Array.from({ length: 100 }, (_, i) => i % 7),
      { title: 'dense', slot: 1 }
    )
    const two = (all: readonly CurveSeriesData[]): readonly string[] =>
      seriesOf(buildCurveFigure(figure([panel({ series: all }), panel()])), 0).map(({ label }) => label)
    t.same(two([own, dense]).at(-1), 'dense', 'Chart.js draws the last series first')
    t.same(two([dense, own]), two([own, dense]))
    t.throws(() => buildCurveFigure(figure([panel({ series: [series([1, 2], { supplied: [1, 1] })] })])), {
      message: 'figure has supplied points out of order: 1 1, expected increasing indexes of its points (series, index 0)'
    })
  })

  t.test('the linear part of an axis is seen, and said', async t => {
    const config = buildCurveFigure(
      figure([panel({ scale: { kind: 'symlog', linear_to: 0.1 }, series: [series([-300, 0.02, 0.4])] }), panel()])
    )
    t.match(annotationsOf(config, 0)['linear'], { type: 'box', yMin: -0.1, yMax: 0.1, drawTime: 'beforeDraw' })
    t.equal(config.panels[0].title, 'Panel (linear to \u00b10.1)')
    const inside = buildCurveFigure(figure([panel({ scale: { kind: 'symlog', linear_to: 1 }, series: [series([-0.2, 0.4])] }), panel()]))
    t.equal(annotationsOf(inside, 0)['linear'], undefined, 'where the axis shows nothing else there is nothing to tell apart')
    t.equal(inside.panels[0].title, 'Panel')
  })

  t.test('a guide is named at the right edge', async t => {
    const noisy = series(Array.from({ length: 200 }, (_, i) => 10 + 4 * Math.sin(i * 1.7)))
    const config = buildCurveFigure(figure([panel({ series: [noisy], guides: [{ value: 10, label: 'clip at 10', series: 0 }] }), panel()]))
    const { xValue } = annotationsOf(config, 0)['guide-label-0'] as unknown as { readonly xValue: number }
    const { plot } = config.panels[0]
    const right = plot.width * (1 - shareOfAxis(xValue, scalesOf(config, 0).x)) - drawnWidth('clip at 10', 8) / 2
    t.ok(right >= 1.9 && right < 4, `${right} points from the edge`)
  })

  t.test('the leader of a guide does not run over a name', t => {
    const ink = new Ink(200, 60)
    ink.addLine(0, 40, 200, 40)
    const name = { x: 150, y: 20, width: 48, height: LABEL_HEIGHT }
    ink.addBox(name)
    ink.addBox({ x: 0, y: 30, width: 200, height: 30 })
    const before = placeGuideLabel(40, 'clip', ink, [])
    t.match(before, { free: true, box: { y: 8 } }, 'above the name, with a leader through it')
    const place = placeGuideLabel(40, 'clip', ink, [name])
    t.ok(place?.free === true && place.leader !== null && place.leader[0].x < name.x, JSON.stringify(place))
    t.end()
  })

  t.test('series are told apart without colour', async t => {
    // CIELAB lightness, from the sRGB and CIE definitions
    const lightness = (hex: string): number => {
      const [r, g, b] = [1, 3, 5]
        .map(i => parseInt(hex.slice(i, i + 2), 16) / 255)
        .map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
      return 116 * Math.cbrt(0.2126 * r + 0.7152 * g + 0.0722 * b) - 16
    }
    const styles = Array.from({ length: 8 }, (_, slot) => curveStyle(slot))
    for (let slot = 1; slot < 8; slot++) {
      const difference = Math.abs(lightness(styles[slot].strong) - lightness(styles[slot - 1].strong))
      t.ok(difference >= 15, `${slot - 1} and ${slot} differ by ${difference} in lightness`)
    }
    const shapes = styles.map(({ pointStyle, rotation, fill, strong }) => `${pointStyle} ${rotation} ${fill === strong}`)
    t.equal(new Set(shapes).size, 8, 'eight markers')
    t.ok(
      styles.every(({ strong, faint }) => lightness(faint) - lightness(strong) > 10),
      'raw values are lighter'
    )
    t.not(JSON.stringify(curveStyle(8).dash), JSON.stringify(curveStyle(0).dash))
    t.same(curveStyle(100).dash, curveStyle(20).dash)
  })

  t.test('the list of figures has them before Figure 8; two of one name are a fault', async t => {
    const criticTraces = await smallData()
    t.same(
      buildFigures({ curves: curveFigureData(), criticTraces }).map(config => config.name),
      [
        '03-training-by-step',
        '04-training-over-time',
        '05-sao-recipe-training',
        '06-sao-critic-diagnostics',
        '07-multilingual-cases',
        '08-critic-traces'
      ]
    )
    t.same(buildFigures({ curves: [SMALL] }), [buildCurveFigure(SMALL)])
    t.same(
      plannedFigures({ curves: [SMALL] }).map(({ drawnFrom }) => drawnFrom),
      [['wandb/points.csv', 'wandb/statistics.json']]
    )
    t.throws(() => buildFigures({ curves: [SMALL, SMALL] }), {
      message: 'figure has the name of another: 05-two-recipes, expected a name of its own'
    })
  })

  t.test('data that contradict themselves are a fault', async t => {
    const fails = (data: CurveFigureData, message: string): void => {
      t.throws(() => buildCurveFigure(data), { message })
    }
    fails(figure([]), 'figure has no room for its panels: 0, expected 1 to 26 (member figure)')
    fails(figure(Array.from({ length: 27 }, () => panel())), 'figure has no room for its panels: 27, expected 1 to 26 (member figure)')
    fails(
      figure([panel({ series: [series([1, 2]), series([1, 2, 3], { x: [1, 2] })] })]),
      'figure has a series with unequal lengths: 2 x and 3 y, expected as many (series, index 1)'
    )
    fails(
      figure([panel({ series: [series([1, 2], { smooth: [1] })] })]),
      'figure has a trailing mean of another length: 1, expected 2 (series, index 0)'
    )
    fails(
      figure([panel({ series: [series([1, NaN])] })]),
      'figure has a point that is not a number: point 1, expected numbers (series, index 0)'
    )
    fails(
      figure([panel({ series: [series([1, 2], { x: [2, 1] })] })]),
      'figure has points out of order: x 1 after 2, expected points by x (series, index 0)'
    )
    fails(
      figure([panel({ series: [series([1], { slot: -1 })] })]),
      'figure has a series without a place in the legend: -1, expected a count (series, index 0)'
    )
    fails(figure([panel({ guides: [{ value: 1, label: '', series: 3 }] })]), 'figure has a guide of no series: 3, expected a place among 1')
    fails(
      figure([panel({ guides: Array.from({ length: 21 }, (_, value) => ({ value, label: '', series: null })) })]),
      'figure has no room for its guides and labelled points: 21, expected at most 20 in a panel'
    )
    fails(
      figure([panel({ scale: { kind: 'symlog', linear_to: 0 } })]),
      'figure has a linear part of no length: 0, expected linear_to from 1e-100 to 1e100'
    )
  })
})

t.test('alternative text', async t => {
  t.equal(
    buildCurveFigure(SMALL).description,
    '4 panels of curves by Training step. (a) Reward, Mean score: Alpha has 32 points from 1 to 32, values from 0.3472 to 0.5845, first 0.3686, ' +
      'last 0.5213, trailing mean at the end 0.5208, passes to another session at 17; Beta has 50 points from 0 to 49, values from 0.2669 to 0.5163, first 0.325, last 0.3722, ' +
      'trailing mean at the end 0.4408, passes to another session at 17 and 40. (b) Validation, Validation score (%) (dashed, with a marker at every point): Alpha has 6 observed and 1 supplied point from 0 to 30, ' +
      'values from 64 to 65.28, first 64, last 65.28; Beta has 9 observed and 1 supplied point from 0 to 45, values from 63.53 to 68.21, first 64, last 67.49. ' +
      'Marked at 0: 64.0 %. (c) Gradient norm, Norm (logarithmic axis): Alpha has 30 points from 1 to 32, values from 5.95 to 408.5, first 169, ' +
      'last 7.165, trailing mean at the end 12.95, not on the axis and marked on its lower edge at 7, 20, 36 and 40, passes to another session at 17; Beta has 49 points from 0 to 49, values from 5.104 to 30.37, first 11.23, last 7.686, ' +
      'trailing mean at the end 11.53, not on the axis and marked on its lower edge at 30, passes to another session at 40. ' +
      'Dotted line at 1: alpha clip at 1. Dotted line at 10: beta clip at 10. 3 not shown: \u2264 0; 2 not finite. ' +
      '(d) Explained variance, Explained variance (symmetric logarithmic axis, linear between \u22121 and 1): Alpha has 32 points from 1 to 32, ' +
      'values from \u22121,212 to 0.6448, first \u22121,212, last 0.5176; Beta has 50 points from 0 to 49, values from \u221229.63 to 0.6522, ' +
      'first \u221229.63, last 0.3832. The data are a synthetic replica.'
  )
})

t.test('picture', async t => {
  const path = join(FIXTURES, 'curves.half.png')
  const small = buildCurveFigure(SMALL)
  const draw = async (config: FigureConfig) => halve(await decode(await renderFigure(config, 'png')))
  if (UPDATE) await writeFile(path, encode(await draw(small)))
  const golden = await decode(await readFile(path))
  const LIMITS = { block: 12, missing: 20 }
  const same = ({ block, missing }: { block: number; missing: number }): boolean => block <= LIMITS.block && missing <= LIMITS.missing

  t.test('is the golden one', async t => {
    const difference = compare(golden, await draw(small), small)
    t.ok(same(difference), JSON.stringify(difference))
  })

  // Each takes one thing out of the figure; the comparison must see every one of them.
  const annotations = (f: LooseFigure, k: number) => f.panels[k].chart.options.plugins.annotation.annotations
  const without =
    (k: number, label: string) =>
    (f: LooseFigure): void => {
      const list = f.panels[k].chart.data.datasets as unknown as Array<{ label: string }>
      list.splice(
        list.findIndex(one => one.label === label),
        1
      )
    }
  const mutations: ReadonlyArray<readonly [string, (figure: LooseFigure) => void]> = [
    ['panel (a)', f => f.panels.splice(0, 1)],
    ['a trailing mean', without(0, 'Beta')],
    ['raw values', without(0, 'Beta, raw')],
    ['raw values behind others', without(0, 'Alpha, raw')],
    ['markers', without(1, 'Alpha, marker')],
    ['a validation series', without(1, 'Alpha')],
    [
      'dashes',
      f => {
        for (const one of f.panels[1].chart.data.datasets as unknown as { borderDash: number[] }[]) one.borderDash = []
      }
    ],
    [
      'a marker style',
      f => {
        ;(f.panels[1].chart.data.datasets[0] as unknown as { pointStyle: string }).pointStyle = 'triangle'
      }
    ],
    [
      'one point of a sparse series',
      f => {
        ;(f.panels[1].chart.data.datasets[0].data as unknown[]).splice(4, 1)
      }
    ],
    ['a plain series', without(3, 'Alpha')],
    [
      'a guide',
      f => {
        delete annotations(f, 2)['guide-0']
      }
    ],
    [
      'the label of a guide',
      f => {
        delete annotations(f, 2)['guide-label-1']
      }
    ],
    [
      'a ring',
      f => {
        delete annotations(f, 1)['mark-0']
      }
    ],
    [
      'the label of a point',
      f => {
        delete annotations(f, 1)['mark-label-0']
      }
    ],
    [
      'the logarithm',
      f => {
        ;(f.panels[2].chart.options as unknown as { scales: { y: { type: string } } }).scales.y.type = 'linear'
      }
    ],
    [
      'the symmetric logarithm',
      f => {
        ;(f.panels[3].chart.options as unknown as { scales: { y: { type: string } } }).scales.y.type = 'linear'
      }
    ],
    [
      'the linear part',
      f => {
        ;(f.panels[3].chart.options as unknown as { scales: { y: { linearTo: number } } }).scales.y.linearTo = 0.1
      }
    ],
    ['the word synthetic', f => f.texts.pop()],
    [
      'the name of a curve',
      f => {
        delete annotations(f, 0)['name-1']
      }
    ]
  ]
  t.test('is not the golden one without', async t => {
    for (const [name, mutate] of mutations) {
      const changed = structuredClone(small) as unknown as LooseFigure
      mutate(changed)
      const difference = compare(golden, await draw(changed as unknown as FigureConfig), small)
      t.notOk(same(difference), `${name}: ${JSON.stringify(difference)}`)
    }
  })
})

t.test('hostile titles', async t => {
  const hostile =
    'A <b>&amp;\u0000\u001b[31m\n\u202e\ufffe\ud800 "title" ]]> that is far too long for any panel, axis or legend: $& ${x} '.repeat(3)
  const marks = [{ x: 1, y: 2, label: hostile }]
  const guides = [{ value: 3, label: hostile, series: 0 }]
  const scale = { kind: 'log' } as const
  const data = figure(
    [panel({ title: hostile, yTitle: hostile, scale, guides, series: [series([1, 2, 0, 10], { title: hostile, marks })] }), panel()],
    { title: hostile, xTitle: hostile }
  )
  const config = buildCurveFigure(data)
  const strings: string[] = []
  JSON.stringify(config, (_key, value: unknown) => {
    if (typeof value === 'string') strings.push(value)
    return value
  })
  t.same(
    strings.filter(text => /[\u0000-\u001f\u202e\ufffe]|\p{Surrogate}/u.test(text)),
    [],
    'escaped'
  )
  t.ok(config.panels[0].title.endsWith('\u2026 (1 not shown: \u2264 0)'), 'the note stays')
  for (const { text, x } of config.texts) t.ok(x + drawnWidth(text, 10) <= config.width, 'on the page')
  for (const { label, labelX } of config.legend) t.ok(labelX + drawnWidth(label, 8) <= config.width, 'on the page')
  const svg = (await renderFigure(config, 'svg')).toString('utf8')
  const [title] = [...svg.matchAll(/<title id="[^"]*-title">(.*?)<\/title>/gs)].map(match => match[1])
  t.match(title, /^A &lt;b&gt;&amp;amp;\\u0000\\u001b\[31m\\u000a\\u202e\ufffd\ufffd &quot;title&quot; \]\]&gt; that/)
  t.notMatch(svg, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|<b>/, 'no character that XML forbids')
  t.equal(parseFragment(svg).childNodes.filter(node => node.nodeName === 'svg').length, 1)
  for (const format of ['png', 'pdf'] as const) t.ok((await renderFigure(config, format)).length > 1000)
  t.equal(fitWidth('short', 8, 100), 'short')
  t.equal(fitWidth('a rather long text', 8, 40), 'a rathe\u2026')
  t.ok(drawnWidth(fitWidth(hostile, 8, 77), 8) <= 77)
})

t.test('odd data are drawn, and what is undefined is said', async t => {
  const log = { kind: 'log' } as const
  const cases: ReadonlyArray<readonly [string, CurvePanelData, string]> = [
    ['no series', panel({ series: [] }), 'no points'],
    ['an empty series', panel({ series: [series([])] }), 'one has no point'],
    ['only negative values on a logarithmic axis', panel({ scale: log, series: [series([-1, -2])] }), 'no point can be shown'],
    ['one point', panel({ series: [series([0.5], { smooth: [0.5] })] }), '1 point from 0 to 0'],
    ['equal values', panel({ series: [series([5, 5, 5])] }), '5.0'],
    ['equal values on a logarithmic axis', panel({ scale: log, series: [series([5, 5])] }), '"10"'],
    ['equal x', panel({ series: [series([1, 2, 3], { x: [7, 7, 7] })] }), '3 points from 7 to 7'],
    ['extremes of a logarithmic axis', panel({ scale: log, series: [series([1e-100, 1e100, 5e-324])] }), 'below 1e\u2212100'],
    [
      'extremes of a symmetric-logarithmic axis',
      panel({ scale: { kind: 'symlog', linear_to: 1e-100 }, series: [series([-1e100, 1e100, 0])] }),
      '\u221210'
    ],
    ['x beyond what is drawn', panel({ series: [series([1, 2], { x: [1, 1e300] })] }), '1 not shown: beyond 1e100'],
    ['fractions of an hour', panel({ series: [series([1, 2], { x: [0, 0.25] })] }), '"0.25"'],
    ['many guides', panel({ guides: Array.from({ length: 20 }, (_, k) => ({ value: k, label: `guide ${k}`, series: null })) }), 'guide 19'],
    [
      'a full plot',
      panel({
        series: [
          series(
            Array.from({ length: 2000 }, (_, k) => k % 2),
            { marks: [{ x: 1000, y: 0, label: 'here' }] }
          )
        ],
        guides: [{ value: 0.5, label: 'half', series: 0 }]
      }),
      '"half"'
    ]
  ]
  for (const [name, one, says] of cases) {
    const config = buildCurveFigure(figure([one]))
    t.ok(JSON.stringify(config).includes(says), `${name}: says ${says}`)
    t.notMatch(JSON.stringify(config.panels), /NaN|Infinity|"(?:min|max|x|xMin|xMax|yMin|yMax|xValue|yValue)":null/, name)
    t.same(JSON.parse(JSON.stringify(config)), config, `${name}: plain`)
    const pdf = await renderFigure(config, 'pdf')
    t.ok(
      pdfStrings(pdf).some(text => text.includes('Figure')),
      `${name}: drawn`
    )
  }
})

t.test('another format is refused, not written empty', async t => {
  const gif = 'gif' as unknown as Parameters<typeof renderFigure>[1]
  await t.rejects(renderFigure(buildCurveFigure(SMALL), gif), {
    message: 'figure unknown format: gif, expected png, svg, pdf',
    exitCode: 2
  })
})

t.test('what is drawn lies within the axes', async t => {
  const log = { kind: 'log' } as const
  const axis = (one: CurvePanelData, name: 'x' | 'y'): { min: number; max: number } => scalesOf(buildCurveFigure(figure([one])), 0)[name]
  // The trailing mean of ten is positive where its last raw values are not.
  const stopped: readonly number[] = Array.from({ length: 30 }, (_, i) => (i < 22 ? 1 : 0))
  const mean = stopped.map((_, i) => stopped.slice(Math.max(0, i - 9), i + 1).reduce((a, b) => a + b, 0) / Math.min(i + 1, 10))
  const x = axis(panel({ scale: log, series: [series(stopped, { smooth: mean })] }), 'x')
  t.ok(x.min < 0 && x.max > 29, `x from ${x.min} to ${x.max}`)

  const raw = (y: readonly number[]): number => {
    const config = buildCurveFigure(figure([panel({ scale: log, series: [series(y, { smooth: [1, 1, 1] })] })]))
    return Number(seriesOf(config, 0).find(one => one.label === 'one, raw')?.pointRadius)
  }
  t.ok(raw([0, 5, 0]) > 0, 'a raw value that stands alone has a mark')
  t.equal(raw([1, 5, 0]), 0, 'a line has none')

  // What differs is told apart, but for rounding.
  const late = { x: Array.from({ length: 20 }, (_, i) => 20_000_000 + i) }
  const { min, max } = axis(
    panel({
      series: [
        series(
          late.x.map(() => 1),
          late
        )
      ]
    }),
    'x'
  )
  t.ok(min > 19_999_999 && min < 20_000_000 && max > 20_000_019 && max < 20_000_020, `x from ${min} to ${max}`)
  const last = { x: Array.from({ length: 40 }, (_, i) => 2 ** 53 - 40 + i) }
  const far = axis(
    panel({
      series: [
        series(
          last.x.map(() => 1),
          last
        )
      ]
    }),
    'x'
  )
  t.ok(far.max - far.min < 60, `x from ${far.min} to ${far.max}`)
  const high = axis(panel({ series: [series([1.23e8, 1.23e8 + 100, 1.23e8 + 25])] }), 'y')
  t.ok(high.min > 1.23e8 - 100 && high.max < 1.23e8 + 200, `y from ${high.min} to ${high.max}`)
  // Of float32, in which trainers log, the last digit is noise.
  for (const values of [
    [0.3, 0.1 + 0.2, 0.3],
    [Math.fround(0.3), Math.fround(0.3) + 2 ** -25, 0.3],
    [1e-6, Math.fround(1e-6), 1e-6]
  ]) {
    const equal = axis(panel({ series: [series(values)] }), 'y')
    t.ok(equal.max - equal.min > 0.1 * values[0], `y from ${equal.min} to ${equal.max}`)
  }
  // What is not drawn takes no room.
  const until = (y: number): number => axis(panel({ scale: log, series: [series([1, 2, 3, y], { x: [0, 1, 2, 10_000] })] }), 'x').max
  t.ok(until(1e200) < 3, `x up to ${until(1e200)}`)
  t.ok(until(0) > 10_000, 'its mark on the edge is drawn')
})

t.test('no leader of a guide is longer than 46 points: it would look like a part of a curve', async t => {
  const random = seededRandom(5)
  const noisy = (slot: number): CurveSeriesData =>
    series(
      Array.from({ length: 200 }, () => random()),
      { slot, title: `curve ${slot}` }
    )
  const guides = [
    ['baseline', 0.55],
    ['A clip at 1', 1],
    ['B clip at 1.2', 1.2],
    ['chance level', 0.3],
    ['low', 0.05]
  ].map(([label, value]) => ({ label: String(label), value: Number(value), series: 0 }))
  const config = buildCurveFigure(figure([panel({ series: [noisy(0), noisy(1)], guides })]))
  const { y } = scalesOf(config, 0)
  const annotations = Object.entries(annotationsOf(config, 0))
  t.equal(annotations.filter(([name]) => name.startsWith('guide-label-')).length, guides.length, 'each has its label')
  const leaders = annotations
    .filter(([name]) => name.startsWith('guide-leader-'))
    .map(([, { yMin, yMax }]) => (Math.abs(Number(yMax) - Number(yMin)) / (y.max - y.min)) * config.panels[0].plot.height)
  t.same(
    leaders.filter(length => length > 46),
    []
  )
})

t.test('files', async t => {
  const config = buildCurveFigure(SMALL)
  const [png, svg, pdf] = await Promise.all(FIGURE_FORMATS.map(format => renderFigure(config, format)))

  t.test('PNG: 300 dpi, 170 mm wide', async t => {
    t.same([png.readUInt32BE(16), png.readUInt32BE(20)], [2008, (config.height * 300) / 72])
  })

  t.test('PDF: text is text', async t => {
    const strings = pdfStrings(pdf)
    for (const word of [
      'Two recipes',
      '(a)',
      '(d)',
      'Training step',
      'Validation score',
      'alpha clip at 1',
      'beta clip at 10',
      '64.0 %',
      'Alpha',
      'Beta',
      'synthetic replica'
    ]) {
      t.ok(
        strings.some(text => text.includes(word)),
        word
      )
    }
  })

  t.test('SVG: a line has every point as a vertex', async t => {
    const counts = (width: string): number[] =>
      [...svg.toString('utf8').matchAll(new RegExp(`<path d="([^"]*)" stroke="[^"]*" stroke-width="${width}"`, 'g'))]
        .map(([, path]) => path.split(/[ML]/).length - 1)
        .filter(count => count > 4)
        .sort((a, b) => a - b)
    t.same(counts('1\\.6'), [32, 32, 50, 50], 'trailing means')
    // Two zeros cut a line of 30 points, one value below zero cuts one of 49.
    t.same(counts('0\\.7'), [6, 12, 12, 19, 30, 32, 50], 'raw values; three cannot be shown')
    t.same(counts('0\\.9'), [32, 50], 'values without a mean')
    t.same(counts('1'), [7, 10], 'validation')
  })

  t.test('the same bytes at any number of threads, in order', async t => {
    const tasks = [config, buildCurveFigure(curveFigureData()[3])].flatMap(one => FIGURE_FORMATS.map(format => ({ config: one, format })))
    const alone = await Promise.all(tasks.map(task => renderFigure(task.config, task.format)))
    for (const threads of [1, 3]) {
      const pool = await openFigurePool(threads, PLAIN_THREADS)
      t.equal(pool.threads, threads)
      let k = 0
      for await (const { config: one, format, bytes } of pool.draw(tasks)) {
        t.equal(`${one.name}.${format}`, `${tasks[k].config.name}.${tasks[k].format}`)
        t.ok(alone[k].equals(bytes), `${threads} threads: ${one.name}.${format}`)
        k++
      }
      t.equal(k, tasks.length)
      await pool.close()
    }
  })

  t.test('a pool is closed only when it has drawn', async t => {
    const pool = await openFigurePool(2, PLAIN_THREADS)
    const drawing = pool.draw(FIGURE_FORMATS.map(format => ({ config, format })))
    const first = drawing.next()
    await new Promise(resolve => setTimeout(resolve, 20))
    await Promise.all([first, pool.close()])
    t.equal((await first).value?.format, 'png')
  })

  t.test('a pool that is closed before it has drawn anything ends', async t => {
    await (await openFigurePool(2, PLAIN_THREADS)).close()
    t.pass('closed')
  })

  t.test('a thread that dies is one clear fault', async t => {
    const folder = await mkdtemp(join(tmpdir(), 'figure-pool-'))
    t.teardown(() => rm(folder, { recursive: true }))
    const worker = join(folder, 'dies.mjs')
    await writeFile(worker, 'export default ({ format }) => format === "svg" ? process.exit(7) : new Uint8Array([1])\n')
    const pool = await openFigurePool(1, { ...PLAIN_THREADS, worker: pathToFileURL(worker).href })
    const seen: string[] = []
    await t.rejects(
      (async () => {
        for await (const { format } of pool.draw(FIGURE_FORMATS.map(format => ({ config, format })))) seen.push(format)
      })(),
      { message: /^figure was not drawn: .+, expected a file \(member 05-two-recipes\.svg\)$/, exitCode: 1 }
    )
    t.same(seen, ['png'])
    await pool.close()
  })
})
