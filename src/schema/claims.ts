/**
 * The claims file: what a study publishes, and where each value must appear again in the outputs. Values are computed without
 * it; only the audit and the pages read it. Checks between fields are in `study/claims/checks.ts`.
 */
import {
  describeValue,
  factor,
  flag,
  integer,
  isJsonObject,
  list,
  nullable,
  object,
  oneOf,
  pattern,
  refuseSecret,
  relabel,
  text,
  wrong,
  type CheckContext,
  type Infer,
  type Kind
} from '../core/checker.js'
import { readEach } from '../core/read-each.js'

/** Doubles have at most 17 significant digits; 20 decimals leave room for small numbers. */
const MAX_DECIMALS = 20

/** Longest list. A longer one is a table, not a claim. */
const MAX_ELEMENTS = 1000

const MAX_REFERENCES = 100
const MAX_SOURCES = 20
const MAX_PATTERNS = 100

/** `<output path>#<JSON pointer>`. The pointer may use only the escapes `~0` and `~1`. */
export const REFERENCE = /^[A-Za-z0-9][A-Za-z0-9_./-]{0,199}#(?:\/(?:[^~/]|~[01])*)*$/

const id = pattern('an id: letters, digits, "_", "-" and ".", at most 128', /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/)
const claimReference = pattern('a reference: an output path, "#" and a JSON pointer', REFERENCE)

export type ClaimScalar = number | string | boolean
export type ClaimValue = ClaimScalar | readonly ClaimScalar[]

function isScalar(value: unknown): value is ClaimScalar {
  return (
    typeof value === 'boolean' ||
    (typeof value === 'string' && value.length >= 1 && value.length <= 1000) ||
    (typeof value === 'number' && Number.isFinite(value))
  )
}

const SCALAR = { anyOf: [{ type: 'number' }, { type: 'string', minLength: 1, maxLength: 1000 }, { type: 'boolean' }] }

function scalar(value: ClaimScalar, at: string, context: CheckContext): ClaimScalar {
  return typeof value === 'string' ? refuseSecret(value, at, context) : value
}

/** A finite number, a text, true or false, or a list of these. */
const claimValue: Kind<ClaimValue> = {
  expected: `a finite number, a text of 1 to 1000 characters, true, false, or a list of at most ${MAX_ELEMENTS} such`,
  schema: { anyOf: [...SCALAR.anyOf, { type: 'array', items: SCALAR, maxItems: MAX_ELEMENTS }] },
  read: (value, at, context) => {
    if (isScalar(value)) return scalar(value, at, context)
    if (!Array.isArray(value) || value.length > MAX_ELEMENTS) throw wrong(value, at, claimValue.expected, context)
    return readEach(value, (element: unknown, i) => {
      if (isScalar(element)) return scalar(element, `${at}[${i}]`, context)
      throw wrong(element, `${at}[${i}]`, 'a finite number, a text, true or false', context)
    })
  }
}

/** A text, possibly empty. */
function anyText(max: number): Kind<string> {
  const expected = `a text of at most ${max} characters`
  return {
    expected,
    schema: { type: 'string', maxLength: max },
    read: (value, at, context) => {
      if (typeof value !== 'string' || value.length > max) throw wrong(value, at, expected, context)
      return refuseSecret(value, at, context)
    }
  }
}

const referenceList = list(claimReference, 1, MAX_REFERENCES)

/** One reference or a list of them. Both are read as a list. */
const references: Kind<readonly string[]> = {
  expected: 'a reference, or a list of references',
  schema: { anyOf: [claimReference.schema, { ...referenceList.schema, uniqueItems: true }] },
  read: (value, at, context) =>
    Array.isArray(value) ? referenceList.read(value, at, context) : [relabel(claimReference, references.expected).read(value, at, context)]
}

const decimals = {
  kind: nullable(integer(0, MAX_DECIMALS)),
  doc: 'Decimals published, of numbers alone; the value has no more of them. null: compared for equality.',
  default: null
}

