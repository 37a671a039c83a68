/** Writes the body of a page as HTML: blocks, values, figures and tables. All text from other sources is escaped. */
import { AUDIT_PATH } from '../outputs/output-names.js'
import type { AuditFailure } from './failure.js'
import type { PageInputs, PagePicture } from './inputs.js'
import { plainText, type Align, type Block, type FigureSlot, type Inline, type InlineSlot } from './markdown.js'
import { bdi, claimId, outputHref, pageHref, Panels, type Panelled } from './panel.js'
import type { PageName, Prose, Target } from './prose.js'
import { tablesOf, type TableCell, type TableRow, type PageTable } from './tables.js'
import { breakable, escapeHtml, escapeMarkup, visible } from './text.js'

/** Prefix of the ids of headings, so that no heading takes an `id` that the page uses itself. */
export const HEADING_PREFIX = 's-'

export class BodyWriter {
  readonly #prose: Prose
  readonly #page: PageName
  readonly #inputs: PageInputs
  readonly #panels: Panels
  /** numbers since the last group */
  #numbers: Panelled[] = []
  #heading = ''

  constructor(prose: Prose, page: PageName, inputs: PageInputs) {
    this.#prose = prose
    this.#page = page
    this.#inputs = inputs
    this.#panels = new Panels(part => prose.show(part), tableHref(prose, page, 'audit'), inputs.claims)
  }

  /** The whole text, with the panels of its numbers behind it. */
  page(blocks: readonly Block[]): string {
    const sections = blocks.filter(block => block.kind === 'heading' && block.depth === SECTION_DEPTH)
    const written = blocks.map(block => `${this.#block(block)}${skipHtml(sections, block)}`).join('\n')
    return `${written}${this.#panels.html()}`
  }

  #blocks(blocks: readonly Block[]): string {
    return blocks.map(block => this.#block(block)).join('\n')
  }

  /** The text of a block with the one stop of the Tab key for its numbers. */
  #grouped(html: string, of = 'paragraph'): string {
    const numbers = this.#numbers
    this.#numbers = []
    return `${html}${this.#panels.groupHtml(numbers, of)}`
  }

  #block(block: Block): string {
    switch (block.kind) {
      case 'heading': {
        const text = this.#inlines(block.content)
        this.#heading = text.replace(/<[^>]*>/g, '')
        return this.#grouped(headingHtml(`h${block.depth}`, block.id, text), 'heading')
      }
      case 'paragraph':
        return `<p>${this.#grouped(this.#inlines(block.content))}</p>`
      case 'code':
        return this.#grouped(`<pre tabindex="0"><code>${this.#inlines(block.content)}</code></pre>`)
      case 'quote':
        return `<blockquote>${this.#blocks(block.content)}</blockquote>`
      case 'rule':
        return '<hr>'
      case 'list': {
        const tag = block.ordered ? 'ol' : 'ul'
        return `<${tag}>${block.items.map(item => `<li>${this.#item(item)}</li>`).join('\n')}</${tag}>`
      }
      case 'table':
        return this.#grouped(this.#proseTable(block), 'table')
      case 'figure':
        return this.#figure(block.slot, block.caption)
      case 'insert': {
        const { lead, tables } = tablesOf(block.slot.kind, this.#inputs)
        const claims = tables.filter(({ folded }) => folded !== undefined).map(tableHtml)
        return [
          ...(lead === null ? [] : [`<p class="counts">${escapeHtml(lead)}</p>`]),
          ...(claims.length === 0 ? [] : [`<div class="claims">\n${claims.join('\n')}\n</div>`]),
          ...tables.filter(({ folded }) => folded === undefined).map(tableHtml)
        ].join('\n')
      }
    }
  }

  /** An item with a single paragraph is written as the text of that paragraph. */
  #item(blocks: readonly Block[]): string {
    const [only] = blocks
    return blocks.length === 1 && only.kind === 'paragraph' ? this.#grouped(this.#inlines(only.content)) : this.#blocks(blocks)
  }

  /** Where the upper left cell is empty, the first column holds row names. */
  #proseTable({ align, header, rows }: Extract<Block, { kind: 'table' }>): string {
    const named = header[0].length === 0
    const write = (tag: 'th' | 'td', scope: string, cell: readonly Inline[], side: Align): string =>
      `<${tag}${side === null ? '' : ` class="${side}"`}${tag === 'th' ? ` scope="${scope}"` : ''}>${this.#inlines(cell)}</${tag}>`
    const head = header.map((cell, i) => write(cell.length === 0 ? 'td' : 'th', 'col', cell, align[i]))
    const body = rows.map(row => row.map((cell, i) => write(named && i === 0 ? 'th' : 'td', 'row', cell, align[i])).join(''))
    return (
      `<div class="scroll" tabindex="0" role="group" aria-label="Table: ${this.#heading}">` +
      `<table><thead><tr>${head.join('')}</tr></thead><tbody>\n<tr>${body.join('</tr>\n<tr>')}</tr>\n</tbody></table></div>`
    )
  }

  #figure(slot: FigureSlot, caption: readonly Inline[]): string {
    const { readings, ...figure } = this.#prose.figure(slot)
    return figureHtml({ ...figure, caption: this.#grouped(this.#inlines(caption), 'caption'), note: readings === null ? MANY_POINTS : '' })
  }

  #inlines(content: readonly Inline[]): string {
    return content
      .map(inline => {
        switch (inline.kind) {
          case 'text':
            return escapeMarkup(inline.text)
          case 'slot':
            return this.#slot(inline.slot)
          case 'break':
            return '<br>'
          case 'link': {
            const target = this.#prose.target(inline.href, this.#page, inline.place)
            const apart = target.kind === 'web' ? ' rel="noreferrer"' : ''
            return `<a href="${escapeHtml(this.#href(target))}"${apart}>${this.#inlines(inline.content)}</a>`
          }
          default:
            return `<${inline.kind}>${this.#inlines(inline.content)}</${inline.kind}>`
        }
      })
      .join('')
  }

  #slot(slot: InlineSlot): string {
    if (slot.kind === 'written') return `<span class="written">${escapeHtml(slot.text)}</span>`
    if (slot.kind !== 'see') {
      const { html, panelled } = this.#panels.value(this.#prose.show(slot))
      this.#numbers.push(panelled)
      return html
    }
    const { page, id, label } = this.#prose.figure(slot)
    return `<a class="see" href="${page === this.#page ? '' : pageHref(page)}#${escapeHtml(id)}">${escapeHtml(label)}</a>`
  }

  #href(target: Target): string {
    if (target.kind === 'web') return target.url
    if (target.kind === 'output') return outputHref(target.path)
    const file = target.page === this.#page ? '' : pageHref(target.page)
    return target.id === null ? (file === '' ? '#main' : file) : `${file}#${HEADING_PREFIX}${target.id}`
  }
}

