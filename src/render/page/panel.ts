/**
 * Writes a number of the prose as HTML, and the panel that says where it comes from. A panel is a popover of the browser:
 * the number's button opens it, Escape and a click elsewhere close it, and there is no script. Where the browser knows
 * `interestfor`, the pointer on the number opens it too; a click then keeps it open. The buttons of numbers are no stops of
 * the Tab key; a group (groupHtml) is the one stop for all numbers of its paragraph, and lists them. All panels of a page
 * stand behind its text, each once, however often its number is printed.
 */
import type { AuditedClaim, InputHash } from '../../compute/audit/contract.js'
import { parseReference } from '../../compute/documents.js'
import type { ShownFormula, ShownOperand } from './explain.js'
import { encodePath, STAND_IN_MARK } from './fill.js'
import { PAGE_FILES, type Prose } from './prose.js'
import { inputLines, publishedText, STATUS_TEXT } from './tables.js'
import { breakable, escapeHtml, idPart } from './text.js'
import { exact, type ShownValue } from './values.js'

/** A longer text may break into lines. */
const NO_WRAP = 30

/** Digits of a SHA-256 that a panel shows. run.json has all of them. */
const HASH_DIGITS = 8

/** Deepest nesting of operands of operands. Further ones are named alone. */
const MAX_NESTED = 4

/** Largest number of places or inputs that a panel lists. Further ones are counted. */
const MAX_LISTED = 3

/** Address of an output as seen from a page. */
export function outputHref(path: string): string {
  return `../${encodePath(path)}`
}

/** `id` of the row of a claim. */
export function claimId(id: string): string {
  return `claim-${idPart(id)}`
}

/** Address of a page as seen from the other one. Both lie in one folder. */
export function pageHref(page: 'article' | 'notes'): string {
  const { html } = PAGE_FILES[page]
  return html.slice(html.lastIndexOf('/') + 1)
}

/** A number with a panel, as the list of its group shows it. */
export interface Panelled {
  /** `id` of the panel */
  readonly id: string
  /** HTML */
  readonly text: string
  readonly about: string
  /** HTML of the lines of its panel */
  readonly content: string
}

/** The panels of one page. */
export class Panels {
  readonly #show: Prose['show']
  /** address, from this page, of the page whose audit table has the ids of claims; null where no page has such a table */
  readonly #auditHref: string | null
  /** by reference, the claim that states the value there */
  readonly #claims: ReadonlyMap<string, string>
  readonly #numbers = new Map<string, Panelled>()
  readonly #written: string[] = []
  #groups = 0

  constructor(show: Prose['show'], auditHref: string | null, claims: readonly AuditedClaim[]) {
    this.#show = show
    this.#auditHref = auditHref
    this.#claims = new Map(claims.flatMap(({ id, from }) => (from.length === 1 ? [[from[0], id] as const] : [])).reverse())
  }

  /** The number as it stands in the prose, and how its group lists it. */
  value(value: ShownValue): { readonly html: string; readonly panelled: Panelled } {
    const text = `${escapeHtml(value.text)}${value.standIn ? STAND_IN_MARK : ''}`
    const panelled = this.#panelled(value, text)
    const wraps = value.text.length > NO_WRAP ? ' w' : ''
    const status = value.claim === null ? '' : ` ${value.claim.status}`
    const html =
      `<data class="v${status}${wraps}" value="${escapeHtml(exact(value.claim?.computed ?? value.text))}"><span aria-hidden="true">${text}</span>` +
      `<button type="button" tabindex="-1" popovertarget="${panelled.id}" popovertargetaction="show" interestfor="${panelled.id}" ` +
      `aria-label="${escapeHtml(value.text)}${value.claim?.status === 'differs' ? ', differs' : ''}"></button></data>`
    return { html, panelled }
  }

