/**
 * Decides what takes tree construction (HTML standard, 13.2.6): how the bytes behind a start tag are read, and which
 * scripts are HTML elements of the document. Before the first element of UNUSUAL a tag's name decides both. At that
 * element parse5 is loaded. It takes the outline of the page so far, and then each tag.
 *
 * An element's place is decided when its tag is met. Later tags may move a script (out of a table, into a formatting
 * element that is opened again), but only a frameset takes one out of the document, with the body that it replaces.
 *
 * Not supported: an element of UNUSUAL behind more than 16 MiB of outline.
 */
import { MarkupOutline, startTagOutline, textOutline } from './markup-outline.js'
import type { DocumentParser } from './parser.js'
import type { ContentModel, Tag } from './tags.js'

/**
 * Elements that change what other tags mean. `select` does not in the living standard; it did when it had an insertion
 * mode of its own, as it still has in parse5.
 */
const UNUSUAL: ReadonlySet<string> = new Set(['svg', 'math', 'template', 'frameset'])

/** How the bytes behind a start tag are read before the first element of UNUSUAL. Other tags: data. */
const CONTENT: ReadonlyMap<string, ContentModel> = new Map([
  ['script', 'script'],
  ['title', 'rcdata'],
  ['textarea', 'rcdata'],
  ['style', 'rawtext'],
  ['xmp', 'rawtext'],
  ['iframe', 'rawtext'],
  ['noembed', 'rawtext'],
  ['noframes', 'rawtext'],
  ['noscript', 'rawtext'],
  ['plaintext', 'plaintext']
])

export class Tree {
  #parser: DocumentParser | null = null
  readonly #outline = new MarkupOutline()
  /** length of the outline with the start tag of the marked element; 0: none is marked */
  #markedAt = 0
  #markedInBody = false

  /** Whether a start tag has to wait for `load`. */
  needsParser(name: string): boolean {
    return this.#parser === null && UNUSUAL.has(name)
  }

  /** Loads parse5 and brings it to where the page stands. Throws a Fault where the outline is too long. */
  async load(): Promise<void> {
    const outline = this.#outline.take()
    const { DocumentParser } = await import('./parser.js')
    const parser = new DocumentParser()
    parser.write(outline.slice(0, this.#markedAt))
    this.#markedInBody = this.#markedAt > 0 && parser.inBody
    parser.write(outline.slice(this.#markedAt))
    this.#parser = parser
  }

  /** Whether `<![CDATA[` starts a CDATA section here. */
  get inForeignContent(): boolean {
    return this.#parser?.inForeignContent === true
  }

  get inTemplate(): boolean {
    return this.#parser?.inTemplate === true
  }

  /** Marks the element whose start tag came last. */
  mark(): void {
    if (this.#parser === null) this.#markedAt = this.#outline.length
    else this.#markedInBody = this.#parser.inBody
  }

  /** Whether the marked element was taken out of the document. */
  get markedIsRemoved(): boolean {
    return this.#markedInBody && this.#parser?.bodyRemoved === true
  }

  /** Takes a start tag and returns how to read on. The answer is `script` for HTML script elements only. */
  startTag(tag: Tag): ContentModel {
    this.#write(startTagOutline(tag))
    return this.#parser === null ? (CONTENT.get(tag.name) ?? 'data') : this.#parser.content
  }

  endTag(name: string): void {
    this.#write(`</${name}>`)
  }

  /** A run of text since the last tag: bits of TEXT. */
  text(found: number): void {
    this.#write(textOutline(found))
  }

  /** `text` is what stands between `<!doctype` and `>`. */
  doctype(text: string): void {
    this.#write(`<!doctype${text}>`)
  }

  #write(outline: string): void {
    if (this.#parser === null) this.#outline.add(outline)
    else this.#parser.write(outline)
  }
}
