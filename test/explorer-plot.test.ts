/** The drawing of a trace, in pixels: axes, turn boundaries, curves. Places are worked out by hand from the size of the plot. */
import t from 'tap'
import { LIGHT_COLOURS } from '../src/render/explorer/browser/colours.js'
import { fittedValues, plotScale, plotScene, type PlotCurve, type PlotData } from '../src/render/explorer/browser/plot.js'
import type { Scene, SceneItem } from '../src/render/explorer/browser/scene.js'
import { sceneSvg } from '../src/render/explorer/browser/svg.js'
import { paneTraces } from '../src/render/explorer/browser/sources.js'
import { FIRST_STATE } from '../src/render/explorer/browser/address.js'
import type { ExplorerDocument } from '../src/render/explorer/contract.js'
import { traceTokens, viewOf } from '../src/render/explorer/view.js'

/** A trace whose turns begin behind a gap of positions. */
function curve(values: readonly number[], starts: readonly number[] = [], more: Partial<PlotCurve> = {}): PlotCurve {
  const steps = Int32Array.from(values, (_, i) => (starts.includes(i) ? 5 : 1))
  const tokens = traceTokens(Float64Array.from(values), new Float64Array(values.length), steps)
  return { view: viewOf(tokens, { from: 0, to: values.length, buckets: values.length }), colour: 'red', stretch: 1, dashed: false, ...more }
}

/** 38 pixels stand left of the plot, 12 right of it, 16 above and 34 below: 100 by 100 remain. */
function data(curves: readonly PlotCurve[], more: Partial<PlotData> = {}): PlotData {
  return {
    width: 150,
    height: 150,
    range: [0, 10],
    values: { min: -1, max: 1 },
    progressOf: null,
    curves,
    colours: LIGHT_COLOURS,
    labelPixels: text => 4 * text.length,
    ...more
  }
}

const TEN = [0, 0.5, 1, -1, 0, 0, 0, 0, 0, 0]

function places({ points }: { readonly points: ArrayLike<number> }): number[] {
  return Array.from(points)
}

function lines(scene: Scene, layer: number): Extract<SceneItem, { kind: 'line' }>[] {
  return scene.layers[layer].items.filter(item => item.kind === 'line')
}

function texts(scene: Scene): (readonly [string, number, number])[] {
  return scene.layers[0].items.flatMap(item => (item.kind === 'text' ? [[item.text, item.x, item.y] as const] : []))
}

t.test('a token is in the middle of its place, and a larger value higher', t => {
  const scale = plotScale(data([]))
  t.strictSame(scale.box, { x: 38, y: 16, width: 100, height: 100 })
  t.strictSame([0, 4.5, 9].map(scale.x), [43, 88, 133])
  t.strictSame([43, 88, 133].map(scale.token), [0, 4.5, 9])
  t.strictSame([1, 0, -1].map(scale.y), [16, 66, 116])
  t.strictSame(plotScale(data([], { range: [20, 25] })).x(20), 48)
  t.equal(plotScale(data([], { labelPixels: () => 30 })).box.x, 44, 'as much room as the labels need')
  t.end()
})

t.test('axes', t => {
  const scene = plotScene(data([curve(TEN)], { height: 190 }))
  t.strictSame(texts(scene), [
    ['\u22121', 31, 160],
    ['0', 31, 90],
    ['1', 31, 20],
    ['value', 31, 11],
    ['0', 43, 172],
    ['5', 93, 172],
    ['token', 88, 186]
  ])
  const [grid, zero, base, ticks] = lines(scene, 0).map(places)
  t.strictSame(grid, [38, 156, 138, 156, 38, 86, 138, 86, 38, 16, 138, 16])
  t.strictSame(zero, [38, 86, 138, 86], 'zero where it lies inside')
  t.strictSame(base, [38, 156, 138, 156])
  t.strictSame(ticks, [43, 156, 43, 160, 93, 156, 93, 160])
  for (const min of [0, 0.5]) t.strictSame(places(lines(plotScene(data([], { values: { min, max: 1 } })), 0)[1]), [])
  t.end()
})

t.test('progress is from 0 at the first token to 1 at the last', t => {
  t.strictSame(texts(plotScene(data([curve(TEN)], { progressOf: 10 }))).slice(-3), [
    ['0', 43, 132],
    ['1', 133, 132],
    ['progress through the trace', 88, 146]
  ])
  t.end()
})

