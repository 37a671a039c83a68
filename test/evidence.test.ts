/** Written evidence, from files to documents and figures: a study worked out by hand, and what is said of what cannot be read. */
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parquetMetadata } from 'hyparquet'
import t from 'tap'
import { parseNumber } from '../src/compute/evidence/convert.js'
import { decimalDifference, decimalProduct } from '../src/compute/evidence/decimal.js'
import { deriveValues, type Resolver } from '../src/compute/evidence/derive.js'
import { TextSearch } from '../src/compute/evidence/match.js'
import { Documents } from '../src/compute/documents.js'
import { Fault } from '../src/core/errors.js'
import { readEvidence } from '../src/runs/evidence.js'
import { checkStudy } from '../src/study/study.js'
import type { DerivedValue } from '../src/schema/evidence.js'
import { cpuMs } from './support/cpu.js'
import { runCli } from './support/cli.js'
import { contextOf } from './support/context.js'
import { CANARY, EVIDENCE, writeEvidenceStudy } from './support/evidence-folder.js'
import { writeManifest } from './support/history-folder.js'
import { nullPointers, schemaProblems } from './support/json-schema.js'
import { root } from './support/paths.js'
import { Random } from './support/random.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-evidence-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))

const DIR = join(work, 'study')
const OUT = join(work, 'out')
writeEvidenceStudy(DIR)
const run = await runCli(['all', '--study', DIR, '--out', OUT, '--formats', 'svg'])

type Json = { [name: string]: Json } & { [index: number]: Json } & (string | number | boolean | null)
const read = (path: string): Json => JSON.parse(readFileSync(join(OUT, path), 'utf8')) as Json
const sha256 = (path: string, dir = DIR): string =>
  createHash('sha256')
    .update(readFileSync(join(dir, path)))
    .digest('hex')
const bytes = (path: string): number => statSync(join(DIR, path)).size

t.test('the run', async t => {
  t.match(run, { code: 0 }, run.stderr)
  t.same(readdirSync(join(OUT, 'figures')).sort(), ['01-bars.svg', '03-both.svg'])
  const inputs = (read('run.json')['inputs'] as unknown as { path: string; sha256: string }[]).filter(
    ({ path }) => !path.startsWith('wandb')
  )
  t.same(inputs.map(({ path }) => path).sort(), [
    'configs/base/base.env',
    'configs/mix.json',
    'configs/parent.json',
    'configs/run.env',
    'data/train.parquet',
    'sources/scores.xlsx',
    'sources/slides.pptx',
    'study.json'
  ])
  for (const input of inputs) t.equal(input.sha256, sha256(input.path), input.path)
})

