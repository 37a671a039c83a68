/** The study section on the synthetic histories: selections, metrics, analyses and figures as the study defines them. */
import type {
  HistoryAnalysis,
  HistoryStudy,
  Guide,
  MetricDefinition,
  PanelRequest,
  RunSelection,
  StatisticsRequest
} from '../../schema/histories.js'
import { harnessKey, KEY } from './keys.js'

export const RUNS_FILE = 'wandb/runs.json'
export const HISTORY_FOLDER = 'wandb/history'
export const TRAIN_NODE_SUFFIX = '-trainnode'

/** As the study file writes them: what it leaves out has its default. */
type WrittenGuide = Omit<Guide, 'scale' | 'decimals'>
type WrittenPanel = Omit<PanelRequest, 'guides'> & { readonly guides: readonly WrittenGuide[] }
type WrittenFigure = Omit<HistoryStudy['figures'][number], 'panels'> & { readonly panels: readonly WrittenPanel[] }
type WrittenHistories = Omit<HistoryStudy, 'config' | 'figures'> & { readonly figures: readonly WrittenFigure[] }

function selection(name: string, title: string, display_name: string, display_time: RunSelection['display_time'] = null): RunSelection {
  return { name, title, display_name, entity: null, project: null, label: null, display_time }
}

type MetricLook = Partial<Omit<MetricDefinition, 'name' | 'key' | 'title' | 'axis'>>

function metric(name: string, key: string, title: string, axis: string, look: MetricLook = {}): MetricDefinition {
  return { name, key, title, axis, multiply: 1, divide: 1, trailing_mean: null, sparse: false, ...look }
}

function statistics(request: Partial<StatisticsRequest>): StatisticsRequest {
  return {
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
    compare: null,
    ...request
  }
}

function panel(name: string, look: Partial<Omit<WrittenPanel, 'metric'>> = {}): WrittenPanel {
  return { metric: name, title: null, axis: null, scale: { kind: 'linear' }, guides: [], ...look }
}

const SMOOTH = { trailing_mean: 10 } as const
const HARNESSES = ['openhands_sdk', 'opencode', 'claude_code'] as const
const HARNESS_METRICS = HARNESSES.map(harness => `harness_${harness}`)
const SHARE_AXIS = 'Share of trajectories (%)'
const DYNAMICS = ['reward', 'response_length', 'turns'] as const
const LEARNING_RATES = ['actor_lr', 'critic_lr'] as const
const OUTCOMES = ['reward', 'validation', 'response_length', 'turns'] as const

const METRICS: readonly MetricDefinition[] = [
  metric('reward', KEY.reward, 'Training reward', 'Mean trajectory score', SMOOTH),
  metric('validation', KEY.validation, 'Validation', 'Validation score (%)', { multiply: 100, sparse: true }),
  metric('response_length', KEY.responseLength, 'Response length', 'Mean tokens (thousands)', { divide: 1000, ...SMOOTH }),
  metric('turns', KEY.turns, 'Turns', 'Mean turns', SMOOTH),
  metric('explained_variance', KEY.explainedVariance, 'Critic explained variance', 'Explained variance', SMOOTH),
  metric('advantage_mean', KEY.advantageMean, 'Advantage mean', 'Mean advantage'),
  metric('advantage_max', KEY.advantageMax, 'Advantage maximum', 'Largest advantage'),
  metric('critic_grad_norm', KEY.criticGradNorm, 'Critic gradient norm', 'Gradient norm', SMOOTH),
  metric('actor_grad_norm', KEY.actorGradNorm, 'Actor gradient norm', 'Gradient norm', SMOOTH),
  metric('actor_lr', KEY.actorLr, 'Actor learning rate', 'Learning rate'),
  metric('critic_lr', KEY.criticLr, 'Critic learning rate', 'Learning rate'),
  metric('harness_openhands_sdk', harnessKey(HARNESSES[0]), 'OpenHands SDK share', SHARE_AXIS, { multiply: 100 }),
  metric('harness_opencode', harnessKey(HARNESSES[1]), 'OpenCode share', SHARE_AXIS, { multiply: 100 }),
  metric('harness_claude_code', harnessKey(HARNESSES[2]), 'Claude Code share', SHARE_AXIS, { multiply: 100 })
]

const COMPARISON: HistoryAnalysis = {
  name: 'comparison',
  selections: ['gspo', 'sao'],
  metrics: OUTCOMES,
  supplied: {
    reference: 'gspo',
    target: 'sao',
    anchor: true,
    step_prefix: ['validation'],
    same_step: DYNAMICS,
    time_prefix: true
  },
  shared_reference: null,
  statistics: statistics({
    ends: { count: 20, metrics: DYNAMICS },
    windows: [{ name: 'common', metrics: DYNAMICS, from: 106, to: 125 }],
    best: ['validation'],
    thresholds: [{ name: 'score68', metric: 'validation', at_least: 0.68 }],
    constant: ['actor_lr'],
    compare: { reference: 'gspo', target: 'sao' }
  }),
  outputs: {
    observations: 'wandb/curves-step-lineage.csv',
    all_attempts: 'wandb/curves-all-attempts.csv',
    statistics: 'wandb/curve_statistics.json',
    points: 'wandb/plot_points_with_provenance.csv',
    time_display: 'time_display.json'
  }
}

