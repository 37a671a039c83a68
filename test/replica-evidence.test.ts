/**
 * The synthetic evidence: the files are read back by other means than the program's and the generator's (fflate and plain
 * regular expressions, hyparquet, a shell's rules in ten lines), and every published value comes out of them.
 *
 * By hand, with Python 3.11: openpyxl 3.1.5 gives the sheets, cells, cached results and the date below; pyarrow 25.0.1 and
 * DuckDB 1.5.6 give the rows, row groups, schema and counts below and agree row by row; zipfile finds no bad CRC-32;
 * ElementTree parses every part; bash sources every `.env` file to the values below.
 */
import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet'
import t from 'tap'
import { article, ARTICLE_STUDY } from '../src/replica/article.js'
import { evidence } from '../src/replica/evidence.js'
import { CANARY } from '../src/replica/evidence/configs.js'
import { StudyFolder } from '../src/replica/part.js'
import { Random } from '../src/replica/random.js'
import type { CellValue, DerivedValue, EvidenceStudy, SlideValue } from '../src/schema/evidence.js'
import {
  all,
  cellsOf,
  configured,
  paragraphs,
  part,
  partsOf,
  shownSlides,
  sourced,
  table,
  targets,
  type Scalar
} from './support/evidence-files.js'
import { replicaSource } from './support/paths.js'

interface Claim {
  readonly id: string
  readonly value: Scalar | readonly Scalar[]
  readonly kind: string
  readonly decimals?: number
  readonly from?: string | readonly string[]
  readonly elements?: readonly string[]
}

interface Source {
  readonly value: Scalar
  readonly decimals?: number
  readonly reference?: string
}

interface Discrepancy {
  readonly id: string
  readonly sources: Readonly<Record<string, Source | string>>
  readonly chosen?: string
  readonly decision: string
  readonly disclosure: string
  readonly forbidden: readonly string[]
}

const dir = t.testdir()
const folder = new StudyFolder(dir, undefined)
const study = (await evidence.write(folder, new Random(evidence.seed))) as EvidenceStudy
const { claims, discrepancies } = JSON.parse(readFileSync(replicaSource('claims.json'), 'utf8')) as {
  claims: readonly Claim[]
  discrepancies: readonly Discrepancy[]
}
const due = claims.filter(({ id }) => /^(?:eval|timing|paper|dataset|config|workbook|cadence)\./.test(id))

function bytesOf(path: string): Uint8Array {
  return new Uint8Array(readFileSync(join(dir, path)))
}

const workbook = partsOf(join(dir, 'sources/evaluation.xlsx'))
const slides = partsOf(join(dir, 'sources/slides.pptx'))
const matrix = cellsOf(workbook, '评测矩阵')
const notes = cellsOf(workbook, '逐点评测')
const shown = shownSlides(slides)

function slideXml(number: number): string {
  return part(slides, shown[number - 1])
}

function converted({ as, pattern, multiply, name }: CellValue | SlideValue, text: string): Scalar {
  const number = (digits: string): number => Number(digits.replaceAll(',', ''))
  switch (as) {
    case 'text':
      return text
    case 'number':
      return number(text) * multiply
    case 'percent':
      return number(text) * 100 * multiply
    case 'match': {
      const found = new RegExp(pattern ?? '', 'u').exec(text)
      if (found === null) throw new Error(`${name}: nothing of ${pattern} in ${text}`)
      return number(found[1]) * multiply
    }
  }
}

/** The text of a slide's value; the one paragraph that its pattern matches where it is in no table. */
function slideText({ slide, table: at, pattern, name }: SlideValue): string {
  if (at !== null) return table(slideXml(slide), at.index)[at.row - 1][at.column - 1]
  const fitting = paragraphs(slideXml(slide)).filter(p => new RegExp(pattern ?? '', 'u').test(p))
  t.equal(fitting.length, 1, `${name}: one paragraph of slide ${slide}`)
  return fitting[0]
}

