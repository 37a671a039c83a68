/** Quality by step, turn and decile as CSV: one row a place, with every statistic and the ends of its interval. */
import type { Compared, Diagnosis, Estimate } from '../../compute/diagnostics/contract.js'
import { csvHeading, writeCsvMetadata, type CsvColumn, type CsvTable } from './csv-metadata.js'
import { csvRow, type CsvCell } from './csv.js'
import { DIAGNOSTIC_PATHS, type Origin } from './output-names.js'
import type { OutputSet } from './output-set.js'

type Critic = 'this' | 'against' | 'difference'
type RowOutcome = 'all' | 'success' | 'failure'

/** One row: whose, of which trajectories, where, and its statistics by name. */
interface DiagnosticRow {
  readonly critic: Critic
  readonly outcome: RowOutcome
  readonly place: number
  /** end that turns are counted from; null in the other tables */
  readonly from: 'start' | 'end' | null
  readonly estimates: Readonly<Record<string, Estimate | undefined>>
}

type NamedValues = Readonly<Record<string, unknown>>

/** `always`: no row is without a value. */
type Statistic = readonly [name: string, meaning: string, always?: 'always']

const ERROR_STATISTICS: readonly Statistic[] = [
  ['mean_value', 'mean value, in units of the return'],
  ['mean_return', 'mean return'],
  ['explained_variance', '1 - Var(return - value) / Var(return) over tokens'],
  ['mse', 'mean of (value - return)^2 over tokens'],
  ['bias', 'mean of value - return over tokens'],
  ['correlation', "Pearson's correlation of value and return over tokens"]
]

const STEP_STATISTICS: readonly Statistic[] = [
  ...ERROR_STATISTICS,
  ['explained_variance_by_trajectory', 'explained variance with every trajectory weighing the same'],
  ['success_rate', 'share of successes among trajectories with a known outcome'],
  ['calibration', 'expected calibration error'],
  ['auc_first_decile', "area under the ROC curve of a trajectory's mean value in the first tenth of its progress for its outcome"],
  ['auc_last_decile', 'the same in the last tenth'],
  ['boundary_mean_abs_change', 'mean |change| of the value between turns'],
  ['internal_mean_abs_change', 'mean |change| of the value inside turns'],
  ['boundary_jump_rate', 'share of transitions between turns with |change| above the jump threshold'],
  ['internal_jump_rate', 'the same inside turns']
]

const TURN_STATISTICS: readonly Statistic[] = [
  ...ERROR_STATISTICS,
  ['change', 'mean change of the value over the turn', 'always'],
  ['absolute_change', "mean of the change's absolute value", 'always']
]

const DECILE_STATISTICS: readonly Statistic[] = [
  ...ERROR_STATISTICS,
  ['auc', "area under the ROC curve of a trajectory's mean value in the decile for its outcome, ties half; of all outcomes alone"],
  ['auc_within_group', 'the same over pairs of one group alone']
]

const KEYS: ReadonlyArray<CsvColumn<(row: DiagnosticRow) => CsvCell>> = [
  ['critic', 'string', 'this: the named snapshot; against: the other one; difference: this minus the other', r => r.critic],
  ['outcome', 'string', 'all, or the trajectories of one outcome', r => r.outcome]
]

function table(
  title: string,
  description: string,
  place: CsvTable<(row: DiagnosticRow) => CsvCell>['columns'],
  statistics: typeof ERROR_STATISTICS
) {
  const columns = statistics.flatMap(([name, meaning, always]): CsvColumn<(row: DiagnosticRow) => CsvCell>[] => [
    [
      name,
      ...(always === undefined ? (['number?', `${meaning}; empty where undefined or refused`] as const) : (['number', meaning] as const)),
      r => r.estimates[name]?.value ?? null
    ],
    [`${name}_low`, 'number?', `2.5 % of the resamples of ${name}; empty without an interval`, r => r.estimates[name]?.low ?? null],
    [`${name}_high`, 'number?', `97.5 % of the resamples of ${name}`, r => r.estimates[name]?.high ?? null]
  ])
  const count: CsvColumn<(row: DiagnosticRow) => CsvCell> = [
    'n_trajectories',
    'integer',
    'trajectories of the row; of a difference, those of both',
    r => r.estimates['mean_value']?.n_trajectories ?? 0
  ]
  return {
    title,
    description: `${description} Intervals are 95 %, by bootstrap over trajectories.`,
    columns: [...KEYS, ...place, count, ...columns]
  }
}

