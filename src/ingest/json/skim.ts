/**
 * Finds the `}` that ends a trace. Inside a trace only quotes, backslashes and braces matter for that, and the strict
 * parser reads every byte again. In valid JSON the brace found is the right one. In broken JSON any brace is good enough,
 * because the parser finds the fault at or before it. Braces are counted without a limit; the parser has one.
 */

import type { Kernel, SkimMark } from '../../kernel/kernel.js'

/** The chunk ends inside the trace. */
export const NOT_YET = 0

export class TraceSkim {
  readonly #kernel: Kernel
  readonly #mark: SkimMark = { depth: 0, state: 0 }

  constructor(kernel: Kernel) {
    this.#kernel = kernel
  }

  /** Reads on in held[from …]; the first call starts at a trace's `{`. Returns the index behind its `}`, or NOT_YET. */
  find(held: Uint8Array, from: number): number {
    const end = this.#kernel.skim(held, from, this.#mark)
    return end < 0 ? NOT_YET : end
  }
}
