/**
 * What the paths of a series are: the corners of its lines, the middles of its markers. Chart.js draws a marker as a fill and
 * an outline of the same path, each of which may be left out; a line has neither an arc nor an end that closes it.
 */
import type { SvgPath } from '../../ingest/svg/drawn-figure.js'

/** x and y in turn, in the file's units */
export type Positions = readonly number[]

export interface DrawnMarks {
  readonly line: Positions
  readonly markers: Positions
}

function isLine(path: SvgPath, before: SvgPath | undefined): boolean {
  return path.stroked && before?.data !== path.data && path.parts.every(({ closed, arcs }) => !closed && arcs === 0)
}

/** A circle is two arcs, from its right end to its left end and back. The corners of other markers lie evenly around their middle. */
function middleOf({ parts }: SvgPath): readonly [x: number, y: number] {
  const points = parts.flatMap(({ points: own, arcs }) => (arcs === 2 ? own.slice(0, 4) : own))
  let [x, y] = [0, 0]
  for (let i = 0; i < points.length; i += 2) {
    x += points[i]
    y += points[i + 1]
  }
  return [(2 * x) / points.length, (2 * y) / points.length]
}

export function marksOf(paths: readonly SvgPath[]): DrawnMarks {
  const isInLine = paths.map((path, i) => isLine(path, paths[i - 1]))
  const others = paths.filter((_, i) => !isInLine[i])
  const outlined = others.filter(({ stroked }) => stroked)
  return {
    line: paths.flatMap((path, i) => (isInLine[i] ? path.parts.flatMap(({ points }) => points) : [])),
    markers: (outlined.length > 0 ? outlined : others).flatMap(middleOf)
  }
}
