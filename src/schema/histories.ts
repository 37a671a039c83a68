/**
 * The section of a study on training histories: which runs make which curves, the keys of their metrics, and what is
 * displayed, computed, drawn and written. A study states all of it here; the code contains no run, no metric and no published
 * value. Checks between fields are in `study/history-checks.ts`.
 */
import { Fault } from '../core/errors.js'
import {
  alternatives,
  between,
  describeValue,
  factor,
  finite,
  flag,
  integer,
  list,
  nullable,
  object,
  oneOf,
  pattern,
  positive,
  text,
  type Field,
  type FieldValues,
  type Infer,
  type Kind
} from '../core/checker.js'
import { relativePath } from '../core/path-kinds.js'
import { configKey } from './config-key.js'
import { caption, figureName, MAX_DECIMALS, studyName } from './names.js'
import { CHOSEN_OUTPUT } from './outputs.js'
import { reference } from './reference.js'

/** Longest window. A longer one would average over everything. */
const MAX_TRAILING_MEAN = 1000

/** Most panels of a figure. */
const MAX_PANELS = 12

/** Names that refer to something. `history-checks.ts` checks that each exists and occurs once. */
function names(min: number): Kind<readonly string[]> {
  const kind = list(studyName, min)
  return { ...kind, schema: { ...kind.schema, uniqueItems: true } }
}

/** A text as logged: a name of a run, or a key of its rows. */
const logged = text(1000)

function outputPath(extension: 'csv' | 'json'): Kind<string> {
  return pattern(
    `a file name that ends with .${extension}, alone or below wandb/ or training_data/ (letters, digits, ".", "_", "-"; at most 100)`,
    new RegExp(`^${CHOSEN_OUTPUT}\\.${extension}$`)
  )
}

const multiplied = object({
  multiply: { kind: positive, doc: 'display_hours = elapsed_hours * multiply.' }
})

const calibrated = object({
  best_of: { kind: studyName, doc: 'Metric whose best observation is put at `at_hours`; with that, in place of `multiply`.' },
  at_hours: { kind: positive, doc: 'Display hours of that observation; all others follow in proportion.' }
})

const displayTime = alternatives(
  'an object with multiply, or with best_of and at_hours',
  [multiplied, calibrated],
  (value, at, context) => {
    const byFactor = Object.hasOwn(value, 'multiply')
    const byBest = Object.hasOwn(value, 'best_of') || Object.hasOwn(value, 'at_hours')
    if (byFactor !== byBest) return byFactor ? multiplied : calibrated
    throw new Fault({
      format: context.format,
      problem: byFactor ? 'contradiction' : 'missing field',
      found: byFactor ? `${at} has multiply and also best_of or at_hours` : `${at} has neither`,
      expected: 'multiply, or best_of and at_hours',
      place: context.place
    })
  }
)

const selection = object({
  name: { kind: studyName, doc: "The study's name of the selection." },
  title: { kind: caption, doc: 'As legends and tables write it.' },
  display_name: { kind: logged, doc: 'Exact display name of its runs.' },
  entity: { kind: nullable(logged), doc: 'Entity of its runs; null: any.', default: null },
  project: { kind: nullable(logged), doc: 'Project of its runs; null: any.', default: null },
  label: {
    kind: nullable(logged),
    doc: "Folder of its runs' histories below histories.folder; null: the one that each run states.",
    default: null
  },
  display_time: {
    kind: nullable(displayTime),
    doc: 'How display_hours follow from elapsed_hours; null: they are equal.',
    default: null
  }
})

const metric = object({
  name: { kind: studyName, doc: "The study's name of the metric." },
  key: { kind: logged, doc: 'Key of the history rows.' },
  title: { kind: caption, doc: 'Heading of its panel.' },
  axis: { kind: caption, doc: 'Title of its axis, with the unit after scaling.' },
  multiply: { kind: factor, doc: 'Plotted value = value * multiply / divide; files keep the value.', default: 1 },
  divide: { kind: factor, doc: 'Plotted value = value * multiply / divide; files keep the value.', default: 1 },
  trailing_mean: {
    kind: nullable(integer(1, MAX_TRAILING_MEAN)),
    doc: 'The mean of so many latest points is drawn over the raw series, as told below; null: none is.',
    default: null
  },
  sparse: { kind: flag, doc: 'Logged now and then: drawn dashed, with markers; has no `trailing_mean`.', default: false }
})

