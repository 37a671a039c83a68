/** Training histories through the command line: outputs worked out by hand, one line for what is wrong. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { RunProgress } from '../src/runs/context.js'
import { measureHistories } from '../src/runs/histories.js'
import { loadStudy } from '../src/study/study.js'
import { OutputSet } from '../src/render/outputs/output-set.js'
import { runCli } from './support/cli.js'
import { contextOf } from './support/context.js'
import { parseCsv } from './support/csv-parse.js'
import { RUNS, STUDY, writeHistoryStudy, writeManifest, type FolderOptions } from './support/history-folder.js'
import { schemaProblems } from './support/json-schema.js'
import { root } from './support/paths.js'
import { hashes } from './support/run.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-histories-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))
let folders = 0

function folder(options: FolderOptions = {}): { dir: string; out: string } {
  const dir = join(work, `study${folders}`)
  const out = join(work, `out${folders++}`)
  writeHistoryStudy(dir, options)
  return { dir, out }
}

const all = ({ dir, out }: { dir: string; out: string }, ...more: string[]) => runCli(['all', '--study', dir, '--out', out, ...more])

function table(path: string): Array<Record<string, string | null>> {
  const [head, ...rows] = parseCsv(readFileSync(path, 'utf8'))
  return rows.map(row => Object.fromEntries(head.map((name, i) => [name ?? '', row[i]])))
}

function manifestHash(dir: string): string {
  return createHash('sha256')
    .update(readFileSync(join(dir, 'source_manifest.json')))
    .digest('hex')
}

t.test('a study of histories alone: what is kept, what is superseded, what is drawn', async t => {
  const place = folder()
  const run = await all(place)
  t.match(run, { code: 0 }, run.stderr)
  const brief = (rows: Array<Record<string, string | null>>, ...names: string[]): string[] =>
    rows.map(row => names.map(n => row[n] ?? '-').join(' '))

  t.strictSame(
    brief(
      table(join(place.out, 'wandb/kept.csv')),
      'selection',
      'metric',
      'step',
      'value',
      'run',
      'global_step',
      'elapsed_hours',
      'display_hours'
    ),
    [
      'ref reward 0 0.5 ref - 0 0',
      'ref reward 1 0.75 ref - 1 1',
      'ref score 0 0.25 ref - 0 0',
      'target reward 1 0.25 first 0 0.5 0.25',
      'target reward 2 0.5 second - 3 1.5',
      // Python: (1767240000.5 - 1767225600) / 3600 is 4.0001388888888885
      'target reward 3 0.625 second - 4.0001388888888885 2.0000694444444442',
      'target reward 4 1e-7 second - 5 2.5',
      'target score 2 0.5 first 1 1 0.5',
      'target score 4 0.75 second - 5 2.5'
    ]
  )
  t.strictSame(
    brief(
      table(join(place.out, 'wandb/all.csv')).filter(r => r['kept'] === '0'),
      'metric',
      'step',
      'run',
      'superseded_by_run',
      'restart_step',
      'reason'
    ),
    ['reward 2 first second 2 replaced', 'reward 3 first second 2 rolled back']
  )
  t.strictSame(
    brief(table(join(place.out, 'wandb/lineage.csv')), 'selection', 'metric', 'step', 'run', 'kept').filter(r =>
      r.startsWith('target reward')
    ),
    [
      'target reward 1 first 1',
      'target reward 2 first 0',
      'target reward 3 first 0',
      'target reward 2 second 1',
      'target reward 3 second 1',
      'target reward 4 second 1'
    ]
  )
  t.strictSame(
    brief(
      table(join(place.out, 'wandb/points.csv')).filter(r => r['algorithm'] === 'target'),
      'view',
      'metric',
      'x',
      'value',
      'source_run',
      'source_step',
      'provenance',
      'trailing_mean'
    ),
    [
      'step reward 0 0.5 ref 0 borrowed_ref 0.5',
      'step reward 1 0.25 first 1 observed 0.375',
      'step reward 2 0.5 second 2 observed 0.375',
      'step reward 3 0.625 second 3 observed 0.5625',
      'step reward 4 1e-7 second 4 observed 0.31250005',
      'step score 0 0.25 ref 0 borrowed_ref -',
      'step score 2 0.5 first 2 observed -',
      'step score 4 0.75 second 4 observed -',
      'time reward 0 0.5 ref 0 borrowed_ref 0.5',
      'time reward 0.25 0.25 first 1 observed 0.375',
      'time reward 0.5 0.375 first 2 observed 0.3125',
      'time reward 0.75 0.125 first 3 observed 0.25',
      'time reward 1.5 0.5 second 2 observed 0.3125',
      'time reward 2.0000694444444442 0.625 second 3 observed 0.5625',
      'time reward 2.5 1e-7 second 4 observed 0.31250005',
      'time score 0 0.25 ref 0 borrowed_ref -',
      'time score 0.5 0.5 first 2 observed -',
      'time score 2.5 0.75 second 4 observed -'
    ]
  )

  const statistics = JSON.parse(readFileSync(join(place.out, 'wandb/both.json'), 'utf8'))
  const { target } = statistics.selections
  t.match(target.metrics.score, { observations: 2, all_attempts: 2, non_finite: { NaN: 1 }, nulls: 1, not_numbers: 0 })
  t.strictSame(target.metrics.reward.first, { mean: 0.375, count: 2, steps: [1, 2] })
  t.strictSame(target.metrics.reward.last, { mean: 0.31250005, count: 2, steps: [3, 4] })
  t.match(target.metrics.score.best, {
    step: 4,
    value: 0.75,
    run: 'second',
    elapsed_hours: 5,
    display_hours: 2.5,
    censoring: 'interval',
    previous: { step: 2 }
  })
  t.match(target.thresholds.half, { step: 2, value: 0.5, run: 'first', censoring: 'left', previous: null })
  t.strictSame(target.rollbacks, [{ run: 'second', steps: [2, 3] }])
  t.strictSame(
    target.sessions.map((s: { run: string; created_at: string }) => `${s.run} ${s.created_at}`),
    ['first 2026-01-01T00:00:00Z', 'second 2026-01-01T02:00:00']
  )
  t.strictSame(statistics.excluded_runs, [
    { run: 'aside', display_name: 'target-node', reason: 'companion' },
    { run: 'other', display_name: 'targets', reason: 'other display name' }
  ])
  t.strictSame(readdirSync(join(place.out, 'figures')), ['03-both.pdf', '03-both.png', '03-both.svg'])
  t.match(run.stdout, /Target: 2 sessions, 7 rows, went back once/)
  t.match(run.stdout, /^note: createdAt of run second has no zone and is read as UTC: 2026-01-01T02:00:00$/m)
})

t.test('documents follow their schemas, and every null has its reason', async t => {
  const place = folder()
  t.match(await all(place, '--no-figures'), { code: 0 })
  for (const [name, path] of [
    ['history-statistics', 'wandb/both.json'],
    ['history-time-display', 'time_display.json']
  ]) {
    const schema: unknown = JSON.parse(readFileSync(join(root, `docs/schemas/${name}.schema.json`), 'utf8'))
    const document = JSON.parse(readFileSync(join(place.out, path), 'utf8'))
    t.strictSame(schemaProblems(schema, document), [], name)
    t.not(schemaProblems(schema, { ...document, extra: 1 }).length, 0)
    for (const key of Object.keys(document)) {
      const { [key]: _, ...without } = document
      t.not(schemaProblems(schema, without).length, 0, `${name} without ${key} is not valid`)
    }
  }
  const statistics = JSON.parse(readFileSync(join(place.out, 'wandb/both.json'), 'utf8'))
  const nulls: string[] = []
  const walk = (value: unknown, pointer: string): void => {
    if (value === null) nulls.push(pointer)
    else if (typeof value === 'object') for (const [key, inner] of Object.entries(value as object)) walk(inner, `${pointer}/${key}`)
  }
  walk(statistics.selections, '/selections')
  const unexplained = nulls.filter(pointer => !(pointer in statistics.undefined_reasons) && !/\/(looks_sampled|config\/.*)$/.test(pointer))
  t.strictSame(unexplained, [])
  t.ok(nulls.length > 0)
})

interface ArrowTable {
  readonly numRows: number
  readonly schema: { readonly metadata: ReadonlyMap<string, string>; readonly fields: ReadonlyArray<{ readonly name: string }> }
  getChild(name: string): { get(i: number): unknown } | null
}

t.test('the Arrow file holds the lineage table', async t => {
  const place = folder()
  t.match(await all(place, '--no-figures'), { code: 0 })
  const arrow = createRequire(import.meta.url)('apache-arrow/Arrow.esnext.min') as { tableFromIPC(bytes: Uint8Array): ArrowTable }
  const file = readFileSync(join(place.out, 'wandb/observations.arrow'))
  const lineage = table(join(place.out, 'wandb/lineage.csv'))
  for (const bytes of [file, file.subarray(8)]) {
    const observations = arrow.tableFromIPC(bytes)
    t.equal(observations.numRows, lineage.length)
    t.strictSame(Object.fromEntries(observations.schema.metadata), {
      schema: 'history-observations',
      schema_version: '1',
      synthetic: 'false',
      generator: 'critic-traces 0.1.0',
      inputs_manifest_sha256: manifestHash(place.dir)
    })
    for (const [i, row] of lineage.entries()) {
      for (const name of [
        'selection',
        'metric',
        'step',
        'run',
        'session',
        'superseded_by_session',
        'superseded_by_run',
        'restart_step',
        'reason'
      ]) {
        const cell = observations.getChild(name)?.get(i)
        t.equal(cell === null ? null : String(cell), row[name], `${name} of row ${i}`)
      }
      t.equal(observations.getChild('kept')?.get(i), row['kept'] === '1')
    }
  }
})

t.test('the Arrow file of the points holds the rows of every CSV of points, cell by cell', async t => {
  const [both] = STUDY.histories.analyses
  const alone = {
    name: 'alone',
    selections: ['target'],
    metrics: ['score', 'reward'],
    shared_reference: { metric: 'score', selections: ['target'], step: 1, value: 0.125, label: 'l', source: 's', output: 'shared.json' },
    outputs: { statistics: 'wandb/alone.json', points: 'wandb/alone.csv' }
  }
  const silent = { name: 'silent', selections: ['ref'], metrics: ['reward'], outputs: { statistics: 'wandb/silent.json' } }
  // Hours of one point and a trailing mean are beyond the double range.
  const far = '{"_step": 5, "_timestamp": 1e308, "reward": 1.7e308}'
  const runs = RUNS.map(run => (run.id === 'second' ? { ...run, lines: [...(run.lines ?? []), far, far.replace('5', '6')] } : run))
  const selections = [STUDY.histories.selections[0], { ...STUDY.histories.selections[1], display_time: { multiply: 1e300 } }]
  const study = { ...STUDY, histories: { ...STUDY.histories, selections, analyses: [both, silent, alone] } }
  const place = folder({ runs, study })
  t.match(await all(place, '--no-figures'), { code: 0 })
  const arrow = createRequire(import.meta.url)('apache-arrow/Arrow.esnext.min') as { tableFromIPC(bytes: Uint8Array): ArrowTable }
  const file = readFileSync(join(place.out, 'wandb/points.arrow'))
  const rows = [
    ['both', 'wandb/points.csv'],
    ['alone', 'wandb/alone.csv']
  ].flatMap(([analysis, path]) => table(join(place.out, path)).map((row): Record<string, string | null> => ({ analysis, ...row })))
  const empty = (name: string): number => rows.filter(row => row[name] === null).length
  t.ok(rows.length > 40 && ['x', 'source_run', 'source_step', 'trailing_mean'].every(name => empty(name) > 0), 'cells of every kind')
  for (const bytes of [file, file.subarray(8)]) {
    const points = arrow.tableFromIPC(bytes)
    t.equal(points.numRows, rows.length)
    t.strictSame(
      points.schema.fields.map(field => field.name),
      Object.keys(rows[0])
    )
    t.strictSame(Object.fromEntries(points.schema.metadata), {
      schema: 'history-points',
      schema_version: '1',
      synthetic: 'false',
      generator: 'critic-traces 0.1.0',
      inputs_manifest_sha256: manifestHash(place.dir)
    })
    const cells = rows.map((_, i) =>
      Object.fromEntries(
        points.schema.fields.map(({ name }) => {
          const cell = points.getChild(name)?.get(i)
          return [name, cell === null ? null : String(cell)]
        })
      )
    )
    t.strictSame(cells, rows)
  }
  for (const figures of [[], STUDY.histories.figures]) {
    const analyses = [{ ...both, outputs: { statistics: 'wandb/both.json' } }]
    const without = folder({ study: { ...STUDY, histories: { ...STUDY.histories, figures, analyses } } })
    t.match(await all(without, '--no-figures'), { code: 0 })
    const written = readdirSync(join(without.out, 'wandb')).includes('points.arrow')
    t.equal(written, figures.length > 0, 'where no analysis writes points, those of a figure stand in the file')
  }
})

t.test('the same bytes at any chunk size', async t => {
  const { dir } = folder()
  const { study } = await loadStudy(dir)
  if (study.histories === null) throw new Error('no histories')
  const found: unknown[] = []
  for (const chunkBytes of [1, 2, 3, 7, 64, 65536]) {
    const out = join(work, `chunks${chunkBytes}`)
    const set = await OutputSet.open(out)
    await measureHistories(contextOf(dir, false, { chunkBytes }), study.histories, set)
    await set.commit()
    found.push(hashes(out))
  }
  for (const other of found.slice(1)) t.strictSame(other, found[0])
})

t.test('what is wrong is one line with its place, each wrong field one, and nothing is written', async t => {
  const edited = (id: string, edit: (lines: readonly string[]) => readonly string[]): FolderOptions => ({
    runs: RUNS.map(run => (run.id === id ? { ...run, lines: edit(run.lines ?? []) } : run))
  })
  const listed = (edit: (entry: Record<string, unknown>) => object): FolderOptions => ({
    list: JSON.stringify(RUNS.map(({ id, displayName, createdAt }) => edit({ id, displayName, createdAt, label: 'runs', config: {} })))
  })
  const histories = (change: object): FolderOptions => ({ study: { ...STUDY, histories: { ...STUDY.histories, ...change } } })
  const cases: ReadonlyArray<readonly [what: string, options: FolderOptions, code: number, message: RegExp, lines?: number]> = [
    [
      'a truncated last line',
      edited('first', lines => [...lines.slice(0, 3), '{"_step": 3, "rew']),
      3,
      /^critic-traces: .*line 4.*first\.jsonl.*byte \d+/
    ],
    ['a bare nan', edited('first', lines => [...lines.slice(0, 3), '{"_step": 3, "reward": nan}']), 3, /line 4/],
    ['a fractional step', edited('first', lines => ['{"_step": 0.5}', ...lines]), 3, /0\.5.*line 1|line 1.*0\.5/],
    ['a missing history', { runs: RUNS.map(run => (run.id === 'second' ? { ...run, lines: null } : run)) }, 3, /missing.*second\.jsonl/],
    [
      'createdAt that is no time',
      listed(entry => ({ ...entry, createdAt: 'yesterday' })),
      3,
      /createdAt.*yesterday.*runs\.json/,
      RUNS.length
    ],
    [
      'a run listed twice',
      {
        list: JSON.stringify(
          [...RUNS, RUNS[0]].map(({ id, displayName, createdAt }) => ({ id, displayName, createdAt, label: 'runs', config: {} }))
        )
      },
      3,
      /second.*runs\.json/
    ],
    ['a run id that climbs', listed(entry => ({ ...entry, id: `../${String(entry['id'])}` })), 3, /\.\.\/.*runs\.json/, RUNS.length],
    [
      'a selection without runs',
      histories({ selections: [STUDY.histories.selections[0], { ...STUDY.histories.selections[1], display_name: 'targt' }] }),
      3,
      /targt.*target.*study\.json\)/
    ],
    [
      'a run twice',
      {
        list: JSON.stringify(
          RUNS.flatMap(({ id, displayName, createdAt }) =>
            (id === 'ref' ? ['runs', 'again'] : ['runs']).map(label => ({ id, displayName, createdAt, label, config: {} }))
          )
        )
      },
      3,
      /selection ref takes run ref twice: histories\.selections\[0\], labels.*study\.json\)/
    ],
    [
      'a factor that nothing gives',
      histories({
        selections: [{ ...STUDY.histories.selections[0], display_time: { best_of: 'score', at_hours: 5 } }, STUDY.histories.selections[1]]
      }),
      3,
      /selection ref, display_time gives no factor: histories\.selections\[0\]\.display_time: .*study\.json\)/
    ],
    [
      'steps that go back without end',
      edited('first', () => Array.from({ length: 100_002 }, () => '{"_step": 1}')),
      3,
      /steps go back or repeat too often.*study\d+\/wandb\/history\/runs\/first\.jsonl, index/
    ],
    [
      'a metric that is not defined',
      histories({ analyses: [{ ...STUDY.histories.analyses[0], metrics: ['reward', 'scores'] }] }),
      3,
      /histories\.analyses\[0\]\.metrics\[1\].*scores.*score/
    ],
    [
      'a key that is no text',
      histories({ metrics: [{ ...STUDY.histories.metrics[0], key: 7 }, STUDY.histories.metrics[1]] }),
      3,
      /histories\.metrics\[0\]\.key is 7/
    ]
  ]
  for (const [what, options, code, message, lines = 1] of cases) {
    const place = folder(options)
    const run = await all(place, '--quiet')
    t.equal(run.code, code, `${what}: ${run.stderr}`)
    const said = run.stderr.trimEnd().split('\n')
    for (const line of said) t.match(line, message, what)
    t.equal(said.length, lines, `${what}: one line each`)
    t.strictSame(readdirSync(work).includes(place.out), false, `${what}: nothing written`)
  }
})

t.test('a history that is not the one that the manifest lists', async t => {
  const place = folder()
  const path = join(place.dir, 'wandb/history/runs/ref.jsonl')
  writeFileSync(path, readFileSync(path, 'utf8').replace('0.75', '0.76'))
  const run = await all(place, '--quiet')
  t.equal(run.code, 1)
  t.match(run.stderr, /manifest .*ref\.jsonl/)
})

t.test('odd input is counted and told, not dropped', async t => {
  const rows500 = Array.from({ length: 500 }, (_, i) => `{"_step": ${i * 3}, "_timestamp": ${1767312000.5 + i}, "reward": 0.5}`)
  const place = folder({
    runs: RUNS.map(run => {
      if (run.id === 'ref') return { ...run, lines: rows500 }
      if (run.id !== 'first') return run
      return {
        ...run,
        lines: [
          '{"_step": 1, "_timestamp": 1767225599, "reward": 0.25}',
          '{"_step": 2, "reward": "Infinity", "global": "NaN"}',
          '{"_step": 2, "reward": 0.5, "global": 1.5}'
        ]
      }
    })
  })
  const run = await all(place, '--no-figures', '--verbose')
  t.match(run, { code: 0 }, run.stderr)
  t.match(run.stdout, /500 rows/, 'looks sampled')
  t.match(
    run.stdout,
    /^note: run ref: between its rows 998 steps are missing \(1, 2, 4, 5, 7, …\)$/m,
    'and its holes are noted all the same'
  )
  t.match(run.stdout, /Infinity 1/, 'not finite')
  const { selections } = JSON.parse(readFileSync(join(place.out, 'wandb/both.json'), 'utf8'))
  t.match(selections.target.sessions[0], { rows: 2, rows_before_creation: 1, rows_without_timestamp: 1 })
  t.match(selections.target.sessions[0], { rows_with_unusable_global_step: 1, rows_with_fractional_global_step: 0 })
  t.match(selections.target.sessions[1], { rows_with_unusable_global_step: 0, rows_with_fractional_global_step: 1 })
  t.match(run.stdout, /^note: run first: 1 of 3 rows has a global step that is null or not finite; empty in the files$/m)
  t.match(run.stdout, /^note: run first: 1 of 3 rows has a global step that is no integer, the first 1\.5; kept as logged$/m)
  t.match(selections.target.sessions[1], { run: 'first', rows: 1, first_step: 2 }, 'a duplicate step starts a session')
  t.type(selections.ref.sessions[0].looks_sampled, 'string')
  writeManifest(place.dir)
})

t.test('analysis and writing stop at a signal, between two pieces of any size', async t => {
  const long = Array.from({ length: 30_000 }, (_, i) => `{"_step": ${i}, "_timestamp": ${1767225600 + i}, "reward": 0.5}`)
  const { dir } = folder({ runs: RUNS.map(run => (run.id === 'second' ? { ...run, lines: long } : run)) })
  const { study } = await loadStudy(dir)
  if (study.histories === null) throw new Error('no histories')
  const histories = study.histories
  // As a signal arrives: from the event loop, which must have its turns.
  const stopped = async (name: string, start: (soon: () => void) => RunProgress): Promise<void> => {
    const stop = new AbortController()
    const set = await OutputSet.open(join(work, name))
    const progress = start(() =>
      setTimeout(() => {
        stop.abort()
      }, 0)
    )
    await t.rejects(measureHistories(contextOf(dir, false, { signal: stop.signal, progress }), histories, set), {
      message: 'run interrupted: a signal, expected to finish; nothing of this run was written'
    })
    await set.abort()
    t.strictSame(readdirSync(work).includes(name), false)
  }
  let parts = 0
  await stopped('stop-analysis', soon => ({
    onAnalysis: () => {
      soon()
      return done => {
        parts = done
      }
    },
    onWriting: () => {
      throw new Error('went on')
    }
  }))
  t.ok(parts > 0 && parts < 20, `${parts} parts`)
  let rows = 0
  await stopped('stop-writing', soon => ({
    onWriting: () => done => {
      if (rows === 0) soon()
      rows = done
    }
  }))
  t.ok(rows > 0 && rows < 90_000, `${rows} rows of some 150,000`)
})

t.test('what is being done is shown after reading, too', async t => {
  const run = await all(folder(), '--no-figures')
  t.match(run.stderr, /reading histories.*\n(?:.*\n)*analysing histories +\d+ parts.*\n(?:.*\n)*writing histories +\d+ rows/)
})

t.test('control characters of a study reach no terminal', async t => {
  const control = '\u001b[2J\u009b1m\u202e'
  const selections = STUDY.histories.selections.map(selection => ({ ...selection, title: `${control}${selection.title}` }))
  const place = folder({ study: { ...STUDY, name: `${control}name`, histories: { ...STUDY.histories, selections } } })
  for (const run of [await all(place, '--no-figures'), await all(place, '--no-figures'), await runCli(['verify', '--study', place.dir])]) {
    t.equal(run.code, 0, run.stderr)
    t.notMatch(run.stdout + run.stderr, /[\u001b\u009b\u202e]/)
    t.match(run.stdout, /study \\u001b\[2J\\u009b1m\\u202ename in /)
  }
})

t.test('finite numbers whose arithmetic leaves the double range: empty cells, counted', async t => {
  const target = { ...STUDY.histories.selections[1], display_time: { multiply: 1e300 } }
  const place = folder({
    runs: RUNS.map(run =>
      run.id !== 'second'
        ? run
        : {
            ...run,
            lines: [
              '{"_step": 2, "_timestamp": 1767236400, "reward": 1.7e308}',
              '{"_step": 3, "_timestamp": 1767240000, "reward": 1.7e308}',
              '{"_step": 4, "_timestamp": 1e30, "reward": -1.7e308}'
            ]
          }
    ),
    study: {
      ...STUDY,
      histories: {
        ...STUDY.histories,
        selections: [STUDY.histories.selections[0], target],
        metrics: [STUDY.histories.metrics[0], { ...STUDY.histories.metrics[1], multiply: 1e15 }],
        analyses: [
          {
            ...STUDY.histories.analyses[0],
            shared_reference: {
              metric: 'score',
              selections: ['target'],
              step: 1,
              value: 1e300,
              label: 'l',
              source: 's',
              output: 'shared.json'
            }
          }
        ]
      }
    }
  })
  const run = await all(place)
  t.equal(run.code, 0, run.stderr)
  const points = table(join(place.out, 'wandb/points.csv')).filter(row => row['algorithm'] === 'target' && row['metric'] === 'reward')
  // Without supplied points: window 2 over 0.25, 1.7e308, 1.7e308, -1.7e308.
  t.strictSame(
    points
      .filter(row => row['view'] === 'step')
      .slice(-3)
      .map(row => row['trailing_mean']),
    ['8.5e+307', '1.7e+308', '0']
  )
  t.strictSame(points.at(-1)?.['x'], null)
  for (const file of ['wandb/kept.csv', 'wandb/all.csv']) {
    const [last] = table(join(place.out, file)).filter(row => row['timestamp'] === '1e+30')
    t.match(last, { elapsed_hours: '2.777777777777778e+26', display_hours: null }, file)
  }
  const arrow = createRequire(import.meta.url)('apache-arrow/Arrow.esnext.min') as { tableFromIPC(bytes: Uint8Array): ArrowTable }
  const observations = arrow.tableFromIPC(readFileSync(join(place.out, 'wandb/observations.arrow')))
  const hours = Array.from({ length: observations.numRows }, (_, i) => [
    observations.getChild('timestamp')?.get(i),
    observations.getChild('display_hours')?.get(i)
  ])
  t.strictSame(
    hours.filter(([timestamp]) => timestamp === 1e30),
    [[1e30, null]]
  )
  t.equal(JSON.parse(readFileSync(join(place.out, 'time_display.json'), 'utf8')).selections.target.display_hours, null)
  t.equal(JSON.parse(readFileSync(join(place.out, 'shared.json'), 'utf8')).plotted_value, null)
  t.match(run.stdout, /^note: selection target, metric reward: display_hours of 1 observation is beyond the double range; empty/m)
  for (const [name, path] of [
    ['history-time-display', 'time_display.json'],
    ['history-shared-reference', 'shared.json']
  ]) {
    const schema: unknown = JSON.parse(readFileSync(join(root, `docs/schemas/${name}.schema.json`), 'utf8'))
    t.strictSame(schemaProblems(schema, JSON.parse(readFileSync(join(place.out, path), 'utf8'))), [], name)
  }
})

t.test('a claims file that does not exist is said', async t => {
  const place = folder({ study: { ...STUDY, claims: 'nowhere/claims.json' } })
  const verify = ({ dir }: { dir: string }) => runCli(['verify', '--study', dir])
  t.match(await all(place, '--no-figures'), { code: 3, stderr: /^critic-traces: claims missing file: nothing.*nowhere\/claims\.json\)$/m })
  t.match(await verify(place), { code: 0, stdout: /^note: claims is "nowhere\/claims\.json", and no such file is in the study$/m })
  t.notMatch((await verify(folder({ study: { ...STUDY, claims: 'study.json' } }))).stdout, /claims/)
})

t.test('an empty history is a session without rows', async t => {
  const place = folder({ runs: RUNS.map(run => (run.id === 'second' ? { ...run, lines: [] } : run)) })
  const run = await all(place, '--no-figures')
  t.match(run, { code: 0 }, run.stderr)
  const { selections } = JSON.parse(readFileSync(join(place.out, 'wandb/both.json'), 'utf8'))
  t.match(selections.target, { rows: 4, rollbacks: [] })
  t.match(selections.target.sessions[1], { run: 'second', rows: 0, first_step: null })
})
