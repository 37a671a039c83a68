/**
 * Number formats of cells, from `styles.xml`. Nothing else of it is read.
 *
 * Source: ECMA-376 part 1, 18.8.30 and 18.8.31. Ids 27 to 36 and 50 to 58 are the dates of Chinese, Japanese and Korean
 * Excel; their codes depend on its language and are null here.
 */
import { ElementReader } from './element-reader.js'
import { SPREADSHEET } from './names.js'
import { unescapeText } from './strings.js'
import { Fault, printable } from '../../core/errors.js'
import type { XmlAttributes } from './xml.js'

export interface NumberFormat {
  readonly id: number
  /** null for a built-in format whose code depends on the language */
  readonly code: string | null
  /** true if the format shows a day or a time of day; a duration such as `[h]:mm` does not */
  readonly date: boolean
}

const BUILT_IN: Readonly<Record<number, string>> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '"$"#,##0_);("$"#,##0)',
  6: '"$"#,##0_);[Red]("$"#,##0)',
  7: '"$"#,##0.00_);("$"#,##0.00)',
  8: '"$"#,##0.00_);[Red]("$"#,##0.00)',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'mm-dd-yy',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'm/d/yy h:mm',
  37: '#,##0 ;(#,##0)',
  38: '#,##0 ;[Red](#,##0)',
  39: '#,##0.00;(#,##0.00)',
  40: '#,##0.00;[Red](#,##0.00)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mmss.0',
  48: '##0.0E+0',
  49: '@'
}

/** Quoted text, escaped characters, padding and repeated characters. */
const LITERALS = /"[^"]*"?|[\\_*][\s\S]?/g
const ELAPSED = /\[(h+|m+|s+)\]/i

/** True if the format code shows a number as a day or a time of day. Only the section for positive numbers counts. */
export function isDateCode(code: string): boolean {
  const section = code.replace(LITERALS, '').split(';', 1)[0]
  if (ELAPSED.test(section)) return false
  return /[dmyhs]/i.test(section.replace(/\[[^\]]*\]/g, '').replace(/general/gi, ''))
}

function builtIn(id: number): NumberFormat {
  const code = BUILT_IN[id] ?? null
  const localDate = (id >= 27 && id <= 36) || (id >= 50 && id <= 58)
  return { id, code, date: code === null ? localDate : isDateCode(code) }
}

export const GENERAL = builtIn(0)

function formatId(text: string | undefined): number {
  const id = text === undefined ? 0 : /^[0-9]{1,9}$/.test(text) ? Number(text) : -1
  if (id >= 0) return id
  const found = `number format id '${printable(text ?? '')}'`
  throw new Fault({ format: 'xlsx', problem: 'bad style', found, expected: 'a whole number' })
}

/** Reads `styles.xml`. `formats` is indexed by the attribute `s` of a cell. */
export class StylesReader extends ElementReader {
  readonly formats: NumberFormat[] = []
  readonly #custom = new Map<number, NumberFormat>()

  constructor() {
    super('xlsx', SPREADSHEET, 'styleSheet')
  }

  protected enter(local: string, attributes: XmlAttributes): void {
    if (local === 'numFmt' && this.within('styleSheet', 'numFmts', 'numFmt')) {
      const id = formatId(attributes.get('numFmtId'))
      const code = unescapeText(attributes.get('formatCode') ?? '')
      this.#custom.set(id, { id, code, date: isDateCode(code) })
    } else if (local === 'xf' && this.within('styleSheet', 'cellXfs', 'xf')) {
      const id = formatId(attributes.get('numFmtId'))
      this.formats.push(this.#custom.get(id) ?? builtIn(id))
    }
  }

  protected leave(): void {}

  text(): void {}
}
