/** What the explorer's script computes without a browser: filters, order, address, ranges of tokens, pieces of text, files. */
import t from 'tap'
import { FIRST_STATE, formatHash, parseHash, type PaneState } from '../src/render/explorer/browser/address.js'
import {
  cellText,
  shortNumber,
  traceCell,
  TRACE_COLUMNS,
  type ColumnId,
  type ColumnKind,
  type TraceCell
} from '../src/render/explorer/browser/columns.js'
import { csvLead, csvRows, headedScene } from '../src/render/explorer/browser/exports.js'
import { parseFilter } from '../src/render/explorer/browser/filter.js'
import { jumpCaption } from '../src/render/explorer/browser/jump-list.js'
import { Newest } from '../src/render/explorer/browser/newest.js'
import { traceRows } from '../src/render/explorer/browser/order.js'
import { exactNumber } from '../src/render/explorer/browser/read-out.js'
import { ownRange, ownToken } from '../src/render/explorer/browser/sources.js'
import { sceneSvg } from '../src/render/explorer/browser/svg.js'
import { firstTokens, firstNotBelow, rangeWith, tokenFacts, zoomedRange, type TokenRange } from '../src/render/explorer/browser/tokens.js'
import { ownPieces, piecesAround, shownText, spreadPieces } from '../src/render/explorer/browser/turn-pieces.js'
import type { ExplorerDocument, ExplorerTraces } from '../src/render/explorer/contract.js'
import { traceTokens, viewOf } from '../src/render/explorer/view.js'
import { shortened } from '../src/render/page/text.js'

const TRACES: ExplorerTraces = {
  step: [10, null, 10, 20],
  outcome: ['success', 'failure', null, 'failure'],
  score: [1, 0, null, 0],
  uid: ['Group-B', null, 'group-a', 'group-b'],
  tokens: [100, 5, 2000, 1],
  turns: [3, 1, 40, 1],
  mean: [0.5, -0.25, 0.5, 1e-7],
  delta: [0.1, -0.2, 0.3, 0],
  rmse: [0.1, 0.1, 0.1, 0.1],
  largestChange: [0.2, -0.9, 0.3, null],
  largestAt: [4, 2, 77, null],
  sparks: ''
}

const PAGE: ExplorerDocument = {
  generator: { name: 'critic-traces', version: '0.0.0' },
  tokens: 'embedded',
  texts: false,
  snapshots: ['one', 'two'].map(name => ({
    name,
    synthetic: true,
    snapshotTime: null,
    tokens: 2106,
    jumpThreshold: 0.1,
    valueRange: [-1, 1],
    traces: TRACES,
    jumps: { trace: [], at: [], change: [], turn: [], boundary: [] }
  }))
}

t.test('filters', t => {
  const cases: readonly (readonly [ColumnKind, string, readonly TraceCell[], readonly TraceCell[]])[] = [
    ['number', '>0.2', [0.21, 5], [0.2, -1, null]],
    ['number', '>= 0.2', [0.2], [0.19, null]],
    ['number', '<\u22120.5', [-0.6], [-0.5, 0, null]],
    ['number', '<=1e2', [100, -3], [101]],
    ['number', '3', [3], [3.0001, null]],
    ['number', '=-.5', [-0.5], [0.5]],
    ['number', '10..20', [10, 20, 15], [9.99, 20.01, null]],
    ['number', '-1..', [-1, 7], [-2, null]],
    ['number', '..-1', [-1, -7], [0, null]],
    ['number', '>1 <3', [2], [1, 3]],
    ['number', 'none', [null], [0]],
    ['number', '', [0, null], []],
    ['text', 'OUP-b', ['Group-B', 'group-b'], ['group-a', null]],
    ['text', 'none', [null], ['none']],
    ['text', '"none"', ['nonesuch'], [null, 'x']],
    ['text', '.*', ['a.*b'], ['ab']],
    ['outcome', 'failure', ['failure'], ['success', null]],
    ['outcome', 'none', [null], ['success']]
  ]
  for (const [kind, text, pass, fail] of cases) {
    const test = parseFilter(kind, text)
    for (const cell of pass) t.equal(test?.(cell), true, `${text} lets ${cell} pass`)
    for (const cell of fail) t.equal(test?.(cell), false, `${text} holds ${cell} back`)
  }
  const shown = parseFilter('number', '0.296', value => Number(value.toFixed(3)))
  t.strictSame(
    [0.296, 0.29612, 0.2957, 0.2967, 0.3, null].map(cell => shown?.(cell)),
    [true, true, true, false, false, false],
    'as cells show it'
  )
  for (const text of ['>', 'zz', '20..10', '..', '1..2..3', '> 1 x', '0x10', '1e', 'NaN', '>>1'])
    t.equal(parseFilter('number', text), null, `${text} is none`)
  t.equal(parseFilter('outcome', 'maybe'), null)
  t.end()
})

