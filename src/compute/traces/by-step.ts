/**
 * The traces of a snapshot by outcome, and by trainer step: what a batch draws over the steps of several snapshots. Sums and
 * counts where a mean may be undefined, so that nothing here is null.
 */
import { EXIT, Fault } from '../../core/errors.js'
import { addPairs, meanOf, pairValue, ZERO_SUM, type SumPair } from '../../core/sums.js'
import type { ChangeStatistics, SnapshotStatistics, StepStatistics, TraceResult } from './contract.js'

type MeanValues = SnapshotStatistics['mean_values']

const OUTCOMES = ['success', 'failure', 'unknown'] as const

/** @param results in canonical order */
export function meanValues(results: readonly TraceResult[]): MeanValues {
  return OUTCOMES.flatMap(outcome => {
    const traces = results.filter(({ fields }) => (fields.outcome ?? 'unknown') === outcome)
    if (traces.length === 0) return []
    const tokens = traces.reduce((sum, { statistics }) => sum + statistics.tokens, 0)
    const sum = added(traces.map(({ statistics: { mean, tokens: own } }) => ({ high: mean * own, low: 0 })))
    return [{ outcome, traces: traces.length, tokens, mean_value: finite(meanOf(sum, tokens), 'mean value') }]
  })
}

/** @param results in canonical order */
export function byStep(results: readonly TraceResult[]): StepStatistics[] {
  const steps = new Map<number, TraceResult[]>()
  for (const result of results) {
    const { step } = result.fields
    if (step === null) continue
    const traces = steps.get(step)
    if (traces === undefined) steps.set(step, [result])
    else traces.push(result)
  }
  return [...steps]
    .sort(([a], [b]) => a - b)
    .map(([step, traces]) => ({
      step,
      traces: traces.length,
      tokens: traces.reduce((sum, { statistics }) => sum + statistics.tokens, 0),
      mean_values: meanValues(traces),
      boundary: changesOf(traces.map(({ statistics }) => statistics.boundary)),
      internal: changesOf(traces.map(({ statistics }) => statistics.internal))
    }))
}

function changesOf(changes: readonly ChangeStatistics[]): StepStatistics['boundary'] {
  const sum = added(changes.map(({ sumAbs, sumAbsLow }) => ({ high: sumAbs, low: sumAbsLow })))
  return {
    transitions: changes.reduce((all, { transitions }) => all + transitions, 0),
    sum_abs_change: finite(pairValue(sum), 'sum of |change|'),
    jumps: changes.reduce((all, { jumps }) => all + jumps, 0)
  }
}

function added(pairs: readonly SumPair[]): SumPair {
  return pairs.reduce(addPairs, ZERO_SUM)
}

function finite(value: number, what: string): number {
  if (Number.isFinite(value)) return value
  throw new Fault({
    format: 'snapshot',
    problem: `${what} overflows`,
    found: 'a sum beyond the double range',
    expected: 'smaller values',
    exitCode: EXIT.checkFailed
  })
}
