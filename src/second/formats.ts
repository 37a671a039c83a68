/** The formats that are read twice, one line each. */
import type { HistoryKeys } from '../ingest/histories/rows.js'
import { compareHistory } from './history.js'
import { compareNpz } from './npz.js'
import { comparePage, type PageRequest } from './page.js'
import { compareParquet } from './parquet.js'
import type { SecondReading } from './reading.js'

/** One file to read twice. */
export type SecondTask = { readonly file: string } & (
  | ({ readonly format: 'page' } & PageRequest)
  | { readonly format: 'npz' }
  | { readonly format: 'parquet' }
  | { readonly format: 'history'; readonly keys: HistoryKeys }
)

export async function readTwice(task: SecondTask): Promise<SecondReading> {
  switch (task.format) {
    case 'page':
      return comparePage(task.file, task)
    case 'npz':
      return compareNpz(task.file)
    case 'parquet':
      return compareParquet(task.file)
    case 'history':
      return compareHistory(task.file, task.keys)
  }
}
