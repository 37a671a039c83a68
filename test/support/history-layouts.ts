/** Random histories and studies: everything that a log can look like, in small. */
import type { HistoryAnalysis, HistoryStudy, MetricDefinition, RunSelection } from '../../src/schema/histories.js'
import type { Logged, PlainRow, PlainRun } from './history-plain.js'
import type { Random } from './random.js'

export const REFERENCE = 'base'
export const TARGET = 'ours'
export const THIRD = 'third'
const NAMES = [REFERENCE, TARGET, THIRD]

export function metric(name: string, key: string, more: Partial<MetricDefinition> = {}): MetricDefinition {
  return { name, key, title: name, axis: name, multiply: 1, divide: 1, trailing_mean: null, sparse: false, ...more }
}

export function selection(name: string, more: Partial<RunSelection> = {}): RunSelection {
  return {
    name,
    title: name.toUpperCase(),
    display_name: `run-${name}`,
    entity: null,
    project: null,
    label: null,
    display_time: null,
    ...more
  }
}

export const NO_STATISTICS: HistoryAnalysis['statistics'] = {
  ends: null,
  windows: [],
  best: [],
  thresholds: [],
  final: null,
  max_abs: [],
  below_zero: [],
  constant: [],
  first_rows: [],
  shares: [],
  compare: null
}

export const NO_OUTPUTS: HistoryAnalysis['outputs'] = {
  observations: null,
  all_attempts: null,
  statistics: 'statistics.json',
  points: null,
  time_display: null
}

/** The rest of a drawn number that is stated as it is. */
export const STATED = { from: null, scale: 1, decimals: null } as const

export function studyOf(parts: Partial<HistoryStudy>): HistoryStudy {
  return {
    runs: 'wandb/runs.json',
    folder: 'wandb/history',
    keys: { step: '_step', timestamp: '_timestamp', global_step: 'global_step' },
    companion_suffixes: ['-companion'],
    selections: [],
    metrics: [],
    analyses: [],
    config: [],
    figures: [],
    ...parts
  }
}

const DENSE = ['reward', 'length']
const SPARSE = 'validation'
const SHARES = ['share_x', 'share_y']
const ALL = [...DENSE, SPARSE, ...SHARES]

/** A study of three selections over the same metrics, and their runs in a random order. */
export function randomWorld(random: Random): { readonly study: HistoryStudy; readonly runs: readonly PlainRun[] } {
  const subset = (names: readonly string[], p = 0.6): string[] => names.filter(() => random.chance(p))
  const metrics = [
    metric('reward', 'critic/reward', { trailing_mean: 1 + random.below(6) }),
    metric('length', 'response/length', { trailing_mean: random.chance(0.5) ? null : 10, divide: 1000 }),
    metric(SPARSE, 'val@1', { sparse: random.chance(0.8), multiply: 100, trailing_mean: random.chance(0.2) ? 3 : null }),
    // one metric shares its key with another
    metric('share_x', random.chance(0.1) ? 'critic/reward' : 'share/x'),
    metric('share_y', 'share/y')
  ]
  const selections = NAMES.map(name =>
    selection(name, {
      display_time: random.chance(0.3)
        ? null
        : random.chance(0.5)
          ? { multiply: random.pick([0.5, 0.1, 3]) }
          : { best_of: random.pick(ALL), at_hours: random.pick([1, 135, 0.25]) }
    })
  )
  const analysis: HistoryAnalysis = {
    name: 'main',
    selections: random.shuffle(NAMES),
    metrics: ALL,
    supplied: random.chance(0.15)
      ? null
      : {
          reference: REFERENCE,
          target: TARGET,
          anchor: random.chance(0.8),
          step_prefix: subset(ALL, 0.4),
          same_step: subset(ALL, 0.5),
          time_prefix: random.chance(0.7)
        },
    shared_reference: random.chance(0.5)
      ? null
      : {
          metric: random.pick(ALL),
          selections: subset(NAMES),
          step: random.below(6),
          value: random.normal(),
          ...STATED,
          label: 'start',
          source: 'stated',
          output: 'start.json'
        },
    statistics: {
      ends: random.chance(0.2) ? null : { count: 1 + random.below(6), metrics: subset(ALL) },
      windows: [0, 1, 2].map(k => {
        const from = random.below(15)
        return { name: `window_${k}`, metrics: subset(ALL), from, to: from + random.below(12) }
      }),
      best: subset(ALL),
      thresholds: subset(ALL).map(m => ({ name: `level_${m}`, metric: m, at_least: random.pick([-0.5, 0, 0.25, 0.5, 2]) })),
      final: random.chance(0.2) ? null : { count: 1 + random.below(6), metrics: subset(ALL) },
      max_abs: subset(ALL),
      below_zero: subset(ALL),
      constant: [],
      first_rows: [
        { name: 'any', metrics: random.shuffle(ALL) },
        { name: 'share', metrics: SHARES }
      ],
      shares: [{ name: 'shares', metrics: SHARES }],
      compare: random.chance(0.2) ? null : { reference: REFERENCE, target: TARGET }
    },
    outputs: { ...NO_OUTPUTS, points: 'points.csv' }
  }
  const study = studyOf({ selections, metrics, analyses: [analysis] })
  return { study, runs: random.shuffle(NAMES.flatMap(name => randomRuns(random, name, metrics))) }
}

