/** The largest changes between two tokens of all traces of a snapshot. Each row leads to its place. */
import { formatFigureCount } from '../../figures/format.js'
import { visible } from '../../page/text.js'
import type { ExplorerSnapshot } from '../contract.js'
import { shortNumber } from './columns.js'
import { element } from './dom.js'

export interface JumpPlace {
  readonly trace: number
  /** token before the change */
  readonly at: number
}

function jumpRow(snapshot: ExplorerSnapshot, k: number, go: (place: JumpPlace) => void): HTMLTableRowElement {
  const { trace, at, change, turn, boundary } = snapshot.jumps
  const place = { trace: trace[k], at: at[k] }
  const shown = shortNumber(change[k], true)
  // Its click is that of its row.
  const link = element('button', {
    text: shown,
    attributes: { type: 'button', title: String(change[k]), 'aria-label': `${shown}, trace ${trace[k]}, token ${at[k]} to ${at[k] + 1}` }
  })
  const cells = [
    String(trace[k]),
    snapshot.traces.outcome[trace[k]] ?? '\u2013',
    `${formatFigureCount(at[k])} \u2192 ${formatFigureCount(at[k] + 1)}`,
    boundary[k] ? `turn ${turn[k] + 1} \u2192 ${turn[k] + 2}` : `in turn ${turn[k] + 1}`
  ]
  return element(
    'tr',
    { on: { click: () => go(place) } },
    element('td', { class: 'number' }, link),
    ...cells.map((text, i) => element('td', { class: i === 1 ? text : '', text }))
  )
}

export function jumpCaption(count: number, threshold: number): string {
  return count === 0
    ? `No change between two tokens of a trace is above ${threshold}, the threshold of a jump.`
    : `The ${formatFigureCount(count)} largest changes of all traces. Above ${threshold} a change counts as a jump.`
}

export function jumpList(snapshot: ExplorerSnapshot, go: (place: JumpPlace) => void): HTMLElement {
  const { jumps, jumpThreshold, name } = snapshot
  const count = jumps.trace.length
  const head = ['Change', 'Trace', 'Outcome', 'Token', 'Where'].map(text => element('th', { text, attributes: { scope: 'col' } }))
  const rows = Array.from({ length: count }, (_, k) => jumpRow(snapshot, k, go))
  const table = element(
    'table',
    { class: 'jumps', attributes: { 'aria-label': `Jumps of ${visible(name)}` } },
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...rows)
  )
  return element(
    'div',
    { class: 'jump-list' },
    element('p', { class: 'hint', text: jumpCaption(count, jumpThreshold) }),
    element('div', { class: 'rows', attributes: { tabindex: '0', role: 'region', 'aria-label': 'Jumps' } }, table)
  )
}
