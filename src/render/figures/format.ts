/** Formats numbers for figures: a true minus sign, no minus before a rounded zero, comma groups, fixed decimals. */

const MINUS = '\u2212'

function withMinus(text: string): string {
  return text.startsWith('-') ? (/[1-9I]/.test(text) ? MINUS : '') + text.slice(1) : text
}

/**
 * Formats with `toFixed`. Scientific notation is used where that would be longer than about ten characters or show only
 * zeros.
 */
export function formatFixed(value: number, digits: number): string {
  const size = Math.abs(value)
  if (size >= 1e6 || (digits > 8 && size < 1e-3 && size > 0)) return formatScientific(value)
  return withMinus(value.toFixed(digits > 8 ? 3 : digits))
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
  const text = String(Math.abs(value)).replace(/^\d+/, digits => digits.replace(/\B(?=(\d{3})+$)/g, ','))
  return value < 0 ? MINUS + text : text
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
