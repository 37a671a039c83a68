/**
 * Tree construction (HTML standard, 13.2.6) as far as it decides how the bytes behind a tag are read and whether a
 * script is an HTML element of the document: insertion modes, the stack of open elements, foreign content and template
 * contents. No node is made. Scripting is on, so `noscript` is raw text.
 *
 * The modes before "in body" are one here, because they differ only in what they put into the tree; so are those
 * behind it ("after body"), which return to "in body" at the next tag. Raw text elements are never on the stack.
 *
 * Not supported: character references in text (`&#32;` counts as text, not as white space, which matters only to a
 * frameset behind it and inside tables); the public identifiers of quirks mode one by one (by vendor instead).
 */
import { FormattingElements } from './formatting.js'
import { KIND, OpenElements, type Handle } from './open-elements.js'
import { startInTable, endInTable, type Mode, type Tree } from './tables.js'
import {
  BEFORE_BODY, BLOCK_END, BLOCK_START, BREAKOUT, FORMATTING, HEADINGS, isHidden, TABLE_PARTS, TEXT, type Content, type Tag
} from './tags.js'

const TABLE_TEXT_PARENTS: ReadonlySet<string> = new Set(['table', 'tbody', 'template', 'tfoot', 'thead', 'tr'])
const ROOT = ['html', 'body']

const WELL_FORMED_DOCTYPE = /^\s*html(?:\s+system\s*(?:"[^"]*"|'[^']*')|\s+public\s*(?:"([^"]*)"|'([^']*)')\s*("[^"]*"|'[^']*')?)?\s*$/i
const QUIRKS_PUBLIC_ID = new RegExp(
  '^(?:\\+//silmaril//|-//(?:as|advasoft ltd|ietf|metrius|microsoft|netscape comm\\. corp\\.|o\'reilly and associates|sq' +
  '|softquad(?: software)?|spyglass|sun microsystems corp\\.|w3o|webtechs)//dtd |-/w3c/dtd html 4\\.0 transitional/en$|html$' +
  '|-//w3c//dtd (?:html 3|html 4\\.0 (?:frameset|transitional)//|html experimental |w3 html))', 'i')
const QUIRKS_WITHOUT_SYSTEM_ID = /^-\/\/w3c\/\/dtd html 4\.01 (?:frameset|transitional)\/\//i

