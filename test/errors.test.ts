/** Messages: their grammar, the text of a file that they repeat, the place, and the nearest known name. */
import t from 'tap'
import { describeCause, EXIT, Failures, Fault, isRefusal, nearest, printable, printableId, toFault } from '../src/core/errors.js'

t.test('a message has every part that is known, in one order', async t => {
  const place = { column: 9, line: 8, offset: 7, index: 6, array: 'values', step: 5, uid: 'u', trace: 4, member: 'm', file: 'f' }
  const cases: readonly (readonly [ConstructorParameters<typeof Fault>[0], string])[] = [
    [{ format: 'npz', problem: 'broken' }, 'npz broken'],
    [{ format: 'npz', problem: 'broken', found: '1' }, 'npz broken: 1'],
    [{ format: 'npz', problem: 'broken', expected: '2' }, 'npz broken, expected 2'],
    [{ format: 'npz', problem: 'broken', place: {} }, 'npz broken'],
    [{ format: 'npz', problem: 'broken', found: '1', expected: '2', place: { index: 0 } }, 'npz broken: 1, expected 2 (index 0)'],
    [
      { format: 'npz', problem: 'broken', place },
      'npz broken (f, member m, trace 4, uid u, step 5, values, index 6, byte 7, line 8, column 9)'
    ]
  ]
  for (const [details, message] of cases) t.equal(new Fault(details).message, message)
})

t.test('text of a file is one line of at most so many characters', async t => {
  const long = 'ab '.repeat(40)
  t.equal(long.length, 120)
  t.equal(printable(long), long)
  t.equal(printable(`${long}c`), `${long}… (121 characters)`)
  t.equal(printable('ab cd', 5), 'ab cd')
  t.equal(printable('ab cd', 4), 'ab c… (5 characters)')
  t.equal(printableId('ab cd', 4), 'ab c… (5 characters)')
  t.equal(printable('a\n\t\u001b\u202e\u200b\u2028b'), 'a\\u000a\\u0009\\u001b\\u202e\\u200b\\u2028b')
  t.equal(printable('a\u{1d173}b'), 'a\\u{1d173}b', 'a character without a width beyond U+FFFF')
  t.equal(printable('\u00e4 \u65e5 \u{1f600}'), '\u00e4 \u65e5 \u{1f600}', 'letters and signs of any script stay')
})

t.test('a secret is withheld although it begins before the end of what is shown, and digits alone only where no id is meant', async t => {
  const key = `ghp_${'A1b2C3d4E5'.repeat(3)}`
  t.equal(printable(`token ${key}`, 10), 'token [wit… (40 characters)')
  t.equal(new Fault({ format: 'npz', problem: 'broken', found: key, expected: key }).message, 'npz broken: [withheld], expected [withheld]')
  // 120 characters are shown and 1,024 behind them looked at
  const password = (length: number): string => `password=${'a1'.repeat(600).slice(0, length - 9)}`
  t.equal(printable(password(1144)), 'password=[withheld]')
  t.equal(printable(password(1145)), 'password=[withheld]… (1145 characters)')
  const hex = '0123456789abcdef0123456789abcdef01234567'
  t.equal(printable(hex), '[withheld]')
  t.equal(printableId(hex), hex)
  t.equal(new Fault({ format: 'npz', problem: 'broken', place: { uid: hex } }).message, `npz broken (uid ${hex})`)
})

t.test('the exit code, the place and the cause of a fault', async t => {
  const cause = new Error('why')
  const fault = new Fault({ format: 'npz', problem: 'broken', place: { index: 3 }, exitCode: 1, cause })
  t.equal(fault.exitCode, 1)
  t.equal(new Fault({ format: 'npz', problem: 'broken' }).exitCode, 3)
  // 128 + SIGINT
  t.strictSame(EXIT, { ok: 0, checkFailed: 1, usage: 2, badInput: 3, interrupted: 130 })
  t.strictSame(new Fault({ format: 'npz', problem: 'broken' }).place, {})
  t.equal(fault.cause, cause)
  t.notOk('cause' in new Fault({ format: 'npz', problem: 'broken' }))
  const placed = fault.at({ index: 9, file: 'f' })
  t.strictSame(placed.place, { index: 3, file: 'f' }, 'the innermost reader knows best')
  t.equal(placed.stack, fault.stack)
  t.equal(placed.cause, cause)
})

