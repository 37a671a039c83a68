/** Figures of every kind on both sheets, 170 mm and 88 mm, on a light and on a dark ground, and inside a page. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { load } from 'cheerio'
import t from 'tap'
import type { CurveFigureData } from '../src/compute/histories/contract.js'
import type { BarFigureData } from '../src/compute/evidence/contract.js'
import type { Diagnosis } from '../src/compute/diagnostics/contract.js'
import { renderFigure, renderInlineFigure, warmCanvas } from '../src/render/canvas/index.js'
import { FIGURE_FILES, formatOf, isColumn, isDark, type FigureConfig } from '../src/render/figures/config.js'
import { curveStyle } from '../src/render/figures/curves/style.js'
import { buildFigures } from '../src/render/figures/index.js'
import { INK } from '../src/render/figures/palette.js'
import { COLUMN_SHEET, PAGE_SHEET, type FigureSheet } from '../src/render/figures/sheet.js'
import { drawnWidth } from '../src/render/figures/text-width.js'
import { darkColor, figureColors, pageColor } from '../src/render/figures/theme.js'
import { isOutputName } from '../src/schema/outputs.js'
import { decode } from './support/compare-pictures.js'
import { FIXTURES, smallData } from './support/figure-config.js'

const read = async <T>(name: string): Promise<T> => JSON.parse(await readFile(join(FIXTURES, `${name}.data.json`), 'utf8')) as T
const inputs = {
  criticTraces: await smallData(),
  diagnosis: await read<Diagnosis>('diagnostics'),
  bars: [await read<BarFigureData>('bars')],
  curves: [await read<CurveFigureData>('curves')]
}
const on = (sheet: FigureSheet): FigureConfig[] => buildFigures(inputs, sheet)

await warmCanvas()

t.test('a page is 170 mm wide and a column 88, with texts of 8 points and more', async t => {
  for (const [sheet, mm, pixels] of [
    [PAGE_SHEET, 170, 2008],
    [COLUMN_SHEET, 88, 1039]
  ] as const) {
    for (const config of on(sheet)) {
      t.ok(Math.abs((config.width * 25.4) / 72 - mm) < 0.05, `${config.name}: ${(config.width * 25.4) / 72} mm`)
      const svg = (await renderFigure(config, 'svg')).toString('utf8')
      t.ok(Math.abs(Number(/ width="([\d.]+)mm"/.exec(svg)?.[1]) - mm) < 0.05)
      const sizes = [...svg.matchAll(/font-size="([^"]*)"/g)].map(([, size]) => Number(size))
      t.equal(Math.min(...sizes), 8)
      const png = await renderFigure(config, 'png')
      t.same([png.readUInt32BE(16), png.readUInt32BE(20)], [pixels, (config.height * 300) / 72])
    }
  }
})

t.test('in a column panels stand one below the other, and nothing leaves it', async t => {
  for (const [k, config] of on(COLUMN_SHEET).entries()) {
    const page = on(PAGE_SHEET)[k]
    t.same(
      config.panels.map(({ label, chart }) => [label, chart.data.datasets.length]),
      page.panels.map(({ label, chart }) => [label, chart.data.datasets.length]),
      `${config.name}: the same panels and series`
    )
    t.equal(config.description, page.description)
    const { panels } = config
    panels.forEach(({ box, plot, label, title }, i) => {
      t.ok(i === 0 || box.y > panels[i - 1].box.y + panels[i - 1].box.height, `${config.name} ${label}: below`)
      t.ok(box.x >= 0 && box.x + box.width <= config.width && box.y + box.height <= config.height && plot.x === panels[0].plot.x)
      t.ok(box.x + 18 + drawnWidth(title, 8.5) <= config.width, `${config.name} ${label}: heading`)
    })
    for (const { text, x, size, weight, align, y } of config.texts) {
      const width = drawnWidth(text, size) * (weight === 'bold' ? 1.16 : 1)
      t.ok(align === 'right' ? x >= width : x + width <= config.width && y <= config.height, `${config.name}: ${text}`)
    }
    for (const { label, labelX } of config.legend) t.ok(labelX + drawnWidth(label, 8) <= config.width, label)
    const top = Math.max(...config.texts.filter(({ y }) => y < panels[0].box.y).map(({ y }) => y))
    t.ok(
      config.legend.every(({ y }) => y > top && y < panels[0].box.y - 12),
      `${config.name}: the legend has its own place`
    )
  }
})

t.test('a long title is broken in a column, and cut on a page', async t => {
  const title =
    'A title that says at length what the curves of both recipes show over the whole of their training, and of that of others too, from the first step to the very last one'
  const [long] = buildFigures({ curves: [{ ...inputs.curves[0], title, synthetic: true }] }, COLUMN_SHEET)
  t.equal(long.texts.length, 4)
  t.equal(long.texts[2].text.endsWith('…'), true)
  t.same(
    long.texts.map(({ y }) => y),
    [12, 25, 38, 51]
  )
  t.equal(buildFigures({ curves: [{ ...inputs.curves[0], title }] })[0].texts[0].text.endsWith('…'), true)
})

/** Contrast by WCAG 2.2, from relative luminances. */
function contrast(a: string, b: string): number {
  const luminance = (color: string): number => {
    const [red, green, blue] = [1, 3, 5].map(at => {
      const share = Number.parseInt(color.slice(at, at + 2), 16) / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (high + 0.05) / (low + 0.05)
}

t.test('every colour has a dark one, and texts and lines are seen on either ground', async t => {
  t.ok(Math.abs(contrast('#ffffff', '#777777') - 4.48) < 0.01, 'the contrast that WCAG gives for #777777')
  const ground = darkColor('#ffffff')
  for (const config of on(PAGE_SHEET)) {
    const $ = load((await renderFigure(config, 'svg')).toString('utf8'), { xml: true })
    const used = new Set(
      $('[fill^="#"], [stroke^="#"]')
        .toArray()
        .flatMap(one => [$(one).attr('fill'), $(one).attr('stroke')])
    )
    used.delete(undefined)
    for (const color of used) t.not(darkColor(color ?? ''), color, `${config.name}: ${color} has a dark one`)
    for (const color of new Set(
      $('text')
        .toArray()
        .map(one => $(one).attr('fill') ?? '')
    )) {
      t.ok(contrast(color, '#ffffff') >= 4.5 && contrast(darkColor(color), ground) >= 4.5, `text of ${color}`)
    }
    for (const line of $('.series path[stroke]')
      .toArray()
      .map(one => $(one).attr('stroke') ?? '')) {
      const [light, dark] = [contrast(line, '#ffffff'), contrast(darkColor(line), ground)]
      if (light >= 3 && dark < 3) t.fail(`${line}: ${light} on white, ${dark} on dark`)
    }
  }
  t.equal(darkColor('#0072b233'), `${darkColor('#0072b2')}33`, 'opacity stays')
  t.equal(darkColor('transparent'), 'transparent')
})

t.test('names of curves are read on white, on the band of a linear part, and on both in the dark', t => {
  const grounds = ['#ffffff', INK.minorGrid]
  for (let slot = 0; slot < 8; slot++) {
    const { name } = curveStyle(slot)
    t.not(darkColor(name), name, `${name} has a dark one`)
    for (const ground of grounds) {
      t.ok(contrast(name, ground) >= 4.5, `${name} on ${ground}`)
      t.ok(contrast(darkColor(name), darkColor(ground)) >= 4.5, `dark ${name} on ${ground}`)
    }
  }
  t.end()
})

t.test('dark files have the dark ground and the same elements', async t => {
  const [config] = on(COLUMN_SHEET)
  const plain = (svg: Buffer): string => svg.toString('utf8').replace(/(fill|stroke)="[^"]*"/g, '$1')
  const [light, dark] = await Promise.all((['svg', 'dark.svg'] as const).map(file => renderFigure(config, file)))
  t.equal(plain(dark), plain(light))
  t.match(dark.toString('utf8'), `Z" fill="${darkColor('#ffffff')}"/>`)
  t.notMatch(dark.toString('utf8'), /"#ffffff"|"#1a1a1a"/)
  const { data, width, height } = await decode(await renderFigure(config, 'column.dark.png'))
  t.same([...data.slice((width * height - 1) * 4)], [0x15, 0x18, 0x1c, 255], 'the last pixel is ground')
  t.ok((await renderFigure(config, 'dark.pdf')).length > 1000)
})

t.test('inside a page: no size, colours that the page sets, ids of the figure', async t => {
  for (const config of on(PAGE_SHEET)) {
    const svg = await renderInlineFigure(config)
    t.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 481\.92 \d+" role="img"/)
    const file = (await renderFigure(config, 'svg')).toString('utf8')
    t.equal(
      svg
        .replace(/var\(--figure-[0-9a-f]{6}, (#[0-9a-f]{6})\)/g, '$1')
        .split('\n')
        .slice(1)
        .join('\n'),
      file.split('\n').slice(3).join('\n')
    )
    for (const [, variable] of svg.matchAll(/var\((--figure-[0-9a-f]{6}),/g)) {
      if (!figureColors().includes(`${variable}: #`)) t.fail(variable)
    }
    t.notMatch(svg, /(?:fill|stroke)="#/)
  }
  t.equal(pageColor('#123456'), '#123456')
})

t.test('names of files', async t => {
  t.equal(FIGURE_FILES.length, 12)
  for (const file of FIGURE_FILES) t.ok(isOutputName(`figures/08-critic-traces.${file}`), file)
  t.notOk(isOutputName('figures/a.dark.column.svg'))
  t.same(FIGURE_FILES.filter(isColumn).filter(isDark).map(formatOf), ['png', 'svg', 'pdf'])
})
