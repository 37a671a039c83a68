/**
 * Text and tables of one slide or notes page.
 *
 * Source: ECMA-376 part 1, 19.3 (PresentationML) and 21.1 (DrawingML text and tables); part 3 for AlternateContent, of
 * which the first choice is read, as current PowerPoint does. The order is that of the part, which is the order of the
 * shapes from back to front. Groups are entered. Not read: charts, SmartArt and embedded objects, whose text lies in other
 * parts.
 */
import { Fault, printable } from '../../core/errors.js'
import { COMPATIBILITY, DRAWING, PRESENTATION } from './names.js'
import type { XmlAttributes, XmlHandler, XmlName } from './xml.js'
import { unescapeText } from './strings.js'

/** A cell that takes part in a merge, as the covering or as a covered cell. Rows and columns count from 0. */
export interface TableSpan {
  readonly row: number
  readonly column: number
  /** number of columns and rows that the cell covers, itself included */
  readonly gridSpan: number
  readonly rowSpan: number
  /** covered by the cell to its left, or by the cell above it */
  readonly hMerge: boolean
  readonly vMerge: boolean
}

export interface SlideTable {
  /** text of each cell, its paragraphs joined by `\n`, line breaks as `\v`; a covered cell keeps the text it stores */
  readonly rows: readonly (readonly string[])[]
  readonly spans: readonly TableSpan[]
}

export interface SlideText {
  /** paragraphs with text in reading order, those of tables included; line breaks as `\v` */
  readonly texts: readonly string[]
  readonly tables: readonly SlideTable[]
  /** text of the title's placeholder; null without one */
  readonly title: string | null
  /** text of the slide number's placeholder; null without one */
  readonly pageNumber: string | null
  /** true if the attribute `show` of the root is false */
  readonly hidden: boolean
}

interface OpenTable {
  readonly rows: string[][]
  readonly spans: TableSpan[]
}

/** Placeholders with text that the author did not write: the slide's picture, number, date, header and footer. */
const FURNITURE: ReadonlySet<string> = new Set(['sldImg', 'sldNum', 'dt', 'hdr', 'ftr'])
const TITLES: ReadonlySet<string> = new Set(['title', 'ctrTitle'])
const MAX_SPAN = 100_000

function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true'
}

export class SlideReader implements XmlHandler {
  readonly #texts: string[] = []
  readonly #tables: SlideTable[] = []
  readonly #titles: string[] = []
  readonly #pageNumbers: string[] = []
  #hidden = false
  #depth = 0
  /** elements below this depth are skipped; -1: none */
  #skipDepth = -1
  /** for each open AlternateContent: whether a choice has been read */
  readonly #alternatives: boolean[] = []
  readonly #openTables: OpenTable[] = []
  /** paragraphs of each open table cell */
  readonly #openCells: string[][] = []
  #paragraph: string | null = null
  #inText = false
  #placeholder = ''
  readonly #root: 'sld' | 'notes'
  readonly #author: boolean

  /** @param author leaves out the text of page furniture */
  constructor(root: 'sld' | 'notes', author: boolean) {
    this.#root = root
    this.#author = author
  }

