/**
 * The certificate beside a history, `<folder>/<label>/<run id>.certificate.json`. It is read strictly and judged again by
 * the history's file: its checks and steps must equal those computed from its own facts and that file.
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { EXIT, Fault, isRefusal, printable } from '../../core/errors.js'
import { readHistory } from '../histories/history.js'
import type { ListedRun } from '../histories/types.js'
import type { CheckContext, FieldValues } from '../../core/checker.js'
import { readJsonFile } from '../../core/strict-json.js'
import { runUrl, siteOf } from './address.js'
import { isGrowingState } from './states.js'
import { CERTIFICATE_KIND, FETCH_STATE_KIND, type HistoryCertificate } from './fields.js'
import { certify } from './certificate.js'
import { STEP_KEY } from './row.js'

/** Room for some million intervals and holes. */
const MAX_CERTIFICATE_BYTES = 256 * 1024 * 1024

export const CERTIFICATE_SUFFIX = '.certificate.json'

/** Relative to the study. */
export function certificatePath(folder: string, { id, label }: Pick<ListedRun, 'id' | 'label'>): string {
  return `${folder}/${label}/${id}${CERTIFICATE_SUFFIX}`
}

/** @returns null where the run has no certificate */
export async function readCertificate(
  dir: string,
  folder: string,
  run: Pick<ListedRun, 'id' | 'label'>
): Promise<HistoryCertificate | null> {
  const file = join(dir, certificatePath(folder, run))
  if ((await stat(file).catch(() => null)) === null) return null
  const { value } = await readJsonFile(file, 'certificate', MAX_CERTIFICATE_BYTES)
  const context: CheckContext = { format: 'certificate', place: { file }, paths: [] }
  return CERTIFICATE_KIND.read(value, '', context)
}

/** Keys for reading the rows of a fetched history. Only the step is needed here. */
export const STEP_KEYS = { step: STEP_KEY, timestamp: null, global_step: null } as const

export interface CertifiedStudy {
  readonly dir: string
  /** folder of the histories, relative to the study */
  readonly folder: string
  readonly synthetic: boolean
  readonly signal?: AbortSignal | undefined
}

/**
 * Judges a certificate by the history beside it and by the run's entry in the list of runs.
 *
 * @returns one fault (exit 1) for each contradiction and each failed check
 */
export async function checkCertificate(
  { dir, folder, synthetic, signal }: CertifiedStudy,
  run: ListedRun,
  certificate: HistoryCertificate
): Promise<Fault[]> {
  const history = await readHistory(dir, folder, run, STEP_KEYS, [], { signal })
  const { steps: _steps, checks: _checks, complete: _complete, schema: _schema, schema_version: _version, ...facts } = certificate
  const judged = certify(facts, { bytes: history.file.bytes, sha256: history.file.sha256, steps: history.step })
  const file = join(dir, certificatePath(folder, run))
  const contradicted = contradictions(certificate, judged, { run, synthetic, path: history.file.path })
  return [
    ...contradicted.map(([found, expected]) => certificateFault('contradicted', found, expected, file)),
    ...failedChecks(judged, file)
  ]
}

/** One fault (exit 1) for each failed check. @param file of the certificate */
export function failedChecks({ checks }: HistoryCertificate, file: string): Fault[] {
  return checks
    .filter(({ status }) => status === 'failed')
    .map(({ name, detail }) => certificateFault('check failed', `${name}: ${detail ?? ''}`, 'an export that is proved to be whole', file))
}

/** Longest list of steps or checks that a message repeats, in characters. */
const MAX_QUOTED = 2000

function certificateFault(problem: string, found: string, expected: string, file: string): Fault {
  return new Fault({
    format: 'certificate',
    problem,
    found: printable(found, MAX_QUOTED),
    expected: printable(expected, MAX_QUOTED),
    place: { file },
    exitCode: EXIT.checkFailed
  })
}

type Contradiction = readonly [found: string, expected: string]

function contradictions(
  stated: HistoryCertificate,
  judged: HistoryCertificate,
  { run, synthetic, path }: { readonly run: ListedRun; readonly synthetic: boolean; readonly path: string }
): Contradiction[] {
  const found: Contradiction[] = []
  const compare = (what: string, says: unknown, is: unknown): void => {
    const [a, b] = [JSON.stringify(says), JSON.stringify(is)]
    if (a !== b) found.push([`${what} ${a}`, b])
  }
  for (const key of ['steps', 'checks', 'complete'] as const) compare(key, stated[key], judged[key])
  compare('synthetic', stated.synthetic, synthetic)
  compare('history.path', stated.history.path, path)
  compare('run.id', stated.run.id, run.id)
  compare('run.label', stated.run.label, run.label)
  compare('run.display_name', stated.run.display_name, run.displayName)
  compare('run.entity', stated.run.entity, run.entity)
  compare('run.project', stated.run.project, run.project)
  compare('run.created_at', stated.run.created_at, run.createdAt)
  compare('run.state', stated.run.state, run.state)
  compare('server', runUrl(siteOf(stated.server), stated.run), run.url)
  if (isGrowingState(stated.run.state)) compare('snapshot.growing', stated.snapshot.growing, true)
  if (stated.requests.reordered > stated.requests.intervals.length) compare('requests.reordered', stated.requests.reordered, 'fewer')
  compare('fetched_at', stated.fetched_at, run.fetchedAt)
  return found
}

/** Each range, repeated step and interval takes one line. A history that logs every fifth step has many of them. */
const SMALL = /[[{]\n *((?:"(?:from|to|rows|step)": )?\d+)(,\n *(?:(?:"(?:from|to|rows|step)": )?\d+))*\n *[\]}]/g

/** The text of a certificate. */
export function certificateText(certificate: HistoryCertificate): string {
  return `${JSON.stringify(certificate, null, 1).replace(SMALL, text => text.replace(/\n */g, ' ').replace(/^(.) | (.)$/g, '$1$2'))}\n`
}

/** What a fetch knows before its end. A later call can resume from it and certify the whole. */
export type FetchState = FieldValues<typeof FETCH_STATE_KIND.fields>

export function isFetchState(value: unknown): value is FetchState {
  try {
    FETCH_STATE_KIND.read(value, '', { format: 'journal', place: {}, paths: [] })
    return true
  } catch (error) {
    if (isRefusal(error)) return false
    throw error
  }
}
