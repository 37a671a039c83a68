/**
 * `preview/critic-traces-over-steps.html`: the snapshots of an output folder over their trainer steps. The figure first, then the
 * steps, the newest on top, then what failed. Text of the inputs (names, messages) is shown and has no effect.
 */
import type { SnapshotStep, StepOutcome } from '../../compute/traces/over-steps.js'
import type { TraceSnapshotsDocument } from '../../schema/outputs/trace-snapshots.js'
import { formatFigureCount, formatPlural } from '../figures/format.js'
import { BATCH_INDEX, BATCH_STEPS, type Generator } from '../outputs/output-names.js'
import { shownNumber } from './diagnostics-rows.js'
import { figureHtml, headingHtml, HEADING_PREFIX, outputLink, tableHtml } from './html.js'
import type { PageFigure } from './inputs.js'
import { contentsHtml, documentHtml } from './shell.js'
import { styleSheet } from './style.js'
import type { PageTable } from './tables.js'
import { escapeHtml } from './text.js'

type Snapshot = TraceSnapshotsDocument['snapshots'][number]

export interface OverStepsPage {
  /** by step, then by the name of the snapshot */
  readonly rows: readonly SnapshotStep[]
  /** every entry of the index */
  readonly snapshots: readonly Snapshot[]
  /** null where it was not drawn as PNG */
  readonly figure: PageFigure | null
  readonly synthetic: boolean
  readonly generator: Generator
}

const SECTIONS = { figure: 'Figure', steps: 'Steps', failed: 'What failed' } as const
type OverStepsSection = keyof typeof SECTIONS

/** Most rows of the table; a page with more loads slowly, and the CSV has all. */
const MOST_ROWS = 1000

const NONE = '\u2013'
const TITLE = 'Critic traces over trainer steps'

export function overStepsHtml({ rows, snapshots, figure, synthetic, generator }: OverStepsPage): string {
  const failed = snapshots.filter(({ status }) => status === 'failed')
  const body: ReadonlyArray<readonly [OverStepsSection, string]> = [
    ...(figure === null ? [] : [['figure', pictureHtml(figure)] as const]),
    ['steps', `<p class="lead">${escapeHtml(leadText(rows, snapshots))}</p>\n${tableHtml(stepsTable(rows, snapshots))}\n${dataHtml()}`],
    ...(failed.length === 0 ? [] : [['failed', tableHtml(failedTable(failed))] as const])
  ]
  return documentHtml({
    title: TITLE,
    study: { name: TITLE, synthetic },
    generator,
    style: styleSheet({ synthetic, failed: false, diagnostics: true }),
    failed: '',
    contents: contentsHtml(body.map(([name]) => ({ id: `${HEADING_PREFIX}${name}`, text: SECTIONS[name] }))),
    main: body.map(([name, html]) => `${headingHtml('h2', name, SECTIONS[name])}\n${html}`).join('\n'),
    foot: { before: '', after: '' }
  })
}

function pictureHtml({ picture, files, data }: PageFigure): string {
  const caption =
    'Means are over tokens, rates over transitions, of all traces of a step. A step that several snapshots have is one point over all of them.'
  return figureHtml({ id: 'figure-1', label: 'Figure 1', picture, caption, files, data })
}

function leadText(rows: readonly SnapshotStep[], snapshots: readonly Snapshot[]): string {
  const steps = new Set(rows.map(({ step }) => step)).size
  const total = (of: 'traces' | 'tokens'): number => rows.reduce((sum, row) => sum + row[of], 0)
  const counts = [formatPlural(snapshots.length, 'snapshot'), formatPlural(steps, 'step'), formatPlural(total('traces'), 'trace')]
  const failed = snapshots.filter(({ status }) => status === 'failed').length
  const without = failed === 0 ? '' : ` ${formatPlural(failed, 'snapshot')} failed and ${failed === 1 ? 'is' : 'are'} in no curve.`
  return `${counts.join(', ')}, ${formatPlural(total('tokens'), 'token')}.${without}`
}

function stepsTable(rows: readonly SnapshotStep[], snapshots: readonly Snapshot[]): PageTable {
  const byName = new Map(snapshots.map(snapshot => [snapshot.name, snapshot]))
  const newest = rows.slice(-MOST_ROWS).reverse()
  const cut = rows.length > MOST_ROWS ? ` The newest ${formatFigureCount(MOST_ROWS)} of ${formatFigureCount(rows.length)} rows.` : ''
  return {
    name: 'steps',
    caption: `Mean value by outcome, the newest step on top.${cut}`,
    head: ['Snapshot', 'Step', 'Traces', 'Tokens', 'Success', 'Failure', 'Not stated', 'Verified'],
    rows: newest.map(row => {
      const { statistics = null, verified = null } = byName.get(row.snapshot) ?? {}
      return {
        id: null,
        cells: [
          { lines: [row.snapshot], links: [statistics] },
          ...[row.step, row.traces, row.tokens].map(count => ({ lines: [formatFigureCount(count)] })),
          ...OUTCOMES.map(outcome => ({ lines: [meanText(row, outcome)] })),
          { lines: [verified === null ? NONE : verified ? 'yes' : 'no'] }
        ]
      }
    })
  }
}

const OUTCOMES: readonly StepOutcome[] = ['success', 'failure', 'unknown']

/** A number of a page has a true minus sign. */
function meanText({ mean_values: means }: SnapshotStep, outcome: StepOutcome): string {
  const own = means.find(mean => mean.outcome === outcome)
  return own === undefined ? NONE : shownNumber(own.mean_value).replace(/^-/, '\u2212')
}

function failedTable(failed: readonly Snapshot[]): PageTable {
  return {
    name: 'failing',
    caption: 'Snapshots that failed. Each is analysed again when its files change.',
    head: ['Snapshot', 'Reason'],
    rows: failed.map(({ name, source, faults }) => ({
      id: null,
      cells: [{ lines: [name ?? source ?? NONE] }, { lines: faults.map(({ message }) => message) }]
    }))
  }
}

function dataHtml(): string {
  return `<p>Every number of this page and more: ${outputLink(BATCH_STEPS, BATCH_STEPS)}, ${outputLink(BATCH_INDEX, BATCH_INDEX)}.</p>`
}
