/** How displayed hours follow from logged ones; the study names the file. */
import { finite, nullable, pair, type Infer } from '../../core/checker.js'
import { envelopeFields, output } from './document.js'
import { anyOf, anyText, closed, map } from './kinds.js'

export const HISTORY_TIME_DISPLAY = output(
  'history-time-display',
  {
    title: 'Display hours',
    description: 'How the hours of the figures follow from the hours that were logged. The logged ones are kept in every file.'
  },
  {
    ...envelopeFields('history-time-display'),
    elapsed_hours: { kind: anyText, doc: 'definition' },
    display_hours: { kind: anyText, doc: 'definition' },
    selections: {
      kind: map(
        closed({
          title: { kind: anyText, doc: 'as figures write it' },
          first_session_created_at: { kind: nullable(anyText), doc: 'verbatim; hours count from here' },
          rule: {
            kind: anyOf(
              closed({ multiply: { kind: finite, doc: 'the factor, as the study states it' } }),
              closed({
                best_of: { kind: anyText, doc: 'metric whose best observation is put at at_hours' },
                at_hours: { kind: finite, doc: 'hours' }
              })
            ),
            doc: "the study's rule"
          },
          factor: { kind: finite, doc: 'display_hours / elapsed_hours' },
          elapsed_hours: { kind: nullable(pair(finite)), doc: 'first and last observation' },
          display_hours: {
            kind: nullable(pair(finite)),
            doc: 'the same on the displayed axis; null without a timestamp, and where one of the two leaves the double range'
          }
        })
      ),
      doc: "by the study's name of the selection"
    }
  }
)

export type HistoryTimeDisplayDocument = Infer<typeof HISTORY_TIME_DISPLAY>
