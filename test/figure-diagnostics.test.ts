/** The figures of the diagnostics: what is drawn are the numbers of the document, for every design of sample. */
import t, { type Test } from 'tap'
import type { Diagnosis, JumpPair } from '../src/compute/diagnostics/contract.js'
import { compareQuality } from '../src/compute/diagnostics/quality/compare.js'
import type { SamplingDesign } from '../src/schema/diagnostics.js'
import { sweepThresholds } from '../src/compute/diagnostics/quality/changes.js'
import { qualityRecord } from '../src/compute/diagnostics/quality/record.js'
import { NO_NEIGHBOURS, sampleRecord } from '../src/compute/diagnostics/record.js'
import { diagnosedSet, qualityOf, qualityOptions, type SourcedRecord } from '../src/compute/diagnostics/reduce.js'
import { INK } from '../src/render/figures/palette.js'
import { renderFigure } from '../src/render/canvas/index.js'
import type { FigureConfig, PanelConfig } from '../src/render/figures/config.js'
import { buildFigures } from '../src/render/figures/index.js'
import { CLEAN, diagnosticDump, type DumpPlan } from './support/diagnostic-dumps.js'

const PLAN: DumpPlan = { ...CLEAN, samples: 16, steps: 2 }

function recordsOf(plan: DumpPlan): SourcedRecord[] {
  return diagnosticDump(plan).samples.map(sample => {
    const quality = qualityRecord(sample, { successThreshold: 0, thresholds: sweepThresholds(0.1) })
    return {
      record: { index: sample.index, ...sampleRecord(sample, NO_NEIGHBOURS, quality), omitted: [] },
      source: { file: 'a.jsonl', row: sample.index }
    }
  })
}

interface Made {
  readonly plan?: DumpPlan
  readonly sampling?: SamplingDesign
  readonly name?: string
  readonly against?: boolean
  readonly synthetic?: boolean
}

async function diagnosisOf({
  plan = PLAN,
  sampling = 'not stated',
  name = 'a.jsonl',
  against = false,
  synthetic = false
}: Made = {}): Promise<Diagnosis> {
  const settings = { successThreshold: 0, jumpThreshold: 0.1, sampling, history: null }
  const [own, other] = [recordsOf(plan), recordsOf({ ...plan, seed: plan.seed + 1 })]
  const set = (records: readonly SourcedRecord[], of: string) =>
    diagnosedSet(records, {
      source: {
        name: of,
        kind: 'dump',
        format: 'one row a sample',
        mask: null,
        end: null,
        notes: [],
        files: [],
        samples: records.length,
        left_out: 0
      },
      synthetic,
      told: {},
      settings
    })
  const comparison = await compareQuality(qualityOf(own), qualityOf(other), { ...qualityOptions(settings), samplingOfB: sampling })
  return { ...(await set(own, name)), settings, against: against ? { ...(await set(other, 'b.jsonl')), comparison } : null }
}

interface Drawn {
  readonly label: string
  readonly data: readonly { readonly x: number; readonly y: number | null }[]
  readonly fill?: unknown
  readonly borderDash?: readonly number[]
}

function figuresOf(diagnosis: Diagnosis): readonly [quality: FigureConfig, jumps: FigureConfig] {
  const [quality, jumps] = buildFigures({ diagnosis })
  return [quality, jumps]
}

function seriesOf(panel: PanelConfig, label: string): Drawn {
  const found = (panel.chart.data.datasets as unknown as readonly Drawn[]).filter(set => set.label === label)
  if (found.length === 0) throw new Error(`no series ${label}`)
  return found[0]
}

function ys(panel: PanelConfig, label: string): readonly (number | null)[] {
  return seriesOf(panel, label).data.map(({ y }) => y)
}

function labelsOf(panel: PanelConfig): string[] {
  return (panel.chart.data.datasets as unknown as readonly Drawn[]).map(({ label }) => label)
}

function scaleOf(panel: PanelConfig, axis: 'x' | 'y'): { readonly type: string; readonly min: number; readonly max: number } {
  return (panel.chart.options['scales'] as unknown as Record<'x' | 'y', { type: string; min: number; max: number }>)[axis]
}

