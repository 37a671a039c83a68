/**
 * Writes a number of the prose as HTML, with the panel that states its source. The panel is plain markup behind the
 * number. The style sheet shows it while the number is under the pointer or has the focus. There is no script. On focus
 * a screen reader reads the first part of the panel, which has no hashes.
 */
import type { InputHash } from '../../compute/audit/contract.js'
import { PAGE_FILES } from './prose.js'
import { encodePath, STAND_IN_MARK } from './fill.js'
import { inputLines, publishedText, STATUS_TEXT } from './tables.js'
import { breakable, escapeHtml, idPart } from './text.js'
import { exact, type ShownValue } from './values.js'

/** A longer text may break into lines. */
const NO_WRAP = 30

export interface PagePanelOptions {
  /** number of the panel on its page; its ids are made from it */
  readonly number: number
  /** address, from this page, of the page whose audit table has the ids of claims; null where no page has such a table */
  readonly auditHref: string | null
}

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

export function valueHtml(value: ShownValue, { number, auditHref }: PagePanelOptions): string {
  const id = `v${number}`
  const wraps = value.text.length > NO_WRAP ? ' w' : ''
  const status = value.claim === null ? '' : ` ${value.claim.status}`
  const mark = value.standIn ? STAND_IN_MARK : ''
  const shown =
    `<data class="v${status}${wraps}" value="${escapeHtml(exact(value.claim?.computed ?? value.text))}" tabindex="0" ` +
    `aria-describedby="${id}d">${escapeHtml(value.text)}${mark}</data>`
  return `${shown}<span class="p" role="tooltip" id="${id}">${panelHtml(value, id, auditHref)}</span>`
}

function panelHtml(value: ShownValue, id: string, auditHref: string | null): string {
  const lines = outputsOf(value).flatMap(({ file, pointers, sha256, inputs }) => [
    `<span><b>in</b> ${sha256 === null ? escapeHtml(file) : link(outputHref(file), file)} ${pointersHtml(pointers)}</span>`,
    ...(sha256 === null ? [] : [`<span><b>sha256</b> <code>${escapeHtml(sha256)}</code></span>`]),
    ...(inputs.length === 0 ? [] : [`<span><b>from</b> ${inputsHtml(inputs)}</span>`])
  ])
  return `<span id="${id}d">${aboutHtml(value, auditHref)}</span>${lines.join('')}`
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

/** Largest number of places or inputs that a panel lists. Further ones are counted. */
const MAX_LISTED = 3

function pointersHtml(pointers: readonly string[]): string {
  const shown = pointers
    .slice(0, MAX_LISTED)
    .map(pointer => `<code>${breakable(escapeHtml(pointer))}</code>`)
    .join(', ')
  return pointers.length <= MAX_LISTED ? shown : `${shown} and ${pointers.length - MAX_LISTED} more places, named in audit.json`
}

function aboutHtml({ name, definition, claim, standIn, stated }: ShownValue, auditHref: string | null): string {
  const named = claim !== null && auditHref !== null ? link(`${auditHref}#${claimId(name)}`, name) : bdi(name)
  const parts = [`<b class="n">${named}</b>`]
  if (claim !== null) {
    const { status, computed } = claim
    const behind = computed === null ? '' : `, computed ${escapeHtml(exact(computed))}`
    parts.push(`<b class="s ${status}">${STATUS_TEXT[status]}</b>`, `<span>published ${escapeHtml(publishedText(claim))}${behind}.</span>`)
  }
  if (standIn) parts.push('<span>A stand-in: no source publishes it.</span>')
  if (definition !== '') parts.push(`<span><bdi>${escapeHtml(definition)}</bdi></span>`)
  if (stated !== null) parts.push(`<span>Stated in <bdi>${escapeHtml(stated)}</bdi>.</span>`)
  return parts.join(' ')
}

function inputsHtml(inputs: readonly InputHash[]): string {
  const hashes = new Map(inputs.map(input => [input.path, input.sha256]))
  return inputLines(
    inputs.map(input => input.path),
    MAX_LISTED
  )
    .map(line => {
      const hash = hashes.get(line)
      return `${escapeHtml(line)}${hash === undefined ? '' : ` <code>${escapeHtml(hash)}</code>`}`
    })
    .join(', ')
}

/**
 * A link for the pointer. With the keyboard the same places are reached in the audit table, so that a number does not
 * have two further tab stops.
 */
function link(href: string, text: string): string {
  return `<a href="${escapeHtml(href)}" tabindex="-1">${bdi(text)}</a>`
}

export function bdi(text: string): string {
  return `<bdi>${breakable(escapeHtml(text))}</bdi>`
}