t.test('order of the table', t => {
  const rows = (filters: Parameters<typeof traceRows>[1], sort: Parameters<typeof traceRows>[2]) => [...traceRows(TRACES, filters, sort)]
  t.same(rows({}, null), [0, 1, 2, 3])
  t.same(rows({}, { column: 'step', down: false }), [0, 2, 3, 1], 'what is not stated comes last')
  t.same(rows({}, { column: 'step', down: true }), [3, 0, 2, 1], 'in both directions, and equal ones keep their order')
  t.same(rows({}, { column: 'jump', down: true }), [1, 2, 0, 3], 'jumps by their size')
  t.same(rows({}, { column: 'uid', down: false }), [0, 2, 3, 1])
  t.same(rows({ outcome: 'failure', tokens: '>1' }, null), [1])
  t.same(
    [...traceRows({ ...TRACES, mean: [0.29612, -0.25, 0.2966, 1.234e-7] }, { mean: '0.296' }, null)],
    [0],
    'the number that a cell shows'
  )
  t.same([...traceRows({ ...TRACES, mean: [0.29612, -0.25, 0.2966, 1.234e-7] }, { mean: '1.23e-7' }, null)], [3])
  t.same(rows({ delta: '\u22120.2' }, null), [1])
  t.same(rows({ tokens: '2000' }, null), [2])
  t.same(rows({ delta: 'zz' }, null), [0, 1, 2, 3], 'what is no filter filters nothing')
  t.equal(traceCell(TRACES, 'trace', 2), 2)
  t.end()
})

t.test('the address', t => {
  const pane: PaneState = {
    snapshot: 1,
    trace: 2,
    range: [10, 21],
    cursor: 12,
    overlay: 0,
    by: 'progress',
    fit: true,
    sort: { column: 'jump', down: true },
    filters: { uid: 'a&b=c #%', delta: '>0.2 <3' },
    tab: 'jumps'
  }
  for (const state of [[FIRST_STATE], [pane], [FIRST_STATE, pane], [pane, FIRST_STATE]]) {
    t.same(parseHash(formatHash(state), PAGE), { state, lost: [] }, formatHash(state))
  }
  t.equal(formatHash([{ ...FIRST_STATE, trace: 3, range: [0, 1] }]), '#t=3&r=0-0')
  t.same(parseHash('', PAGE), { state: [FIRST_STATE], lost: [] })
  for (const [hash, lost] of [
    ['#t=4', ['t']],
    ['#t=-1&c=x', ['t', 'c']],
    ['#o=0', ['o']],
    ['#o=4', ['o']],
    ['#t=1e0', ['t']],
    ['#s=2&s=9', ['s']],
    ['#r=5-100', ['r']],
    ['#r=9-5', ['r']],
    ['#r=1-2-3', ['r']],
    ['#c=100', ['c']],
    ['#sort=__proto__&tab=x&by=1&fit=0', ['by', 'fit', 'sort', 'tab']],
    ['#f.nothing=1&zz=%3Cb%3E', ['f.nothing', 'zz']]
  ] as const) {
    const parsed = parseHash(hash, PAGE)
    t.same([...parsed.lost].sort(), [...lost].sort(), hash)
    t.same(parsed.state, [FIRST_STATE], `${hash}: what is wrong changes nothing`)
  }
  t.same(parseHash('#2.t=9', PAGE).lost, ['2.t'])
  t.equal(parseHash('#t=0&o=2&r=0-1999', PAGE).state[0].range?.[1], 2000, 'by token the axis is as long as the longer trace')
  t.same(parseHash('#t=0&o=2&by=progress&r=0-1999', PAGE).lost, ['r'], 'by progress as long as the chosen one')
  t.end()
})