t.test('lines are values, bands are intervals', async t => {
  const diagnosis = await diagnosisOf()
  const { quality } = diagnosis
  const [figure, jumps] = figuresOf(diagnosis)
  t.equal(figure.name, 'critic-quality')
  t.equal(jumps.name, 'boundary-jumps')
  const [explained, error, reliability, auc, means, errorByStep] = figure.panels
  t.equal(figure.panels.length, 6)
  const all = 'all trajectories'
  t.strictSame(
    ys(explained, all),
    quality.by_decile.map(row => row.explained_variance.value)
  )
  t.strictSame(
    seriesOf(explained, all).data.map(({ x }) => x),
    [5, 15, 25, 35, 45, 55, 65, 75, 85, 95]
  )
  // the band's two edges stand side by side: the first is the upper one, filled down to the next
  const edges = (error.chart.data.datasets as unknown as readonly Drawn[]).filter(({ label }) => label === `${all}, interval`)
  t.strictSame(
    edges.map(({ fill }) => fill),
    ['+1', false]
  )
  t.strictSame(
    edges.map(({ data }) => data.map(({ y }) => y)),
    [quality.by_decile.map(row => row.mse.high), quality.by_decile.map(row => row.mse.low)]
  )
  t.strictSame(
    ys(reliability, all),
    quality.calibration.bins.map(bin => bin.success_rate.value)
  )
  t.strictSame(
    ys(auc, all),
    quality.auc_by_decile.map(estimate => estimate.value)
  )
  t.strictSame(
    ys(means, `${all}, returns`),
    quality.by_step.map(row => row.mean_return.value)
  )
  t.strictSame(
    ys(errorByStep, all),
    quality.by_step.map(row => row.mse.value)
  )
  const [sweep, scatter] = jumps.panels
  t.strictSame(
    ys(sweep, 'between turns'),
    quality.sweep.map(row => row.boundary.value).filter(share => share !== 0)
  )
  t.equal(scaleOf(sweep, 'x').type, 'logarithmic')
  t.strictSame([...seriesOf(scatter, 'success').data, ...seriesOf(scatter, 'failure').data].length, diagnosis.jumps.length)
  t.strictSame(scaleOf(scatter, 'x').min, scaleOf(scatter, 'y').min, 'the diagonal goes from corner to corner')
  t.strictSame(scaleOf(scatter, 'x').max, scaleOf(scatter, 'y').max)
  const first = diagnosis.jumps.find(({ outcome }) => outcome === 'success')
  t.strictSame(seriesOf(scatter, 'success').data[0], { x: first?.internal, y: first?.boundary })
  t.end()
})

t.test('a sample stratified by outcome shows each outcome, and says what is refused', async t => {
  const diagnosis = await diagnosisOf({ sampling: 'stratified by outcome' })
  const [{ panels, texts, description }] = figuresOf(diagnosis)
  t.strictSame(
    panels.map(({ label, title }) => `${label} ${title}`).slice(0, 3),
    ['(a) Explained variance by progress', '(b) Mean squared error by progress', '(c) Success told from failure, by progress'],
    'an empty panel leaves its room to the others'
  )
  t.strictSame(
    ys(panels[1], 'failures'),
    diagnosis.quality.by_outcome.failure?.by_decile.map(row => row.mse.value)
  )
  t.notOk(labelsOf(panels[0]).includes('all trajectories'))
  const reason = 'Not drawn: Reliability: values against outcomes: refused: sample stratified by outcome.'
  t.ok(texts.some(({ text }) => text === reason))
  t.match(description, reason)
  t.end()
})

t.test('two critics share the panels', async t => {
  const diagnosis = await diagnosisOf({ against: true })
  const [quality, jumps] = figuresOf(diagnosis)
  t.equal(quality.texts[0].text, 'How good the critic is: a.jsonl against b.jsonl')
  t.strictSame(
    ys(quality.panels[1], 'b.jsonl'),
    diagnosis.against?.quality.by_decile.map(row => row.mse.value)
  )
  t.strictSame(
    ys(quality.panels[4], 'b.jsonl'),
    diagnosis.against?.quality.by_step.map(row => row.bias.value)
  )
  t.ok((seriesOf(jumps.panels[0], 'between turns, b.jsonl').borderDash?.length ?? 0) > 0, 'dashed')
  t.strictSame(
    jumps.legend.map(({ label }) => label),
    ['between turns', 'inside turns', 'a.jsonl', 'b.jsonl, dashed in (a)']
  )
  t.end()
})

t.test('steps are drawn where there are several', async t => {
  const [{ panels }] = figuresOf(await diagnosisOf({ plan: { ...PLAN, steps: 1 } }))
  t.equal(panels.length, 4)
  t.end()
})

