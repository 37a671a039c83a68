/** Verifies the certificates of a study: each is judged by its history, and each fetched history must have one. */
import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describeCause, EXIT, Fault } from '../../core/errors.js'
import type { Study } from '../../schema/study.js'
import { readRuns } from '../histories/runs.js'
import type { ListedRun } from '../histories/types.js'
import { canonicalRelative, errorCode } from '../../core/paths.js'
import { CERTIFICATE_SUFFIX, certificatePath, checkCertificate, readCertificate } from './file.js'

export interface CertifiedHistory {
  readonly id: string
  readonly label: string
  readonly rows: number
  readonly complete: boolean
  readonly growing: boolean
}

export interface CertificateReport {
  /** histories with a certificate, in the order of the list of runs */
  readonly histories: readonly CertifiedHistory[]
  /** exit 1, one for each contradiction, failed check and missing certificate */
  readonly faults: readonly Fault[]
}

/** @throws Fault exit 3: a list of runs, a certificate or a history that cannot be read */
export async function verifyCertificates(
  dir: string,
  { histories, fetch, synthetic }: Pick<Study, 'histories' | 'fetch' | 'synthetic'>,
  signal?: AbortSignal
): Promise<CertificateReport> {
  if (histories === null) return { histories: [], faults: [] }
  const { runs } = await readRuns(join(dir, histories.runs))
  const certified: CertifiedHistory[] = []
  const faults: Fault[] = []
  for (const run of runs) {
    signal?.throwIfAborted()
    const certificate = await readCertificate(dir, histories.folder, run)
    if (certificate !== null) {
      const {
        run: { id, label },
        steps: { rows },
        complete,
        snapshot: { growing }
      } = certificate
      certified.push({ id, label, rows, complete, growing })
      faults.push(...(await checkCertificate({ dir, folder: histories.folder, synthetic, signal }, run, certificate)))
    } else if (isFetched(run, fetch)) {
      faults.push(
        new Fault({
          format: 'certificate',
          problem: 'missing',
          found: 'nothing',
          expected: 'the certificate that fetch writes beside a history',
          place: { file: join(dir, certificatePath(histories.folder, run)) },
          exitCode: EXIT.checkFailed
        })
      )
    }
  }
  const listed = new Set(runs.map(run => canonicalRelative(certificatePath(histories.folder, run))))
  for (const path of await certificatesIn(dir, histories.folder)) {
    if (listed.has(path)) continue
    faults.push(
      new Fault({
        format: 'certificate',
        problem: 'without a run',
        found: 'a history that no list of runs has',
        expected: `an entry in ${histories.runs}`,
        place: { file: join(dir, path) },
        exitCode: EXIT.checkFailed
      })
    )
  }
  return { histories: certified, faults }
}

/** Paths relative to the study, sorted. Links are not followed: a link's target is found under its own name. */
async function certificatesIn(dir: string, folder: string): Promise<string[]> {
  const found: string[] = []
  for (const label of await entriesOf(join(dir, folder))) {
    if (!label.isDirectory()) continue
    for (const entry of await entriesOf(join(dir, folder, label.name))) {
      const path = `${folder}/${label.name}/${entry.name}`
      if (entry.isFile() && entry.name.endsWith(CERTIFICATE_SUFFIX)) found.push(canonicalRelative(path))
    }
  }
  return found.sort()
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return []
    throw new Fault({
      format: 'history',
      problem: 'unreadable folder',
      found: describeCause(error),
      expected: 'a folder of histories',
      place: { file: folder },
      cause: error
    })
  })
}

function isFetched(run: ListedRun, fetch: Study['fetch']): boolean {
  return fetch?.runs.some(({ label, display_name: name }) => label === run.label && name === run.displayName) ?? false
}