/** Depth of the headings that the contents list, and that a reader with a keyboard can skip. */
export const SECTION_DEPTH = 2

/** A heading is a link to itself, unless it has links of its own. */
export function headingHtml(tag: string, id: string, text: string): string {
  const anchor = `${HEADING_PREFIX}${escapeHtml(id)}`
  const linked = /<(?:a|button) /.test(text) ? text : `<a class="here" href="#${anchor}">${text}</a>`
  return `<${tag} id="${anchor}">${linked}</${tag}>`
}

/** Behind the heading of a section the way to the next one, for the keyboard. */
function skipHtml(sections: readonly Block[], block: Block): string {
  const at = sections.indexOf(block)
  const next = at < 0 ? undefined : sections[at + 1]
  return next?.kind === 'heading'
    ? `\n<a class="next" href="#${HEADING_PREFIX}${escapeHtml(next.id)}">Skip to “${escapeMarkup(plainText(next.content))}”</a>`
    : ''
}

/** Address of the page with a table, as seen from `page`: '' where it is that page itself, null where no page has the table. */
function tableHref(prose: Prose, page: PageName, kind: NonNullable<AuditFailure['first']>['table']): string | null {
  const on = (['article', 'notes'] as const).find(name =>
    prose[name].blocks.some(block => block.kind === 'insert' && block.slot.kind === kind)
  )
  return on === undefined ? null : on === page ? '' : pageHref(on)
}

/** The statement directly below the title of a page where the audit fails the run. */
export function failureHtml({ text, first }: AuditFailure, prose: Prose, page: PageName): string {
  const href = first === null ? null : tableHref(prose, page, first.table)
  const place =
    first === null || href === null
      ? ''
      : `<a href="${escapeHtml(`${href}#${claimId(first.row)}`)}">${bdi(first.name)} in the audit</a> and `
  return `<p class="failed" role="alert"><strong>${escapeHtml(text)}</strong> See ${place}${outputLink(AUDIT_PATH, AUDIT_PATH)}.</p>\n`
}

