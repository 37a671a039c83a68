/** The spans of a sample: its stretches of tokens with mask 1, whose texts a tokenizer gives. */
import type { Sample } from '../../schema/samples.js'
import type { SpanTexts } from '../../schema/traces.js'
import type { TokenDecoder } from './tokenizer.js'

/**
 * How the spans of a sample end.
 *
 * @param marker null: no end is looked for
 * @returns null for a sample without token ids
 */
export function spansOf(
  { mask, tokenIds }: Pick<Sample, 'mask' | 'tokenIds'>,
  tokenizer: TokenDecoder,
  marker: string | null
): SpanTexts | null {
  if (tokenIds === null) return null
  const ends: number[] = []
  for (let start = mask.indexOf(1); start >= 0; ) {
    const behind = mask.indexOf(0, start)
    const end = behind < 0 ? mask.length : behind
    ends.push(marker !== null && tokenizer.endsWith(tokenIds.subarray(start, end), marker) ? 1 : 0)
    start = mask.indexOf(1, end)
  }
  return { count: ends.length, endsWithMarker: Uint8Array.from(ends) }
}
