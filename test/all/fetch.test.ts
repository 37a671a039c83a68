/** `fetch` against the emulator, over real HTTP: what it writes, what it certifies, how it fails and goes on. */
import type { ChildProcess } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { defaultCacheDir, ensureReplica } from '../../src/replica/index.js'
import { runCli, type CliResult } from '../support/cli.js'
import { contents, tree } from '../support/folders.js'
import { root } from '../support/paths.js'
import { hashes } from '../support/run.js'
import { start, type Emulator } from '../support/wandb/emulator.js'
import { runsOfFolder } from '../support/wandb/folder.js'
import type { ScriptFunction } from '../support/wandb/script.js'
import { CANARY, fetchInto, movedReplica, run, unfetchedReplica, upTo, writeStudy } from '../support/wandb/study.js'

t.test('the replica fetched from the emulator is the replica, and `all` makes the same of it', async t => {
  const replica = await ensureReplica({ cacheDir: defaultCacheDir(process.env) })
  const emulator = await start({ key: CANARY, runs: runsOfFolder(replica) })
  t.teardown(() => emulator.close())
  const dir = t.testdir()
  const [fetched, moved] = [join(dir, 'fetched'), join(dir, 'moved')]
  unfetchedReplica(replica, fetched)
  movedReplica(replica, moved, emulator.url)
  // As the study was fetched: one label at a time, over two days.
  for (const { label, time } of [
    { label: 'gspo', time: '2026-10-06T07:31:12Z' },
    { label: 'sao_r7', time: '2026-10-06T07:38:40Z' },
    { label: 'sao_r6', time: '2026-10-07T02:05:48Z' },
    { label: 'multilingual_single', time: '2026-10-07T03:12:20Z' },
    { label: 'multilingual_mixed', time: '2026-10-07T03:14:02Z' }
  ]) {
    const result = await fetchInto(fetched, emulator.url, { only: label, time })
    t.equal(result.code, 0, result.fault?.message ?? label)
  }
  t.strictSame(emulator.invalidQueries, [])
  t.ok(emulator.maxUnderWay <= 4, `${emulator.maxUnderWay} requests under way`)
  // The history of a companion, which no fetch takes and nothing may read.
  const rows = tree(join(moved, 'wandb')).filter(path => path.endsWith('.jsonl'))
  const uncertified = rows.filter(path => !tree(join(moved, 'wandb')).includes(path.replace('.jsonl', '.certificate.json')))
  t.equal(uncertified.length, 1)
  rmSync(join(moved, 'wandb', uncertified[0]))
  t.strictSame(contents(join(fetched, 'wandb')), contents(join(moved, 'wandb')))

  for (const [study, out] of [
    [fetched, 'a'],
    [moved, 'b']
  ]) {
    const manifest = await runCli(['manifest', '--study', study, '--write', '--quiet'])
    t.strictSame([manifest.code, manifest.stderr], [0, ''])
    const all = await runCli(['all', '--study', study, '--out', join(dir, out), '--formats', 'svg', '--quiet'], {
      env: { WANDB_API_KEY: CANARY }
    })
    t.strictSame([all.code, all.stderr], [0, ''])
    rmSync(join(dir, out, 'timings.json'))
  }
  t.ok(tree(join(dir, 'a')).length > 30)
  t.strictSame(hashes(join(dir, 'a')), hashes(join(dir, 'b')))
  for (const folder of ['a', 'fetched']) t.strictSame(keyIn(contents(join(dir, folder))), [], `${folder}: the key is nowhere`)
})

/** Names of texts with the key, raw or as the header has it. */
function keyIn(texts: Readonly<Record<string, string>>): string[] {
  const header = Buffer.from(`api:${CANARY}`).toString('base64').replace(/=+$/, '')
  return Object.keys(texts).filter(name => texts[name].includes(CANARY) || texts[name].includes(header))
}

