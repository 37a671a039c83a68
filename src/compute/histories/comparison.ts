/** The `compare` block of the statistics document: the target's hours minus the reference's. */
import type { HistoryAnalysis } from '../../schema/histories.js'
import type { ComparedStatistics, HistoryStatistics, Hours, SelectionStatistics } from './document.js'
import { unknown } from './join.js'
import type { Reasons } from './reasons.js'

/** @throws Fault (exit 3) where the analysis lacks one of the two selections */
export function comparedStatistics(
  analysis: HistoryAnalysis,
  selections: HistoryStatistics['selections'],
  reasons: Reasons
): ComparedStatistics | null {
  const { compare: pair, thresholds, best } = analysis.statistics
  if (pair === null) return reasons.none('/compare', 'the study compares no selections')
  const of = (name: string): SelectionStatistics => {
    if (!Object.hasOwn(selections, name)) throw unknown('selection of the analysis', name, Object.keys(selections))
    return selections[name]
  }
  const target = of(pair.target)
  const reference = of(pair.reference)
  const difference = (t: Hours | null | undefined, r: Hours | null | undefined, at: string): Hours => {
    const minus = (field: keyof Hours): number | null => {
      const [a, b] = [t?.[field] ?? null, r?.[field] ?? null]
      const pointer = `${at}/${field}`
      return a === null || b === null ? reasons.none(pointer, 'one of the two is undefined') : reasons.finite(a - b, pointer)
    }
    return { elapsed_hours: minus('elapsed_hours'), display_hours: minus('display_hours') }
  }
  const reduction = (t: Hours | null | undefined, r: Hours | null | undefined, pointer: string): number | null => {
    const [a, b] = [t?.display_hours ?? null, r?.display_hours ?? null]
    if (a === null || b === null) return reasons.none(pointer, 'one of the two is undefined')
    return b === 0 ? reasons.none(pointer, 'the reference takes 0 hours') : reasons.finite((1 - a / b) * 100, pointer)
  }
  return {
    reference: pair.reference,
    target: pair.target,
    thresholds: Object.fromEntries(
      thresholds.map(({ name }) => [name, difference(target.thresholds[name], reference.thresholds[name], `/compare/thresholds/${name}`)])
    ),
    best: Object.fromEntries(
      best.map(metric => {
        const [t, r] = [target.metrics[metric].best, reference.metrics[metric].best]
        const at = `/compare/best/${metric}`
        return [metric, { ...difference(t, r, at), reduction_percent: reduction(t, r, `${at}/reduction_percent`) }]
      })
    )
  }
}
