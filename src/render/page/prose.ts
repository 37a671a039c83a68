/**
 * Reads both templates, resolves every reference and checks every link before anything is written. The Markdown, the
 * pages and the audit of the prose are made from the result. This module also gives the prose as plain text, as a
 * screen reader would read it. The audit searches that text for disclosures and forbidden statements.
 */
import type { CitedValue } from '../../compute/audit/contract.js'
import { Fault, printable, type Place } from '../../core/errors.js'
import type { PageFigure, ProseInputs } from './inputs.js'
import { refuseTypedFacts, refuseTypedNumbers, refuseWrittenClaims, type ClaimedValues } from './lint.js'
import { readArticle, type Article, type Block, type FigureSlot, type Inline, type InlineSlot } from './markdown.js'
import { normalized, parseTemplate, type Template, type ValuePart } from './references.js'
import { collapse, idPart } from './text.js'
import { ProseValues, type ShownValue } from './values.js'

export type PageName = 'article' | 'notes'

/** Paths of the Markdown files and of the pages. The pages lie one folder below. */
export const PAGE_FILES: Readonly<Record<PageName, { readonly markdown: string; readonly html: string }>> = {
  article: { markdown: 'article.md', html: 'preview/article.html' },
  notes: { markdown: 'source-notes.md', html: 'preview/source-notes.html' }
}

export interface NumberedFigure extends PageFigure {
  /** `Figure 3` */
  readonly label: string
  /** `id` of the figure's element */
  readonly id: string
  readonly page: PageName
}

/** The target of a link. */
export type Target =
  | { readonly kind: 'web'; readonly url: string }
  | { readonly kind: 'output'; readonly path: string }
  | { readonly kind: 'heading'; readonly page: PageName; readonly id: string | null }

export interface Prose {
  readonly article: Article
  readonly notes: Article
  show(part: ValuePart): ShownValue
  figure(slot: { readonly figure: string; readonly place: Place }): NumberedFigure
  target(href: string, page: PageName, place: Place): Target
}

export function readProse(inputs: ProseInputs): Prose {
  const held = inputs.claims.map(
    ({ id, published, computed, unit }): ClaimedValues => ({
      id,
      unit,
      values: [published, computed ?? []].flat(),
      isList: Array.isArray(published)
    })
  )
  const [article, notes] = [inputs.templates.article, inputs.templates.notes].map(template => readTemplate(template, held))
  const values = new ProseValues(inputs)
  refuseOtherDecimals([article, notes], values)
  const figures = placeFigures(inputs.figures, { article, notes })
  const ids = { article: headingIds(article), notes: headingIds(notes) }
  const outputs = new Set(inputs.outputs)
  if (inputs.discrepancies.length === 0) refuseTable([article, notes])
  return {
    article,
    notes,
    show: part => values.show(part),
    figure: ({ figure: name, place }) => {
      const known = inputs.figures.map(figure => figure.name).join(', ')
      const figure = figures.get(name)
      if (figure !== undefined) return figure
      throw new Fault({
        format: 'template',
        problem: 'figure',
        found: printable(name),
        expected: `one that stands on a page, of ${printable(known, 400)}`,
        place
      })
    },
    target: (href, page, place) => {
      const target = findTarget(href, page, outputs)
      const found = target?.kind !== 'heading' || target.id === null || ids[target.page].has(target.id)
      if (target !== null && found) return target
      throw new Fault({
        format: 'template',
        problem: 'link',
        found: printable(href),
        expected: 'an https: address, an output, article.md, source-notes.md or a heading on either',
        place
      })
    }
  }
}

/** A number with four decimals in one place and one decimal in another looks like two numbers. */
function refuseOtherDecimals(pages: readonly Article[], values: ProseValues): void {
  const first = new Map<string, string>()
  for (const part of pages.flatMap(page => page.parts)) {
    if (part.kind !== 'claim' && part.kind !== 'output') continue
    const { digitsOf, text, name } = values.show(part)
    if (digitsOf === null) continue
    const earlier = first.get(digitsOf) ?? text
    first.set(digitsOf, earlier)
    if (decimalsOf(earlier) !== decimalsOf(text)) {
      throw new Fault({
        format: 'template',
        problem: 'decimals',
        found: `${printable(name)} as ${text}`,
        expected: `as many as where it stands before, in ${earlier}`,
        place: part.place
      })
    }
  }
}

function decimalsOf(text: string): number {
  return /\.(\d+)/.exec(text)?.[1].length ?? 0
}

function readTemplate(raw: Template, held: readonly ClaimedValues[]): Article {
  const template = normalized(raw)
  const parts = parseTemplate(template)
  refuseTypedNumbers(template)
  refuseTypedFacts(template, held)
  refuseWrittenClaims(parts, held)
  return readArticle(template, parts)
}

