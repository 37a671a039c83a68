/**
 * The `symlog` scale of Chart.js charts: `symlogMap` of its option `linearTo` along the axis. Its ticks are the
 * configuration's (`afterBuildTicks`), as those of all axes.
 */
import { LinearScale, type LinearScaleOptions } from 'chart.js'
import { symlogMap, type AxisMap } from '../figures/scales.js'

type SymlogOptions = LinearScaleOptions & { readonly linearTo: number }

export class SymlogScale extends LinearScale<SymlogOptions> {
  static override id = 'symlog'
  static override defaults = {}
  #map: AxisMap | null = null

  /** Position of the axis's start, and its length, both on the map. */
  #axis(): { readonly map: AxisMap; readonly start: number; readonly length: number } {
    const map = (this.#map ??= symlogMap(this.options.linearTo))
    const start = map.forward(this.min)
    return { map, start, length: map.forward(this.max) - start }
  }

  override getPixelForValue(value: number): number {
    const { map, start, length } = this.#axis()
    return this.getPixelForDecimal((map.forward(value) - start) / length)
  }

  override getValueForPixel(pixel: number): number {
    const { map, start, length } = this.#axis()
    return map.back(start + this.getDecimalForPixel(pixel) * length)
  }
}
