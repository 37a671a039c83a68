/** What the command line tells `traces` alone: names in the files, thresholds, the end marker, how dumps are read. */
import { nearest, printable } from '../core/errors.js'
import { KEY_NAMES, type ToldKeys } from '../schema/key-names.js'
import type { OptionValues } from './options.js'
import { meant, pathText, usage } from './usage.js'

/** What `traces` is told beside a study. Null, false or empty: not told. */
export interface TraceTold {
  /** names of arrays and fields in the files */
  readonly keys: ToldKeys
  /** score above which a trace without an outcome is a success */
  readonly successAbove: number | null
  /** text that ends a generated turn */
  readonly marker: string | null
  readonly jumpAbove: number | null
  /** true: a bad sample of a dump is left out and listed */
  readonly skipBad: boolean
  /** a second dump of the same traces */
  readonly against: string | null
  /** a `tokenizer.json` */
  readonly tokenizer: string | null
}

export function tracesOptions(values: OptionValues): TraceTold {
  const { marker = null } = values
  if (marker === '') throw usage('wrong --marker', '""', 'a text')
  const jumpAbove = numberOf('jump-above', values)
  if (jumpAbove !== null && jumpAbove < 0)
    throw usage('wrong --jump-above', printable(values['jump-above'] ?? ''), 'a number of at least 0')
  return {
    keys: toldKeys(values.key ?? []),
    successAbove: numberOf('success-above', values),
    marker,
    jumpAbove,
    skipBad: values['skip-bad'] === true,
    against: values.against === undefined ? null : pathText('--against', values.against, 'a file'),
    tokenizer: values.tokenizer === undefined ? null : pathText('--tokenizer', values.tokenizer, 'a file')
  }
}

const MAX_KEY = 200

function toldKeys(pairs: readonly string[]): ToldKeys {
  const told: { [name: string]: string } = {}
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    const [name, theirs] = [pair.slice(0, Math.max(at, 0)), pair.slice(at + 1)]
    if (at < 1 || theirs === '' || theirs.length > MAX_KEY) {
      throw usage('wrong --key', printable(JSON.stringify(pair)), 'NAME=THEIRS, such as values=critic_values')
    }
    if (!(KEY_NAMES as readonly string[]).includes(name)) {
      throw usage('unknown --key', printable(name), `one of ${KEY_NAMES.join(', ')}${meant(nearest(name, KEY_NAMES), '')}`)
    }
    if (Object.hasOwn(told, name)) throw usage('contradiction', `--key ${name} twice`, 'one of them')
    told[name] = theirs
  }
  return told
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

function numberOf(option: 'success-above' | 'jump-above', values: OptionValues): number | null {
  const { [option]: given } = values
  if (given === undefined) return null
  const number = DECIMAL.test(given) ? Number(given) : NaN
  if (!Number.isFinite(number)) throw usage(`wrong --${option}`, printable(JSON.stringify(given)), 'a finite number')
  return number
}
