/** The rows of a partial that is being made: their bytes lie in a file without a name once there are many. */
import type { KeptBytes } from '../../compute/diagnostics/packed-record.js'
import { RecordSpill } from '../record-spill.js'
import type { PartialRow } from './contract.js'

/** A row whose bytes lie somewhere. */
export type KeptRow = Omit<PartialRow, 'head' | 'record' | 'curve'> & Readonly<Record<'head' | 'record' | 'curve', KeptBytes>>

export class KeptRows {
  readonly #spill: RecordSpill
  readonly #rows: KeptRow[] = []

  /** @param dir the output folder */
  constructor(dir: string) {
    this.#spill = new RecordSpill(dir)
  }

  get all(): readonly KeptRow[] {
    return this.#rows
  }

  /** @param bytes may change afterwards */
  keep(bytes: Uint8Array): KeptBytes {
    return this.#spill.keep(bytes)
  }

  kept({ head, record, curve, ...row }: PartialRow): KeptRow {
    return { ...row, head: this.keep(head), record: this.keep(record), curve: this.keep(curve) }
  }

  add(row: KeptRow): void {
    this.#rows.push(row)
  }

  /** By snapshot and trace, each read when it is asked for. */
  *inOrder(): Iterable<PartialRow> {
    const rows = [...this.#rows].sort((a, b) => a.snapshot - b.snapshot || a.trace - b.trace)
    for (const { head, record, curve, ...row } of rows) {
      yield { ...row, head: allBytes(head), record: allBytes(record), curve: allBytes(curve) }
    }
  }

  close(): void {
    this.#spill.close()
  }
}

export function allBytes(kept: KeptBytes): Uint8Array {
  return new Uint8Array(kept.read(0, kept.length))
}
