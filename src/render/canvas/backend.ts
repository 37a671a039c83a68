/**
 * Draws a figure with node-canvas (cairo) and Chart.js. Only `index.ts` imports this module, and lazily: the native
 * library and Chart.js take about 60 ms to load.
 *
 * The fonts are the two files of the npm package dejavu-fonts-ttf that `registerFonts` registers, and for a character that
 * they lack the one that `figures/fonts.ts` finds. Where it finds none, a box is drawn.
 */
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { Canvas, createCanvas, registerFont, type CanvasRenderingContext2D } from 'canvas'
import {
  BarController,
  BarElement,
  BasicPlatform,
  Chart,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
  ScatterController,
  type ChartConfiguration,
  type PointStyle
} from 'chart.js'
import { drawPoint } from 'chart.js/helpers'
import annotationPlugin from 'chartjs-plugin-annotation'
import { EXIT, Fault, printable } from '../../core/errors.js'
import {
  FIGURE_FILES,
  formatOf,
  isDark,
  type FigureConfig,
  type FigureFile,
  type FigureText,
  type LegendKey,
  type PanelConfig,
  type PointMark
} from '../figures/config.js'
import { DEJAVU, dejavuFolder, FONTS } from '../figures/fonts.js'
import { resolveFunctions } from '../figures/functions.js'
import { hatchLines } from '../figures/hatch.js'
import { INK } from '../figures/palette.js'
import { FONT_FAMILY, HEADING, TEXT_SIZE } from '../figures/style.js'
import { darkColor, pageColor } from '../figures/theme.js'
import { GENERATOR } from '../../core/version.js'
import { panelCanvas } from './context.js'
import { groupsPlugin, panelLetter } from './groups.js'
import { finishPng } from './png.js'
import { NO_GROUPS, svgDrawing, type Groups } from './svg-context.js'
import { figureId, finishSvg } from './svg.js'
import { SymlogScale } from './symlog.js'

/** Pixels per inch of a PNG. */
const RESOLUTION = 300
const POINTS_PER_INCH = 72
/** Chart.js rounds grid lines to device pixels of width 1 / ratio. A high ratio keeps the lines where the data are. */
const ROUNDING_RATIO = 64
/**
 * Settings for flat areas and thin lines. Without PNG's row filters a file is a fifth smaller than with all of them
 * (the default), and is made in a third of the time. Level 4 gives a size within 4 % of level 6.
 */
const PNG = { compressionLevel: 4, filters: Canvas.PNG_FILTER_NONE } as const
/** Distance from a text's baseline to the middle of its digits, as a share of the text size. */
const DIGIT_MIDDLE = 0.36
/** The program's name in the files of every format. `outputs/own-mark.ts` looks for it. */
const DRAWN_BY = `${GENERATOR.name} ${GENERATOR.version}`
/** Date in the PDF's metadata. It is constant, because the current date would change the bytes every second. */
const CREATION_DATE = new Date(0)

/**
 * Registers the fonts, in the main thread only. node-canvas keeps one list of fonts for all threads, without a lock. A
 * worker draws with the fonts that the main thread registered.
 *
 * Fontconfig reads its configuration when the first font is registered. Here it gets a file of the font package that
 * names no folder. The picture then depends on no font of the machine, nothing is scanned, and a machine without
 * /etc/fonts prints no warning. The caller's environment is restored afterwards.
 */
function registerFonts(): void {
  const fonts = dejavuFolder()
  const before = process.env['FONTCONFIG_FILE']
  process.env['FONTCONFIG_FILE'] = join(fonts, 'fontconfig', '57-dejavu-sans.conf')
  try {
    registerFont(join(fonts, 'ttf', 'DejaVuSans.ttf'), { family: FONT_FAMILY })
    registerFont(join(fonts, 'ttf', 'DejaVuSans-Bold.ttf'), { family: FONT_FAMILY, weight: 'bold' })
  } finally {
    if (before === undefined) delete process.env['FONTCONFIG_FILE']
    else process.env['FONTCONFIG_FILE'] = before
  }
}

if (isMainThread) registerFonts()

const provided = new Set<string>()

