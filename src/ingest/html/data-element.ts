/**
 * Extracts the one `script#data` of a page. It takes the page's bytes in chunks of any size and returns the bytes of the
 * element's content. The HTML standard decides which element that is and where it ends. tokenizer.ts and raw-text.ts
 * follow the standard; tree.ts asks parse5 where a tokenizer is not enough. Look-alikes in comments, raw text, templates,
 * foreign content and other scripts are skipped. Memory holds one chunk, an outline of the page's tags (16 MiB at most)
 * and the open elements. Time is linear in the page.
 *
 * Not supported: ids with other than printable ASCII characters, or with white space or an ampersand; a page without a
 * BOM that declares windows-1252 after its first 1024 bytes (refused).
 */
import { EXIT, Fault, printable, printableId } from '../../core/errors.js'
import type { Kernel } from '../../kernel/kernel.js'
import { encodingOfLabel, labelOfMeta, PRESCAN_BYTES, sniff, Transcoder, type Encoding, type Sniffed } from './encoding.js'
import type { ContentModel, Tag } from './tags.js'
import { Tokenizer, type TokenHandler } from './tokenizer.js'
import { Tree } from './tree.js'

export interface DataElementOptions {
  /** id of the script element; default `data` */
  readonly id?: string
  /** default: the thread's; chunks that already lie in its memory are read without a copy */
  readonly kernel?: Kernel
}

export class DataElement {
  readonly #finder: Finder
  /** set once the encoding is known */
  #reader: Reader | null = null
  /** the first bytes of the page, until the encoding is known */
  #head: Buffer = Buffer.alloc(0)
  readonly #kernel: Kernel | undefined

