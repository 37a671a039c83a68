/** Progress, tables and numbers on a terminal, with a stream, a clock and an environment of the test's own. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { formatCount } from '../src/core/counts.js'
import { formatBytes, formatDuration, formatQuantity } from '../src/render/terminal/numbers.js'
import { createProgress, type Progress } from '../src/render/terminal/progress.js'
import { formatTable } from '../src/render/terminal/table.js'
import { fitMiddle, fitText, isInteractive, textWidth, wantsColour, lineWidth, type TextStream } from '../src/render/terminal/text.js'
import { becomes } from './support/cpu.js'

const ESC = '\u001b'

class FakeStream implements TextStream {
  readonly isTTY: boolean | undefined
  readonly columns: number | undefined
  written = ''

  constructor(columns?: number) {
    this.isTTY = columns !== undefined
    this.columns = columns
  }

  write(text: string): boolean {
    this.written += text
    return true
  }

  /** what was written since the last call */
  take(): string {
    const text = this.written
    this.written = ''
    return text
  }
}

interface Bench {
  readonly stream: FakeStream
  readonly progress: Progress
  readonly clock: { ms: number }
}

async function bench(columns: number | undefined, quiet = false, env: { [name: string]: string } = {}): Promise<Bench> {
  const stream = new FakeStream(columns)
  const clock = { ms: 5000 }
  return { stream, clock, progress: await createProgress({ stream, env, now: () => clock.ms, quiet }) }
}

t.test('numbers', async t => {
  const cases: [(n: number) => string, number, string][] = [
    [formatCount, 0, '0'],
    [formatCount, 999, '999'],
    [formatCount, 1000, '1,000'],
    [formatCount, 1234567, '1,234,567'],
    [formatCount, -1234, '-1,234'],
    [formatCount, 1234.5678, '1,234.5678'],
    [formatCount, 1e21, '1e+21'],
    [formatCount, NaN, 'NaN'],
    [formatCount, 100000, '100,000'],
    [formatCount, -Infinity, '-Infinity'],
    [formatQuantity, 0, '0'],
    [formatQuantity, 0.5, '0.5'],
    [formatQuantity, 1.234, '1.23'],
    [formatQuantity, 12.34, '12.3'],
    [formatQuantity, 9.996, '10'],
    [formatQuantity, 99.96, '100'],
    [formatQuantity, 123.4, '123'],
    [formatQuantity, 999.6, '1,000'],
    [formatQuantity, 100, '100'],
    [formatQuantity, 20, '20'],
    [formatQuantity, -1.5, '-1.5'],
    [formatQuantity, NaN, 'NaN'],
    [formatBytes, 0, '0 B'],
    [formatBytes, 999, '999 B'],
    [formatBytes, 542.4353129709878, '542 B'],
    [formatBytes, 1000, '1 kB'],
    [formatBytes, 34293250, '34.3 MB'],
    [formatBytes, 999_499, '999 kB'],
    [formatBytes, 999_500, '1 MB'],
    [formatBytes, 1.5e9, '1.5 GB'],
    [formatBytes, 2e18, '2,000 PB'],
    [formatDuration, 0, '0 ms'],
    [formatDuration, 0.0424, '42 ms'],
    [formatDuration, 0.9994, '999 ms'],
    [formatDuration, 0.9996, '1.0 s'],
    [formatDuration, 3.14, '3.1 s'],
    [formatDuration, 9.96, '10 s'],
    [formatDuration, 59.9, '60 s'],
    [formatDuration, 59.96, '1 min 00 s'],
    [formatDuration, 75, '1 min 15 s'],
    [formatDuration, 3599.6, '1 h 00 min'],
    [formatDuration, 7500, '2 h 05 min'],
    [formatDuration, 3600 * 2000, '2,000 h 00 min'],
    [formatDuration, NaN, 'unknown'],
    [formatDuration, Infinity, 'unknown'],
    [formatDuration, -1, 'unknown']
  ]
  for (const [format, value, expected] of cases) t.equal(format(value), expected, `${format.name}(${value})`)
})

