/**
 * What is fetched from W&B, and the certificate that a fetched history is whole. Types and plain constants only.
 */

/** All runs of a project that have exactly this display name. */
export interface FetchRuns {
  /** folder of their histories below `histories.folder`; also their label in the list of runs */
  readonly label: string
  readonly entity: string
  readonly project: string
  readonly display_name: string
}

/** A further list of runs with the entries of some labels. */
export interface RunsView {
  /** relative to the study */
  readonly path: string
  readonly labels: readonly string[]
}

/** The section of a study on the origin of its histories. */
export interface FetchStudy {
  readonly runs: readonly FetchRuns[]
  /** configuration fields that are kept, with dots between nested names; all others are dropped */
  readonly config: readonly string[]
  readonly views: readonly RunsView[]
}

/** Label of a project's runs that no selection takes and whose names do not begin with a selected one. */
export const OTHER_LABEL = 'other'

/** Integer steps of one request, and samples requested. With fewer samples than rows the server picks rows at random. */
export const STEPS_PER_REQUEST = 100
export const SAMPLES_PER_REQUEST = 1000

/** The steps of one request, both inclusive, and the number of rows received. */
export interface FetchedInterval {
  readonly from: number
  readonly to: number
  readonly rows: number
}

/** The run as the server described it before the first row was requested. */
export interface RunSnapshot {
  /** null: the run has logged nothing */
  readonly last_step: number | null
  /** null: the server does not say */
  readonly history_line_count: number | null
  /** when the run last logged, as the server writes it */
  readonly heartbeat_at: string | null
  /** the run was active, or had grown by the end of the fetch: rows up to last_step are exported, later ones are not */
  readonly growing: boolean
}

/** Counts of row values that are no numeric scalars. They are not exported. */
export interface LeftOut {
  readonly texts: number
  readonly flags: number
  readonly objects: number
  readonly lists: number
}

/** Summary of the steps in a history's file. */
export interface StepSummary {
  readonly rows: number
  readonly first_step: number | null
  readonly last_step: number | null
  /** steps without a row between the first and the last: ranges, both inclusive */
  readonly holes: ReadonlyArray<readonly [from: number, to: number]>
  /** steps with more than one row */
  readonly repeated: ReadonlyArray<{ readonly step: number; readonly rows: number }>
}

export const CERTIFICATE_CHECKS = ['history_file', 'intervals', 'order', 'last_step', 'row_count', 'samples'] as const
export type CertificateCheckName = (typeof CERTIFICATE_CHECKS)[number]

export interface CertificateCheck {
  readonly name: CertificateCheckName
  readonly status: 'passed' | 'failed'
  /** what was found, with the steps; null without a remark */
  readonly detail: string | null
}

/** The certificate beside a fetched history. */
export interface HistoryCertificate {
  readonly schema: 'history-certificate'
  readonly schema_version: 1
  readonly synthetic: boolean
  /** base URL */
  readonly server: string
  readonly run: {
    readonly id: string
    readonly entity: string
    readonly project: string
    readonly display_name: string
    readonly label: string
    readonly created_at: string
    readonly state: string
  }
  /** UTC, ISO 8601 */
  readonly fetched_at: string
  readonly snapshot: RunSnapshot
  /** path relative to the study */
  readonly history: { readonly path: string; readonly bytes: number; readonly sha256: string }
  readonly requests: {
    readonly steps: number
    readonly samples: number
    readonly intervals: readonly FetchedInterval[]
    /** number of answers whose rows were not in the order of their steps; they were sorted */
    readonly reordered: number
  }
  readonly steps: StepSummary
  readonly left_out: LeftOut
  readonly checks: readonly CertificateCheck[]
  /** no check failed */
  readonly complete: boolean
}
