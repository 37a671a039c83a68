/** Oblique lines over a rectangle, as lines: a pattern of the canvas would be a picture in a PDF or SVG. */

interface At {
  readonly x: number
  readonly y: number
}

/** across the lines, in points */
const SPACING = 3

/** Lines that rise to the right at 45 degrees inside a rectangle from (0, 0), y downwards, lowest first. */
export function hatchLines(width: number, height: number): ReadonlyArray<readonly [At, At]> {
  const step = SPACING * Math.SQRT2
  const lines: [At, At][] = []
  // x + y = c along a line
  for (let c = width + height - step / 2; c > 0; c -= step) {
    const left = Math.max(0, c - height)
    const right = Math.min(width, c)
    lines.push([{ x: left, y: c - left }, { x: right, y: c - right }])
  }
  return lines
}
