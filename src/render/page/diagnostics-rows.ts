/** What terminal and page say of a diagnosis: the same rows in the same words. */
import {
  commonSteps,
  type Compared,
  type DiagnosedSet,
  type Estimate,
  type LambdaAdvantages,
  type LoggedHistory,
  type Quality,
  type QualityComparison,
  type StatedSet,
  type ToldValue
} from '../../compute/diagnostics/contract.js'
import { formatFigureCount, formatPlural } from '../figures/format.js'

/** Four significant digits, without an exponent where it needs none. */
export function shownNumber(x: number): string {
  const size = Math.abs(x)
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) return x.toExponential(2).replace('e+', 'e')
  return size >= 1e4 ? formatFigureCount(Math.round(x)) : String(Number(x.toPrecision(4)))
}

export function intervalText({ low, high }: Estimate): string {
  return low === null || high === null ? '' : `${shownNumber(low)} to ${shownNumber(high)}`
}

function lambdaText(value: LambdaAdvantages): string {
  return typeof value === 'number' ? shownNumber(value) : `1 - 1 / (${shownNumber(value.adaptive_alpha)} L), L the trainable tokens`
}

/** What it means that no finding is there: little, where no relation was found that faults could break, or where it is left. */
export function noFindingText({ audit: { gamma, departs_at: departs } }: Pick<DiagnosedSet, 'audit'>): string {
  if (gamma === null) return 'No known fault shows, but no relation was found that one could break: these numbers do not tell.'
  if (departs !== null)
    return `No known fault shows, but the numbers leave the relation at ${placeText(departs)}: what happened there they do not tell.`
  return 'None of the known faults shows in these numbers.'
}

export interface AuditRow {
  readonly name: string
  readonly found: string
  /** what was told of it, and whether that agrees; null where nothing was */
  readonly told: { readonly text: string; readonly agrees: boolean | null } | null
}

const RULES: Readonly<Record<NonNullable<DiagnosedSet['audit']['rule']>, string>> = {
  'every-token': 'count like any other token',
  carry: 'are passed through: next value and running sum stay',
  'trainable-only': 'are left out',
  'zeroed-values': 'count with value 0',
  reset: 'set the running sum to 0'
}

export const NOT_IDENTIFIABLE = 'not identifiable'

function placeText({ sample, token }: { readonly sample: number; readonly token: number }): string {
  return `sample ${sample}, token ${token}`
}

/** The estimator, one row a part of it. */
export function auditRows({ audit }: Pick<DiagnosedSet, 'audit'>): readonly AuditRow[] {
  const told = (name: ToldValue['name']): AuditRow['told'] => {
    const found = audit.told.find(value => value.name === name)
    return found === undefined ? null : { text: lambdaText(found.told), agrees: found.agrees }
  }
  const row = (name: string, found: string | null, of: AuditRow['told'] = null): AuditRow => ({
    name,
    found: found ?? NOT_IDENTIFIABLE,
    told: of
  })
  const number = (value: number | null): string | null => (value === null ? null : shownNumber(value))
  const { max_residual: residual, max_residual_place: place, lambda_advantages: lambda } = audit
  return [
    row('masked tokens', ruleText(audit)),
    row('value beside a token', audit.value_alignment === 'pre-action' ? 'before the token is chosen' : audit.value_alignment),
    row('discount γ', number(audit.gamma), told('gamma')),
    row('λ of the returns', number(audit.lambda_returns), told('lambda_returns')),
    row('λ of the advantages', lambda === null ? null : lambdaText(lambda), told('lambda_advantages')),
    row('KL coefficient β', number(audit.kl_coefficient)),
    row(
      'whitening',
      audit.whitening === null
        ? null
        : audit.whitening === 'none'
          ? 'none'
          : `over the ${audit.whitening.replace('within-sample', 'parts of a sample')}`
    ),
    row('final reward', audit.final_reward === null ? null : `on the ${audit.final_reward}`),
    row(
      'largest residual',
      residual === null
        ? 'no relation to hold the returns against'
        : `${shownNumber(residual)}${place === null ? '' : ` at ${placeText(place)}`}`
    )
  ]
}

function ruleText({ rule, alternatives, nearest_rule: nearest, departs_at: departs }: DiagnosedSet['audit']): string | null {
  if (rule !== null) {
    if (alternatives.length > 0) return `${NOT_IDENTIFIABLE}: ${[rule, ...alternatives].join(', ')} fit alike`
    return `${rule}: they ${RULES[rule]}`
  }
  if (nearest === null) return null
  return `none of the known rules; nearest ${nearest}${departs === null ? '' : `, which it leaves at ${placeText(departs)}`}`
}

/** A statistic by its place in the quality object. */
export interface QualityRow {
  readonly name: string
  readonly path: readonly (string | number)[]
  /** what a reader may take from it, in a few words */
  readonly meaning: string
}

const ERRORS: readonly (readonly [name: string, field: string, meaning: string])[] = [
  ['explained variance', 'explained_variance', '1 is perfect; 0 is no better than a constant'],
  ['explained variance, a trajectory each', 'explained_variance_by_trajectory', 'every trajectory weighs the same'],
  ['mean squared error', 'mse', '0 is perfect'],
  ['bias', 'bias', 'mean of value minus return; above 0 is optimistic'],
  ['correlation', 'correlation', 'of value and return']
]

const LAST_DECILE = 9

