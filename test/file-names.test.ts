/** Names of output folders, byte for byte, with hashes of `sha256sum`; and the order of names. */
import { realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isDeviceName, snapshotNames, stepFromName } from '../src/core/file-names.js'
import { canonicalRelative, compareCodepoints, errorCode, isAscii, isSafeRelative, resolveInside } from '../src/core/paths.js'
import { csvMetadataPath, documentCopy, isOutputName } from '../src/schema/outputs.js'

const named = (...paths: readonly string[]): string[] =>
  snapshotNames(paths.map(real => ({ real, segments: real.split('/').filter(segment => segment !== '') })))

t.test('a long name is cut at 120 bytes, never within a character, and ends in a hash', async t => {
  // printf 'a%.0s' {1..121} | sha256sum, and the same of 61 é
  t.strictSame(named(`/${'a'.repeat(120)}`), ['a'.repeat(120)])
  t.strictSame(named(`/${'a'.repeat(121)}`), [`${'a'.repeat(111)}-e9615320`])
  t.strictSame(named(`/${'\u00e9'.repeat(60)}`), ['\u00e9'.repeat(60)])
  t.strictSame(named(`/${'\u00e9'.repeat(61)}`), [`${'\u00e9'.repeat(55)}-cfe5b986`])
})

t.test('parents tell two names apart, and a hash of the path where they cannot', async t => {
  // printf '/r/a b' | sha256sum; printf '/r/a?b' | sha256sum
  const [space, mark] = ['20870f7f1246', '59f6427b727a']
  t.strictSame(named('/r/a b', '/r/a?b'), [`a-b-${space.slice(0, 8)}`, `a-b-${mark.slice(0, 8)}`])
  t.strictSame(named('/r/a b', '/r/a?b', '/s/c'), [`a-b-${space.slice(0, 8)}`, `a-b-${mark.slice(0, 8)}`, 'c'])
  const taken = `/r/a-b-${space.slice(0, 8)}`
  t.strictSame(
    named('/r/a b', '/r/a?b', taken),
    [`a-b-${space.slice(0, 9)}`, `a-b-${mark.slice(0, 8)}`, taken.slice(3)],
    'one digit more where a folder bears the name already'
  )
  t.strictSame(named('/p/x/ct', '/q/x/ct', '/q/y/ct', '/z'), ['p--x--ct', 'q--x--ct', 'y--ct', 'z'], 'only as many parents as are needed')
  t.strictSame(named('/ct', '/a/ct', '/b/a/ct'), ['ct', 'a--ct', 'b--a--ct'])
  t.strictSame(named('/a/.-b.-', '/a/---'), ['b', 'snapshot'])
  t.strictSame(named('/x/a/b', '/y/?/b'), ['a--b', 'b'], 'a parent without a letter or digit adds nothing')
})

t.test('devices of Windows, and steps', async t => {
  for (const name of ['con', 'PRN', 'aux.txt', 'nul', 'com0', 'LPT9.x']) t.ok(isDeviceName(name), name)
  for (const name of ['cons', 'com', 'com10', 'xcon', 'con-x', '']) t.notOk(isDeviceName(name), name)
  t.strictSame(['step_1', 'step', 'x/step7/y', 'Step12'].map(stepFromName), [1, null, null, 12])
})

t.test('order by code point at the bounds of the surrogates', async t => {
  const sorted = ['\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{103fe}', '\u{103ff}', '\u{10400}', '\u{10ffff}']
  for (const [i, a] of sorted.entries()) {
    for (const [j, b] of sorted.entries()) t.equal(Math.sign(compareCodepoints(a, b)), Math.sign(i - j), `${i} and ${j}`)
  }
  t.equal(compareCodepoints('ab', 'a'), 1)
  t.equal(compareCodepoints('', ''), 0)
})

