/** `traces` over dumps as a user runs it: what is read, left out, compared and refused. Expected numbers are by hand. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { runCli } from './support/cli.js'

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
  t.match(run.stdout, '2 traces, 6 tokens, trainer steps 7-7')
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
    ['a row less', [ROWS[0]], 'trace not in both: only in the first dump, expected the same traces in both'],
    ['a row more', [...ROWS, ROWS[1]], 'trace not in both: only in the second dump, expected the same traces in both']
  ]
  for (const [what, rows, message] of cases) {
    const run = await compared(rows)
    t.equal(run.code, 1, what)
    t.match(run.stderr, message, what)
  }
  const page = await runCli(['traces', path, '--out', out, '--against', join(path, '../absent')])
  t.not(page.code, 0)
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
