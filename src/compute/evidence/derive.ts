/**
 * Derives values from others. An operand is a number at a reference into documents written before, or a value derived
 * earlier in the list. A result is undefined where an operand is, and a stand-in where an operand is.
 */
import { Fault, printable } from '../../core/errors.js'
import { operandsOf, splitReference } from '../../study/reference.js'
import type { DerivedValue } from '../../schema/evidence.js'
import type { Reference } from '../../schema/reference.js'
import { EVIDENCE_DOCUMENTS } from '../../schema/outputs.js'
import { escapeToken, type Resolution } from '../documents.js'
import type { DerivedResult, Operand } from './contract.js'
import { decimalDifference, decimalProduct } from './decimal.js'

/** Resolves references. `Documents` implements it. */
export interface Resolver {
  resolve(reference: Reference): Resolution
  undefinedReason(reference: Reference): string | null
}

/** @throws Fault where a reference leads nowhere or to no number */
export function deriveValues(requests: readonly DerivedValue[], documents: Resolver): DerivedResult[] {
  const results = new Map<string, DerivedResult>()
  const operand = (reference: Reference, at: string): Operand => {
    const {
      path,
      tokens: [, name]
    } = splitReference(reference)
    const earlier = path === EVIDENCE_DOCUMENTS.derived ? results.get(name) : undefined
    if (earlier === undefined) return operandOf(reference, at, documents)
    return { reference, value: earlier.value, reason: earlier.reason, published: earlier.published }
  }
  requests.forEach((request, i) => {
    results.set(request.name, derived(request, `evidence.derived[${i}].operation`, operand))
  })
  return [...results.values()]
}

/**
 * The number at a reference.
 * @param at field of the study that states the reference
 * @throws Fault where the reference leads nowhere or to no number
 */
export function operandOf(reference: Reference, at: string, documents: Resolver): Operand {
  const resolved = documents.resolve(reference)
  if ('reason' in resolved) throw wrong(at, reference, resolved.reason)
  const { value } = resolved
  const published = !isStandIn(reference, documents)
  if (value === null) return { reference, value, reason: documents.undefinedReason(reference) ?? 'it is null', published }
  if (typeof value !== 'number') {
    throw wrong(at, reference, `${typeof value === 'string' ? 'the text ' : ''}${printable(JSON.stringify(value))}`)
  }
  return { reference, value, reason: null, published }
}

/** True where the object that holds the value has `published: false`: no source publishes it. */
function isStandIn(reference: Reference, documents: Resolver): boolean {
  const { path, tokens } = splitReference(reference)
  const beside = documents.resolve(`${path}#/${[...tokens.slice(0, -1), 'published'].map(escapeToken).join('/')}`)
  return 'value' in beside && beside.value === false
}

function wrong(at: string, reference: Reference, found: string): Fault {
  return new Fault({
    format: 'evidence',
    problem: 'wrong reference',
    found: `${at} is ${printable(JSON.stringify(reference), 300)}, where stands ${found}`,
    expected: 'a number of an output'
  })
}

export type OperationName = 'ratio' | 'difference' | 'product' | 'scale' | 'reduction_percent'

export function operationName(operation: DerivedValue['operation']): OperationName {
  if ('scale' in operation) return 'scale'
  if ('ratio' in operation) return 'ratio'
  if ('difference' in operation) return 'difference'
  return 'product' in operation ? 'product' : 'reduction_percent'
}

function derived(request: DerivedValue, at: string, operandAt: (reference: Reference, at: string) => Operand): DerivedResult {
  const { operation } = request
  const operands = operandsOf(operation).map(({ at: field, value }) => operandAt(value, `${at}.${field}`))
  const published = operands.every(operand => operand.published)
  const missing = operands.find(operand => operand.value === null)
  if (missing !== undefined) {
    return { request, value: null, reason: `${missing.reference} is undefined: ${missing.reason ?? ''}`, published, operands }
  }
  const [a, b] = operands.map(operand => operand.value ?? NaN)
  const value = computed(operation, a, b)
  if (Number.isFinite(value)) return { request, value: value + 0, reason: null, published, operands }
  const reason = b === 0 ? 'the second operand is zero' : 'the result is beyond the doubles'
  return { request, value: null, reason, published, operands }
}

/** @returns a number that is not finite where the result is undefined */
function computed(operation: DerivedValue['operation'], a: number, b: number): number {
  if ('scale' in operation) return decimalProduct(a, operation.by)
  switch (operationName(operation)) {
    case 'difference':
      return decimalDifference(a, b)
    case 'product':
      return decimalProduct(a, b)
    case 'reduction_percent':
      return (1 - a / b) * 100
    default:
      return a / b
  }
}