t.test('zooming keeps the token in place and changes the range by a token at least', t => {
  t.same(zoomedRange([0, 100], 50, 0.5, 100), [25, 75])
  t.same(zoomedRange([0, 100], 0, 0.5, 100), [0, 50])
  t.same(zoomedRange([50, 52], 51, 0.9, 100), [51, 52], 'down to a token')
  t.same(zoomedRange([51, 52], 51, 0.5, 100), [51, 52])
  t.same(zoomedRange([51, 52], 51, 1.01, 100), [51, 53])
  t.same(zoomedRange([0, 100], 99, 4, 120), [0, 120])
  t.same(zoomedRange([90, 100], 95, 2, 100), [80, 100], 'inside the trace')
  for (let tokens = 1; tokens < 40; tokens++) {
    let range: TokenRange = [0, tokens]
    for (let k = 0; k < 60; k++) range = zoomedRange(range, tokens >> 1, 0.8, tokens)
    t.same(range, [tokens >> 1, (tokens >> 1) + 1], `to the middle of ${tokens}`)
  }
  t.same(rangeWith([10, 20], 19, 100), [10, 20])
  t.same(rangeWith([10, 20], 20, 100), [15, 25])
  t.same(rangeWith([10, 20], 99, 100), [90, 100])
  t.end()
})

t.test('single tokens of a view', t => {
  const values = Float64Array.from([0.5, 0.25, 0.75, 1, 0])
  const view = viewOf(traceTokens(values, new Float64Array(5).fill(1), Int32Array.from([7, 1, 4, 1, 1])), { from: 0, to: 5, buckets: 5 })
  t.same(firstTokens(view), [0, 2])
  t.same(tokenFacts(view, 2), { index: 2, value: 0.75, return: 1, change: 0.5, position: 12, turn: 1 })
  t.equal(tokenFacts(viewOf(traceTokens(values, values, new Int32Array(5).fill(1)), { from: 1, to: 5, buckets: 1 }), 0), null)
  t.same([firstNotBelow([1, 3, 5], 0), firstNotBelow([1, 3, 5], 3), firstNotBelow([1, 3, 5], 4), firstNotBelow([1, 3, 5], 9)], [0, 1, 2, 3])
  t.equal(
    csvRows(view, 'x,0,'),
    'x,0,,0,7,1,0.5,1,\r\nx,0,,1,8,1,0.25,1,-0.25\r\nx,0,,2,12,2,0.75,1,0.5\r\nx,0,,3,13,2,1,1,0.25\r\nx,0,,4,14,2,0,1,-1\r\n',
    'turns count from 1, as on the page'
  )
  t.end()
})

t.test('texts of a source in a CSV and in a heading', t => {
  t.equal(csvLead('snap', 3, 'a\u202eb\u0000c'), 'snap,3,a\\u202eb\\u0000c', 'what cannot be seen is an escape')
  t.equal(csvLead('snap', 3, null), 'snap,3,')
  t.equal(shortened('x'.repeat(10_000), 80), `${'x'.repeat(79)}\u2026`)
  t.equal(shortened('\u{1f600}'.repeat(81), 80), `${'\u{1f600}'.repeat(79)}\u2026`, 'no character is cut in two')
  for (const text of ['', 'x'.repeat(80), '\u{1f600}'.repeat(80)]) t.equal(shortened(text, 80), text)
  t.end()
})

t.test('numbers of cells and of the read-out', t => {
  const short: readonly (readonly [number, string])[] = [
    [0, '0.000'],
    [0.00099, '9.90e-4'],
    [0.001, '0.001'],
    [-99.9994, '\u221299.999'],
    [100, '100.0'],
    [-99999.94, '\u221299999.9'],
    [100000, '1.00e+5']
  ]
  for (const [value, text] of short) t.equal(shortNumber(value), text)
  t.strictSame([shortNumber(0.5, true), shortNumber(0, true), shortNumber(-0.5, true)], ['+0.500', '0.000', '\u22120.500'])
  const cell = (id: ColumnId, value: TraceCell): string[] =>
    TRACE_COLUMNS.filter(column => column.id === id).map(column => cellText(column, value))
  t.strictSame(
    [cell('step', 1234), cell('tokens', 1234), cell('mean', 0.5), cell('delta', 0.5), cell('uid', 'a'), cell('step', null)].flat(),
    ['1234', '1,234', '0.500', '+0.500', 'a', '\u2013']
  )
  t.strictSame([0.1, -1e-7, -0, NaN].map(exactNumber), ['0.1', '\u22121e-7', '\u22120', '\u2013'])
  t.end()
})

