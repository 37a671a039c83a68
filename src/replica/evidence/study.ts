/** The study section on the synthetic evidence: what is read from which file, what is derived, and two bar figures. */
import type {
  BarFigureRequest,
  CellValue,
  ConfigSource,
  DatasetSource,
  DerivedValue,
  DocumentValue,
  EvidenceStudy,
  QuotedValue,
  SlideValue,
  TextDocument
} from '../../schema/evidence.js'
import type { Reference } from '../../schema/reference.js'
import { CONFIGS, type ConfigName } from './configs.js'
import { DATASETS, HARNESS_FIELD, TASK_PATH } from './datasets.js'
import { COMMENTED, POSTMORTEM_FILE, README, TUTORIAL_FILE, type TextFile } from './documents.js'
import { efficiencyCell, efficiencyLabels, PAGES, SLIDE, type EfficiencyRow } from './slides.js'
import { HEADS, LABEL, MATRIX_SHEET, NOTE_CELL, NOTE_LABELS, NOTE_SHEET, ROW } from './workbook.js'

export const WORKBOOK_FILE = 'sources/evaluation.xlsx'
export const SLIDES_FILE = 'sources/slides.pptx'

const AS_STATED = { pattern: null, multiply: 1, published: true, excluded: null } as const
const PERCENT = 'percent'

function score(
  name: string,
  column: 'C' | 'L',
  row: keyof typeof LABEL,
  title: string,
  look: Partial<Pick<CellValue, 'published' | 'excluded'>> = {}
): CellValue {
  const labels = [{ cell: `B${ROW[row]}`, text: LABEL[row] }, ...HEADS[column]]
  return { ...AS_STATED, name, as: PERCENT, unit: PERCENT, title, sheet: MATRIX_SHEET, cell: `${column}${ROW[row]}`, labels, ...look }
}

function limit(column: 'C' | 'D', title: string): CellValue {
  return {
    ...AS_STATED,
    name: `limit.${column.toLowerCase()}`,
    as: 'match',
    pattern: `^Verified/OpenHands\\s（${NUMBER} s）$`,
    unit: 'seconds',
    title,
    sheet: MATRIX_SHEET,
    cell: `${column}${ROW.header}`,
    labels: [HEADS.C[0], { cell: `B${ROW.header}`, text: LABEL.header }]
  }
}

function noted(name: string, pattern: string, unit: string, title: string): CellValue {
  return { ...AS_STATED, name, as: 'match', pattern, unit, title, sheet: NOTE_SHEET, cell: NOTE_CELL, labels: NOTE_LABELS }
}

const NUMBER = '([0-9][0-9,.]*)'
const OF_NOTE = 'of the note on single evaluations, which proves no setting of the SAO evaluation'

const CELLS: readonly CellValue[] = [
  score('base.verified', 'C', 'base', 'Base model on SWE-bench Verified'),
  score('base.multilingual', 'L', 'base', 'Base model on SWE-bench Multilingual'),
  score('gspo.verified', 'C', 'gspo', 'GSPO on SWE-bench Verified'),
  score('gspo.multilingual', 'L', 'gspo', 'GSPO on SWE-bench Multilingual'),
  score('sao.verified', 'C', 'sao', 'SAO on SWE-bench Verified'),
  score('sao.multilingual', 'L', 'sao', 'SAO on SWE-bench Multilingual: a stand-in, the score is not published', {
    published: false
  }),
  score('multilingual_training.multilingual', 'L', 'multilingualTraining', 'Multilingual training on SWE-bench Multilingual', {
    excluded: 'different training data'
  }),
  limit('C', 'Time limit of the first Verified column'),
  limit('D', 'Time limit of the second Verified column'),
  noted('note.context', `^${NUMBER}k context`, 'thousand tokens', `Context ${OF_NOTE}`),
  noted('note.turns', `，${NUMBER} turns，`, 'turns', `Turns ${OF_NOTE}`),
  noted('note.limit', `turns，${NUMBER} s$`, 'seconds', `Time limit ${OF_NOTE}`)
]

function both(
  row: EfficiencyRow,
  key: string,
  unit: string,
  title: string,
  look: Partial<Pick<SlideValue, 'as' | 'pattern' | 'published'>> = {}
): SlideValue[] {
  return (['gspo', 'sao'] as const).map(algorithm => ({
    ...AS_STATED,
    name: `${algorithm}.${key}`,
    as: 'number',
    unit,
    title: `${title}, ${algorithm.toUpperCase()}`,
    slide: SLIDE.efficiency,
    table: efficiencyCell(row, algorithm),
    labels: efficiencyLabels(row, algorithm),
    ...look
  }))
}

