/**
 * The inner loops of the trace parser, in AssemblyScript. They are compiled to WebAssembly, which is fast from its first
 * call. JavaScript's engine interprets a loop before it compiles it, and the traces of a snapshot end before that.
 *
 * The loops handle the usual shapes only. They leave everything else, every fault included, to the general scanners
 * (`number.ts`, `string.ts` in `../../ingest/json/`). So only those define what JSON is. `../kernel.ts` calls what is
 * exported here.
 *
 * Offsets are addresses in this module's memory. Zeros lie behind the text. No token contains one, so every loop stops
 * there without a length check.
 */

// @ts-nocheck: checked by the compiler of AssemblyScript, whose types these are

/** The loop ended behind the `]` of its array. */
const CLOSED = 0
/** The loop ended at an element that the general scanner must read. */
const ODD = 1
/** The loop ended behind an element, at a byte that is neither `,` nor `]`. */
const BROKEN = 2

/** How the last loop ended. */
export let status: i32 = CLOSED
/** Number of elements of the array so far. */
export let count: i32 = 0

/** Doubles that `../kernel.ts` writes: 10^0 to 10^22, their negatives from 32 on; 10^-64 to 10^64, high and low parts. */
export const POWERS: usize = memory.data(64 * 8, 8)
export const POWER_HIGH: usize = memory.data(129 * 8, 8)
export const POWER_LOW: usize = memory.data(129 * 8, 8)
/** The end marker's bytes. */
export const MARKER: usize = memory.data(1024, 8)

const TABLE_REACH = 64
const SPLITTER: f64 = 134217729
const ERROR_BOUND: f64 = 7.888609052210118e-31 // 2^-100
const EXACT_BITS = 53
const EXACT_INTEGERS: u64 = 1 << EXACT_BITS

const QUOTE = 0x22
const COMMA = 0x2c
const COMMA_SPACE = 0x202c
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const NINE: u32 = 0x39
const CLOSE_BRACKET = 0x5d
const BACKSLASH = 0x5c
const LOWER_E = 0x65
const LOWER_U = 0x75

@inline
function byteAt(at: usize): u32 {
  return load<u8>(at)
}

@inline
function double(table: usize, index: i32): f64 {
  return load<f64>(table + (<usize>index << 3))
}

@inline
function isDigit(byte: u32): bool {
  return byte - ZERO <= 9
}

@inline
function isSpace(byte: u32): bool {
  return byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
}

@inline
function skipSpace(at: usize): usize {
  while (isSpace(byteAt(at))) at++
  return at
}

// Vectors are loaded from memory: a constant in the code would be assembled anew in each iteration.
const ZEROS: usize = memory.data<u8>([48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48], 16)
const TENS: usize = memory.data<u8>([10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10], 16)
const INDEXES: usize = memory.data<u8>([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], 16)
const PAIRS: usize = memory.data<i16>([2561, 2561, 2561, 2561, 2561, 2561, 2561, 2561], 16)
const FOURS: usize = memory.data<i16>([100, 1, 100, 1, 100, 1, 100, 1], 16)
const EIGHTS: usize = memory.data<i16>([10000, 1, 10000, 1, 10000, 1, 10000, 1], 16)
/** 10^0 to 10^16 */
const INTEGER_POWERS: usize = memory.data<u64>([
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
  10000000000000, 100000000000000, 1000000000000000, 10000000000000000
], 8)

@inline
function integerPower(exponent: i32): u64 {
  return load<u64>(INTEGER_POWERS + (<usize>exponent << 3))
}

/** Number of leading bytes of `digits` (text minus `0` in each byte) that are digits. */
@inline
function digitCount(digits: v128): i32 {
  return ctz(i8x16.bitmask(i8x16.ge_u(digits, v128.load(TENS))) | 0x10000)
}

/** The value of the first `n` of sixteen decimal digits, one per byte. */
@inline
function digitValue(digits: v128, n: i32): u64 {
  // moves the digits to the end, behind zeros: swizzle gives zero for an index out of range, as negative ones are
  const aligned = i8x16.swizzle(digits, i8x16.add(v128.load(INDEXES), i8x16.splat(<i8>(n - 16))))
  // a lane is a + 256b; times 10 * 256 + 1 it is 256 * (10a + b) + a, since 2560 * 256b overflows the lane
  const pairs = i16x8.shr_u(i16x8.mul(aligned, v128.load(PAIRS)), 8)
  const fours = i32x4.dot_i16x8_s(pairs, v128.load(FOURS))
  const eights = <u64>i64x2.extract_lane(i32x4.dot_i16x8_s(i16x8.narrow_i32x4_s(fours, fours), v128.load(EIGHTS)), 0)
  return (eights & 0xffffffff) * 100000000 + (eights >> 32)
}

/**
 * True if (high + low) * 10^exponent certainly rounds to one double, which is then in `scaled`. The method and the proof of
 * its bound are at `roundScaled` in `../../ingest/json/decimal.ts`, which reads histories and what these loops leave.
 */
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

/** Most digits before the point: their value is an int32. */
const MAX_WHOLE_DIGITS = 9

/** Most digits behind the point that one division by a power of ten can remove exactly. */
const MAX_FRACTION = 22

/** Fraction digits that one load takes, and those that a second load may add. */
const LOADED_DIGITS = 16
const MORE_DIGITS = 7

/** Integers below this are exact in an unsigned 64-bit one. */
const EXACT_UNSIGNED: f64 = 1e19

