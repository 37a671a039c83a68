/**
 * References into documents, the comparison at the published precision, discrepancies against a page's
 * text, the document and the command. Whether numbers agree was worked out with Python 3.11's fractions:
 * abs(F(c) - F(p)) <= F(1, 2 * 10**d) + F(max(math.ulp(p), math.ulp(c))).
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { numbersAgree } from '../src/compute/audit/agreement.js'
import { auditFaults } from '../src/cli/audit-summary.js'
import { audit, auditPasses } from '../src/compute/audit/audit.js'
import { compare, findValue, shownValue } from '../src/compute/audit/comparison.js'
import type { AuditReport } from '../src/compute/audit/contract.js'
import { auditDiscrepancies } from '../src/compute/audit/discrepancies.js'
import { hasPassage, matchesPattern, normalText, numbersIn } from '../src/compute/audit/page-text.js'
import { Documents } from '../src/compute/documents.js'
import { checkClaims, readClaims } from '../src/study/claims.js'
import { auditText } from '../src/render/outputs/audit-document.js'
import type { Claims, ClaimValue } from '../src/schema/claims.js'
import { runCli } from './support/cli.js'
import { RUNS, STUDY, writeHistoryStudy, writeManifest } from './support/history-folder.js'
import { schemaProblems } from './support/json-schema.js'
import { replicaSource, root } from './support/paths.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-audit-test-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))

function claimsOf(value: object): Claims {
  return checkClaims({ schema_version: 1, claims: [], ...value }, { format: 'claims', place: {}, paths: [] })
}

t.test("the replica's claims file is a claims file", async t => {
  t.ok((await readClaims(replicaSource('claims.json'))).claims.length >= 157)
})

t.test('references: RFC 6901, own members only, and a reason that names what is missing', t => {
  // The document and the pointers of RFC 6901, section 5.
  const rfc = '{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\\\j": 5, "k\\"l": 6, " ": 7, "m~n": 8}'
  const documents = new Documents(
    new Map([
      ['rfc.json', rfc],
      [
        'deep/x.json',
        '{"a": {"b": null, "__proto__": {"x": 5}, "none": null}, "list": [[1, 2]], "undefined_reasons": {"/a/b": "no rows", "/a/none": 3}}'
      ],
      ['proto.json', '{"__proto__": {"polluted": 1}}'],
      ['broken.json', '{'],
      ['scalar.json', '5']
    ])
  )
  const values: ReadonlyArray<readonly [string, unknown]> = [
    ['rfc.json#/foo', ['bar', 'baz']],
    ['rfc.json#/foo/0', 'bar'],
    ['rfc.json#/', 0],
    ['rfc.json#/a~1b', 1],
    ['rfc.json#/c%d', 2],
    ['rfc.json#/e^f', 3],
    ['rfc.json#/g|h', 4],
    ['rfc.json#/i\\j', 5],
    ['rfc.json#/k"l', 6],
    ['rfc.json#/ ', 7],
    ['rfc.json#/m~0n', 8],
    ['rfc.json#', JSON.parse(rfc)],
    ['deep/x.json#/a/b', null],
    ['deep/x.json#/list/0/1', 2],
    ['deep/x.json#/a/__proto__/x', 5],
    ['proto.json#/__proto__/polluted', 1],
    ['scalar.json#', 5]
  ]
  for (const [reference, value] of values) t.strictSame(documents.resolve(reference), { value }, reference)
  const reasons: ReadonlyArray<readonly [string, string]> = [
    ['none.json#/a', 'there is no output none.json'],
    ['rfc.json#/bar', 'rfc.json# has no member "bar"'],
    ['rfc.json#/foo/2', 'rfc.json#/foo is a list of 2 and has no element 2'],
    ['rfc.json#/foo/-', 'rfc.json#/foo is a list of 2 and has no element -'],
    ['rfc.json#/foo/00', 'rfc.json#/foo is a list of 2 and has no element 00'],
    ['rfc.json#/foo/length', 'rfc.json#/foo is a list of 2 and has no element length'],
    ['rfc.json#/foo/0/x', 'rfc.json#/foo/0 is no object and no list, so "x" leads nowhere'],
    ['rfc.json#/__proto__', 'rfc.json# has no member "__proto__"'],
    ['rfc.json#/constructor/name', 'rfc.json# has no member "constructor"'],
    ['rfc.json#/toString', 'rfc.json# has no member "toString"'],
    ['scalar.json#/x', 'scalar.json# is no object and no list, so "x" leads nowhere'],
    ['deep/x.json#/a/b/c', 'deep/x.json#/a/b is null: no rows'],
    ['deep/x.json#/a/none/c', 'deep/x.json#/a/none is null'],
    ['rfc.json#/a\u001b[31m', 'rfc.json# has no member "a\\u001b[31m"'],
    ['rfc.json', 'rfc.json is no reference: a path, "#" and a JSON pointer'],
    ['#/a', '#/a is no reference: a path, "#" and a JSON pointer'],
    ['rfc.json#a', 'rfc.json#a is no reference: a path, "#" and a JSON pointer'],
    ['rfc.json#/a~2', 'rfc.json#/a~2 is no reference: a path, "#" and a JSON pointer']
  ]
  for (const [reference, reason] of reasons) t.strictSame(documents.resolve(reference), { reason }, reference)
  t.match(documents.resolve('broken.json#/a'), { reason: /^broken\.json is not JSON: / })
  t.equal(documents.undefinedReason('deep/x.json#/a/b'), 'no rows')
  t.equal(documents.undefinedReason('deep/x.json#/a/none'), null, 'a reason is a text')
  t.equal(documents.sha256('scalar.json'), 'ef2d127de37b942baad06145e54b0c619a1f22327b2ebbcfbec78f5564afe39d', 'sha256sum of "5"')
  t.equal(documents.sha256('none.json'), null)
  t.throws(() => documents.add('rfc.json', '{}'), { message: 'rfc.json was added before' })
  t.equal(({} as { polluted?: unknown }).polluted, undefined)
  t.end()
})

/** published, computed, decimals, whether they agree */
const NUMBERS: ReadonlyArray<readonly [number, number, number, boolean]> = [
  // Decimal ties agree either way, though neither number may be a double.
  [111.0813, 71092 / 640, 4, true],
  [111.0812, 71092 / 640, 4, true],
  [111.0814, 71092 / 640, 4, false],
  [0, 0.5, 0, true],
  [1, 0.5, 0, true],
  [1, 1.5, 0, true],
  [2, 1.5, 0, true],
  [0, -0.5, 0, true],
  [-1, -0.5, 0, true],
  [2.68, 2.675, 2, true],
  [2.67, 2.675, 2, true],
  [2.67, 2.676, 2, false],
  [1, 1.005, 2, true],
  [1.01, 1.005, 2, true],
  [0.1, 0.15, 1, true],
  [0.2, 0.15, 1, true],
  [0.2, 0.25, 1, true],
  [0.3, 0.35, 1, true],
  [0.4, 0.35, 1, true],
  [-2.5, -2.45, 1, true],
  [-2.4, -2.45, 1, true],
  [-2.3, -2.45, 1, false],
  // One unit in the last place beyond the tie, and two.
  [0, 0.5000000000000001, 0, true],
  [0, 0.5000000000000002, 0, false],
  // As published, ten decimals and more.
  [0.0295787047, 0.02957870474999, 10, true],
  [0.0295787047, 0.02957870475, 10, true],
  [0.0295787047, 0.0295787047501, 10, false],
  [136.05747247649563, 136.05747247649566, 14, true],
  [136.05747247649563, 136.0574724764957, 14, false],
  // Across a power of two the larger unit counts: 2^-52 for 1, 2^-53 below it.
  [1, 0.9999999999999999, 20, true],
  [1, 0.9999999999999998, 20, true],
  [1, 0.9999999999999997, 20, false],
  [1, 1.0000000000000002, 20, true],
  [1, 1.0000000000000004, 20, false],
  [1, 0.99995, 4, true],
  [64, 63.99995, 4, true],
  [64, 63.9999499999, 4, false],
  // Whole numbers, up to where doubles have no halves.
  [959418, 959418, 0, true],
  [959418, 959417, 0, false],
  [959418, 959418.5, 0, true],
  [959418, 959418.6, 0, false],
  [2 ** 53, 2 ** 53 + 2, 0, true],
  [2 ** 53 - 1, 2 ** 53, 0, true],
  [2 ** 53, 2 ** 53 + 4, 0, false],
  // The ends of the range.
  [1e308, 1.0000000000000002e308, 0, true],
  [1e308, 1.0000000000000004e308, 0, false],
  [Number.MAX_VALUE, -Number.MAX_VALUE, 0, false],
  [0, 5e-324, 20, true],
  [5e-324, 1e-323, 20, true],
  [0, 1e-20, 20, false],
  [0, 5e-21, 20, true],
  [0, 5.1e-21, 20, false],
  // Signs of zero, and of what rounds to it.
  [0, -0, 0, true],
  [-0, 0, 3, true],
  [1e-11, -1e-11, 10, true],
  [1e-10, -1e-10, 10, false],
  // Percentages and thirds.
  [1.85507246, (64 / 3450) * 100, 8, true],
  [1.85507247, (64 / 3450) * 100, 8, false],
  [0.20064273, (1918 / 955928) * 100, 8, true],
  [9.24565021, 64 / 3450 / (1918 / 955928), 8, true],
  [0.5433333333, 163 / 300, 10, true],
  [0.5433333334, 163 / 300, 10, false],
  // Never.
  [1, NaN, 0, false],
  [1, Infinity, 0, false],
  [Infinity, Infinity, 0, false]
]