/** Seconds of a whole day, so that created times look like real ones. */
const EPOCH = 1_756_000_000

function randomRuns(random: Random, name: string, metrics: readonly MetricDefinition[]): PlainRun[] {
  const runs: PlainRun[] = []
  const count = 1 + random.below(4)
  const sparseEvery = 1 + random.below(5)
  // A quarter of the values are multiples of 1/4, so that ties and exact thresholds occur.
  const coarse = random.chance(0.5)
  let start = random.below(4)
  let created = EPOCH + random.below(1000)
  for (let k = 0; k < count; k++) {
    const rows = random.chance(0.12) ? [] : randomRows(random, start, created, metrics, sparseEvery, coarse)
    // digits that tell runs of one second apart, beyond what a double holds
    const nanoseconds = random.chance(0.5) ? 0 : random.below(4)
    runs.push({
      id: `${name}${random.below(1e6)}-${k}`,
      displayName: `run-${name}`,
      createdAt: `${new Date(created * 1000).toISOString().slice(0, 19)}.${String(nanoseconds).padStart(9, '0')}Z`,
      createdSeconds: created + nanoseconds * 1e-9,
      // some exports have the latest row first
      rows: random.chance(0.1) ? [...rows].reverse() : rows
    })
    const last = rows.length === 0 ? start : rows[rows.length - 1].step
    start = random.chance(0.3) ? last : random.chance(0.5) ? last + 1 : Math.max(0, last - random.below(8))
    // sometimes in the same second
    created += random.chance(0.25) ? 0 : random.below(20000)
  }
  return runs
}

function randomRows(
  random: Random,
  start: number,
  created: number,
  metrics: readonly MetricDefinition[],
  sparseEvery: number,
  coarse: boolean
): PlainRow[] {
  const rows: PlainRow[] = []
  const startup = random.below(3)
  const clockless = random.chance(0.1)
  let step = start
  let time = created + (random.chance(0.1) ? -random.below(4000) : random.below(500))
  for (let i = 0, n = 1 + random.below(12); i < n; i++) {
    const logged: Record<string, Logged> = {}
    if (i >= startup || random.chance(0.3)) {
      for (const { name, key } of metrics) {
        const due = name === SPARSE ? step % sparseEvery === 0 : random.chance(0.9)
        if (due) logged[key] = randomLogged(random, coarse)
      }
    }
    rows.push({
      step,
      timestamp: clockless || random.chance(0.05) ? null : time,
      global: random.chance(0.1) ? null : random.chance(0.05) ? random.pick(['NaN', 'null']) : step - (random.chance(0.05) ? 0.5 : 1),
      logged
    })
    step += random.chance(0.85) ? 1 : random.chance(0.5) ? 2 + random.below(3) : -random.below(4)
    // repeated instants and clocks that go back
    time += random.chance(0.1) ? 0 : random.chance(0.05) ? -random.below(300) : random.unit() * 900
  }
  return rows
}

function randomLogged(random: Random, coarse: boolean): Logged {
  if (random.chance(0.04)) return random.pick(['NaN', 'nan', 'Infinity', '-Infinity', null, null, true] as const)
  if (random.chance(0.03)) return 0
  return coarse ? (random.below(9) - 4) / 4 : random.normal()
}
