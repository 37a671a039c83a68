/**
 * Finds the cells that merged ranges cover. A merged range shows only its top left cell.
 *
 * Ranges and cells are swept by row, and the ranges of the current row are kept by column. Tens of thousands of either
 * take milliseconds.
 */
import { Fault } from '../../core/errors.js'
import { MAX_COLUMN } from '../../schema/grid.js'
import type { CellRange } from './references.js'

/** Index of the last range that starts at or left of `column`, or -1. */
function lastAt(ranges: readonly CellRange[], column: number): number {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ranges[middle].left <= column) low = middle + 1
    else high = middle
  }
  return low - 1
}

/**
 * The ranges that reach into the current row, by column. A range that has ended stays until another one starts in its
 * columns, so that there are never more ranges than the grid has columns.
 */
class RowRanges {
  readonly #ranges: CellRange[] = []
  #next = 0
  readonly #merges: readonly CellRange[]

  /** @param merges sorted by top row */
  constructor(merges: readonly CellRange[]) {
    this.#merges = merges
  }

  moveTo(row: number): void {
    while (this.#next < this.#merges.length && this.#merges[this.#next].top <= row) this.#add(this.#merges[this.#next++])
  }

  at(row: number, column: number): CellRange | undefined {
    const range = this.#ranges[lastAt(this.#ranges, column)]
    return range !== undefined && range.right >= column && range.bottom >= row ? range : undefined
  }

  #add(range: CellRange): void {
    const last = lastAt(this.#ranges, range.right)
    let first = last + 1
    for (; first > 0 && this.#ranges[first - 1].right >= range.left; first--) {
      const other = this.#ranges[first - 1]
      if (other.bottom < range.top) continue
      const found = `${other.ref} and ${range.ref}`
      throw new Fault({ format: 'xlsx', problem: 'overlapping merged ranges', found, expected: 'ranges apart' })
    }
    this.#ranges.splice(first, last + 1 - first, range)
  }
}

/** The ranges without duplicates. @throws Fault if two ranges overlap */
export function distinctMerges(merges: readonly CellRange[]): readonly CellRange[] {
  const distinct = [...new Map(merges.map(range => [range.ref, range])).values()]
  new RowRanges(byTop(distinct)).moveTo(Infinity)
  return distinct
}

function byTop(merges: readonly CellRange[]): readonly CellRange[] {
  return [...merges].sort((a, b) => a.top - b.top || a.left - b.left)
}

/** Calls `cover` with the position of each given cell that lies in a merged range and is not its top left one. */
export function eachCovered(
  merges: readonly CellRange[],
  cells: Iterable<{ readonly row: number; readonly column: number }>,
  count: number,
  cover: (row: number, column: number) => void
): void {
  const keys = new Float64Array(count)
  let n = 0
  for (const { row, column } of cells) keys[n++] = row * (MAX_COLUMN + 1) + column
  keys.sort()
  const ranges = new RowRanges(byTop(merges))
  for (const key of keys) {
    const row = Math.floor(key / (MAX_COLUMN + 1))
    const column = key % (MAX_COLUMN + 1)
    ranges.moveTo(row)
    const range = ranges.at(row, column)
    if (range !== undefined && (range.top !== row || range.left !== column)) cover(row, column)
  }
}
