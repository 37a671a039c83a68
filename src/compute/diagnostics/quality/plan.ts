/**
 * A plan: which sums each unit of a sample contributes, and how statistics follow from weighted sums. Every statistic but the
 * ranks is a function of such sums, so a resample costs units × sums, not tokens. A plan is plain data; `bootstrap.ts`
 * evaluates it.
 */
import type { QualityRecord } from './record.js'

export type Unit = readonly QualityRecord[]

/** Statistics that follow from sums over units. */
export interface Family {
  /** sums of a unit */
  readonly columns: number
  /** statistics */
  readonly slots: number
  /** Adds the sums of a unit to `row`, from `at` on. `row` is 0 there. */
  fill(unit: Unit, row: Float64Array, at: number): void
  /** Writes the statistics of weighted sums to `out`, from `to` on; NaN for one that is undefined. */
  read(sums: Float64Array, at: number, out: Float64Array, to: number): void
  /** trajectories that a statistic is of */
  trajectories(slot: number): number
  /** why a statistic is undefined */
  why(sums: Float64Array, at: number, slot: number): string
}

/** Statistics of ranks: they need the weights themselves. */
export interface Ranked {
  readonly slots: number
  /** Writes the statistics of a resample to `out`, from `to` on. `weights[at + u]` counts unit u. */
  read(weights: Uint16Array, at: number, out: Float64Array, to: number): void
  trajectories(slot: number): number
  why(slot: number): string
}

interface Part<T> {
  readonly of: T
  readonly slot: number
}

export interface LinearPart extends Part<Family> {
  readonly column: number
}

export interface Plan {
  readonly units: readonly Unit[]
  readonly linear: readonly LinearPart[]
  readonly ranked: readonly Part<Ranked>[]
  readonly slots: number
  readonly columns: number
  /** rows of all units behind one another; row u is [starts[u], starts[u + 1]) and ends with its last number that is not 0 */
  readonly rows: Float64Array
  readonly starts: Int32Array
}

/** Gathers families, then makes the plan. Families that few units have (late turns) come last, so that rows are short. */
export class PlanBuilder {
  readonly #linear: LinearPart[] = []
  readonly #ranked: Part<Ranked>[] = []
  #slots = 0
  #columns = 0

  constructor(readonly units: readonly Unit[]) {}

  /** @returns its first slot */
  add(of: Family): number {
    const slot = this.#take(of.slots)
    this.#linear.push({ of, slot, column: this.#columns })
    this.#columns += of.columns
    return slot
  }

  /** @returns its first slot */
  rank(of: Ranked): number {
    const slot = this.#take(of.slots)
    this.#ranked.push({ of, slot })
    return slot
  }

  build(): Plan {
    const { units } = this
    const starts = new Int32Array(units.length + 1)
    let rows = new Float64Array(units.length * Math.min(this.#columns, 256))
    const row = new Float64Array(this.#columns)
    units.forEach((unit, u) => {
      row.fill(0)
      for (const { of, column } of this.#linear) of.fill(unit, row, column)
      let length = row.length
      while (length > 0 && row[length - 1] === 0) length--
      const end = starts[u] + length
      if (end > rows.length) {
        const wider = new Float64Array(2 * end)
        wider.set(rows)
        rows = wider
      }
      rows.set(row.subarray(0, length), starts[u])
      starts[u + 1] = end
    })
    return {
      units,
      linear: this.#linear,
      ranked: this.#ranked,
      slots: this.#slots,
      columns: this.#columns,
      rows: rows.slice(0, starts[units.length]),
      starts
    }
  }

  #take(slots: number): number {
    const first = this.#slots
    this.#slots += slots
    return first
  }
}
