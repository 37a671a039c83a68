/** Statistics of one selection: its sessions, and each of its metrics. */
import { anyObject, finite, list, nullable, oneOf, pair, type Infer } from '../../core/checker.js'
import { METRIC } from './history-metric.js'
import { CROSSING } from './history-observed.js'
import { anyText, closed, define, map, natural } from './kinds.js'

export const SESSION = define('session', () =>
  closed({
    run: { kind: anyText, doc: 'run id' },
    created_at: { kind: anyText, doc: 'verbatim' },
    state: { kind: nullable(anyText), doc: 'as listed' },
    url: { kind: nullable(anyText), doc: 'as listed' },
    rows: { kind: natural, doc: 'history rows' },
    first_step: { kind: nullable(natural), doc: 'of its rows' },
    last_step: { kind: nullable(natural), doc: 'of its rows' },
    holes: {
      kind: closed({
        count: { kind: natural, doc: 'steps between first and last without a row' },
        first: { kind: list(natural), doc: 'the first few' }
      }),
      doc: 'steps that have no row'
    },
    rows_without_timestamp: { kind: natural, doc: 'rows that the time view cannot place' },
    rows_before_creation: { kind: natural, doc: 'rows whose timestamp lies before the session was created' },
    rows_with_unusable_global_step: {
      kind: natural,
      doc: 'rows whose global step is null or not finite: an empty cell in the CSV. A row that states none is not counted'
    },
    rows_with_fractional_global_step: { kind: natural, doc: 'rows whose global step is no integer; kept as logged' },
    looks_sampled: { kind: nullable(anyText), doc: 'why the export looks like a sample; null where it does not' },
    config: { kind: anyObject, doc: 'settings that histories.config or fetch.config of the study names' },
    left_out: {
      kind: closed({
        not_named: { kind: natural, doc: 'settings that the study does not name' },
        withheld: {
          kind: natural,
          doc: 'settings and fields that look like secrets, and named settings that are no scalar and no list of scalars'
        }
      }),
      doc: 'what the list of runs states of this run and no output repeats; absent: nothing',
      optional: true
    }
  })
)

const FIRST_ROW = closed({
  step: { kind: natural, doc: 'its step' },
  global_step: { kind: nullable(finite), doc: "the row's own trainer step" },
  run: { kind: anyText, doc: 'run that logged it' }
})

const SHARES = closed({
  rows: { kind: natural, doc: 'steps with any of the metrics' },
  rows_all_nonzero: { kind: natural, doc: 'steps at which none of them is zero or missing' },
  means: { kind: map(nullable(finite)), doc: 'unweighted mean of each metric, over all its observations' }
})

export const SELECTION = define('selection', () =>
  closed({
    title: { kind: anyText, doc: 'as figures write it' },
    display_name: { kind: anyText, doc: 'exact display name of its runs' },
    runs: { kind: natural, doc: 'runs' },
    rows: { kind: natural, doc: 'rows of all sessions' },
    first_step: { kind: nullable(natural), doc: 'of the rows that the step view keeps, those without a metric among them' },
    last_step: { kind: nullable(natural), doc: 'likewise' },
    display_factor: { kind: finite, doc: 'display_hours = elapsed_hours * display_factor' },
    origin: { kind: anyText, doc: 'creation of the first session, verbatim' },
    sessions: { kind: list(SESSION), doc: 'in order of creation; a run whose steps go back is several' },
    rollbacks: {
      kind: list(
        closed({
          run: { kind: anyText, doc: 'run that started again' },
          steps: { kind: pair(finite), doc: 'from its first step to the last step logged before' }
        })
      ),
      doc: 'steps that were gone back over'
    },
    ties: {
      kind: list(
        closed({
          runs: { kind: list(anyText, 2), doc: 'run ids, in the order that was given them' },
          decided_by: { kind: oneOf('first timestamp', 'run id', 'first timestamp, then run id'), doc: 'what gave it' }
        })
      ),
      doc: 'runs that were created at the same time'
    },
    metrics: { kind: map(METRIC), doc: "by the study's name of the metric" },
    thresholds: { kind: map(nullable(CROSSING)), doc: 'first observation at or above a value, by name; null: not reached' },
    first_rows: { kind: map(nullable(FIRST_ROW)), doc: 'first row with any of the named metrics' },
    shares: { kind: map(SHARES), doc: 'by name' }
  })
)

export type SessionStatistics = Infer<typeof SESSION>
export type FirstRow = Infer<typeof FIRST_ROW>
export type Shares = Infer<typeof SHARES>
export type SelectionStatistics = Infer<typeof SELECTION>