t.test("text width is that of Unicode's East Asian Width", async t => {
  // python 3.11.7, unicodedata 14.0.0: 2 for W and F, 0 for Mn, Me and Cf, else 1
  const cases: [string, number][] = [
    ['', 0],
    ['abc', 3],
    ['größe', 5],
    ['訓練', 4],
    ['ｆｕｌｌ', 8],
    ['ﾊﾝｶｸ', 4],
    ['한국어', 6],
    ['😀', 2],
    ['e\u0301', 1],
    ['→', 1],
    ['…', 1],
    ['a\u200bb', 2],
    ['𠮷', 2],
    ['①', 1],
    ['─', 1],
    ['░', 1],
    ['Ω', 1],
    ['、。', 4],
    ['★', 1],
    ['☃', 1],
    ['⚡', 2]
  ]
  for (const [text, width] of cases) t.equal(textWidth(text), width, text)
  t.equal(fitText('abcdef', 6), 'abcdef')
  t.equal(fitText('abcdef', 5), 'abcd…')
  t.equal(fitText('訓練訓練', 6), '訓練…', 'no half characters')
  t.equal(fitText('abc', 1), '…')
  t.equal(fitText('abc', 0), '')
  t.equal(fitMiddle('abcdefgh', 8), 'abcdefgh')
  t.equal(fitMiddle('abcdefgh', 7), 'abc…fgh')
  t.equal(fitMiddle('abcdefgh', 6), 'abc…gh')
  t.equal(fitMiddle('abcdefgh', 2), 'a…')
  t.equal(fitMiddle('訓練訓練訓', 6), '訓…訓', 'no half characters')
})

t.test('interactive and colour', async t => {
  const terminal = new FakeStream(80)
  const log = new FakeStream()
  t.ok(isInteractive(terminal, {}) && wantsColour(terminal, {}) && wantsColour(terminal, { NO_COLOR: '' }))
  t.notOk(isInteractive(log, {}) || wantsColour(log, {}))
  t.notOk(wantsColour(terminal, { NO_COLOR: '1' }) || wantsColour(terminal, { NO_COLOR: '0' }))
  t.notOk(isInteractive(terminal, { TERM: 'dumb' }) || wantsColour(terminal, { TERM: 'dumb' }))
})

