/** What a fetch refuses and what a certificate finds: a server that loses, repeats, reorders, grows, renames, fails. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import { certificateJsonSchema, type HistoryCertificate } from '../../src/ingest/certificate/fields.js'
import { RUN_QUERY } from '../../src/fetch/queries.js'
import { cpuMs } from '../support/cpu.js'
import { runCli, type CliResult } from '../support/cli.js'
import { contents, sha256, tree } from '../support/folders.js'
import { schemaProblems } from '../support/json-schema.js'
import { start, type EmulatorOptions } from '../support/wandb/emulator.js'
import type { Behaviour, Rule, ScriptedRequest } from '../support/wandb/script.js'
import { rawJson, type EmulatedRun } from '../support/wandb/store.js'
import { CANARY, fetchInto, NOW, run, upTo, writeStudy, type FetchCall, type FetchResult } from '../support/wandb/study.js'

interface Scene extends FetchCall {
  readonly server?: Partial<EmulatorOptions>
  readonly before?: (dir: string) => void
}

const base = t.testdir()
let scenes = 0

const RUNS = [run('r1', 'main', upTo(250)), run('side', 'main-trainnode', upTo(2))]

/** One fetch of one run with steps 0 to 250 from a server of its own; the folder is scanned for the key. */
async function scene(
  test: Test,
  { server, before, ...call }: Scene = {}
): Promise<FetchResult & { readonly dir: string; readonly url: string }> {
  const emulator = await start({ key: CANARY, runs: RUNS, ...server })
  test.teardown(() => emulator.close())
  const dir = join(base, `scene-${++scenes}`)
  writeStudy(dir)
  before?.(dir)
  const result = await fetchInto(dir, emulator.url, call)
  test.strictSame(leaks(result, dir), [], 'the key is nowhere')
  test.strictSame(emulator.invalidQueries, [])
  return { ...result, dir, url: emulator.url }
}

/** Where the key stands, raw or as the header has it. */
function leaks(result: Pick<FetchResult, 'stdout' | 'stderr' | 'fault' | 'report'>, dir: string): string[] {
  const header = Buffer.from(`api:${CANARY}`).toString('base64')
  const shown = {
    ...contents(dir),
    result: inspect(result, { depth: Infinity, showHidden: true, maxArrayLength: null, maxStringLength: null })
  }
  return Object.entries(shown)
    .filter(([, text]) => text.includes(CANARY) || text.includes(header.replace(/=+$/, '')))
    .map(([name]) => name)
}

/** The message of the fault that ended the fetch or, of a run that ended alone, the first on standard error. */
function said({ fault, stderr }: FetchResult): string | undefined {
  return fault?.message ?? /^critic-traces: (.*)$/m.exec(stderr)?.[1]
}

const LATER = '2026-10-08T09:10:11Z'

/** `verify` with a manifest of what is there now. */
async function verified(dir: string): Promise<CliResult> {
  const manifest = await runCli(['manifest', '--study', dir, '--write', '--quiet'])
  if (manifest.code !== 0) throw new Error(manifest.stderr)
  return runCli(['verify', '--study', dir])
}

function listedIn(
  dir: string
): { readonly id: string; readonly label: string; readonly fetchedAt: string; readonly displayName: string }[] {
  return JSON.parse(readFileSync(join(dir, 'wandb/runs.json'), 'utf8')) as ReturnType<typeof listedIn>
}

function certificateOf(dir: string, id = 'r1'): HistoryCertificate {
  return JSON.parse(readFileSync(join(dir, `wandb/history/main/${id}.certificate.json`), 'utf8')) as HistoryCertificate
}

const inWindow = (minStep: number, then: Behaviour | readonly Behaviour[], more: Partial<Rule> = {}): Rule => ({
  operation: 'History',
  variables: { minStep },
  then,
  ...more
})

t.test('an export that is not whole: exit 1, the steps named, and fetched again the next time', async t => {
  const lines: ReadonlyArray<readonly [name: string, then: Behaviour, stderr: RegExp]> = [
    [
      'a row is missing',
      { kind: 'missingRow' },
      /^critic-traces: certificate check failed: row_count: 250 rows, the server counts 251; steps without a row: 150, expected .*r1\.certificate\.json/m
    ],
    ['a window is empty', { kind: 'emptyPage' }, /row_count: 151 rows, the server counts 251; steps without a row: 100 to 199,/]
  ]
  for (const [name, then, stderr] of lines) {
    const result = await scene(t, { server: { script: [inWindow(100, then, { times: 1 })] } })
    t.equal(result.code, 1, name)
    t.match(result.stderr, stderr, name)
    t.match(result.stdout, /INCOMPLETE/)
    t.match(certificateOf(result.dir), { complete: false })
    t.match(await verified(result.dir), { code: 1, stderr, stdout: /certificates: 0 of 1 history whole/ }, 'verify says the same')
    const again = await fetchInto(result.dir, result.url, { time: LATER })
    t.match(again.report, { runs: [{ status: 'fetched', complete: true }] })
    t.match(await verified(result.dir), { code: 0 }, 'and what is fetched anew is whole')
    t.strictSame(certificateOf(result.dir).steps, { rows: 251, first_step: 0, last_step: 250, holes: [], repeated: [] })
  }
})

