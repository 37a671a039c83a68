/**
 * Bar figures: where bars stand and how long they are, values on them, stand-ins, the plain configuration, the three files.
 * Goldens are in fixtures/figures; `UPDATE_GOLDENS=1` writes them anew from what is drawn now.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCanvas } from 'canvas'
import { BasicPlatform, Chart, type BarElement, type ChartConfiguration } from 'chart.js'
import { parseFragment } from 'parse5'
import t from 'tap'
import type { BarData, BarFigureData, BarPanelData, BarSeriesData } from '../src/compute/evidence/contract.js'
import { panelCanvas } from '../src/render/canvas/context.js'
import { renderFigure, warmCanvas } from '../src/render/canvas/index.js'
import { buildBarFigure } from '../src/render/figures/bars/index.js'
import { barText } from '../src/render/figures/bars/panel.js'
import { barMark } from '../src/render/figures/bars/style.js'
import { FIGURE_FORMATS, type FigureConfig } from '../src/render/figures/config.js'
import { curveStyle } from '../src/render/figures/curves/style.js'
import { resolveFunctions } from '../src/render/figures/functions.js'
import { hatchLines } from '../src/render/figures/hatch.js'
import { buildFigures, plannedFigures } from '../src/render/figures/index.js'
import { drawnWidth, wrapWidth } from '../src/render/figures/text-width.js'
import { compare, decode, encode, halve, labelRectangles } from './support/compare-pictures.js'
import { annotationsOf, FIXTURES, scalesOf, seriesOf, type LooseFigure } from './support/figure-config.js'
import { pdfStrings } from './support/pdf-text.js'

const UPDATE = process.env['UPDATE_GOLDENS'] === '1'

await warmCanvas()

const SMALL = JSON.parse(await readFile(join(FIXTURES, 'bars.data.json'), 'utf8')) as BarFigureData

function bar(value: number | null, more: Partial<BarData> = {}): BarData {
  return { value, reason: value === null ? 'why' : null, published: true, ...more }
}

function panel(more: Partial<BarPanelData> = {}): BarPanelData {
  return {
    title: 'Panel',
    axis: 'Value',
    groups: ['g'],
    decimals: 2,
    from: 0,
    series: [{ title: 'one', slot: 0, bars: [bar(3)] }],
    ...more
  }
}

function figure(panels: readonly BarPanelData[], more: Partial<BarFigureData> = {}): BarFigureData {
  return { synthetic: false, name: 'figure', title: 'Figure', drawnFrom: ['data.json'], panels, ...more }
}

interface DrawnBar {
  readonly left: number
  readonly right: number
  readonly base: number
  readonly end: number
  readonly value: number
}

/** The bars of a panel as Chart.js lays them out, in points from the plot's corner, by their middles. */
function drawnBars(config: FigureConfig, k: number): DrawnBar[] {
  const { box, chart } = config.panels[k]
  const context = createCanvas(600, 600).getContext('2d')
  const canvas = panelCanvas(context, context, box.width, box.height)
  const resolved = resolveFunctions({ ...chart }) as unknown as ChartConfiguration<'bar'>
  const drawn = new Chart(canvas as unknown as HTMLCanvasElement, {
    ...resolved,
    platform: BasicPlatform,
    options: { ...resolved.options, devicePixelRatio: 64 }
  })
  const { left, top } = drawn.chartArea
  const bars = drawn.data.datasets.map((_, i): DrawnBar => {
    const {
      x = NaN,
      y = NaN,
      base = NaN,
      width = NaN
    } = (drawn.getDatasetMeta(i).data[0] as BarElement).getProps(['x', 'y', 'base', 'width'], true) as Record<string, number>
    return {
      left: x - width / 2 - left,
      right: x + width / 2 - left,
      base: base - top,
      end: y - top,
      value: seriesOf(config, k)[i].data[0].y ?? NaN
    }
  })
  drawn.destroy()
  return bars.sort((a, b) => a.left - b.left)
}