  /**
   * The one stop of the Tab key for the numbers of a block: '' where it has none. It says of each number what its own panel
   * says, folded. A button of the list that opened that panel would lose the focus when Escape closes it.
   */
  groupHtml(numbers: readonly Panelled[], of: string): string {
    const listed = [...new Map(numbers.map(number => [number.id, number])).values()]
    if (listed.length === 0) return ''
    const name = listed.length === 1 ? `The number of this ${of}` : `The ${listed.length} numbers of this ${of}`
    const id = `g${++this.#groups}`
    const items = listed.map(
      ({ text, about, content }) =>
        `<details><summary><b>${text}</b> <span><bdi>${escapeHtml(about)}</bdi></span></summary>${content}</details>`
    )
    this.#written.push(panel(id, name, `<p class="t">${name}</p>${items.join('')}`))
    return `<button type="button" class="g" popovertarget="${id}" aria-label="${name}"></button>`
  }

  /** Every panel; '' where there is none. */
  html(): string {
    return this.#written.length === 0 ? '' : `\n<div class="panels">\n${this.#written.join('\n')}\n</div>`
  }

  #panelled(value: ShownValue, text: string): Panelled {
    const key = `${value.name}\n${value.text}`
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const { name, claim, definition, standIn } = value
    const id = `v${this.#numbers.size + 1}`
    const status = claim === null ? '' : ` <b class="s ${claim.status}">${STATUS_TEXT[claim.status]}</b>`
    const about = definition === '' ? '' : `<p><bdi>${escapeHtml(definition)}</bdi></p>`
    const content = `${standIn ? '<p>A stand-in: no source publishes it.</p>' : ''}${this.#lines(value, 0)}`
    this.#written.push(panel(id, `Where ${value.text} comes from`, `<p class="t"><b>${text}</b>${status}</p>${about}${content}`))
    const panelled = { id, text, about: definition === '' ? name : definition, content }
    this.#numbers.set(key, panelled)
    return panelled
  }

  #lines(value: ShownValue, depth: number): string {
    const { name, claim, explanation } = value
    const { formula = null, meaning = null, stated = null, facts = [] } = explanation ?? {}
    const lines: readonly (readonly [term: string, html: string | null])[] = [
      ['value', valueLine(value)],
      ['published', claim === null ? null : escapeHtml(publishedText(claim))],
      ['formula', formula === null ? null : this.#formula(formula, depth)],
      ['meaning', meaning === null ? null : escapeHtml(meaning)],
      ['stated in', stated === null ? null : bdi(stated)],
      ...facts.map(fact => [fact.name, bdi(fact.text)] as const),
      ...outputLines(value),
      [claim === null ? 'name' : 'claim', this.#name(name, claim !== null)]
    ]
    const list = lines.flatMap(([term, html]) => (html === null ? [] : [`<div><dt>${escapeHtml(term)}</dt><dd>${html}</dd></div>`]))
    return `<dl>${list.join('')}</dl>`
  }

  /** The formula in numbers, each a link, and each operand with what its own panel would say, folded. */
  #formula({ before, operands, between, after }: ShownFormula, depth: number): string {
    const numbers = operands.map(({ reference, value }) => link(this.#operandHref(reference), exact(value)))
    const folded = operands.map(operand => this.#operand(operand, depth + 1))
    return `${escapeHtml(before)}${numbers.join(escapeHtml(between))}${escapeHtml(after)}${folded.join('')}`
  }

  /** The row of the audit that states the value, else the output that holds it. */
  #operandHref(reference: string): string {
    const id = this.#claims.get(reference)
    if (id !== undefined && this.#auditHref !== null) return `${this.#auditHref}#${claimId(id)}`
    return outputHref(parseReference(reference)?.file ?? reference)
  }

  #operand({ reference, name, value }: ShownOperand, depth: number): string {
    const text = `${escapeHtml(exact(value))}: <bdi>${escapeHtml(name)}</bdi>`
    if (value === null || depth > MAX_NESTED) return `<div>${text}</div>`
    const shown = this.#show({ kind: 'output', reference, format: null, place: {} })
    return `<details class="o"><summary>${text}</summary>${this.#lines(shown, depth)}</details>`
  }

  #name(name: string, isClaim: boolean): string {
    return isClaim && this.#auditHref !== null ? link(`${this.#auditHref}#${claimId(name)}`, name) : bdi(name)
  }
}

