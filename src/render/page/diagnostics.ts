/**
 * `preview/diagnostics.html`: the findings first, in plain words and with their evidence, then the estimator, then the quality of
 * the critic with its intervals, then the figures. Text of the inputs (names, uids, keys) is shown and has no effect.
 */
import type { DiagnosedSet, Diagnosis, PlacedFinding } from '../../compute/diagnostics/contract.js'
import { diagnosisFailures } from '../../compute/diagnostics/failures.js'
import { formatFigureCount, formatPlural } from '../figures/format.js'
import { DIAGNOSTIC_PATHS, type Generator } from '../outputs/output-names.js'
import { diagnosticTables } from './diagnostics-tables.js'
import { countsText, historyNotes, noFindingText, pairingText, sampleText, shownNumber } from './diagnostics-rows.js'
import { figureHtml, headingHtml, HEADING_PREFIX, outputLink, tableHtml } from './html.js'
import type { PageFigure } from './inputs.js'
import { bdi } from './panel.js'
import { contentsHtml, documentHtml } from './shell.js'
import { styleSheet } from './style.js'
import { escapeHtml, visible } from './text.js'

export interface DiagnosticsPage {
  readonly diagnosis: Diagnosis
  /** drawn as PNG; none without figures */
  readonly figures: readonly PageFigure[]
  readonly generator: Generator
}

const SECTIONS = {
  findings: 'Findings',
  estimator: 'How the returns were made',
  quality: 'How good the critic is',
  figures: 'Figures',
  read: 'What was read'
} as const
type Section = keyof typeof SECTIONS

export function diagnosticsHtml({ diagnosis, figures, generator }: DiagnosticsPage): string {
  const { source, synthetic, against } = diagnosis
  const names = [source.name, ...(against === null ? [] : [against.source.name])]
  const shown: readonly Section[] = (Object.keys(SECTIONS) as Section[]).filter(name => name !== 'figures' || figures.length > 0)
  const body = bodies(diagnosis, figures)
  const failure = failureText(diagnosis)
  return documentHtml({
    title: visible(`Diagnostics of the critic: ${names.join(' against ')}`),
    study: { name: source.name, synthetic },
    generator,
    style: styleSheet({ synthetic, failed: failure !== null, diagnostics: true }),
    failed: failure === null ? '' : `<p class="failed" role="alert"><strong>${escapeHtml(failure)}</strong></p>\n`,
    contents: contentsHtml(shown.map(name => ({ id: `${HEADING_PREFIX}${name}`, text: SECTIONS[name] }))),
    main: shown.map(name => `${headingHtml('h2', name, SECTIONS[name])}\n${body[name]()}`).join('\n'),
    foot: { before: '', after: '' }
  })
}

/** What the page of the diagnostics says of the critic, for another page: without headings that links lead to, figures and files. */
export function diagnosisHtml(diagnosis: Diagnosis): string {
  const body = bodies(diagnosis, [])
  return (['findings', 'estimator', 'quality'] as const).map(name => `<h2>${SECTIONS[name]}</h2>\n${body[name]()}`).join('\n')
}

function bodies(diagnosis: Diagnosis, figures: readonly PageFigure[]): Readonly<Record<Section, () => string>> {
  const tables = diagnosticTables(diagnosis)
  return {
    findings: () => findingsHtml(diagnosis),
    estimator: () => tables.estimator.map(tableHtml).join('\n'),
    quality: () => [`<p>${escapeHtml(qualityLead(diagnosis))}</p>`, ...tables.quality.map(tableHtml)].join('\n'),
    figures: () => figures.map((figure, i) => pictureHtml(figure, i)).join('\n'),
    read: () => [readHtml(diagnosis), ...tables.read.map(tableHtml)].join('\n')
  }
}

/** Told values that differ: the command fails because of them. */
function failureText(diagnosis: Diagnosis): string | null {
  const { told } = diagnosisFailures(diagnosis, [])
  if (told.length === 0) return null
  const names = told.map(({ name }) => name.replaceAll('_', ' ')).join(', ')
  return `What was told differs from what the numbers show: ${names}.`
}

function findingsHtml(diagnosis: Diagnosis): string {
  const { against } = diagnosis
  if (against === null) return ofSet(diagnosis)
  return [diagnosis, against].map(set => `<h3>${bdi(set.source.name)}</h3>\n${ofSet(set)}`).join('\n')
}

