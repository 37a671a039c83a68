/**
 * A drawing context that writes SVG with text as text. cairo's own SVG has glyph outlines in place of texts, and no
 * groups. The state (styles, font, transform, its stack) is that of a node-canvas context of one pixel, whose rules
 * are then those of the other formats. Paths and texts are written with absolute coordinates in points.
 *
 * The calls are those that the figures and Chart.js use for them. Any other call that would draw is a fault: pictures,
 * patterns, curves other than arcs, skewed transforms, clips other than upright rectangles.
 */
import { createCanvas, type CanvasRenderingContext2D } from 'canvas'
import { Fault, printable } from '../../core/errors.js'

/** Attributes of an element, in their order. A value of null is left out. */
export type SvgAttributes = { readonly [name: string]: string | number | null }

/** Groups of elements, for those who read or change the file. Formats without groups have `NO_GROUPS`. */
export interface Groups {
  open(attributes: SvgAttributes): void
  /** Adds attributes to the innermost open group. */
  amend(attributes: SvgAttributes): void
  close(): void
}

export const NO_GROUPS: Groups = { open: () => undefined, amend: () => undefined, close: () => undefined }

export interface SvgDrawing {
  readonly context: CanvasRenderingContext2D
  readonly groups: Groups
  /** All elements and the clips that they name, without a root. */
  content(): string
}

export interface SvgOptions {
  /** what the ids begin with: two drawings in one page need different ones */
  readonly idPrefix: string
  readonly width: number
  readonly height: number
  /** the attribute's value for a colour `#rrggbb` */
  readonly paint: (color: string) => string
}

interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

const REFUSED = [
  ...['drawImage', 'putImageData', 'createPattern', 'createLinearGradient', 'createRadialGradient', 'bezierCurveTo', 'quadraticCurveTo'],
  ...['ellipse', 'arcTo', 'roundRect', 'strokeText', 'clearRect', 'transform', 'setTransform', 'resetTransform']
] as const
const BASELINES_ANCHORS: { readonly [align: string]: string | null } = {
  left: null,
  start: null,
  center: 'middle',
  right: 'end',
  end: 'end'
}

