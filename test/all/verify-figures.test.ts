/** `verify --figures`: what the SVGs draw, read back against the data files; a changed path, attribute or value is found. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { tableFromIPC } from 'apache-arrow'
import t from 'tap'
import { parseCommand } from '../../src/cli/args.js'
import { readDrawnFigure } from '../../src/ingest/svg/drawn-figure.js'
import { renderFigure, warmCanvas } from '../../src/render/canvas/index.js'
import { buildCurveFigure } from '../../src/render/figures/curves/index.js'
import { checkFigures, figureFaults } from '../../src/runs/figures-check/check.js'
import type { FiguresReport } from '../../src/runs/figures-check/contract.js'
import { CurvePoints, curveSeries, isUnchecked, type CurveFigure } from '../../src/runs/figures-check/curves.js'
import { checkPanel } from '../../src/runs/figures-check/panel.js'
import { runCli } from '../support/cli.js'
import { root } from '../support/paths.js'
import { faultOf } from '../support/folders.js'
import { runReplica } from '../support/replica-run.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-figures-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))

const DATA = [
  'figure_constants.json',
  'wandb/points.arrow',
  'training_data/critic-trace-statistics.json',
  'training_data/critic-trace-trajectories.csv',
  'training_data/critic-trace-arrays.npz',
  'training_data/critic-diagnostics.json'
]
const [CURVES, BARS, TRACES, QUALITY, JUMPS] = [
  '03-training-by-step',
  '01-scores',
  '08-critic-traces',
  'critic-quality',
  'boundary-jumps'
].map(name => `figures/${name}.svg`)
let replica = ''

t.before(async () => {
  replica = (await runReplica(t)).out
})

/** A folder with these figures and the data. */
let copies = 0
function folder(...figures: readonly string[]): string {
  const out = join(work, String(copies++))
  for (const path of [...figures, ...DATA]) {
    mkdirSync(dirname(join(out, path)), { recursive: true })
    cpSync(join(replica, path), join(out, path))
  }
  return out
}

/** The messages for a folder in which one file is changed, without its place. */
async function changed(figure: string, file: string, change: (text: string) => string): Promise<string[]> {
  const out = folder(figure)
  const before = readFileSync(join(out, file), 'utf8')
  const after = change(before)
  if (after === before) throw new Error('nothing changed')
  writeFileSync(join(out, file), after)
  return messages(await checkFigures(out), out)
}

function messages(report: FiguresReport, out: string): string[] {
  return figureFaults(report, out).map(({ message }) => message.replace(`${out}/`, '').replace('figure differs from its data: ', ''))
}

/** Changes the text behind the opening tag of a series, up to its end. */
function inSeries(panel: string, series: string, change: (group: string) => string): (svg: string) => string {
  return svg => {
    const from = svg.indexOf(`<g class="series" data-panel="${panel}" data-series="${series}">`)
    const to = svg.indexOf('</g>', from)
    return from < 0 ? svg : svg.slice(0, from) + change(svg.slice(from, to)) + svg.slice(to)
  }
}

/** Changes the k-th L of the first path. */
function corner(k: number, change: (x: number, y: number) => string): (group: string) => string {
  let at = 0
  return group => group.replace(/L(\S+) ([\d.]+)/g, (all, x: string, y: string) => (++at === k ? change(Number(x), Number(y)) : all))
}

t.test('arguments', t => {
  t.match(parseCommand(['verify', '--figures', 'out']), { command: 'verify', figures: 'out', outputs: null, study: null })
  for (const more of [['--study', 'x'], ['--outputs', 'x'], ['--second-reader'], ['--format', 'text']])
    t.throws(() => parseCommand(['verify', '--figures', 'out', ...more]), /contradiction/)
  t.end()
})

