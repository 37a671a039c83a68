/** The article and its notes: references, typed numbers, escaping, and what a reader can trace on the page. */
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { gzipSync } from 'node:zlib'
import { join } from 'node:path'
import { load, type CheerioAPI } from 'cheerio'
import t from 'tap'
import { Documents } from '../src/compute/documents.js'
import { Fault } from '../src/core/errors.js'
import { fieldDocs } from '../src/schema/outputs/field-doc.js'
import type { HashedFile } from '../src/schema/study.js'
import { OutputSet } from '../src/render/outputs/output-set.js'
import { applyFormat, formatPlainly, parseFormat } from '../src/render/page/formats.js'
import {
  findTypedNumbers,
  PAGE_OUTPUTS,
  proseTexts,
  renderPages,
  writePages,
  type PageFigure,
  type PageInputs
} from '../src/render/page/index.js'
import { normalized, parseTemplate } from '../src/render/page/references.js'
import { escapeHtml, escapeMarkdown, visible } from '../src/render/page/text.js'
import { cpuMs } from './support/cpu.js'
import { tree } from './support/folders.js'
import { auditOf, claimsOf, FIGURE_NAMES, figures, proseInputs, svg, type ReplicaProse } from './support/page-inputs.js'
import { runReplica, runWrongReplica } from './support/replica-run.js'

type AuditedClaim = PageInputs['claims'][number]

/** The pages that users get. */
const run = await runReplica(t, '--formats', 'png')
const written = (path: string): string => readFileSync(join(run.out, path), 'utf8')
const HTML = ['preview/article.html', 'preview/source-notes.html'] as const

function faultOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof Fault) return error.message
    throw error
  }
  return 'no fault'
}

function claim(change: Partial<AuditedClaim> = {}): AuditedClaim {
  return {
    id: 'a.score',
    published: 70.4,
    computed: 70.4,
    unit: 'percent',
    decimals: 1,
    kind: 'computed',
    section: '9',
    definition: 'A score.',
    from: ['data.json#/values/a.score/value'],
    status: 'agrees',
    difference: null,
    reason: null,
    at: null,
    provenance: [
      { file: 'data.json', pointer: '/values/a.score/value', sha256: 'd'.repeat(64), inputs: [{ path: 'in.xlsx', sha256: 'e'.repeat(64) }] }
    ],
    ...change
  }
}

const DATA = {
  values: {
    'a.score': { value: 0.704, title: 'Score of a', unit: 'fraction', published: true, file: 'in.xlsx', sheet: '评测矩阵', cell: 'C8' },
    stand: { value: 54.33, title: 'Nobody knows', published: false },
    none: { value: null }
  },
  steps: [2, 21],
  undefined_reasons: { '/values/none/value': 'no cell' }
}

/** Pages of a small study; `article` goes below a title. */
function inputs(article: string, change: Partial<PageInputs> = {}): PageInputs {
  return {
    templates: {
      article: { path: 'article.md', text: `# Title\n\n${article}` },
      notes: { path: 'notes.md', text: '# Notes\n\n## Where from\n' }
    },
    documents: new Documents(new Map([['data.json', JSON.stringify(DATA)]])),
    inputsOf: () => [],
    claims: [claim()],
    discrepancies: [
      {
        id: 'warmup',
        section: '',
        chosen: null,
        decision: 'The configuration counts.',
        disclosure: { text: '', found_in: [] },
        forbidden: [],
        averages: [],
        status: 'not_checked',
        problems: [],
        sources: [
          { label: 'the postmortem', value: 0, stated: 0, reference: null, status: 'stated', reason: null },
          { label: 'the configuration', value: 10, stated: null, reference: 'data.json#/steps', status: 'found', reason: null }
        ]
      }
    ],
    byline: { date: null, cite: null, compared: [] },
    figures: figures(),
    outputs: ['data.json', 'wandb/points.csv'],
    study: { name: 'A study', synthetic: true },
    manifest: null,
    revisions: {},
    guards: [],
    unclaimed: [],
    generator: { name: 'critic-traces', version: '1.2.3' },
    inputs: [{ path: 'in.xlsx', sha256: 'e'.repeat(64), bytes: 1234567 }],
    excluded: [],
    ...change
  }
}

function articleOf(input: PageInputs): CheerioAPI {
  return load(renderPages(input).get('preview/article.html') ?? '')
}

/** Text of the article without the panels behind its numbers. */
function proseOf(article: string): string {
  const $ = articleOf(inputs(article))
  $('.panels').remove()
  return $('main').text().trim()
}

t.test('what the inputs were verified against stands at the foot of every page, and nothing where nothing was', t => {
  const manifest = { path: 'source_manifest.json', sha256: 'ab'.repeat(32), files: 1234 }
  const says = `All 1,234 input files were verified against source_manifest.json (sha256 ${manifest.sha256}) before anything was computed.`
  const footOf = (path: string, text: string): string =>
    path.endsWith('.html') ? load(text)('footer').text() : text.slice(-400).replaceAll('\\', '')
  for (const [path, text] of renderPages(inputs('Text.', { manifest }))) t.ok(footOf(path, text).includes(says), path)
  for (const [path, text] of renderPages(inputs('Text.'))) t.notMatch(footOf(path, text), /verified against/, path)
  const one = renderPages(inputs('Text.', { manifest: { ...manifest, files: 1 } })).get('article.md') ?? ''
  t.match(one, /The one input file was verified against/)
  t.end()
})

t.test('formats', t => {
  // As Python 3.11 formats, but for ties, which go away from zero here: 0.125 is 0.12 there.
  const cases: ReadonlyArray<readonly [value: unknown, format: string, text: string]> = [
    [959418, 'integer', '959,418'],
    [86777.178125, 'fixed(4)', '86,777.1781'],
    [0.0295787047, 'fixed(4)', '0.0296'],
    [0.125, 'fixed(2)', '0.13'],
    [-0.1829223633, 'fixed(3)', '\u22120.183'],
    [-0.0001, 'fixed(2)', '0.00'],
    [1e21, 'fixed(0)', '1e+21'],
    [0.25390625, 'signed(3)', '+0.254'],
    [-0.1348876953, 'signed(3)', '\u22120.135'],
    [0.0001, 'signed(2)', '0.00'],
    [0.6166666667, 'percent(2)', '61.67'],
    [1e-6, 'scientific', '1e\u22126'],
    [2.5e-6, 'scientific', '2.5e\u22126'],
    [3e12, 'scientific', '3e12'],
    [49.6236, 'hours', '49.6\u00a0h'],
    [1234.5678, 'hours(2)', '1,234.57\u00a0h'],
    ['before_critic_update', 'text', 'before_critic_update'],
    [[0, 5, 10, 15], 'list', '0, 5, 10 and 15'],
    [[41], 'list', '41'],
    [[106, 125], 'range', '106\u2013125'],
    [true, 'switch', 'on'],
    [false, 'switch', 'off']
  ]
  for (const [value, name, text] of cases) {
    const format = parseFormat(name)
    if (format === null) throw new Error(`${name} is no format`)
    t.same(applyFormat(value, format, null), { text }, `${JSON.stringify(value)} | ${name}`)
  }
  const refused: ReadonlyArray<readonly [value: unknown, format: string, reason: string]> = [
    [1.5, 'integer', 'the number 1.5, expected an integer'],
    ['12', 'fixed(1)', 'the string 12, expected a number'],
    [Infinity, 'percent(1)', 'the number Infinity, expected a finite number'],
    [12, 'text', 'the number 12, expected a text'],
    [[], 'list', 'an empty list, expected at least one element'],
    [[[1]], 'list', 'a list, expected a list of numbers or texts'],
    [[1, 2, 3], 'range', 'a list, expected a list of two integers'],
    [[1, 2.5], 'range', 'the number 2.5, expected a list of two integers'],
    [null, 'switch', 'null, expected true or false']
  ]
  for (const [value, name, reason] of refused)
    t.same(applyFormat(value, parseFormat(name) ?? { name: 'text', digits: null }, null), { reason })
  for (const name of ['', 'fixed', 'fixed()', 'fixed(18)', 'fixed(-1)', 'integer(2)', 'Fixed(2)', 'fixed(2) ', 'constructor', 'eval(1)']) {
    t.equal(parseFormat(name), null, `"${name}" is no format`)
  }
  t.same(formatPlainly(64, 1), { text: '64.0' }, 'without a format: the decimals published')
  t.same(formatPlainly(1.25e-7, null), { text: '1.25e\u22127' }, 'without decimals: the number as it is')
  t.same(formatPlainly({}, null), { reason: 'an object, expected a number, a text or a list' })
  t.end()
})