t.test('the values of a panel are printed with the same decimals', async t => {
  // Python 3.11: f'{value:,.{decimals}f}', with a true minus sign and none before a zero
  const cases: [number, number, string][] = [
    [64, 0, '64'],
    [64, 1, '64.0'],
    [54.67, 1, '54.7'],
    [55.33, 2, '55.33'],
    [49.62358, 1, '49.6'],
    [135.00000000000003, 1, '135.0'],
    [135, 4, '135.0000'],
    [48640, 0, '48,640'],
    [1234567.5, 1, '1,234,567.5'],
    [1234.5, 2, '1,234.50'],
    [-6.125, 1, '\u22126.1'],
    [-0.001, 1, '0.0'],
    [0, 3, '0.000'],
    [1e-7, 2, '0.00'],
    [2.5e12, 1, '2.5e12']
  ]
  for (const [value, decimals, text] of cases) t.equal(barText(value, decimals), text, `${value} with ${decimals}`)
  const hours = (value: number): BarSeriesData => ({ title: String(value), slot: 0, bars: [bar(value)] })
  const config = buildBarFigure(figure([panel({ groups: ['hours'], decimals: 1, series: [hours(135), hours(49.62358)] })]))
  t.same(
    Object.entries(annotationsOf(config, 0)).flatMap(([name, { content }]) => (name.startsWith('value-') ? [content] : [])),
    ['135.0', '49.6']
  )
})

t.test('bars', async t => {
  const config = buildBarFigure(SMALL)

  t.test('are as long as their values, from where the axis begins', async t => {
    SMALL.panels.forEach((data, k) => {
      const { y } = scalesOf(config, k)
      const { plot } = config.panels[k]
      const bars = drawnBars(config, k)
      const values = data.groups.flatMap((_, g) => data.series.flatMap(one => one.bars[g]?.value ?? []))
      t.same(
        bars.map(one => one.value),
        values,
        'group by group, series by series'
      )
      for (const { base, end, value } of bars) {
        const perUnit = plot.height / (y.max - y.min)
        t.ok(Math.abs(end - (y.max - value) * perUnit) < 0.05, `${value} ends at ${end}`)
        // Chart.js begins bars beside the grid line of their base, which is 0.6 points thick.
        t.ok(Math.abs(base - (y.max - data.from) * perUnit) < 0.31, 'on the line of the beginning')
      }
      t.equal(y.min, Math.min(data.from, y.min))
    })
    t.equal(scalesOf(config, 0).y.min, 0)
    t.equal(scalesOf(config, 1).y.min, 1000)
    t.ok(scalesOf(config, 2).y.min < -6.125)
  })

  t.test('stand apart, each group in its own room', async t => {
    for (const k of [0, 1, 2]) {
      const room = config.panels[k].plot.width / SMALL.panels[k].groups.length
      const bars = drawnBars(config, k)
      bars.forEach(({ left, right }, i) => {
        t.ok(i === 0 || left > bars[i - 1].right, 'no overlap')
        t.equal(Math.floor(left / room), Math.floor(right / room), 'in one group')
        t.ok(right - left > 8)
      })
    }
    // The missing one keeps its place: Beta stands to the right of the middle of the second group.
    const [, , , before, beta] = drawnBars(config, 0)
    t.ok(beta.left - before.right > beta.right - beta.left)
  })

  t.test('all have their value, inside the plot, over none of its neighbours', async t => {
    const texts = [0, 1, 2].map(k =>
      Object.entries(annotationsOf(config, k))
        .filter(([name]) => name.startsWith('value-'))
        .map(([, { content }]) => content)
    )
    t.same(texts, [
      ['41.00', '52.50', '47.12', '30.25', '38.75'],
      ['12,345', '1,800'],
      ['11.5', '\u22126.1', 'n/a', '\u22122.0']
    ])
    const labels = labelRectangles({ ...config, panels: config.panels.map(one => ({ ...one })) })
    for (const [i, a] of labels.entries()) {
      t.ok(a.x > 0 && a.x + a.width < config.width && a.y > 0 && a.y + a.height < config.height + 4, 'on the page')
      for (const b of labels.slice(i + 1)) {
        t.notOk(
          a.x < b.x + b.width - 4 && b.x < a.x + a.width - 4 && a.y < b.y + b.height - 4 && b.y < a.y + a.height - 4,
          'no label over another'
        )
      }
    }
  })

  t.test('of one title look the same in every panel, and as the curves of that place', async t => {
    const colours = (k: number): unknown[] =>
      (config.panels[k].chart.data.datasets as unknown as { backgroundColor: string }[]).map(one => one.backgroundColor)
    t.same(colours(0), ['#d9d9d9', '#0072b2', '#e69f00', '#d9d9d9', '#ffffff'])
    t.same(colours(1), ['#0072b2', '#e69f00'])
    for (const slot of [0, 1]) t.equal(barMark(slot, true).fill, curveStyle(slot).strong)
  })

  t.test('stay apart in greyscale', async t => {
    const luma = (hex: string): number =>
      [0.299, 0.587, 0.114].reduce((sum, weight, c) => sum + weight * parseInt(hex.slice(1 + 2 * c, 3 + 2 * c), 16), 0)
    const levels = [0, 1, 2, 3, 4, 5].map(slot => luma(barMark(slot, true).fill)).sort((a, b) => a - b)
    for (const [i, level] of levels.entries()) t.ok(i === 0 || level - levels[i - 1] > 20, `${levels[i - 1]} and ${level}`)
  })
})

