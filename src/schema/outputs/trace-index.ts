/** `critic-trace-index.json`. */
import { flag, list, nullable, oneOf, finite, type Infer } from '../../core/checker.js'
import { envelopeFields, output } from './document.js'
import { BYTES, fileFields, SHA256 } from './files.js'
import { anyText, closed, matching, natural, someText, whole } from './kinds.js'
import { OUTCOME, TIME_OF_SNAPSHOT, STEP, UID, VERIFIED_DOC } from './trace-parts.js'

/** The row of a dump that a trace, or nothing, was read from. */
const ROW = { kind: nullable(natural), doc: '0-based row in the file; null where the file has no rows' }

const DUMP = closed({
  kind: { kind: someText, doc: 'kind of dump in words' },
  mask: { kind: nullable(someText), doc: 'name of the array that says which tokens are retained; null: every response token is' },
  end: { kind: someText, doc: 'what the end of a response was taken from' },
  notes: { kind: list(someText), doc: 'what else was found out in reading it, a sentence each' },
  files: { kind: list(closed(fileFields("relative to the dump's folder"))), doc: 'the files that were read, in canonical order' },
  tokenizer: {
    kind: nullable(closed({ sha256: SHA256, bytes: BYTES })),
    doc: 'the tokenizer.json that gave the spans their texts; null without one'
  },
  left_out: {
    kind: list(
      closed({
        index: { kind: natural, doc: 'canonical index that its trace would have; no trace has it' },
        file: { kind: nullable(someText), doc: 'the file of the dump; null where it is not known' },
        row: ROW,
        reason: { kind: someText, doc: 'why it gave no trace' }
      })
    ),
    doc: 'rows that gave no trace'
  }
})

export const TRACE_INDEX = output(
  'critic-trace-index',
  {
    title: 'Critic-trace index',
    description: 'Which files a critic-trace analysis read, and where each trace is in them and in the archive.'
  },
  {
    ...envelopeFields('critic-trace-index'),
    verified: { kind: flag, doc: VERIFIED_DOC },
    html: {
      kind: nullable(closed(fileFields("its name in the snapshot's folder, or relative to the study"))),
      doc: 'the snapshot page; null without one'
    },
    dump: { kind: nullable(DUMP), doc: "the trainer's dump; null where a page or NPZ files hold the traces" },
    snapshot_time: TIME_OF_SNAPSHOT,
    alignment: {
      kind: nullable(anyText),
      doc: "the snapshot's own words on how values align with tokens, verbatim; null where it does not say"
    },
    traces: {
      kind: list(
        closed({
          index: {
            kind: natural,
            doc: "0-based canonical index: the number in the archive's member names and in the column trace of the tables of tokens and of the CSV"
          },
          uid: UID,
          step: STEP,
          outcome: OUTCOME,
          outcome_from: {
            kind: nullable(oneOf('outcome', 'score')),
            doc: 'outcome: the trace states it; score: told by the score, above the success threshold or not; null where the outcome is unknown'
          },
          score: { kind: nullable(finite), doc: 'score of the trajectory; null where the snapshot states none' },
          tokens: { kind: whole(1), doc: 'retained tokens: length of each array' },
          npz: {
            kind: nullable(closed(fileFields('relative to the snapshot folder'))),
            doc: 'the NPZ file that the trace was compared with or, without a page, read from; null where the page names none, and for a dump'
          },
          sample: {
            kind: nullable(closed({ file: { kind: someText, doc: "relative to the dump's folder" }, row: ROW })),
            doc: 'the row of the dump that the trace was read from; null without a dump'
          },
          compared: {
            kind: flag,
            doc: 'true: the arrays of the page equal those of the NPZ file; false: one source holds the trace, not compared'
          },
          archive_prefix: {
            kind: matching('trace_ and three digits or more', /^trace_[0-9]{3,}$/),
            doc: 'members of critic-trace-arrays.npz: <prefix>_values, <prefix>_returns, <prefix>_response_positions'
          }
        })
      ),
      doc: 'in canonical order, the order of the snapshot'
    },
    excluded: {
      kind: list(
        closed({
          path: { kind: someText, doc: 'relative to the snapshot folder' },
          step: { kind: nullable(whole()), doc: "trainer step from the file's step member, else from its name; null where neither says" },
          sha256: SHA256,
          bytes: BYTES
        })
      ),
      doc: "NPZ files in the snapshot's folder that the snapshot does not name; nothing else is computed from them"
    }
  }
)

export type TraceIndexDocument = Infer<typeof TRACE_INDEX>
