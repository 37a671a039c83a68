/** `watch` as a process of its own: it is waited for by its lines, never by the clock. */
import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { becomes } from '../support/cpu.js'
import { runCli } from '../support/cli.js'
import { jsonLines, npzFile, torchFile } from '../support/dump-files.js'
import { hashes } from '../support/run.js'
import { parseCsv } from '../support/csv-parse.js'
import { root } from '../support/paths.js'

/** As many traces as asked for, of 20 tokens each; every value is `mean`. */
function dump(traces: number, mean: number): Uint8Array {
  const list = (x: number): number[] => new Array<number>(20).fill(x)
  return jsonLines(
    Array.from({ length: traces }, (_, i) => ({
      uid: `u${i}`,
      values: list(mean),
      returns: list(i % 2),
      score: i % 2,
      response_mask: list(1)
    }))
  )
}

function temp(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'critic-traces-watch-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  mkdirSync(join(dir, 'dumps'))
  return dir
}

interface Watch {
  readonly child: ChildProcess
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  /** standard output and error, as they came */
  text(): string
  /** whether a line comes that has this text behind the time of day; lines before the last one found are not looked at */
  says(line: string): Promise<boolean>
}

function start(t: Test, dir: string, ...argv: string[]): Watch {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...env } = process.env
  const args = [join(root, 'dist/run.js'), 'watch', 'dumps', '--out', 'out', '--settle', '0.5', '--formats', 'png', ...argv]
  const child = spawn(process.execPath, args, { cwd: dir, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  let from = 0
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  }
  const ended = new Promise<Awaited<Watch['ended']>>(resolve => {
    child.on('close', (code, signal) => resolve({ code, signal }))
  })
  t.teardown(() => child.kill('SIGKILL'))
  return {
    child,
    ended,
    text: () => text,
    says: line =>
      becomes(() => {
        const at = text.indexOf(` ${line}`, from)
        if (at !== -1) from = at + line.length
        return at !== -1
      })
  }
}

interface Index {
  readonly snapshots: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly traces: number | null
    readonly kept: boolean
  }>
  readonly outputs: ReadonlyArray<{ readonly path: string; readonly sha256: string }>
}

function index(dir: string): Index {
  return JSON.parse(readFileSync(join(dir, 'out/critic-trace-snapshots.json'), 'utf8')) as Index
}

const entries = (dir: string): unknown => index(dir).snapshots.map(({ name, status, traces }) => [name, status, traces])

/** Step and traces of each row of the table over steps. */
function rows(dir: string): unknown[] {
  const [heading, ...all] = parseCsv(readFileSync(join(dir, 'out/critic-trace-by-step.csv'), 'utf8'))
  return all.map(row => ['step', 'traces', 'success_mean_value'].map(name => row[heading.indexOf(name)]))
}

