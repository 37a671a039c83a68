/**
 * The inner loops of the trace parser, in AssemblyScript: built to WebAssembly, which runs at speed from its first call.
 * JavaScript's engine interprets a loop before it compiles it, and the traces of a snapshot are over by then.
 *
 * The loops know the usual shapes only. What they do not know, every fault included, they leave to the general scanners
 * (`number.ts`, `string.ts`): so there is one authority on what JSON is, and these can only decline. `../kernel.ts` is
 * the other side of what is exported here.
 *
 * Offsets are addresses in this module's memory. Zeros lie behind the text: no token contains one, so every loop stops
 * there without asking for the length.
 */

// @ts-nocheck: checked by the compiler of AssemblyScript, whose types these are

/** A loop ended behind the `]` of its array. */
const CLOSED = 0
/** A loop ended at an element that the general scanner is to read. */
const ODD = 1
/** A loop ended behind an element, at a byte that is neither `,` nor `]`. */
const BROKEN = 2

/** How the last loop ended. */
export let status: i32 = CLOSED
/** Elements that the array has so far. */
export let count: i32 = 0

/** Doubles that `../kernel.ts` lays here: 10^0 to 10^22; HEAD_LIMITS; 10^-64 to 10^64 as high and low parts. */
export const POWERS: usize = memory.data(23 * 8, 8)
export const LIMITS: usize = memory.data(16 * 8, 8)
export const POWER_HIGH: usize = memory.data(129 * 8, 8)
export const POWER_LOW: usize = memory.data(129 * 8, 8)
/** The end marker's bytes. */
export const MARKER: usize = memory.data(1024, 8)
const TABLE_REACH = 64
const SPLITTER: f64 = 134217729
const ERROR_BOUND: f64 = 7.888609052210118e-31 // 2^-100
const EXACT_INTEGERS: f64 = 9007199254740992

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const CLOSE_BRACKET = 0x5d
const BACKSLASH = 0x5c
const LOWER_E = 0x65
const LOWER_U = 0x75

// @ts-ignore: decorator
@inline
function byteAt(at: usize): u32 {
  return load<u8>(at)
}

// @ts-ignore: decorator
@inline
function double(table: usize, index: i32): f64 {
  return load<f64>(table + (<usize>index << 3))
}

// @ts-ignore: decorator
@inline
function isDigit(byte: u32): bool {
  return byte - ZERO <= 9
}

// @ts-ignore: decorator
@inline
function isSpace(byte: u32): bool {
  return byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
}

// @ts-ignore: decorator
@inline
function skipSpace(at: usize): usize {
  while (isSpace(byteAt(at))) at++
  return at
}

/**
 * Non-zero bits where a byte of the word is not an ASCII digit. A carry out of a byte of 0xfa or more can only spoil
 * later bytes, so the first byte reported is right.
 */
// @ts-ignore: decorator
@inline
function nonDigits(word: u32): u32 {
  return ((word & 0xf0f0f0f0) ^ 0x30303030) | (((word + 0x06060606) & 0xf0f0f0f0) ^ 0x30303030)
}

/** The value of four ASCII digits, the first in the lowest byte; a zero byte counts as the digit 0. */
// @ts-ignore: decorator
@inline
function fourDigits(word: u32): f64 {
  const digits: u32 = word & 0x0f0f0f0f
  const pairs: u32 = (digits * 10 + (digits >>> 8)) & 0x00ff00ff
  return <f64>((pairs * 100 + (pairs >>> 16)) & 0xffff)
}

/** Whether the sum (high + low) * 10^exponent is certain to round to one double, which is then `scaled`. See `roundScaled` in `../decimal.ts`. */
let scaled: f64 = 0

function roundScaled(high: f64, low: f64, exponent: i32): bool {
  if (exponent < -TABLE_REACH || exponent > TABLE_REACH) return false
  const p = double(POWER_HIGH, exponent + TABLE_REACH)
  const x = high * p
  const t = SPLITTER * high
  const a = t - (t - high)
  const b = high - a
  const u = SPLITTER * p
  const c = u - (u - p)
  const d = p - c
  const rest = b * d - (x - a * c - b * c - a * d)
  const y = rest + (high * double(POWER_LOW, exponent + TABLE_REACH) + low * p)
  const error = x * ERROR_BOUND
  scaled = x + (y - error)
  return scaled == x + (y + error)
}

/** Digits before the point that are taken: an int32. */
const MAX_WHOLE_DIGITS = 9

/** Groups of four fraction digits that are taken: two in the head, three in the tail. */
const HEAD_WORDS = 2
const MAX_WORDS = 5

/** Digits behind the point that a power of ten can take away exactly. */
const MAX_FRACTION = 22

/**
 * Reads elements of an array of numbers, the first at `at`, into the doubles at `out`, of which `first` are there. Returns
 * where it ended; `status` says how, and `count` is the number of doubles then.
 */
