/**
 * Resolves a reference to the printed text and to what a reader may ask about it. A reference that leads nowhere is a
 * fault with line and column. A claim that differs or could not be computed is printed and marked as such. The audit
 * fails the run, and the page must show the failure.
 */
import type { AuditedClaim, Provenance } from '../../compute/audit/contract.js'
import { provenanceOf } from '../../compute/audit/provenance.js'
import { Fault, nearest, printable, type Place } from '../../core/errors.js'
import { explain, type Explanation } from './explain.js'
import { applyFormat, formatPlainly, type Format } from './formats.js'
import { isWrong } from './failure.js'
import type { DocumentSource, ProseInputs } from './inputs.js'
import type { ValuePart } from './references.js'

export interface ShownValue {
  readonly text: string
  /** claim id, reference, or discrepancy and label */
  readonly name: string
  /** description of the value; '' where no source states one */
  readonly definition: string
  /** null for a value that is no claim */
  readonly claim: Pick<AuditedClaim, 'status' | 'published' | 'computed' | 'decimals' | 'unit'> | null
  /** whether the value is a stand-in that no source publishes */
  readonly standIn: boolean
  readonly provenance: readonly Provenance[]
  /**
   * the number that is printed; each number has the same decimals in all places on both pages. null for a value that is
   * no number
   */
  readonly digitsOf: string | null
  /** published value of a claim that differs or cannot be computed, to stand beside `text`; null elsewhere */
  readonly published: string | null
  /** the value as its output holds it; where a claim is scaled, another than the computed one. undefined: no output holds it */
  readonly held: unknown
  /** what the output says of it; null for a value of no or of several outputs, and for the words of a discrepancy */
  readonly explanation: Explanation | null
}

export const NOT_COMPUTABLE = 'not computable'

/** Largest length of a value in prose. */
const MAX_TEXT = 200

/** @param expected null where `found` already contains it */
function valueFault(problem: string, found: string, expected: string | null, place: Place): Fault {
  return new Fault({ format: 'template', problem, found: printable(found, 300), ...(expected === null ? {} : { expected }), place })
}

function hint(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return near === null ? '' : `; did you mean ${printable(JSON.stringify(near))}?`
}