function said(name: string, slide: number, pattern: string, unit: string, title: string, excluded: string): SlideValue {
  return { ...AS_STATED, name, as: 'match', pattern, unit, title, excluded, slide, table: null, labels: [] }
}

/** A whole sentence below the table of slide 40. The article repeats its content in other words. */
function footnote(name: string, pattern: string, title: string): SlideValue {
  return { ...AS_STATED, name, as: 'text', pattern, unit: 'words', title, slide: SLIDE.efficiency, table: null, labels: [] }
}

const CONTRADICTED = 'the workbook states another score, which the study keeps'

const SLIDE_VALUES: readonly SlideValue[] = [
  ...both('stepMinutes', 'step_minutes', 'minutes', 'Step duration as reported'),
  ...both(
    'rolloutsToBest',
    'rollouts_to_best',
    'rollouts',
    'Rollouts to the best checkpoint of its own: a stand-in, their ratio is published',
    {
      published: false
    }
  ),
  ...both('hoursToBest', 'hours_to_best', 'hours', 'Wall clock to the best checkpoint of its own, as the slide reports it'),
  ...both('batch', 'batch', 'rollouts', 'Rollouts of a training step'),
  ...both('waiting', 'waiting', PERCENT, 'Generation time over step time: a stand-in, the share is not published', {
    as: 'match',
    pattern: `^${NUMBER}%$`,
    published: false
  }),
  ...both('verified', 'verified.slide40', PERCENT, 'SWE-bench Verified as slide 40 has it', {
    as: 'match',
    pattern: `^${NUMBER}%$`
  }),
  {
    ...AS_STATED,
    name: 'slide40.gspo.multilingual',
    as: 'match',
    pattern: `^${NUMBER}%$`,
    unit: PERCENT,
    title: 'GSPO on SWE-bench Multilingual, as slide 40 has it',
    excluded: CONTRADICTED,
    slide: SLIDE.efficiency,
    table: efficiencyCell('multilingual', 'gspo'),
    labels: efficiencyLabels('multilingual', 'gspo')
  },
  said(
    'slide5.gspo.verified',
    SLIDE.scores,
    `^SWE-bench Verified：${NUMBER}%$`,
    PERCENT,
    'GSPO on SWE-bench Verified, as slide 5 has it',
    'the workbook states the score that is used'
  ),
  said(
    'slide5.gspo.multilingual',
    SLIDE.scores,
    `^SWE-bench Multilingual：${NUMBER}%$`,
    PERCENT,
    'GSPO on SWE-bench Multilingual, as slide 5 has it',
    CONTRADICTED
  ),
  said(
    'slide26.async_speedup',
    SLIDE.speedup,
    `^asynchronous vs synchronous: ${NUMBER}×$`,
    'ratio',
    'Asynchronous over synchronous system',
    'a comparison of systems, not of algorithms'
  ),
  said(
    'slide.visible_tasks',
    SLIDE.taskGrid,
    `^${NUMBER} visible tasks$`,
    'tasks',
    'Tasks that a slide shows',
    'neither the configured tasks nor those that were run'
  ),
  footnote('slide40.waiting', '^trainer 等待占比 = (.*)$', 'What slide 40 divides to have its shares of waiting'),
  footnote('slide40.best_cost', '^最优成本 = (.*)$', 'What slide 40 counts as the cost of the best checkpoint'),
  footnote('slide40.conditions', '^(.{1,20}、.{1,20})$', 'What slide 40 says that both runs had in common')
]

const PAPER = 'SAO paper, version 1'
const TABLE_2 = `${PAPER}, table 2`

function quote(name: string, value: number, unit: string, title: string, source: string): QuotedValue {
  return { name, value, unit, title, source }
}

const QUOTED: readonly QuotedValue[] = [
  quote('paper.base.verified', 23, PERCENT, 'Base model of the paper on SWE-bench Verified', TABLE_2),
  quote('paper.grpo_dis.verified', 27, PERCENT, 'GRPO with DIS on SWE-bench Verified', TABLE_2),
  quote('paper.sao.verified', 29.8, PERCENT, 'SAO on SWE-bench Verified', TABLE_2),
  quote('paper.prompts_grpo', 16, 'prompts', 'Prompts of a group-based batch', PAPER),
  quote('paper.rollouts_grpo', 8, 'rollouts', 'Rollouts a prompt of a group-based batch', PAPER),
  quote('paper.prompts_sao', 128, 'prompts', 'Prompts of an SAO batch', PAPER),
  quote('paper.rollouts_sao', 1, 'rollouts', 'Rollouts a prompt of an SAO batch', PAPER),
  quote('paper.context', 128, 'thousand tokens', 'Context of the coding experiment', `${PAPER}, section 4.1`),
  quote('paper.turns', 300, 'turns', 'Most turns of the coding experiment', `${PAPER}, section 4.1`)
]