t.test('without a gap between turns the panel says so in its middle, and the legend and the foot leave out what is not there', async t => {
  const [, jumps] = figuresOf(await diagnosisOf({ plan: { ...PLAN, turns: 1, trailing: 0 } }))
  const { plugins, scales } = jumps.panels[1].chart.options as unknown as {
    readonly plugins: { readonly annotation: { readonly annotations: { readonly empty: Readonly<Record<string, unknown>> } } }
    readonly scales: Readonly<Record<'x' | 'y', { readonly min: number; readonly max: number }>>
  }
  const { content, xValue, yValue } = plugins.annotation.annotations.empty
  t.equal(content, 'no trajectory with both kinds of changes')
  t.strictSame([xValue, yValue], [Math.sqrt(scales.x.min * scales.x.max), Math.sqrt(scales.y.min * scales.y.max)], 'of logarithmic axes')
  t.strictSame(
    jumps.legend.map(({ label }) => label),
    ['inside turns']
  )
  t.match(jumps.texts.at(-2)?.text, /^0 transitions between turns, \d+ inside\.$/)
  t.end()
})

t.test('the foot says n and what the bands are, of two sets both', async t => {
  const feet = (diagnosis: Diagnosis): readonly string[] =>
    figuresOf(diagnosis).flatMap(({ texts }) => texts.slice(-2).map(({ text }) => text))
  const diagnosis = await diagnosisOf()
  const { quality, jumps } = diagnosis
  const { boundary, internal } = quality.transitions
  const above = jumps.filter(pair => pair.boundary > pair.internal).length
  t.strictSame(feet(diagnosis), [
    `16 trajectories (${quality.tokens.toLocaleString('en')} tokens). Sampling: not stated.`,
    `Bands: 95 % intervals by bootstrap over ${quality.resampling.units} prompt groups.`,
    `${boundary} transitions between turns, ${internal.toLocaleString('en')} inside; ${above} of 16 above the diagonal of (b).`,
    `Bands: 95 % intervals by bootstrap over ${quality.resampling.units} prompt groups. A share of 0 is not drawn.`
  ])
  const two = figuresOf(await diagnosisOf({ against: true })).flatMap(({ texts }) =>
    texts.filter(({ color, align }) => color === INK.quiet && align === 'left')
  )
  t.equal(two.length, 5, 'the longest is broken into two lines')
  const [counts, bands, transitions] = two.map(({ text }) => text)
  t.match(counts, /^16 trajectories \([\d,]+ tokens\) against 16 trajectories \([\d,]+ tokens\)\./)
  t.match(bands, /over \d+ prompt groups against \d+ prompt groups\.$/)
  t.match(
    transitions,
    /^\d+ against \d+ transitions between turns, [\d,]+ against [\d,]+ inside; \d+ of 16 against \d+ of 16 above the diagonal of$/
  )
  t.end()
})

t.test('of more trajectories than a reader sees every k-th is drawn, and the panel says so', async t => {
  const diagnosis = await diagnosisOf()
  const jumps = Array.from({ length: 5001 }, (_, i): JumpPair => ({ outcome: null, boundary: 0.1 + i * 1e-5, internal: 0.1 }))
  const [, { panels }] = figuresOf({ ...diagnosis, jumps })
  const drawn = seriesOf(panels[1], 'outcome not stated').data
  t.equal(drawn.length, 1667)
  t.equal(drawn[1].y, jumps[3].boundary)
  t.equal(panels[1].title, 'Mean |change|, 1,667 of 5,001 drawn')
  t.end()
})

t.test('synthetic data are called so; a name of the inputs is text', async t => {
  const [synthetic] = figuresOf(await diagnosisOf({ synthetic: true }))
  t.ok(synthetic.texts.some(({ text }) => text === 'synthetic replica'))
  t.match(synthetic.description, /The data are a synthetic replica\.$/)
  const [long] = figuresOf(await diagnosisOf({ name: `\u202e<b>${'x'.repeat(300)}` }))
  t.notMatch(long.texts[0].text, /\u202e/)
  t.match(long.texts[0].text, /…$/, 'cut to the sheet')
  t.end()
})

t.test('every design survives JSON and is drawn in every format', async (t: Test) => {
  for (const made of [
    {},
    { against: true },
    { sampling: 'stratified by outcome' },
    { plan: { ...PLAN, samples: 1 } },
    { plan: { ...PLAN, turns: 1 } }
  ] as const) {
    for (const config of figuresOf(await diagnosisOf(made))) {
      t.strictSame(JSON.parse(JSON.stringify(config)), config)
      t.match(Buffer.from(await renderFigure(config, 'svg')).toString('utf8'), config.title)
      t.equal(
        Buffer.from(await renderFigure(config, 'png'))
          .subarray(1, 4)
          .toString('latin1'),
        'PNG'
      )
      t.equal(
        Buffer.from(await renderFigure(config, 'pdf'))
          .subarray(0, 4)
          .toString('latin1'),
        '%PDF'
      )
    }
  }
})
