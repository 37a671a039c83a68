/**
 * XML parts as events. htmlparser2 cuts the tags. Errors that it tolerates are refused here, because a part that is
 * misread gives wrong cells. Names are resolved to namespace and local name. Text is reported whole between two tags.
 *
 * Sources: XML 1.0 and Namespaces in XML 1.0. The part is parsed in pieces, with a turn of the event loop between them, so
 * that a large sheet does not block it. Only the open elements are kept. Refused: DOCTYPE (no entity is ever declared or
 * expanded), mismatched, missing and unknown tags, text outside the root, bare `&` and `<`, unquoted and repeated
 * attributes, undeclared prefixes, other encodings than UTF-8 and UTF-16, elements nested deeper and text longer than in
 * any office file. Not checked: blanks between attributes and in URIs, `/` before the end of a tag, `--` in comments, text
 * behind the name in a closing tag.
 */
import { setImmediate } from 'node:timers/promises'
import { Parser } from 'htmlparser2'
import { Fault, printable, toFault, type Place } from '../../core/errors.js'
import { Attributes, isQName, MAX_CACHED_NAMES, rootScope, Scope, type XmlAttributes, type XmlName } from './xml-names.js'
import {
  byteOffset,
  decodeAttribute,
  decodeCharacterData,
  decodeSection,
  detectEncoding,
  undecodableOffset,
  type TextProblem
} from './xml-text.js'

export type { XmlAttributes, XmlName } from './xml-names.js'

export interface XmlHandler {
  open(name: XmlName, attributes: XmlAttributes): void
  close(name: XmlName): void
  text(text: string): void
}

const CHUNK_BYTES = 64 * 1024
const MAX_DEPTH = 256
const MAX_ATTRIBUTES = 1000
/** Most UTF-16 units between two tags or in one attribute. A cell holds at most 32,767. */
const MAX_TEXT = 4 * 2 ** 20
/** Units kept of the end of the part, to find `</root  >`: htmlparser2 reports that tag at its name. */
const TAIL_UNITS = 256
const DECLARATION = new RegExp(
  '^\\?xml\\s+version\\s*=\\s*(?:"1\\.\\d+"|\'1\\.\\d+\')' +
    '(?:\\s+encoding\\s*=\\s*(?<encoding>"[\\w.-]+"|\'[\\w.-]+\'))?' +
    '(?:\\s+standalone\\s*=\\s*(?:"(?:yes|no)"|\'(?:yes|no)\'))?\\s*$'
)
const ALLOWED_ENCODINGS = /^(utf-?8|utf-?16(le|be)?|us-ascii)$/i

/** One parse. It holds the state between htmlparser2's events and the handler's. */
class XmlParse {
  readonly #parser: Parser
  readonly #open: { readonly name: XmlName; readonly outer: Scope }[] = []
  #scope = rootScope()
  readonly #attributes = new Attributes(this.#scope)
  readonly #plainNames = new Set<string>()
  /** true while all attributes of the tag have plain names */
  #plain = true
  /** undecoded character data, its start, and the text decoded before it */
  #raw = ''
  #rawStart = 0
  #decoded = ''
  #inSection = false
  #rootSeen = false
  #ending = false
  /** index behind the last event; the next event must start there, else htmlparser2 skipped something */
  #next = 0
  /** 1 after an instruction, whose `>` htmlparser2 counts as part of what follows */
  #skew = 0
  #selfClosingStart = -1
  #tail = ''
  #total = 0
  /** index of the current event, for the place of a fault */
  at = 0
  readonly #handler: XmlHandler