/**
 * A number with more digits than one load or one double takes: `whole`, a point, and `places` digits of the value
 * `fraction`, which end at `at`. Returns the address behind the number, its value in `scaled`; 0 if that is not certain.
 */
function manyDigits(whole: u64, fraction: u64, places: i32, at: usize): usize {
  let more = 0
  let last: u64 = 0
  if (places == LOADED_DIGITS) {
    const digits = i8x16.sub(v128.load(at), v128.load(ZEROS))
    more = digitCount(digits)
    if (more > MORE_DIGITS) return 0
    last = digitValue(digits, more)
  }
  const all = places + more
  const estimate = (<f64>whole * double(POWERS, places) + <f64>fraction) * double(POWERS, more)
  if (estimate >= EXACT_UNSIGNED) return 0
  const integer = (whole * integerPower(places) + fraction) * integerPower(more) + last
  const high = <f64>integer
  if (integer < EXACT_INTEGERS && all <= MAX_FRACTION) scaled = high / double(POWERS, all)
  else if (!roundScaled(high, <f64><i64>(integer - <u64>high), -all)) return 0
  return at + more
}

@inline
function ended(how: i32, elements: usize, at: usize): usize {
  status = how
  count = <i32>(elements >> 3)
  return at
}

/** Longest element, with its separator, in bytes, that is compared with the following ones. */
const SHORT: usize = 8

/**
 * Reads the elements of an array of numbers from `at` on into the doubles at `out`, which hold `first` already. Returns the
 * address where it ended. `status` then states how it ended, `count` the number of doubles.
 */
export function numbers(at: usize, out: usize, first: i32): usize {
  let i = at
  let slot = out + (<usize>first << 3)
  while (true) {
    const start = i
    const negative = <i32>(byteAt(i) == MINUS)
    i += negative
    let all = <u64>byteAt(i) - ZERO
    if (all > 9) {
      if (!isSpace(byteAt(start))) return ended(ODD, slot - out, start)
      // skips further white space behind ", "
      i = skipSpace(start)
      continue
    }
    let point = byteAt(++i) == DOT
    if (!point) {
      const limit = i + (all == 0 ? 0 : MAX_WHOLE_DIGITS - 1)
      let digit = byteAt(i) - ZERO
      while (digit <= 9 && i < limit) {
        all = all * 10 + digit
        digit = byteAt(++i) - ZERO
      }
      if (digit <= 9) return ended(ODD, slot - out, start)
      point = byteAt(i) == DOT
    }
    let value: f64
    let last: usize = 0
    if (point) {
      const digits = i8x16.sub(v128.load(++i), v128.load(ZEROS))
      const places = digitCount(digits)
      if (places == 0) return ended(ODD, slot - out, start)
      const whole = all
      const fraction = digitValue(digits, places)
      i += places
      all = whole * integerPower(places) + fraction
      // one test for every unusual case; below 1024 * 10^15 nothing has wrapped
      if ((all >> EXACT_BITS) | (whole >> 10) | (places >> 4)) {
        i = manyDigits(whole, fraction, places, i)
        if (i == 0) return ended(ODD, slot - out, start)
        value = negative ? -scaled : scaled
      } else {
        // the power carries the sign: a branch would be mispredicted for values around zero, and this gives -0 too
        value = <f64><i64>all / double(POWERS, (negative << 5) + places)
      }
    } else {
      value = negative ? -<f64><i64>all : <f64><i64>all
      if (!negative) last = i - 1
    }
    store<f64>(slot, value)

    if (load<u16>(i) == COMMA_SPACE) i += 2
    else {
      if ((byteAt(i) | 0x20) == LOWER_E) return ended(ODD, slot - out, start)
      i = skipSpace(i)
      if (byteAt(i) == CLOSE_BRACKET) return ended(CLOSED, slot + 8 - out, i + 1)
      if (byteAt(i) != COMMA) return ended(BROKEN, slot + 8 - out, i)
      i = skipSpace(i + 1)
    }
    slot += 8

    const length = i - start
    if (length > SHORT) continue
    // a repeated value, as in returns: the text equals itself one element earlier
    let same = i
    while (!v128.any_true(v128.xor(v128.load(same), v128.load(same - length)))) same += 16
    for (; i + length <= same; i += length) {
      store<f64>(slot, value)
      slot += 8
    }
    if (last == 0) continue
    // counting up, as in positions: the element's text with the next digit at its end
    const one: u64 = 1 << (<u64>(last - start) << 3)
    const others: u64 = 64 - (<u64>length << 3)
    let text = load<u64>(start)
    for (let digit = byteAt(last); digit < NINE; digit++) {
      text += one
      if ((load<u64>(i) ^ text) << others) break
      value += 1
      store<f64>(slot, value)
      slot += 8
      i += length
    }
  }
}

@inline
function isHexDigit(byte: u32): bool {
  return isDigit(byte) || (byte | 0x20) - 0x61 <= 5
}

/** `at` is behind the opening quote. Returns the address behind the closing one, or 0 if the text is not a string. */
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
 * Reads over the strings of an array from `at` on. For each string that ends with the marker it writes a 1 into the bytes
 * at `ends`, which hold `first` already. `marker` is the marker's length; with 0 it writes zeros. A string that does not
 * end with the marker's bytes is odd. Returns the address where it ended. `status` then states how it ended, `count` the
 * number of strings.
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

/** Compares bytes. The caller knows that the decoded texts would give the same answer. */
function endsWithMarker(start: usize, end: usize, marker: i32): bool {
  if (end - start < <usize>marker) return false
  return memory.compare(end - marker, MARKER, marker) == 0
}
