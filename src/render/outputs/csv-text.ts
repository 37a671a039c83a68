/**
 * A text as a cell of a CSV file, in Node and in a browser. A text that a spreadsheet would take for a formula (first character
 * = + - @, one of these in fullwidth, tab, carriage return or line feed) gets a leading apostrophe. An empty text is `""`.
 */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
const NEEDS_QUOTES = /[",\r\n]/

export function textCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text
  return safe === '' || NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