t.test('where labels are in a power of ten, the title of their axis states it', t => {
  const large = texts(plotScene(data([], { values: { min: 0, max: 2e14 } })))
  t.strictSame(large.slice(0, 3), [
    ['0', 31, 120],
    ['200', 31, 20],
    ['value (\u00d710\u00b9\u00b2)', 52, 11]
  ])
  const early = texts(plotScene(data([], { progressOf: 1_000_001 })))
  t.strictSame(early.at(-1)?.[0], 'progress through the trace (\u00d710\u207b\u2076)')
  t.strictSame(early.slice(-3, -1), [
    ['0', 43, 132],
    ['5', 93, 132]
  ])
  t.end()
})

t.test('boundaries stand between the tokens: lines, or ticks where they are dense', t => {
  const bounds = (starts: readonly number[], more: Partial<PlotData> = {}, of: Partial<PlotCurve> = {}) => {
    const [line] = lines(plotScene(data([curve(TEN, starts, of)], more)), 1)
    return { points: places(line), dash: line.dash }
  }
  t.strictSame(bounds([2, 6]), { points: [58, 16, 58, 116, 98, 16, 98, 116], dash: [2, 3] })
  t.strictSame(bounds([2, 3]), { points: [58, 16, 58, 116, 68, 16, 68, 116], dash: [2, 3] }, 'ten pixels apart')
  t.strictSame(bounds([2, 3], { range: [0, 20] }), { points: [48, 116, 48, 110, 53, 116, 53, 110], dash: undefined }, 'five')
  t.strictSame(bounds([2, 3, 6], { range: [0, 200] }).points, [39, 116, 39, 110, 41, 116, 41, 110], 'one a pixel')
  t.strictSame(bounds([2], {}, { stretch: 2 }).points, [73, 16, 73, 116], 'of a trace that is stretched')
  t.end()
})

t.test('curves, and dots where tokens are five pixels apart', t => {
  const scene = plotScene(data([curve([0, 1, -1])]))
  const [, line] = lines(scene, 1)
  t.strictSame([places(line), line.dash], [[43, 66, 53, 16, 63, 116], undefined])
  const radii = (curves: readonly PlotCurve[], range: PlotData['range']): number[] =>
    plotScene(data(curves, { range })).layers[1].items.flatMap(item => (item.kind === 'dots' ? [item.radius] : []))
  t.strictSame(radii([curve(TEN)], [0, 20]), [5 / 3])
  t.strictSame(radii([curve(TEN)], [0, 21]), [])
  t.strictSame(radii([curve(TEN)], [0, 4]), [4], 'no larger')
  t.strictSame(radii([curve([1])], [0, 1000]), [0.1 / 3], 'a single token is seen')
  const both = lines(plotScene(data([curve([0, 1]), curve([1, 0], [], { stretch: 3, dashed: true })])), 1)
  t.strictSame(
    [places(both[2]), both[2].dash],
    [
      [43, 16, 73, 66],
      [5, 2]
    ]
  )
  t.strictSame(scene.layers[1].clip, { x: 37, y: 14, width: 102, height: 104 })
  t.end()
})

t.test('the value axis fits what is in view, with a twentieth of it above and below', t => {
  const { min, max } = fittedValues([curve([0, 1]).view, curve([-1, 0.5]).view])
  t.same([min.toFixed(12), max.toFixed(12)], ['-1.100000000000', '1.100000000000'])
  const none = fittedValues([])
  t.same([none.min.toFixed(12), none.max.toFixed(12)], ['-0.050000000000', '1.050000000000'])
  t.end()
})

t.test('the last tokens of two traces are in one place by progress, and of one token alone at its beginning', t => {
  const traces = { tokens: [11, 101, 1], outcome: ['success', null, 'failure'] }
  const page = { snapshots: [{ traces }] } as unknown as ExplorerDocument
  const stretch = (trace: number, overlay: number) =>
    paneTraces(page, { ...FIRST_STATE, trace, overlay, by: 'progress' }, LIGHT_COLOURS).map(each => each.stretch)
  t.strictSame(stretch(0, 1), [1, 0.1])
  t.strictSame(stretch(0, 2), [1, 10])
  t.strictSame(stretch(2, 0), [1, 0.1])
  t.end()
})

t.test('an SVG draws strokes by pairs, and cuts at the plot', t => {
  const svg = sceneSvg(plotScene(data([curve([0, 1], [1])])))
  t.match(svg, '<clipPath id="clip-1"><rect x="37" y="14" width="102" height="104"/></clipPath>')
  t.match(svg, '<g clip-path="url(#clip-1)">')
  t.match(svg, '<path d="M43 116L43 120M93 116L93 120" ')
  t.match(svg, '<path d="M48 16L48 116" ')
  t.match(svg, '<path d="M43 66L53 16" ')
  t.match(svg, '<circle cx="43" cy="66" r="3.3333333333333335"/>')
  t.end()
})
