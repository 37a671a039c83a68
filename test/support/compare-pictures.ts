/**
 * Tolerant comparison of two pictures of one figure. Fonts are rasterised a little differently by every FreeType and
 * cairo (hinting moves strokes by part of a pixel); lines and markers are not. So pictures are halved (2 x 2 pixels
 * averaged) and compared in two ways: by the mean colour of small blocks everywhere, which hinting hardly changes, and
 * pixel by pixel inside the plots, but for the labels there.
 */
import type { FigureConfig, Plain, Rectangle } from '../../src/render/figures/config.js'
import { axisMap } from '../../src/render/figures/scales.js'
import { drawnWidth } from '../../src/render/figures/text-width.js'
import { createCanvas, loadImage, type Canvas } from 'canvas'

export interface Picture {
  readonly width: number
  readonly height: number
  /** RGBA */
  readonly data: Uint8ClampedArray
}

export async function decode(png: Buffer): Promise<Picture> {
  const image = await loadImage(png)
  const canvas = createCanvas(image.width, image.height)
  const context = canvas.getContext('2d')
  context.drawImage(image, 0, 0)
  const { width, height, data } = context.getImageData(0, 0, image.width, image.height)
  release(canvas)
  return { width, height, data }
}

function release(canvas: Canvas): void {
  canvas.width = 0
  canvas.height = 0
}

export function halve({ width, height, data }: Picture): Picture {
  const [w, h] = [width >> 1, height >> 1]
  const out = new Uint8ClampedArray(w * h * 4)
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      const at = (2 * y * width + 2 * x) * 4
      for (let c = 0; c < 4; c++) {
        out[(y * w + x) * 4 + c] = (data[at + c] + data[at + 4 + c] + data[at + width * 4 + c] + data[at + width * 4 + 4 + c]) / 4
      }
    }
  }
  return { width: w, height: h, data: out }
}

export function encode({ width, height, data }: Picture): Buffer {
  const canvas = createCanvas(width, height)
  const context = canvas.getContext('2d', { pixelFormat: 'RGB24' })
  const pixels = context.createImageData(width, height)
  pixels.data.set(data)
  context.putImageData(pixels, 0, 0)
  const png = canvas.toBuffer('image/png', { compressionLevel: 9 })
  release(canvas)
  return png
}

export interface Difference {
  /** largest difference, in any block and channel, of the mean colour; 0 to 255 */
  readonly block: number
  /** pixels inside the plots, labels left out, that have no like pixel in the other picture, there or beside it */
  readonly missing: number
}

/** Side of a block, in pixels of the halved picture. */
const BLOCK = 15
/** Two pixels are alike when no channel differs by more. */
const ALIKE = 40
/** Pixels of a halved 300 dpi picture per point. */
const SCALE = 150 / 72

function largestBlockDifference(a: Picture, b: Picture): number {
  const across = Math.ceil(a.width / BLOCK)
  const sums = new Float64Array(across * Math.ceil(a.height / BLOCK) * 3)
  for (let y = 0; y < a.height; y++) {
    for (let x = 0; x < a.width; x++) {
      const at = (y * a.width + x) * 4
      const block = (Math.floor(y / BLOCK) * across + Math.floor(x / BLOCK)) * 3
      for (let c = 0; c < 3; c++) sums[block + c] += a.data[at + c] - b.data[at + c]
    }
  }
  return sums.reduce((most, sum) => Math.max(most, Math.abs(sum)), 0) / (BLOCK * BLOCK)
}

function alike(a: Picture, at: number, b: Picture, bt: number): boolean {
  return (
    Math.abs(a.data[at] - b.data[bt]) <= ALIKE &&
    Math.abs(a.data[at + 1] - b.data[bt + 1]) <= ALIKE &&
    Math.abs(a.data[at + 2] - b.data[bt + 2]) <= ALIKE
  )
}

/** A pixel may have moved by one. */
function hasLike(a: Picture, b: Picture, x: number, y: number): boolean {
  for (let v = Math.max(0, y - 1); v <= Math.min(a.height - 1, y + 1); v++) {
    for (let u = Math.max(0, x - 1); u <= Math.min(a.width - 1, x + 1); u++) {
      if (alike(a, (y * a.width + x) * 4, b, (v * a.width + u) * 4)) return true
    }
  }
  return false
}

interface LabelAnnotation {
  readonly type: Plain
  readonly content?: string | readonly string[]
  readonly xValue?: number
  readonly yValue?: number
  readonly xAdjust?: number
  readonly yAdjust?: number
  /** in degrees: 0 or a quarter turn */
  readonly rotation?: number
}

interface AxisOptions {
  readonly type: string
  readonly min: number
  readonly max: number
  readonly linearTo?: number
}

/** Share of the axis below a value. */
export function shareOfAxis(value: number, { type, min, max, linearTo = 1 }: AxisOptions): number {
  const { forward } = axisMap(type === 'symlog' ? { kind: type, linear_to: linearTo } : { kind: type === 'logarithmic' ? 'log' : 'linear' })
  return (forward(value) - forward(min)) / (forward(max) - forward(min))
}

/** Where a figure's plots have text, in points. */
export function labelRectangles(figure: FigureConfig): Rectangle[] {
  return figure.panels.flatMap(({ plot, chart }) => {
    const {
      scales: { x, y },
      plugins
    } = chart.options as unknown as {
      scales: { x: AxisOptions; y: AxisOptions }
      plugins: { annotation: { annotations: { [name: string]: LabelAnnotation } } }
    }
    return Object.values(plugins.annotation.annotations).flatMap(({ content, xValue, yValue, xAdjust = 0, yAdjust = 0, rotation = 0 }) => {
      if (content === undefined || xValue === undefined || yValue === undefined) return []
      const lines = typeof content === 'string' ? [content] : content
      const size = [Math.max(...lines.map(line => drawnWidth(line, 8))) + 4, lines.length * 9.6 + 4] as const
      const [width, height] = rotation === 0 ? size : [size[1], size[0]]
      const centerX = plot.x + shareOfAxis(xValue, x) * plot.width + xAdjust
      const centerY = plot.y + (1 - shareOfAxis(yValue, y)) * plot.height + yAdjust
      return [{ x: centerX - width / 2, y: centerY - height / 2, width, height }]
    })
  })
}

function contains({ x, y, width, height }: Rectangle, px: number, py: number): boolean {
  return px >= x && px <= x + width && py >= y && py <= y + height
}

/** @param figure the figure that both should show; halved 300 dpi pictures of it */
export function compare(a: Picture, b: Picture, figure: FigureConfig): Difference {
  if (a.width !== b.width || a.height !== b.height) return { block: 255, missing: Infinity }
  const labels = labelRectangles(figure)
  let missing = 0
  for (let y = 0; y < a.height; y++) {
    for (let x = 0; x < a.width; x++) {
      const at = (y * a.width + x) * 4
      if (alike(a, at, b, at) || (hasLike(a, b, x, y) && hasLike(b, a, x, y))) continue
      const [px, py] = [(x + 0.5) / SCALE, (y + 0.5) / SCALE]
      if (figure.panels.some(panel => contains(panel.plot, px, py)) && !labels.some(label => contains(label, px, py))) missing++
    }
  }
  return { block: largestBlockDifference(a, b), missing }
}
