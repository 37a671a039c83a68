/** The text of a turn cut into pieces, each with the tokens that it belongs to. Pure. */
import { visible } from '../../page/text.js'

/** Pieces that are shown at most. Of a longer turn those around the cursor are. */
export const MAX_PIECES = 4000

export interface TextPiece {
  readonly text: string
  /** token of the turn, from 0 */
  readonly token: number
}

/** What is shown of a text: control characters and those without a shape of their own as escapes, but for line ends and tabs. */
export function shownText(text: string): string {
  return text.replace(/[^\n\t]+/g, visible).replaceAll('\n', '\u21b5\n')
}

/** Pieces of tokens that have texts of their own. A token without a text is a dot. */
export function ownPieces(tokens: readonly string[], [from, to]: readonly [number, number]): readonly TextPiece[] {
  return tokens.slice(from, to).map((text, k) => ({ text: text === '' ? '\u00b7' : shownText(text), token: from + k }))
}

/**
 * Pieces of a text that is spread over the tokens of its turn: token k of n has the characters from k/n to (k + 1)/n of the text. Where
 * there are more tokens than characters, a piece belongs to the first of its tokens.
 */
export function spreadPieces(text: string, tokens: number, [from, to]: readonly [number, number]): readonly TextPiece[] {
  const characters = Array.from(text)
  const place = (token: number): number => Math.floor((token / tokens) * characters.length)
  const pieces: TextPiece[] = []
  for (let token = from; token < to; token++) {
    const cut = characters.slice(place(token), place(token + 1)).join('')
    if (cut !== '') pieces.push({ text: shownText(cut), token })
  }
  return pieces
}

/** Tokens of a turn whose pieces are shown: all, or as many as may be, around one. */
export function piecesAround(token: number, tokens: number): readonly [number, number] {
  if (tokens <= MAX_PIECES) return [0, tokens]
  const from = Math.max(0, Math.min(tokens - MAX_PIECES, token - MAX_PIECES / 2))
  return [from, from + MAX_PIECES]
}
