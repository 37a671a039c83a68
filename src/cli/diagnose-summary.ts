/** What `diagnose` prints: findings first, then the estimator, then quality with intervals. It fits a screen. */
import type { LoggedHistory, PlacedFinding, StatedDiagnosis, StatedSet } from '../compute/diagnostics/contract.js'
import { diagnosisFailures } from '../compute/diagnostics/failures.js'
import type { FindingKind } from '../schema/diagnostics.js'
import { printable, printableId } from '../core/errors.js'
import { DIAGNOSTIC_PATHS } from '../render/outputs/output-names.js'
import {
  auditRows,
  comparedAt,
  countsText,
  estimateAt,
  historyNotes,
  intervalText,
  noFindingText,
  pairingText,
  qualityRows,
  sampleText,
  shownNumber
} from '../render/page/diagnostics-rows.js'
import { formatTable, type TableOptions, type TerminalCell } from '../render/terminal/table.js'
import { textWidth } from '../render/terminal/text.js'
import type { RecordedDiagnosis } from '../runs/recorded-diagnosis.js'
import { leftNote } from './summary.js'

const WIDTH = 100
const INDENT = '  '

export interface SummaryOptions {
  readonly out: string
  readonly failOn: readonly FindingKind[]
  readonly history: LoggedHistory | null
}

export function diagnosisSummary(
  { status, diagnosis, outputs, left }: RecordedDiagnosis,
  { out, failOn, history }: SummaryOptions,
  table: TableOptions
): string {
  const { source, synthetic } = diagnosis
  const format = source.format === null ? '' : ` (${printable(source.format)})`
  const head = `${synthetic ? 'SYNTHETIC data\n' : ''}${printableId(source.name)}${format}: ${countsText(diagnosis)}\n${notesText(diagnosis)}`
  const page = outputs.find(({ path }) => path === DIAGNOSTIC_PATHS.page)
  const stands = status === 'unchanged' ? ' (unchanged: inputs, settings and outputs are as recorded)' : ''
  const written = `${page === undefined ? 'numbers' : 'page'}: ${out}/${page?.path ?? DIAGNOSTIC_PATHS.document}${stands}\n`
  return [
    head,
    findingsText(diagnosis) + (history === null ? '' : historyText(history, diagnosis)),
    estimatorTable(diagnosis, table),
    qualityTable(diagnosis, table),
    leftNote(left) + written + verdict(diagnosis, failOn)
  ].join('\n')
}

/** What the reader of each set found out. */
function notesText({ source, against }: StatedDiagnosis): string {
  const notes = [source, ...(against === null ? [] : [against.source])].flatMap(set =>
    set.notes.map(note => (against === null ? note : `${set.name}: ${note}`))
  )
  return notes.map(note => `note: ${printableId(note, 1000)}\n`).join('')
}

/** The findings in words, below the word `findings`; of two sets each with its name. */
export function findingsText(diagnosis: StatedDiagnosis): string {
  const { against } = diagnosis
  if (against === null) return findingsOf(diagnosis, 'findings')
  return [diagnosis, against]
    .map((set, i) => findingsOf(set, `findings ${i === 0 ? 'of' : 'against:'} ${printableId(set.source.name)}`))
    .join('')
}

function findingsOf(set: StatedSet, title: string): string {
  if (set.findings.length === 0)
    return wrapped(`${title}: ${noFindingText(set)}`)
      .map(line => `${line}\n`)
      .join('')
  return `${title}\n${set.findings.map(findingText).join('')}`
}

function historyText(history: LoggedHistory, { quality }: StatedDiagnosis): string {
  return `history ${printable(history.file.path)}: ${historyNotes(history, quality).join('. ')}.\n`
}

function findingText({ kind, severity, message, place, report }: PlacedFinding): string {
  const where = place === null ? '.' : `. At ${sampleText(place)}.`
  const lines = wrapped(printableId(`${severity === 'fault' ? 'FAULT' : 'property'} ${kind}: ${message.replace(/\.$/, '')}${where}`, 1000))
  return `${lines.map((line, i) => `${i === 0 ? INDENT : INDENT + INDENT}${line}\n`).join('')}${INDENT + INDENT}${printable(report)}\n`
}

function wrapped(text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines[lines.length - 1]
    if (last !== undefined && textWidth(last) + 1 + textWidth(word) <= WIDTH) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

function estimatorTable(diagnosis: StatedDiagnosis, table: TableOptions): string {
  const rows = auditRows(diagnosis)
  const told = rows.some(row => row.told !== null)
  const other = diagnosis.against === null ? null : auditRows(diagnosis.against)
  const columns = [
    { title: 'estimator' },
    { title: 'found' },
    ...(told ? [{ title: 'told' }] : []),
    ...(other === null ? [] : [{ title: 'against' }])
  ]
  const body = rows.map((row, i): TerminalCell[] => [
    row.name,
    row.found,
    ...(told ? [toldCell(row.told)] : []),
    ...(other === null ? [] : [other[i].found])
  ])
  return formatTable(columns, body, table)
}

function toldCell(told: ReturnType<typeof auditRows>[number]['told']): TerminalCell {
  if (told === null) return ''
  if (told.agrees === null) return `${told.text}: not identifiable`
  return { text: `${told.text}: ${told.agrees ? 'agrees' : 'DIFFERS'}`, tone: told.agrees ? 'good' : 'bad' }
}

function qualityTable({ quality, against }: StatedDiagnosis, table: TableOptions): string {
  const rows = qualityRows(quality)
  if (against !== null) {
    const columns = [
      { title: 'quality' },
      { title: 'this', align: 'right' },
      { title: 'against', align: 'right' },
      { title: 'difference', align: 'right' },
      { title: '95 % interval' }
    ] as const
    const differences = formatTable(
      columns,
      rows.map(({ name, path }) => {
        const compared = comparedAt(against.comparison, path)
        const [own, other] = [estimateAt(quality, path), estimateAt(against.quality, path)]
        const value = (x: number | null | undefined): string => (x === null || x === undefined ? '-' : shownNumber(x))
        return [
          name,
          value(own.estimate?.value),
          value(other.estimate?.value),
          value(compared?.difference.value),
          compared === null ? '' : intervalText(compared.difference)
        ]
      }),
      table
    )
    return `${differences}${pairingText(against.comparison)}\n`
  }
  return formatTable(
    [{ title: 'quality' }, { title: 'value', align: 'right' }, { title: '95 % interval' }],
    rows.map(({ name, path }) => {
      const { estimate, reason } = estimateAt(quality, path)
      if (estimate === null) return [name, '-', reason ?? '']
      return [
        name,
        shownNumber(estimate.value ?? 0),
        intervalText(estimate) || `none: ${quality.undefined_reasons[`/${path.join('/')}/low`] ?? ''}`
      ]
    }),
    table
  )
}

function verdict(diagnosis: StatedDiagnosis, failOn: readonly FindingKind[]): string {
  const { told, kinds } = diagnosisFailures(diagnosis, failOn)
  const lines = [
    ...told.map(({ name }) => `failed: the told ${name} differs from the one that the numbers show`),
    ...kinds.map(kind => `failed: ${kind} was found (--fail-on)`)
  ]
  return lines.map(line => `${line}\n`).join('')
}
