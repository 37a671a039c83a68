/**
 * What the explorer's page has of every trace beside its tokens: a row for the table, a sparkline, its largest changes. Statistics are
 * those of the trace's result; one pass over the values finds the rest.
 */
import type { TraceColumns, TraceResult } from '../../compute/traces/contract.js'
import { SPARK_BUCKETS, type ExplorerSnapshot } from './contract.js'
import { LargestJumps } from './jumps.js'

interface OverviewRow {
  readonly result: Pick<TraceResult, 'fields' | 'statistics'>
  readonly largest: { readonly at: number; readonly change: number } | null
  /** [SPARK_BUCKETS, 2] smallest and largest value of each bucket */
  readonly spark: Float32Array
}

export type NamedSnapshot = Pick<ExplorerSnapshot, 'name' | 'synthetic' | 'snapshotTime'>

export class ExplorerOverview {
  readonly #jumpThreshold: number
  readonly #jumps: LargestJumps
  readonly #rows: OverviewRow[] = []
  #smallest = Infinity
  #largest = -Infinity
  #tokens = 0

  constructor(jumpThreshold: number) {
    this.#jumpThreshold = jumpThreshold
    this.#jumps = new LargestJumps(jumpThreshold)
  }

  get tokens(): number {
    return this.#tokens
  }

  /** Takes the traces in canonical order. */
  take({ fields, statistics }: TraceResult, columns: Pick<TraceColumns, 'values' | 'boundaries'>): void {
    this.#tokens += columns.values.length
    this.#rows.push({ result: { fields, statistics }, ...this.#pass(columns) })
  }

  snapshot(named: NamedSnapshot): ExplorerSnapshot {
    const rows = this.#rows
    const fields = rows.map(({ result }) => result.fields)
    const statistics = rows.map(({ result }) => result.statistics)
    return {
      ...named,
      tokens: this.#tokens,
      jumpThreshold: this.#jumpThreshold,
      valueRange: [this.#smallest, this.#largest],
      traces: {
        step: fields.map(({ step }) => step),
        outcome: fields.map(({ outcome }) => outcome),
        score: fields.map(({ score }) => score),
        uid: fields.map(({ uid }) => uid),
        tokens: statistics.map(({ tokens }) => tokens),
        turns: statistics.map(({ boundary }) => boundary.transitions + 1),
        mean: statistics.map(({ mean }) => mean),
        delta: statistics.map(({ delta }) => delta),
        rmse: statistics.map(({ rmse }) => rmse),
        largestChange: rows.map(({ largest }) => largest?.change ?? null),
        largestAt: rows.map(({ largest }) => largest?.at ?? null),
        sparks: this.#sparks()
      },
      jumps: this.#jumps.list()
    }
  }

  #pass({ values, boundaries }: Pick<TraceColumns, 'values' | 'boundaries'>): Pick<OverviewRow, 'largest' | 'spark'> {
    const { length } = values
    const spark = new Float32Array(2 * SPARK_BUCKETS)
    let before = values[0]
    let at = -1
    let most = -1
    let above = this.#jumps.above
    for (let bucket = 0; bucket < SPARK_BUCKETS; bucket++) {
      const first = Math.floor((bucket * length) / SPARK_BUCKETS)
      const end = Math.floor(((bucket + 1) * length) / SPARK_BUCKETS)
      // A bucket of a short trace may have no token of its own: it shows the one that lies there.
      let smallest = values[first]
      let largest = smallest
      for (let i = first; i < end; i++) {
        const value = values[i]
        const size = Math.abs(value - before)
        before = value
        if (value < smallest) smallest = value
        else if (value > largest) largest = value
        if (size > most && i > 0) {
          most = size
          at = i - 1
        }
        if (size > above) above = this.#jump(values, boundaries, i - 1)
      }
      spark[2 * bucket] = smallest
      spark[2 * bucket + 1] = largest
      if (smallest < this.#smallest) this.#smallest = smallest
      if (largest > this.#largest) this.#largest = largest
    }
    return { largest: at < 0 ? null : { at, change: values[at + 1] - values[at] }, spark }
  }

  /** Lists the change from token `at` to the next. @returns |change| that a further one must exceed */
  #jump(values: TraceColumns['values'], boundaries: Int32Array, at: number): number {
    let turn = 0
    for (let end = boundaries.length; turn < end; ) {
      const middle = (turn + end) >> 1
      if (boundaries[middle] < at) turn = middle + 1
      else end = middle
    }
    this.#jumps.take({ trace: this.#rows.length, at, change: values[at + 1] - values[at], turn, boundary: boundaries[turn] === at })
    return this.#jumps.above
  }

  /** Halves, because the range of two doubles may be none. */
  #sparks(): string {
    const low = this.#smallest / 2
    const range = this.#largest / 2 - low
    const bytes = Buffer.alloc(this.#rows.length * 2 * SPARK_BUCKETS)
    let at = 0
    for (const { spark } of this.#rows) {
      for (const value of spark) bytes[at++] = range === 0 ? 0 : Math.min(255, Math.max(0, Math.round((255 * (value / 2 - low)) / range)))
    }
    return bytes.toString('base64')
  }
}
