/**
 * The HTML tokenizer (HTML standard, 13.2.5) over UTF-8 bytes in chunks of any size. It reports tags, doctypes and the
 * kinds of characters between them to a handler. Raw text that the handler asks for is passed on without a copy. All
 * bytes that change its state are ASCII, so nothing is decoded: names and values are latin1 text of the bytes.
 */
import { kernelOfThread } from '../../kernel/open.js'
import { BANG, DASH, GT, LT, SLASH } from './bytes.js'
import { RawText } from './raw-text.js'
import { isHtmlSpace, TagReader } from './tag-reader.js'
import { TEXT, type ContentModel, type Tag } from './tags.js'

export interface TokenHandler {
  /**
   * `offset` is that of the tag's `<`, `end` is the offset behind its `>`. Returns how to read on. For `wait` the same tag
   * is passed again after `ready` has settled.
   */
  startTag(tag: Tag, offset: number, end: number): ContentModel | 'capture' | 'wait'
  ready(): Promise<void>
  endTag(name: string): void
  /** bits of TEXT */
  text(found: number): void
  doctype(text: string): void
  /** receives raw text whose start tag was answered with `capture`; the bytes are valid until the next chunk */
  captured(bytes: Uint8Array): void
  /** called when the end tag of the captured element has been read */
  capturedAll(): void
  readonly inForeignContent: boolean
}

const STATE = {
  data: 0,
  tagOpen: 1,
  endTagOpen: 2,
  tag: 3,
  markup: 4,
  comment: 5,
  bogusComment: 6,
  doctype: 7,
  cdata: 8,
  rawText: 9,
  plaintext: 10
} as const

/** What is open when the input ends, by state, in the words of the message. */
const OPEN_AT_END: Readonly<Record<number, string>> = {
  [STATE.tag]: 'a tag',
  [STATE.comment]: 'a comment',
  [STATE.bogusComment]: 'a comment',
  [STATE.doctype]: 'a doctype',
  [STATE.cdata]: 'a CDATA section',
  [STATE.plaintext]: 'plaintext'
}

/** Position within a comment: the standard's states, by the dashes and `!` read last. */
const COMMENT = { start: 0, startDash: 1, text: 2, dash: 3, dashes: 4, bang: 5 } as const

const QUESTION = 0x3f
const BRACKET = 0x5d

const MARKUP = ['--', 'doctype', '[CDATA['] as const
const MAX_DOCTYPE = 1024

export class Tokenizer {
  #state: number = STATE.data
  readonly #tag = new TagReader()
  readonly #raw: RawText
  #rawName = ''
  #capturing = false
  /** bytes of a possible end tag at the end of captured text, from earlier chunks */
  readonly #held: number[] = []
  #text = 0
  /** the text behind `<!` so far */
  #declaration = ''
  #comment: number = COMMENT.start
  #brackets = 0
  /** a start tag was read for which the handler waits */
  #isWaiting = false
  /** offset of the next chunk */
  #base: number
  /** offset of the `<` of the last tag, comment or declaration */
  openOffset = 0
  readonly #handler: TokenHandler

  /**
   * @param offset of the first byte that will be pushed
   * @param kernel chunks that already lie in its memory are read without a copy
   */
  constructor(handler: TokenHandler, offset = 0, kernel = kernelOfThread()) {
    this.#handler = handler
    this.#base = offset
    this.#raw = new RawText(kernel)
  }

  /** Offset of the next byte. */
  get offset(): number {
    return this.#base
  }

  /** What is open at the end of the input, for a message; null between elements. */
  get openAtEnd(): string | null {
    const what = this.#state === STATE.rawText ? `the element <${this.#rawName}>` : OPEN_AT_END[this.#state]
    return what === undefined ? null : `${what} opened at byte ${this.openOffset}`
  }

  /** Takes the next bytes. They are read when the promise settles. */
  async push(chunk: Buffer): Promise<void> {
    let i = this.#read(chunk, 0)
    while (this.#isWaiting) {
      await this.#handler.ready()
      this.#isWaiting = false
      this.#emitTag(this.#base + i)
      i = this.#read(chunk, i)
    }
    this.#base += chunk.length
  }

