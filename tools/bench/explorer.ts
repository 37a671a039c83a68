/**
 * `node dist/tools/bench/explorer.js`: the explorer in headless Chromium: one million tokens in a page, ten million on the server, and ten
 * million of one trace. How long from navigation until the table is filled and the first curve drawn; from a key, a turn of the wheel or a
 * move of the pointer to the next frame that is painted, and to the one that shows its own tokens or numbers; memory of page and server.
 * Dumps are those of `make-dumps.py`. Needs python3 with numpy, and a Chromium (CRITIC_TRACES_CHROMIUM, else /usr/bin/chromium).
 * Prints a Markdown report; nothing here is a test.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { cpus, loadavg, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { chromium, type Browser, type CDPSession, type Page } from 'playwright-core'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const RUN = join(ROOT, 'dist/run.js')
const NAVIGATIONS = 5
const TRACES = 5
/** steps into a trace and out of it */
const ZOOMS = 8
const HOVERS = 40
const MIB = 2 ** 20

const line = (text = ''): void => {
  process.stdout.write(`${text}\n`)
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)]
}

/** In the page: `shown` is the time of the frame with table and curve; `after` measures from an event to frames behind it. */
function installClock(): void {
  const painted = new MessageChannel()
  const waiting: (() => void)[] = []
  painted.port1.onmessage = () => waiting.splice(0).forEach(act => act())
  const frame = (done: () => void): void => {
    requestAnimationFrame(() => {
      waiting.push(done)
      painted.port2.postMessage(null)
    })
  }
  /** Calls back when the first frame is painted in which it is ready. What a frame itself makes ready is painted with it. */
  const until = (ready: () => boolean, done: () => void): void => frame(() => (ready() ? done() : until(ready, done)))
  const isShown = (): boolean =>
    document.querySelector('.plot[data-shown]') !== null && document.querySelectorAll('.traces tbody tr').length > 0
  const clock = {
    shown: new Promise<number>(resolve => until(isShown, () => resolve(performance.now()))),
    /** what of the page a change of it shows */
    after: (type: string, selector: string, attribute: string | null) =>
      new Promise<readonly [number, number]>(resolve => {
        const seen = (): string | null => {
          const found = document.querySelector<HTMLElement>(selector)
          return attribute === null ? (found?.textContent ?? null) : (found?.getAttribute(attribute) ?? null)
        }
        const before = seen()
        addEventListener(
          type,
          ({ timeStamp }) => {
            let first = 0
            frame(() => {
              first = performance.now() - timeStamp
            })
            until(
              () => seen() !== before,
              () => resolve([first, performance.now() - timeStamp])
            )
          },
          { capture: true, once: true }
        )
      })
  }
  ;(globalThis as unknown as { clock: typeof clock }).clock = clock
}

interface Clock {
  readonly shown: Promise<number>
  after(type: string, selector: string, attribute: string | null): Promise<readonly [number, number]>
}

/** To the next painted frame, and to the one with its own tokens or numbers: milliseconds. */
type Answer = readonly [number, number]

async function timed(page: Page, type: string, shows: readonly [string, string | null], act: () => Promise<void>): Promise<Answer> {
  const wait = page.evaluate(
    ([t, selector, attribute]) => (globalThis as unknown as { clock: Clock }).clock.after(t, selector, attribute),
    [type, shows[0], shows[1]] as const
  )
  // Evaluations are answered in order: the listener is there.
  await page.evaluate(() => undefined)
  await act()
  const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error(`nothing changed behind ${type}`)), 20_000).unref())
  return Promise.race([wait, late])
}

interface Interactions {
  readonly keys: Answer[]
  readonly wheel: Answer[]
  readonly hovers: Answer[]
  readonly traces: Answer[]
}

const RANGE = ['.plot', 'data-shown'] as const

async function interact(page: Page, traces: number): Promise<Interactions> {
  const all: Interactions = { keys: [], wheel: [], hovers: [], traces: [] }
  for (let k = 0; k < TRACES; k++) {
    if (k > 0 && traces > 1) {
      const row = page.locator('.traces tbody tr:not(.gap) td.trace').nth(k)
      all.traces.push(await timed(page, 'click', ['.curve h2', null], () => row.click()))
      await page.waitForTimeout(300)
    }
    const plot = page.locator('.plot')
    const box = await plot.boundingBox()
    if (box === null) throw new Error('no plot')
    const { x, y, width, height } = box
    for (let h = 0; h < HOVERS; h++) {
      // Not along a line: a pointer jumps.
      const at = x + 70 + ((h * 0.618034) % 1) * (width - 90)
      all.hovers.push(await timed(page, 'pointermove', ['.read-out', null], () => page.mouse.move(at, y + height * (0.2 + (h % 5) / 8))))
    }
    await page.mouse.move(x + 70 + (width - 90) * (0.1 + 0.15 * k), y + height / 2)
    for (let step = 0; step < 2 * ZOOMS; step++)
      all.wheel.push(await timed(page, 'wheel', RANGE, () => page.mouse.wheel(0, step < ZOOMS ? -240 : 240)))
    await plot.focus()
    await page.keyboard.press('0')
    await page.waitForTimeout(300)
    for (let step = 0; step < 2 * ZOOMS; step++)
      all.keys.push(await timed(page, 'keydown', RANGE, () => page.keyboard.press(step < ZOOMS ? '+' : '-')))
  }
  return all
}