  result(): SlideText {
    const joined = (paragraphs: readonly string[]): string | null => (paragraphs.length === 0 ? null : paragraphs.join('\n'))
    return {
      texts: this.#texts,
      tables: this.#tables,
      hidden: this.#hidden,
      title: joined(this.#titles),
      pageNumber: joined(this.#pageNumbers)
    }
  }

  open(name: XmlName, attributes: XmlAttributes): void {
    this.#depth++
    if (this.#skipDepth >= 0) return
    if (this.#depth === 1) this.#openRoot(name, attributes)
    else if (name.uri === COMPATIBILITY) this.#openAlternative(name.local)
    else if (PRESENTATION.has(name.uri)) this.#openShape(name.local, attributes)
    else if (DRAWING.has(name.uri)) this.#openDrawing(name.local, attributes)
  }

  #openRoot(name: XmlName, attributes: XmlAttributes): void {
    if (!PRESENTATION.has(name.uri) || name.local !== this.#root) {
      const found = `<${printable(name.local)}> of '${printable(name.uri)}'`
      throw new Fault({ format: 'pptx', problem: 'not recognised', found, expected: `<${this.#root}> of its namespace` })
    }
    const show = attributes.get('show')
    this.#hidden = show === '0' || show === 'false'
  }

  #openAlternative(local: string): void {
    if (local === 'AlternateContent') this.#alternatives.push(false)
    else if (local === 'Choice' || local === 'Fallback') {
      if (this.#alternatives.at(-1) === true) this.#skipDepth = this.#depth
      else this.#alternatives[this.#alternatives.length - 1] = true
    }
  }

  #openShape(local: string, attributes: XmlAttributes): void {
    if (local === 'sp' || local === 'graphicFrame') this.#placeholder = ''
    else if (local === 'ph') this.#placeholder = attributes.get('type') ?? 'obj'
  }

  #openDrawing(local: string, attributes: XmlAttributes): void {
    if (local === 'tbl') this.#openTables.push({ rows: [], spans: [] })
    else if (local === 'tr') this.#openTables.at(-1)?.rows.push([])
    else if (local === 'tc') this.#openCell(attributes)
    else if (local === 'p') this.#paragraph = ''
    else if (local === 'br' && this.#paragraph !== null) this.#paragraph += '\v'
    else if (local === 't' && this.#paragraph !== null) this.#inText = true
  }

  #openCell(attributes: XmlAttributes): void {
    const table = this.#openTables.at(-1)
    const row = table?.rows.at(-1)
    if (table === undefined || row === undefined) {
      throw new Fault({ format: 'pptx', problem: 'bad table', found: 'a cell outside a row', expected: 'it in one' })
    }
    const [gridSpan, rowSpan] = [span(attributes.get('gridSpan')), span(attributes.get('rowSpan'))]
    const [hMerge, vMerge] = [isTrue(attributes.get('hMerge')), isTrue(attributes.get('vMerge'))]
    if (gridSpan > 1 || rowSpan > 1 || hMerge || vMerge) {
      table.spans.push({ row: table.rows.length - 1, column: row.length, gridSpan, rowSpan, hMerge, vMerge })
    }
    this.#openCells.push([])
  }

  text(text: string): void {
    if (this.#inText && this.#paragraph !== null && this.#skipDepth < 0) this.#paragraph += unescapeText(text)
  }

  close(name: XmlName): void {
    const depth = this.#depth
    this.#depth--
    if (this.#skipDepth >= 0) {
      if (depth === this.#skipDepth) this.#skipDepth = -1
      return
    }
    if (name.uri === COMPATIBILITY && name.local === 'AlternateContent') this.#alternatives.pop()
    if (!DRAWING.has(name.uri)) return
    if (name.local === 't') this.#inText = false
    else if (name.local === 'p') this.#closeParagraph()
    else if (name.local === 'tc') {
      const paragraphs = this.#openCells.pop()
      if (paragraphs !== undefined) this.#openTables.at(-1)?.rows.at(-1)?.push(paragraphs.join('\n'))
    } else if (name.local === 'tbl') {
      const table = this.#openTables.pop()
      if (table !== undefined) this.#tables.push(table)
    }
  }

  #closeParagraph(): void {
    const paragraph = this.#paragraph
    this.#paragraph = null
    if (paragraph === null) return
    this.#openCells.at(-1)?.push(paragraph)
    if (paragraph === '') return
    if (TITLES.has(this.#placeholder)) this.#titles.push(paragraph)
    else if (this.#placeholder === 'sldNum') this.#pageNumbers.push(paragraph)
    if (this.#author && FURNITURE.has(this.#placeholder)) return
    this.#texts.push(paragraph)
  }
}

function span(value: string | undefined): number {
  if (value === undefined) return 1
  const count = /^[0-9]{1,6}$/.test(value) ? Number(value) : 0
  if (count >= 1 && count <= MAX_SPAN) return count
  const found = `span '${printable(value)}'`
  throw new Fault({ format: 'pptx', problem: 'bad table', found, expected: `1 to ${MAX_SPAN}` })
}
