/**
 * The claims file of a study: what was published and to which precision, where each value must appear in the outputs, and
 * which contradictions among sources the page must state. It is written by hand and read strictly. Documented in
 * `docs/claims.md`; the JSON Schema in `docs/schemas/claims.schema.json` is made from the same fields.
 */
import { Fault, printable } from '../core/errors.js'
import type { Claim, Claims, Discrepancy, Guard, SameQuantity } from '../schema/claims.js'
import { claimFields, discrepancyFields, guardFields, sameFields } from './claims/fields.js'
import { checkClaim, checkDiscrepancy, checkGuard } from './claims/checks.js'
import { list, nullable, object, oneOf, refine, text, type CheckContext, type JsonSchema, type Kind } from '../core/checker.js'
import { readJsonFile } from '../core/strict-json.js'

/** Largest claims file: about ten thousand claims. */
const MAX_CLAIMS_BYTES = 8 * 1024 * 1024

const claim: Kind<Claim> = refine(object(claimFields), checkClaim)
const same: Kind<SameQuantity> = object(sameFields)
const guard: Kind<Guard> = refine(object(guardFields), checkGuard)
const discrepancy: Kind<Discrepancy> = refine(object(discrepancyFields), checkDiscrepancy)

const CLAIMS_KIND = object({
  $schema: { kind: nullable(text()), doc: 'For editors; not read.', default: null },
  schema_version: { kind: oneOf(1), doc: 'Version of this format.' },
  about: { kind: nullable(text(4000)), doc: 'What the file is, for its readers; not read.', default: null },
  claims: { kind: distinct(claim), doc: 'Published values, each `id` once.' },
  same: { kind: distinct(same), doc: 'Quantities of several sources, each `id` once, which must agree or be a discrepancy.', default: [] },
  discrepancies: { kind: distinct(discrepancy), doc: 'Contradictions among sources, each `id` once. With none the pages are not searched, and the audit says so.', default: [] },
  guards: { kind: distinct(guard), doc: 'What the pages must say, or must not, without a contradiction of sources, each `id` once.', default: [] }
})

export interface ClaimsFile extends Claims {
  /** path of the file, as given */
  readonly path: string
  /** of the file's bytes */
  readonly sha256: string
  readonly bytes: number
}

/** Reads and checks a claims file. The outputs that it refers to are not read. @throws Fault */
export async function readClaims(path: string): Promise<ClaimsFile> {
  const { value, sha256, bytes } = await readJsonFile(path, 'claims', MAX_CLAIMS_BYTES, { exactNumbers: true })
  return { ...checkClaims(value, { format: 'claims', place: { file: path }, paths: [] }), path, sha256, bytes }
}

/** The claims in a JSON value, with defaults filled in. */
export function checkClaims(value: unknown, context: CheckContext): Claims {
  const { claims, same, discrepancies, guards } = CLAIMS_KIND.read(value, '', context)
  return { claims, same, discrepancies, guards }
}

/** JSON Schema (draft 2020-12) of a claims file: the content of `docs/schemas/claims.schema.json`. */
export function claimsJsonSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:critic-traces:claims:1',
    title: 'critic-traces claims file',
    ...CLAIMS_KIND.schema
  }
}

/** A list in which all ids are different. */
function distinct<T extends { readonly id: string }>(kind: Kind<T>): Kind<readonly T[]> {
  return refine(list(kind), (items, at, context) => {
    const first = new Map<string, number>()
    for (const [i, { id }] of items.entries()) {
      const earlier = first.get(id)
      if (earlier !== undefined) {
        throw new Fault({
          format: context.format, problem: 'id stated twice', found: `${printable(id)} is ${at}[${earlier}] and ${at}[${i}]`,
          expected: 'each id once', place: context.place
        })
      }
      first.set(id, i)
    }
    return items
  })
}