function ofSet(set: DiagnosedSet): string {
  const { findings, audit } = set
  const count = (severity: PlacedFinding['severity']): number => findings.filter(finding => finding.severity === severity).length
  const [faults, properties] = [count('fault'), count('property')]
  const lead =
    findings.length === 0
      ? noFindingText(set)
      : `${[
          ...(faults === 0 ? [] : [formatPlural(faults, 'fault')]),
          ...(properties === 0 ? [] : [`${formatPlural(properties, 'property', 'properties')} of the trainer`])
        ].join(' and ')}.`
  const hidden = audit.not_identifiable.map(name => name.replaceAll('_', ' ')).join(', ')
  const limits =
    hidden === '' ? '' : `<p>These numbers cannot tell: ${escapeHtml(hidden)}. A fault that shows there alone would not be seen.</p>\n`
  return `<p class="lead">${escapeHtml(lead)}</p>\n${findings.map(findingHtml).join('\n')}${limits}`
}

function findingHtml({ kind, severity, message, place, evidence, report }: PlacedFinding): string {
  const rows = Object.entries(evidence).map(
    ([name, value]) =>
      `<dt>${escapeHtml(name.replaceAll('_', ' '))}</dt><dd>${escapeHtml(typeof value === 'number' ? shownNumber(value) : value)}</dd>`
  )
  const sentence = message.endsWith('.') ? message : `${message}.`
  return (
    `<section class="finding ${severity}">\n<h3><span class="severity">${severity}</span>${escapeHtml(kind)}</h3>\n` +
    `<p>${escapeHtml(sentence)}</p>\n` +
    (place === null ? '' : `<p>It shows most at <bdi>${escapeHtml(sampleText(place))}</bdi>.</p>\n`) +
    (rows.length === 0 ? '' : `<dl>${rows.join('')}</dl>\n`) +
    `<p>Reported before: <a href="${escapeHtml(report)}" rel="noreferrer"><bdi>${escapeHtml(report)}</bdi></a></p>\n</section>`
  )
}

function qualityLead({ quality, against }: Diagnosis): string {
  const { unit, units, resamples } = quality.resampling
  const drawn = unit === 'trajectory' ? formatPlural(units, 'trajectory', 'trajectories') : formatPlural(units, 'prompt group')
  const sampling =
    quality.sampling === 'not stated'
      ? 'How the trajectories were chosen is not stated: numbers that depend on the share of successes hold for this sample alone.'
      : `The trajectories were chosen thus, as told: ${quality.sampling}.`
  const pairing = against === null ? '' : ` ${pairingText(against.comparison)}`
  return (
    `Intervals are 95 %, by bootstrap over ${drawn} (${formatFigureCount(resamples)} resamples); tokens are never drawn. ` +
    `Values and returns are in units of the reward. ${sampling}${pairing}`
  )
}

const CAPTIONS: Readonly<Record<string, string>> = {
  'critic-quality':
    'Explained variance and error by progress through the trajectory, reliability of values as success rates, how well values tell successes from ' +
    'failures, and where there are several trainer steps, the drift over them.',
  'boundary-jumps':
    'How often the value changes by more than x between turns and inside them, and the mean change of each trajectory, between turns against inside.'
}

function pictureHtml({ name, title, picture, files, data }: PageFigure, i: number): string {
  return figureHtml({
    id: `figure-${i + 1}`,
    label: `Figure ${i + 1}`,
    picture,
    caption: escapeHtml(CAPTIONS[name] ?? title),
    files,
    data
  })
}

function readHtml(diagnosis: Diagnosis): string {
  const { against, settings } = diagnosis
  const sets = [diagnosis as DiagnosedSet, ...(against === null ? [] : [against as DiagnosedSet])]
  const items = sets.flatMap(set => [
    `<bdi>${escapeHtml(set.source.name)}</bdi>${set.source.format === null ? '' : ` (${escapeHtml(set.source.format)})`}: ${escapeHtml(countsText(set))}.`,
    ...set.source.notes.map(note => escapeHtml(note)),
    ...(set.quality.turns_between === 0
      ? []
      : [`${formatPlural(set.quality.turns_between, 'turn')} further than 32 from both ends: in no row by turn, in every other statistic.`])
  ])
  const { history } = settings
  if (history !== null) {
    items.push(
      `History <bdi>${escapeHtml(history.file.path)}</bdi>: <code>${escapeHtml(history.key)}</code> at ${formatPlural(history.byStep.size, 'step')} of <code>${escapeHtml(history.stepKey)}</code>. ${historyNotes(
        history,
        diagnosis.quality
      )
        .map(note => `${escapeHtml(note)}.`)
        .join(' ')}`
    )
  }
  const outputs = [DIAGNOSTIC_PATHS.document, DIAGNOSTIC_PATHS.byStep, DIAGNOSTIC_PATHS.byTurn, DIAGNOSTIC_PATHS.byDecile]
  return (
    `<ul>\n${items.map(item => `<li>${item}</li>`).join('\n')}\n</ul>\n` +
    `<p>Every number of this page and more: ${outputs.map(path => outputLink(path, path.slice(path.lastIndexOf('/') + 1))).join(', ')}.</p>`
  )
}