const claim = object({
  id: {
    kind: id,
    doc: 'Its name, as templates refer to it: letters, digits, `_`, `-` and `.`, at most 128, the first a letter or a digit.'
  },
  value: { kind: claimValue, doc: 'What was published: a finite number, a text, `true`, `false`, or a list of such.' },
  decimals,
  unit: { kind: anyText(100), doc: 'Its unit; shown, not compared.', default: '' },
  section: { kind: anyText(100), doc: 'Section of the publication; the article folds its table of claims by it.', default: '' },
  kind: {
    kind: oneOf('computed', 'config', 'quoted', 'source'),
    doc: 'Where the value comes from: the inputs, a configuration, another publication, or the original files alone.'
  },
  definition: { kind: text(2000), doc: 'What it is, in one sentence.' },
  from: {
    kind: nullable(references),
    doc: 'The reference at which the whole value stands, or a list of at most 100 different ones, of which each must agree.',
    default: null
  },
  elements: {
    kind: nullable(list(claimReference, 1, MAX_ELEMENTS)),
    doc: 'In place of `from`: a reference for each element of a list, in its order.',
    default: null
  },
  scale: { kind: factor, doc: 'What is found is multiplied by this before it is compared; of numbers alone.', default: 1 }
})

const sourceObject = object({
  value: { kind: nullable(claimValue), doc: 'What the source states; null: whatever stands at the reference.', default: null },
  decimals,
  reference: {
    kind: nullable(claimReference),
    doc: 'Where it stands in the outputs; a source has a value or a reference. With both they must agree.',
    default: null
  }
})

/** One of the sources of a discrepancy. It states at least one of `value` and `reference`. The label is its name for the reader. */
export type DiscrepancySource = { readonly label: string } & Infer<typeof sourceObject>

/** Sources by label, in the file's order. They become a list, because a label is free text and must not become a key. */
const sources: Kind<readonly DiscrepancySource[]> = {
  expected: `an object of at most ${MAX_SOURCES} sources by label`,
  schema: {
    type: 'object',
    propertyNames: { minLength: 1, maxLength: 200 },
    additionalProperties: { anyOf: [claimValue.schema, sourceObject.schema] }
  },
  read: (value, at, context) => {
    if (!isJsonObject(value) || Object.keys(value).length > MAX_SOURCES) throw wrong(value, at, sources.expected, context)
    return readEach(Object.entries(value), ([label, stated]) => {
      const place = `${at}[${describeValue(label)}]`
      refuseSecret(label, place, context, 'label')
      if (label === '' || label.length > 200) throw wrong(label, `a label of ${at}`, 'a text of 1 to 200 characters', context)
      if (isJsonObject(stated)) return { label, ...sourceObject.read(stated, place, context) }
      const bare = claimValue.read(stated, place, context)
      // A bare text in the form of a reference is read as a reference.
      if (typeof bare === 'string' && REFERENCE.test(bare)) return { label, value: null, decimals: null, reference: bare }
      return { label, value: bare, decimals: null, reference: null }
    })
  }
}

const sameSource = object({
  reference: { kind: claimReference, doc: 'Where it stands in the outputs.' },
  scale: { kind: factor, doc: 'What is found is multiplied by this.', default: 1 }
})

/** References by label, in the file's order. They become a list for the same reason. */
const sameSources: Kind<ReadonlyArray<{ readonly label: string } & Infer<typeof sameSource>>> = {
  expected: `an object of 2 to ${MAX_SOURCES} references by label`,
  schema: {
    type: 'object',
    propertyNames: { minLength: 1, maxLength: 200 },
    minProperties: 2,
    maxProperties: MAX_SOURCES,
    additionalProperties: { anyOf: [claimReference.schema, sameSource.schema] }
  },
  read: (value, at, context) => {
    const count = isJsonObject(value) ? Object.keys(value).length : 0
    if (!isJsonObject(value) || count < 2 || count > MAX_SOURCES) throw wrong(value, at, sameSources.expected, context)
    return readEach(Object.entries(value), ([label, stated]) => {
      if (label === '' || label.length > 200) throw wrong(label, `a label of ${at}`, 'a text of 1 to 200 characters', context)
      const place = `${at}[${describeValue(label)}]`
      return {
        label,
        ...(isJsonObject(stated)
          ? sameSource.read(stated, place, context)
          : { reference: claimReference.read(stated, place, context), scale: 1 })
      }
    })
  }
}

