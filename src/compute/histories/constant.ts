/**
 * Tests whether a metric that should be constant is constant, such as a learning rate. Every logged value of every
 * session counts, superseded ones included. Values of two rows alone would prove nothing about the other rows.
 */
import type { Curve, SelectionHistory } from './contract.js'
import type { ConstantStatistics, SessionConstant } from './document.js'
import { reasonsAt, type Reasons } from './reasons.js'
import { PIECE, type Work } from './work.js'

interface Seen {
  observations: number
  min: number
  max: number
  /** the first value, and the first step at which another value stands */
  first: number
  otherAt: number | null
}

/** @param at JSON pointer of the result in the document */
export function* constantOf(history: SelectionHistory, curve: Curve, reasons: Reasons, at: string): Work<ConstantStatistics> {
  const seen: Seen[] = history.sessions.map(() => ({ observations: 0, min: Infinity, max: -Infinity, first: NaN, otherAt: null }))
  for (let i = 0; i < curve.count; i++) {
    if (i % PIECE === PIECE - 1) yield
    const one = seen[curve.session[i]]
    const value = curve.value[i]
    if (one.observations++ === 0) one.first = value
    else if (value !== one.first) one.otherAt ??= curve.step[i]
    one.min = Math.min(one.min, value)
    one.max = Math.max(one.max, value)
  }
  const nonFinite = Object.values(curve.nonFinite).reduce((sum, count) => sum + count, 0)
  return {
    unusable: nonFinite + curve.nulls + curve.notNumbers,
    sessions: seen.map((one, k) => sessionConstant(one, history.sessions[k].run, reasons, `${at}/sessions/${k}`))
  }
}

function sessionConstant({ observations, min, max, first, otherAt }: Seen, run: string, reasons: Reasons, at: string): SessionConstant {
  if (observations === 0) {
    const none = reasonsAt(reasons, at, 'the session has no observation')
    return { run, observations, value: none('value'), min: none('min'), max: none('max') }
  }
  const value =
    otherAt === null
      ? first
      : reasons.none(
          `${at}/value`,
          `run ${run} logs values from ${min} to ${max}: the first that is not ${first} stands at step ${otherAt}`
        )
  return { run, observations, value, min, max }
}