t.test('dumps as they come: written, replaced, damaged, deleted, renamed into place, the folder made anew', async t => {
  const dir = temp(t)
  const at = (name: string): string => join(dir, 'dumps', name)
  const watch = start(t, dir, '--poll', '3600')
  t.ok(await watch.says('watching dumps into out'))
  writeFileSync(at('step_1.jsonl'), dump(4, 0.25))
  t.ok(await watch.says('step_1.jsonl analysed: 4 traces, 80 tokens, mean value 0.25 (success 0.25, failure 0.25)'))
  t.ok(await becomes(() => existsSync(join(dir, 'out/critic-trace-snapshots.json'))))

  // Half of the file stands still for longer than the settling time, again and again, as it grows.
  const whole = dump(6, 0.5)
  writeFileSync(at('step_2.jsonl'), whole.slice(0, 100))
  t.ok(await watch.says('step_2.jsonl failed: jsonl '), 'a file that stands still is taken for whole')
  appendFileSync(at('step_2.jsonl'), whole.slice(100))
  t.ok(await watch.says('step_2.jsonl was replaced: it is analysed again'))
  t.ok(await watch.says('step_2.jsonl analysed again: 6 traces, 120 tokens, mean value 0.5'))
  t.ok(await watch.says('page over 2 steps: out/preview/critic-traces-over-steps.html'))
  t.same(rows(dir), [
    ['1', '4', '0.25'],
    ['2', '6', '0.5']
  ])

  writeFileSync(at('.step_3.jsonl.writing'), dump(8, 0.75))
  renameSync(at('.step_3.jsonl.writing'), at('step_3.jsonl'))
  t.ok(await watch.says('step_3.jsonl analysed: 8 traces'))
  writeFileSync(at('step_1.jsonl'), dump(10, 0.125))
  t.ok(await watch.says('step_1.jsonl was replaced: it is analysed again'))
  t.ok(await watch.says('step_1.jsonl analysed again: 10 traces, 200 tokens, mean value 0.125'))
  rmSync(at('step_2.jsonl'))
  t.ok(await watch.says('step_2.jsonl was deleted: its entry left the index'))
  t.same(entries(dir), [
    ['dumps--step-1', 'ok', 10],
    ['dumps--step-3', 'ok', 8]
  ])
  t.same(rows(dir), [
    ['1', '10', '0.125'],
    ['3', '8', '0.75']
  ])
  for (const { path, sha256 } of index(dir).outputs) {
    t.equal(
      createHash('sha256')
        .update(readFileSync(join(dir, 'out', path)))
        .digest('hex'),
      sha256,
      path
    )
  }

  renameSync(join(dir, 'dumps'), join(dir, 'away'))
  t.ok(await watch.says('dumps has no files now: the entries of the index stay'))
  mkdirSync(join(dir, 'dumps'))
  writeFileSync(at('step_9.jsonl'), dump(2, 1))
  t.ok(await watch.says('step_9.jsonl analysed: 2 traces'), 'another folder of the same name')
  t.ok(await watch.says('step_3.jsonl was deleted: its entry left the index'))
  t.same(entries(dir), [['dumps--step-9', 'ok', 2]])

  watch.child.kill('SIGTERM')
  t.same(await watch.ended, { code: 0, signal: null }, 'a signal is its usual end')
  t.match(watch.text(), /\d\d:\d\d:\d\d stopped: 1 snapshot, 0 failed\n$/)
  t.notMatch(watch.text(), /\n(?!\d\d:\d\d:\d\d )(?!$)/, 'every line has its time')
})

/** A dump that states its step. */
const stating = (step: number): Uint8Array =>
  torchFile({
    format_version: 2,
    rollout_id: step,
    samples: [{ values: [0.5, 1], returns: [1, 1], loss_masks: [1, 1], response_lengths: 2, total_lengths: 2 }]
  })

t.test('a byte more in the one dump of a folder: it changed and cannot be read', async t => {
  const dir = temp(t)
  const file = join(dir, 'dumps/step_4.npz')
  const row = (data: readonly number[]) => ({ dtype: 'float32', shape: [1, 2], data }) as const
  writeFileSync(file, await npzFile({ values: row([0.5, 1]), returns: row([1, 1]), response_mask: { ...row([1, 1]), dtype: 'int64' } }))
  const watch = start(t, dir, '--poll', '3600')
  t.ok(await watch.says('step_4.npz analysed: 1 trace, 2 tokens'))
  appendFileSync(file, 'x')
  t.ok(await watch.says('step_4.npz changed and cannot be read: zip bad end record: 1 bytes after the end record'))
  t.ok(await watch.says('step_4.npz cannot be read any more: its entry left the index'))
  watch.child.kill('SIGTERM')
  await watch.ended
  t.notMatch(watch.text(), /deleted|replaced|dumps failed/)
})