t.test('numbers agree within half a unit of the last published decimal and one unit of the double', t => {
  for (const [published, computed, decimals, expected] of NUMBERS) {
    t.equal(numbersAgree(published, computed, decimals), expected, `${published} against ${computed} at ${decimals}`)
    t.equal(numbersAgree(-published, -computed, decimals), expected, 'the same of the negatives')
    t.equal(numbersAgree(computed, published, decimals), expected, 'the same the other way round')
  }
  t.end()
})

t.test('values: lists element by element, texts and truth values exactly, types, nulls with their reason', t => {
  const documents = new Documents(
    new Map([
      [
        'd.json',
        JSON.stringify({
          n: 0.5,
          s: 'a',
          yes: true,
          list: [1, 2.04],
          mixed: [1, 'x'],
          nested: [[1]],
          hole: [1, null],
          object: { a: 1 },
          none: null,
          unexplained: null,
          long: Array.from({ length: 1001 }, () => 0),
          empty: [],
          big: 1e308,
          share: 0.3307,
          '': 7,
          undefined_reasons: { '/none': 'no observations', '/hole/1': 'no second row' }
        })
      ]
    ])
  )
  const verdict = (value: ClaimValue, name: string, decimals: number | null = null, scale = 1) =>
    compare({ value, decimals }, findValue(documents, `d.json#/${name}`, scale))
  const agrees = (...given: Parameters<typeof verdict>) =>
    t.match(verdict(...given), { status: 'agrees', difference: null, reason: null }, given.join(' '))
  const differs = (difference: number | null, reason: string, ...given: Parameters<typeof verdict>) =>
    t.match(verdict(...given), { status: 'differs', difference, reason }, given.join(' '))
  const cannot = (reason: string, ...given: Parameters<typeof verdict>) =>
    t.strictSame(verdict(...given), { status: 'not_computable', computed: null, difference: null, reason, element: null }, given.join(' '))

  agrees(0.5, 'n')
  differs(
    0.5 - 0.5000000000000001,
    'computed 0.5, published 0.5000000000000001: off by -1.1102230246251565e-16, allowed nothing',
    0.5000000000000001,
    'n'
  )
  agrees('a', 's')
  differs(null, 'computed "a", published "A"', 'A', 's')
  agrees(true, 'yes')
  differs(null, 'computed true, published false', false, 'yes')
  differs(null, 'computed true or false, published a number', 1, 'yes', 0)
  differs(null, 'computed a number, published a text', '0.5', 'n')
  differs(null, 'computed a text, published a number', 1, 's', 0)
  agrees([1, 2], 'list', 1)
  differs(2.04 - 2, 'element 1: computed 2.04, published 2: off by 0.040000000000000036, allowed 0.005', [1, 2], 'list', 2)
  differs(null, 'computed a list of 2, published a list of 3', [1, 2, 3], 'list', 0)
  differs(null, 'computed a list of 2, published a number', 1, 'list', 0)
  differs(null, 'computed a number, published a list of 1', [0.5], 'n')
  differs(null, 'element 1: computed a text, published a number', [1, 2], 'mixed')
  agrees([], 'empty', 0)
  agrees(33.07, 'share', 2, 100)
  differs(33.07 - 33.08, 'computed 33.07, published 33.08: off by -0.00999999999999801, allowed 0.005', 33.08, 'share', 2, 100)
  agrees([100, 204], 'list', 0, 100)
  cannot('no observations', 5, 'none', 0)
  cannot('no second row', [1, 2], 'hole', 0)
  cannot('d.json#/unexplained is null, and its file does not say why', 5, 'unexplained', 0)
  cannot('d.json#/object is an object, not a value', 5, 'object', 0)
  cannot('d.json#/nested/0 is a list, not a value', [1], 'nested', 0)
  cannot('d.json#/long is a list of 1001', [1], 'long', 0)
  cannot('d.json#/big is not finite: 1e+308 times 100', 5, 'big', 0, 100)
  cannot('d.json# has no member "gone"', 5, 'gone', 0)
  t.equal(shownValue([1, 'a\n', true, -0]), '[1, "a\\n", true, -0]')
  t.end()
})