const RECIPES: HistoryAnalysis = {
  name: 'recipes',
  selections: ['sao_r6', 'sao_r7'],
  metrics: [
    ...OUTCOMES,
    'explained_variance',
    'advantage_mean',
    'advantage_max',
    'critic_grad_norm',
    'actor_grad_norm',
    'actor_lr',
    'critic_lr'
  ],
  supplied: null,
  shared_reference: {
    metric: 'validation',
    selections: ['sao_r6', 'sao_r7'],
    step: 0,
    value: null,
    from: 'data.json#/values/base.verified/value',
    scale: 0.01,
    label: '{value}%',
    decimals: 1,
    source: 'Evaluation of the base model in the workbook; no history holds it.',
    output: 'training_data/recipe-validation-start.json'
  },
  statistics: statistics({
    windows: [
      { name: 'steps_40_100', metrics: ['explained_variance'], from: 40, to: 100 },
      { name: 'steps_120_139', metrics: ['reward', 'turns'], from: 120, to: 139 }
    ],
    best: ['validation'],
    final: { count: 5, metrics: ['validation', 'critic_lr'] },
    max_abs: ['advantage_mean'],
    below_zero: ['advantage_max'],
    constant: LEARNING_RATES,
    first_rows: [{ name: 'first_actor_update', metrics: ['actor_grad_norm', 'actor_lr'] }]
  }),
  outputs: {
    observations: 'wandb/sao_r6_r7_observed_curves.csv',
    all_attempts: null,
    statistics: 'wandb/sao_r6_r7_statistics.json',
    points: null,
    time_display: null
  }
}

const CASES: HistoryAnalysis = {
  name: 'cases',
  selections: ['single', 'mixed'],
  metrics: [...OUTCOMES, ...HARNESS_METRICS],
  supplied: null,
  shared_reference: null,
  statistics: statistics({
    ends: { count: 10, metrics: DYNAMICS },
    best: ['validation'],
    final: { count: 5, metrics: ['validation'] },
    constant: LEARNING_RATES,
    shares: [{ name: 'harness', metrics: HARNESS_METRICS }]
  }),
  outputs: {
    observations: 'training_data/multilingual-case-observations.csv',
    all_attempts: null,
    statistics: 'training_data/multilingual-case-statistics.json',
    points: null,
    time_display: null
  }
}

function clipGuide(selection: 'sao_r6' | 'sao_r7', title: string): WrittenGuide {
  return { value: null, from: `data.json#/values/${selection}.critic_clip/value`, label: `${title} clip at {value}`, selection }
}

/** The axis of validation names its benchmark, because figures of different benchmarks look alike. */
function outcomePanels(benchmark: 'Verified' | 'Multilingual'): WrittenPanel[] {
  return OUTCOMES.map(name => panel(name, name === 'validation' ? { axis: `SWE-bench ${benchmark} (%)` } : {}))
}

export const HISTORY_STUDY: WrittenHistories = {
  runs: RUNS_FILE,
  folder: HISTORY_FOLDER,
  keys: { step: KEY.step, timestamp: KEY.timestamp, global_step: KEY.globalStep },
  companion_suffixes: [TRAIN_NODE_SUFFIX],
  selections: [
    selection('gspo', 'GSPO', 'gspo-3nodes-35b-a3b-openhands', { best_of: 'validation', at_hours: 135 }),
    selection('sao', 'SAO', 'sao-3nodes-35b-a3b-dynbsz-r7', { multiply: 0.5 }),
    selection('sao_r6', 'SAO r6', 'sao-3nodes-35b-a3b-dynbsz-r6'),
    selection('sao_r7', 'SAO r7', 'sao-3nodes-35b-a3b-dynbsz-r7'),
    selection('single', 'OpenHands SDK training', 'swegen1729-sao-r1'),
    selection('mixed', 'Three-harness mixed training', 'mix3999-sao-r4-mixed')
  ],
  metrics: METRICS,
  analyses: [COMPARISON, RECIPES, CASES],
  figures: [
    {
      name: '03-training-by-step',
      title: 'Training dynamics by step',
      analysis: 'comparison',
      view: 'step',
      x_title: 'Training step',
      panels: outcomePanels('Verified')
    },
    {
      name: '04-training-over-time',
      title: 'Training dynamics over time',
      analysis: 'comparison',
      view: 'time',
      x_title: 'Time (hours)',
      panels: outcomePanels('Verified')
    },
    {
      name: '05-sao-recipe-training',
      title: 'SAO recipes: training',
      analysis: 'recipes',
      view: 'step',
      x_title: 'Training step',
      panels: outcomePanels('Verified')
    },
    {
      name: '06-sao-critic-diagnostics',
      title: 'SAO recipes: critic and actor',
      analysis: 'recipes',
      view: 'step',
      x_title: 'Training step',
      panels: [
        panel('explained_variance', { scale: { kind: 'symlog', linear_to: 0.1 } }),
        panel('advantage_mean'),
        panel('critic_grad_norm', {
          scale: { kind: 'log' },
          guides: [clipGuide('sao_r6', 'r6'), clipGuide('sao_r7', 'r7')]
        }),
        panel('actor_grad_norm')
      ]
    },
    {
      name: '07-multilingual-cases',
      title: 'Multilingual cases',
      analysis: 'cases',
      view: 'step',
      x_title: 'Training step',
      panels: outcomePanels('Multilingual')
    }
  ]
}
