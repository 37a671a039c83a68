/** The figures that a run has data for, in every format that was asked for. Loaded where figures are drawn. */
import type { FigureFormat } from './render/figures/config.js'
import type { FigureInputs } from './render/figures/definition.js'
import type { OutputSet } from './render/outputs/output-set.js'
import { FIGURES } from './render/figures/index.js'
import { renderFigure } from './render/canvas/index.js'
import { throwIfInterrupted } from './transaction.js'

export async function drawFigures(
  set: OutputSet, inputs: FigureInputs, formats: readonly FigureFormat[], signal: AbortSignal | undefined
): Promise<void> {
  for (const figure of FIGURES) {
    const config = figure.build(inputs)
    if (config === null) continue
    for (const format of formats) {
      throwIfInterrupted(signal)
      await set.write(`figures/${figure.name}.${format}`, await renderFigure(config, format))
    }
  }
}
