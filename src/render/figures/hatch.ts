/** Hatching of a rectangle as single lines. A canvas pattern would become a picture in a PDF or SVG. */

interface At {
  readonly x: number
  readonly y: number
}

/** distance between lines, measured across them, in points */
const SPACING = 3

/** Lines inside a rectangle from (0, 0), y downwards, that rise to the right at 45 degrees; lowest first. */
export function hatchLines(width: number, height: number): ReadonlyArray<readonly [At, At]> {
  const step = SPACING * Math.SQRT2
  const lines: [At, At][] = []
  // Along a line, x + y = c.
  for (let c = width + height - step / 2; c > 0; c -= step) {
    const left = Math.max(0, c - height)
    const right = Math.min(width, c)
    lines.push([
      { x: left, y: c - left },
      { x: right, y: c - right }
    ])
  }
  return lines
}
