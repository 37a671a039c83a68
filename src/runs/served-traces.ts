/**
 * The traces of one snapshot, as an explorer's server holds them: in memory the overview and where turns begin, everything else in a
 * file without a name. A view reads the tokens of its range, and no others.
 */
import type { TraceColumns, TraceResult } from '../compute/traces/contract.js'
import type { PageBlocks, PageWanted } from '../compute/traces/page-blocks.js'
import type { TraceView } from '../render/explorer/contract.js'
import type { TextCounts } from '../render/explorer/collector.js'
import { ExplorerOverview } from '../render/explorer/overview.js'
import { viewOf, type TraceTokens, type ViewRange } from '../render/explorer/view.js'
import type { TraceTaker } from './explore.js'
import type { SpillFile } from './spill-file.js'

type NumberColumn = Float32Array | Float64Array

/** Reads elements `from` to `to - 1` of a column. */
type ColumnReader<T> = (from: number, to: number) => T

interface ServedTrace {
  readonly tokens: number
  readonly values: ColumnReader<NumberColumn>
  readonly returns: ColumnReader<NumberColumn>
  /** as of `TraceTokens` */
  readonly positions: Float64Array
  readonly starts: Int32Array
  /** null: it has none */
  readonly texts: (() => Uint8Array) | null
}

export class ServedTraces implements TraceTaker {
  readonly overview: ExplorerOverview
  readonly #file: SpillFile
  readonly #texts: boolean
  readonly #traces: ServedTrace[] = []
  #none = 0
  #withheld = 0

  /** @param texts whether the texts of turns are wanted */
  constructor(file: SpillFile, jumpThreshold: number, texts: boolean) {
    this.overview = new ExplorerOverview(jumpThreshold)
    this.#file = file
    this.#texts = texts
  }

  readonly wanted = (): PageWanted | null => (this.#texts ? { tokens: false, texts: true } : null)

  take(result: TraceResult, columns: TraceColumns, page: PageBlocks | null): void {
    this.overview.take(result, columns)
    const { values, returns, responsePositions, boundaries } = columns
    const starts = startsOf(boundaries, values.length)
    const texts = page?.texts ?? null
    if (this.#texts && texts === null) this.#none++
    this.#withheld += page?.withheld ?? 0
    const textsAt = texts === null ? 0 : this.#file.write(texts)
    this.#traces.push({
      tokens: values.length,
      values: this.#column(values),
      returns: this.#column(returns),
      positions: Float64Array.from(starts.subarray(0, -1), start => Number(responsePositions[start])),
      starts,
      texts: texts === null ? null : () => new Uint8Array(this.#file.read(textsAt, texts.length))
    })
  }

  get textCounts(): TextCounts {
    return { none: this.#none, noRoom: 0, withheld: this.#withheld }
  }

  get traces(): number {
    return this.#traces.length
  }

  tokens(trace: number): number {
    return this.#traces[trace].tokens
  }

  /** @throws RangeError where the range is not within the trace, or is empty */
  view(trace: number, { from, to, buckets }: ViewRange): TraceView {
    const served = this.#traces[trace]
    if (!(0 <= from && from < to && to <= served.tokens)) throw new RangeError(`tokens ${from} to ${to} of a trace of ${served.tokens}`)
    // The change of its first token is that to the one before.
    const first = Math.max(0, from - 1)
    const view = viewOf(windowOf(served, first, to), { from: from - first, to: to - first, buckets })
    return { ...view, from, to, index: view.index.map(index => index + first) }
  }

  /** JSON of `TraceTexts`, packed with gzip; null: the trace has none */
  texts(trace: number): Uint8Array | null {
    return this.#traces[trace].texts?.() ?? null
  }

  #column(numbers: NumberColumn): ColumnReader<NumberColumn> {
    const at = this.#file.write(numbers)
    const { BYTES_PER_ELEMENT: width } = numbers
    const Column = numbers instanceof Float64Array ? Float64Array : Float32Array
    return (from, to) => new Column(this.#file.read(at + width * from, width * (to - from)))
  }
}

/** Tokens `first` to `to - 1` as if they were a trace. Turns keep their numbers: those outside have no tokens. */
function windowOf({ values, returns, positions, starts }: ServedTrace, first: number, to: number): TraceTokens {
  const within = starts.map(start => Math.min(Math.max(start, first), to) - first)
  return {
    values: values(first, to),
    returns: returns(first, to),
    positions: positions.map((position, turn) => position + (within[turn] + first - starts[turn])),
    starts: within
  }
}

function startsOf(boundaries: Int32Array, tokens: number): Int32Array {
  const starts = new Int32Array(boundaries.length + 2)
  for (let k = 0; k < boundaries.length; k++) starts[k + 1] = boundaries[k] + 1
  starts[boundaries.length + 1] = tokens
  return starts
}