t.test('claims: several places, elements, kinds, provenance, counts', t => {
  const sha = (digit: string): string => digit.repeat(64)
  const documents = new Documents(
    new Map([
      [
        'data.json',
        JSON.stringify({
          values: {
            w: { value: 55.33, file: 'sources/book.xlsx', sha256: sha('a') },
            s: { value: 55.5, file: 'sources/slides.pptx', sha256: sha('b') },
            c: {
              value: 8,
              file: 'configs/gspo.env',
              sha256: sha('c'),
              chain: [
                { path: 'configs/gspo.env', sha256: sha('c') },
                { path: 'configs/base.env', sha256: sha('d') }
              ]
            },
            odd: { value: 1, path: 7, sha256: sha('e') },
            short: { value: 1, path: 'x', sha256: 'e' }
          }
        })
      ],
      [
        'derived.json',
        JSON.stringify({
          values: {
            ratio: { value: 2, operands: [{ reference: 'data.json#/values/w/value' }, { reference: 'derived.json#/values/other/value' }] },
            other: {
              value: 1,
              operands: [
                { reference: 'data.json#/values/s/value' },
                { reference: 'derived.json#/values/ratio/value' },
                { reference: 5 },
                null
              ]
            }
          }
        })
      ],
      ['index.json', JSON.stringify({ html: { path: 'traces/index.html', sha256: sha('f'), bytes: 10 } })]
    ])
  )
  const claim = (id: string, more: object): object => ({ id, value: 55.33, decimals: 2, kind: 'computed', definition: 'One.', ...more })
  const claims = claimsOf({
    claims: [
      claim('one', { from: 'data.json#/values/w/value' }),
      claim('both', { from: ['data.json#/values/w/value', 'data.json#/values/s/value', 'data.json#/values/x/value'] }),
      claim('missing', { from: ['data.json#/values/w/value', 'data.json#/values/x/value'] }),
      claim('elements', { value: [55.33, 55.5], elements: ['data.json#/values/w/value', 'data.json#/values/s/value'] }),
      claim('order', { value: [55.5, 55.33], elements: ['data.json#/values/w/value', 'data.json#/values/s/value'] }),
      claim('second-element', { value: [55.33, 55.6], elements: ['data.json#/values/w/value', 'data.json#/values/s/value'] }),
      claim('element-missing', { value: [55.5, 55.33], elements: ['data.json#/values/w/value', 'gone.json#/x'] }),
      claim('derived', { value: 2, decimals: 0, from: 'derived.json#/values/ratio/value' }),
      claim('config', { value: 8, decimals: 0, kind: 'config', from: 'data.json#/values/c/value' }),
      claim('nothing-stated', { value: 1, decimals: 0, from: ['data.json#/values/odd/value', 'data.json#/values/short/value'] }),
      claim('source', { value: 11, decimals: 0, kind: 'source', from: 'index.json#/html/bytes' }),
      claim('source-alone', { value: 11, decimals: 0, kind: 'source' }),
      claim('quoted', { value: 11, decimals: 0, kind: 'quoted' }),
      claim('quoted-here', { value: 55.33, kind: 'quoted', from: 'data.json#/values/w/value' }),
      claim('quoted-wrong', { value: 55.34, kind: 'quoted', from: 'data.json#/values/w/value' })
    ]
  })
  const report = audit(claims, {
    synthetic: true,
    documents,
    pages: null,
    inputsOf: reference => (reference.startsWith('index') ? [{ path: 'more', sha256: sha('0') }] : [])
  })
  t.strictSame(
    report.claims.map(c => [c.id, c.status]),
    [
      ['one', 'agrees'],
      ['both', 'differs'],
      ['missing', 'not_computable'],
      ['elements', 'agrees'],
      ['order', 'differs'],
      ['second-element', 'differs'],
      ['element-missing', 'not_computable'],
      ['derived', 'agrees'],
      ['config', 'agrees'],
      ['nothing-stated', 'agrees'],
      ['source', 'differs'],
      ['source-alone', 'source'],
      ['quoted', 'quoted'],
      ['quoted-here', 'quoted'],
      ['quoted-wrong', 'differs']
    ]
  )
  t.strictSame(report.counts, { agrees: 5, differs: 5, not_computable: 2, source: 1, quoted: 2 })
  const of = (id: string) => report.claims.find(c => c.id === id)
  t.match(of('both'), {
    computed: 55.5,
    difference: 55.5 - 55.33,
    reason: /^computed 55\.5, published 55\.33: off by .*; 2 of 3 places$/,
    at: 'data.json#/values/s/value'
  })
  t.match(of('missing'), { computed: null, reason: 'data.json#/values has no member "x"; 1 of 2 places', at: 'data.json#/values/x/value' })
  t.match(of('order'), { computed: [55.33, 55.5], reason: /^element 0: / })
  t.match(of('element-missing'), { reason: 'there is no output gone.json', at: 'gone.json#/x' })
  t.match(of('one'), { at: null })
  const lines = auditFaults(report).map(fault => fault.message)
  t.match(
    lines.find(line => line.includes(' both, ')),
    /^[^()]* \(data\.json, member \/values\/s\/value\)$/,
    'one parenthesis: the place that differs, not the first'
  )
  t.match(
    lines.find(line => line.includes(' second-element, ')),
    /element 1: .* \(data\.json, member \/values\/s\/value\)$/,
    'of elements, that one'
  )
  t.match(of('source'), { computed: 10, difference: -1 }, 'a reference is compared, whatever the kind')
  t.match(of('source-alone'), { computed: null, reason: /no output states it/, provenance: [] })
  const inputs = (id: string) => of(id)?.provenance.map(p => p.inputs.map(i => i.path))
  t.strictSame(inputs('one'), [['sources/book.xlsx']])
  t.strictSame(inputs('derived'), [['sources/book.xlsx', 'sources/slides.pptx']], 'of operands of operands, and no endless round')
  t.strictSame(inputs('config'), [['configs/gspo.env', 'configs/base.env']])
  t.strictSame(inputs('nothing-stated'), [[], []])
  t.strictSame(inputs('source'), [['traces/index.html', 'more']])
  t.match(of('one')?.provenance, [{ file: 'data.json', pointer: '/values/w/value', sha256: documents.sha256('data.json') }])
  t.match(of('element-missing')?.provenance, [{}, { file: 'gone.json', sha256: null, inputs: [] }])
  t.notOk(auditPasses(report))
  t.end()
})