t.test('figures of a study are those of its data', async t => {
  const out = folder(CURVES, BARS, TRACES)
  const { code, stdout, stderr } = await runCli(['verify', '--figures', out])
  t.match({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, /^verdict: ok, \d+ series as in the data$/m)
  const { figures } = await checkFigures(out)
  const series = (file: string, panel: string, name: string) =>
    figures.find(one => one.file === file)?.series.find(one => one.panel === panel && one.series === name)
  const csv = readFileSync(join(replica, 'wandb/plot_points_with_provenance.csv'), 'utf8')
  const rows = csv.match(/^step,gspo,reward,/gm)?.length
  t.match(series(CURVES, 'a', 'GSPO, raw'), { status: 'ok', drawn: rows, total: rows })
  t.match(series(CURVES, 'a', 'SAO, restart'), { status: 'unchecked' })
  t.match(series(BARS, 'a', 'SAO'), { status: 'ok', drawn: 2, total: 2 })
  const tokens = series(TRACES, 'd', 'token values')
  t.match(tokens, { status: 'ok', total: 22773 })
  t.ok((tokens?.drawn ?? 0) > 3000 && (tokens?.drawn ?? 0) < 5000, `${tokens?.drawn} tokens drawn`)
})

t.test('figures of traces, which a bundle draws, are in groups too', async t => {
  const out = t.testdir({})
  const drawn = await runCli(['traces', 'fixtures/snapshot', '--formats', 'svg', '--out', out], { cwd: root })
  t.equal(drawn.code, 0, drawn.stderr)
  const { code, stdout, stderr } = await runCli(['verify', '--figures', join(out, 'snapshot')])
  t.match({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, /^figures\/08-critic-traces\.svg +10 +0 /m)
  const over = await runCli(['verify', '--figures', out])
  t.match(over, { code: 0, stderr: '' })
  t.match(over.stdout, /^figures\/critic-traces-over-steps\.svg +16 +0 +32 +32 *$/m)
  const file = join(out, 'critic-trace-by-step.csv')
  const table = readFileSync(file, 'utf8')
  const after = async (change: (text: string) => string) => {
    writeFileSync(file, change(table))
    return checkFigures(out)
  }
  const jumps = await after(text => text.replace(',3,0.23076923076923078,', ',4,0.23076923076923078,'))
  t.match(messages(jumps, out), [
    /^x 1, y 23\.0769, expected x 1, y 30\.769\d+ .*panel b, at turn boundaries, index 0\)$/,
    /panel b, at turn boundaries, marker, index 0\)$/
  ])
  // A second snapshot of the same steps: rates and mean changes stay, the traces are twice as many, and the table does not tell the mean values.
  const twice = await after(text => text + text.replace(/^.*\n/, '').replaceAll('snapshot,', 'other,'))
  const of = (panel: string) => twice.figures[0].series.filter(one => one.panel === panel).map(({ status }) => status)
  t.same(
    ['a', 'b', 'c', 'd'].map(panel => [...new Set(of(panel))]),
    [['unchecked'], ['ok'], ['differs'], ['ok']]
  )
  t.match(messages(twice, out)[0], /y 1, expected x 1, y 2 .*panel c, success, index 0\)$/)
})

t.test('figures of the diagnostics', async t => {
  const out = folder(QUALITY, JUMPS)
  const { figures } = await checkFigures(out)
  const statuses = figures.map(({ series }) => series.map(({ panel, status }) => `${panel} ${status}`))
  t.same([...new Set(statuses[0])], ['a ok', 'b unchecked'])
  t.same([...new Set(statuses[1])], ['a ok', 'b ok', 'c ok', 'd ok'])
  const { quality } = JSON.parse(readFileSync(join(out, DATA[5]), 'utf8'))
  const fourth = quality.by_outcome.success.by_decile[3].mse
  const value = (field: string, change: (value: number) => number) => (text: string) => {
    const document = JSON.parse(text)
    const estimate = document.quality.by_outcome.success.by_decile[3].mse
    estimate[field] = change(estimate[field])
    return JSON.stringify(document)
  }
  const off = (was: number): number => was + 0.0001
  const at = (y: number): RegExp => new RegExp(`expected x 35, y ${off(y)} `)
  t.match(await changed(QUALITY, DATA[5], value('value', off)), [at(fourth.value)])
  t.match(await changed(QUALITY, DATA[5], value('high', off)), [at(fourth.high)])
  t.match(await changed(QUALITY, DATA[5], value('low', off)), [at(fourth.low)])
  const area = (change: (group: string) => string) => changed(JUMPS, JUMPS, inSeries('a', 'inside turns, interval', change))
  t.match(await area(corner(2, () => '')), [/expected x 0\.005, y \S+ .*index 2\)$/])
  t.match(await area(group => group.replace('Z', 'L60 60Z')), [/^x 0\.0\d+, y 1\.\d+, expected no further corner .*index 16\)$/])
  t.match(await area(group => group.replace(/<path.*/s, '')), [/^no further corner, expected x 0\.001, y .*index 0\)$/])
  t.match(
    await changed(
      JUMPS,
      JUMPS,
      inSeries(
        'a',
        'guide',
        corner(1, (x, y) => `L${x + 1} ${y}`)
      )
    ),
    [/expected x 0\.1, y /]
  )
})

