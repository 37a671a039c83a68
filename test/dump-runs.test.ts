/** `traces` over dumps as a user runs it: what is read, left out, compared and refused. Expected numbers are by hand. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Random } from '../src/replica/random.js'
import { runCli } from './support/cli.js'
import { findSnapshots, recogniseFile } from '../src/study/inventory.js'
import { npzFile, type TestArray } from './support/dump-files.js'
import { randomTraces, writeSnapshot } from './support/snapshot.js'

interface Row {
  readonly step?: number
  readonly uid?: string
  readonly score?: number
  readonly values?: readonly (number | null)[]
  readonly returns?: readonly number[]
  readonly advantages?: readonly number[]
  readonly response_mask: readonly number[]
}

const ROWS: readonly Row[] = [
  // Retained: 0.25, 0.5, 1, 0.75 at 0, 1, 4, 5. Changes: 0.25 inside, 0.5 at the boundary, 0.25 inside.
  { step: 7, uid: 'p', score: 1, values: [0.25, 0.5, 9, 9, 1, 0.75], returns: [1, 1, 0, 0, 1, 1], response_mask: [1, 1, 0, 0, 1, 1] },
  { step: 7, uid: 'p', score: 0, values: [0.5, 9, 0.125], returns: [0, 0, 0], response_mask: [1, 0, 1] }
]

function dumpOf(t: { testdir: () => string }, rows: readonly Row[], name = 'rows.jsonl'): string {
  const path = join(t.testdir(), name)
  writeFileSync(path, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  return path
}

function json(out: string, name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(out, 'rows/training_data', name), 'utf8')) as Record<string, unknown>
}

t.test('a dump of rows: masked tokens are dropped, and a gap in the mask is a boundary', async t => {
  const path = dumpOf(t, ROWS)
  const out = join(path, '../out')
  const run = await runCli(['traces', path, '--out', out, '--no-figures'])
  t.equal(run.code, 0, run.stderr)
  t.match(run.stdout, /^2 traces, 6 tokens, trainer step 7$/m)
  t.match(run.stdout, 'one source for every trace, not compared')
  t.match(run.stdout, 'outcome told by the score, above 0 a success: 2 of 2 traces')
  t.match(run.stdout, 'one row a sample; mask: response_mask; end of a response: ')
  t.match(json(out, 'critic-trace-statistics.json'), {
    traces: 2,
    tokens: 6,
    distinct_uids: 1,
    boundary: { transitions: 2, mean_abs_change: 0.4375, jumps: 2 },
    internal: { transitions: 2, mean_abs_change: 0.25, jumps: 2 },
    success: { traces: 1, positive_delta: 1 },
    failure: { traces: 1, negative_delta: 1 }
  })
  const [head, ...lines] = readFileSync(join(out, 'rows/training_data/critic-trace-trajectories.csv'), 'utf8').trimEnd().split('\r\n')
  t.match(head, /^trace,step,outcome,uid,score,tokens,/)
  t.match(
    lines.map(line => line.split(',').slice(0, 6)),
    [
      ['1', '7', 'failure', 'p', '0', '2'],
      ['0', '7', 'success', 'p', '1', '4']
    ]
  )
})

t.test('--success-above and --key', async t => {
  const renamed = ROWS.map(({ values, ...row }) => ({ ...row, critic: values }) as unknown as Row)
  const path = dumpOf(t, renamed)
  const out = join(path, '../out')
  const run = await runCli(['traces', path, '--out', out, '--no-figures', '--key', 'values=critic', '--success-above', '1'])
  t.equal(run.code, 0, run.stderr)
  t.match(run.stdout, 'outcome told by the score, above 1 a success: 2 of 2 traces')
  t.match(json(out, 'critic-trace-statistics.json'), { success: { traces: 0 }, failure: { traces: 2 } })
})

t.test('bad samples stop a dump; with --skip-bad they are left out and listed', async t => {
  const bad: Row = { step: 7, score: 1, values: [0.5, null], returns: [1, 1], response_mask: [1, 1] }
  const unmasked: Row = { step: 7, score: 1, values: [0.5, 0.5], returns: [1, 1], response_mask: [0, 0] }
  const path = dumpOf(t, [ROWS[0], bad, unmasked, ROWS[1]])
  const out = join(path, '../out')
  const stopped = await runCli(['traces', path, '--out', out, '--no-figures'])
  t.not(stopped.code, 0)
  t.match(stopped.stderr, /rows\.jsonl/)
  const run = await runCli(['traces', path, '--out', out, '--no-figures', '--skip-bad'])
  t.equal(run.code, 0, run.stderr)
  t.match(run.stdout, 'left out: 2 rows')
  t.match(run.stdout, '  trace 2: no token with mask 1')
  const { traces, dump } = json(out, 'critic-trace-index.json') as { traces: Array<{ index: number }>; dump: { left_out: unknown[] } }
  t.same(
    traces.map(({ index }) => index),
    [0, 3],
    'the others keep their places'
  )
  t.match(dump.left_out, [{ index: 1 }, { index: 2, reason: 'no token with mask 1' }])
})

t.test('--against: a second dump holds the same traces, or the first difference is named', async t => {
  const path = dumpOf(t, ROWS)
  const out = join(path, '../out')
  const second = (rows: readonly Row[]): string => {
    const other = join(path, '../second.jsonl')
    writeFileSync(other, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
    return other
  }
  const compared = (rows: readonly Row[]) => runCli(['traces', path, '--out', out, '--no-figures', '--against', second(rows)])
  const masked = { ...ROWS[0], values: [0.25, 0.5, 3, 3, 1, 0.75] }
  const same = await compared([masked, ROWS[1]])
  t.equal(same.code, 0, same.stderr)
  t.match(same.stdout, 'values, returns and positions of all 2 traces equal those of the second dump exactly')
  t.match(json(out, 'critic-trace-statistics.json'), { verified: true, one_source: 0 })

  const cases: ReadonlyArray<readonly [what: string, rows: readonly Row[], message: string]> = [
    [
      'a value',
      [{ ...ROWS[0], values: [0.25, 0.5, 9, 9, 1.5, 0.75] }, ROWS[1]],
      'trace value differs: 1.5 in second.jsonl, row 0, expected 1 as in rows.jsonl'
    ],
    [
      'a return',
      [ROWS[0], { ...ROWS[1], returns: [0, 0, 0.5] }],
      'trace value differs: 0.5 in second.jsonl, row 1, expected 0 as in rows.jsonl'
    ],
    [
      'a position',
      [ROWS[0], { ...ROWS[1], response_mask: [1, 1, 0] }],
      'trace value differs: 1 in second.jsonl, row 1, expected 2 as in rows.jsonl'
    ],
    [
      'a length',
      [ROWS[0], { ...ROWS[1], response_mask: [1, 1, 1] }],
      'trace length differs: 3 retained tokens in second.jsonl, row 1, expected 2 as in rows.jsonl'
    ],
    ['a uid', [ROWS[0], { ...ROWS[1], uid: 'q' }], 'trace uid differs: q in second.jsonl, row 1, expected p as in rows.jsonl'],
    ['a step', [ROWS[0], { ...ROWS[1], step: 8 }], 'trace step differs: 8 in second.jsonl, row 1, expected 7 as in rows.jsonl'],
    ['a score', [{ ...ROWS[0], score: 0.5 }, ROWS[1]], 'trace score differs: 0.5 in second.jsonl, row 0, expected 1 as in rows.jsonl'],
    ['a row less', [ROWS[0]], 'trace not in both: only in the first dump, expected the same traces in both'],
    ['a row more', [...ROWS, ROWS[1]], 'trace not in both: only in the second dump, expected the same traces in both']
  ]
  for (const [what, rows, message] of cases) {
    const run = await compared(rows)
    t.equal(run.code, 1, what)
    t.match(run.stderr, message, what)
  }
  const unmasked: Row = { ...ROWS[1], response_mask: [0, 0, 0] }
  const fewer = await compared([ROWS[0], unmasked])
  t.match(fewer.stderr, 'trace not in both: left out of the second dump: no token with mask 1', 'a row without a trace in the second')
  writeFileSync(path, [ROWS[0], unmasked].map(row => `${JSON.stringify(row)}\n`).join(''))
  const more = await compared(ROWS)
  t.equal(more.code, 1)
  t.match(more.stderr, 'trace not in both: left out of the first dump: no token with mask 1', 'a row without a trace in the first')
  writeFileSync(path, ROWS.map(row => `${JSON.stringify(row)}\n`).join(''))
  const page = await runCli(['traces', path, '--out', out, '--against', join(path, '../absent')])
  t.not(page.code, 0)
  const { uid: _uid, score: _score, ...bare } = ROWS[0]
  t.equal((await compared([bare, ROWS[1]])).code, 0, 'a field that one of them does not state')
  const twice = await runCli(['traces', path, '--out', out, '--against', path, '--against', path])
  t.match(twice, { code: 2, stderr: /--against twice, expected one of them/ })
})

t.test('--against is for dumps with values', async t => {
  const path = dumpOf(t, [{ step: 3, advantages: [0.5, 9, 1.5], response_mask: [1, 0, 1] }])
  const out = join(path, '../out')
  const without = await runCli(['traces', path, '--out', out, '--against', path])
  t.equal(without.code, 2)
  t.match(without.stderr, 'usage wrong --against: a dump without values, expected dumps with values and returns')
  const page = join(path, '../page')
  await writeSnapshot(
    page,
    randomTraces(new Random('against'), 2, () => 20)
  )
  const compared = await runCli(['traces', page, '--out', out, '--no-figures', '--against', path])
  t.equal(compared.code, 2)
  t.match(compared.stderr, 'usage wrong --against: a page or NPZ files of one trace each, expected dumps')
})

t.test('a dump without values: lengths, turns, outcomes and advantages', async t => {
  const path = dumpOf(t, [
    { step: 3, score: 1, advantages: [0.5, 9, 1.5], response_mask: [1, 0, 1] },
    { step: 4, score: 0, advantages: [-1, -1, 0, 0], response_mask: [1, 1, 1, 0] }
  ])
  const out = join(path, '../out')
  const run = await runCli(['traces', path, '--out', out])
  t.equal(run.code, 0, run.stderr)
  t.match(run.stdout, 'needs a critic: ')
  t.notMatch(run.stdout, 'look: ', 'there is no figure')
  t.ok(run.stdout.endsWith(`\nread: ${out}/rows/training_data/sample-statistics.json\n`), run.stdout)
  // Advantages: 0.5, 1.5, -1, -1, 0. Mean 0, squares 0.25 + 2.25 + 1 + 1 = 4.5.
  t.match(json(out, 'sample-statistics.json'), {
    samples: 2,
    tokens: 5,
    response_tokens: 7,
    steps: [3, 4],
    tokens_per_sample: { mean: 2.5, least: 2, most: 3 },
    turns_per_sample: { mean: 1.5, least: 1, most: 2 },
    outcomes: { success: 1, failure: 1, unknown: 0 },
    advantages: {
      all: { tokens: 5, mean: 0, sd: Math.sqrt(4.5 / 5), least: -1, most: 1.5, zero: 1 },
      success: { tokens: 2, mean: 1, sd: 0.5 },
      failure: { tokens: 3, zero: 1 }
    }
  })
  const again = await runCli(['traces', path, '--out', out])
  t.match(again.stdout, '0 done, 1 unchanged')
})

t.test('values without returns: the fault names what is there and the nearest name', async t => {
  const path = dumpOf(t, [{ values: [0.5, 0.5], response_mask: [1, 1], my_returns: [1, 1] } as Row])
  const run = await runCli(['traces', path, '--out', join(path, '../out')])
  t.equal(run.code, 3)
  t.match(
    run.stderr,
    'dump missing array: values; no returns; is it my_returns? then --key returns=my_returns, expected returns beside values'
  )
})

t.test('a batch prints the notes and the rows left out of each snapshot, and an unchanged run prints them again', async t => {
  const dir = t.testdir()
  const bad: Row = { step: 7, score: 1, values: [0.5, null], returns: [1, 1], response_mask: [1, 1] }
  const one: Row = { step: 7, score: 1, values: [0, 0.5, 0.25], returns: [1, 1, 1], response_mask: [1, 1, 1] }
  const dumps = { zeros: [one], torn: [...ROWS, bad], bare: [{ step: 3, score: 1, advantages: [0.5], response_mask: [1] }] }
  const paths = Object.entries(dumps).map(([name, rows]) => {
    const path = join(dir, `${name}.jsonl`)
    writeFileSync(path, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
    return path
  })
  const argv = (of: readonly string[]): string[] => ['traces', ...of, '--out', join(dir, 'out'), '--no-figures', '--skip-bad']
  const batch = await runCli(argv(paths))
  t.equal(batch.code, 0, batch.stderr)
  const notes = (stdout: string): string[] => stdout.split('\n').filter(line => line.startsWith('note: '))
  t.same(notes(batch.stdout), [
    'note: torn: 1 row left out, as its index lists',
    'note: zeros: no turn boundary in the one trace of 3 tokens: one turn each, or the mask was lost, or positions were numbered anew',
    'note: zeros: 1 value of 3 is exactly 0: padding, or masked tokens set to 0'
  ])
  const again = await runCli(argv(paths))
  t.match(again.stdout, '0 done, 3 unchanged')
  t.same(notes(again.stdout), notes(batch.stdout))
  const single = await runCli(argv([paths[1]]))
  t.match(single.stdout, '0 done, 1 unchanged')
  t.match(single.stdout, /^one row a sample; mask: response_mask; end of a response: .+\nleft out: 1 row\n {2}trace 2: .+$/m)
})

t.test('of many notes the first are listed and the rest counted', async t => {
  const dir = t.testdir()
  for (let i = 0; i < 13; i++) {
    const row: Row = { values: [0, 0.5, 0.25], returns: [1, 1, 1], response_mask: [1, 1, 1] }
    mkdirSync(join(dir, `many/${i}`), { recursive: true })
    writeFileSync(join(dir, `many/${i}/rows.jsonl`), `${JSON.stringify(row)}\n`)
  }
  const argv = ['traces', join(dir, 'many'), '--out', join(dir, 'out'), '--no-figures']
  const run = await runCli(argv)
  t.equal(run.code, 0, run.stderr)
  t.equal(run.stdout.split('\n').filter(line => line.startsWith('note: ')).length, 20)
  t.match(run.stdout, /^and 6 more notes \(--verbose lists them\)$/m)
  const all = await runCli([...argv, '--verbose'])
  t.equal(all.stdout.split('\n').filter(line => line.startsWith('note: ')).length, 26)
})

interface Indexed {
  readonly snapshots: ReadonlyArray<{ readonly source: string; readonly faults: ReadonlyArray<{ readonly message: string }> }>
}

const indexed = (dir: string): Indexed => JSON.parse(readFileSync(join(dir, 'out/critic-trace-snapshots.json'), 'utf8')) as Indexed

t.test('a dump without rows is a fault', async t => {
  const dir = t.testdir()
  const arrays = Object.fromEntries(
    ['values', 'returns', 'response_mask'].map(name => [name, { dtype: 'float32', shape: [0, 4], data: [] }])
  )
  writeFileSync(join(dir, 'empty.npz'), await npzFile(arrays))
  const run = await runCli(['traces', 'empty.npz', '--out', 'out', '--no-figures'], { cwd: dir })
  t.equal(run.code, 3)
  t.equal(run.stderr, 'critic-traces: dump empty: 0 rows, expected at least one (empty.npz)\n')
})

t.test('messages name the file of a dump as the path was given, and the index by the last name of the path', async t => {
  const dir = t.testdir({ given: { 'torn.jsonl': '', folder: { 'torn.jsonl': '', 'whole.jsonl': '' } } })
  const torn: Row = { score: 1, values: [0.5, 0.5], returns: [1], response_mask: [1, 1] }
  for (const name of ['given/torn.jsonl', 'given/folder/torn.jsonl']) writeFileSync(join(dir, name), `${JSON.stringify(torn)}\n`)
  writeFileSync(join(dir, 'given/folder/whole.jsonl'), `${JSON.stringify(ROWS[0])}\n`)
  const run = await runCli(['traces', 'given/torn.jsonl', 'given/folder', '--out', 'out', '--no-figures'], { cwd: dir })
  t.equal(run.code, 3)
  t.match(run.stderr, '(given/torn.jsonl, ')
  t.match(run.stderr, '(given/folder/torn.jsonl, ')
  const { snapshots } = indexed(dir)
  t.same(
    snapshots.map(({ source }) => source),
    ['torn.jsonl', 'folder']
  )
  t.match(snapshots[0].faults[0].message, '(torn.jsonl, ')
  t.match(snapshots[1].faults[0].message, '(folder/torn.jsonl, ')
})

t.test('the line of sums has dumps without values apart', async t => {
  const dir = t.testdir()
  const bare: Row = { score: 1, advantages: [0.5, 1], response_mask: [1, 1] }
  for (const [name, rows] of Object.entries({ bare: [bare], rows: ROWS, other: [bare, bare] }))
    writeFileSync(join(dir, `${name}.jsonl`), rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  const sums = async (...paths: string[]): Promise<string> => {
    const run = await runCli(['traces', ...paths, '--out', 'out', '--no-figures'], { cwd: dir })
    t.equal(run.code, 0, run.stderr)
    return run.stdout
  }
  // Successes 0.25, 0.5, 1, 0.75; failures 0.5, 0.125.
  t.match(
    await sums('rows.jsonl', 'bare.jsonl'),
    /^2 traces, 6 tokens; mean value of successes 0\.625, of failures 0\.3125; without values: 1 sample, 2 tokens$/m
  )
  t.match(await sums('bare.jsonl', 'other.jsonl'), /^without values: 3 samples, 6 tokens$/m)
})

t.test('a dump of several steps: the figure over steps to look at, then its own', async t => {
  const dir = t.testdir()
  const path = join(dir, 'rows.jsonl')
  writeFileSync(path, [ROWS[0], { ...ROWS[1], step: 8 }].map(row => `${JSON.stringify(row)}\n`).join(''))
  const run = await runCli(['traces', 'rows.jsonl', '--out', 'out', '--formats', 'svg'], { cwd: dir })
  t.equal(run.code, 0, run.stderr)
  t.match(run.stdout, /^2 traces, 6 tokens, trainer steps 7-8$/m)
  t.match(
    run.stdout,
    /\nlook: out\/figures\/critic-traces-over-steps\.svg\nlook: out\/rows\/figures\/08-critic-traces\.svg\nexplore: out\/rows\/preview\/traces\.html\n$/
  )
})

t.test('a fault of the second dump names its own file, also where both have one name', async t => {
  const dir = t.testdir({ a: {}, b: {} })
  const torn: Row = { ...ROWS[0], returns: [1] }
  writeFileSync(join(dir, 'a/rows.jsonl'), `${JSON.stringify(ROWS[0])}\n`)
  writeFileSync(join(dir, 'b/rows.jsonl'), `${JSON.stringify(torn)}\n`)
  const run = await runCli(['traces', 'a/rows.jsonl', '--against', 'b/rows.jsonl', '--out', 'out', '--no-figures'], { cwd: dir })
  t.equal(run.code, 3)
  t.match(run.stderr, '(b/rows.jsonl, ')
  t.notMatch(run.stderr, 'a/rows.jsonl')
  writeFileSync(join(dir, 'b/rows.jsonl'), `${JSON.stringify(ROWS[0])}\n`.repeat(2))
  const longer = await runCli(['traces', 'a/rows.jsonl', '--against', 'b/rows.jsonl', '--out', 'out', '--no-figures'], { cwd: dir })
  t.match(longer.stderr, /only in the second dump.*\(b\/rows\.jsonl, /)
})

t.test('an advantage that is not finite: named at a retained token, left out with --skip-bad, of no account at mask 0', async t => {
  const good = '{"score":1,"response_mask":[1,0],"advantages":[1,NaN]}'
  const path = dumpOf(t, [])
  const out = join(path, '../out')
  writeFileSync(path, `${good}\n{"score":1,"response_mask":[1,1],"advantages":[1,NaN]}\n`)
  const run = await runCli(['traces', path, '--out', out])
  t.equal(run.code, 1)
  t.match(run.stderr, 'trace not finite: NaN, expected a finite number')
  t.match(run.stderr, /rows\.jsonl, trace 1, advantages, index 1, line 2\)/)
  const left = await runCli(['traces', path, '--out', out, '--skip-bad'])
  t.equal(left.code, 0, left.stderr)
  t.match(json(out, 'sample-statistics.json'), { samples: 1, left_out: 1, advantages: { all: { tokens: 1, mean: 1 } } })
})

t.test('a dump of which no sample is left is refused', async t => {
  const path = dumpOf(t, [])
  const out = join(path, '../out')
  const cases: ReadonlyArray<readonly [what: string, lines: readonly string[], found: string]> = [
    [
      'values that are not finite',
      ['{"values":[1,NaN],"returns":[1,1]}'],
      '1 row left out, the first for: trace not finite: NaN, expected a finite number'
    ],
    [
      'wrong types',
      ['{"values":"x","returns":[1,1]}', '{"values":1,"returns":[1,1]}'],
      '2 rows left out, the first for: jsonl wrong values: "x", expected a list of numbers'
    ],
    ['masks of 0', ['{"values":[1],"returns":[1],"response_mask":[0]}'], '1 row left out, the first for: no token with mask 1'],
    ['advantages that are not finite', ['{"advantages":[1,Infinity]}'], '1 row left out, the first for: trace not finite: Infinity'],
    ['masks of 0, without values', ['{"advantages":[1],"response_mask":[0]}'], '1 row left out, the first for: no token with mask 1']
  ]
  for (const [what, lines, found] of cases) {
    writeFileSync(path, lines.map(line => `${line}\n`).join(''))
    const run = await runCli(['traces', path, '--out', out, '--no-figures', '--skip-bad'])
    t.equal(run.code, 3, what)
    t.match(run.stderr, `dump no sample left: ${found}`, what)
  }
})

t.test('a file of a folder of dumps that is none is named with what is wrong, and the dumps are done', async t => {
  const columns = (shape: readonly number[]): TestArray => ({ dtype: 'float32', shape, data: [0.5, 0.25, 0.125, 1] })
  const dump = await npzFile({ values: columns([2, 2]), returns: columns([2, 2]) })
  const metrics = await npzFile({ loss: columns([4]) })
  const damaged = Buffer.from(await npzFile({ values: columns([4]) }))
  damaged.fill(0, damaged.indexOf('NUMPY') - 1, damaged.indexOf('NUMPY') + 5)
  const cases: ReadonlyArray<readonly [what: string, name: string, write: (path: string) => void, message: RegExp, done: number]> = [
    [
      'arrays of one axis',
      'metrics.npz',
      path => writeFileSync(path, metrics),
      /^critic-traces: snapshot not of the dumps: no array of two axes, .* \(dumps\/metrics\.npz\)$/m,
      2
    ],
    [
      'a link that leads nowhere',
      'step_3.npz',
      path => symlinkSync('none.npz', path),
      /snapshot unreadable path: ENOENT .* \(dumps\/step_3\.npz\)/,
      2
    ],
    // A damaged dump is one of the series: without it the series would lack a step.
    [
      'arrays without a header',
      'step_3.npz',
      path => writeFileSync(path, damaged),
      /npy not recognised: .* \(dumps\/step_3\.npz, member values\.npy, byte 0\)/,
      0
    ],
    [
      'half a file',
      'step_3.npz',
      path => writeFileSync(path, dump.slice(0, dump.length / 2)),
      /zip truncated: .* \(dumps\/step_3\.npz\)/,
      0
    ]
  ]
  for (const [what, name, write, message, done] of cases) {
    const cwd = t.testdir({ dumps: {} })
    for (const step of [1, 2]) writeFileSync(join(cwd, `dumps/step_${step}.npz`), dump)
    write(join(cwd, 'dumps', name))
    const run = await runCli(['traces', 'dumps', '--out', 'out', '--no-figures', '--no-arrow'], { cwd })
    t.equal(run.code, 3, what)
    t.match(run.stderr, message, what)
    const { snapshots } = JSON.parse(readFileSync(join(cwd, 'out/critic-trace-snapshots.json'), 'utf8')) as {
      snapshots: { status: string }[]
    }
    const by_step = done === 0 ? [] : stepsOf(join(cwd, 'out/dumps/training_data/critic-trace-statistics.json'))
    t.same([snapshots.filter(({ status }) => status === 'ok').length, by_step], done === 0 ? [0, []] : [1, [1, 2]], what)
  }
  const cwd = t.testdir({ dumps: {} })
  writeFileSync(join(cwd, 'dumps/step_1.npz'), dump)
  writeFileSync(join(cwd, 'dumps/step_2.npz'), dump)
  const faults: string[] = []
  const denied = Object.assign(new Error('permission denied'), { code: 'EACCES' })
  const recognise = (path: string) => (path.endsWith('2.npz') ? Promise.reject(denied) : recogniseFile(path))
  const plans = await findSnapshots([join(cwd, 'dumps')], ({ message }) => faults.push(message), null, recognise)
  t.same(
    plans.map(({ dumpFiles }) => dumpFiles),
    [['step_1.npz']]
  )
  t.match(faults, [/^snapshot unreadable path: EACCES .*step_2\.npz\)$/], 'a file that may not be read')
})

function stepsOf(path: string): number[] {
  return (JSON.parse(readFileSync(path, 'utf8')) as { by_step: { step: number }[] }).by_step.map(({ step }) => step)
}
