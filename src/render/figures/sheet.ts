/** The sheet on which every figure is laid out: lengths in points, as wide as two columns of a paper (7.0 inches). */
export const SHEET_WIDTH = 504
export const SHEET_MARGIN = 2
/** from the top of a row, where its heading starts, to its chart box */
export const HEADING_HEIGHT = 16
export const LEGEND_Y = 27
export const LEGEND_ROW = 12
/** from the last row of the legend to the first heading */
export const BELOW_LEGEND = 9
export const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
/** Largest ratio of the width of bold text to the width that `drawnWidth` gives. */
export const BOLD = 1.16
/** Largest width of a legend label. A longer label would leave no place for the others. */
export const LONGEST_KEY = 220