  constructor(handler: XmlHandler) {
    this.#handler = handler
    this.#parser = new Parser(
      {
        onattribute: (name, value, quote) => this.#onAttribute(name, value, quote),
        onopentagname: () => {
          this.#attributes.values.clear()
          this.#plain = true
        },
        onopentag: name => this.#onOpen(name),
        onclosetag: (name, implied) => this.#onClose(name, implied),
        ontext: text => this.#onText(text),
        oncdatastart: () => {
          this.#arrive(true)
          this.#inSection = true
        },
        oncdataend: () => {
          this.#inSection = false
        },
        oncomment: () => this.#arrive(true),
        onprocessinginstruction: (name, data) => this.#onInstruction(name, data)
      },
      { xmlMode: true, decodeEntities: false }
    )
  }

  write(text: string): void {
    this.#total += text.length
    this.#tail = (this.#tail + text).slice(-TAIL_UNITS)
    this.#parser.write(text)
  }

  end(): void {
    this.#ending = true
    this.#parser.end()
    const innermost = this.#open.at(-1)
    if (innermost !== undefined) {
      const found = `the end of the part inside <${printable(innermost.name.local)}>`
      throw this.#fault('cut off', found, 'its closing tag', this.#total)
    }
    this.#flush()
    const rest = this.#total - this.#next
    const tail = rest > 0 && rest <= this.#tail.length ? this.#tail.slice(-rest) : ''
    if (/^<\/.*>$/s.test(tail)) throw this.#skipped()
    if (rest !== 0 && !/^\s*>$/.test(tail)) throw this.#fault('cut off', 'an unfinished tag or comment', 'its end', this.#next)
    if (!this.#rootSeen) throw this.#fault('empty', 'no element', 'a root element', this.#total)
  }

  #fault(problem: string, found: string, expected: string, index: number): Fault {
    this.at = index
    return new Fault({ format: 'xml', problem, found, expected })
  }

  #checked(text: string | TextProblem, start: number): string {
    if (typeof text === 'string') return text
    throw this.#fault(text.problem, text.found, text.expected, start + text.index)
  }

  /** Records an event. Throws if anything lies between the last event and this one. */
  #arrive(decodes: boolean): void {
    const { startIndex, endIndex } = this.#parser
    this.at = startIndex + this.#skew
    if (startIndex !== this.#next) throw this.#skipped()
    this.#next = endIndex + 1
    this.#skew = 0
    if (decodes) this.#decodeRaw()
  }

  #skipped(): Fault {
    const found = 'a closing tag that closes nothing, or markup that is none'
    return this.#fault('invalid markup', found, 'well-formed XML', this.#next + this.#skew)
  }

  #decodeRaw(): void {
    if (this.#raw === '') return
    const outside = this.#open.length === 0 ? this.#raw.search(/[^ \t\r\n]/) : -1
    if (outside >= 0) {
      const found = `'${printable(this.#raw.slice(outside, outside + 24))}'`
      throw this.#fault('text outside the root element', found, 'a tag', this.#rawStart + outside)
    }
    this.#decoded += this.#checked(decodeCharacterData(this.#raw), this.#rawStart)
    this.#raw = ''
  }

  #flush(): void {
    this.#decodeRaw()
    const text = this.#decoded
    if (text === '') return
    this.#decoded = ''
    if (this.#open.length > 0) this.#handler.text(text)
  }

  #onText(text: string): void {
    if (this.#inSection) {
      this.#decoded += this.#checked(decodeSection(text), this.#parser.startIndex + '<![CDATA['.length)
      if (this.#open.length === 0) throw this.#fault('text outside the root element', 'a CDATA section', 'a tag', this.at)
    } else {
      this.#arrive(false)
      if (this.#raw === '') this.#rawStart = this.#parser.endIndex + 1 - text.length
      this.#raw += text
    }
    const length = this.#raw.length + this.#decoded.length
    if (length > MAX_TEXT) throw this.#fault('text too long', `${length} characters`, `at most ${MAX_TEXT}`, this.at)
  }

  #onAttribute(name: string, value: string, quote: string | null | undefined): void {
    const { values } = this.#attributes
    this.at = this.#parser.startIndex
    if (typeof quote !== 'string') {
      throw this.#fault('invalid attribute', `'${printable(name)}' without quotes`, 'name="value"', this.at)
    }
    if (values.has(name)) throw this.#fault('invalid attribute', `'${printable(name)}' twice`, 'it once', this.at)
    if (values.size >= MAX_ATTRIBUTES) {
      throw this.#fault('too many attributes', `more than ${MAX_ATTRIBUTES}`, 'fewer', this.at)
    }
    if (value.length > MAX_TEXT) {
      throw this.#fault('text too long', `${value.length} characters`, `at most ${MAX_TEXT}`, this.at)
    }
    values.set(name, this.#checked(decodeAttribute(value), this.at + name.length + 2))
    if (!this.#plainNames.has(name)) this.#plain &&= this.#isPlain(name)
  }

  /** True if the attribute's name involves no namespace. Cached, since a sheet has few names and many cells. */
  #isPlain(name: string): boolean {
    const plain = name !== 'xmlns' && !name.includes(':') && isQName(name)
    if (plain && this.#plainNames.size < MAX_CACHED_NAMES) this.#plainNames.add(name)
    return plain
  }

  #onOpen(raw: string): void {
    this.#arrive(true)
    const start = this.at
    this.#flush()
    if (this.#open.length === 0 && this.#rootSeen) {
      throw this.#fault('second root element', `<${printable(raw)}>`, 'one', start)
    }
    if (this.#open.length >= MAX_DEPTH) {
      throw this.#fault('nested too deeply', `more than ${MAX_DEPTH} elements`, 'fewer', start)
    }
    this.#rootSeen = true
    this.#selfClosingStart = this.#parser.startIndex
    const outer = this.#scope
    if (!this.#plain) this.#scope = this.#attributes.scope = this.#declare(outer, start)
    const name = this.#scope.resolve(raw)
    if (name === null) throw this.#badName(raw, start)
    this.#open.push({ name, outer })
    this.at = start
    this.#handler.open(name, this.#attributes)
  }

  /** The scope inside the element; the outer scope if it declares nothing. */
  #declare(outer: Scope, start: number): Scope {
    let inner = outer
    for (const [name, value] of this.#attributes.values) {
      if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue
      if (inner === outer) inner = new Scope(outer)
      const prefix = name.slice('xmlns:'.length)
      if (name.includes(':') && (value === '' || prefix === '')) {
        throw this.#fault('invalid namespace', `${printable(name)}="${printable(value)}"`, 'a prefix and a URI', start)
      }
      inner.own.set(prefix, value)
    }
    for (const name of this.#attributes.values.keys()) {
      if (name.startsWith('xmlns:') || (isQName(name) && (!name.includes(':') || inner.resolve(name) !== null))) continue
      throw this.#badName(name, start)
    }
    return inner
  }

  #badName(raw: string, at: number): Fault {
    return this.#fault('invalid name', `'${printable(raw)}'`, 'a name with a declared prefix or none', at)
  }

  #onClose(raw: string, implied: boolean): void {
    const innermost = this.#open.at(-1)
    const start = this.#parser.startIndex
    // At the end of the part htmlparser2 closes all open elements; end() refuses that.
    if (this.#ending) return
    if (innermost === undefined) throw this.#fault('invalid markup', `</${printable(raw)}>`, 'no closing tag', start)
    if (start === this.#selfClosingStart) this.at = start
    else if (implied) {
      throw this.#fault('mismatched tag', 'the closing tag of an outer element', `</${printable(raw)}> first`, start)
    } else this.#arrive(true)
    this.#selfClosingStart = -1
    this.#flush()
    this.#open.pop()
    this.#handler.close(innermost.name)
    this.#scope = this.#attributes.scope = innermost.outer
  }

  #onInstruction(name: string, data: string): void {
    const start = this.#parser.startIndex + this.#skew
    if (name.startsWith('!')) {
      if (/^!doctype$/i.test(name)) {
        throw this.#fault('refused', 'a DOCTYPE', 'no document type and no entities of its own', start)
      }
      throw this.#fault('invalid markup', `'<${printable(data, 24)}'`, 'an element, a comment or a CDATA section', start)
    }
    this.#arrive(true)
    this.#skew = 1
    if (name !== '?xml') return
    if (start !== 0) throw this.#fault('invalid markup', 'an XML declaration', 'it at the start of the part only', start)
    const declaration = DECLARATION.exec(data)
    if (declaration === null) {
      throw this.#fault('invalid markup', `'<${printable(data)}'`, '<?xml version="1.0" encoding="UTF-8"?>', start)
    }
    const encoding = declaration.groups?.encoding?.slice(1, -1)
    if (encoding !== undefined && !ALLOWED_ENCODINGS.test(encoding)) {
      throw this.#fault('unsupported encoding', `'${printable(encoding)}'`, 'UTF-8 or UTF-16', start)
    }
  }
}

