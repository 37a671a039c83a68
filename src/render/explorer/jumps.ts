/** The largest jumps of all traces of a snapshot, in memory that does not grow with their number. */
import { MAX_JUMPS, type ExplorerJumps } from './contract.js'

interface ListedJump {
  readonly trace: number
  readonly at: number
  readonly change: number
  readonly turn: number
  readonly boundary: boolean
}

export class LargestJumps {
  #found: ListedJump[] = []
  /** |change| that a further jump must exceed: later jumps stand behind earlier ones of the same size */
  #above: number

  /** @param threshold |change| above which a change is a jump */
  constructor(threshold: number) {
    this.#above = threshold
  }

  /** |change| that is worth offering must be larger. */
  get above(): number {
    return this.#above
  }

  /** Takes a jump whose |change| is above. Calls come in order of traces, and of tokens. */
  take(jump: ListedJump): void {
    this.#found.push(jump)
    if (this.#found.length === 2 * MAX_JUMPS) this.#cut()
  }

  list(): ExplorerJumps {
    this.#cut()
    const found = this.#found
    return {
      trace: found.map(({ trace }) => trace),
      at: found.map(({ at }) => at),
      change: found.map(({ change }) => change),
      turn: found.map(({ turn }) => turn),
      boundary: found.map(({ boundary }) => boundary)
    }
  }

  #cut(): void {
    // The sort is stable: of equal ones the earlier stays in front.
    this.#found.sort((a, b) => Math.abs(b.change) - Math.abs(a.change))
    if (this.#found.length < MAX_JUMPS) return
    this.#found.length = MAX_JUMPS
    this.#above = Math.abs(this.#found[MAX_JUMPS - 1].change)
  }
}
