/**
 * Workbooks (`.xlsx`, `.xlsm`): sheets by name, cells by reference, as stored. Nothing is computed or written.
 *
 * Source: ECMA-376 parts 1 (SpreadsheetML, strict) and 4 (transitional). A sheet's part is the one that its relationship
 * names. Chart and dialog sheets are listed, but not read. Not supported: encrypted workbooks, `.xls`, `.xlsb`.
 *
 * ```
 * bytes ─ package.ts ─ zip directory, relationships
 *            │
 *         xml.ts      events of one part, in pieces
 *            ├─ workbook part   sheet list, date system        at once
 *            ├─ styles.ts, strings.ts                          at the first sheet
 *            └─ sheet.ts        cells, merged ranges           sheet by sheet
 * ```
 */
import { printable, toFault } from '../../core/errors.js'
import { ElementReader } from './element-reader.js'
import { RELATIONSHIP, SPREADSHEET } from './names.js'
import { OfficePackage, type OfficeOptions, type Relationship } from './package.js'
import { SheetReader, type Sheet } from './sheet.js'
import { StylesReader, type NumberFormat } from './styles.js'
import { SharedStringsReader } from './strings.js'
import type { XmlAttributes } from './xml.js'

export type { Cell, CellContent, Formula } from './cells.js'
export type { OfficeLimits, OfficeOptions } from './package.js'
export { cellReference, columnName, parseCellReference, parseRange, type CellPosition, type CellRange } from './references.js'
export type { Sheet } from './sheet.js'
export type { NumberFormat } from './styles.js'

export interface SheetInfo {
  readonly name: string
  readonly state: 'visible' | 'hidden' | 'veryHidden'
  /** only a worksheet has cells */
  readonly kind: 'worksheet' | 'chartsheet' | 'dialogsheet' | 'other'
  /** name of the part in the package */
  readonly part: string
}

export interface Workbook {
  /** in the order of the tabs */
  readonly sheets: readonly SheetInfo[]
  /** true if serial numbers count from 1904-01-01 */
  readonly date1904: boolean
  /** Reads a worksheet, anew at each call. @throws Fault if there is none of that name */
  readSheet(name: string): Promise<Sheet>
}

interface ListedSheet {
  readonly name: string
  readonly state: string
  readonly id: string | undefined
}

class WorkbookReader extends ElementReader {
  readonly listed: ListedSheet[] = []
  date1904 = false

  constructor() {
    super('xlsx', SPREADSHEET, 'workbook')
  }

  protected enter(local: string, attributes: XmlAttributes): void {
    if (local === 'workbookPr') this.date1904 = /^(1|true|on)$/.test(attributes.get('date1904') ?? '')
    else if (local === 'sheet' && this.within('workbook', 'sheets', 'sheet')) {
      const name = attributes.get('name') ?? ''
      const state = attributes.get('state') ?? 'visible'
      this.listed.push({ name, state, id: attributes.getIn(RELATIONSHIP, 'id') })
    }
  }

  protected leave(): void {}

  text(): void {}
}

function sheetKind(kind: string): SheetInfo['kind'] {
  return kind === 'worksheet' || kind === 'chartsheet' || kind === 'dialogsheet' ? kind : 'other'
}

function sheetInfo(pkg: OfficePackage, listed: ListedSheet, relationships: ReadonlyMap<string, Relationship>): SheetInfo {
  const { name, state, id } = listed
  const { kind, target } = pkg.target(relationships, id, `sheet '${printable(name)}'`)
  if (state !== 'visible' && state !== 'hidden' && state !== 'veryHidden') {
    throw pkg.fault('bad sheet state', `'${printable(state)}'`, 'visible, hidden or veryHidden', { member: target })
  }
  return { name, state, kind: sheetKind(kind), part: target }
}

/** Parts that every sheet needs. They are read once, when the first sheet is read. */
class SharedParts {
  #strings: Promise<readonly string[]> | null = null
  #formats: Promise<readonly NumberFormat[] | null> | null = null
  readonly #pkg: OfficePackage
  readonly #relationships: ReadonlyMap<string, Relationship>

  constructor(pkg: OfficePackage, relationships: ReadonlyMap<string, Relationship>) {
    this.#pkg = pkg
    this.#relationships = relationships
  }

  readStrings(): Promise<readonly string[]> {
    this.#strings ??= this.#read('sharedStrings', new SharedStringsReader(), reader => reader?.strings ?? [])
    return this.#strings
  }

  readFormats(): Promise<readonly NumberFormat[] | null> {
    this.#formats ??= this.#read('styles', new StylesReader(), reader => reader?.formats ?? null)
    return this.#formats
  }

  async #read<R extends ElementReader, T>(kind: string, reader: R, result: (reader: R | null) => T): Promise<T> {
    for (const relationship of this.#relationships.values()) {
      if (relationship.kind !== kind || relationship.target === null) continue
      await this.#pkg.parse(relationship.target, reader)
      return result(reader)
    }
    return result(null)
  }
}

/** Opens a workbook in memory. Only the sheet list is read. */
export async function openWorkbook(bytes: Uint8Array, options: OfficeOptions = {}): Promise<Workbook> {
  const pkg = new OfficePackage(bytes, 'xlsx', options)
  const main = await pkg.mainPart()
  if (main.toLowerCase().endsWith('.bin')) {
    throw pkg.fault('unsupported', 'a binary workbook (.xlsb)', 'an XML one (.xlsx)', { member: main })
  }
  const relationships = await pkg.relationships(main)
  const reader = new WorkbookReader()
  await pkg.parse(main, reader)
  const sheets = reader.listed.map(listed => sheetInfo(pkg, listed, relationships))
  const byName = new Map(sheets.map(sheet => [sheet.name, sheet]))
  if (byName.size !== sheets.length) {
    const found = `${sheets.length} sheets of ${byName.size} names`
    throw pkg.fault('duplicate sheet', found, 'distinct names', { member: main })
  }
  const shared = new SharedParts(pkg, relationships)
  const { date1904 } = reader

  return {
    sheets,
    date1904,
    async readSheet(name) {
      const info = byName.get(name)
      if (info === undefined) {
        const names = sheets
          .map(sheet => `'${printable(sheet.name, 40)}'`)
          .slice(0, 20)
          .join(', ')
        throw pkg.fault('missing sheet', `only ${names === '' ? 'no sheet' : names}`, `a sheet '${printable(name)}'`, {})
      }
      if (info.kind !== 'worksheet') {
        const found = `'${printable(name)}', which is a ${info.kind}`
        throw pkg.fault('not a worksheet', found, 'a sheet with cells', { member: info.part })
      }
      // In sequence: parsing two parts at once would take twice the memory and save no time.
      const formats = await shared.readFormats()
      const strings = await shared.readStrings()
      const sheet = new SheetReader({ date1904, formats, strings, maxCells: pkg.limits.maxCells })
      await pkg.parse(info.part, sheet)
      try {
        return sheet.finish(name, info.part)
      } catch (error) {
        throw toFault(error, 'xlsx', { ...pkg.place, member: info.part })
      }
    }
  }
}
