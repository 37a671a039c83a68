/**
 * The claims file of a study: what was published and to which precision, where each value must appear in the outputs, and
 * which contradictions among sources the page must state. It is written by hand and read strictly. Documented in
 * `docs/claims.md`; the JSON Schema in `docs/schemas/claims.schema.json` is made from the same fields.
 */
import { Fault, printable } from '../core/errors.js'
import { CLAIMS_KIND, type Claims } from '../schema/claims.js'
import { checkClaim, checkDiscrepancy, checkGuard } from './claims/checks.js'
import type { CheckContext, JsonSchema } from '../core/checker.js'
import { readJsonFile } from '../core/strict-json.js'

/** Largest claims file: about ten thousand claims. */
const MAX_CLAIMS_BYTES = 8 * 1024 * 1024

export interface ClaimsFile extends Claims {
  /** path of the file, as given */
  readonly path: string
  /** of the file's bytes */
  readonly sha256: string
  readonly bytes: number
}

/** Reads and checks a claims file. The outputs that it refers to are not read. @throws Fault, or Failures for several wrong fields */
export async function readClaims(path: string): Promise<ClaimsFile> {
  const { value, sha256, bytes } = await readJsonFile(path, 'claims', MAX_CLAIMS_BYTES, { exactNumbers: true })
  return { ...checkClaims(value, { format: 'claims', place: { file: path }, paths: [] }), path, sha256, bytes }
}

/** The claims in a JSON value, with defaults filled in. */
export function checkClaims(value: unknown, context: CheckContext): Claims {
  const { claims: stated, same, discrepancies, guards } = CLAIMS_KIND.read(value, '', context)
  const claims = stated.map((claim, i) => checkClaim(claim, `claims[${i}]`, context))
  discrepancies.forEach((discrepancy, i) => checkDiscrepancy(discrepancy, `discrepancies[${i}]`, context))
  guards.forEach((guard, i) => checkGuard(guard, `guards[${i}]`, context))
  for (const [at, items] of Object.entries({ claims, same, discrepancies, guards })) checkIds(items, at, context)
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

/** Checks that all ids of a list are different. */
function checkIds(items: ReadonlyArray<{ readonly id: string }>, at: string, context: CheckContext): void {
  const first = new Map<string, number>()
  for (const [i, { id }] of items.entries()) {
    const earlier = first.get(id)
    if (earlier !== undefined) {
      throw new Fault({
        format: context.format,
        problem: 'id stated twice',
        found: `${printable(id)} is ${at}[${earlier}] and ${at}[${i}]`,
        expected: 'each id once',
        place: context.place
      })
    }
    first.set(id, i)
  }
}
