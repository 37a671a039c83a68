/**
 * The figures of the diagnostics against their goldens: the exact configuration, and a tolerant picture that sees each thing taken out
 * of it. `UPDATE_GOLDENS=1` writes them anew from what is drawn now.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Diagnosis } from '../../src/compute/diagnostics/contract.js'
import { renderFigure, warmCanvas } from '../../src/render/canvas/index.js'
import type { FigureConfig } from '../../src/render/figures/config.js'
import { buildFigures, plannedFigures } from '../../src/render/figures/index.js'
import { compare, decode, encode, halve } from '../support/compare-pictures.js'
import { FIXTURES, type LooseFigure } from '../support/figure-config.js'

const UPDATE = process.env['UPDATE_GOLDENS'] === '1'
/** What the figures draw of a diagnosis: 36 trajectories in 4 steps. */
const DIAGNOSIS = JSON.parse(await readFile(join(FIXTURES, 'diagnostics.data.json'), 'utf8')) as Diagnosis
const LIMITS = { block: 12, missing: 20 }

await warmCanvas()

interface LooseSeries {
  readonly label: string
  borderDash: readonly number[]
  pointStyle: string
  borderColor: string
  readonly data: unknown[]
}

function seriesIn(figure: LooseFigure, panel: number, label: string): LooseSeries {
  const found = (figure.panels[panel].chart.data.datasets as unknown as LooseSeries[]).find(one => one.label === label)
  if (found === undefined) throw new Error(`no series ${label}`)
  return found
}

/** Takes a series out, or both edges of its band. */
const without =
  (panel: number, label: string) =>
  (figure: LooseFigure): void => {
    const { datasets } = figure.panels[panel].chart.data as { datasets: { label?: string }[] }
    const kept = datasets.filter(one => one.label !== label)
    if (kept.length === datasets.length) throw new Error(`no series ${label}`)
    datasets.splice(0, datasets.length, ...kept)
  }

type Mutation = readonly [name: string, mutate: (figure: LooseFigure) => void]

const ALL = 'all trajectories'
const MUTATIONS: Readonly<Record<string, readonly Mutation[]>> = {
  'critic-quality': [
    ['panel (c)', f => f.panels.splice(2, 1)],
    ['a line', without(1, ALL)],
    ['a band', without(0, `${ALL}, interval`)],
    ['the line at 0.5', without(3, 'guide')],
    ['pairs of one step', without(3, 'pairs of one step')],
    [
      'dashes of the returns',
      f => {
        seriesIn(f, 4, `${ALL}, returns`).borderDash = []
      }
    ],
    ['one point', f => seriesIn(f, 5, ALL).data.splice(2, 1)],
    ['the line at the foot', f => f.texts.pop()],
    ['a legend key', f => f.legend.pop()]
  ],
  'boundary-jumps': [
    ['panel (b)', f => f.panels.splice(1, 1)],
    ['changes inside turns', without(0, 'inside turns')],
    ['a band', without(0, 'between turns, interval')],
    ['the diagonal', without(1, 'guide')],
    ['one trajectory', f => seriesIn(f, 1, 'failure').data.splice(3, 1)],
    [
      'a marker style',
      f => {
        seriesIn(f, 1, 'failure').pointStyle = 'rect'
      }
    ],
    [
      'a colour',
      f => {
        seriesIn(f, 0, 'inside turns').borderColor = '#0072b2'
      }
    ],
    ['a legend key', f => f.legend.pop()]
  ]
}

function nameOf(name: string, ending: string): string {
  return join(FIXTURES, `${name}.${ending}`)
}

for (const config of buildFigures({ diagnosis: DIAGNOSIS })) {
  t.test(`${config.name}: configuration`, async t => {
    const text = `${JSON.stringify(config, null, 1)}\n`
    if (UPDATE) await writeFile(nameOf(config.name, 'config.json'), text)
    // Another release of Node takes another logarithm where the last digit of a position is concerned.
    const rounded = (_key: string, value: unknown): unknown => (typeof value === 'number' ? Number(value.toPrecision(14)) : value)
    t.strictSame(JSON.parse(text, rounded), JSON.parse(await readFile(nameOf(config.name, 'config.json'), 'utf8'), rounded))
    JSON.stringify(config, (key, value: unknown) => {
      if (key === 'size' && typeof value === 'number' && value < 8) t.fail(`${value} points`)
      return value
    })
  })

  t.test(`${config.name}: picture`, async t => {
    const draw = async (of: FigureConfig) => halve(await decode(await renderFigure(of, 'png')))
    const path = nameOf(config.name, 'half.png')
    if (UPDATE) await writeFile(path, encode(await draw(config)))
    const golden = await decode(await readFile(path))
    const differs = ({ block, missing }: { block: number; missing: number }): boolean => block > LIMITS.block || missing > LIMITS.missing
    const difference = compare(golden, await draw(config), config)
    t.notOk(differs(difference), JSON.stringify(difference))
    for (const [name, mutate] of MUTATIONS[config.name]) {
      const changed = structuredClone(config) as unknown as LooseFigure
      mutate(changed)
      const found = compare(golden, await draw(changed as unknown as FigureConfig), config)
      t.ok(differs(found), `seen: ${name}, ${JSON.stringify(found)}`)
    }
  })
}

t.test('both are drawn from the document that a page links to', t => {
  t.strictSame(
    plannedFigures({ diagnosis: DIAGNOSIS }).map(({ config, drawnFrom }) => [config.name, drawnFrom]),
    ['critic-quality', 'boundary-jumps'].map(name => [name, ['training_data/critic-diagnostics.json']])
  )
  t.end()
})
