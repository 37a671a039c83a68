/**
 * Text on a terminal: its width, and whether colour is wanted. Text from a file must pass through `printable` first.
 *
 * Widths are those of common terminals: East Asian wide characters and emoji take two cells, combining marks take none.
 * Not supported: emoji sequences that are joined to one picture. They count as their parts.
 */

/** The members of an output stream that are used: of `process.stderr`, or of a test's own stream. */
export interface TextStream {
  write(text: string): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

export type Environment = { readonly [name: string]: string | undefined }

/** Whether the stream is a terminal that can move its cursor. */
export function isInteractive(stream: TextStream, env: Environment): boolean {
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}

/** Colour is wanted on such a terminal, unless NO_COLOR is set to a text that is not empty (https://no-color.org). */
export function wantsColour(stream: TextStream, env: Environment): boolean {
  return isInteractive(stream, env) && (env['NO_COLOR'] ?? '') === ''
}

/** Compiled at the first character that needs it, because Unicode tables are slow to compile and most texts are Latin. */
let classes: { readonly zeroWidth: RegExp; readonly emoji: RegExp } | null = null

/** First and last code point of the blocks that take two cells (Unicode's East Asian Width W and F, by block). */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x3247],
  [0x3250, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x1b2ff],
  [0x1f200, 0x1f265],
  [0x20000, 0x3fffd]
]

/** Number of cells that a printable text takes. */
export function textWidth(text: string): number {
  let width = 0
  for (const character of text) width += characterWidth(character)
  return width
}

function characterWidth(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  // biome-ignore lint/complexity/useRegexLiterals: a literal with Unicode properties costs time whenever the module loads, used or not
  classes ??= { zeroWidth: new RegExp('^[\\p{Mn}\\p{Me}\\p{Cf}]$', 'u'), emoji: new RegExp('^\\p{Emoji_Presentation}$', 'u') }
  if (classes.zeroWidth.test(character)) return 0
  return classes.emoji.test(character) || WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1
}

/** The text cut to `width` cells. A cut text ends with an ellipsis. */
export function fitText(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  let kept = ''
  let used = 0
  for (const character of text) {
    used += characterWidth(character)
    if (used > width - 1) break
    kept += character
  }
  return width < 1 ? '' : `${kept}…`
}

/** The text cut to `width` cells in its middle, so that the beginning and the end of a path stay. */
export function fitMiddle(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  if (width < 3) return fitText(text, width)
  const characters = [...text]
  const head = takeCells(characters, Math.ceil((width - 1) / 2))
  const tail = takeCells(characters.reverse(), Math.floor((width - 1) / 2)).reverse()
  return `${head.join('')}…${tail.join('')}`
}

/** The first characters that together take at most `cells` cells. */
function takeCells(characters: readonly string[], cells: number): string[] {
  const taken: string[] = []
  let used = 0
  for (const character of characters) {
    used += characterWidth(character)
    if (used > cells) break
    taken.push(character)
  }
  return taken
}

/** Width for text that no terminal shows: a log, a file. */
const WIDTH_OF_LOGS = 120

/** Number of cells that a line of the stream may take. */
export function lineWidth(stream: TextStream): number {
  const { isTTY, columns } = stream
  return isTTY === true && columns !== undefined && columns > 0 ? columns : WIDTH_OF_LOGS
}
