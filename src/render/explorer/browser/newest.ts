/** Loads one thing at a time, and of what was asked for meanwhile only the newest. */
export class Newest<T> {
  #busy = false
  #next: { readonly load: () => Promise<T>; readonly done: (loaded: T) => void } | null = null
  readonly #failed: (reason: unknown) => void

  constructor(failed: (reason: unknown) => void) {
    this.#failed = failed
  }

  ask(load: () => Promise<T>, done: (loaded: T) => void): void {
    this.#next = { load, done }
    if (!this.#busy) void this.#run()
  }

  async #run(): Promise<void> {
    this.#busy = true
    for (let wish = this.#next; wish !== null; wish = this.#next) {
      this.#next = null
      try {
        const loaded = await wish.load()
        // What is loaded is shown even where a newer wish waits: a reader who does not stop still sees something.
        wish.done(loaded)
      } catch (reason) {
        this.#failed(reason)
      }
    }
    this.#busy = false
  }
}
