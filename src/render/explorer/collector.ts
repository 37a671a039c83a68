/**
 * What the explorer's page needs of one snapshot, trace by trace: rows of the overview, and blocks of tokens that wait in memory, packed.
 * Above the limit the blocks are let go: the page would be too large to open.
 */
import type { TraceColumns, TraceResult } from '../../compute/traces/contract.js'
import { tokenBlock } from './blocks.js'
import { ExplorerOverview } from './overview.js'

export interface PageLimit {
  readonly tokens: number
  /** of all blocks, packed */
  readonly bytes: number
}

/** One budget for all snapshots of a page. */
export class PageBudget {
  readonly limit: PageLimit
  #tokens = 0
  #bytes = 0

  constructor(limit: PageLimit) {
    this.limit = limit
  }

  get isOver(): boolean {
    return this.#tokens > this.limit.tokens || this.#bytes > this.limit.bytes
  }

  spend({ tokens = 0, bytes = 0 }: Partial<PageLimit>): void {
    this.#tokens += tokens
    this.#bytes += bytes
  }
}

export class ExplorerCollector {
  readonly overview: ExplorerOverview
  readonly budget: PageBudget
  readonly #blocks: Buffer[] = []

  constructor(jumpThreshold: number, budget: PageBudget) {
    this.overview = new ExplorerOverview(jumpThreshold)
    this.budget = budget
  }

  /** gzip of each trace's Arrow stream, in canonical order; none above the limit */
  get blocks(): readonly Buffer[] {
    return this.#blocks
  }

  /** Takes the traces in canonical order. Calls may overlap. @param columns must not change until the promise resolves */
  async write(result: TraceResult, columns: TraceColumns): Promise<void> {
    if (this.budget.isOver) return
    this.budget.spend({ tokens: columns.values.length })
    this.overview.take(result, columns)
    const at = this.#blocks.push(Buffer.alloc(0)) - 1
    const block = await tokenBlock(columns)
    this.budget.spend({ bytes: block.length })
    if (this.budget.isOver) this.#blocks.length = 0
    else this.#blocks[at] = block
  }
}
