/**
 * A template as a small tree of blocks and inlines that still contains the references. `marked` reads the Markdown
 * (GitHub's dialect). Raw HTML is a fault. Images come from references only. Links lead to `https:`, to an output, to
 * the other page, or to a heading. References pass through `marked` as private-use characters, so that none of their
 * text is read as Markdown.
 */
import { Marked, type MarkedToken, type Token, type Tokens } from 'marked'
import { Fault, printable, toFault, type Place } from '../../core/errors.js'
import { withoutCode } from './lint.js'
import { placeOf, type TemplatePart, type Template } from './references.js'
import { idPart } from './text.js'

export type Slot = Exclude<TemplatePart, { readonly kind: 'text' }>
export type BlockSlot = Extract<Slot, { readonly kind: 'audit' | 'discrepancies' | 'sources' }>
export type FigureSlot = Extract<Slot, { readonly kind: 'figure' }>
export type InlineSlot = Exclude<Slot, BlockSlot | FigureSlot>

export type Inline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'slot'; readonly slot: InlineSlot }
  | { readonly kind: 'strong' | 'em' | 'del' | 'code'; readonly content: readonly Inline[] }
  | { readonly kind: 'link'; readonly href: string; readonly content: readonly Inline[]; readonly place: Place }
  | { readonly kind: 'break' }

export type Align = 'left' | 'right' | 'center' | null

export type Block =
  | { readonly kind: 'heading'; readonly depth: number; readonly id: string; readonly content: readonly Inline[] }
  | { readonly kind: 'paragraph'; readonly content: readonly Inline[] }
  | { readonly kind: 'list'; readonly ordered: boolean; readonly items: readonly (readonly Block[])[] }
  | { readonly kind: 'quote'; readonly content: readonly Block[] }
  | { readonly kind: 'code'; readonly content: readonly Inline[] }
  | { readonly kind: 'rule' }
  | {
      readonly kind: 'table'
      readonly align: readonly Align[]
      readonly header: readonly (readonly Inline[])[]
      readonly rows: readonly (readonly (readonly Inline[])[])[]
    }
  | { readonly kind: 'figure'; readonly slot: FigureSlot; readonly caption: readonly Inline[] }
  | { readonly kind: 'insert'; readonly slot: BlockSlot }

export interface Article {
  readonly template: Template
  readonly parts: readonly TemplatePart[]
  /** text of the only first-level heading, with which the template begins */
  readonly title: string
  /** the blocks after that heading */
  readonly blocks: readonly Block[]
}

const OPEN = '\ue000'
const CLOSE = '\ue001'
const SLOT = new RegExp(`${OPEN}(\\d+)${CLOSE}`, 'g')

/** Text that becomes a tag once the right value is inserted: `<b {{…}}>`. */
const OPEN_TAG = new RegExp(`<[A-Za-z/!?][^<>]*${OPEN}\\d+${CLOSE}[^<>]*`)

/** Deepest nesting of quotes and lists. Real templates have less, and `marked` recurses once per level. */
const MAX_NESTING = 20

/**
 * Largest number of spaces at the start of a line. Lists nest by them, and the time of `marked` grows with the square
 * of their depth.
 */
const MAX_INDENT = 200

/**
 * The quote and list marks at the start of a line, in any nesting. Numbers of ordered lists are typed by hand and were
 * refused before.
 */
const MARKERS = /^ *(?:(?:>|[-*+](?: |$)) *)+/
const RULE = /^ *([-*_])(?: *\1)+ *$/

function reader(): Marked {
  return new Marked({ gfm: true })
}

/**
 * @param template normalized
 * @param parts parts of this template
 */
export function readArticle(template: Template, parts: readonly TemplatePart[]): Article {
  let source = ''
  const slots: Slot[] = []
  for (const part of parts) {
    if (part.kind === 'text') source += part.text
    else source += `${OPEN}${slots.push(part) - 1}${CLOSE}`
  }
  refuseNesting(template)
  const blocks = new MarkdownTree(template, slots).document(lex(source, template))
  const [first, ...rest] = blocks
  if (first?.kind !== 'heading' || first.depth !== 1) {
    throw new Fault({
      format: 'template',
      problem: 'title',
      found: first === undefined ? 'nothing' : `a ${first.kind}`,
      expected: '"# " and the title on the first line',
      place: { file: template.path }
    })
  }
  const second = rest.find(block => block.kind === 'heading' && block.depth === 1)
  if (second !== undefined) {
    throw new Fault({
      format: 'template',
      problem: 'title',
      found: 'a second one',
      expected: 'one heading of the first level',
      place: { file: template.path }
    })
  }
  return { template, parts, title: plainText(first.content), blocks: rest }
}

