/**
 * Finds the `}` that ends a trace, and nothing else: inside a trace only quotes, backslashes and braces matter, and the
 * strict parser reads every byte again. For valid JSON the brace found is the right one; for broken JSON any brace will
 * do, because the parser finds the fault at or before it. It counts braces without a limit; the parser has one.
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

  /** Reads on in held[from …], the first time from a trace's `{`. Returns the index behind its `}`, or NOT_YET. */
  find(held: Uint8Array, from: number): number {
    const end = this.#kernel.skim(held, from, this.#mark)
    return end < 0 ? NOT_YET : end
  }
}
