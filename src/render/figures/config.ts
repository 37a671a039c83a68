/**
 * A figure as plain data. It survives `structuredClone` and a JSON round trip. The same value can therefore be drawn by
 * the canvas backend, sent to a worker, compared with a golden file, or drawn by a page in a browser.
 *
 * Lengths are points (1/72 inch) from the figure's upper left corner, y downwards. A chart is a Chart.js 4
 * configuration that names its functions and does not hold them: see `functions.ts`. A gap in a line is a point whose y
 * is null, because JSON has no NaN.
 */

/** A JSON value. */
export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain }

export type FigureFormat = 'png' | 'svg' | 'pdf'

export const FIGURE_FORMATS: readonly FigureFormat[] = ['png', 'svg', 'pdf']

/** What a file of a figure is called behind its name: `svg`; `dark.svg`, on a dark ground; `column.svg`, as wide as one column; both. */
export type FigureFile = `${'' | 'column.'}${'' | 'dark.'}${FigureFormat}`

export const FIGURE_FILES: readonly FigureFile[] = (['', 'column.'] as const).flatMap(width =>
  (['', 'dark.'] as const).flatMap(ground => FIGURE_FORMATS.map((format): FigureFile => `${width}${ground}${format}`))
)

export function isColumn(file: FigureFile): boolean {
  return file.startsWith('column.')
}

export function isDark(file: FigureFile): boolean {
  return /(?:^|\.)dark\./.test(file)
}

export function formatOf(file: FigureFile): FigureFormat {
  return file.slice(file.lastIndexOf('.') + 1) as FigureFormat
}

export interface Rectangle {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** One line of text; `y` is its baseline. */
export interface FigureText {
  readonly text: string
  readonly x: number
  readonly y: number
  readonly align: 'left' | 'right'
  readonly size: number
  readonly weight: 'normal' | 'bold'
  readonly color: string
}

export interface PointMark {
  readonly pointStyle: string
  readonly rotation: number
  readonly radius: number
  readonly fill: string
  readonly stroke: string
  readonly strokeWidth: number
}

export interface BarMark {
  readonly fill: string
  readonly stroke: string
  readonly strokeWidth: number
  /** colour of oblique lines over the fill; null where there are none */
  readonly hatch: string | null
}

/** A legend key, drawn like its series: a marker, a piece of line or a bar. `x` is its left end, `y` its middle. */
export type LegendKey = { readonly x: number; readonly y: number; readonly label: string; readonly labelX: number } & (
  | ({ readonly kind: 'point' } & PointMark)
  | ({ readonly kind: 'bar'; readonly width: number; readonly height: number } & BarMark)
  | {
      readonly kind: 'line'
      readonly length: number
      /** one parallel line for each colour, one above the other */
      readonly colors: readonly string[]
      readonly width: number
      readonly dash: readonly number[]
      /** marker in the middle of the line */
      readonly mark?: PointMark
    }
)

/** A Chart.js configuration as plain data. */
export interface PlainChart {
  readonly type: 'scatter' | 'line' | 'bar'
  readonly data: { readonly datasets: readonly Plain[] }
  readonly options: { readonly [key: string]: Plain }
}

export interface PanelConfig {
  /** `(a)`, `(b)` … */
  readonly label: string
  readonly title: string
  /** the chart with its axes, without the heading above it */
  readonly box: Rectangle
  /** the area between the axes, inside `box` */
  readonly plot: Rectangle
  readonly chart: PlainChart
}

export interface FigureConfig {
  /** file name without extension: `08-critic-traces` */
  readonly name: string
  readonly title: string
  /** alternative text: one paragraph with the facts drawn */
  readonly description: string
  readonly width: number
  readonly height: number
  readonly fontFamily: string
  readonly texts: readonly FigureText[]
  readonly legend: readonly LegendKey[]
  readonly panels: readonly PanelConfig[]
}
