/** Samples cut at the length limit end as finished ones do: no value stands for what would have followed. Stated, not judged. */
import { counted } from '../../../core/counts.js'
import { type FaultKind, shown } from './finding.js'

export const truncation: FaultKind = {
  kind: 'truncation',
  severity: 'property',
  report: 'https://github.com/radixark/miles/pull/1827',
  find: ({ evidence }) => {
    const cut = evidence.tails.filter(t => t.record.truncated === true)
    const finished = cut.filter(t => Math.abs(t.used - (t.stated ?? 0)) <= t.allowed || Math.abs(t.used) <= t.allowed)
    if (finished.length === 0) return null
    const first = finished[0]
    return {
      message: `${counted(finished.length, 'truncated sample')} ${finished.length === 1 ? 'ends as a finished one' : 'end as finished ones'}: the last return is ${shown(first.last.here.ret)} where the critic gave ${shown(first.last.here.value)}, and no value stands for what would have followed`,
      place: { sample: first.record.index, token: first.last.here.token },
      evidence: { samples: finished.length, truncated: cut.length, last_return: first.last.here.ret, last_value: first.last.here.value }
    }
  }
}