export function numbers(at: usize, out: usize, first: i32): usize {
  let i = at
  let n = first
  while (true) {
    const start = i
    const negative = byteAt(i) == MINUS
    if (negative) i++
    let value: f64 = 0
    let done = false
    do {
      let whole = <i32>(byteAt(i) - ZERO)
      if (<u32>whole > 9) break
      let digit: u32 = byteAt(++i) - ZERO
      if (digit <= 9) {
        if (whole == 0) break
        const limit = i + (MAX_WHOLE_DIGITS - 1)
        do {
          whole = whole * 10 + <i32>digit
          digit = byteAt(++i) - ZERO
        } while (digit <= 9 && i < limit)
        if (digit <= 9) break
      }
      if (byteAt(i) != DOT) {
        if ((byteAt(i) | 0x20) == LOWER_E) break
        value = <f64>whole
        done = true
        break
      }

      const fraction = ++i
      if (!isDigit(byteAt(i + 1))) {
        // one digit: most returns are 0.0 or 1.0
        digit = byteAt(i++) - ZERO
        if (digit > 9 || (byteAt(i) | 0x20) == LOWER_E) break
        value = (<f64>whole * 10 + <f64>digit) / 10
        done = true
        break
      }

      // all digits = head * 10^tailDigits + tail
      let head = <f64>whole
      let tail: f64 = 0
      let tailDigits = 0
      let words = 0
      let word: u32 = load<u32>(i)
      let stop = nonDigits(word)
      while (stop == 0 && words < MAX_WORDS) {
        if (words < HEAD_WORDS) head = head * 10000 + fourDigits(word)
        else {
          tail = tail * 10000 + fourDigits(word)
          tailDigits += 4
        }
        words++
        i += 4
        word = load<u32>(i)
        stop = nonDigits(word)
      }
      if (stop == 0) break
      const digits = ctz(stop) >> 3
      // the first digits of the word are moved to its end, behind zero bytes
      tail = tail * double(POWERS, digits) + fourDigits((word << 8) << (24 - 8 * digits))
      tailDigits += digits
      i += digits
      if (i == fraction || (byteAt(i) | 0x20) == LOWER_E) break
      const shifted = head * double(POWERS, tailDigits)
      const integer = shifted + tail
      const places = <i32>(i - fraction)
      if (integer < EXACT_INTEGERS) {
        if (places > MAX_FRACTION) break
        value = integer / double(POWERS, places)
        done = true
      } else if (head < double(LIMITS, tailDigits)) {
        // shifted is exact, so what the sum lost is exact too
        done = roundScaled(integer, tail - (integer - shifted), -places)
        value = scaled
      }
    } while (false)
    if (!done) {
      count = n
      status = ODD
      return start
    }
    store<f64>(out + (<usize>n << 3), negative ? -value : value)
    n++
    if (byteAt(i) <= 0x20) i = skipSpace(i)
    if (byteAt(i) != COMMA) {
      count = n
      status = byteAt(i) == CLOSE_BRACKET ? CLOSED : BROKEN
      return status == CLOSED ? i + 1 : i
    }
    // the separator is ", " or ","
    if (byteAt(++i) == 0x20) i++
    if (byteAt(i) <= 0x20) i = skipSpace(i)
  }
}

// @ts-ignore: decorator
@inline
function isHexDigit(byte: u32): bool {
  return isDigit(byte) || (byte | 0x20) - 0x61 <= 5
}

/** `at` behind the opening quote. Returns the address behind the closing one, or 0 where the text is not a string. */
function stringEnd(at: usize): usize {
  const quotes = i8x16.splat(<i8>QUOTE)
  const backslashes = i8x16.splat(<i8>BACKSLASH)
  const controls = i8x16.splat(0x20)
  let i = at
  while (true) {
    const bytes = v128.load(i)
    const hits = i8x16.bitmask(v128.or(
      v128.or(i8x16.eq(bytes, quotes), i8x16.eq(bytes, backslashes)),
      i8x16.lt_u(bytes, controls)
    ))
    if (hits == 0) {
      i += 16
      continue
    }
    i += ctz(hits)
    const byte = byteAt(i)
    if (byte == QUOTE) return i + 1
    if (byte != BACKSLASH) return 0
    i++
    switch (byteAt(i)) {
      case QUOTE: case BACKSLASH: case 0x2f: case 0x62: case 0x66: case 0x6e: case 0x72: case 0x74:
        i++
        break
      case LOWER_U:
        for (let k = 1; k <= 4; k++) if (!isHexDigit(byteAt(i + k))) return 0
        i += 5
        break
      default:
        return 0
    }
  }
}

/**
 * Reads over an array of strings, the first element at `at`. Into the bytes at `ends`, of which `first` are there, goes a 1
 * for each that ends with the marker, whose length is `marker`; with a length of 0, zeros. A string that does not end with
 * the marker's bytes is odd. Returns where it ended; `status` says how, and `count` is the number of strings then.
 */
export function texts(at: usize, ends: usize, first: i32, marker: i32): usize {
  let i = at
  let n = first
  while (true) {
    const start = i
    const end = byteAt(i) == QUOTE ? stringEnd(i + 1) : 0
    if (end == 0 || (marker > 0 && !endsWithMarker(start + 1, end - 1, marker))) {
      count = n
      status = ODD
      return start
    }
    store<u8>(ends + n, marker > 0 ? 1 : 0)
    n++
    i = skipSpace(end)
    if (byteAt(i) != COMMA) {
      count = n
      status = byteAt(i) == CLOSE_BRACKET ? CLOSED : BROKEN
      return status == CLOSED ? i + 1 : i
    }
    i = skipSpace(i + 1)
  }
}

/** By bytes; the caller knows that this is what the decoded texts would give. */
function endsWithMarker(start: usize, end: usize, marker: i32): bool {
  if (end - start < <usize>marker) return false
  return memory.compare(end - marker, MARKER, marker) == 0
}
