/**
 * Strings of a workbook: shared ones, and what a rich text is made of.
 *
 * Source: ECMA-376 part 1, 18.4. A string's text is that of `t`, or of the `t` of its runs `r` one after the other;
 * phonetic runs (`rPh`) are how it is read aloud and left out. White space is kept, with xml:space or without.
 */
import { Fault } from '../../core/errors.js'
import { ElementReader } from './element-reader.js'
import { SPREADSHEET } from './names.js'

/** `_x000A_` is the character U+000A (22.9.2.19, ST_Xstring); a true `_x000A_` is written `_x005F_x000A_`. */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** As many as a sheet has rows: a small compressed file can hold millions of empty ones. */
const MAX_STRINGS = 1_048_576

/** Of strings and what they are made of. */
const MAX_ELEMENTS = 4 * MAX_STRINGS

export class SharedStringsReader extends ElementReader {
  readonly strings: string[] = []
  private current = ''
  private elements = 0

  constructor() {
    super('xlsx', SPREADSHEET, 'sst')
  }

  protected enter(local: string): void {
    if (++this.elements > MAX_ELEMENTS) throw tooMany('elements', MAX_ELEMENTS)
    if (local === 'si') this.current = ''
  }

  protected leave(local: string): void {
    if (local !== 'si' || !this.within('sst', 'si')) return
    if (this.strings.length === MAX_STRINGS) throw tooMany('strings', MAX_STRINGS)
    this.strings.push(this.current)
  }

  text(text: string): void {
    if (this.within('sst', 'si', 't') || this.within('sst', 'si', 'r', 't')) this.current += unescapeText(text)
  }
}

function tooMany(what: string, limit: number): Fault {
  return new Fault({ format: 'xlsx', problem: `too many shared ${what}`, found: `more than ${limit}`, expected: 'fewer' })
}