/** Requests for rows, as `run from maxStep`. */
function windowsOf(emulator: Emulator): string[] {
  return emulator.requests
    .filter(r => r.operation === 'History')
    .map(r => `${String(r.variables.run)} ${String(r.variables.minStep)} ${String(r.variables.maxStep)}`)
}

function rowsOf(dir: string, id: string): { readonly _step: number }[] {
  const lines = readFileSync(join(dir, `wandb/history/main/${id}.jsonl`), 'utf8').split('\n')
  if (lines.pop() !== '') throw new Error('the last line has no end')
  return lines.map(line => JSON.parse(line) as { _step: number })
}

t.test('windows of 100 steps and 1,000 samples; numbers keep their spelling; what is no number is left out and counted', async t => {
  const rows = [
    '{"_step": 3, "a": 1e-07, "b": NaN, "c": "NaN", "d": -Infinity, "e": null, "f": "text", "g": true, "h": {"_type": "histogram"}, "i": [1]}',
    '{"a":1.50,"_step":250,\n "\\u0062": 0.10 , "note":"x"}',
    '{"_step": 250, "a": 12345678901234567890}',
    '{"_step": 311, "o": {"p": [NaN, "\\ud83d\\ude00"]}}'
  ]
  const emulator = await start({
    key: CANARY,
    pageCap: 2,
    script: [{ operation: 'Runs', times: 1, then: { kind: 'emptyPage' } }],
    runs: [
      run('old', 'main', [], { rows, createdAt: '2026-08-01T00:00:00' }),
      run('empty', 'main', []),
      run('side', 'main-trainnode', upTo(3)),
      run('next', 'mainly', upTo(3)),
      run('else', 'other', upTo(3)),
      run('away', 'main', upTo(3), { project: 'another' })
    ]
  })
  t.teardown(() => emulator.close())
  const dir = t.testdir()
  writeStudy(dir)
  const result = await fetchInto(dir, emulator.url)
  t.equal(result.code, 0, result.fault?.message ?? 'fetched')
  t.strictSame(windowsOf(emulator).sort(), ['old 0 100', 'old 100 200', 'old 200 300', 'old 300 312'])
  t.ok(emulator.requests.every(r => r.operation !== 'History' || r.variables.samples === 1000))
  t.equal(
    readFileSync(join(dir, 'wandb/history/main/old.jsonl'), 'utf8'),
    '{"_step": 3, "a": 1e-07, "b": NaN, "c": "NaN", "d": -Infinity, "e": null}\n' +
      '{"a": 1.50, "_step": 250, "\\u0062": 0.10}\n{"_step": 250, "a": 12345678901234567890}\n{"_step": 311}\n'
  )
  const certificate = JSON.parse(readFileSync(join(dir, 'wandb/history/main/old.certificate.json'), 'utf8')) as object
  t.match(certificate, {
    complete: true,
    left_out: { texts: 2, flags: 1, objects: 2, lists: 1 },
    steps: {
      rows: 4,
      first_step: 3,
      last_step: 311,
      holes: [
        [4, 249],
        [251, 310]
      ],
      repeated: [{ step: 250, rows: 2 }]
    },
    snapshot: { last_step: 311, history_line_count: 4, growing: false }
  })
  t.equal(readFileSync(join(dir, 'wandb/history/main/empty.jsonl'), 'utf8'), '')
  const listed = JSON.parse(readFileSync(join(dir, 'wandb/runs.json'), 'utf8')) as { id: string; label: string; url: string }[]
  t.strictSame(
    listed.map(r => [r.id, r.label]),
    [
      ['old', 'main'],
      ['else', 'other'],
      ['empty', 'main'],
      ['next', 'other'],
      ['side', 'main']
    ]
  )
  t.equal(listed[0].url, `${emulator.url}/team/project/runs/old`)
  t.match(result.stdout, /listed, not fetched: 3 runs of 3 names: other, mainly, main-trainnode\n/)
  t.ok(emulator.requests.filter(r => r.operation === 'Runs').length > 3, 'an empty page of runs is not the end')
  t.strictSame(emulator.invalidQueries, [])
})