t.test('the last window is empty: two checks fail', async t => {
  const { code, stderr } = await scene(t, { server: { script: [inWindow(200, { kind: 'emptyPage' })] } })
  t.equal(code, 1)
  t.match(stderr, /last_step: the last row is of step 199, the run's last step is 250/)
  t.match(stderr, /row_count: 200 rows, the server counts 251; every step from 0 to 250 has one row|row_count: 200 rows/)
})

t.test('more rows than samples in a window: the answer may be a sample', async t => {
  const rows = Array.from({ length: 1300 }, (_, i) => `{"_step": ${i < 1200 ? 7 : i - 1193}, "a": ${i}}`)
  const { code, stderr, dir } = await scene(t, { server: { runs: [run('r1', 'main', [], { rows })] } })
  t.equal(code, 1)
  t.match(stderr, /samples: an answer at its limit of 1000 rows, which may be a sample: steps 0 to 99/)
  t.match(stderr, /row_count: \d+ rows, the server counts 1300/)
  t.match(certificateOf(dir).requests, {
    intervals: [
      { from: 0, to: 99, rows: 1000 },
      { from: 100, to: 106 }
    ]
  })
})

t.test('rows of another window are refused; rows out of order are sorted and that is said', async t => {
  const stray = await scene(t, { server: { script: [inWindow(100, { kind: 'duplicateRows' })] } })
  t.equal(stray.code, 1)
  t.match(
    stray.stderr,
    /^critic-traces: wandb row outside its window: step \d+, expected a step that was asked for \(run r1 of team\/project, steps 100 to 199\) \(http:\/\/127\.0\.0\.1:\d+\)$/m
  )
  const mixed = await scene(t, { server: { script: [inWindow(100, { kind: 'outOfOrder' })] } })
  t.equal(mixed.code, 0)
  t.match(certificateOf(mixed.dir), { complete: true, requests: { reordered: 1 } })
  const whole = await scene(t)
  t.equal(
    readFileSync(join(mixed.dir, 'wandb/history/main/r1.jsonl'), 'utf8'),
    readFileSync(join(whole.dir, 'wandb/history/main/r1.jsonl'), 'utf8')
  )
})

t.test('the same row twice in place of another one: refused, though the count is right', async t => {
  const twice: Behaviour = {
    kind: 'edit',
    edit: answer => {
      const { history } = (answer as { data: { project: { run: { history: unknown[] } } } }).data.project.run
      history[50] = history[49]
      return answer
    }
  }
  const { code, stderr, dir, url } = await scene(t, { server: { script: [inWindow(0, twice, { times: 1 })] } })
  t.equal(code, 1)
  t.match(
    stderr,
    /^critic-traces: wandb row stands twice: step 49, expected each row once \(run r1 of team\/project, steps 0 to 99\) \(http:\/\/127\.0\.0\.1:\d+\)$/m
  )
  t.match(await fetchInto(dir, url), { code: 0, report: { runs: [{ rows: 251, complete: true }] } }, 'the next fetch asks again')
})

t.test('a row that is none stops its run alone, and the exit code is that of the fault', async t => {
  const bad = run('bad', 'main', upTo(250), { createdAt: '2026-08-09T05:00:00Z' })
  const spoil: Behaviour = {
    kind: 'edit',
    edit: answer => {
      const { history } = (answer as { data: { project: { run: { history: unknown[] } } } }).data.project.run
      history[30] = '{"a": 1}'
      return answer
    }
  }
  const ofBad = (minStep: number, then: Behaviour): Rule => ({ operation: 'History', variables: { run: 'bad', minStep }, then })
  const { code, stdout, stderr, dir, report } = await scene(t, { server: { runs: [...RUNS, bad], script: [ofBad(200, spoil)] } })
  t.equal(code, 3)
  t.match(
    stderr,
    /^critic-traces: wandb missing step: no key "_step" in row 31 of run bad of team\/project, steps 200 to 250, expected the step of the row \(http:\/\/127\.0\.0\.1:\d+\)$/m
  )
  t.match(stdout, /^stopped: bad of team\/project, missing step; the next fetch asks for it again$/m)
  t.match(report, { runs: [{ id: 'r1', complete: true }], stopped: [{ label: 'main', id: 'bad', fault: /missing step/ }] })
  t.same(
    listedIn(dir).map(({ id }) => id),
    ['r1', 'side']
  )
  t.same(
    tree(join(dir, 'wandb/history/main')).filter(name => name.includes('bad')),
    ['.bad.jsonl.partial', '.bad.jsonl.partial.json']
  )

  // What the list said of such a run before stays, and so do its history and certificate.
  let rules: readonly Rule[] = [{ ...ofBad(0, { kind: 'grow', run: 'bad', rows: 2 }), times: 1 }]
  const script = (request: ScriptedRequest): Behaviour | null => {
    const rule = rules.find(
      ({ variables }) => request.variables['run'] === variables?.['run'] && request.variables['minStep'] === variables?.['minStep']
    )
    rules = rules.filter(one => one !== rule)
    return (rule?.then ?? null) as Behaviour | null
  }
  const before = await scene(t, { server: { runs: [...RUNS, bad], script } })
  t.equal(before.code, 0, before.stderr)
  rules = [ofBad(100, spoil)]
  const again = await fetchInto(before.dir, before.url, { time: LATER })
  t.match(again, { code: 3, stderr: /missing step/, stdout: /^stopped: bad of team\/project,/m })
  t.match(listedIn(before.dir), [{ id: 'r1', fetchedAt: NOW }, { id: 'side' }, { id: 'bad', fetchedAt: NOW }])
  t.match(certificateOf(before.dir, 'bad'), { complete: true, snapshot: { last_step: 250, growing: true } })
})

t.test('more rows than were asked for are a failed check, with their steps', async t => {
  const rows = Array.from({ length: 1300 }, (_, i) => `{"_step": 7, "a": ${i}}`)
  const flood: Behaviour = {
    kind: 'edit',
    edit: answer => {
      const { history } = (answer as { data: { project: { run: { history: unknown[] } } } }).data.project.run
      history.splice(0, history.length, ...rows)
      return answer
    }
  }
  const { code, stderr, dir } = await scene(t, { server: { runs: [run('r1', 'main', [], { rows })], script: [inWindow(0, flood)] } })
  t.equal(code, 1)
  t.match(stderr, /samples: an answer at its limit of 1000 rows, which may be a sample: steps 0 to 7,/)
  t.match(certificateOf(dir).requests, { intervals: [{ from: 0, to: 7, rows: 1300 }] })
})

t.test('a run that may still log is not fetched again while its heartbeat is the same', async t => {
  const running = (heartbeatAt: string | null): EmulatedRun => run('r1', 'main', upTo(250), { state: 'running', heartbeatAt })
  const statuses = async (first: EmulatedRun, then: readonly Rule[]): Promise<unknown> => {
    const { dir, url } = await scene(t, { server: { runs: [first, RUNS[1]], script: then } })
    return (await fetchInto(dir, url, { time: LATER })).report
  }
  const beat = '2026-10-06T07:00:00Z'
  t.match(await statuses(running(beat), []), { runs: [{ status: 'unchanged', rows: 251, growing: true }] })
  t.match(await statuses(running(null), []), { runs: [{ status: 'fetched' }] }, 'nothing tells that it did not log')
  t.match(await statuses(running(beat), [inWindow(200, { kind: 'grow', run: 'r1', rows: 5 }, { times: 1 })]), {
    runs: [{ status: 'fetched', rows: 256 }]
  })
  t.match(
    await statuses(running(beat), [inWindow(200, { kind: 'setState', run: 'r1', state: 'finished' }, { times: 1 })]),
    { runs: [{ status: 'fetched', growing: false }] },
    'its certificate says that it grows'
  )
})

t.test('what a fetch of another label wrote into the list meanwhile stays', async t => {
  const other = {
    id: 'o',
    displayName: 'else',
    entity: 'team',
    project: 'project',
    createdAt: '2026-01-01T00:00:00',
    state: 'finished',
    url: null,
    fetchedAt: NOW,
    label: 'elsewhere',
    config: {}
  }
  let place = ''
  const { dir, code } = await scene(t, {
    before: dir => {
      place = dir
    },
    server: {
      script: ({ operation }) => {
        if (operation === 'History') {
          mkdirSync(join(place, 'wandb'), { recursive: true })
          writeFileSync(join(place, 'wandb/runs.json'), JSON.stringify([other]))
        }
        return null
      }
    }
  })
  t.equal(code, 0)
  t.same(
    listedIn(dir)
      .map(({ id }) => id)
      .sort(),
    ['o', 'r1', 'side']
  )
})

t.test('a run that grows is taken at the last step that was first seen, marked, and fetched anew later', async t => {
  const grow: Rule = inWindow(0, { kind: 'grow', run: 'r1', rows: 5 }, { times: 1 })
  const first = await scene(t, { server: { runs: [run('r1', 'main', upTo(250), { state: 'running' }), RUNS[1]], script: [grow] } })
  t.equal(first.code, 0)
  t.match(certificateOf(first.dir), {
    complete: true,
    snapshot: { last_step: 250, history_line_count: 251, growing: true },
    steps: { rows: 251, last_step: 250 }
  })
  t.match(first.stdout, /so far\nstill growing: r1, taken up to step 250; a fetch after it has logged again takes it anew\n/)
  t.match(await verified(first.dir), { code: 0, stdout: /1 of 1 history whole, 251 rows, 1 of them of a run that was still growing/ })
  const later = await fetchInto(first.dir, first.url, { time: LATER })
  t.match(later.report, { runs: [{ status: 'fetched', rows: 256, growing: true }] })
  t.match(await verified(first.dir), { code: 0 })
  t.match(
    listedIn(first.dir),
    [
      { id: 'r1', fetchedAt: LATER },
      { id: 'side', fetchedAt: NOW }
    ],
    'what is only listed keeps its time'
  )
  // It grows although its state says that it has ended.
  const quiet = await scene(t, { server: { script: [grow] } })
  t.match(certificateOf(quiet.dir), { complete: true, snapshot: { last_step: 250, growing: true } })
})

t.test('what the server says, in words', async t => {
  const always = (then: Behaviour): Scene => ({ server: { script: [{ then }] } })
  const edited = (change: (rows: unknown[]) => unknown[]): Scene => ({
    server: {
      script: [
        inWindow(100, {
          kind: 'edit',
          edit: answer => {
            const { history } = (answer as { data: { project: { run: { history: unknown[] } } } }).data.project.run
            history.splice(0, history.length, ...change([...history]))
            return answer
          }
        })
      ]
    }
  })
  const cases: ReadonlyArray<readonly [name: string, scene: Scene, code: number, message: RegExp]> = [
    ['401', { key: 'another-key-another-key-another-key-1234' }, 3, /HTTP 401/],
    ['403', { server: { forbidden: ['team/project'], runs: [] } }, 3, /HTTP 403/],
    ['404', always({ kind: 'status', status: 404 }), 3, /HTTP 404/],
    [
      'unknown project',
      { server: { runs: [] } },
      3,
      /^wandb unknown project: nothing under team\/project, expected an entity and project that this key may read/
    ],
    [
      'project without runs',
      { server: { runs: [], projects: ['team/project'] } },
      3,
      /^wandb empty selection: none of 0 runs of team\/project has the display name "main"/
    ],
    [
      'empty selection',
      { server: { runs: [run('x', 'mains', upTo(1))] } },
      3,
      /^wandb empty selection: none of 1 runs .* "main", expected at least one with exactly this name; did you mean "mains"\? \(http:\/\/127\.0\.0\.1:\d+\)$/
    ],
    ['a login page', always({ kind: 'html' }), 3, /JSON/],
    ['errors with HTTP 200', always({ kind: 'errors200', form: 'objects', message: 'Cannot query field "runz"' }), 3, /Cannot query field/],
    ['errors as texts', always({ kind: 'errors200', form: 'strings', message: 'rate of schema' }), 3, /rate of schema/],
    ['error', always({ kind: 'errors200', form: 'error', message: 'no such thing' }), 3, /no such thing/],
    ['bare NaN in the answer', { server: { script: [inWindow(100, { kind: 'bareNaN' })] } }, 3, /NaN/],
    ['the key echoed', always({ kind: 'echoKey' }), 3, /key/],
    ['the key echoed in a 400', always({ kind: 'echoKey', status: 400 }), 3, /key|HTTP 400/],
    ['another host', always({ kind: 'redirect', to: 'http://127.0.0.2:9/graphql', status: 307 }), 3, /redirect/],
    [
      'a run that is gone',
      { server: { script: [{ operation: 'Run', then: { kind: 'nullRun' } }] } },
      3,
      /^wandb unknown run: nothing under r1 in team\/project/
    ],
    ['truncated for good', { ...always({ kind: 'truncate', how: 'length' }), deadlineMinutes: 2 }, 3, /deadline/],
    ['500 for good', { ...always({ kind: 'status', status: 500 }), deadlineMinutes: 2 }, 3, /deadline/],
    ['reset for good', { ...always({ kind: 'reset' }), deadlineMinutes: 2 }, 3, /deadline/],
    ['null project', always({ kind: 'nullProject' }), 3, /^wandb unknown project/],
    [
      'never an answer',
      { server: { script: [{ operation: 'History', then: { kind: 'slow', ms: 'never' } }] }, deadlineMinutes: 0.002 },
      3,
      /^wandb deadline passed: no answer/
    ],
    ['no such label', { only: 'mian' }, 2, /^usage unknown label: mian, expected main$/],
    [
      'a row that is no JSON',
      edited(rows => ['{"_step": 100}', '{"_step": 101, "a": oops}', ...rows]),
      3,
      /^wandb malformed: "oops" in row 2 of run r1 of team\/project, steps 100 to 199, expected a value/
    ],
    ['a row without a step', edited(() => ['{"a": 1}']), 3, /^wandb missing step: no key "_step" in row 1 of run r1/],
    ['a row with half a step', edited(() => ['{"_step": 100.5}']), 3, /^wandb wrong step: 100\.5 in row 1 of run r1/],
    ['a key twice', edited(() => ['{"_step": 100, "a": 1, "\\u0061": 2}']), 3, /^wandb duplicate key: "a" in row 1 of run r1/],
    ['a row of another type', edited(() => [5]), 3, /^wandb wrong field: project\.run\.history\[0\] is a number, expected a text/]
  ]
  for (const [name, which, code, message] of cases) {
    const result = await scene(t, which).catch((error: unknown) => {
      throw new Error(name, { cause: error })
    })
    t.equal(result.code, code, name)
    t.match(said(result), message, name)
    // A row stops its run alone.
    t.equal(tree(result.dir).includes('wandb/runs.json'), result.fault === null, `${name}: list of runs`)
  }
})

t.test('what passes is tried again: one failure of each kind, and the same bytes in the end', async t => {
  const calm = await scene(t)
  const stumbles: readonly Behaviour[] = [
    { kind: 'status', status: 429, headers: { 'retry-after': '7' } },
    { kind: 'status', status: 429, headers: { 'retry-after': new Date(Date.parse('2026-10-06T07:31:12Z') + 90_000).toUTCString() } },
    { kind: 'status', status: 500 },
    { kind: 'status', status: 502 },
    { kind: 'reset' },
    { kind: 'truncate', how: 'length' },
    { kind: 'truncate', how: 'chunked' },
    { kind: 'truncate', how: 'gzip' }
  ]
  for (const then of stumbles) {
    const { code, dir, clock, fault } = await scene(t, {
      server: {
        script: [
          { operation: 'History', times: 1, then },
          { operation: 'Runs', times: 1, then }
        ]
      }
    })
    t.equal(code, 0, `${inspect(then)} ${fault?.message ?? ''}`)
    t.ok(clock.slept.length >= 2, 'it waited')
    t.equal(
      readFileSync(join(dir, 'wandb/history/main/r1.jsonl'), 'utf8'),
      readFileSync(join(calm.dir, 'wandb/history/main/r1.jsonl'), 'utf8')
    )
  }
})

t.test('a run that was renamed or deleted since it was fetched', async t => {
  const script: Rule[] = [{ operation: 'Run', times: 1, then: { kind: 'rename', run: 'r1', displayName: 'main-old' } }]
  const renamed = await scene(t, { server: { runs: [...RUNS, run('r2', 'main', upTo(3))], script } })
  t.match(renamed.report, { runs: [{ id: 'r2' }], stopped: [{ id: 'r1' }] }, 'the other one came')
  t.match(
    said(renamed),
    /^wandb renamed run: r1, listed as "main", is now "main-old", expected the same name until it is fetched; fetch again/
  )
  const listed = (dir: string): void => {
    mkdirSync(join(dir, 'wandb'), { recursive: true })
    writeFileSync(
      join(dir, 'wandb/runs.json'),
      JSON.stringify([
        {
          id: 'gone',
          displayName: 'main',
          entity: 'team',
          project: 'project',
          createdAt: '2026-08-01T00:00:00Z',
          label: 'main',
          fetchedAt: '2026-09-01T00:00:00Z'
        }
      ])
    )
  }
  const deleted = await scene(t, { before: listed }).catch((error: unknown) => {
    throw error
  })
  t.equal(deleted.code, 1)
  t.match(deleted.report, { runs: [{ id: 'r1' }], stopped: [{ id: 'gone' }] }, 'the other one came')
  t.same(
    listedIn(deleted.dir).map(({ id }) => id),
    ['gone', 'r1', 'side'],
    'its entry stays'
  )
  t.match(said(deleted), /^wandb deleted run: gone, fetched 2026-09-01T00:00:00Z as "main", is gone from team\/project/)
})

t.test('a run is listed once, whatever label it had before', async t => {
  // The study calls its runs by another label now.
  const first = await scene(t)
  writeStudy(first.dir, { runs: [{ label: 'main_v2', entity: 'team', project: 'project', display_name: 'main' }] })
  const relabelled = await fetchInto(first.dir, first.url)
  t.match(
    relabelled.stdout,
    /no longer listed: r1 \(main\) under main, which the study does not fetch; its files there are to be removed\n/
  )
  t.strictSame(
    listedIn(first.dir).map(r => [r.id, r.label]),
    [
      ['r1', 'main_v2'],
      ['side', 'main']
    ]
  )
  t.match(await verified(first.dir), {
    code: 1,
    stderr:
      /certificate without a run: a history that no list of runs has, expected an entry in wandb\/runs\.json \(.*history\/main\/r1\.certificate\.json\)/
  })
  // A label that is fetched no more keeps its runs; they are not listed again as others.
  const runs = [run('a1', 'main', upTo(3)), run('b1', 'second', upTo(3))]
  const both = { label: 'second', entity: 'team', project: 'project', display_name: 'second' }
  const only = { label: 'main', entity: 'team', project: 'project', display_name: 'main' }
  const dropped = await scene(t, { server: { runs }, before: dir => writeStudy(dir, { runs: [only, both] }) })
  writeStudy(dropped.dir, { runs: [both] })
  t.equal((await fetchInto(dropped.dir, dropped.url)).code, 0)
  t.strictSame(
    listedIn(dropped.dir).map(r => [r.id, r.label]),
    [
      ['a1', 'main'],
      ['b1', 'second']
    ]
  )
  t.match(await verified(dropped.dir), { code: 0 })
})

t.test('what is printed fits 80 columns, says what changed, and counts in words', async t => {
  const rows = Array.from({ length: 900 }, (_, i) => `{"_step": ${5 * i}, "a": 1}`)
  const runs = [run('every5th', 'main', [], { rows }), ...['a', 'b', 'c'].map(id => run(id, `main-${id === 'c' ? 'a' : id}`, upTo(1)))]
  const first = await scene(t, { server: { runs } })
  t.equal(
    first.stdout.replaceAll(first.dir, 'DIR'),
    [
      'label  run       state     rows       steps  holes  history  certificate',
      '-----  --------  --------  ----  ----------  -----  -------  -----------',
      'main   every5th  finished   900  0 to 4,495  3,596  fetched  complete',
      'listed, not fetched: 3 runs of 2 names: main-a, main-b',
      'wrote wandb/runs.json, source_manifest.json',
      'next: node dist/run.js all --study DIR',
      ''
    ].join('\n')
  )
  t.match(first.stderr, /fetching {2}900 rows/)
  t.match(first.stderr, /listing {2}4 runs/)
  const second = await fetchInto(first.dir, first.url, { time: LATER })
  t.match(second.stdout, /unchanged {2}complete\n.*\nnothing changed\n$/)
  const text = readFileSync(join(first.dir, 'wandb/history/main/every5th.certificate.json'), 'utf8')
  t.ok(text.split('\n').length < 1100, 'a hole is a line')
  t.match(text, '   [1, 4],\n   [6, 9],')
})

t.test('rows that a growing run lacks are missing all the same', async t => {
  const running = [run('r1', 'main', upTo(250), { state: 'running' })]
  const lost = await scene(t, { server: { runs: running, script: [inWindow(100, { kind: 'emptyPage' })] } })
  t.match(lost, { code: 1, stderr: /row_count: 151 rows, the server counts 251; steps without a row: 100 to 199,/ })
  // It has ended by what it says, and counts otherwise at the end.
  const miscounted = await scene(t, {
    server: { script: [inWindow(100, [{ kind: 'emptyPage' }, { kind: 'grow', run: 'r1', rows: 1 }], { times: 1 })] }
  })
  t.match(miscounted, { code: 1, stderr: /row_count: 151 rows, the server counts 251/ })
})

t.test('a resumed fetch of a run that has ended goes on only while nothing was logged meanwhile', async t => {
  const stop = inWindow(200, { kind: 'status', status: 400 }, { times: 1 })
  const runs = (state: string, heartbeatAt: string, more = 0): EmulatedRun[] => [
    run('r1', 'main', upTo(250 + more), { state, heartbeatAt })
  ]
  const emulator = await start({ key: CANARY, runs: runs('running', '2026-10-01T00:00:00Z'), script: [stop] })
  t.teardown(() => emulator.close())
  const dir = join(base, 'resumed')
  writeStudy(dir)
  t.match(said(await fetchInto(dir, emulator.url)), /HTTP 400/)
  emulator.store.run('r1').state = 'finished'
  emulator.store.grow('r1', 4)
  t.match((await fetchInto(dir, emulator.url)).report, { runs: [{ status: 'fetched', rows: 255, growing: false, complete: true }] })
})

t.test('a certificate is of one server', async t => {
  const first = await scene(t)
  const other = await start({ key: CANARY, runs: RUNS })
  t.teardown(() => other.close())
  t.match((await fetchInto(first.dir, other.url)).report, { runs: [{ status: 'fetched' }] })
  t.match(certificateOf(first.dir), { server: other.url })
})

t.test('a run that was heard of since is fetched again, with the same rows', async t => {
  const emulator = await start({ key: CANARY, runs: [run('r1', 'main', upTo(250), { heartbeatAt: '2026-10-01T00:00:00Z' })] })
  t.teardown(() => emulator.close())
  const dir = join(base, 'heard-of')
  writeStudy(dir)
  const statuses: unknown[] = []
  for (const heartbeatAt of ['2026-10-01T00:00:00Z', '2026-10-01T00:00:00Z', '2026-10-01T00:00:01Z', null]) {
    emulator.store.run('r1').heartbeatAt = heartbeatAt
    const { report } = await fetchInto(dir, emulator.url)
    statuses.push((report as { runs: { status: string }[] }).runs[0].status)
  }
  t.strictSame(statuses, ['fetched', 'unchanged', 'fetched', 'fetched'])
})

t.test('a list of runs that could not be read again is not written', async t => {
  const names = { ...run('long', 'x'.repeat(2000), upTo(1)), createdAt: '2026-08-01T00:00:00Z' }
  const odd = [
    run('r1', 'main', upTo(1)),
    names,
    run('none', '', upTo(1)),
    run('same', 'b', upTo(1)),
    run('same', 'b', upTo(1), { project: 'second' })
  ]
  const { dir, code, stdout, url } = await scene(t, {
    server: { runs: [...odd, run('r2', 'main', upTo(1), { project: 'second' })] },
    before: dir =>
      writeStudy(dir, { runs: ['project', 'second'].map(project => ({ label: project, entity: 'team', project, display_name: 'main' })) })
  })
  t.equal(code, 0)
  t.match(stdout, /not listed: 1 run of other names, too many\n|not listed: 1 run/)
  t.strictSame(
    listedIn(dir)
      .map(r => `${r.label} ${r.id}`)
      .sort(),
    ['other none', 'other same', 'project r1', 'second r2']
  )
  t.equal((await fetchInto(dir, url)).code, 0, 'and can be read')
  const many = Array.from({ length: 1500 }, (_, i) => run(`c${i}`, `main-${i}`, []))
  const crowd = await scene(t, { server: { runs: [...many, run('r1', 'main', upTo(1)), run('o', 'other', [])] } })
  t.match(crowd.stdout, /listed, not fetched: 1,000 runs/)
  t.match(crowd.stdout, /not listed: 501 runs/)
})

t.test('a list that would be too long is told before a row is asked for', async t => {
  const emulator = await start({ key: CANARY, runs: RUNS })
  t.teardown(() => emulator.close())
  const dir = join(base, 'long-list')
  writeStudy(dir)
  mkdirSync(join(dir, 'wandb'))
  const others = Array.from({ length: 10_000 }, (_, i) => ({
    id: `o${i}`,
    displayName: 'elsewhere',
    entity: 'team',
    project: 'project',
    createdAt: '2026-08-09T03:40:51Z',
    state: 'finished',
    url: null,
    fetchedAt: null,
    label: 'elsewhere',
    config: {}
  }))
  writeFileSync(join(dir, 'wandb/runs.json'), JSON.stringify(others))
  t.match((await fetchInto(dir, emulator.url)).fault?.message, /^runs too many runs: 1000\d, expected at most 10000/)
  t.notOk(
    emulator.requests.some(({ operation }) => operation === 'History'),
    'no row was asked for'
  )
  t.strictSame(tree(dir), ['study.json', 'wandb/runs.json'])
})

t.test('a configuration is not quoted, a large one is read, a row too long for a name is none', async t => {
  const secret = 'NOT-FOR-ANYBODY'
  const large = { labels: Object.fromEntries(Array.from({ length: 8000 }, (_, i) => [i, `label number ${i}`])), lr: 1 }
  const read = await scene(t, {
    server: { runs: [run('r1', 'main', upTo(1), { config: large })] },
    before: dir => writeStudy(dir, { config: ['lr'] })
  })
  t.equal(read.code, 0, read.fault?.message ?? 'read')
  const bad = (config: unknown): Scene => ({
    server: {
      script: [
        {
          operation: 'Run',
          then: {
            kind: 'edit',
            edit: answer => {
              ;(answer as { data: { project: { run: { config: unknown } } } }).data.project.run.config = config
              return answer
            }
          }
        }
      ]
    }
  })
  const deep = '['.repeat(50_000) + ']'.repeat(50_000)
  for (const config of [{ api_key: secret }, `"${secret}"`, `{"api_key": ${secret}}`, [secret], deep]) {
    const result = await scene(t, bad(config))
    t.equal(result.code, 3)
    t.match(said(result), /^wandb wrong field: .*config.* is /)
    t.notMatch(inspect(result, { depth: Infinity, showHidden: true }), secret)
  }
})

t.test('a journal that is none, a list without end, an absurd last step', async t => {
  const { dir, url } = await scene(t)
  const journal = join(dir, 'wandb/history/main/.r1.jsonl.partial.json')
  for (const text of [
    'null',
    '5',
    '[]',
    '{',
    '{"bytes": -5, "sha256": "x", "state": null}',
    '{"bytes": 1e99, "sha256": "x"}',
    '{"bytes": 0, "sha256": "x", "state": {"run": null}}'
  ]) {
    rmSync(join(dir, 'wandb/history/main/r1.certificate.json'))
    writeFileSync(journal, text)
    t.match((await fetchInto(dir, url)).report, { runs: [{ status: 'fetched', complete: true }] }, text)
  }
  const endless = await scene(t, { server: { script: [{ operation: 'Runs', then: { kind: 'emptyPage' } }] } })
  t.match(endless.fault?.message, /^wandb endless list: 101 pages without a new run, expected an end of the runs of team\/project/)
  const absurd: Scene = {
    server: {
      script: [
        {
          operation: 'Run',
          then: {
            kind: 'edit',
            edit: answer => {
              ;(answer as { data: { project: { run: { historyKeys: unknown } } } }).data.project.run.historyKeys = {
                lastStep: 1e15,
                keys: {}
              }
              return answer
            }
          }
        }
      ]
    }
  }
  t.match(said(await scene(t, absurd)), /^wandb implausible last step: 1000000000000000 with 251 rows counted/)
})

t.test('no link leads out, above what is not there yet either; a history with .gz is told before anything', async t => {
  const outside = join(base, 'outside')
  mkdirSync(outside)
  const above = await scene(t, { before: dir => symlinkSync(outside, join(dir, 'wandb')) }).catch((error: unknown) => error as Error)
  t.ok(above instanceof Error || above.fault !== null)
  const view = await scene(t, {
    before: dir => {
      writeStudy(dir, { views: [{ path: 'lists/v.json', labels: ['main'] }] })
      mkdirSync(join(dir, 'lists'))
    }
  })
  t.equal(view.code, 0)
  t.ok(tree(view.dir).includes('lists/v.json'))
  t.strictSame(tree(outside), [])
  const zipped = await scene(t, {
    before: dir => {
      mkdirSync(join(dir, 'wandb/history/main'), { recursive: true })
      writeFileSync(join(dir, 'wandb/history/main/r1.jsonl.gz'), '')
    }
  })
  t.match(zipped.fault?.message, /^history stated twice: a history with \.gz, expected none/)
})

t.test('verify follows no link, and a partial file of another server does not stay', async t => {
  const { dir, url } = await scene(t)
  for (const [target, name] of [
    ['.', 'a'],
    ['.', 'b'],
    ['main', 'latest'],
    [base, 'ext']
  ])
    symlinkSync(target, join(dir, 'wandb/history', name))
  mkdirSync(join(dir, 'wandb/history/main/folder.certificate.json'))
  t.match(await verified(dir), { code: 0, stdout: /certificates: 1 of 1 history whole/ })
  const failing = await start({ key: CANARY, runs: RUNS, script: [inWindow(100, { kind: 'status', status: 400 })] })
  t.teardown(() => failing.close())
  t.match(said(await fetchInto(dir, failing.url)), /HTTP 400/)
  t.match(await runCli(['manifest', '--study', dir, '--write']), { code: 3, stderr: /^critic-traces: manifest unfinished fetch/m })
  t.match((await fetchInto(dir, url)).report, { runs: [{ status: 'unchanged' }] })
  t.match(await verified(dir), { code: 0 })
})

t.test('what others wrote into the list of runs stays, and is not listed twice', async t => {
  const entry = (id: string, label: string, more: object): object => ({
    id,
    displayName: 'theirs',
    createdAt: '2026-01-01T00:00:00Z',
    label,
    ...more
  })
  const runs = [...RUNS, run('o1', 'another', upTo(1), { heartbeatAt: '' }), run('o2', 'another', upTo(1))]
  const { dir, code, url } = await scene(t, {
    server: { runs },
    before: dir => {
      mkdirSync(join(dir, 'wandb'))
      writeFileSync(
        join(dir, 'wandb/runs.json'),
        JSON.stringify([
          entry('x1', 'other', {}),
          entry('x2', 'other', { entity: 'they', project: 'far' }),
          entry('o1', 'mine', {}),
          entry('r1', 'mine', { note: 'kept?' }),
          entry('side', 'main', { entity: 'team', project: 'project', note: 'by hand' })
        ])
      )
    }
  })
  t.equal(code, 0)
  t.strictSame(
    listedIn(dir)
      .map(r => `${r.label}/${r.id}`)
      .sort(),
    ['main/r1', 'main/side', 'mine/o1', 'other/o2', 'other/x1', 'other/x2']
  )
  t.match(
    listedIn(dir).find(r => r.id === 'side'),
    { note: 'by hand' }
  )
  t.match((await fetchInto(dir, url)).stdout, /nothing changed\n$/)
})

t.test('thousands of other runs are merged in no time', async t => {
  const many = Array.from({ length: 1000 }, (_, i) => i)
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const runs = names.flatMap(project => [
    run(`r${project}`, 'main', upTo(1), { project }),
    ...many.map(i => run(`${project}${i}`, `other ${i}`, [], { project }))
  ])
  const { dir, code, stdout, url } = await scene(t, {
    server: { runs },
    before: dir => writeStudy(dir, { runs: names.map(project => ({ label: project, entity: 'team', project, display_name: 'main' })) })
  })
  t.equal(code, 0)
  t.match(stdout, /listed, not fetched: 5,000 runs of 1,000 names/)
  t.match(stdout, /not listed: 2,000 runs/)
  const before = process.cpuUsage()
  t.match((await fetchInto(dir, url)).stdout, /nothing changed\n$/)
  t.ok(cpuMs(before) < 10_000)
})

t.test('nothing outside the study and no other file is written over', async t => {
  const elsewhere = join(base, 'elsewhere')
  mkdirSync(elsewhere)
  const linked = await scene(t)
  rmSync(join(linked.dir, 'wandb/history/main'), { recursive: true })
  symlinkSync(elsewhere, join(linked.dir, 'wandb/history/main'))
  t.match((await fetchInto(linked.dir, linked.url)).fault?.message, /a link that leads out of the study/)
  t.strictSame(tree(elsewhere), [])
  const other = await scene(t, {
    before: dir => {
      mkdirSync(join(dir, 'wandb'))
      writeFileSync(join(dir, 'wandb/runs.json'), '{"my": "notes"}')
    }
  })
  t.equal(other.code, 3)
  t.equal(readFileSync(join(other.dir, 'wandb/runs.json'), 'utf8'), '{"my": "notes"}')
})

t.test('entries of other labels stay as they are, unknown fields among them', async t => {
  const kept = {
    id: 'k',
    displayName: 'kept',
    entity: 'team',
    project: 'elsewhere',
    createdAt: '2026-01-01T00:00:00Z',
    label: 'kept',
    note: 'by hand'
  }
  const { dir, code } = await scene(t, {
    before: dir => {
      mkdirSync(join(dir, 'wandb'))
      writeFileSync(join(dir, 'wandb/runs.json'), JSON.stringify([kept]))
    }
  })
  t.equal(code, 0)
  const listed = JSON.parse(readFileSync(join(dir, 'wandb/runs.json'), 'utf8')) as object[]
  t.match(listed[0], kept)
  t.equal(listed.length, 3)
})

t.test('allowlisted settings, nested or flat; no other one; nothing that looks like a secret', async t => {
  const config = {
    trainer: { critic_warmup: 20, profile: { deep: [1, 'a', null] }, logger: { kind: 'x' } },
    'algorithm.gamma': 1,
    lr: 1e-6,
    store: { place: 'postgres://u:hunter2secret@host/db' },
    api_key: 'not-for-export'
  }
  // As Python writes it: JSON.stringify has no NaN, no 1e400 and no integer beyond 2^53.
  const spelled = {
    seed: '9007199254740993',
    even: '9007199254740992',
    nan: 'NaN',
    huge: '1e400',
    list: '[1, -Infinity]',
    tenth: '0.1000000000000000000000',
    long: '123456789012345680000'
  }
  for (const [name, text] of Object.entries(spelled)) Object.assign(config, { [name]: rawJson(text) })
  const allowed = [
    ...Object.keys(spelled),
    'lr',
    'trainer.profile.deep',
    'trainer.critic_warmup',
    'algorithm.gamma',
    'trainer.logger',
    'store.place',
    'absent',
    '__proto__'
  ]
  const { dir, stdout } = await scene(t, {
    server: { runs: [run('r1', 'main', upTo(2), { config })] },
    before: dir => writeStudy(dir, { config: allowed })
  })
  const [entry] = JSON.parse(readFileSync(join(dir, 'wandb/runs.json'), 'utf8')) as { config: object }[]
  t.equal(
    JSON.stringify(entry.config),
    '{"even":9007199254740992,"tenth":0.1,"long":123456789012345680000,"lr":0.000001,"trainer.profile.deep":[1,"a",null],"trainer.critic_warmup":20,"algorithm.gamma":1}'
  )
  t.match(stdout, /not kept of r1: trainer\.logger \(no scalar or list of scalars, or very long\)/)
  t.match(stdout, /not kept of r1: store\.place \(looks like a secret\)/)
  for (const name of ['seed', 'nan', 'huge', 'list']) t.match(stdout, `not kept of r1: ${name} (a number that no double of JSON holds)`)
  for (const text of Object.values(contents(dir))) t.notMatch(text, /hunter2|not-for-export/)
})

t.test('verify judges each certificate by the rows beside it', async t => {
  const { dir, url } = await scene(t)
  const history = join(dir, 'wandb/history/main/r1.jsonl')
  const place = join(dir, 'wandb/history/main/r1.certificate.json')
  const [rows, text] = [readFileSync(history, 'utf8'), readFileSync(place, 'utf8')]
  const calm = await verified(dir)
  t.equal(calm.code, 0, calm.stderr)
  t.match(calm.stdout, /certificates: 1 of 1 history whole, 251 rows/)
  const lines = rows.split('\n')
  const swapped = [lines[1], lines[0], ...lines.slice(2)].join('\n')
  const forged = (change: (certificate: HistoryCertificate) => object): string =>
    JSON.stringify(change(JSON.parse(text) as HistoryCertificate))
  const resealed = (content: string): string =>
    forged(c => ({ ...c, history: { ...c.history, bytes: content.length, sha256: sha256(Buffer.from(content)) } }))
  const shorter = lines.filter((_, i) => i !== 120).join('\n')
  const cases: ReadonlyArray<readonly [name: string, rows: string, certificate: string | null, stderr: RegExp]> = [
    ['a digit of a value', rows.replace('1e-07', '2e-07'), text, /check failed: history_file: the file is [0-9a-f]{64}/],
    [
      'a row less, sealed anew',
      shorter,
      resealed(shorter),
      /check failed: row_count: 250 rows, the server counts 251; steps without a row: 120/
    ],
    ['two rows swapped, sealed anew', swapped, resealed(swapped), /check failed: order: step 0 in row 2 comes after step 1/],
    [
      'a row repeated, sealed anew',
      `${rows}${lines[250]}\n`,
      resealed(`${rows}${lines[250]}\n`),
      /row_count: 252 rows, the server counts 251; steps with several rows: 250/
    ],
    [
      'another count',
      rows,
      forged(c => ({ ...c, snapshot: { ...c.snapshot, history_line_count: 252 } })),
      /row_count: 251 rows, the server counts 252/
    ],
    [
      'another last step',
      rows,
      forged(c => ({ ...c, snapshot: { ...c.snapshot, last_step: 251 } })),
      /intervals: steps asked for end at 250, not at 251/
    ],
    [
      'an interval less',
      rows,
      forged(c => ({ ...c, requests: { ...c.requests, intervals: c.requests.intervals.slice(0, 2) } })),
      /intervals: steps asked for end at 199, not at 250/
    ],
    [
      'a gap',
      rows,
      forged(c => ({ ...c, requests: { ...c.requests, intervals: c.requests.intervals.filter((_, i) => i !== 1) } })),
      /steps 100 to 199 were not asked for/
    ],
    [
      'a row said to be of another interval',
      rows,
      forged(c => ({
        ...c,
        requests: {
          ...c.requests,
          intervals: c.requests.intervals.map((interval, i) => ({ ...interval, rows: interval.rows + [1, -1, 0][i] }))
        }
      })),
      /intervals: 100 rows of steps 0 to 99 in the file, 101 came/
    ],
    ['holes that are none', rows, forged(c => ({ ...c, steps: { ...c.steps, holes: [[3, 4]] } })), /certificate contradicted: steps /],
    [
      'another state',
      rows,
      forged(c => ({ ...c, run: { ...c.run, state: 'running' } })),
      /contradicted: run\.state "running", expected "finished"/
    ],
    [
      'another count of samples',
      rows,
      forged(c => ({ ...c, requests: { ...c.requests, samples: 7 } })),
      /certificate wrong field: requests\.samples is 7, expected 1000/
    ],
    ['synthetic', rows, forged(c => ({ ...c, synthetic: true })), /contradicted: synthetic true, expected false/],
    ['another server', rows, forged(c => ({ ...c, server: 'https://api.wandb.ai' })), /contradicted: server "https:\/\/wandb\.ai\//],
    ['complete by word', shorter, text, /check failed/],
    [
      'no certificate',
      rows,
      null,
      /^critic-traces: certificate missing: nothing, expected the certificate that fetch writes beside a history/m
    ],
    ['no JSON', rows, '{', /^critic-traces: certificate /m],
    ['a field more', rows, forged(c => ({ ...c, note: 1 })), /certificate unknown field/]
  ]
  for (const [name, changedRows, certificate, stderr] of cases) {
    writeFileSync(history, changedRows)
    if (certificate === null) rmSync(place)
    else writeFileSync(place, certificate)
    const { code, stderr: told } = await verified(dir)
    t.ok(code === 1 || code === 3, `${name}: exit ${String(code)}`)
    t.match(told, stderr, name)
    // One of each kind: a check that fails, a certificate that is missing, one that cannot be read.
    if (!['another count', 'no certificate', 'no JSON'].includes(name)) continue
    const audit = await runCli(['audit', '--study', dir])
    t.match(audit, { code, stdout: '' }, `${name}: audit fails as verify does`)
    t.match(audit.stderr, stderr, `${name}: and says the same`)
  }
  writeFileSync(history, rows)
  t.match(
    (await fetchInto(dir, url)).report,
    { runs: [{ status: 'fetched', complete: true }] },
    'a certificate that cannot be read is made anew'
  )
})

t.test('documents: the certificate follows its schema; queries only read', async t => {
  const schema = certificateJsonSchema()
  const { dir } = await scene(t)
  t.strictSame(schemaProblems(schema, certificateOf(dir)), [])
  t.notMatch(RUN_QUERY, /mutation/)
})
