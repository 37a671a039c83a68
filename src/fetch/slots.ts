/** A limited number of slots, given out in the order of requests. */
export class Slots {
  readonly #signal: AbortSignal
  readonly #waiting: { readonly enter: () => void; readonly refuse: (reason: unknown) => void }[] = []
  #free: number

  /** After the signal aborts, waiting and later requests are rejected with its reason. */
  constructor(places: number, signal: AbortSignal) {
    this.#free = places
    this.#signal = signal
    signal.addEventListener(
      'abort',
      () => {
        for (const { refuse } of this.#waiting.splice(0)) refuse(signal.reason)
      },
      { once: true }
    )
  }

  /** Runs the work once a slot is free. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#signal.throwIfAborted()
    if (this.#free > 0) this.#free--
    else
      await new Promise<void>((enter, refuse) => {
        this.#waiting.push({ enter, refuse })
      })
    try {
      return await work()
    } finally {
      // The slot passes to the next in the queue, so that no new request overtakes it.
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next.enter()
    }
  }
}
