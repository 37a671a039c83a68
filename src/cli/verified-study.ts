/** The first steps of `all`, `audit` and `verify`: the study, its files against its manifest, its certificates and views. */
import { join } from 'node:path'
import { Fault, printable } from '../core/errors.js'
import { withWayTo } from '../core/strict-json.js'
import { viewFaults } from '../fetch/views.js'
import { verifyCertificates, type CertificateReport } from '../ingest/certificate/verify.js'
import type { PhaseOptions } from '../render/terminal/progress.js'
import type { Done, RunProgress } from '../runs/context.js'
import { amountOf } from '../study/inventory.js'
import { readManifest, verifyManifest, type ManifestReport } from '../study/manifest.js'
import { loadStudy, type StudyFile } from '../study/study.js'
import { SECTIONS_READ, type Study } from '../schema/study.js'
import { refuse, type Reporter } from './reporter.js'

export interface VerifiedStudy {
  /** the study's folder */
  readonly dir: string
  readonly study: Study
  /** the study file */
  readonly studyFile: Omit<StudyFile, 'study'>
  /** every file compared with the manifest */
  readonly manifest: ManifestReport
}

/** The folder that was named; otherwise that of the synthetic replica, which is generated once into the cache folder. */
export async function studyFolder(named: string | null, { io, progress }: Reporter): Promise<string> {
  if (named !== null) return named
  const { defaultCacheDir, ensureReplica } = await import('../replica/index.js')
  return ensureReplica({
    cacheDir: defaultCacheDir(io.env),
    signal: io.signal,
    log: line => {
      progress.line(line)
    }
  })
}

/** Loads a study and verifies its files. A file that differs does not throw: the report lists it. */
export async function verifyStudy(dir: string, { io, progress }: Reporter): Promise<VerifiedStudy> {
  const { study, ...studyFile } = await loadStudy(dir)
  if (SECTIONS_READ.every(name => study[name] === null)) {
    throw new Fault({
      format: 'study',
      problem: 'nothing fetched yet',
      found: 'fetch alone',
      expected: `histories, which "node dist/run.js fetch --study ${printable(dir, 400)}" fetches and drafts`,
      place: { file: studyFile.path }
    })
  }
  const command = `node dist/run.js manifest --study ${printable(dir, 400)} --write`
  const listed = await readManifest(join(dir, study.manifest)).catch(withWayTo(`a manifest; "${command}" writes one`))
  const hashing = progress.phase({ label: 'verifying', total: listed.files.reduce((sum, file) => sum + file.bytes, 0), unit: 'bytes' })
  const manifest = await verifyManifest(dir, listed, {
    signal: io.signal,
    onProgress: p => {
      hashing.update(p.bytesDone)
    }
  })
  hashing.finish()
  return { dir, study, studyFile, manifest }
}

/** @throws Failures where a certificate or a view contradicts what lies there */
export async function checkCertificates({ dir, study }: VerifiedStudy, { io }: Reporter): Promise<CertificateReport> {
  const certificates = await verifyCertificates(dir, study, io.signal)
  refuse([...certificates.faults, ...(await viewFaults(dir, study))])
  return certificates
}

/** A study's progress as phases that are shown. */
export function shownPhases(begin: (phase: PhaseOptions) => Done): Required<RunProgress> {
  return {
    onSnapshot: async plan => begin({ label: 'measuring traces', ...(await amountOf(plan)) }),
    onHistories: total => begin({ label: 'reading histories', total, unit: 'bytes' }),
    onEvidence: total => begin({ label: 'reading evidence', total, unit: 'bytes' }),
    onAnalysis: () => begin({ label: 'analysing histories', total: null, unit: 'parts' }),
    onWriting: () => begin({ label: 'writing histories', total: null, unit: 'rows' }),
    onFigures: total => begin({ label: 'drawing figures', total, unit: 'files' })
  }
}
