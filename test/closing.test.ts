/** The end of a summary: outputs by folder, the verdict, the file to open. */
import t from 'tap'
import { outputsTable, problems, toOpen, verdictLine } from '../src/cli/closing.js'

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
  t.equal(toOpen('out', [{ path: 'data.json' }]), '')
  t.end()
})