t.test('what a field of an output means', t => {
  const docs = (schema: string, ...path: readonly string[]): string[][] => fieldDocs(schema, path).map(({ name, doc }) => [name, doc])
  t.same(docs('critic-trace-statistics', 'boundary', 'jump_rate'), [
    ['boundary', 'boundary transitions'],
    ['jump_rate', 'jumps / transitions, a fraction; null without a transition']
  ])
  t.same(
    docs('history-statistics', 'selections', 'a/b', 'metrics', 'reward', 'best', 'run').slice(-2),
    [
      ['best', 'highest value, earliest step on a tie'],
      ['run', 'run that logged it']
    ],
    'names of the study and definitions on the way'
  )
  t.same(docs('critic-trace-statistics', 'boundary', 'constructor', '__proto__'), [['boundary', 'boundary transitions']])
  t.same(docs('no-such', 'boundary'), [])
  t.end()
})

t.test('long words without a number take no time', t => {
  const began = process.cpuUsage()
  for (const part of ['a', 'a-', '_', 'a@', '.']) {
    const text = `# T\n\n${part.repeat(400_000 / part.length)} 7 ${part.repeat(400_000 / part.length)}\n`
    t.strictSame(
      findTypedNumbers({ path: 'a.md', text }).map(f => [f.text, f.offset]),
      [['7', 400_006]],
      part
    )
  }
  t.ok(cpuMs(began) < 10_000, 'where it went over a word again from each character, it took minutes')
  t.end()
})

t.test('references', t => {
  t.equal(
    proseOf('Score {{a.score}}%, {{ data.json#/values/a.score/value|percent(1) }}%, steps {{data.json#/steps | range}}.'),
    'Score 70.4%, 70.4%, steps 2\u201321.'
  )
  t.equal(
    proseOf('It says {{discrepancy warmup: postmortem}}, {{discrepancy warmup: the configuration | fixed(1)}}, in {{written 2026}}.'),
    'It says 0, 10.0, in 2026.'
  )
  t.equal(proseOf('| a |\n|---|\n| {{a.score | fixed(2)}} |').replace(/\s+/g, ' '), 'a 70.40', 'a bar inside a reference divides no cell')
  t.equal(proseOf('`{{a.score}}` and **{{a.score}}**'), '70.4 and 70.4', 'in code and in bold')
  t.equal(proseOf('{ "a": 1'.replace('1', 'x') + ' } {a}'), '{ "a": x } {a}', 'single braces are text')

  const cases: ReadonlyArray<readonly [article: string, message: string]> = [
    ['x {{a.score', 'template unbalanced braces: {{a.score, expected "}}" on the same line (article.md, line 3, column 3)'],
    ['x {{a.score\n}}', 'template unbalanced braces: {{a.score, expected "}}" on the same line (article.md, line 3, column 3)'],
    ['{{a {{b}}', 'template unbalanced braces: {{a {{b}}, expected "}}" on the same line (article.md, line 3, column 1)'],
    ['y\nx }} z', 'template unbalanced braces: }}, expected "{{" before it on the same line (article.md, line 4, column 3)'],
    [
      '{{}}',
      'template reference: {{}}, expected a claim, an output and a JSON pointer, or a word that templates know (article.md, line 3, column 1)'
    ],
    ['{{no.such}}', 'template reference: no.such, expected the id of a claim (article.md, line 3, column 1)'],
    ['{{a.scoer}}', 'template reference: a.scoer, expected the id of a claim; did you mean "a.score"? (article.md, line 3, column 1)'],
    [
      '{{discrepancy warmpu: x}}',
      'template reference: warmpu, expected the id of a discrepancy; did you mean "warmup"? (article.md, line 3, column 1)'
    ],
    ['{{__proto__}}', 'template reference: __proto__, expected the id of a claim (article.md, line 3, column 1)'],
    [
      '{{a.score | bold}}',
      'template format: bold, expected text, name, integer, fixed(n), rounded(n), signed(n), percent(n), scientific, hours, hours(n), list, range or switch (article.md, line 3, column 1)'
    ],
    ['{{a.score | integer}}', 'template value: a.score is the number 70.4, expected an integer (article.md, line 3, column 1)'],
    [
      '{{a.score | percent(1)}}',
      'template format: percent of a.score, expected another format: its unit is percent already (article.md, line 3, column 1)'
    ],
    [
      '{{data.json#/values/b/value}}',
      'template reference: data.json#/values has no member "b", expected a value in an output (article.md, line 3, column 1)'
    ],
    [
      '{{other.json#/a}}',
      'template reference: there is no output other.json, expected a value in an output (article.md, line 3, column 1)'
    ],
    [
      '{{data.json#/values/none/value}}',
      'template reference: data.json#/values/none/value is null: no cell, expected a value in an output (article.md, line 3, column 1)'
    ],
    [
      '{{data.json#/values}}',
      'template value: data.json#/values is an object, expected a number, a text or a list (article.md, line 3, column 1)'
    ],
    ['{{discrepancy other: x}}', 'template reference: other, expected the id of a discrepancy (article.md, line 3, column 1)'],
    [
      '{{discrepancy warmup: the}}',
      'template reference: 2 sources of warmup with "the", expected one of "the postmortem", "the configuration" (article.md, line 3, column 1)'
    ],
    [
      '{{written no digit}}',
      'template reference: written no digit, expected "written" and at most 40 characters with a digit among them (article.md, line 3, column 1)'
    ],
    [
      'See {{see 09-none}}.',
      'template figure: 09-none, expected one that stands on a page, of 01-scores, 02-efficiency, 03-training-by-step, ' +
        '04-training-over-time, 05-sao-recipe-training, 06-sao-critic-diagnostics, 07-multilingual-cases, 08-critic-traces, ' +
        'critic-quality, boundary-jumps (article.md, line 3, column 5)'
    ],
    ['a {{audit}}', 'template block: audit, expected it alone on its line, from the first column (article.md, line 3, column 3)'],
    ['{{audit}}\nmore', 'template block: text below the audit table, expected an empty line below it (article.md, line 3, column 1)'],
    ['{{audit now}}', 'template reference: audit now, expected "audit" alone (article.md, line 3, column 1)'],
    [
      '{{figure 01-scores}}',
      'template block: a figure without a caption, expected the caption on the lines below it (article.md, line 3, column 1)'
    ],
    [
      'word\n{{figure 01-scores}}\ncaption',
      'template block: figure inside other text, expected an empty line before it, outside of lists and tables (article.md, line 4, column 1)'
    ],
    [
      '{{figure 01-scores}}\na\n\n{{figure 01-scores}}\nb',
      'template figure: 01-scores again, expected each figure once (article.md, line 6, column 1)'
    ],
    ['## On {{a.score}}', 'template heading: a reference, expected words (article.md, line 3, column 7)'],
    ['[a]({{a.score}})', 'template link: a reference as its target, expected an address (article.md, line 3)'],
    [
      'A \u202e b',
      'template character: \\u202e, expected characters that can be seen, spaces and line ends (article.md, line 3, column 3)'
    ],
    ['A\tb', 'template character: \\u0009, expected characters that can be seen, spaces and line ends (article.md, line 3, column 2)']
  ]
  for (const [article, message] of cases)
    t.equal(
      faultOf(() => renderPages(inputs(article))),
      message,
      JSON.stringify(article)
    )
  t.equal(
    faultOf(() => renderPages(inputs('', { templates: { article: { path: 'a.md', text: 'x' }, notes: { path: 'n.md', text: '# N' } } }))),
    'template title: a paragraph, expected "# " and the title on the first line (a.md)'
  )
  t.equal(
    faultOf(() => renderPages(inputs('# Another'))),
    'template title: a second one, expected one heading of the first level (article.md)'
  )
  t.equal(
    faultOf(() => renderPages(inputs('x'.repeat(1_000_001)))),
    'template too long: 1000010 characters, expected at most 1000000 (article.md)'
  )
  const nested = (article: string): string => faultOf(() => renderPages(inputs(`a {{a.score}}\n\n${article}`)))
  for (const [depth, marks] of [
    [21, '> '],
    [5000, '> '],
    [21, '>'],
    [100_000, '>'],
    [21, '- '],
    [5000, '- > ']
  ] as const) {
    const levels = depth * (marks === '- > ' ? 2 : 1)
    t.equal(
      nested(`${marks.repeat(depth)}x`),
      `template nesting: ${levels} levels, expected at most 20 (article.md, line 5, column 1)`,
      `${depth} ${marks}`
    )
  }
  for (const fine of [`${'> '.repeat(18)}x`, '- '.repeat(40), '-'.repeat(40), '```\n- a\n  --------------------- b\n```'])
    t.equal(nested(fine), 'no fault', fine)
  const indented = (depth: number): string => Array.from({ length: depth }, (_, i) => `${'  '.repeat(i)}- a\n`).join('')
  t.equal(
    nested(`b\n\n${indented(30)}`),
    'template nesting: more than 20 levels, expected fewer (article.md, line 7)',
    'a list in a list …: its first line'
  )
  t.equal(nested(indented(900)), 'template indentation: 202 spaces, expected at most 200 (article.md, line 106, column 1)')
  t.equal(
    faultOf(() => renderPages(inputs('{{discrepancies}}', { discrepancies: [] }))),
    'template reference: discrepancies, of which the claims file lists none, expected at least one, or no table of them (article.md, line 3, column 1)'
  )
  t.match(
    faultOf(() => proseTexts(inputs('{{discrepancies}}', { discrepancies: [] }))),
    /^template reference: discrepancies, of which the claims file lists none/
  )
  const parts = parseTemplate(normalized({ path: 'x', text: '\ufeffa\r\n{{written 1}}\rb' }))
  t.same(
    parts.map(part => (part.kind === 'text' ? part.text : part.kind)),
    ['a\n', 'written', '\nb'],
    'every line end is \\n'
  )
  t.end()
})

