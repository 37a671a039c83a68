/** The running sum is set to 0 at observations: turns do not see the reward of what follows them. */
import { counted } from '../../../core/counts.js'
import { type FaultKind, shown } from './finding.js'
import { firstGapOf, gapsOf } from './masked-bootstrap.js'

export const observationsCutReturn: FaultKind = {
  kind: 'observations-cut-return',
  severity: 'fault',
  report: 'https://github.com/verl-project/verl/pull/7300',
  find: seen => {
    const { gaps, first } = gapsOf(seen)
    // where lambda is 0 nothing behind the next token is seen anyway
    if (seen.audit.rule !== 'reset' || gaps === 0 || Math.abs(seen.evidence.relation?.b ?? 0) < 1e-6) return null
    const gap = firstGapOf(seen.evidence.records.find(r => r.index === first?.sample))
    const before = gap?.here.ret ?? 0
    const behind = gap?.trainable?.ret ?? 0
    return {
      message: `Observations cut the return: at ${counted(gaps, 'gap')} between turns the return in front does not see what follows, the first time ${shown(before)} in front of a return of ${shown(behind)}`,
      place: first,
      evidence: { gaps, return_in_front: before, return_behind: behind }
    }
  }
}
