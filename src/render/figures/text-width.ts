/**
 * Width of a line of text without a canvas: the advance widths of DejaVu Sans 2.37 (regular), in 1/2048 em, from its
 * `hmtx` table. Kerning is left out (it makes text at most a little narrower); a character outside the table counts as
 * one em, which is at least its width.
 */

/** U+0020 to U+007E */
const ASCII = [
  651, 821, 942, 1716, 1303, 1946, 1597, 563, 799, 799, 1024, 1716, 651, 739, 651, 690, 1303, 1303, 1303, 1303, 1303, 1303,
  1303, 1303, 1303, 1303, 690, 690, 1716, 1716, 1716, 1087, 2048, 1401, 1405, 1430, 1577, 1294, 1178, 1587, 1540, 604, 604,
  1343, 1141, 1767, 1532, 1612, 1235, 1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251, 1403, 799, 690, 799, 1716, 1024,
  1024, 1255, 1300, 1126, 1300, 1260, 721, 1300, 1298, 569, 569, 1186, 569, 1995, 1298, 1253, 1300, 1300, 842, 1067, 803,
  1298, 1212, 1675, 1212, 1212, 1075, 1303, 690, 1303, 1716
] as const

const EM = 2048
const MINUS_OR_ARROW = 1716

/** In the unit of `size`. */
export function textWidth(text: string, size: number): number {
  let width = 0
  for (const character of text) {
    const code = character.charCodeAt(0)
    width += ASCII[code - 32] ?? (character === '\u2212' || character === '\u2192' ? MINUS_OR_ARROW : EM)
  }
  return (width / EM) * size
}
