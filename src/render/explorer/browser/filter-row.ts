/** The row of filters below the head of the table. */
import { TRACE_COLUMNS, type ColumnId, type ShownColumn } from './columns.js'
import { element } from './dom.js'
import { parseFilter } from './filter.js'
import type { TraceFilters } from './order.js'

const OUTCOMES = [
  ['', 'all'],
  ['success', 'success'],
  ['failure', 'failure'],
  ['none', 'not stated']
] as const

const EXAMPLES = { number: '>0.2, 10..20', text: 'a part of it', outcome: 'success' } as const

function control(column: ShownColumn, changed: (text: string) => void): HTMLInputElement | HTMLSelectElement {
  const label = `Filter of ${column.label === '#' ? 'the number' : column.label}`
  if (column.kind === 'outcome') {
    const options = OUTCOMES.map(([value, text]) => element('option', { text, attributes: { value } }))
    const select = element('select', { attributes: { 'aria-label': label } }, ...options)
    select.addEventListener('change', () => changed(select.value))
    return select
  }
  const hint = `${label}: ${EXAMPLES[column.kind]}`
  const input = element('input', {
    attributes: {
      type: 'text',
      'aria-label': label,
      title: hint,
      placeholder: column.kind === 'number' ? '>' : '\u2026',
      autocomplete: 'off',
      spellcheck: 'false'
    }
  })
  input.addEventListener('input', () => changed(input.value))
  return input
}

/** @param changed is called with each filter that a reader changes */
export function filterRow(changed: (column: ColumnId, text: string) => void): {
  readonly row: HTMLTableRowElement
  /** Shows filters. @returns what is wrong with them */
  readonly show: (filters: TraceFilters) => readonly string[]
} {
  const controls = TRACE_COLUMNS.map(column => ({ column, input: control(column, text => changed(column.id, text)) }))
  const cells = controls.map(({ input, column }) => element('td', { class: column.kind, attributes: { role: 'gridcell' } }, input))
  return {
    row: element('tr', { class: 'filters' }, ...cells, element('td', { attributes: { role: 'gridcell' } })),
    show: filters =>
      controls.flatMap(({ column, input }) => {
        const text = filters[column.id] ?? ''
        if (input.value !== text) input.value = text
        const wrong = parseFilter(column.kind, text) === null
        input.setAttribute('aria-invalid', String(wrong))
        return wrong ? [`The filter of ${column.label} is not understood and filters nothing: try ${EXAMPLES[column.kind]}`] : []
      })
  }
}
