/**
 * How often findings are right, over random dumps of `support/diagnostic-plans.ts`. `npm run soak` makes 2,000 dumps a kind where the
 * rates are promised, and prints the table that docs/diagnostics.md shows.
 */
import t from 'tap'
import type { EstimatorDiagnosis } from '../../src/compute/diagnostics/diagnose.js'
import { FINDING_KINDS, type FindingKind } from '../../src/schema/diagnostics.js'
import { diagnosticDump, type DumpPlan } from '../support/diagnostic-dumps.js'
import { cleanPlan, type Shape, showingPlan } from '../support/diagnostic-plans.js'
import { diagnose, faultsOf } from '../support/diagnostic-runs.js'
import { roundsDown, seedOf } from '../support/rounds.js'

/** Found and false alarms that are promised from 8 samples on, in single precision. */
const FOUND = 0.99
const ALARMS = 0.001
/** One miss of fewer dumps is a larger share: of them one may be missed, such as a dump whose only reward stands in a turn of two tokens. */
const FEW_DUMPS = 200

/** Dumps of each kind at ROUNDS=100. */
const DUMPS: readonly (readonly [Shape['dtype'], samples: number, dumps: number])[] = [
  ['float32', 8, 1000],
  ['float32', 16, 800],
  ['float32', 64, 180],
  ['float32', 500, 20],
  ['float32', 1, 200],
  ['float32', 2, 200],
  ['float32', 4, 200],
  ['bfloat16', 1, 100],
  ['bfloat16', 2, 100],
  ['bfloat16', 4, 100],
  ['bfloat16', 8, 200],
  ['bfloat16', 16, 100],
  ['bfloat16', 64, 20],
  ['bfloat16', 500, 5]
]

type Kind = FindingKind | 'clean'
const KINDS: readonly Kind[] = ['clean', ...FINDING_KINDS]

interface Rate {
  dumps: number
  /** of a fault or property: named; of a clean dump: no fault named, and no number of the audit beside the truth */
  right: number
  /** dumps with a fault that they do not have */
  alarms: number
}

/** A number of the audit that is stated and is not what the dump was made with. */
function isOff({ audit }: EstimatorDiagnosis, plan: DumpPlan): boolean {
  const off = (found: number | null, made: number): boolean => found !== null && Math.abs(found - made) > 1e-3
  const lambda = typeof audit.lambda_advantages === 'number' && typeof plan.lambdaAdvantages === 'number' ? audit.lambda_advantages : null
  return (
    off(audit.gamma, plan.gamma) ||
    off(audit.lambda_returns, plan.lambdaReturns) ||
    off(audit.kl_coefficient, plan.beta) ||
    (lambda !== null && off(lambda, plan.lambdaAdvantages as number))
  )
}

function rateOf(shape: Shape, kind: Kind, withKl: boolean, dumps: number): Rate {
  const rate: Rate = { dumps, right: 0, alarms: 0 }
  for (let i = 0; i < dumps; i++) {
    const seed = seedOf(7919 * i + 13 + (withKl ? 5_000_011 : 0))
    const drawn = kind === 'clean' ? cleanPlan(seed, shape) : showingPlan(seed, shape, kind)
    const plan = withKl
      ? { ...drawn, beta: drawn.beta === 0 ? 0.02 : drawn.beta }
      : { ...drawn, beta: kind === 'padding-leak' ? drawn.beta : 0 }
    // KL behind the end is a fault where masked tokens count
    const leaks = kind !== 'final-reward-masked' && (plan.rule === 'every-token' || plan.rule === 'zeroed-values') && plan.beta > 0
    const dump = diagnosticDump(leaks ? { ...plan, trailing: 0 } : plan)
    const diagnosis = diagnose(dump.samples, { loggedExplainedVariance: dump.loggedExplainedVariance })
    const named = diagnosis.findings.some(f => f.kind === kind)
    rate.right += Number(kind === 'clean' ? faultsOf(diagnosis).length === 0 && !isOff(diagnosis, plan) : named)
    rate.alarms += Number(faultsOf(diagnosis).some(other => other !== kind))
  }
  return rate
}

function percent(part: number, of: number): string {
  return of === 0 ? '-' : `${((100 * part) / of).toFixed(part === of || part === 0 ? 0 : 2)} %`
}

function summed(rates: readonly Rate[]): Rate {
  const sum = { dumps: 0, right: 0, alarms: 0 }
  for (const { dumps, right, alarms } of rates) {
    sum.dumps += dumps
    sum.right += right
    sum.alarms += alarms
  }
  return sum
}

/** Columns of the table: shapes that are summed. */
const COLUMNS: readonly (readonly [title: string, holds: (dtype: Shape['dtype'], samples: number) => boolean])[] = [
  ['float32, 8 to 500', (dtype, samples) => dtype === 'float32' && samples >= 8],
  ['4', (dtype, samples) => dtype === 'float32' && samples === 4],
  ['2', (dtype, samples) => dtype === 'float32' && samples === 2],
  ['1', (dtype, samples) => dtype === 'float32' && samples === 1],
  ['bfloat16, 8 to 500', (dtype, samples) => dtype === 'bfloat16' && samples >= 8],
  ['1 to 4', (dtype, samples) => dtype === 'bfloat16' && samples < 8]
]

t.test('rates of findings that are right, and of false alarms', t => {
  const sums = COLUMNS.map(() => 0)
  const rows: string[] = []
  for (const kind of KINDS) {
    const rates = DUMPS.map(([dtype, samples, count]) => {
      const half = roundsDown(count / 200)
      return summed([false, true].map(withKl => rateOf({ samples, dtype }, kind, withKl, half)))
    })
    const columns = COLUMNS.map(([, holds]) => summed(rates.filter((_, i) => holds(DUMPS[i][0], DUMPS[i][1]))))
    const [promised] = columns
    columns.forEach(({ dumps }, i) => {
      sums[i] = dumps
    })
    rows.push(`| ${kind} | ${columns.map(r => `${percent(r.right, r.dumps)}, ${percent(r.alarms, r.dumps)}`).join(' | ')} |`)
    const missed = promised.dumps - promised.right
    const most = promised.dumps < FEW_DUMPS ? 1 : (1 - FOUND) * promised.dumps
    t.ok(missed <= most, `${kind}: ${promised.right} of ${promised.dumps} are right`)
    t.ok(promised.alarms <= ALARMS * promised.dumps, `${kind}: ${promised.alarms} of ${promised.dumps} name another fault`)
  }
  t.comment(`| samples | ${COLUMNS.map(([title]) => title).join(' | ')} |`)
  t.comment(`|---|${'---:|'.repeat(COLUMNS.length)}`)
  t.comment(`| dumps of each kind | ${sums.join(' | ')} |`)
  for (const row of rows) t.comment(row)
  t.end()
})
