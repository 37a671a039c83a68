/** Single tokens of what is in view, and what a range of tokens becomes when a reader zooms. Pure. */
import type { TraceView } from '../contract.js'

export interface TokenFacts {
  readonly index: number
  readonly value: number
  readonly return: number
  /** NaN for the first token of a trace */
  readonly change: number
  readonly position: number
  readonly turn: number
}

/** Place of the first number that is not smaller; the length where all are smaller. */
export function firstNotBelow(sorted: ArrayLike<number>, wanted: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle] < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/** @returns null where the view does not keep the token */
export function tokenFacts(view: TraceView, token: number): TokenFacts | null {
  const k = firstNotBelow(view.index, token)
  if (view.index[k] !== token) return null
  return {
    index: token,
    value: view.value[k],
    return: view.return[k],
    change: view.change[k],
    position: view.position[k],
    turn: view.turn[k]
  }
}

/** First tokens of all turns. @param view of a whole trace */
export function firstTokens({ index, turn }: TraceView): readonly number[] {
  return Array.from(index).filter((_, k) => k === 0 || turn[k] !== turn[k - 1])
}

export type TokenRange = readonly [number, number]

/** A range of as many tokens inside [0, tokens). */
export function placedRange(from: number, length: number, tokens: number): TokenRange {
  const kept = Math.max(1, Math.min(tokens, Math.round(length)))
  const first = Math.max(0, Math.min(tokens - kept, Math.round(from)))
  return [first, first + kept]
}

/** The range with `factor` times as many tokens, in which `token` keeps its place. It changes by a token at least. */
export function zoomedRange([from, to]: TokenRange, token: number, factor: number, tokens: number): TokenRange {
  const length = to - from
  const wanted = factor < 1 ? Math.min(length - 1, length * factor) : factor > 1 ? Math.max(length + 1, length * factor) : length
  const kept = Math.max(1, Math.min(tokens, Math.round(wanted)))
  const share = (token + 0.5 - from) / length
  return placedRange(token + 0.5 - share * kept, kept, tokens)
}

/** The range moved until it holds the token. */
export function rangeWith([from, to]: TokenRange, token: number, tokens: number): TokenRange {
  if (token >= from && token < to) return [from, to]
  return placedRange(token - (to - from) / 2, to - from, tokens)
}