t.test('table', async t => {
  const columns = [{ title: 'trace' }, { title: 'tokens', align: 'right' }, { title: 'status' }] as const
  const rows = [['訓練', '959,418', { text: 'ok', tone: 'good' }], ['b', '12', { text: 'mismatch', tone: 'bad' }], ['c']] as const
  t.equal(
    formatTable(columns, rows),
    ['trace   tokens  status', '-----  -------  --------', '訓練   959,418  ok', 'b           12  mismatch', 'c', ''].join('\n')
  )
  const coloured = formatTable(columns, rows, { colour: true })
  t.match(coloured, `${ESC}[32mok${ESC}[0m`)
  t.match(coloured, `${ESC}[31mmismatch${ESC}[0m`)
  t.equal(coloured.replace(/\u001b\[\d+m/g, '').replace(/ +$/gm, ''), formatTable(columns, rows), 'colour changes nothing else')
  t.equal(formatTable([], []), '\n\n')
  t.equal(formatTable([{ title: 'a' }], []), 'a\n-\n')
})

t.test('a table fits the line: the widest text gives way in its middle, numbers never', async t => {
  const columns = [{ title: 'file' }, { title: 'bytes', align: 'right' }, { title: 'status' }] as const
  const path = `training_data/${'deep/'.repeat(30)}critic-traces.arrow`
  const rows = [
    [path, '12,345,678', 'ok'],
    ['run.json', '1', { text: 'differs from what its record says of it', tone: 'bad' }]
  ] as const
  for (const width of [120, 80, 50]) {
    const lines = formatTable(columns, rows, { width }).trimEnd().split('\n')
    t.same(
      lines.filter(line => textWidth(line) > width),
      [],
      `${width}`
    )
    t.ok(
      lines.some(line => textWidth(line) === width),
      `${width}: the line is used up`
    )
    t.match(lines[2], /^training.*….*arrow +12,345,678 {2}ok$/)
    t.match(lines[3], width < 120 ? /….*of it$/ : /differs from what its record says of it$/)
  }
  t.equal(formatTable(columns, rows, { width: 1000 }), formatTable(columns, rows), 'a table that fits stays')
  t.match(formatTable(columns, rows, { width: 10 }), /12,345,678/, 'no number is cut')
  const coloured = formatTable(columns, rows, { width: 50, colour: true })
  t.equal(coloured.replace(/\u001b\[\d+m/g, ''), formatTable(columns, rows, { width: 50 }), 'colour takes no room')
  const titled = [{ title: 'snapshot' }, { title: 'mean of all', align: 'right' }, { title: 'rate', align: 'right' }] as const
  const numbers = [
    ['a', '0.25', '12'],
    ['b', '0.5', '']
  ]
  t.equal(
    formatTable(titled, numbers, { width: 22 }),
    ['          mean', '            of', 'snapshot   all  rate', '--------  ----  ----', 'a         0.25    12', 'b          0.5', ''].join(
      '\n'
    ),
    'titles of numbers take several lines'
  )
  t.equal(formatTable(titled, numbers, { width: 27 }), formatTable(titled, numbers), 'and only where they must')
  t.equal(lineWidth(new FakeStream(91)), 91)
  t.equal(lineWidth(new FakeStream()), 120, 'a log')
  t.equal(lineWidth(new FakeStream(0)), 120, 'a terminal that does not know its width')
})

t.test('progress says one of one thing, and whole bytes a second', async t => {
  const { stream, progress, clock } = await bench(undefined)
  for (const [unit, said] of [
    ['traces', 'a  1 trace in 1.0 s (1 trace/s)\n'],
    ['histories', 'a  1 history in 1.0 s (1 history/s)\n']
  ] as const) {
    const phase = progress.phase({ label: 'a', total: 1, unit })
    clock.ms += 1000
    phase.finish(1)
    t.equal(stream.take(), said)
  }
  const counting = progress.phase({ label: 'b', total: 1, unit: 'files' })
  clock.ms += 2000
  counting.update(0)
  t.equal(stream.take(), 'b  0 %  0 of 1 file\n')
  const slow = progress.phase({ label: 'c', total: null, unit: 'bytes' })
  stream.take()
  clock.ms += 1837
  slow.finish(996)
  t.equal(stream.take(), 'c  996 B in 1.8 s (542 B/s)\n')
})

t.test('a table cannot be forged by the text in it', async t => {
  const table = formatTable(
    [{ title: 'file' }, { title: 'status' }],
    [
      [`a\nevil  ok`, 'missing'],
      [`${ESC}[2J${ESC}]0;title\u0007`, 'ok'],
      ['\u202etxt.exe', 'ok'],
      ['x'.repeat(5000), 'ok']
    ],
    { maxCell: 40 }
  )
  t.equal(table.split('\n').length, 7, 'a line for each row')
  t.notMatch(table, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  t.match(table, 'a\\u000aevil  ok')
  t.match(table, `${'x'.repeat(40)}… (5000 characters)`)
})

t.test('plain lines: at most one a second, one at the end of each phase', async t => {
  const { stream, progress, clock } = await bench(undefined)
  const phase = progress.phase({ label: 'hashing', total: 40_000_000, unit: 'bytes' })
  t.equal(stream.take(), '')
  for (let i = 1; i <= 30; i++) {
    clock.ms += 100
    phase.update(i * 1_000_000)
  }
  t.same(stream.take().split('\n'), [
    'hashing  25 %  10 MB of 40 MB  10 MB/s  3.0 s left',
    'hashing  50 %  20 MB of 40 MB  10 MB/s  2.0 s left',
    'hashing  75 %  30 MB of 40 MB  10 MB/s  1.0 s left',
    ''
  ])
  clock.ms += 1000
  phase.finish(40_000_000)
  t.equal(stream.take(), 'hashing  40 MB in 4.0 s (10 MB/s)\n')
  phase.update(1)
  phase.finish()
  t.equal(stream.take(), '', 'nothing after the end')

  const open = progress.phase({ label: 'parsing', total: null, unit: 'traces' })
  clock.ms += 2000
  open.update(1500)
  t.equal(stream.take(), 'parsing  1,500 traces  750 traces/s\n')
  progress.line('warning: one\ntwo')
  t.equal(stream.take(), 'warning: one\\u000atwo\n')
  // A new phase ends the one before.
  const last = progress.phase({ label: 'drawing', total: 3, unit: 'files' })
  t.equal(stream.take(), 'parsing  1,500 traces in 2.0 s (750 traces/s)\n')
  last.finish()
  t.equal(stream.take(), 'drawing  0 files in 0 ms\n')
  progress.phase({ label: 'x', total: 0, unit: 'files' })
  progress.close()
  progress.close()
  t.equal(stream.take(), '', 'closed without a word')
})

t.test('plain lines where the clock stands still, the total is wrong or unknown text stands in the label', async t => {
  const { stream, progress, clock } = await bench(undefined)
  const phase = progress.phase({ label: `a${ESC}[2J`, total: 10, unit: 'files' })
  phase.update(5)
  t.equal(stream.take(), '')
  clock.ms += 1000
  phase.update(20)
  t.equal(stream.take(), 'a\\u001b[2J  100 %  20 of 10 files  20 files/s\n', 'never beyond 100 %, no time left')
  clock.ms -= 5000
  phase.finish(20)
  t.equal(stream.take(), 'a\\u001b[2J  20 files in 0 ms\n')
})

t.test('quiet: not a byte, and cli-progress is not loaded', async t => {
  for (const columns of [undefined, 80]) {
    const { stream, progress, clock } = await bench(columns, true)
    const phase = progress.phase({ label: 'a', total: 10, unit: 'files' })
    clock.ms += 5000
    phase.update(5)
    progress.line('x')
    phase.finish()
    progress.close()
    t.equal(stream.written, '')
  }
  const { stream, progress } = await bench(80, false, { TERM: 'dumb' })
  progress.phase({ label: 'a', total: 10, unit: 'files' }).finish()
  t.equal(stream.written, 'a  0 files in 0 ms\n', 'a terminal that cannot move its cursor gets plain lines')

  const module = new URL('../src/render/terminal/progress.js', import.meta.url).href
  const loaded = (isTTY: boolean): string =>
    spawnSync(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `
    import { createRequire } from 'node:module'
    const { createProgress } = await import(${JSON.stringify(module)})
    const p = await createProgress({ stream: { write() {}, isTTY: ${isTTY}, columns: 80 }, env: {}, now: () => 0 })
    p.phase({ label: 'a', total: 1, unit: 'b' }).finish()
    const require = createRequire(${JSON.stringify(fileURLToPath(import.meta.url))})
    console.log(Object.keys(require.cache).some(k => k.includes('cli-progress')))
  `
      ],
      { encoding: 'utf8' }
    ).stdout.trim()
  t.same([loaded(false), loaded(true)], ['false', 'true'])
})

t.test('bar: rate and time left, never wider than the terminal, gone at the end', async t => {
  const { stream, progress, clock } = await bench(80)
  const drawn = (): string[] =>
    stream
      .take()
      .split(/\u001b(?:\[[0-9;]*[A-Za-z]|[78])/)
      .filter(s => s !== '')
  const phase = progress.phase({ label: 'hashing', total: 34_000_000, unit: 'bytes' })
  t.same(drawn(), ['hashing  [----------------------------------------]   0 %  0 B of 34 MB'])
  clock.ms += 1000
  phase.update(17_000_000)
  // The bar draws by its own timer, at most ten times a second.
  t.ok(await becomes(() => stream.written.includes('50 %')))
  t.same(drawn().at(-1), 'hashing  [============-------------]  50 %  17 MB of 34 MB  17 MB/s  1.0 s left')
  progress.line('warning')
  const withLine = drawn()
  t.same(
    withLine.filter(s => s.includes('warning') || s.includes('\n')),
    ['warning\n'],
    'a line of its own'
  )
  t.match(withLine.at(-1), '50 %', 'the bar goes on below')
  clock.ms += 1000
  phase.finish(34_000_000)
  t.equal(drawn().at(-1), 'hashing  34 MB in 2.0 s (17 MB/s)\n')
  t.notMatch(stream.written, `${ESC}[?25l`, 'the cursor is never hidden')
  await new Promise(resolve => setTimeout(resolve, 150))
  t.equal(stream.take(), '', 'no timer is left')

  for (const columns of [1, 5, 10, 20, 40, 60, 200]) {
    const narrow = await bench(columns)
    const bar = narrow.progress.phase({ label: 'hashing 訓練', total: 34_000_000, unit: 'bytes' })
    narrow.clock.ms += 1000
    bar.update(17_000_000)
    await new Promise(resolve => setTimeout(resolve, 110))
    narrow.progress.close()
    const widest = Math.max(...narrow.stream.written.split(/\u001b(?:\[[0-9;]*[A-Za-z]|[78])/).map(textWidth))
    t.ok(widest <= columns, `${columns} columns: ${widest}`)
  }
})

t.test('a program that fails and closes its progress ends', async t => {
  const module = new URL('../src/render/terminal/progress.js', import.meta.url).href
  const run = (close: string): number | null =>
    spawnSync(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `
    const { createProgress } = await import(${JSON.stringify(module)})
    const p = await createProgress({ stream: { write() {}, isTTY: true, columns: 80 }, env: {}, now: () => performance.now() })
    try {
      p.phase({ label: 'a', total: 1, unit: 'b' })
      throw new Error('broken')
    } catch {
      ${close}
    }
  `
      ],
      { timeout: 600_000 }
    ).status
  t.equal(run('p.close()'), 0)
})
