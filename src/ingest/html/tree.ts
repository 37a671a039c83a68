/**
 * Tree construction (HTML standard, 13.2.6) without nodes. It decides how the bytes behind a tag are read, and whether a
 * script is an HTML element of the document. It covers insertion modes, the stack of open elements, foreign content and
 * template contents. Scripting is on, so `noscript` is raw text.
 *
 * The modes before "in body" are one mode here, because they differ only in what they put into the tree. The modes after
 * "in body" ("after body") are part of it too, because they return to "in body" at the next tag. Raw text elements are
 * never on the stack.
 *
 * Not supported: character references in text (`&#32;` counts as text, not as white space; this matters only to a
 * frameset behind it and inside tables); the public identifiers of quirks mode one by one (matched by vendor instead).
 */
import { FormattingElements } from './formatting.js'
import { endInBody, startInBody } from './in-body.js'
import type { Mode, TreeState } from './insertion.js'
import { KIND, OpenElements, type Handle } from './open-elements.js'
import { isQuirks } from './quirks.js'
import { endInTable, startInTable } from './tables.js'
import { BEFORE_BODY, BREAKOUT, TABLE_PARTS, TEXT, type ContentModel, type Tag } from './tags.js'

const TABLE_TEXT_PARENTS: ReadonlySet<string> = new Set(['table', 'tbody', 'template', 'tfoot', 'thead', 'tr'])
const ROOT = ['html', 'body']

export class TreeBuilder implements TreeState {
  readonly open = new OpenElements()
  readonly formatting = new FormattingElements(this.open)
  readonly templateModes: Mode[] = []
  mode: Mode = 'body'
  form: Handle | null = null
  quirks = true
  bodyStarted = false
  framesetOk = true
  #initial = true
  #headClosed = false

  constructor() {
    for (const name of ROOT) this.open.push(name)
  }

  /** Whether `<![CDATA[` starts a CDATA section here. */
  get inForeignContent(): boolean {
    return this.open.currentKind !== KIND.html
  }

  get inTemplate(): boolean {
    return this.open.has('template')
  }

  doctype(text: string): void {
    if (this.#initial) this.quirks = isQuirks(text)
    this.#initial = false
  }

  /** Handles a run of text since the last tag. @param found bits of TEXT */
  text(found: number): void {
    const { open, formatting } = this
    if ((found & ~TEXT.space) !== 0) {
      this.#initial = false
      if (!this.inTemplate) this.bodyStarted = true
    }
    const other = (found & TEXT.other) !== 0
    if (this.mode === 'frameset') return
    if (open.currentKind === KIND.foreign) {
      if (other) this.framesetOk = false
      return
    }
    if (this.mode === 'columns') {
      if (found === TEXT.space || open.currentKey !== 'colgroup') return
      open.pop()
      this.mode = 'table'
    }
    const inTable = this.mode === 'table' || this.mode === 'tableBody' || this.mode === 'row'
    if (inTable && TABLE_TEXT_PARENTS.has(open.currentKey) && !other) return
    if (found !== TEXT.nul) formatting.reconstruct()
    if (other) this.framesetOk = false
  }

  /** Takes a start tag and returns how to read on. The answer is `script` for HTML script elements only. */
  startTag(tag: Tag): ContentModel {
    this.#initial = false
    if (!this.inTemplate) this.#beginBody(tag.name)
    return this.#isForeign(tag.name) ? this.#foreignStart(tag) : this.htmlStart(tag)
  }

  endTag(name: string): void {
    this.#initial = false
    const { open } = this
    if (!this.inTemplate) {
      if (name === 'head') this.#headClosed = true
      if (name === 'body' || name === 'html' || name === 'br') this.bodyStarted = true
    }
    if (this.inForeignContent) {
      if (name === 'p' || name === 'br') {
        this.#leaveForeign()
      } else {
        const index = Math.max(open.indexOf(`svg/${name}`), open.indexOf(`math/${name}`))
        if (index > open.topmostHtml) return open.truncate(index)
      }
    }
    this.htmlEnd(name)
  }

  /** Handles a start tag by the rules of the current insertion mode. */
  htmlStart(tag: Tag): ContentModel {
    switch (this.mode) {
      case 'body': return startInBody(this, tag)
      case 'template': return this.#startInTemplate(tag)
      case 'frameset': return tag.name === 'noframes' ? 'rawtext' : 'data'
      default: return startInTable(this, tag)
    }
  }

  htmlEnd(name: string): void {
    if (this.mode === 'frameset') return
    if (name === 'template') return this.#endTemplate()
    if (this.mode === 'template') return
    if (this.mode === 'body') return endInBody(this, name)
    endInTable(this, name)
  }

  /** "Reset the insertion mode appropriately": the topmost element that has a mode decides. */
  resetMode(): void {
    const { open } = this
    let topmost = 0
    this.mode = 'body'
    const candidates: readonly (readonly [string, Mode])[] = [
      ['td', 'cell'], ['th', 'cell'], ['tr', 'row'],
      ['tbody', 'tableBody'], ['thead', 'tableBody'], ['tfoot', 'tableBody'],
      ['caption', 'caption'], ['colgroup', 'columns'], ['table', 'table'],
      ['template', this.templateModes.at(-1) ?? 'template']
    ]
    for (const [key, mode] of candidates) {
      if (open.indexOf(key) <= topmost) continue
      topmost = open.indexOf(key)
      this.mode = mode
    }
  }

  #beginBody(name: string): void {
    if (!BEFORE_BODY.has(name) || (name === 'noscript' && this.#headClosed)) this.bodyStarted = true
  }

  #isForeign(name: string): boolean {
    switch (this.open.currentKind) {
      case KIND.foreign: return !(name === 'svg' && this.open.currentKey === 'math/annotation-xml')
      case KIND.textPoint: return name === 'mglyph' || name === 'malignmark'
      default: return false
    }
  }

  #foreignStart(tag: Tag): ContentModel {
    const { name, attributes } = tag
    const breaksOut = BREAKOUT.has(name) ||
      (name === 'font' && (attributes.has('color') || attributes.has('face') || attributes.has('size')))
    if (breaksOut) {
      this.#leaveForeign()
      return this.htmlStart(tag)
    }
    this.open.pushForeign(this.open.currentKey.startsWith('svg/') ? 'svg' : 'math', tag)
    return 'data'
  }

  #leaveForeign(): void {
    while (this.open.currentKind === KIND.foreign) this.open.pop()
  }

  #startInTemplate(tag: Tag): ContentModel {
    const { name } = tag
    if (BEFORE_BODY.has(name) && !['html', 'head', 'frameset', 'noscript'].includes(name)) return startInBody(this, tag)
    const mode: Mode = name === 'col' ? 'columns' : name === 'tr' ? 'tableBody' : name === 'td' || name === 'th' ? 'row'
      : TABLE_PARTS.has(name) ? 'table' : 'body'
    this.templateModes[this.templateModes.length - 1] = mode
    this.mode = mode
    return this.htmlStart(tag)
  }

  #endTemplate(): void {
    if (!this.inTemplate) return
    this.open.popThrough('template')
    this.formatting.clearToMarker()
    this.templateModes.pop()
    this.resetMode()
  }
}
