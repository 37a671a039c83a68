/**
 * Records where a plot has ink, in cells of one point, so that labels can be placed where there is none. Lengths are
 * points from the plot's upper left corner. Counting the cells under a rectangle takes the same time for any number of
 * lines.
 */
import type { Rectangle } from './config.js'

export class Ink {
  readonly width: number
  readonly height: number
  readonly #cells: Uint8Array
  /** #sums[r * (width + 1) + c]: number of inked cells in the first r rows and c columns; null after a change */
  #sums: Int32Array | null = null

  constructor(width: number, height: number) {
    this.width = Math.max(1, Math.ceil(width))
    this.height = Math.max(1, Math.ceil(height))
    this.#cells = new Uint8Array(this.width * this.height)
  }

  /** Inks every cell of the plot that the straight line passes. */
  addLine(x1: number, y1: number, x2: number, y2: number): void {
    if (x1 > x2) [x1, y1, x2, y2] = [x2, y2, x1, y1]
    const last = Math.min(this.width - 1, Math.floor(x2))
    for (let column = Math.max(0, Math.floor(x1)); column <= last; column++) {
      // Shares of the line at which it enters and leaves this column.
      const from = x2 === x1 ? 0 : Math.max(0, (column - x1) / (x2 - x1))
      const to = x2 === x1 ? 1 : Math.min(1, (column + 1 - x1) / (x2 - x1))
      const [ya, yb] = [y1 + from * (y2 - y1), y1 + to * (y2 - y1)]
      this.#fill(column, column, Math.min(ya, yb), Math.max(ya, yb))
    }
  }

  addBox({ x, y, width, height }: Rectangle): void {
    this.#fill(Math.floor(x), Math.floor(x + width), y, y + height)
  }

  #fill(left: number, right: number, top: number, bottom: number): void {
    this.#sums = null
    const [c1, c2] = [Math.max(0, left), Math.min(this.width - 1, right)]
    const [r1, r2] = [Math.max(0, Math.floor(top)), Math.min(this.height - 1, Math.floor(bottom))]
    for (let r = r1; r <= r2; r++) {
      for (let c = c1; c <= c2; c++) this.#cells[r * this.width + c] = 1
    }
  }

  #table(): Int32Array {
    if (this.#sums !== null) return this.#sums
    const { width, height } = this
    const sums = new Int32Array((width + 1) * (height + 1))
    for (let r = 0; r < height; r++) {
      let row = 0
      for (let c = 0; c < width; c++) {
        row += this.#cells[r * width + c]
        sums[(r + 1) * (width + 1) + c + 1] = sums[r * (width + 1) + c + 1] + row
      }
    }
    this.#sums = sums
    return sums
  }

  /** Number of inked cells that the rectangle touches. */
  covered({ x, y, width, height }: Rectangle): number {
    const sums = this.#table()
    const clamp = (value: number, most: number): number => Math.max(0, Math.min(most, value))
    const [c1, c2] = [clamp(Math.floor(x), this.width), clamp(Math.floor(x + width) + 1, this.width)]
    const [r1, r2] = [clamp(Math.floor(y), this.height), clamp(Math.floor(y + height) + 1, this.height)]
    const at = (r: number, c: number): number => sums[r * (this.width + 1) + c]
    return Math.max(0, at(r2, c2) - at(r1, c2) - at(r2, c1) + at(r1, c1))
  }
}
