/** Results of the readers of exported histories: the list of runs, and one run's rows as columns. Plain data. */
import type { HashedFile } from '../../schema/study.js'

/** Counts of what a list of runs states and no output repeats. */
export interface LeftOutOfRun {
  /** number of settings that the study does not name */
  readonly unnamed: number
  /** number of settings and fields that look like secrets, or that are no JSON scalar */
  readonly withheld: number
}

/** An entry of `runs.json`. Text is verbatim. */
export interface ListedRun {
  readonly id: string
  readonly displayName: string
  readonly entity: string | null
  readonly project: string | null
  /** ISO 8601; without a zone it is UTC */
  readonly createdAt: string
  /** createdAt as seconds since 1970: whole seconds plus fraction, not rounded to milliseconds */
  readonly createdSeconds: number
  readonly state: string | null
  readonly url: string | null
  readonly fetchedAt: string | null
  /** folder of its history: `<folder>/<label>/<id>.jsonl` */
  readonly label: string
  /** configuration: as exported, or the part that the study allows */
  readonly config: { readonly [key: string]: unknown }
  /** what the outputs leave out of the list's entry; absent: nothing is left out */
  readonly leftOut?: LeftOutOfRun
}

/** The finite numbers of one key, in the order of rows. */
export interface HistoryColumn {
  readonly key: string
  /** 0-based rows that logged a finite number, increasing */
  readonly row: Int32Array
  /** its values, one for each of those rows */
  readonly value: Float64Array
  /** 0-based rows that logged a value that is not finite (bare or quoted), increasing */
  readonly nonFiniteRow: Int32Array
  /** number of those values by spelling */
  readonly nonFinite: { readonly [text: string]: number }
  /** number of rows in which the key's value is null */
  readonly nulls: number
  /** number of rows in which the key's value is a text, a truth value, an object or a list */
  readonly notNumbers: number
}

/** Integers beyond 2^53 under one wanted key that no double holds. Each is read as the nearest double. */
export interface InexactIntegers {
  readonly key: string
  readonly count: number
  /** 1-based line of the first */
  readonly line: number
  /** the first one as written, cut to a length that a message can print */
  readonly written: string
}

/** Values that are objects or lists. Their content is not read into columns. */
export interface NestedValues {
  readonly count: number
  /** 1-based line of the first */
  readonly line: number
  /** key of the first */
  readonly key: string
}

/** One exported history, with one row per line. Memory grows with the wanted keys only. */
export interface RunHistory<Run = ListedRun> {
  readonly run: Run
  /** where its rows stood */
  readonly file: HashedFile
  readonly rows: number
  /** of every row; a safe integer */
  readonly step: Float64Array
  /** of every row, seconds since 1970; NaN where the row has none */
  readonly timestamp: Float64Array
  /** of every row; NaN where the row has none */
  readonly globalStep: Float64Array
  /** 0-based rows in which the global step is null or a number that is not finite, increasing */
  readonly unusableGlobalSteps: Int32Array
  /** one for each wanted key, in the order of the request */
  readonly columns: readonly HistoryColumn[]
  /** one for each wanted key that has such integers, in the order of their first occurrence */
  readonly inexact: readonly InexactIntegers[]
  /** of all rows; null without nested values */
  readonly nested: NestedValues | null
  /** the file has the latest row first; the columns are reversed */
  readonly reversed: boolean
}
