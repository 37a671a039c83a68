/**
 * Width of a line of text without a canvas. The table holds the advance widths of DejaVu Sans 2.37 (regular) in 1/2048
 * em, from its `hmtx` table. Kerning is left out; it makes text at most slightly narrower. The width of another
 * character is that of the font that draws it; without one it is one em, as wide as the box that stands for it.
 */
import { printable } from '../../core/errors.js'
import { FONTS } from './fonts.js'

/** U+0020 to U+007E */
const ASCII = [
  651, 821, 942, 1716, 1303, 1946, 1597, 563, 799, 799, 1024, 1716, 651, 739, 651, 690, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303,
  1303, 1303, 690, 690, 1716, 1716, 1716, 1087, 2048, 1401, 1405, 1430, 1577, 1294, 1178, 1587, 1540, 604, 604, 1343, 1141, 1767, 1532,
  1612, 1235, 1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251, 1403, 799, 690, 799, 1716, 1024, 1024, 1255, 1300, 1126, 1300, 1260,
  721, 1300, 1298, 569, 569, 1186, 569, 1995, 1298, 1253, 1300, 1300, 842, 1067, 803, 1298, 1212, 1675, 1212, 1212, 1075, 1303, 690, 1303,
  1716
] as const

const EM = 2048
const SUPERSCRIPT = 821

/** Further characters that the figures themselves write. */
const OTHERS: ReadonlyMap<string, number> = new Map([
  ...[...'\u2212\u2192\u2264\u00d7\u00b1'].map((character): [string, number] => [character, 1716]),
  ...[...'\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079'].map((digit): [string, number] => [digit, SUPERSCRIPT]),
  ['\u207b', 1081]
])

function otherWidth(character: string): number {
  const codePoint = character.codePointAt(0) ?? 0
  return (FONTS.of(codePoint)?.advance(codePoint) ?? 1) * EM
}

/** Width of the text in the unit of `size`. */
export function drawnWidth(text: string, size: number): number {
  let width = 0
  for (const character of text) {
    width += ASCII[character.charCodeAt(0) - 32] ?? OTHERS.get(character) ?? otherWidth(character)
  }
  return (width / EM) * size
}

/** Cuts a text to a width in the unit of `size`. A cut text ends with an ellipsis. */
export function fitWidth(text: string, size: number, width: number): string {
  if (drawnWidth(text, size) <= width) return text
  const room = width - size
  let kept = ''
  let used = 0
  for (const character of text) {
    used += drawnWidth(character, size)
    if (used > room) break
    kept += character
  }
  return `${kept.trimEnd()}\u2026`
}

/**
 * Breaks a text at spaces into lines of at most this width. There are at most `most` lines; the last one is cut where
 * the text is longer.
 */
export function wrapWidth(text: string, size: number, width: number, most: number): string[] {
  const lines: string[] = []
  let line = ''
  const words = text.split(' ').filter(word => word !== '')
  for (const [k, word] of words.entries()) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line === '' || drawnWidth(longer, size) <= width) {
      line = longer
      continue
    }
    if (lines.length === most - 1) return [...lines, fitWidth([line, ...words.slice(k)].join(' '), size, width)]
    lines.push(fitWidth(line, size, width))
    line = word
  }
  return line === '' ? lines : [...lines, fitWidth(line, size, width)]
}

/** Largest length of a title or label. A longer text would fit no figure. */
const MAX_TEXT = 200

/** Prepares a text from a file for a figure: one line, capped, without characters that XML forbids. */
export function cleanText(text: string): string {
  return printable(text, MAX_TEXT).replace(/[\ufffe\uffff]|\p{Surrogate}/gu, '\ufffd')
}