t.test('a folder that comes later is waited for; a file that holds another step now was replaced, not deleted', async t => {
  const dir = temp(t)
  const steps = (): unknown[] =>
    parseCsv(readFileSync(join(dir, 'out/critic-trace-by-step.csv'), 'utf8'))
      .slice(1)
      .map(([, step]) => step)
  const put = (name: string, step: number): void => {
    writeFileSync(join(dir, '.next'), stating(step))
    renameSync(join(dir, '.next'), join(dir, 'dumps', name))
  }
  rmSync(join(dir, 'dumps'), { recursive: true })
  const watch = start(t, dir, '--poll', '3600', '--keep-deleted')
  t.ok(await watch.says('waiting for dumps, which is not there yet'))
  mkdirSync(join(dir, 'dumps'))
  put('first.pt', 1)
  put('latest.pt', 5)
  t.ok(await watch.says('latest.pt analysed: 1 trace, 2 tokens'))
  t.ok(await watch.says('page over 2 steps'))
  put('latest.pt', 6)
  t.ok(await watch.says('latest.pt was replaced: step 6 in place of step 5, whose entry stays'))
  t.ok(await watch.says('latest.pt analysed: 1 trace, 2 tokens'))
  t.ok(await becomes(() => steps().length === 3))
  t.same(steps(), ['1', '5', '6'])
  watch.child.kill('SIGTERM')
  t.same(await watch.ended, { code: 0, signal: null })
  t.notMatch(watch.text(), /deleted/)

  put('latest.pt', 7)
  const args = ['watch', 'dumps', '--out', 'out', '--settle', '0.2', '--no-figures']
  const once = await runCli([...args, '--once'], { cwd: dir })
  t.match(once.stdout, / latest\.pt was replaced: step 7 in place of step 6, whose entry left the index\n/, 'of an earlier run too')
  t.notMatch(once.stdout, /deleted/)
  t.same(steps(), ['1', '7'])

  const again = start(t, dir, '--poll', '3600')
  t.ok(await again.says('latest.pt analysed: '))
  put('latest.pt', 8)
  t.ok(await again.says('latest.pt was replaced: step 8 in place of step 7, whose entry left the index'))
  t.ok(await becomes(() => existsSync(join(dir, 'out/critic-trace-by-step.csv')) && steps().includes('8')))
  t.same(steps(), ['1', '8'])
  rmSync(join(dir, 'dumps/latest.pt'))
  t.ok(await again.says('latest.pt was deleted: its entry left the index'))
})

t.test('what no event tells is found by looking; two paths into one folder of outputs', async t => {
  const dir = temp(t)
  mkdirSync(join(dir, 'more'))
  writeFileSync(join(dir, 'elsewhere.jsonl'), dump(2, 0.5))
  symlinkSync(join(dir, 'elsewhere.jsonl'), join(dir, 'dumps/step_1.jsonl'))
  const watch = start(t, dir, 'more', '--poll', '0.3', '--no-arrow')
  t.ok(await watch.says('watching dumps, more into out'))
  t.ok(await watch.says('step_1.jsonl analysed: 2 traces'))
  writeFileSync(join(dir, 'elsewhere.jsonl'), dump(4, 0.5))
  t.ok(await watch.says('step_1.jsonl analysed again: 4 traces'), 'a file behind a link')
  rmSync(join(dir, 'more'), { recursive: true })
  mkdirSync(join(dir, 'more/deep/er'), { recursive: true })
  writeFileSync(join(dir, 'more/deep/er/2.jsonl'), dump(2, 0.5))
  t.ok(await watch.says('2.jsonl analysed: 2 traces'))
  t.ok(await watch.says('page over 2 steps'))
  t.same(entries(dir), [
    ['dumps--step-1', 'ok', 4],
    ['more--deep--er--step-2', 'ok', 2]
  ])
  watch.child.kill('SIGHUP')
  t.same(await watch.ended, { code: 0, signal: null })
})

