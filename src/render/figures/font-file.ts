/**
 * Which characters a font file has, and how wide they are: the tables `cmap` (formats 4 and 12), `head`, `hhea` and `hmtx` of
 * OpenType 1.9. Collections (TTC) too. Other formats of `cmap` are not read; a font with outlines has one of the two.
 */

export interface FontFile {
  readonly path: string
  /** advance width in em; null where the font lacks the character */
  advance(codePoint: number): number | null
}

const NOT_DEFINED = 0

/**
 * @param index font of a collection
 * @returns null where the bytes are no such font, or one without outlines, which cannot be drawn as lines
 */
export function readFontFile(path: string, bytes: Uint8Array, index = 0): FontFile | null {
  try {
    return parse(path, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), index)
  } catch (error) {
    // A place outside the file.
    if (error instanceof RangeError) return null
    throw error
  }
}

function parse(path: string, view: DataView, index: number): FontFile | null {
  const start = view.getUint32(0) === tag('ttcf') ? view.getUint32(12 + 4 * index) : 0
  const tables = new Map<number, number>()
  for (let k = 0; k < view.getUint16(start + 4); k++) tables.set(view.getUint32(start + 12 + 16 * k), view.getUint32(start + 20 + 16 * k))
  const [head, hhea, hmtx, cmap] = ['head', 'hhea', 'hmtx', 'cmap'].map(name => tables.get(tag(name)))
  const hasOutlines = ['glyf', 'CFF ', 'CFF2'].some(name => tables.has(tag(name)))
  if (head === undefined || hhea === undefined || hmtx === undefined || cmap === undefined || !hasOutlines) return null
  const unitsPerEm = view.getUint16(head + 18)
  const widths = view.getUint16(hhea + 34)
  const glyphOf = characterMap(view, cmap)
  if (glyphOf === null || unitsPerEm === 0 || widths === 0) return null
  return {
    path,
    advance(codePoint) {
      const glyph = glyphOf(codePoint)
      // The last width is that of all further glyphs.
      return glyph === NOT_DEFINED ? null : view.getUint16(hmtx + 4 * Math.min(glyph, widths - 1)) / unitsPerEm
    }
  }
}

function tag(name: string): number {
  return [...name].reduce((sum, character) => sum * 256 + character.charCodeAt(0), 0)
}

type GlyphOf = (codePoint: number) => number

function characterMap(view: DataView, cmap: number): GlyphOf | null {
  let best: GlyphOf | null = null
  for (let k = 0; k < view.getUint16(cmap + 2); k++) {
    const at = cmap + view.getUint32(cmap + 8 + 8 * k)
    const format = view.getUint16(at)
    if (format === 12) return groups(view, at)
    if (format === 4) best = segments(view, at)
  }
  return best
}

/** Format 4: segments of the first plane. */
function segments(view: DataView, at: number): GlyphOf {
  const twice = view.getUint16(at + 6)
  const [ends, starts, deltas, offsets] = [at + 14, at + 16 + twice, at + 16 + 2 * twice, at + 16 + 3 * twice]
  return codePoint => {
    for (let k = 0; k < twice && codePoint <= 0xffff; k += 2) {
      if (view.getUint16(ends + k) < codePoint) continue
      const first = view.getUint16(starts + k)
      if (first > codePoint) return NOT_DEFINED
      const offset = view.getUint16(offsets + k)
      if (offset === 0) return (codePoint + view.getUint16(deltas + k)) & 0xffff
      const glyph = view.getUint16(offsets + k + offset + 2 * (codePoint - first))
      return glyph === NOT_DEFINED ? NOT_DEFINED : (glyph + view.getUint16(deltas + k)) & 0xffff
    }
    return NOT_DEFINED
  }
}

/** Format 12: groups in the order of their characters. */
function groups(view: DataView, at: number): GlyphOf {
  const count = view.getUint32(at + 12)
  return codePoint => {
    let [low, high] = [0, count - 1]
    while (low <= high) {
      const middle = (low + high) >> 1
      const group = at + 16 + 12 * middle
      if (codePoint < view.getUint32(group)) high = middle - 1
      else if (codePoint > view.getUint32(group + 4)) low = middle + 1
      else return view.getUint32(group + 8) + codePoint - view.getUint32(group)
    }
    return NOT_DEFINED
  }
}
