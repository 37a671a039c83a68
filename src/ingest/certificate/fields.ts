/** The fields of a history's certificate, and of the journal of a fetch. */
import { SAMPLES_PER_REQUEST, STEPS_PER_REQUEST } from '../../schema/fetch.js'
import { DATE_TIME, DATE_TIME_EXPECTED } from '../histories/iso-time.js'
import { flag, integer, list, nullable, object, oneOf, pair, pattern, text, type Infer, type JsonSchema } from '../../core/checker.js'

const anyText = text(100_000)
const time = pattern(DATE_TIME_EXPECTED, DATE_TIME)
const sha256 = pattern('64 hexadecimal digits', /^[0-9a-f]{64}$/)
const count = integer(0)

const snapshot = object({
  last_step: { kind: nullable(count), doc: "The run's last step; null: it has logged nothing." },
  history_line_count: { kind: nullable(count), doc: 'Rows that the server counts; null: it does not say.' },
  heartbeat_at: { kind: nullable(anyText), doc: 'When the run last logged, as the server writes it.' },
  growing: { kind: flag, doc: 'The run was still logging: its rows up to last_step are here, later ones are not.' }
})

const fetchedInterval = object({
  from: { kind: count, doc: 'First step.' },
  to: { kind: count, doc: 'Last step, inclusive.' },
  rows: { kind: count, doc: 'Rows that came.' }
})

const leftOut = object({
  texts: { kind: count, doc: 'Texts other than NaN and Infinity.' },
  flags: { kind: count, doc: 'true and false.' },
  objects: { kind: count, doc: 'Media, histograms, nested values.' },
  lists: { kind: count, doc: 'Lists.' }
})

/** Fields that are known before a fetch ends. */
const STARTED = {
  server: { kind: anyText, doc: 'Base URL of the server.' },
  run: {
    kind: object({
      id: { kind: anyText, doc: 'Id of the run.' },
      entity: { kind: anyText, doc: 'Owner of the project.' },
      project: { kind: anyText, doc: 'Project.' },
      display_name: { kind: anyText, doc: 'Display name.' },
      label: { kind: anyText, doc: 'Folder of the history.' },
      created_at: { kind: time, doc: 'Time of creation, as the server writes it.' },
      state: { kind: anyText, doc: 'State that the server reported.' }
    }),
    doc: 'The run.'
  },
  fetched_at: { kind: time, doc: 'When the fetch of this run began, UTC.' },
  snapshot: {
    kind: snapshot,
    doc: 'What the server said before the first row was asked for.'
  },
  requests: {
    kind: object({
      steps: {
        kind: oneOf(STEPS_PER_REQUEST),
        doc: 'Possible steps of one request where rows are dense; where they are sparse an interval is longer.'
      },
      samples: { kind: oneOf(SAMPLES_PER_REQUEST), doc: 'Samples asked for in each.' },
      intervals: {
        kind: list(fetchedInterval),
        doc: 'Every request.'
      },
      reordered: { kind: count, doc: 'Answers whose rows were not in the order of their steps; they were sorted.' }
    }),
    doc: 'How the rows were asked for.'
  },
  left_out: {
    kind: leftOut,
    doc: 'Values of the rows that are no numeric scalars, and are not exported.'
  }
} as const

const CERTIFICATE_CHECKS = ['history_file', 'intervals', 'order', 'last_step', 'row_count', 'samples'] as const
export type CertificateCheckName = (typeof CERTIFICATE_CHECKS)[number]

const steps = object({
  rows: { kind: count, doc: 'Rows of the file.' },
  first_step: { kind: nullable(count), doc: 'Lowest step; null without rows.' },
  last_step: { kind: nullable(count), doc: 'Highest step; null without rows.' },
  holes: { kind: list(pair(count)), doc: 'Steps between them without a row: ranges, both ends inclusive.' },
  repeated: {
    kind: list(
      object({
        step: { kind: count, doc: 'Step.' },
        rows: { kind: integer(2), doc: 'Its rows.' }
      })
    ),
    doc: 'Steps with more than one row.'
  }
})

const check = object({
  name: { kind: oneOf(...CERTIFICATE_CHECKS), doc: 'What is checked.' },
  status: { kind: oneOf('passed', 'failed'), doc: 'What came out.' },
  detail: { kind: nullable(anyText), doc: 'What was found, with the steps.' }
})

export const CERTIFICATE_KIND = object({
  schema: { kind: oneOf('history-certificate'), doc: 'What this file is.' },
  schema_version: { kind: oneOf(1), doc: 'Version of this format.' },
  synthetic: { kind: flag, doc: "True when the study's inputs were generated." },
  ...STARTED,
  history: {
    kind: object({
      path: { kind: anyText, doc: 'File of the rows, relative to the study.' },
      bytes: { kind: count, doc: 'Its length.' },
      sha256: { kind: sha256, doc: 'Its SHA-256, hexadecimal.' }
    }),
    doc: 'The exported rows.'
  },
  steps: {
    kind: steps,
    doc: 'The steps as they stand in the file.'
  },
  checks: {
    kind: list(check),
    doc: 'Every check.'
  },
  complete: { kind: flag, doc: 'No check failed.' }
})

/** The journal of a fetch that has not ended. */
export const FETCH_STATE_KIND = object(STARTED)

/** JSON Schema (draft 2020-12) of a certificate: the content of `docs/schemas/history-certificate.schema.json`. */
export function certificateJsonSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:critic-traces:history-certificate:1',
    title: 'critic-traces history certificate',
    ...CERTIFICATE_KIND.schema
  }
}

/** The run as the server described it before the first row was requested. `growing` too where it had grown by the end of the fetch. */
export type RunSnapshot = Infer<typeof snapshot>

/** The steps of one request, both inclusive, and the number of rows received. */
export type FetchedInterval = Infer<typeof fetchedInterval>

/** Counts of row values that are no numeric scalars. They are not exported. */
export type LeftOutKinds = Infer<typeof leftOut>

/** Summary of the steps in a history's file. */
export type StepSummary = Infer<typeof steps>

export type CertificateCheck = Infer<typeof check>

/** The certificate beside a fetched history. */
export type HistoryCertificate = Infer<typeof CERTIFICATE_KIND>
