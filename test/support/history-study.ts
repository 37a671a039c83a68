/** The histories of the replica's study as a typed value, written by hand: what its study file must read as. */
import type { HistoryStudy, MetricDefinition, RunSelection, StatisticsRequest } from '../../src/schema/histories.js'
import { STATED } from './history-layouts.js'

function selection(name: string, title: string, display_name: string, display_time: RunSelection['display_time'] = null): RunSelection {
  return { name, title, display_name, entity: null, project: null, label: null, display_time }
}

function metric(name: string, key: string, title: string, axis: string, more: Partial<MetricDefinition> = {}): MetricDefinition {
  return { name, key, title, axis, multiply: 1, divide: 1, trailing_mean: null, sparse: false, ...more }
}

const SMOOTH = { trailing_mean: 10 } as const
const TRAINING = ['reward', 'response_length', 'turns']
const FOUR = ['reward', 'validation', 'response_length', 'turns']
const HARNESSES = ['harness_openhands_sdk', 'harness_opencode', 'harness_claude_code']

const NOTHING: StatisticsRequest = {
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

const linear = (name: string): HistoryStudy['figures'][0]['panels'][0] => ({
  metric: name,
  title: null,
  axis: null,
  scale: { kind: 'linear' },
  guides: []
})

export const REPLICA_HISTORIES: HistoryStudy = {
  runs: 'wandb/runs.json',
  folder: 'wandb/history',
  keys: { step: '_step', timestamp: '_timestamp', global_step: 'training/global_step' },
  companion_suffixes: ['-trainnode'],
  config: [],
  selections: [
    selection('gspo', 'GSPO', 'gspo-3nodes-35b-a3b-openhands', { best_of: 'validation', at_hours: 135 }),
    selection('sao', 'SAO', 'sao-3nodes-35b-a3b-dynbsz-r7', { multiply: 0.5 }),
    selection('sao_r6', 'SAO r6', 'sao-3nodes-35b-a3b-dynbsz-r6'),
    selection('sao_r7', 'SAO r7', 'sao-3nodes-35b-a3b-dynbsz-r7'),
    selection('single', 'OpenHands SDK training', 'swegen1729-sao-r1'),
    selection('mixed', 'Three-harness mixed training', 'mix3999-sao-r4-mixed')
  ],
  metrics: [
    metric('reward', 'critic/score/mean', 'Reward', 'Mean reward', SMOOTH),
    metric('validation', 'val-core/unknown/reward/mean@1', 'Validation', 'Validation score (%)', { multiply: 100, sparse: true }),
    metric('response_length', 'response_length/mean', 'Response length', 'Tokens (thousands)', { divide: 1000, ...SMOOTH }),
    metric('turns', 'num_turns/mean', 'Turns', 'Turns', SMOOTH),
    metric('explained_variance', 'critic/vf_explained_var', 'Critic explained variance', 'Explained variance', SMOOTH),
    metric('advantage_mean', 'critic/advantages/mean', 'Advantage mean', 'Advantage'),
    metric('advantage_max', 'critic/advantages/max', 'Advantage maximum', 'Advantage'),
    metric('critic_grad_norm', 'critic/grad_norm', 'Critic gradient norm', 'Norm', SMOOTH),
    metric('actor_grad_norm', 'actor/grad_norm', 'Actor gradient norm', 'Norm', SMOOTH),
    metric('actor_lr', 'actor/lr', 'Actor learning rate', 'Learning rate'),
    metric('critic_lr', 'critic/lr', 'Critic learning rate', 'Learning rate'),
    metric('harness_openhands_sdk', 'harness_selected/openhands_sdk/mean', 'OpenHands SDK', 'Share'),
    metric('harness_opencode', 'harness_selected/opencode/mean', 'OpenCode', 'Share'),
    metric('harness_claude_code', 'harness_selected/claude_code/mean', 'Claude Code', 'Share')
  ],
  analyses: [
    {
      name: 'comparison',
      selections: ['gspo', 'sao'],
      metrics: FOUR,
      supplied: { reference: 'gspo', target: 'sao', anchor: true, step_prefix: ['validation'], same_step: TRAINING, time_prefix: true },
      shared_reference: null,
      statistics: {
        ...NOTHING,
        ends: { count: 20, metrics: TRAINING },
        windows: [{ name: 'common', metrics: TRAINING, from: 106, to: 125 }],
        best: ['validation'],
        thresholds: [{ name: 'score68', metric: 'validation', at_least: 0.68 }],
        compare: { reference: 'gspo', target: 'sao' }
      },
      outputs: {
        observations: 'wandb/curves-step-lineage.csv',
        all_attempts: 'wandb/curves-all-attempts.csv',
        statistics: 'wandb/curve_statistics.json',
        points: 'wandb/plot_points_with_provenance.csv',
        time_display: 'time_display.json'
      }
    },
    {
      name: 'recipes',
      selections: ['sao_r6', 'sao_r7'],
      metrics: [
        ...FOUR,
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
        value: 0.64,
        ...STATED,
        label: '64.0 %',
        source: 'base model, as stated by the author; no observation of either history',
        output: 'training_data/recipe-validation-start.json'
      },
      statistics: {
        ...NOTHING,
        windows: [
          { name: 'steps_40_100', metrics: ['explained_variance'], from: 40, to: 100 },
          { name: 'steps_120_139', metrics: ['reward', 'turns'], from: 120, to: 139 }
        ],
        best: ['validation'],
        final: { count: 5, metrics: ['validation'] },
        max_abs: ['advantage_mean'],
        below_zero: ['advantage_max'],
        first_rows: [{ name: 'first_actor_update', metrics: ['actor_grad_norm', 'actor_lr'] }]
      },
      outputs: {
        observations: 'wandb/sao_r6_r7_observed_curves.csv',
        all_attempts: null,
        statistics: 'wandb/sao_r6_r7_statistics.json',
        points: null,
        time_display: null
      }
    },
    {
      name: 'cases',
      selections: ['single', 'mixed'],
      metrics: [...FOUR, ...HARNESSES],
      supplied: null,
      shared_reference: null,
      statistics: {
        ...NOTHING,
        ends: { count: 10, metrics: TRAINING },
        best: ['validation'],
        final: { count: 5, metrics: ['validation'] },
        shares: [{ name: 'harness', metrics: HARNESSES }]
      },
      outputs: {
        observations: 'training_data/multilingual-case-observations.csv',
        all_attempts: null,
        statistics: 'training_data/multilingual-case-statistics.json',
        points: null,
        time_display: null
      }
    }
  ],
  figures: [
    {
      name: '03-training-by-step',
      title: 'Training dynamics by step',
      analysis: 'comparison',
      view: 'step',
      x_title: 'Training step',
      panels: FOUR.map(linear)
    },
    {
      name: '04-training-over-time',
      title: 'Training dynamics over time',
      analysis: 'comparison',
      view: 'time',
      x_title: 'Time (hours)',
      panels: FOUR.map(linear)
    },
    {
      name: '05-sao-recipe-training',
      title: 'Training of two recipes',
      analysis: 'recipes',
      view: 'step',
      x_title: 'Training step',
      panels: FOUR.map(linear)
    },
    {
      name: '06-sao-critic-diagnostics',
      title: 'Critic diagnostics of two recipes',
      analysis: 'recipes',
      view: 'step',
      x_title: 'Training step',
      panels: [
        { metric: 'explained_variance', title: null, axis: null, scale: { kind: 'symlog', linear_to: 1 }, guides: [] },
        linear('advantage_mean'),
        {
          metric: 'critic_grad_norm',
          title: null,
          axis: null,
          scale: { kind: 'log' },
          guides: [
            { value: 1, ...STATED, label: 'r6 clip at 1', selection: 'sao_r6' },
            { value: 10, ...STATED, label: 'r7 clip at 10', selection: 'sao_r7' }
          ]
        },
        linear('actor_grad_norm')
      ]
    },
    {
      name: '07-multilingual-cases',
      title: 'Two multilingual cases',
      analysis: 'cases',
      view: 'step',
      x_title: 'Training step',
      panels: FOUR.map(linear)
    }
  ]
}
