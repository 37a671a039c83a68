/** What the page of the explorer holds of one trace. Its blocks are made where a trace is measured. Nothing of Node is imported. */

/**
 * Columns of the Arrow stream of an embedded trace: [tokens] each. `step` is the response position minus that of the token
 * before (of the first token: the position): 1 inside a turn, more at a boundary.
 */
export const TOKEN_COLUMNS = ['value', 'return', 'step'] as const

/** The texts of the generated turns of a trace, as the input has them. */
export interface TurnTexts {
  /** [turns] */
  readonly turns: readonly string[]
  /** [turns][tokens of the turn] where tokens have texts of their own; null: a turn's text is spread over its tokens */
  readonly tokens: ReadonlyArray<readonly string[]> | null
}

/** The same as a page shows them. */
export interface TraceTexts extends TurnTexts {
  /** number of passages that looked like secrets and were taken out */
  readonly removed: number
}
