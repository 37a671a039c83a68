/**
 * SVG of figures: text is text, the drawn points are read back from the file alone, and it may stand inside a page. The other two
 * formats have the same texts and lines.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { load, type CheerioAPI } from 'cheerio'
import { createCanvas } from 'canvas'
import t from 'tap'
import { renderFigure, warmCanvas } from '../src/render/canvas/index.js'
import { svgDrawing } from '../src/render/canvas/svg-context.js'
import type { FigureConfig, Plain } from '../src/render/figures/config.js'
import { annotationsOf, FIXTURES, scalesOf, seriesOf } from './support/figure-config.js'
import { inflatePdf, pdfStrings } from './support/pdf-text.js'

const NAMES = ['08-critic-traces', 'bars', 'curves', 'critic-quality', 'boundary-jumps']
/** A coordinate in the file is rounded to a thousandth of a point. */
const ROUNDING = 0.000501

await warmCanvas()

const figures = await Promise.all(
  NAMES.map(async name => {
    const config = JSON.parse(await readFile(join(FIXTURES, `${name}.config.json`), 'utf8')) as FigureConfig
    const svg = (await renderFigure(config, 'svg')).toString('utf8')
    return { config, svg, $: load(svg, { xml: true }) }
  })
)

/** Every text that a configuration asks for, in any order. */
function textsOf(config: FigureConfig): string[] {
  const texts = [...config.texts.map(({ text }) => text), ...config.legend.map(({ label }) => label)]
  config.panels.forEach(({ label, title, chart }, k) => {
    texts.push(label, title)
    for (const axis of Object.values(chart.options['scales'] as { [axis: string]: { ticks: Plain; title: Plain } })) {
      texts.push(...(axis.ticks as { callback: { labels: string[] } }).callback.labels)
      const { display, text } = axis.title as { display: boolean; text: string | string[] }
      if (display) texts.push(...[text].flat())
    }
    for (const { type, content } of Object.values(annotationsOf(config, k))) {
      if (type === 'label') texts.push(...([content].flat() as string[]))
    }
  })
  return texts.filter(text => text !== '').sort()
}

t.test('every text is a text element, and no other', async t => {
  for (const { config, $ } of figures) {
    const found = $('text')
      .toArray()
      .map(element => $(element).text())
    t.same(found.sort(), textsOf(config), config.name)
  }
})

t.test('the PDF has the same texts and as many corners', async t => {
  for (const { config, svg } of figures) {
    const pdf = await renderFigure(config, 'pdf')
    const strings = pdfStrings(pdf).join('\n')
    // Ligatures and characters outside the font's Latin encoding are strings of their own.
    const latin = textsOf(config).filter(text => /^[ -~]*$/.test(text) && !/f[fil]/.test(text))
    t.same(
      latin.filter(text => !strings.includes(text)),
      [],
      config.name
    )
    const long = (counts: readonly number[]): number[] => counts.filter(count => count > 6).sort((a, b) => a - b)
    const inPdf = long(strokesOf(inflatePdf(pdf)))
    const inSvg = long(
      [...svg.matchAll(/ d="([^"]*)" stroke/g)].flatMap(([, path]) => path.split('M').map(part => part.match(/L/g)?.length ?? 0))
    )
    // cairo leaves out a point on a straight line between its neighbours.
    const agree = inPdf.length === inSvg.length && inPdf.every((n, i) => n <= inSvg[i] && n >= inSvg[i] - 2)
    t.ok(agree, `${config.name}: ${inPdf.join(' ')} in the PDF, ${inSvg.join(' ')} in the SVG`)
  }
})

/** The number of lines in each stroked part of a path of a PDF's content. */
function strokesOf(content: string): number[] {
  const counts: number[] = []
  let open: number[] = []
  for (const token of content.split(/\s+/)) {
    if (token === 'm') open.push(0)
    else if (token === 'l' && open.length > 0) open[open.length - 1]++
    else if (token === 'S') counts.push(...open)
    if (/^(?:S|f|f\*|B|n)$/.test(token)) open = []
  }
  return counts
}

type Axis = 'x' | 'y'

/** What a position on an axis of a panel stands for, from the panel's attributes alone. */
function valueAt($: CheerioAPI, panel: string, axis: Axis, position: number): number {
  const group = $(`g.panel[data-panel="${panel}"]`)
  const number = (name: string): number => Number(group.attr(`data-${axis}-${name}`))
  const [from, to, min, max] = [number('from'), number('to'), number('min'), number('max')]
  const share = (position - from) / (to - from)
  switch (group.attr(`data-${axis}-scale`)) {
    case 'linear':
      return min + share * (max - min)
    case 'log':
      return min * (max / min) ** share
    case 'symlog': {
      // matplotlib's symlog with linscale 1, base 10
      const threshold = number('linear-to')
      const forward = (v: number): number =>
        Math.abs(v) <= threshold ? v * (10 / 9) : Math.sign(v) * threshold * (10 / 9 + Math.log10(Math.abs(v) / threshold))
      const place = forward(min) + share * (forward(max) - forward(min))
      const size = Math.abs(place) / threshold
      return size <= 10 / 9 ? place * 0.9 : Math.sign(place) * threshold * 10 ** (size - 10 / 9)
    }
    default:
      throw new Error('no scale')
  }
}