t.test('a fetch that stops goes on where it was; one that is whole is not fetched again', async t => {
  const runs = [run('long', 'main', upTo(777)), run('short', 'main', upTo(20), { createdAt: '2026-08-10T00:00:00Z' })]
  const whole = await start({ key: CANARY, runs })
  t.teardown(() => whole.close())
  const dir = t.testdir()
  const [once, again] = [join(dir, 'once'), join(dir, 'again')]
  writeStudy(once)
  writeStudy(again)
  t.equal((await fetchInto(once, whole.url)).code, 0)
  const before = whole.requests.length
  const unchanged = await fetchInto(once, whole.url, { time: '2026-11-11T11:11:11Z' })
  t.match(unchanged.report, { runs: [{ status: 'unchanged' }, { status: 'unchanged' }] })
  t.strictSame(
    whole.requests.slice(before).map(r => r.operation),
    ['Runs', 'Run', 'Run']
  )

  // The window from 500 on is refused for good, once in each of two fetches.
  const refused = { operation: 'History', variables: { minStep: 500 }, then: { kind: 'status', status: 400 } } as const
  const stopping = await start({ key: CANARY, runs, script: [{ ...refused, times: 2 }] })
  t.teardown(() => stopping.close())
  // The run ends alone: the other one came with the first fetch.
  for (const status of ['fetched', 'unchanged']) {
    t.match(await fetchInto(again, stopping.url), {
      code: 3,
      stderr: /HTTP 400/,
      report: { runs: [{ id: 'short', status }], stopped: [{ id: 'long' }] }
    })
  }
  t.ok(tree(again).includes('wandb/history/main/.long.jsonl.partial'), 'what is there so far')
  t.notOk(tree(again).includes('wandb/history/main/long.jsonl'), 'no history that is not whole')
  const tries = windowsOf(stopping).length
  const last = await fetchInto(again, stopping.url)
  t.match(last.report, { runs: [{ id: 'long', status: 'resumed' }, { id: 'short' }] })
  t.strictSame(
    windowsOf(stopping)
      .slice(tries)
      .filter(w => w.startsWith('long')),
    ['long 500 600', 'long 600 700', 'long 700 778']
  )
  t.strictSame(
    rowsOf(again, 'long').map(r => r._step),
    upTo(777)
  )
  const text = (folder: string): Record<string, string> =>
    Object.fromEntries(
      Object.entries(contents(join(folder, 'wandb'))).map(([path, content]) => [path, content.replaceAll(stopping.url, whole.url)])
    )
  t.strictSame(text(again), text(once))
})

/** Of a process; empty where the system does not tell. */
function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