  /** Reads from `from` to the chunk's end, or behind a tag that waits. */
  #read(chunk: Buffer, from: number): number {
    let i = from
    this.#raw.beginChunk()
    try {
      while (i < chunk.length && !this.#isWaiting) i = this.#step(chunk, i)
    } finally {
      this.#raw.endChunk()
    }
    return i
  }

  #step(chunk: Buffer, i: number): number {
    switch (this.#state) {
      case STATE.data:
        return this.#readText(chunk, i)
      case STATE.tagOpen:
        return this.#readTagOpen(chunk, i)
      case STATE.endTagOpen:
        return this.#readEndTagOpen(chunk, i)
      case STATE.tag:
        return this.#readTag(chunk, i)
      case STATE.markup:
        return this.#readMarkup(chunk, i)
      case STATE.comment:
        return this.#readComment(chunk, i)
      case STATE.bogusComment:
        return this.#readToGt(chunk, i)
      case STATE.doctype:
        return this.#readDoctype(chunk, i)
      case STATE.cdata:
        return this.#readCdata(chunk, i)
      case STATE.rawText:
        return this.#readRawText(chunk, i)
      default:
        return chunk.length
    }
  }

  #readText(chunk: Buffer, from: number): number {
    let i = from
    while (i < chunk.length && chunk[i] !== LT && (this.#text & TEXT.other) === 0) this.#text |= textKind(chunk[i++])
    const at = chunk[i] === LT ? i : chunk.indexOf(LT, i)
    if (at < 0) return chunk.length
    this.openOffset = this.#base + at
    this.#state = STATE.tagOpen
    return at + 1
  }

  #readTagOpen(chunk: Buffer, i: number): number {
    const byte = chunk[i]
    if (isLetter(byte)) return this.#beginTag(i, false)
    if (byte === SLASH) {
      this.#state = STATE.endTagOpen
    } else if (byte === BANG) {
      this.#state = STATE.markup
      this.#declaration = ''
    } else if (byte === QUESTION) {
      this.#state = STATE.bogusComment
    } else {
      this.#text |= TEXT.other
      this.#state = STATE.data
      return i
    }
    return i + 1
  }

  #readEndTagOpen(chunk: Buffer, i: number): number {
    const byte = chunk[i]
    if (isLetter(byte)) return this.#beginTag(i, true)
    this.#state = byte === GT ? STATE.data : STATE.bogusComment
    return i + 1
  }

  #beginTag(i: number, isEnd: boolean): number {
    this.#tag.start(isEnd)
    this.#state = STATE.tag
    return i
  }

  #readTag(chunk: Buffer, from: number): number {
    const i = this.#tag.read(chunk, from)
    if (this.#tag.done) this.#emitTag(this.#base + i)
    return i
  }

  #emitTag(end: number): void {
    this.#flushText()
    this.#state = STATE.data
    const tag = this.#tag
    if (tag.isEnd) {
      this.#handler.endTag(tag.name)
      if (this.#rawName !== '') this.#endRawText()
      return
    }
    const content = this.#handler.startTag(tag, this.openOffset, end)
    if (content === 'data') return
    if (content === 'wait') {
      this.#isWaiting = true
      return
    }
    if (content === 'plaintext') {
      this.#state = STATE.plaintext
      return
    }
    this.#capturing = content === 'capture'
    this.#rawName = tag.name
    this.#raw.start(tag.name, content === 'script' || this.#capturing)
    this.#state = STATE.rawText
  }

  #endRawText(): void {
    this.#rawName = ''
    if (!this.#capturing) return
    this.#capturing = false
    this.#handler.capturedAll()
  }

  #readRawText(chunk: Buffer, from: number): number {
    const raw = this.#raw
    const end = raw.scan(chunk, from)
    if (this.#capturing) {
      this.#capture(chunk, from, end < 0 ? chunk.length - raw.pending : end - raw.endTagLength, end < 0)
    }
    if (end < 0) return chunk.length
    this.#tag.startEnd(this.#rawName, raw.delimiter)
    this.#state = STATE.tag
    if (this.#tag.done) this.#emitTag(this.#base + end)
    return end
  }

  /** Passes on the text up to `to`. Keeps what may be the start of the end tag until the next chunk decides it. */
  #capture(chunk: Buffer, from: number, to: number, goesOn: boolean): void {
    if (to >= from) {
      if (this.#held.length > 0) this.#handler.captured(Uint8Array.from(this.#held))
      if (to > from) this.#handler.captured(chunk.subarray(from, to))
      this.#held.length = 0
    }
    if (goesOn) for (let i = Math.max(from, to); i < chunk.length; i++) this.#held.push(chunk[i])
    else this.#held.length = 0
  }

  /** Reads behind `<!`: one of MARKUP, `doctype` in any case, or else a bogus comment. */
  #readMarkup(chunk: Buffer, i: number): number {
    const declaration = this.#declaration + String.fromCharCode(chunk[i])
    const lower = declaration.toLowerCase()
    const expected = MARKUP.find(text => text.startsWith(text === 'doctype' ? lower : declaration))
    if (expected === undefined) {
      this.#state = STATE.bogusComment
      return i
    }
    this.#declaration = declaration
    if (declaration.length === expected.length) {
      this.#declaration = ''
      if (expected === '--') {
        this.#state = STATE.comment
        this.#comment = COMMENT.start
      } else if (expected === 'doctype') {
        this.#state = STATE.doctype
      } else {
        this.#state = this.#handler.inForeignContent ? STATE.cdata : STATE.bogusComment
        this.#brackets = 0
      }
    }
    return i + 1
  }

  #readComment(chunk: Buffer, from: number): number {
    let comment = this.#comment
    for (let i = from; i < chunk.length; i++) {
      const byte = chunk[i]
      if (byte === DASH) {
        comment =
          comment === COMMENT.start
            ? COMMENT.startDash
            : comment === COMMENT.text || comment === COMMENT.bang
              ? COMMENT.dash
              : COMMENT.dashes
      } else if (byte === GT && comment !== COMMENT.text && comment !== COMMENT.dash) {
        this.#state = STATE.data
        return i + 1
      } else {
        comment = byte === BANG && comment === COMMENT.dashes ? COMMENT.bang : COMMENT.text
      }
    }
    this.#comment = comment
    return chunk.length
  }

  #readToGt(chunk: Buffer, from: number): number {
    const at = chunk.indexOf(GT, from)
    if (at < 0) return chunk.length
    this.#state = STATE.data
    return at + 1
  }

  #readDoctype(chunk: Buffer, from: number): number {
    const end = this.#readToGt(chunk, from)
    const room = MAX_DOCTYPE - this.#declaration.length
    if (room > 0) this.#declaration += chunk.toString('latin1', from, Math.min(end, from + room))
    if (this.#state === STATE.data) {
      this.#flushText()
      this.#handler.doctype(this.#declaration.replace(/>$/, ''))
    }
    return end
  }

  #readCdata(chunk: Buffer, from: number): number {
    for (let i = from; i < chunk.length; i++) {
      const byte = chunk[i]
      if (byte === GT && this.#brackets >= 2) {
        this.#state = STATE.data
        return i + 1
      }
      if (byte === BRACKET) {
        if (this.#brackets++ >= 2) this.#text |= TEXT.other
      } else {
        if (this.#brackets > 0) this.#text |= TEXT.other
        this.#brackets = 0
        this.#text |= textKind(byte)
      }
    }
    return chunk.length
  }

  #flushText(): void {
    if (this.#text !== 0) this.#handler.text(this.#text)
    this.#text = 0
  }
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

function textKind(byte: number): number {
  return isHtmlSpace(byte) ? TEXT.space : byte === 0 ? TEXT.nul : TEXT.other
}
