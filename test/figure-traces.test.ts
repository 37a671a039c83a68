/** Figure 8 on data of others: many traces, one outcome, hundreds of spans, spans of one token, values that do not change. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { CriticTraceFigureData } from '../src/compute/traces/contract.js'
import { renderFigure, warmCanvas } from '../src/render/canvas/index.js'
import { buildFigure08 } from '../src/render/figures/08-critic-traces/index.js'
import { isMany, quantile } from '../src/render/figures/08-critic-traces/summary.js'
import type { FigureConfig } from '../src/render/figures/config.js'
import { COLUMN_SHEET, PAGE_SHEET, type FigureSheet } from '../src/render/figures/sheet.js'
import type { Outcome } from '../src/schema/traces.js'
import { annotationsOf, scalesOf, seriesOf } from './support/figure-config.js'
import { MADE, makeExample, seededRandom, walkExample } from './support/figure-data.js'

await warmCanvas()

const STEP = { outcome: 'success', step: 3, noise: 0.02, jump: 0.1 } as const
const level = (share: number): number => 0.3 + 0.4 * share

function traces(count: number, steps: number, outcomes: readonly Outcome[]): CriticTraceFigureData['traces'] {
  const random = seededRandom(count + steps)
  return Array.from({ length: count }, (_, k) => {
    const outcome = outcomes[k % outcomes.length]
    return { step: 1 + (k % steps), outcome, mean: (outcome === 'success' ? 0.7 : 0.3) + 0.3 * (random() - 0.5), delta: random() - 0.5 }
  })
}

function data(more: Partial<CriticTraceFigureData>): CriticTraceFigureData {
  return { ...MADE, synthetic: false, traces: traces(12, 6, ['success', 'failure']), success: null, failure: null, ...more }
}

const BOTH: readonly Outcome[] = ['success', 'failure']
const spans400 = walkExample(5, { ...STEP, tokens: 6000, spans: 400, level })
const lone = makeExample(
  Array.from({ length: 40 }, (_, k) => 0.5 + 0.1 * Math.sin(k)),
  Array.from({ length: 39 }, (_, k) => k),
  'failure'
)
const CASES = {
  'many-traces': data({ traces: traces(2000, 20, BOTH), success: spans400, failure: lone }),
  'many-steps': data({ traces: traces(2000, 500, BOTH), success: walkExample(6, { ...STEP, tokens: 900, spans: 12, level }) }),
  'one-step': data({ traces: traces(512, 1, BOTH) }),
  'one-outcome': data({ traces: traces(64, 16, ['success']), success: walkExample(7, { ...STEP, tokens: 900, spans: 12, level }) }),
  constant: data({
    traces: traces(20, 10, BOTH).map(trace => ({ ...trace, mean: 0.5, delta: 0 })),
    success: makeExample(new Array(300).fill(0.5), [99, 199], 'success')
  })
} as const

function dataset(config: FigureConfig, panel: number, label: string) {
  return seriesOf(config, panel).find(one => one.label === label)
}

t.test('many traces are a summary of each outcome', async t => {
  // numpy 1.24.2: np.quantile(np.sort([3.0, 1.0, 4.0, 1.0, 5.0, 9.0]), [0.05, 0.25, 0.5, 0.75, 0.95])
  const sorted = [1, 1, 3, 4, 5, 9]
  t.same(
    [0.05, 0.25, 0.5, 0.75, 0.95].map(share => Number(quantile(sorted, share).toFixed(12))),
    [1, 1.5, 3.5, 4.75, 8]
  )
  t.notOk(isMany(traces(40, 20, BOTH).map(({ step }) => step)))
  const places = (count: number, at: number) => Array.from({ length: count }, (_, i) => i % at)
  t.same(
    [places(200, 200), places(201, 201), places(14, 1), places(15, 1)].map(isMany),
    [false, true, false, true],
    'more than 200, or more than 14 at one place'
  )
  t.ok(isMany(traces(64, 1, BOTH).map(({ step }) => step)), 'few, but all at one place')
  const config = buildFigure08(CASES['many-traces'])
  t.equal(config.panels[0].title, 'Mean value (median, quartiles, 5\u201395 %)')
  t.equal(dataset(config, 0, 'success')?.data.length, 10, 'a median for each step')
  const own = CASES['many-traces'].traces.filter(({ outcome, step }) => outcome === 'success' && step === 1).map(({ mean }) => mean)
  const quartiles = dataset(config, 0, 'success, quartiles')
    ?.data.slice(0, 2)
    .map(({ y }) => y)
  const of = Float64Array.from(own).sort()
  t.same(quartiles, [quantile(of, 0.25), quantile(of, 0.75)])
  t.ok(JSON.stringify(config).length < 200_000)
  const steps = buildFigure08(CASES['many-steps'])
  t.equal(dataset(steps, 0, 'failure')?.data.length, 24, 'no more bars than there is room for')
  t.match(steps.description, 'as median, quartiles and range from 5 to 95 % of each outcome, of 2,000 traces')
})

t.test('hundreds of spans: means no wider than their spans, boundaries as a rug', async t => {
  const config = buildFigure08(CASES['many-traces'])
  t.match(dataset(config, 2, 'span mean'), { borderCapStyle: 'butt' })
  const { y } = scalesOf(config, 2)
  const rug = dataset(config, 2, 'turn boundary')
  t.match(rug, { borderDash: [] })
  const tops = rug?.data
    .filter((_, k) => k % 3 === 1)
    .map(point => ((Number(point.y) - y.min) / (y.max - y.min)) * config.panels[2].plot.height)
  t.ok(
    tops?.every(top => Math.abs(top - 4) < 1e-9),
    'ticks of four points'
  )
  t.ok(config.legend.some(({ label }) => label === 'turn boundary (or tick)'))
})

t.test('a span of one token is a dot', async t => {
  const config = buildFigure08(CASES['many-traces'])
  t.equal(dataset(config, 3, 'span of one token')?.data.length, 40)
  t.equal(dataset(config, 3, 'span mean')?.data.length, 0)
})

t.test('one outcome: no empty panel, and a line that says why', async t => {
  const config = buildFigure08(CASES['one-outcome'])
  t.same(
    config.panels.map(({ label }) => label),
    ['(a)', '(b)', '(c)']
  )
  t.ok(config.panels[2].plot.height > buildFigure08(CASES['many-traces']).panels[2].plot.height)
  t.ok(config.texts.some(({ text }) => text === 'No failure example: no trace is a failure.'))
  t.match(config.description, 'Three panels of critic values of made. ')
})

t.test('a jump of 0 has no arrow', async t => {
  const config = buildFigure08(CASES.constant)
  t.same(Object.keys(annotationsOf(config, 2)), [])
  t.match(config.panels[2].title, /; no change at a boundary$/)
})

t.test('the snapshot and the labels of the study are in the picture', async t => {
  const labels = { step: 'Update', value: 'Predicted success', index: 'Token' }
  const config = buildFigure08(
    data({ source: 'run 7/step_100', labels, success: walkExample(7, { ...STEP, tokens: 900, spans: 12, level }) })
  )
  t.equal(config.texts[0].text, 'Critic values by outcome and model turn: run 7/step_100')
  const titles = JSON.stringify(config.panels)
  for (const label of Object.values(labels)) t.ok(titles.includes(`"text":"${label}"`), label)
})

t.test('leaders are short', async t => {
  for (let seed = 1; seed <= 20; seed++) {
    const wave = (share: number): number => 0.5 + 0.4 * Math.sin(share * seed)
    const config = buildFigure08(data({ success: walkExample(seed, { ...STEP, tokens: 3000, spans: 12, level: wave, noise: 0.05 }) }))
    const { plot } = config.panels[2]
    const { x, y } = scalesOf(config, 2)
    const { xMin, xMax, yMin, yMax } = annotationsOf(config, 2)['jumpArrow']
    const across = ((Number(xMax) - Number(xMin)) / (x.max - x.min)) * plot.width
    const down = ((Number(yMax) - Number(yMin)) / (y.max - y.min)) * plot.height
    t.ok(Math.hypot(across, down) <= 60, `seed ${seed}: ${Math.hypot(across, down)} points`)
  }
})

t.test('a heading that is too wide for a column keeps its note', async t => {
  const heading = (sheet: FigureSheet): string => buildFigure08(CASES.constant, sheet).panels[2].title
  t.equal(heading(PAGE_SHEET), 'Success example: step 127, 300 retained tokens in 3 generated spans; no change at a boundary')
  t.equal(heading(COLUMN_SHEET), 'Success example; no change at a boundary')
})

t.test('all are drawn', async t => {
  const folder = process.env['KEEP_PICTURES']
  for (const [name, one] of Object.entries(CASES)) {
    const png = await renderFigure(buildFigure08(one), 'png')
    const column = buildFigure08(one, COLUMN_SHEET)
    t.same(
      column.panels.filter(({ box }) => box.x + box.width > column.width || box.y + box.height > column.height),
      [],
      `${name} in a column`
    )
    t.ok(png.length > 10_000, name)
    if (folder !== undefined) await writeFile(join(folder, `${name}.png`), png)
  }
})
