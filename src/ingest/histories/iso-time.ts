/**
 * ISO 8601 date and time as seconds since 1970, correctly rounded: whole seconds and fraction make one decimal number,
 * and the result is the double nearest to it. (Date would cut a fraction to milliseconds, and hours computed from that
 * would differ in the last digit.)
 *
 * Extended format only, as exporters write it: `2026-09-30T07:05:03.123456Z`, with `T` or a space, seconds or none, a
 * fraction (`.` or `,`) of up to 1000 digits or none; `Z`, `+08:00`, `+0800`, `+08` or no zone, which is UTC. Not
 * supported: a date alone, week and ordinal dates, the basic format, 24:00, leap seconds (:60), years of five digits.
 */
import type { ListedRun } from './types.js'

const DATE = /(\d{4})-(\d\d)-(\d\d)/
const TIME = /([01]\d|2[0-3]):([0-5]\d)/
/** A fraction's digits behind the first 1000 never change the nearest double. */
const FRACTION = /(?:[.,](\d{1,1000}))?/
const ZONE = /(?:[Zz]|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)?/

export const DATE_TIME = new RegExp(`^${DATE.source}[Tt ]${TIME.source}(?::([0-5]\\d)${FRACTION.source})?${ZONE.source}$`)

export const DATE_TIME_EXPECTED = 'an ISO 8601 date and time, such as 2026-09-30T07:05:03Z'

/** A time with all its decimal digits: units * 10^-digits seconds since 1970. A double holds today's times to 240 ns. */
export interface Instant {
  readonly units: bigint
  readonly digits: number
}

/** Seconds since 1970; null if the text is not such a date and time, or names a day that does not exist. */
export function parseIsoSeconds(text: string): number | null {
  const instant = parseInstant(text)
  return instant === null ? null : Number(`${instant.units}e-${instant.digits}`)
}

/** The same as `parseIsoSeconds`, unrounded. */
export function parseInstant(text: string): Instant | null {
  const match = DATE_TIME.exec(text)
  if (match === null) return null
  const [, year, month, day, hour, minute, second = '0', fraction = '', sign, zoneHour = '0', zoneMinute = '0'] = match
  const days = daysSince1970(Number(year), Number(month), Number(day))
  if (days === null) return null
  const zone = (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === '-' ? -60 : 60)
  const whole = days * 86400 + Number(hour) * 3600 + Number(minute) * 60 + Number(second) - zone
  // One integer in the smallest written unit keeps times before 1970 exact too.
  return { units: BigInt(whole) * 10n ** BigInt(fraction.length) + BigInt(fraction === '' ? 0 : fraction), digits: fraction.length }
}

/** A timestamp as trackers write it: the shortest decimal that reads as the given finite double. */
export function instantOf(seconds: number): Instant {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e(.+))?$/.exec(String(seconds)) as RegExpExecArray
  const digits = fraction.length - Number(exponent)
  const units = BigInt(sign + whole + fraction) * 10n ** BigInt(Math.max(0, -digits))
  return { units, digits: Math.max(0, digits) }
}

/** Negative if a is earlier. */
export function compareInstants(a: Instant, b: Instant): number {
  const x = a.units * 10n ** BigInt(Math.max(0, b.digits - a.digits))
  const y = b.units * 10n ** BigInt(Math.max(0, a.digits - b.digits))
  return x < y ? -1 : x > y ? 1 : 0
}

type Created = Pick<ListedRun, 'createdAt' | 'createdSeconds'>

export function createdInstant({ createdAt, createdSeconds }: Created): Instant {
  return parseInstant(createdAt) ?? instantOf(createdSeconds)
}

/** Compares all digits of createdAt. The text is read only if the doubles are equal: different doubles decide it. */
export function compareCreation(a: Created, b: Created): number {
  return a.createdSeconds - b.createdSeconds || compareInstants(createdInstant(a), createdInstant(b))
}

/** True for a date and time without a zone, which is read as UTC; false for any other text. */
export function lacksZone(text: string): boolean {
  return DATE_TIME.test(text) && !/(?:[Zz]|[+-]\d\d(?::?\d\d)?)$/.test(text)
}

/** Days in the proleptic Gregorian calendar; null for a day that does not exist. */
function daysSince1970(year: number, month: number, day: number): number | null {
  const date = new Date(0)
  // Date.UTC would read the years 0 to 99 as 1900 to 1999
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null
  return date.getTime() / 86_400_000
}