function closing(id: string): string {
  return `<button type="button" class="x" popovertarget="${id}" popovertargetaction="hide" aria-label="Close">×</button>`
}

function panel(id: string, name: string, content: string): string {
  return `<div class="p" id="${id}" popover role="dialog" aria-label="${escapeHtml(name)}">${closing(id)}${content}</div>`
}

/** The exact value with its unit. Where a claim is scaled, what its output holds follows. */
function valueLine({ text, claim, held, explanation }: ShownValue): string | null {
  const value = claim === null ? (held ?? text) : (claim.computed ?? claim.published)
  if (typeof value === 'string' && value === text) return null
  const stated = claim === null ? '' : claim.unit
  const unit = stated === '' ? (explanation?.unit ?? '') : stated
  const scaled = claim !== null && typeof held === 'number' && typeof claim.computed === 'number' && held !== claim.computed
  return escapeHtml(`${exact(value)}${unit === '' ? '' : ` ${unit}`}${scaled ? `, in the output ${exact(held)}` : ''}`)
}

function outputLines(value: ShownValue): readonly (readonly [string, string])[] {
  return outputsOf(value).flatMap(({ file, pointers, sha256, inputs }) => [
    ['in', `${sha256 === null ? bdi(file) : `${link(outputHref(file), file)} ${hashHtml(sha256)}`} ${pointersHtml(pointers)}`] as const,
    ...(inputs.length === 0 ? [] : [['from', inputsHtml(inputs)] as const])
  ])
}

function hashHtml(sha256: string): string {
  return `<code class="h">${escapeHtml(sha256.slice(0, HASH_DIGITS))}</code>`
}

interface PanelOutput {
  readonly file: string
  readonly sha256: string | null
  readonly pointers: string[]
  readonly inputs: InputHash[]
}

/** Lists each output once, with the places in it and the inputs of all of them. audit.json lists inputs for each place. */
function outputsOf({ provenance }: ShownValue): readonly PanelOutput[] {
  const outputs = new Map<string, PanelOutput>()
  for (const { file, sha256, pointer, inputs } of provenance) {
    const output = outputs.get(file) ?? { file, sha256, pointers: [], inputs: [] }
    outputs.set(file, output)
    output.pointers.push(pointer)
    for (const input of inputs) if (output.inputs.every(known => known.path !== input.path)) output.inputs.push(input)
  }
  return [...outputs.values()]
}

function pointersHtml(pointers: readonly string[]): string {
  const shown = pointers
    .slice(0, MAX_LISTED)
    .map(pointer => `<code>${breakable(escapeHtml(pointer)).replace(/^\/<wbr>/, '/')}</code>`)
    .join(', ')
  return pointers.length <= MAX_LISTED ? shown : `${shown} and ${pointers.length - MAX_LISTED} more places, named in audit.json`
}

function inputsHtml(inputs: readonly InputHash[]): string {
  const hashes = new Map(inputs.map(input => [input.path, input.sha256]))
  return inputLines(
    inputs.map(input => input.path),
    MAX_LISTED
  )
    .map(line => {
      const hash = hashes.get(line)
      return `${escapeHtml(line)}${hash === undefined ? '' : ` ${hashHtml(hash)}`}`
    })
    .join(', ')
}

function link(href: string, text: string): string {
  return `<a href="${escapeHtml(href)}">${bdi(text)}</a>`
}

export function bdi(text: string): string {
  return `<bdi>${breakable(escapeHtml(text))}</bdi>`
}
