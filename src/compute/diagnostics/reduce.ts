/** Records of one set of samples, in canonical order, to its diagnostics. */
import type { SampleSource } from '../traces/contract.js'
import type { DiagnosedSet, DiagnosedSource, DiagnosisSettings, JumpPair, PlacedFinding } from './contract.js'
import { diagnoseEstimator, type ToldValues } from './diagnose.js'
import type { DiagnosticFinding } from './faults/finding.js'
import { DEFAULT_RESAMPLING, quality, type QualityOptions } from './quality/quality.js'
import type { QualityRecord } from './quality/record.js'
import type { Resample } from './quality/resample-task.js'
import type { SampleDiagnosticRecord } from './trace-record.js'
import { omissionNotes } from './usable-columns.js'

/** A record with the place of its sample; null where the snapshot has one page. */
export interface SourcedRecord {
  readonly record: SampleDiagnosticRecord
  readonly source: SampleSource | null
}

export interface ReducedSet {
  readonly source: DiagnosedSource
  readonly synthetic: boolean
  readonly told: ToldValues
  readonly settings: DiagnosisSettings
}

/**
 * @param records in canonical order
 * @param resample what answers the tasks of the bootstrap: threads, while this thread looks for the estimator
 */
export async function diagnosedSet(
  records: readonly SourcedRecord[],
  { source, synthetic, told, settings }: ReducedSet,
  resample?: Resample
): Promise<DiagnosedSet> {
  const qualities = qualityOf(records)
  const logged = settings.history?.byStep ?? null
  const [judged, { audit, findings }] = await Promise.all([
    quality(qualities, qualityOptions(settings), resample),
    // Behind the first tasks of the bootstrap, which threads have by then.
    Promise.resolve().then(() =>
      diagnoseEstimator(
        records.map(({ record }) => record.estimator),
        { ...told, loggedExplainedVariance: logged }
      )
    )
  ])
  return {
    source: { ...source, notes: [...source.notes, ...omissionNotes(records.map(({ record }) => record.omitted))] },
    synthetic,
    audit,
    findings: findings.map(finding => placed(finding, records)),
    quality: judged,
    jumps: qualities.flatMap(jumpPair)
  }
}

export function qualityOf(records: readonly SourcedRecord[]): readonly QualityRecord[] {
  return records.map(({ record }) => record.quality)
}

export function qualityOptions({ sampling, jumpThreshold }: DiagnosisSettings): QualityOptions {
  return { ...DEFAULT_RESAMPLING, sampling, jumpThreshold }
}

/** The means of |change| of a trajectory that has both kinds of transitions. */
function jumpPair({ outcome, changes: { boundary, internal } }: QualityRecord): JumpPair[] {
  if (boundary.transitions === 0 || internal.transitions === 0) return []
  return [{ outcome, boundary: boundary.sum / boundary.transitions, internal: internal.sum / internal.transitions }]
}

function placed(finding: DiagnosticFinding, records: readonly SourcedRecord[]): PlacedFinding {
  const { place } = finding
  if (place === null) return { ...finding, place }
  const found = records.find(({ record }) => record.index === place.sample)
  const { step = null, uid = null } = found?.record.estimator ?? {}
  const file = found?.source?.file ?? ''
  return { ...finding, place: { ...place, file: file === '' ? null : file, row: found?.source?.row ?? null, step, uid } }
}
