/**
 * How many steps a request covers. Where rows are dense it is 100. Where they are sparse it grows, so that an answer holds at
 * most about as many rows as one of 100 dense steps: a run of a million steps with a thousand rows takes some forty requests
 * in place of ten thousand.
 *
 * A wide request rests on the server's word that samples were enough. So wide ones are made only for a run whose rows the
 * server counts, and the count decides afterwards (`fetch-rows.ts`).
 */
import type { FetchedInterval } from '../ingest/certificate/fields.js'
import { SAMPLES_PER_REQUEST, STEPS_PER_REQUEST } from '../schema/fetch.js'

/** How much wider or narrower a request becomes at once. */
const FACTOR = 4

type StepSpan = Pick<FetchedInterval, 'from' | 'to'>

export function spanOf({ from, to }: StepSpan): number {
  return to - from + 1
}

export function isWide(window: StepSpan): boolean {
  return spanOf(window) > STEPS_PER_REQUEST
}

export class WindowWidths {
  readonly #mayWiden: boolean
  #width = STEPS_PER_REQUEST

  /** @param before intervals that an earlier fetch of the run got; wide ones go on */
  constructor(mayWiden: boolean, before: readonly FetchedInterval[] = []) {
    this.#mayWiden = mayWiden
    const last = before.at(-1)
    if (mayWiden && last !== undefined) this.#width = Math.max(STEPS_PER_REQUEST, spanOf(last))
  }

  /** Steps of the next request. */
  get next(): number {
    return this.#width
  }

  /** Takes note of an answer. Answers come in the order of their steps, so the same run is asked for in the same windows. */
  saw(window: StepSpan, rows: number): void {
    if (!this.#mayWiden) return
    const span = spanOf(window)
    if (rows * FACTOR <= STEPS_PER_REQUEST) this.#width = Math.max(STEPS_PER_REQUEST, span * FACTOR)
    else if (rows > STEPS_PER_REQUEST) this.#width = Math.max(STEPS_PER_REQUEST, Math.floor((span * STEPS_PER_REQUEST) / rows))
    else this.#width = Math.max(STEPS_PER_REQUEST, span)
  }
}

/** The windows to ask for in place of a wide one whose answer is at its limit of samples; null where the answer is kept. */
export function narrower(window: StepSpan, rows: number): readonly StepSpan[] | null {
  if (rows < SAMPLES_PER_REQUEST || !isWide(window)) return null
  const width = Math.max(STEPS_PER_REQUEST, Math.ceil(spanOf(window) / FACTOR))
  const parts: StepSpan[] = []
  for (let from = window.from; from <= window.to; from += width) parts.push({ from, to: Math.min(from + width - 1, window.to) })
  return parts
}
