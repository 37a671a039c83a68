/** Values of masked tokens are set to 0 and bootstrap as such: each gap pulls the return in front of it towards 0. */
import { counted } from '../../../core/counts.js'
import { type FaultKind, shown } from './finding.js'
import { countsMasked, gapsOf } from './masked-bootstrap.js'

export const maskedZeroed: FaultKind = {
  kind: 'masked-zeroed',
  severity: 'property',
  report: 'https://github.com/alibaba/ROLL/pull/447',
  find: seen => {
    const { gaps, first, values } = gapsOf(seen)
    const zeroed = seen.audit.rule === 'zeroed-values' || (countsMasked(seen) && values === 0)
    if (!zeroed || gaps === 0) return null
    const decay = seen.evidence.relation?.b ?? 0
    return {
      message: `Values of masked tokens enter as 0: at ${counted(gaps, 'gap')} between turns the token in front bootstraps from 0, and each masked token multiplies what follows by gamma lambda = ${shown(decay)}`,
      place: first,
      evidence: { gaps, gamma_lambda: decay }
    }
  }
}
