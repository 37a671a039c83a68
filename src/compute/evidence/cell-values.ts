/**
 * Reads values of workbook cells. A cell gives its stored value, a formula its stored result. A covered cell has no
 * value, because a reader of the sheet does not see it.
 */
import type { Cell, Sheet } from '../../ingest/office/workbook.js'
import type { CellValue } from '../../schema/evidence.js'
import { isSecretText } from '../../core/secrets.js'
import type { FoundValue } from './contract.js'
import type { HashedFile } from '../../schema/study.js'
import { convert, type Written } from './convert.js'
import { quoted, valueUnreadable } from './faults.js'
import { cellLabels } from './labels.js'
import type { TextSearch } from './match.js'

/** The problem of a formula whose result the program that wrote the workbook did not calculate. */
const NOT_CALCULATED = 'a formula without a stored result'

/** @throws Fault where the cell has no such value, or where labels beside it differ from those that the study expects */
export function cellValue(
  request: CellValue,
  at: string,
  cells: Pick<Sheet, 'cells'>,
  { path, sha256 }: HashedFile,
  search: TextSearch
): FoundValue {
  const { name, sheet, cell: reference, unit, title, published, excluded } = request
  const labels = cellLabels(request, cells, path)
  const refuse = (found: string, expected: string): Error => valueUnreadable({ at, name }, found, expected, path, `${sheet}!${reference}`)
  const written = writtenIn(cells.cells.get(reference))
  if (typeof written === 'string')
    throw refuse(written, written === NOT_CALCULATED ? 'a value: open and save it in a spreadsheet program' : 'a value')
  if (isSecretText(written.raw) || isSecretText(written.text)) throw refuse('what looks like a secret', 'a value without one')
  const converted = convert(request, written, search)
  if ('expected' in converted) throw refuse(quoted(written.text), converted.expected)
  return {
    name,
    value: converted.value,
    reason: null,
    unit,
    title,
    published,
    excluded,
    labels,
    origin: { source: 'workbook', file: path, sha256, sheet, cell: reference, raw: written.raw }
  }
}

/** @returns a text where the cell has no value: the text says why */
function writtenIn(cell: Cell | undefined): Written | string {
  if (cell === undefined) return 'an empty cell'
  if (cell.covered) return 'a cell that a merged one covers'
  switch (cell.kind) {
    case 'number':
      return { raw: cell.text, text: cell.text, number: cell.value }
    case 'text':
      return { raw: cell.value, text: cell.value, number: null }
    case 'date':
      return { raw: cell.text, text: cell.value, number: null }
    case 'boolean':
      return { raw: cell.text, text: cell.value ? 'TRUE' : 'FALSE', number: null }
    case 'error':
      return `the error ${quoted(cell.value)}`
    case 'empty':
      return NOT_CALCULATED
  }
}
