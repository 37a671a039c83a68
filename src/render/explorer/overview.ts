/**
 * What the explorer's page has of every trace beside its tokens: a row for the table, a sparkline, its largest changes. Statistics are
 * those of the trace's result; one pass over the values finds the rest.
 */
import type { TokenArrays, TraceResult } from '../../compute/traces/contract.js'
import { SPARK_BUCKETS, type ExplorerSnapshot } from './contract.js'
import { LargestJumps } from './jumps.js'

interface Row {
  readonly result: Pick<TraceResult, 'fields' | 'statistics'>
  readonly largest: { readonly at: number; readonly change: number } | null
  /** [SPARK_BUCKETS, 2] smallest and largest value of each bucket */
  readonly spark: Float32Array
}

export type NamedSnapshot = Pick<ExplorerSnapshot, 'name' | 'synthetic' | 'snapshotTime'>

export class ExplorerOverview {
  readonly #jumpThreshold: number
  readonly #jumps: LargestJumps
  readonly #rows: Row[] = []
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
  take(
    { fields, statistics }: TraceResult,
    { values, boundaries }: Pick<TokenArrays, 'values'> & { readonly boundaries: Int32Array }
  ): void {
    this.#tokens += values.length
    const spark = this.#spark(values)
    this.#rows.push({ result: { fields, statistics }, largest: this.#changes(values, boundaries), spark })
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

  #spark(values: TokenArrays['values']): Float32Array {
    const { length } = values
    const spark = new Float32Array(2 * SPARK_BUCKETS)
    for (let bucket = 0; bucket < SPARK_BUCKETS; bucket++) {
      // A bucket of a short trace has the token that lies there.
      const first = Math.floor((bucket * length) / SPARK_BUCKETS)
      const end = Math.max(first + 1, Math.floor(((bucket + 1) * length) / SPARK_BUCKETS))
      let smallest = values[first]
      let largest = smallest
      for (let i = first + 1; i < end; i++) {
        const value = values[i]
        if (value < smallest) smallest = value
        else if (value > largest) largest = value
      }
      spark[2 * bucket] = smallest
      spark[2 * bucket + 1] = largest
      if (smallest < this.#smallest) this.#smallest = smallest
      if (largest > this.#largest) this.#largest = largest
    }
    return spark
  }

  #changes(values: TokenArrays['values'], boundaries: Int32Array): Row['largest'] {
    const trace = this.#rows.length
    let above = this.#jumps.above
    let at = -1
    let most = -1
    let turn = 0
    for (let i = 0; i + 1 < values.length; i++) {
      const change = values[i + 1] - values[i]
      const size = Math.abs(change)
      if (size > most) {
        most = size
        at = i
      }
      if (size <= above) continue
      while (turn < boundaries.length && boundaries[turn] < i) turn++
      this.#jumps.take({ trace, at: i, change, turn, boundary: boundaries[turn] === i })
      above = this.#jumps.above
    }
    return at < 0 ? null : { at, change: values[at + 1] - values[at] }
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