t.test('facts: texts of claims are references, and nothing else', t => {
  const model = claim({ id: 'model', published: '/models/Qwen3.5-35B-A3B', computed: '/models/Qwen3.5-35B-A3B', unit: '', decimals: null })
  const word = claim({ id: 'start', published: 'base model', computed: 'base model', unit: '', decimals: null })
  const part = claim({ id: 'part', published: 0.688, computed: 0.6881, unit: 'fraction', decimals: 3 })
  const whole = claim({ id: 'whole', published: [26, 84], computed: [26, 84], unit: 'rows', decimals: 0 })
  const claims = [claim(), model, word, part, whole]
  const filled = (article: string): string => renderPages(inputs(article, { claims })).get('article.md') ?? ''
  t.match(
    filled('It is {{fact model | name}}, from the {{fact start}} in `{{fact model}}`.'),
    'It is Qwen3.5-35B-A3B, from the base model in `/models/Qwen3.5-35B-A3B`.'
  )
  t.match(
    filled('The base model, Qwen3.5-35B-A3Bs, {{written 2026}}, {{written Figure 84}}, {{written 2026-10-26}}, {{written 68.9}}.'),
    'Figure 84'
  )
  const refused = (article: string): string => faultOf(() => renderPages(inputs(article, { claims })))
  const at = '(article.md, line 3, column 1)'
  t.equal(refused('{{fact a.score}}'), `template value: a.score is the number 70.4, expected a text ${at}`)
  t.equal(
    refused('{{fact model | fixed(1)}}'),
    `template reference: fact model | fixed(1), expected "fact" and the id of a claim, as text or name ${at}`
  )
  t.equal(refused('Qwen3.5-35B-A3B'), `template fact typed by hand: Qwen3.5-35B-A3B, expected {{fact model | name}} ${at}`)
  t.equal(
    refused('`/models/Qwen3.5-35B-A3B`'),
    'template fact typed by hand: /models/Qwen3.5-35B-A3B, expected {{fact model}} (article.md, line 3, column 2)'
  )
  const written: readonly (readonly [string, string])[] = [
    ['70.4', 'a.score'],
    ['70.4 %', 'a.score'],
    ['about 70.4', 'a.score'],
    ['68.8', 'part'],
    ['0.69', 'part'],
    ['84', 'whole']
  ]
  for (const [text, id] of written)
    t.equal(refused(`{{written ${text}}}`), `template value of a claim as written text: {{written ${text}}}, expected {{${id}}} ${at}`)
  t.end()
})

t.test('numbers typed by hand', t => {
  const found = (text: string): readonly string[] => findTypedNumbers({ path: 'x', text }).map(finding => finding.text)
  const clean = [
    'r6 and r7',
    'Qwen3.5-35B-A3B',
    'SWE-bench',
    'mean@1',
    'v1',
    'cell L8',
    'sao-3nodes-35b-a3b-dynbsz-r7',
    '`global_step_100`',
    '``a ` 5``',
    '```\nx = 5\n```',
    '~~~\ny5 6\n~~~',
    '[the table](wandb/a1/2.csv)',
    '[web](https://example.org/2507.12345)',
    '{{a.score | fixed(2)}}',
    '{{written 2026}}',
    'one of two',
    '{{x}} thousand tokens',
    'often',
    'tone',
    'someone',
    'weighty',
    'the first of them, the second one',
    'two runs differ',
    'one of each',
    'a third run',
    'the tenth trace',
    'told once',
    'behalf',
    'Figure II and Section IV',
    'Table *XII*',
    'CI, CD, ML and MD',
    'I and V',
    'headquarters',
    'manifold',
    'scaffold',
    'LLM',
    'DIM',
    'MMMM',
    'several times',
    'one at a time',
    '`MIX`',
    'zero'
  ]
  for (const text of clean) t.same(found(text), [], text)
  const typed: ReadonlyArray<readonly [text: string, found: readonly string[]]> = [
    ['It scored 70.4% at step 95.', ['70.4', '95']],
    ['score-55.5', ['score-55.5']],
    ['Qwen3-30B-Thinking-2507', ['Qwen3-30B-Thinking-2507']],
    ['score.55', ['score.55']],
    ['9th and 2.5x', ['9th', '2.5x']],
    ['GSPO/55', ['55']],
    ['-5', ['5']],
    ['.5', ['5']],
    ['{{a.score}}5', ['5']],
    ['`55.5` and `5`', ['55.5', '5']],
    ['```\n55\n```', ['55']],
    ['a `code` 5 `code`', ['5']],
    ['5 ` 6', ['5', '6']],
    ['    indented 5', ['5']],
    ['\\5', ['5']],
    ['x\u00b2 and \u00bd and \u2163 and \u0665', ['x\u00b2', '\u00bd', '\u2163', '\u0665']],
    ['&#53; and &#x35;', ['&#53;', '&#x35;']],
    ['1. a list', ['1']],
    ['<b title="5">', ['5']],
    ['https://example.org/5', ['5']],
    ['[a][5]', ['5']],
    ['Forty traces, a hundred, dozens, twenty-two', ['Forty', 'hundred', 'dozens', 'twenty']],
    ['ten thousand', ['thousand']],
    [
      'twice, thrice, half, halves, halved, a quarter, two thirds, a third of it, nine tenths',
      ['twice', 'thrice', 'half', 'halves', 'halved', 'quarter', 'thirds', 'a third', 'tenths']
    ],
    [
      'doubled, Tripled and quadruple; twofold, three-fold, tenfold, hundredfold',
      ['doubled', 'Tripled', 'quadruple', 'twofold', 'three-fold', 'tenfold', 'hundredfold']
    ],
    ['a dozen and tens of them', ['dozen', 'tens']],
    ['the twelfth, twenty-first, thirtieth, hundredth', ['twelfth', 'twenty', 'thirtieth', 'hundredth']],
    ['rose by *five* points, three-hour, Ten\npercent, one step, three times', ['five', 'three', 'Ten', 'one', 'three']],
    ['in MMXX, XIV of them, IX', ['MMXX', 'XIV', 'IX']]
  ]
  for (const [text, expected] of typed) t.same(found(text), expected, text)
  t.equal(
    faultOf(() => renderPages(inputs('A\nb 12 and 13.'))),
    'template number typed by hand: 12, 13 at line 4 column 10, expected a reference; {{written …}} for what is no value, or code for a name (article.md, line 4, column 3)'
  )
  t.equal(
    faultOf(() => renderPages(inputs('A 12.'))),
    'template number typed by hand: 12, expected a reference; {{written …}} for what is no value, or code for a name (article.md, line 3, column 3)'
  )
  t.match(
    faultOf(() => renderPages(inputs('A 12.\nHalf of 13\n14, 15 and 16.'))),
    /: 12, Half at line 4 column 1, 13 at line 4 column 9 and 3 more, expected/
  )
  for (const { path, text } of Object.values(proseInputs(run).templates)) t.same(findTypedNumbers({ path, text }), [], `${path} has none`)
  t.end()
})

