/** Every claim against the outputs of a run. */
import type { Claim, ClaimScalar } from '../../schema/claims.js'
import type { Documents } from '../documents.js'
import { compare, findValue, notComputable, type Verdict } from './comparison.js'
import type { AuditedClaim, ClaimStatus } from './contract.js'
import { provenanceOf, type InputsOf } from './provenance.js'

const NOT_OF_SYNTHETIC = 'a property of the original files; the inputs of this study are generated, so it is not compared'
const NOT_IN_OUTPUTS = 'a property of the original files; no output states it'
const NOT_COMPUTED = 'another publication states it; nothing is computed'

interface Judged extends Omit<Verdict, 'status'> {
  readonly status: ClaimStatus
}

export function auditClaim(claim: Claim, documents: Documents, synthetic: boolean, inputsOf: InputsOf): AuditedClaim {
  const { id, value, unit, decimals, kind, section, definition } = claim
  const from = claim.elements.length > 0 ? claim.elements : claim.from
  const { status, computed, difference, reason } = judge(claim, documents, synthetic)
  return {
    id, published: value, computed, unit, decimals, kind, section, definition, from, status, difference, reason,
    provenance: from.flatMap(reference => provenanceOf(documents, reference, inputsOf) ?? [])
  }
}

function judge(claim: Claim, documents: Documents, synthetic: boolean): Judged {
  const verdict = verdictOf(claim, documents)
  if (claim.kind === 'source' && (verdict === null || synthetic)) {
    const reason = verdict === null ? NOT_IN_OUTPUTS : NOT_OF_SYNTHETIC
    return { status: 'source', computed: verdict?.computed ?? null, difference: null, reason }
  }
  if (verdict !== null) return verdict
  if (claim.kind === 'quoted') return { status: 'quoted', computed: null, difference: null, reason: NOT_COMPUTED }
  return notComputable('the claims file does not say where it stands')
}

/** Null: the claim refers to no output. */
function verdictOf(claim: Claim, documents: Documents): Verdict | null {
  if (claim.elements.length > 0) return elementsVerdict(claim, documents)
  if (claim.from.length === 0) return null
  const verdicts = claim.from.map(reference => (
    { reference, verdict: compare(claim, findValue(documents, reference, claim.scale)) }
  ))
  const wrong = verdicts.filter(v => v.verdict.status !== 'agrees')
  const worst = wrong.find(v => v.verdict.status === 'differs') ?? wrong[0]
  if (worst === undefined) return verdicts[0].verdict
  if (verdicts.length === 1) return worst.verdict
  return { ...worst.verdict, reason: `${worst.verdict.reason} (${worst.reference}; ${wrong.length} of ${verdicts.length} places)` }
}

function elementsVerdict(claim: Claim, documents: Documents): Verdict {
  const computed: ClaimScalar[] = []
  for (const reference of claim.elements) {
    const found = findValue(documents, reference, claim.scale)
    if ('reason' in found) return notComputable(found.reason)
    if (typeof found.value === 'object') return notComputable(`${reference} is a list, not an element of one`)
    computed.push(found.value)
  }
  return compare(claim, { value: computed })
}