t.test('the text of a page: white space, typography, numbers and their precision', t => {
  t.equal(
    normalText(' a\u00a0b\u2009\n\tc \u2014 \u201cd\u201d \u2018e\u2019\u2026 5\u202f% co\u00adop e\u0301 \u22121'),
    ' a b c - "d" \'e\'... 5% coop \u00e9 -1'
  )
  const numbers = (text: string) => numbersIn(normalText(text)).map(n => `${n.value}/${n.decimals}${n.percent ? '%' : ''}`)
  t.strictSame(numbers('55.33 %, 55.5%; 48,640 of 1,234,567.5 rollouts (3.80\u00d7), 5e-06 and 2.5e-6, \u22120.1829, 5e3'), [
    '55.33/2%',
    '55.5/1%',
    '48640/0',
    '1234567.5/1',
    '3.8/2',
    '0.000005/6',
    '0.0000025/7',
    '-0.1829/4',
    '5000/-3'
  ])
  t.strictSame(numbers('r7, n7ed9z97, v1.2.3, steps 106\u2013125, a.5, x_3, 12,34, 55.4pp, 1,2345'), ['106/0', '125/0', '55.4/1'])
  const is = (value: number) => ({ fits: (n: { value: number }) => n.value === value })
  const passage = (text: string, ...pieces: Parameters<typeof hasPassage>[1]) => hasPassage(normalText(text), pieces)
  t.ok(passage('The workbook gives\u00a055.33\u202f% and so on', { literal: 'The workbook gives ' }, is(55.33), { literal: ' % and' }))
  t.notOk(passage('The workbook gives 55.34 % and', { literal: 'The workbook gives ' }, is(55.33), { literal: ' %' }))
  t.ok(passage('gives 1 %; gives 2 %', { literal: 'gives ' }, is(2), { literal: '%' }), 'any place will do')
  t.notOk(passage('155.33 %', is(55.33), { literal: ' %' }), 'not a part of a number')
  t.notOk(passage('55.339', is(55.33)))
  t.ok(passage('106\u2013125', is(106), { literal: '-' }, is(125)))
  t.ok(passage('a (b) [c] $d ^e \\f', { literal: '(b) [c] $d ^e \\f' }), 'no character of a text is an operator')
  t.ok(matchesPattern('averag(e|ing)', 'On AVERAGE'))
  t.notOk(matchesPattern('^average', 'on average'))
  t.throws(() => matchesPattern('^(a+)+$', `${'a'.repeat(60)}b`), { message: /^claims pattern too slow: "\^\(a\+\)\+\$" after 2000 ms/ })
  t.end()
})