const supplied = object({
  reference: { kind: studyName, doc: 'Selection that supplies points.' },
  target: { kind: studyName, doc: 'Another selection, which is supplied with them.' },
  anchor: {
    kind: flag,
    doc: "Both curves start at x = 0 with the reference's first recorded value, but for a curve that has a point at x <= 0.",
    default: false
  },
  step_prefix: {
    kind: names(0),
    doc: "Metrics whose step view gets the reference's observations before the target's first one.",
    default: []
  },
  same_step: {
    kind: names(0),
    doc: "Metrics, none of them in `step_prefix`, whose step view gets the reference's observation at a step where the target has none.",
    default: []
  },
  time_prefix: {
    kind: flag,
    doc: "The time view gets the reference's observations before the target's first one.",
    default: false
  }
})

function drawnNumber(what: string) {
  return {
    value: { kind: nullable(finite), doc: `${what}; this or \`from\`.`, default: null },
    from: {
      kind: nullable(reference),
      doc: 'Where it stands in the evidence: `data.json#/values/<name>/value`, of a value that is not excluded.',
      default: null
    },
    scale: { kind: factor, doc: 'What stands at `from` is multiplied by this: 0.01, for a percentage.', default: 1 },
    decimals: {
      kind: nullable(integer(0, MAX_DECIMALS)),
      doc: 'Decimals of the number in the label; null: as short as it is.',
      default: null
    }
  } as const
}

const sharedReference = object({
  metric: { kind: studyName, doc: 'Metric in whose panel the value is drawn.' },
  selections: { kind: names(1), doc: 'Selections whose curves start with it.' },
  step: { kind: integer(0), doc: 'Step at which it is drawn.' },
  ...drawnNumber("The value, in the metric's own unit"),
  label: { kind: caption, doc: 'Text beside the point; `{value}` in it is the plotted number.' },
  source: { kind: text(), doc: 'Where the value comes from, for the provenance file.' },
  output: { kind: outputPath('json'), doc: 'Provenance file, `.json`, relative to the output folder.' }
})

const named: Field<string> = { kind: studyName, doc: 'Name under which the result stands in the statistics.' }
const ofMetrics: Field<readonly string[]> = { kind: names(1), doc: 'Metrics of the analysis.' }

const counted = object({
  count: { kind: integer(1), doc: 'Number of observations.' },
  metrics: ofMetrics
})

const stepWindow = object({
  name: named,
  metrics: ofMetrics,
  from: { kind: integer(0), doc: 'First step of the window.' },
  to: { kind: integer(0), doc: 'Last step of the window, not below `from`.' }
})

