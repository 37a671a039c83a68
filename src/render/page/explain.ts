/**
 * What the outputs say of a value beside the value: its unit, how it was made and of what, and where in a source or in a run
 * it stands. Outputs state this in the objects that enclose the value; what a field means stands in its kind.
 */
import { own, parseReference, pointerTokens, type JsonObject } from '../../compute/documents.js'
import { fieldDocs } from '../../schema/outputs/field-doc.js'
import type { DocumentSource } from './inputs.js'

export interface ShownOperand {
  readonly reference: string
  /** title of the value, or its place */
  readonly name: string
  readonly value: unknown
}

/** `before`, an operand, `between`, the other operand, `after`. */
export interface ShownFormula {
  readonly before: string
  readonly operands: readonly ShownOperand[]
  readonly between: string
  readonly after: string
}

export interface Explanation {
  /** '' where no output states one */
  readonly unit: string
  readonly title: string
  readonly formula: ShownFormula | null
  /** meaning of the field in a sentence; null where a formula or a source says more */
  readonly meaning: string | null
  /** place in a source: `sheet 评测矩阵, cell C8 of sources/evaluation.xlsx` */
  readonly stated: string | null
  /** step, run and the like, each with its name */
  readonly facts: readonly { readonly name: string; readonly text: string }[]
}

/** Where a value stands in a run, by the names that outputs use. */
const FACTS: readonly (readonly [key: string, name: string])[] = [
  ['display_name', 'runs named'],
  ['key', 'metric'],
  ['run', 'run'],
  ['step', 'step'],
  ['steps', 'steps'],
  ['count', 'observations'],
  ['uid', 'trajectory']
]

export function explain(documents: DocumentSource, reference: string): Explanation {
  const pointed = parseReference(reference)
  const enclosing = documents.enclosing(reference)
  const tokens = pointed === null ? [] : pointerTokens(pointed.pointer)
  const root = enclosing[0] ?? {}
  const about = enclosing.length > 1 ? (enclosing.at(-1) ?? {}) : {}
  const formula = formulaOf(documents, about)
  const stated = statedIn(about)
  return {
    unit: textOf(about, 'unit'),
    title: describeSource(about),
    formula,
    stated,
    meaning: formula !== null || stated !== null ? null : meaningOf(textOf(root, 'schema'), tokens),
    facts: stated === null ? factsOf(enclosing.slice(1), tokens.at(-1) ?? '') : []
  }
}

/** The field and the one that holds it: `highest value, earliest step on a tie: step of the observation`. */
function meaningOf(schema: string, tokens: readonly string[]): string | null {
  const docs = fieldDocs(schema, tokens).filter(({ name }, i) => i === 0 || name !== 'value')
  // When a field is null says nothing of a value that is there.
  const texts = docs.slice(-2).map(({ doc }) => doc.replace(/(?:^|; )null .*$/, ''))
  const said = texts.filter(text => text !== '').join(': ')
  return said === '' ? null : said
}

/** Of several objects that state one fact the innermost counts. */
function factsOf(enclosing: readonly JsonObject[], last: string): Explanation['facts'] {
  return FACTS.flatMap(([key, name]) => {
    if (key === last) return []
    const found = enclosing.map(object => own(object, key)).findLast(value => isFact(value))
    return found === undefined ? [] : [{ name, text: Array.isArray(found) ? found.join('–') : String(found) }]
  })
}

function isFact(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 2 && value.every(end => typeof end === 'number')
  return typeof value === 'number' || (typeof value === 'string' && value !== '')
}

const OPERATIONS: ReadonlyMap<string, Omit<ShownFormula, 'operands'>> = new Map([
  ['ratio', { before: '', between: ' / ', after: '' }],
  ['difference', { before: '', between: ' − ', after: '' }],
  ['product', { before: '', between: ' × ', after: '' }],
  ['reduction_percent', { before: '(1 − ', between: ' / ', after: ') × 100' }]
])

function formulaOf(documents: DocumentSource, about: JsonObject): ShownFormula | null {
  const operation = own(about, 'operation')
  const operands = listed(about, 'operands').flatMap(operand => {
    const reference = own(operand, 'reference')
    return typeof reference === 'string' ? [{ reference, name: operandName(documents, reference), value: own(operand, 'value') }] : []
  })
  if (typeof operation !== 'string' || operands.length === 0) return null
  if (operation === 'scale') return { before: `${String(own(about, 'by'))} × `, operands, between: '', after: '' }
  const signs = OPERATIONS.get(operation)
  return signs === undefined ? null : { ...signs, operands }
}

function operandName(documents: DocumentSource, reference: string): string {
  const title = textOf(documents.enclosing(reference).at(-1) ?? {}, 'title')
  return title === '' ? (parseReference(reference)?.pointer ?? reference) : title
}

function listed(object: JsonObject, name: string): readonly JsonObject[] {
  const list = own(object, name)
  return Array.isArray(list) ? list.filter((item: unknown): item is JsonObject => typeof item === 'object' && item !== null) : []
}

function textOf(about: JsonObject, key: string): string {
  const text = own(about, key)
  return typeof text === 'string' ? text : ''
}

function describeSource(about: JsonObject): string {
  const excluded = textOf(about, 'excluded')
  return `${textOf(about, 'title')}${excluded === '' ? '' : ` (used in no comparison: ${excluded})`}`
}

/** The place in a source that an entry of data.json states, or the words that name another publication. */
function statedIn(about: JsonObject): string | null {
  const file = textOf(about, 'file')
  if (file === '') return textOf(about, 'source') === 'quoted' && textOf(about, 'text') !== '' ? textOf(about, 'text') : null
  const parts = ['sheet', 'cell', 'slide', 'table', 'row', 'column', 'paragraph', 'key', 'line'].flatMap(key => {
    const value = own(about, key)
    return typeof value === 'string' || typeof value === 'number' ? [`${key} ${value}`] : []
  })
  return parts.length === 0 ? file : `${parts.join(', ')} of ${file}`
}
