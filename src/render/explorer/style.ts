/** The style sheet of the explorer, behind that of every page. */
export const EXPLORER_STYLE = ''
