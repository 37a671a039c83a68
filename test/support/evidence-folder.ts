/** A study of written evidence on disk, with its manifest, small enough to work out by hand; the histories are history-folder's. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parquetWriteBuffer, type SchemaElement } from 'hyparquet-writer'
import { STUDY as HISTORIES, writeHistoryStudy, writeManifest } from './history-folder.js'
import { deck, MAIN, pack, REL, rels, shape, slide, worksheet } from './office-files.js'

/** In no output, no message: of the key `HF_TOKEN`, and in the shape of one. */
export const CANARY = 'hf_canarycanarycanarycanary'

const SCORES = [
  '<row r="1"><c r="C1" t="inlineStr"><is><t>merged</t></is></c><c r="D1"><v>5</v></c></row>',
  '<row r="2"><c r="C2"><v>0.55330000000000001</v></c><c r="D2" t="s"><v>0</v></c></row>',
  '<row r="3"><c r="C3"><f>352/500</f><v>0.704</v></c><c r="D3" t="str"><f>"a"</f><v>48,640</v></c></row>',
  '<row r="4"><c r="C4"><f>1-1</f><v>0</v></c><c r="D4" t="inlineStr"><is><t>0.57</t></is></c></row>',
  '<row r="5"><c r="C5" t="inlineStr"><is><t>n/a</t></is></c><c r="D5" t="inlineStr"><is><t>1,23</t></is></c></row>',
  '<row r="6"><c r="C6" s="1"><v>45931</v></c><c r="D6" t="b"><v>1</v></c></row>',
  '<row r="7"><c r="C7" t="e"><v>#DIV/0!</v></c><c r="D7"><f>NOW()</f></c></row>'
].join('')

