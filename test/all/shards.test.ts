/** Shards of every kind of input, at any number of them: the merge has the bytes of one machine. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import { openTracePool } from '../../src/compute/traces/pool.js'
import { combinePartials } from '../../src/runs/shards/combine.js'
import { runCli } from '../support/cli.js'
import { queryDuckDb } from '../support/duckdb.js'
import { hashes } from '../support/run.js'
import { inShards, merged, onOneMachine, outputsOf, statesOf, writeInputs, type ShardedOptions } from '../support/shards.js'

const pool = openTracePool(2)
t.teardown(() => pool.destroy())

const COUNTS = [1, 2, 3, 7, 64]

t.test('the bytes of one machine at any number of shards', async t => {
  const out = t.testdir()
  const inputs = await writeInputs(join(out, 'inputs'))
  const same = async (t: Test, name: string, paths: readonly string[], options: ShardedOptions = {}): Promise<void> => {
    const whole = join(out, name, 'whole')
    await onOneMachine(paths, whole, pool, options)
    const expected = outputsOf(whole)
    t.ok('critic-trace-snapshots.json' in expected, name)
    for (const count of COUNTS) {
      const shards = join(out, name, `of-${count}`)
      await inShards(paths, count, shards, pool, options)
      await merged([join(shards, 'partials')], join(out, name, `merged-${count}`), options)
      t.strictSame(outputsOf(join(out, name, `merged-${count}`)), expected, `${name} in ${count}`)
      const states = (of: number): readonly string[] => statesOf(join(out, name, `of-${of}`, 'partials'))
      // Of a snapshot that fails, a shard keeps no trace; another one does not know of it.
      if (!paths.includes(inputs['bad']) || options.skipBad === true)
        t.strictSame(states(count), states(1), `records of ${name} in ${count}`)
    }
  }
  for (const [name, path] of Object.entries(inputs)) await t.test(name, t => same(t, name, [path]))
  await t.test('bad samples left out', t => same(t, 'skipped', [inputs['bad']], { skipBad: true }))
  const many = ['page', 'bad', 'npz', 'padded', 'lengths', 'lines'].map(name => inputs[name])
  await t.test('many snapshots, one of them bad, one missing', t => same(t, 'many', [...many, join(out, 'nothing')]))
  await t.test('with figures', t => same(t, 'figures', [inputs['page'], inputs['lines']], { formats: ['svg'] }))
})

t.test('partials in any order, and as a tree', async t => {
  const out = t.testdir()
  const inputs = await writeInputs(join(out, 'inputs'))
  const paths = [inputs['page'], inputs['lines'], inputs['ranks']]
  await onOneMachine(paths, join(out, 'whole'), pool)
  await inShards(paths, 7, join(out, 'shards'), pool)
  const file = (i: number): string => join(out, 'shards/partials', `shard-${i}-of-7.arrow`)
  await merged([5, 0, 6, 2, 1, 4, 3].map(file), join(out, 'shuffled'))
  await combinePartials([file(6), file(0), file(3)], join(out, 'tree/a.arrow'))
  await combinePartials([file(5), file(2)], join(out, 'tree/b.arrow'))
  await combinePartials([join(out, 'tree/b.arrow'), file(1)], join(out, 'top/c.arrow'))
  await merged([join(out, 'top'), file(4), join(out, 'tree/a.arrow')], join(out, 'tree/merged'))
  const expected = outputsOf(join(out, 'whole'))
  t.strictSame(outputsOf(join(out, 'shuffled')), expected)
  t.strictSame(outputsOf(join(out, 'tree/merged')), expected)
})

t.test('two critics: the bytes of diagnose --against, from the shards of both', async t => {
  const cwd = t.testdir()
  const inputs = await writeInputs(join(cwd, 'inputs'))
  const run = async (...argv: string[]): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> =>
    runCli([...argv, '-q'], { cwd })
  const sharded = async (out: string, count: number, ...argv: string[]): Promise<void> => {
    for (let shard = 0; shard < count; shard++) {
      t.match(await run('diagnose', ...argv, '--shard', `${shard}/${count}`, '--out', out), { code: 0, stderr: '' })
    }
  }
  const { lines, padded, page } = inputs as Readonly<Record<'lines' | 'padded' | 'page', string>>
  for (const [name, own, other] of [
    ['dumps', lines, padded],
    ['page', page, lines]
  ]) {
    const [whole, a, b, m] = ['whole', 'a', 'b', 'm'].map(part => `${name}/${part}`)
    const told = ['--gamma', '0.9', '--sampling', 'every trajectory']
    const { code, stderr } = await run('diagnose', own, '--against', other, ...told, '--out', whole, '--formats', 'svg')
    await sharded(a, 3, own, ...told)
    await sharded(b, 2, other)
    t.match(await run('merge', `${a}/partials`, '--against', `${b}/partials`, '--out', m, '--formats', 'svg'), {
      code,
      stderr: stderr.replaceAll(whole, m)
    })
    const { [`${basename(own)}/diagnose-run.json`]: record, ...expected } = hashes(join(cwd, whole))
    t.ok(record !== undefined && Object.keys(expected).length > 5, name)
    const written = hashes(join(cwd, m))
    t.strictSame(Object.fromEntries(Object.keys(expected).map(path => [path, written[path]])), expected, name)
    t.ok(readFileSync(join(cwd, m, basename(own), 'training_data/critic-diagnostics.json'), 'utf8').includes('"comparison"'))
  }
  await sharded('two', 1, lines, padded)
  const merge = ['merge', 'dumps/a/partials', '--out', 'no', '--no-figures', '--against']
  t.match(await run(...merge, 'two/partials'), {
    code: 2,
    stderr: /^critic-traces: usage wrong --against: 2 snapshots, expected partials of one snapshot/
  })
  await sharded('set', 1, padded, '--jump-above', '0.5')
  t.match(await run(...merge, 'set/partials'), {
    code: 3,
    stderr: /^critic-traces: partial differently set: traces\.jump_threshold is [\d.]+, not [\d.]+, expected what .*shard-0-of-3\.arrow/
  })
})

t.test('DuckDB reads the tokens in place, and its sums are those of the statistics', async t => {
  const out = t.testdir()
  const inputs = await writeInputs(join(out, 'inputs'))
  const paths = ['page', 'padded', 'gzip'].map(name => inputs[name])
  await inShards(paths, 3, join(out, 'shards'), pool)
  const { snapshots } = await merged([join(out, 'shards/partials')], join(out, 'merged'))
  const { rows } = await queryDuckDb(
    `SELECT snapshot, step, count(*)::INTEGER, count(DISTINCT trace)::INTEGER, sum(value) FROM read_parquet('${join(out, 'shards/tokens')}/*/*/*.parquet', hive_partitioning = true, union_by_name = true)
     GROUP BY ALL ORDER BY snapshot, step`
  )
  const expected = snapshots
    .flatMap(({ result: { plan, statistics } }) =>
      (statistics?.by_step ?? []).map(({ step, traces, tokens, mean_values: means }) => ({
        key: [plan?.name, step, tokens, traces],
        sum: means.reduce((sum, { mean_value: mean, tokens: own }) => sum + mean * own, 0)
      }))
    )
    .sort((a, b) => String(a.key[0]).localeCompare(String(b.key[0])) || Number(a.key[1]) - Number(b.key[1]))
  t.ok(expected.length > 10)
  t.strictSame(
    rows.map(([snapshot, step, tokens, traces]) => [snapshot, Number(step), tokens, traces]),
    expected.map(({ key }) => key)
  )
  for (const [i, row] of rows.entries())
    t.ok(Math.abs(Number(row[4]) - expected[i].sum) < 1e-9 * Math.abs(expected[i].sum) + 1e-9, `sum ${i}`)
})
