/**
 * The references of a template. A template is Markdown. Text between `{{` and `}}` on one line is replaced:
 *
 *     {{eval.gspo.verified}}                               a claim, with its published decimals
 *     {{fact config.model}}                                a claim whose value is a text; `| name`: the last part of a path
 *     {{trace.tokens | integer}}                           a claim, in a format (formats.ts)
 *     {{data.json#/values/gspo.verified/value | fixed(1)}} a place in an output: path, `#`, JSON pointer
 *     {{discrepancy r6-warmup: postmortem}}                the statement of the source of a discrepancy whose label has this
 *     {{see 03-training-by-step}}                          `Figure 3`, linked to it
 *     {{written 2026}}                                     the study author's own digits, meant as text and not as a value
 *     {{figure 03-training-by-step}}                       a block: the figure; the lines below it are its caption
 *     {{audit}}  {{discrepancies}}  {{sources}}            blocks: tables, each alone on its line
 *
 * `{{` always begins a reference, also in code. Nothing is evaluated. An unknown name is a fault with line and column.
 * Control characters and invisible characters are faults, so that readers get what the author sees.
 */
import { Fault, printable, type Place } from '../../core/errors.js'
import { FORMAT_LIST, parseFormat, type Format } from './formats.js'
import { visible } from './text.js'

/** A template as it was read. */
export interface Template {
  /** path relative to the study, for messages */
  readonly path: string
  readonly text: string
}

export type BlockName = 'audit' | 'discrepancies' | 'sources'

export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | ({ readonly kind: 'claim'; readonly id: string } & Referenced)
  | ({ readonly kind: 'output'; readonly reference: string } & Referenced)
  | ({ readonly kind: 'discrepancy'; readonly id: string; readonly label: string } & Referenced)
  | { readonly kind: 'written'; readonly text: string; readonly place: Place }
  | { readonly kind: 'see'; readonly figure: string; readonly place: Place }
  | { readonly kind: 'figure'; readonly figure: string; readonly place: Place }
  | { readonly kind: BlockName; readonly place: Place }

interface Referenced {
  /** null: the format of the published value, or the value as it is */
  readonly format: Format | null
  readonly place: Place
}

export type ValuePart = Extract<TemplatePart, Referenced>

/** Largest number of characters in a template. An article has some tens of thousands. */
const MAX_LENGTH = 1_000_000

/** Largest length of a `written` text. It is meant for a date or a section, not for a paragraph. */
const MAX_WRITTEN = 40

const REFERENCE = /\{\{|\}\}/g

/** Name of a figure, a discrepancy or a claim: one word. */
const WORD = /^\S+$/

/** Line ends that are replaced by `\n`. */
const LINE_ENDS = /\r\n?/g

export function placeOf(template: Template, offset: number): Place {
  const before = template.text.slice(0, offset)
  const line = before.split('\n').length
  return { file: template.path, line, column: offset - before.lastIndexOf('\n') }
}

function templateFault(problem: string, found: string, expected: string, place: Place): Fault {
  return new Fault({ format: 'template', problem, found: printable(found), expected, place })
}

/**
 * The template with `\n` as its only line end.
 * @throws Fault where it is too long or has an invisible character
 */
export function normalized({ path, text }: Template): Template {
  if (text.length > MAX_LENGTH) {
    throw templateFault('too long', `${text.length} characters`, `at most ${MAX_LENGTH}`, { file: path })
  }
  const template = { path, text: text.replace(/^\ufeff/, '').replace(LINE_ENDS, '\n') }
  const seen = template.text.replaceAll('\n', ' ')
  for (let at = 0; at < seen.length; ) {
    const character = String.fromCodePoint(seen.codePointAt(at) ?? 0)
    if (visible(character) !== character) {
      throw templateFault('character', visible(character), 'characters that can be seen, spaces and line ends', placeOf(template, at))
    }
    at += character.length
  }
  return template
}

