/** The shared reference point of an analysis; the study names the file. */
import { finite, list, nullable, oneOf, type Infer } from '../../core/checker.js'
import { envelopeFields, output } from './document.js'
import { anyText, natural, sha256, someText } from './kinds.js'
import { someOperands } from './operands.js'

export const HISTORY_SHARED_REFERENCE = output(
  'history-shared-reference',
  {
    title: 'Shared reference point',
    description: 'A value that a figure draws at one step for several curves. It belongs to no history and enters no statistic.'
  },
  {
    ...envelopeFields('history-shared-reference'),
    metric: { kind: anyText, doc: 'metric of the study' },
    key: { kind: anyText, doc: 'key of the history rows' },
    selections: { kind: list(anyText, 1), doc: 'curves that it is meant for' },
    step: { kind: natural, doc: 'where it is drawn' },
    value: { kind: finite, doc: "in the metric's own unit" },
    plotted_value: { kind: nullable(finite), doc: 'as the axis shows it; null where scaling leaves the double range' },
    label: { kind: anyText, doc: 'as the figure writes it' },
    source: { kind: anyText, doc: 'where the value comes from' },
    file: {
      kind: someText,
      optional: true,
      doc: 'the study file, which states the value or where it stands; absent where it was not verified'
    },
    sha256: { kind: sha256, doc: "of that file's bytes, hexadecimal", optional: true },
    operands: { kind: someOperands, doc: 'where the value comes from; absent: the study states it', optional: true },
    provenance: { kind: oneOf('shared_reference'), doc: 'as the CSV of points calls it' },
    drawn_for: { kind: list(anyText), doc: 'curves that are drawn with it: those of selections without an observation at the step' },
    use: { kind: anyText, doc: 'what it is for' }
  }
)

export type HistorySharedReferenceDocument = Infer<typeof HISTORY_SHARED_REFERENCE>