/** What stands at `data.json#/values/<name>/value`. */
const values = new Map<string, Scalar | undefined>([
  ...(study.workbook?.values ?? []).map(
    value => [value.name, converted(value, (value.sheet === '评测矩阵' ? matrix : notes).get(value.cell) ?? '')] as const
  ),
  ...(study.slides?.values ?? []).map(value => [value.name, converted(value, slideText(value))] as const),
  ...study.configs.flatMap(({ path, values: keys }) => keys.map(({ name, key }) => [name, configured(dir, path, key)] as const)),
  ...study.documents.flatMap(({ path, values: stated }) =>
    stated.map(({ name, line, pattern, as }) => {
      const lines = readFileSync(join(dir, path), 'utf8').split('\n')
      const found = new RegExp(pattern, 'u').exec(lines[line - 1])?.[1]
      t.equal(lines.filter(text => new RegExp(pattern, 'u').test(text)).length, 1, `${name}: one line of ${path}`)
      return [name, as === 'text' || found === undefined ? found : Number(found.replaceAll(',', ''))] as const
    })
  ),
  ...study.quoted.map(({ name, value }) => [name, value] as const)
])
const derived = new Map<string, number>()

/** Displayed hours and best scores are the histories' own: their published values stand for them here. */
const HISTORY: Readonly<Record<string, string>> = {
  'wandb/curve_statistics.json#/selections/gspo/metrics/validation/best/display_hours': 'display.gspo.best_hours',
  'wandb/curve_statistics.json#/selections/sao/metrics/validation/best/display_hours': 'display.sao.best_hours',
  'wandb/curve_statistics.json#/selections/gspo/metrics/validation/best/value': 'best.gspo.value',
  'wandb/curve_statistics.json#/selections/sao/metrics/validation/best/value': 'best.sao.value'
}

function num(reference: string): number {
  const value = HISTORY[reference] === undefined ? resolve(reference) : claims.find(claim => claim.id === HISTORY[reference])?.value
  if (typeof value !== 'number') throw new Error(`${reference} is ${JSON.stringify(value)}`)
  return value
}

function calculate({ operation }: DerivedValue): number {
  if ('ratio' in operation) return num(operation.ratio[0]) / num(operation.ratio[1])
  if ('difference' in operation) return num(operation.difference[0]) - num(operation.difference[1])
  if ('product' in operation) return num(operation.product[0]) * num(operation.product[1])
  if ('scale' in operation) return num(operation.scale) * operation.by
  return (1 - num(operation.reduction_percent[0]) / num(operation.reduction_percent[1])) * 100
}

interface Task {
  readonly data_source: string
  readonly prompt: ReadonlyArray<{ readonly role: string; readonly content: string }>
  readonly ability: string
  readonly reward_model: { readonly style: string; readonly ground_truth: string }
  readonly extra_info: Readonly<Record<string, unknown>>
}

async function tasksOf(path: string): Promise<readonly Task[]> {
  return (await parquetReadObjects({ file: bytesOf(path).buffer as ArrayBuffer })) as unknown as readonly Task[]
}

const tasks = new Map(await Promise.all(study.datasets.map(async ({ name, path }) => [name, await tasksOf(path)] as const)))

function datasetValue(name: string, place: string): Scalar | undefined {
  const source = study.datasets.find(d => d.name === name)
  const rows = tasks.get(name)
  if (source === undefined || rows === undefined) return undefined
  const holds = (row: Task, text: string): boolean => String(row.extra_info['task_path']).includes(text)
  const pattern = /^matches\/(\w+)$/.exec(place)?.[1]
  if (pattern !== undefined) return rows.filter(row => holds(row, source.patterns[pattern])).length
  switch (place) {
    case 'path':
      return source.path
    case 'rows':
      return rows.length
    case 'unmatched':
      return rows.filter(row => !Object.values(source.patterns).some(text => holds(row, text))).length
    case 'field/rows':
      return rows.filter(row => (row.extra_info['agent_harness'] ?? null) !== null).length
    default:
      return undefined
  }
}

/** What a reference into the outputs of the evidence leads to; undefined where it leads nowhere. */
function resolve(reference: string): Scalar | undefined {
  const value = /^(data|derived_metrics)\.json#\/values\/([^/]+)\/value$/.exec(reference)
  if (value !== null) return value[1] === 'data' ? values.get(value[2]) : derived.get(value[2])
  const dataset = /^data\.json#\/datasets\/(\w+)\/(.+)$/.exec(reference)
  return dataset === null ? undefined : datasetValue(dataset[1], dataset[2])
}