t.test('lines are read back: every point of the configuration, in order, and no other', async t => {
  let compared = 0
  for (const { config, $ } of figures) {
    config.panels.forEach(({ label, plot, chart }, k) => {
      const letter = label.slice(1, -1)
      const { x, y } = scalesOf(config, k)
      for (const series of seriesOf(config, k) as readonly (ReturnType<typeof seriesOf>[number] & { [option: string]: Plain })[]) {
        const wanted = series.data.filter(point => point.y !== null)
        if (chart.type !== 'line' || series['showLine'] === false || series['borderColor'] === 'transparent' || wanted.length < 2) continue
        const path = $(`g.series[data-panel="${letter}"]`)
          .filter((_, group) => $(group).attr('data-series') === series.label)
          .find(`path[stroke-width="${series['borderWidth']}"][stroke="${series['borderColor']}"]:not([d*="A"]):not([d*="Z"])`)
          .toArray()
          .map(element => $(element).attr('d'))
          .join('')
        const vertices = [...path.matchAll(/[ML](\S+) ([^ML]+)/g)].map(([, px, py]) => [Number(px), Number(py)])
        const alone = wanted.filter((_, i) => isAlone(series.data, series.data.indexOf(wanted[i])))
        if (alone.length === 0 && vertices.length !== wanted.length)
          t.fail(`${config.name} ${label} ${series.label}: ${vertices.length} of ${wanted.length}`)
        if (alone.length > 0) continue
        vertices.forEach(([px, py], i) => {
          for (const [axis, at, range, value] of [
            ['x', px, x, wanted[i].x],
            ['y', py, y, wanted[i].y ?? NaN]
          ] as const) {
            const length = axis === 'x' ? plot.width : plot.height
            const [low, high] = [valueAt($, letter, axis, at - ROUNDING), valueAt($, letter, axis, at + ROUNDING)].sort((a, b) => a - b)
            const slack = ((range.max - range.min) / length) * 1e-9
            compared++
            if (!(value >= low - slack && value <= high + slack))
              t.fail(`${config.name} ${label} ${series.label} ${i} ${axis}: ${value}, not from ${low} to ${high}`)
          }
        })
      }
    })
  }
  t.ok(compared > 1200, `${compared} coordinates`)
})

function isAlone(data: readonly { readonly y: number | null }[], i: number): boolean {
  return (data[i - 1]?.y ?? null) === null && (data[i + 1]?.y ?? null) === null
}

t.test('bars and markers are as many as the data', async t => {
  const bars = figures[1]
  bars.config.panels.forEach(({ label }, k) => {
    const drawn = bars.$(`g.series[data-panel="${label.slice(1, -1)}"]`)
    t.equal(drawn.length, seriesOf(bars.config, k).length)
  })
  const { $, config } = figures[0]
  for (const outcome of ['success', 'failure']) {
    const markers = $(`g.series[data-panel="a"][data-series="${outcome}"] path[stroke]`)
    t.equal(markers.length, seriesOf(config, 0).find(series => series.label === outcome)?.data.length)
  }
})

t.test('a band is in the group of its interval', async t => {
  const { $ } = figures[3]
  t.equal($('g.series[data-panel="a"][data-series="all trajectories, interval"] path[fill-opacity="0.2"]').length, 1)
})

t.test('it may stand inside a page beside another', async t => {
  for (const { config, svg, $ } of figures) {
    t.notMatch(svg, /<[^>]* (?:style|href|xlink:href)=|<(?:style|script|image|use)|="[^"]*\b(?:NaN|Infinity|undefined|null)\b/)
    const ids = [...svg.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    t.equal(new Set(ids).size, ids.length, 'ids are unique')
    t.ok(ids.length >= 2 && ids.every(id => id.startsWith(`figure-${config.name}-`)))
    for (const [, used] of svg.matchAll(/url\(#([^)]*)\)/g)) if (!ids.includes(used)) t.fail(`no ${used}`)
    t.match($('svg').attr('font-family') ?? $('svg > g').attr('font-family'), /^DejaVu Sans, .*sans-serif$/)
  }
})

t.test('a text stands where node-canvas draws it', async t => {
  // Where ink begins and ends in a picture, against what the attributes say.
  for (const [align, baseline] of [
    ['left', 'alphabetic'],
    ['center', 'middle'],
    ['right', 'middle']
  ] as const) {
    const drawing = svgDrawing({ idPrefix: 'a', width: 200, height: 100, paint: color => color })
    const picture = createCanvas(200, 100).getContext('2d')
    for (const context of [drawing.context, picture]) {
      context.font = 'bold 20px "DejaVu Sans"'
      context.textAlign = align
      context.textBaseline = baseline
      context.fillText('HH', 100, 50)
    }
    const [, x, y, anchor] = /x="(\S+)" y="(\S+)" font-size="20" font-weight="bold"(?: text-anchor="(\w+)")?/.exec(drawing.content()) ?? []
    const { data } = picture.getImageData(0, 0, 200, 100)
    const inked = Array.from({ length: 100 }, (_, row) => row).filter(row =>
      data.subarray(row * 800, row * 800 + 800).some((v, i) => i % 4 === 3 && v > 127)
    )
    t.ok(
      Math.abs(inked[inked.length - 1] + 1 - Number(y)) <= 1,
      `${baseline}: the letters stand on ${y}, drawn down to ${inked[inked.length - 1] + 1}`
    )
    t.same([x, anchor], ['100', align === 'left' ? undefined : align === 'center' ? 'middle' : 'end'])
  }
})

t.test('what cannot be written is a fault', async t => {
  const { context } = svgDrawing({ idPrefix: 'a', width: 10, height: 10, paint: color => color })
  t.throws(() => context.bezierCurveTo(0, 0, 1, 1, 2, 2), {
    message: 'figure cannot be written as SVG: bezierCurveTo, expected lines, arcs, rectangles and texts'
  })
  context.beginPath()
  context.moveTo(0, 0)
  context.lineTo(1, 1)
  t.throws(
    () => {
      context.clip()
    },
    { message: /a clip that is no upright rectangle/ }
  )
})
