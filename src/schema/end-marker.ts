/** Why it is not known how many boundaries have the end marker before them: one wording for every output. */

export interface MarkedBoundaries {
  /** null: none is named */
  readonly marker: string | null
  readonly traces: number
  /** traces with span texts */
  readonly withTexts: number
  /** null: not asked whether there is one */
  readonly boundaries: number | null
}

/** Null where it is known: a marker, texts of every trace, and a boundary to look at where that is asked. */
export function whyNoMarked({ marker, traces, withTexts, boundaries }: MarkedBoundaries): string | null {
  if (marker === null) return 'no end marker is named'
  if (withTexts === 0) return 'no span texts'
  if (withTexts < traces) return `span texts in ${withTexts} of ${traces} traces`
  return boundaries === 0 ? 'no boundary transition' : null
}
