/**
 * The sections `evidence` and `article` of a study: one study that is right (`evidence` in fixtures/study/valid.jsonl), and
 * what is said of it when one thing in it is wrong.
 */
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { Fault } from '../src/core/errors.js'
import { checkStudy, loadStudy, studyJsonSchema } from '../src/study/study.js'
import { patternProblem } from '../src/core/safe-pattern.js'
import { EVIDENCE_DOCUMENTS, RESERVED_OUTPUTS, TRACE_DOCUMENTS } from '../src/schema/outputs.js'
import { DIAGNOSTIC_PATHS, OUTPUT_PATHS } from '../src/render/outputs/output-names.js'
import { caseOf } from './support/cases.js'
import { REPLICA_HISTORIES } from './support/history-study.js'
import { schemaProblems } from './support/json-schema.js'

const RIGHT = Buffer.from(caseOf('study/valid', 'evidence').bytes).toString()

type Json = { [name: string]: Json } & { [index: number]: Json }

/** The right study with another value at a path (`evidence.workbook.values.0.cell`); undefined takes the field away. */
function changed(path: string, value: unknown): unknown {
  const study = JSON.parse(RIGHT) as Json
  const names = path.split('.')
  const last = names.pop() ?? ''
  const parent = names.reduce((at, name) => at[name], study)
  if (value === undefined) Reflect.deleteProperty(parent, last)
  else parent[last] = value as Json
  return study
}

function messageOf(study: unknown): string {
  try {
    checkStudy(study, { format: 'study', place: {}, paths: [] })
  } catch (error) {
    if (error instanceof Fault) return error.message
    throw error
  }
  return 'accepted'
}

const VALUE = 'data.json#/values/grpo.verified/value'
const figure = (values: unknown): unknown => ({
  name: '01',
  title: 'T',
  panels: [{ title: 'T', axis: 'A', groups: ['g'], series: [{ title: 's', values }] }]
})
const derived = (operation: unknown, more: object = {}): unknown => ({ name: 'd', title: 'T.', kind: 'original', operation, ...more })

