/**
 * The workbook and slide rows of CASES.tsv: what openpyxl, or zip and an XML parser, read from each file, and the same words
 * made of our reading. Long texts are cut off there with `…`.
 */
import type { Presentation, Slide, SlideTable } from '../../src/ingest/office/presentation.js'
import type { Cell, Sheet, Workbook } from '../../src/ingest/office/workbook.js'

export interface Case {
  /** `xlsx/…` or `pptx/…` */
  readonly path: string
  readonly reading: string
}

export function officeCases(tsv: string): readonly Case[] {
  return tsv
    .split(/\r?\n/)
    .filter(line => /^(xlsx|pptx)\//.test(line))
    .map(line => {
      const fields = line.split('\t')
      const field = fields[6]
      const reading = field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field
      return { path: fields[0], reading }
    })
}

/** Pieces of a reading that are compared one by one, as any of them may be cut off. */
export function pieces(reading: string): string[] {
  return (
    reading
      .split(/ \|\| | TABLES |; (?=[A-Z]+[0-9]+=)|(?<=merges=\d+:) | & /)
      // Not read here: the size that a sheet claims, and how many groups a slide has.
      .map(piece =>
        piece
          .replace(/ dim=\S+/, '')
          .replace(/ grp=\d+/, '')
          .trim()
      )
      .filter(piece => piece !== '')
  )
}

/** Whether a piece is the expected one, or starts like one that is cut off. */
export function agrees(got: string | undefined, expected: string): boolean {
  if (!expected.endsWith('…')) return got === expected
  return got?.startsWith(expected.slice(0, -1)) === true
}

/** A text as Python prints it; the table's author wrote line breaks of slides as `\v`. */
function repr(text: string): string {
  return `'${text.replaceAll('\v', '\\v').replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}'`
}

function valueWords(cell: Cell): string {
  if (cell.kind === 'date') {
    const fields = cell.value.split(/\D/).map(Number)
    while (fields.length > 5 && fields.at(-1) === 0) fields.pop()
    return `datetime.datetime(${fields.join(', ')})`
  }
  return typeof cell.value === 'string' ? repr(cell.value) : String(cell.value)
}

export function sheetWords(sheet: Sheet): string {
  const cells = [...sheet.cells.values()].filter(cell => cell.value !== null && !cell.covered)
  const first = cells
    .slice(0, 7)
    .map(cell => `${cell.ref}=${valueWords(cell)}${cell.formula === null ? '' : ` (formula =${cell.formula.text ?? ''})`}`)
  return `[${sheet.name}] nonempty=${cells.length} merges=${sheet.merges.length}: ${first.join('; ')}`
}

export function bookWords(book: Workbook, sheets: readonly Sheet[]): string {
  const order = book.sheets.map(sheet => `('${sheet.name}', '${sheet.state}')`).join(', ')
  return [`workbook order=[${order}]${book.date1904 ? ' date1904' : ''}`, ...sheets.map(sheetWords)].join(' || ')
}

function tableWords(table: SlideTable): string {
  const rows = table.rows.map((row, r) =>
    row.map((cell, c) => {
      // The table's author left line breaks out here.
      const text = cell.replaceAll('\v', '')
      const span = table.spans.find(s => s.row === r && s.column === c)
      if (span === undefined) return repr(text)
      const marks = [
        span.gridSpan > 1 ? `{gs${span.gridSpan}}` : '',
        span.rowSpan > 1 ? `{rs${span.rowSpan}}` : '',
        span.hMerge ? '{hM}' : '',
        span.vMerge ? '{vM}' : ''
      ]
      return repr(text + marks.join(''))
    })
  )
  const list = rows.map(row => `[${row.join(', ')}]`).join(', ')
  return `${table.rows.length}x${table.rows[0].length} [${list}]`
}

function slideWords(slide: Slide): string {
  const file = slide.part.slice(slide.part.lastIndexOf('/') + 1)
  const text = `slide${slide.number}(${file}) paras=${slide.texts.length} text=[${slide.texts.map(repr).join(', ')}]`
  return slide.tables.length === 0 ? text : `${text} TABLES ${slide.tables.map(tableWords).join(' & ')}`
}

export function deckWords({ slides }: Presentation): string {
  const notes = slides.filter(slide => slide.notes !== null).length
  return [`slides=${slides.length} notes=${notes}`, ...slides.map(slideWords)].join(' || ')
}
