/** How many requests a fetch sends for a history, dense or sparse, and that the count of rows proves wide windows. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { HistoryCertificate } from '../src/ingest/certificate/fields.js'
import { WindowWidths } from '../src/fetch/widths.js'
import { start, type Emulator, type EmulatorOptions } from './support/wandb/emulator.js'
import type { ScriptFunction } from './support/wandb/script.js'
import { CANARY, fetchInto, run, upTo, writeStudy, type FetchResult } from './support/wandb/study.js'

interface Fetched extends FetchResult {
  readonly dir: string
  readonly emulator: Emulator
  /** windows of the requests for rows: first step, and the step behind the last */
  readonly windows: ReadonlyArray<readonly [number, number]>
}

async function fetched(test: Test, server: Pick<EmulatorOptions, 'runs' | 'script'>): Promise<Fetched> {
  const emulator = await start({ key: CANARY, ...server })
  test.teardown(() => emulator.close())
  const dir = test.testdir()
  writeStudy(dir)
  const result = await fetchInto(dir, emulator.url)
  return { ...result, dir, emulator, windows: windowsOf(emulator) }
}

function windowsOf({ requests }: Emulator): ReadonlyArray<readonly [number, number]> {
  const asked = requests.filter(request => request.operation === 'History')
  return asked.map(({ variables }) => [Number(variables['minStep']), Number(variables['maxStep'])] as const)
}

function certificateOf(dir: string): HistoryCertificate {
  return JSON.parse(readFileSync(join(dir, 'wandb/history/main/r.certificate.json'), 'utf8')) as HistoryCertificate
}

