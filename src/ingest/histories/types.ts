/** What the readers of exported histories give: the list of runs, and one run's rows as columns. Plain data. */
import type { HashedFile } from '../../schema/study.js'

/** What a list of runs states and no output repeats, counted. */
export interface LeftOutOfRun {
  /** settings that the study does not name */
  readonly unnamed: number
  /** settings and fields that look like secrets, or that JSON does not hold as a scalar */
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
  /** createdAt as seconds since 1970: whole seconds plus fraction, no detour over milliseconds */
  readonly createdSeconds: number
  readonly state: string | null
  readonly url: string | null
  readonly fetchedAt: string | null
  /** folder of its history: `<folder>/<label>/<id>.jsonl` */
  readonly label: string
  /** configuration: as exported, or what of it the study allows */
  readonly config: { readonly [key: string]: unknown }
  /** what of the list's entry goes no further; absent: nothing was kept back */
  readonly leftOut?: LeftOutOfRun
}

/** The finite numbers of one key, in the order of rows. */
export interface HistoryColumn {
  readonly key: string
  /** 0-based rows that logged a finite number, increasing */
  readonly row: Int32Array
  /** its value, one for each of those rows */
  readonly value: Float64Array
  /** 0-based rows that logged a value that is not finite (bare or quoted), increasing */
  readonly nonFiniteRow: Int32Array
  /** those values: spelling -> count */
  readonly nonFinite: { readonly [text: string]: number }
  /** rows in which the key stands with null */
  readonly nulls: number
  /** rows in which the key stands with a text, a truth value, an object or a list */
  readonly notNumbers: number
}

/** Integers beyond 2^53 under one wanted key that no double holds: they are read as the nearest one. */
export interface InexactIntegers {
  readonly key: string
  readonly count: number
  /** 1-based line of the first */
  readonly line: number
  /** the first as it stands there, not longer than a message can print */
  readonly written: string
}

/** Values that are objects or lists: no column is made of what is in them. */
export interface NestedValues {
  readonly count: number
  /** 1-based line of the first */
  readonly line: number
  /** its key */
  readonly key: string
}

/** One exported history: as many rows as lines. Memory is what the wanted keys take, whatever else the rows hold. */
export interface RunHistory<Run = ListedRun> {
  readonly run: Run
  /** where its rows stood */
  readonly file: HashedFile
  readonly rows: number
  /** of every row: a safe integer */
  readonly step: Float64Array
  /** of every row, seconds since 1970; NaN where the row has none */
  readonly timestamp: Float64Array
  /** of every row; NaN where the row has none */
  readonly globalStep: Float64Array
  /** 0-based rows in which the key of the global step stands with null or a number that is not finite, increasing */
  readonly unusableGlobalSteps: Int32Array
  /** one for each wanted key, in the order in which they were asked for */
  readonly columns: readonly HistoryColumn[]
  /** one for each wanted key that has such, in the order in which they were met */
  readonly inexact: readonly InexactIntegers[]
  /** of all rows; null where there are none */
  readonly nested: NestedValues | null
  /** the file's rows stand with the latest first; here they are turned round */
  readonly reversed: boolean
}
