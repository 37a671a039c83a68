/** What several outputs of written evidence have: values, files of a configuration, datasets. */
import { finite, flag, list, nullable, oneOf, type Kind } from '../../core/checker.js'
import { BYTES, SHA256, studyFile } from './files.js'
import { anyOf, anyText, closed, define, type DefinedKind, map, natural, someText } from './kinds.js'

export const UNIT = { kind: anyText, doc: 'as the study writes it; empty: it has none' }

export const TITLE = { kind: anyText, doc: 'what it is' }

export const STUDY_PATH = { kind: someText, doc: 'relative to the study' }

const scalar = anyOf(finite, anyText, flag)

/** What a source states. */
export const FOUND_VALUE = {
  kind: nullable(anyOf(scalar, list(scalar))),
  doc: 'number, text, true or false, or a list of such; null where it is undefined'
}

export const CHAIN = { kind: list(studyFile, 1), doc: 'files of the configuration: those that it inherits from first, itself last' }

/** A node of the schema of a dataset. */
export interface SchemaNode {
  readonly name: string
  /** physical type (`BYTE_ARRAY`, `INT64` …); null for a group */
  readonly type: string | null
  /** annotation (`STRING`, `LIST`, `DECIMAL(29,2)` …); null without one */
  readonly logical: string | null
  readonly repetition: 'REQUIRED' | 'OPTIONAL' | 'REPEATED'
  readonly children: readonly SchemaNode[]
}

export const NODE: DefinedKind<SchemaNode> = define(
  'node',
  (): Kind<SchemaNode> =>
    closed({
      name: { kind: anyText, doc: 'name of the column, or of the group' },
      type: { kind: nullable(anyText), doc: 'physical type; null for a group' },
      logical: { kind: nullable(anyText), doc: 'annotation; null where there is none' },
      repetition: {
        kind: oneOf('REQUIRED', 'OPTIONAL', 'REPEATED'),
        doc: 'how often it stands in its parent: once, at most once, any number of times'
      },
      children: { kind: list(NODE), doc: 'of a group, in their order' }
    })
)

/** A dataset, but for its name. */
export const DATASET = {
  title: TITLE,
  path: STUDY_PATH,
  sha256: SHA256,
  bytes: BYTES,
  rows: { kind: natural, doc: 'rows of the file' },
  row_groups: { kind: natural, doc: 'row groups of the file' },
  columns: { kind: natural, doc: 'leaf columns' },
  columns_decoded: {
    kind: natural,
    doc: 'columns whose pages were read and decoded; of the others the footer and the SHA-256 of the file are all that was checked'
  },
  created_by: { kind: nullable(anyText), doc: 'the program that wrote the file; null where it does not say' },
  codecs: { kind: list(anyText), doc: 'compression of any column' },
  encodings: { kind: list(anyText), doc: 'encodings of any column' },
  schema: { kind: list(NODE), doc: 'the schema as a tree' },
  task_path: {
    kind: anyText,
    optional: true,
    doc: 'column whose texts were matched; absent, with the four after it, where the study matches none'
  },
  matches: { kind: map(natural), doc: 'name of the pattern -> rows whose text contains it', optional: true },
  matched_several: { kind: natural, doc: 'rows that several patterns match', optional: true },
  unmatched: { kind: natural, doc: 'rows with a text that no pattern matches', optional: true },
  null_paths: { kind: natural, doc: 'rows without a text', optional: true },
  field: {
    kind: closed({
      path: { kind: anyText, doc: 'column that was looked for' },
      in_schema: { kind: flag, doc: 'the schema has it' },
      rows: { kind: natural, doc: 'rows in which it is not null' }
    }),
    doc: 'absent where the study looks for none',
    optional: true
  },
  pages: {
    kind: closed({
      decoded: { kind: natural, doc: 'pages that were decoded' },
      with_checksum: { kind: natural, doc: 'those of them with a CRC-32, which was right' }
    }),
    doc: 'of the columns that were read'
  },
  checksums: { kind: anyText, doc: 'what was checked' }
} as const
