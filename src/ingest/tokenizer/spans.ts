/** The spans of a sample: its stretches of tokens with mask 1, whose texts a tokenizer gives. */
import type { TurnTexts } from '../../schema/explorer.js'
import type { Sample } from '../../schema/samples.js'
import type { SpanTexts } from '../../schema/traces.js'
import type { TokenDecoder } from './tokenizer.js'

type Tokens = Pick<Sample, 'mask' | 'tokenIds'>

/**
 * How the spans of a sample end.
 *
 * @param marker null: no end is looked for
 * @returns null for a sample without token ids
 */
export function spansOf(tokens: Tokens, tokenizer: TokenDecoder, marker: string | null): SpanTexts | null {
  const ends = spanIds(tokens)?.map(ids => (marker !== null && tokenizer.endsWith(ids, marker) ? 1 : 0))
  return ends === undefined ? null : { count: ends.length, endsWithMarker: Uint8Array.from(ends) }
}

/** The texts of the spans and of their tokens. @returns undefined for a sample without token ids */
export function turnTextsOf(tokens: Tokens, tokenizer: TokenDecoder): TurnTexts | undefined {
  const pieces = spanIds(tokens)?.map(ids => tokenizer.pieces(ids))
  return pieces === undefined ? undefined : { turns: pieces.map(turn => turn.join('')), tokens: pieces }
}

/** The token ids of each span; null where there are none. */
function spanIds({ mask, tokenIds }: Tokens): Int32Array[] | null {
  if (tokenIds === null) return null
  const spans: Int32Array[] = []
  for (let start = mask.indexOf(1); start >= 0; ) {
    const behind = mask.indexOf(0, start)
    const end = behind < 0 ? mask.length : behind
    spans.push(tokenIds.subarray(start, end))
    start = mask.indexOf(1, end)
  }
  return spans
}