/** Registers the fonts of all characters of the figures. In the main thread, while no thread draws. */
export function provideFonts(figures: readonly FigureConfig[]): void {
  for (const { texts, legend, panels } of figures) {
    for (const character of new Set(JSON.stringify([texts, legend, panels]).match(/[^\0-\x7f]/gu))) {
      const font = FONTS.of(character.codePointAt(0) ?? 0)
      if (font === null || font.path === DEJAVU || provided.has(font.path)) continue
      provided.add(font.path)
      registerFont(font.path, { family: `figure font ${provided.size}` })
    }
  }
}

// The build of the plugin that `require` loads registers itself: it would draw before the groups know of it.
Chart.unregister(annotationPlugin)
Chart.register(
  BarController,
  BarElement,
  LineController,
  ScatterController,
  LineElement,
  PointElement,
  LinearScale,
  LogarithmicScale,
  SymlogScale,
  groupsPlugin,
  Filler,
  annotationPlugin
)

/** Chart.js uses drawing commands that node-canvas and browsers share. The two types differ in name only. */
function asDom(context: CanvasRenderingContext2D): globalThis.CanvasRenderingContext2D {
  return context as unknown as globalThis.CanvasRenderingContext2D
}

function drawText(context: CanvasRenderingContext2D, text: FigureText, family: string): void {
  context.font = `${text.weight} ${text.size}px "${family}"`
  context.fillStyle = text.color
  context.textAlign = text.align
  context.textBaseline = 'alphabetic'
  context.fillText(text.text, text.x, text.y)
}

function drawMark(context: CanvasRenderingContext2D, mark: PointMark, x: number, y: number): void {
  context.fillStyle = mark.fill
  context.strokeStyle = mark.stroke
  const { pointStyle, rotation, radius, strokeWidth } = mark
  drawPoint(asDom(context), { pointStyle: pointStyle as PointStyle, rotation, radius, borderWidth: strokeWidth }, x, y)
}

function drawBar(context: CanvasRenderingContext2D, bar: Extract<LegendKey, { kind: 'bar' }>): void {
  const { x, y, width, height, fill, stroke, strokeWidth, hatch } = bar
  const top = y - height / 2
  context.fillStyle = fill
  context.fillRect(x, top, width, height)
  context.lineWidth = strokeWidth
  if (hatch !== null) {
    context.strokeStyle = hatch
    for (const [from, to] of hatchLines(width, height)) {
      context.beginPath()
      context.moveTo(x + from.x, top + from.y)
      context.lineTo(x + to.x, top + to.y)
      context.stroke()
    }
  }
  context.strokeStyle = stroke
  context.strokeRect(x + strokeWidth / 2, top + strokeWidth / 2, width - strokeWidth, height - strokeWidth)
}

function drawKey(context: CanvasRenderingContext2D, key: LegendKey, family: string): void {
  context.save()
  if (key.kind === 'point') drawMark(context, key, key.x, key.y)
  else if (key.kind === 'bar') drawBar(context, key)
  else {
    const gap = key.width + 1.2
    key.colors.forEach((color, k) => {
      const y = key.y + (k - (key.colors.length - 1) / 2) * gap
      context.beginPath()
      context.strokeStyle = color
      context.lineWidth = key.width
      context.setLineDash([...key.dash])
      context.moveTo(key.x, y)
      context.lineTo(key.x + key.length, y)
      context.stroke()
    })
    context.setLineDash([])
    if (key.mark !== undefined) drawMark(context, key.mark, key.x + key.length / 2, key.y)
  }
  context.restore()
  const label = { text: key.label, x: key.labelX, y: key.y + TEXT_SIZE * DIGIT_MIDDLE, size: TEXT_SIZE, color: INK.text }
  drawText(context, { ...label, align: 'left', weight: 'normal' }, family)
}

function drawHeading(context: CanvasRenderingContext2D, { label, title, box }: PanelConfig, family: string): void {
  const heading = { y: box.y - HEADING.above, size: HEADING.size, color: INK.text, align: 'left' } as const
  drawText(context, { ...heading, text: label, x: box.x, weight: 'bold' }, family)
  drawText(context, { ...heading, text: title, x: box.x + HEADING.indent, weight: 'normal' }, family)
}

interface Drawing {
  readonly context: CanvasRenderingContext2D
  readonly groups: Groups
}

