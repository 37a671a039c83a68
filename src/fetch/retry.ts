/**
 * Rules for retries and their waits. They are those of W&B's own client.
 *
 * Retried are HTTP 408, 429 and 5xx other than 501. The wait is 2 s x 2^n plus up to 25 % at random, 60 s at most. A
 * Retry-After header (RFC 9110, 10.2.3: seconds or one of the three forms of an HTTP date) replaces that wait to the
 * second, also beyond 60 s. With a Retry-After that is zero or past, the ordinary wait holds.
 */
import { setTimeout as delay } from 'node:timers/promises'

export interface Clock {
  /** ms since the epoch */
  now(): number
  /** rejects when the signal aborts */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, signal === undefined ? {} : { signal })
  }
}

const FIRST_WAIT_MS = 2000
const MAX_WAIT_MS = 60_000
const JITTER = 0.25

/** Longest Retry-After in seconds, some 30 years: beyond every deadline. A larger number may exceed the double range. */
const MAX_SECONDS = 1e9

export function isRetried(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status <= 599 && status !== 501)
}

/**
 * @param failures number of failed tries, at least 1
 * @param random in [0, 1)
 */
export function backoffMs(failures: number, random: number): number {
  return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1) * (1 + JITTER * random))
}

/** `Sun, 06 Nov 1994 08:49:37 GMT`, the same in RFC 850's form, and in asctime's (also GMT). */
const HTTP_DATES: readonly RegExp[] = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/
]

/** ms to wait, 0 for a time in the past; null if the header is neither seconds nor an HTTP date. */
export function retryAfterMs(header: string, now: number): number | null {
  const text = header.trim()
  if (/^\d+$/.test(text)) return Math.min(Number(text), MAX_SECONDS) * 1000
  if (!HTTP_DATES.some(form => form.test(text))) return null
  const time = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(time) ? null : Math.max(0, time - now)
}
