/** `verify --figures OUT`: reads the SVG figures of a folder of outputs back against the data files beside them. */
import { counted, formatCount } from '../core/counts.js'
import { EXIT } from '../core/errors.js'
import { checkFigures, figureFaults } from '../runs/figures-check/check.js'
import type { FigureCheck, FiguresReport } from '../runs/figures-check/contract.js'
import { formatTable, type TableOptions } from '../render/terminal/table.js'
import type { VerifyCommand } from './args.js'
import { problems, verdictLine } from './closing.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting } from './reporter.js'

export async function verifyFigures(out: string, options: VerifyCommand, io: CliIo): Promise<CommandResult> {
  return reporting(options, io, async reporter => {
    const report = await checkFigures(out, io.signal)
    const faults = figureFaults(report, out)
    const exitCode = faults.length > 0 ? EXIT.checkFailed : EXIT.ok
    reporter.tellFaults(faults)
    const { ok, differs } = report.counts
    const compared = ok + differs === 0 ? 'nothing was compared' : `${formatCount(ok)} series as in the data`
    const verdict = verdictLine(exitCode, [...problems(faults.length), compared])
    await reporter.tell(table => `figures in ${out}\n${figuresTable(report, table)}${uncheckedLine(report)}${verdict}`)
    return { exitCode, report: { outputs: out, ...report } }
  })
}

/** One row a figure. */
function figuresTable({ figures }: FiguresReport, options: TableOptions): string {
  const sum = ({ series }: FigureCheck, of: 'drawn' | 'total'): string =>
    formatCount(series.filter(({ status }) => status !== 'unchecked').reduce((all, one) => all + one[of], 0))
  return formatTable(
    [
      { title: 'figure' },
      { title: 'series', align: 'right' },
      { title: 'differ', align: 'right' },
      { title: 'drawn', align: 'right' },
      { title: 'in the data', align: 'right' },
      { title: '' }
    ],
    figures.map(figure => {
      const differ = figure.series.filter(({ status }) => status === 'differs').length
      const checked = figure.series.filter(({ status }) => status !== 'unchecked').length
      return [
        figure.file,
        formatCount(checked),
        { text: formatCount(differ), tone: differ > 0 ? 'bad' : 'muted' },
        sum(figure, 'drawn'),
        sum(figure, 'total'),
        { text: figure.reason === null ? '' : `not checked: ${figure.reason}`, tone: 'muted' }
      ]
    }),
    options
  )
}

function uncheckedLine({ counts: { unchecked } }: FiguresReport): string {
  return unchecked === 0 ? '' : `not checked: ${counted(unchecked, 'series', 'series')} of marks that no data file holds\n`
}