/** [path, value, message]; the ones that one field shows are refused by the JSON Schema too. */
const ONE_FIELD: readonly (readonly [string, unknown, string])[] = [
  ['evidence', [], 'study wrong field: evidence is a list of 0, expected an object'],
  [
    'evidence.workbooks',
    {},
    'study unknown field: evidence.workbooks, expected one of workbook, slides, configs, datasets, documents, quoted, derived, figures; did you mean workbook?'
  ],
  ['evidence.workbook.values', [], 'study wrong field: evidence.workbook.values is a list of 0, expected a list of at least 1'],
  [
    'evidence.workbook.path',
    '../x.xlsx',
    'study unsafe path: evidence.workbook.path is "../x.xlsx", expected a relative path inside the study ("/" between names, no "..")'
  ],
  [
    'evidence.workbook.values.0.sheet',
    '',
    'study wrong field: evidence.workbook.values[0].sheet is "", expected a text of 1 to 200 characters'
  ],
  [
    'evidence.workbook.values.0.cell',
    'c8',
    'study wrong field: evidence.workbook.values[0].cell is "c8", expected a cell: column letters A to XFD and a row from 1 to 1048576'
  ],
  [
    'evidence.workbook.values.0.cell',
    'C8:C9',
    'study wrong field: evidence.workbook.values[0].cell is "C8:C9", expected a cell: column letters A to XFD and a row from 1 to 1048576'
  ],
  [
    'evidence.workbook.values.0.cell',
    'C0',
    'study wrong field: evidence.workbook.values[0].cell is "C0", expected a cell: column letters A to XFD and a row from 1 to 1048576'
  ],
  [
    'evidence.workbook.values.0.as',
    'fraction',
    'study wrong field: evidence.workbook.values[0].as is "fraction", expected "number" or "percent" or "text" or "match"'
  ],
  [
    'evidence.workbook.values.0.multiply',
    0,
    'study wrong field: evidence.workbook.values[0].multiply is 0, expected a number other than 0, its absolute value from 1e-15 to 1e15'
  ],
  [
    'evidence.workbook.values.0.title',
    undefined,
    'study missing field: evidence.workbook.values[0].title, expected a text of 1 to 300 characters'
  ],
  [
    'evidence.workbook.values.0.name',
    'GRPO.verified',
    'study wrong field: evidence.workbook.values[0].name is "GRPO.verified", expected a name: a lower-case letter, then lower-case letters, digits, "_" and "-", and "." between parts; at most 100'
  ],
  [
    'evidence.workbook.values.0.name',
    'grpo..verified',
    'study wrong field: evidence.workbook.values[0].name is "grpo..verified", expected a name: a lower-case letter, then lower-case letters, digits, "_" and "-", and "." between parts; at most 100'
  ],
  [
    'evidence.workbook.values.0.name',
    `a${'.b'.repeat(50)}`,
    `study wrong field: evidence.workbook.values[0].name is "a${'.b'.repeat(50)}", expected a name: a lower-case letter, then lower-case letters, digits, "_" and "-", and "." between parts; at most 100`
  ],
  [
    'evidence.workbook.values.0.excluded',
    '',
    'study wrong field: evidence.workbook.values[0].excluded is "", expected a text of 1 to 300 characters, or null'
  ],
  ['evidence.slides.values.0.slide', 0, 'study wrong field: evidence.slides.values[0].slide is 0, expected an integer from 1 to 10000'],
  [
    'evidence.slides.values.0.table.row',
    0,
    'study wrong field: evidence.slides.values[0].table.row is 0, expected an integer from 1 to 10000'
  ],
  [
    'evidence.slides.values.0.table.column',
    undefined,
    'study missing field: evidence.slides.values[0].table.column, expected an integer from 1 to 10000'
  ],
  ['evidence.configs.0.values', [], 'study wrong field: evidence.configs[0].values is a list of 0, expected a list of at least 1'],
  [
    'evidence.configs.0.path',
    '/etc/passwd',
    'study unsafe path: evidence.configs[0].path is "/etc/passwd", expected a relative path inside the study ("/" between names, no "..")'
  ],
  [
    'evidence.datasets.0.patterns',
    { Swegen: 'x' },
    'study wrong name: evidence.datasets[0].patterns.Swegen, expected a name: a lower-case letter, then lower-case letters, digits, "_" and "-", at most 64'
  ],
  [
    'evidence.datasets.0.patterns',
    { swegen: '' },
    'study wrong field: evidence.datasets[0].patterns.swegen is "", expected a text of 1 to 200 characters'
  ],
  [
    'evidence.datasets.0.patterns',
    { '//': 1 },
    'study wrong field: evidence.datasets[0].patterns["//"] is 1, expected a comment: a text or a list of texts'
  ],
  [
    'evidence.datasets.0.patterns',
    Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`p${i}`, 'x'])),
    'study wrong field: evidence.datasets[0].patterns is an object, expected an object of at most 20'
  ],
  ['evidence.quoted.0.value', '27', 'study wrong field: evidence.quoted[0].value is "27", expected a finite number'],
  ['evidence.quoted.0.source', undefined, 'study missing field: evidence.quoted[0].source, expected a text of 1 to 1000 characters'],
  ['evidence.derived.0.kind', 'shown', 'study wrong field: evidence.derived[0].kind is "shown", expected "original" or "displayed"'],
  [
    'evidence.derived.0.operation',
    { ratio: [VALUE] },
    'study wrong field: evidence.derived[0].operation.ratio is a list of 1, expected a list of two, each a reference: the path of a JSON output, "#" and a JSON pointer; at most 300'
  ],
  [
    'evidence.derived.0.operation',
    { scale: VALUE },
    'study missing field: evidence.derived[0].operation.by, expected a number other than 0, its absolute value from 1e-15 to 1e15'
  ],
  [
    'evidence.derived.0.operation',
    {},
    'study missing field: evidence.derived[0].operation has no operation, expected one of ratio, difference, product, scale, reduction_percent'
  ],
  [
    'evidence.derived.0.operation',
    { mean: [VALUE, VALUE] },
    'study missing field: evidence.derived[0].operation has no operation, expected one of ratio, difference, product, scale, reduction_percent'
  ],
  ...[
    'data.json',
    'data.json#',
    'data.json#values',
    'data.json#/a~2',
    '/data.json#/a',
    '../data.json#/a',
    'data.txt#/a',
    'a//b.json#/a'
  ].map((bad): [string, unknown, string] => [
    'evidence.derived.1.operation.scale',
    bad,
    `study wrong field: evidence.derived[1].operation.scale is "${bad}", expected a reference: the path of a JSON output, "#" and a JSON pointer; at most 300`
  ]),
  [
    'evidence.figures.0.name',
    'a/b',
    'study wrong field: evidence.figures[0].name is "a/b", expected a file name without extension: letters, digits, "_" and "-", at most 100'
  ],
  ['evidence.figures.0.panels', [], 'study wrong field: evidence.figures[0].panels is a list of 0, expected a list of 1 to 6'],
  [
    'evidence.figures.0.panels.0.decimals',
    11,
    'study wrong field: evidence.figures[0].panels[0].decimals is 11, expected an integer from 0 to 10'
  ],
  [
    'evidence.figures.0.panels.0.groups',
    Array.from({ length: 9 }, (_, i) => `g${i}`),
    'study wrong field: evidence.figures[0].panels[0].groups is a list of 9, expected a list of 1 to 8'
  ],
  [
    'article.notes',
    undefined,
    'study missing field: article.notes, expected a relative path inside the study ("/" between names, no "..")'
  ],
  [
    'article.article',
    'a\\b.md',
    'study unsafe path: article.article is "a\\\\b.md", expected a relative path inside the study ("/" between names, no "..")'
  ]
]

