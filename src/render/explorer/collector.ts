/**
 * What the explorer's page needs of its snapshots, trace by trace: rows of the overview, and blocks of tokens and texts, which wait in
 * memory as they are packed. Above its limit a page would be too large to open: no further block is asked for, and those that are there
 * are let go. Texts have a limit of their own, behind which traces have none.
 */
import type { TraceResult, TraceColumns } from '../../compute/traces/contract.js'
import type { PageBlocks, PageWanted, TokenBlocks } from '../../compute/traces/page-blocks.js'
import { ExplorerOverview } from './overview.js'

export interface PageLimit {
  readonly tokens: number
  /** of all blocks of tokens, packed */
  readonly bytes: number
  /** of all blocks of texts, packed */
  readonly textBytes: number
}

/** What became of the texts of traces that were asked for. */
export interface TextCounts {
  /** traces that have none */
  readonly none: number
  /** traces whose texts found no room */
  readonly noRoom: number
  /** passages that were taken out of those that are there */
  readonly withheld: number
}

/** What the snapshots of one page have used of its limit. */
export class PageBudget {
  readonly limit: PageLimit
  #tokens = 0
  #bytes = 0
  #textBytes = 0
  #texts: TextCounts = { none: 0, noRoom: 0, withheld: 0 }

  constructor(limit: PageLimit) {
    this.limit = limit
  }

  get isOver(): boolean {
    return this.#tokens > this.limit.tokens || this.#bytes > this.limit.bytes
  }

  get takesTexts(): boolean {
    return this.#textBytes < this.limit.textBytes
  }

  /** Ends it before the first trace: what is read is too large. */
  refuse(): void {
    this.#tokens = Infinity
  }

  get texts(): TextCounts {
    return this.#texts
  }

  spend({ tokens }: Pick<TokenBlocks, 'tokens'>, count: number): void {
    this.#tokens += count
    this.#bytes += tokens.length
  }

  /** The texts of a trace that were asked for. @returns those that there is room for */
  spendTexts({ texts, withheld }: PageBlocks): Uint8Array | null {
    const { none, noRoom, withheld: before } = this.#texts
    if (texts === null) this.#texts = { ...this.#texts, none: none + 1 }
    else if (!this.takesTexts) this.#texts = { ...this.#texts, noRoom: noRoom + 1 }
    else {
      this.#textBytes += texts.length
      this.#texts = { ...this.#texts, withheld: before + withheld }
      return texts
    }
    return null
  }
}

export class ExplorerCollector {
  readonly overview: ExplorerOverview
  readonly budget: PageBudget
  /** whether the texts of turns are wanted */
  readonly texts: boolean
  #blocks: TokenBlocks[] = []

  constructor(jumpThreshold: number, budget: PageBudget, texts: boolean) {
    this.overview = new ExplorerOverview(jumpThreshold)
    this.budget = budget
    this.texts = texts
  }

  /** In canonical order; none above the limit. */
  get blocks(): readonly TokenBlocks[] {
    return this.#blocks
  }

  /** What is wanted of the next trace; null: nothing, because there is no room. */
  readonly wanted = (): PageWanted | null => (this.budget.isOver ? null : { tokens: true, texts: this.texts })

  /** Takes the traces in canonical order. @param page null: it was not wanted */
  take(result: TraceResult, columns: TraceColumns, page: PageBlocks | null): void {
    if (page === null || this.budget.isOver) return
    const { tokens } = page
    if (tokens === null) throw new Error('a trace without its tokens')
    this.budget.spend({ tokens }, columns.values.length)
    this.overview.take(result, columns)
    this.#blocks.push({ ...page, tokens, texts: this.texts ? this.budget.spendTexts(page) : null })
    if (this.budget.isOver) this.#blocks = []
  }
}
