/**
 * The order in which a file holds its rows. Trackers append rows; some exports put the latest row first. The order is
 * inferred from the steps and then from the timestamps. Values fall if more neighbours fall than rise.
 *
 * - Steps do not fall: the file is in order. A step that goes back now and then is a resumed run.
 * - Steps fall and timestamps fall: the latest row is first, and the file is reversed.
 * - Steps fall and timestamps rise: each row that goes back is a restart.
 * - Steps fall and no timestamps decide: the file is refused. Each reading would drop rows that the other keeps.
 */
import { Fault } from '../../core/errors.js'
import type { HistoryRows } from './rows.js'
import type { HistoryColumn, RunHistory } from './types.js'

/** Rows with the earliest first. @throws Fault exit 3: steps fall and no timestamp decides why. */
export function earliestFirst(history: HistoryRows): HistoryRows & Pick<RunHistory, 'reversed'> {
  const { step, timestamp, rows } = history
  if (trend(step) >= 0) return { ...history, reversed: false }
  const times = trend(timestamp.filter(Number.isFinite))
  if (times > 0) return { ...history, reversed: false }
  if (times === 0) {
    throw new Fault({
      format: 'history',
      problem: 'rows in falling step order',
      found: `${rows} rows from step ${step[0]} to ${step[rows - 1]}, and no timestamps that rise or fall`,
      expected:
        'rows with the earliest first, or a key of timestamps in histories.keys.timestamp: turn the file round if it has the latest first'
    })
  }
  const last = rows - 1
  return {
    ...history,
    step: step.toReversed(),
    timestamp: timestamp.toReversed(),
    globalStep: history.globalStep.toReversed(),
    unusableGlobalSteps: mirrored(history.unusableGlobalSteps, last),
    columns: history.columns.map(
      (column): HistoryColumn => ({
        ...column,
        row: mirrored(column.row, last),
        value: column.value.toReversed(),
        nonFiniteRow: mirrored(column.nonFiniteRow, last)
      })
    ),
    reversed: true
  }
}

/** Number of neighbours that rise minus number that fall. */
function trend(values: Float64Array): number {
  let trend = 0
  for (let i = 1; i < values.length; i++) trend += Math.sign(values[i] - values[i - 1])
  return trend
}

function mirrored(rows: Int32Array, last: number): Int32Array {
  return rows.toReversed().map(row => last - row)
}