/** Sheet `评测`, whose part is the second, and `Notes`. */
export function workbook(): Uint8Array {
  return pack({
    '_rels/.rels': rels([['rId1', 'officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${REL}"><sheets><sheet name="评测" sheetId="1" r:id="b"/><sheet name="Notes" sheetId="2" r:id="a"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': rels([
      ['a', 'worksheet', 'worksheets/sheet1.xml'],
      ['b', 'worksheet', 'worksheets/sheet2.xml'],
      ['c', 'sharedStrings', 'sharedStrings.xml'],
      ['d', 'styles', 'styles.xml']
    ]),
    'xl/sharedStrings.xml': `<sst xmlns="${MAIN}"><si><r><t>200k </t></r><r><t>context, 1,234 turns</t></r><rPh sb="0" eb="1"><t>128k context</t></rPh></si></sst>`,
    'xl/styles.xml': `<styleSheet xmlns="${MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
    'xl/worksheets/sheet1.xml': worksheet('<sheetData><row r="1"><c r="A1"><v>-1.5E-3</v></c></row></sheetData>'),
    'xl/worksheets/sheet2.xml': worksheet(`<sheetData>${SCORES}</sheetData><mergeCells><mergeCell ref="C1:D1"/></mergeCells>`)
  })
}

const TABLE = [
  ['', 'A', 'B'],
  ['Minutes', '57.6', '21.5'],
  ['Rollouts', '48,640', ' 12,800 '],
  ['Change', '', '\u22123'],
  ['Share', '71%', 'about 38%']
]

function table(rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[]): string =>
    row.map(text => `<a:tc><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`).join('')
  const merged =
    '<a:tr><a:tc gridSpan="2"><a:txBody><a:p><a:r><a:t>1</a:t></a:r></a:p></a:txBody></a:tc><a:tc hMerge="1"><a:txBody><a:p><a:r><a:t>2</a:t></a:r></a:p></a:txBody></a:tc></a:tr>'
  return `<p:graphicFrame><a:graphic><a:graphicData><a:tbl>${rows.map(row => `<a:tr>${cells(row)}</a:tr>`).join('')}${merged}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`
}

/** Three slides, the first of them in the file with the highest number. */
export function slides(): Uint8Array {
  return deck([
    ['ppt/slides/slide9.xml', slide(shape('First', '2,694 visible tasks', 'was 2.0× faster, is 2.5× faster'))],
    ['ppt/slides/slide2.xml', slide(table(TABLE))],
    ['ppt/slides/slide1.xml', slide(shape('55.5% here', '55.5% there'))]
  ])
}

const OPTIONAL = 'OPTIONAL'
const text = (name: string): SchemaElement => ({ name, type: 'BYTE_ARRAY', repetition_type: OPTIONAL, converted_type: 'UTF8' })

/** Rows whose path matches one pattern, the other, both, neither; one without a path. Two of them have a harness. */
const ROWS = [
  { task_path: 'a/swegen/1', agent_harness: null },
  { task_path: 'b/openswe/2', agent_harness: 'one' },
  { task_path: 'swegen-openswe/3', agent_harness: null },
  { task_path: 'other', agent_harness: 'two' },
  { task_path: null, agent_harness: null }
]

export function dataset(): Uint8Array {
  const buffer = parquetWriteBuffer({
    schema: [
      { name: 'schema', repetition_type: 'REQUIRED', num_children: 2 },
      text('data_source'),
      { name: 'extra_info', repetition_type: OPTIONAL, num_children: 2 },
      text('task_path'),
      text('agent_harness')
    ],
    columnData: [
      { name: 'data_source', data: ROWS.map(() => 'x') },
      { name: 'extra_info', data: ROWS }
    ],
    rowGroupSize: 3,
    codec: 'SNAPPY',
    createdBy: 'by hand'
  })
  if (buffer instanceof Promise) throw new Error('the writer is synchronous')
  return new Uint8Array(buffer)
}

const cell = (name: string, reference: string, more: object = {}): object => ({
  name,
  sheet: '评测',
  cell: reference,
  title: `Cell ${reference}.`,
  ...more
})
const onSlide = (name: string, row: number, column: number, more: object = {}): object => ({
  name,
  slide: 2,
  table: { index: 1, row, column },
  title: `Row ${row}, column ${column}.`,
  ...more
})
const said = (name: string, pattern: string, more: object = {}): object => ({
  name,
  slide: 1,
  as: 'match',
  pattern,
  title: 'Said.',
  ...more
})
const value = (name: string): string => `data.json#/values/${name}/value`
const derived = (name: string): string => `derived_metrics.json#/values/${name}/value`
const follows = (name: string, operation: object, more: object = {}): object => ({
  name,
  title: 'Follows.',
  kind: 'original',
  operation,
  ...more
})

export const EVIDENCE = {
  workbook: {
    path: 'sources/scores.xlsx',
    values: [
      cell('a.percent', 'C2', { as: 'percent', unit: 'percent' }),
      cell('b.percent', 'C3', { as: 'percent', unit: 'percent', published: false }),
      cell('zero', 'C4'),
      cell('c.percent', 'D4', { as: 'percent', excluded: 'other training data' }),
      cell('rollouts.text', 'D3'),
      cell('none', 'C5', { as: 'text' }),
      cell('day', 'C6', { as: 'text' }),
      cell('flag', 'D6', { as: 'text' }),
      cell('context', 'D2', { as: 'match', pattern: '(\\d+)k context', multiply: 1000, unit: 'tokens' }),
      cell('turns', 'D2', { as: 'match', pattern: '([\\d,]+) turns' }),
      { name: 'small', sheet: 'Notes', cell: 'A1', multiply: 0.1, title: 'Of another sheet.' }
    ]
  },
  slides: {
    path: 'sources/slides.pptx',
    values: [
      onSlide('a.minutes', 2, 2, { unit: 'minutes' }),
      onSlide('b.minutes', 2, 3, { unit: 'minutes' }),
      onSlide('a.rollouts', 3, 2),
      onSlide('b.rollouts', 3, 3),
      onSlide('change', 4, 3),
      onSlide('share', 5, 3, { as: 'match', pattern: '(\\d+)%', published: false }),
      said('tasks', '([0-9,]+) visible', { excluded: 'not configured' }),
      said('speedup', 'is ([\\d.]+)×')
    ]
  },
  configs: [
    {
      name: 'run',
      path: 'configs/run.env',
      values: [
        { name: 'run.n', key: 'ROLLOUT_N', title: 'Own.' },
        { name: 'run.lr', key: 'LR', title: 'Inherited.' },
        { name: 'run.whiten', key: 'WHITEN', title: 'A flag.' },
        { name: 'run.init', key: 'CRITIC_INIT', title: 'A text.', published: false },
        { name: 'run.token', key: 'HF_TOKEN', title: 'A secret.' }
      ]
    },
    {
      name: 'mix',
      path: 'configs/mix.json',
      values: [
        { name: 'mix.weights', key: 'harness.weights', title: 'A list.' },
        { name: 'mix.batch', key: 'batch', title: 'Inherited.' },
        { name: 'mix.seed', key: 'seed', title: 'Nothing.' }
      ]
    }
  ],
  datasets: [
    {
      name: 'train',
      path: 'data/train.parquet',
      title: 'Five rows.',
      task_path: 'extra_info.task_path',
      patterns: { swegen: 'swegen', openswe: 'openswe' },
      field: 'extra_info.agent_harness'
    }
  ],
  quoted: [
    { name: 'paper.a', value: 27, unit: 'percent', title: 'Quoted.', source: 'A paper, Table 2' },
    { name: 'paper.b', value: 29.8, unit: 'percent', title: 'Quoted.', source: 'A paper, Table 2' }
  ],
  derived: [
    follows('minutes.ratio', { ratio: [value('a.minutes'), value('b.minutes')] }, { unit: 'ratio' }),
    follows('b.minutes.displayed', { scale: value('b.minutes'), by: 0.5 }, { kind: 'displayed', unit: 'minutes' }),
    follows('minutes.displayed.ratio', { ratio: [value('a.minutes'), derived('b.minutes.displayed')] }, { kind: 'displayed' }),
    follows('minutes.reduction', { reduction_percent: [value('b.minutes'), value('a.minutes')] }),
    follows('percent.difference', { difference: [value('a.percent'), value('b.percent')] }),
    follows('paper.gain', { difference: [value('paper.b'), value('paper.a')] }),
    follows('batch.configured', { product: [value('run.n'), value('mix.batch')] }),
    follows('over.zero', { ratio: [value('a.minutes'), value('zero')] }),
    follows('over.nothing', { ratio: [value('a.minutes'), value('mix.seed')] }),
    follows('over.over', { scale: derived('over.zero'), by: 2 }),
    follows('hours', { scale: 'wandb/both.json#/selections/target/metrics/score/best/display_hours', by: 2 }, { kind: 'displayed' }),
    follows('rows.twice', { scale: 'data.json#/datasets/train/rows', by: 2 })
  ],
  figures: [
    {
      name: '01-bars',
      title: 'Bars',
      panels: [
        {
          title: 'Scores',
          axis: 'Score (%)',
          groups: ['one', 'two'],
          decimals: 2,
          series: [
            { title: 'Base', values: [value('a.percent'), null] },
            { title: 'Target', values: [value('b.percent'), derived('hours')] },
            { title: 'Reference', values: [derived('over.zero'), value('paper.a')] }
          ]
        }
      ]
    }
  ]
}

const FILES: Readonly<Record<string, () => string | Uint8Array>> = {
  'sources/scores.xlsx': workbook,
  'sources/slides.pptx': slides,
  'configs/base/base.env': () => `# base\nLR=1e-6\nROLLOUT_N=8\nexport HF_TOKEN=${CANARY}\n`,
  'configs/run.env': () => 'source base/base.env\n\nROLLOUT_N=4\nWHITEN=True\nCRITIC_INIT="r6 step-100 checkpoint"\n',
  'configs/parent.json': () => '{\n  "batch": 64,\n  "seed": 1\n}\n',
  'configs/mix.json': () =>
    `{\n  "inherits": "parent.json",\n  "harness": { "weights": [1, 1, 2], "api_key": "${CANARY}" },\n  "seed": null\n}\n`,
  'data/train.parquet': dataset
}

/** Writes study, files and manifest into `dir`. @param evidence in place of EVIDENCE */
export function writeEvidenceStudy(dir: string, evidence: object = EVIDENCE): void {
  writeHistoryStudy(dir, { study: { ...HISTORIES, evidence } })
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content())
  }
  writeManifest(dir)
}