const same = object({
  id: { kind: id, doc: "Its name, as a claim's." },
  section: { kind: anyText(100), doc: 'Section of the publication.', default: '' },
  definition: { kind: text(2000), doc: 'What it is, in one sentence.' },
  decimals: {
    kind: nullable(integer(0, MAX_DECIMALS)),
    doc: 'Every two numbers agree as a claim with so many decimals does; null: they are equal.',
    default: null
  },
  sources: {
    kind: sameSources,
    doc: 'References by label, a text of 1 to 200 characters that readers see. Each is a reference, or an object of the next two.'
  }
})

const forbidden = {
  kind: list(text(1000), 0, MAX_PATTERNS),
  doc: 'Patterns that must match on no page, without regard to case.',
  default: []
}

const guard = object({
  id: { kind: id, doc: "Its name, as a claim's." },
  section: { kind: anyText(100), doc: 'Section of the publication that demands it.', default: '' },
  reason: { kind: text(2000), doc: 'Why; the notes print it.' },
  disclosure: {
    kind: nullable(text(2000)),
    doc: "Text that must stand on a page, as a discrepancy's; a guard has this, or patterns that are forbidden; null: none.",
    default: null
  },
  forbidden
})

const discrepancy = object({
  id: { kind: id, doc: "Its name, as a claim's." },
  section: { kind: anyText(100), doc: 'Section of the publication.', default: '' },
  sources: {
    kind: sources,
    doc: 'At most 20 sources by label, a text of 1 to 200 characters that readers see: `"report, Table 1"`. Each is a value, a reference, or an object of the next three.'
  },
  chosen: { kind: nullable(text(200)), doc: 'Label of the source that the study follows; null: none alone.', default: null },
  decision: { kind: text(2000), doc: 'How the contradiction is resolved.' },
  disclosure: {
    kind: text(2000),
    doc: 'Text that must stand in the article or in the notes; `{{reference}}` in it stands for a number or text that agrees with what is there.'
  },
  forbidden,
  average_forbidden: { kind: flag, doc: 'No page may print the mean of two numbers of different sources.', default: true }
})

export const CLAIMS_KIND = object({
  $schema: { kind: nullable(text()), doc: 'For editors; not read.', default: null },
  schema_version: { kind: oneOf(1), doc: 'Version of this format.' },
  about: { kind: nullable(text(4000)), doc: 'What the file is, for its readers; not read.', default: null },
  claims: { kind: list(claim), doc: 'Published values, each `id` once.' },
  same: { kind: list(same), doc: 'Quantities of several sources, each `id` once, which must agree or be a discrepancy.', default: [] },
  discrepancies: {
    kind: list(discrepancy),
    doc: 'Contradictions among sources, each `id` once. With none the pages are not searched, and the audit says so.',
    default: []
  },
  guards: {
    kind: list(guard),
    doc: 'What the pages must say, or must not, without a contradiction of sources, each `id` once.',
    default: []
  }
})

/**
 * A published value. `computed`: follows from the inputs. `config`: set by the study or by a run's configuration. `quoted`:
 * stated by another publication. `source`: a property of the original files. A claim of any kind is compared if it refers to
 * an output: reference i of `elements` with element i of a list, each of `from` with the whole value. One of the two is empty.
 */
export type Claim = Omit<Infer<typeof claim>, 'from' | 'elements'> & { readonly [field in 'from' | 'elements']: readonly string[] }

/** One quantity that several sources state. They must agree, or be a discrepancy. */
export type SameQuantity = Infer<typeof same>

/** A contradiction among sources, its resolution, and what the page must and must not say about it. */
export type Discrepancy = Infer<typeof discrepancy>

/** What the page must or must not say, where no sources contradict each other. */
export type Guard = Infer<typeof guard>

/** As a file states a claim. */
export type StatedClaim = Infer<typeof claim>

/** A claims file. */
export type Claims = Pick<Infer<typeof CLAIMS_KIND>, 'same' | 'discrepancies' | 'guards'> & { readonly claims: readonly Claim[] }