t.test('discrepancies: disclosed, not denied, not averaged', t => {
  const documents = new Documents(
    new Map([['data.json', JSON.stringify({ w: 55.33, s: 55.5, f: 0.7041, r: 3450, name: 'gspo', list: [1], none: null })]])
  )
  const sources = { workbook: { value: 55.33, decimals: 2, reference: 'data.json#/w' }, slides: 'data.json#/s' }
  const judge = (more: object, ...texts: string[]) => {
    const { discrepancies } = claimsOf({
      discrepancies: [{ id: 'd', sources, decision: 'One.', disclosure: 'the slides give {{data.json#/s}} %', ...more }]
    })
    return auditDiscrepancies(
      discrepancies,
      documents,
      texts.map((text, i) => ({ name: `page${i}`, text })),
      []
    )[0]
  }
  const good = 'We keep 55.33 %; the slides give 55.5 %.'
  t.strictSame(judge({ chosen: 'workbook', forbidden: ['averaged'] }, good, 'notes'), {
    id: 'd',
    section: '',
    chosen: 'workbook',
    decision: 'One.',
    status: 'holds',
    problems: [],
    sources: [
      { label: 'workbook', value: 55.33, stated: 55.33, reference: 'data.json#/w', status: 'agrees', reason: null },
      { label: 'slides', value: 55.5, stated: null, reference: 'data.json#/s', status: 'found', reason: null }
    ],
    disclosure: { text: 'the slides give {{data.json#/s}} %', found_in: ['page0'] },
    forbidden: [{ text: 'averaged', found_in: [] }],
    averages: [{ of: ['workbook', 'slides'], value: 55.415, found_in: [] }]
  })
  t.match(judge({}, 'nothing'), { status: 'fails', problems: ['no page says: the slides give {{data.json#/s}} %'] })
  t.match(judge({}, 'the slides give 55.4 %'), { status: 'fails' }, 'another number')
  t.match(judge({}, 'the slides\u00a0give 56\u202f%'), { status: 'holds' }, 'the same number to fewer decimals')
  t.match(judge({ forbidden: ['are averaged'] }, good, 'both  ARE\naveraged'), {
    status: 'fails',
    forbidden: [{ found_in: ['page1'] }],
    problems: ['page1 has what it must not say: are averaged']
  })
  // 55.415: as 55.415, 55.41, 55.42 and 55.4; 55 could be either source.
  for (const mean of ['55.415', '55.41', '55.42', '55.4'])
    t.match(judge({}, `${good} or ${mean}`), { status: 'fails', averages: [{ found_in: ['page0'] }] }, mean)
  for (const other of ['55', '55.3', '55.43', '55.5', '554.15', 'r55.4', '55.4.1'])
    t.match(judge({}, `${good} or ${other}`), { status: 'holds' }, other)
  t.match(judge({ average_forbidden: false }, `${good} 55.4`), { status: 'holds', averages: [] })
  t.match(
    judge({ sources: { slide: [85, 72], history: [136.0575, 99.2472] } }, `${good} 110.5 and 85.6`).averages,
    [
      { of: ['slide', 'history'], value: 110.52875, found_in: ['page0'] },
      { value: 72 / 2 + 99.2472 / 2, found_in: ['page0'] }
    ],
    'of lists element by element'
  )
  t.match(judge({ sources: { a: 0, b: 10 } }, `${good} 5 steps`), { status: 'holds' }, 'a whole number stands on a page for many reasons')
  t.match(judge({ sources: { a: 'x', b: 1 } }, good), { status: 'holds', averages: [] })
  t.match(judge({ sources: { a: { value: 55.34, decimals: 2, reference: 'data.json#/w' } } }, good), {
    status: 'fails',
    problems: [/^a: computed 55\.33, published 55\.34: off by/]
  })
  t.match(judge({ sources: { a: 'data.json#/none' } }, good), {
    status: 'fails',
    problems: ['a: data.json#/none is null, and its file does not say why']
  })
  t.match(judge({ sources: { a: 55.5, b: 'data.json#/s' } }, good), {
    status: 'fails',
    problems: ['the sources all state 55.5: there is no contradiction to disclose']
  })
  t.match(
    judge({ disclosure: 'a score of {{data.json#/f|percent}}%' }, 'a score of 70.4 %'),
    { status: 'holds' },
    'a fraction as a percentage'
  )
  t.match(judge({ disclosure: 'a score of {{data.json#/f}}' }, 'a score of 70.4'), { status: 'fails' })
  t.match(judge({ disclosure: '{{data.json#/r}} gaps, loss {{data.json#/name}}' }, '3,450 gaps, loss gspo'), { status: 'holds' })
  t.match(judge({ disclosure: '{{data.json#/list}} x' }, '1 x'), {
    status: 'fails',
    problems: ['the disclosure cannot be looked for: data.json#/list is a list']
  })
  t.match(judge({ disclosure: '{{data.json#/gone}} x' }, '1 x'), {
    status: 'fails',
    problems: ['the disclosure cannot be looked for: data.json# has no member "gone"']
  })
  const { discrepancies } = claimsOf({ discrepancies: [{ id: 'd', sources, decision: 'One.', disclosure: 'x' }] })
  t.match(auditDiscrepancies(discrepancies, documents, null, []), [{ status: 'not_checked', problems: [] }])
  t.end()
})

t.test('a sentence that is there with another value is not reported as if somebody had removed it', t => {
  const documents = new Documents(new Map([['d.json', JSON.stringify({ clips: [5, 10] })]]))
  const problems = (page: string, published: number) =>
    audit(
      claimsOf({
        claims: [
          { id: 'clip', value: published, decimals: 0, kind: 'config', definition: 'One.', from: ['d.json#/clips/1', 'd.json#/clips/0'] }
        ],
        guards: [{ id: 'g', reason: 'One.', disclosure: 'A threshold of {{d.json#/clips/1}} still scales.' }]
      }),
      { synthetic: true, documents, pages: [{ name: 'article.md', text: page }] }
    ).guards[0].problems
  const unsaid = 'no page says: A threshold of {{d.json#/clips/1}} still scales.'
  t.strictSame(problems('A threshold of 5 (published 10) still scales.', 10), [
    `${unsaid}; its words are there, with another value: claim clip differs`
  ])
  t.strictSame(problems('A threshold still scales.', 10), [unsaid], 'words that are not there')
  t.strictSame(problems('A threshold of 10 still scales.', 10), [])
  t.end()
})