t.test('a fault passes from thread to thread', async t => {
  const fault = new Fault({ format: 'npz', problem: 'broken', found: '1', place: { index: 3 }, exitCode: 1, cause: new TypeError('why') })
  const data = fault.serialize()
  t.strictSame(data, { format: 'npz', problem: 'broken', found: '1', place: { index: 3 }, exitCode: 1, cause: 'why' })
  const again = Fault.deserialize(data)
  t.equal(again.message, fault.message)
  t.equal(again.exitCode, 1)
  t.match(again.cause, { message: 'why' })
  const plain = new Fault({ format: 'npz', problem: 'broken' }).serialize()
  t.strictSame(plain, { format: 'npz', problem: 'broken' })
  t.notOk('cause' in Fault.deserialize(plain))
})

t.test('anything thrown becomes a fault', async t => {
  const fault = toFault(new Error('a\nb'), 'npz', { file: 'f' })
  t.equal(fault.message, 'npz failed: a\\u000ab (f)')
  t.match(fault.cause, { message: 'a\nb' })
  t.equal(toFault(new Fault({ format: 'zip', problem: 'broken' }), 'npz', { file: 'f' }).message, 'zip broken (f)')
  t.equal(toFault('a word', 'npz').message, 'npz failed: a word')
  t.equal(toFault(new Error('a '.repeat(200)), 'npz').message, `npz failed: ${'a '.repeat(200)}`)
  t.equal(toFault(new Error(`${'a '.repeat(200)}b`), 'npz').message, `npz failed: ${'a '.repeat(200)}… (401 characters)`)
  t.equal(describeCause(5), '5')
  t.equal(describeCause(Object.assign(new Error('x'), { code: 'ENOSPC' })), 'ENOSPC no space left on device')
  const failures = new Failures([fault, new Fault({ format: 'npz', problem: 'broken' })])
  t.equal(failures.message, 'npz failed: a\\u000ab (f)\nnpz broken')
  t.strictSame([failures, fault, new Error('x'), null].map(isRefusal), [true, true, false, false])
})

t.test('the nearest known name has at most a third of the characters wrong', async t => {
  const known = ['values', 'returns', 'step', 'uid']
  // distances by hand: insert, delete, replace and a swap of neighbours are one edit each
  for (const [name, expected] of [
    ['value', 'values'],
    ['valeus', 'values'],
    ['VALUES', 'values'],
    ['vlaeus', 'values'],
    ['vlauesx', 'values'],
    ['vxxxes', null],
    ['avluxs', 'values'],
    ['avlxxs', null],
    ['setp', 'step'],
    ['ste', 'step'],
    ['st', null],
    ['ui', null],
    ['uidd', 'uid'],
    ['xyd', null],
    ['iud', 'uid'],
    ['retrun', 'returns'],
    ['', null]
  ] as const) {
    t.equal(nearest(name, known), expected, name)
  }
  t.equal(nearest('abcd', ['abce', 'abcf']), 'abce', 'the first of two as near')
  t.equal(nearest('abcdef', ['abcxyf', 'abcdxf']), 'abcdxf', 'the nearer one behind')
  t.equal(nearest('abcdefgh', ['bacdefhg']), 'bacdefhg', 'two swaps are two edits')
  t.equal(nearest('x'.repeat(64), ['x'.repeat(63)]), 'x'.repeat(63))
  t.equal(nearest('x'.repeat(65), ['x'.repeat(64)]), null, 'no typing mistake is so long')
})
