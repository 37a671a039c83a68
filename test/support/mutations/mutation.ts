/**
 * Mutations: one change at a time to one place of a study. A mutation that a published value depends on must be caught when
 * the manifest is rewritten over it (by a check or by the audit); every mutation of a file must be caught by the manifest as
 * it was.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pointerTokens } from '../../../src/compute/documents.js'
import type { Random } from '../random.js'

export interface Mutation {
  /** row of the table: `history value` */
  readonly kind: string
  /** what was changed, for the message of a survivor */
  readonly what: string
  /** new content by path; null: the file is removed */
  readonly files: ReadonlyMap<string, string | Uint8Array | null>
  /** false: no published value depends on it, so that the manifest alone must catch it */
  readonly covered: boolean
}

export type CaughtBy = 'check' | 'audit'

/** A study's folder in which mutations are tried, one after another. */
export class MutableFolder {
  readonly #original = new Map<string, Buffer>()

  constructor(readonly dir: string) {}

  text(path: string): string {
    return readFileSync(join(this.dir, path), 'utf8')
  }

  bytes(path: string): Buffer {
    return readFileSync(join(this.dir, path))
  }

  /** The content before any mutation. */
  #keep(path: string): Buffer {
    const kept = this.#original.get(path) ?? readFileSync(join(this.dir, path))
    this.#original.set(path, kept)
    return kept
  }

  /** Changes the files, runs, and puts the files back, whatever happens. */
  async with<T>(mutation: Mutation, run: () => Promise<T>): Promise<T> {
    for (const [path, content] of mutation.files) {
      const before = this.#keep(path)
      if (content === null) rmSync(join(this.dir, path))
      else if (Buffer.from(content).equals(before)) throw new Error(`${mutation.kind} changes nothing: ${mutation.what}`)
      else writeFileSync(join(this.dir, path), content)
    }
    try {
      return await run()
    } finally {
      for (const path of mutation.files.keys()) {
        mkdirSync(dirname(join(this.dir, path)), { recursive: true })
        writeFileSync(join(this.dir, path), this.#keep(path))
      }
    }
  }
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * The number with one digit of it changed, so that its value changes by at least `least`: a random one of all such texts.
 * Null where there is none. Digits of an exponent count.
 */
export function changeDigit(text: string, random: Random, least = Number.MIN_VALUE): string | null {
  const candidates: string[] = []
  for (let i = 0; i < text.length; i++) {
    if (!/\d/.test(text[i])) continue
    for (const digit of '0123456789') {
      const changed = text.slice(0, i) + digit + text.slice(i + 1)
      if (digit === text[i] || !JSON_NUMBER.test(changed)) continue
      const difference = Math.abs(Number(changed) - Number(text))
      if (Number.isFinite(difference) && difference >= least) candidates.push(changed)
    }
  }
  return candidates.length === 0 ? null : random.pick(candidates)
}

/** A copy of a JSON document with another value at a pointer that leads somewhere. */
export function withValue(document: unknown, pointer: string, value: unknown): unknown {
  const copy: unknown = structuredClone(document)
  const tokens = pointerTokens(pointer)
  const last = tokens.pop()
  let at = copy as Record<string, unknown>
  for (const token of tokens) at = at[token] as Record<string, unknown>
  if (last === undefined || !Object.hasOwn(at, last)) throw new Error(`nothing at ${pointer}`)
  at[last] = value
  return copy
}

/** One character of a text changed to another letter. */
export function changeCharacter(text: string, random: Random): string {
  const i = random.below(text.length)
  const letters = [...'abcdefghijklmnopqrstuvwxyz'].filter(letter => letter !== text[i].toLowerCase())
  return text.slice(0, i) + random.pick(letters) + text.slice(i + 1)
}

/** A random `count` of them: a table of every place would take minutes. */
export function sample<T>(all: Iterable<T>, random: Random, count: number): T[] {
  return random.shuffle([...all]).slice(0, count)
}

export interface Row {
  covered: number
  check: number
  audit: number
  uncovered: number
  verify: number
  /** mutations of files, which verify is asked about */
  files: number
  readonly survivors: string[]
}

export class Tally {
  readonly rows = new Map<string, Row>()

  row(kind: string): Row {
    const row = this.rows.get(kind) ?? { covered: 0, check: 0, audit: 0, uncovered: 0, verify: 0, files: 0, survivors: [] }
    this.rows.set(kind, row)
    return row
  }

  /** @param verify null: the mutation is of no file */
  add({ kind, what, covered }: Pick<Mutation, 'kind' | 'what' | 'covered'>, by: CaughtBy | null, verify: boolean | null): void {
    const row = this.row(kind)
    if (covered) row.covered++
    else row.uncovered++
    if (by !== null && covered) row[by]++
    if (verify !== null) row.files++
    if (verify === true) row.verify++
    const caught = (covered ? by !== null : true) && verify !== false && (covered || verify === true)
    if (!caught) row.survivors.push(what)
  }

  get total(): number {
    return [...this.rows.values()].reduce((sum, row) => sum + row.covered + row.uncovered, 0)
  }

  /** Lines of a table: per kind, what was covered and who caught it; then what no published value depends on. */
  lines(): string[] {
    const percent = (part: number, whole: number): string => (whole === 0 ? '-' : `${((100 * part) / whole).toFixed(0)} %`)
    return [...this.rows].map(([kind, { covered, check, audit, uncovered, verify, files }]) =>
      [
        kind.padEnd(28),
        `covered ${String(covered).padStart(3)}: ${String(check).padStart(3)} by a check, ${String(audit).padStart(3)} by the audit (${percent(check + audit, covered)})`,
        `uncovered ${String(uncovered).padStart(2)}`,
        `manifest ${verify} of ${files} (${percent(verify, files)})`
      ].join('  ')
    )
  }
}