for (const value of study.derived) derived.set(value.name, calculate(value))

/** To half a unit of the last published decimal and one unit in the last place; without decimals, equal. */
function agrees(published: unknown, found: unknown, decimals: number | undefined): boolean {
  if (typeof published !== 'number' || typeof found !== 'number' || decimals === undefined) return published === found
  return Math.abs(found - published) <= 0.5 * 10 ** -decimals + 2 ** (Math.floor(Math.log2(Math.abs(found) || 1)) - 52)
}

/** Documents of the histories: what claims find there is checked with the histories. */
function isHistory(reference: string): boolean {
  return /^(?:wandb\/(?:curve_statistics|sao_r6_r7_statistics)|training_data\/multilingual-case-statistics)\.json#\/selections\//.test(
    reference
  )
}

t.test('every published value comes out of the files at its precision', t => {
  t.equal(due.length, 94)
  let compared = 0
  for (const { id, value, decimals, from, elements, kind } of due) {
    const places = [from ?? elements ?? []].flat()
    t.ok(places.length > 0 && ['computed', 'config', 'quoted'].includes(kind), id)
    for (const [i, place] of places.entries()) {
      if (isHistory(place)) continue
      const published = elements === undefined ? value : [value].flat()[i]
      t.ok(agrees(published, resolve(place), decimals), `${id}: ${String(resolve(place))} at ${place}, published ${String(published)}`)
      compared++
    }
    if (elements !== undefined) t.equal(elements.length, [value].flat().length, id)
  }
  t.equal(compared, 119)
  t.notOk(agrees(55.33, 55.5, 2))
  t.same([derived.get('gspo.batch.configured'), derived.get('sao.batch.configured')], [512, 64])
  t.ok(agrees(63.2418, derived.get('time_to_best.reduction'), 4))
  t.end()
})

t.test('the workbook holds what makes workbooks hard to read', t => {
  const main = part(workbook, 'xl/workbook.xml')
  t.same(all(main, /<sheet name="([^"]+)"/g), ['说明', '评测矩阵', '逐点评测'])
  const files = all(main, /r:id="(\w+)"/g).map(id => targets(workbook, 'xl/workbook.xml').get(id))
  t.same(
    files,
    ['xl/worksheets/sheet2.xml', 'xl/worksheets/sheet3.xml', 'xl/worksheets/sheet1.xml'],
    'neither order nor number of the files'
  )
  const xml = part(workbook, 'xl/worksheets/sheet3.xml')
  t.match(xml, '<c r="C8" s="1"><v>0.70399999999999996</v></c>', 'a score with the 17 digits that Excel writes')
  t.equal(Number('0.70399999999999996'), 0.704)
  t.match(xml, '<c r="C11" s="1"><f>343/500</f><v>0.686</v></c>', 'a score that is a formula')
  t.match(xml, '<c r="M5" s="1"><f>C5-C$5</f><v>0</v></c>', 'a cached 0')
  t.match(xml, '<c r="B11" t="str"><f>&quot;SAO &quot;&amp;&quot;r7&quot;</f><v>SAO r7</v></c>', 'a cached text')
  t.match(xml, '<c r="B5" t="inlineStr"><is><t xml:space="preserve">Qwen3.5-35B-A3B (base)</t></is></c>')
  t.match(xml, '<mergeCell ref="A1:M1"/>')
  // 46293 days after 1899-12-30: openpyxl says 2026-09-28
  t.match(xml, '<c r="B2" s="2"><v>46293</v></c>')
  t.equal(matrix.get('B8'), 'OpenHands single-harness', 'two runs, and no reading')
  t.match(part(workbook, 'xl/sharedStrings.xml'), /<rPh sb="0" eb="\d+"><t [^>]*>オープンハンズ<\/t><\/rPh><phoneticPr/)
  t.equal(matrix.get('C4'), 'Verified/OpenHands\n（4,800 s）')
  t.equal(matrix.get('D4'), 'Verified/OpenHands\n（7,600 s）')
  t.equal(notes.get('B4'), '200k context，200 turns，4,800 s')
  t.equal(matrix.get('B9'), 'Three-harness mixed <GSPO & friends>')
  t.notOk(
    [...matrix.keys()].some(cell => /^\D+10$/.test(cell)),
    'a row that is not there'
  )
  const numbers = [...matrix].filter(([cell, text]) => /^[C-L]([5-9]|1\d)$/.test(cell) && /^\d/.test(text)).map(([cell]) => cell)
  t.same(numbers.sort(), ['C11', 'C5', 'C8', 'L11', 'L14', 'L5', 'L8'], 'no score but those that the study reads')
  t.end()
})