export interface FigureHtml {
  readonly id: string
  readonly label: string
  readonly picture: PagePicture
  /** HTML */
  readonly caption: string
  readonly files: readonly string[]
  readonly data: readonly string[]
  /** a sentence behind the links; default '' */
  readonly note?: string
}

/** Of a figure that does not answer to a pointer although it has curves. */
const MANY_POINTS = 'This figure has more points than a page holds: their values stand in its data alone.'

export function figureHtml({ id, label, picture, caption, files, data, note = '' }: FigureHtml): string {
  const links = [
    ...(files.length === 0 ? [] : [`<span>Full size: ${files.map(path => outputLink(path, formatOf(path))).join(', ')}</span>`]),
    ...(data.length === 0 ? [] : [`<span>Data: ${data.map(path => outputLink(path, path)).join(', ')}</span>`]),
    ...(note === '' ? [] : [`<span>${escapeHtml(note)}</span>`])
  ]
  return (
    `<figure id="${escapeHtml(id)}">\n` +
    `<div class="wide${isTall(picture.wide) ? ' tall' : ''}">${seen(picture.wide)}</div>\n<div class="narrow">${seen(picture.column)}</div>\n` +
    `<figcaption><b>${escapeHtml(label)}.</b> ${caption}</figcaption>\n` +
    `${links.length === 0 ? '' : `<p class="files">${links.join(' ')}</p>\n`}</figure>`
  )
}

/** Whether a picture is nearly as high as wide: on paper it then gets more height than the others. */
function isTall(svg: string): boolean {
  const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg) ?? []
  return Number(height) > 0.85 * Number(width)
}

/** Texts of a study stand in its pictures: what nobody sees in them is written out, as everywhere on a page. */
function seen(svg: string): string {
  return svg.trim().split('\n').map(visible).join('\n')
}

export function outputLink(path: string, text: string): string {
  return `<a href="${escapeHtml(outputHref(path))}"><bdi>${escapeHtml(text)}</bdi></a>`
}

const SHA256 = /^[0-9a-f]{64}$/

/** `PNG` for `figures/01-scores.png`, `SVG (column, dark)` for `figures/01-scores.column.dark.svg`. */
function formatOf(path: string): string {
  const [format = '', ...words] = path
    .slice(path.lastIndexOf('/') + 1)
    .split('.')
    .slice(1)
    .reverse()
  return format.toUpperCase() + (words.length === 0 ? '' : ` (${words.reverse().join(', ')})`)
}

/**
 * A table that the program makes. Roles are stated, because on narrow screens the rows are drawn as blocks, and a table
 * then loses its implied roles.
 */
export function tableHtml({ name, caption, head, rows, folded }: PageTable): string {
  const header = head.map(title => `<th role="columnheader" scope="col">${escapeHtml(title)}</th>`).join('')
  const text = escapeHtml(caption)
  const [before, label, after] =
    folded === undefined
      ? ['', '', '']
      : [`<details${folded === 'open' ? ' open' : ''}><summary>${text}</summary>\n`, ` aria-label="${text}"`, '\n</details>']
  return (
    `${before}<table class="made ${name}" role="table"${label}>${folded === undefined ? `<caption>${text}</caption>` : ''}` +
    `<thead role="rowgroup"><tr role="row">${header}</tr></thead>\n<tbody role="rowgroup">\n` +
    `${rows.map(row => rowHtml(row, head)).join('\n')}\n</tbody></table>${after}`
  )
}

function rowHtml({ id, cells }: TableRow, head: readonly string[]): string {
  const name = id === null ? '' : ` id="${escapeHtml(claimId(id))}"`
  const content = cells.map((cell, i) => {
    const kind = cell.status ?? (cell.repeats === true ? 'repeats' : null)
    const attributes = `data-label="${escapeHtml(head[i])}"${kind === null ? '' : ` class="${kind}"`}`
    const text = cellHtml(cell)
    return i === 0 ? `<th role="rowheader" scope="row" ${attributes}>${text}</th>` : `<td role="cell" ${attributes}>${text}</td>`
  })
  return `<tr role="row"${name}>${content.join('')}</tr>`
}

function cellHtml({ lines, code, links }: TableCell): string {
  return lines
    .map((line, i) => {
      const text = breakable(escapeHtml(line))
      const kind = SHA256.test(line) ? ' class="hash"' : ''
      const inner = code === true ? `<code${kind}><bdi>${text}</bdi></code>` : `<bdi>${text}</bdi>`
      const link = links?.[i] ?? null
      return `<div>${link === null ? inner : `<a href="${escapeHtml(outputHref(link))}">${inner}</a>`}</div>`
    })
    .join('')
}
