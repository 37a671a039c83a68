/** What `diagnose` is told on its command line, beside its paths. */
import type { LambdaAdvantages } from '../compute/diagnostics/contract.js'
import { FINDING_KINDS, type FindingKind } from '../compute/diagnostics/faults/finding.js'
import type { SamplingDesign } from '../compute/diagnostics/quality/contract.js'
import { SAMPLING_DESIGNS } from '../compute/diagnostics/quality/sampling.js'
import { EXIT, Fault, nearest, printable } from '../core/errors.js'
import { SAMPLE_KEY_NAMES, type SampleKeyName } from '../schema/sample-keys.js'

/** Null, false or empty: not told. */
export interface DiagnoseTexts {
  readonly gamma?: string | undefined
  readonly 'lambda-returns'?: string | undefined
  readonly 'lambda-advantages'?: string | undefined
  readonly sampling?: string | undefined
  readonly 'fail-on'?: readonly string[] | undefined
  readonly history?: string | undefined
  readonly against?: string | undefined
  readonly key?: readonly string[] | undefined
  readonly 'success-above'?: string | undefined
  readonly 'jump-above'?: string | undefined
  readonly 'skip-bad'?: boolean | undefined
}

export interface DiagnoseToldOptions {
  readonly gamma: number | null
  readonly lambdaReturns: number | null
  readonly lambdaAdvantages: LambdaAdvantages | null
  readonly sampling: SamplingDesign
  /** kinds of findings that fail the command */
  readonly failOn: readonly FindingKind[]
  readonly history: string | null
  readonly against: string | null
  readonly keys: Readonly<Partial<Record<SampleKeyName, string>>>
  readonly successAbove: number | null
  readonly jumpAbove: number | null
  readonly skipBad: boolean
}

/** @throws Fault with exit code 2 */
export function diagnoseToldOptions(values: DiagnoseTexts): DiagnoseToldOptions {
  const share = (option: 'gamma' | 'lambda-returns'): number | null => {
    const number = numberOf(option, values[option])
    if (number !== null && (number < 0 || number > 1)) throw wrongValue(option, values[option], 'a number from 0 to 1')
    return number
  }
  const jumpAbove = numberOf('jump-above', values['jump-above'])
  if (jumpAbove !== null && jumpAbove <= 0) throw wrongValue('jump-above', values['jump-above'], 'a number > 0')
  return {
    gamma: share('gamma'),
    lambdaReturns: share('lambda-returns'),
    lambdaAdvantages: lambdaOfAdvantages(values['lambda-advantages']),
    sampling: values.sampling === undefined ? 'not stated' : oneOfList('sampling', values.sampling, SAMPLING_DESIGNS),
    failOn: [...new Set((values['fail-on'] ?? []).map(kind => oneOfList('fail-on', kind, FINDING_KINDS)))],
    history: pathOf('history', values.history),
    against: pathOf('against', values.against),
    keys: keysOf(values.key ?? []),
    successAbove: numberOf('success-above', values['success-above']),
    jumpAbove,
    skipBad: values['skip-bad'] === true
  }
}

const ADAPTIVE = 'adaptive:'

function lambdaOfAdvantages(text: string | undefined): LambdaAdvantages | null {
  const expected = 'a number from 0 to 1, or adaptive:ALPHA'
  if (text?.startsWith(ADAPTIVE) === true) {
    const alpha = numberOf('lambda-advantages', text.slice(ADAPTIVE.length))
    if (alpha === null || alpha <= 0) throw wrongValue('lambda-advantages', text, expected)
    return { adaptive_alpha: alpha }
  }
  const lambda = numberOf('lambda-advantages', text)
  if (lambda !== null && (lambda < 0 || lambda > 1)) throw wrongValue('lambda-advantages', text, expected)
  return lambda
}

const DECIMAL_TEXT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

function numberOf(option: string, text: string | undefined): number | null {
  if (text === undefined) return null
  const number = DECIMAL_TEXT.test(text) ? Number(text) : NaN
  if (!Number.isFinite(number)) throw wrongValue(option, text, 'a finite number')
  return number
}

function oneOfList<T extends string>(option: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find(value => value === text)
  if (found !== undefined) return found
  const near = nearest(text, allowed)
  throw wrongValue(option, text, `${allowed.join(', ')}${near === null ? '' : `; did you mean ${near}?`}`)
}

function pathOf(option: string, text: string | undefined): string | null {
  if (text === '' || text?.includes('\0') === true) throw wrongValue(option, text, 'a path')
  return text ?? null
}

const MAX_KEY_LENGTH = 200

function keysOf(pairs: readonly string[]): DiagnoseToldOptions['keys'] {
  const keys: { [name in SampleKeyName]?: string } = {}
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    const theirs = pair.slice(at + 1)
    if (at < 1 || theirs === '' || theirs.length > MAX_KEY_LENGTH) {
      throw wrongValue('key', pair, 'NAME=THEIRS, such as values=critic_values')
    }
    const name = oneOfList('key', pair.slice(0, at), SAMPLE_KEY_NAMES)
    if (Object.hasOwn(keys, name)) throw wrongValue('key', pair, `one name for ${name}`)
    keys[name] = theirs
  }
  return keys
}

function wrongValue(option: string, text: string | undefined, expected: string): Fault {
  const found = printable(JSON.stringify(text ?? ''))
  return new Fault({ format: 'usage', problem: `wrong --${option}`, found, expected, exitCode: EXIT.usage })
}
