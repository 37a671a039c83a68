/**
 * The data of a path as the figures write it: M, L, A and Z with absolute coordinates. Other commands are refused. An arc is
 * its end alone.
 */
import { Fault, printable, type Place } from '../../core/errors.js'

/** One stretch without a move: x and y of its points in turn. */
export interface SubPath {
  readonly points: readonly number[]
  readonly closed: boolean
  readonly arcs: number
}

const NUMBER = '-?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?'
const COMMAND = new RegExp(`([ML])(${NUMBER}) (${NUMBER})|A${NUMBER} ${NUMBER} 0 0 [01] (${NUMBER}) (${NUMBER})|(Z)`, 'y')

export function readPath(data: string, place: Place): SubPath[] {
  const paths: { points: number[]; closed: boolean; arcs: number }[] = []
  COMMAND.lastIndex = 0
  while (COMMAND.lastIndex < data.length) {
    const at = COMMAND.lastIndex
    const match = COMMAND.exec(data)
    const last = paths.at(-1)
    if (match === null || (match[1] !== 'M' && (last === undefined || last.closed))) {
      const found = printable(data.slice(at, at + 30))
      throw new Fault({ format: 'svg', problem: 'wrong path', found, expected: 'M, L, A or Z with absolute coordinates', place })
    }
    const [, command, x, y, arcX, arcY] = match
    if (command === 'M') paths.push({ points: [Number(x), Number(y)], closed: false, arcs: 0 })
    else if (command === 'L') last?.points.push(Number(x), Number(y))
    else if (match[6] === undefined) {
      last?.points.push(Number(arcX), Number(arcY))
      if (last !== undefined) last.arcs++
    } else if (last !== undefined) last.closed = true
  }
  return paths
}
