/** A sample that several files of a rollout hold is taken once: what they say of it must be the same. */
import { Fault, printable, type Place } from '../../core/errors.js'
import type { FieldOfRow, NamedNumbers, RawRow } from './part.js'

interface CopiedRow {
  readonly place: Place
  readonly row: RawRow
}

const ROW_ARRAYS = ['mask', 'attention', 'tokenIds', 'positions', 'tokenScores'] as const
const ROW_FIELDS = ['responseLength', 'totalLength', 'outcome', 'score', 'uid', 'truncated'] as const

/**
 * Compares what was read of both. What only one of them has is passed over: stages of a pipeline hold different arrays.
 * @throws Fault at the first difference, with file, row, array and index of the copy
 */
export function requireSame(taken: CopiedRow, copy: CopiedRow, format: string): void {
  const fault = (found: string, expected: string, name: string, index?: number): Fault => {
    const { file = '', trace } = taken.place
    const as = `${expected}, as in ${printable(file)}${trace === undefined ? '' : `, trace ${trace}`}`
    const place = { ...copy.place, array: name, ...(index === undefined ? {} : { index }) }
    return new Fault({ format, problem: 'copies differ', found, expected: as, place })
  }
  const compareArrays = (a: NamedNumbers | null, b: NamedNumbers | null): void => {
    if (a === null || b === null) return
    if (a.data.length !== b.data.length) throw fault(`${b.data.length} numbers`, `${a.data.length}`, b.name)
    for (let i = 0; i < a.data.length; i++) {
      const [x, y] = [a.data[i], b.data[i]]
      if (x !== y && !(Number.isNaN(x) && Number.isNaN(y))) throw fault(`${y}`, `${x}`, b.name, i)
    }
  }
  const compareFields = (a: FieldOfRow | null, b: FieldOfRow | null): void => {
    if (a === null || b === null || a.value === null || b.value === null) return
    if (String(a.value) !== String(b.value)) throw fault(printable(String(b.value)), printable(String(a.value)), b.name)
  }
  for (const [key, array] of taken.row.arrays) compareArrays(array, copy.row.arrays.get(key) ?? null)
  for (const key of ROW_ARRAYS) compareArrays(taken.row[key], copy.row[key])
  for (const key of ROW_FIELDS) compareFields(taken.row[key], copy.row[key])
}