function stepsOf(dir: string): number[] {
  const text = readFileSync(join(dir, 'wandb/history/main/r.jsonl'), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map(line => (JSON.parse(line) as { _step: number })._step)
}

const every = (distance: number, count: number): number[] => Array.from({ length: count }, (_, i) => i * distance)

t.test('a dense history is asked for in windows of 100 steps', async t => {
  const { code, windows, dir } = await fetched(t, { runs: [run('r', 'main', upTo(1049))] })
  t.equal(code, 0)
  t.same(
    windows,
    [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000].map(from => [from, Math.min(from + 100, 1050)])
  )
  t.match(certificateOf(dir), { complete: true, steps: { rows: 1050 } })
})

t.test('a million steps with a thousand rows take tens of requests, not ten thousand', async t => {
  const steps = every(1000, 1000)
  const { code, windows, dir, emulator } = await fetched(t, { runs: [run('r', 'main', steps)] })
  t.equal(code, 0)
  t.ok(windows.length < 60, `${windows.length} requests`)
  t.ok(
    emulator.requests.every(({ operation, variables }) => operation !== 'History' || variables['samples'] === 1000),
    'each asks for 1,000 samples'
  )
  t.same(stepsOf(dir), steps)
  const { requests, ...certificate } = certificateOf(dir)
  t.match(certificate, { complete: true, steps: { rows: 1000, first_step: 0, last_step: 999_000 } })
  // What was asked for covers every step once.
  t.equal(requests.intervals[0]?.from, 0)
  t.equal(requests.intervals.at(-1)?.to, 999_000)
  t.ok(requests.intervals.every(({ from }, i, all) => i === 0 || from === (all[i - 1]?.to ?? NaN) + 1))
  const again = await fetchInto(dir, emulator.url)
  t.match(again, { code: 0, report: { runs: [{ status: 'unchanged' }] } }, 'the certificate is judged as complete')
})

t.test('steps that count frames: a billion of them', async t => {
  const { code, windows, dir } = await fetched(t, { runs: [run('r', 'main', every(500_000, 2001))] })
  t.equal(code, 0)
  t.ok(windows.length < 120, `${windows.length} requests`)
  t.match(certificateOf(dir), { complete: true, steps: { rows: 2001, last_step: 1_000_000_000 } })
})

t.test('a wide window that is full is asked for in parts', async t => {
  const dense = Array.from({ length: 3000 }, (_, i) => 40_000 + i)
  const steps = [...every(2000, 20), ...dense]
  const { code, windows, dir } = await fetched(t, { runs: [run('r', 'main', steps)] })
  t.equal(code, 0)
  t.same(stepsOf(dir), steps)
  t.match(certificateOf(dir), { complete: true })
  t.ok(
    windows.some(([from, to]) => to - from > 1000 && from < 40_000),
    'wide at first'
  )
  t.ok(
    certificateOf(dir).requests.intervals.every(({ rows }) => rows < 1000),
    'no answer at its limit is kept'
  )
})

t.test('the width follows the rows: wide where they are few, 100 steps where each step has one', t => {
  const widths = new WindowWidths(true)
  const after = (from: number, to: number, rows: number): number => {
    widths.saw({ from, to }, rows)
    return widths.next
  }
  t.equal(widths.next, 100)
  t.equal(after(0, 99, 100), 100, 'dense')
  t.equal(after(0, 99, 5000), 100, 'several rows a step')
  t.equal(after(0, 99, 25), 400, 'a quarter of the steps have a row')
  t.equal(after(0, 99, 26), 100)
  t.equal(after(0, 399, 0), 1600)
  t.equal(after(0, 1599, 60), 1600, 'as many rows as a dense window has')
  t.equal(after(0, 1599, 800), 200, 'denser: an answer of a hundred rows again')
  t.equal(after(0, 1599, 1599), 100)
  const narrow = new WindowWidths(false)
  narrow.saw({ from: 0, to: 99 }, 0)
  t.equal(narrow.next, 100, 'never wider where no count proves the rows')
  t.equal(new WindowWidths(true, [{ from: 0, to: 1599, rows: 2 }]).next, 1600, 'a resumed fetch goes on as it was')
  t.end()
})

/** A server that loses a row of each window of more than 100 steps. */
const losing: ScriptFunction = ({ operation, variables }) =>
  operation === 'History' && Number(variables['maxStep']) - Number(variables['minStep']) > 100 ? { kind: 'missingRow' } : null

t.test('where wide windows do not give every row that is counted, narrow ones are asked for', async t => {
  const steps = every(500, 41)
  const { code, windows, dir, stdout } = await fetched(t, { runs: [run('r', 'main', steps)], script: losing })
  t.equal(code, 0)
  t.same(stepsOf(dir), steps)
  t.match(certificateOf(dir), { complete: true })
  t.ok(certificateOf(dir).requests.intervals.every(({ from, to }) => to - from < 100))
  t.equal(windows.filter(([from, to]) => to - from === 100).length >= 200, true)
  t.match(stdout, /^asked for again: r in windows of 100 steps, since wide ones did not give every row$/m)
})

t.test('a fetch that stops among wide windows goes on with wide ones', async t => {
  const steps = every(1000, 1000)
  let refused = 0
  const once: ScriptFunction = ({ operation, variables }) =>
    operation === 'History' && Number(variables['minStep']) > 300_000 && refused++ === 0 ? { kind: 'status', status: 400 } : null
  const first = await fetched(t, { runs: [run('r', 'main', steps)], script: once })
  t.match(first, { code: 3, stderr: /HTTP 400/ })
  const sent = first.windows.length
  t.match(await fetchInto(first.dir, first.emulator.url), { code: 0, report: { runs: [{ status: 'resumed', rows: 1000 }] } })
  const later = windowsOf(first.emulator).slice(sent)
  t.ok(later.length < sent && later.every(([from, to]) => to - from > 1000 || to === 999_001), 'wide from the beginning')
  t.same(stepsOf(first.dir), steps)
  t.match(certificateOf(first.dir), { complete: true })
})

t.test('rows that no window gives are a failed check, and steps that no count proves are not asked for at once', async t => {
  const lost: ScriptFunction = ({ operation, variables }) =>
    operation === 'History' && variables['minStep'] === 0 ? { kind: 'missingRow' } : null
  const short = await fetched(t, { runs: [run('r', 'main', every(500, 41))], script: lost })
  t.equal(short.code, 1)
  t.match(short.stderr, /row_count: 40 rows, the server counts 41/)
  const uncounted: ScriptFunction = ({ operation }) =>
    operation === 'Run'
      ? {
          kind: 'edit',
          edit: answer => {
            ;(answer as { data: { project: { run: { historyLineCount: unknown } } } }).data.project.run.historyLineCount = null
            return answer
          }
        }
      : null
  const unproved = await fetched(t, { runs: [run('r', 'main', every(500, 41))], script: uncounted })
  t.equal(unproved.code, 1)
  t.ok(unproved.windows.every(([from, to]) => to - from <= 100))
})