t.test('the slides are 44, in an order that is not that of their files', t => {
  t.equal(shown.length, 44)
  t.equal(new Set(shown).size, 44)
  t.same(
    shown.filter((path, i) => path === `ppt/slides/slide${i + 1}.xml`),
    [],
    'no slide has its own number'
  )
  t.equal(shown[39], 'ppt/slides/slide17.xml')
  const forty = slideXml(40)
  t.equal(paragraphs(forty).at(-1), '36', 'the printed page')
  t.equal(paragraphs(slideXml(5)).at(-1), '1')
  t.match(forty, /<p:grpSp>.*<a:tbl>.*<\/a:tbl>.*<\/p:grpSp>/s, 'the table is inside a group')
  t.match(forty, '<a:t>57</a:t></a:r><a:r>', 'a number in two runs')
  t.match(forty, '<a:br>', 'a line break')
  t.match(forty, '<a:tc gridSpan="3">')
  t.same(table(forty, 1), [
    ['SAO vs GSPO', '', ''],
    ['指标', 'GSPO', 'SAO'],
    ['每步时长\v（min）', '57.6', '21.5'],
    ['到最优 checkpoint 的 rollout 数', '48,640', '12,800'],
    ['到最优 checkpoint 的墙钟（h）', '85', '72'],
    ['每步 rollout 数', '512', '64'],
    ['trainer 等待占比', '71%', '38%'],
    ['SWE-bench Verified', '70.4%', '68.6%'],
    ['SWE-bench Multilingual', '55.5%', '—']
  ])
  t.ok(paragraphs(forty).includes('同一任务集、同一批机器'))
  t.match(paragraphs(slideXml(2)).join(), /GSPO.*SAO/)
  t.match(paragraphs(slideXml(14)).join(), /GSPO policy objective/)
  t.match(paragraphs(slideXml(44)).join(), /范围与局限/)
  const everything = shown.map(path => paragraphs(part(slides, path)).join('\n'))
  t.same(
    everything.flatMap((text, i) => (text.includes('55.5') ? [i + 1] : [])),
    [5, 40]
  )
  t.same(
    everything.flatMap((text, i) => (text.includes('2,694') ? [i + 1] : [])),
    [11]
  )
  t.same(
    everything.flatMap((text, i) => (text.includes('2.5×') ? [i + 1] : [])),
    [26]
  )
  t.end()
})

t.test('both are whole packages: every part has a type, every relationship a part, every element an end', t => {
  for (const [name, parts] of [
    ['workbook', workbook],
    ['slides', slides]
  ] as const) {
    const types = new Set(all(part(parts, '[Content_Types].xml'), /PartName="\/([^"]+)"/g))
    const content = [...parts.keys()].filter(path => path !== '[Content_Types].xml' && !path.endsWith('.rels'))
    t.same([...types].sort(), [...content].sort(), `${name}: content types`)
    for (const path of parts.keys()) {
      if (!path.endsWith('.rels')) continue
      const owner = posix.join(posix.dirname(posix.dirname(path)), posix.basename(path).slice(0, -'.rels'.length))
      const found = [...targets(parts, owner).values()]
      t.ok(found.length > 0 && found.every(target => parts.has(target)), `${name}: ${path}`)
    }
    for (const [path, xml] of parts) {
      t.ok(xml.startsWith('<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'), path)
      const open: string[] = []
      for (const [, end, element, alone] of xml.matchAll(/<(\/?)([\w:]+)(?:\s[^<>]*?)?(\/?)>/g)) {
        if (end === '/') t.equal(open.pop(), element, path)
        else if (alone === '') open.push(element)
      }
      t.same(open, [], path)
    }
    t.match(part(parts, 'docProps/core.xml'), '<cp:keywords>synthetic</cp:keywords>')
  }
  t.end()
})

