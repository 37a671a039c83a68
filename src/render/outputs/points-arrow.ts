/**
 * `wandb/points.arrow`: all displayed points of the analyses that write their points or that a figure draws, as an Arrow IPC
 * file. It has the rows of the CSV files in their order, with the name of the analysis. Each curve is one record batch, or several of at
 * most 65,536 rows. A value is null where the cell of the CSV is empty.
 */
import type { Data, RecordBatch, Schema } from 'apache-arrow'
import type { DisplayedCurve, SelectionHistory } from '../../compute/histories/contract.js'
import { provenancesOf } from '../../compute/histories/display.js'
import type { HistoryAnalysis } from '../../schema/histories.js'
import { ArrowColumns, fileMetadata, ROWS_PER_BATCH, validity } from './arrow-columns.js'
import { ArrowFile } from './arrow-file.js'
import { loadArrow, type ArrowLibrary } from './arrow-library.js'
import type { OnRows } from './history-rows.js'
import type { FileSummary } from './output-file.js'
import { HISTORY_PATHS, type Origin } from './output-names.js'
import type { OutputSet } from './output-set.js'

const VIEWS = ['step', 'time'] as const

function wordsOf(analyses: readonly HistoryAnalysis[], histories: ReadonlyMap<string, SelectionHistory>): string[] {
  const selections = new Set(analyses.flatMap(analysis => analysis.selections))
  return [
    ...VIEWS,
    ...analyses.flatMap(analysis => [analysis.name, ...provenancesOf(analysis), ...analysis.metrics]),
    ...selections,
    ...[...selections].flatMap(name => histories.get(name)?.sessions.map(({ run }) => run) ?? [])
  ]
}

export class PointsArrowWriter {
  readonly #arrow: ArrowLibrary
  readonly #columns: ArrowColumns
  readonly #schema: Schema
  readonly #file: ArrowFile

  private constructor(arrow: ArrowLibrary, columns: ArrowColumns, schema: Schema, file: ArrowFile) {
    this.#arrow = arrow
    this.#columns = columns
    this.#schema = schema
    this.#file = file
  }

  /** @param analyses the analyses whose curves will be written */
  static async open(
    set: OutputSet,
    analyses: readonly HistoryAnalysis[],
    histories: ReadonlyMap<string, SelectionHistory>,
    origin: Origin
  ): Promise<PointsArrowWriter> {
    const arrow = loadArrow()
    const columns = new ArrowColumns(arrow, wordsOf(analyses, histories))
    const { text } = columns
    const number = new arrow.Float64()
    const schema = new arrow.Schema(
      [
        columns.field('analysis', text),
        columns.field('view', text),
        columns.field('algorithm', text),
        columns.field('metric', text),
        columns.field('x', number, true),
        columns.field('value', number),
        columns.field('source_run', text, true),
        columns.field('source_step', number, true),
        columns.field('provenance', text),
        columns.field('trailing_mean', number, true)
      ],
      fileMetadata('history-points', origin)
    )
    return new PointsArrowWriter(arrow, columns, schema, await ArrowFile.open(arrow, await set.file(HISTORY_PATHS.points), schema))
  }

  /** Passes the curves of an analysis on, each after it was written. */
  async *passing(analysis: string, curves: AsyncIterable<DisplayedCurve>, onRows: OnRows): AsyncGenerator<DisplayedCurve, void, undefined> {
    for await (const curve of curves) {
      for (let from = 0; from < curve.value.length; from += ROWS_PER_BATCH) {
        const to = Math.min(curve.value.length, from + ROWS_PER_BATCH)
        await this.#file.write(() => this.#batch(analysis, curve, from, to))
        await onRows(to - from)
      }
      yield curve
    }
  }

  finish(): Promise<FileSummary> {
    return this.#file.finish()
  }

  #batch(analysis: string, curve: DisplayedCurve, from: number, to: number): RecordBatch {
    const { RecordBatch, Struct, makeData } = this.#arrow
    const columns = this.#columns
    const { sources, trailingMean: means } = curve
    const length = to - from
    const source = curve.source.subarray(from, to)
    const observation = curve.observation.subarray(from, to)
    const runs = sources.map(({ history }) => history?.sessions.map(({ run }) => columns.code(run)) ?? [])
    const provenances = sources.map(({ provenance }) => columns.code(provenance))
    const runOf = (k: number): number => {
      const session = sources[source[k]].curve?.session[observation[k]]
      return session === undefined ? 0 : runs[source[k]][session]
    }
    const children: Data[] = [
      columns.same(analysis, length),
      columns.same(curve.view, length),
      columns.same(curve.selection, length),
      columns.same(curve.metric, length),
      columns.numbers(length, k => curve.x[from + k]),
      columns.numbers(length, k => curve.value[from + k]),
      columns.codes(
        Int32Array.from(source, (_, k) => runOf(k)),
        validity(length, k => sources[source[k]].curve === null)
      ),
      columns.numbers(length, k => sources[source[k]].curve?.step[observation[k]] ?? NaN),
      columns.codes(Int32Array.from(source, s => provenances[s])),
      columns.numbers(length, k => means?.[from + k] ?? NaN)
    ]
    return new RecordBatch(this.#schema, makeData({ type: new Struct(this.#schema.fields), length, children, nullCount: 0 }))
  }
}