export class TreeBuilder implements Tree {
  readonly open = new OpenElements()
  readonly formatting = new FormattingElements(this.open)
  mode: Mode = 'body'
  /** the form element pointer; a form that is not open any more still blocks the next one */
  form: Handle | null = null
  private readonly templateModes: Mode[] = []
  private quirks = true
  private initial = true
  private headClosed = false
  /** from here on elements are in the body, which a frameset may still replace */
  bodyStarted = false
  private framesetOk = true

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
    if (this.initial) this.quirks = isQuirks(text)
    this.initial = false
  }

  /** A run of text since the last tag: bits of TEXT. */
  text(found: number): void {
    const { open, formatting } = this
    if ((found & ~TEXT.space) !== 0) {
      this.initial = false
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

  /** Takes a start tag and says how to read on. `script` is answered for HTML script elements only. */
  startTag(tag: Tag): Content {
    this.initial = false
    if (!this.inTemplate) this.beginBody(tag.name)
    return this.isForeign(tag.name) ? this.foreignStart(tag) : this.htmlStart(tag)
  }

  endTag(name: string): void {
    this.initial = false
    const { open } = this
    if (!this.inTemplate) {
      if (name === 'head') this.headClosed = true
      if (name === 'body' || name === 'html' || name === 'br') this.bodyStarted = true
    }
    if (this.inForeignContent) {
      if (name === 'p' || name === 'br') {
        this.leaveForeign()
      } else {
        const index = Math.max(open.indexOf(`svg/${name}`), open.indexOf(`math/${name}`))
        if (index > open.topmostHtml) return open.truncate(index)
      }
    }
    this.htmlEnd(name)
  }

  /** A start tag by the rules of the current insertion mode. */
  htmlStart(tag: Tag): Content {
    switch (this.mode) {
      case 'body': return this.startInBody(tag)
      case 'template': return this.startInTemplate(tag)
      case 'frameset': return tag.name === 'noframes' ? 'rawtext' : 'data'
      default: return startInTable(this, tag)
    }
  }

  htmlEnd(name: string): void {
    if (this.mode === 'frameset') return
    if (name === 'template') return this.endTemplate()
    if (this.mode === 'template') return
    if (this.mode === 'body') return this.endInBody(name)
    endInTable(this, name)
  }

  /** "Reset the insertion mode appropriately": by the topmost element that has a mode. */
  resetMode(): void {
    const { open } = this
    let topmost = 0
    this.mode = 'body'
    const candidates: readonly (readonly [string, Mode])[] = [
      ['td', 'cell'], ['th', 'cell'], ['tr', 'row'], ['tbody', 'tableBody'], ['thead', 'tableBody'], ['tfoot', 'tableBody'],
      ['caption', 'caption'], ['colgroup', 'columns'], ['table', 'table'], ['template', this.templateModes.at(-1) ?? 'template']
    ]
    for (const [key, mode] of candidates) {
      if (open.indexOf(key) <= topmost) continue
      topmost = open.indexOf(key)
      this.mode = mode
    }
  }

  closeP(): void {
    if (this.open.inButtonScope('p')) this.open.popThrough('p')
  }

  private beginBody(name: string): void {
    if (!BEFORE_BODY.has(name) || (name === 'noscript' && this.headClosed)) this.bodyStarted = true
  }

  private isForeign(name: string): boolean {
    switch (this.open.currentKind) {
      case KIND.foreign: return !(name === 'svg' && this.open.currentKey === 'math/annotation-xml')
      case KIND.textPoint: return name === 'mglyph' || name === 'malignmark'
      default: return false
    }
  }

  private foreignStart(tag: Tag): Content {
    const { name, attributes } = tag
    const breaksOut = BREAKOUT.has(name) ||
      (name === 'font' && (attributes.has('color') || attributes.has('face') || attributes.has('size')))
    if (breaksOut) {
      this.leaveForeign()
      return this.htmlStart(tag)
    }
    this.openForeign(this.open.currentKey.startsWith('svg/') ? 'svg' : 'math', tag)
    return 'data'
  }

  private openForeign(namespace: 'svg' | 'math', tag: Tag): void {
    if (tag.selfClosing) return
    const key = `${namespace}/${tag.name}`
    const encoding = key === 'math/annotation-xml' ? tag.attributes.get('encoding')?.toLowerCase() : undefined
    this.open.pushForeign(key, encoding === 'text/html' || encoding === 'application/xhtml+xml')
  }

  private leaveForeign(): void {
    while (this.open.currentKind === KIND.foreign) this.open.pop()
  }

  private startInTemplate(tag: Tag): Content {
    const { name } = tag
    if (BEFORE_BODY.has(name) && !['html', 'head', 'frameset', 'noscript'].includes(name)) return this.startInBody(tag)
    const mode: Mode = name === 'col' ? 'columns' : name === 'tr' ? 'tableBody' : name === 'td' || name === 'th' ? 'row'
      : TABLE_PARTS.has(name) ? 'table' : 'body'
    this.templateModes[this.templateModes.length - 1] = mode
    this.mode = mode
    return this.htmlStart(tag)
  }

  private endTemplate(): void {
    if (!this.inTemplate) return
    this.open.popThrough('template')
    this.formatting.clearToMarker()
    this.templateModes.pop()
    this.resetMode()
  }

  /** "In body" and, for the elements of a head, "in head". */
  startInBody(tag: Tag): Content {
    const { open, formatting } = this
    const { name } = tag
    if (BLOCK_START.has(name)) return this.openBlock(name)
    if (TABLE_PARTS.has(name)) return 'data'
    switch (name) {
      case 'html': case 'head': case 'frame': case 'base': case 'basefont': case 'bgsound': case 'link': case 'meta':
      case 'param': case 'source': case 'track':
        return 'data'
      case 'script': return 'script'
      case 'title': return 'rcdata'
      case 'style': case 'noframes': case 'noembed': case 'noscript': return 'rawtext'
      case 'template':
        open.push(name)
        formatting.mark()
        this.framesetOk = false
        this.templateModes.push('template')
        this.mode = 'template'
        return 'data'
      case 'body':
        if (!this.inTemplate) this.framesetOk = false
        return 'data'
      case 'frameset':
        if (this.inTemplate || (this.bodyStarted && !this.framesetOk)) return 'data'
        open.truncate(1)
        this.mode = 'frameset'
        return 'data'
      case 'h1': case 'h2': case 'h3': case 'h4': case 'h5': case 'h6':
        this.closeP()
        if (HEADINGS.has(open.currentKey)) open.pop()
        open.push(name)
        return 'data'
      case 'pre': case 'listing':
        this.framesetOk = false
        return this.openBlock(name)
      case 'form':
        if (this.form !== null && !this.inTemplate) return 'data'
        this.closeP()
        if (this.inTemplate) open.push(name)
        else open.push(name, KIND.html, this.form = { index: -1 })
        return 'data'
      case 'li': case 'dd': case 'dt':
        this.framesetOk = false
        this.closeItem(name === 'li' ? ['li'] : ['dd', 'dt'])
        return this.openBlock(name)
      case 'plaintext':
        this.openBlock(name)
        return 'plaintext'
      case 'button':
        if (open.inScope(name)) open.popThrough(name)
        return this.openMarked(name, false)
      case 'applet': case 'marquee': case 'object':
        return this.openMarked(name, true)
      case 'a':
        formatting.closeListed(name)
        formatting.reconstruct()
        formatting.push(tag)
        return 'data'
      case 'nobr':
        formatting.reconstruct()
        if (open.inScope(name)) {
          if (!formatting.adopt(name)) this.anyOtherEnd(name)
          formatting.reconstruct()
        }
        formatting.push(tag)
        return 'data'
      case 'table':
        if (!this.quirks) this.closeP()
        open.push(name)
        this.framesetOk = false
        this.mode = 'table'
        return 'data'
      case 'area': case 'br': case 'embed': case 'img': case 'image': case 'keygen': case 'wbr':
        formatting.reconstruct()
        this.framesetOk = false
        return 'data'
      case 'input':
        if (open.inScope('select')) open.popThrough('select')
        formatting.reconstruct()
        if (!isHidden(tag)) this.framesetOk = false
        return 'data'
      case 'hr':
        this.closeP()
        if (open.inScope('select')) open.closeImplied()
        this.framesetOk = false
        return 'data'
      case 'textarea':
        this.framesetOk = false
        return 'rcdata'
      case 'xmp':
        this.closeP()
        formatting.reconstruct()
        this.framesetOk = false
        return 'rawtext'
      case 'iframe':
        this.framesetOk = false
        return 'rawtext'
      case 'select':
        if (open.inScope(name)) {
          open.popThrough(name)
          return 'data'
        }
        return this.openMarked(name, false)
      case 'option': case 'optgroup':
        if (open.inScope('select')) open.closeImplied(name === 'option' ? 'optgroup' : '')
        else if (open.currentKey === 'option') open.pop()
        break
      case 'rb': case 'rtc': case 'rp': case 'rt':
        if (open.inScope('ruby')) open.closeImplied(name === 'rp' || name === 'rt' ? 'rtc' : '')
        open.push(name)
        return 'data'
      case 'svg': case 'math':
        formatting.reconstruct()
        this.openForeign(name, tag)
        return 'data'
    }
    formatting.reconstruct()
    if (FORMATTING.has(name)) formatting.push(tag)
    else open.push(name)
    return 'data'
  }

  endInBody(name: string): void {
    const { open, formatting } = this
    if (BLOCK_END.has(name)) {
      if (open.inScope(name)) open.popThrough(name)
      return
    }
    if (FORMATTING.has(name)) {
      if (!formatting.adopt(name)) this.anyOtherEnd(name)
      return
    }
    switch (name) {
      case 'body': case 'html': return
      case 'form': return this.endForm()
      case 'p': return this.closeP()
      case 'li':
        if (open.inListItemScope(name)) open.popThrough(name)
        return
      case 'dd': case 'dt':
        if (open.inScope(name)) open.popThrough(name)
        return
      case 'h1': case 'h2': case 'h3': case 'h4': case 'h5': case 'h6': {
        const index = Math.max(...[...HEADINGS].map(heading => open.indexOf(heading)))
        if (index >= open.scopeBoundary) open.truncate(index)
        return
      }
      case 'applet': case 'marquee': case 'object':
        if (!open.inScope(name)) return
        open.popThrough(name)
        formatting.clearToMarker()
        return
      case 'br':
        formatting.reconstruct()
        this.framesetOk = false
        return
    }
    this.anyOtherEnd(name)
  }

  private anyOtherEnd(name: string): void {
    const index = this.open.indexOf(name)
    if (index >= this.open.topmostSpecial) this.open.truncate(index)
  }

  private openBlock(name: string): Content {
    this.closeP()
    this.open.push(name)
    return 'data'
  }

  private openMarked(name: string, marker: boolean): Content {
    this.formatting.reconstruct()
    this.open.push(name)
    if (marker) this.formatting.mark()
    this.framesetOk = false
    return 'data'
  }

  /** Before a list item: closes the one that is open, unless a special element other than address, div, p is inside. */
  private closeItem(items: readonly string[]): void {
    const { open } = this
    let index = open.topmostSpecial
    while (['address', 'div', 'p'].includes(open.keyAt(index))) {
      index = open.specialBelow(index)
      open.charge(1)
    }
    if (items.includes(open.keyAt(index))) open.truncate(index)
  }

  private endForm(): void {
    const { open, form } = this
    if (this.inTemplate) {
      if (open.inScope('form')) open.popThrough('form')
      return
    }
    this.form = null
    if (form === null || form.index < open.scopeBoundary) return
    open.closeImplied()
    open.remove(form.index)
  }
}

/** Quirks mode leaves a `p` open around a table. */
function isQuirks(doctype: string): boolean {
  const match = WELL_FORMED_DOCTYPE.exec(doctype)
  if (match === null) return true
  const publicId = match[1] ?? match[2] ?? ''
  return QUIRKS_PUBLIC_ID.test(publicId) || (match[3] === undefined && QUIRKS_WITHOUT_SYSTEM_ID.test(publicId))
}