/** Runs before `marked`, so that limits on the template bound its stack and its time on every machine. */
function refuseNesting(template: Template): void {
  let offset = 0
  for (const line of template.text.split('\n')) {
    const refuse = (problem: string, found: string, expected: string): Fault =>
      new Fault({ format: 'template', problem, found, expected, place: placeOf(template, offset) })
    const indent = line.length - line.trimStart().length
    if (indent > MAX_INDENT) throw refuse('indentation', `${indent} spaces`, `at most ${MAX_INDENT}`)
    const levels = RULE.test(line) ? 0 : (MARKERS.exec(line)?.[0].match(/[^ ]/g)?.length ?? 0)
    if (levels > MAX_NESTING) throw refuse('nesting', `${levels} levels`, `at most ${MAX_NESTING}`)
    offset += line.length + 1
  }
}

function lex(source: string, template: Template): readonly Token[] {
  try {
    return reader().lexer(source)
  } catch (error) {
    throw toFault(error, 'template', { file: template.path })
  }
}

/** Text of inlines without slots, as in headings. */
export function plainText(content: readonly Inline[]): string {
  return content.map(inline => ('text' in inline ? inline.text : 'content' in inline ? plainText(inline.content) : ' ')).join('')
}

class MarkdownTree {
  readonly #template: Template
  readonly #slots: readonly Slot[]
  readonly #ids = new Set<string>()
  /** first line of the current top-level block; references do not change the number of lines */
  #line = 1

  constructor(template: Template, slots: readonly Slot[]) {
    this.#template = template
    this.#slots = slots
  }

  document(tokens: readonly Token[]): Block[] {
    return tokens.flatMap(token => {
      const blocks = this.#blocks([token], 0)
      this.#line += token.raw.split('\n').length - 1
      return blocks
    })
  }

  #blocks(tokens: readonly Token[], depth: number): Block[] {
    if (depth > MAX_NESTING) throw this.#fault('nesting', `more than ${MAX_NESTING} levels`, 'fewer', '')
    return tokens.flatMap(token => this.#block(token as MarkedToken, depth) ?? [])
  }

