/**
 * Converts bytes to XML text: encoding, character and entity references, line ends. It also maps a position in the text
 * back to a byte of the part.
 *
 * Sources: XML 1.0 (2.2 characters, 2.11 line ends, 3.3.3 attribute values, 4.1 and 4.6 references, appendix F encodings);
 * ECMA-376 part 2, which allows UTF-8 and UTF-16 only. No entity is expanded except the five that XML itself defines.
 */
import { printable } from '../../core/errors.js'

export type XmlEncoding = 'utf-8' | 'utf-16le' | 'utf-16be'

/** A problem in a piece of text. `index` is its UTF-16 unit. */
export interface TextProblem {
  readonly problem: string
  readonly found: string
  readonly expected: string
  readonly index: number
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const REFERENCE = /&(?:#x([0-9a-fA-F]{1,8})|#([0-9]{1,10})|([A-Za-z_][\w.-]{0,63}));/y
/** Characters that XML 1.0 does not allow. The decoder and `isXmlCharacter` check surrogates. */
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/

/** Decides by the byte order mark, else by the bytes of the first `<`. */
export function detectEncoding(bytes: Uint8Array): { readonly encoding: XmlEncoding; readonly markLength: number } {
  const [a, b, c] = bytes
  if (a === 0xff && b === 0xfe) return { encoding: 'utf-16le', markLength: 2 }
  if (a === 0xfe && b === 0xff) return { encoding: 'utf-16be', markLength: 2 }
  if (a === 0x3c && b === 0) return { encoding: 'utf-16le', markLength: 0 }
  if (a === 0 && b === 0x3c) return { encoding: 'utf-16be', markLength: 0 }
  return { encoding: 'utf-8', markLength: a === 0xef && b === 0xbb && c === 0xbf ? 3 : 0 }
}

/** Byte offset of the UTF-16 unit `index` in the decoded text. @param bytes the whole part, valid up to there */
export function byteOffset(bytes: Uint8Array, index: number): number {
  const { encoding, markLength } = detectEncoding(bytes)
  if (encoding !== 'utf-8') return markLength + 2 * index
  let at = markLength
  for (let units = 0; units < index && at < bytes.length; ) {
    const lead = bytes[at]
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
    units += length === 4 ? 2 : 1
    at += length
  }
  return at
}

/**
 * Offset of the first character in the bytes `from` to `to` that is not valid in `encoding`. All bytes before `from` are
 * valid, except for a character that is cut there.
 */
export function undecodableOffset(bytes: Uint8Array, from: number, to: number, encoding: XmlEncoding): number {
  let start = Math.max(0, from - (encoding === 'utf-8' ? 3 : 2))
  if (encoding === 'utf-8') while (start > 0 && (bytes[start] & 0xc0) === 0x80) start--
  // The longest prefix that decodes, found by bisection: `stream` accepts a character that is cut at its end.
  let good = start
  let bad = to
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    try {
      new TextDecoder(encoding, { fatal: true }).decode(bytes.subarray(start, middle), { stream: true })
      good = middle
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      bad = middle
    }
  }
  return good
}

function isXmlCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d
  if (code >= 0xd800 && code <= 0xdfff) return false
  return code <= 0x10ffff && code !== 0xfffe && code !== 0xffff
}

/** The reference at `at`; null if there is no well-formed one of a known character. */
function reference(raw: string, at: number): { readonly text: string; readonly length: number } | null {
  REFERENCE.lastIndex = at
  const match = REFERENCE.exec(raw)
  if (match === null) return null
  const [whole, hex, decimal, name] = match
  if (name !== undefined) {
    return Object.hasOwn(ENTITIES, name) ? { text: ENTITIES[name], length: whole.length } : null
  }
  const code = hex === undefined ? Number.parseInt(decimal, 10) : Number.parseInt(hex, 16)
  return isXmlCharacter(code) ? { text: String.fromCodePoint(code), length: whole.length } : null
}

function decodeXmlReferences(raw: string): string | TextProblem {
  let text = ''
  let from = 0
  for (let at = raw.indexOf('&'); at >= 0; at = raw.indexOf('&', from)) {
    const found = reference(raw, at)
    if (found === null) {
      return {
        problem: 'invalid reference',
        found: `'${printable(raw.slice(at, at + 24))}'`,
        index: at,
        expected: '&amp; &lt; &gt; &quot; &apos; or the number of a character (nothing else is expanded)'
      }
    }
    text += raw.slice(from, at) + found.text
    from = at + found.length
  }
  return from === 0 ? raw : text + raw.slice(from)
}

function forbidden(raw: string): TextProblem | null {
  const index = raw.search(FORBIDDEN)
  if (index < 0) return null
  return { problem: 'invalid character', found: `'${printable(raw[index])}'`, expected: 'characters of XML 1.0', index }
}

/** Decodes character data between tags. */
export function decodeCharacterData(raw: string): string | TextProblem {
  const bad = forbidden(raw)
  if (bad !== null) return bad
  const stray = raw.search(/<|\]\]>/)
  if (stray >= 0) {
    const found = `'${printable(raw.slice(stray, stray + 24))}'`
    return { problem: 'invalid markup', found, expected: 'a tag, or text without < and ]]>', index: stray }
  }
  return decodeXmlReferences(raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw)
}

/** Decodes the content of a CDATA section. */
export function decodeSection(raw: string): string | TextProblem {
  return forbidden(raw) ?? (raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw)
}

/** Decodes an attribute's value. White space becomes spaces before references are resolved. */
export function decodeAttribute(raw: string): string | TextProblem {
  const bad = forbidden(raw)
  if (bad !== null) return bad
  const stray = raw.indexOf('<')
  if (stray >= 0) return { problem: 'invalid attribute', found: "'<' in its value", expected: '&lt;', index: stray }
  return decodeXmlReferences(/[\t\n\r]/.test(raw) ? raw.replace(/\r\n|[\t\n\r]/g, ' ') : raw)
}
