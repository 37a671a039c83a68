/** A number of places, given in the order of asking. */
export class Slots {
  readonly #signal: AbortSignal
  readonly #waiting: { readonly enter: () => void; readonly refuse: (reason: unknown) => void }[] = []
  #free: number

  /** When the signal aborts, everything that waits is refused with its reason, and so is what asks later. */
  constructor(places: number, signal: AbortSignal) {
    this.#free = places
    this.#signal = signal
    signal.addEventListener('abort', () => {
      for (const { refuse } of this.#waiting.splice(0)) refuse(signal.reason)
    }, { once: true })
  }

  /** Runs the work when a place is free. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#signal.throwIfAborted()
    if (this.#free > 0) this.#free--
    else await new Promise<void>((enter, refuse) => { this.#waiting.push({ enter, refuse }) })
    try {
      return await work()
    } finally {
      // A place goes from hand to hand: nobody who comes now gets in front of those who wait.
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next.enter()
    }
  }
}
