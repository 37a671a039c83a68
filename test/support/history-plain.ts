/**
 * Histories as a person would write them down, a list of rows a run, and their translation into the columns that the
 * readers give. The oracle sees the rows, the code under test sees the columns.
 */
import { earliestFirst } from '../../src/ingest/histories/row-order.js'
import type { HistoryColumn, ListedRun, RunHistory } from '../../src/ingest/histories/types.js'

/** A number; text as it stood for one that is not finite; null; true for anything that is no number. */
export type Logged = number | string | null | true

export interface PlainRow {
  readonly step: number
  readonly timestamp: number | null
  /** null: the row has none; text: one that is null or not finite, as it stood */
  readonly global: number | string | null
  readonly logged: { readonly [key: string]: Logged }
}

export interface PlainRun {
  readonly id: string
  readonly displayName: string
  readonly createdAt: string
  readonly createdSeconds: number
  readonly rows: readonly PlainRow[]
}

export function listedRun(run: PlainRun, more: Partial<ListedRun> = {}): ListedRun {
  return {
    id: run.id,
    displayName: run.displayName,
    entity: 'lab',
    project: 'training',
    createdAt: run.createdAt,
    createdSeconds: run.createdSeconds,
    state: 'crashed',
    url: null,
    fetchedAt: null,
    label: 'all',
    config: { id: run.id },
    ...more
  }
}

export function runHistory(run: PlainRun, keys: readonly string[], listed: ListedRun = listedRun(run)): RunHistory {
  const rows = earliestFirst({
    rows: run.rows.length,
    step: Float64Array.from(run.rows, row => row.step),
    timestamp: Float64Array.from(run.rows, row => row.timestamp ?? NaN),
    globalStep: Float64Array.from(run.rows, row => (typeof row.global === 'number' ? row.global : NaN)),
    unusableGlobalSteps: Int32Array.from([...run.rows.keys()].filter(i => typeof run.rows[i].global === 'string')),
    columns: keys.map(key => column(run, key)),
    inexact: [],
    nested: null
  })
  return { run: listed, file: { path: `wandb/history/${listed.label}/${run.id}.jsonl`, sha256: '0'.repeat(64), bytes: 0 }, ...rows }
}

function column(run: PlainRun, key: string): HistoryColumn {
  const row: number[] = []
  const value: number[] = []
  const nonFiniteRow: number[] = []
  const nonFinite: Record<string, number> = {}
  let nulls = 0
  let notNumbers = 0
  run.rows.forEach((r, i) => {
    if (!(key in r.logged)) return
    const logged = r.logged[key]
    if (typeof logged === 'number') {
      row.push(i)
      value.push(logged)
    } else if (typeof logged === 'string') {
      nonFiniteRow.push(i)
      nonFinite[logged] = (nonFinite[logged] ?? 0) + 1
    } else if (logged === null) nulls++
    else notNumbers++
  })
  return {
    key,
    row: Int32Array.from(row),
    value: Float64Array.from(value),
    nonFiniteRow: Int32Array.from(nonFiniteRow),
    nonFinite,
    nulls,
    notNumbers
  }
}