const REST: readonly QualityRow[] = [
  { name: 'calibration error', path: ['calibration'], meaning: 'mean distance of value and success rate; 0 is perfect' },
  { name: 'AUC, first tenth', path: ['auc_by_decile', 0], meaning: 'chance that a success has the higher value; 0.5 is a coin' },
  { name: 'AUC, last tenth', path: ['auc_by_decile', LAST_DECILE], meaning: 'the same at the end' },
  { name: 'mean |change| between turns', path: ['changes', 'boundary', 'mean_abs_change'], meaning: 'of the value, from token to token' },
  { name: 'mean |change| inside turns', path: ['changes', 'internal', 'mean_abs_change'], meaning: 'of the value, from token to token' },
  { name: 'jump rate between turns', path: ['changes', 'boundary', 'jump_rate'], meaning: 'share of changes above the threshold' },
  { name: 'jump rate inside turns', path: ['changes', 'internal', 'jump_rate'], meaning: 'share of changes above the threshold' }
]

function errorRows(prefix: string, at: readonly string[]): QualityRow[] {
  return ERRORS.map(([name, field, meaning]) => ({ name: prefix + name, path: [...at, field], meaning }))
}

/** The main statistics. Where the pooled ones are refused, those within each outcome stand in their place. */
export function qualityRows({
  sampling,
  by_outcome: { success, failure }
}: Pick<Quality, 'sampling' | 'by_outcome'>): readonly QualityRow[] {
  if (sampling !== 'stratified by outcome') return [...errorRows('', []), ...REST]
  const within = (outcome: 'success' | 'failure', there: unknown, words: string): QualityRow[] =>
    there === null ? [] : errorRows(`${words}: `, ['by_outcome', outcome])
  return [
    { name: 'explained variance', path: ['explained_variance'], meaning: 'of both outcomes together' },
    ...within('success', success, 'successes'),
    ...within('failure', failure, 'failures'),
    ...REST.filter(({ path }) => path[0] !== 'calibration')
  ]
}

/** The estimate at a path, or the reason why there is none. */
export function estimateAt(
  quality: Quality,
  path: QualityRow['path']
): { readonly estimate: Estimate | null; readonly reason: string | null } {
  const found = at(quality, path) as Estimate | undefined
  const reason = quality.undefined_reasons[`/${path.join('/')}/value`] ?? null
  return { estimate: found?.value == null ? null : found, reason: found === undefined ? 'not given' : (reason?.split(';')[0] ?? null) }
}

/** Null where one of the two lacks it. */
export function comparedAt(comparison: QualityComparison, path: QualityRow['path']): Compared | null {
  return (at(comparison, path) as Compared | undefined) ?? null
}

/** Whether intervals of differences are of pairs. */
export function pairingText({ pairing: { paired, pairs, rule } }: QualityComparison): string {
  return paired ? `Intervals of differences are paired: ${formatFigureCount(pairs)} pairs by uid.` : `Intervals of differences are ${rule}.`
}

function at(root: unknown, path: QualityRow['path']): unknown {
  let node: unknown = root
  for (const key of path) {
    if (typeof node !== 'object' || node === null) return undefined
    node = (node as Readonly<Record<string | number, unknown>>)[key]
  }
  return node ?? undefined
}

/** What was compared with a history, and which of its rows give no value. */
export function historyNotes(history: LoggedHistory, quality: StatedSet['quality']): readonly string[] {
  const common = commonSteps(history, quality)
  const steps = formatPlural(history.byStep.size, 'step')
  const rows = history.leftOut.map(left => `${formatFigureCount(left.rows)} (${left.reason})`)
  return [
    common === 0
      ? `None of its ${steps} is one of the samples: nothing was compared`
      : `${formatFigureCount(common)} of its ${steps} compared`,
    ...(rows.length === 0 ? [] : [`Rows left out: ${rows.join(', ')}`])
  ]
}

/** `12 samples, 3,402 retained tokens, 4 steps`. */
export function countsText({ source, quality }: StatedSet): string {
  const plural = (count: number, word: string): string => `${formatFigureCount(count)} ${word}${count === 1 ? '' : 's'}`
  const steps = quality.by_step.length
  return [
    plural(source.samples, 'sample'),
    plural(quality.tokens, 'retained token'),
    steps === 0 ? 'no step stated' : plural(steps, 'step'),
    ...(source.left_out === 0 ? [] : [`${plural(source.left_out, 'row')} left out`]),
    `sampling ${quality.sampling === 'not stated' ? 'not stated' : `told: ${quality.sampling}`}`
  ].join(', ')
}

/** Most characters of a uid that a sentence shows; the document has it whole. */
const MAX_UID = 60

export function shortenedUid(uid: string): string {
  const characters = [...uid]
  return characters.length <= MAX_UID ? uid : `${characters.slice(0, MAX_UID).join('')}…`
}

/** `dump.pt row 3, step 12, uid …`, for a sample whose file, step or uid is known. */
export function sampleText(place: NonNullable<DiagnosedSet['findings'][number]['place']>): string {
  const { file, row, step, uid } = place
  const parts = [
    ...(file === null ? [] : [`${file}${row === null ? '' : ` row ${row}`}`]),
    ...(step === null ? [] : [`step ${step}`]),
    ...(uid === null ? [] : [`uid ${shortenedUid(uid)}`])
  ]
  return `${placeText(place)}${parts.length === 0 ? '' : ` (${parts.join(', ')})`}`
}
