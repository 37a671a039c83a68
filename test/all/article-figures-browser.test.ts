/** The figures of the replica's article answer to pointer and keyboard, with the numbers of their data files; without script and on paper they are pictures. */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Browser, Locator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import type { FigureReadings, PointReadings } from '../../src/compute/histories/contract.js'
import { open, pageFile, seriousViolations, withBrowser } from '../support/browser-pages.js'
import { becomes } from '../support/cpu.js'
import { describedTables } from '../support/csv-tables.js'
import { runReplica } from '../support/replica-run.js'

const FIGURES = [
  '03-training-by-step',
  '04-training-over-time',
  '05-sao-recipe-training',
  '06-sao-critic-diagnostics',
  '07-multilingual-cases'
] as const
const BY_STEP = '#figure-03-training-by-step'
const METRICS = ['reward', 'validation', 'response_length', 'turns']
const SELECTIONS = ['gspo', 'sao']

const run = await runReplica(t)
const path = pageFile(run, 'article')
const url = pathToFileURL(path).href
const text = readFileSync(path, 'utf8')
type Row = Readonly<Record<string, string>>
const points = rowsOf('wandb/plot_points_with_provenance.csv')

function rowsOf(file: string): readonly Row[] {
  const table = describedTables(run.out).find(({ path }) => path === file)
  if (table === undefined) throw new Error(`no ${file}`)
  return table.rows.map(row => Object.fromEntries(row.map((cell, i) => [table.heading[i], cell ?? ''])))
}

function readingsOf(name: string): FigureReadings {
  const [, json] = new RegExp(`<script type="application/json" id="figure-data-${name}">(.*)</script>`).exec(text) ?? []
  return JSON.parse(json) as FigureReadings
}

