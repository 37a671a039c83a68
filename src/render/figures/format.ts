/** Formats numbers for figures: a true minus sign, no minus before a rounded zero, comma groups, fixed decimals. */

const MINUS = '\u2212'

function withMinus(text: string): string {
  return text.startsWith('-') ? (/[1-9I]/.test(text) ? MINUS : '') + text.slice(1) : text
}

function grouped(text: string): string {
  return text.replace(/^-?\d+/, digits => digits.replace(/\B(?=(\d{3})+$)/g, ','))
}

/** Formats as 1,234.50 with exactly so many decimals. @param value of a size below 1e21 */
export function formatDecimals(value: number, digits: number): string {
  return withMinus(grouped(value.toFixed(digits)))
}

/**
 * Formats with exactly so many decimals. Scientific notation is used where that would be longer than about ten characters
 * or show only zeros.
 */
export function formatFixed(value: number, digits: number): string {
  const size = Math.abs(value)
  if (size >= 1e6 || (digits > 8 && size < 1e-3 && size > 0)) return formatScientific(value)
  return formatDecimals(value, digits > 8 ? 3 : digits)
}

export function formatSigned(value: number, digits: number): string {
  const text = formatFixed(value, digits)
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text
}

/**
 * Formats as 1.20e−7 with two digits after the point. Without `digits` there are at most two: 1.2e−7. NaN and
 * infinities are written as such.
 */
export function formatScientific(value: number, digits?: number): string {
  if (value === 0 || !Number.isFinite(value)) return withMinus(String(value))
  const [mantissa, exponent] = value.toExponential(digits ?? 2).split('e')
  const shown = digits === undefined ? mantissa.replace(/\.?0+$/, '') : mantissa
  return `${withMinus(shown)}e${withMinus(exponent.replace('+', ''))}`
}

/** Formats as 22,773. `Intl` is not used, because its data differ between builds of Node. */
export function formatFigureCount(value: number): string {
  const text = grouped(String(Math.abs(value)))
  return value < 0 ? MINUS + text : text
}

const SUPERSCRIPTS = '\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079'

/** Formats a power of ten as 10⁻⁶. */
export function formatPower(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map(digit => SUPERSCRIPTS[Number(digit)]).join('')
  return `10${exponent < 0 ? '\u207b' : ''}${digits}`
}

/** `1 span`, `25 spans`. */
export function formatPlural(count: number, singular: string, plural: string = `${singular}s`): string {
  return `${formatFigureCount(count)} ${count === 1 ? singular : plural}`
}

/** Number of decimals that shows a difference of `delta` with at least two significant digits; at least three. */
export function decimalsFor(delta: number): number {
  const size = Math.abs(delta)
  return size === 0 || size >= 0.01 ? 3 : Math.ceil(-Math.log10(size)) + 1
}