t.test('data.json: every value with its place', async t => {
  const data = read('data.json')
  const book = { source: 'workbook', file: 'sources/scores.xlsx', sha256: sha256('sources/scores.xlsx'), sheet: '评测' }
  const deck = { source: 'slides', file: 'sources/slides.pptx', sha256: sha256('sources/slides.pptx') }
  const plain = { unit: '', published: true, excluded: null }
  const of = (name: string): unknown => data['values'][name]
  t.strictSame(of('a.percent'), {
    value: 55.33,
    unit: 'percent',
    title: 'Cell C2.',
    published: true,
    excluded: null,
    ...book,
    cell: 'C2',
    raw: '0.55330000000000001'
  })
  t.strictSame(of('b.percent'), {
    value: 70.4,
    unit: 'percent',
    title: 'Cell C3.',
    published: false,
    excluded: null,
    ...book,
    cell: 'C3',
    raw: '0.704'
  })
  t.strictSame(of('zero'), { value: 0, ...plain, title: 'Cell C4.', ...book, cell: 'C4', raw: '0' }, 'a stored result of 0 is one')
  t.strictSame(
    of('c.percent'),
    { value: 57, ...plain, title: 'Cell D4.', excluded: 'other training data', ...book, cell: 'D4', raw: '0.57' },
    'a fraction as text'
  )
  t.match(of('rollouts.text'), { value: 48640, raw: '48,640' })
  t.match(of('none'), { value: 'n/a', raw: 'n/a' })
  t.match(of('day'), { value: '2025-10-01T00:00:00', raw: '45931' })
  t.match(of('flag'), { value: 'TRUE', raw: '1' })
  t.match(of('context'), { value: 200000, unit: 'tokens', raw: '200k context, 1,234 turns' }, 'rich text without its reading')
  t.match(of('turns'), { value: 1234 })
  t.match(of('small'), { value: -0.00015, sheet: 'Notes', cell: 'A1', raw: '-1.5E-3' })
  t.strictSame(of('a.minutes'), {
    value: 57.6,
    ...plain,
    unit: 'minutes',
    title: 'Row 2, column 2.',
    ...deck,
    slide: 2,
    table: 1,
    row: 2,
    column: 2,
    raw: '57.6'
  })
  t.match(of('b.rollouts'), { value: 12800, raw: ' 12,800 ' })
  t.match(of('change'), { value: -3, raw: '\u22123' })
  t.match(of('share'), { value: 38, published: false, raw: 'about 38%' })
  t.strictSame(of('tasks'), {
    value: 2694,
    ...plain,
    title: 'Said.',
    excluded: 'not configured',
    ...deck,
    slide: 1,
    paragraph: 2,
    raw: '2,694 visible tasks'
  })
  t.match(of('speedup'), { value: 2.5, paragraph: 3 })
  t.strictSame(of('run.n'), {
    value: 4,
    ...plain,
    title: 'Own.',
    source: 'config',
    file: 'configs/run.env',
    sha256: sha256('configs/run.env'),
    key: 'ROLLOUT_N',
    line: 3,
    raw: '4'
  })
  t.strictSame(of('run.lr'), {
    value: 1e-6,
    ...plain,
    title: 'Inherited.',
    source: 'config',
    file: 'configs/base/base.env',
    sha256: sha256('configs/base/base.env'),
    key: 'LR',
    line: 2,
    raw: '1e-6'
  })
  t.match(of('run.whiten'), { value: true, raw: 'True' })
  t.match(of('run.init'), { value: 'r6 step-100 checkpoint', published: false })
  t.strictSame(of('run.token'), {
    value: null,
    ...plain,
    title: 'A secret.',
    source: 'config',
    file: 'configs/run.env',
    sha256: sha256('configs/run.env'),
    key: 'HF_TOKEN'
  })
  t.match(of('mix.weights'), { value: [1, 1, 2], key: 'harness.weights', line: 3, raw: '1, 1, 2' })
  t.match(of('mix.batch'), { value: 64, file: 'configs/parent.json', line: 2 })
  t.match(of('mix.seed'), { value: null, file: 'configs/mix.json', raw: 'null' }, 'null replaces what is inherited')
  t.strictSame(of('paper.b'), {
    value: 29.8,
    unit: 'percent',
    title: 'Quoted.',
    published: true,
    excluded: null,
    source: 'quoted',
    text: 'A paper, Table 2'
  })
  t.same(data['undefined_reasons'], {
    '/values/run.token/value': 'withheld: the key or its value looks like a secret',
    '/values/mix.seed/value': 'the configuration states null'
  })
  t.same(
    Object.keys(data['values']),
    [...EVIDENCE.workbook.values, ...EVIDENCE.slides.values, ...EVIDENCE.configs.flatMap(({ values }) => values), ...EVIDENCE.quoted].map(
      one => (one as { name: string }).name
    ),
    'in the order of the study'
  )
  const file = (path: string): object => ({ path, sha256: sha256(path), bytes: bytes(path) })
  t.strictSame(data['sources'], {
    workbook: file('sources/scores.xlsx'),
    slides: file('sources/slides.pptx'),
    configs: {
      run: { path: 'configs/run.env', chain: [file('configs/base/base.env'), file('configs/run.env')] },
      mix: { path: 'configs/mix.json', chain: [file('configs/parent.json'), file('configs/mix.json')] }
    },
    datasets: { train: file('data/train.parquet') },
    documents: {}
  })
})

t.test('datasets: counted row by row', async t => {
  const { train } = read('data.json')['datasets']
  t.match(train, { path: 'data/train.parquet', sha256: sha256('data/train.parquet'), bytes: bytes('data/train.parquet') })
  t.match(train, {
    title: 'Five rows.',
    rows: 5,
    row_groups: 2,
    columns: 3,
    columns_decoded: 3,
    created_by: 'by hand',
    codecs: ['SNAPPY'],
    task_path: 'extra_info.task_path',
    matches: { swegen: 2, openswe: 2 },
    matched_several: 1,
    unmatched: 1,
    null_paths: 1,
    field: { path: 'extra_info.agent_harness', in_schema: true, rows: 2 },
    pages: { decoded: 8, with_checksum: 0 },
    checksums: /SHA-256 over the whole file/
  })
  t.same(
    (train['schema'] as unknown as { name: string; children: { name: string }[] }[]).map(({ name, children }) => [
      name,
      ...children.map(child => child.name)
    ]),
    [['data_source'], ['extra_info', 'task_path', 'agent_harness']]
  )
  const cases = read('materials/multilingual-case-evidence.json')
  const { title: _title, ...rest } = train as unknown as Record<string, unknown>
  t.match(cases['datasets'][0], {
    name: 'train',
    path: 'data/train.parquet',
    sha256: sha256('data/train.parquet'),
    bytes: bytes('data/train.parquet'),
    ...rest
  })
  t.strictSame(cases['configs']['run'], {
    path: 'configs/run.env',
    chain: read('data.json')['sources']['configs']['run']['chain'],
    values: {
      ROLLOUT_N: { value: 4, from: 'configs/run.env', line: 3 },
      LR: { value: 1e-6, from: 'configs/base/base.env', line: 2 },
      WHITEN: { value: true, from: 'configs/run.env', line: 4 },
      CRITIC_INIT: { value: 'r6 step-100 checkpoint', from: 'configs/run.env', line: 5 },
      HF_TOKEN: { value: null, from: 'configs/run.env' }
    },
    withheld: 1
  })
})

