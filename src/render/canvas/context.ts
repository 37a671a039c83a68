/**
 * The part of a canvas that one chart gets. Chart.js assumes that it owns its canvas: it sizes the canvas, clears it
 * and resets its transform. Here several charts share one page. Each gets a stand-in canvas that draws into the shared
 * context, which is already moved to the panel and clipped to it. Sizing and clearing of the stand-in do nothing.
 */
import type { CanvasRenderingContext2D } from 'canvas'
import type { Groups } from './svg-context.js'

/** A chart's groups, with the place of its box on the page. */
export interface ChartGroups {
  readonly groups: Groups
  readonly letter: string
  readonly x: number
  readonly y: number
}

/** The members of a canvas element that Chart.js reads outside a browser. */
export interface PanelCanvas {
  width: number
  height: number
  getContext(): CanvasRenderingContext2D
  /** where the drawing has groups */
  groups?: ChartGroups
}

const IGNORED: ReadonlySet<PropertyKey> = new Set(['clearRect', 'setTransform', 'resetTransform'])

function ignore(): void {
  // A chart may not clear or move the page.
}

/**
 * `measuring` measures text in place of the shared context. In the shared context widths depend slightly on the scale
 * of the format, so the same figure would have different layouts as PNG and PDF. The annotation plugin also keeps the
 * first width that it sees for the rest of the process.
 */
export function panelCanvas(
  context: CanvasRenderingContext2D,
  measuring: CanvasRenderingContext2D,
  width: number,
  height: number
): PanelCanvas {
  const methods = new Map<PropertyKey, unknown>([
    [
      'measureText',
      (text: string) => {
        if (measuring.font !== context.font) measuring.font = context.font
        return measuring.measureText(text)
      }
    ]
  ])
  const proxy = new Proxy(context, {
    get(target, key) {
      if (key === 'canvas') return canvas
      if (IGNORED.has(key)) return ignore
      const known = methods.get(key)
      if (known !== undefined) return known
      // The context is a native object: its getters and methods do not work on the proxy.
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      const bound: unknown = value.bind(target)
      methods.set(key, bound)
      return bound
    },
    set(target, key, value) {
      return Reflect.set(target, key, value, target)
    }
  })
  const canvas: PanelCanvas = { width, height, getContext: () => proxy }
  return canvas
}
