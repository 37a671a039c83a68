/** Small curves of the table: smallest and largest value of each bucket of a trace, as one canvas a row. */
import { SPARK_BUCKETS } from '../contract.js'

const BAR = 2
export const SPARK_WIDTH = BAR * SPARK_BUCKETS
export const SPARK_HEIGHT = 20

/** Bytes of all traces: uint8 [traces, SPARK_BUCKETS, 2]. */
export function decodeSparks(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), character => character.charCodeAt(0))
}

/** Draws the curve of one trace: a bar from the smallest to the largest value of each bucket. */
export function drawSpark(canvas: HTMLCanvasElement, sparks: Uint8Array, trace: number, colour: string): void {
  const density = Math.min(3, Math.max(1, devicePixelRatio))
  canvas.width = SPARK_WIDTH * density
  canvas.height = SPARK_HEIGHT * density
  const context = canvas.getContext('2d')
  if (context === null) return
  context.scale(density, density)
  context.fillStyle = colour
  const y = (byte: number): number => (1 - byte / 255) * (SPARK_HEIGHT - 2)
  for (let k = 0; k < SPARK_BUCKETS; k++) {
    const at = (trace * SPARK_BUCKETS + k) * 2
    const [top, bottom] = [y(sparks[at + 1]), y(sparks[at])]
    context.fillRect(k * BAR, top, BAR, bottom - top + 1.5)
  }
}
