/**
 * Mutations of written evidence: cells, slides, configurations, dataset rows, and the study's section on them.
 *
 * A named value is covered when a claim or a source of a discrepancy states it, or when a covered derived value is made of it.
 * One digit of what the file writes is changed, by at least a unit of the published decimals; by a twentieth of the value
 * where it is published through a derived value alone.
 */
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import { DATASETS, writeParquet, type TaskRow } from '../../../src/replica/evidence/datasets.js'
import type { Random as ReplicaRandom } from '../../../src/replica/random.js'
import type { Documents } from '../../../src/compute/documents.js'
import type { Claims } from '../../../src/schema/claims.js'
import type { Random } from '../random.js'
import { changeCharacter, changeDigit, sample, withValue, type MutableFolder, type Mutation } from './mutation.js'

export interface EvidenceSubject {
  readonly folder: MutableFolder
  readonly claims: Claims
  readonly documents: Documents
  /** the replica's own chance, which made the rows of its datasets */
  readonly rows: () => ReplicaRandom
}

/** A value of data.json with its place. */
interface Found {
  readonly name: string
  readonly source: 'workbook' | 'slides' | 'config' | 'document' | 'quoted'
  readonly value: unknown
  readonly file: string
  readonly raw: string
  readonly cell?: string
  readonly slide?: number
  readonly line?: number
  /** least change of what is written that must be noticed; null: nothing published depends on it */
  readonly least: number | null
}

interface Entry extends Omit<Found, 'name' | 'least'> {
  readonly operands?: readonly { readonly reference: string }[]
}

function entries(documents: Documents, file: string): ReadonlyMap<string, Entry> {
  const found = documents.resolve(`${file}#/values`)
  if ('reason' in found) throw new Error(found.reason)
  return new Map(Object.entries(found.value as Record<string, Entry>))
}

const DATA = /^data\.json#\/values\/([^/]+)\/value$/
const DERIVED = /^derived_metrics\.json#\/values\/([^/]+)\/value$/

function foundValues({ claims, documents }: EvidenceSubject): Found[] {
  const direct = new Map<string, number>()
  const through = new Set<string>()
  const derived = entries(documents, 'derived_metrics.json')
  const follow = (reference: string): void => {
    const name = DATA.exec(reference)?.[1]
    if (name !== undefined) through.add(name)
    for (const operand of derived.get(DERIVED.exec(reference)?.[1] ?? '')?.operands ?? []) follow(operand.reference)
  }
  const cover = (reference: string, decimals: number | null): void => {
    const name = DATA.exec(reference)?.[1]
    if (name !== undefined) direct.set(name, Math.min(direct.get(name) ?? Infinity, decimals === null ? 0 : 1.01 * 10 ** -decimals))
    follow(reference)
  }
  for (const claim of claims.claims) for (const reference of [...claim.from, ...claim.elements]) cover(reference, claim.decimals)
  for (const { sources } of claims.discrepancies) {
    for (const { reference, value, decimals } of sources) if (reference !== null && value !== null) cover(reference, decimals)
  }
  for (const { sources, decimals } of claims.same) {
    for (const { reference, scale } of sources) cover(reference, decimals === null ? null : decimals + Math.log10(Math.abs(scale)))
  }
  return [...entries(documents, 'data.json')].map(([name, entry]) => ({
    ...entry,
    name,
    least: direct.get(name) ?? (through.has(name) ? Math.abs(Number(entry.value)) / 20 : null)
  }))
}

