/**
 * The certificate beside a history, `<folder>/<label>/<run id>.certificate.json`: read strictly, and judged again by the
 * file that it speaks of. What it says must be what its own facts and that file give, word for word.
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { EXIT, Fault, printable } from '../../errors.js'
import { CERTIFICATE_CHECKS, type HistoryCertificate } from '../../schema/fetch.js'
import { readHistory } from '../histories/history.js'
import { DATE_TIME, DATE_TIME_EXPECTED } from '../histories/iso-time.js'
import type { ListedRun } from '../histories/types.js'
import {
  flag, integer, list, nullable, object, oneOf, pair, pattern, text, type CheckContext, type JsonSchema
} from '../study/checker.js'
import { readJsonFile } from '../study/json.js'
import { certify } from './certificate.js'
import { STEP_KEY } from './row.js'

/** Some hundred thousand holes. */
const MAX_CERTIFICATE_BYTES = 16 * 1024 * 1024

const anyText = text(100_000)
const time = pattern(DATE_TIME_EXPECTED, DATE_TIME)
const sha256 = pattern('64 hexadecimal digits', /^[0-9a-f]{64}$/)
const count = integer(0)

const KIND = object({
  schema: { kind: oneOf('history-certificate'), doc: 'What this file is.' },
  schema_version: { kind: oneOf(1), doc: 'Version of this format.' },
  synthetic: { kind: flag, doc: 'True when the study\'s inputs were generated.' },
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
    kind: object({
      last_step: { kind: nullable(count), doc: 'The run\'s last step; null: it has logged nothing.' },
      history_line_count: { kind: nullable(count), doc: 'Rows that the server counts; null: it does not say.' },
      growing: { kind: flag, doc: 'The run was still logging: its rows up to last_step are here, later ones are not.' }
    }),
    doc: 'What the server said before the first row was asked for.'
  },
  history: {
    kind: object({
      path: { kind: anyText, doc: 'File of the rows, relative to the study.' },
      bytes: { kind: count, doc: 'Its length.' },
      sha256: { kind: sha256, doc: 'Its SHA-256, hexadecimal.' }
    }),
    doc: 'The exported rows.'
  },
  requests: {
    kind: object({
      steps: { kind: integer(1), doc: 'Possible steps of one request, at most.' },
      samples: { kind: integer(1), doc: 'Samples asked for in each.' },
      intervals: {
        kind: list(object({
          from: { kind: count, doc: 'First step.' },
          to: { kind: count, doc: 'Last step, inclusive.' },
          rows: { kind: count, doc: 'Rows that came.' }
        })),
        doc: 'Every request.'
      },
      reordered: { kind: count, doc: 'Answers whose rows were not in the order of their steps; they were sorted.' }
    }),
    doc: 'How the rows were asked for.'
  },
  steps: {
    kind: object({
      rows: { kind: count, doc: 'Rows of the file.' },
      first_step: { kind: nullable(count), doc: 'Lowest step; null without rows.' },
      last_step: { kind: nullable(count), doc: 'Highest step; null without rows.' },
      holes: { kind: list(pair(count)), doc: 'Steps between them without a row: ranges, both ends inclusive.' },
      repeated: {
        kind: list(object({
          step: { kind: count, doc: 'Step.' },
          rows: { kind: integer(2), doc: 'Its rows.' }
        })),
        doc: 'Steps with more than one row.'
      }
    }),
    doc: 'The steps as they stand in the file.'
  },
  left_out: {
    kind: object({
      texts: { kind: count, doc: 'Texts other than NaN and Infinity.' },
      flags: { kind: count, doc: 'true and false.' },
      objects: { kind: count, doc: 'Media, histograms, nested values.' },
      lists: { kind: count, doc: 'Lists.' }
    }),
    doc: 'Values of the rows that are no numeric scalars, and are not exported.'
  },
  checks: {
    kind: list(object({
      name: { kind: oneOf(...CERTIFICATE_CHECKS), doc: 'What is checked.' },
      status: { kind: oneOf('passed', 'failed', 'not_applicable'), doc: 'What came out.' },
      detail: { kind: nullable(anyText), doc: 'What was found, with the steps.' }
    })),
    doc: 'Every check.'
  },
  complete: { kind: flag, doc: 'No check failed.' }
})

/** JSON Schema (draft 2020-12) of a certificate; what `docs/schemas/history-certificate.schema.json` holds. */
export function certificateJsonSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:critic-traces:history-certificate:1',
    title: 'critic-traces history certificate',
    ...KIND.schema
  }
}

/** Relative to the study. */
export function certificatePath(folder: string, { id, label }: Pick<ListedRun, 'id' | 'label'>): string {
  return `${folder}/${label}/${id}.certificate.json`
}

/** @returns null where the run has none */
export async function readCertificate(dir: string, folder: string, run: Pick<ListedRun, 'id' | 'label'>): Promise<HistoryCertificate | null> {
  const file = join(dir, certificatePath(folder, run))
  if (await stat(file).catch(() => null) === null) return null
  const { value } = await readJsonFile(file, 'certificate', MAX_CERTIFICATE_BYTES)
  const context: CheckContext = { format: 'certificate', place: { file }, paths: [] }
  return KIND.read(value, '', context)
}

/**
 * Judges a certificate by the history beside it, and by what the list of runs says of the run.
 *
 * @returns one fault (exit 1) for each contradiction and each failed check
 */
export async function checkCertificate(
  dir: string, folder: string, run: ListedRun, certificate: HistoryCertificate, signal?: AbortSignal
): Promise<Fault[]> {
  const place = { file: join(dir, certificatePath(folder, run)) }
  const failed = (problem: string, found: string, expected: string): Fault => (
    new Fault({ format: 'certificate', problem, found: printable(found, 2000), expected: printable(expected, 2000), place, exitCode: EXIT.checkFailed })
  )
  const keys = { step: STEP_KEY, timestamp: null, global_step: null }
  const history = await readHistory(dir, folder, run, keys, [], signal === undefined ? {} : { signal })
  const { steps: _steps, checks: _checks, complete: _complete, schema: _schema, schema_version: _version, ...facts } = certificate
  const judged = certify(facts, { bytes: history.bytes, sha256: history.sha256, steps: history.step })
  const faults = contradictions(certificate, judged, run, history.path).map(([found, expected]) => failed('contradicted', found, expected))
  for (const { name, status, detail } of judged.checks) {
    if (status === 'failed') faults.push(failed('check failed', `${name}: ${detail ?? ''}`, 'an export that is proved to be whole'))
  }
  return faults
}

type Contradiction = readonly [found: string, expected: string]

function contradictions(
  stated: HistoryCertificate, judged: HistoryCertificate, run: ListedRun, path: string
): Contradiction[] {
  const found: Contradiction[] = []
  const compare = (what: string, says: unknown, is: unknown): void => {
    const [a, b] = [JSON.stringify(says), JSON.stringify(is)]
    if (a !== b) found.push([`${what} ${a}`, b])
  }
  for (const key of ['steps', 'checks', 'complete'] as const) compare(key, stated[key], judged[key])
  compare('history.path', stated.history.path, path)
  compare('run.id', stated.run.id, run.id)
  compare('run.label', stated.run.label, run.label)
  compare('run.display_name', stated.run.display_name, run.displayName)
  compare('run.entity', stated.run.entity, run.entity)
  compare('run.project', stated.run.project, run.project)
  compare('run.created_at', stated.run.created_at, run.createdAt)
  compare('run.state', stated.run.state, run.state)
  compare('fetched_at', stated.fetched_at, run.fetchedAt)
  return found
}
