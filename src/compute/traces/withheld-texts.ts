/** Texts of turns for a page, with `[withheld]` in place of each passage that looks like a secret. */
import { secretSpans, WITHHELD } from '../../core/secrets.js'
import type { TraceTexts, TurnTexts } from '../../schema/explorer.js'

/** Where tokens have texts, that of their turn is theirs: a secret goes over several tokens. */
export function withheldTexts({ turns, tokens }: TurnTexts): TraceTexts {
  const cut = (tokens ?? turns.map(turn => [turn])).map(withheldIn)
  const removed = cut.reduce((sum, turn) => sum + turn.removed, 0)
  return { turns: cut.map(({ pieces }) => pieces.join('')), tokens: tokens === null ? null : cut.map(({ pieces }) => pieces), removed }
}

/** The pieces of one text: what is withheld leaves each of them, and the first of them says so. */
function withheldIn(pieces: readonly string[]): { readonly pieces: readonly string[]; readonly removed: number } {
  const spans = secretSpans(pieces.join(''))
  if (spans.length === 0) return { pieces, removed: 0 }
  let start = 0
  const kept = pieces.map(piece => {
    const end = start + piece.length
    let shown = ''
    let at = start
    for (const [from, to] of spans) {
      if (to <= start || from >= end) continue
      shown += piece.slice(at - start, Math.max(from, start) - start) + (from >= start ? WITHHELD : '')
      at = Math.min(to, end)
    }
    shown += piece.slice(at - start)
    start = end
    return shown
  })
  return { pieces: kept, removed: spans.length }
}