t.test('stand-ins', async t => {
  const config = buildBarFigure(SMALL)
  const hatches = (k: number): { xMin: number; xMax: number; yMin: number; yMax: number; borderColor: string }[] =>
    Object.entries(annotationsOf(config, k))
      .filter(([name]) => name.startsWith('hatch-'))
      .map(([, one]) => one as never)

  t.test('are hatched from edge to edge, and nothing else is', async t => {
    t.equal(hatches(1).length, 0)
    for (const [k, value, place] of [
      [0, 38.75, 4],
      [2, -2, 2]
    ] as const) {
      const lines = hatches(k)
      t.ok(lines.length > 5)
      const { x } = scalesOf(config, k)
      const { left, right } = drawnBars(config, k)[place]
      const perPoint = (x.max - x.min) / config.panels[k].plot.width
      for (const { xMin, xMax, yMin, yMax, borderColor } of lines) {
        t.equal(borderColor, barMark(1, false).hatch)
        t.ok(xMin >= left * perPoint - 1e-3 && xMax <= right * perPoint + 1e-3)
        t.ok(Math.min(yMin, yMax) >= Math.min(0, value) - 1e-9 && Math.max(yMin, yMax) <= Math.max(0, value) + 1e-9)
      }
    }
  })

  t.test('are named in the legend, where there are any', async t => {
    t.same(
      config.legend.map(({ label, kind }) => [label, kind]),
      [
        ['Before', 'bar'],
        ['Alpha', 'bar'],
        ['Beta', 'bar'],
        ['stand-in: not published', 'bar']
      ]
    )
    t.same(
      buildBarFigure(figure([panel()])).legend.map(({ label }) => label),
      ['one']
    )
  })

  t.test('hatching: parallel lines at 45 degrees inside the rectangle', async t => {
    for (const [width, height] of [
      [30, 80],
      [80, 5],
      [1, 1],
      [40, 0]
    ]) {
      for (const [a, b] of hatchLines(width, height)) {
        t.ok(Math.abs(b.x - a.x + (b.y - a.y)) < 1e-9)
        for (const { x, y } of [a, b]) t.ok(x >= 0 && x <= width && y >= -1e-9 && y <= height + 1e-9)
      }
    }
    t.equal(hatchLines(30, 80).length, Math.round(110 / (3 * Math.SQRT2)))
  })
})

