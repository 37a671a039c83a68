/**
 * Strings of a workbook: the shared strings, and the text of rich text.
 *
 * Source: ECMA-376 part 1, 18.4. A string's text is that of `t`, or of the `t` of its runs `r` one after the other.
 * Phonetic runs (`rPh`) state the pronunciation and are left out. White space is kept, with or without xml:space.
 */
import { Fault } from '../../core/errors.js'
import { ElementReader } from './element-reader.js'
import { SPREADSHEET } from './names.js'

/** Resolves `_x000A_` to U+000A (22.9.2.19, ST_Xstring). A literal `_x000A_` is written `_x005F_x000A_`. */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** Most strings: the rows of a sheet. A small compressed file can hold millions of empty strings. */
const MAX_STRINGS = 1_048_576

/** Most elements, of strings and inside them. */
const MAX_ELEMENTS = 4 * MAX_STRINGS

export class SharedStringsReader extends ElementReader {
  readonly strings: string[] = []
  #current = ''
  #elements = 0

  constructor() {
    super('xlsx', SPREADSHEET, 'sst')
  }

  protected enter(local: string): void {
    if (++this.#elements > MAX_ELEMENTS) throw tooMany('elements', MAX_ELEMENTS)
    if (local === 'si') this.#current = ''
  }

  protected leave(local: string): void {
    if (local !== 'si' || !this.within('sst', 'si')) return
    if (this.strings.length === MAX_STRINGS) throw tooMany('strings', MAX_STRINGS)
    this.strings.push(this.#current)
  }

  text(text: string): void {
    if (this.within('sst', 'si', 't') || this.within('sst', 'si', 'r', 't')) this.#current += unescapeText(text)
  }
}

function tooMany(what: string, limit: number): Fault {
  return new Fault({ format: 'xlsx', problem: `too many shared ${what}`, found: `more than ${limit}`, expected: 'fewer' })
}