t.test('Markdown', t => {
  const body = (article: string): string => articleOf(inputs(article))('main').html()?.trim() ?? ''
  t.equal(body('*a* **b** ~~c~~ `d<e` x\\*y  \nnext'), '<p><em>a</em> <strong>b</strong> <del>c</del> <code>d&lt;e</code> x*y<br>next</p>')
  t.equal(body('- a\n- b\n\n> q\n\n---'), '<ul><li>a</li>\n<li>b</li></ul>\n<blockquote><p>q</p></blockquote>\n<hr>')
  t.equal(
    body('| a | b |\n|---|--:|\n| c | d |'),
    '<div class="scroll" tabindex="0" role="group" aria-label="Table: "><table><thead><tr><th scope="col">a</th><th class="right" scope="col">b</th></tr>' +
      '</thead><tbody>\n<tr><td>c</td><td class="right">d</td></tr>\n</tbody></table></div>'
  )
  t.equal(
    articleOf(inputs('| | b |\n|---|---|\n| c | d |'))('table').html(),
    '<thead><tr><td></td><th scope="col">b</th></tr></thead><tbody>\n<tr><th scope="row">c</th><td>d</td></tr>\n</tbody>',
    'rows have names'
  )
  t.equal(
    body('&lt; &amp; A&B, a < b > c, x<y, \\<b\\>, < b>, <https://example.org/>, `<b>`\n\n```\n<b>\n```\n\n    <i>'),
    '<p>&amp;lt; &amp;amp; A&amp;B, a &lt; b &gt; c, x&lt;y, &lt;b&gt;, &lt; b&gt;, <a href="https://example.org/" rel="noreferrer">https://example.org/</a>, ' +
      '<code>&lt;b&gt;</code></p>\n<pre tabindex="0"><code>&lt;b&gt;</code></pre>\n<pre tabindex="0"><code>&lt;i&gt;</code></pre>',
    'entities are text, and what is no tag'
  )
  const html: ReadonlyArray<readonly [article: string, found: string, line: number, column: number]> = [
    ['a <b onclick="x">b</b>', '<b onclick="x">', 3, 3],
    ['`<b>` and\n<b>', '<b>', 4, 1],
    ['```\n<i>\n```\n\n- x\n- *y <i>*', '<i>', 8, 6],
    ['x </b>', '</b>', 3, 3],
    ['x <br/>', '<br/>', 3, 3],
    ['<script>alert(x)</script>', '<script>alert(x)</script>', 3, 1],
    ['<div>\n*x*\n</div>', '<div>', 3, 1],
    ['<!-- c -->', '<!-- c -->', 3, 1],
    ['x <!-- c --> <?php ?>', '<!-- c -->', 3, 3],
    ['x <?php ?>', '<?php ?>', 3, 3],
    ['<!DOCTYPE html>', '<!DOCTYPE html>', 3, 1],
    ['| a |\n|---|\n| <b> |', '<b>', 5, 3],
    ['> <b>', '<b>', 3, 3],
    ['[a <b>](data.json)', '<b>', 3, 4],
    ['## A <b>', '<b>', 3, 6],
    ['{{figure 01-scores}}\nA <b>.', '<b>', 4, 3],
    ['{{a.score}} <b title="{{a.score}}">', '<b title="{{…}}">', 3, 13],
    ['x <b {{a.score}}>', '<b {{…}}', 3, 3]
  ]
  for (const [article, found, line, column] of html) {
    t.equal(
      faultOf(() => renderPages(inputs(article))),
      `template raw HTML: ${found}, expected Markdown (article.md, line ${line}, column ${column})`,
      article
    )
  }
  t.equal(
    body('[d](data.json) [n](source-notes.md#where-from) [w](https://example.org/?a=b&c="d") [h](#here)\n\n## Here'),
    '<p><a href="../data.json">d</a> <a href="source-notes.html#s-where-from">n</a> ' +
      '<a href="https://example.org/?a=b&amp;c=%22d%22" rel="noreferrer">w</a> <a href="#s-here">h</a></p>\n<h2 id="s-here"><a class="here" href="#s-here">Here</a></h2>'
  )
  const heading = (id: string, text: string): string => `<h2 id="${id}"><a class="here" href="#${id}">${text}</a></h2>`
  const skip = (id: string, text: string): string => `<a class="next" href="#${id}">Skip to “${text}”</a>`
  t.equal(
    body('## A b\n\n## A b\n\n### C\n\n## Main'),
    [
      heading('s-a-b', 'A b'),
      skip('s-a-b-2', 'A b'),
      heading('s-a-b-2', 'A b'),
      skip('s-main', 'Main'),
      heading('s-c', 'C').replaceAll('h2', 'h3'),
      heading('s-main', 'Main')
    ].join('\n'),
    'a heading is a link to itself, and a section has the way to the next'
  )
  t.equal(body('## A [b](data.json)'), '<h2 id="s-a-b">A <a href="../data.json">b</a></h2>', 'unless it has links of its own')

  const expected = 'an https: address, an output, article.md, source-notes.md or a heading on either'
  for (const target of [
    'javascript:alert(x)',
    'JaVaScRiPt:x',
    'data:text/html,x',
    'http://example.org/',
    '//example.org',
    'https://user:pw@example.org/',
    'https://',
    'file:///etc/passwd',
    '../data.json',
    'other.csv',
    '/data.json',
    'data.json#x',
    '#nowhere',
    'source-notes.md#nowhere',
    'vbscript:x',
    'mailto:a@example.org'
  ]) {
    t.equal(
      faultOf(() => renderPages(inputs(`[x](${target})`))),
      `template link: ${target.replace(':pw@', ':[withheld]@')}, expected ${expected} (article.md, line 3, column 1)`,
      target
    )
  }
  t.equal(
    faultOf(() => renderPages(inputs('[x](data.json "t")'))),
    'template link: a title, expected a link without one (article.md, line 3, column 1)'
  )
  t.equal(
    faultOf(() => renderPages(inputs('![x](https://example.org/x.png)'))),
    'template Markdown: a picture, expected text and links (article.md, line 3, column 1)'
  )
  t.equal(
    faultOf(() => renderPages(inputs('- [ ] todo'))),
    'template Markdown: a check box, expected a plain list (article.md, line 3, column 1)'
  )
  t.end()
})

const HOSTILE = '</script></style><img src=x onerror=alert(1)>"\'&\u202egnp\u2069\u0000\u001b[31m\ud800\u{e0041}`*_[x](javascript:y)|'

