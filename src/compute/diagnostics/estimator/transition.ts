/** A transition over a gap between turns, or at the end: the numbers that stand beside it, as they are stored. */

/** Numbers at one token; null where the dump has none (masked tokens of a trace, tokens behind the end). */
export interface TokenNumbers {
  readonly token: number
  readonly value: number
  readonly ret: number
  readonly reward: number | null
  readonly kl: number | null
  readonly advantage: number | null
}

/** A masked token and the one behind it, null at the end of the response. */
export interface MaskedPair {
  readonly here: TokenNumbers
  readonly next: TokenNumbers | null
  /** the one behind is trainable */
  readonly closes: boolean
}

/** Masked tokens behind a turn whose stored returns are all 0, so that those which a rule gave have to be made again. */
export interface MaskedChain {
  readonly values: readonly number[]
  readonly rewards: readonly number[] | null
  readonly kl: readonly number[] | null
}

/** A trainable token and what follows it. */
export interface Transition {
  readonly here: TokenNumbers
  /** the token of the response in front of it */
  readonly previous: TokenNumbers | null
  /** masked tokens up to the next trainable one, or up to the end */
  readonly masked: number
  /** the next two tokens of the response, masked or not */
  readonly next: TokenNumbers | null
  readonly second: TokenNumbers | null
  /** of the masked tokens behind it the first and the last two */
  readonly pairs: readonly MaskedPair[]
  /** true: the returns stored at the masked tokens are all 0 */
  readonly cleared: boolean
  /** of cleared ones; null: not carried */
  readonly chain: MaskedChain | null
  /** the next trainable token, and values beside it; null behind the last one */
  readonly trainable: TokenNumbers | null
  readonly valueBefore: number | null
  readonly valueBehind: number | null
}
