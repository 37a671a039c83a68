/**
 * Determines the character encoding of a page (HTML standard, 13.2.3: BOM, then the prescan for a meta element in the
 * first 1024 bytes, then UTF-8) and converts the page to UTF-8. Labels are those of the Encoding standard.
 *
 * Not supported: encodings other than UTF-8, windows-1252 and, with a BOM, UTF-16. They are refused by name. Invalid
 * UTF-8 is passed on unchanged; the reader of the text decides. In UTF-16 a lone surrogate becomes U+FFFD, as in browsers.
 */
import { Fault, printable } from '../../core/errors.js'
import { asciiLowerCase } from './tags.js'

export type Encoding = 'utf-8' | 'windows-1252' | 'utf-16le' | 'utf-16be'

export const PRESCAN_BYTES = 1024

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '))

const UTF_8 = words('unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8')
const WINDOWS_1252 = words(
  'ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 ' +
    'iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252 x-user-defined'
)
/** Labels of UTF-16 that mean UTF-8: a page whose meta element can be read is not UTF-16. */
const UTF_16 = words('csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff unicodefffe utf-16 utf-16be utf-16le')

/** Code points of the bytes 0x80 to 0x9f in windows-1252; the other bytes are those of latin1. */
const HIGH_1252 =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
  '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178'

/** The encoding that a label in a meta element asks for. */
export function encodingOfLabel(label: string, offset: number): Encoding {
  const name = asciiLowerCase(label.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, ''))
  if (UTF_8.has(name) || UTF_16.has(name)) return 'utf-8'
  if (WINDOWS_1252.has(name)) return 'windows-1252'
  throw new Fault({
    format: 'html',
    problem: 'unsupported encoding',
    found: `"${printable(label)}"`,
    expected: 'utf-8 or windows-1252',
    place: { offset }
  })
}

/** "Extracting a character encoding from a meta element": the label in `content`, such as `text/html; charset=x`. */
export function labelInContent(content: string): string | null {
  const match = /charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^"'\t\n\f\r ;][^\t\n\f\r ;]*))/i.exec(content)
  return match === null ? null : (match[1] ?? match[2] ?? match[3])
}

export interface Sniffed {
  readonly encoding: Encoding
  readonly bomLength: number
  /** neither a BOM nor a meta element declares the encoding */
  readonly isDefault: boolean
}

/** Decides by the first PRESCAN_BYTES bytes, or by all of a shorter page. */
export function sniff(head: Buffer): Sniffed {
  const bom = head.toString('hex', 0, 3)
  if (bom === 'efbbbf') return { encoding: 'utf-8', bomLength: 3, isDefault: false }
  if (bom.startsWith('feff')) return { encoding: 'utf-16be', bomLength: 2, isDefault: false }
  if (bom.startsWith('fffe')) return { encoding: 'utf-16le', bomLength: 2, isDefault: false }
  const declared = new Prescan(head.toString('latin1', 0, PRESCAN_BYTES)).run()
  return { encoding: declared ?? 'utf-8', bomLength: 0, isDefault: declared === null }
}

/** "Prescan a byte stream to determine its encoding". Unlike the tokenizer, it ignores scripts and templates. */
class Prescan {
  #at = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  run(): Encoding | null {
    const text = this.#text
    for (; this.#at < text.length; this.#at++) {
      if (text[this.#at] !== '<') continue
      const start = this.#at
      if (text.startsWith('<!--', start)) {
        const end = text.indexOf('-->', start + 2)
        if (end < 0) return null
        this.#at = end + 2
      } else if (/^<meta[\t\n\f\r /]/i.test(text.slice(start, start + 6))) {
        this.#at += 5
        const encoding = this.#meta(start)
        if (encoding !== null) return encoding
      } else if (/^<\/?[a-z]/i.test(text.slice(start, start + 3))) {
        while (this.#at < text.length && !/[\t\n\f\r >]/.test(text[this.#at])) this.#at++
        while (this.#attribute() !== null);
      } else if (/^<[!/?]/.test(text.slice(start, start + 2))) {
        const end = text.indexOf('>', start)
        if (end < 0) return null
        this.#at = end
      }
    }
    return null
  }

  #meta(offset: number): Encoding | null {
    const attributes = new Map<string, string>()
    for (let pair = this.#attribute(); pair !== null; pair = this.#attribute()) {
      if (!attributes.has(pair[0])) attributes.set(pair[0], pair[1])
    }
    const label = labelOfMeta(attributes)
    const isCut = this.#at >= this.#text.length
    return label === null || isCut ? null : encodingOfLabel(label, offset)
  }

  /** "Get an attribute": name and value; null at the `>` of the tag, where it stops, and at the end of the text. */
  #attribute(): readonly [string, string] | null {
    this.#skip(/[\t\n\f\r /]*/y)
    const name = asciiLowerCase(this.#skip(/[^>\t\n\f\r /][^\t\n\f\r />=]*/y))
    if (name === '') return null
    if (this.#skip(/[\t\n\f\r ]*=[\t\n\f\r ]*/y) === '') return [name, '']
    const quoted = this.#skip(/"[^"]*"|'[^']*'/y)
    if (quoted !== '') return [name, quoted.slice(1, -1)]
    if (/["']/.test(this.#text[this.#at] ?? '')) this.#at = this.#text.length
    return [name, this.#skip(/[^\t\n\f\r >]*/y)]
  }

  /** Moves past a match of the sticky pattern and returns the match. */
  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += match.length
    return match
  }
}

/** The label in a meta element's attributes, or null. */
export function labelOfMeta(attributes: ReadonlyMap<string, string>): string | null {
  const charset = attributes.get('charset')
  if (charset !== undefined) return charset
  const content = attributes.get('content')
  const isPragma = attributes.get('http-equiv')?.toLowerCase() === 'content-type'
  return isPragma && content !== undefined ? labelInContent(content) : null
}

/** Converts the bytes of a page to UTF-8, chunk by chunk. UTF-8 is passed on without a copy. */
export class Transcoder {
  readonly #decoder: TextDecoder | null
  readonly #encoding: Encoding

  constructor(encoding: Encoding) {
    this.#encoding = encoding
    const isUtf16 = encoding === 'utf-16le' || encoding === 'utf-16be'
    this.#decoder = isUtf16 ? new TextDecoder(encoding, { ignoreBOM: true }) : null
  }

  push(chunk: Buffer): Buffer {
    if (this.#decoder !== null) return Buffer.from(this.#decoder.decode(chunk, { stream: true }))
    return this.#encoding === 'windows-1252' ? fromWindows1252(chunk) : chunk
  }

  end(): Buffer {
    return Buffer.from(this.#decoder?.decode() ?? '')
  }
}

/** Converts by table: TextDecoder's windows-1252 is wrong on 0x80 to 0x9f in several releases of Node. */
function fromWindows1252(chunk: Buffer): Buffer {
  const latin1 = chunk.toString('latin1')
  return Buffer.from(latin1.replace(/[\x80-\x9f]/g, c => HIGH_1252[c.charCodeAt(0) - 0x80]))
}
