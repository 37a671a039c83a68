/** What the command line tells `watch` alone: how often it looks, and when it ends. */
import { printable } from '../core/errors.js'
import type { OptionValues } from './options.js'
import { usage } from './usage.js'

export interface WatchTold {
  /** how long a file must stand still, in seconds */
  readonly settle: number
  /** longest time between two looks, in seconds */
  readonly poll: number
  /** true: the entry of a deleted file stays in the index */
  readonly keepDeleted: boolean
  /** true: ends when what is there is analysed */
  readonly once: boolean
}

const DEFAULT_SETTLE_SECONDS = 5
const DEFAULT_POLL_SECONDS = 10
/** A day. */
const MAX_SECONDS = 86_400

export function watchOptions(values: OptionValues): WatchTold {
  return {
    settle: secondsOf('settle', values, DEFAULT_SETTLE_SECONDS),
    poll: secondsOf('poll', values, DEFAULT_POLL_SECONDS),
    keepDeleted: values['keep-deleted'] === true,
    once: values.once === true
  }
}

function secondsOf(option: 'settle' | 'poll', { [option]: text }: OptionValues, standard: number): number {
  if (text === undefined) return standard
  const seconds = /^\d{1,5}(?:\.\d{1,3})?$/.test(text) ? Number(text) : NaN
  if (!(seconds >= 0.1 && seconds <= MAX_SECONDS)) throw usage(`wrong --${option}`, printable(text), `seconds, from 0.1 to ${MAX_SECONDS}`)
  return seconds
}