/** Splits a normalized template. Its parts, each reference with its braces, make up the whole text. */
export function parseTemplate(template: Template): readonly TemplatePart[] {
  const { text } = template
  const parts: TemplatePart[] = []
  let done = 0
  let open = -1
  for (const { 0: braces, index } of text.matchAll(REFERENCE)) {
    const place = placeOf(template, index)
    if (braces === '{{') {
      if (open >= 0) throw unclosed(template, open)
      if (index > done) parts.push({ kind: 'text', text: text.slice(done, index) })
      open = index
    } else {
      if (open < 0) throw templateFault('unbalanced braces', '}}', '"{{" before it on the same line', place)
      const body = text.slice(open + 2, index)
      if (body.includes('\n')) throw unclosed(template, open)
      parts.push(parseTag(body.trim(), placeOf(template, open), aloneIn(text, open, index + 2)))
      open = -1
      done = index + 2
    }
  }
  if (open >= 0) throw unclosed(template, open)
  if (done < text.length) parts.push({ kind: 'text', text: text.slice(done) })
  return parts
}

function unclosed(template: Template, open: number): Fault {
  const line = template.text.slice(open).split('\n', 1)[0]
  return templateFault('unbalanced braces', line, '"}}" on the same line', placeOf(template, open))
}

/** Whether a reference stands alone on its line, as a block must. */
function aloneIn(text: string, from: number, to: number): boolean {
  return (from === 0 || text[from - 1] === '\n') && (to === text.length || text[to] === '\n')
}

function parseTag(body: string, place: Place, alone: boolean): TemplatePart {
  const [, head, rest] = /^(\S*)\s*(.*)$/.exec(body) ?? ['', '', '']
  switch (head) {
    case 'figure':
      return { kind: 'figure', figure: block(word(rest, 'figure', place), body, place, alone), place }
    case 'see':
      return { kind: 'see', figure: word(rest, 'see', place), place }
    case 'fact':
      return fact(rest, body, place)
    case 'written':
      return { kind: 'written', text: written(rest, place), place }
    case 'audit':
    case 'discrepancies':
    case 'sources': {
      if (rest !== '') throw templateFault('reference', body, `"${head}" alone`, place)
      return { kind: block(head, body, place, alone), place }
    }
    default:
      return valuePart(body, place)
  }
}

function block<T extends string>(name: T, body: string, place: Place, alone: boolean): T {
  if (!alone) throw templateFault('block', body, 'it alone on its line, from the first column', place)
  return name
}

function word(text: string, head: string, place: Place): string {
  if (!WORD.test(text)) throw templateFault('reference', `${head} ${text}`, `"${head}" and the name of one figure`, place)
  return text
}

function written(text: string, place: Place): string {
  if (text.length > MAX_WRITTEN || !/\p{N}/u.test(text)) {
    throw templateFault('reference', `written ${text}`, `"written" and at most ${MAX_WRITTEN} characters with a digit among them`, place)
  }
  return text
}

/** A reference to a claim whose value is a text. All other references are refused. */
function fact(rest: string, body: string, place: Place): TemplatePart {
  const part = valuePart(rest, place)
  const format = part.kind === 'claim' ? (part.format ?? TEXT) : null
  if (part.kind !== 'claim' || format === null || !['text', 'name'].includes(format.name)) {
    throw templateFault('reference', body, '"fact" and the id of a claim, as text or name', place)
  }
  return { ...part, format }
}

const TEXT: Format = { name: 'text', digits: null }

function valuePart(body: string, place: Place): TemplatePart {
  const bar = body.lastIndexOf('|')
  const subject = (bar < 0 ? body : body.slice(0, bar)).trim()
  const format = bar < 0 ? null : parseFormat(body.slice(bar + 1).trim())
  if (bar >= 0 && format === null) throw templateFault('format', body.slice(bar + 1).trim(), FORMAT_LIST, place)
  const discrepancy = /^discrepancy\s+(\S+?):\s*(\S.*)$/.exec(subject)
  if (discrepancy !== null) return { kind: 'discrepancy', id: discrepancy[1], label: discrepancy[2], format, place }
  if (subject.includes('#')) return { kind: 'output', reference: subject, format, place }
  if (!WORD.test(subject)) {
    throw templateFault('reference', `{{${body}}}`, 'a claim, an output and a JSON pointer, or a word that templates know', place)
  }
  return { kind: 'claim', id: subject, format, place }
}
