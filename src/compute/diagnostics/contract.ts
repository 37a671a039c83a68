/** What the diagnostics of one set of samples, or of two, hand to outputs, figures, page and terminal. */
import type { SamplingDesign } from '../../schema/diagnostics.js'
import type { Outcome } from '../../schema/traces.js'
import type { SnapshotPlan } from '../../study/inventory.js'
import type { HashedFile } from '../../schema/study.js'
import type { EstimatorDiagnosis } from './diagnose.js'
import type { DiagnosticFinding } from './faults/finding.js'
import type { Quality, QualityComparison } from './quality/contract.js'

export type { LambdaAdvantages } from './estimator/whitening.js'
export type { ToldValue } from './diagnose.js'
export type { Estimate, Compared, Quality, QualityComparison } from './quality/contract.js'

/** What was read of a snapshot or a dump. */
export interface DiagnosedSource {
  readonly name: string
  readonly kind: SnapshotPlan['kind']
  /** kind of dump in words; null for other snapshots */
  readonly format: string | null
  readonly mask: string | null
  readonly end: string | null
  readonly notes: readonly string[]
  readonly files: readonly HashedFile[]
  readonly samples: number
  readonly left_out: number
}

/** A finding whose place names the file and row of its sample. */
export interface PlacedFinding extends Omit<DiagnosticFinding, 'place'> {
  readonly place:
    | (NonNullable<DiagnosticFinding['place']> & {
        readonly file: string | null
        readonly row: number | null
        readonly step: number | null
        readonly uid: string | null
      })
    | null
}

/** Means of |change| of one trajectory, at boundaries and inside turns. */
export interface JumpPair {
  readonly outcome: Outcome | null
  readonly boundary: number
  readonly internal: number
}

/** The diagnostics of one set of samples. */
export interface DiagnosedSet {
  readonly source: DiagnosedSource
  readonly synthetic: boolean
  readonly audit: EstimatorDiagnosis['audit']
  readonly findings: readonly PlacedFinding[]
  readonly quality: Quality
  /** trajectories with both kinds of transitions, in canonical order */
  readonly jumps: readonly JumpPair[]
}

/** What the document states of a set: `jumps` are drawn alone. */
export type StatedSet = Pick<DiagnosedSet, 'source' | 'audit' | 'findings' | 'quality'>

/** What the document states: a diagnosis as it is computed, or as an unchanged run wrote it. */
export interface StatedDiagnosis extends StatedSet {
  readonly synthetic: boolean
  readonly against: (StatedSet & { readonly comparison: QualityComparison }) | null
}

/** A history of logged explained variance, as it was found in its file. */
export interface LoggedHistory {
  readonly file: HashedFile
  readonly key: string
  readonly stepKey: string
  readonly byStep: ReadonlyMap<number, number>
  /** rows of the file that gave no value, by reason */
  readonly leftOut: ReadonlyArray<{ readonly reason: string; readonly rows: number }>
}

/** Steps of a history that samples have too: of no other is anything compared. */
export function commonSteps(history: LoggedHistory, { by_step }: StatedSet['quality']): number {
  return by_step.filter(({ step }) => history.byStep.has(step)).length
}

export interface DiagnosisSettings {
  readonly successThreshold: number
  readonly jumpThreshold: number
  readonly sampling: SamplingDesign
  readonly history: LoggedHistory | null
}

/** One set, perhaps with another that it is compared with. */
export interface Diagnosis extends DiagnosedSet {
  readonly settings: DiagnosisSettings
  readonly against: (DiagnosedSet & { readonly comparison: QualityComparison }) | null
}
