/**
 * A plan: which sums each unit of a sample contributes, and how statistics follow from weighted sums. Every statistic but the
 * ranks is a function of such sums, so a resample costs units × sums, not tokens. A plan is numbers and formulas;
 * `bootstrap.ts` evaluates it.
 */
import type { QualityRecord } from './record.js'
import type { RankedTraces, ResampledNumbers } from './resample-task.js'

export type ResampleUnit = readonly QualityRecord[]

/** Statistics that follow from sums over units. */
export interface SumFamily {
  /** sums of a unit */
  readonly columns: number
  /** statistics */
  readonly slots: number
  /** Adds the sums of a unit to `row`, from `at` on. `row` is 0 there. */
  fill(unit: ResampleUnit, row: Float64Array, at: number): void
  /** Writes the statistics of weighted sums to `out`, from `to` on; NaN for one that is undefined. */
  read(sums: Float64Array, at: number, out: Float64Array, to: number): void
  /** trajectories that a statistic is of */
  trajectories(slot: number): number
  /** why a statistic is undefined */
  why(sums: Float64Array, at: number, slot: number): string
}

/** Statistics of ranks, areas under the ROC curve: they need the weights themselves. */
export interface RankFamily {
  readonly slots: number
  /** [slots] */
  readonly traces: readonly RankedTraces[]
  trajectories(slot: number): number
  why(slot: number): string
}

interface PlanPart<T> {
  readonly of: T
  readonly slot: number
}

interface SumPart extends PlanPart<SumFamily> {
  readonly column: number
}

interface RankPart extends PlanPart<RankFamily> {
  /** place of its first traces in `ranks` */
  readonly rank: number
}

export interface QualityPlan extends ResampledNumbers {
  readonly units: readonly ResampleUnit[]
  readonly linear: readonly SumPart[]
  readonly ranked: readonly RankPart[]
  readonly slots: number
  /** [units] units by the length of their rows, longest first; canonical order on a tie */
  readonly order: Int32Array
  /**
   * rows in that order, in blocks of eight: column k of row i of a block stands at 8 k + i. A row ends with its last number
   * that is not 0, and is filled with 0 to its block's longest. In shared memory
   */
  readonly rows: Float64Array
  /** [blocks + 1] where each block begins */
  readonly blocks: Int32Array
}

/** Rows that are added together; the loop of `kernel/assembly/resampling.ts` is written for this number. */
export const ROWS_A_BLOCK = 8

/** Gathers families, then makes the plan. Families that few units have (late turns) come last, so that rows are short. */
export class QualityPlanBuilder {
  readonly #linear: SumPart[] = []
  readonly #ranked: RankPart[] = []
  readonly #ranks: RankedTraces[] = []
  #slots = 0
  #columns = 0

  constructor(readonly units: readonly ResampleUnit[]) {}

  /** @returns its first slot */
  add(of: SumFamily): number {
    const slot = this.#take(of.slots)
    this.#linear.push({ of, slot, column: this.#columns })
    this.#columns += of.columns
    return slot
  }

  /** @returns its first slot */
  rank(of: RankFamily): number {
    const slot = this.#take(of.slots)
    this.#ranked.push({ of, slot, rank: this.#ranks.length })
    this.#ranks.push(...of.traces)
    return slot
  }

  build(): QualityPlan {
    const { units } = this
    const filled = units.map(unit => {
      const row = new Float64Array(this.#columns)
      for (const { of, column } of this.#linear) of.fill(unit, row, column)
      let length = row.length
      while (length > 0 && row[length - 1] === 0) length--
      return row.slice(0, length)
    })
    const order = Int32Array.from(units.keys()).sort((a, b) => filled[b].length - filled[a].length)
    const blocks = new Int32Array(Math.ceil(units.length / ROWS_A_BLOCK) + 1)
    for (let block = 0; block + 1 < blocks.length; block++) {
      blocks[block + 1] = blocks[block] + ROWS_A_BLOCK * filled[order[block * ROWS_A_BLOCK]].length
    }
    const rows = new Float64Array(new SharedArrayBuffer(8 * blocks[blocks.length - 1]))
    order.forEach((unit, i) => {
      const at = blocks[Math.floor(i / ROWS_A_BLOCK)] + (i % ROWS_A_BLOCK)
      const row = filled[unit]
      for (let k = 0; k < row.length; k++) rows[at + k * ROWS_A_BLOCK] = row[k]
    })
    return {
      units,
      linear: this.#linear,
      ranked: this.#ranked,
      ranks: this.#ranks,
      slots: this.#slots,
      columns: this.#columns,
      order,
      rows,
      blocks
    }
  }

  #take(slots: number): number {
    const first = this.#slots
    this.#slots += slots
    return first
  }
}