/** A value with all its digits, as tables and panels print it. */
export function exact(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(exact).join(', ')}]`
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
}

export class ProseValues {
  readonly #documents: DocumentSource
  readonly #claims: ReadonlyMap<string, AuditedClaim>
  readonly #inputs: ProseInputs

  constructor(inputs: ProseInputs) {
    this.#inputs = inputs
    this.#documents = inputs.documents
    this.#claims = new Map(inputs.claims.map(claim => [claim.id, claim]))
  }

  show(part: ValuePart): ShownValue {
    const shown = part.kind === 'claim' ? this.#claim(part) : part.kind === 'output' ? this.#output(part) : this.#stated(part)
    if (shown.text.length > MAX_TEXT) {
      throw valueFault('value', `${shown.text.length} characters`, `at most ${MAX_TEXT} in prose`, part.place)
    }
    return shown
  }

  #claim({ id, format, place }: Extract<ValuePart, { kind: 'claim' }>): ShownValue {
    const claim = this.#claims.get(id)
    if (claim === undefined) throw valueFault('reference', id, `the id of a claim${hint(id, [...this.#claims.keys()])}`, place)
    if (format?.name === 'percent' && claim.unit === 'percent') {
      throw valueFault('format', `percent of ${id}`, 'another format: its unit is percent already', place)
    }
    const stated = claim.status === 'source' || claim.status === 'quoted'
    const value = stated ? claim.published : claim.computed
    const { status, provenance, definition } = claim
    const text = status === 'not_computable' ? NOT_COMPUTABLE : written(value, format, claim.decimals, id, place)
    return {
      text,
      name: id,
      definition,
      claim,
      provenance,
      standIn: false,
      ...this.#behind(claim.from),
      published: isWrong(claim) ? publishedBeside(text, claim, format) : null,
      digitsOf: typeof value === 'number' ? digitsOf(this.#place(claim), format) : null
    }
  }

  #output({ reference, format, place }: Extract<ValuePart, { kind: 'output' }>): ShownValue {
    const value = this.#resolved(reference, place)
    const explanation = explain(this.#documents, reference)
    return {
      text: written(value, format, null, reference, place),
      name: reference,
      definition: explanation.title,
      claim: null,
      standIn: this.#documents.enclosing(reference).at(-1)?.['published'] === false,
      published: null,
      held: value,
      explanation,
      digitsOf: typeof value === 'number' ? digitsOf(reference, format) : null,
      provenance: this.#provenance(reference)
    }
  }

  #stated({ id, label, format, place }: Extract<ValuePart, { kind: 'discrepancy' }>): ShownValue {
    const discrepancy = this.#inputs.discrepancies.find(d => d.id === id)
    if (discrepancy === undefined)
      throw valueFault(
        'reference',
        id,
        `the id of a discrepancy${hint(
          id,
          this.#inputs.discrepancies.map(d => d.id)
        )}`,
        place
      )
    const wanted = label.toLowerCase()
    const exactly = discrepancy.sources.filter(source => source.label.toLowerCase() === wanted)
    const found = exactly.length > 0 ? exactly : discrepancy.sources.filter(source => source.label.toLowerCase().includes(wanted))
    if (found.length !== 1) {
      const labels = discrepancy.sources.map(source => `"${source.label}"`).join(', ')
      throw valueFault('reference', `${found.length} sources of ${id} with "${label}"`, `one of ${labels}`, place)
    }
    const [source] = found
    const { reference, value } = source
    if (value === null) throw valueFault('reference', source.reason ?? `${id}: ${label}`, 'a source with a value', place)
    return {
      text: written(value, format, null, `${id}: ${label}`, place),
      name: `${id}: ${source.label}`,
      definition: `As ${source.label} states it. ${discrepancy.decision}`,
      claim: null,
      standIn: false,
      published: null,
      held: undefined,
      explanation: null,
      digitsOf: null,
      provenance: reference === null ? [] : this.#provenance(reference)
    }
  }

  /** Of a claim with several references nothing is said here: each has its own place. */
  #behind(from: readonly string[]): Pick<ShownValue, 'held' | 'explanation'> {
    const resolution = from.length === 1 ? this.#documents.resolve(from[0]) : null
    if (resolution === null || !('value' in resolution)) return { held: undefined, explanation: null }
    return { held: resolution.value, explanation: explain(this.#documents, from[0]) }
  }

  #provenance(reference: string): readonly Provenance[] {
    const found = provenanceOf(this.#documents, reference, this.#inputs.inputsOf)
    return found === null ? [] : [found]
  }

  /**
   * The reference of a claim where the value there is used unchanged. The claim's id where its value is scaled, or has
   * no reference.
   */
  #place({ id, from, computed }: AuditedClaim): string {
    const resolution = from.length === 0 ? null : this.#documents.resolve(from[0])
    return resolution !== null && 'value' in resolution && resolution.value === computed ? from[0] : id
  }

  #resolved(reference: string, place: Place): unknown {
    const resolution = this.#documents.resolve(reference)
    if ('reason' in resolution) throw valueFault('reference', resolution.reason, 'a value in an output', place)
    if (resolution.value === null) {
      const why = this.#documents.undefinedReason(reference)
      throw valueFault('reference', `${reference} is null${why === null ? '' : `: ${why}`}`, 'a value in an output', place)
    }
    return resolution.value
  }
}

function written(value: unknown, format: Format | null, decimals: number | null, name: string, place: Place): string {
  const formatted = format === null ? formatPlainly(value, decimals) : applyFormat(value, format, decimals)
  if ('text' in formatted) return formatted.text
  throw valueFault('value', `${name} is ${formatted.reason}`, null, place)
}

/**
 * The published value in the format of `text`. As published where that format does not show the difference, or does not
 * fit the value.
 */
function publishedBeside(text: string, { published, decimals }: AuditedClaim, format: Format | null): string {
  const same = format === null ? null : applyFormat(published, format, decimals)
  if (same !== null && 'text' in same && same.text !== text) return same.text
  const plain = formatPlainly(published, decimals)
  return 'text' in plain ? plain.text : exact(published)
}

/**
 * A fraction in percent has other decimals than the fraction itself. Decimals of scientific notation are not compared, nor
 * those of a number that its author rounds for a summary.
 */
function digitsOf(place: string, format: Format | null): string | null {
  if (format?.name === 'scientific' || format?.name === 'rounded') return null
  return format?.name === 'percent' ? `${place} in percent` : place
}