t.test('killed at any moment and run again, it ends with the same bytes', async t => {
  const runs = [run('a', 'main', upTo(2950)), run('b', 'main', upTo(1333)), run('c', 'main', upTo(40))]
  let child: ChildProcess | null = null
  let countdown = Infinity
  let signal: NodeJS.Signals = 'SIGKILL'
  /** what anybody could read */
  const told: Record<string, string> = {}
  const script: ScriptFunction = request => {
    if (!request.fields.includes('history')) return null
    if (--countdown === 0) child?.kill(signal)
    else if (child?.pid !== undefined) told[`/proc/${child.pid}`] = commandLine(child.pid)
    return { kind: 'slow', ms: 20 }
  }
  const emulator = await start({ key: CANARY, runs, script })
  t.teardown(() => emulator.close())
  const dir = t.testdir()
  const [killed, calm] = [join(dir, 'killed'), join(dir, 'calm')]
  writeStudy(killed)
  writeStudy(calm)
  const fetch = async (study: string): Promise<CliResult> => {
    const result = await runCli(['fetch', '--study', study, '--base-url', emulator.url, '--verbose'], {
      env: { WANDB_API_KEY: CANARY },
      onStart: started => {
        child = started
      }
    })
    told[`run ${Object.keys(told).length}`] = result.stdout + result.stderr
    return result
  }
  t.equal((await fetch(calm)).code, 0)
  let seen = 0
  for (const at of [1, 9, 12, 7, 10]) {
    countdown = at
    t.equal((await fetch(killed)).signal, 'SIGKILL')
    seen += tree(killed).filter(path => path.endsWith('.partial')).length
    for (const path of tree(killed).filter(p => p.endsWith('.jsonl'))) t.ok(readFileSync(join(killed, path), 'utf8').endsWith('}\n'), path)
  }
  t.ok(seen > 5, `${seen} histories were found half-way`)
  countdown = 8
  signal = 'SIGINT'
  const interrupted = await fetch(killed)
  t.equal(interrupted.code, 130)
  t.match(interrupted.stderr, /run interrupted: a signal, expected to finish; nothing is half-written/)
  countdown = Infinity
  t.equal((await fetch(killed)).code, 0)
  const rows = (study: string): object =>
    Object.fromEntries(Object.entries(contents(join(study, 'wandb'))).filter(([path]) => path.endsWith('.jsonl')))
  t.strictSame(rows(killed), rows(calm))
  t.strictSame(tree(killed), tree(calm), 'nothing is left over')
  t.ok(emulator.maxUnderWay <= 4, `${emulator.maxUnderWay} requests under way`)
  t.ok(emulator.maxUnderWay >= 3, 'and several at once')
  t.match(interrupted.stderr, /what has come stays: the next fetch goes on from there/)
  t.strictSame(keyIn({ ...told, ...contents(killed), ...contents(calm) }), [], 'the key is nowhere')
  t.ok(
    emulator.requests.every(({ method, path }) => method === 'POST' && path === '/graphql'),
    'and in no URL'
  )
})

t.test('50,000 rows of 2 kB take hardly more memory than 2,000, in a process that may hold 48 MB of objects', async t => {
  const wide = 'x'.repeat(20)
  const rowAt = (i: number): string => {
    const metrics = Array.from({ length: 50 }, (_, k) => `"${wide}/metric/${k}": ${i + k / 64}`)
    return `{"_step": ${i}, ${metrics.join(', ')}}`
  }
  const fetched = async (count: number): Promise<{ readonly kib: number; readonly file: string }> => {
    const rows = { length: count, at: (i: number) => (i >= 0 && i < count ? rowAt(i) : undefined) }
    const emulator = await start({ key: CANARY, runs: [run('many', 'main', [], { rows })] })
    t.teardown(() => emulator.close())
    const dir = join(t.testdirName, String(count))
    writeStudy(dir)
    const result = await runCli(['fetch', '--study', dir, '--base-url', emulator.url, '--json', '--quiet'], {
      env: {
        WANDB_API_KEY: CANARY,
        NODE_OPTIONS: `--max-old-space-size=48 --import=${pathToFileURL(join(root, 'dist/test/support/print-max-rss.js')).href}`
      }
    })
    t.equal(result.code, 0, result.stderr)
    t.match(JSON.parse(result.stdout), { runs: [{ rows: count, complete: true }] })
    const file = join(dir, 'wandb/history/main/many.jsonl')
    return { file, kib: Number(/^max-rss (\d+)$/m.exec(result.stderr)?.[1]) }
  }
  t.testdir()
  const [few, many] = [await fetched(2000), await fetched(50_000)]
  const text = readFileSync(many.file, 'latin1')
  t.ok(text.length > 90e6, `${(text.length / 1e6).toFixed(0)} MB`)
  t.ok(text.startsWith(`${rowAt(0)}\n`) && text.endsWith(`${rowAt(49_999)}\n`))
  t.ok(many.kib < 1.35 * few.kib, `${(many.kib / 1024).toFixed(0)} MiB, and ${(few.kib / 1024).toFixed(0)} MiB for 2,000 rows`)
})