  constructor({ id = 'data', kernel }: DataElementOptions = {}) {
    if (!/^[!-%'-~]{1,1024}$/.test(id)) {
      throw new Fault({
        format: 'usage',
        problem: 'unsupported element id',
        found: `"${printableId(id)}"`,
        expected: '1 to 1024 printable ASCII characters, no white space and no ampersand',
        exitCode: EXIT.usage
      })
    }
    this.#finder = new Finder(id)
    this.#kernel = kernel
  }

  /**
   * Byte offset of the first content byte; -1 until the element is found. It counts in the page as given, or, for a page
   * in windows-1252 or UTF-16, in its text as UTF-8 without BOM.
   */
  get contentOffset(): number {
    return this.#finder.contentOffset
  }

  /** The page's encoding; null until PRESCAN_BYTES bytes or the end have been read. */
  get encoding(): Encoding | null {
    return this.#reader?.sniffed.encoding ?? null
  }

  /**
   * Takes the next bytes of the page. Returns the pieces of the content among them, in order, as UTF-8. A piece is a view
   * of `chunk` where possible: it is valid until the chunk's memory is reused. The next call must wait for the answer.
   * @throws Fault (format `html`): a second element, an unsupported encoding, or a page made to exhaust the reader
   */
  async push(chunk: Uint8Array): Promise<Uint8Array[]> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    if (this.#reader !== null) return this.#reader.read(bytes)
    const missing = PRESCAN_BYTES - this.#head.length
    if (bytes.length < missing) {
      this.#head = Buffer.concat([this.#head, bytes])
      return []
    }
    const head = this.#head
    this.#head = Buffer.alloc(0)
    this.#reader = new Reader(this.#finder, sniff(Buffer.concat([head, bytes.subarray(0, missing)])), this.#kernel)
    return [...(await this.#reader.read(head)), ...(await this.#reader.read(bytes))]
  }

  /**
   * Ends the page. Returns the pieces that were held back (all of them, for a page shorter than PRESCAN_BYTES).
   * @throws Fault if there is no element, or if the page ends inside the element
   */
  async end(): Promise<Uint8Array[]> {
    if (this.#reader !== null) return this.#reader.end()
    this.#reader = new Reader(this.#finder, sniff(this.#head), this.#kernel)
    return [...(await this.#reader.read(this.#head)), ...(await this.#reader.end())]
  }
}

/** Reads the page once its encoding is known. */
class Reader {
  readonly #transcoder: Transcoder
  readonly #tokenizer: Tokenizer
  #bomLeft: number
  readonly #finder: Finder

  constructor(
    finder: Finder,
    readonly sniffed: Sniffed,
    kernel: Kernel | undefined
  ) {
    this.#finder = finder
    const { encoding, bomLength, isDefault } = sniffed
    this.#transcoder = new Transcoder(encoding)
    this.#tokenizer = new Tokenizer(finder, encoding === 'utf-8' ? bomLength : 0, kernel)
    this.#bomLeft = bomLength
    finder.encodingIsOpen = isDefault
  }

  async read(bytes: Buffer): Promise<Uint8Array[]> {
    const bom = Math.min(this.#bomLeft, bytes.length)
    this.#bomLeft -= bom
    return this.#tokenize(this.#transcoder.push(bytes.subarray(bom)))
  }

  async end(): Promise<Uint8Array[]> {
    const pieces = await this.#tokenize(this.#transcoder.end())
    this.#finder.end(this.#tokenizer.offset, this.#tokenizer.openAtEnd)
    return pieces
  }

  async #tokenize(text: Buffer): Promise<Uint8Array[]> {
    try {
      await this.#tokenizer.push(text)
    } catch (error) {
      throw error instanceof Fault ? error.at({ offset: this.#tokenizer.openOffset }) : error
    }
    return this.#finder.takePieces()
  }
}

/** Recognises the wanted script, and keeps the pieces of its content. */
class Finder implements TokenHandler {
  contentOffset = -1
  /** whether a meta element may still declare the encoding */
  encodingIsOpen = true
  #isInside = false
  #pieces: Uint8Array[] = []
  readonly #tree = new Tree()
  readonly #id: string

  constructor(id: string) {
    this.#id = id
  }

  get inForeignContent(): boolean {
    return this.#tree.inForeignContent
  }

  ready(): Promise<void> {
    return this.#tree.load()
  }

  startTag(tag: Tag, offset: number, end: number): ContentModel | 'capture' | 'wait' {
    if (this.#tree.needsParser(tag.name)) return 'wait'
    const content = this.#tree.startTag(tag)
    if (tag.name === 'meta') this.#checkMeta(tag, offset)
    if (tag.name === 'frameset') this.#checkFrameset(offset)
    if (content !== 'script' || this.#tree.inTemplate || tag.attributes.get('id') !== this.#id) return content
    if (this.contentOffset >= 0) {
      throw new Fault({
        format: 'html',
        problem: 'duplicate element',
        found: `a second ${this.#element}; the first has its content at byte ${this.contentOffset}`,
        expected: 'one',
        place: { offset }
      })
    }
    this.contentOffset = end
    this.#isInside = true
    this.#tree.mark()
    return 'capture'
  }

  endTag(name: string): void {
    this.#tree.endTag(name)
  }

  text(found: number): void {
    this.#tree.text(found)
  }

  doctype(text: string): void {
    this.#tree.doctype(text)
  }

  captured(bytes: Uint8Array): void {
    this.#pieces.push(bytes)
  }

  capturedAll(): void {
    this.#isInside = false
  }

  takePieces(): Uint8Array[] {
    const pieces = this.#pieces
    this.#pieces = []
    return pieces
  }

  /** Ends the page at `offset`; `inside` names what is open there. */
  end(offset: number, inside: string | null): void {
    if (this.#isInside) {
      throw new Fault({
        format: 'html',
        problem: 'unterminated element',
        found: `the end of the page in the content of ${this.#element}, which starts at byte ${this.contentOffset}`,
        expected: '</script>',
        place: { offset }
      })
    }
    if (this.contentOffset >= 0) return
    throw new Fault({
      format: 'html',
      problem: 'missing element',
      found: inside === null ? `no ${this.#element}` : `no ${this.#element} before the page ends inside ${inside}`,
      expected: 'one',
      place: { offset }
    })
  }

  get #element(): string {
    return `<script id="${printable(this.#id)}">`
  }

  /** A frameset removes a body that shows nothing yet, with the scripts in it. Throws if it removes the element. */
  #checkFrameset(offset: number): void {
    if (!this.#tree.markedIsRemoved) return
    throw new Fault({
      format: 'html',
      problem: 'removed element',
      found: `a frameset that replaces the body with ${this.#element}`,
      expected: 'the element to stay in the page',
      place: { offset }
    })
  }

  /** A page without a declaration in its first bytes is read as UTF-8. Throws if a later declaration differs. */
  #checkMeta(tag: Tag, offset: number): void {
    const label = this.encodingIsOpen ? labelOfMeta(tag.attributes) : null
    if (label === null || encodingOfLabel(label, offset) === 'utf-8') return
    throw new Fault({
      format: 'html',
      problem: 'late encoding declaration',
      found: `"${printable(label)}"`,
      expected: `it in the first ${PRESCAN_BYTES} bytes`,
      place: { offset }
    })
  }
}
