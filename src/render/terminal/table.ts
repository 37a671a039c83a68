/**
 * Formats a table for a terminal: aligned columns of plain text, a rule under the header, coloured words where colour
 * is wanted.
 */
import { printable, printableId } from '../../core/errors.js'
import { textWidth } from './text.js'

export type Tone = 'good' | 'bad' | 'muted'

/**
 * One cell: a text, or a text with a tone that only a terminal shows. Unprintable characters of a file's text are made
 * safe here.
 */
export type TerminalCell = string | { readonly text: string; readonly tone: Tone }

export interface Column {
  readonly title: string
  /** `right` for numbers; default left */
  readonly align?: 'left' | 'right'
}

export interface TableOptions {
  /** see `wantsColour`; default false */
  readonly colour?: boolean
  /** largest length of a cell in characters; a longer one is cut and marked as cut. Default 200 */
  readonly maxCell?: number
}

/** SGR codes. A tone never carries a meaning that the text lacks. */
const SGR: { readonly [tone in Tone]: string } = { good: '32', bad: '31', muted: '2' }

/** Lines without trailing spaces, each ended by a newline. A row shorter than the header is filled with empty cells. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly TerminalCell[])[], options: TableOptions = {}): string {
  const { colour = false, maxCell = 200 } = options
  const cells = rows.map(row =>
    columns.map((_, i) => {
      const cell = row[i] ?? ''
      return typeof cell === 'string'
        ? { text: printableId(cell, maxCell), tone: null }
        : { text: printableId(cell.text, maxCell), tone: cell.tone }
    })
  )
  const header = columns.map(c => ({ text: printable(c.title, maxCell), tone: null }))
  const widths = columns.map((_, i) => [header, ...cells].reduce((widest, row) => Math.max(widest, textWidth(row[i].text)), 0))
  const line = (row: readonly { readonly text: string; readonly tone: Tone | null }[]): string => {
    const parts = row.map(({ text, tone }, i) => {
      const space = ' '.repeat(widths[i] - textWidth(text))
      const shown = colour && tone !== null ? `\u001b[${SGR[tone]}m${text}\u001b[0m` : text
      return columns[i].align === 'right' ? space + shown : shown + space
    })
    return `${parts.join('  ').trimEnd()}\n`
  }
  const rule = `${widths.map(w => '-'.repeat(w)).join('  ')}\n`
  return line(header) + rule + cells.map(line).join('')
}