t.test('killed at any moment and started again: as if it had run once', async t => {
  const dir = temp(t)
  for (let step = 1; step <= 6; step++) writeFileSync(join(dir, `dumps/step_${step}.jsonl`), dump(2 * step, step / 8))
  let kills = 0
  for (const line of ['step_1.jsonl', 'step_2.jsonl', 'step_4.jsonl', 'stopped:', 'page over']) {
    const watch = start(t, dir)
    if (line === 'stopped:') {
      t.ok(await watch.says('step_5.jsonl'))
      watch.child.kill('SIGINT')
      t.same(await watch.ended, { code: 0, signal: null })
    } else {
      t.ok(await watch.says(line))
      watch.child.kill('SIGKILL')
      kills += (await watch.ended).signal === 'SIGKILL' ? 1 : 0
    }
  }
  t.equal(kills, 4)
  const last = start(t, dir)
  t.ok(await last.says('step_6.jsonl '))
  t.ok(await becomes(() => index(dir).snapshots.filter(({ kept }) => !kept).length === 6))
  const second = await runCli(['watch', 'dumps', '--out', 'out'], { cwd: dir })
  t.equal(second.code, 2)
  t.match(second.stderr, /^critic-traces: watch locked: process \d+ on .* is watching into this folder, expected one watch at a time/)
  last.child.kill('SIGTERM')
  t.same(await last.ended, { code: 0, signal: null })
  const once = await runCli(['watch', 'dumps', '--out', 'once', '--once', '--settle', '0.5', '--formats', 'png'], { cwd: dir })
  t.match(once, { code: 0, stderr: '' })
  t.match(once.stdout, /ended: 6 snapshots, 0 failed\n$/)
  t.strictSame(hashes(join(dir, 'out')), hashes(join(dir, 'once')), 'the same bytes, no lock and no temporary file')
})

t.test('--once: what failed decides the exit code; what was deleted meanwhile leaves; other entries stay', async t => {
  const dir = temp(t)
  const once = (...paths: string[]): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> =>
    runCli(['watch', ...paths, '--out', 'out', '--once', '--settle', '0.2', '--no-figures'], { cwd: dir })
  mkdirSync(join(dir, 'other'))
  for (const step of [1, 2]) writeFileSync(join(dir, `dumps/step_${step}.jsonl`), dump(2, 0.5))
  writeFileSync(join(dir, 'other/5.jsonl'), dump(2, 0.5))
  t.match(await once('dumps', 'other'), { code: 0, stderr: '' })
  writeFileSync(join(dir, 'dumps/step_2.jsonl'), dump(2, 0.5).slice(0, 50))
  rmSync(join(dir, 'dumps/step_1.jsonl'))
  const run = await once('dumps')
  t.equal(run.code, 3)
  t.match(run.stderr, /^\d\d:\d\d:\d\d step_2\.jsonl failed: jsonl .*\n$/)
  t.match(run.stdout, / step_1\.jsonl was deleted: its entry left the index\n/)
  t.same(entries(dir), [
    ['other--step-5', 'ok', 2],
    ['dumps--step-2', 'failed', null]
  ])
  rmSync(join(dir, 'other/5.jsonl'))
  t.match(await once('other'), { code: 0 })
  t.same((entries(dir) as unknown[]).length, 2, 'a folder without a file may be a network folder that is not there')
  rmSync(join(dir, 'dumps/step_2.jsonl'))
  for (const step of [3, 4]) writeFileSync(join(dir, `dumps/step_${step}.jsonl`), dump(step, 0.5))
  t.match(await once('dumps'), { code: 0, stderr: '' })
  rmSync(join(dir, 'dumps/step_3.jsonl'))
  t.notMatch((await once('dumps', '--keep-deleted')).stdout, /deleted/)
  t.same(rows(dir).slice(0, 2), [
    ['3', '3', '0.5'],
    ['4', '4', '0.5']
  ])
  t.match((await once('dumps')).stdout, / step_3\.jsonl was deleted: its entry left the index\n/)
  writeFileSync(join(dir, 'dumps/step_4.jsonl'), dump(4, 0.5).slice(0, 50))
  const broken = await once('dumps')
  t.match(broken, { code: 3, stderr: /^\d\d:\d\d:\d\d \S*step_4\.jsonl failed: jsonl .*\n$/ })
  t.notMatch(broken.stdout, /deleted/, 'it is there')
  t.match(await once('missing'), { code: 3, stderr: 'critic-traces: snapshot not found: ENOENT' })
})
