/**
 * Checks the labels beside a value that is read by its place: head of the column, name of the row, title and printed
 * page of the slide, head of a document's table. Without labels a value from another row, column or slide would be
 * taken once the source is reordered.
 */
import type { Sheet } from '../../ingest/office/workbook.js'
import type { Slide } from '../../ingest/office/presentation.js'
import { EXIT, Fault } from '../../core/errors.js'
import type { CellValue, DocumentValue, SlidePage, SlideValue } from '../../schema/evidence.js'
import type { FoundLabel } from './contract.js'
import { quoted } from './faults.js'

/** @throws Fault (exit 1) where the label is missing or has another text */
export function cellLabels({ name, sheet, labels }: CellValue, { cells }: Pick<Sheet, 'cells'>, file: string): FoundLabel[] {
  return labels.map(({ cell, text }) => {
    const found = cells.get(cell)
    const stored = found === undefined || found.covered || found.kind === 'empty' ? null : found.text
    return checked({ place: `cell ${cell}`, text: stored }, text, name, file, `${sheet}!${cell}`)
  })
}

/** @throws Fault (exit 1) where the label is missing or has another text */
export function documentLabels({ name, labels }: DocumentValue, lines: readonly string[], file: string): FoundLabel[] {
  return labels.map(({ line, text }) => checked({ place: `line ${line}`, text: lines[line - 1] ?? null }, text, name, file, `line ${line}`))
}

/** @throws Fault (exit 1) where the label is missing or has another text */
export function slideLabels(
  { name, slide: number, table, labels }: SlideValue,
  slide: Slide,
  pages: readonly SlidePage[],
  file: string
): FoundLabel[] {
  const page = pages.find(one => one.slide === number)
  const own = (place: string, text: string | null, expected: string): FoundLabel =>
    checked({ place, text }, expected, name, file, `slide ${number}, ${place}`)
  return [
    ...(page === undefined || page.title === null ? [] : [own('title', titleOf(slide), page.title)]),
    ...(page === undefined || page.printed_page === null ? [] : [own('printed page', pageOf(slide), String(page.printed_page))]),
    ...labels.map(({ row, column, text }) =>
      own(
        `table ${table?.index ?? 1}, row ${row}, column ${column}`,
        slide.tables[(table?.index ?? 1) - 1]?.rows[row - 1]?.[column - 1] ?? null,
        text
      )
    )
  ]
}

/** The text of the title placeholder. Where the author used a plain text box, the first paragraph. */
function titleOf({ title, texts }: Slide): string | null {
  return title ?? texts[0] ?? null
}

/**
 * The text of the page number placeholder. Where the author used a plain text box, the last paragraph that is a whole
 * number.
 */
function pageOf({ pageNumber, texts }: Slide): string | null {
  return pageNumber ?? texts.findLast(text => /^\s*\d+\s*$/.test(text)) ?? null
}

function checked(
  { place, text }: { readonly place: string; readonly text: string | null },
  expected: string,
  name: string,
  file: string,
  member: string
): FoundLabel {
  if (text !== null && oneSpace(text) === oneSpace(expected)) return { place, text: oneSpace(text) }
  throw new Fault({
    format: 'evidence',
    problem: 'label differs',
    found: `${text === null ? 'nothing' : quoted(oneSpace(text))} beside ${name}`,
    expected: quoted(oneSpace(expected)),
    place: { file, member },
    exitCode: EXIT.checkFailed
  })
}

function oneSpace(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}
