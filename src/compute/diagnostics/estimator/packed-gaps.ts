/**
 * The gaps of a sample as plain finite numbers: in a long run their objects would take most of the memory. They are made again, the
 * same bits, each time that somebody looks at them.
 *
 *     gap:      masked, cleared, here, previous, next, second, trainable, value before, value behind, pairs, each pair, chain
 *     token:    -1 for null, else which of the last three are there (bits 0 to 2); token, value, return, reward, KL, advantage
 *     number:   0 for null; else 1, number
 *     pair:     here, next, closes
 *     chain:    -1 for null, else its length; values; 1 and the rewards, or 0; 1 and the KL, or 0
 */
import type { MaskedChain, MaskedPair, TokenNumbers, Transition } from './transition.js'

export interface PackedGaps {
  readonly count: number
  readonly numbers: Float64Array
}

export function packGaps(gaps: readonly Transition[]): PackedGaps {
  const numbers: number[] = []
  for (const gap of gaps) writeGap(gap, numbers)
  return { count: gaps.length, numbers: Float64Array.from(numbers) }
}

function writeGap(gap: Transition, to: number[]): void {
  to.push(gap.masked, Number(gap.cleared))
  for (const token of [gap.here, gap.previous, gap.next, gap.second, gap.trainable]) writeToken(token, to)
  writeNumber(gap.valueBefore, to)
  writeNumber(gap.valueBehind, to)
  to.push(gap.pairs.length)
  for (const { here, next, closes } of gap.pairs) {
    writeToken(here, to)
    writeToken(next, to)
    to.push(Number(closes))
  }
  writeChain(gap.chain, to)
}

function writeToken(numbers: TokenNumbers | null, to: number[]): void {
  if (numbers === null) {
    to.push(-1)
    return
  }
  const { token, value, ret, reward, kl, advantage } = numbers
  to.push(Number(reward !== null) + 2 * Number(kl !== null) + 4 * Number(advantage !== null), token, value, ret)
  for (const number of [reward, kl, advantage]) if (number !== null) to.push(number)
}

function writeNumber(number: number | null, to: number[]): void {
  if (number === null) to.push(0)
  else to.push(1, number)
}

function writeChain(chain: MaskedChain | null, to: number[]): void {
  if (chain === null) {
    to.push(-1)
    return
  }
  to.push(chain.values.length, ...chain.values)
  for (const part of [chain.rewards, chain.kl]) to.push(Number(part !== null), ...(part ?? []))
}

export function* unpackGaps({ count, numbers }: PackedGaps): Iterable<Transition> {
  const reader = new GapReader(numbers)
  for (let gap = 0; gap < count; gap++) yield reader.gap()
}

export function firstGap(gaps: PackedGaps): Transition | null {
  for (const gap of unpackGaps(gaps)) return gap
  return null
}

/** Reads in the order of writing. */
class GapReader {
  readonly #numbers: Float64Array
  #at = 0

  constructor(numbers: Float64Array) {
    this.#numbers = numbers
  }

  gap(): Transition {
    return {
      masked: this.#one(),
      cleared: this.#one() === 1,
      here: this.#there(),
      previous: this.#token(),
      next: this.#token(),
      second: this.#token(),
      trainable: this.#token(),
      valueBefore: this.#orNull(),
      valueBehind: this.#orNull(),
      pairs: Array.from({ length: this.#one() }, () => this.#pair()),
      chain: this.#chain()
    }
  }

  #one(): number {
    return this.#numbers[this.#at++]
  }

  #orNull(): number | null {
    return this.#one() === 0 ? null : this.#one()
  }

  #token(): TokenNumbers | null {
    const which = this.#one()
    if (which < 0) return null
    return {
      token: this.#one(),
      value: this.#one(),
      ret: this.#one(),
      reward: (which & 1) === 0 ? null : this.#one(),
      kl: (which & 2) === 0 ? null : this.#one(),
      advantage: (which & 4) === 0 ? null : this.#one()
    }
  }

  #there(): TokenNumbers {
    const token = this.#token()
    if (token === null) throw new Error('a gap without its token')
    return token
  }

  #pair(): MaskedPair {
    return { here: this.#there(), next: this.#token(), closes: this.#one() === 1 }
  }

  #chain(): MaskedChain | null {
    const length = this.#one()
    if (length < 0) return null
    const values = this.#many(length)
    const rewards = this.#one() === 0 ? null : this.#many(length)
    const kl = this.#one() === 0 ? null : this.#many(length)
    return { values, rewards, kl }
  }

  #many(length: number): number[] {
    this.#at += length
    return Array.from(this.#numbers.subarray(this.#at - length, this.#at))
  }
}
