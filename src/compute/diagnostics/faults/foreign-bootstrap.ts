/** Values of another trajectory bootstrap: at every token, or the first of the next sample behind the end of one. */
import { maxOf, minOf } from '../../../core/extremes.js'
import { counted } from '../../../core/counts.js'
import { allowed } from '../estimator/find-rule.js'
import type { Relation } from '../estimator/relation.js'
import { type Case, type FaultKind, type Sighting, shown } from './finding.js'

function inside({ evidence }: Case): Sighting | null {
  const { relation } = evidence
  if (relation === null || !relation.foreign || !evidence.follows) return null
  const which = relation.name === 'values of the sample before' ? 'before' : 'behind'
  const first = relation.samples[0]
  const plain = first.record.returns.plain
  return {
    message: `Returns bootstrap from another trajectory: they follow V[t+1] of the sample ${which} in ${counted(relation.samples.length, 'sample')}; with the own value a residual of ${shown(plain?.max ?? 0)} is left`,
    place: { sample: first.record.index, token: plain?.at ?? 0 },
    evidence: { values_of: `the sample ${which}`, samples: relation.samples.length, residual_with_own: plain?.max ?? 0 }
  }
}

/** What crosses: the next value and the sum behind it, or the next value alone where that sum is cut. */
interface Crossing {
  readonly value: number
  readonly ret: number
}

/** The last returns hold the start of the next sample. */
export function joinsNext(seen: Case): Sighting | null {
  const { relation } = seen.evidence
  if (relation === null) return null
  const { a, b } = relation
  return crosses(seen, relation, { value: a, ret: b }) ?? crosses(seen, relation, { value: a + b, ret: 0 })
}

function crosses({ evidence }: Case, relation: Relation, crossing: Crossing): Sighting | null {
  const byIndex = new Map(evidence.records.map(r => [r.index, r]))
  const bare = evidence.tails.filter(t => t.trailing === 0 && t.stated !== null)
  // the start of the next sample may be its first token, or its first trainable one; one that is 0 tells nothing, nor a return of 0
  const telling = bare.flatMap(tail => {
    const next = byIndex.get(tail.record.index + 1)?.ends ?? null
    const extra = tail.used - (tail.stated ?? 0)
    const joins = [next?.start ?? null, next?.first ?? null].flatMap(first => {
      if (first === null) return []
      const joined = crossing.value * first.value + crossing.ret * first.ret
      const limit = allowed(relation.rounding(tail.record), tail.record.scale + Math.abs(first.ret)) * 4
      return Math.abs(joined) > 4 * limit && Math.abs(tail.used) > limit
        ? [{ tail, joined, limit, holds: Math.abs(extra - joined) <= limit }]
        : []
    })
    return joins.length === 0 ? [] : [joins.find(j => j.holds) ?? joins[0]]
  })
  const hit = telling.filter(t => t.holds)
  if (hit.length < 2 || hit.length < 0.8 * telling.length) return null
  // equal ones may be something else that all samples have
  const joins = hit.map(h => h.joined)
  if (maxOf(joins) - minOf(joins) <= 4 * maxOf(hit.map(h => h.limit))) return null
  const { tail, joined } = hit[0]
  return {
    message: `Returns bootstrap from another trajectory: the last return of ${counted(hit.length, 'sample')} holds the discounted start of the next sample, ${shown(joined)} the first time`,
    place: { sample: tail.record.index, token: tail.last.here.token },
    evidence: { values_of: 'the next sample, at the end', samples: hit.length, from_next: joined }
  }
}

export const foreignBootstrap: FaultKind = {
  kind: 'foreign-bootstrap',
  severity: 'fault',
  report: 'https://github.com/Mikyx-1/Reinforcement-Learning/issues/50',
  find: seen => inside(seen) ?? joinsNext(seen)
}