/** Without discrepancies their table would be empty, which reads as if the sources agreed. */
function refuseTable(pages: readonly Article[]): void {
  const table = pages.flatMap(page => page.parts).find(part => part.kind === 'discrepancies')
  if (table?.kind !== 'discrepancies') return
  throw new Fault({
    format: 'template',
    problem: 'reference',
    found: 'discrepancies, of which the claims file lists none',
    expected: 'at least one, or no table of them',
    place: table.place
  })
}

/** Figures by name, with the page that contains each. A figure may stand in one place only. */
function placeFigures(figures: readonly PageFigure[], pages: Readonly<Record<PageName, Article>>): ReadonlyMap<string, NumberedFigure> {
  const placed = new Map<string, NumberedFigure>()
  for (const page of ['article', 'notes'] as const) {
    for (const slot of figureSlots(pages[page].blocks)) {
      const index = figures.findIndex(figure => figure.name === slot.figure)
      if (index < 0) continue
      if (placed.has(slot.figure)) {
        throw new Fault({
          format: 'template',
          problem: 'figure',
          found: `${printable(slot.figure)} again`,
          expected: 'each figure once',
          place: slot.place
        })
      }
      const number = /^\d+/.exec(slot.figure)?.[0] ?? String(index + 1)
      placed.set(slot.figure, { ...figures[index], label: `Figure ${Number(number)}`, id: `figure-${idPart(slot.figure)}`, page })
    }
  }
  return placed
}

function figureSlots(blocks: readonly Block[]): FigureSlot[] {
  return blocks.flatMap(block => {
    if (block.kind === 'figure') return [block.slot]
    if (block.kind === 'quote') return figureSlots(block.content)
    return block.kind === 'list' ? block.items.flatMap(figureSlots) : []
  })
}

function headingIds(article: Article): ReadonlySet<string> {
  return new Set(article.blocks.flatMap(block => (block.kind === 'heading' ? [block.id] : [])))
}

function findTarget(href: string, page: PageName, outputs: ReadonlySet<string>): Target | null {
  if (/^https:\/\//i.test(href)) return webTarget(href)
  const [path, id] = href.split('#', 2) as [string, string?]
  if (path === '') return { kind: 'heading', page, id: id ?? null }
  for (const name of ['article', 'notes'] as const) {
    if (path === PAGE_FILES[name].markdown) return { kind: 'heading', page: name, id: id ?? null }
  }
  return id === undefined && outputs.has(path) ? { kind: 'output', path } : null
}

function webTarget(href: string): Target | null {
  if (!URL.canParse(href)) return null
  const { protocol, username, password, href: url } = new URL(href)
  return protocol === 'https:' && username === '' && password === '' ? { kind: 'web', url } : null
}

/** A page's prose with every reference replaced and white space collapsed. Tables that the program makes are left out. */
export function proseText(prose: Prose, page: PageName): string {
  const write = (content: readonly Inline[]): string =>
    content
      .map(inline => {
        switch (inline.kind) {
          case 'text':
            return inline.text
          case 'slot':
            return slotText(prose, inline.slot)
          case 'break':
            return ' '
          default:
            return write(inline.content)
        }
      })
      .join('')
  const textOf = (block: Block): string => {
    switch (block.kind) {
      case 'heading':
      case 'paragraph':
      case 'code':
        return write(block.content)
      case 'figure':
        return `${prose.figure(block.slot).label}. ${write(block.caption)}`
      case 'quote':
        return all(block.content)
      case 'list':
        return block.items.map(all).join('\n')
      case 'table':
        return [block.header, ...block.rows].map(row => row.map(write).join(' ')).join('\n')
      case 'rule':
      case 'insert':
        return ''
    }
  }
  const all = (blocks: readonly Block[]): string => blocks.map(textOf).join('\n')
  return collapse(`${prose[page].title}\n${all(prose[page].blocks)}`)
}

/** The values that a page cites from outputs, directly or as the statement of a source of a discrepancy. */
export function citedValues(prose: Prose, page: PageName, { templates }: ProseInputs): readonly CitedValue[] {
  return prose[page].parts.flatMap(part => {
    if (part.kind !== 'output' && part.kind !== 'discrepancy') return []
    const {
      text,
      provenance: [found]
    } = prose.show(part)
    const { line = 0, column = 0 } = part.place
    return found === undefined ? [] : [{ file: templates[page].path, line, column, reference: `${found.file}#${found.pointer}`, text }]
  })
}

/** The text of an inline reference. */
export function slotText(prose: Prose, slot: InlineSlot): string {
  if (slot.kind === 'written') return slot.text
  return slot.kind === 'see' ? prose.figure(slot).label : prose.show(slot).text
}
