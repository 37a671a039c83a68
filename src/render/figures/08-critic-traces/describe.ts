/** The alternative text of Figure 8: one paragraph with the drawn facts, for readers who cannot see the figure. */
import type { CriticTraceFigureData, ExampleTrace } from '../../../compute/traces/contract.js'
import type { Outcome } from '../../../schema/traces.js'
import { decimalsFor, formatFigureCount, formatFixed, formatPlural, formatSigned } from '../format.js'
import { cleanText } from '../text-width.js'
import { extent } from '../ticks.js'
import { positionsOf } from './overview.js'
import { isMany } from './summary.js'

function span(values: readonly number[], format: (value: number) => string): string {
  const range = extent(values)
  if (range === null) return ''
  return range.min === range.max ? format(range.min) : `${format(range.min)} to ${format(range.max)}`
}

const three = (value: number): string => formatFixed(value, 3)

function describeOutcome(traces: CriticTraceFigureData['traces'], outcome: Outcome): string {
  const own = traces.filter(trace => trace.outcome === outcome)
  if (own.length === 0) return ''
  const [moved, sign] =
    outcome === 'success'
      ? [own.filter(trace => trace.delta > 0).length, 'positive']
      : [own.filter(trace => trace.delta < 0).length, 'negative']
  return (
    ` ${formatPlural(own.length, outcome, outcome === 'success' ? 'successes' : 'failures')}: ` +
    `mean value ${span(
      own.map(trace => trace.mean),
      three
    )}, last minus first value ${sign} in ${moved} of ${own.length}.`
  )
}

function describeExample(outcome: Outcome, example: ExampleTrace | null): string {
  if (example === null || example.values.length === 0) return ` There is no ${outcome} example.`
  const { values, boundaries, maxBoundaryJump: jump, step } = example
  const range = extent(values) ?? { min: 0, max: 0 }
  const last = values[values.length - 1]
  const digits = jump === null ? 3 : decimalsFor(jump.delta)
  return (
    ` The ${outcome} example${step === null ? '' : ` at step ${formatFigureCount(step)}`} has ` +
    `${formatPlural(values.length, 'retained token')} in ${formatPlural(boundaries.length + 1, 'generated span')}, ` +
    `values from ${three(range.min)} to ${three(range.max)}, first ${three(values[0])}, last ${three(last)}; ` +
    (jump === null
      ? 'it has no turn boundary.'
      : jump.delta === 0
        ? 'its value changes at no turn boundary.'
        : `its largest boundary jump is ${formatFixed(jump.from, digits)} to ${formatFixed(jump.to, digits)} ` +
          `(${formatSigned(jump.delta, digits)}) after token ${formatFigureCount(jump.from_index)}.`)
  )
}

export function describeFigure08(data: CriticTraceFigureData): string {
  const { traces, success, failure, synthetic, outcomesByScore: byScore } = data
  const steps = span(
    traces.map(trace => trace.step).filter(step => step !== null),
    formatFigureCount
  )
  const unknown = traces.filter(trace => trace.outcome === null).length
  const shown = [success, failure].filter(example => example !== null && example.values.length > 0).length
  const many = isMany(positionsOf(traces)) ? ', as median, quartiles and range from 5 to 95 % of each outcome,' : ''
  return (
    `${['Two', 'Three', 'Four'][shown]} panels of critic values of ${cleanText(data.source)}. ` +
    `${shown === 0 ? 'They' : 'The upper two'} show the mean value and the endpoint difference${many} of ` +
    `${formatPlural(traces.length, 'trace')}${steps === '' ? '' : ` at trainer step ${steps}`}.` +
    describeOutcome(traces, 'success') +
    describeOutcome(traces, 'failure') +
    (unknown === 0 ? '' : ` ${formatPlural(unknown, 'trace')} without an outcome.`) +
    (byScore === undefined
      ? ''
      : ` The outcome of ${formatPlural(byScore.traces, 'trace')} is told by the score: above ${byScore.threshold} is a success.`) +
    (shown === 0
      ? ''
      : ` The lower ${shown === 2 ? 'two show one trace each' : 'one shows one trace'} by retained token index, with the mean of every generated span` +
        ' and a mark at every turn boundary.') +
    describeExample('success', success) +
    describeExample('failure', failure) +
    (synthetic ? ' The data are a synthetic replica.' : '')
  )
}
