/**
 * Formats numbers for people at a terminal: decimal units (a megabyte is 10^6 bytes), three significant digits, no
 * locale. They are for messages only. No output file contains such a number.
 */

import { formatCount } from '../../core/counts.js'

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const

/** Three significant digits without an exponent: `34.3`, `0.5`, `1,230`. */
export function formatQuantity(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  const magnitude = Math.abs(value)
  if (magnitude >= 999.5) return formatCount(Math.round(value))
  const decimals = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2
  const text = value.toFixed(decimals)
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

/** `12345678` -> `12.3 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  // 999.5 kB would round to "1,000 kB".
  while (Math.abs(value) >= 999.5 && unit < BYTE_UNITS.length - 1) {
    value /= 1000
    unit++
  }
  return `${formatQuantity(value)} ${BYTE_UNITS[unit]}`
}

/** `0.042` s -> `42 ms`, `3.14` -> `3.1 s`, `75` -> `1 min 15 s`, `7500` -> `2 h 05 min`. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return 'unknown'
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 59.95) return `${formatTenth(seconds)} s`
  const whole = Math.round(seconds)
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`
  const minutes = Math.round(seconds / 60)
  return `${formatCount(Math.floor(minutes / 60))} h ${pad(minutes % 60)} min`
}

function formatTenth(value: number): string {
  return value < 9.95 ? value.toFixed(1) : value.toFixed(0)
}

function pad(value: number): string {
  return String(value).padStart(2, '0')
}
