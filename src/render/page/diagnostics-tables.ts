/** The tables of the page of the diagnostics: estimator, quality with intervals, the turns that move the value most, files. */
import type { DiagnosedSet, Diagnosis, Estimate, Quality } from '../../compute/diagnostics/contract.js'
import { formatFigureCount } from '../figures/format.js'
import {
  auditRows,
  comparedAt,
  estimateAt,
  intervalText,
  qualityRows,
  shortenedUid,
  shownNumber,
  type AuditRow,
  type QualityRow
} from './diagnostics-rows.js'
import type { PageTable, TableCell, TableRow } from './tables.js'

export interface DiagnosticTables {
  readonly estimator: readonly PageTable[]
  readonly quality: readonly PageTable[]
  readonly read: readonly PageTable[]
}

export function diagnosticTables(diagnosis: Diagnosis): DiagnosticTables {
  const { against } = diagnosis
  const sets = [diagnosis as DiagnosedSet, ...(against === null ? [] : [against as DiagnosedSet])]
  return {
    estimator: [estimatorTable(diagnosis)],
    quality: [
      against === null ? qualityTable(diagnosis) : comparisonTable(diagnosis, against),
      ...sets.flatMap(set => turnsTable(set, sets.length > 1))
    ],
    read: sets.map(filesTable)
  }
}

const NONE = '\u2013'

function row(...cells: TableCell[]): TableRow {
  return { id: null, cells }
}

function estimatorTable(diagnosis: Diagnosis): PageTable {
  const { source, against } = diagnosis
  const rows = auditRows(diagnosis)
  const told = rows.some(of => of.told !== null)
  const other = against === null ? null : auditRows(against)
  return {
    name: 'estimator',
    caption: 'Recovered from the numbers alone, by exact linear relations between values, returns, rewards and advantages.',
    head: ['Part', against === null ? 'Found' : source.name, ...(told ? ['Told'] : []), ...(against === null ? [] : [against.source.name])],
    rows: rows.map((of, i) =>
      row(
        { lines: [of.name] },
        { lines: [minus(of.found)] },
        ...(told ? [toldCell(of.told)] : []),
        ...(other === null ? [] : [{ lines: [minus(other[i].found)] }])
      )
    )
  }
}

function toldCell(told: AuditRow['told']): TableCell {
  if (told === null) return { lines: [NONE] }
  if (told.agrees === null) return { lines: [told.text, 'not identifiable'] }
  return { lines: [told.text, told.agrees ? 'agrees' : 'differs'], status: told.agrees ? 'agrees' : 'differs' }
}

/** A number of a page has a true minus sign. */
function minus(text: string): string {
  return text.replace(/(^|[ (e])-(?=[\d.])/g, '$1\u2212')
}

function numberText(estimate: Estimate | null | undefined): string {
  return estimate?.value == null ? NONE : minus(shownNumber(estimate.value))
}

function nameCell({ name, meaning }: QualityRow): TableCell {
  return { lines: [name, meaning] }
}

function qualityTable({ quality }: DiagnosedSet): PageTable {
  return {
    name: 'quality',
    caption: 'The critic against returns and outcomes.',
    head: ['Statistic', 'Value', '95 % interval', 'Trajectories', 'Place in the JSON'],
    rows: qualityRows(quality).map(of => {
      const { estimate, reason } = estimateAt(quality, of.path)
      return row(
        nameCell(of),
        { lines: [numberText(estimate)] },
        { lines: [estimate === null ? (reason ?? NONE) : minus(intervalText(estimate)) || noInterval(quality, of)] },
        { lines: [estimate === null ? NONE : formatFigureCount(estimate.n_trajectories)] },
        { lines: [`#/quality/${of.path.join('/')}`], code: true }
      )
    })
  }
}

function noInterval(quality: Quality, { path }: QualityRow): string {
  return quality.undefined_reasons[`/${path.join('/')}/low`] ?? NONE
}

function comparisonTable(diagnosis: Diagnosis, against: NonNullable<Diagnosis['against']>): PageTable {
  const { quality, source } = diagnosis
  return {
    name: 'compared',
    caption: 'Both critics against returns and outcomes, and the difference: the first minus the second.',
    head: ['Statistic', source.name, against.source.name, 'Difference', '95 % interval of the difference'],
    rows: qualityRows(quality).map(of => {
      const [own, other] = [estimateAt(quality, of.path), estimateAt(against.quality, of.path)]
      const compared = comparedAt(against.comparison, of.path)
      const both = (at: typeof own): string[] =>
        at.estimate === null ? [NONE, at.reason ?? ''] : [numberText(at.estimate), minus(intervalText(at.estimate))]
      return row(
        nameCell(of),
        { lines: both(own).filter(line => line !== '') },
        { lines: both(other).filter(line => line !== '') },
        { lines: [numberText(compared?.difference)] },
        {
          lines: [
            compared === null ? NONE : minus(intervalText(compared.difference)) || NONE,
            ...(compared?.paired === true ? ['paired'] : [])
          ]
        }
      )
    })
  }
}

function turnsTable({ source, quality }: DiagnosedSet, named: boolean): PageTable[] {
  if (quality.moving_turns.length === 0) return []
  return [
    {
      name: 'turns',
      caption: `The turns that move the value most${named ? `, ${source.name}` : ''}.`,
      folded: 'closed',
      head: ['Sample', 'Turn', 'Tokens', 'Value at its first token', 'Value at its last token', 'Change'],
      rows: quality.moving_turns.map(turn =>
        row(
          {
            lines: [
              String(turn.index),
              ...(turn.uid === null ? [] : [`uid ${shortenedUid(turn.uid)}`]),
              ...(turn.step === null ? [] : [`step ${turn.step}`])
            ]
          },
          { lines: [`${turn.turn + 1} of ${turn.turns}`] },
          { lines: [formatFigureCount(turn.tokens)] },
          { lines: [minus(shownNumber(turn.first_value))] },
          { lines: [minus(shownNumber(turn.last_value))] },
          { lines: [minus(shownNumber(turn.change))] }
        )
      )
    }
  ]
}

function filesTable({ source }: DiagnosedSet): PageTable {
  return {
    name: 'sources',
    caption: `Files of ${source.name}.`,
    folded: 'closed',
    head: ['File', 'Bytes', 'SHA-256'],
    rows: source.files.map(({ path, bytes, sha256 }) =>
      row({ lines: [path], code: true }, { lines: [formatFigureCount(bytes)] }, { lines: [sha256], code: true })
    )
  }
}