t.test('the text of a relative path', async t => {
  for (const path of ['a', '.', './a//b', '..a', 'a..', 'a/..b', 'ab:c', '1:a', 'x'.repeat(4096)])
    t.ok(isSafeRelative(path), path.slice(0, 9))
  for (const path of ['', '..', 'a/..', '../a', '/a', 'a\\b', 'c:', 'C:a', 'a\0', '\ud800', 'x'.repeat(4097)]) {
    t.notOk(isSafeRelative(path), JSON.stringify(path.slice(0, 9)))
  }
  t.strictSame(['a/./b/', '//a', '.', './/.', 'a..'].map(canonicalRelative), ['a/b', 'a', '.', '.', 'a..'])
  t.strictSame(['', 'a\0\x7f', '\x80', 'a\u00e9'].map(isAscii), [true, true, false, false])
})

t.test('where a safe path leads', { skip: process.platform === 'win32' ? 'needs links' : false }, async t => {
  const root = realpathSync(t.testdir({ out: {}, in: { a: { b: '' } } }))
  const dir = join(root, 'in')
  symlinkSync('a', join(dir, 'l'))
  symlinkSync('../out', join(dir, 'away'))
  symlinkSync('gone', join(dir, 'dangling'))
  symlinkSync('ring', join(dir, 'ring'))
  for (const [path, resolved] of [
    ['a/b', { kind: 'inside', real: join(dir, 'a/b') }],
    ['l/b', { kind: 'inside', real: join(dir, 'a/b') }],
    ['.', { kind: 'inside', real: dir }],
    ['away', { kind: 'outside', real: join(root, 'out') }],
    ['nowhere', { kind: 'missing' }],
    ['dangling', { kind: 'missing' }],
    ['a/b/c', { kind: 'missing' }], // b is a file: ENOTDIR
    ['x'.repeat(300), { kind: 'missing' }], // ENAMETOOLONG
    ['ring', { kind: 'unreadable', code: 'ELOOP' }]
  ] as const) {
    t.strictSame(resolveInside(dir, path), resolved, path.slice(0, 9))
  }
})

t.test('a file that a run can have written is known by its name', async t => {
  const names = [
    'data.json',
    'article.md',
    'timings.json',
    'preview/article.html',
    'wandb/points.arrow',
    'training_data/critic-traces.arrow',
    'training_data/critic-trace-arrays.npz',
    'wandb/lineage.csv-metadata.json',
    'figures/08-critic-traces.png',
    'figures/a_B-1.svg',
    'x.json',
    'wandb/x.csv',
    'training_data/x.1.csv-metadata.json',
    'materials/README.md'
  ]
  for (const name of names) t.ok(isOutputName(name), name)
  const others = [
    'notes.md',
    'preview/other.html',
    'wandb/x.arrow',
    'other/x.json',
    'wandb/other/x.json',
    'figures/a.gif',
    'figures/a.b.png',
    'figures/a/b.png',
    '.x.json',
    `${'x'.repeat(96)}.json`,
    'materials/.hidden',
    'materials/a/b',
    'materials/',
    'xmaterials/a'
  ]
  for (const name of others) t.notOk(isOutputName(name), name)
  t.ok(isOutputName(`${'x'.repeat(95)}.json`))
  t.equal(documentCopy('a/b/README.md'), 'materials/README.md')
  t.equal(documentCopy('README.md'), 'materials/README.md')
  t.equal(csvMetadataPath('wandb/x.csv'), 'wandb/x.csv-metadata.json')
})

t.test('the code of an error', async t => {
  t.equal(errorCode(Object.assign(new Error('x'), { code: 'ENOENT' })), 'ENOENT')
  t.equal(errorCode(Object.assign(new Error('x'), { code: 'ERR_OF_A_LIBRARY' })), 'ERR_OF_A_LIBRARY')
  t.equal(errorCode(Object.assign(new Error('x'), { code: 5 })), 'x')
  t.equal(errorCode(new Error('x')), 'x')
  t.equal(errorCode('x'), 'x')
})
