/**
 * What the explorer's page needs of its snapshots, trace by trace: rows of the overview, and blocks of tokens and texts, which wait in
 * memory as they are packed. Above its limit a page would be too large to open: no further block is asked for, and those that are there
 * are let go. Texts have a limit of their own, behind which traces have none.
 */
import type { TraceResult, TraceColumns } from '../../compute/traces/contract.js'
import type { PageBlocks, PageWanted } from '../../compute/traces/page-blocks.js'
import { ExplorerOverview } from './overview.js'

export interface PageLimit {
  readonly tokens: number
  /** of all blocks of tokens, packed */
  readonly bytes: number
  /** of all blocks of texts, packed */
  readonly textBytes: number
}

/** What the snapshots of one page have used of its limit. */
export class PageBudget {
  readonly limit: PageLimit
  #tokens = 0
  #bytes = 0
  #textBytes = 0
  #withoutTexts = 0

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

  /** Traces whose texts found no room. */
  get withoutTexts(): number {
    return this.#withoutTexts
  }

  spend({ tokens }: PageBlocks, count: number): void {
    this.#tokens += count
    this.#bytes += tokens.length
  }

  /** @returns whether there was room */
  spendTexts(bytes: number): boolean {
    const { takesTexts } = this
    if (takesTexts) this.#textBytes += bytes
    else this.#withoutTexts++
    return takesTexts
  }
}

export class ExplorerCollector {
  readonly overview: ExplorerOverview
  readonly budget: PageBudget
  /** whether the texts of turns are wanted */
  readonly texts: boolean
  #blocks: PageBlocks[] = []

  constructor(jumpThreshold: number, budget: PageBudget, texts: boolean) {
    this.overview = new ExplorerOverview(jumpThreshold)
    this.budget = budget
    this.texts = texts
  }

  /** In canonical order; none above the limit. */
  get blocks(): readonly PageBlocks[] {
    return this.#blocks
  }

  /** What is wanted of the next trace; null: nothing, because there is no room. */
  readonly wanted = (): PageWanted | null => (this.budget.isOver ? null : { texts: this.texts })

  /** Takes the traces in canonical order. @param page null: it was not wanted */
  take(result: TraceResult, columns: TraceColumns, page: PageBlocks | null): void {
    if (page === null || this.budget.isOver) return
    this.budget.spend(page, columns.values.length)
    this.overview.take(result, columns)
    const { tokens, texts } = page
    this.#blocks.push({ tokens, texts: texts !== null && this.budget.spendTexts(texts.length) ? texts : null })
    if (this.budget.isOver) this.#blocks = []
  }
}