  /** Null for a token that gives no block: space between blocks, definitions of link names. */
  #block(token: MarkedToken, depth: number): Block | null {
    switch (token.type) {
      case 'space':
      case 'def':
        return null
      case 'heading':
        return this.#heading(token, depth)
      case 'paragraph':
      case 'text':
        return this.#paragraph(token.tokens ?? [], depth)
      case 'list':
        return { kind: 'list', ordered: token.ordered, items: token.items.map(item => this.#item(item, depth)) }
      case 'blockquote':
        return { kind: 'quote', content: this.#blocks(token.tokens, depth + 1) }
      case 'code':
        return { kind: 'code', content: this.#text(token.text) }
      case 'hr':
        return { kind: 'rule' }
      case 'table':
        return {
          kind: 'table',
          align: token.align,
          header: token.header.map(cell => this.#inlines(cell.tokens, depth)),
          rows: token.rows.map(row => row.map(cell => this.#inlines(cell.tokens, depth)))
        }
      case 'html':
        throw this.#html(token.raw)
      default:
        throw this.#fault('Markdown', `a ${token.type}`, 'text, lists, tables, quotes and code', token.raw)
    }
  }

  #item(item: Tokens.ListItem, depth: number): readonly Block[] {
    if (item.task) throw this.#fault('Markdown', 'a check box', 'a plain list', item.raw)
    return this.#blocks(item.tokens, depth + 1)
  }

  #heading(token: Tokens.Heading, depth: number): Block {
    const content = this.#inlines(token.tokens, depth)
    const slot = findSlot(content)
    if (slot !== null) {
      throw new Fault({
        format: 'template',
        problem: 'heading',
        found: 'a reference',
        expected: 'words',
        place: slot.place
      })
    }
    const name = idPart(
      plainText(content)
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, '-')
        .replace(/^-|-$/g, '')
    )
    let id = name
    for (let n = 2; this.#ids.has(id); n++) id = `${name}-${n}`
    this.#ids.add(id)
    return { kind: 'heading', depth: token.depth, id, content }
  }

  #paragraph(tokens: readonly Token[], depth: number): Block {
    const [first, ...rest] = tokens as readonly MarkedToken[]
    const lead = first?.type === 'text' ? /^\ue000(\d+)\ue001(\n?)/.exec(first.text) : null
    const slot = lead === null ? undefined : this.#slots[Number(lead[1])]
    if (lead === null || first?.type !== 'text' || slot === undefined || !isBlock(slot)) {
      return { kind: 'paragraph', content: this.#inlines(tokens, depth) }
    }
    const caption = [...this.#text(first.text.slice(lead[0].length)), ...this.#inlines(rest, depth)]
    if (slot.kind === 'figure') {
      if (caption.length > 0) return { kind: 'figure', slot, caption }
      throw this.#misplaced(slot, 'a figure without a caption', 'the caption on the lines below it')
    }
    if (caption.length === 0) return { kind: 'insert', slot }
    throw this.#misplaced(slot, `text below the ${slot.kind} table`, 'an empty line below it')
  }

  #inlines(tokens: readonly Token[], depth: number): Inline[] {
    if (depth > MAX_NESTING) throw this.#fault('nesting', `more than ${MAX_NESTING} levels`, 'fewer', '')
    return tokens.flatMap(token => this.#inline(token as MarkedToken, depth + 1))
  }

  #inline(token: MarkedToken, depth: number): readonly Inline[] {
    switch (token.type) {
      case 'text': {
        if (token.tokens !== undefined) return this.#inlines(token.tokens, depth)
        const open = OPEN_TAG.exec(token.raw)
        if (open !== null) throw this.#html(open[0])
        return this.#text(token.text)
      }
      case 'html':
        throw this.#html(token.raw)
      case 'escape':
        return this.#text(token.text)
      case 'strong':
      case 'em':
      case 'del':
        return [{ kind: token.type, content: this.#inlines(token.tokens, depth) }]
      case 'codespan':
        return [{ kind: 'code', content: this.#text(token.text) }]
      case 'br':
        return [{ kind: 'break' }]
      case 'link':
        return [this.#link(token, depth)]
      case 'image':
        throw this.#fault('Markdown', 'a picture', 'text and links', token.raw)
      default:
        throw this.#fault('Markdown', `a ${token.type}`, 'text and links', token.raw)
    }
  }

  #link(token: Tokens.Link, depth: number): Inline {
    if (token.href.includes(OPEN)) throw this.#fault('link', 'a reference as its target', 'an address', token.raw)
    if (token.title !== null && token.title !== undefined) throw this.#fault('link', 'a title', 'a link without one', token.raw)
    return { kind: 'link', href: token.href, content: this.#inlines(token.tokens, depth), place: this.#near(token.raw) }
  }

  /** Splits a text into its pieces and its slots. */
  #text(text: string): Inline[] {
    const inlines: Inline[] = []
    let done = 0
    for (const match of text.matchAll(SLOT)) {
      const slot = this.#slots[Number(match[1])]
      if (isBlock(slot)) {
        throw this.#misplaced(slot, `${slot.kind} inside other text`, 'an empty line before it, outside of lists and tables')
      }
      if (match.index > done) inlines.push({ kind: 'text', text: text.slice(done, match.index) })
      inlines.push({ kind: 'slot', slot })
      done = match.index + match[0].length
    }
    if (done < text.length) inlines.push({ kind: 'text', text: text.slice(done) })
    return inlines
  }

  #misplaced(slot: Slot, found: string, expected: string): Fault {
    return new Fault({ format: 'template', problem: 'block', found, expected, place: slot.place })
  }

  /** The first place of a piece of Markdown without references. Without one, the first line of the current block. */
  #near(raw: string): Place {
    const offset = raw === '' ? -1 : this.#template.text.indexOf(raw.trimEnd())
    return offset < 0 ? { file: this.#template.path, line: this.#line } : placeOf(this.#template, offset)
  }

  /** A tag inside code is text. The place is therefore searched outside of code, and from the current block on. */
  #html(raw: string): Fault {
    const found = raw.trim().split('\n', 1)[0]
    const text = withoutCode(this.#template.text)
    const block = text.split('\n', this.#line - 1).reduce((sum, line) => sum + line.length + 1, 0)
    const offset = text.indexOf(found.split(OPEN, 1)[0], block)
    return new Fault({
      format: 'template',
      problem: 'raw HTML',
      found: printable(found.replace(SLOT, '{{…}}')),
      expected: 'Markdown',
      place: offset < 0 ? this.#near('') : placeOf(this.#template, offset)
    })
  }

  #fault(problem: string, found: string, expected: string, raw: string): Fault {
    return new Fault({ format: 'template', problem, found: printable(found), expected, place: this.#near(raw) })
  }
}

function isBlock(slot: Slot): slot is BlockSlot | FigureSlot {
  return slot.kind === 'figure' || slot.kind === 'audit' || slot.kind === 'discrepancies' || slot.kind === 'sources'
}

function findSlot(content: readonly Inline[]): InlineSlot | null {
  for (const inline of content) {
    if (inline.kind === 'slot') return inline.slot
    const inner = 'content' in inline ? findSlot(inline.content) : null
    if (inner !== null) return inner
  }
  return null
}
