/** Compares each claim with the outputs of a run. */
import type { Claim, ClaimScalar } from '../../schema/claims.js'
import type { Documents } from '../documents.js'
import { compare, findValue, notComputable, type Verdict } from './comparison.js'
import type { AuditedClaim, ClaimStatus } from './contract.js'
import { provenanceOf, type InputsOf } from './provenance.js'

const NOT_IN_OUTPUTS = 'a property of the original files; no output states it'
const NOT_COMPUTED = 'another publication states it; nothing is computed'
const AS_QUOTED = 'another publication states it; the study quotes it so, and nothing is computed'

interface JudgedClaim extends Omit<Verdict, 'status' | 'element'> {
  readonly status: ClaimStatus
  /** reference of the value that does not agree; absent where all agree or none does */
  readonly at?: string
}

export function auditClaim(claim: Claim, documents: Documents, inputsOf: InputsOf): AuditedClaim {
  const { id, value, unit, decimals, kind, section, definition } = claim
  const from = claim.elements.length > 0 ? claim.elements : claim.from
  const { status, computed, difference, reason, at = from[0] } = judge(claim, documents)
  return {
    id,
    published: value,
    computed,
    unit,
    decimals,
    kind,
    section,
    definition,
    from,
    status,
    difference,
    reason,
    at: status === 'differs' || status === 'not_computable' ? (at ?? null) : null,
    provenance: from.flatMap(reference => provenanceOf(documents, reference, inputsOf) ?? [])
  }
}

function judge(claim: Claim, documents: Documents): JudgedClaim {
  const verdict = verdictOf(claim, documents)
  // A claim of any kind that has a reference is compared. Agreement with a value that the study quotes proves nothing,
  // so its status is `quoted`.
  if (verdict !== null)
    return verdict.status === 'agrees' && claim.kind === 'quoted' ? { ...verdict, status: 'quoted', reason: AS_QUOTED } : verdict
  if (claim.kind === 'source') return { status: 'source', computed: null, difference: null, reason: NOT_IN_OUTPUTS }
  if (claim.kind === 'quoted') return { status: 'quoted', computed: null, difference: null, reason: NOT_COMPUTED }
  return notComputable('the claims file does not say where it stands')
}

/** @returns null where the claim refers to no output */
function verdictOf(claim: Claim, documents: Documents): (Verdict & { readonly at?: string }) | null {
  if (claim.elements.length > 0) return elementsVerdict(claim, documents)
  if (claim.from.length === 0) return null
  const verdicts = claim.from.map(reference => ({ reference, verdict: compare(claim, findValue(documents, reference, claim.scale)) }))
  const wrong = verdicts.filter(v => v.verdict.status !== 'agrees')
  const worst = wrong.find(v => v.verdict.status === 'differs') ?? wrong[0]
  if (worst === undefined) return verdicts[0].verdict
  if (verdicts.length === 1) return worst.verdict
  return { ...worst.verdict, at: worst.reference, reason: `${worst.verdict.reason}; ${wrong.length} of ${verdicts.length} places` }
}

function elementsVerdict(claim: Claim, documents: Documents): Verdict & { readonly at?: string } {
  const computed: ClaimScalar[] = []
  for (const reference of claim.elements) {
    const found = findValue(documents, reference, claim.scale)
    if ('reason' in found) return { ...notComputable(found.reason), at: reference }
    if (typeof found.value === 'object') return { ...notComputable(`${reference} is a list, not an element of one`), at: reference }
    computed.push(found.value)
  }
  const verdict = compare(claim, { value: computed })
  return verdict.element === null ? verdict : { ...verdict, at: claim.elements[verdict.element] }
}
