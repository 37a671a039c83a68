/**
 * The part of a canvas that one chart gets. Chart.js believes that it owns a canvas: it sizes it, clears it and resets
 * its transform. Several charts on one page each get a stand-in whose drawing goes to the shared context, already moved
 * to the panel and clipped to it, and whose sizing and clearing do nothing.
 */
import type { CanvasRenderingContext2D } from 'canvas'

/** What Chart.js reads of a canvas element outside a browser. */
export interface PanelCanvas {
  width: number
  height: number
  getContext(): CanvasRenderingContext2D
}

const IGNORED: ReadonlySet<PropertyKey> = new Set(['clearRect', 'setTransform', 'resetTransform'])

function ignore(): void {
  // the page is not the chart's to clear or to move
}

/**
 * Text is measured by `measuring`, not by the shared context: there widths depend a little on the format's scale, so the
 * same figure would be laid out differently as PNG and PDF; and the annotation plugin remembers the width that it saw
 * first for the rest of the process.
 */
export function panelCanvas(
  context: CanvasRenderingContext2D, measuring: CanvasRenderingContext2D, width: number, height: number
): PanelCanvas {
  const methods = new Map<PropertyKey, unknown>([['measureText', (text: string) => {
    if (measuring.font !== context.font) measuring.font = context.font
    return measuring.measureText(text)
  }]])
  const proxy = new Proxy(context, {
    get(target, key) {
      if (key === 'canvas') return canvas
      if (IGNORED.has(key)) return ignore
      const known = methods.get(key)
      if (known !== undefined) return known
      // The context is native: its getters and methods work on itself only, not on the proxy.
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