const BY_STEP = table(
  'Quality of a critic by trainer step',
  'One row a step, by critic, outcome and step.',
  [['step', 'integer', 'trainer step', r => r.place]],
  STEP_STATISTICS
)
const BY_TURN = table(
  'Quality of a critic by turn',
  'One row a turn, counted from the first and again from the last.',
  [
    ['from', 'string', 'end that turns are counted from: start or end', r => r.from],
    ['turn', 'integer', 'turn from 0', r => r.place]
  ],
  TURN_STATISTICS
)
const BY_DECILE = table(
  'Quality of a critic by progress',
  'One row a decile of the retained tokens of a trajectory.',
  [['decile', 'integer', 'tokens i of n with floor(10 i / n) equal to it, 0 to 9', r => r.place]],
  DECILE_STATISTICS
)

/** The pooled statistics and those of each outcome, as far as both have them. */
function strata(
  critic: Critic,
  quality: NamedValues
): readonly { readonly critic: Critic; readonly outcome: RowOutcome; readonly of: NamedValues }[] {
  const { success = null, failure = null } = quality['by_outcome'] as {
    readonly success?: NamedValues | null
    readonly failure?: NamedValues | null
  }
  return [
    { critic, outcome: 'all', of: quality },
    ...(success === null ? [] : [{ critic, outcome: 'success', of: success } as const]),
    ...(failure === null ? [] : [{ critic, outcome: 'failure', of: failure } as const])
  ]
}

/** Of a comparison the difference, else the estimate itself. */
function pick(critic: Critic, found: unknown): Estimate | undefined {
  if (found === undefined) return undefined
  return critic === 'difference' ? (found as Compared).difference : (found as Estimate)
}

function estimatesOf(critic: Critic, row: NamedValues, statistics: typeof ERROR_STATISTICS): DiagnosticRow['estimates'] {
  return Object.fromEntries(statistics.map(([name]) => [name, pick(critic, row[name])]))
}

function stepRow(row: NamedValues): NamedValues {
  const deciles = row['auc_by_decile'] as readonly unknown[] | undefined
  const changes = row['changes'] as { readonly boundary: NamedValues; readonly internal: NamedValues } | undefined
  return {
    ...row,
    auc_first_decile: deciles?.[0],
    auc_last_decile: deciles?.[deciles.length - 1],
    boundary_mean_abs_change: changes?.boundary['mean_abs_change'],
    internal_mean_abs_change: changes?.internal['mean_abs_change'],
    boundary_jump_rate: changes?.boundary['jump_rate'],
    internal_jump_rate: changes?.internal['jump_rate']
  }
}

/** Every row of the three tables. */
export function diagnosticRows({ quality, against }: Diagnosis): {
  readonly step: DiagnosticRow[]
  readonly turn: DiagnosticRow[]
  readonly decile: DiagnosticRow[]
} {
  const sets = [
    ...strata('this', quality as unknown as NamedValues),
    ...(against === null ? [] : strata('against', against.quality as unknown as NamedValues)),
    ...(against === null ? [] : strata('difference', against.comparison as unknown as NamedValues))
  ]
  const rows = { step: [] as DiagnosticRow[], turn: [] as DiagnosticRow[], decile: [] as DiagnosticRow[] }
  for (const { critic, outcome, of } of sets) {
    for (const row of of['by_step'] as readonly NamedValues[]) {
      rows.step.push({
        critic,
        outcome,
        place: row['step'] as number,
        from: null,
        estimates: estimatesOf(critic, stepRow(row), STEP_STATISTICS)
      })
    }
    const turns = of['by_turn'] as Readonly<Record<'from_start' | 'from_end', readonly NamedValues[]>>
    for (const from of ['start', 'end'] as const) {
      for (const row of turns[`from_${from}`]) {
        rows.turn.push({ critic, outcome, place: row['turn'] as number, from, estimates: estimatesOf(critic, row, TURN_STATISTICS) })
      }
    }
    const [auc, within] = [of['auc_by_decile'], of['auc_within_group']] as (readonly unknown[] | undefined)[]
    for (const [i, row] of (of['by_decile'] as readonly NamedValues[]).entries()) {
      const ranked = { ...row, auc: auc?.[i], auc_within_group: within?.[i] }
      rows.decile.push({ critic, outcome, place: i, from: null, estimates: estimatesOf(critic, ranked, DECILE_STATISTICS) })
    }
  }
  return rows
}

export async function writeDiagnosticTables(set: OutputSet, diagnosis: Diagnosis, origin: Origin): Promise<void> {
  const rows = diagnosticRows(diagnosis)
  const tables = [
    [DIAGNOSTIC_PATHS.byStep, BY_STEP, rows.step],
    [DIAGNOSTIC_PATHS.byTurn, BY_TURN, rows.turn],
    [DIAGNOSTIC_PATHS.byDecile, BY_DECILE, rows.decile]
  ] as const
  for (const [path, form, body] of tables) {
    await set.write(path, csvHeading(form) + body.map(row => csvRow(form.columns.map(([, , , cell]) => cell(row)))).join(''))
    await writeCsvMetadata(set, path, form, origin)
  }
}