/** What lies between two fields. */
const BETWEEN: readonly (readonly [string, unknown, string])[] = [
  [
    'evidence.workbook.values.0.cell',
    'XFE1',
    'study wrong field: evidence.workbook.values[0].cell is "XFE1", expected a cell: column letters A to XFD and a row from 1 to 1048576'
  ],
  [
    'evidence.workbook.values.0.cell',
    'A1048577',
    'study wrong field: evidence.workbook.values[0].cell is "A1048577", expected a cell: column letters A to XFD and a row from 1 to 1048576'
  ],
  [
    'evidence',
    {},
    'study missing field: evidence states nothing that is to be read, expected one of workbook, slides, configs, datasets, documents, quoted'
  ],
  [
    'evidence.workbook.values.0.name',
    'ppo.verified',
    'study stated twice: evidence.workbook.values[1].name is "ppo.verified", as is evidence.workbook.values[0].name, expected a different one for each'
  ],
  [
    'evidence.slides.values.0.name',
    'grpo.verified',
    'study stated twice: evidence.slides.values[0].name is "grpo.verified", as is evidence.workbook.values[0].name, expected a different one for each'
  ],
  [
    'evidence.configs.0.values.0.name',
    'paper.ppo',
    'study stated twice: evidence.quoted[1].name is "paper.ppo", as is evidence.configs[0].values[0].name, expected a different one for each'
  ],
  [
    'evidence.derived.0.name',
    'grpo.verified',
    'study stated twice: evidence.derived[0].name is "grpo.verified", as is evidence.workbook.values[0].name, expected a different one for each'
  ],
  [
    'evidence.datasets.1.name',
    'train',
    'study stated twice: evidence.datasets[1].name is "train", as is evidence.datasets[0].name, expected a different one for each'
  ],
  [
    'evidence.configs.0.values.1',
    { name: 'x', key: 'actor_rollout_ref.rollout.n', title: 'T.' },
    'study stated twice: evidence.configs[0].values[1].key is "actor_rollout_ref.rollout.n", as is evidence.configs[0].values[0].key, expected a different one for each'
  ],
  [
    'evidence.workbook.values.0.as',
    'match',
    'study missing field: evidence.workbook.values[0].pattern, expected a pattern, where as is "match"'
  ],
  [
    'evidence.workbook.values.0.pattern',
    '(a)',
    'study contradiction: evidence.workbook.values[0].as is "percent" and evidence.workbook.values[0].pattern is "(a)", expected null: only "match" and "text" have a pattern'
  ],
  [
    'evidence.workbook.values.1',
    { name: 'x', sheet: 's', cell: 'A1', as: 'text', multiply: 2, title: 'T.' },
    'study contradiction: evidence.workbook.values[1].as is "text" and evidence.workbook.values[1].multiply is 2, expected 1: a text is not multiplied'
  ],
  [
    'evidence.slides.values.0.table',
    null,
    'study contradiction: evidence.slides.values[0].table is null and evidence.slides.values[0].as is "number", expected a cell of a table, or a pattern, which finds its paragraph'
  ],
  [
    'evidence.datasets.0.task_path',
    null,
    'study contradiction: evidence.datasets[0].task_path is null and its patterns are not empty, expected the column that they are looked for in'
  ],
  [
    'evidence.workbook.values.2.pattern',
    '(\\d+',
    'study unsafe pattern: evidence.workbook.values[2].pattern is "(\\\\d+", with no regular expression, expected one that JavaScript\'s RegExp takes with its flag u'
  ],
  [
    'evidence.workbook.values.2.pattern',
    '\\d+k',
    'study unsafe pattern: evidence.workbook.values[2].pattern is "\\\\d+k", with 0 groups in parentheses, expected one, around the number; (?:…) where it is for grouping only'
  ],
  [
    'evidence.workbook.values.2.pattern',
    '((?:\\d+)+)$',
    'study unsafe pattern: evidence.workbook.values[2].pattern is "((?:\\\\d+)+)$", with the part "(?:\\\\d+)+", expected no repetition of what varies, no reference back'
  ],
  [
    'evidence.derived.0',
    derived({ ratio: [VALUE, VALUE], product: [VALUE, VALUE] }),
    'study contradiction: evidence.derived[0].operation has ratio and product, expected one of ratio, difference, product, scale, reduction_percent'
  ],
  [
    'evidence.derived.0',
    derived({ scale: 'data.json#/values/grpo.verifed/value', by: 2 }),
    'study unknown name: evidence.derived[0].operation.scale is "grpo.verifed", expected data.json#/values/<name>/value, with one of the values: grpo.verified, ppo.verified, note.context, grpo.step_minutes, speedup, grpo.rollout_n, paper.grpo, paper.ppo; did you mean grpo.verified?'
  ],
  [
    'evidence.derived.0',
    derived({ scale: 'data.json#/values/grpo.verified', by: 2 }),
    'study wrong field: evidence.derived[0].operation.scale is "data.json#/values/grpo.verified", expected data.json#/values/<name>/value'
  ],
  [
    'evidence.derived.0',
    derived({ scale: 'data.json#/values/grpo.verified/unit', by: 2 }),
    'study wrong field: evidence.derived[0].operation.scale is "data.json#/values/grpo.verified/unit", expected data.json#/values/<name>/value'
  ],
  [
    'evidence.derived.0',
    derived({ scale: 'data.json#/datasets/test/rows', by: 2 }),
    'study unknown name: evidence.derived[0].operation.scale is "test", expected data.json#/datasets/<name>/…, with one of the datasets: train, plain'
  ],
  [
    'evidence.derived.0',
    derived({ scale: 'data.json#/values/speedup/value', by: 2 }),
    'study contradiction: evidence.derived[0].operation.scale is "data.json#/values/speedup/value", and evidence.slides.values[1].excluded says why it is not used, expected a value that is not excluded'
  ],
  [
    'evidence.derived.0',
    derived({ difference: ['data.json#/values/paper.ppo/value', VALUE] }),
    'study contradiction: evidence.derived[0].operation computes data.json#/values/paper.ppo/value, which is quoted, with data.json#/values/grpo.verified/value, expected values of one publication, or of this study'
  ],
  [
    'evidence.derived.4',
    derived({ ratio: ['derived_metrics.json#/values/paper.ppo_minus_grpo/value', VALUE] }),
    'study contradiction: evidence.derived[4].operation computes derived_metrics.json#/values/paper.ppo_minus_grpo/value, which is quoted, with data.json#/values/grpo.verified/value, expected values of one publication, or of this study'
  ],
  [
    'evidence.derived.0',
    derived({ scale: 'derived_metrics.json#/values/d/value', by: 2 }),
    'study wrong order: evidence.derived[0].operation.scale is "derived_metrics.json#/values/d/value", which does not stand before it, expected values that are derived earlier'
  ],
  [
    'evidence.derived.0',
    derived({ scale: 'derived_metrics.json#/values/a/value', by: 2 }),
    'study wrong order: evidence.derived[0].operation.scale is "derived_metrics.json#/values/a/value", which does not stand before it, expected values that are derived earlier'
  ],
  [
    'evidence.derived.5',
    derived({ scale: 'wandb/s.json#/a', by: 2 }),
    'study unknown name: evidence.derived[5].operation.scale is "wandb/s.json", expected "wandb/s.json#/a" to begin with a document that the study writes: data.json, derived_metrics.json, materials/multilingual-case-evidence.json'
  ],
  [
    'evidence.derived.5',
    derived({ scale: 'training_data/critic-trace-statistics.json#/a', by: 2 }),
    'study unknown name: evidence.derived[5].operation.scale is "training_data/critic-trace-statistics.json", expected "training_data/critic-trace-statistics.json#/a" to begin with a document that the study writes: data.json, derived_metrics.json, materials/multilingual-case-evidence.json'
  ],
  [
    'evidence.figures.0',
    figure(['data.json#/values/speedup/value']),
    'study contradiction: evidence.figures[0].panels[0].series[0].values[0] is "data.json#/values/speedup/value", and evidence.slides.values[1].excluded says why it is not used, expected a value that is not excluded'
  ],
  [
    'evidence.figures.0',
    figure([VALUE, null]),
    'study contradiction: evidence.figures[0].panels[0].series[0].values has 2 and evidence.figures[0].panels[0].groups has 1, expected one value for each group'
  ],
  [
    'evidence.figures.0',
    figure(['audit.json#/counts/agrees']),
    'study unknown name: evidence.figures[0].panels[0].series[0].values[0] is "audit.json", expected "audit.json#/counts/agrees" to begin with a document that the study writes: data.json, derived_metrics.json, materials/multilingual-case-evidence.json'
  ],
  [
    'evidence.figures.0.name',
    '08-CRITIC-traces',
    'study name taken: evidence.figures[0].name is "08-CRITIC-traces", expected another name than that of the figure 08-critic-traces'
  ],
  ['evidence.figures.0.name', 'nul', 'study name taken: evidence.figures[0].name is "nul", expected a name that is no device of Windows'],
  [
    'evidence.figures.1',
    { ...(figure([VALUE]) as object), name: '01-Scores' },
    'study stated twice: evidence.figures[1].name is "01-Scores", as is evidence.figures[0].name, expected a different one for each'
  ],
  [
    'evidence.figures.0.panels.1.groups',
    ['Step', 'Step'],
    'study stated twice: evidence.figures[0].panels[1].groups[1] is "Step", as is evidence.figures[0].panels[1].groups[0], expected a different one for each'
  ],
  [
    'evidence.figures.0.panels.1.series.1.title',
    'GRPO',
    'study stated twice: evidence.figures[0].panels[1].series[1].title is "GRPO", as is evidence.figures[0].panels[1].series[0].title, expected a different one for each'
  ],
  [
    'histories',
    { ...REPLICA_HISTORIES, figures: [{ ...REPLICA_HISTORIES.figures[0], name: '01-SCORES' }] },
    'study stated twice: evidence.figures[0].name is "01-scores", as is histories.figures[0].name, expected a different one for each'
  ]
]