/** A value in the first line that the pattern matches. */
function written(
  { text }: TextFile,
  name: string,
  pattern: string,
  unit: string,
  title: string,
  look: Pick<Partial<DocumentValue>, 'as' | 'labels'> = {}
): DocumentValue {
  const line = text.split('\n').findIndex(one => new RegExp(pattern, 'u').test(one)) + 1
  return { name, line, pattern, as: 'number', unit, title, published: true, excluded: null, labels: [], ...look }
}

/** The head of the README's table, which names its columns. */
function tableHead({ text }: TextFile): Pick<DocumentValue, 'labels'> {
  const lines = text.split('\n')
  const line = lines.findIndex(one => one.startsWith('|')) + 1
  return { labels: [{ line, text: lines[line - 1] }] }
}

const TEXT_DOCUMENTS: readonly TextDocument[] = [
  {
    name: 'readme',
    path: README.path,
    title: 'README of the training repository',
    values: [
      written(README, 'readme.tasks', `configuration contains ${NUMBER} tasks`, 'tasks', 'Training tasks as configured'),
      written(README, 'readme.gspo.steps', `OpenHands \\| GSPO \\| ${NUMBER} `, 'steps', 'Steps of the OpenHands run', tableHead(README)),
      written(README, 'readme.sao.steps', `OpenHands \\| SAO \\| ${NUMBER} `, 'steps', 'Steps of the SAO run', tableHead(README)),
      written(
        README,
        'readme.sao.verified',
        `SAO \\| [0-9]+ \\| ${NUMBER}% `,
        PERCENT,
        'SAO on SWE-bench Verified, best score',
        tableHead(README)
      )
    ]
  },
  {
    name: 'tutorial',
    path: TUTORIAL_FILE.path,
    title: 'SAO tutorial of the training repository',
    values: [
      written(
        TUTORIAL_FILE,
        'tutorial.sao.verified',
        `reaches ${NUMBER}% on SWE-bench Verified`,
        PERCENT,
        'SAO on SWE-bench Verified, an earlier result'
      ),
      written(TUTORIAL_FILE, 'tutorial.sao.steps', `over ${NUMBER} steps`, 'steps', 'Steps of that result')
    ]
  },
  {
    name: 'postmortem',
    path: POSTMORTEM_FILE.path,
    title: 'Postmortem of the r6 and r7 runs',
    values: [
      written(POSTMORTEM_FILE, 'postmortem.r6.critic_warmup', 'critic_warmup = ([0-9]+)', 'steps', 'Critic warmup of r6'),
      written(
        POSTMORTEM_FILE,
        'postmortem.r6.all_negative_steps',
        'all negative at steps ([0-9-]+)',
        'steps',
        'Steps at which all advantages of r6 are said to be negative',
        { as: 'text' }
      ),
      written(
        POSTMORTEM_FILE,
        'postmortem.unscaled_norms',
        'norms of ([0-9-]+) pass',
        'gradient norm',
        'Critic gradient norms that are said to pass without scaling',
        { as: 'text' }
      ),
      written(
        POSTMORTEM_FILE,
        'postmortem.think_call_percent',
        `about ${NUMBER}% of the calls`,
        PERCENT,
        'Share of think calls in audited trajectories, about'
      )
    ]
  },
  {
    name: 'comment',
    path: COMMENTED.path,
    title: 'Parent of the single-harness configuration, with a comment on the base model',
    values: [
      written(
        COMMENTED,
        'comment.base.multilingual',
        `base model had ${NUMBER}% on Multilingual`,
        PERCENT,
        'Base model on SWE-bench Multilingual under a shorter timeout'
      ),
      written(
        COMMENTED,
        'comment.base.condition',
        'on Multilingual, (.*)\\.$',
        'words',
        'Under what the comment says that the base model had it',
        { as: 'text' }
      )
    ]
  }
]

function stated(name: string): Reference {
  return `data.json#/values/${name}/value`
}

function followed(name: string): Reference {
  return `derived_metrics.json#/values/${name}/value`
}