t.test('a study may restrict decoding to the columns that it asks for: the terminal says how many were decoded', async t => {
  t.match(run.stdout, /^train +\d+ B +5 +3 of 3 +8 +0$/m)
  const dir = join(work, 'unasked')
  const decode = 'requested'
  writeEvidenceStudy(dir, {
    datasets: [
      { name: 'train', path: 'data/train.parquet', title: 'T.', decode },
      { ...EVIDENCE.datasets[0], name: 'field', task_path: null, patterns: {}, decode }
    ]
  })
  const { code, stdout, stderr } = await runCli(['all', '--study', dir, '--out', join(work, 'unasked-out'), '--no-figures'])
  t.equal(code, 0, stderr)
  t.match(stdout, /^dataset +size +rows +columns decoded +pages +with checksum$/m)
  t.match(stdout, /^train +\d+ B +5 +0 of 3 +0 +0$/m)
  t.match(stdout, /^field +\d+ B +5 +1 of 3 +2 +0$/m)
})

t.test('a damaged page of a column that the study asks nothing of', async t => {
  const damaged = (decode: 'all' | 'requested'): string[] => {
    const dir = join(work, `damaged-${decode}`)
    writeEvidenceStudy(dir, { datasets: [{ ...EVIDENCE.datasets[0], decode }] })
    const path = join(dir, 'data/train.parquet')
    const file = readFileSync(path)
    // The page's header begins with its type, as a varint behind the field's mark: it becomes 60.
    const [
      ,
      {
        columns: [{ meta_data: meta }]
      }
    ] = parquetMetadata(new Uint8Array(file).buffer).row_groups
    file[Number(meta?.data_page_offset) + 1] = 120
    writeFileSync(path, file)
    writeManifest(dir)
    return ['all', '--study', dir, '--out', `${dir}-out`, '--no-figures']
  }
  const { code, stderr } = await runCli(damaged('all'))
  t.equal(code, 3)
  t.match(stderr, /^critic-traces: parquet [^\n]+row group 1[^\n]+data_source[^\n]*$/m)
  t.equal((await runCli(damaged('requested'))).code, 0, 'where the study restricts decoding, the table says so')
})

