/** `run.json`. */
import { list, nullable, type Infer } from '../../core/checker.js'
import { envelopeFields, output } from './document.js'
import { BYTES, fileFields, SHA256 } from './files.js'
import { closed, map, natural, sha256, someText } from './kinds.js'

const { schema_version, schema, synthetic, generator } = envelopeFields('run')

export const RUN = output(
  'run',
  {
    title: 'Run record',
    description: 'What one finished run read and wrote. Written after everything else.'
  },
  {
    schema_version,
    schema,
    synthetic,
    manifest: {
      kind: nullable(
        closed({
          path: { kind: someText, doc: 'relative to the study' },
          sha256: SHA256,
          files: { kind: natural, doc: 'files that were verified' }
        })
      ),
      doc: 'the manifest that every input was verified against; null: nothing was verified against one'
    },
    generator,
    versions: { kind: map(someText), doc: "exact versions of the engine, of the libraries, and of the outputs' schemas (schema:<name>)" },
    settings_sha256: { kind: sha256, doc: "SHA-256 of the settings that decide the outputs' bytes" },
    inputs: {
      kind: list(closed(fileFields("relative to the snapshot's folder; of a study's run, to the study"))),
      doc: 'files read'
    },
    outputs: {
      kind: list(
        closed({
          path: { kind: someText, doc: 'relative to the output folder' },
          sha256: { kind: nullable(sha256), doc: `${SHA256.doc}; null: recorded by size alone` },
          bytes: BYTES
        })
      ),
      doc: 'files written, without this one'
    }
  }
)

export type RunDocument = Infer<typeof RUN>