t.test('configurations inherit, and hold secrets that nothing else holds', t => {
  const chain = (path: string): string[] => [
    ...all(readFileSync(join(dir, path), 'utf8'), /^source .*\)\/([^"]+)"$/gm).flatMap(parent => chain(posix.join(dirname(path), parent))),
    path
  ]
  t.same(chain('configs/trace.env'), [
    'configs/base/cluster.env',
    'configs/base/openswe.env',
    'configs/sao_r6.env',
    'configs/sao_r7.env',
    'configs/base/multilingual.env',
    'configs/single.env',
    'configs/trace.env'
  ])
  t.same(
    study.configs.map(({ name, path }) => [name, path]),
    [
      ...['gspo', 'sao_r6', 'sao_r7', 'single', 'mixed', 'trace'].map(name => [name, `configs/${name}.env`]),
      ['openswe', 'configs/openswe.json']
    ]
  )
  const several = ['critic_warmup', 'whitening', 'critic_clip', 'minibatch', 'train_prompts', 'critic_init'].map(key =>
    ['sao_r6', 'sao_r7', 'single', 'mixed', 'trace'].map(name => values.get(`${name}.${key}`))
  )
  t.same(several, [
    [10, 20, 2, 10, 2],
    [false, true, true, true, true],
    [1, 10, 10, 10, 10],
    [64, 64, 64, 128, 128],
    [64, 64, 64, 128, 128],
    [
      'base model',
      'r6 step-100 checkpoint',
      'earlier OpenSWE critic checkpoint',
      'another previously trained critic',
      'earlier multilingual-trained critic'
    ]
  ])
  const configs = folder.files.filter(file => file.role === 'config').map(file => file.path)
  t.same(
    configs.filter(path => readFileSync(join(dir, path), 'utf8').includes(CANARY)),
    ['configs/base/cluster.env', 'configs/base/datasets.json']
  )
  t.same(
    configs.filter(path => readFileSync(join(dir, path), 'utf8').includes('49.67')),
    ['configs/base/multilingual.env']
  )
  t.match(readFileSync(join(dir, 'configs/base/multilingual.env'), 'utf8'), /^# .*49\.67%/m, 'in a comment')
  t.equal(sourced(dir, 'configs/single.env').get('WANDB_API_KEY'), `${CANARY}-5d41402a`, 'inherited by all')
  const read = study.configs.flatMap(config => config.values.map(({ key }) => key))
  t.notOk(
    read.some(key => /key|token/i.test(key)),
    'none is asked for'
  )
  t.notMatch(JSON.stringify(study), CANARY)
  t.end()
})

t.test("datasets are in verl's layout", t => {
  const leaves = [
    'data_source',
    'prompt.list.element.content',
    'prompt.list.element.role',
    'ability',
    'reward_model.ground_truth',
    'reward_model.style',
    'extra_info.index',
    'extra_info.language',
    'extra_info.split',
    'extra_info.task_path'
  ]
  const groups: Record<string, number[]> = { single: [500, 500, 500, 229], mixed: [1000, 1000, 1000, 999], validation: [128, 128, 44] }
  for (const { name, path } of study.datasets) {
    const metadata = parquetMetadata(bytesOf(path).buffer as ArrayBuffer)
    t.same(
      metadata.row_groups.map(group => Number(group.num_rows)),
      groups[name],
      path
    )
    t.same(
      metadata.row_groups[0].columns.map(column => column.meta_data?.path_in_schema.join('.')),
      leaves
    )
    t.same(
      [...new Set(metadata.row_groups.flatMap(group => group.columns.map(column => column.meta_data?.codec)))],
      [name === 'validation' ? 'UNCOMPRESSED' : 'SNAPPY']
    )
    t.same(metadata.key_value_metadata, [{ key: 'synthetic', value: 'true' }])
    t.equal(metadata.created_by, 'critic-traces replica generator')
    const prompt = parquetSchema(metadata).children[1]
    t.same([prompt.element.converted_type, prompt.children[0].element.repetition_type], ['LIST', 'REPEATED'])
    const rows = tasks.get(name) ?? []
    t.equal(new Set(rows.map(row => row.extra_info['task_path'])).size, rows.length, 'each task once')
    t.same(
      rows.map(row => row.extra_info['index']),
      rows.map((_, i) => BigInt(i))
    )
    t.ok(
      rows.every(
        row =>
          row.prompt.length === 2 && row.prompt[0].role === 'system' && row.prompt[1].role === 'user' && row.prompt[1].content.length > 60
      )
    )
    t.ok(
      rows.every(row => row.ability === 'swe' && row.reward_model.style === 'tests' && /^[0-9a-f]{8}$/.test(row.reward_model.ground_truth))
    )
    t.ok(rows.every(row => String(row.extra_info['task_path']).startsWith(`tasks/${row.data_source}/`)))
    t.notOk('agent_harness' in rows[0].extra_info)
  }
  const mixed = tasks.get('mixed') ?? []
  const kinds = [0, 1000, 2000, 3000].map(from => mixed.slice(from, from + 1000).filter(row => row.data_source === 'swegen').length)
  t.ok(
    kinds.every(n => n > 350 && n < 480),
    `both kinds in every row group: ${kinds.join(', ')}`
  )
  t.same(
    [datasetValue('single', 'matches/swegen'), datasetValue('single', 'matches/openswe'), datasetValue('single', 'unmatched')],
    [1729, 0, 0]
  )
  t.equal(datasetValue('validation', 'matches/multilingual'), 300)
  t.end()
})

t.test('the study section leads somewhere, and says what is no published value', t => {
  const names = [...values.keys(), ...derived.keys()]
  t.equal(new Set(names).size, names.length)
  t.ok(names.every(name => /^(?=.{1,100}$)[a-z][a-z0-9_-]*(?:\.[a-z0-9_-]+)*$/.test(name)))
  t.same(
    [...values].filter(([, value]) => value === undefined),
    []
  )
  const read = [...(study.workbook?.values ?? []), ...(study.slides?.values ?? [])]
  t.same(
    read.filter(value => !value.published).map(value => value.name),
    ['sao.multilingual', 'gspo.rollouts_to_best', 'sao.rollouts_to_best', 'gspo.waiting', 'sao.waiting']
  )
  t.same(
    study.configs
      .flatMap(c => c.values)
      .filter(value => !value.published && !/(?:_files|critic_path)$/.test(value.name))
      .map(value => value.name),
    [
      'gspo.train_prompts',
      'sao_r6.train_prompts',
      'sao_r6.minibatch',
      'sao_r6.critic_lr',
      'sao_r6.critic_epochs',
      'sao_r7.train_prompts',
      'sao_r7.minibatch',
      'single.train_prompts',
      'mixed.train_prompts'
    ]
  )
  const excluded = read.filter(value => value.excluded !== null).map(value => value.name)
  t.same(excluded, [
    'multilingual_training.multilingual',
    'slide40.gspo.multilingual',
    'slide5.gspo.verified',
    'slide5.gspo.multilingual',
    'slide26.async_speedup',
    'slide.visible_tasks'
  ])
  const drawn = study.figures.flatMap(figure => figure.panels.flatMap(panel => panel.series.flatMap(series => series.values)))
  const used = [...drawn, ...study.derived.flatMap(({ operation }) => Object.values(operation).flat())].filter(
    value => typeof value === 'string'
  )
  t.ok(
    used.every(reference => isHistory(reference) || resolve(reference) !== undefined),
    'every reference'
  )
  t.notOk(
    used.some(reference => excluded.some(name => reference.includes(`/${name}/`))),
    'an excluded value enters nothing'
  )
  t.same(
    study.figures.map(({ name, panels }) => [
      name,
      panels.map(({ groups, series }) => [groups.length, series.map(s => s.values.map(v => num(v ?? '')))])
    ]),
    [
      [
        '01-scores',
        [
          [
            2,
            [
              [64, 51.7],
              [70.39999999999999, 55.33],
              [68.60000000000001, 54.669999999999995]
            ]
          ]
        ]
      ],
      [
        '02-efficiency',
        [
          [1, [[48640], [12800]]],
          [1, [[57.6], [10.75]]],
          [1, [[135], [49.6236]]]
        ]
      ]
    ]
  )
  t.same(
    study.figures.map(({ panels }) => panels.map(({ decimals }) => decimals)),
    [[1], [0, 1, 1]],
    'one number of decimals for all bars of a panel'
  )
  t.ok(study.figures[1].panels.slice(1).every(panel => panel.axis.includes('concurrency-normalised')))
  t.end()
})

t.test('contradictions: their sources, what is disclosed, what must not be said', t => {
  t.equal(discrepancies.length, 17)
  for (const { id, sources, chosen, decision, disclosure, forbidden } of discrepancies) {
    for (const [label, source] of Object.entries(sources)) {
      if (typeof source === 'string') continue
      const { reference = '', value, decimals } = source
      t.ok(isHistory(reference) || agrees(value, resolve(reference), decimals), `${id}, ${label}: ${String(resolve(reference))}`)
    }
    t.ok(chosen === undefined || Object.hasOwn(sources, chosen), `${id} chooses one of its sources`)
    t.ok(decision.length > 20 && forbidden.length > 0, id)
    const filled = disclosure.replaceAll(/\{\{([^{}]+)\}\}/g, (_, reference: string) => {
      t.ok(isHistory(reference) || resolve(reference) !== undefined, `${id}: ${reference}`)
      return String(resolve(reference) ?? 0)
    })
    t.notMatch(filled, /[{}]/)
    for (const pattern of forbidden) {
      const expression = new RegExp(pattern, 'iu')
      t.notOk(expression.test(''), pattern)
      t.notOk(expression.test(filled) || expression.test(decision), `${id} does not forbid its own words: ${pattern}`)
    }
  }
  const said = (id: string, text: string): boolean =>
    discrepancies.find(d => d.id === id)?.forbidden.some(pattern => new RegExp(pattern, 'iu').test(text)) === true
  for (const [id, text] of [
    ['gspo-multilingual', 'GSPO reaches 55.415% on Multilingual.'],
    ['gspo-multilingual', 'the average of the workbook and the slides'],
    ['sao-snapshots', 'SAO reaches 68.4%'],
    ['run-length-vs-best', 'with its best checkpoint at step 239'],
    ['task-count', '2,694 tasks were run'],
    ['row-14', 'Multilingual training outperforms GSPO'],
    ['async-2.5x', 'SAO is 2.5× faster'],
    ['hours-to-best', 'a reduction of 63% in GPU-hours'],
    ['behavioural-claims', 'The controlled comparison shows'],
    ['r6-warmup', 'r6 had no critic warmup'],
    ['r6-negative-batches', 'all-negative batches at steps 119 to 121'],
    ['whitening-sign-counts', 'exactly unit variance'],
    ['clip-10', 'norms up to 30 pass without scaling'],
    ['think-call-73', 'the history shows think calls at 73%'],
    ['base-multilingual', 'improves by ten points over 51.7%'],
    ['critic-lr', "the critic's learning rate was halved"],
    ['figure-5-name', 'Figure 4(b) shows the recipes'],
    ['paper-table-2', '70.4% against 29.8% in the paper']
  ] as const)
    t.ok(said(id, text), `${id}: ${text}`)
  t.notOk(said('whitening-sign-counts', 'not exactly unit variance'))
  t.end()
})

t.test('the article is the templates as they are', async t => {
  const own = new StudyFolder(t.testdir(), undefined)
  t.same(await article.write(own, new Random(article.seed)), ARTICLE_STUDY)
  t.same(
    own.files.map(({ path, role }) => [path, role]),
    [
      ['article/article.md', 'article'],
      ['article/source-notes.md', 'article']
    ]
  )
  for (const name of ['article.md', 'source-notes.md']) {
    t.equal(readFileSync(join(own.dir, 'article', name), 'utf8'), readFileSync(replicaSource('article', name), 'utf8'))
  }
})

t.test('the same bytes again, in another time zone', async t => {
  const roles: Record<string, number> = {}
  for (const { role } of folder.files) roles[role] = (roles[role] ?? 0) + 1
  t.same(roles, { workbook: 1, slides: 1, config: 11, dataset: 3, document: 3 })
  const zone = process.env['TZ']
  t.teardown(() => {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  })
  for (const other of ['Pacific/Kiritimati', 'America/St_Johns']) {
    process.env['TZ'] = other
    const again = new StudyFolder(t.testdir(), undefined)
    t.strictSame(await evidence.write(again, new Random(evidence.seed)), study)
    t.strictSame(again.files, folder.files, other)
  }
})
