/** What the command line tells `diagnose` alone: what the run was configured with, how samples were chosen, what fails. */
import type { LambdaAdvantages } from '../compute/diagnostics/contract.js'
import { FINDING_KINDS, type FindingKind } from '../schema/diagnostics.js'
import type { SamplingDesign } from '../compute/diagnostics/quality/contract.js'
import { SAMPLING_DESIGNS } from '../compute/diagnostics/quality/sampling.js'
import { nearest, printable } from '../core/errors.js'
import type { OptionValues } from './options.js'
import { meant, pathText, usage } from './usage.js'

/** Null or empty: not told. */
export interface DiagnoseTold {
  readonly gamma: number | null
  readonly lambdaReturns: number | null
  readonly lambdaAdvantages: LambdaAdvantages | null
  readonly sampling: SamplingDesign | null
  /** kinds of findings that fail the command */
  readonly failOn: readonly FindingKind[]
  /** a file with the logged explained variance */
  readonly history: string | null
}

/** What `traces` says, whose shards carry the diagnostics too. */
export const NOTHING_TOLD: DiagnoseTold = {
  gamma: null,
  lambdaReturns: null,
  lambdaAdvantages: null,
  sampling: null,
  failOn: [],
  history: null
}

export function diagnoseOptions(values: OptionValues): DiagnoseTold {
  const { sampling, history } = values
  return {
    gamma: shareOf('gamma', values.gamma, SHARE),
    lambdaReturns: shareOf('lambda-returns', values['lambda-returns'], SHARE),
    lambdaAdvantages: lambdaOfAdvantages(values['lambda-advantages']),
    sampling: sampling === undefined ? null : oneOfList('sampling', sampling, SAMPLING_DESIGNS),
    failOn: [...new Set((values['fail-on'] ?? []).map(kind => oneOfList('fail-on', kind, FINDING_KINDS)))],
    history: history === undefined ? null : pathText('--history', history, 'a file')
  }
}

const SHARE = 'a number from 0 to 1'
const ADAPTIVE = 'adaptive:'

function lambdaOfAdvantages(text: string | undefined): LambdaAdvantages | null {
  const expected = `${SHARE}, or adaptive:ALPHA`
  if (text?.startsWith(ADAPTIVE) !== true) return shareOf('lambda-advantages', text, expected)
  const alpha = numberIn(text.slice(ADAPTIVE.length))
  if (!(alpha > 0)) throw wrongValue('lambda-advantages', text, expected)
  return { adaptive_alpha: alpha }
}

function shareOf(option: string, text: string | undefined, expected: string): number | null {
  if (text === undefined) return null
  const share = numberIn(text)
  if (!(share >= 0 && share <= 1)) throw wrongValue(option, text, expected)
  return share
}

/** NaN where the text is no finite number. */
function numberIn(text: string): number {
  const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : NaN
  return Number.isFinite(number) ? number : NaN
}

function oneOfList<T extends string>(option: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find(value => value === text)
  if (found === undefined) throw wrongValue(option, text, `${allowed.join(', ')}${meant(nearest(text, allowed), '')}`)
  return found
}

function wrongValue(option: string, text: string, expected: string) {
  return usage(`wrong --${option}`, printable(JSON.stringify(text)), expected)
}
