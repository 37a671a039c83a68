/** Texts of turns for a page, with `[withheld]` in place of each passage that looks like a secret. */
import { secretSpans, spansApart, WITHHELD, type Span } from '../../core/secrets.js'
import type { TraceTexts, TurnTexts } from '../../schema/explorer.js'

/** Characters on each side of the end of a turn in which a secret over that end is looked for. */
const AROUND_END = 1024

/** Where tokens have texts, that of their turn is theirs: a secret goes over several tokens, and over the ends of turns. */
export function withheldTexts({ turns, tokens }: TurnTexts): TraceTexts {
  const pieces = tokens ?? turns.map(turn => [turn])
  const spans = spansOf(pieces.map(turn => turn.join('')))
  let start = 0
  const kept = pieces.map(turn =>
    turn.map(piece => {
      const shown = spans.length === 0 ? piece : withoutSpans(piece, start, spans)
      start += piece.length
      return shown
    })
  )
  return { turns: kept.map(turn => turn.join('')), tokens: tokens === null ? null : kept, removed: spans.length }
}

/** Of all texts of a trace one behind the other: those of each turn, and those over the ends of turns. */
function spansOf(turns: readonly string[]): readonly Span[] {
  const found: Span[] = []
  const text = turns.join('')
  let end = 0
  for (const turn of turns) {
    for (const [from, to] of secretSpans(turn)) found.push([end + from, end + to])
    end += turn.length
    const first = Math.max(0, end - AROUND_END)
    for (const [from, to] of secretSpans(text.slice(first, end + AROUND_END)))
      if (first + from < end && end < first + to) found.push([first + from, first + to])
  }
  return spansApart(found)
}

/** What is withheld leaves each piece, and the first of them says so. @param start of the piece */
function withoutSpans(piece: string, start: number, spans: readonly Span[]): string {
  const end = start + piece.length
  let shown = ''
  let at = start
  for (const [from, to] of spans) {
    if (to <= start || from >= end) continue
    shown += piece.slice(at - start, Math.max(from, start) - start) + (from >= start ? WITHHELD : '')
    at = Math.min(to, end)
  }
  return shown + piece.slice(at - start)
}
