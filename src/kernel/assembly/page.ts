/** Scans over a page's bytes, chunk by chunk, that look for significant bytes, sixteen at a time. */

// @ts-nocheck: checked by the compiler of AssemblyScript, whose types these are

const QUOTE = 0x22
const SLASH = 0x2f
const BANG = 0x21
const LESS_THAN = 0x3c
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Address of the next `<` in [at, end) before `/` or `!`, or at the last byte; 0: none. Reads 16 bytes beyond. */
export function nextTag(at: usize, end: usize): usize {
  const lessThan = i8x16.splat(<i8>LESS_THAN)
  const slash = i8x16.splat(<i8>SLASH)
  const bang = i8x16.splat(<i8>BANG)
  for (let i = at; i < end; i += 16) {
    const behind = v128.load(i + 1)
    const hits = i8x16.bitmask(v128.and(
      i8x16.eq(v128.load(i), lessThan),
      v128.or(i8x16.eq(behind, slash), i8x16.eq(behind, bang))
    ))
    if (hits == 0) continue
    const hit = i + ctz(hits)
    // the byte behind the last one is not part of the chunk
    if (hit < end - 1) return hit
    break
  }
  return end > at && load<u8>(end - 1) == LESS_THAN ? end - 1 : 0
}

/** Position of a byte: outside strings, inside one, or inside one behind a backslash. */
const OUTSIDE = 0
const INSIDE = 1
const ESCAPED = 2

/** Open braces and position of the next byte when `skim` ended. They are passed to it for the next chunk. */
export let skimDepth: i32 = 0
export let skimState: i32 = OUTSIDE

/** Address behind the `}` that closes the last of `depth` braces, in [at, end); 0: none. Reads 16 bytes beyond. */
export function skim(at: usize, end: usize, depth: i32, state: i32): usize {
  const quote = i8x16.splat(<i8>QUOTE)
  const backslash = i8x16.splat(<i8>BACKSLASH)
  const open = i8x16.splat(<i8>OPEN_BRACE)
  const close = i8x16.splat(<i8>CLOSE_BRACE)
  let i = at
  while (i < end) {
    if (state == ESCAPED) {
      state = INSIDE
      i++
      continue
    }
    const bytes = v128.load(i)
    const hits = i8x16.bitmask(v128.or(
      i8x16.eq(bytes, quote),
      state == INSIDE ? i8x16.eq(bytes, backslash) : v128.or(i8x16.eq(bytes, open), i8x16.eq(bytes, close))
    ))
    if (hits == 0) {
      i += 16
      continue
    }
    i += ctz(hits)
    if (i >= end) break
    const byte = load<u8>(i)
    i++
    if (byte == QUOTE) state ^= INSIDE
    else if (byte == BACKSLASH) state = ESCAPED
    else if (byte == OPEN_BRACE) depth++
    else if (--depth == 0) {
      skimDepth = 0
      skimState = OUTSIDE
      return i
    }
  }
  skimDepth = depth
  skimState = state
  return 0
}
