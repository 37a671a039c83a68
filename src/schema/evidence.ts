/**
 * The part of a study that speaks of its written evidence: a workbook, slides, configurations, datasets, and what follows from
 * them. Everything is named in the study; the code behind it knows no cell, no file and no published value. Types only.
 */

/** One of the study's own names: lower case, digits, `_`, `-`, and `.` between parts: `gspo.verified`. */
export type ValueName = string

/** What a source's text becomes. */
export type Conversion =
  /** the number as written */
  | 'number'
  /** a fraction, times 100, with no precision that the fraction does not have */
  | 'percent'
  /** the text as written */
  | 'text'
  /** the first match of `pattern` in the text, its group 1 as a number; of `200k` the `k` is the caller's, with `multiply` */
  | 'match'

interface NamedValue {
  readonly name: ValueName
  readonly as: Conversion
  /** for `match`: a regular expression with one group */
  readonly pattern: string | null
  /** the number is multiplied by this */
  readonly multiply: number
  readonly unit: string
  /** one sentence: what it is */
  readonly title: string
  /** false: a stand-in that no source publishes; said wherever it is used */
  readonly published: boolean
  /** not null: read and reported, used in no comparison and no figure; why */
  readonly excluded: string | null
}

/** A cell of a sheet. */
export interface CellValue extends NamedValue {
  readonly sheet: string
  /** `C8` */
  readonly cell: string
  /** texts of other cells of the sheet that say what the value is: head of its column, name of its row */
  readonly labels: readonly { readonly cell: string; readonly text: string }[]
}

/** A cell of a table on a slide, or a paragraph of its text. */
export interface SlideValue extends NamedValue {
  /** physical slide, from 1, in the order of the presentation */
  readonly slide: number
  /** all three from 1; null: from the one paragraph of the slide's text that `pattern` matches */
  readonly table: { readonly index: number; readonly row: number; readonly column: number } | null
  /** texts of other cells of the table that say what the value is */
  readonly labels: readonly { readonly row: number; readonly column: number; readonly text: string }[]
}

/** What a slide must say of itself, so that its number alone does not choose it. */
export interface SlidePage {
  readonly slide: number
  /** null: not looked at */
  readonly title: string | null
  /** the page number printed on it; null: not looked at */
  readonly printed_page: number | null
}

/** A key of a configuration, its inheritance resolved. */
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

/** A value that a text states: a README, a postmortem, a comment of a configuration. */
export interface DocumentValue {
  readonly name: ValueName
  /** from 1: the one line of the document that the pattern matches */
  readonly line: number
  /** a regular expression with one group, around the value */
  readonly pattern: string
  /** the group as a number, or as written */
  readonly as: 'number' | 'text'
  readonly unit: string
  readonly title: string
  readonly published: boolean
  readonly excluded: string | null
  /** other lines of the document that say what the value is: the head of its table */
  readonly labels: readonly { readonly line: number; readonly text: string }[]
}

/** A text that is kept as it is beside the outputs, with what is quoted from it. */
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
  /** `extra_info.task_path`; null: no rows are matched */
  readonly task_path: string | null
  /** name -> text that the path contains */
  readonly patterns: { readonly [name: string]: string }
  /** `extra_info.agent_harness`: is it in the schema, and in how many rows not null */
  readonly field: string | null
  /** whose pages are decoded and checked: those of all columns, or of `task_path` and `field` */
  readonly decode: 'all' | 'requested'
}

/** Where a number stands in the outputs: `data.json#/values/gspo.verified/value`, a path and a JSON pointer. */
export type Reference = string

/**
 * A value that follows from others. `original`: of what sources state; `displayed`: after a stated convention. Difference,
 * product and scale are those of the decimal notations (29.8 - 27 is 2.8); ratio and reduction those of the doubles.
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

/** A value that a publication states: quoted, never computed with local ones. */
export interface QuotedValue {
  readonly name: ValueName
  readonly value: number
  readonly unit: string
  readonly title: string
  readonly source: string
}

/** A bar figure: groups of bars, a value printed on each. */
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
      /** decimals of each value, trailing zeros among them: as published; null: those of the panel */
      readonly decimals: readonly number[] | null
    }[]
    /** most decimals printed on the bars whose series states none; no trailing zeros */
    readonly decimals: number
    /** the axis begins at zero, or at this */
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

/** The article and the notes on its evidence: templates of the study, filled by the program. */
export interface ArticleStudy {
  /** Markdown with references, relative to the study */
  readonly article: string
  readonly notes: string
  /** a number that the pages cite from an output, and that no claim and no source of a discrepancy holds, fails the run */
  readonly strict: boolean
}