const NO_STATISTICS = {
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

const statistics = object({
  ends: { kind: nullable(counted), doc: 'Means of the first and of the last so many observations.', default: NO_STATISTICS.ends },
  windows: { kind: list(stepWindow), doc: 'Means over the observations with from <= step <= to.', default: NO_STATISTICS.windows },
  best: {
    kind: names(0),
    doc: 'Metrics whose highest value is reported, at the earliest step on a tie.',
    default: NO_STATISTICS.best
  },
  thresholds: {
    kind: list(
      object({
        name: named,
        metric: { kind: studyName, doc: 'Metric of the analysis.' },
        at_least: { kind: finite, doc: "The first observation at or above this value is reported, in the metric's own unit." }
      })
    ),
    doc: 'First observations at or above a value.',
    default: NO_STATISTICS.thresholds
  },
  final: {
    kind: nullable(counted),
    doc: 'First and last observation, and the mean of the last so many.',
    default: NO_STATISTICS.final
  },
  max_abs: { kind: names(0), doc: 'Metrics whose largest absolute value is reported.', default: NO_STATISTICS.max_abs },
  constant: {
    kind: names(0),
    doc: 'Metrics of the study, in the analysis or not, that should not change, a learning rate say: every logged value of every session is looked at, superseded sessions among them.',
    default: NO_STATISTICS.constant
  },
  below_zero: { kind: names(0), doc: 'Metrics whose observations below zero are counted.', default: NO_STATISTICS.below_zero },
  first_rows: {
    kind: list(object({ name: named, metrics: ofMetrics })),
    doc: 'The first row that holds any of some metrics: when updates began.',
    default: NO_STATISTICS.first_rows
  },
  shares: {
    kind: list(object({ name: named, metrics: ofMetrics })),
    doc: 'Means of some metrics over all observations, and the rows in which none of them is zero.',
    default: NO_STATISTICS.shares
  },
  compare: {
    kind: nullable(
      object({
        reference: { kind: studyName, doc: 'Selection that is compared with.' },
        target: { kind: studyName, doc: 'Another selection, which is compared.' }
      })
    ),
    doc: 'Hours of the target minus those of the reference, at `thresholds` and `best` points, of which there is at least one.',
    default: NO_STATISTICS.compare
  }
})

const analysis = object({
  name: { kind: studyName, doc: "The study's name of the analysis." },
  selections: { kind: names(1), doc: 'Selections that are looked at together, in the order of legends.' },
  metrics: { kind: names(1), doc: 'Metrics that are looked at.' },
  supplied: {
    kind: nullable(supplied),
    doc: 'Points of one selection that stand in for missing ones of another, in pictures only.',
    default: null
  },
  shared_reference: {
    kind: nullable(sharedReference),
    doc: 'A value that is drawn for several curves and belongs to no history.',
    default: null
  },
  statistics: { kind: statistics, doc: 'What is computed over the observed points of the step view.', default: NO_STATISTICS },
  outputs: {
    kind: object({
      observations: {
        kind: nullable(outputPath('csv')),
        doc: '`.csv` of the observations of the step view; null: not written.',
        default: null
      },
      all_attempts: {
        kind: nullable(outputPath('csv')),
        doc: '`.csv` of the observations of every attempt; null: not written.',
        default: null
      },
      statistics: { kind: outputPath('json'), doc: '`.json` of the statistics.' },
      points: {
        kind: nullable(outputPath('csv')),
        doc: '`.csv` of every displayed point of both views with its provenance, which stand in `wandb/points.arrow` too, as do those of an analysis that a figure draws; null: no `.csv`.',
        default: null
      },
      time_display: {
        kind: nullable(outputPath('json')),
        doc: '`.json` that states the convention of the display hours; null: not written.',
        default: null
      }
    }),
    doc: 'Files that the analysis writes, relative to the output folder.'
  }
})

const linear = object({ kind: { kind: oneOf('linear'), doc: 'Kind of the axis.' } })
const log = object({ kind: { kind: oneOf('log'), doc: 'Kind of the axis.' } })
const symlog = object({
  kind: { kind: oneOf('symlog'), doc: 'Kind of the axis.' },
  linear_to: {
    kind: between(1e-100, 1e100),
    doc: 'Of `"symlog"` alone: linear between -linear_to and +linear_to, in plotted values, logarithmic beyond.'
  }
})

const scale = alternatives('an object with kind', [linear, log, symlog], (value, at, context) => {
  const { kind } = value
  if (kind === 'linear') return linear
  if (kind === 'log') return log
  if (kind === 'symlog') return symlog
  throw new Fault({
    format: context.format,
    problem: Object.hasOwn(value, 'kind') ? 'wrong field' : 'missing field',
    found: Object.hasOwn(value, 'kind') ? `${at}.kind is ${describeValue(kind)}` : `${at}.kind`,
    expected: '"linear" or "log" or "symlog"',
    place: context.place
  })
})

const LINEAR = { kind: 'linear' } as const

const guide = object({
  ...drawnNumber("Where the line stands, in the metric's own unit; plotted above 0 where the axis is logarithmic"),
  label: { kind: caption, doc: 'Text beside the line; `{value}` in it is the plotted number.' },
  selection: { kind: nullable(studyName), doc: 'Selection whose colour it has; null: none.', default: null }
})

const panel = object({
  metric: { kind: studyName, doc: "Metric of the figure's analysis." },
  title: { kind: nullable(caption), doc: "Heading; null: the metric's title.", default: null },
  axis: {
    kind: nullable(caption),
    doc: "Title of the vertical axis; null: the metric's. One metric on two benchmarks needs two.",
    default: null
  },
  scale: { kind: scale, doc: 'Vertical axis.', default: LINEAR },
  guides: {
    kind: list(guide),
    doc: 'Dotted horizontal lines.',
    default: []
  }
})

const figure = object({
  name: {
    kind: figureName,
    doc: 'File name without extension: letters, digits, `_`, `-`; unique without regard to case, and none of `08-critic-traces`, `critic-traces-over-steps`, `critic-quality` and `boundary-jumps`. The article calls it by the digits it begins with: `03-training` is Figure 3 (docs/article.md).'
  },
  title: { kind: caption, doc: 'Title of the figure.' },
  analysis: { kind: studyName, doc: 'Analysis whose curves it shows.' },
  view: {
    kind: oneOf('step', 'time'),
    doc: '`"step"`: the latest continuation by step; `"time"`: every attempt by display hours.'
  },
  x_title: { kind: caption, doc: 'Title of the horizontal axes.' },
  panels: { kind: list(panel, 1, MAX_PANELS), doc: 'One panel a metric, in the order of reading.' }
})

const DEFAULT_ROW_KEYS = { step: '_step', timestamp: '_timestamp', global_step: null }

export const HISTORIES = object({
  runs: { kind: relativePath, doc: 'List of the runs, a JSON file.' },
  folder: { kind: relativePath, doc: 'Folder of the histories, `<label>/<run id>.jsonl`.' },
  keys: {
    kind: object({
      step: { kind: logged, doc: 'Key of the step, which is the coordinate of the step view.', default: DEFAULT_ROW_KEYS.step },
      timestamp: {
        kind: nullable(logged),
        doc: 'Key of the time in seconds since 1970; null: rows have none, and there is no time view.',
        default: DEFAULT_ROW_KEYS.timestamp
      },
      global_step: {
        kind: nullable(logged),
        doc: "Key of the trainer's own step, kept beside the step; null: rows have none.",
        default: DEFAULT_ROW_KEYS.global_step
      }
    }),
    doc: "Keys of a row's own coordinates, each a different one.",
    default: DEFAULT_ROW_KEYS
  },
  companion_suffixes: {
    kind: list(text(100)),
    doc: 'A run whose display name is a selected one and such a suffix is a companion: never selected, listed as such.',
    default: []
  },
  config: {
    kind: list(configKey),
    doc:
      'Settings of the runs that statistics state, besides those of fetch.config, with dots between nested names. No other one leaves the list of runs, and how many stayed is said. ' +
      'Names that look like secrets are refused.',
    default: []
  },
  selections: { kind: list(selection, 1), doc: 'Runs that make one curve.' },
  metrics: { kind: list(metric, 1), doc: 'What is read from the rows.' },
  analyses: { kind: list(analysis, 1), doc: 'Selections and metrics that are looked at together.' },
  figures: { kind: list(figure), doc: 'Figures of the analyses.', default: [] }
})

/** Runs that make one curve: all with exactly this display name, and with the project, entity and label if stated. */
export type RunSelection = Infer<typeof selection>

/** Factor from elapsed_hours to display_hours: stated, or such that a metric's best observation is at a stated hour. */
export type DisplayTime = Infer<typeof displayTime>

export type MetricDefinition = Infer<typeof metric>

/** Points of the reference that replace missing ones of the target, in the pictures only. */
export type SuppliedPoints = Infer<typeof supplied>

/** A number that a figure draws and no history holds. It is stated, or taken from the written evidence: `value` is null until it is. */
export type DrawnNumber = FieldValues<ReturnType<typeof drawnNumber>>

/** A value that is drawn at one step for several curves and belongs to no history. */
export type SharedReference = Infer<typeof sharedReference>

/** A mean over the observations of the step view with from <= step <= to. */
export type StepWindow = Infer<typeof stepWindow>

/** Statistics over observed points of the step view. Supplied points are never used. */
export type StatisticsRequest = Infer<typeof statistics>

/** Some selections analysed together. Their observations and statistics make two files. */
export type HistoryAnalysis = Infer<typeof analysis>

/** A dotted horizontal line. */
export type Guide = Infer<typeof guide>

export type AxisScale = Infer<typeof scale>
export type PanelRequest = Infer<typeof panel>

/** A figure of an analysis: one panel a metric. */
export type CurveFigureRequest = Infer<typeof figure>

export type HistoryStudy = Infer<typeof HISTORIES>