function drawChart({ context, groups }: Drawing, measuring: CanvasRenderingContext2D, panel: PanelConfig): void {
  const { box, chart } = panel
  context.save()
  context.translate(box.x, box.y)
  context.beginPath()
  context.rect(0, 0, box.width, box.height)
  context.clip()
  const canvas = panelCanvas(context, measuring, box.width, box.height)
  canvas.groups = { groups, letter: panelLetter(panel), x: box.x, y: box.y }
  // A plain chart whose functions are resolved is a Chart.js configuration. The compiler does not check that.
  const config = resolveFunctions({ ...chart }) as unknown as ChartConfiguration
  const drawn = new Chart(canvas as unknown as HTMLCanvasElement, {
    ...config,
    platform: BasicPlatform,
    options: { ...config.options, devicePixelRatio: ROUNDING_RATIO }
  })
  drawn.destroy()
  context.restore()
}

function drawFigure(drawing: Drawing, figure: FigureConfig): void {
  const { context, groups } = drawing
  context.fillStyle = '#ffffff'
  context.fillRect(0, 0, figure.width, figure.height)
  groups.open({ class: 'head' })
  for (const text of figure.texts) drawText(context, text, figure.fontFamily)
  groups.close()
  groups.open({ class: 'legend' })
  for (const key of figure.legend) drawKey(context, key, figure.fontFamily)
  groups.close()
  const measuring = createCanvas(1, 1).getContext('2d')
  for (const panel of figure.panels) {
    groups.open({ class: 'panel', 'data-panel': panelLetter(panel) })
    drawHeading(context, panel, figure.fontFamily)
    drawChart(drawing, measuring, panel)
    groups.close()
  }
}

type Paint = (color: string) => string

function drawSvg(figure: FigureConfig, paint: Paint): string {
  const { width, height } = figure
  const drawing = svgDrawing({ idPrefix: figureId(figure), width, height, paint })
  drawFigure(drawing, figure)
  return drawing.content()
}

/** SVG that stands in a page: without a size, its colours variables of `figureColors`. */
export function renderInline(figure: FigureConfig): string {
  return finishSvg(drawSvg(figure, pageColor), figure, null)
}

/** Sets each colour as `paint` changes it. */
function painted(context: CanvasRenderingContext2D, paint: Paint): void {
  for (const name of ['fillStyle', 'strokeStyle'] as const) {
    const native = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(context) as object, name)
    Object.defineProperty(context, name, {
      get: () => native?.get?.call(context) as unknown,
      set: (color: unknown) => native?.set?.call(context, typeof color === 'string' ? paint(color) : color)
    })
  }
}

function renderWithCairo(figure: FigureConfig, format: 'png' | 'pdf', paint: Paint): Buffer {
  const scale = format === 'png' ? RESOLUTION / POINTS_PER_INCH : 1
  const [width, height] = [Math.round(figure.width * scale), Math.round(figure.height * scale)]
  const canvas = createCanvas(width, height, format === 'png' ? undefined : format)
  try {
    // The page is opaque, so there is no alpha channel to keep or encode.
    const context = canvas.getContext('2d', { pixelFormat: 'RGB24' })
    // With glyphs the text of a PDF is text. In a picture cairo would move glyphs to whole pixels, so outlines are drawn
    // there.
    context.textDrawingMode = format === 'png' ? 'path' : 'glyph'
    context.scale(scale, scale)
    painted(context, paint)
    drawFigure({ context, groups: NO_GROUPS }, figure)
    if (format === 'png') return finishPng(canvas.toBuffer('image/png', { resolution: RESOLUTION, ...PNG }), figure, DRAWN_BY)
    const { title, description: subject } = figure
    return canvas.toBuffer('application/pdf', { title, subject, creator: DRAWN_BY, creationDate: CREATION_DATE })
  } finally {
    // Frees the surface, which would otherwise be kept until the process ends.
    canvas.width = 0
    canvas.height = 0
  }
}

/** @throws Fault (exit 2) for an unknown format, which callers in JavaScript can pass */
export function render(figure: FigureConfig, file: FigureFile): Buffer {
  if (!FIGURE_FILES.includes(file)) {
    throw new Fault({
      format: 'figure',
      problem: 'unknown format',
      found: printable(String(file)),
      expected: FIGURE_FILES.join(', '),
      exitCode: EXIT.usage
    })
  }
  const paint: Paint = isDark(file) ? darkColor : color => color
  const format = formatOf(file)
  if (format !== 'svg') return renderWithCairo(figure, format, paint)
  return Buffer.from(finishSvg(drawSvg(figure, paint), figure, DRAWN_BY))
}
