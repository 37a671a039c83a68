/** Strict JSON: what is refused that `JSON.parse` takes, and the place that a message names. Values: study.test.ts. */
import t from 'tap'
import { Fault } from '../src/core/errors.js'
import { isExact, parseStrictJson, withWayTo, type JsonRules } from '../src/core/strict-json.js'

function messageOf(text: string, rules: JsonRules = {}): string | null {
  try {
    parseStrictJson(text, 'study', {}, rules)
    return null
  } catch (error) {
    if (error instanceof Fault) return error.message
    throw error
  }
}

t.test('line and column count from 1 in UTF-16 units, the byte from 0 in UTF-8', async t => {
  const closedString = 'a closed string without control characters or unknown escapes'
  for (const [text, problem, found, expected, byte] of [
    ['', 'malformed JSON', 'end of file at line 1 column 1', 'a JSON value', 0],
    ['x', 'malformed JSON', '"x" at line 1 column 1', 'a JSON value', 0],
    ['\ufeffx', 'malformed JSON', '"x" at line 1 column 2', 'a JSON value', 3],
    ['{"\u00e9": 1\n, 5}', 'malformed JSON', '"5" at line 2 column 3', 'a quoted field name', 11],
    ['{"\u{1f600}" 1}', 'malformed JSON', '"1" at line 1 column 7', '":"', 8],
    ['[1 2]', 'malformed JSON', '"2" at line 1 column 4', '"," or "]"', 3],
    ['{"a": 1 2}', 'malformed JSON', '"2" at line 1 column 9', '"," or "}"', 8],
    ['[1,]', 'malformed JSON', '"]" at line 1 column 4', 'a JSON value', 3],
    ['{,}', 'malformed JSON', '"," at line 1 column 2', 'a quoted field name', 1],
    ['1 2', 'malformed JSON', '"2" at line 1 column 3', 'end of file', 2],
    ['[1]\n\n]', 'malformed JSON', '"]" at line 3 column 1', 'end of file', 5],
    ['["a\n"]', 'malformed JSON', '"\\"" at line 1 column 2', closedString, 1],
    ['{"a": 1,\n "b": 2, "a": 3}', 'field stated twice', '"a" at line 2 column 10', 'each field once', 18],
    ['{"a": 1, "\\u0061": 2}', 'field stated twice', '"\\u0061" at line 1 column 10', 'each field once', 9]
  ] as const) {
    t.equal(messageOf(text), `study ${problem}: ${found}, expected ${expected} (byte ${byte})`, JSON.stringify(text))
  }
  t.equal(messageOf('{"a": {"a": [{"a": 1}, {"a": 2}]}}'), null, 'one name in several objects is no name twice')
})

t.test('64 levels and no more', async t => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
  t.equal(messageOf(nested(64)), null)
  t.equal(messageOf(nested(65)), 'study nesting too deep: "[" at line 1 column 65, expected at most 64 levels (byte 64)')
  t.equal(messageOf(`${'{"a":'.repeat(64)}1${'}'.repeat(64)}`), null)
  t.match(messageOf(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`), 'study nesting too deep')
  t.equal(messageOf(`[${'[],'.repeat(100)}[]]`), null, 'lists side by side are not deep')
})

t.test('a number is exact where a double has its digits', async t => {
  // 2^53 = 9007199254740992: the double next to it is 9007199254740994
  for (const number of [
    '0',
    '-0',
    '0.000',
    '0e5',
    '70.4',
    '70.40',
    '-0.1',
    '1e300',
    '9007199254740992',
    '9007199254740994',
    '1e999',
    '0.5e-3'
  ]) {
    t.ok(isExact(number), number)
    t.equal(messageOf(`[${number}]`, { exactNumbers: true }), null, number)
  }
  for (const number of ['9007199254740993', '-9007199254740993', '70.40000000000000000001']) {
    t.notOk(isExact(number), number)
    t.equal(messageOf(`[${number}]`), null, number)
    t.match(
      messageOf(`[${number}]`, { exactNumbers: true }),
      `study inexact number: ${number} at line 1 column 2, expected digits that a double has`
    )
  }
  // 5e-324 is 4.94065645841246544…e-324: one digit is that of the double, two are not
  t.ok(isExact('5e-324'))
  t.notOk(isExact('5.0e-324'))
  // 2^-n has more digits than 100 only for n > 100 or so; a power of two below 10^100 is exact with all its digits
  t.ok(isExact(String(2n ** 332n)), 'a hundred digits')
  t.equal(String(2n ** 332n).length, 100)
  t.notOk(isExact(String(2n ** 333n)), 'a hundred and one')
  t.equal(messageOf('[true, "9007199254740993", null]', { exactNumbers: true }), null)
})

t.test('a file that is missing says how to get one', async t => {
  const fault = (problem: string): Fault => new Fault({ format: 'study', problem, found: 'nothing', expected: 'a file' })
  const said = (error: unknown): unknown => {
    try {
      return withWayTo('one that init writes')(error)
    } catch (thrown) {
      return thrown
    }
  }
  t.match(said(fault('missing file')), { message: 'study missing file: nothing, expected one that init writes' })
  const other = fault('unreadable file')
  t.equal(said(other), other)
  const error = new Error('missing file')
  t.equal(said(error), error)
})