t.test('configuration', async t => {
  t.test('is exactly the golden one for the small fixture', async t => {
    const text = `${JSON.stringify(buildBarFigure(SMALL), null, 2)}\n`
    const path = join(FIXTURES, 'bars.config.json')
    if (UPDATE) await writeFile(path, text)
    t.equal(await readFile(path, 'utf8'), text)
  })

  t.test('is plain, and nobody writes below 8 points', async t => {
    const config = buildBarFigure(SMALL)
    t.same(JSON.parse(JSON.stringify(config)), config)
    JSON.stringify(config, (key, value: unknown) => {
      if (key === 'size' && typeof value === 'number' && value < 8) t.fail(`${value} points`)
      return value
    })
  })

  t.test('the axis says where it begins, when that is not zero', async t => {
    const titles = buildBarFigure(SMALL).panels.map(one =>
      (one.chart.options as unknown as { scales: { y: { title: { text: string[] } } } }).scales.y.title.text.join(' ')
    )
    t.same(titles, ['Solved (%)', 'Hours (normalised to one machine), axis from 1,000', 'Points'])
    const axis = 'Hours per improvement (concurrency-normalised)'
    const long = buildBarFigure(figure([panel({ axis }), panel(), panel()]))
    const { text } = (long.panels[0].chart.options as unknown as { scales: { y: { title: { text: string[] } } } }).scales.y.title
    t.same(text, ['Hours per improvement', '(concurrency-normalised)'], 'in lines, not cut')
    t.ok(long.panels[0].plot.x >= 2 + 2 * 9.6, 'with room for both')
  })

  t.test('alternative text: every value, in order', async t => {
    t.equal(
      buildBarFigure(SMALL).description,
      '3 panels of bars. ' +
        '(a) Benchmarks, Solved (%): First: Before 41.00, Alpha 52.50, Beta 47.12; Second, on other tasks: Before 30.25, Beta 38.75 (a stand-in, not published). ' +
        '(b) Cost, Hours (normalised to one machine), axis from 1,000: To the best checkpoint: Alpha 12,345, Beta 1,800. ' +
        '(c) Gain, Points: First: Alpha 11.5, Beta \u22126.1; Second: Alpha undefined (the second operand is zero), Beta \u22122.0 (a stand-in, not published). ' +
        'The data are a synthetic replica.'
    )
  })

  t.test('panels: side by side, in rows where there is no room or more than three', async t => {
    const columns = (panels: readonly BarPanelData[]): number => new Set(buildBarFigure(figure(panels)).panels.map(({ box }) => box.x)).size
    t.same(
      [1, 2, 3, 4, 5, 6].map(n => columns(Array.from({ length: n }, () => panel()))),
      [1, 2, 3, 2, 3, 3]
    )
    const crowded = panel({
      decimals: 0,
      groups: ['a', 'b', 'c', 'd'],
      series: [0, 1, 2, 3, 4, 5].map(slot => ({ title: `s${slot}`, slot, bars: [bar(1), bar(2), bar(3), bar(4)] }))
    })
    t.equal(columns([crowded, panel()]), 1)
    const upright = buildBarFigure(figure([crowded]))
    t.notOk(annotationsOf(upright, 0)['value-0']['rotation'], 'one digit has room across')
    const long = panel({ ...crowded, series: crowded.series.map(one => ({ ...one, bars: [bar(12345.67), bar(2), bar(3), bar(4)] })) })
    t.equal(annotationsOf(buildBarFigure(figure([long])), 0)['value-0']['rotation'], -90)
    t.throws(() => buildBarFigure(figure([])), { message: 'figure has no room for its panels: 0, expected 1 to 26 (member figure)' })
  })

  t.test('the list of figures draws them, first', async t => {
    t.same(
      buildFigures({ bars: [SMALL, figure([panel()])] }).map(({ name }) => name),
      ['01-three-recipes', 'figure']
    )
    t.same(
      plannedFigures({ bars: [{ ...SMALL, drawnFrom: ['lengths.json'] }] }).map(({ drawnFrom }) => drawnFrom),
      [['lengths.json']],
      'each is drawn from what its data say'
    )
    t.throws(() => buildFigures({ bars: [SMALL, SMALL] }), /has the name of another/)
    t.same(buildFigures({}), [])
  })

  t.test('lines of a text', async t => {
    t.same(wrapWidth('one two three', 8, 30, 9), ['one', 'two', 'three'])
    t.same(wrapWidth('one two three', 8, 40, 2), ['one two', 'three'])
    const [first, cut, ...more] = wrapWidth('one two three four five', 8, 40, 2)
    t.same([first, more], ['one two', []])
    t.match(cut, /^three f.*\u2026$/)
    t.ok(drawnWidth(cut, 8) <= 40)
    t.same(wrapWidth('  ', 8, 40, 2), [])
    for (const line of wrapWidth('unbreakableunbreakable x', 8, 40, 3)) t.ok(drawnWidth(line, 8) <= 40)
  })
})

