/** `timings.json`: how long the phases of a run took. The only output that differs from run to run. */
import { envelope } from '../render/outputs/documents.js'
import { jsonText } from '../render/outputs/json-text.js'
import { TIMINGS_PATH, type Origin } from '../render/outputs/output-names.js'
import type { TimingsDocument } from '../schema/outputs/timings.js'
import { OutputSet } from '../render/outputs/output-set.js'

export class Stopwatch {
  readonly #now: () => number
  readonly #start: number
  readonly #phases: { readonly phase: string; readonly seconds: number }[] = []
  #last: number

  /** @param now milliseconds, increasing */
  constructor(now: () => number) {
    this.#now = now
    this.#start = this.#last = now()
  }

  /** Ends a phase: the time since the last one ended. */
  lap(phase: string): void {
    const now = this.#now()
    this.#phases.push({ phase, seconds: (now - this.#last) / 1000 })
    this.#last = now
  }

  async write(out: string, origin: Origin, about: { readonly unchanged: boolean; readonly threads: number }): Promise<void> {
    const seconds = (this.#now() - this.#start) / 1000
    const document: TimingsDocument = { ...envelope('timings', origin), ...about, phases: this.#phases, seconds }
    await OutputSet.writeAlone(out, TIMINGS_PATH, jsonText(document))
  }
}