t.test('one quantity in several sources: every two agree, or a discrepancy names both', t => {
  const documents = new Documents(
    new Map([
      [
        'd.json',
        JSON.stringify({ book: 70.4, slide: 70.44, old: 68.2, fraction: 0.704, name: 'gspo', other: 'sao', list: [1, 2], none: null })
      ]
    ])
  )
  const at = (name: string): string => `d.json#/${name}`
  const judge = (sources: object, more: object = {}, decimals: number | null = 1) => {
    const report = audit(claimsOf({ same: [{ id: 'q', definition: 'One.', decimals, sources }], ...more }), {
      synthetic: true,
      documents,
      pages: null
    })
    return { ...report.same[0], passes: auditPasses(report), faults: auditFaults(report).map(fault => fault.message) }
  }
  // Half a unit of the last decimal: 70.44 is 70.4 to one decimal, and 0.04 from it to two.
  t.match(judge({ book: at('book'), slide: at('slide'), history: { reference: at('fraction'), scale: 100 } }), {
    status: 'agrees',
    passes: true,
    faults: [],
    problems: [],
    sources: [
      { label: 'book', value: 70.4 },
      { label: 'slide', value: 70.44 },
      { label: 'history', reference: at('fraction'), value: 0.704 * 100 }
    ],
    pairs: [
      { of: ['book', 'slide'], status: 'agrees' },
      { of: ['book', 'history'], status: 'agrees' },
      { of: ['slide', 'history'], status: 'agrees' }
    ]
  })
  t.match(judge({ book: at('book'), slide: at('slide') }, {}, 2), {
    status: 'fails',
    passes: false,
    problems: ['book has 70.4, slide has 70.44, and no discrepancy discloses it'],
    faults: ['audit sources contradict: q: book has 70.4, slide has 70.44, and no discrepancy discloses it']
  })
  const ledger = (sources: object): object => ({ discrepancies: [{ id: 'ledger', sources, decision: 'One.', disclosure: 'x' }] })
  const three = { book: at('book'), slide: at('slide'), old: at('old') }
  t.match(
    judge(three, ledger({ a: at('old'), b: at('book') })),
    {
      status: 'fails',
      pairs: [
        { status: 'agrees' },
        { of: ['book', 'old'], status: 'disclosed', discrepancy: 'ledger' },
        { of: ['slide', 'old'], status: 'differs', discrepancy: null }
      ],
      problems: ['slide has 70.44, old has 68.2, and no discrepancy discloses it']
    },
    'each pair on its own'
  )
  t.match(judge(three, ledger({ a: at('old'), b: at('book'), c: at('slide') })), { status: 'disclosed', passes: true })
  const stated = (reference: string): object => ({ value: 70.4, decimals: 1, reference })
  t.match(
    judge({ book: at('book'), old: at('old') }, ledger({ a: stated(at('book')), b: stated(at('old')), c: 1 })),
    {
      status: 'fails',
      pairs: [{ status: 'differs' }]
    },
    'a ledger that gives both one value discloses no contradiction of theirs'
  )
  t.match(judge({ a: at('name'), b: at('other') }, {}, null), {
    status: 'fails',
    problems: ['a has "gspo", b has "sao", and no discrepancy discloses it']
  })
  t.match(judge({ a: at('list'), b: at('list') }, {}, 0), { status: 'agrees' })
  t.match(judge({ a: at('list'), b: at('book') }, {}, 0), { status: 'fails' })
  t.match(judge({ a: at('book'), b: at('gone') }), {
    status: 'fails',
    passes: false,
    pairs: [{ status: 'not_computable' }],
    problems: ['b: d.json# has no member "gone"'],
    sources: [{}, { value: null, reason: 'd.json# has no member "gone"' }]
  })
  t.end()
})

t.test('guards: said and not said; what a page cites without a claim', t => {
  const documents = new Documents(new Map([['d.json', '{"a": 64, "l": [1, 2], "s": 5, "f": 3}']]))
  const stated = claimsOf({
    claims: [{ id: 'a', value: 64, kind: 'computed', definition: 'One.', from: ['d.json#/a', 'd.json#/l'] }],
    discrepancies: [
      { id: 'd', sources: { one: { value: 5, reference: 'd.json#/s' }, found: 'd.json#/f' }, decision: 'One.', disclosure: 'x' }
    ],
    guards: [
      { id: 'said', section: '3', reason: 'So.', disclosure: 'has {{d.json#/a}} tokens' },
      { id: 'unsaid', reason: 'So.', forbidden: ['all of them'] }
    ]
  })
  const cited = ['d.json#/a', 'd.json#/l/1', 'd.json#/s', 'd.json#/f', 'd.json#/absent'].map((reference, i) => ({
    file: 'article.md',
    line: i + 1,
    column: 1,
    reference,
    text: 'x'
  }))
  const judge = (text: string, strict: boolean): AuditReport =>
    audit(stated, { synthetic: true, documents, strict, pages: [{ name: 'page', text: `x ${text}`, cited }] })
  const lax = judge('It has 64 tokens.', false)
  t.match(lax.guards, [
    { id: 'said', section: '3', status: 'holds', disclosure: { found_in: ['page'] } },
    { id: 'unsaid', status: 'holds', disclosure: null }
  ])
  t.same(
    lax.unclaimed?.map(({ reference }) => reference),
    ['d.json#/f', 'd.json#/absent'],
    'a place that is merely found is not checked; an element of a checked list is'
  )
  t.match(judge('ALL of  them have 65 tokens.', false).guards, [
    { status: 'fails', problems: ['no page says: has {{d.json#/a}} tokens'] },
    { status: 'fails', problems: ['page has what it must not say: all of them'] }
  ])
  t.match(audit(stated, { synthetic: true, documents, pages: null }), {
    unclaimed: null,
    guards: [{ status: 'not_checked' }, { status: 'not_checked' }]
  })
  t.match(
    auditFaults({ ...judge('It has 64 tokens.', true), claims: [] }).map(fault => fault.message),
    [
      'audit cited without a claim: d.json#/f as x (article.md, line 4, column 1)',
      'audit cited without a claim: d.json#/absent as x (article.md, line 5, column 1)'
    ]
  )
  const passing = { ...lax, counts: { ...lax.counts, differs: 0, not_computable: 0 } }
  t.ok(auditPasses(passing), 'listed, and no failure')
  t.notOk(auditPasses({ ...passing, strict: true }))
  t.ok(auditPasses({ ...passing, strict: true, unclaimed: [] }))
  t.notOk(auditPasses({ ...passing, guards: judge('nothing', false).guards }))
  t.throws(() => claimsOf({ guards: [{ id: 'g', reason: 'So.' }] }), {
    message: 'claims missing field: guards[0] (g) has neither disclosure nor forbidden, expected what the pages must say, or must not'
  })
  t.end()
})