/** What a file writes, changed: a digit of the number that `value` was made of, a letter of a text, the other truth value. */
function changedRaw({ raw, value, least }: Found, random: Random): string | null {
  if (typeof value === 'boolean') return raw === 'true' ? 'false' : raw === 'false' ? 'true' : null
  if (typeof value === 'string') return changeCharacter(raw, random)
  for (const match of raw.matchAll(/\d[\d,]*(?:\.\d+)?(?:e-?\d+)?/g)) {
    const plain = match[0].replaceAll(',', '')
    // A fraction of the workbook stands for a percentage.
    const factor = Number(value) === Number(plain) ? 1 : Number(value) / Number(plain)
    if (Math.abs(factor - 1) > 1e-12 && Math.abs(factor - 100) > 1e-9) continue
    const changed = changeDigit(plain, random, Math.max((least ?? 0) / factor, Number.MIN_VALUE))
    if (changed !== null) return raw.slice(0, match.index) + changed + raw.slice(match.index + match[0].length)
  }
  return null
}

export class Package {
  readonly #files: Record<string, Uint8Array>

  constructor(bytes: Uint8Array) {
    this.#files = unzipSync(bytes)
  }

  text(path: string): string {
    return strFromU8(this.#files[path])
  }

  paths(pattern: RegExp): string[] {
    return Object.keys(this.#files).filter(path => pattern.test(path))
  }

  with(path: string, text: string): Uint8Array {
    return zipSync({ ...this.#files, [path]: strToU8(text) }, { level: 1, mtime: new Date(2026, 0, 1) })
  }
}

const xml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

function replacedOnce(text: string, old: string, changed: string): string | null {
  const at = text.indexOf(old)
  return at < 0 ? null : text.slice(0, at) + changed + text.slice(at + old.length)
}

/** The shared string that reads as `raw`, with the number that differs changed in the run where it stands. */
function withSharedText(strings: string, raw: string, changed: string): string | null {
  const item = [...strings.matchAll(/<si>.*?<\/si>/gs)]
    .map(m => m[0])
    .find(si => [...si.replace(/<rPh.*?<\/rPh>/gs, '').matchAll(/<t[^>]*>([^<]*)<\/t>/g)].map(m => m[1]).join('') === xml(raw))
  let start = 0
  while (raw[start] === changed[start]) start++
  while (/[\d,]/.test(raw[start - 1] ?? '')) start--
  const number = /^[\d,]+/.exec(raw.slice(start))?.[0]
  const into = /^[\d,]+/.exec(changed.slice(start))?.[0]
  if (item === undefined || number === undefined || into === undefined) return null
  // With what follows: `200k` and `200 turns` are two numbers.
  const unit = raw.slice(start + number.length, start + number.length + 2)
  const mutated = replacedOnce(item, number + unit, into + unit)
  return mutated === null ? null : strings.replace(item, () => mutated)
}

/** Cells with a number of their own, and those whose text is shared. */
function* cells(subject: EvidenceSubject, values: readonly Found[], random: Random): Generator<Mutation> {
  for (const found of values) {
    const { name, file, raw, cell, least } = found
    const book = new Package(subject.folder.bytes(file))
    const kind = 'workbook cell'
    const covered = least !== null
    const number = new RegExp(`(<c r="${cell}"[^>]*>(?:<f[^>]*>[^<]*</f>)?<v>)${raw.replace('.', '\\.')}(</v>)`)
    const sheet = book.paths(/worksheets\/sheet/).find(path => number.test(book.text(path)))
    for (let n = 0; n < 2; n++) {
      const changed = changedRaw(found, random)
      if (changed === null) throw new Error(`no digit of ${name} can change`)
      if (sheet !== undefined) {
        const text = book.text(sheet).replace(number, `$1${changed}$2`)
        yield { kind, covered, what: `${name}: ${raw} -> ${changed}`, files: new Map([[file, book.with(sheet, text)]]) }
      } else {
        const strings = withSharedText(book.text('xl/sharedStrings.xml'), raw, changed)
        if (strings === null) throw new Error(`${name} is written nowhere`)
        yield { kind, covered, what: `${name}: ${raw} -> ${changed}`, files: new Map([[file, book.with('xl/sharedStrings.xml', strings)]]) }
      }
    }
    if (sheet === undefined) continue
    const empty = book.text(sheet).replace(number, '$1$2')
    yield { kind, covered, what: `${name}: emptied`, files: new Map([[file, book.with(sheet, empty)]]) }
  }
}

/** The part of the physical slide, 1-based. */
export function slidePart(pack: Package, slide: number): string {
  const ids = [...pack.text('ppt/presentation.xml').matchAll(/<p:sldId [^>]*r:id="([^"]+)"/g)].map(m => m[1])
  const target = new RegExp(`Id="${ids[slide - 1]}"[^>]*Target="([^"]+)"`).exec(pack.text('ppt/_rels/presentation.xml.rels'))?.[1]
  return `ppt/${target}`
}

/** The paragraph that reads as `raw`, with another text: all of it in the first run. */
export function withParagraph(slide: string, raw: string, changed: string): string | null {
  const runs = /<a:t>([^<]*)<\/a:t>/g
  const paragraph = [...slide.matchAll(/<a:p>.*?<\/a:p>/gs)]
    .map(m => m[0])
    .find(p => [...p.matchAll(runs)].map(m => m[1]).join('') === xml(raw))
  if (paragraph === undefined) return null
  let first = true
  const mutated = paragraph.replace(runs, () => {
    const text = first ? xml(changed) : ''
    first = false
    return `<a:t>${text}</a:t>`
  })
  return slide.replace(paragraph, () => mutated)
}

function* slides(subject: EvidenceSubject, values: readonly Found[], random: Random): Generator<Mutation> {
  for (const found of values) {
    const { name, file, raw, slide, least } = found
    const pack = new Package(subject.folder.bytes(file))
    const part = slidePart(pack, Number(slide))
    for (let n = 0; n < 2; n++) {
      const changed = changedRaw(found, random)
      const text = changed === null ? null : withParagraph(pack.text(part), raw, changed)
      if (changed === null || text === null) throw new Error(`${name} is not written as ${raw}`)
      yield {
        kind: 'slide',
        covered: least !== null,
        what: `${name}: ${raw} -> ${changed}`,
        files: new Map([[file, pack.with(part, text)]])
      }
    }
  }
}

function* configs(subject: EvidenceSubject, values: readonly Found[], random: Random): Generator<Mutation> {
  const kind = 'configuration'
  for (const found of values) {
    const { name, file, raw, line, least } = found
    const lines = subject.folder.text(file).split('\n')
    const at = Number(line) - 1
    const edit = (what: string, changed: string): Mutation => ({
      kind,
      covered: least !== null,
      what: `${name}, ${file}: ${what}`,
      files: new Map([[file, lines.map((l, i) => (i === at ? changed : l)).join('\n')]])
    })
    const changed = changedRaw(found, random)
    const cut = lines[at].lastIndexOf(raw)
    if (changed !== null && cut >= 0)
      yield edit(`${raw} -> ${changed}`, lines[at].slice(0, cut) + changed + lines[at].slice(cut + raw.length))
    if (file.endsWith('.env')) yield edit('line removed', '#')
  }
  for (const file of new Set(values.map(v => v.file))) {
    const text = subject.folder.text(file)
    yield {
      kind,
      covered: false,
      what: `${file}: a comment more`,
      files: new Map([[file, file.endsWith('.env') ? `${text}# x\n` : `${text} `]])
    }
    const parent = text.replace(/(?<=base\/|\/)(\w)(?=\w+\.(?:env|json)")/, 'x')
    if (parent !== text) yield { kind, covered: true, what: `${file}: another parent`, files: new Map([[file, parent]]) }
  }
}

/** A number or a name of a document, its line moved, gone or there twice; and a line that nothing is quoted from. */
function* documents(subject: EvidenceSubject, values: readonly Found[], random: Random): Generator<Mutation> {
  const kind = 'document'
  for (const found of values) {
    const { name, file, raw, line, least } = found
    const lines = subject.folder.text(file).split('\n')
    const at = Number(line) - 1
    const edit = (what: string, changed: readonly string[], covered = least !== null): Mutation => ({
      kind,
      covered,
      what: `${name}, ${file}: ${what}`,
      files: new Map([[file, changed.join('\n')]])
    })
    const value = String(found.value)
    const changed =
      typeof found.value === 'string'
        ? raw.replace(value, /\d/.test(value) ? changedDigits(value) : changeCharacter(value, random))
        : changedRaw(found, random)
    if (changed === null) throw new Error(`no digit of ${name} can change`)
    yield edit(`${raw} -> ${changed}`, lines.with(at, changed))
    yield edit('a line before it', [...lines.slice(0, at), '', ...lines.slice(at)])
    yield edit('its line twice', [...lines, raw])
    yield edit('its line gone', lines.with(at, ''))
  }
  for (const file of new Set(values.map(v => v.file))) {
    yield { kind, covered: false, what: `${file}: a line more`, files: new Map([[file, `${subject.folder.text(file)}# x\n`]]) }
  }
}

function changedDigits(text: string): string {
  return text.replace(/\d/, digit => String((Number(digit) + 1) % 10))
}

function* datasets({ rows: seeded }: EvidenceSubject, random: Random): Generator<Mutation> {
  for (const [name, dataset] of Object.entries(DATASETS)) {
    const rows = dataset.rows(seeded().fork(name))
    const file = (kind: string, what: string, covered: boolean, changed: readonly TaskRow[]): Mutation => ({
      kind,
      covered,
      what: `${name}: ${what}`,
      files: new Map([[dataset.path, writeParquet(changed, dataset)]])
    })
    const edit = (what: string, covered: boolean, change: (row: TaskRow) => TaskRow): Mutation => {
      const at = random.below(rows.length)
      return file(
        'dataset row',
        `row ${at} ${what}`,
        covered,
        rows.map((row, i) => (i === at ? change(row) : row))
      )
    }
    for (let n = 0; n < 2; n++) {
      const at = random.below(rows.length)
      yield file(
        'dataset row',
        `row ${at} removed`,
        true,
        rows.filter((_, i) => i !== at)
      )
      yield file('dataset row', `row ${at} twice`, true, [...rows.slice(0, at), rows[at], ...rows.slice(at)])
    }
    const moved = (row: TaskRow, to: string): TaskRow => ({
      ...row,
      extra_info: { ...row.extra_info, task_path: row.extra_info.task_path.replace(/swegen|openswe|swe-bench-multilingual/, to) }
    })
    const other = (row: TaskRow): string => (row.extra_info.task_path.includes('swegen') ? 'openswe' : 'swegen')
    // How many tasks of which kind there are is published of the mixture alone.
    const published = name === 'mixed'
    for (let n = 0; n < (published ? 4 : 1); n++) {
      yield edit('moved to the other kind', published, row => moved(row, other(row)))
      yield edit('moved to no kind', published, row => moved(row, 'elsewhere'))
    }
    yield edit('has another issue', false, row => ({ ...row, prompt: [{ role: 'user', content: 'x' }] }))
    const bytes = writeParquet(rows, dataset)
    const cut = (what: string, changed: Uint8Array): Mutation => ({
      kind: 'dataset bytes',
      covered: true,
      what: `${name}: ${what}`,
      files: new Map([[dataset.path, changed]])
    })
    yield cut('cut in the middle', bytes.slice(0, bytes.length >> 1))
    yield cut(
      'magic number',
      Uint8Array.from(bytes, (b, i) => (i === bytes.length - 1 ? b ^ 1 : b))
    )
    yield cut(
      'length of the footer',
      Uint8Array.from(bytes, (b, i) => (i === bytes.length - 7 ? b ^ 0x40 : b))
    )
  }
}

interface Named {
  readonly name: string
  readonly cell?: string
  readonly value?: number
  readonly slide?: number
  readonly key?: string
}

/** What bar figures call their parts, and whose value a bar shows: the published value is the same wherever a bar draws it. */
const BAR_EDITS: ReadonlyArray<readonly [pointer: string, value: unknown]> = [
  ['0/title', 'Scores'],
  ['0/panels/0/title', 'SWE-bench Verified'],
  ['0/panels/0/axis', 'Score'],
  ['0/panels/0/groups', ['Multilingual', 'Verified']],
  ['0/panels/0/series/1/title', 'SAO'],
  ['0/panels/0/series/2/values/1', 'data.json#/values/gspo.multilingual/value'],
  ['1/panels/0/title', 'Rollouts'],
  ['1/panels/1/axis', 'Minutes (only GSPO concurrency-normalised)'],
  ['1/panels/2/axis', 'Hours'],
  ['1/panels/2/groups', ['To the best checkpoint']],
  ['1/panels/0/series/0/values/0', 'data.json#/values/sao.rollouts_to_best/value']
]

function* barFigures({ folder }: EvidenceSubject): Generator<Mutation> {
  const study = JSON.parse(folder.text('study.json')) as unknown
  for (const [pointer, value] of BAR_EDITS) {
    const files = new Map([['study.json', JSON.stringify(withValue(study, `/evidence/figures/${pointer}`, value))]])
    yield { kind: 'study: bar figure', covered: true, what: `${pointer} = ${JSON.stringify(value)}`, files }
  }
}

/** Where the study says that a value stands, and the values that it quotes. */
function* studies({ folder }: EvidenceSubject, values: readonly Found[], random: Random): Generator<Mutation> {
  const study = JSON.parse(folder.text('study.json')) as { evidence: Record<string, unknown> }
  const least = new Map(values.map(v => [v.name, v.least]))
  const listed = (pointer: string): readonly Named[] => {
    const found = pointer.split('/').reduce<unknown>((at, token) => (at as Record<string, unknown>)[token], study.evidence)
    return found as readonly Named[]
  }
  const edit = (pointer: string, value: unknown, name: string): Mutation => ({
    kind: 'study: evidence',
    covered: (least.get(name) ?? null) !== null,
    what: `${name}: ${pointer} = ${JSON.stringify(value)}`,
    files: new Map([['study.json', JSON.stringify(withValue(study, `/evidence/${pointer}`, value))]])
  })
  for (const [i, { name, value }] of listed('quoted').entries()) {
    const changed = changeDigit(JSON.stringify(value), random, Math.max(least.get(name) ?? 0, Number.MIN_VALUE))
    if (changed !== null) yield edit(`quoted/${i}/value`, Number(changed), name)
  }
  for (const [i, { name, cell = '' }] of listed('workbook/values').entries()) {
    yield edit(
      `workbook/values/${i}/cell`,
      cell.replace(/\d+/, row => String(Number(row) + 1)),
      name
    )
  }
  for (const [i, { name, slide = 0 }] of listed('slides/values').entries()) yield edit(`slides/values/${i}/slide`, slide + 1, name)
  for (const i of listed('configs').keys()) {
    const [value] = listed(`configs/${i}/values`)
    yield edit(`configs/${i}/values/0/key`, changeCharacter(String(value.key), random).toUpperCase(), String(value.name))
  }
}

export function* evidenceMutations(subject: EvidenceSubject, random: Random): Generator<Mutation> {
  const values = foundValues(subject)
  const of = (source: Found['source']): Found[] => values.filter(v => v.source === source)
  yield* cells(subject, of('workbook'), random)
  yield* slides(subject, of('slides'), random)
  const keys = [...configs(subject, of('config'), random)]
  yield* sample(
    keys.filter(m => m.covered),
    random,
    36
  )
  yield* sample(
    keys.filter(m => !m.covered),
    random,
    16
  )
  yield* sample(documents(subject, of('document'), random), random, 24)
  yield* datasets(subject, random)
  yield* barFigures(subject)
  yield* sample(studies(subject, values, random), random, 26)
}
