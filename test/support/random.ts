/**
 * Seeded random numbers for tests (sfc32): the same seed gives the same sequence on every machine.
 */

export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1
  readonly #bits = new DataView(new ArrayBuffer(8))

  constructor(seed: number) {
    this.#a = seed | 0
    this.#b = Math.imul(seed, 0x9e3779b9)
    this.#c = ~seed
    for (let k = 0; k < 12; k++) this.uint32()
  }

  /** 0 to 2^32 - 1. */
  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  /** 0 (included) to 1 (excluded), 53 random bits. */
  unit(): number {
    return ((this.uint32() >>> 5) * 2 ** 26 + (this.uint32() >>> 6)) / 2 ** 53
  }

  /** An integer from 0 to n - 1. */
  below(n: number): number {
    return Math.floor(this.unit() * n)
  }

  chance(probability: number): boolean {
    return this.unit() < probability
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]
  }

  /** A shuffled copy. */
  shuffle<T>(items: readonly T[]): T[] {
    const copy = [...items]
    for (let k = copy.length - 1; k > 0; k--) {
      const j = this.below(k + 1)
      const item = copy[k]
      copy[k] = copy[j]
      copy[j] = item
    }
    return copy
  }

  /** Standard normal. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.unit())) * Math.cos(2 * Math.PI * this.unit())
  }

  /** A finite double of random bits: every exponent is as likely as any other. */
  anyDouble(): number {
    for (;;) {
      this.#bits.setUint32(0, this.uint32())
      this.#bits.setUint32(4, this.uint32())
      const value = this.#bits.getFloat64(0)
      if (Number.isFinite(value)) return value
    }
  }

  /** Cuts `length` into consecutive pieces of 1 to `longest`. */
  *pieces(length: number, longest: number): Generator<readonly [from: number, to: number]> {
    for (let from = 0; from < length; ) {
      const to = Math.min(length, from + 1 + this.below(longest))
      yield [from, to]
      from = to
    }
  }
}
