/** Why the number of boundaries behind an end marker is unknown. All outputs use these words. */

export interface MarkedBoundaries {
  /** null: the study names none */
  readonly marker: string | null
  readonly traces: number
  /** number of traces with span texts */
  readonly withTexts: number
  /** number of boundaries; null: not required */
  readonly boundaries: number | null
}

/** The reason; null if the number is known: a marker, texts of every trace and, where required, a boundary. */
export function whyNoMarked({ marker, traces, withTexts, boundaries }: MarkedBoundaries): string | null {
  if (marker === null) return 'no end marker is named'
  if (withTexts === 0) return 'no span texts'
  if (withTexts < traces) return `span texts in ${withTexts} of ${traces} traces`
  return boundaries === 0 ? 'no boundary transition' : null
}
