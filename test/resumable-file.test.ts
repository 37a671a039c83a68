/** What a killed writer leaves: the bytes that its journal vouches for are gone on from, and nothing else. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { OutputSet } from '../src/render/outputs/output-set.js'
import { ResumableFile } from '../src/fetch/resumable-file.js'
import { tempName } from '../src/render/outputs/temp-names.js'
import { sha256 } from './support/folders.js'

const base = t.testdir()
let folders = 0

const always = (_state: unknown): boolean => true

/** A place whose partial file and journal are as given. */
function left(partial: string, journal: unknown): { readonly path: string; readonly folder: string } {
  const folder = join(base, `left-${++folders}`)
  mkdirSync(folder)
  writeFileSync(join(folder, '.rows.partial'), partial)
  writeFileSync(join(folder, '.rows.partial.json'), typeof journal === 'string' ? journal : JSON.stringify(journal))
  return { path: join(folder, 'rows'), folder }
}

/** Opens, adds `text`, ends; what is at the file's name then, and the state that was found. */
async function goOn(path: string, text: string, usable = always): Promise<{ readonly content: string; readonly state: unknown }> {
  const file = await ResumableFile.open(path, usable)
  await file.append(Buffer.from(text), 'after')
  const { bytes, sha256: hash } = await file.finish()
  const content = readFileSync(path, 'utf8')
  if (bytes !== content.length || hash !== sha256(Buffer.from(content)))
    throw new Error('finish() tells another length or hash than the file has')
  return { content, state: file.state }
}

const journalOf = (text: string, more: object = {}): object => ({
  bytes: text.length,
  sha256: sha256(Buffer.from(text)),
  state: 'known',
  ...more
})

t.test('what the journal vouches for stays, the rest of a write that did not end is cut off', async t => {
  const { path, folder } = left('one,two,and a long piece of something', journalOf('one,two,'))
  t.strictSame(await goOn(path, 'three'), { content: 'one,two,three', state: 'known' })
  t.strictSame(readdirSync(folder), ['rows'], 'nothing is left beside it')
})

t.test('a kill while the journal was replaced: its old content does not come back beside the whole file', async t => {
  const dead = spawnSync('true').pid
  const { path, folder } = left('one,two,', journalOf('one,two,'))
  for (const ends of ['finished', 'discarded'] as const) {
    writeFileSync(join(folder, tempName('.rows.partial.json', 'bak').replace(`.ct${process.pid}-`, `.ct${dead}-`)), 'old')
    if (ends === 'discarded') await ResumableFile.discard(path)
    else await (await ResumableFile.open(path, always)).finish()
    await OutputSet.writeAlone(folder, 'rows.certificate.json', '{}')
    t.strictSame(readdirSync(folder).sort(), ['rows', 'rows.certificate.json'], ends)
  }
})

t.test('closed and opened again', async t => {
  const path = join(base, 'deep/er/rows')
  for (const [at, part] of ['a', 'b', 'c'].entries()) {
    const file = await ResumableFile.open(path, always)
    t.equal(file.state, at === 0 ? null : at - 1)
    await file.append(Buffer.from(part), at)
    await file.close()
    t.notOk(existsSync(path), 'nothing at its own name before the end')
  }
  t.strictSame(await goOn(path, 'd'), { content: 'abcd', state: 2 })
})

t.test('what no journal vouches for is dropped', async t => {
  const usable = (state: unknown): boolean => state === 'known'
  const cases: ReadonlyArray<readonly [name: string, partial: string, journal: unknown]> = [
    ['a changed byte', 'onE,', journalOf('one,')],
    ['a shorter file', 'one', journalOf('one,')],
    ['a state of another writer', 'one,', journalOf('one,', { state: 'unknown' })],
    ['a negative count', 'one,', journalOf('one,', { bytes: -4 })],
    ['a count that is no whole number', 'one,', journalOf('one,', { bytes: 3.5 })],
    ['a count as text', 'one,', journalOf('one,', { bytes: '4' })],
    ['no hash', 'one,', journalOf('one,', { sha256: undefined })],
    ['half a journal', 'one,', '{"bytes": 4, "sha'],
    ['null', 'one,', 'null']
  ]
  for (const [name, partial, journal] of cases) {
    t.strictSame(await goOn(left(partial, journal).path, 'new', usable), { content: 'new', state: null }, name)
  }
})

t.test('a journal behind a link is none; a partial file behind a link is not written', async t => {
  const outside = join(base, 'outside.json')
  writeFileSync(outside, JSON.stringify(journalOf('one,')))
  const folder = join(base, 'linked')
  mkdirSync(folder)
  writeFileSync(join(folder, '.rows.partial'), 'one,')
  symlinkSync(outside, join(folder, '.rows.partial.json'))
  t.strictSame(await goOn(join(folder, 'rows'), 'new'), { content: 'new', state: null })
  symlinkSync(outside, join(folder, '.other.partial'))
  const refused = await ResumableFile.open(join(folder, 'other'), always).catch((error: unknown) => error)
  t.match(refused, { exitCode: 3, place: { file: join(folder, 'other') } })
  t.equal(readFileSync(outside, 'utf8'), JSON.stringify(journalOf('one,')))
})

t.test('discarded: nothing is left', async t => {
  const { path, folder } = left('one,', journalOf('one,'))
  await ResumableFile.discard(path)
  t.strictSame(readdirSync(folder), [])
  await ResumableFile.discard(path)
})