t.test('audit.json follows its schema, in every form', t => {
  const schema: unknown = JSON.parse(readFileSync(join(root, 'docs/schemas/claims-audit.schema.json'), 'utf8'))
  const documents = new Documents(new Map([['d.json', '{"a": 1, "s": "x", "l": [1, 2]}']]))
  const claim = (id: string, more: object): object => ({ id, value: 1, kind: 'computed', definition: 'One.', ...more })
  const claims = claimsOf({
    claims: [
      claim('a', { from: 'd.json#/a' }),
      claim('b', { value: 2, decimals: 0, from: 'd.json#/a' }),
      claim('c', { from: 'e.json#/a' }),
      claim('d', { kind: 'source' }),
      claim('e', { kind: 'quoted' }),
      claim('f', { value: [1, 'x', true], from: 'd.json#/l' })
    ],
    same: [
      { id: 's', definition: 'One.', sources: { a: 'd.json#/a', b: 'd.json#/a' } },
      { id: 't', definition: 'Two.', decimals: 1, sources: { a: 'd.json#/a', b: { reference: 'd.json#/a', scale: 2 }, c: 'd.json#/gone' } }
    ],
    discrepancies: [
      { id: 'd', sources: { one: 1.5, two: 'd.json#/a', __proto__: 'x' }, decision: 'One.', disclosure: 'x', forbidden: ['y'] }
    ],
    guards: [
      { id: 'g', reason: 'So.', disclosure: 'x', forbidden: ['z'] },
      { id: 'h', reason: 'So.', forbidden: ['y'] }
    ]
  })
  const manifest = { path: 'source_manifest.json', sha256: 'b'.repeat(64), files: 3 }
  const origin = { synthetic: true, manifest, generator: { name: 'critic-traces', version: '1.2.3' } }
  for (const pages of [null, [{ name: 'page', text: 'x y 1.25' }]]) {
    const report = audit(claims, { synthetic: true, documents, pages })
    const text = auditText(report, { path: 'claims.json', sha256: 'a'.repeat(64), bytes: 1 }, origin)
    const document: Record<string, unknown> = JSON.parse(text)
    t.same(schemaProblems(schema, document), [])
    t.strictSame(Object.keys(document), [
      'schema_version',
      'schema',
      'synthetic',
      'inputs_verified',
      'generator',
      'claims_file',
      'counts',
      'claims',
      'same',
      'discrepancies',
      'guards',
      'unclaimed',
      'strict',
      'notes',
      'undefined_reasons'
    ])
    t.strictSame(document['inputs_verified'], { manifest_sha256: manifest.sha256 })
    t.same(document['notes'], [])
    t.not(schemaProblems(schema, { ...document, counts: {} }).length, 0)
    t.not(schemaProblems(schema, { ...document, extra: 1 }).length, 0)
    t.equal(auditText(report, { path: 'claims.json', sha256: 'a'.repeat(64), bytes: 1 }, origin), text)
  }
  t.end()
})

