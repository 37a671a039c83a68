/**
 * The types of written evidence that the stages pass on: values with their origins, datasets, derived values, and the
 * data of bar figures. All is plain data. An undefined quantity is null and has a reason.
 *
 *     workbook, slides, configs, datasets ──► FoundValue, FoundDataset ──► data.json ──► DerivedResult ──► derived_metrics.json
 *         (ingest)                                                                            └──► BarFigureData ──► figures
 */
import type { DerivedValue } from '../../schema/evidence.js'
import type { Reference } from '../../schema/reference.js'
import type { ConfigFile } from '../../ingest/config/resolve.js'
import type { DatasetAudit } from '../../ingest/parquet/audit.js'
import type { HashedFile } from '../../schema/study.js'

export type Scalar = number | string | boolean

/** Where a value stands. `raw` is the text there before any conversion. */
export type ValueOrigin =
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
      /** all counted from 1 */
      readonly position: { readonly table: number; readonly row: number; readonly column: number } | { readonly paragraph: number }
      readonly raw: string
    }
  | {
      readonly source: 'config'
      /** file of the chain that sets the value; for a withheld value the configuration itself */
      readonly file: string
      readonly sha256: string
      readonly key: string
      /** null, like `raw`, where the value is withheld */
      readonly line: number | null
      readonly raw: string | null
    }
  | {
      readonly source: 'document'
      /** name of the document in the study */
      readonly document: string
      readonly file: string
      readonly sha256: string
      readonly line: number
      /** the whole line */
      readonly raw: string
    }
  | { readonly source: 'quoted'; readonly text: string }

/** A text beside a value that identifies it. Runs of white space are one space. */
export interface FoundLabel {
  /** `cell A8`, `table 1, row 2, column 2`, `title`, `printed page`, `line 9` */
  readonly place: string
  readonly text: string
}

/** A value of `data.json`. */
export interface FoundValue {
  readonly name: string
  readonly value: Scalar | readonly Scalar[] | null
  /** why `value` is null; null where it is not */
  readonly reason: string | null
  readonly unit: string
  readonly title: string
  readonly published: boolean
  readonly excluded: string | null
  /** labels that the study expects, all found; empty where a value is read by its name */
  readonly labels: readonly FoundLabel[]
  readonly origin: ValueOrigin
}

export interface FoundConfig {
  readonly name: string
  readonly path: string
  /** parents first, the configuration itself last */
  readonly chain: readonly ConfigFile[]
  readonly values: readonly FoundValue[]
  /** number of settings that look like secrets; none of them is copied */
  readonly withheld: number
}

export interface FoundDataset {
  readonly name: string
  readonly title: string
  readonly path: string
  readonly audit: DatasetAudit
}

/** A text document, and the output that holds its copy. */
export interface FoundDocument extends HashedFile {
  readonly name: string
  readonly title: string
  readonly copy: string
  readonly content: Uint8Array
}

/** Everything that was read. */
export interface FoundEvidence {
  readonly workbook: HashedFile | null
  readonly slides: HashedFile | null
  readonly configs: readonly FoundConfig[]
  readonly datasets: readonly FoundDataset[]
  readonly documents: readonly FoundDocument[]
  /** of workbook, slides, configurations, documents and publications, in the order of the study */
  readonly values: readonly FoundValue[]
}

/** A number at a reference. `reason` says why it is undefined. */
export interface Operand {
  readonly reference: Reference
  readonly value: number | null
  readonly reason: string | null
  /** false where the value is a stand-in or is derived from one */
  readonly published: boolean
}

/** A value of `derived_metrics.json`. */
export interface DerivedResult {
  readonly request: DerivedValue
  readonly value: number | null
  /** why `value` is null; null where it is not */
  readonly reason: string | null
  readonly published: boolean
  readonly operands: readonly Operand[]
}

/** The complete data of a bar figure. Render needs no study, file or reference beside it. */
export interface BarFigureData {
  readonly synthetic: boolean
  /** file name without extension */
  readonly name: string
  readonly title: string
  /** outputs that hold the values of its bars, each once */
  readonly drawnFrom: readonly string[]
  readonly panels: readonly BarPanelData[]
}

export interface BarPanelData {
  readonly title: string
  /** title of the value axis, unit included */
  readonly axis: string
  readonly groups: readonly string[]
  readonly series: readonly BarSeriesData[]
  /** decimals printed on every bar */
  readonly decimals: number
  /** start of the axis, and of the bars; where it is 0 and values are negative, the axis starts below it */
  readonly from: number
}

export interface BarSeriesData {
  /** as the legend writes it */
  readonly title: string
  /** place in the legend: a series keeps its look in every panel and figure */
  readonly slot: number
  /** one for each group; null where the study asks for no bar */
  readonly bars: readonly (BarData | null)[]
}

export interface BarData {
  /** null where it is undefined; `reason` says why */
  readonly value: number | null
  readonly reason: string | null
  /** false: a stand-in that no source publishes */
  readonly published: boolean
}
