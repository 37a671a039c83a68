/** The end of a summary: outputs by folder, the verdict, the file to open. */
import t from 'tap'
import { batchSummary } from '../src/cli/batch-summary.js'
import { outputsTable, problems, toOpen, verdictLine } from '../src/cli/closing.js'
import { Fault } from '../src/core/errors.js'
import { textWidth } from '../src/render/terminal/text.js'
import type { SnapshotResult } from '../src/runs/batch-result.js'

const OUTPUTS = [
  { path: 'training_data/critic-traces.arrow', bytes: 30_700_000 },
  { path: 'training_data/critic-trace-index.json', bytes: 300 },
  { path: 'figures/08-critic-traces.svg', bytes: 1000 },
  { path: 'figures/08-critic-traces.png', bytes: 2000 },
  { path: 'data.json', bytes: 542 }
]

t.test('outputs by folder with a sum, or one by one', t => {
  t.equal(
    outputsTable('out', OUTPUTS, false, {}),
    [
      'written to out  files     size',
      '--------------  -----  -------',
      '.                   1    542 B',
      'figures             2     3 kB',
      'training_data       2  30.7 MB',
      'all                 5  30.7 MB',
      ''
    ].join('\n')
  )
  t.equal(outputsTable('out', OUTPUTS.slice(0, 1), false, {}).split('\n').length, 4, 'no sum of one folder')
  const whole = outputsTable('out', OUTPUTS, true, {})
  for (const { path } of OUTPUTS) t.match(whole, new RegExp(`^${path.replaceAll('.', '\\.')} +\\d`, 'm'))
  t.end()
})

t.test('the verdict', t => {
  t.equal(verdictLine(0, ['90 inputs as listed']), 'verdict: ok, 90 inputs as listed\n')
  t.equal(verdictLine(1, [...problems(1), '1 claim agrees']), 'verdict: FAILED, 1 problem, 1 claim agrees\n')
  t.equal(verdictLine(3, problems(1234)), 'verdict: FAILED, 1,234 problems\n')
  t.same(problems(0), [])
  t.end()
})

t.test('the page to read, the figure to look at: the picture of it first', t => {
  t.equal(toOpen('out', OUTPUTS), 'look: out/figures/08-critic-traces.png\n')
  t.equal(
    toOpen('out', [...OUTPUTS, { path: 'preview/article.html' }]),
    'read: out/preview/article.html\nlook: out/figures/08-critic-traces.png\n'
  )
  t.equal(
    toOpen('out', [{ path: 'snap/figures/08-critic-traces.pdf' }, { path: 'figures/critic-traces-over-steps.svg' }]),
    'look: out/figures/critic-traces-over-steps.svg\n',
    'many snapshots before one'
  )
  t.equal(toOpen('out', [{ path: 'snap/figures/08-critic-traces.pdf' }]), 'look: out/snap/figures/08-critic-traces.pdf\n')
  t.equal(toOpen('out', [{ path: 'figures/03-training.png' }]), 'look: out/figures/03-training.png\n', 'any figure where that is missing')
  t.equal(
    toOpen('out', [{ path: 'snap/training_data/sample-statistics.json' }]),
    'read: out/snap/training_data/sample-statistics.json\n',
    'of a dump without values'
  )
  t.equal(toOpen('out', [{ path: 'data.json' }]), '')
  t.end()
})

/** Two snapshots of long names: a dump without values, and one that failed. */
function twoResults(): SnapshotResult[] {
  const samples = { samples: 12_345, tokens: 12_345_678, left_out: 0, notes: [] } as unknown as NonNullable<SnapshotResult['samples']>
  const plan = (name: string): SnapshotResult['plan'] => ({
    kind: 'dump',
    folder: 'in',
    html: null,
    npzFiles: [],
    dumpFiles: [`${name}.npz`],
    source: name,
    name
  })
  const common = { statistics: null, outcome: null, source: '' }
  const fault = new Fault({ format: 'dump', problem: 'missing array', found: 'values, advantages and what else the file holds' })
  return [
    { ...common, plan: plan('global_step_000040_rollout'), status: 'unchanged', samples, faults: [] },
    { ...common, plan: plan('global_step_000041_rollout'), status: 'failed', faults: [fault] }
  ]
}

t.test('the table of a batch fits 80 columns, and the reason of a failure then stands below it', t => {
  const summary = (width?: number): string[] =>
    batchSummary(twoResults(), null, { out: 'out', formats: [], verbose: false, exitCode: 3 }, width === undefined ? {} : { width }).split(
      '\n'
    )
  const reason = 'dump missing array: values, advantages and what else the file holds'
  const narrow = summary(80)
  const end = narrow.indexOf(`global_step_000041_rollout: ${reason}`)
  t.ok(end > 0, narrow.join('\n'))
  t.same(
    narrow.slice(0, end).filter(line => textWidth(line) > 80),
    []
  )
  t.match(narrow.join('\n'), / unchanged +12,345 +12,345,678 /, 'numbers are whole')
  t.ok(
    summary().some(line => line.startsWith('global_step_000041_rollout  failed') && line.endsWith(reason)),
    'on its row where the line is long'
  )
  t.end()
})
