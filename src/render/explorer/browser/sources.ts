/** What all parts of the script share: the page's document, its store, and what two traces of a pane have in common. */
import type { ExplorerDocument, TraceStore, TraceView } from '../contract.js'
import type { PaneState } from './address.js'
import { drawingColours } from './colours.js'
import { tokenFacts, type TokenFacts, type TokenRange } from './tokens.js'

export interface ExplorerSources {
  readonly page: ExplorerDocument
  readonly store: TraceStore
  /** Tells the reader what went wrong. */
  report(problem: string): void
}

/** What went wrong, for a sentence. */
export function problemText(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason)
}

/** A trace of a pane: the chosen one, or the one that is laid over it. */
export interface PaneTrace {
  readonly trace: number
  readonly tokens: number
  /** tokens of the axis for one token of this trace */
  readonly stretch: number
  readonly colour: string
  readonly dashed: boolean
}

export function paneTraces(
  page: ExplorerDocument,
  { snapshot, trace, overlay, by }: PaneState,
  colours = drawingColours()
): readonly PaneTrace[] {
  const { tokens, outcome } = page.snapshots[snapshot].traces
  const colour = colours.outcome[outcome[trace] ?? 'unknown']
  const chosen = { trace, tokens: tokens[trace], stretch: 1, colour, dashed: false }
  if (overlay === null) return [chosen]
  const stretch = by === 'token' ? 1 : (tokens[trace] - 1 || 1) / (tokens[overlay] - 1 || 1)
  return [chosen, { trace: overlay, tokens: tokens[overlay], stretch, colour: colours.overlay, dashed: true }]
}

/** Tokens of a trace of which something lies within a range of the axis; null: none. */
export function ownRange({ tokens, stretch }: PaneTrace, [from, to]: TokenRange): TokenRange | null {
  const [first, end] = [Math.max(0, Math.floor(from / stretch)), Math.min(tokens, Math.ceil((to - 1) / stretch) + 1)]
  return first < end ? [first, end] : null
}

/** The token of a trace that is at a place of the axis; null: the trace has ended. */
export function ownToken({ tokens, stretch }: PaneTrace, token: number): number | null {
  const own = Math.round(token / stretch)
  return own < tokens ? own : null
}

/** One token. @param views what is loaded already, and may hold it */
export async function loadToken(
  { store }: ExplorerSources,
  snapshot: number,
  trace: number,
  token: number,
  view: TraceView | undefined
): Promise<TokenFacts | null> {
  return (view && tokenFacts(view, token)) ?? tokenFacts(await store.view({ snapshot, trace }, token, token + 1, 1), token)
}
