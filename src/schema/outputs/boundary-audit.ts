/** `critic-turn-boundary-audit.json`. */
import { integer, list, nullable, type Infer } from '../../core/checker.js'
import { MAX_LISTED_EXCEPTIONS } from '../outputs.js'
import { envelopeFields, output } from './document.js'
import { anyText, closed, natural, reasons, sha256 } from './kinds.js'
import { OUTCOME, STEP, UID } from './trace-parts.js'

export const BOUNDARY_AUDIT = output(
  'critic-turn-boundary-audit',
  {
    title: 'Turn-boundary audit',
    description:
      'Whether the generated span before every boundary (a gap between consecutive response positions) ends with the message end marker.'
  },
  {
    ...envelopeFields('critic-turn-boundary-audit'),
    source_html_sha256: { kind: nullable(sha256), doc: 'SHA-256 of the snapshot page, hexadecimal; null without one' },
    end_marker: {
      kind: nullable(anyText),
      doc: 'the text that is expected at the end of a span, verbatim; null where the study names none'
    },
    boundaries: { kind: natural, doc: 'boundary transitions of all traces: consecutive response positions that differ by more than 1' },
    boundaries_with_end_marker: {
      kind: nullable(natural),
      doc: 'those whose preceding span ends with the marker; null where a trace has no span texts, there is no marker or no boundary'
    },
    traces: {
      kind: list(
        closed({
          index: { kind: natural, doc: '0-based canonical index' },
          uid: UID,
          step: STEP,
          outcome: OUTCOME,
          boundaries: { kind: natural, doc: 'boundary transitions of the trace' },
          boundaries_with_end_marker: {
            kind: nullable(natural),
            doc: 'those whose preceding span ends with the marker; null without span texts or marker'
          }
        })
      ),
      doc: 'in canonical order'
    },
    exceptions_total: {
      kind: nullable(natural),
      doc: 'boundaries whose preceding span does not end with the marker; null where that is not known for all traces'
    },
    exceptions_listed: { kind: integer(0, MAX_LISTED_EXCEPTIONS), doc: 'length of exceptions: all that are known, up to 1,000' },
    exceptions: {
      kind: list(
        closed({
          trace: { kind: natural, doc: '0-based canonical index' },
          uid: UID,
          step: STEP,
          outcome: OUTCOME,
          span: { kind: natural, doc: '0-based span that lacks the marker; the boundary after it has the same number' }
        }),
        0,
        MAX_LISTED_EXCEPTIONS
      ),
      doc: 'in canonical order of the traces, then by span'
    },
    undefined_reasons: { kind: reasons, doc: 'why each undefined quantity is null: its JSON pointer -> the reason' }
  }
)

export type BoundaryAuditDocument = Infer<typeof BOUNDARY_AUDIT>
