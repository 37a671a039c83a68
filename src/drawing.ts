/** The figures that a run has data for, in every format that was asked for. Loaded where figures are drawn. */
import type { FigureFormat } from './render/figures/config.js'
import type { FigureInputs } from './render/figures/definition.js'
import type { OutputSet } from './render/outputs/output-set.js'
import { buildFigures } from './render/figures/index.js'
import { renderFigure } from './render/canvas/index.js'
import { throwIfInterrupted } from './transaction.js'

export interface DrawOptions {
  readonly formats: readonly FigureFormat[]
  readonly signal?: AbortSignal | undefined
  /** called before the first file with their number; what it answers is called with the number of those written */
  readonly onFiles?: ((total: number) => (done: number) => void) | undefined
}

export async function drawFigures(set: OutputSet, inputs: FigureInputs, { formats, signal, onFiles }: DrawOptions): Promise<void> {
  const configs = buildFigures(inputs)
  const onDone = onFiles?.(configs.length * formats.length)
  let done = 0
  for (const config of configs) {
    for (const format of formats) {
      throwIfInterrupted(signal)
      await set.write(`figures/${config.name}.${format}`, await renderFigure(config, format))
      onDone?.(++done)
    }
  }
}
