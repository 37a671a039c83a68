/** A logged explained variance is not that of the step's tokens: averaged over micro-batches, or a difference of large sums. */
import type { EstimatorRecord } from '../estimator/record.js'
import { mergeSpreads, NOTHING } from '../estimator/spreads.js'
import { counted, type FaultKind, shown } from './finding.js'

/** Logs round, and single precision sums over a batch are good to about this. */
const AGREES = 2e-3
const MICRO_BATCHES = [1, 2, 4, 8, 16, 32, 64]

/** 1 - Var(R - V) / Var(R) over the tokens with mask 1; null where returns do not vary. */
function explainedVariance(records: readonly EstimatorRecord[]): number | null {
  let [returns, errors] = [NOTHING, NOTHING]
  for (const { spreads } of records) {
    if (spreads === null) continue
    returns = mergeSpreads(returns, spreads.returns)
    errors = mergeSpreads(errors, spreads.errors)
  }
  // equal returns have only the rounding of their mean
  return returns.m2 > 1e-10 * returns.n * returns.mean ** 2 ? 1 - errors.m2 / returns.m2 : null
}

function meanOf(parts: readonly (number | null)[]): number | null {
  const known = parts.flatMap(p => (p === null ? [] : [p]))
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0) / known.length
}

/** The way of averaging that gives the logged value; null: none that is tried. */
function averaged(records: readonly EstimatorRecord[], logged: number): string | null {
  for (const size of MICRO_BATCHES) {
    if (size >= records.length) break
    const parts = Array.from({ length: Math.ceil(records.length / size) }, (_, i) => records.slice(i * size, (i + 1) * size))
    const mean = meanOf(parts.map(explainedVariance))
    if (mean !== null && Math.abs(mean - logged) <= AGREES) return `the mean over micro-batches of ${counted(size, 'sample')}`
  }
  const ranks = [...new Set(records.map(r => r.rank))]
  const mean = ranks.length > 1 ? meanOf(ranks.map(rank => explainedVariance(records.filter(r => r.rank === rank)))) : null
  return mean !== null && Math.abs(mean - logged) <= AGREES ? 'the mean over ranks' : null
}

export const explainedVarianceLog: FaultKind = {
  kind: 'explained-variance-log',
  severity: 'fault',
  report: 'https://github.com/RLinf/RLinf/issues/1247',
  find: ({ evidence, logged }) => {
    if (logged === null) return null
    const off = [...logged].flatMap(([step, value]) => {
      const records = evidence.records.filter(r => r.step === step)
      const pooled = explainedVariance(records)
      return pooled === null || Math.abs(pooled - value) <= AGREES * Math.max(1, Math.abs(1 - pooled))
        ? []
        : [{ step, value, pooled, records }]
    })
    if (off.length === 0) return null
    const worst = off.reduce((most, one) => (Math.abs(one.value - one.pooled) > Math.abs(most.value - most.pooled) ? one : most))
    const how = averaged(worst.records, worst.value)
    return {
      message: `The logged explained variance differs in ${counted(off.length, 'step')}: at step ${worst.step} it is ${shown(worst.value)}, over the step's tokens ${shown(worst.pooled)}${how === null ? '' : `; ${how} gives the logged one`}`,
      place: null,
      evidence: {
        steps: off.length,
        step: worst.step,
        logged: worst.value,
        pooled: worst.pooled,
        ...(how === null ? {} : { agrees_with: how })
      }
    }
  }
}
