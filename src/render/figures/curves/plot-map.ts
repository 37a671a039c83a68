/** Where the data of a panel lie in its plot. */
import type { Rectangle } from '../config.js'
import { axisMap, type AxisMap } from '../scales.js'
import type { Range, Ticks } from '../ticks.js'
import type { DrawnPanel } from './series.js'

/** A panel with its vertical axis. */
export interface PreparedPanel extends DrawnPanel {
  readonly y: Range
  readonly yTicks: Ticks
}

/** Maps data to points from the plot's upper left corner, and back. */
export class PlotMap {
  readonly #x: Range
  readonly #map: AxisMap
  readonly #low: number
  readonly #high: number
  readonly #plot: Rectangle

  constructor({ data, y }: PreparedPanel, x: Range, plot: Rectangle) {
    this.#x = x
    this.#map = axisMap(data.scale)
    this.#low = this.#map.forward(y.min)
    this.#high = this.#map.forward(y.max)
    this.#plot = plot
  }

  get height(): number {
    return this.#plot.height
  }

  x(value: number): number {
    return ((value - this.#x.min) / (this.#x.max - this.#x.min)) * this.#plot.width
  }

  y(value: number): number {
    return ((this.#high - this.#map.forward(value)) / (this.#high - this.#low)) * this.#plot.height
  }

  valueX(points: number): number {
    return this.#x.min + (points / this.#plot.width) * (this.#x.max - this.#x.min)
  }

  valueY(points: number): number {
    return this.#map.back(this.#high - (points / this.#plot.height) * (this.#high - this.#low))
  }
}
