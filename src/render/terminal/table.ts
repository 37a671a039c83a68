/**
 * Formats a table for a terminal: aligned columns of plain text, a rule under the header, coloured words where colour
 * is wanted.
 */
import { printable, printableId } from '../../core/errors.js'
import { fitMiddle, textWidth } from './text.js'

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
  /**
   * most cells of a line: the widest columns of text are cut in the middle until the table fits; where that is not enough, titles
   * of numbers take several lines. Default: any
   */
  readonly width?: number
}

/** SGR codes. A tone never carries a meaning that the text lacks. */
const SGR: { readonly [tone in Tone]: string } = { good: '32', bad: '31', muted: '2' }

/** Lines without trailing spaces, each ended by a newline. A row shorter than the header is filled with empty cells. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly TerminalCell[])[], options: TableOptions = {}): string {
  const { colour = false, maxCell = 200, width = Infinity } = options
  const cells = rows.map(row =>
    columns.map((_, i) => {
      const cell = row[i] ?? ''
      return typeof cell === 'string'
        ? { text: printableId(cell, maxCell), tone: null }
        : { text: printableId(cell.text, maxCell), tone: cell.tone }
    })
  )
  const titles = columns.map(c => printable(c.title, maxCell))
  const widest = columns.map((_, i) => cells.reduce((most, row) => Math.max(most, textWidth(row[i].text)), 0))
  const fitted = (lines: readonly (readonly string[])[]): readonly number[] =>
    fitColumns(
      columns,
      widest.map((own, i) => Math.max(own, ...lines[i].map(textWidth))),
      width
    )
  let heads = titles.map(title => [title])
  let widths = fitted(heads)
  if (lineOf(widths) > width) {
    heads = titles.map((title, i) => (columns[i].align === 'right' ? wrapped(title, widest[i]) : [title]))
    widths = fitted(heads)
  }
  const height = Math.max(1, ...heads.map(lines => lines.length))
  // Titles of fewer lines stand on the rule.
  const header = Array.from({ length: height }, (_, at) =>
    heads.map(lines => ({ text: lines[at - height + lines.length] ?? '', tone: null }))
  )
  const line = (row: readonly { readonly text: string; readonly tone: Tone | null }[]): string => {
    const parts = row.map(({ text: whole, tone }, i) => {
      const text = fitMiddle(whole, widths[i])
      const space = ' '.repeat(widths[i] - textWidth(text))
      const shown = colour && tone !== null ? `\u001b[${SGR[tone]}m${text}\u001b[0m` : text
      return columns[i].align === 'right' ? space + shown : shown + space
    })
    return `${parts.join('  ').trimEnd()}\n`
  }
  const rule = `${widths.map(w => '-'.repeat(w)).join('  ')}\n`
  return header.map(line).join('') + rule + cells.map(line).join('')
}

/** The words of a title in lines of at most `width` cells, or of one word. */
function wrapped(title: string, width: number): string[] {
  const lines: string[] = []
  for (const word of title.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && textWidth(`${last} ${word}`) <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

function lineOf(widths: readonly number[]): number {
  return widths.reduce((sum, w) => sum + w, 0) + BETWEEN * (widths.length - 1)
}

/** Spaces between two columns. */
const BETWEEN = 2
/** Fewest cells that a column of text keeps. Where that is too many for the line, the terminal wraps it. */
const LEAST = 12

/** Widths that fit the line. The widest column of text gives first; a number is never cut. */
function fitColumns(columns: readonly Column[], natural: readonly number[], width: number): readonly number[] {
  const widths = [...natural]
  let excess = lineOf(widths) - width
  while (excess > 0) {
    const texts = widths.flatMap((w, i) => (columns[i].align !== 'right' && w > LEAST ? [i] : []))
    if (texts.length === 0) break
    const widest = texts.reduce((best, i) => (widths[i] > widths[best] ? i : best))
    const next = texts.reduce((most, i) => (i === widest ? most : Math.max(most, widths[i])), LEAST)
    const given = Math.min(excess, Math.max(1, widths[widest] - next))
    widths[widest] -= given
    excess -= given
  }
  return widths
}
