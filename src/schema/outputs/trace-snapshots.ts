/** `critic-trace-snapshots.json`. */
import { flag, list, nullable, oneOf, type Infer } from '../../core/checker.js'
import { envelopeFields, output } from './document.js'
import { fileFields } from './files.js'
import { anyText, closed, natural, someText } from './kinds.js'

export const TRACE_SNAPSHOTS = output(
  'critic-trace-snapshots',
  {
    title: 'Index over many snapshots',
    description:
      'One entry for every snapshot (or path that led to none) of a `traces` or `watch` command, in its order; before them those of earlier ' +
      'commands into the same folder whose outputs stand, or which failed.'
  },
  {
    ...envelopeFields('critic-trace-snapshots'),
    synthetic: { kind: flag, doc: 'true when the study is synthetic, or one of the snapshots' },
    snapshots: {
      kind: list(
        closed({
          name: { kind: nullable(someText), doc: 'subfolder of its outputs; null for a path that led to no snapshot' },
          source: {
            kind: nullable(someText),
            doc:
              'the page, or the folder of NPZ files: the last name of the path that was given and what follows below; ' +
              'null for a path that led to no snapshot'
          },
          status: {
            kind: oneOf('ok', 'failed'),
            doc: 'failed: a check failed or the input could not be read; no output of this run is there'
          },
          kept: {
            kind: flag,
            doc: 'true: of an earlier command into the same folder; its record and statistics stand, or it failed then and was not run again'
          },
          synthetic: { kind: nullable(flag), doc: 'its data were generated; null where it failed' },
          verified: { kind: nullable(flag), doc: 'see critic-trace-index; null where it failed' },
          traces: { kind: nullable(natural), doc: 'traces; null where it failed' },
          tokens: { kind: nullable(natural), doc: 'retained tokens; null where it failed' },
          snapshot_time: { kind: nullable(anyText), doc: 'verbatim; null where the snapshot states none, or it failed' },
          statistics: { kind: nullable(someText), doc: 'path of its critic-trace-statistics.json; null where it failed' },
          faults: {
            kind: list(
              closed({
                message: { kind: someText, doc: 'as the command prints it' },
                exit_code: { kind: oneOf(1, 2, 3), doc: 'that the command would end with' }
              })
            ),
            doc: 'what failed, in the order of the input'
          }
        })
      ),
      doc: 'in the order of the command, those kept first'
    },
    outputs: {
      kind: list(closed(fileFields('relative to the folder of this file'))),
      doc: 'table, figure and page over the trainer steps of all snapshots; empty where they have fewer than two steps'
    }
  }
)

export type TraceSnapshotsDocument = Infer<typeof TRACE_SNAPSHOTS>
