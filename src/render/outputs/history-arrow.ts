/**
 * `wandb/observations.arrow`: all observations of all selections and metrics, superseded ones included, as an Arrow IPC
 * file. Each curve is one record batch, or several of at most 65,536 rows. Texts are dictionary-encoded, with one
 * dictionary for all batches. A cell is null where the row has no value, or where no finite double holds it.
 */
import type { Data, RecordBatch, Schema } from 'apache-arrow'
import type { Curve, SelectionHistory } from '../../compute/histories/contract.js'
import { displayHours, elapsedHours } from '../../compute/histories/time.js'
import { ArrowColumns, bitmap, fileMetadata, ROWS_PER_BATCH, validity } from './arrow-columns.js'
import { ArrowFile } from './arrow-file.js'
import { loadArrow, type ArrowLibrary } from './arrow-library.js'
import type { OnRows } from './history-rows.js'
import type { FileSummary } from './output-file.js'
import { HISTORY_PATHS, type Origin } from './output-names.js'
import type { OutputSet } from './output-set.js'

const FATES = ['rolled back', 'replaced'] as const

function wordsOf(histories: readonly SelectionHistory[]): string[] {
  return [
    ...FATES,
    ...histories.flatMap(h => [h.selection.name, ...h.sessions.map(s => s.run), ...h.curves.flatMap(c => [c.metric, c.key])])
  ]
}

/** The rows of one batch. */
interface RowRange {
  readonly history: SelectionHistory
  readonly curve: Curve
  readonly from: number
  readonly to: number
}

class Observations {
  readonly #arrow: ArrowLibrary
  readonly #columns: ArrowColumns
  readonly schema: Schema

  constructor(arrow: ArrowLibrary, columns: ArrowColumns, metadata: Map<string, string>) {
    this.#arrow = arrow
    this.#columns = columns
    const { text } = columns
    const [integer, number] = [new arrow.Int32(), new arrow.Float64()]
    this.schema = new arrow.Schema(
      [
        columns.field('selection', text),
        columns.field('metric', text),
        columns.field('key', text),
        columns.field('run', text),
        columns.field('session', integer),
        columns.field('step', number),
        columns.field('value', number),
        columns.field('global_step', number, true),
        columns.field('timestamp', number, true),
        columns.field('elapsed_hours', number, true),
        columns.field('display_hours', number, true),
        columns.field('kept', new arrow.Bool()),
        columns.field('superseded_by_session', integer, true),
        columns.field('superseded_by_run', text, true),
        columns.field('restart_step', number, true),
        columns.field('reason', text, true)
      ],
      metadata
    )
  }

  batch({ history, curve, from, to }: RowRange): RecordBatch {
    const { makeData, RecordBatch, Struct, Int32, Bool } = this.#arrow
    const columns = this.#columns
    const length = to - from
    const numbers = (of: (i: number) => number): Data => columns.numbers(length, k => of(from + k))
    const session = curve.session.slice(from, to)
    const successor = curve.supersededBy.slice(from, to)
    const isKept = (k: number): boolean => successor[k] < 0
    const fate = validity(length, isKept)
    const runs = history.sessions.map(s => columns.code(s.run))
    const fates = FATES.map(word => columns.code(word))
    const children: Data[] = [
      columns.same(curve.selection, length),
      columns.same(curve.metric, length),
      columns.same(curve.key, length),
      columns.codes(session.map(s => runs[s])),
      makeData({ type: new Int32(), length, data: session }),
      numbers(i => curve.step[i]),
      numbers(i => curve.value[i]),
      numbers(i => curve.globalStep[i]),
      numbers(i => curve.timestamp[i]),
      numbers(i => elapsedHours(history, curve.timestamp[i])),
      numbers(i => displayHours(history, curve.timestamp[i])),
      makeData({ type: new Bool(), length, data: bitmap(length, isKept) }),
      makeData({ type: new Int32(), length, ...fate, data: successor }),
      columns.codes(
        successor.map(s => (s < 0 ? 0 : runs[s])),
        fate
      ),
      numbers(i => history.sessions[curve.supersededBy[i]]?.firstStep ?? NaN),
      columns.codes(
        Int32Array.from(curve.replaced.subarray(from, to), replaced => fates[replaced]),
        fate
      )
    ]
    return new RecordBatch(this.schema, makeData({ type: new Struct(this.schema.fields), length, children, nullCount: 0 }))
  }
}

/** @param onRows called with the number of rows written since the last call; its promise is awaited */
export async function writeObservationsArrow(
  set: OutputSet,
  histories: readonly SelectionHistory[],
  origin: Origin,
  onRows: OnRows
): Promise<FileSummary> {
  const arrow = loadArrow()
  const observations = new Observations(arrow, new ArrowColumns(arrow, wordsOf(histories)), fileMetadata('history-observations', origin))
  const file = await ArrowFile.open(arrow, await set.file(HISTORY_PATHS.arrow), observations.schema)
  for (const history of histories) {
    for (const curve of history.curves) {
      for (let from = 0; from < curve.count; from += ROWS_PER_BATCH) {
        const to = Math.min(curve.count, from + ROWS_PER_BATCH)
        await file.write(() => observations.batch({ history, curve, from, to }))
        await onRows(to - from)
      }
    }
  }
  return file.finish()
}
