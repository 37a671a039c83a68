/**
 * One worksheet as a map of its cells. Only cells with content are kept, whatever size the sheet states.
 *
 * Source: ECMA-376 part 1, 18.3.1. Cells may come in any order. A row or cell without a reference follows the one before.
 * Not read: column widths, comments, hyperlinks, validations, conditional formats, elements of a foreign namespace.
 */
import { Fault, printable } from '../../core/errors.js'
import { cellContent, type Cell, type CellFrame, type CellContent, type Formula, type Workings } from './cells.js'
import { ElementReader } from './element-reader.js'
import { distinctMerges, eachCovered } from './merges.js'
import { SPREADSHEET } from './names.js'
import { MAX_COLUMN, MAX_ROW } from '../../schema/grid.js'
import { cellReference, parseRange, parseCellReference, type CellRange } from './references.js'
import { GENERAL, type NumberFormat } from './styles.js'
import { unescapeText } from './strings.js'
import type { XmlAttributes } from './xml.js'

export interface Sheet {
  readonly name: string
  /** name of the part in the package */
  readonly part: string
  /** cells with a value or a formula, by reference (`B7`) */
  readonly cells: ReadonlyMap<string, Cell>
  /** merged ranges, each once */
  readonly merges: readonly CellRange[]
}

export interface SheetContext extends Workings {
  /** null for a workbook without styles: then every cell has the format General */
  readonly formats: readonly NumberFormat[] | null
  readonly maxCells: number
}

function sheetFault(problem: string, found: string, expected: string): Fault {
  return new Fault({ format: 'xlsx', problem, found, expected })
}

type OpenFormula = { text: string; readonly shared: string | null; readonly table: boolean }
/** A cell that may still change: shared formulas and merged ranges are known only at the end of the sheet. */
type MutableCell = CellContent & { -readonly [K in keyof CellFrame]: CellFrame[K] }

/** The cell that is read now. */
interface OpenCell {
  readonly ref: string
  readonly row: number
  readonly column: number
  readonly type: string
  readonly format: NumberFormat
  stored: string | null
  inline: string | null
  formula: OpenFormula | null
}

export class SheetReader extends ElementReader {
  readonly #cells = new Map<string, MutableCell>()
  readonly #merges: CellRange[] = []
  readonly #shared = new Map<string, Formula>()
  readonly #sharers: { readonly cell: MutableCell; readonly group: string }[] = []
  #row = 0
  #column = 0
  #cell: OpenCell | null = null
  readonly #context: SheetContext

  constructor(context: SheetContext) {
    super('xlsx', SPREADSHEET, 'worksheet')
    this.#context = context
  }

  protected enter(local: string, attributes: XmlAttributes): void {
    if (local === 'c') {
      if (this.within('worksheet', 'sheetData', 'row', 'c')) this.#cell = this.#openCell(attributes)
    } else if (this.#cell !== null) this.#enterInCell(local, this.#cell, attributes)
    else if (local === 'row' && this.within('worksheet', 'sheetData', 'row')) this.#openRow(attributes.get('r'))
    else if (local === 'mergeCell' && this.within('worksheet', 'mergeCells', 'mergeCell')) {
      const ref = attributes.get('ref') ?? ''
      const range = parseRange(ref)
      if (range === null) throw sheetFault('bad merged range', `'${printable(ref)}'`, 'a range such as A1:C3')
      this.#merges.push(range)
    }
  }

  #enterInCell(local: string, cell: OpenCell, attributes: XmlAttributes): void {
    if (!this.within('c', local)) return
    if (local === 'v' && cell.stored === null) cell.stored = ''
    else if (local === 'is' && cell.inline === null) cell.inline = ''
    else if (local === 'f' && cell.formula === null) {
      const type = attributes.get('t')
      const group = attributes.get('si')
      const shared = type === 'shared' && group !== undefined ? group : null
      cell.formula = { text: '', shared, table: type === 'dataTable' }
    } else if (local === 'v' || local === 'is' || local === 'f') {
      throw sheetFault('bad cell', `two <${local}> in cell ${cell.ref}`, 'one')
    }
  }

