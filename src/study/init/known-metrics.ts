/**
 * Keys that trainers of the verl family log, and how a study usually shows them. Drafts are made from this table. No other
 * part of the program knows these keys.
 */
import type { AxisScale, MetricDefinition } from '../../schema/histories.js'
import { compareCodepoints } from '../../core/paths.js'
import type { KeySample } from './row-keys.js'
import { nameLike, titleLike } from './words.js'

export interface DraftMetric extends Pick<MetricDefinition, 'name' | 'key' | 'title' | 'axis'> {
  readonly multiply?: number
  readonly divide?: number
  readonly trailing_mean?: number
  readonly sparse?: true
  /** vertical axis of its panel; absent: linear */
  readonly scale?: AxisScale
  /** has a panel if there is room */
  readonly drawn: boolean
  /** score of a validation set; its best point is computed */
  readonly validation: boolean
}

const SMOOTH = 10

/** A scale that depends on the sampled values. */
type ScaleLook = Partial<Pick<DraftMetric, 'axis' | 'multiply' | 'divide' | 'scale'>>

interface KnownMetric {
  readonly key: string
  readonly name: string
  readonly title: string
  readonly axis: string
  readonly drawn?: true
  /** drawn without a trailing mean, which would hide the detail of interest */
  readonly plain?: true
  readonly look?: (sample: KeySample) => ScaleLook
}

const thousands = ({ max }: KeySample): ScaleLook => (max >= 1000 ? { divide: 1000, axis: 'Tokens (thousands)' } : {})
const decades = ({ min, max }: KeySample): ScaleLook => (min > 0 && max > 100 * min ? { scale: { kind: 'log' } } : {})
const manyNegative = ({ min }: KeySample): ScaleLook => (min < -1 ? { scale: { kind: 'symlog', linear_to: 1 } } : {})

/** In the order of the panels. */
const KNOWN: readonly KnownMetric[] = [
  { key: 'critic/score/mean', name: 'reward', title: 'Reward', axis: 'Mean reward', drawn: true },
  { key: 'response_length/mean', name: 'response_length', title: 'Response length', axis: 'Tokens', drawn: true, look: thousands },
  { key: 'num_turns/mean', name: 'turns', title: 'Turns', axis: 'Turns', drawn: true },
  {
    key: 'critic/vf_explained_var',
    name: 'explained_variance',
    title: 'Critic explained variance',
    axis: 'Explained variance',
    drawn: true,
    look: manyNegative
  },
  { key: 'critic/advantages/mean', name: 'advantage_mean', title: 'Advantage mean', axis: 'Advantage', drawn: true, plain: true },
  { key: 'critic/grad_norm', name: 'critic_grad_norm', title: 'Critic gradient norm', axis: 'Norm', drawn: true, look: decades },
  { key: 'actor/grad_norm', name: 'actor_grad_norm', title: 'Actor gradient norm', axis: 'Norm', drawn: true, look: decades },
  { key: 'actor/entropy', name: 'entropy', title: 'Policy entropy', axis: 'Entropy', drawn: true },
  { key: 'actor/kl_loss', name: 'kl_loss', title: 'KL loss', axis: 'KL', drawn: true },
  { key: 'actor/ppo_kl', name: 'ppo_kl', title: 'KL of the update', axis: 'KL', drawn: true },
  { key: 'actor/pg_loss', name: 'policy_loss', title: 'Policy loss', axis: 'Loss', drawn: true },
  { key: 'actor/pg_clipfrac', name: 'clip_fraction', title: 'Clipped ratios', axis: 'Fraction', drawn: true },
  { key: 'critic/vf_loss', name: 'value_loss', title: 'Value loss', axis: 'Loss', drawn: true, look: decades },
  { key: 'response_length/clip_ratio', name: 'clipped_responses', title: 'Clipped responses', axis: 'Fraction', drawn: true },
  { key: 'critic/rewards/mean', name: 'token_reward', title: 'Reward with penalties', axis: 'Mean reward' },
  { key: 'critic/values/mean', name: 'value_mean', title: 'Critic value', axis: 'Value' },
  { key: 'critic/returns/mean', name: 'return_mean', title: 'Return', axis: 'Return' },
  { key: 'critic/advantages/max', name: 'advantage_max', title: 'Advantage maximum', axis: 'Advantage', plain: true },
  { key: 'critic/advantages/min', name: 'advantage_min', title: 'Advantage minimum', axis: 'Advantage', plain: true },
  { key: 'prompt_length/mean', name: 'prompt_length', title: 'Prompt length', axis: 'Tokens', look: thousands },
  { key: 'actor/lr', name: 'actor_lr', title: 'Actor learning rate', axis: 'Learning rate', plain: true },
  { key: 'critic/lr', name: 'critic_lr', title: 'Critic learning rate', axis: 'Learning rate', plain: true },
  { key: 'timing_s/step', name: 'step_seconds', title: 'Time of a step', axis: 'Seconds' },
  { key: 'perf/throughput', name: 'throughput', title: 'Throughput', axis: 'Tokens per second and GPU' }
]