/** The fault with its byte offset. */
function atByte(error: unknown, bytes: Uint8Array, index: number, place: Place): Fault {
  return toFault(error, 'xml', { ...place, offset: byteOffset(bytes, index) })
}

/** Parses a whole part. A fault that the handler throws gets `place` and the byte offset of the event. */
export async function parseXml(bytes: Uint8Array, handler: XmlHandler, place: Place): Promise<void> {
  const { encoding } = detectEncoding(bytes)
  const decoder = new TextDecoder(encoding, { fatal: true })
  const reading = new XmlParse(handler)
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
    const to = Math.min(bytes.length, from + CHUNK_BYTES)
    let text: string
    try {
      text = decoder.decode(bytes.subarray(from, to), { stream: to < bytes.length })
    } catch (cause) {
      const offset = undecodableOffset(bytes, from, to, encoding)
      throw new Fault({
        format: 'xml',
        problem: 'wrong encoding',
        found: 'bytes that are not text',
        expected: encoding.toUpperCase(),
        place: { ...place, offset },
        cause
      })
    }
    try {
      reading.write(text)
    } catch (error) {
      throw atByte(error, bytes, reading.at, place)
    }
    await setImmediate()
  }
  try {
    reading.end()
  } catch (error) {
    throw atByte(error, bytes, reading.at, place)
  }
}
