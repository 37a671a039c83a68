/** Scans over a page's bytes, chunk by chunk, that look for significant bytes, sixteen at a time. */

// @ts-nocheck: checked by the compiler of AssemblyScript, whose types these are

const QUOTE = 0x22
const SLASH = 0x2f
const BANG = 0x21
const LESS_THAN = 0x3c
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const LOWER_Z = 0x7a

/** The engine copies bytes of shared memory one by one where two typed arrays do not lie alike; this does not. */
export function move(to: usize, from: usize, length: usize): void {
  memory.copy(to, from, length)
}

/** Bytes that are looked at at once where none of them may matter, as in an array of numbers. */
const WIDE: usize = 64

/** Whether no byte in [at, at + WIDE) is a quote, a brace or another one above `z`. */
@inline
function isPlain(at: usize, quote: v128, lowerZ: v128): bool {
  const a = v128.load(at)
  const b = v128.load(at, 16)
  const c = v128.load(at, 32)
  const d = v128.load(at, 48)
  const quotes = v128.or(v128.or(i8x16.eq(a, quote), i8x16.eq(b, quote)), v128.or(i8x16.eq(c, quote), i8x16.eq(d, quote)))
  // signed: bytes beyond ASCII are below
  const highest = i8x16.max_s(i8x16.max_s(a, b), i8x16.max_s(c, d))
  return !v128.any_true(v128.or(quotes, i8x16.gt_s(highest, lowerZ)))
}

/** Whether no byte in [at, at + WIDE) is a `<`. */
@inline
function hasNoTag(at: usize, lessThan: v128): bool {
  return !v128.any_true(v128.or(
    v128.or(i8x16.eq(v128.load(at), lessThan), i8x16.eq(v128.load(at, 16), lessThan)),
    v128.or(i8x16.eq(v128.load(at, 32), lessThan), i8x16.eq(v128.load(at, 48), lessThan))
  ))
}

/** Address of the next `<` in [at, end) before `/` or `!`, or at the last byte; 0: none. Reads 16 bytes beyond. */
export function nextTag(at: usize, end: usize): usize {
  const lessThan = i8x16.splat(<i8>LESS_THAN)
  const slash = i8x16.splat(<i8>SLASH)
  const bang = i8x16.splat(<i8>BANG)
  for (let i = at; i < end; i += 16) {
    while (i + WIDE <= end && hasNoTag(i, lessThan)) i += WIDE
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
  const lowerZ = i8x16.splat(<i8>LOWER_Z)
  let i = at
  while (i < end) {
    if (state == ESCAPED) {
      state = INSIDE
      i++
      continue
    }
    if (state == OUTSIDE) while (i + WIDE <= end && isPlain(i, quote, lowerZ)) i += WIDE
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