  #openRow(written: string | undefined): void {
    this.#column = 0
    if (written === undefined) this.#row++
    else this.#row = /^[0-9]{1,7}$/.test(written) ? Number(written) : 0
    if (this.#row >= 1 && this.#row <= MAX_ROW) return
    throw sheetFault('bad row', `'${printable(written ?? String(this.#row))}'`, `1 to ${MAX_ROW}`)
  }

  #openCell(attributes: XmlAttributes): OpenCell {
    const written = attributes.get('r')
    const row = this.#row
    if (written === undefined) this.#column++
    else {
      const position = parseCellReference(written)
      if (position === null) throw sheetFault('bad cell reference', `'${printable(written)}'`, `A1 to XFD${MAX_ROW}`)
      if (position.row !== row) throw sheetFault('bad cell reference', `'${printable(written)}' in row ${row}`, 'that row')
      this.#column = position.column
    }
    if (this.#column > MAX_COLUMN) throw sheetFault('bad cell', `column ${this.#column} in row ${row}`, `at most ${MAX_COLUMN}`)
    const ref = cellReference(row, this.#column)
    const format = this.#formatOf(attributes.get('s'), ref)
    const type = attributes.get('t') ?? 'n'
    return { ref, row, column: this.#column, type, format, stored: null, inline: null, formula: null }
  }

  #formatOf(index: string | undefined, ref: string): NumberFormat {
    const { formats } = this.#context
    if (index === undefined) return formats?.[0] ?? GENERAL
    if (formats === null) return GENERAL
    const format = /^[0-9]{1,9}$/.test(index) ? formats[Number(index)] : undefined
    if (format !== undefined) return format
    throw sheetFault('bad style', `index '${printable(index)}' in cell ${ref}`, `one of ${formats.length} formats`)
  }

  text(text: string): void {
    const cell = this.#cell
    if (cell === null) return
    if (cell.stored !== null && this.within('c', 'v')) cell.stored += text
    else if (cell.formula !== null && this.within('c', 'f')) cell.formula.text += text
    else if (cell.inline !== null && (this.within('c', 'is', 't') || this.within('c', 'is', 'r', 't'))) {
      cell.inline += unescapeText(text)
    }
  }

  protected leave(local: string): void {
    if (local !== 'c' || this.#cell === null || !this.within('sheetData', 'row', 'c')) return
    this.#keep(this.#cell)
    this.#cell = null
  }

  #keep(open: OpenCell): void {
    const { ref, row, column, type, format } = open
    const stored = type === 'inlineStr' ? open.inline : open.stored
    const value = cellContent(type, stored, format, this.#context, ref)
    if (value === null && open.formula === null) return
    if (this.#cells.has(ref)) throw sheetFault('duplicate cell', `${ref} twice`, 'each cell once')
    if (this.#cells.size >= this.#context.maxCells) {
      throw sheetFault('too many cells', `more than ${this.#context.maxCells}`, 'fewer cells with content')
    }
    const known = value ?? { kind: 'empty' as const, value: null }
    const text = known.kind === 'text' ? known.value : (stored ?? '').trim()
    const cell: MutableCell = { ref, row, column, ...known, text, formula: null, format, covered: false }
    if (open.formula !== null) this.#keepFormula(cell, open.formula)
    this.#cells.set(ref, cell)
  }

  #keepFormula(cell: MutableCell, { text, shared, table }: OpenFormula): void {
    const own = text === '' || table ? null : unescapeText(text)
    cell.formula = { text: own, from: cell.ref }
    if (shared === null) return
    if (own === null) this.#sharers.push({ cell, group: shared })
    else if (!this.#shared.has(shared)) this.#shared.set(shared, cell.formula)
  }

  /** Returns the sheet. Must be called once, after the whole part. */
  finish(name: string, part: string): Sheet {
    for (const { cell, group } of this.#sharers) cell.formula = this.#shared.get(group) ?? cell.formula
    const merges = distinctMerges(this.#merges)
    if (merges.length > 0) {
      eachCovered(merges, this.#cells.values(), this.#cells.size, (row, column) => {
        const cell = this.#cells.get(cellReference(row, column))
        if (cell !== undefined) cell.covered = true
      })
    }
    return { name, part, cells: this.#cells, merges }
  }
}
