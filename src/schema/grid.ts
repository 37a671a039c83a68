/** The grid of spreadsheets, as ECMA-376 and Excel have it. Rows and columns count from 1. */
export const MAX_ROW = 1_048_576
/** Column XFD. */
export const MAX_COLUMN = 16_384
