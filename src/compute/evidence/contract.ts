/**
 * Written evidence as the stages hand it on: values with the place that each was read from, datasets, what follows from
 * them, and what bar figures draw. Plain data; a quantity that is undefined is null, with a reason.
 *
 *     workbook, slides, configs, datasets ──► FoundValue, FoundDataset ──► data.json ──► DerivedResult ──► derived_metrics.json
 *         (ingest)                                                                            └──► BarFigureData ──► figures
 */
import type { DerivedValue, Reference } from '../../schema/evidence.js'
import type { ConfigFile } from '../../ingest/config/resolve.js'
import type { DatasetAudit } from '../../ingest/parquet/audit.js'
import type { HashedFile } from '../../schema/study.js'

export type Scalar = number | string | boolean

/** Where a value stands. `raw` is what is written there, before any conversion. */
export type Origin =
  | {
      readonly source: 'workbook'
      readonly file: string
      readonly sha256: string
      readonly sheet: string
      readonly cell: string
      readonly raw: string
    }
  | {
      readonly source: 'slides'
      readonly file: string
      readonly sha256: string
      readonly slide: number
      /** all from 1 */
      readonly position: { readonly table: number; readonly row: number; readonly column: number } | { readonly paragraph: number }
      readonly raw: string
    }
  | {
      readonly source: 'config'
      /** the file of the chain that sets it; of a withheld value the configuration itself */
      readonly file: string
      readonly sha256: string
      readonly key: string
      /** null with `raw`: the value is withheld */
      readonly line: number | null
      readonly raw: string | null
    }
  | {
      readonly source: 'document'
      /** the study's name of it */
      readonly document: string
      readonly file: string
      readonly sha256: string
      readonly line: number
      /** the whole line */
      readonly raw: string
    }
  | { readonly source: 'quoted'; readonly text: string }

/** A text beside a value that says what it is, as it was found; any white space is one space. */
export interface FoundLabel {
  /** `cell A8`, `table 1, row 2, column 2`, `title`, `printed page`, `line 9` */
  readonly place: string
  readonly text: string
}

/** A value of `data.json`. */
export interface FoundValue {
  readonly name: string
  readonly value: Scalar | readonly Scalar[] | null
  /** where `value` is null */
  readonly reason: string | null
  readonly unit: string
  readonly title: string
  readonly published: boolean
  readonly excluded: string | null
  /** those that the study expects, all found; none where a value is read by its name */
  readonly labels: readonly FoundLabel[]
  readonly origin: Origin
}

export interface FoundConfig {
  readonly name: string
  readonly path: string
  /** parents first, the configuration itself last */
  readonly chain: readonly ConfigFile[]
  readonly values: readonly FoundValue[]
  /** settings that look like secrets: counted, never copied */
  readonly withheld: number
}

export interface FoundDataset {
  readonly name: string
  readonly title: string
  readonly path: string
  readonly audit: DatasetAudit
}

/** A text, and the output that is its copy. */
export interface FoundDocument extends HashedFile {
  readonly name: string
  readonly title: string
  readonly copy: string
  readonly content: Uint8Array
}

/** All that was read. */
export interface FoundEvidence {
  readonly workbook: HashedFile | null
  readonly slides: HashedFile | null
  readonly configs: readonly FoundConfig[]
  readonly datasets: readonly FoundDataset[]
  readonly documents: readonly FoundDocument[]
  /** of workbook, slides, configurations, documents and publications, in the order of the study */
  readonly values: readonly FoundValue[]
}

/** A number that a reference leads to; `reason` where it is undefined. */
export interface Operand {
  readonly reference: Reference
  readonly value: number | null
  readonly reason: string | null
  /** false: a stand-in, or follows from one */
  readonly published: boolean
}

/** A value of `derived_metrics.json`. */
export interface DerivedResult {
  readonly request: DerivedValue
  readonly value: number | null
  /** where `value` is null */
  readonly reason: string | null
  readonly published: boolean
  readonly operands: readonly Operand[]
}

/** What a bar figure draws, ready: no study, no file, no reference. */
export interface BarFigureData {
  readonly synthetic: boolean
  /** file name without extension */
  readonly name: string
  readonly title: string
  readonly panels: readonly BarPanelData[]
}

export interface BarPanelData {
  readonly title: string
  /** title of the value axis, unit included */
  readonly axis: string
  readonly groups: readonly string[]
  readonly series: readonly BarSeriesData[]
  /** most decimals printed on a bar */
  readonly decimals: number
  /** the axis begins here; bars too, unless it is 0 and values are negative */
  readonly from: number
}

export interface BarSeriesData {
  /** as the legend writes it */
  readonly title: string
  /** the same series looks the same in every panel and every figure */
  readonly slot: number
  /** one for each group; null: none is asked for */
  readonly bars: readonly (BarData | null)[]
}

export interface BarData {
  /** null: undefined, and `reason` says why */
  readonly value: number | null
  readonly reason: string | null
  /** false: a stand-in that no source publishes */
  readonly published: boolean
  /** printed, trailing zeros among them; null: at most the panel's */
  readonly decimals: number | null
}