t.test('the article is light, and its policy allows the one script by its hash', t => {
  const bytes = gzipSync(text).length
  t.ok(bytes < 1_000_000, `${bytes} bytes with gzip`)
  const scripts = [...text.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script]) => script)
  t.equal(scripts.length, 1)
  const hash = createHash('sha256').update(scripts[0]).digest('base64')
  t.match(text, `script-src 'sha256-${hash}'; base-uri`)
  t.equal([...text.matchAll(/id="figure-data-/g)].length, FIGURES.length)
  t.end()
})

t.test('a page has every point of the file of points, as exact', t => {
  for (const name of FIGURES.slice(0, 2)) {
    const { panels, runs, provenances } = readingsOf(name)
    for (const view of ['step', 'time'] as const) {
      const held = panels.flatMap(({ series }, p) =>
        series.flatMap((one, s) => {
          const columns: PointReadings = one[view]
          const x = columns.x ?? (view === 'step' ? columns.step : columns.hours)
          return columns.value.map((value, k) => ({
            algorithm: SELECTIONS[s],
            metric: METRICS[p],
            x: x[k],
            value,
            source_run: columns.run[k] < 0 ? '' : runs[columns.run[k]].id,
            source_step: columns.step[k],
            provenance: provenances[columns.provenance[k]]
          }))
        })
      )
      const expected = points
        .filter(row => row['view'] === view)
        .map(({ algorithm, metric, x, value, source_run, source_step, provenance }) => ({
          algorithm,
          metric,
          x: Number(x),
          value: Number(value),
          source_run,
          source_step: source_step === '' ? null : Number(source_step),
          provenance
        }))
      const order = METRICS.flatMap(metric =>
        SELECTIONS.flatMap(name => expected.filter(row => row.metric === metric && row.algorithm === name))
      )
      t.ok(expected.length > 500 && order.length === expected.length, `${expected.length} points by ${view}`)
      t.same(held, order, `${name} by ${view}`)
    }
  }
  const { panels, runs } = readingsOf('05-sao-recipe-training')
  const observed = rowsOf('wandb/sao_r6_r7_observed_curves.csv').filter(row => row['selection'] === 'sao_r7' && row['metric'] === 'reward')
  const { step } = panels[0].series[1]
  t.same(
    step.value.map((value, k) => [step.step[k], value, step.hours[k], step.session[k], runs[step.run[k]].id]),
    observed.map(row => [...['step', 'value', 'display_hours', 'session'].map(name => Number(row[name])), row['run']])
  )
  const restarted = observed.filter((row, i) => i > 0 && row['session'] !== observed[i - 1]['session'])
  t.same(
    step.restarts,
    restarted.map(row => Number(row['step'])),
    `${restarted.length} later sessions`
  )
  const norms = readingsOf('06-sao-critic-diagnostics').panels[2].series
  const [, heading] = /Critic gradient norm \((\d+) not shown: not finite\)/.exec(text) ?? []
  t.equal(norms.flatMap(({ step }) => step.gaps).length, Number(heading), 'values that are not finite')
  t.end()
})

/** Cells of the table by row heading. */
function shown(figure: Locator): Promise<Readonly<Record<string, readonly string[]>>> {
  return figure
    .locator('.reader tbody tr')
    .evaluateAll(rows =>
      Object.fromEntries(
        rows.map(row => [row.querySelector('th')?.textContent ?? '', Array.from(row.querySelectorAll('td'), td => td.textContent)])
      )
    )
}

/** What the file of points has at a step, as the table shows it; hours and session stand in another file. */
function expectedAt(step: number): Readonly<Record<string, readonly (string | undefined)[]>> {
  const titles = ['(a) Training reward', '(b) Validation', '(c) Response length', '(d) Turns']
  return Object.fromEntries(
    METRICS.flatMap((metric, p) =>
      SELECTIONS.map((algorithm, s) => {
        const row = points.find(
          row => row['view'] === 'step' && row['algorithm'] === algorithm && row['metric'] === metric && Number(row['x']) === step
        )
        const cell = (name: string): string => (row?.[name] === '' ? '\u2013' : (row?.[name] ?? '\u2013'))
        const cells = [
          row === undefined ? 'none here' : cell('value'),
          ...['trailing_mean', 'source_step', 'source_run', 'provenance'].map(cell)
        ]
        return [`${titles[p]}: ${['GSPO', 'SAO'][s]}`, cells]
      })
    )
  )
}

async function shownWithoutTime(figure: Locator): Promise<Readonly<Record<string, readonly string[]>>> {
  const cells = await shown(figure)
  return Object.fromEntries(
    Object.entries(cells).map(([name, [value, mean, step, , , run, provenance]]) => [name, [value, mean, step, run, provenance]])
  )
}

/** Puts the pointer where a step is in a panel of a picture. */
async function pointAtStep(page: Page, svg: Locator, panel: string, step: number): Promise<void> {
  const { x, y } = await svg.evaluate(
    (svg, { panel, step }) => {
      const { xMin, xMax, xFrom, xTo, yFrom, yTo } = svg.querySelector<SVGGElement>(`g.panel[data-panel="${panel}"]`)?.dataset ?? {}
      const across = Number(xFrom) + ((step - Number(xMin)) / (Number(xMax) - Number(xMin))) * (Number(xTo) - Number(xFrom))
      const place = new DOMPoint(across, (Number(yFrom) + Number(yTo)) / 2)
      const seen = (): DOMPoint => place.matrixTransform((svg as SVGSVGElement).getScreenCTM() ?? undefined)
      window.scrollBy({ top: seen().y - innerHeight / 2, behavior: 'instant' })
      const { x, y } = seen()
      return { x, y }
    },
    { panel, step }
  )
  await page.mouse.move(x, y)
}

function reaches(figure: Locator, status: RegExp): Promise<boolean> {
  return becomes(async () => status.test(await figure.locator('.at').innerText()))
}

async function testPointing(t: Test, browser: Browser): Promise<void> {
  for (const viewport of [
    { width: 1280, height: 900 },
    { width: 390, height: 844 }
  ]) {
    const { page, complaints } = await open(t, browser, url, { viewport })
    const figure = page.locator(BY_STEP)
    const svg = figure.locator(viewport.width === 390 ? '.narrow > svg' : '.wide > svg')
    const height = (): Promise<number> => figure.evaluate(figure => figure.getBoundingClientRect().height)
    const before = await height()
    for (const [panel, step] of [
      ['a', 105],
      ['b', 15],
      ['d', 41],
      ['c', 0]
    ] as const) {
      await pointAtStep(page, svg, panel, step)
      t.ok(await reaches(figure, new RegExp(`^Training step ${step}: \\(${panel}\\)`)), `step ${step} at ${viewport.width} pixels`)
      t.same(await shownWithoutTime(figure), expectedAt(step), 'all runs have the numbers of the file')
      t.equal(await height(), before, 'and nothing moved')
      const guides = await svg.locator('.guide').evaluateAll(lines => lines.map(line => Number(line.getAttribute('x1'))))
      t.equal(guides.length, 4, 'a guide in each panel')
    }
    t.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width, 'nothing is wider than the page')
    t.same(complaints, [])
  }
}