t.test('no output and no message holds a secret', async t => {
  const files = readdirSync(OUT, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  t.ok(files.length >= 9)
  for (const { parentPath, name } of files) t.notOk(readFileSync(join(parentPath, name)).includes('canary'), name)
  t.notOk(`${run.stdout}${run.stderr}`.includes('canary'))
  t.ok(CANARY.includes('canary'))
})

t.test('derived_metrics.json', async t => {
  const { values, undefined_reasons: reasons } = read('derived_metrics.json')
  // Python 3.11: 57.6/21.5, 57.6/10.75, (1-21.5/57.6)*100; decimal: 55.33-70.4, 29.8-27
  const numbers = {
    'minutes.ratio': 2.6790697674418604,
    'b.minutes.displayed': 10.75,
    'minutes.displayed.ratio': 5.358139534883721,
    'minutes.reduction': 62.673611111111114,
    'percent.difference': -15.07,
    'paper.gain': 2.8,
    'batch.configured': 256,
    'over.zero': null,
    'over.nothing': null,
    'over.over': null,
    hours: 5,
    'rows.twice': 10
  }
  t.strictSame(Object.fromEntries(Object.entries(values).map(([name, one]) => [name, one['value']])), numbers)
  t.strictSame(values['b.minutes.displayed'], {
    value: 10.75,
    unit: 'minutes',
    title: 'Follows.',
    kind: 'displayed',
    published: true,
    operation: 'scale',
    by: 0.5,
    operands: [{ reference: 'data.json#/values/b.minutes/value', value: 21.5, published: true }]
  })
  t.match(values['percent.difference'], {
    kind: 'original',
    published: false,
    operation: 'difference',
    operands: [
      { value: 55.33, published: true },
      { value: 70.4, published: false }
    ]
  })
  t.match(values['minutes.displayed.ratio'], {
    operands: [{ value: 57.6 }, { reference: 'derived_metrics.json#/values/b.minutes.displayed/value', value: 10.75 }]
  })
  t.strictSame(reasons, {
    '/values/over.zero/value': 'the second operand is zero',
    '/values/over.nothing/value': 'data.json#/values/mix.seed/value is undefined: the configuration states null',
    '/values/over.nothing/operands/1/value': 'the configuration states null',
    '/values/over.over/value': 'derived_metrics.json#/values/over.zero/value is undefined: the second operand is zero',
    '/values/over.over/operands/0/value': 'the second operand is zero'
  })
})

t.test('the figure says what it draws; one title has one colour in the figures of a study', async t => {
  const svg = readFileSync(join(OUT, 'figures/01-bars.svg'), 'utf8')
  t.match(
    svg,
    '(a) Scores, Score (%): one: Base 55.33, Target 70.40 (a stand-in, not published), Reference undefined (the second operand is zero); two: Target 5.00, Reference 27.00.'
  )
  // The first analysis draws Reference in the first colour and Target in the second.
  t.match(svg, /data-series="Reference">(?:(?!<\/g>).)*fill="#0072b2"/s)
  const { figures } = await import('../src/compute/evidence/figures.js').then(({ barFigures }) => ({
    figures: barFigures(
      [
        {
          ...FIGURE,
          panels: [{ ...FIGURE.panels[0], series: EVIDENCE.figures[0].panels[0].series }]
        }
      ],
      new Documents(
        new Map([
          ['data.json', readFileSync(join(OUT, 'data.json'), 'utf8')],
          ['derived_metrics.json', readFileSync(join(OUT, 'derived_metrics.json'), 'utf8')]
        ])
      ),
      { synthetic: false, legend: ['Reference', 'Target'] }
    )
  }))
  t.same(figures[0].drawnFrom, ['data.json', 'derived_metrics.json'], 'each document once, in the order of the bars')
  t.same(
    figures[0].panels[0].series.map(({ title, slot }) => [title, slot]),
    [
      ['Base', 2],
      ['Target', 1],
      ['Reference', 0]
    ]
  )
})

t.test('a figure whose bars refer to other documents is drawn from these', async t => {
  const { barFigures } = await import('../src/compute/evidence/figures.js')
  const series = [{ title: 'Best', values: ['wandb/both.json#/best', null] }]
  const documents = new Documents(new Map([['wandb/both.json', '{"best": 2, "undefined_reasons": {}}']]))
  const options = { synthetic: false, legend: [] }
  const drawn = barFigures([{ ...FIGURE, panels: [{ ...FIGURE.panels[0], series }] }], documents, options)
  t.same(
    drawn.map(({ drawnFrom }) => drawnFrom),
    [['wandb/both.json']]
  )
})

const FIGURE = { name: 'f', title: 'F', panels: [{ title: 'P', axis: 'A', groups: ['one', 'two'], decimals: 2, from: 0, series: [] }] }

t.test('documents follow their schemas, and every null has its reason', async t => {
  const documents = {
    'evidence-data': 'data.json',
    'derived-metrics': 'derived_metrics.json',
    'case-evidence': 'materials/multilingual-case-evidence.json'
  }
  for (const [name, path] of Object.entries(documents)) {
    const schema: unknown = JSON.parse(readFileSync(join(root, `docs/schemas/${name}.schema.json`), 'utf8'))
    const document = read(path)
    t.strictSame(schemaProblems(schema, document), [], name)
    t.equal(document['schema'], name)
    t.not(schemaProblems(schema, { ...(document as object), extra: 1 }).length, 0)
    for (const key of Object.keys(document)) {
      const { [key]: _, ...without } = document as unknown as Record<string, unknown>
      t.not(schemaProblems(schema, without).length, 0, `${name} without ${key} is not valid`)
    }
    const unexplained = nullPointers(document).filter(
      pointer =>
        !Object.hasOwn(document['undefined_reasons'] as object, pointer) &&
        !/\/(?:excluded|schema\/.*\/(?:type|logical)|schema\/\d+\/(?:type|logical))$/.test(pointer)
    )
    t.strictSame(unexplained, [], name)
  }
})

type Evidence = Parameters<typeof readEvidence>[1]

/** The study's evidence with another value at a path: `workbook.values.0.cell`. */
function changed(path: string, value: unknown): Evidence {
  const evidence = structuredClone(EVIDENCE) as unknown as Record<string, unknown>
  const names = path.split('.')
  const last = names.pop() ?? ''
  const parent = names.reduce((at, name) => at[name] as Record<string, unknown>, evidence)
  if (typeof value === 'object' && value !== null) Object.assign(parent[last] as object, value)
  else parent[last] = value
  const study = checkStudy(
    { schema_version: 1, name: 'n', evidence: { ...evidence, derived: [], figures: [] } },
    { format: 'study', place: {}, paths: [] }
  )
  if (study.evidence === null) throw new Error('a study of evidence')
  return study.evidence
}

async function faultOf(study: Evidence, dir = DIR, verified?: ReadonlyMap<string, string>): Promise<Fault> {
  const error: unknown = await readEvidence(contextOf(dir, false, { verified }), study).then(
    () => null,
    (e: unknown) => e
  )
  if (!(error instanceof Fault)) throw new Error(`expected a Fault, got ${String(error)}`)
  return error
}

t.test('what cannot be read is one line: field, found, expected, file and place', async t => {
  const B = 'evidence.workbook.values[0] (a.percent) finds'
  const S = 'evidence.slides.values[0] (a.minutes) finds'
  const inBook = (cell: string, sheet = '评测'): string => `(sources/scores.xlsx, member ${sheet}!${cell})`
  const onSlide = (place: string): string => `(sources/slides.pptx, member slide ${place})`
  const cases: [string, unknown, string][] = [
    ['workbook.values.0.sheet', '评 测', `${B} the sheets "评测", "Notes", expected a sheet "评 测" (sources/scores.xlsx)`],
    ['workbook.values.0.cell', 'C99', `${B} an empty cell, expected a value ${inBook('C99')}`],
    ['workbook.values.0.cell', 'D1', `${B} a cell that a merged one covers, expected a value ${inBook('D1')}`],
    ['workbook.values.0.cell', 'C5', `${B} "n/a", expected a fraction ${inBook('C5')}`],
    ['workbook.values.0.cell', 'D5', `${B} "1,23", expected a fraction ${inBook('D5')}`],
    ['workbook.values.0.cell', 'C6', `${B} "2025-10-01T00:00:00", expected a fraction ${inBook('C6')}`],
    ['workbook.values.0.cell', 'D6', `${B} "TRUE", expected a fraction ${inBook('D6')}`],
    ['workbook.values.0.cell', 'C7', `${B} the error "#DIV/0!", expected a value ${inBook('C7')}`],
    [
      'workbook.values.0.cell',
      'D7',
      `${B} a formula without a stored result, expected a value: open and save it in a spreadsheet program ${inBook('D7')}`
    ],
    [
      'workbook.values.0',
      { as: 'match', pattern: '(\\d+)%' },
      `${B} "0.55330000000000001", expected a text that "(\\\\d+)%" matches ${inBook('C2')}`
    ],
    [
      'workbook.values.0',
      { as: 'match', pattern: '(0\\.|x)' },
      `${B} "0.55330000000000001", expected a number in the group of "(0\\\\.|x)" ${inBook('C2')}`
    ],
    [
      'workbook.values.0',
      { as: 'match', pattern: '0(x)?' },
      `${B} "0.55330000000000001", expected a number in the group of "0(x)?" ${inBook('C2')}`
    ],
    ['slides.values.0.slide', 4, `${S} 3 slides, expected a slide 4 (sources/slides.pptx)`],
    ['slides.values.0.slide', 1, `${S} 0 tables, expected a table 1 ${onSlide('1')}`],
    ['slides.values.0.table.index', 2, `${S} 1 tables, expected a table 2 ${onSlide('2')}`],
    ['slides.values.0.table.row', 9, `${S} a table of 6 rows, expected a row 9 ${onSlide('2, table 1, row 9, column 2')}`],
    ['slides.values.0.table.column', 4, `${S} a row of 3 cells, expected a column 4 ${onSlide('2, table 1, row 2, column 4')}`],
    ['slides.values.0.table', { row: 4 }, `${S} "", expected a number ${onSlide('2, table 1, row 4, column 2')}`],
    ['slides.values.0.table', { row: 5 }, `${S} "71%", expected a number ${onSlide('2, table 1, row 5, column 2')}`],
    [
      'slides.values.0.table',
      { row: 6 },
      `${S} a cell that a merged one covers, expected a value ${onSlide('2, table 1, row 6, column 2')}`
    ],
    [
      'slides.values.6.pattern',
      '(\\d+) absent',
      'evidence.slides.values[6] (tasks) finds none among its 3 paragraphs, expected one paragraph that "(\\\\d+) absent" matches ' +
        onSlide('1')
    ],
    [
      'slides.values.6',
      { slide: 3, pattern: '([\\d.]+)%' },
      'evidence.slides.values[6] (tasks) finds 2 paragraphs: "55.5% here", "55.5% there", expected one paragraph that "([\\\\d.]+)%" matches ' +
        onSlide('3')
    ],
    [
      'configs.0.values.0.key',
      'ABSENT',
      'evidence.configs[0].values[0] (run.n) finds no setting in it or above it, expected the key ABSENT (configs/run.env)'
    ],
    [
      'configs.1.values.0.key',
      'harness',
      'evidence.configs[1].values[0] (mix.weights) finds an object, expected a value or a list of values under harness (configs/mix.json)'
    ]
  ]
  for (const [path, value, message] of cases) {
    const fault = await faultOf(changed(path, value))
    t.equal(fault.message, `evidence unreadable value: ${message}`, `${path} = ${JSON.stringify(value)}`)
    t.equal(fault.exitCode, 3)
  }
  const missing: [string, string, RegExp][] = [
    ['workbook.path', 'sources/none.xlsx', /^xlsx missing file/],
    ['slides.path', 'sources/scores.xlsx', /^pptx /],
    ['workbook.path', 'sources/slides.pptx', /^xlsx /],
    ['configs.0.path', 'configs/none.env', /^config unreadable file/],
    ['datasets.0.path', 'sources/slides.pptx', /^parquet /],
    ['datasets.0.task_path', 'extra_info.path', /^parquet missing column: none of extra_info\.path/]
  ]
  for (const [path, value, message] of missing) t.match((await faultOf(changed(path, value))).message, message, `${path} = ${value}`)
})

t.test('a value that is read by its place states what stands beside it', async t => {
  const [cell, minutes] = ['workbook.values.0', 'slides.values.0']
  const labels = {
    labels: [
      { cell: 'C1', text: ' merged\n' },
      { cell: 'D6', text: '1' }
    ]
  }
  const found = async (study: Evidence, name: string): Promise<unknown> =>
    (await readEvidence(contextOf(DIR), study)).values.find(value => value.name === name)?.labels
  t.strictSame(
    await found(changed(cell, labels), 'a.percent'),
    [
      { place: 'cell C1', text: 'merged' },
      { place: 'cell D6', text: '1' }
    ],
    'any white space is one space'
  )
  const beside = {
    labels: [
      { row: 1, column: 2, text: 'A' },
      { row: 2, column: 1, text: 'Minutes' }
    ]
  }
  t.strictSame(await found(changed(minutes, beside), 'a.minutes'), [
    { place: 'table 1, row 1, column 2', text: 'A' },
    { place: 'table 1, row 2, column 1', text: 'Minutes' }
  ])
  const pages = (page: object): Evidence => changed('slides', { pages: [page] })
  t.strictSame(
    await found(pages({ slide: 1, title: 'First' }), 'tasks'),
    [{ place: 'title', text: 'First' }],
    'without a placeholder: the first paragraph'
  )
  t.strictSame(
    await found(pages({ slide: 2, printed_page: 2 }), 'a.minutes'),
    [{ place: 'printed page', text: '2' }],
    'without a placeholder: the last whole number'
  )
  t.strictSame(await found(pages({ slide: 2, printed_page: 2 }), 'tasks'), [], 'of its own slide alone')

  const cases: [Evidence, string][] = [
    [
      changed(cell, { labels: [{ cell: 'C1', text: 'Merged' }] }),
      '"merged" beside a.percent, expected "Merged" (sources/scores.xlsx, member 评测!C1)'
    ],
    [
      changed(cell, { labels: [{ cell: 'D1', text: '5' }] }),
      'nothing beside a.percent, expected "5" (sources/scores.xlsx, member 评测!D1)'
    ],
    [
      changed(cell, { labels: [{ cell: 'Z9', text: 'x' }] }),
      'nothing beside a.percent, expected "x" (sources/scores.xlsx, member 评测!Z9)'
    ],
    [
      changed(minutes, { labels: [{ row: 1, column: 3, text: 'A' }] }),
      '"B" beside a.minutes, expected "A" (sources/slides.pptx, member slide 2, table 1, row 1, column 3)'
    ],
    [
      changed(minutes, { labels: [{ row: 99, column: 1, text: 'A' }] }),
      'nothing beside a.minutes, expected "A" (sources/slides.pptx, member slide 2, table 1, row 99, column 1)'
    ],
    [pages({ slide: 1, title: 'Second' }), '"First" beside tasks, expected "Second" (sources/slides.pptx, member slide 1, title)'],
    [pages({ slide: 1, printed_page: 36 }), 'nothing beside tasks, expected "36" (sources/slides.pptx, member slide 1, printed page)']
  ]
  for (const [study, message] of cases) t.match(await faultOf(study), { message: `evidence label differs: ${message}`, exitCode: 1 })
  const refused = (path: string, value: object, message: RegExp): void => {
    t.throws(() => changed(path, value), { message })
  }
  refused('slides.values.6', beside, /^study contradiction: evidence\.slides\.values\[6\]\.table is null and .*labels is not empty/)
  refused('slides', { pages: [{ slide: 1 }] }, /^study missing field: evidence\.slides\.pages\[0\] states nothing of slide 1/)
  refused(
    'slides',
    {
      pages: [
        { slide: 1, title: 'a' },
        { slide: 1, title: 'b' }
      ]
    },
    /^study stated twice: evidence\.slides\.pages\[1\]\.slide/
  )
})

t.test('a reference that leads nowhere fails the run and leaves nothing', async t => {
  const dir = join(work, 'wrong')
  const out = join(work, 'wrong-out')
  const reference = 'wandb/both.json#/selections/target/metrics/score/bets/step'
  writeEvidenceStudy(dir, {
    ...EVIDENCE,
    derived: [{ name: 'd', title: 'T.', kind: 'original', operation: { scale: reference, by: 1 } }],
    figures: []
  })
  const wrong = await runCli(['all', '--study', dir, '--out', out, '--no-figures'])
  t.equal(wrong.code, 3)
  t.match(
    wrong.stderr,
    `evidence wrong reference: evidence.derived[0].operation.scale is "${reference}", where stands ` +
      'wandb/both.json#/selections/target/metrics/score has no member "bets", expected a number of an output'
  )
  t.notOk(existsSync(out) && readdirSync(out).length > 0)
})

t.test('what is read is what was verified', async t => {
  const dir = join(work, 'changed')
  writeEvidenceStudy(dir)
  const study = changed('workbook.values.0.as', 'percent')
  const paths = [
    'sources/scores.xlsx',
    'sources/slides.pptx',
    'configs/run.env',
    'configs/base/base.env',
    'configs/mix.json',
    'configs/parent.json',
    'data/train.parquet'
  ]
  const verified = new Map(paths.map(path => [path, sha256(path, dir)]))
  const { inputs } = await readEvidence(contextOf(dir, false, { verified }), study)
  t.same(inputs.map(({ path }) => path).sort(), [...paths].sort())
  for (const path of paths) {
    const without = new Map(verified)
    without.delete(path)
    t.match(
      await faultOf(study, dir, without),
      { message: /^manifest file not listed: [0-9a-f]{64}, expected an entry in the manifest/, exitCode: 1 },
      path
    )
    const other = new Map(verified).set(path, 'f'.repeat(64))
    t.match(
      await faultOf(study, dir, other),
      { message: new RegExp(`^manifest file changed after it was verified: .*${path.replace('.', '\\.')}\\)$`), exitCode: 1 },
      path
    )
  }
  writeFileSync(join(dir, 'configs/base/base.env'), 'LR=2e-6\nROLLOUT_N=8\nHF_TOKEN=x\n')
  const all = await runCli(['all', '--study', dir, '--out', join(work, 'changed-out'), '--no-figures'])
  t.match(all, { code: 1, stderr: /configs\/base\/base\.env/ })
})

t.test('an interrupt ends the reading', async t => {
  const signal = AbortSignal.abort()
  await t.rejects(readEvidence(contextOf(DIR, false, { signal }), changed('workbook.values.0.as', 'percent')), {
    message: /^run interrupted/,
    exitCode: 130
  })
})

t.test("decimals: Python's decimal module, to the nearest double", async t => {
  // Python 3.11: float(Decimal(repr(a)) * Decimal(repr(b)))
  const products: [number, number, number][] = [
    [0.5533, 100, 55.33],
    [0.57, 100, 57],
    [0.1, 3, 0.3],
    [0.5333333333333333, 100, 53.33333333333333],
    [1e-7, 100, 1e-5],
    [5e-324, 0.5, 5e-324],
    [-0.001, 1000, -1],
    [1.5e300, 1e5, 1.5e305],
    [0, -5, 0],
    [123456789.123, 0.001, 123456.789123]
  ]
  for (const [a, b, product] of products) t.equal(decimalProduct(a, b), product, `${a} * ${b}`)
  t.equal(decimalProduct(1e308, 100), Infinity)
  const differences: [number, number, number][] = [
    [29.8, 27, 2.8],
    [55.33, 70.4, -15.07],
    [0.3, 0.1, 0.2],
    [1, 1, 0],
    [1e21, 1, 1e21],
    [1e-7, -1e-7, 2e-7]
  ]
  for (const [a, b, difference] of differences) t.equal(decimalDifference(a, b), difference, `${a} - ${b}`)
  // Against integers: what has d decimals is that many hundredths.
  const random = new Random(7)
  for (let round = 0; round < 2000; round++) {
    const [a, b] = [random.below(1e6), random.below(1e6)].map(n => n - 5e5)
    const scale = 10 ** random.below(4)
    const exact = Number((BigInt(a) - BigInt(b)).toString()) / scale
    if (decimalDifference(a / scale, b / scale) !== exact)
      t.fail(`${a / scale} - ${b / scale} is ${decimalDifference(a / scale, b / scale)}`)
    if (decimalProduct(a / scale, 10 * scale) !== a * 10) t.fail(`${a / scale} * ${10 * scale}`)
  }
})

t.test('numbers of a text', async t => {
  const numbers: [string, number][] = [
    ['57.6', 57.6],
    [' 12,800\u00a0', 12800],
    ['1,234,567.25', 1234567.25],
    ['-3', -3],
    ['\u22123', -3],
    ['+4', 4],
    ['1e-6', 1e-6],
    ['007', 7],
    ['-0', 0]
  ]
  for (const [text, number] of numbers) t.equal(parseNumber(text), number, JSON.stringify(text))
  for (const text of [
    '',
    ' ',
    '1,23',
    '12,3456',
    ',123',
    '1,',
    '1.',
    '.5',
    '55.5%',
    '0x10',
    'Infinity',
    'NaN',
    '1e999',
    '1 000',
    '--1',
    '1,234,56',
    '１２'
  ]) {
    t.equal(parseNumber(text), null, JSON.stringify(text))
  }
})

t.test('a search is given up, not waited for', async t => {
  // The limit of a search is wall time: long enough that a search which ends is not given up on a busy machine.
  const search = new TextSearch(2000)
  t.same(search.find('(\\d+)k', 'about 200k'), { group: '200' })
  t.same(search.find('(\\d+)k', 'about 200'), { problem: 'no match' })
  t.same(search.find('(x)?a', 'a'), { group: '' })
  t.same(search.find('(a)', 'a'.repeat(32_768)), { problem: 'too long' })
  const start = process.cpuUsage()
  t.same(search.find('.*.*.*.*.*.*(x)', 'a'.repeat(5000)), { problem: 'too slow' })
  t.ok(cpuMs(start) < 3000)
  t.same(search.find('(\\d+)k', '1k'), { group: '1' }, 'and the next one works')
  t.same(search.find('(__proto__|constructor)', 'constructor'), { group: 'constructor' })
})

t.test('operations', async t => {
  const documents = (values: Record<string, unknown>): Resolver =>
    new Documents(
      new Map([
        [
          'data.json',
          JSON.stringify({
            values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, published: name !== 'stand_in' }])),
            undefined_reasons: { '/values/nothing/value': 'why' }
          })
        ]
      ])
    )
  const at = (name: string): string => `data.json#/values/${name}/value`
  const value = (
    operation: DerivedValue['operation'],
    values: Record<string, unknown> = { a: 6, b: 4, zero: 0, stand_in: 1, nothing: null, big: 1e308, text: '6', list: [1] }
  ) => deriveValues([{ name: 'd', title: '', unit: '', kind: 'original', operation }], documents(values))[0]
  t.match(value({ ratio: [at('a'), at('b')] }), { value: 1.5, published: true, reason: null })
  t.match(value({ ratio: [at('b'), at('stand_in')] }), { value: 4, published: false })
  t.match(value({ reduction_percent: [at('a'), at('zero')] }), { value: null, reason: 'the second operand is zero' })
  // Python 3.11: (1 - 72/85)*100; 100 - 100*72/85 is 15.294117647058826
  t.match(value({ reduction_percent: [at('hours'), at('other')] }, { hours: 72, other: 85 }), { value: 15.294117647058824 })
  t.match(value({ product: [at('a'), at('zero')] }), { value: 0, reason: null })
  t.match(value({ product: [at('big'), at('big')] }), { value: null, reason: 'the result is beyond the doubles' })
  t.match(value({ scale: at('big'), by: 100 }), { value: null, reason: 'the result is beyond the doubles' })
  t.match(value({ difference: [at('nothing'), at('a')] }), { value: null, reason: 'data.json#/values/nothing/value is undefined: why' })
  t.throws(() => value({ scale: at('text'), by: 1 }), {
    message:
      'evidence wrong reference: evidence.derived[0].operation.scale is "data.json#/values/text/value", where stands the text "6", expected a number of an output'
  })
  t.throws(() => value({ ratio: [at('a'), at('list')] }), /operation\.ratio\[1\] is .* where stands \[1\]/)
  t.throws(() => value({ ratio: [at('a'), at('none')] }), /where stands data\.json#\/values has no member "none"/)
})
