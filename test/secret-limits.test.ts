/** The bounds of the filter for secrets: how much of a name, of a value and of a document is looked at, and what looks random. */
import t from 'tap'
import { Fault } from '../src/core/errors.js'
import { refuseSecrets } from '../src/core/secret-guard.js'
import { isMixed, isRandom } from '../src/core/secrets/random.js'
import { isIdentityName, isSecretName, isSecretText, isSecretValue, withoutSecrets } from '../src/core/secrets.js'

const KEY = `ghp_${'A1b2C3d4E5'.repeat(3)}`

t.test('a thousand characters of a name are looked at', async t => {
  t.ok(isSecretName(`${'x'.repeat(994)}_token`))
  t.notOk(isSecretName(`${'x'.repeat(995)}_token`))
  t.ok(isSecretName(`token_${'x_'.repeat(600)}`))
  t.ok(isIdentityName(`${'x'.repeat(996)}_uid`))
  t.notOk(isIdentityName(`${'x'.repeat(997)}_uid`))
  t.ok(isIdentityName(`uid_${'x_'.repeat(600)}`))
  t.notOk(isIdentityName('secret_id'), 'a name that means a secret names no id')
})

t.test('256 characters of a value are judged', async t => {
  // behind @@ it would be no token; the value has letters and digits alone up to there
  const assigned = (length: number): string => `token=${'a1'.repeat(200).slice(0, length)}@@ x`
  t.notOk(isSecretText(assigned(255)))
  t.ok(isSecretText(assigned(256)))
})

t.test('a secret has four characters or more, and so has the shortest assignment', async t => {
  t.ok(isSecretText('password=abcd'))
  t.notOk(isSecretText('password=abc'))
  t.ok(isSecretValue('password=abc'), 'in a setting any text under such a name is one')
  t.ok(isSecretValue('pw=a'))
  t.notOk(isSecretValue('pw='))
})

t.test('an assigned token is long and mixed', async t => {
  for (const [value, secret] of [
    ['abcdefg1', true],
    ['abcdef1', false],
    ['12345678', false],
    ['abcdefgh', false],
    ['abcdefghijklmnopqrsT', true],
    ['Abcdefghijklmnopqrst', true],
    ['abcdefghijklmnopqrS', false],
    ['abcdefghijklmnopqrst', false],
    ['ABCDEFGHIJKLMNOPQRST', false]
  ] as const) {
    t.equal(isSecretText(`token=${value}`), secret, value)
  }
})

t.test('a text looks random by its turns between small letters, capitals and digits', async t => {
  for (const [text, random] of [
    ['aB3dE5gH', true],
    ['aB3dE5g', false], // seven characters are too few
    ['abcd1efg', false], // two turns
    ['abcd1efg2', true], // three turns of nine characters
    ['abcdefghi1abcdefgh12', true], // three turns of twenty characters: 0.15 of them
    ['abcdefghij1abcdefgh12', false], // three of twenty-one
    ['abcd1efg-abcd1efg', true], // four turns of two pieces together
    ['abcd1ef-abcd1ef', false], // no piece of eight
    ['Abcdefgh', false],
    ['', false],
    [`${'-'.repeat(1016)}aB3dE5gH`, true],
    [`${'-'.repeat(1017)}aB3dE5gH`, false] // the last character is the 1,025th
  ] as const) {
    t.equal(isRandom(text), random, text.slice(-30))
  }
  for (const [text, mixed] of [
    ['ab1cd', true],
    ['a1cd', false],
    ['12345', false],
    ['abcde', false],
    ['a!', true],
    ['1!', false],
    ['abcd-12345', false],
    ['aB3dE5gH', true]
  ] as const) {
    t.equal(isMixed(text), mixed, text)
  }
})

t.test('two layers of base64 are read, and percent signs', async t => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const once = base64(`see ${KEY} there`)
  t.ok(isSecretText(once))
  t.ok(isSecretText(base64(once)))
  t.notOk(isSecretText(base64(base64(once))), 'not three')
  t.equal(withoutSecrets(`a ${once} b`), 'a [withheld] b')
  t.ok(isSecretText(base64('bob:p4ssword')), 'a user and a password')
  t.notOk(isSecretText(base64('bob:password')), 'and no word')
  t.notOk(isSecretText(base64('task:p4ssword'), 'uid'), 'a kind and a name in a field of ids')
  t.ok(isSecretText(base64('root:p4ssword'), 'uid'), 'but for a user of many systems')
  t.equal(withoutSecrets('a %67%68%70_A1b2C3d4E5A1b2C3d4E5A1b2C3d4E5 b'), 'a [withheld] b')
  t.notOk(isSecretText('100%67 of 50% %zz'))
})

t.test('a message loses every secret and nothing else', async t => {
  t.equal(withoutSecrets(`a ${KEY} b ${KEY} c`), 'a [withheld] b [withheld] c')
  t.equal(withoutSecrets(KEY), '[withheld]')
  t.equal(withoutSecrets(`${KEY},`), '[withheld],')
  t.equal(withoutSecrets(`password=${KEY} x`), 'password=[withheld] x', 'found twice, withheld once')
  t.equal(withoutSecrets('a plain text'), 'a plain text')
  t.equal(withoutSecrets(''), '')
})

t.test('a document of any length is searched, and its line is said', async t => {
  const faultIn = (text: string, file?: string): unknown => {
    try {
      return refuseSecrets(text, 'template', file === undefined ? {} : { file })
    } catch (error) {
      if (error instanceof Fault) return error.message
      throw error
    }
  }
  const refused = (what: string, place: string): string =>
    `template secret refused: ${what} holds what looks like a secret, expected a text without one (${place})`
  t.equal(faultIn('a\nb\n'), undefined)
  t.equal(faultIn(''), undefined)
  t.equal(faultIn(KEY), refused('the text', 'line 1'))
  t.equal(faultIn(`a\nb\n${KEY}\nc`, 'f'), refused('the file', 'f, line 3'))
  // 8,192 lines of eight characters are 64 KiB: the second piece begins with line 8,193.
  const lines = (count: number): string => 'a b c d\n'.repeat(count)
  t.equal(faultIn(`${lines(8192)}${KEY}`), refused('the text', 'line 8193'))
  t.equal(faultIn(`${lines(8200)}${KEY}\n${lines(20_000)}`), refused('the text', 'line 8201'))
  t.equal(faultIn(`${lines(30_000)}${KEY}`), refused('the text', 'line 30001'))
  for (let before = 0; before <= KEY.length; before++) {
    t.equal(
      faultIn(`${lines(8186)}${'\n'.repeat(48 - before)}${KEY}`),
      refused('the text', `line ${8187 + 48 - before}`),
      `${before} before the bound`
    )
  }
  const block = `-----BEGIN PRIVATE KEY-----\n${'A1b2C3d4E5F6\n'.repeat(300)}-----END PRIVATE KEY-----`
  t.equal(faultIn(`a\n${block}`), refused('the text', 'line 2'))
})