t.test('what is changed is found, with its place', async t => {
  const raw = (change: (group: string) => string) => changed(CURVES, CURVES, inSeries('a', 'GSPO, raw', change))
  const place = '(figures/03-training-by-step.svg, member panel a, GSPO, raw, index 9)'
  const moved = await raw(corner(9, (x, y) => `L${x} ${(y + 0.002).toFixed(3)}`))
  t.match(moved, [/^x \S+, y 0\.5468\d+, expected x 10, y 0\.546875 /])
  t.ok(moved.length === 1 && moved[0].endsWith(place), moved[0])
  const removed = await raw(corner(9, () => ''))
  t.match(removed, [/^x 1[01]\S*, y 0\.4843\d+, expected x 10, y 0\.546875 /])
  t.match(await raw(corner(9, (x, y) => `L${x} ${y}L${x} ${y}`)), [/^x \S+, y 0\.5468\d+, expected x 11, y 0\.484375 .*index 10\)$/])
  t.match(await raw(group => group.replace(/<path.*/s, '')), [/^no further point, expected x 0, y .*index 0\)$/])
  t.match(await changed(CURVES, CURVES, svg => svg.replace('data-series="GSPO, raw"', 'data-series="other"')), [
    /^a series, expected none of this name in the data .*other, index 0\)$/,
    /^no series of this name, expected one of 125 points /
  ])
  const attribute = await changed(CURVES, CURVES, svg =>
    svg.replace(/data-y-max="([\d.]+)/, (_, max: string) => `data-y-max="${Number(max) + 0.1}`)
  )
  t.ok(attribute.length > 3 && attribute.every(message => message.includes('member panel a')), attribute[0])
  const marker = await changed(
    CURVES,
    CURVES,
    inSeries('b', 'GSPO, marker', group => group.replace(/M/g, 'M1'))
  )
  t.ok(marker.length === 1 && /expected a point of the data .*member panel b, GSPO, marker/.test(marker[0]), marker[0])
  t.match(
    await changed(
      TRACES,
      TRACES,
      inSeries(
        'd',
        'token values',
        corner(70, () => '')
      )
    ),
    [/token values, index \d+\)$/]
  )
  t.match(
    await changed(
      TRACES,
      TRACES,
      inSeries(
        'c',
        'span mean',
        corner(3, (x, y) => `L${x} ${y + 0.01}`)
      )
    ),
    [/span mean, index 5\)$/]
  )
  t.match(
    await changed(
      TRACES,
      TRACES,
      inSeries('c', 'turn boundary', group => group.replace(/<path.*\/>\n/, ''))
    ),
    [/expected a line at x .*turn boundary, index 0\)$/]
  )
  t.match(
    await changed(
      TRACES,
      TRACES,
      inSeries('a', 'success', group => group.replace(/(<path.*\n){2}/, ''))
    ),
    [/^no marker, expected x 112/]
  )
})

t.test('a moved bar is found', async t => {
  const bar = (change: (group: string, top: string, bottom: string) => string) =>
    changed(BARS, BARS, svg =>
      inSeries('a', 'GSPO', group => {
        const [, , top, , bottom] = /M(\S+) (\S+)L(\S+) \2L\3 (\S+)L/.exec(group) ?? []
        return change(group, top, bottom)
      })(svg)
    )
  t.match(await bar((group, top) => group.replaceAll(` ${top}L`, ` ${(Number(top) + 0.01).toFixed(3)}L`)), [
    /^a bar to 55\.32\d*.* in group 2, expected to 55\.33 /
  ])
  t.match(await bar(group => group.replace(/([ML])3(\d\d)/g, '$11$2')), [/in group 1, expected (?:to 70\.4|no bar)/])
  t.match(await bar((group, _, bottom) => group.replace(bottom, String(Number(bottom) - 12))), [/outline and foot/])
})

t.test('a changed value of the data is found', async t => {
  t.match(await changed(BARS, 'figure_constants.json', text => text.replace('"value": 55.33', '"value": 55.34')), [/expected to 55\.34 /])
  t.match(await changed(TRACES, DATA[3], text => text.replace(',0.5138348798964456,', ',0.5148348798964456,')), [
    /a point of the data .*panel a, failure/
  ])
  const out = folder(CURVES)
  const file = join(out, 'wandb/points.arrow')
  const bytes = readFileSync(file)
  // The columns are views of the bytes.
  const values = tableFromIPC(bytes).getChild('value')?.data[0].values as Float64Array
  values[7] += 0.001
  writeFileSync(file, bytes)
  t.match(messages(await checkFigures(out), out), [/GSPO, raw, index 7\)$/])
  rmSync(file)
  const { figures } = await checkFigures(out)
  t.match(figures, [{ file: CURVES, reason: 'wandb/points.arrow is missing', series: [] }])
  const { code, stdout } = await runCli(['verify', '--figures', out])
  t.equal(code, 0)
  t.match(stdout, /^verdict: ok, nothing was compared$/m)
})

t.test('a file that is no figure of this program', async t => {
  const out = folder(CURVES)
  const svg = readFileSync(join(out, CURVES), 'utf8')
  const path = '<g class="series" data-panel="a" data-series="GSPO, raw">'
  for (const [text, message] of [
    [svg.replace(path, `<g transform="scale(2)">${path}`).replace('</svg>', '</g></svg>'), /svg unknown element: g with transform/],
    [svg.replace(path, `${path}<use/>`), /svg unknown element: use/],
    [svg.replace(path, `${path}<rect/>`), /svg unknown element: rect in a series/],
    [svg.replace(path, `${path}<path d="M0 0l1 1" stroke="#000000"/>`), /svg wrong path: l1 1, expected M, L, A or Z/],
    [svg.replace('data-x-min="', 'data-x-min="a'), /svg wrong attribute: data-x-min="a\S+" of panel a, expected a number/],
    [svg.replace('data-x-scale="linear"', 'data-x-scale="log"'), /svg wrong axis: x of panel a/],
    [svg.replace('<svg', '<!DOCTYPE svg><svg'), /^xml /],
    [svg.slice(0, -100), /^xml /]
  ] as const) {
    writeFileSync(join(out, CURVES), text)
    t.match(await faultOf(checkFigures(out)), { message, exitCode: 3 })
  }
  t.match(await faultOf(checkFigures(work)), { message: /^figures unreadable folder: / })
  mkdirSync(join(work, 'empty/figures'), { recursive: true })
  t.match(await faultOf(checkFigures(join(work, 'empty'))), { message: /^figures missing file: no SVG/ })
})

t.test('of a long curve all points are drawn or left out by decimation', async t => {
  const count = 5000
  const x = Float64Array.from({ length: count }, (_, i) => i)
  // Values that a logarithmic axis cannot show break the line, and leave a point alone.
  const value = x.map(i => (i % 1000 === 500 || i % 1000 === 502 ? -1 : 10 ** (2 * Math.sin(i / 40) + Math.cos(7 * i))))
  const series = { title: 'long', slot: 0, x, y: value, smooth: null, supplied: [], gaps: [], restarts: [700], marks: [] }
  const panel = { title: 'p', yTitle: 'y', scale: { kind: 'log' }, sparse: false, guides: [], series: [series] } as const
  const config = buildCurveFigure({ synthetic: true, name: 'long', title: 'l', xTitle: 'x', drawnFrom: [], panels: [panel] })
  await warmCanvas([config])
  const file = join(work, 'long.svg')
  const svg = (await renderFigure(config, 'svg')).toString('utf8')
  const constants = { metric: 'm', multiply: 1, divide: 1, trailing_mean: null, sparse: false } as unknown as CurveFigure['panels'][number]
  const figure = { analysis: 'a', view: 'step', series: [{ title: 'long', selection: 's' }], panels: [constants] } as unknown as CurveFigure
  const columns: Record<string, (i: number) => unknown> = {
    analysis: () => 'a',
    view: () => 'step',
    metric: () => 'm',
    algorithm: () => 's',
    x: i => x[i],
    value: i => value[i],
    trailing_mean: () => null,
    provenance: () => 'observed'
  }
  const table = { numRows: count, getChild: (name: string) => ({ get: columns[name] }) } as unknown as ConstructorParameters<
    typeof CurvePoints
  >[0]
  const curves = new CurvePoints(table, file)
  const check = async (text: string) => {
    writeFileSync(file, text)
    const [drawn] = await readDrawnFigure(file)
    return checkPanel(drawn, curveSeries(figure, constants, curves, drawn), isUnchecked).find(({ series: name }) => name === 'long')
  }
  const whole = await check(svg)
  t.match(whole, { status: 'ok', total: count - 10 })
  t.ok((whole?.drawn ?? 0) > 1500 && (whole?.drawn ?? 0) < 4 * 940, `${whole?.drawn} drawn`)
  // Two further stretches begin before that corner.
  t.match(
    await check(
      inSeries(
        'a',
        'long',
        corner(400, () => '')
      )(svg)
    ),
    { status: 'differs', difference: { index: 402 } }
  )
})
