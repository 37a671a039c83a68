/**
 * Serial numbers as dates: days since the start of the workbook's date system, in no time zone.
 *
 * Source: ECMA-376 part 1, 18.17.4. The 1900 system counts 29 February 1900, a day that did not exist (a bug of Lotus
 * 1-2-3, kept on purpose). Serial 60 is that day, as Excel shows it. Later serials are one higher than the calendar's count
 * of days from 1 January 1900.
 */

const DAY_MS = 86_400_000
const EPOCH_1900 = Date.UTC(1899, 11, 30)
const EPOCH_1904 = Date.UTC(1904, 0, 1)
const LEAP_BUG_DAY = 60
/** 9999-12-31 in each system, the last date that Excel shows. */
const LAST_1900 = 2_958_465
const LAST_1904 = 2_957_003

/**
 * ISO 8601 text without a zone, to the millisecond if there is a fraction of a second: `2012-11-11T23:59:59`. A serial
 * below 1 of the 1900 system has no day, only a time of day: `23:59:59`. Null for a serial that Excel shows as no date.
 */
export function serialToIso(serial: number, date1904: boolean): string | null {
  if (!(serial >= 0)) return null
  let day = Math.floor(serial)
  let ms = Math.round((serial - day) * DAY_MS)
  if (ms === DAY_MS) [day, ms] = [day + 1, 0]
  if (day > (date1904 ? LAST_1904 : LAST_1900)) return null
  const time = new Date(ms).toISOString().slice(11, ms % 1000 === 0 ? 19 : 23)
  if (date1904) return `${isoDay(EPOCH_1904, day)}T${time}`
  if (day === 0) return time
  if (day === LEAP_BUG_DAY) return `1900-02-29T${time}`
  return `${isoDay(EPOCH_1900, day < LEAP_BUG_DAY ? day + 1 : day)}T${time}`
}

function isoDay(epoch: number, day: number): string {
  return new Date(epoch + day * DAY_MS).toISOString().slice(0, 10)
}

/** The text of a date in a cell of type `d`. */
export const ISO_CELL = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$|^T?\d\d:\d\d(:\d\d(\.\d+)?)?Z?$/
