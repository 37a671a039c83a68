/**
 * What a reader writes into the filter of a column.
 *
 *     numbers   >0.2  >=0.2  <3  <=3  =3  3  10..20  10..  ..20  none     several, with spaces: all must hold
 *     texts     a part of the text, in any case; none in quotes means the word
 *     outcome   success, failure, none
 */
import type { ColumnKind, TraceCell } from './columns.js'

export type CellTest = (cell: TraceCell) => boolean
export type ShownNumber = (value: number) => number

/** What a column holds that a trace does not state. */
const NONE = 'none'
const NUMBER = '[-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[-+]?\\d+)?'
const COMPARISON = new RegExp(`^(>=|<=|>|<|=)?(${NUMBER})$`, 'i')
const RANGE = new RegExp(`^(${NUMBER})?\\.\\.(${NUMBER})?$`, 'i')

function ofNumbers(holds: (value: number) => boolean): CellTest {
  return cell => typeof cell === 'number' && holds(cell)
}

function comparison(sign: string | undefined, limit: number, shown: ShownNumber): CellTest {
  if (sign === '>') return ofNumbers(value => value > limit)
  if (sign === '>=') return ofNumbers(value => value >= limit)
  if (sign === '<') return ofNumbers(value => value < limit)
  if (sign === '<=') return ofNumbers(value => value <= limit)
  return ofNumbers(value => value === limit || shown(value) === limit)
}

function numberTest(word: string, shown: ShownNumber): CellTest | null {
  if (word === NONE) return cell => cell === null
  const compared = COMPARISON.exec(word)
  if (compared !== null) return comparison(compared[1], Number(compared[2]), shown)
  const range = RANGE.exec(word)
  if (range === null || word === '..') return null
  const [from, to] = [Number(range[1] ?? -Infinity), Number(range[2] ?? Infinity)]
  return from <= to ? ofNumbers(value => value >= from && value <= to) : null
}

/**
 * @param shown the number that a cell shows, which has fewer digits: what equals it is found too
 * @returns the test of a cell; null where the text is no filter of such a column
 */
export function parseFilter(kind: ColumnKind, text: string, shown: ShownNumber = value => value): CellTest | null {
  const words = text
    .trim()
    .replaceAll('\u2212', '-')
    .replace(/([<>=]) +/g, '$1')
    .toLowerCase()
  if (words === '') return () => true
  if (kind === 'text') {
    if (words === NONE) return cell => cell === null
    const part = words.replace(/^"(.*)"$/s, '$1')
    return cell => typeof cell === 'string' && cell.toLowerCase().includes(part)
  }
  if (kind === 'outcome') {
    if (words === NONE) return cell => cell === null
    return words === 'success' || words === 'failure' ? cell => cell === words : null
  }
  const tests = words.split(/\s+/).map(word => numberTest(word, shown))
  return tests.every(test => test !== null) ? cell => tests.every(test => test(cell)) : null
}