t.test('what sources say is shown, never obeyed', t => {
  t.equal(escapeHtml('a<b>"\'&\u202e\u0007\ud800\u{e0041}'), 'a&lt;b&gt;&quot;&#39;&amp;\\u202e\\u0007\\ud800\\u{e0041}')
  t.equal(escapeMarkdown('a_b*c|d<e\n'), 'a\\_b\\*c\\|d\\<e\\\\u000a')

  const figure: PageFigure = {
    name: HOSTILE.replace(/\s/g, ''),
    title: HOSTILE,
    description: HOSTILE,
    picture: { wide: '<svg><title>a\u202eb</title></svg>', column: svg('column') },
    files: [`figures/${HOSTILE}.png`],
    data: [HOSTILE],
    readings: {
      view: 'step',
      xTitles: { step: HOSTILE, time: HOSTILE },
      windows: [10],
      runs: [{ id: HOSTILE, file: HOSTILE }],
      provenances: [HOSTILE],
      panels: []
    }
  }
  const hostile = inputs(`A {{x | text}} b.\n\n{{figure 01-scores}}\nCaption.\n\n{{audit}}\n\n{{discrepancies}}\n\n{{sources}}`, {
    claims: [
      claim({
        id: 'x',
        computed: HOSTILE,
        published: HOSTILE,
        definition: HOSTILE,
        unit: HOSTILE,
        reason: HOSTILE,
        provenance: [{ file: HOSTILE, pointer: `/${HOSTILE}`, sha256: HOSTILE, inputs: [{ path: HOSTILE, sha256: HOSTILE }] }]
      }),
      claim({ id: HOSTILE })
    ],
    discrepancies: [
      {
        id: HOSTILE,
        section: HOSTILE,
        chosen: null,
        decision: HOSTILE,
        disclosure: { text: HOSTILE, found_in: [HOSTILE] },
        forbidden: [],
        averages: [],
        status: 'holds',
        problems: [],
        sources: [{ label: HOSTILE, value: HOSTILE, stated: null, reference: null, status: 'stated', reason: null }]
      }
    ],
    figures: [{ ...figure, name: '01-scores' }],
    study: { name: HOSTILE, synthetic: true },
    generator: { name: HOSTILE, version: HOSTILE },
    inputs: [{ path: HOSTILE, sha256: HOSTILE, bytes: 1 }]
  })
  for (const [path, text] of renderPages(hostile)) {
    t.notMatch(
      text,
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/u,
      `${path}: nothing unseen`
    )
    t.notMatch(text, /\p{Cs}/u, `${path}: whole characters`)
    if (!path.endsWith('.html')) continue
    const $ = load(text)
    t.equal($('script').length, path.endsWith('article.html') ? 2 : 0, 'the data of the figure and the script alone')
    t.equal($('style').length, 1)
    t.equal($('img').length, 0)
    t.same(
      $('*')
        .get()
        .flatMap(element => Object.keys($(element).attr() ?? {}))
        .filter(name => /^on|^style$|^src(?:doc|set)$/.test(name) && name !== 'src'),
      []
    )
    t.same(
      $('a')
        .get()
        .map(a => $(a).attr('href') ?? '')
        .filter(href => !/^(?:#|\.\.\/|(?:article|source-notes)\.html)/.test(href)),
      []
    )
  }
  const $ = articleOf(hostile)
  t.equal($('figure svg title').text(), 'a\\u202eb')
  t.same(JSON.parse($('#figure-data-01-scores').text()).provenances, [visible(HOSTILE)])
  t.match($('data.v').text(), '</script></style>', 'shown in full')
  const markdown = renderPages(hostile).get('article.md') ?? ''
  t.match(markdown, 'A \\</script\\>\\</style\\>\\<img src=x onerror=alert(1)\\>')
  t.notMatch(markdown, /(?<!\\)<(?:script|img|\/style)/)
  t.end()
})

/** Digits of the prose stand in one of these: a value, the author's own, a figure's number, a table of the program's, code. */
const TRACEABLE = 'data.v, .written, .see, figcaption > b:first-child, table.made, code, .panels, .counts, summary, .next, svg'

/** The outputs behind each figure, as the replica's study file names them: paths of bars' references, outputs of analyses. */
const DRAWN_FROM: Readonly<Record<string, readonly string[]>> = {
  '01-scores': ['data.json'],
  '02-efficiency': ['data.json', 'derived_metrics.json'],
  '03-training-by-step': ['wandb/plot_points_with_provenance.csv', 'wandb/curve_statistics.json'],
  '04-training-over-time': ['wandb/plot_points_with_provenance.csv', 'wandb/curve_statistics.json'],
  '05-sao-recipe-training': ['wandb/sao_r6_r7_observed_curves.csv', 'wandb/sao_r6_r7_statistics.json'],
  '06-sao-critic-diagnostics': ['wandb/sao_r6_r7_observed_curves.csv', 'wandb/sao_r6_r7_statistics.json'],
  '07-multilingual-cases': ['training_data/multilingual-case-observations.csv', 'training_data/multilingual-case-statistics.json'],
  '08-critic-traces': ['training_data/critic-trace-trajectories.csv', 'training_data/critic-traces.arrow'],
  'critic-quality': ['training_data/critic-diagnostics.json'],
  'boundary-jumps': ['training_data/critic-diagnostics.json']
}

/** The panel that a number opens. */
function panelOf($: CheerioAPI, value: ReturnType<CheerioAPI>[number] | undefined): ReturnType<CheerioAPI> {
  const id = value === undefined ? null : $(value).children('button').attr('popovertarget')
  return $(
    $('.panels')
      .children()
      .get()
      .filter(panel => panel.attribs['id'] === id)
  )
}

/** The first number of a page that is printed so. @param claim of this claim alone */
function numberOf($: CheerioAPI, text: string, claim = ''): ReturnType<CheerioAPI>[number] | undefined {
  return $('main data.v')
    .get()
    .find(value => $(value).text() === text && panelOf($, value).text().endsWith(claim))
}

/** Lines of a panel by their terms. */
function linesOf($: CheerioAPI, text: string, claim = ''): { readonly [term: string]: string } {
  const lines = panelOf($, numberOf($, text, claim))
    .children('dl')
    .children()
    .get()
  return Object.fromEntries(lines.map(line => [$(line).children('dt').text(), $(line).children('dd').text()]))
}

t.test("every number of the replica's pages can be traced", t => {
  for (const path of HTML) {
    const $ = load(written(path))
    const values = $('main data.v').get()
    t.ok(values.length > 50, `${path}: ${values.length} values`)
    for (const value of values) {
      if (panelOf($, value).length !== 1) t.fail(`${$(value).text()} has no panel`)
    }
    // One stop of the Tab key for all numbers of a block: its group, which lists them.
    t.equal($('main data.v :is([tabindex="0"], a, button:not([tabindex="-1"]))').length, 0, `${path}: a number is no stop`)
    const short = $('main .g')
      .get()
      .filter(group => {
        const before = $(group).prev('.scroll, pre')
        const buttons = (before.length > 0 ? before : $(group).parent()).find('data.v button').get()
        const list = $('.panels')
          .children()
          .get()
          .find(panel => panel.attribs['id'] === $(group).attr('popovertarget'))
        return $(list).children('details').length !== new Set(buttons.map(button => $(button).attr('popovertarget'))).size
      })
    t.same(
      short.map(group => $(group).parent().text().slice(0, 60)),
      [],
      `${path}: a group lists every number of its block`
    )
    t.equal(
      $('main data.v').closest(':has(> .g), .scroll:has(+ .g), pre:has(+ .g)').find('data.v').length,
      values.length,
      `${path}: and every number has one`
    )
    const groups = $('main .g').length
    t.ok(groups > 10 && groups < values.length / 2, `${path}: ${groups} groups of ${values.length} numbers`)
    const bare = values.filter(value => !/in\S+ [0-9a-f]{8} .*from.* [0-9a-f]{8}/s.test(panelOf($, value).text()))
    // The size of the original page: a property of a file that is not here.
    t.same(
      bare.map(value => [$(value).text(), $(value).attr('class')]),
      path === HTML[0] ? [] : [['34,293,250', 'v source']],
      `${path}: values without hashes`
    )
    $(TRACEABLE).remove()
    $('.files').remove()
    $('th, td, li').append(' ')
    const words = $('main')
      .text()
      .split(/\s+/)
      .filter(word => /\p{N}/u.test(word))
    t.same(
      words.filter(word => !/^[("]?[A-Za-z]/.test(word)),
      [],
      `${path}: no digit elsewhere but in names that begin with a letter`
    )
    t.ok(
      words.every(word => /^[("]?(?:r6|r7|Qwen3\.5-35B-A3B|efgcpv3c)[).,;:]*$/.test(word)),
      `${path}: ${words.join(' ')}`
    )
    t.notMatch($('main').text(), /\{\{|\}\}|undefined(?!_reasons)|NaN|\[object/)
  }
  const $ = load(written('preview/article.html'))
  const { claims } = claimsOf(run)
  t.equal($('table.audit tbody tr').length, claims.length)
  t.equal(
    $('.counts').text(),
    '337 claims: 331 agree, 0 differ, 0 not computable, 1 of the source alone, 5 quoted from other publications, compared with nothing computed.'
  )
  const sections = [
    '2',
    '2,5.3',
    '4',
    '5.1',
    '5.2',
    '5.3',
    '5.4',
    '5.5',
    '6',
    '9',
    '9,10',
    '9,13',
    '9,13,14',
    '9,14',
    '10',
    '11',
    '12',
    '13',
    '13.1',
    '13.5',
    '14',
    '14,15',
    '15',
    '16'
  ]
  t.same(
    $('main > .claims > details > summary')
      .get()
      .map(summary => $(summary).text().split(':')[0]),
    [
      ...sections.map(section => (section.includes(',') ? `Sections ${section.replaceAll(',', ', ')}` : `Section ${section}`)),
      '39 quantities of several sources'
    ]
  )
  t.match($('main > .claims > details > summary').text(), 'Section 15: 58 claims: 57 agree, 1 of the source alone.')
  t.same(
    $('main > .claims > details')
      .get()
      .map(group => $(group).find('tbody tr').length),
    [...sections.map(section => claims.filter(claim => claim.section === section).length), 39]
  )
  t.equal($('main details[open]').length, 0)
  const sha = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 8)
  const workbook = sha(join(run.study, 'sources/evaluation.xlsx'))
  t.same(linesOf($, '55.33'), {
    value: '55.33 percent',
    published: '55.33 percent',
    'stated in': 'sheet 评测矩阵, cell L8 of sources/evaluation.xlsx',
    in: `data.json ${sha(join(run.out, 'data.json'))} /values/gspo.multilingual/value`,
    from: `sources/evaluation.xlsx ${workbook}`,
    claim: 'eval.gspo.multilingual'
  })
  t.match(linesOf($, '4.6')['formula'], /^68\.6 − 6468\.6: /)
  const ofGain = panelOf($, numberOf($, '4.6'))
  t.same(
    ofGain
      .find('dd > a')
      .get()
      .slice(0, 2)
      .map(a => [$(a).text(), a.attribs['href']]),
    [
      ['68.6', '#claim-eval.sao.verified'],
      ['64', '#claim-eval.base.verified']
    ],
    'each operand leads to its row of the audit'
  )
  const operands = ofGain.find('.o')
  t.same(
    operands
      .children('summary')
      .get()
      .map(operand => $(operand).text()),
    ['68.6: SAO on SWE-bench Verified', '64: Base model on SWE-bench Verified']
  )
  t.match(operands.first().text(), 'sheet 评测矩阵, cell C11 of sources/evaluation.xlsx', 'an operand says where it stands')
  const best = linesOf($, '70.4', 'best.gspo.value')
  t.match(best, { step: '95', run: 'g5p0k2xw', metric: 'val-core/unknown/reward/mean@1', meaning: 'highest value, earliest step on a tie' })
  t.equal(linesOf($, '1.86')['value'], '1.855072463768116 percent, in the output 0.01855072463768116')
  const other = panelOf($, numberOf($, '55.5')).text()
  t.match(other, 'used in no comparison: the workbook states another score')
  t.match(linesOf($, '55.5')['stated in'], 'slide 5')
  t.same(
    $('figure')
      .get()
      .map(figure => $(figure).attr('id')),
    FIGURE_NAMES.map(name => `figure-${name}`)
  )
  for (const name of FIGURE_NAMES) {
    const figure = $(`figure[id="figure-${name}"]`)
    for (const width of ['wide', 'narrow']) {
      const drawn = figure.find(`.${width} > svg[role=img]`)
      const named = (drawn.attr('aria-labelledby') ?? '').split(' ').map(id => drawn.children(`[id="${id}"]`).text())
      t.ok(named.length === 2 && named[0].length > 5 && named[1].length > 100, `${name}, ${width}, is told in words`)
      t.ok(readFileSync(join(run.out, `figures/${name}.png`)).includes(named[1]), `${name}: in those of the picture's file`)
      t.match(drawn.html(), /var\(--figure-/, `${name}: its colours follow the page`)
      t.ok(drawn.find('text').length > 5, `${name}: its texts are text`)
    }
    const [full, ...data] = figure
      .find('.files a')
      .get()
      .map(a => $(a).attr('href'))
    t.equal(full, `../figures/${name}.png`)
    t.same(
      data,
      DRAWN_FROM[name].map(path => `../${path}`)
    )
  }
  t.end()
})

/** Discrepancies as the audit of this prose has them. */
function audited(input: ReplicaProse): PageInputs['discrepancies'] {
  return auditOf(run, input.documents, proseTexts(input)).discrepancies
}

t.test('disclosures', t => {
  const input = proseInputs(run)
  const { discrepancies } = JSON.parse(written('audit.json')) as { discrepancies: PageInputs['discrepancies'] }
  t.equal(discrepancies.length, 17)
  for (const { id, status, problems } of discrepancies) t.equal(status, 'holds', `${id}: ${problems.join('; ')}`)
  t.same(
    audited(input).map(({ id, status }) => [id, status]),
    discrepancies.map(({ id, status }) => [id, status]),
    'read from the outputs as by the run itself'
  )
  const text = (template: string, from: string, to: string): ReplicaProse => {
    const old = input.templates[template === 'article' ? 'article' : 'notes']
    if (!old.text.includes(from)) throw new Error(`the template does not say ${from}`)
    return { ...input, templates: { ...input.templates, [template]: { ...old, text: old.text.replaceAll(from, to) } } }
  }
  const fails = (changed: ReplicaProse): readonly string[] =>
    audited(changed)
      .filter(d => d.status === 'fails')
      .map(d => d.id)
  t.same(fails(text('article', 'rounding does not explain the difference', 'so be it')), ['gspo-multilingual'])
  t.same(fails(text('article', 'Its critic started from the\n', 'As r6 ran without a warmup, its critic started from the\n')), [
    'r6-warmup'
  ])
  t.same(fails(text('article', '{{timing.hours_to_best.slide.gspo}} hours to the best', '{{written 83}} hours to the best')), [
    'hours-to-best'
  ])
  t.same(
    fails(text('notes', 'no value between the two is used', '{{written 55.4}}% stands between')),
    ['gspo-multilingual'],
    'the mean of the two is found'
  )
  const [said, noted] = proseTexts(input).map(page => page.text)
  t.match(
    noted,
    /Scaled, and from scaled values, are these and no others: .* ratio of step durations, 5\.3581, of a recorded duration of GSPO to a scaled one of SAO; .* 63\.2418%, of a scaled time to a scaled time\. Not scaled are /
  )
  t.match(said, "Both of the paper's methods use DIS")
  const captions = load(written('preview/article.html'))
  const caption = (name: string): string => captions(`#figure-${name} figcaption`).text()
  t.match(caption('02-efficiency'), /^Figure 2\. /)
  t.match(caption('02-efficiency'), 'concurrency-normalised')
  t.match(caption('04-training-over-time'), 'concurrency-normalised')
  t.match(caption('04-training-over-time'), 'not a measurement at another concurrency')
  t.match(
    caption('03-training-by-step').replace(/\s+/g, ' '),
    "validation at steps 0, 5, 10 and 15 and training metrics at step 41 are GSPO's"
  )
  t.match(
    caption('03-training-by-step').replace(/\s+/g, ' '),
    /a marker is an observation.* are GSPO's and have no markers/,
    'what a marker stands on: never on a trailing mean or a supplied point'
  )
  t.end()
})

t.test('a page links each figure to the outputs that it is drawn from', t => {
  const lines = [...written('article.md').matchAll(/^Files: .*$/gm)].map(([line]) =>
    [...line.matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => path)
  )
  t.same(Object.fromEntries(lines.map(([png, ...data]) => [/^figures\/(.*)\.png$/.exec(png)?.[1], data])), DRAWN_FROM)
  t.end()
})

t.test('a page is whole and asks for nothing', t => {
  t.same(
    PAGE_OUTPUTS.filter(path => !existsSync(join(run.out, path))),
    []
  )
  for (const path of HTML) {
    const html = written(path)
    const $ = load(html)
    const style = $('style').text()
    const hash = createHash('sha256').update(style).digest('base64')
    const scripts = $('script:not([type])')
    t.equal(scripts.length, path.endsWith('article.html') ? 1 : 0)
    const script = scripts.length === 0 ? '' : `; script-src 'sha256-${createHash('sha256').update(scripts.text()).digest('base64')}'`
    t.equal(
      $('meta[http-equiv=Content-Security-Policy]').attr('content'),
      `default-src 'none'; img-src data:; style-src 'sha256-${hash}'${script}; base-uri 'none'; form-action 'none'`
    )
    t.ok(html.indexOf('Content-Security-Policy') < html.indexOf('<style'), 'the policy stands before what it governs')
    t.notMatch(style, /url\(|@import|@font-face|<\//)
    t.equal($('iframe, object, embed, form, base, audio, video, link[rel=stylesheet], [style]').length, 0)
    t.equal($('[src]').length, 0, 'figures are SVG in the page')
    t.same(
      $('link')
        .get()
        .map(e => $(e).attr('href')),
      ['data:,']
    )
    t.equal($('html').attr('lang'), 'en')
    t.equal($('h1').length, 1)
    t.equal($('main').length, 1)
    t.equal($('a.skip').attr('href'), '#main')
    const ids = $('[id]')
      .get()
      .map(e => $(e).attr('id') ?? '')
    t.equal(new Set(ids).size, ids.length, 'every id once')
    const here = new Set(ids)
    t.same(
      $('a[href^="#"]')
        .get()
        .map(a => $(a).attr('href')?.slice(1) ?? '')
        .filter(id => !here.has(id)),
      [],
      'every link inside the page leads somewhere'
    )
    t.same(
      $('[popovertarget]')
        .get()
        .map(e => $(e).attr('popovertarget') ?? '')
        .filter(id => !here.has(id)),
      [],
      'every button opens a panel'
    )
    t.ok($('nav.contents li').length > 5)
    t.match($('header.title .how').text(), 'Every number answers', 'said below the title')
    const levels = $('h1, h2, h3, h4')
      .get()
      .map(h => Number(h.tagName.slice(1)))
    t.ok(
      levels.every((level, i) => i === 0 || level <= levels[i - 1] + 1),
      'no heading skips a level'
    )
    // Synthetic: once above everything, in the title of the window, and at the end.
    t.match($('body > aside.strip').text(), /^Synthetic replica, not measurements\. Every input .* Nothing here is evidence/)
    t.match($('title').text(), /^\[synthetic\] /)
    t.equal($('meta[name=synthetic]').attr('content'), 'true')
    t.equal($('header .notice, h1 .mark').length, 0, 'one notice')
    t.match($('footer .notice').text(), 'Nothing here is evidence')
  }
  for (const path of ['article.md', 'source-notes.md']) {
    t.match(written(path), /^# [^\n]+\n\n> \*\*Synthetic replica, not measurements\./)
    t.notMatch(written(path), /\{\{|\}\}|undefined(?!_reasons)|NaN|\[object/)
    const targets = [...written(path).matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, target]) => decodeURIComponent(target))
    t.same(
      targets.filter(target => !existsSync(join(run.out, target))),
      [],
      `${path}: what it links to is there`
    )
  }
  t.match(written('article.md'), '](figures/03-training-by-step.png)\n')

  const real = renderPages(inputs('Text.', { study: { name: 'Real', synthetic: false } })).get('preview/article.html') ?? ''
  t.notMatch(
    real.replace(/<style>.*?<\/style>/s, '').replace('name="synthetic" content="false"', ''),
    /synthetic/i,
    'a study of real files says nothing of it'
  )

  const stand = articleOf(inputs('Stand-in {{data.json#/values/stand/value}}.'))
  t.equal(stand('data.v').text(), '54.33†')
  t.match(stand('.p').text(), 'A stand-in: no source publishes it.')
  t.match(stand('footer').text(), '† marks a stand-in')

  const provenance = (pointer: string, ...paths: readonly string[]): AuditedClaim['provenance'] => [
    { file: 'o.json', pointer, sha256: 'f'.repeat(64), inputs: paths.map(path => ({ path, sha256: 'e'.repeat(64) })) }
  ]
  const from = articleOf(
    inputs('{{audit}}', {
      claims: [
        claim({ id: 'a', provenance: provenance('/a', 'x', 'y') }),
        claim({ id: 'b', provenance: provenance('/b', 'y', 'z') }),
        claim({ id: 'c', provenance: provenance('/c') })
      ]
    })
  )
  t.same(
    from('table.outputs tbody tr')
      .get()
      .map(row =>
        from(row)
          .children()
          .get()
          .map(cell =>
            from(cell)
              .children()
              .get()
              .map(line => from(line).text())
          )
      ),
    [[['o.json'], ['f'.repeat(64)], ['x', 'y', 'z']]],
    'an output is listed once, with the inputs of all its claims'
  )
  t.equal(from('table.outputs thead th').last().text(), 'Inputs of these claims', 'which may be fewer than its own')
  t.equal(
    from('table.outputs caption').text(),
    'Outputs in which computed values of claims stand, with the inputs of these claims. An output may have been computed from more.'
  )
  const bare = renderPages(inputs('{{discrepancies}}', { discrepancies: [{ ...inputs('').discrepancies[0], sources: [] }] }))
  t.equal(
    load(bare.get('preview/article.html') ?? '')('table.discrepancies td')
      .first()
      .text(),
    'no value: it is about the wording'
  )
  t.match(bare.get('article.md'), '| warmup | no value: it is about the wording | The configuration counts. |')

  const stated = (change: Partial<PageInputs['discrepancies'][number]['sources'][number]>): string => {
    const source = {
      label: 'history',
      value: 62.57,
      stated: 62.6,
      reference: 'data.json#/steps',
      status: 'agrees',
      reason: null,
      ...change
    } as const
    return articleOf(inputs('{{discrepancies}}', { discrepancies: [{ ...inputs('').discrepancies[0], sources: [source] }] }))(
      'table.discrepancies td'
    )
      .first()
      .text()
  }
  t.equal(stated({}), 'history: 62.6 (computed 62.57)', 'what a source states comes first')
  t.equal(stated({ value: 62.6 }), 'history: 62.6')
  t.equal(stated({ stated: null, status: 'found' }), 'history: 62.57', 'where nothing is stated, what stands at the reference')
  t.equal(stated({ value: 63, status: 'differs', reason: 'off' }), 'history: 62.6 (computed 63)')
  t.equal(stated({ value: null, stated: null, status: 'not_computable', reason: 'none' }), 'history: –')

  const plain = articleOf(inputs('Text.'))
  t.equal(plain('nav.contents').text(), 'Also: Notes', 'without headings there is no list of contents')
  t.equal(plain('nav.contents a').attr('href'), 'source-notes.html')
  t.equal(plain('nav.contents').attr('aria-label'), 'Other page')
  t.equal(plain('nav.contents :is(details, ul)').length, 0)
  t.same(
    articleOf(inputs('## Here'))('nav.contents > details:not([open])')
      .children()
      .get()
      .map(child => child.tagName),
    ['summary', 'ul', 'p']
  )

  const byline = articleOf(
    inputs('Text.', {
      byline: { date: '2026-01-31', cite: 'A <b>. 2026.', compared: [{ title: 'The "other" paper', url: 'https://example.org/?a=1&b=2' }] }
    })
  )
  t.equal(byline('header .byline').text(), '2026-01-31 · Compared with The "other" paper')
  t.equal(byline('header .byline a').attr('href'), 'https://example.org/?a=1&b=2')
  t.equal(byline('header .cite').text(), 'How to citeA <b>. 2026.')
  t.equal(plain('header :is(.byline, .cite)').length, 0, 'nothing where the study states nothing')

  const notes = load(written('preview/source-notes.html'))
  const rows = (name: string): readonly string[] =>
    notes(`table.${name} tbody tr`)
      .get()
      .map(row =>
        notes(row)
          .children()
          .get()
          .map(cell => notes(cell).text())
          .join(' ')
          .replaceAll(',', '')
      )
  const files = (list: readonly HashedFile[]): readonly string[] => list.map(({ path, bytes, sha256 }) => `${path} ${bytes} ${sha256}`)
  const { inputs: read } = JSON.parse(written('run.json')) as { inputs: readonly HashedFile[] }
  const { files: listed } = JSON.parse(readFileSync(join(run.study, 'source_manifest.json'), 'utf8')) as {
    files: ReadonlyArray<HashedFile & { role: string }>
  }
  t.same(files(read).toSorted(), files(listed).toSorted(), 'the run says of every file of the manifest that it read it')
  t.same([...rows('sources'), ...rows('excluded')].sort(), files(listed).toSorted(), 'and the notes list each')
  const rolesIn = (name: string): readonly string[] =>
    [...new Set(rows(name).map(row => listed.find(({ path }) => path === row.split(' ')[0])?.role ?? 'none'))].sort()
  t.same(rolesIn('excluded'), ['certificate', 'excluded', 'runs'], 'views of the list of runs enter no statistic')
  t.notOk(rolesIn('sources').includes('excluded'))
  t.match(notes('table.excluded caption').text(), 'enter no statistic')
  t.equal(articleOf(inputs('{{sources}}'))('table.excluded').length, 0)

  const decimals = (text: string, notes = '# N'): string =>
    faultOf(() =>
      renderPages(inputs(text, { templates: { article: { path: 'a.md', text: `# T\n\n${text}` }, notes: { path: 'n.md', text: notes } } }))
    )
  t.equal(
    decimals('{{a.score}}', '# N\n\n{{a.score | fixed(2)}}'),
    'template decimals: a.score as 70.40, expected as many as where it stands before, in 70.4 (n.md, line 3, column 1)'
  )
  t.equal(
    decimals('{{data.json#/values/a.score/value | fixed(1)}} {{data.json#/values/a.score/value}}'),
    'template decimals: data.json#/values/a.score/value as 0.704, expected as many as where it stands before, in 0.7 (a.md, line 3, column 48)'
  )
  for (const text of [
    '{{a.score}} {{data.json#/values/a.score/value}}',
    '{{a.score}} {{a.score | rounded(0)}} {{a.score}}',
    '{{a.score}} {{a.score | fixed(1)}} {{a.score | hours}} {{a.score | signed(1)}}',
    '{{data.json#/values/a.score/value}} {{data.json#/values/a.score/value | percent(1)}} {{data.json#/values/a.score/value | scientific}}'
  ])
    t.equal(decimals(text), 'no fault', text)

  const groups = articleOf(
    inputs('{{audit}}', {
      claims: [
        claim({ id: 'a', section: '1' }),
        claim({ id: 'b', section: '2', status: 'differs', computed: 7, difference: 1, reason: 'off' }),
        claim({ id: 'c', section: '', status: 'quoted' })
      ]
    })
  )
  t.same(
    groups('main > .claims > details')
      .get()
      .map(group => [groups(group).children('summary').text(), groups(group).attr('open')]),
    [
      ['Section 1: 1 claim: 1 agree.', undefined],
      ['Section 2: 1 claim: 1 differ.', 'open'],
      ['No section: 1 claim: 1 quoted from other publications, compared with nothing computed.', undefined]
    ],
    'what is wrong is in sight'
  )
  const many = articleOf(
    inputs('{{a.score}}', {
      claims: [claim({ provenance: ['/a', '/b', '/c', '/d', '/e'].flatMap((pointer, i) => provenance(pointer, 'p0', `p${i}`)) })]
    })
  )
  t.same(
    linesOf(many, '70.4')['in'],
    `o.json ${'f'.repeat(8)} /a, /b, /c and 2 more places, named in audit.json`,
    'an output and its hash stand once'
  )
  t.equal(linesOf(many, '70.4')['from'], 'p0 eeeeeeee, p1 eeeeeeee, p2 eeeeeeee, and 2 more, named in audit.json')
  const twice = articleOf(inputs('{{a.score}} and {{a.score}}.\n\n{{a.score | rounded(0)}} and {{data.json#/steps}}.\n\nNone.'))
  t.equal(twice('.panels > .p').length, 5, 'two groups and three panels: a number that is printed twice has one')
  t.same(
    twice('main > p > .g')
      .get()
      .map(group => twice(group).attr('aria-label')),
    ['The number of this paragraph', 'The 2 numbers of this paragraph']
  )

  const wrong = articleOf(
    inputs('{{a}} {{b}} {{c}}', {
      claims: [
        claim({ id: 'a', computed: 70.5, status: 'differs', difference: 0.1, reason: 'off by 0.1' }),
        claim({ id: 'b', computed: null, status: 'not_computable', reason: 'no cell', provenance: [] }),
        claim({ id: 'c', computed: null, status: 'quoted', provenance: [] })
      ]
    })
  )
  t.same(
    wrong('data.v')
      .get()
      .map(v => [wrong(v).text(), wrong(v).attr('class')]),
    [
      ['70.5', 'v differs'],
      ['not computable', 'v not_computable'],
      ['70.4', 'v quoted']
    ],
    'what went wrong is marked where it stands'
  )
  t.same(
    wrong('data.v button')
      .get()
      .map(button => wrong(button).attr('aria-label')),
    ['70.5, differs', 'not computable', '70.4'],
    'and said to whoever does not see it'
  )
  t.end()
})

t.test('a failed audit is said right below the title, and where the value stands', async t => {
  const wrong = await runWrongReplica(t, '--formats', 'png')
  const read = (path: string): string => readFileSync(join(wrong.out, path), 'utf8')
  // The score, what it gains on the base model and its bar; the slides and the history still have the old one.
  const counts =
    'The audit failed: 3 of 337 claims differ, 0 cannot be computed; 1 of 39 quantities of several sources contradictory and not disclosed; ' +
    '17 of 17 contradictions disclosed.'
  for (const path of ['article.md', 'source-notes.md']) {
    t.match(read(path), /^# [^\n]+\n\n> \*\*[^\n]+\*\* See \[audit\.json\]\(audit\.json\)\.\n\n> \*\*Synthetic replica/)
    t.equal(/^> \*\*([^*]+)\*\*/m.exec(read(path))?.[1], counts, path)
  }
  t.ok(read('article.md').includes('the GSPO checkpoint at 71.4% (published: 70.4%) and the SAO'), 'marked in the prose')
  for (const path of HTML) {
    const $ = load(read(path))
    t.equal($('h1').next().attr('class'), 'failed', `${path}: right below the title`)
    t.equal($('header .failed[role=alert] strong').text(), counts)
    const page = path === HTML[0] ? '' : 'article.html'
    t.same(
      $('.failed a')
        .get()
        .map(a => $(a).attr('href')),
      [`${page}#claim-eval.gspo.verified`, '../audit.json']
    )
    t.match($('style').text(), /\.failed \{/)
  }
  t.match(
    load(read(HTML[0]))('tr[id="claim-eval.gspo.verified"]').closest('details').attr('open'),
    'open',
    'the link leads to a table that is open'
  )
  for (const path of PAGE_OUTPUTS)
    t.notMatch(written(path), /audit failed|class="failed"|\.failed|\(published: /, `${path}: not a word where all agrees`)

  // The sentence that discloses a contradiction has the number of the claim: what the audit reads is the number, without the mark.
  const said = inputs('It is {{a.score}}% here.', { claims: [claim({ status: 'differs', computed: 71.4, difference: 1, reason: 'off' })] })
  t.equal(proseTexts(said)[0].text, 'Title It is 71.4% here.')
  const markdown = (article: string, change: Partial<AuditedClaim>): string =>
    (renderPages(inputs(article, { claims: [claim({ status: 'differs', computed: 71.4, ...change })] })).get('article.md') ?? '').split(
      '\n\n'
    )[3]
  t.equal(markdown('It is {{a.score}}% here.', {}), 'It is 71.4% (published: 70.4%) here.')
  t.equal(markdown('{{a.score}}, {{a.score}}.', {}), '71.4 (published: 70.4), 71.4 (published: 70.4).')
  t.equal(markdown('{{a.score | fixed(0)}}%', { computed: 70.3 }), '70% (published: 70.4%)', 'a format that shows no difference')
  t.equal(markdown('{{a.score | fixed(0)}}%', { published: '*x*' }), '71% (published: \\*x\\*%)', 'a format of other values')
  t.equal(markdown('{{a.score | percent(1)}}%', { unit: '', computed: 0.714, published: 0.704, decimals: 3 }), '71.4% (published: 70.4%)')
  t.equal(markdown('{{a.score}}%', { status: 'not_computable', computed: null }), 'not computable (published: 70.4%)')

  // Nothing is escaped in a code span, and everything outside of one.
  const named = { claims: [claim({ published: 'a_b', computed: 'a_b', decimals: null, unit: '' })] }
  t.match(
    renderPages(inputs('`x` and `{{fact a.score}}`, {{fact a.score}}, `{{fact a.score}}`.', named)).get('article.md'),
    '`x` and `a_b`, a\\_b, `a_b`.'
  )

  const [discrepancy] = inputs('').discrepancies
  const said2 = (discrepancies: PageInputs['discrepancies'], claims: PageInputs['claims'] = [claim()], text = ''): CheerioAPI =>
    articleOf(inputs(text, { discrepancies, claims }))
  const failing = { ...discrepancy, status: 'fails', problems: ['x'] } as const
  const disclosed = { ...discrepancy, status: 'holds', disclosure: { text: 'x', found_in: ['article.md'] } } as const
  const told = (...list: Parameters<typeof said2>): string => said2(...list)('.failed strong').text()
  t.equal(told([failing, disclosed]), 'The audit failed: 0 of 1 claim differ, 0 cannot be computed; 1 of 2 contradictions disclosed.')
  t.equal(
    told([{ ...failing, disclosure: disclosed.disclosure }, disclosed]),
    'The audit failed: 0 of 1 claim differ, 0 cannot be computed; 2 of 2 contradictions disclosed, 1 of them wrongly stated.'
  )
  t.equal(
    told(
      [],
      [
        claim({ id: 'a', status: 'not_computable', computed: null }),
        claim({ id: 'b', status: 'differs' }),
        claim({ id: 'c', status: 'differs' })
      ]
    ),
    'The audit failed: 2 of 3 claims differ, 1 cannot be computed.'
  )
  t.equal(told([disclosed]), '')
  t.same(
    said2(
      [failing],
      [claim()],
      '{{discrepancies}}'
    )('.failed a')
      .get()
      .map(a => a.attribs['href']),
    ['#claim-discrepancy-warmup', '../audit.json']
  )
  t.equal(said2([failing], [claim()], '{{discrepancies}}')('[id="claim-discrepancy-warmup"]').length, 1, 'which is there')
  t.same(
    said2([failing])('.failed a')
      .get()
      .map(a => a.attribs['href']),
    ['../audit.json'],
    'no page has the table'
  )
})

t.test('sizes, bytes, files', async t => {
  const pages = (): unknown => [
    ...renderPages(inputs('{{a.score}}, {{see 01-scores}}\n\n{{figure 01-scores}}\nc\n\n{{audit}}\n\n{{discrepancies}}\n\n{{sources}}'))
  ]
  t.same(pages(), pages(), 'the same inputs give the same bytes')
  const large = figures().map(figure => ({ ...figure, picture: { ...figure.picture, wide: 'x'.repeat(8_100_000) } }))
  t.match(
    faultOf(() => renderPages(inputs('{{figure 01-scores}}\nc', { figures: large }))),
    /^page too large: 81\d{5} bytes in both pages, expected at most 8000000: fewer or smaller figures$/
  )
  const gzipped = gzipSync(written(HTML[0])).length
  t.ok(gzipped < 1_000_000, `the article has ${gzipped} bytes, compressed`)
  const dir = mkdtempSync(join(tmpdir(), 'critic-traces-page-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const set = await OutputSet.open(dir)
  const summaries = await writePages(set, inputs('Text.'))
  await set.commit()
  t.same(tree(dir), [...PAGE_OUTPUTS].sort())
  for (const { path, sha256 } of summaries)
    t.equal(
      createHash('sha256')
        .update(readFileSync(join(dir, path)))
        .digest('hex'),
      sha256
    )
})