/** `val-core/<source>/<variable>/<mean|best|maj>@<n>…`, and the older `val/test_score/<source>`. */
const VALIDATION = /^val-core\/(.+)\/[^/]+\/(?:mean|best|maj)@\d+(?:\/mean)?$|^val\/test_score\/(.+)$/

const HARNESS = /^harness_selected\/(.+)\/mean$/

const MAX_VALIDATION = 4
const MAX_HARNESSES = 8
/** Number of the most frequent keys that are used if no key is known. */
const MAX_UNKNOWN = 8

export interface DraftMetrics {
  readonly metrics: readonly DraftMetric[]
  /** keys of numbers that the draft does not use, ordered by code point */
  readonly others: readonly string[]
  /** true if no key was known: the metrics are then unmodified keys */
  readonly guessed: boolean
}

/** The metrics of a draft: reward, validation, then the rest of the table; shares of harnesses last. */
export function draftMetrics(keys: ReadonlyMap<string, KeySample>): DraftMetrics {
  const names = new Set<string>()
  const table = KNOWN.flatMap(known => {
    const sample = keys.get(known.key)
    if (sample === undefined) return []
    names.add(known.name)
    return [fromTable(known, sample)]
  })
  const logged = [...keys].sort(([a, x], [b, y]) => y.count - x.count || compareCodepoints(a, b))
  const validation = logged.filter(([key]) => VALIDATION.test(key)).slice(0, MAX_VALIDATION)
  const harnesses = logged.filter(([key]) => HARNESS.test(key)).slice(0, MAX_HARNESSES)
  const titles = new Set<string>()
  const rewards = table.filter(metric => metric.name === 'reward')
  const known = [
    ...rewards,
    ...validation.map(([key, sample]) => validationMetric(key, sample, validation.length > 1, names, titles)),
    ...table.filter(metric => metric.name !== 'reward'),
    ...harnesses.map(([key]) => harnessMetric(key, names, titles))
  ]
  const metrics = known.length > 0 ? known : logged.slice(0, MAX_UNKNOWN).map(([key]) => unknownMetric(key, names, titles))
  const used = new Set(metrics.map(metric => metric.key))
  const others = [...keys.keys()].filter(key => !used.has(key)).sort(compareCodepoints)
  return { metrics, others, guessed: known.length === 0 }
}

function fromTable({ key, name, title, axis, drawn, plain, look }: KnownMetric, sample: KeySample): DraftMetric {
  return {
    name,
    key,
    title,
    axis,
    ...(plain === true ? {} : { trailing_mean: SMOOTH }),
    ...look?.(sample),
    drawn: drawn === true,
    validation: false
  }
}

function validationMetric(key: string, { min, max }: KeySample, several: boolean, names: Set<string>, titles: Set<string>): DraftMetric {
  const match = VALIDATION.exec(key)
  const source = match?.[1] ?? match?.[2] ?? ''
  const fraction = min >= 0 && max <= 1
  return {
    name: nameLike(several ? `validation-${source}` : 'validation', 'validation', names),
    key,
    title: titleLike(several ? `Validation: ${source}` : 'Validation', 'Validation', titles),
    axis: fraction ? 'Validation score (%)' : 'Validation score',
    ...(fraction ? { multiply: 100 } : {}),
    sparse: true,
    drawn: true,
    validation: true
  }
}

function harnessMetric(key: string, names: Set<string>, titles: Set<string>): DraftMetric {
  const harness = HARNESS.exec(key)?.[1] ?? ''
  return {
    name: nameLike(`harness_${harness}`, 'harness', names),
    key,
    title: titleLike(`Share of ${harness}`, 'Share', titles),
    axis: 'Share',
    drawn: false,
    validation: false
  }
}

function unknownMetric(key: string, names: Set<string>, titles: Set<string>): DraftMetric {
  const title = titleLike(key, 'metric', titles)
  return { name: nameLike(key, 'metric', names), key, title, axis: title, drawn: true, validation: false }
}