async function testKeys(t: Test, browser: Browser): Promise<void> {
  const { page } = await open(t, browser, url, { viewport: { width: 1280, height: 900 } })
  const figure = page.locator(BY_STEP)
  const stops = await page.evaluate(() =>
    Array.from(
      document.querySelectorAll('.tools'),
      tools => Array.from(tools.querySelectorAll<HTMLElement>('input, button')).filter(c => c.tabIndex >= 0).length
    )
  )
  t.same(
    stops,
    FIGURES.map(() => 1),
    'one stop of the Tab key for each figure'
  )
  const slider = figure.getByRole('slider')
  await slider.focus()
  t.ok(await reaches(figure, /^Training step 0: /))
  await page.keyboard.press('ArrowRight')
  t.ok(await reaches(figure, /^Training step 2: /), 'to the next step that any run has')
  t.same(await shownWithoutTime(figure), expectedAt(2))
  t.match(await slider.getAttribute('aria-valuetext'), /^Training step 2: \(a\) GSPO 0\.53125, SAO /, 'which is heard')
  await page.keyboard.press('End')
  t.ok(await reaches(figure, /^Training step 239: /))
  await page.keyboard.press('ArrowLeft')
  t.ok(await reaches(figure, /^Training step 238: /))
  await page.keyboard.press('Home')
  t.ok(await reaches(figure, /^Training step 0: /))
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  t.ok(await reaches(figure, /^Hours [\d.]+: /), 'Down leads to the other controls')
  await slider.focus()
  await page.keyboard.press('End')
  const last = points.filter(row => row['view'] === 'time').reduce((most, row) => Math.max(most, Number(row['x'])), 0)
  t.ok(await reaches(figure, new RegExp(`^Hours ${last}: `)))
  await figure.getByRole('button', { name: 'Logged values' }).click()
  t.equal(
    (await shown(figure))['(a) Training reward: GSPO'][1] === '\u2013' ||
      (await becomes(async () => (await shown(figure))['(a) Training reward: GSPO'][1] === '\u2013')),
    true,
    'no mean'
  )
}

/** A figure as it is printed, whatever was chosen on the screen, and as it is without script. */
async function testStatic(t: Test, browser: Browser): Promise<void> {
  const { page } = await open(t, browser, url, { viewport: { width: 1280, height: 900 } })
  const { page: plain } = await open(t, browser, url, { viewport: { width: 1280, height: 900 }, javaScriptEnabled: false })
  t.equal(await plain.locator('.reader, .at, .overlay, .tools').count(), 0, 'without script there is no toolbar')
  const figure = page.locator(BY_STEP)
  await pointAtStep(page, figure.locator('.wide > svg'), 'a', 105)
  await reaches(figure, /^Training step 105/)
  await figure.getByRole('button', { name: 'Hours' }).click()
  t.ok(await becomes(() => figure.locator('.wide > svg.redrawn .overlay text').first().isVisible()), 'drawn anew by hours')
  t.notOk(await figure.locator('.wide .panel .series').first().isVisible(), 'in place of the picture')
  for (const each of [page, plain]) await each.emulateMedia({ media: 'print' })
  const pictures = await Promise.all([page, plain].map(each => each.locator(`${BY_STEP} .wide > svg`).screenshot()))
  t.ok(pictures[0].equals(pictures[1]), 'paper has the picture')
  for (const hidden of ['.reader', '.at', '.overlay']) t.notOk(await figure.locator(hidden).first().isVisible(), `${hidden} is not printed`)
  const heights = await Promise.all([page, plain].map(each => each.evaluate(() => document.documentElement.scrollHeight)))
  t.equal(heights[0], heights[1], 'and is as long')
}

/** A panel whose labels are in a power of ten says so when it is drawn anew, as in the picture. */
async function testFactor(t: Test, browser: Browser): Promise<void> {
  const file = join(t.testdir({}), 'article.html')
  writeFileSync(file, text.replace('"divide":1,', '"divide":1e9,'))
  const { page } = await open(t, browser, pathToFileURL(file).href, { viewport: { width: 1280, height: 900 } })
  const figure = page.locator(BY_STEP)
  await figure.getByRole('button', { name: 'Hours' }).click()
  const titles = figure.locator('.wide > svg.redrawn .overlay text[transform]')
  t.ok(await becomes(async () => (await titles.count()) === METRICS.length))
  t.equal(
    await titles.first().textContent(),
    'Mean trajectory score (\u00d710\u207b\u00b9\u00b2)',
    '0.6e-9 is 600 times 10 to the power of -12'
  )
  const labels = await figure.locator('.wide > svg.redrawn .overlay text').allTextContents()
  t.ok(labels.includes('400') && labels.includes('600'), labels.join(' '))
}

await t.test('in a browser', t =>
  withBrowser(async browser => {
    await t.test('pointer', t => testPointing(t, browser))
    await t.test('keyboard', t => testKeys(t, browser))
    await t.test('without script and on paper', t => testStatic(t, browser))
    await t.test('labels in a power of ten', t => testFactor(t, browser))
    await t.test('axe finds nothing serious', async t => {
      for (const options of [
        { viewport: { width: 1280, height: 900 } },
        { viewport: { width: 390, height: 844 } },
        { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' }
      ] as const)
        t.same(await seriousViolations(t, browser, url, options), [])
    })
  })
)
