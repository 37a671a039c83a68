/** Values of slides: a cell of a table, or the one paragraph that a pattern matches. */
import type { Presentation, Slide } from '../../ingest/office/presentation.js'
import type { SlidePage, SlideValue } from '../../schema/evidence.js'
import { isSecretText } from '../../core/secrets.js'
import type { FoundValue, ValueOrigin } from './contract.js'
import type { HashedFile } from '../../schema/study.js'
import { convert } from './convert.js'
import { quoted, valueUnreadable } from './faults.js'
import { slideLabels } from './labels.js'
import type { TextSearch } from './match.js'

type Position = Extract<ValueOrigin, { readonly source: 'slides' }>['position']

/** Largest number of paragraphs that a message lists. */
const MAX_LISTED = 5

/** @throws Fault where the slide has no such value, or where labels beside it differ from those that the study expects */
export function slideValue(
  request: SlideValue,
  at: string,
  { slides }: Presentation,
  pages: readonly SlidePage[],
  { path, sha256 }: HashedFile,
  search: TextSearch
): FoundValue {
  const { name, slide: number, table, unit, title, published, excluded } = request
  const asked = { at, name }
  const slide = slides[number - 1]
  if (slide === undefined) throw valueUnreadable(asked, `${slides.length} slides`, `a slide ${number}`, path)
  const labels = slideLabels(request, slide, pages, path)
  const refuse: Refuse = (found, expected, place = '') => valueUnreadable(asked, found, expected, path, `slide ${number}${place}`)
  const { raw, position } = table === null ? paragraph(request, slide, search, refuse) : tableCell(table, slide, refuse)
  if (isSecretText(raw)) throw refuse('what looks like a secret', 'a text without one', table === null ? '' : tablePlace(table))
  const converted = convert(request, { raw, text: raw, number: null }, search)
  if ('expected' in converted) throw refuse(quoted(raw), converted.expected, table === null ? '' : tablePlace(table))
  return {
    name,
    value: converted.value,
    reason: null,
    unit,
    title,
    published,
    excluded,
    labels,
    origin: { source: 'slides', file: path, sha256, slide: number, position, raw }
  }
}

interface SlideString {
  readonly raw: string
  readonly position: Position
}

type Refuse = (found: string, expected: string, place?: string) => Error

function tablePlace({ index, row, column }: NonNullable<SlideValue['table']>): string {
  return `, table ${index}, row ${row}, column ${column}`
}

function tableCell(asked: NonNullable<SlideValue['table']>, { tables }: Slide, refuse: Refuse): SlideString {
  const { index, row, column } = asked
  const table = tables[index - 1]
  if (table === undefined) throw refuse(`${tables.length} tables`, `a table ${index}`)
  const place = tablePlace(asked)
  const cells = table.rows[row - 1]
  if (cells === undefined) throw refuse(`a table of ${table.rows.length} rows`, `a row ${row}`, place)
  const raw = cells[column - 1]
  if (raw === undefined) throw refuse(`a row of ${cells.length} cells`, `a column ${column}`, place)
  const covered = table.spans.some(span => span.row === row - 1 && span.column === column - 1 && (span.hMerge || span.vMerge))
  if (covered) throw refuse('a cell that a merged one covers', 'a value', place)
  return { raw, position: { table: index, row, column } }
}

function paragraph({ pattern }: SlideValue, { texts }: Slide, search: TextSearch, refuse: Refuse): SlideString {
  const matching = texts.flatMap((raw, i) => {
    const found = search.find(pattern ?? '', raw)
    if ('problem' in found && found.problem === 'too slow') {
      throw refuse(quoted(raw), `a text that ${quoted(pattern ?? '')} can be looked for in within a second`)
    }
    return 'group' in found ? [{ raw, position: { paragraph: i + 1 } }] : []
  })
  if (matching.length === 1) return matching[0]
  const found =
    matching.length === 0
      ? `none among its ${texts.length} paragraphs`
      : `${matching.length} paragraphs: ${matching
          .slice(0, MAX_LISTED)
          .map(({ raw }) => quoted(raw))
          .join(', ')}`
  throw refuse(found, `one paragraph that ${quoted(pattern ?? '')} matches`)
}
