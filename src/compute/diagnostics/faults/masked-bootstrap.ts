/** Values of masked tokens bootstrap trainable ones: between turns, where every token counts, or behind the last turn. */
import { counted } from '../../../core/counts.js'
import type { Transition } from '../estimator/transition.js'
import { firstGap } from '../estimator/packed-gaps.js'
import type { EstimatorRecord } from '../estimator/record.js'
import { type Case, type FaultKind, type Sighting, shown } from './finding.js'

/** Gaps and the masked values there, of all samples. */
export function gapsOf({ evidence }: Case): { readonly gaps: number; readonly first: Sighting['place']; readonly values: number } {
  const withGaps = evidence.records.filter(r => (r.ends?.gapCount ?? 0) > 0)
  const first = withGaps[0]
  const token = firstGapOf(first)?.here.token
  return {
    gaps: withGaps.reduce((sum, r) => sum + (r.ends?.gapCount ?? 0), 0),
    first: first === undefined || token === undefined ? null : { sample: first.index, token },
    values: withGaps.reduce((sum, r) => sum + (r.ends?.maskedValues ?? 0), 0)
  }
}

/** True where masked tokens are known to enter. A sum that is set to 0 at them may read their value too, and give the same. */
export function countsMasked({ audit, evidence }: Case): boolean {
  const { valuesMatter } = evidence.coefficients
  return audit.rule === 'every-token' && audit.alternatives.every(rule => rule === 'zeroed-values' || (rule === 'reset' && valuesMatter))
}

export function firstGapOf(record: EstimatorRecord | undefined): Transition | null {
  const { ends = null } = record ?? {}
  return ends === null ? null : firstGap(ends.gaps)
}

/** Values of padding or of a last observation, where the final reward is at the last trainable token and yet something follows. */
function behindTheEnd({ audit, evidence }: Case): Sighting | null {
  if (audit.final_reward !== 'last trainable token') return null
  const hit = evidence.tails.filter(t => t.trailing > 0 && Math.abs(t.continuation) > t.allowed)
  if (hit.length === 0) return null
  const worst = hit.reduce((most, t) => (Math.abs(t.continuation) > Math.abs(most.continuation) ? t : most))
  return {
    message: `Masked tokens behind the last turn bootstrap it in ${counted(hit.length, 'sample')}: the last return holds ${shown(worst.continuation)} beside its reward`,
    place: { sample: worst.record.index, token: worst.last.here.token },
    evidence: { samples: hit.length, from_behind: worst.continuation, masked_tokens_behind: worst.trailing }
  }
}

export const maskedBootstrap: FaultKind = {
  kind: 'masked-bootstrap',
  severity: 'property',
  report: 'https://github.com/alibaba/ROLL/pull/447',
  find: seen => {
    const { gaps, first, values } = gapsOf(seen)
    if (!countsMasked(seen)) return null
    if (gaps === 0) return behindTheEnd(seen)
    if (values === 0) return null
    const decay = seen.evidence.relation?.b ?? 0
    // With lambda = 1 no value enters a return.
    const what = seen.evidence.coefficients.valuesMatter
      ? 'the value of a masked token bootstraps'
      : 'the return of a masked token goes on to'
    return {
      message: `Masked tokens count like any other: at ${counted(gaps, 'gap')} between turns ${what} the token in front, and each masked token multiplies what follows by gamma lambda = ${shown(decay)}`,
      place: first,
      evidence: { gaps, masked_values_not_zero: values, gamma_lambda: decay }
    }
  }
}
