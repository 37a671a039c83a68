/**
 * The section of a study on its written evidence: a workbook, slides, configurations, datasets, and what follows from
 * them. The study names everything; the code contains no cell, no file and no published value. Types only.
 */

/** One of the study's own names: lower case, digits, `_`, `-`, and `.` between parts: `gspo.verified`. */
export type ValueName = string

/** How a source's text becomes a value. */
export type Conversion =
  /** the number as written */
  | 'number'
  /** a fraction times 100, without digits that the fraction does not have */
  | 'percent'
  /** the text as written */
  | 'text'
  /** group 1 of the first match of `pattern`, as a number; `multiply` must account for a unit such as the `k` of `200k` */
  | 'match'

interface NamedValue {
  readonly name: ValueName
  readonly as: Conversion
  /** for `match`: a regular expression with one group */
  readonly pattern: string | null
  /** factor for the number */
  readonly multiply: number
  readonly unit: string
  /** one sentence: what the value is */
  readonly title: string
  /** false: a stand-in that no source publishes; this is said wherever the value is used */
  readonly published: boolean
  /** not null: the reason why the value is read and reported, but used in no comparison and no figure */
  readonly excluded: string | null
}

/** A cell of a sheet. */
export interface CellValue extends NamedValue {
  readonly sheet: string
  /** `C8` */
  readonly cell: string
  /** texts of other cells of the sheet that identify the value: the head of its column, the name of its row */
  readonly labels: readonly { readonly cell: string; readonly text: string }[]
}

/** A cell of a table on a slide, or a paragraph of its text. */
export interface SlideValue extends NamedValue {
  /** number of the slide in the presentation, from 1 */
  readonly slide: number
  /** all three count from 1; null: the value is in the one paragraph of the slide's text that `pattern` matches */
  readonly table: { readonly index: number; readonly row: number; readonly column: number } | null
  /** texts of other cells of the table that identify the value */
  readonly labels: readonly { readonly row: number; readonly column: number; readonly text: string }[]
}

/** What a slide must contain, so that it is not identified by its number alone. */
export interface SlidePage {
  readonly slide: number
  /** null: not checked */
  readonly title: string | null
  /** the page number printed on the slide; null: not checked */
  readonly printed_page: number | null
}

/** A key of a configuration, after inheritance is resolved. */
export interface ConfigValue {
  readonly name: ValueName
  readonly key: string
  readonly title: string
  readonly published: boolean
}

export interface ConfigSource {
  readonly name: ValueName
  /** .env or JSON file, relative to the study */
  readonly path: string
  readonly values: readonly ConfigValue[]
}

/** A value that a text states, such as a README, a postmortem, or a comment of a configuration. */
export interface DocumentValue {
  readonly name: ValueName
  /** the line, from 1, which must be the only one that the pattern matches */
  readonly line: number
  /** a regular expression with one group: the value */
  readonly pattern: string
  /** how the group is read: as a number, or as written */
  readonly as: 'number' | 'text'
  readonly unit: string
  readonly title: string
  readonly published: boolean
  readonly excluded: string | null
  /** other lines of the document that identify the value, such as the head of its table */
  readonly labels: readonly { readonly line: number; readonly text: string }[]
}

/** A text that is copied unchanged beside the outputs, with the values quoted from it. */
export interface TextDocument {
  readonly name: ValueName
  /** UTF-8 text, relative to the study */
  readonly path: string
  readonly title: string
  readonly values: readonly DocumentValue[]
}

export interface DatasetSource {
  readonly name: ValueName
  /** parquet file, relative to the study */
  readonly path: string
  readonly title: string
  /** column of the task paths, `extra_info.task_path`; null: no rows are matched */
  readonly task_path: string | null
  /** by name: text that the path contains */
  readonly patterns: { readonly [name: string]: string }
  /** column whose presence and number of non-null rows are reported, `extra_info.agent_harness` */
  readonly field: string | null
  /** columns whose pages are decoded and checked: all, or `task_path` and `field` */
  readonly decode: 'all' | 'requested'
}

/** The place of a number in the outputs, a path and a JSON pointer: `data.json#/values/gspo.verified/value`. */
export type Reference = string

/**
 * A value that follows from others. `original`: from what sources state; `displayed`: by a stated convention. Difference,
 * product and scale are computed in decimal (29.8 - 27 is 2.8), ratio and reduction in doubles.
 */
export interface DerivedValue {
  readonly name: ValueName
  readonly title: string
  readonly unit: string
  readonly kind: 'original' | 'displayed'
  readonly operation:
    | { readonly ratio: readonly [Reference, Reference] }
    | { readonly difference: readonly [Reference, Reference] }
    | { readonly product: readonly [Reference, Reference] }
    | { readonly scale: Reference; readonly by: number }
    /** (1 - first / second) * 100 */
    | { readonly reduction_percent: readonly [Reference, Reference] }
}

/** A value that a publication states. It is quoted and never combined with local values. */
export interface QuotedValue {
  readonly name: ValueName
  readonly value: number
  readonly unit: string
  readonly title: string
  readonly source: string
}

/** A bar figure: groups of bars with a value printed on each. */
export interface BarFigureRequest {
  /** file name without extension: `01-scores` */
  readonly name: string
  readonly title: string
  readonly panels: readonly {
    readonly title: string
    /** title of the value axis, unit included */
    readonly axis: string
    readonly groups: readonly string[]
    readonly series: readonly {
      readonly title: string
      readonly values: readonly (Reference | null)[]
      /** decimals of each value as published, with trailing zeros; null: those of the panel */
      readonly decimals: readonly number[] | null
    }[]
    /** most decimals printed on the bars of a series that states none; trailing zeros are dropped */
    readonly decimals: number
    /** start of the axis, zero or another value */
    readonly from: number
  }[]
}

export interface EvidenceStudy {
  readonly workbook: { readonly path: string; readonly values: readonly CellValue[] } | null
  readonly slides: { readonly path: string; readonly pages: readonly SlidePage[]; readonly values: readonly SlideValue[] } | null
  readonly configs: readonly ConfigSource[]
  readonly datasets: readonly DatasetSource[]
  readonly documents: readonly TextDocument[]
  readonly quoted: readonly QuotedValue[]
  readonly derived: readonly DerivedValue[]
  readonly figures: readonly BarFigureRequest[]
}

/** The article and the notes on its evidence: templates of the study that the program fills. */
export interface ArticleStudy {
  /** Markdown with references, relative to the study */
  readonly article: string
  readonly notes: string
  /** fails the run for a number that the pages cite from an output, unless a claim or a source of a discrepancy holds it */
  readonly strict: boolean
}
