/**
 * What a reader looks at, and how it is written into the hash of the address. A hash that does not fit the page is not an error of the
 * page: what fits is used, the rest is named.
 *
 *     s snapshot    t trace       r range, first and last token      c token under the cursor
 *     o trace that is laid over   by token or progress               tab of the list
 *     sort column, or -column     f.column filter                    fit 1: the value axis fits what is in view
 *
 * Keys of the second pane begin with `2.`.
 */
import type { ExplorerDocument } from '../contract.js'
import { COLUMN_IDS, type ColumnId } from './columns.js'
import type { TraceFilters, TraceSort } from './order.js'

export const PANE_TABS = ['traces', 'jumps', 'critic'] as const
export type PaneTab = (typeof PANE_TABS)[number]

export interface PaneState {
  readonly snapshot: number
  readonly trace: number
  /** [from, to) in tokens; null: all */
  readonly range: readonly [number, number] | null
  readonly cursor: number | null
  readonly overlay: number | null
  /** what two traces share in the drawing: the number of a token, or the share of the trace before it */
  readonly by: 'token' | 'progress'
  readonly fit: boolean
  readonly sort: TraceSort | null
  readonly filters: TraceFilters
  readonly tab: PaneTab
}

/** One pane, or two side by side. */
export type ExplorerState = readonly PaneState[]

export const FIRST_STATE: PaneState = {
  snapshot: 0,
  trace: 0,
  range: null,
  cursor: null,
  overlay: null,
  by: 'token',
  fit: false,
  sort: null,
  filters: {},
  tab: 'traces'
}

const SECOND = '2.'

/** Tokens over which the two traces of a pane extend. */
export function paneTokens({ snapshots }: ExplorerDocument, { snapshot, trace, overlay, by }: PaneState): number {
  const { tokens } = snapshots[snapshot].traces
  return overlay === null || by === 'progress' ? tokens[trace] : Math.max(tokens[trace], tokens[overlay])
}

function isColumn(text: string): text is ColumnId {
  return (COLUMN_IDS as readonly string[]).includes(text)
}

function parseInteger(text: string, below: number): number | null {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Infinity
  return value < below ? value : null
}

function parseSort(text: string): TraceSort | null {
  const column = text.replace(/^-/, '')
  return isColumn(column) ? { column, down: text.startsWith('-') } : null
}

function parseRange(text: string, tokens: number): readonly [number, number] | null {
  const [first, last, ...rest] = text.split('-').map(part => parseInteger(part, tokens))
  return first === null || last === null || last === undefined || rest.length > 0 || first > last ? null : [first, last + 1]
}

/** The keys of one pane. @param lost is given each key whose value does not fit */
function parsePane(page: ExplorerDocument, given: ReadonlyMap<string, string>, lost: (key: string) => void): PaneState {
  const read = <T>(key: string, parse: (text: string) => T | null): T | null => {
    const text = given.get(key)
    const value = text === undefined ? null : parse(text)
    if (text !== undefined && value === null) lost(key)
    return value
  }
  const snapshot = read('s', text => parseInteger(text, page.snapshots.length)) ?? 0
  const traces = page.snapshots[snapshot].traces.tokens.length
  const trace = read('t', text => parseInteger(text, traces)) ?? 0
  // A trace is laid over another one.
  const overlay = read('o', text => (parseInteger(text, traces) === trace ? null : parseInteger(text, traces)))
  const by = read<PaneState['by']>('by', text => (text === 'token' || text === 'progress' ? text : null)) ?? 'token'
  const filters: Partial<Record<ColumnId, string>> = {}
  for (const [key, text] of given) if (key.startsWith('f.') && isColumn(key.slice(2))) filters[key.slice(2) as ColumnId] = text
  const state = { ...FIRST_STATE, snapshot, trace, overlay, by, filters }
  const tokens = traces === 0 ? 0 : paneTokens(page, state)
  return {
    ...state,
    range: read('r', text => parseRange(text, tokens)),
    cursor: read('c', text => parseInteger(text, tokens)),
    fit: read('fit', text => (text === '1' ? true : null)) ?? false,
    sort: read('sort', parseSort),
    tab: read('tab', text => PANE_TABS.find(tab => tab === text) ?? null) ?? 'traces'
  }
}

const PLAIN_KEYS = ['s', 't', 'r', 'c', 'o', 'by', 'fit', 'sort', 'tab']

export interface ParsedAddress {
  readonly state: ExplorerState
  /** keys that are unknown or whose value does not fit the page */
  readonly lost: readonly string[]
}

export function parseHash(hash: string, page: ExplorerDocument): ParsedAddress {
  const lost: string[] = []
  const panes = [new Map<string, string>(), new Map<string, string>()]
  for (const [key, text] of new URLSearchParams(hash.replace(/^#/, ''))) {
    const second = key.startsWith(SECOND)
    const own = second ? key.slice(SECOND.length) : key
    if (PLAIN_KEYS.includes(own) || (own.startsWith('f.') && isColumn(own.slice(2)))) panes[second ? 1 : 0].set(own, text)
    else lost.push(key)
  }
  const state = panes
    .filter((given, k) => k === 0 || given.size > 0)
    .map((given, k) => parsePane(page, given, key => lost.push(k === 0 ? key : `${SECOND}${key}`)))
  return { state, lost }
}

function paneKeys(pane: PaneState, second: boolean): [string, string][] {
  const { snapshot, trace, range, cursor, overlay, by, fit, sort, filters, tab } = pane
  const keys: [string, string | null][] = [
    ['s', snapshot === 0 && !second ? null : String(snapshot)],
    ['t', String(trace)],
    ['r', range === null ? null : `${range[0]}-${range[1] - 1}`],
    ['c', cursor === null ? null : String(cursor)],
    ['o', overlay === null ? null : String(overlay)],
    ['by', by === 'token' ? null : by],
    ['fit', fit ? '1' : null],
    ['sort', sort === null ? null : `${sort.down ? '-' : ''}${sort.column}`],
    ...COLUMN_IDS.map((id): [string, string | null] => [`f.${id}`, filters[id] === undefined || filters[id] === '' ? null : filters[id]]),
    ['tab', tab === 'traces' ? null : tab]
  ]
  return keys.flatMap(([key, text]) => (text === null ? [] : [[second ? `${SECOND}${key}` : key, text] as [string, string]]))
}

/** The hash of a state, with its `#`. */
export function formatHash(state: ExplorerState): string {
  return `#${new URLSearchParams(state.flatMap((pane, k) => paneKeys(pane, k > 0)))}`
}