t.test('the right study is accepted, by the JSON Schema too', async t => {
  t.equal(messageOf(JSON.parse(RIGHT)), 'accepted')
  t.same(schemaProblems(studyJsonSchema(), JSON.parse(RIGHT)), [])
})

t.test('one wrong thing, one message', async t => {
  for (const [path, value, message] of [...ONE_FIELD, ...BETWEEN])
    t.equal(messageOf(changed(path, value)), message, `${path} = ${JSON.stringify(value)?.slice(0, 60)}`)
})

t.test('the JSON Schema refuses what one field shows', async t => {
  const schema = studyJsonSchema()
  for (const [path, value] of ONE_FIELD) t.ok(schemaProblems(schema, changed(path, value)).length > 0, path)
})

t.test('a text is no number', async t => {
  const study = changed('evidence.workbook.values.0.as', 'text')
  t.equal(
    messageOf(study),
    'study wrong field: evidence.derived[3].operation.product[0] is "data.json#/values/grpo.verified/value", which is read as a text, expected a number'
  )
})

t.test('an article alone is no study; documents of other sections may be referred to', async t => {
  const { article, name, schema_version } = JSON.parse(RIGHT) as Json
  t.equal(
    messageOf({ schema_version, name, article }),
    'study missing section: nothing that is to be read, expected one of critic_traces, histories, evidence, fetch'
  )
  const study = changed(
    'evidence.derived.0',
    derived({ ratio: ['wandb/curve_statistics.json#/a/0', 'training_data/critic-trace-statistics.json#/b'] })
  ) as Json
  t.match(messageOf(study), 'study unknown name')
  t.ok(REPLICA_HISTORIES.analyses.some(({ outputs }) => outputs.statistics === 'wandb/curve_statistics.json'))
  const { evidence } = study
  const whole = { schema_version, name, critic_traces: { snapshot: 's' }, histories: REPLICA_HISTORIES }
  t.equal(messageOf({ ...whole, evidence: { ...evidence, figures: [], derived: [evidence.derived[0]] } }), 'accepted')
})

