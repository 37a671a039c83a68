/**
 * Figure 8: decimation, axes, label placement, the plain configuration, and the three files that the canvas backend
 * makes of it. Goldens are in fixtures/figures; `UPDATE_GOLDENS=1` writes them anew from what is drawn now.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createCanvas } from 'canvas'
import { BasicPlatform, Chart, type ChartConfiguration } from 'chart.js'
import { Piscina } from 'piscina'
import t from 'tap'
import type { ExampleTrace } from '../src/compute/traces/contract.js'
import { panelCanvas } from '../src/render/canvas/context.js'
import { renderFigure, warmCanvas } from '../src/render/canvas/index.js'
import { finishPng } from '../src/render/canvas/png.js'
import { finishSvg } from '../src/render/canvas/svg.js'
import { buildFigure08, describeFigure08 } from '../src/render/figures/08-critic-traces/index.js'
import { FIGURE_FORMATS, type FigureConfig } from '../src/render/figures/config.js'
import { decimateSpans, spanMeans } from '../src/render/figures/decimate.js'
import { spanStarts } from '../src/render/figures/spans.js'
import { decimalsFor, formatFigureCount, formatFixed, formatScientific, formatSigned } from '../src/render/figures/format.js'
import { resolveFunctions } from '../src/render/figures/functions.js'
import { buildFigures, FIGURES, plannedFigures } from '../src/render/figures/index.js'
import { fittedTitle } from '../src/render/figures/style.js'
import { drawnWidth } from '../src/render/figures/text-width.js'
import { extent, niceTicks, padRange } from '../src/render/figures/ticks.js'
import { compare, decode, encode, halve, labelRectangles } from './support/compare-pictures.js'
import { MADE, makeExample, oddCases, randomBoundaries, seededRandom, syntheticFigureData, walkExample } from './support/figure-data.js'
import { annotationsOf, FIXTURES, scalesOf, seriesOf, smallData, type LooseFigure, type Point } from './support/figure-config.js'
import { inflatePdf, pdfStrings } from './support/pdf-text.js'

const run = promisify(execFile)
const WORKER = new URL('../workers/figure.js', import.meta.url).href
const UPDATE = process.env['UPDATE_GOLDENS'] === '1'

// Before anything else draws: the first use of a font fixes how fonts are hinted.
await warmCanvas()

const SMALL = await smallData()

t.test('decimation', async t => {
  // numpy 1.24.2: np.unique([0, argmin, argmax, len - 1]) of every bucket of 25, per span
  t.test('keeps the same values as the numpy reference', async t => {
    const values = Float64Array.from({ length: 1000 }, (_, i) => ((i * 7919) % 1009) / 1009)
    const { indexes, spanOffsets } = decimateSpans(values, spanStarts(1000, Int32Array.of(99, 100, 350, 777)), 40)
    t.equal(indexes.length, 155)
    t.same([...indexes.slice(0, 16)], [0, 20, 24, 25, 33, 46, 49, 50, 59, 66, 74, 75, 79, 99, 100, 101])
    t.same([...indexes.slice(-8)], [953, 963, 976, 977, 978, 989, 996, 999])
    t.equal(
      indexes.reduce((sum, i, k) => sum + i * k, 0),
      8027494
    )
    t.same([...spanOffsets], [0, 14, 15, 55, 121, 155])
  })

  t.test('holds for random traces: order, extremes, ends, spans, size', async t => {
    const random = seededRandom(1)
    for (let round = 0; round < 300; round++) {
      const length = 1 + Math.floor(random() * 400)
      // few levels, so that extremes are tied
      const values = Float64Array.from({ length }, () => (round % 3 === 0 ? Math.floor(random() * 4) : random()))
      const starts = spanStarts(length, randomBoundaries(random, length, Math.floor(random() * 12)))
      const buckets = 1 + Math.floor(random() * 60)
      const { indexes, spanOffsets } = decimateSpans(values, starts, buckets)
      const spans = starts.length - 1
      if (!indexes.every((index, k) => k === 0 || index > indexes[k - 1])) return t.fail(`round ${round}: order`)
      if (indexes.length > 4 * (buckets + spans))
        return t.fail(`round ${round}: ${indexes.length} kept of ${buckets} buckets and ${spans} spans`)
      const bucketLength = Math.max(1, Math.ceil(length / buckets))
      const kept = new Set(indexes)
      for (let k = 0; k < spans; k++) {
        const own = indexes.slice(spanOffsets[k], spanOffsets[k + 1])
        if (!own.every(index => index >= starts[k] && index < starts[k + 1])) return t.fail(`round ${round}: span ${k} crossed`)
        for (let first = starts[k]; first < starts[k + 1]; first += bucketLength) {
          const part = [...values.slice(first, Math.min(first + bucketLength, starts[k + 1]))]
          const needed = [0, part.indexOf(Math.min(...part)), part.indexOf(Math.max(...part)), part.length - 1]
          if (!needed.every(i => kept.has(first + i))) return t.fail(`round ${round}: bucket at ${first}`)
        }
      }
    }
    t.pass('300 traces')
  })

  t.test('draws at most a few thousand points of a long trace', async t => {
    const { success, failure } = syntheticFigureData()
    const config = buildFigure08({ ...MADE, synthetic: true, traces: [], success, failure })
    for (const panel of [2, 3]) t.ok(seriesOf(config, panel).reduce((sum, series) => sum + series.data.length, 0) < 4500)
    const buckets = 2 * 450
    t.ok(decimateSpans(new Float64Array(1e6), Int32Array.of(0, 1e6), buckets).indexes.length <= 4 * (buckets + 1))
  })

  t.test('span means are those of numpy, over all values', async t => {
    const means = (example: ExampleTrace | null): number[] =>
      example === null ? [] : [...spanMeans(example.values, spanStarts(example.values.length, example.boundaries))]
    // numpy 1.24.2, np.mean of every span of the fixture
    t.same(means(SMALL.success), [0.8239667338709677, 0.8671875, 0.9244791666666666, 0.85546875, 0.86962890625])
    t.same(
      means(SMALL.failure),
      [
        0.2880859375, 0.283203125, 0.31026785714285715, 0.37109375, 0.25882662259615385, 0.14423828125, 0.030661843039772728,
        -0.15348307291666666
      ]
    )
  })

  t.test('boundaries out of order are a fault', async t => {
    t.throws(() => spanStarts(10, Int32Array.of(3, 3)), {
      message: 'figure has a boundary out of order: 3, expected an index from 4 to 8 (boundaries, index 1)'
    })
    t.throws(() => spanStarts(10, Int32Array.of(9)), { message: /boundary out of order: 9, expected an index from 0 to 8/ })
    t.throws(() => spanStarts(10, Int32Array.of(-1)), { message: /boundary out of order: -1/ })
    t.same([...spanStarts(10, Int32Array.of(0, 8))], [0, 1, 9, 10])
  })
})

t.test('numbers, ticks and widths', async t => {
  t.test('numbers', async t => {
    t.equal(formatFixed(-0.25, 2), '\u22120.25')
    t.equal(formatFixed(-0.0001, 2), '0.00')
    t.equal(formatFixed(12345678, 2), '1.23e7')
    t.equal(formatSigned(0.25390625, 3), '+0.254')
    t.equal(formatSigned(-0.1348876953125, 3), '\u22120.135')
    t.equal(formatSigned(0, 3), '0.000')
    t.equal(formatScientific(-2.5e-7), '\u22122.5e\u22127')
    t.equal(formatFigureCount(22773), '22,773')
    t.equal(formatFigureCount(-1234567), '\u22121,234,567')
    t.equal(formatFigureCount(999), '999')
    t.same([0.5, 0.01, 0.0042, 0].map(decimalsFor), [3, 3, 4, 3])
  })

  t.test('ticks are round, inside the range, and not more than asked for', async t => {
    t.same(niceTicks({ min: -0.43, max: 0.27 }, 6, 'value'), {
      values: [-0.4, -0.2, 0, 0.2],
      labels: ['\u22120.4', '\u22120.2', '0.0', '0.2']
    })
    t.same(niceTicks({ min: 111.4, max: 131.6 }, 8, 'count').values, [115, 120, 125, 130])
    t.same(niceTicks({ min: 0, max: 22772 }, 10, 'count').labels, ['0', '5,000', '10,000', '15,000', '20,000'])
    t.same(niceTicks({ min: 0, max: 22772 }, 5, 'value').labels, ['0', '5,000', '10,000', '15,000', '20,000'], 'thousands are grouped')
    t.same(
      niceTicks({ min: 0, max: 1.1e-6 }, 6, 'value'),
      { values: [0, 2e-7, 4e-7, 6e-7, 8e-7, 1e-6], labels: ['0.0', '0.2', '0.4', '0.6', '0.8', '1.0'], exponent: -6 },
      'a small factor is left to the title of the axis'
    )
    t.same(niceTicks({ min: -4e7, max: 2e7 }, 4, 'value'), {
      values: [-4e7, -2e7, 0, 2e7],
      labels: ['\u221240', '\u221220', '0', '20'],
      exponent: 6
    })
    const learning = niceTicks({ min: 0, max: 1.1e-6 }, 6, 'value')
    t.equal(fittedTitle('Learning rate', learning, 200), 'Learning rate (\u00d710\u207b\u2076)')
    t.match(
      fittedTitle('A title that is far too long for it', learning, 80),
      /^A .*\u2026 \(\u00d710\u207b\u2076\)$/,
      'which keeps it when cut'
    )
    const random = seededRandom(4)
    for (let round = 0; round < 2000; round++) {
      const min = (random() - 0.5) * 10 ** (random() * 20 - 10)
      const max = min + random() * 10 ** (random() * 20 - 10)
      const range = padRange({ min, max }, 0.1)
      const { values, labels } = niceTicks(range, 6, 'value')
      const inside = values.every(value => value >= range.min && value <= range.max)
      const distinct = new Set(labels).size === labels.length
      if (!inside || !distinct || values.length < 2 || values.length > 6) return t.fail(`${min} to ${max}: ${labels.join(' ')}`)
    }
    t.pass('2,000 ranges')
  })

  t.test('a range without length gets one', async t => {
    t.same(padRange({ min: 0.5, max: 0.5 }, 0.1), { min: 0.45, max: 0.55 })
    t.same(padRange({ min: 0, max: 0 }, 0.1), { min: -0.1, max: 0.1 })
    const subnormal = padRange({ min: -3e-310, max: 5e-310 }, 0.1)
    t.ok(subnormal.max - subnormal.min > 0.1, 'a range too short for tick steps')
    t.ok(niceTicks(subnormal, 6, 'value').values.length > 2)
    t.equal(extent([]), null)
  })

  t.test('text is as wide as the canvas says', async t => {
    const context = createCanvas(10, 10).getContext('2d')
    context.font = '8px "DejaVu Sans"'
    for (const text of [
      'largest boundary jump',
      '0.988 \u2192 1.242 (+0.254)',
      '\u22120.135',
      'Retained token index 22,773',
      '{|}~ WAVE'
    ]) {
      const real = context.measureText(text).width
      t.ok(drawnWidth(text, 8) >= real - 0.01 && drawnWidth(text, 8) <= real * 1.03, `${text}: ${drawnWidth(text, 8)} for ${real}`)
    }
  })
})

t.test('configuration', async t => {
  t.test('is exactly the golden one for the small fixture', async t => {
    const path = join(FIXTURES, '08-critic-traces.config.json')
    const text = `${JSON.stringify(buildFigure08(SMALL), null, 1)}\n`
    if (UPDATE) await writeFile(path, text)
    t.strictSame(JSON.parse(text), JSON.parse(await readFile(path, 'utf8')))
  })

  t.test('states what the data hold', async t => {
    const config = buildFigure08(SMALL)
    const points = (panel: number, label: string): readonly Point[] =>
      seriesOf(config, panel).find(series => series.label === label)?.data ?? []
    for (const outcome of ['success', 'failure']) {
      const own = SMALL.traces.filter(trace => trace.outcome === outcome)
      t.same(
        points(0, outcome),
        own.map(trace => ({ x: trace.step, y: trace.mean }))
      )
      t.same(
        points(1, outcome),
        own.map(trace => ({ x: trace.step, y: trace.delta }))
      )
    }
    for (const [panel, example] of [
      [2, SMALL.success],
      [3, SMALL.failure]
    ] as const) {
      if (example === null) return t.fail('the fixture has both examples')
      // shorter than the plot is wide: every value is drawn, in order, with a gap at each boundary
      const drawn = points(panel, 'token values')
      t.same(
        drawn.filter(point => point.y !== null).map(point => point.y),
        [...example.values]
      )
      t.same(
        drawn.filter(point => point.y === null).map(point => point.x),
        [...example.boundaries].map(i => i + 0.5)
      )
      const guides = points(panel, 'turn boundary').filter(point => point.y !== null)
      const { y } = scalesOf(config, panel)
      t.same(
        guides,
        [...example.boundaries].flatMap(i => [
          { x: i + 0.5, y: y.min },
          { x: i + 0.5, y: y.max }
        ])
      )
      const { jump } = annotationsOf(config, panel)
      const { from_index, to_index, from, to } = example.maxBoundaryJump ?? { from_index: 0, to_index: 0, from: 0, to: 0 }
      t.same([jump['xMin'], jump['xMax'], jump['yMin'], jump['yMax']], [from_index, to_index, from, to])
      t.match(annotationsOf(config, panel), { jumpArrow: { arrowHeads: { end: { display: true } } } })
    }
    t.same(annotationsOf(config, 3)['jumpLabel']['content'], ['largest boundary jump', '0.016 \u2192 \u22120.160 (\u22120.176)'])
    t.not(scalesOf(config, 2).y.max, scalesOf(config, 3).y.max, 'each example has its own y limits')
    t.same(
      config.panels.map(panel => panel.label),
      ['(a)', '(b)', '(c)', '(d)']
    )
    t.ok(config.texts.some(text => text.text === 'synthetic replica'))
    t.notOk(buildFigure08({ ...SMALL, synthetic: false }).texts.some(text => text.text.includes('synthetic')))
    // the examples are marked among all traces
    t.match(annotationsOf(config, 0), {
      'ring-c': { xValue: 4, yValue: 0.8485026041666667 },
      'ring-d': { xValue: 3, yValue: 0.18380805121527777 }
    })
  })

  t.test('has no point outside its axes and no text smaller than 8 points', async t => {
    const random = seededRandom(9)
    const many = Array.from({ length: 12 }, () => {
      const length = 1 + Math.floor(random() * 5000)
      const values = Array.from({ length }, () => (random() - 0.5) * 10 ** (random() * 4))
      const example = makeExample(values, randomBoundaries(random, length, Math.floor(random() * 40)), 'success')
      return { ...MADE, synthetic: false, traces: SMALL.traces, success: example, failure: null }
    })
    for (const data of [SMALL, syntheticFigureData(), ...oddCases().map(odd => odd.data), ...many]) {
      const config = buildFigure08(data)
      config.panels.forEach((panel, k) => {
        const { x, y } = scalesOf(config, k)
        const outside = seriesOf(config, k)
          .flatMap(series => series.data)
          .filter(point => !(point.x >= x.min && point.x <= x.max && (point.y === null || (point.y >= y.min && point.y <= y.max))))
        if (outside.length > 0) t.fail(`${panel.label}: ${JSON.stringify(outside.slice(0, 3))}`)
        if (drawnWidth(panel.title, 8.5) + 18 > panel.box.width) t.fail(`${panel.label}: the heading is too long: ${panel.title}`)
      })
      const sizes = [...JSON.stringify(config).matchAll(/"size":(\d+(?:\.\d+)?),"(?:lineHeight|weight)/g)].map(match => Number(match[1]))
      if (sizes.length === 0 || Math.min(...sizes) < 8) t.fail(`text of ${Math.min(...sizes)} points`)
    }
    t.pass('figures checked')
  })

  t.test('the label of the jump covers no value and stays inside the plot', async t => {
    for (let seed = 1; seed <= 20; seed++) {
      const tokens = seed % 4 === 0 ? 40 : 3000
      const level = (x: number): number => 0.5 + 0.4 * Math.sin(x * seed)
      const noise = 0.02 * (1 + (seed % 5))
      const success = walkExample(seed, { outcome: 'success', step: 1, tokens, spans: 12, level, noise, jump: 0.1 })
      const config = buildFigure08({ ...MADE, synthetic: false, traces: [], success, failure: null })
      const { plot } = config.panels[2]
      const { x, y } = scalesOf(config, 2)
      const [label] = labelRectangles({ ...config, panels: [config.panels[2]] })
      const across = label.x >= plot.x - 0.1 && label.x + label.width <= plot.x + plot.width + 0.1
      const down = label.y >= plot.y && label.y + label.height <= plot.y + plot.height
      if (!across || !down) t.fail(`seed ${seed}: outside the plot`)
      const covered = [...success.values].filter((value, i) => {
        const px = plot.x + ((i - x.min) / (x.max - x.min)) * plot.width
        const py = plot.y + ((y.max - value) / (y.max - y.min)) * plot.height
        return px > label.x && px < label.x + label.width && py > label.y && py < label.y + label.height
      })
      if (covered.length > 0) t.fail(`seed ${seed}: ${covered.length} values covered`)
    }
    t.pass('20 walks')
  })

  t.test('a jump that is not in the values is a fault', async t => {
    const example = makeExample([0.5, 0.75], [0], 'success')
    const wrong = { ...example, maxBoundaryJump: { from_index: 0, to_index: 1, from: 0.5, to: 0.7, delta: 0.2 } }
    t.throws(() => buildFigure08({ ...SMALL, success: wrong }), {
      message: 'figure has a jump that is not in the success example: 0.5 to 0.7, expected 0.5 to 0.75 (values, index 0)'
    })
  })

  t.test('a function name that is not in the registry is a fault', async t => {
    t.throws(() => resolveFunctions({ ticks: { callback: { fn: 'eval' } } }), {
      message: /names an unknown function: eval, expected tickValues/
    })
  })

  t.test('the list of figures builds it, or says that it has no data', async t => {
    t.same(
      FIGURES.map(figure => figure.name),
      ['bars', 'curves', '08-critic-traces', 'critic-quality', 'boundary-jumps']
    )
    t.same(buildFigures({}), [])
    t.same(plannedFigures({ criticTraces: SMALL })[0].drawnFrom, [
      'training_data/critic-trace-trajectories.csv',
      'training_data/critic-traces.arrow'
    ])
    t.same(buildFigures({ criticTraces: SMALL }), [buildFigure08(SMALL)])
  })
})

t.test('alternative text', async t => {
  t.equal(
    describeFigure08(SMALL),
    'Four panels of critic values of critic_traces. The upper two show the mean value and the endpoint difference of 12 traces at trainer step 1 to 6. ' +
      '6 successes: mean value 0.722 to 0.927, last minus first value positive in 3 of 6. ' +
      '6 failures: mean value 0.094 to 0.206, last minus first value negative in 6 of 6. ' +
      'The lower two show one trace each by retained token index, with the mean of every generated span and a mark at every turn boundary. ' +
      'The success example at step 4 has 60 retained tokens in 5 generated spans, values from 0.738 to 0.953, first 0.762, last 0.953; ' +
      'its largest boundary jump is 0.867 to 0.922 (+0.055) after token 31. ' +
      'The failure example at step 3 has 90 retained tokens in 8 generated spans, values from \u22120.179 to 0.445, first 0.273, last \u22120.122; ' +
      'its largest boundary jump is 0.016 to \u22120.160 (\u22120.176) after token 83. The data are a synthetic replica.'
  )
})

t.test('plots are where the configuration says', async t => {
  const config = buildFigure08(SMALL)
  for (const panel of config.panels) {
    const context = createCanvas(600, 600).getContext('2d')
    const canvas = panelCanvas(context, context, panel.box.width, panel.box.height)
    const resolved = resolveFunctions({ ...panel.chart }) as unknown as ChartConfiguration
    const chart = new Chart(canvas as unknown as HTMLCanvasElement, { ...resolved, platform: BasicPlatform })
    const { left, top, width, height } = chart.chartArea
    const near = (a: number, b: number): boolean => Math.abs(a - b) < 0.11
    const { box, plot } = panel
    t.ok(near(left, plot.x - box.x) && near(top, plot.y - box.y), `${panel.label}: place`)
    t.ok(near(width, plot.width) && near(height, plot.height), `${panel.label}: size`)
    chart.destroy()
  }
  const [a, , c, d] = config.panels.map(panel => panel.plot)
  t.equal(a.x, c.x)
  t.equal(c.x, d.x)
})

t.test('picture', async t => {
  const path = join(FIXTURES, '08-critic-traces.half.png')
  const figure = buildFigure08(SMALL)
  const draw = async (config: FigureConfig) => halve(await decode(await renderFigure(config, 'png')))
  if (UPDATE) await writeFile(path, encode(await draw(figure)))
  const golden = await decode(await readFile(path))
  const LIMITS = { block: 12, missing: 20 }
  const same = ({ block, missing }: { block: number; missing: number }): boolean => block <= LIMITS.block && missing <= LIMITS.missing

  t.test('is the golden one', async t => {
    const difference = compare(golden, await draw(figure), figure)
    t.ok(same(difference), JSON.stringify(difference))
  })

  // Each takes one thing out of the figure; the comparison must see every one of them.
  const annotations = (f: LooseFigure, panel: number) => f.panels[panel].chart.options.plugins.annotation.annotations
  const mutations: ReadonlyArray<readonly [string, (figure: LooseFigure) => void]> = [
    ['panel (a)', f => f.panels.splice(0, 1)],
    ['panel (d)', f => f.panels.splice(3, 1)],
    ['one filled marker', f => f.panels[0].chart.data.datasets[1].data.pop()],
    ['one open marker', f => f.panels[1].chart.data.datasets[0].data.pop()],
    [
      'the openness of markers',
      f => {
        f.panels[0].chart.data.datasets[0].pointBackgroundColor = '#b84a00'
      }
    ],
    [
      'the zero line',
      f => {
        delete annotations(f, 1)['zero']
      }
    ],
    [
      'a ring',
      f => {
        delete annotations(f, 0)['ring-c']
      }
    ],
    ['one guide', f => f.panels[2].chart.data.datasets[2].data.splice(-3)],
    ['raw values', f => f.panels[3].chart.data.datasets.splice(1, 1)],
    ['one span mean', f => f.panels[3].chart.data.datasets[0].data.splice(0, 3)],
    [
      'the jump',
      f => {
        delete annotations(f, 2)['jump']
      }
    ],
    [
      'the arrow',
      f => {
        delete annotations(f, 3)['jumpArrow']
      }
    ],
    [
      'the arrow head',
      f => {
        delete annotations(f, 3)['jumpArrow']['arrowHeads']
      }
    ],
    [
      'the label',
      f => {
        delete annotations(f, 2)['jumpLabel']
      }
    ],
    ['the word synthetic', f => f.texts.pop()],
    ['a legend key', f => f.legend.pop()]
  ]
  t.test('is not the golden one without', async t => {
    for (const [name, mutate] of mutations) {
      const changed = structuredClone(figure) as unknown as LooseFigure
      mutate(changed)
      const difference = compare(golden, await draw(changed as unknown as FigureConfig), figure)
      t.notOk(same(difference), `${name}: ${JSON.stringify(difference)}`)
    }
  })
})

t.test('files', async t => {
  const figure = buildFigure08(SMALL)
  const [png, svg, pdf] = await Promise.all(FIGURE_FORMATS.map(format => renderFigure(figure, format)))

  t.test('PNG: 300 dpi, 170 mm wide', async t => {
    t.same([png.readUInt32BE(16), png.readUInt32BE(20)], [2008, 1775])
    const at = png.indexOf('pHYs')
    t.equal(png.readUInt32BE(at + 4), 11811, '300 dpi in pixels per metre')
    const plain = finishPng(png, { description: 'Caf\u00e9 42' }, 'a program 1')
    // Python 3.11: zlib.crc32(b'tEXtDescription\0Caf\xe9 42')
    t.equal(
      plain.subarray(33, 33 + 31).toString('hex'),
      `00000013${Buffer.from('tEXtDescription\0Caf\u00e9 42', 'latin1').toString('hex')}a08b6b3f`
    )
    // Python 3.11: zlib.crc32(b'tEXtSoftware\0a program 1')
    t.equal(
      plain.subarray(33 + 31, 33 + 31 + 32).toString('hex'),
      `00000014${Buffer.from('tEXtSoftware\0a program 1').toString('hex')}5286137e`
    )
    const description = Buffer.from(`iTXtDescription\0\0\0\0\0${figure.description}`)
    t.equal(png.indexOf(description), 37, 'the description, right behind the header')
  })

  t.test('SVG: title and description, escaped; every drawn value is a vertex', async t => {
    const text = svg.toString('utf8')
    const id = 'figure-08-critic-traces'
    t.match(
      text,
      new RegExp(`<svg [^>]*role="img" aria-labelledby="${id}-title ${id}-description">\n<title id="${id}-title">Critic values by`)
    )
    t.match(text, new RegExp(`<desc id="${id}-description">Four panels of critic values[^<]*synthetic replica\\.</desc>`))
    const finished = finishSvg('<g/>', { name: 'a', title: 'a < b & c', description: '</desc>', width: 72, height: 7.2 }, 'a program 1')
    t.match(
      finished,
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<!-- Written by a program 1. -->\n<svg [^>]* width="25.4mm" height="2.54mm" viewBox="0 0 72 7.2"/
    )
    t.match(finished, '<title id="figure-a-title">a &lt; b &amp; c</title>\n<desc id="figure-a-description">&lt;/desc&gt;</desc>')
    const big = buildFigure08(syntheticFigureData())
    const raw = [2, 3].flatMap(panel => seriesOf(big, panel).find(series => series.label === 'token values')?.data ?? [])
    const drawn = (await renderFigure(big, 'svg')).toString('utf8').matchAll(/data-series="token values">(.*?)<\/g>/gs)
    const vertices = [...drawn].reduce((sum, [, group]) => sum + (group.match(/[ML]\d/g)?.length ?? 0), 0)
    t.equal(vertices, raw.filter(point => point.y !== null).length)
  })

  const words = [
    'Critic values by outcome and model turn',
    '(a)',
    '(b)',
    '(c)',
    '(d)',
    'Trainer step',
    'Mean value',
    'Retained token index',
    'Critic value',
    'largest boundary jump',
    'synthetic replica',
    'turn boundary',
    'success',
    'failure'
  ]
  t.test('PDF: text is text, fonts are embedded, metadata are fixed', async t => {
    const strings = pdfStrings(pdf)
    for (const word of words)
      t.ok(
        strings.some(text => text.includes(word)),
        word
      )
    const inflated = inflatePdf(pdf)
    t.equal([...inflated.matchAll(/\/Type \/FontDescriptor/g)].length, [...inflated.matchAll(/\/FontFile2/g)].length)
    t.match(inflated, /\+DejaVuSans\b/)
    t.match(inflated, /\+DejaVuSans-Bold\b/)
    t.match(inflated, /\/CreationDate \((?:D:)?19700101000000/)
    t.match(inflated, /\/Title \(Critic values by outcome and model turn\)/)
  })

  t.test('PDF: pdftotext finds the text', async t => {
    const folder = await mkdtemp(join(tmpdir(), 'figure-'))
    t.teardown(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'figure.pdf'), pdf)
    const result = await run('pdftotext', ['-layout', join(folder, 'figure.pdf'), '-']).catch((error: NodeJS.ErrnoException) => error)
    if (result instanceof Error) {
      if (result.code !== 'ENOENT') throw result
      t.pass('pdftotext finds the text', { skip: 'pdftotext is not installed' })
      return
    }
    for (const word of [...words, '0.867 \u2192 0.922 (+0.055)', 'Last \u2212 first value', '\u22120.4'])
      t.ok(result.stdout.includes(word), word)
  })

  t.test('the same bytes again, from a copy, and from workers', async t => {
    const files = { png, svg, pdf }
    const copy = JSON.parse(JSON.stringify(figure)) as FigureConfig
    t.same(copy, figure)
    const pool = new Piscina({ filename: WORKER, minThreads: 2, maxThreads: 2 })
    t.teardown(() => pool.destroy())
    for (const format of FIGURE_FORMATS) {
      t.ok(files[format].equals(await renderFigure(figure, format)), `${format} again`)
      t.ok(files[format].equals(await renderFigure(copy, format)), `${format} from JSON`)
      t.ok(files[format].equals(await renderFigure(structuredClone(figure), format)), `${format} from a structured clone`)
    }
    const tasks = [...FIGURE_FORMATS, ...FIGURE_FORMATS, ...FIGURE_FORMATS]
    const drawn = await Promise.all(tasks.map(format => pool.run({ config: figure, format }) as Promise<Uint8Array>))
    tasks.forEach((format, k) => t.ok(files[format].equals(drawn[k]), `${format} from a worker`))
  })

  t.test('drawing writes nothing into the configuration', async t => {
    const freeze = <T>(value: T): T => {
      if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze)
      return value
    }
    t.ok(svg.equals(await renderFigure(freeze(structuredClone(figure)), 'svg')))
  })

  t.test('a negative zero draws as zero does', async t => {
    const build = (zero: number): FigureConfig => buildFigure08({ ...SMALL, success: makeExample([0.5, zero, zero, 0.25], [1], 'success') })
    const minus = build(-0)
    t.ok((await renderFigure(minus, 'svg')).equals(await renderFigure(JSON.parse(JSON.stringify(minus)) as FigureConfig, 'svg')))
    t.ok((await renderFigure(minus, 'svg')).equals(await renderFigure(build(0), 'svg')))
  })

  t.test('the same bytes in another process, locale and time zone, without fontconfig and without a warning', async t => {
    const script = `
      const { renderFigure } = await import(${JSON.stringify(new URL('../src/render/canvas/index.js', import.meta.url).href)})
      const { createHash } = await import('node:crypto')
      let text = ''
      for await (const chunk of process.stdin) text += chunk
      for (const format of ${JSON.stringify(FIGURE_FORMATS)}) {
        console.log(createHash('sha256').update(await renderFigure(JSON.parse(text), format)).digest('hex'))
      }
      console.log(process.env.FONTCONFIG_FILE)`
    const child = run(process.execPath, ['--input-type=module', '-e', script], {
      env: {
        PATH: process.env['PATH'],
        TZ: 'Asia/Tokyo',
        LC_ALL: 'de_DE.UTF-8',
        HOME: '/nonexistent',
        FONTCONFIG_FILE: '/nonexistent/fonts.conf',
        FONTCONFIG_PATH: '/nonexistent'
      }
    })
    child.child.stdin?.end(JSON.stringify(figure))
    const { stdout, stderr } = await child
    const { createHash } = await import('node:crypto')
    const expected = [png, svg, pdf].map(file => createHash('sha256').update(file).digest('hex'))
    t.same(stdout.trim().split('\n'), [...expected, '/nonexistent/fonts.conf'], 'and the environment is as it was')
    t.equal(stderr, '')
  })

  t.test('a worker refuses to draw where the main thread has not loaded the canvas', async t => {
    const script = `
      void (async () => {
        const { Piscina } = await import('piscina')
        const pool = new Piscina({ filename: ${JSON.stringify(WORKER)}, maxThreads: 1 })
        const error = await pool.run({ config: {}, format: 'png' }).catch(error => error)
        console.log(error.message)
        await pool.destroy()
      })()`
    const cwd = fileURLToPath(new URL('../..', import.meta.url))
    // Not as a module: a worker would inherit --input-type, and refuse to start.
    const { stdout, stderr } = await run(process.execPath, ['-e', script], { cwd })
    t.match(stdout, /^figure cannot be drawn in this worker: .* expected warmCanvas\(\) before the worker starts/)
    t.equal(stderr, '')
  })
})

t.test('odd data are drawn, and what is undefined is said', async t => {
  for (const { name, data, says } of oddCases()) {
    const config = buildFigure08(data)
    t.ok(JSON.stringify(config).includes(says), `${name}: says ${says}`)
    t.notMatch(JSON.stringify(config.panels), /NaN|Infinity|"(?:min|max|x|xMin|xMax|yMin|yMax)":null/, name)
    t.same(JSON.parse(JSON.stringify(config)), config, `${name}: plain`)
    const pdf = await renderFigure(config, 'pdf')
    t.ok(
      pdfStrings(pdf).some(text => text.includes('Critic values')),
      `${name}: drawn`
    )
  }
})
