/**
 * Stored values stand one token beside those that the returns used. Where lambda of the returns is 1 those hold no value, and
 * advantages alone can show it.
 */
import { type FaultKind, shown } from './finding.js'

export const valuesOffByOne: FaultKind = {
  kind: 'values-off-by-one',
  severity: 'fault',
  report: 'https://github.com/verl-project/verl/issues/1758',
  find: ({ audit, evidence }) => {
    const { relation, advantages } = evidence
    const byAdvantages = audit.value_alignment === null && advantages.follows && advantages.shift !== 'pre-action'
    if (audit.value_alignment !== 'shifted by one' && !byAdvantages) return null
    const byReturns = relation?.name === 'values one later' || relation?.name === 'values one earlier'
    const name = byReturns ? relation.name : advantages.shift
    const later = name === 'values one later'
    const plain = evidence.records.find(r => r.returns.plain !== null && r.returns.plain.n > 0)
    const form = plain?.returns.plain ?? null
    return {
      message: `Values are off by one: ${byReturns ? 'returns' : 'advantages'} follow the value stored at token ${later ? 't+2' : 't'} where V[t+1] belongs${byReturns && form !== null ? `; with V[t+1] a residual of ${shown(form.max)} is left` : ''}`,
      place: plain === undefined || form === null ? null : { sample: plain.index, token: form.at },
      evidence: {
        stored: later ? 'one token later' : 'one token earlier',
        seen_in: byReturns ? 'returns' : 'advantages',
        residual_unshifted: form?.max ?? 0
      }
    }
  }
}
