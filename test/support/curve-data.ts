/**
 * Made-up curve figures from a seeded generator, of the size and shape of a training report's: five figures of four panels
 * and two series. Shaped like training histories; measured from nothing.
 */
import type { CurveFigureData, CurvePanelData, CurveSeriesData } from '../../src/compute/histories/contract.js'
import { seededRandom } from './figure-data.js'

function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

/** In the plainest way: at every point the mean of it and of up to nine before it. */
export function trailingMean(values: readonly number[], window = 10): number[] {
  return values.map((_, i) => {
    const part = values.slice(Math.max(0, i + 1 - window), i + 1)
    return part.reduce((sum, value) => sum + value, 0) / part.length
  })
}

function range(from: number, to: number, step = 1): number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, k) => from + k * step)
}

interface Shape {
  readonly title: string
  readonly slot: number
  readonly x: readonly number[]
  /** level at the share t of the series, and the spread about it */
  level(t: number, random: () => number): number
  readonly smooth?: boolean
  readonly marks?: CurveSeriesData['marks']
}

function series(seed: number, { title, slot, x, level, smooth = true, marks = [] }: Shape): CurveSeriesData {
  const random = seededRandom(seed)
  const y = x.map((_, i) => level(x.length === 1 ? 0 : i / (x.length - 1), random))
  return { title, slot, x, y, smooth: smooth ? trailingMean(y) : null, supplied: [], gaps: [], restarts: [], marks }
}

type PanelShape = Pick<CurvePanelData, 'title' | 'yTitle'> & Partial<CurvePanelData> & { readonly series: readonly CurveSeriesData[] }

function panel(shape: PanelShape): CurvePanelData {
  return { scale: { kind: 'linear' }, sparse: false, guides: [], ...shape }
}

/** A level that rises from a to b as training does, with noise of the given width. */
function rise(a: number, b: number, noise: number, speed = 3): Shape['level'] {
  return (t, random) => a + ((b - a) * (1 - Math.exp(-speed * t))) / (1 - Math.exp(-speed)) + noise * gaussian(random)
}

interface Pair {
  readonly titles: readonly [string, string]
  readonly x: readonly [readonly number[], readonly number[]]
  readonly validation: readonly [readonly number[], readonly number[]]
  readonly marks?: CurveSeriesData['marks']
}

function fourPanels(seed: number, { titles, x, validation, marks = [] }: Pair): CurvePanelData[] {
  const two = (offset: number, levels: readonly [Shape['level'], Shape['level']]): CurveSeriesData[] =>
    levels.map((level, k) => series(seed + offset + k, { title: titles[k], slot: k, x: x[k], level }))
  const sparse = ([a, b]: readonly [Shape['level'], Shape['level']]): CurveSeriesData[] =>
    [a, b].map((level, k) => {
      const own = series(seed + 10 + k, { title: titles[k], slot: k, x: validation[k], level, smooth: false })
      return { ...own, x: [...marks.map(mark => mark.x), ...own.x], y: [...marks.map(mark => mark.y), ...own.y], marks }
    })
  return [
    panel({ title: 'Reward', yTitle: 'Mean score', series: two(0, [rise(0.42, 0.56, 0.03), rise(0.4, 0.53, 0.045)]) }),
    panel({
      title: 'Validation',
      yTitle: 'Validation score (%)',
      sparse: true,
      series: sparse([rise(62.5, 67.6, 0.5), rise(63.5, 69.2, 0.7)])
    }),
    panel({ title: 'Response length', yTitle: 'Tokens (thousands)', series: two(20, [rise(16, 24, 0.9), rise(18, 33, 1.8)]) }),
    panel({ title: 'Turns', yTitle: 'Mean turns', series: two(30, [rise(42, 58, 1.8), rise(40, 76, 3)]) })
  ]
}