async function heap(session: CDPSession): Promise<number> {
  const { metrics } = (await session.send('Performance.getMetrics')) as {
    readonly metrics: ReadonlyArray<{ readonly name: string; readonly value: number }>
  }
  return metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? NaN
}

async function report(browser: Browser, name: string, url: string, traces: number, server: ChildProcess | null): Promise<void> {
  const shown: number[] = []
  for (let round = 0; round < NAVIGATIONS; round++) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    const page = await context.newPage()
    page.on('pageerror', error => line(`error of the page: ${error.message}`))
    await page.addInitScript(installClock)
    await page.goto(url, { waitUntil: 'commit' })
    shown.push(await page.evaluate(() => (globalThis as unknown as { clock: Clock }).clock.shown))
    if (round === NAVIGATIONS - 1) {
      const session = await context.newCDPSession(page)
      await session.send('Performance.enable')
      const first = await heap(session)
      const all = await interact(page, traces)
      const used = await heap(session)
      await session.send('HeapProfiler.collectGarbage')
      line(`### ${name}`)
      line()
      line(
        `Shown after navigation: median ${quantile(shown, 0.5).toFixed(0)} ms, all ${shown.map(s => s.toFixed(0)).join(', ')} ms. Load average ${loadavg()[0].toFixed(1)}.`
      )
      line()
      line('| what | times | next frame, median | 95 % | with its own tokens, median | 95 % |')
      line('|---|---:|---:|---:|---:|---:|')
      for (const [what, answers] of Object.entries({
        'zoom by key': all.keys,
        'zoom by wheel': all.wheel,
        hover: all.hovers,
        'another trace': all.traces
      })) {
        if (answers.length === 0) continue
        const cells = [0, 1].flatMap(i =>
          [0.5, 0.95].map(
            q =>
              `${quantile(
                answers.map(answer => answer[i]),
                q
              ).toFixed(1)} ms`
          )
        )
        line(`| ${what} | ${answers.length} | ${cells.join(' | ')} |`)
      }
      line()
      const mib = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`
      line(
        `JS heap: ${mib(first)} when shown, ${mib(used)} behind all that, ${mib(await heap(session))} when collected.${server === null ? '' : ` Server: ${memoryOf(server)}.`}`
      )
      line()
    }
    await context.close()
  }
}

/** As Linux counts it. */
function memoryOf({ pid }: ChildProcess): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kib = (name: string): string => `${(Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024).toFixed(0)} MiB`
  return `${kib('VmRSS')} resident, ${kib('VmHWM')} at most`
}

function dump(folder: string, samples: number, turn: number): string {
  const made = spawnSync(
    process.env['PYTHON'] ?? 'python3',
    [join(ROOT, 'tools/bench/make-dumps.py'), folder, String(samples), String(turn)],
    { encoding: 'utf8' }
  )
  if (made.status !== 0) throw new Error(`no dumps\n${made.stderr}`)
  return join(folder, 'step_1.npz')
}

async function embedded(browser: Browser, work: string): Promise<void> {
  const out = join(work, 'page')
  const run = spawnSync(process.execPath, [RUN, 'explore', dump(join(work, 'one'), 100, 1000), '--quiet', '--out', out], {
    encoding: 'utf8'
  })
  if (run.status !== 0) throw new Error(`no page\n${run.stderr}`)
  const page = join(out, 'preview/traces.html')
  await report(
    browser,
    `One million tokens, 100 traces, in a page of ${(statSync(page).size / MIB).toFixed(1)} MiB`,
    pathToFileURL(page).href,
    100,
    null
  )
}

async function served(browser: Browser, name: string, file: string, traces: number): Promise<void> {
  const start = performance.now()
  const server = spawn(process.execPath, [RUN, 'explore', file, '--serve'], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let said = ''
      server.stdout.setEncoding('utf8').on('data', (part: string) => {
        said += part
        const found = /^serving: (\S+)/m.exec(said)
        if (found !== null) resolve(found[1])
      })
      server.on('exit', code => reject(new Error(`the server ended with ${code}`)))
    })
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    await report(browser, `${name}, on the server, which read them in ${seconds} s`, url, traces, server)
  } finally {
    server.kill('SIGINT')
  }
}

const work = mkdtempSync(join(tmpdir(), 'critic-traces-bench-'))
const browser = await chromium.launch({
  executablePath: process.env['CRITIC_TRACES_CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox']
})
try {
  line(
    `${cpus()[0].model}, ${cpus().length} cores, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Node ${process.version}, Chromium ${browser.version()}`
  )
  line()
  await embedded(browser, work)
  await served(browser, 'Ten million tokens, 1,000 traces', dump(join(work, 'ten'), 1000, 1000), 1000)
  await served(browser, 'Ten million tokens, one trace', dump(join(work, 'long'), 1, 1_000_000), 1)
} finally {
  await browser.close()
  rmSync(work, { recursive: true, force: true })
}
