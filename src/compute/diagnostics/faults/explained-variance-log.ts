/** A logged explained variance is not that of the step's tokens: averaged over micro-batches, or a difference of large sums. */
import { counted } from '../../../core/counts.js'
import type { EstimatorRecord } from '../estimator/record.js'
import { roundingOf } from '../estimator/relation.js'
import { mergeSpreads, NOTHING } from '../estimator/spreads.js'
import { type FaultKind, shown } from './finding.js'

/** Variances of a batch in single precision are good to about this, over the part that is not explained. */
const AGREES = 2e-5
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

/** A log may be cut to a few decimals, and a dump to fewer digits than the trainer had. */
function allowance(logged: number, pooled: number, rounding: number): number {
  const decimals = /\.(\d+)$/.exec(String(logged))?.[1].length ?? (Number.isInteger(logged) ? 0 : 17)
  return (AGREES + 2 * rounding) * Math.max(1, Math.abs(1 - pooled)) + (decimals >= 1 && decimals <= 6 ? 0.5 * 10 ** -decimals : 0)
}

/** A step whose logged value was compared with that of its tokens. */
interface ComparedStep {
  readonly step: number
  readonly value: number
  readonly pooled: number
  readonly records: readonly EstimatorRecord[]
  readonly allowed: number
}

function meanOfMicroBatches(records: readonly EstimatorRecord[], size: number): number | null {
  const parts = Array.from({ length: Math.ceil(records.length / size) }, (_, i) => records.slice(i * size, (i + 1) * size))
  return meanOf(parts.map(explainedVariance))
}

function meanOfRanks(records: readonly EstimatorRecord[]): number | null {
  const ranks = [...new Set(records.map(r => r.rank))]
  return meanOf(ranks.map(rank => explainedVariance(records.filter(r => r.rank === rank))))
}

/** The way of averaging that gives the logged value of every step; null: none that is tried. */
function averaged(steps: readonly ComparedStep[]): string | null {
  const gives = (mean: (records: readonly EstimatorRecord[]) => number | null): boolean =>
    steps.every(({ value, records, allowed }) => {
      const found = mean(records)
      return found !== null && Math.abs(found - value) <= allowed
    })
  const size = MICRO_BATCHES.find(size => gives(records => meanOfMicroBatches(records, size)))
  if (size !== undefined) return `the mean over micro-batches of ${counted(size, 'sample')}`
  return gives(meanOfRanks) ? 'the mean over ranks' : null
}

export const explainedVarianceLog: FaultKind = {
  kind: 'explained-variance-log',
  severity: 'fault',
  report: 'https://github.com/RLinf/RLinf/issues/1247',
  find: ({ evidence, logged }) => {
    if (logged === null) return null
    const [first] = evidence.records
    if (first === undefined) return null
    const rounding = Math.max(...(['values', 'returns'] as const).map(name => roundingOf(evidence.records, name)(first)))
    const compared = [...logged].flatMap(([step, value]): ComparedStep[] => {
      const records = evidence.records.filter(r => r.step === step)
      const pooled = explainedVariance(records)
      return pooled === null ? [] : [{ step, value, pooled, records, allowed: allowance(value, pooled, rounding) }]
    })
    const off = compared.filter(({ value, pooled, allowed }) => Math.abs(pooled - value) > allowed)
    if (off.length === 0) return null
    const worst = off.reduce((most, one) => (Math.abs(one.value - one.pooled) > Math.abs(most.value - most.pooled) ? one : most))
    const how = averaged(compared)
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
