/**
 * Reads one tag, from the first letter of its name to its `>` (HTML standard, 13.2.5.8 and 13.2.5.32 to 13.2.5.40), in
 * chunks of any size. Only attributes that tags.ts names are kept, and at most MAX_KEPT bytes of each name or value and of
 * each tag. A cut value is still longer than anything it is compared with. The rest is skipped, however long it is.
 */
import { GT, SLASH } from './bytes.js'
import { decodeHtmlReferences } from './references.js'
import { asciiLowerCase, keepsAttribute, keepsAttributes, type Tag } from './tags.js'

export const MAX_KEPT = 64 * 1024

const STATE = {
  name: 0,
  beforeAttribute: 1,
  attributeName: 2,
  afterAttributeName: 3,
  beforeValue: 4,
  doubleQuoted: 5,
  singleQuoted: 6,
  unquoted: 7,
  selfClosing: 8,
  done: 9
} as const

const EQUALS = 0x3d
const QUOTE = 0x22
const APOSTROPHE = 0x27

export function isHtmlSpace(byte: number): boolean {
  return byte === 0x20 || (byte <= 0x0d && byte >= 0x09 && byte !== 0x0b)
}

/** True for a byte that ends the name of a tag or an attribute. */
export function endsName(byte: number): boolean {
  return isHtmlSpace(byte) || byte === SLASH || byte === GT
}

export class TagReader implements Tag {
  name = ''
  isEnd = false
  selfClosing = false
  readonly attributes = new Map<string, string>()
  #state: number = STATE.done
  /** bytes of the current name or value as latin1 text, cut at MAX_KEPT + 1 */
  #text = ''
  #attribute = ''
  #keptBytes = 0
  #keepsNames = false
  #keepsValue = false

  /** Begins a tag; the first letter of its name is the next byte. */
  start(isEnd: boolean): void {
    this.#reset(isEnd, STATE.name)
  }

  /** Begins behind the name of an end tag. @param delimiter the byte that ended the name */
  startEnd(name: string, delimiter: number): void {
    this.#reset(true, STATE.beforeAttribute)
    this.name = name
    this.#beforeAttribute(delimiter)
  }

  get done(): boolean {
    return this.#state === STATE.done
  }

  /** Reads from `from`. Returns the position behind the tag, or the chunk's length if the tag goes on. */
  read(chunk: Buffer, from: number): number {
    let i = from
    while (i < chunk.length && this.#state !== STATE.done) i = this.#step(chunk, i)
    return i
  }

  #reset(isEnd: boolean, state: number): void {
    this.isEnd = isEnd
    this.#state = state
    this.selfClosing = false
    if (this.attributes.size > 0) this.attributes.clear()
    this.#keptBytes = 0
    this.#keepsNames = false
    this.#text = ''
  }

  #step(chunk: Buffer, i: number): number {
    const byte = chunk[i]
    switch (this.#state) {
      case STATE.name:
        return this.#readName(chunk, i)
      case STATE.attributeName:
        return this.#readAttributeName(chunk, i)
      case STATE.afterAttributeName:
        if (byte === EQUALS) {
          this.#state = STATE.beforeValue
        } else if (!isHtmlSpace(byte)) {
          this.#endAttribute()
          this.#beforeAttribute(byte)
        }
        return i + 1
      case STATE.beforeValue:
        if (isHtmlSpace(byte)) return i + 1
        this.#state = byte === QUOTE ? STATE.doubleQuoted : byte === APOSTROPHE ? STATE.singleQuoted : STATE.unquoted
        return this.#state === STATE.unquoted ? i : i + 1
      case STATE.doubleQuoted:
        return this.#readQuoted(chunk, i, QUOTE)
      case STATE.singleQuoted:
        return this.#readQuoted(chunk, i, APOSTROPHE)
      case STATE.unquoted:
        return this.#readUnquoted(chunk, i)
      default:
        // a slash counts only directly before the `>`
        this.selfClosing = this.#state === STATE.selfClosing && byte === GT
        this.#beforeAttribute(byte)
        return i + 1
    }
  }

  /** Reads a byte before an attribute or behind a quoted value. An `=` here is the first letter of a name. */
  #beforeAttribute(byte: number): void {
    if (isHtmlSpace(byte)) {
      this.#state = STATE.beforeAttribute
    } else if (byte === SLASH) {
      this.#state = STATE.selfClosing
    } else if (byte === GT) {
      this.#state = STATE.done
    } else {
      this.#state = STATE.attributeName
      if (this.#keepsNames) this.#text = String.fromCharCode(byte)
    }
  }

  #readName(chunk: Buffer, from: number): number {
    let i = from
    while (i < chunk.length && !endsName(chunk[i])) i++
    this.#keep(chunk, from, i)
    if (i === chunk.length) return i
    this.name = asciiLowerCase(this.#take())
    this.#keepsNames = !this.isEnd && keepsAttributes(this.name)
    this.#beforeAttribute(chunk[i])
    return i + 1
  }

  #readAttributeName(chunk: Buffer, from: number): number {
    let i = from
    while (i < chunk.length && !endsName(chunk[i]) && chunk[i] !== EQUALS) i++
    if (this.#keepsNames) this.#keep(chunk, from, i)
    if (i === chunk.length) return i
    if (this.#keepsNames) {
      this.#attribute = asciiLowerCase(this.#take())
      this.#keepsValue = keepsAttribute(this.name, this.#attribute) && !this.attributes.has(this.#attribute)
    }
    this.#state = STATE.afterAttributeName
    return i
  }

  #readQuoted(chunk: Buffer, from: number, quote: number): number {
    const at = chunk.indexOf(quote, from)
    const end = at < 0 ? chunk.length : at
    if (this.#keepsValue) this.#keep(chunk, from, end)
    if (at < 0) return end
    this.#endAttribute()
    this.#state = STATE.beforeAttribute
    return end + 1
  }

  #readUnquoted(chunk: Buffer, from: number): number {
    let i = from
    while (i < chunk.length && !isHtmlSpace(chunk[i]) && chunk[i] !== GT) i++
    if (this.#keepsValue) this.#keep(chunk, from, i)
    if (i === chunk.length) return i
    this.#endAttribute()
    this.#state = STATE.beforeAttribute
    return i
  }

  #endAttribute(): void {
    if (!this.#keepsValue) return
    this.#keepsValue = false
    const value = this.#take()
    this.#keptBytes += this.#attribute.length + value.length
    if (this.#keptBytes <= 2 * MAX_KEPT) this.attributes.set(this.#attribute, decodeHtmlReferences(value))
  }

  #keep(chunk: Buffer, from: number, to: number): void {
    const room = MAX_KEPT + 1 - this.#text.length
    if (to > from && room > 0) this.#text += chunk.toString('latin1', from, Math.min(to, from + room))
  }

  #take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }
}