t.test('the command: a table, one line for each difference, exit 1, and nothing read from an earlier output', async t => {
  const dir = join(work, 'study')
  const out = join(work, 'out')
  const claim = (id: string, value: ClaimValue, pointer: string, more: object = {}): object => ({
    id,
    value,
    kind: 'computed',
    definition: 'One.',
    from: `wandb/both.json#${pointer}`,
    ...more
  })
  // Values by hand, from the rows of the folder: the best target score is 0.75 at step 4, five hours after 2026-01-01T00:00:00Z.
  const good = [
    claim('best', 75, '/selections/target/metrics/score/best/value', { scale: 100, decimals: 1 }),
    claim('best.step', 4, '/selections/target/metrics/score/best/step', { decimals: 0 }),
    claim('best.hours', 5, '/selections/target/metrics/score/best/elapsed_hours', { decimals: 2 }),
    claim('last.mean', 0.31, '/selections/target/metrics/reward/last/mean', { decimals: 2 }),
    { id: 'pages', value: 1, kind: 'source', definition: 'Of the original.' }
  ]
  const study = (claims: readonly object[], discrepancies: readonly object[] = []): void => {
    rmSync(dir, { recursive: true, force: true })
    writeHistoryStudy(dir, { study: { ...STUDY, claims: 'claims.json' } })
    writeFileSync(join(dir, 'claims.json'), JSON.stringify({ schema_version: 1, claims, discrepancies }))
    writeManifest(dir)
  }
  const run = (...more: string[]) => runCli(['audit', '--study', dir, '--threads', '1', ...more])
  study(good)
  const fine = await run('--quiet')
  t.match(fine, { code: 0, stdout: '', stderr: '' })
  const table = await run()
  t.match(table, { code: 0 }, table.stderr)
  t.match(
    table.stdout,
    /5 claims: 4 agree, 0 differ, 0 not computable, 1 of the source alone, 0 quoted from other publications, compared with nothing computed/
  )
  t.match(table.stdout, /^best\.hours +5 +5 +agrees$/m)
  t.match(table.stdout, /^claim +published +computed +unit +status$/m)
  const note = 'no discrepancies listed: the prose was not searched for what it must and must not say'
  t.ok(table.stdout.includes(`\nnote: ${note}\n`), 'a file without discrepancies is no fault, and is not passed over in silence')
  t.strictSame(JSON.parse((await run('--json', '--quiet')).stdout).audit.notes, [note])

  study(good, [{ id: 'words', sources: {}, decision: 'One.', disclosure: 'x' }])
  const words = (await run()).stdout
  t.match(words, /^discrepancy +sources +status$/m)
  t.match(words, /^words +no value: it is about the wording +not checked: no page$/m)

  // What lies in the output folder is not read: it would agree.
  mkdirSync(join(out, 'wandb'), { recursive: true })
  writeFileSync(join(out, 'wandb/both.json'), '{"selections": {"target": {"metrics": {"score": {"best": {"step": 5}}}}}}')
  study(
    [
      ...good.filter(c => !('id' in c && c.id === 'best.step')),
      claim('best.step', 5, '/selections/target/metrics/score/best/step', { decimals: 0 }),
      claim('gone', 5, '/nowhere')
    ],
    [
      {
        id: 'd',
        sources: { one: { value: 4, reference: 'wandb/both.json#/selections/target/metrics/score/observations' } },
        decision: 'One.',
        disclosure: 'x'
      }
    ]
  )
  const bad = await run('--quiet', '--out', out)
  t.equal(bad.code, 1)
  t.strictSame(bad.stderr.trimEnd().split('\n'), [
    'critic-traces: audit claim differs: best.step, computed 4, published 5: off by -1, allowed 0.5 (wandb/both.json, member /selections/target/metrics/score/best/step)',
    'critic-traces: audit claim not computable: gone, wandb/both.json# has no member "nowhere" (wandb/both.json, member /nowhere)',
    'critic-traces: audit discrepancy: d: one: computed 2, published 4: off by -2, allowed nothing'
  ])
  const schema: unknown = JSON.parse(readFileSync(join(root, 'docs/schemas/claims-audit.schema.json'), 'utf8'))
  const written: { claims: { provenance: { inputs: { path: string }[] }[] }[] } = JSON.parse(readFileSync(join(out, 'audit.json'), 'utf8'))
  t.same(schemaProblems(schema, written), [])
  t.same(written.claims[0].provenance[0].inputs.map(i => i.path).sort(), [
    'wandb/history/runs/first.jsonl',
    'wandb/history/runs/second.jsonl',
    'wandb/runs.json'
  ])
  const json = await run('--json', '--quiet')
  t.match(JSON.parse(json.stdout), { command: 'audit', exit_code: 1, audit: { counts: { agrees: 3, differs: 1, not_computable: 1 } } })
  t.strictSame(JSON.parse(json.stdout).audit, written)

  writeFileSync(join(dir, 'claims.json'), JSON.stringify({ schema_version: 1, claims: good }))
  t.match(await run('--quiet'), { code: 1, stderr: /manifest file differs: / }, 'claims are verified like every input')
  writeHistoryStudy(join(work, 'none'))
  t.match(await runCli(['audit', '--study', join(work, 'none'), '--quiet']), {
    code: 3,
    stderr: /^critic-traces: study no claims: claims is not stated/
  })
  t.notOk(
    readdirSync(tmpdir()).some(
      name =>
        name.startsWith('critic-traces-audit-') &&
        !name.startsWith('critic-traces-audit-test-') &&
        existsSync(join(tmpdir(), name, 'wandb/both.json'))
    ),
    'no temporary folder stays'
  )
})

t.test('a value names the history that it was computed from, and not that of another label with the same run id', async t => {
  const dir = join(work, 'labels')
  const out = join(work, 'labels-out')
  const [{ displayName, createdAt }] = RUNS.filter(({ id }) => id === 'ref')
  const labels = ['runs', 'again']
  const rewards: readonly (readonly number[])[] = [
    [0.5, 0.75],
    [0.25, 0.125]
  ]
  const study = {
    ...STUDY,
    claims: 'claims.json',
    histories: {
      ...STUDY.histories,
      selections: labels.map(label => ({ name: label, title: label, display_name: displayName, label })),
      analyses: [
        {
          name: 'both',
          selections: labels,
          metrics: ['reward'],
          statistics: { ends: { count: 1, metrics: ['reward'] } },
          outputs: { statistics: 'wandb/both.json' }
        }
      ],
      figures: []
    }
  }
  const list = JSON.stringify(labels.map(label => ({ id: 'ref', displayName, createdAt, label, config: {} })))
  writeHistoryStudy(dir, { study, list, runs: [] })
  labels.forEach((label, i) => {
    mkdirSync(join(dir, 'wandb/history', label), { recursive: true })
    const lines = rewards[i].map((reward, step) => `{"_step": ${step}, "_timestamp": ${1767312000.5 + step}, "reward": ${reward}}\n`)
    writeFileSync(join(dir, 'wandb/history', label, 'ref.jsonl'), lines.join(''))
  })
  const claims = labels.map((label, i) => ({
    id: label,
    value: rewards[i][1],
    kind: 'computed',
    definition: 'The last one.',
    decimals: 3,
    from: `wandb/both.json#/selections/${label}/metrics/reward/last/mean`
  }))
  const whole = { ...claims[0], id: 'whole', value: 1, decimals: 0, from: 'wandb/both.json#/schema_version' }
  writeFileSync(join(dir, 'claims.json'), JSON.stringify({ schema_version: 1, claims: [...claims, whole] }))
  writeManifest(dir)
  const run = await runCli(['audit', '--study', dir, '--threads', '1', '--out', out])
  t.match(run, { code: 0 }, run.stderr)
  const written = JSON.parse(readFileSync(join(out, 'audit.json'), 'utf8')) as AuditReport
  const inputs = new Map(written.claims.map(({ id, provenance }) => [id, provenance[0].inputs.map(({ path }) => path)]))
  t.same(inputs.get('runs'), ['wandb/runs.json', 'wandb/history/runs/ref.jsonl'])
  t.same(inputs.get('again'), ['wandb/runs.json', 'wandb/history/again/ref.jsonl'])
  t.same(
    inputs.get('whole'),
    ['wandb/runs.json', 'wandb/history/runs/ref.jsonl', 'wandb/history/again/ref.jsonl'],
    'of the whole analysis: each of them'
  )
})
