/** Training histories and datasets on the terminal. */
import type { AnalysedHistories } from '../compute/histories/analyse.js'
import type { FoundDataset } from '../compute/evidence/contract.js'
import type { MetricStatistics } from '../compute/histories/document.js'
import { counted, formatCount } from '../core/counts.js'
import { printable, printableId } from '../core/errors.js'
import { formatBytes } from '../render/terminal/numbers.js'
import { formatTable, type TableOptions } from '../render/terminal/table.js'
import { NONE, stepsText, valueText } from './summary.js'

/** Most notes on histories that a summary has. */
const MAX_NOTES = 8

/**
 * How the sessions were joined, and a row for each analysis.
 * @param whole in place of the row, a table: what the step view keeps of every metric; and every note
 */
export function historiesTables(histories: AnalysedHistories, whole: boolean, options: TableOptions): string {
  const { selections, analyses, excluded, warnings } = histories
  const joined = [...selections.values()].map(({ selection, sessions, rollbacks }) => {
    const rows = sessions.reduce((sum, s) => sum + s.rows, 0)
    const back = rollbacks.length === 0 ? '' : `, went back ${rollbacks.length === 1 ? 'once' : `${formatCount(rollbacks.length)} times`}`
    return `${printable(selection.title, 400)}: ${counted(sessions.length, 'session')}, ${counted(rows, 'row')}${back}`
  })
  const shown = whole ? warnings : warnings.slice(0, MAX_NOTES)
  const more = warnings.length - shown.length
  const lines = [
    ...joined,
    `runs not selected: ${formatCount(excluded.length)}`,
    ...shown.map(w => `note: ${printableId(w, 400)}`),
    ...(more === 0 ? [] : [`and ${counted(more, 'more note')} (--verbose)`])
  ]
  return `${lines.join('\n')}\n\n${whole ? metricsTables(histories, options).join('\n') : analysesTable(analyses, options)}`
}

function analysesTable(analyses: AnalysedHistories['analyses'], options: TableOptions): string {
  return formatTable(
    [
      { title: 'analysis' },
      { title: 'selections', align: 'right' },
      { title: 'metrics', align: 'right' },
      { title: 'observations', align: 'right' },
      { title: 'steps', align: 'right' }
    ],
    analyses.map(({ analysis, statistics }) => {
      const selections = Object.values(statistics.selections)
      const metrics = selections.flatMap(({ metrics: own }) => Object.values(own))
      const steps = metrics.flatMap(m => (m.first_step === null || m.last_step === null ? [] : [m.first_step, m.last_step]))
      const range = steps.reduce((ends, step) => [Math.min(ends[0], step), Math.max(ends[1], step)], [Infinity, -Infinity])
      return [
        analysis.name,
        formatCount(selections.length),
        formatCount(new Set(selections.flatMap(({ metrics: own }) => Object.keys(own))).size),
        formatCount(metrics.reduce((sum, m) => sum + m.observations, 0)),
        steps.length === 0 ? '-' : stepsText(range[0], range[1])
      ]
    }),
    options
  )
}

function metricsTables({ analyses }: AnalysedHistories, options: TableOptions): string[] {
  return analyses.map(({ analysis, statistics }) =>
    formatTable(
      [
        { title: analysis.name },
        { title: 'metric' },
        { title: 'observations', align: 'right' },
        { title: 'steps', align: 'right' },
        { title: 'first mean', align: 'right' },
        { title: 'last mean', align: 'right' },
        { title: 'best', align: 'right' }
      ],
      Object.values(statistics.selections).flatMap(selection =>
        Object.entries(selection.metrics).map(([metric, m], i) => [
          i === 0 ? selection.title : '',
          metric,
          formatCount(m.observations),
          stepRange(m),
          m.first === undefined ? '' : valueText(m.first.mean, 6),
          m.last === undefined ? '' : valueText(m.last.mean, 6),
          best(m)
        ])
      ),
      options
    )
  )
}

function stepRange(m: MetricStatistics): string {
  return m.first_step === null || m.last_step === null ? '-' : stepsText(m.first_step, m.last_step)
}

function best(m: MetricStatistics): string {
  if (m.best === undefined) return ''
  return m.best === null ? NONE : `${valueText(m.best.value, 6)} at ${formatCount(m.best.step)}`
}

/** One row for each dataset. Where the study restricts decoding, pages of the other columns are not read; the count says so. */
export function datasetsTable(datasets: readonly FoundDataset[], options: TableOptions): string {
  return formatTable(
    [
      { title: 'dataset' },
      { title: 'size', align: 'right' },
      { title: 'rows', align: 'right' },
      { title: 'columns decoded', align: 'right' },
      { title: 'pages', align: 'right' },
      { title: 'with checksum', align: 'right' }
    ],
    datasets.map(({ name, audit: { bytes, rows, columns, columnsDecoded, checked } }) => [
      name,
      formatBytes(bytes),
      formatCount(rows),
      `${formatCount(columnsDecoded)} of ${formatCount(columns)}`,
      formatCount(checked.pages),
      formatCount(checked.checksummed)
    ]),
    options
  )
}