function bestHours(selection: 'gspo' | 'sao'): Reference {
  return `wandb/curve_statistics.json#/selections/${selection}/metrics/validation/best/display_hours`
}

function derive(kind: DerivedValue['kind'], name: string, unit: string, title: string, operation: DerivedValue['operation']): DerivedValue {
  return { name, title, unit, kind, operation }
}

function ratio(name: string, title: string, key: string): DerivedValue {
  return derive('original', name, 'ratio', title, { ratio: [stated(`gspo.${key}`), stated(`sao.${key}`)] })
}

function configuredBatch(algorithm: 'gspo' | 'sao', config: ConfigName): DerivedValue {
  const title = `Rollouts of a step as configured, ${algorithm.toUpperCase()}: prompts times rollouts a prompt`
  return derive('original', `${algorithm}.batch.configured`, 'rollouts', title, {
    product: [stated(`${config}.train_prompts`), stated(`${config}.rollout_n`)]
  })
}

/** The best validation score in percent. The histories log fractions. */
function validationBest(algorithm: 'gspo' | 'sao'): DerivedValue {
  return derive(
    'original',
    `${algorithm}.verified.history`,
    PERCENT,
    `Highest validation of the ${algorithm.toUpperCase()} history, on SWE-bench Verified`,
    {
      scale: `wandb/curve_statistics.json#/selections/${algorithm}/metrics/validation/best/value`,
      by: 100
    }
  )
}

const UNEQUAL = 'GSPO over SAO: the two differ in quality'
const HALVED = 'halved for its lower concurrency'

const DERIVED: readonly DerivedValue[] = [
  ratio('rollouts_to_best.ratio', `Rollouts to the best of its own, ${UNEQUAL}`, 'rollouts_to_best'),
  ratio('hours_to_best.slide.ratio', `Reported hours to the best of its own, ${UNEQUAL}`, 'hours_to_best'),
  ratio('batch.ratio', 'Rollouts of a step, GSPO over SAO', 'batch'),
  ratio('step_ratio', 'Reported step duration, GSPO over SAO', 'step_minutes'),
  configuredBatch('gspo', 'gspo'),
  configuredBatch('sao', 'sao_r7'),
  derive('displayed', 'sao.step_minutes.displayed', 'minutes', `Step duration of SAO, ${HALVED}`, {
    scale: stated('sao.step_minutes'),
    by: 0.5
  }),
  derive('displayed', 'step_ratio.displayed', 'ratio', `Step duration, GSPO over SAO, the latter ${HALVED}`, {
    ratio: [stated('gspo.step_minutes'), followed('sao.step_minutes.displayed')]
  }),
  derive('displayed', 'hours_to_best.gspo.displayed', 'hours', 'Hours to the best GSPO validation on the calibrated axis', {
    scale: bestHours('gspo'),
    by: 1
  }),
  derive('displayed', 'hours_to_best.sao.displayed', 'hours', `Hours to the best SAO validation, ${HALVED}`, {
    scale: bestHours('sao'),
    by: 1
  }),
  derive('displayed', 'time_to_best.reduction', PERCENT, 'By how much fewer the displayed hours of SAO are to its best', {
    reduction_percent: [followed('hours_to_best.sao.displayed'), followed('hours_to_best.gspo.displayed')]
  }),
  validationBest('gspo'),
  validationBest('sao'),
  derive('original', 'verified.gain.gspo', 'points', 'GSPO less the base model on SWE-bench Verified', {
    difference: [stated('gspo.verified'), stated('base.verified')]
  }),
  derive('original', 'verified.gain.sao', 'points', 'SAO less the base model on SWE-bench Verified', {
    difference: [stated('sao.verified'), stated('base.verified')]
  }),
  derive('original', 'verified.gspo_minus_sao', 'points', 'GSPO less SAO on SWE-bench Verified', {
    difference: [stated('gspo.verified'), stated('sao.verified')]
  }),
  derive('original', 'multilingual.gain.gspo', 'points', 'GSPO less the base model on SWE-bench Multilingual', {
    difference: [stated('gspo.multilingual'), stated('base.multilingual')]
  }),
  derive('original', 'paper.sao_minus_grpo', 'points', 'SAO less GRPO with DIS, within the paper', {
    difference: [stated('paper.sao.verified'), stated('paper.grpo_dis.verified')]
  }),
  derive('original', 'paper.group.trajectories', 'trajectories', 'Trajectories of a group-based batch of the paper', {
    product: [stated('paper.prompts_grpo'), stated('paper.rollouts_grpo')]
  }),
  derive('original', 'paper.sao.trajectories', 'trajectories', 'Trajectories of an SAO batch of the paper', {
    product: [stated('paper.prompts_sao'), stated('paper.rollouts_sao')]
  })
]

