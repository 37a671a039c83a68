/**
 * The `symlog` scale of Chart.js charts. It places values by `symlogMap` of its option `linearTo`. Its ticks come from
 * the configuration (`afterBuildTicks`), as on all axes.
 */
import { LinearScale, type LinearScaleOptions } from 'chart.js'
import { symlogMap, type AxisMap } from '../figures/scales.js'

type SymlogOptions = LinearScaleOptions & { readonly linearTo: number }

export class SymlogScale extends LinearScale<SymlogOptions> {
  static override id = 'symlog'
  static override defaults = {}
  #map: AxisMap | null = null

  /** Position of the axis's start and length of the axis, both after the mapping. */
  #axis(): { readonly map: AxisMap; readonly start: number; readonly length: number } {
    this.#map ??= symlogMap(this.options.linearTo)
    const map = this.#map
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