t.test('picture', async t => {
  const path = join(FIXTURES, 'bars.half.png')
  const small = buildBarFigure(SMALL)
  const draw = async (config: FigureConfig) => halve(await decode(await renderFigure(config, 'png')))
  if (UPDATE) await writeFile(path, encode(await draw(small)))
  const golden = await decode(await readFile(path))
  const LIMITS = { block: 12, missing: 20 }
  const same = ({ block, missing }: { block: number; missing: number }): boolean => block <= LIMITS.block && missing <= LIMITS.missing

  t.test('is the golden one', async t => {
    const difference = compare(golden, await draw(small), small)
    t.ok(same(difference), JSON.stringify(difference))
  })

  const datasets = (f: LooseFigure, k: number) =>
    f.panels[k].chart.data.datasets as unknown as { backgroundColor: string; base: number; data: { y: number }[] }[]
  const annotations = (f: LooseFigure, k: number) => f.panels[k].chart.options.plugins.annotation.annotations
  const mutations: ReadonlyArray<readonly [string, (figure: LooseFigure) => void]> = [
    ['a panel', f => f.panels.splice(1, 1)],
    [
      'a bar',
      f => {
        datasets(f, 0).splice(1, 1)
      }
    ],
    [
      "a bar's colour",
      f => {
        datasets(f, 0)[1].backgroundColor = '#e69f00'
      }
    ],
    [
      "two points of a bar's length",
      f => {
        datasets(f, 0)[0].data[0].y += 1.2
      }
    ],
    [
      'the right base',
      f => {
        datasets(f, 1)[0].base = 1500
      }
    ],
    [
      'a value',
      f => {
        delete annotations(f, 0)['value-0']
      }
    ],
    [
      'the right value',
      f => {
        annotations(f, 1)['value-0']['content'] = '12'
      }
    ],
    [
      'a line of hatching',
      f => {
        delete annotations(f, 0)['hatch-4-3']
      }
    ],
    [
      'the title of a group',
      f => {
        delete annotations(f, 2)['group-1']
      }
    ],
    ['the word synthetic', f => f.texts.pop()],
    ['a legend key', f => f.legend.pop()]
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

t.test('odd data are drawn, and what is undefined is said', async t => {
  const series = (...bars: (BarData | null)[]): BarPanelData =>
    panel({ groups: bars.map((_, i) => `g${i}`), series: [{ title: 'one', slot: 0, bars }] })
  const cases: ReadonlyArray<readonly [string, BarPanelData, string]> = [
    ['no value', series(bar(null)), 'no value'],
    ['no bar at all', series(null), 'no bar'],
    ['zero', series(bar(0)), '"0.00"'],
    ['zero, not published', series(bar(0, { published: false })), 'a stand-in'],
    ['the beginning itself', { ...series(bar(5)), from: 5 }, 'axis from 5'],
    ['equal and negative', series(bar(-2), bar(-2)), '\u22122'],
    ['very small', { ...series(bar(1e-9), bar(3e-9)), decimals: 10 }, '0.0000000030'],
    ['very large', series(bar(1e99), bar(2e98)), '1e99'],
    ['beyond what is drawn', series(bar(1e200), bar(2)), '1e200'],
    [
      'eight places',
      { ...series(...Array.from({ length: 8 }, (_, i) => bar(1234.5 + i, { published: i % 2 === 0 }))), decimals: 2 },
      '1,234.5'
    ],
    ['slots without end', panel({ series: [{ title: 'one', slot: 17, bars: [bar(1, { published: false })] }] }), '#4c9bc9']
  ]
  for (const [name, one, says] of cases) {
    const config = buildBarFigure(figure([one]))
    t.ok(JSON.stringify(config).includes(says), `${name}: says ${says}`)
    t.notMatch(JSON.stringify(config.panels), /NaN|Infinity|"(?:min|max|x|xMin|xMax|yMin|yMax|xValue|yValue)":null/, name)
    t.same(JSON.parse(JSON.stringify(config)), config, `${name}: plain`)
    t.ok(
      pdfStrings(await renderFigure(config, 'pdf')).some(text => text.includes('Figure')),
      `${name}: drawn`
    )
  }
})

t.test('hostile titles', async t => {
  const hostile = 'A <b>&amp;\u0000\u001b[31m\n\u202e\ufffe\ud800 "title" ]]> that is far too long for any panel: $& ${x} '.repeat(3)
  const one = panel({
    title: hostile,
    axis: hostile,
    groups: [hostile, 'g'],
    series: [{ title: hostile, slot: 0, bars: [bar(1, { reason: hostile }), bar(null, { reason: hostile })] }]
  })
  const config = buildBarFigure(figure([one, one, one], { title: hostile }))
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
  for (const { text, x } of config.texts) t.ok(x + drawnWidth(text, 10) <= config.width, 'on the page')
  for (const { label, labelX } of config.legend) t.ok(labelX + drawnWidth(label, 8) <= config.width, 'on the page')
  const svg = (await renderFigure(config, 'svg')).toString('utf8')
  t.notMatch(svg, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|<b>/, 'no character that XML forbids')
  t.equal(parseFragment(svg).childNodes.filter(node => node.nodeName === 'svg').length, 1)
})

t.test('files', async t => {
  const config = buildBarFigure(SMALL)
  const [png, svg, pdf] = await Promise.all(FIGURE_FORMATS.map(format => renderFigure(config, format)))
  t.same([png.readUInt32BE(16), png.readUInt32BE(20)], [2008, (config.height * 300) / 72], '300 dpi, 170 mm wide')
  const strings = pdfStrings(pdf)
  for (const word of [
    'Three recipes',
    '(a)',
    'Solved (%)',
    '52.50',
    '12,345',
    'Second, on',
    'Beta',
    'stand-in: not published',
    'axis from 1,000',
    'synthetic replica'
  ]) {
    t.ok(
      strings.some(text => text.includes(word)),
      `${word} is text in the PDF`
    )
  }
  t.notMatch(svg.toString('latin1'), /<image|<pattern/, 'hatching is lines')
  const again = await Promise.all(FIGURE_FORMATS.map(format => renderFigure(buildBarFigure(SMALL), format)))
  for (const [k, bytes] of [png, svg, pdf].entries()) t.ok(bytes.equals(again[k]), 'the same bytes')
})