const TITLES = { base: 'Base model', gspo: 'GSPO', sao: 'SAO' } as const
const OWN_BEST = 'To its own best checkpoint'
const NORMALISED = 'concurrency-normalised'

function pair(gspo: Reference, sao: Reference): BarFigureRequest['panels'][number]['series'] {
  return [
    { title: TITLES.gspo, values: [gspo] },
    { title: TITLES.sao, values: [sao] }
  ]
}

const FIGURES: readonly BarFigureRequest[] = [
  {
    name: '01-scores',
    title: 'Recorded scores',
    panels: [
      {
        title: 'SWE-bench',
        axis: 'Resolved (%)',
        groups: ['Verified', 'Multilingual'],
        series: (['base', 'gspo', 'sao'] as const).map(name => ({
          title: TITLES[name],
          values: [stated(`${name}.verified`), stated(`${name}.multilingual`)]
        })),
        decimals: 1,
        from: 0
      }
    ]
  },
  {
    name: '02-efficiency',
    title: 'Training efficiency',
    panels: [
      {
        title: 'Rollouts to best',
        axis: 'Rollouts',
        groups: [OWN_BEST],
        series: pair(stated('gspo.rollouts_to_best'), stated('sao.rollouts_to_best')),
        decimals: 0,
        from: 0
      },
      {
        title: 'Step duration',
        axis: `Minutes (only SAO ${NORMALISED})`,
        groups: ['A training step'],
        series: pair(stated('gspo.step_minutes'), followed('sao.step_minutes.displayed')),
        decimals: 1,
        from: 0
      },
      {
        title: 'Time to best',
        axis: `Hours (${NORMALISED})`,
        groups: [OWN_BEST],
        series: pair(followed('hours_to_best.gspo.displayed'), followed('hours_to_best.sao.displayed')),
        decimals: 1,
        from: 0
      }
    ]
  }
]

const DATASET_TITLES: Readonly<Record<keyof typeof DATASETS, string>> = {
  single: 'Training tasks of the single-harness case',
  mixed: 'Training tasks of the three-harness case',
  validation: 'Validation tasks of both cases'
}

function dataset(name: keyof typeof DATASETS): DatasetSource {
  const training = name !== 'validation'
  return {
    name,
    path: DATASETS[name].path,
    title: DATASET_TITLES[name],
    task_path: TASK_PATH,
    patterns: training ? { swegen: 'swegen', openswe: 'openswe' } : { multilingual: 'swe-bench-multilingual' },
    field: HARNESS_FIELD,
    decode: 'all'
  }
}

/** Settings that are not published. The values are typical of such a configuration. */
const UNPUBLISHED_SETTINGS: ReadonlySet<string> = new Set([
  ...['gspo', 'sao_r6', 'sao_r7', 'single', 'mixed', 'trace'].flatMap(name =>
    ['train_files', 'val_files', 'critic_path'].map(key => `${name}.${key}`)
  ),
  'openswe.train_files',
  'gspo.train_prompts',
  'sao_r6.train_prompts',
  'sao_r7.train_prompts',
  'single.train_prompts',
  'mixed.train_prompts',
  'sao_r6.minibatch',
  'sao_r7.minibatch',
  'sao_r6.critic_lr',
  'sao_r6.critic_epochs'
])

function config(name: ConfigName): ConfigSource {
  const { path, values } = CONFIGS[name]
  return {
    name,
    path,
    values: Object.entries(values).map(([short, [key, title]]) => ({
      name: `${name}.${short}`,
      key,
      title,
      published: !UNPUBLISHED_SETTINGS.has(`${name}.${short}`)
    }))
  }
}

export const EVIDENCE_STUDY: EvidenceStudy = {
  workbook: { path: WORKBOOK_FILE, values: CELLS },
  slides: { path: SLIDES_FILE, pages: PAGES, values: SLIDE_VALUES },
  configs: (Object.keys(CONFIGS) as ConfigName[]).map(config),
  documents: TEXT_DOCUMENTS,
  datasets: (Object.keys(DATASETS) as (keyof typeof DATASETS)[]).map(dataset),
  quoted: QUOTED,
  derived: DERIVED,
  figures: FIGURES
}
