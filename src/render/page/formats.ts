/**
 * Writes referenced values. A format is a name; some names take a number of decimals in brackets. No format guesses. A
 * value that does not fit gives a reason, which becomes a fault at the reference.
 */

const NAMES = [
  'text',
  'name',
  'integer',
  'fixed',
  'rounded',
  'signed',
  'percent',
  'scientific',
  'hours',
  'list',
  'range',
  'switch'
] as const
type FormatName = (typeof NAMES)[number]

export interface Format {
  readonly name: FormatName
  /** decimals; null where the format has none */
  readonly digits: number | null
}

export type Formatted = { readonly text: string } | { readonly reason: string }

const MINUS = '\u2212'
const EN_DASH = '\u2013'
const NO_BREAK_SPACE = '\u00a0'

/** Decimals of each format: required, optional with a default, or none. */
const DIGITS: Readonly<Record<FormatName, 'needed' | 'none' | number>> = {
  text: 'none',
  name: 'none',
  integer: 'none',
  fixed: 'needed',
  rounded: 'needed',
  signed: 'needed',
  percent: 'needed',
  scientific: 'none',
  hours: 1,
  list: 'none',
  range: 'none',
  switch: 'none'
}

/** More decimals than this exceed what a double holds. */
const MAX_DIGITS = 17

/** The formats as messages list them. */
export const FORMAT_LIST =
  'text, name, integer, fixed(n), rounded(n), signed(n), percent(n), scientific, hours, hours(n), list, range or switch'

/** Parses a format such as `fixed(2)`. Null where there is no such format. */
export function parseFormat(text: string): Format | null {
  const match = /^([a-z]+)(?:\((\d{1,2})\))?$/.exec(text)
  const name = NAMES.find(known => known === match?.[1])
  if (match === null || name === undefined) return null
  const rule = DIGITS[name]
  if (match[2] === undefined) return rule === 'needed' ? null : { name, digits: rule === 'none' ? null : rule }
  const digits = Number(match[2])
  return rule === 'none' || digits > MAX_DIGITS ? null : { name, digits }
}

/** Writes a value whose reference states no format: with the published decimals, else the number as it is. */
export function formatPlainly(value: unknown, decimals: number | null): Formatted {
  if (typeof value === 'number') return decimals === null ? formatNumber(value, x => String(x)) : fixed(value, decimals)
  if (typeof value === 'string' || typeof value === 'boolean') return { text: String(value) }
  if (Array.isArray(value)) return list(value, decimals)
  return { reason: `${kind(value)}, expected a number, a text or a list` }
}

export function applyFormat(value: unknown, format: Format, decimals: number | null): Formatted {
  const digits = format.digits ?? 0
  switch (format.name) {
    case 'text':
      return typeof value === 'string' ? { text: value } : expected('a text', value)
    case 'name':
      return typeof value === 'string' ? { text: lastSegment(value) } : expected('a text', value)
    case 'integer':
      return typeof value === 'number' && !Number.isInteger(value) ? expected('an integer', value) : fixed(value, 0)
    case 'fixed':
    case 'rounded':
      return fixed(value, digits)
    case 'signed': {
      const plain = fixed(value, digits)
      const positive = 'text' in plain && typeof value === 'number' && value > 0 && /[1-9]/.test(plain.text)
      return positive ? { text: `+${plain.text}` } : plain
    }
    case 'percent':
      return formatNumber(value, x => grouped((x * 100).toFixed(digits)))
    case 'scientific':
      return formatNumber(value, x => x.toExponential().replace('e+', 'e'))
    case 'hours':
      return formatNumber(value, x => `${grouped(x.toFixed(digits))}${NO_BREAK_SPACE}h`)
    case 'list':
      return Array.isArray(value) ? list(value, decimals) : expected('a list', value)
    case 'range':
      return range(value)
    case 'switch':
      return typeof value === 'boolean' ? { text: value ? 'on' : 'off' } : expected('true or false', value)
  }
}

/** Last part of a path, such as the name of a model or a file. */
export function lastSegment(path: string): string {
  return path.slice(path.replace(/\/+$/, '').lastIndexOf('/') + 1)
}

function kind(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `the ${typeof value} ${String(value)}`
}

function expected(what: string, value: unknown): Formatted {
  return { reason: `${kind(value)}, expected ${what}` }
}

function formatNumber(value: unknown, write: (value: number) => string): Formatted {
  if (typeof value !== 'number') return expected('a number', value)
  if (!Number.isFinite(value)) return expected('a finite number', value)
  return { text: withTrueMinus(write(value)) }
}

function fixed(value: unknown, digits: number): Formatted {
  return formatNumber(value, x => grouped(x.toFixed(digits)))
}

/** Writes a true minus sign, and none before a zero that results from rounding. */
function withTrueMinus(text: string): string {
  if (!text.startsWith('-')) return text.replace('e-', `e${MINUS}`)
  const shown = text.slice(1).replace('e-', `e${MINUS}`)
  return /[1-9]/.test(shown) ? MINUS + shown : shown
}

/** Puts commas between thousands. From 1e21 on `toFixed` writes an exponent, and the text is left as it is. */
function grouped(text: string): string {
  return text.includes('e') ? text : text.replace(/^-?\d+/, whole => whole.replace(/\B(?=(?:\d{3})+$)/g, ','))
}

/** `0, 5, 10 and 15`. */
function list(values: readonly unknown[], decimals: number | null): Formatted {
  if (values.length === 0) return { reason: 'an empty list, expected at least one element' }
  const texts: string[] = []
  for (const value of values) {
    if (Array.isArray(value)) return expected('a list of numbers or texts', values)
    const one = formatPlainly(value, decimals)
    if ('reason' in one) return one
    texts.push(one.text)
  }
  const last = texts[texts.length - 1]
  return { text: texts.length === 1 ? last : `${texts.slice(0, -1).join(', ')} and ${last}` }
}

/** First and last element of a list of two: `2–21`. */
function range(value: unknown): Formatted {
  if (!Array.isArray(value) || value.length !== 2) return expected('a list of two integers', value)
  const ends: readonly unknown[] = value
  const texts = ends.map(end => (Number.isInteger(end) ? fixed(end, 0) : expected('a list of two integers', end)))
  const bad = texts.find(text => 'reason' in text)
  return bad ?? { text: texts.map(text => ('text' in text ? text.text : '')).join(EN_DASH) }
}