export function escapeSvg(text: string): string {
  return text.replace(/[&<>"]/g, c => (c === '&' ? '&amp;' : c === '<' ? '&lt;' : c === '>' ? '&gt;' : '&quot;'))
}

/** A number with at most three decimals: a thousandth of a point is less than a hundredth of a printer's dot. */
export function svgNumber(value: number): string {
  return String(Number(value.toFixed(3)))
}

function attributesText(attributes: SvgAttributes): string {
  return Object.entries(attributes)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => ` ${name}="${escapeSvg(String(value))}"`)
    .join('')
}

function refuse(what: string): never {
  throw new Fault({ format: 'figure', problem: 'cannot be written as SVG', found: what, expected: 'lines, arcs, rectangles and texts' })
}

/** Colour and opacity of a style as node-canvas gives it back: `#rrggbb` or `rgba(r, g, b, a)`. */
function colorOf(style: unknown): { readonly color: string; readonly opacity: number } {
  if (typeof style !== 'string') return refuse('a fill that is no colour')
  if (style.startsWith('#')) return { color: style, opacity: 1 }
  const parts = /^rgba\((\d+), (\d+), (\d+), ([\d.]+)\)$/.exec(style)
  if (parts === null) return refuse(printable(style))
  const hex = parts.slice(1, 4).map(part => Number(part).toString(16).padStart(2, '0'))
  return { color: `#${hex.join('')}`, opacity: Number(parts[4]) }
}

/** The path since `beginPath`, in the coordinates of the page. */
class Path {
  data = ''
  box: Box | null = null
  /** the whole path, where it is one upright rectangle */
  rectangle: Box | null = null

  add(command: string, x: number, y: number, around = 0): void {
    this.rectangle = null
    this.data += command
    const { left, top, right, bottom } = this.box ?? { left: x, top: y, right: x, bottom: y }
    this.box = {
      left: Math.min(left, x - around),
      top: Math.min(top, y - around),
      right: Math.max(right, x + around),
      bottom: Math.max(bottom, y + around)
    }
  }
}

function intersection(a: Box, b: Box): Box {
  const [left, top] = [Math.max(a.left, b.left), Math.max(a.top, b.top)]
  return { left, top, right: Math.max(left, Math.min(a.right, b.right)), bottom: Math.max(top, Math.min(a.bottom, b.bottom)) }
}

function isInside(inner: Box, outer: Box): boolean {
  return inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top && inner.bottom <= outer.bottom
}

class Output implements Groups {
  readonly #lines: string[] = []
  /** open groups: place of the opening tag, and its attributes */
  readonly #open: { readonly at: number; attributes: SvgAttributes }[] = []
  /** rectangle -> id of its clip */
  readonly #clips = new Map<string, string>()
  readonly #idPrefix: string

  constructor(idPrefix: string) {
    this.#idPrefix = idPrefix
  }

  open(attributes: SvgAttributes): void {
    this.#open.push({ at: this.#lines.length, attributes })
    this.#lines.push('')
  }

  amend(attributes: SvgAttributes): void {
    const last = this.#open.at(-1)
    if (last !== undefined) last.attributes = { ...last.attributes, ...attributes }
  }

  close(): void {
    const last = this.#open.pop()
    if (last === undefined) return
    // A group without elements is left out.
    if (last.at === this.#lines.length - 1) this.#lines.pop()
    else {
      this.#lines[last.at] = `<g${attributesText(last.attributes)}>`
      this.#lines.push('</g>')
    }
  }

  write(name: string, attributes: SvgAttributes, content?: string): void {
    const start = `<${name}${attributesText(attributes)}`
    this.#lines.push(content === undefined ? `${start}/>` : `${start}>${escapeSvg(content)}</${name}>`)
  }

  /** The attribute that clips to the rectangle. */
  clip({ left, top, right, bottom }: Box): string {
    const [width, height] = [right - left, bottom - top]
    const rectangle = attributesText({ x: svgNumber(left), y: svgNumber(top), width: svgNumber(width), height: svgNumber(height) })
    const id = this.#clips.get(rectangle) ?? `${this.#idPrefix}-clip-${this.#clips.size + 1}`
    this.#clips.set(rectangle, id)
    return `url(#${id})`
  }

  text(): string {
    while (this.#open.length > 0) this.close()
    const clips = [...this.#clips].map(([rectangle, id]) => `<clipPath id="${id}"><rect${rectangle}/></clipPath>`)
    return [...(clips.length === 0 ? [] : [`<defs>${clips.join('')}</defs>`]), ...this.#lines].join('\n')
  }
}

export function svgDrawing({ idPrefix, width, height, paint }: SvgOptions): SvgDrawing {
  const context = createCanvas(1, 1).getContext('2d')
  const native = Object.getPrototypeOf(context) as CanvasRenderingContext2D
  const output = new Output(idPrefix)
  const page: Box = { left: 0, top: 0, right: width, bottom: height }
  const clips: Box[] = [page]
  let path = new Path()

  const at = (x: number, y: number): readonly [number, number] => {
    const { a, b, c, d, e, f } = context.getTransform()
    return [a * x + c * y + e, b * x + d * y + f]
  }
  const point = (x: number, y: number): string => `${svgNumber(x)} ${svgNumber(y)}`
  const goTo = (command: 'M' | 'L', x: number, y: number): void => {
    const [px, py] = at(x, y)
    path.add(`${path.box === null ? 'M' : command}${point(px, py)}`, px, py)
  }
  const rectangle = (x: number, y: number, w: number, h: number): void => {
    const isFirst = path.box === null
    goTo('M', x, y)
    goTo('L', x + w, y)
    goTo('L', x + w, y + h)
    goTo('L', x, y + h)
    path.data += 'Z'
    const { b, c } = context.getTransform()
    if (isFirst && b === 0 && c === 0) path.rectangle = path.box
  }
  const arc = (x: number, y: number, radius: number, from: number, to: number, back = false): void => {
    const turn = 2 * Math.PI
    const sweep = back ? from - to : to - from
    const angle = (sweep >= turn ? turn : ((sweep % turn) + turn) % turn) * (back ? -1 : 1)
    const { a, b } = context.getTransform()
    const size = radius * Math.hypot(a, b)
    goTo('L', x + radius * Math.cos(from), y + radius * Math.sin(from))
    const [cx, cy] = at(x, y)
    // An arc of SVG is told by its end alone, so that a whole circle takes two.
    for (const share of Math.abs(angle) > Math.PI ? [0.5, 1] : [1]) {
      const end = from + angle * share
      const [px, py] = at(x + radius * Math.cos(end), y + radius * Math.sin(end))
      path.add(`A${svgNumber(size)} ${svgNumber(size)} 0 0 ${angle < 0 ? 0 : 1} ${point(px, py)}`, cx, cy, size)
    }
  }
  const clipFor = ({ left, top, right, bottom }: Box, around: number): string | null => {
    const clip = clips[clips.length - 1]
    const box = { left: left - around, top: top - around, right: right + around, bottom: bottom + around }
    return isInside(box, clip) ? null : output.clip(clip)
  }
  const fill = (drawn: Path, rule: string): void => {
    const { color, opacity } = colorOf(context.fillStyle)
    if (drawn.box === null || opacity === 0) return
    const attributes = { d: drawn.data, fill: paint(color), 'fill-opacity': opacity === 1 ? null : opacity }
    output.write('path', { ...attributes, 'fill-rule': rule === 'evenodd' ? rule : null, 'clip-path': clipFor(drawn.box, 0) })
  }
  const stroke = (drawn: Path): void => {
    const { color, opacity } = colorOf(context.strokeStyle)
    if (drawn.box === null || opacity === 0) return
    const { lineWidth, lineCap, lineJoin, lineDashOffset } = context
    const dash = context.getLineDash()
    output.write('path', {
      d: drawn.data,
      stroke: paint(color),
      'stroke-opacity': opacity === 1 ? null : opacity,
      'stroke-width': svgNumber(lineWidth),
      'stroke-dasharray': dash.length === 0 ? null : dash.map(svgNumber).join(' '),
      'stroke-dashoffset': dash.length === 0 || lineDashOffset === 0 ? null : svgNumber(lineDashOffset),
      'stroke-linecap': lineCap === 'butt' ? null : lineCap,
      'stroke-linejoin': lineJoin === 'miter' ? null : lineJoin,
      'clip-path': clipFor(drawn.box, lineWidth / 2)
    })
  }
  /** What node-canvas says for the alphabetic baseline itself: other than 0 where a font of another height has part of the text. */
  const alphabetic = (text: string): number => {
    const { textBaseline } = context
    context.textBaseline = 'alphabetic'
    const { alphabeticBaseline } = context.measureText(text)
    context.textBaseline = textBaseline
    return alphabeticBaseline
  }
  const fillText = (text: string, x: number, y: number, maxWidth = Infinity): void => {
    const { color, opacity } = colorOf(context.fillStyle)
    if (text === '' || opacity === 0) return
    const [, size] = /([\d.]+)px/.exec(context.font) ?? refuse(printable(context.font))
    const { width: measured, alphabeticBaseline: given } = context.measureText(text)
    const [px, py] = at(x, y + alphabetic(text) - given)
    const { a, b } = context.getTransform()
    const angle = (Math.atan2(b, a) * 180) / Math.PI
    const attributes = { x: svgNumber(px), y: svgNumber(py), 'font-size': svgNumber(Number(size)) }
    output.write(
      'text',
      {
        ...attributes,
        'font-weight': /\bbold\b/.test(context.font) ? 'bold' : null,
        'text-anchor': BASELINES_ANCHORS[context.textAlign] ?? null,
        transform: angle === 0 ? null : `rotate(${svgNumber(angle)} ${point(px, py)})`,
        fill: paint(color),
        'fill-opacity': opacity === 1 ? null : opacity,
        textLength: measured > maxWidth ? svgNumber(maxWidth) : null,
        lengthAdjust: measured > maxWidth ? 'spacingAndGlyphs' : null,
        'xml:space': /^ | $| {2}/.test(text) ? 'preserve' : null
      },
      text
    )
  }
  const withRectangle = (x: number, y: number, w: number, h: number, draw: (drawn: Path) => void): void => {
    const kept = path
    path = new Path()
    rectangle(x, y, w, h)
    draw(path)
    path = kept
  }
  Object.assign(context, {
    ...Object.fromEntries(REFUSED.map(name => [name, () => refuse(name)])),
    save() {
      native.save.call(context)
      clips.push(clips[clips.length - 1])
    },
    restore() {
      native.restore.call(context)
      if (clips.length > 1) clips.pop()
    },
    beginPath() {
      path = new Path()
    },
    moveTo(x: number, y: number) {
      goTo('M', x, y)
    },
    lineTo(x: number, y: number) {
      goTo('L', x, y)
    },
    closePath() {
      if (path.box !== null) path.data += 'Z'
    },
    rect: rectangle,
    arc,
    clip() {
      if (path.rectangle === null) refuse('a clip that is no upright rectangle')
      clips[clips.length - 1] = intersection(clips[clips.length - 1], path.rectangle)
    },
    fill(rule = 'nonzero') {
      fill(path, rule)
    },
    stroke() {
      stroke(path)
    },
    fillText,
    fillRect(x: number, y: number, w: number, h: number) {
      withRectangle(x, y, w, h, drawn => {
        fill(drawn, 'nonzero')
      })
    },
    strokeRect(x: number, y: number, w: number, h: number) {
      withRectangle(x, y, w, h, stroke)
    }
  })
  return { context, groups: output, content: () => output.text() }
}
