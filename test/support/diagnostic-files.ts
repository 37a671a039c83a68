/** Generated dumps as files: one row a sample of JSON Lines, and the history that was logged beside them. */
import { writeFileSync } from 'node:fs'
import type { DiagnosticDump } from './diagnostic-dumps.js'
import { jsonLines, type TestRow } from './dump-files.js'

/** Writes the dump. @param change of the row of one sample: a test's own uid, a broken number */
export function writeDump(path: string, { samples }: DiagnosticDump, change: (row: TestRow, index: number) => TestRow = row => row): void {
  const rows = samples.map(({ index, fields, mask, arrays }) => {
    const { token_rewards: rewards, ...others } = arrays
    const numbers = Object.entries({ ...others, ...(rewards === undefined ? {} : { token_level_rewards: rewards }) })
    const row: TestRow = {
      ...Object.fromEntries(numbers.map(([name, array]) => [name, [...array]])),
      response_mask: [...mask],
      response_length: mask.length,
      score: fields.score,
      uid: fields.uid,
      step: fields.step,
      ...(fields.truncated === null ? {} : { truncated: fields.truncated ? 1 : 0 })
    }
    return change(row, index)
  })
  writeFileSync(path, jsonLines(rows))
}

/** Writes what a history logged, as W&B exports it. */
export function writeLoggedHistory(path: string, { loggedExplainedVariance }: DiagnosticDump): void {
  const rows = [...loggedExplainedVariance].map(([step, value]) => ({ 'training/global_step': step, 'critic/vf_explained_var': value }))
  writeFileSync(path, jsonLines(rows))
}
