/** What the comparison of figures with their data hands to the command line. */
import type { Difference } from './compare.js'

export interface SeriesCheck {
  readonly panel: string
  readonly series: string
  /** `unchecked`: drawn, but no data file says where */
  readonly status: 'ok' | 'differs' | 'unchecked'
  /** points or bars drawn */
  readonly drawn: number
  /** in the data */
  readonly total: number
  readonly difference: Difference | null
}

export interface FigureCheck {
  /** relative to the folder of outputs */
  readonly file: string
  /** paths of the data files, relative to the folder of outputs */
  readonly data: readonly string[]
  /** why nothing was compared; null: it was */
  readonly reason: string | null
  readonly series: readonly SeriesCheck[]
}

export interface FiguresReport {
  readonly figures: readonly FigureCheck[]
  readonly counts: { readonly ok: number; readonly differs: number; readonly unchecked: number }
}
