/** A batch of snapshots: its end on the terminal, the table and the figure over steps, and runs of one more snapshot. */
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { StepStatistics } from '../src/compute/traces/contract.js'
import { overSteps, stepsFigure } from '../src/compute/traces/over-steps.js'
import { buildFigures } from '../src/render/figures/index.js'
import { Random } from '../src/replica/random.js'
import { runCli, type CliResult } from './support/cli.js'
import { parseCsv } from './support/csv-parse.js'
import { schemaProblems } from './support/json-schema.js'
import { root } from './support/paths.js'
import { randomTraces, writeSnapshot, type TestTrace } from './support/snapshot.js'

function temp(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'critic-traces-batch-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const CSV = 'critic-trace-by-step.csv'
const INDEX = 'critic-trace-snapshots.json'
const PAGE = 'preview/critic-traces-over-steps.html'

interface Index {
  readonly synthetic: boolean
  readonly snapshots: ReadonlyArray<{ readonly name: string | null; readonly status: string; readonly kept: boolean }>
  readonly outputs: ReadonlyArray<{ readonly path: string; readonly sha256: string; readonly bytes: number }>
}

function readIndex(t: Test, out: string): Index {
  const index: unknown = JSON.parse(readFileSync(join(out, INDEX), 'utf8'))
  t.same(schemaProblems(JSON.parse(readFileSync(join(root, 'docs/schemas/critic-trace-snapshots.schema.json'), 'utf8')), index), [])
  return index as Index
}

/** Two steps, of which the second has no failure. */
function traces(seed: string, first: number): TestTrace[] {
  return randomTraces(new Random(seed), 2, i => 40 + 7 * i)
    .slice(0, 3)
    .map(trace => ({ ...trace, step: trace.step - 10 + first }))
}

const traced = (dir: string, ...argv: string[]): Promise<CliResult> => runCli(['traces', ...argv, '--out', 'out'], { cwd: dir })

/** What the table must hold of one snapshot: plain sums over its traces. */
function plainRows(all: readonly TestTrace[], threshold: number) {
  return [...new Set(all.map(trace => trace.step))].map(step => {
    const own = all.filter(trace => trace.step === step)
    const mean = (outcome: string): number | null => {
      const values = own.filter(trace => trace.outcome === outcome).flatMap(trace => trace.values)
      return values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length
    }
    const changes = (kind: 'boundary' | 'internal'): number[] =>
      own.flatMap(({ values, response_positions: at }) =>
        values.slice(1).flatMap((v, i) => (at[i + 1] - at[i] > 1 === (kind === 'boundary') ? [Math.abs(v - values[i])] : []))
      )
    const [boundary, internal] = [changes('boundary'), changes('internal')]
    const jumps = (list: readonly number[]): number => list.filter(change => change > threshold).length
    return {
      step,
      traces: own.length,
      tokens: own.reduce((sum, trace) => sum + trace.values.length, 0),
      successes: own.filter(trace => trace.outcome === 'success').length,
      failures: own.filter(trace => trace.outcome === 'failure').length,
      success_mean_value: mean('success'),
      failure_mean_value: mean('failure'),
      boundary_transitions: boundary.length,
      boundary_mean_abs_change: boundary.reduce((a, b) => a + b, 0) / boundary.length,
      boundary_jumps: jumps(boundary),
      boundary_jump_rate: jumps(boundary) / boundary.length,
      internal_transitions: internal.length,
      internal_mean_abs_change: internal.reduce((a, b) => a + b, 0) / internal.length,
      internal_jumps: jumps(internal),
      internal_jump_rate: jumps(internal) / internal.length
    }
  })
}

t.test('the table over steps is what plain sums over the traces give', async t => {
  const dir = temp(t)
  const given = { b: traces('b', 100), a: traces('a', 300) }
  for (const [name, own] of Object.entries(given)) await writeSnapshot(join(dir, 'many', name), own)
  const run = await traced(dir, 'many', '--no-figures', '--jump-above', '0.05')
  t.match(run, { code: 0 }, run.stderr)
  const [heading, ...rows] = parseCsv(readFileSync(join(dir, 'out', CSV), 'utf8'))
  t.equal(rows.length, 4)
  const expected = [
    ...plainRows(given.b, 0.05).map(row => ({ snapshot: 'b', ...row })),
    ...plainRows(given.a, 0.05).map(row => ({ snapshot: 'a', ...row }))
  ]
  for (const [i, row] of expected.entries()) {
    for (const [name, value] of Object.entries(row)) {
      const cell = rows[i][heading.indexOf(name)]
      if (typeof value === 'string' || value === null) t.equal(cell, value, `${name} of row ${i}`)
      else t.ok(Math.abs(Number(cell) - value) <= 1e-12 * Math.max(1, Math.abs(value)), `${name} of row ${i}: ${cell}, ${value}`)
    }
  }
  t.equal(rows[1][heading.indexOf('failure_mean_value')], null, 'no failure at this step: empty, not 0')
  const metadata = JSON.parse(readFileSync(join(dir, 'out', `${CSV}-metadata.json`), 'utf8')) as {
    readonly tableSchema: { readonly columns: ReadonlyArray<{ readonly name: string; readonly required: boolean }> }
  }
  t.same(
    metadata.tableSchema.columns.map(({ name }) => name),
    heading
  )
  for (const [k, { name, required }] of metadata.tableSchema.columns.entries()) {
    if (required)
      t.ok(
        rows.every(row => row[k] !== null),
        `${name} is in every row`
      )
  }
})

t.test('a batch ends with counts, sums, the reason of each failure on its row, and the figure to look at', async t => {
  const dir = temp(t)
  await writeSnapshot(join(dir, 'many/good'), traces('good', 10))
  await writeSnapshot(join(dir, 'many/more'), traces('more', 20))
  await writeSnapshot(join(dir, 'many/torn'), traces('torn', 30), { editJson: json => json.slice(0, 600) })
  const run = await traced(dir, 'many', '--formats', 'svg')
  t.equal(run.code, 3)
  const rows = plainRows([...traces('good', 10), ...traces('more', 20)], 0.1)
  const tokens = rows.reduce((sum, row) => sum + row.tokens, 0)
  t.match(run.stdout, /^torn +failed +json truncated: .+$/m)
  t.match(run.stdout, new RegExp(`^6 traces, ${tokens} tokens; mean value of successes -?\\d\\S*, of failures -?\\d\\S*$`, 'm'))
  t.match(
    run.stdout,
    /\nindex: out\/critic-trace-snapshots\.json\nverdict: FAILED, 3 snapshots: 2 done, 0 unchanged, 1 failed\nread: out\/preview\/critic-traces-over-steps\.html\nlook: out\/figures\/critic-traces-over-steps\.svg\nexplore: out\/good\/preview\/traces\.html and 1 more page\n$/
  )
  const again = await traced(dir, 'many', '--formats', 'svg')
  t.match(again.stdout, /^verdict: FAILED, 3 snapshots: 0 done, 2 unchanged, 1 failed$/m)
  t.match(await runCli(['verify', '--outputs', 'out'], { cwd: dir }), { code: 0 })
  writeFileSync(join(dir, 'out', CSV), 'changed\r\n')
  t.match(await runCli(['verify', '--outputs', 'out'], { cwd: dir }), { code: 1, stderr: /file differs: .*critic-trace-by-step\.csv/ })
})

t.test('what no trace states is not stated, and never 0', async t => {
  const dir = temp(t)
  const bare = traces('bare', 5).map(trace => ({ ...trace, score: null }))
  const editJson = (json: string): string => json.replaceAll(/"outcome":"\w+",/g, '')
  await writeSnapshot(join(dir, 'many/a'), bare, { editJson })
  await writeSnapshot(join(dir, 'many/b'), traces('bad', 6), { editJson: json => json.slice(0, 300) })
  const run = await traced(dir, 'many', '--no-figures')
  t.match(run.stdout, /^a +done +3 +\d+ +not stated +not stated /m)
  t.match(run.stdout, /; mean value of successes not stated, of failures not stated$/m)
  const [heading, row] = parseCsv(readFileSync(join(dir, 'out', CSV), 'utf8'))
  t.match(Object.fromEntries(heading.map((name, k) => [name, row[k]])), { successes: '0', outcome_unknown: '2', success_mean_value: null })
  const failed = await runCli(['traces', 'many/b', '--out', 'failed', '--no-figures'], { cwd: dir })
  t.match(failed.stdout, /^traces and tokens: not stated, every snapshot failed$/m)
})

t.test('one more snapshot into the same folder keeps the others as long as they stand', async t => {
  const dir = temp(t)
  for (const [name, first] of [
    ['a', 10],
    ['b', 20],
    ['c', 30]
  ] as const)
    await writeSnapshot(join(dir, name), traces(name, first))
  const names = (): unknown => readIndex(t, join(dir, 'out')).snapshots.map(({ name, status, kept }) => [name, status, kept])
  const steps = (): string[] =>
    parseCsv(readFileSync(join(dir, 'out', CSV), 'utf8'))
      .slice(1)
      .map(([name, step]) => `${name} ${step}`)
  await traced(dir, 'a', 'b', '--no-figures')
  t.same(names(), [
    ['a', 'ok', false],
    ['b', 'ok', false]
  ])
  t.same(steps(), ['a 10', 'a 11', 'b 20', 'b 21'])
  const third = await traced(dir, 'c', '--no-figures')
  t.match(third.stdout, /^kept in the index: 2 snapshots of earlier runs$/m)
  t.same(names(), [
    ['a', 'ok', true],
    ['b', 'ok', true],
    ['c', 'ok', false]
  ])
  t.same(steps(), ['a 10', 'a 11', 'b 20', 'b 21', 'c 30', 'c 31'])
  t.match(await runCli(['verify', '--outputs', 'out'], { cwd: dir }), { code: 0, stdout: /^outputs in out, 3 records$/m })
  // A run of the same one takes the place of its entry.
  await writeSnapshot(join(dir, 'b'), traces('b', 40))
  await traced(dir, 'b', '--no-figures')
  t.same(names(), [
    ['a', 'ok', true],
    ['c', 'ok', true],
    ['b', 'ok', false]
  ])
  t.same(steps(), ['a 10', 'a 11', 'c 30', 'c 31', 'b 40', 'b 41'])
  // Entries that no longer stand go: no record, or statistics that are not the recorded ones.
  rmSync(join(dir, 'out/c/run.json'))
  const statistics = join(dir, 'out/a/training_data/critic-trace-statistics.json')
  writeFileSync(statistics, readFileSync(statistics, 'utf8').replace('"tokens": ', '"tokens":  '))
  await traced(dir, 'b', '--no-figures')
  t.same(names(), [['b', 'ok', false]])
  t.same(steps(), ['b 40', 'b 41'])
  writeFileSync(join(dir, 'out', INDEX), '{"schema":"critic-trace-snapshots","snapshots":[{"name":"../a"}]}')
  await traced(dir, 'b', '--no-figures')
  t.same(names(), [['b', 'ok', false]], 'an index that is none is not read')
})

t.test('a snapshot that failed stays in the index until it is run again', async t => {
  const dir = temp(t)
  await writeSnapshot(join(dir, 'a'), traces('a', 10))
  await writeSnapshot(join(dir, 'b'), traces('b', 20), { editJson: json => json.slice(0, 600) })
  const entries = (): unknown => readIndex(t, join(dir, 'out')).snapshots.map(({ name, status, kept }) => [name, status, kept])
  t.equal((await traced(dir, 'b', '--no-figures')).code, 3)
  t.same(entries(), [['b', 'failed', false]])
  for (const time of ['first', 'second']) {
    const run = await traced(dir, 'a', '--no-figures')
    t.equal(run.code, 0, time)
    t.match(run.stdout, /^kept in the index: 1 snapshot of earlier runs, 1 of them failed$/m)
    t.same(entries(), [
      ['b', 'failed', true],
      ['a', 'ok', false]
    ])
  }
  t.match(await runCli(['verify', '--outputs', 'out'], { cwd: dir }), { code: 0 })
  await writeSnapshot(join(dir, 'b'), traces('b', 20))
  await traced(dir, 'b', '--no-figures')
  t.same(entries(), [
    ['a', 'ok', true],
    ['b', 'ok', false]
  ])
})

t.test('with fewer than two steps there is no table, and that of an earlier run goes', async t => {
  const dir = temp(t)
  const one = randomTraces(new Random('one'), 1, () => 30)
  await writeSnapshot(join(dir, 'a'), traces('a', 1))
  await writeSnapshot(join(dir, 'b'), one)
  await traced(dir, 'a', 'b', '--formats', 'svg,png')
  const over = [CSV, `${CSV}-metadata.json`, 'figures/critic-traces-over-steps.png', 'figures/critic-traces-over-steps.svg', PAGE]
  const { outputs } = readIndex(t, join(dir, 'out'))
  t.same(outputs.map(({ path }) => path).sort(), over)
  for (const { path, sha256, bytes } of outputs) {
    const content = readFileSync(join(dir, 'out', path))
    t.same([createHash('sha256').update(content).digest('hex'), content.length], [sha256, bytes], path)
  }
  rmSync(join(dir, 'out/a'), { recursive: true })
  await traced(dir, 'b', '--formats', 'svg,png')
  t.same(readIndex(t, join(dir, 'out')).outputs, [])
  t.same(
    over.filter(path => existsSync(join(dir, 'out', path))),
    []
  )
  t.same(
    readdirSync(join(dir, 'out')).filter(name => name.endsWith('.csv')),
    []
  )
})

t.test('the figure: a step of several snapshots is one point over all of their tokens', t => {
  const step = (at: number, of: ReadonlyArray<readonly ['success' | 'failure', number, number]>, jumps = 1): StepStatistics => ({
    step: at,
    traces: of.length,
    tokens: of.reduce((sum, [, tokens]) => sum + tokens, 0),
    mean_values: of.map(([outcome, tokens, mean]) => ({ outcome, traces: 1, tokens, mean_value: mean })),
    boundary: { transitions: 4, sum_abs_change: 2, jumps },
    internal: { transitions: 0, sum_abs_change: 0, jumps: 0 }
  })
  const rows = overSteps([
    { name: 'late', steps: [step(7, [['success', 30, 0.5]], 3)] },
    {
      name: 'early',
      steps: [
        step(2, [
          ['success', 10, 1],
          ['failure', 5, -1]
        ]),
        step(7, [['success', 10, 1.5]])
      ]
    }
  ])
  t.same(
    rows.map(({ snapshot, step: at }) => [snapshot, at]),
    [
      ['early', 2],
      ['early', 7],
      ['late', 7]
    ]
  )
  const data = stepsFigure(rows, true, 0.1, ['by-step.csv'])
  t.same(
    data.panels.map(({ title, series }) => [title, series.map(({ title: name, x, y }) => [name, x, y])]),
    [
      [
        'Mean value by outcome',
        [
          ['success', [2, 7], [1, 0.75]],
          ['failure', [2], [-1]]
        ]
      ],
      ['Jump rate, |change| > 0.1', [['at turn boundaries', [2, 7], [25, 50]]]],
      [
        'Traces by outcome',
        [
          ['success', [2, 7], [1, 2]],
          ['failure', [2], [1]]
        ]
      ],
      ['Mean |change of value|', [['at turn boundaries', [2, 7], [0.5, 0.5]]]]
    ]
  )
  const [figure] = buildFigures({ curves: [data] })
  t.equal(figure.name, 'critic-traces-over-steps')
  t.match(figure.description, /\(c\) Traces by outcome, traces .*: success has 2 points from 2 to 7, values from 1 to 2/)
  const counts = figure.panels[2].chart as unknown as { readonly options: { readonly scales: { readonly y: { readonly min: number } } } }
  t.ok(counts.options.scales.y.min <= 0, 'numbers of traces begin at 0')
  t.equal(stepsFigure(rows, false, null, []).panels[1].title, 'Jump rate', 'snapshots of several thresholds')
  t.end()
})