t.test('the heading of a picture moves all of it down', t => {
  const layer = {
    clip: { x: 1, y: 2, width: 3, height: 4 },
    items: [
      { kind: 'line', points: [1, 2, 3, 4], stroke: 'red', width: 1 },
      { kind: 'dots', points: [5, 6], fill: 'red', radius: 1 },
      { kind: 'box', box: { x: 1, y: 2, width: 3, height: 4 }, fill: 'red' },
      { kind: 'text', x: 7, y: 8, text: 'a', align: 'left', fill: 'red', size: 11 }
    ]
  } as const
  const { width, height, layers } = headedScene({ width: 10, height: 20, background: 'white', layers: [layer] }, 'title', 'under')
  t.strictSame([width, height, layers[1].clip], [10, 60, { x: 1, y: 42, width: 3, height: 4 }])
  t.match(layers[0].items, [{ text: 'title' }, { text: 'under' }])
  t.match(layers[1].items, [{ points: [1, 42, 3, 44] }, { points: [5, 46] }, { box: { x: 1, y: 42 } }, { x: 7, y: 48 }])
  t.end()
})

t.test('the caption of the jumps', t => {
  t.equal(jumpCaption(0, 0.5), 'No change between two tokens of a trace is above 0.5, the threshold of a jump.')
  t.equal(jumpCaption(1500, 0.1), 'The 1,500 largest changes of all traces. Above 0.1 a change counts as a jump.')
  t.end()
})

t.test('two traces share an axis', t => {
  const trace = (tokens: number, stretch: number) => ({ trace: 0, tokens, stretch, colour: '', dashed: false })
  t.same(ownRange(trace(10, 1), [5, 30]), [5, 10])
  t.equal(ownRange(trace(10, 1), [10, 30]), null)
  // 101 tokens over an axis of 11: ten tokens for one of the axis
  t.same(ownRange(trace(101, 0.1), [2, 4]), [20, 31])
  t.equal(ownToken(trace(101, 0.1), 10), 100)
  t.equal(ownToken(trace(10, 1), 10), null)
  t.end()
})

t.test('pieces of text', t => {
  t.equal(shownText('a\u202eb\u0007\r\n\tc\u200b'), 'a\\u202eb\\u0007\\u000d\u21b5\n\tc\\u200b')
  t.same(ownPieces(['a', '', '<b>'], [1, 3]), [
    { text: '\u00b7', token: 1 },
    { text: '<b>', token: 2 }
  ])
  const pieces = spreadPieces('abcdefghij', 4, [0, 4])
  t.same(
    pieces.map(({ text }) => text),
    ['ab', 'cde', 'fg', 'hij']
  )
  t.same(
    spreadPieces('ab', 4, [0, 4]).map(({ token, text }) => [token, text]),
    [
      [1, 'a'],
      [3, 'b']
    ]
  )
  t.same(
    spreadPieces('a\u{1f600}b', 3, [0, 3]).map(({ text }) => text),
    ['a', '\u{1f600}', 'b'],
    'no character is cut in two'
  )
  t.equal(
    spreadPieces('x'.repeat(12345), 777, [0, 777])
      .map(({ text }) => text)
      .join('').length,
    12345,
    'nothing is lost'
  )
  t.same(piecesAround(5, 4000), [0, 4000])
  t.same(piecesAround(10_000, 20_000), [8000, 12_000])
  t.same(piecesAround(19_999, 20_000), [16_000, 20_000])
  t.end()
})

t.test('an SVG holds texts as texts', t => {
  const text = { kind: 'text', x: 1, y: 2, text: '</svg><script>\u202e', align: 'left', fill: '#000000', size: 11 } as const
  const svg = sceneSvg({ width: 10, height: 20, background: '#ffffff', layers: [{ clip: null, items: [text] }] })
  t.match(svg, '&lt;/svg&gt;&lt;script&gt;\\u202e</text>')
  t.equal(svg.split('<script').length, 1)
  t.end()
})

t.test('of what is asked for while something loads only the newest is loaded', async t => {
  const loaded: number[] = []
  const shown: number[] = []
  const failed: unknown[] = []
  const newest = new Newest<number>(reason => failed.push(reason))
  const ask = (n: number): void =>
    newest.ask(
      async () => {
        loaded.push(n)
        await Promise.resolve()
        if (n === 3) throw new Error('three')
        return n
      },
      n => shown.push(n)
    )
  for (const n of [0, 1, 2]) ask(n)
  await new Promise(resolve => setImmediate(resolve))
  t.same(
    [loaded, shown],
    [
      [0, 2],
      [0, 2]
    ]
  )
  ask(3)
  await new Promise(resolve => setImmediate(resolve))
  ask(4)
  await new Promise(resolve => setImmediate(resolve))
  t.same([loaded, shown, failed.map(String)], [[0, 2, 3, 4], [0, 2, 4], ['Error: three']], 'and a failure does not stop it')
})