function diagnostics(): CurvePanelData[] {
  const titles = ['SAO r6', 'SAO r7'] as const
  const x = [range(1, 124), range(1, 239)] as const
  const two = (seed: number, levels: readonly [Shape['level'], Shape['level']], smooth = true): CurveSeriesData[] =>
    levels.map((level, k) => series(seed + k, { title: titles[k], slot: k, x: x[k], level, smooth }))
  const explained =
    (start: number, scale: number): Shape['level'] =>
    (t, random) =>
      t < scale
        ? -start * Math.exp((-8 * t) / scale) * (0.6 + 0.8 * random()) + 0.2 * gaussian(random)
        : 0.25 + 0.35 * t + 0.12 * gaussian(random)
  const norm =
    (start: number, end: number, spread: number): Shape['level'] =>
    (t, random) => {
      const level = Math.log(start) + (Math.log(end) - Math.log(start)) * Math.min(1, 4 * t)
      return random() < 0.01 ? 0 : Math.exp(level + spread * gaussian(random))
    }
  return [
    panel({
      title: 'Critic explained variance',
      yTitle: 'Explained variance',
      scale: { kind: 'symlog', linear_to: 1 },
      series: two(60, [explained(4000, 0.18), explained(12, 0.1)])
    }),
    panel({ title: 'Advantage mean', yTitle: 'Advantage', series: two(70, [rise(-0.05, 0.01, 0.02), rise(-0.004, 0, 0.006)], false) }),
    panel({
      title: 'Critic gradient norm',
      yTitle: 'Gradient norm',
      scale: { kind: 'log' },
      guides: [
        { value: 1, label: 'r6 clip at 1', series: 0 },
        { value: 10, label: 'r7 clip at 10', series: 1 }
      ],
      series: two(80, [norm(900, 8, 0.5), norm(60, 14, 0.45)])
    }),
    panel({ title: 'Actor gradient norm', yTitle: 'Gradient norm', series: two(90, [rise(0.12, 0.2, 0.03), rise(0.1, 0.14, 0.02)]) })
  ]
}

/** Figures 3 to 7. */
export function curveFigureData(): CurveFigureData[] {
  const synthetic = true
  const comparison = { titles: ['GSPO', 'SAO'] } as const
  const recipes = { titles: ['SAO r6', 'SAO r7'] } as const
  const cases = { titles: ['OpenHands SDK training', 'Three-harness mixed training'] } as const
  const hours = (steps: readonly number[], each: number): number[] => steps.map((step, k) => step * each + 0.3 * Math.sin(k))
  const [gspo, sao] = [range(1, 125), range(0, 239)]
  return [
    {
      synthetic,
      name: '03-training-by-step',
      title: 'Training dynamics by step',
      xTitle: 'Training step',
      drawnFrom: [],
      panels: fourPanels(100, { ...comparison, x: [gspo, sao], validation: [range(0, 125, 5), range(0, 235, 5)] })
    },
    {
      synthetic,
      name: '04-training-over-time',
      title: 'Training dynamics over time',
      xTitle: 'Time (hours)',
      drawnFrom: [],
      panels: fourPanels(200, {
        ...comparison,
        x: [hours(gspo, 1.25), hours(range(0, 291), 0.19).sort((a, b) => a - b)],
        validation: [hours(range(0, 125, 5), 1.25), hours(range(0, 290, 5), 0.19)]
      })
    },
    {
      synthetic,
      name: '05-sao-recipe-training',
      title: 'SAO recipes: training',
      xTitle: 'Training step',
      drawnFrom: [],
      panels: fourPanels(300, {
        ...recipes,
        x: [range(1, 124), range(1, 239)],
        validation: [range(20, 120, 10), range(20, 235, 5)],
        marks: [{ x: 0, y: 64, label: '64.0 %' }]
      })
    },
    {
      synthetic,
      name: '06-sao-critic-diagnostics',
      title: 'SAO recipes: critic diagnostics',
      xTitle: 'Training step',
      drawnFrom: [],
      panels: diagnostics()
    },
    {
      synthetic,
      name: '07-multilingual-cases',
      title: 'Multilingual cases',
      xTitle: 'Training step',
      drawnFrom: [],
      panels: fourPanels(400, { ...cases, x: [range(1, 108), range(21, 201)], validation: [range(20, 100, 10), range(20, 200, 5)] })
    }
  ]
}