t.test('links out of the study are refused, of every file that the sections name', async t => {
  const dir = t.testdir({ outside: { f: 'x' }, study: { sources: {}, configs: {}, data: {}, article: {} } })
  const study = join(dir, 'study')
  await writeFile(join(study, 'study.json'), RIGHT)
  t.equal((await loadStudy(study)).study.evidence?.workbook?.path, 'sources/evaluation.xlsx')
  for (const [path, at] of [
    ['article/source-notes.md', 'article.notes'],
    ['article/article.md', 'article.article'],
    ['data/train.parquet', 'evidence.datasets[0].path'],
    ['configs/grpo.env', 'evidence.configs[0].path'],
    ['sources/slides.pptx', 'evidence.slides.path'],
    ['sources/evaluation.xlsx', 'evidence.workbook.path']
  ]) {
    await symlink('../../outside/f', join(study, path))
    const error: unknown = await loadStudy(study).catch((e: unknown) => e)
    t.match(error instanceof Fault ? error.message : '', `study unsafe path: ${at} is "${path}", a link that leads out of the study`)
  }
})

t.test('patterns: what repeats something that varies is refused, what stands alone is not', async t => {
  const safe = [
    '(\\d+)',
    '(\\d+(?:\\.\\d+)?)',
    '([\\d,.]+)\\s*k',
    '(?<n>\\d{1,3})%',
    '(\\d+)\\s*(?:h|hours)',
    '\\((\\d+)\\)',
    '[(+*](\\d)',
    '[\\]+]+(\\d+)',
    '(?:ab)+(\\d)',
    '(?:a(?:bc)d){2}(\\d)',
    '(\\d)(?=k|K)',
    '(?<=a|b)(\\d+)',
    '(?:x+)?(\\d)',
    '(?:x|y){1}(\\d)',
    '(?:x+){0,1}(\\d)',
    'a{2}(\\d)',
    '\\{(\\d+)\\}'
  ]
  for (const pattern of safe) t.equal(patternProblem(pattern), null, pattern)
  const unsafe: [string, string][] = [
    ['(a+)+$', '"(a+)+"'],
    ['(?:a*)*(b)', '"(?:a*)*"'],
    ['(?:a|aa)+(b)', '"(?:a|aa)+"'],
    ['(?:a?){20}(b)', '"(?:a?){20}"'],
    ['(?:(?:a+)b)*?(c)', '"(?:(?:a+)b)*?"'],
    ['(?:a{1,5}){2,}(c)', '"(?:a{1,5}){2,}"'],
    ['(?:[a+]*)+(b)', '"(?:[a+]*)+"'],
    ['(?:\\)+)*(b)', '"(?:\\\\)+)*"'],
    ['(a)\\1', '"\\\\1"'],
    ['(?<n>a)\\k<n>', '"\\\\k"'],
    ['(?:(?:a|b)c)+(d)', '"(?:(?:a|b)c)+"'],
    ['(?:a(?:b)?)*(d)', '"(?:a(?:b)?)*"']
  ]
  for (const [pattern, part] of unsafe)
    t.same(patternProblem(pattern), { found: `the part ${part}`, expected: 'no repetition of what varies, no reference back' }, pattern)
  const slow: [string, string, string][] = [
    [`${'a?'.repeat(29)}(a{29})`, '536870912 ways by options, alternatives and counted repetitions', 'at most 100000'],
    [`${'(?:a|a)'.repeat(17)}(b)`, '131072 ways by options, alternatives and counted repetitions', 'at most 100000'],
    ['(x)a{0,400}a{0,400}', '160801 ways by options, alternatives and counted repetitions', 'at most 100000'],
    ['a+a+a+a+a+(x)', '5 repetitions without an end', 'at most 4'],
    ['(a*b{2,}c+d*?e+)', '5 repetitions without an end', 'at most 4'],
    ['.*.*(x)', '2 repetitions without an end of what matches nearly everything', 'at most 1'],
    ['[^.]+\\S*(x)', '2 repetitions without an end of what matches nearly everything', 'at most 1']
  ]
  for (const [pattern, found, expected] of slow) t.same(patternProblem(pattern), { found, expected }, pattern)
  for (const pattern of ['(?:a|a)'.repeat(16) + '(b)', '(\\d+)\\s+.*x[.^]*', '\\.*\\.*(x)', '[.]*[.]*(x)', '([^a]{0,40})[^b]*'])
    t.equal(patternProblem(pattern), null, pattern)
  t.match(patternProblem('(a)(b)'), { found: '2 groups in parentheses' })
  t.match(patternProblem('(?:a)'), { found: '0 groups in parentheses' })
  for (const broken of ['(', ')', '(?', '[', 'a{2,1}', '\\', '(?<n>a)(?<n>b)', '*', '\\u{110000}', ']']) {
    t.match(patternProblem(broken), { found: 'no regular expression' }, broken)
  }
})

t.test('the documents that references may name are the outputs', async t => {
  t.same(
    [...TRACE_DOCUMENTS].sort(),
    [...Object.values(OUTPUT_PATHS), DIAGNOSTIC_PATHS.document].filter(path => path.endsWith('.json')).sort()
  )
  for (const path of [DIAGNOSTIC_PATHS.byStep, DIAGNOSTIC_PATHS.byTurn, DIAGNOSTIC_PATHS.byDecile])
    t.ok(RESERVED_OUTPUTS.includes(path), path)
  for (const path of Object.values(EVIDENCE_DOCUMENTS)) t.ok(RESERVED_OUTPUTS.includes(path), path)
})
