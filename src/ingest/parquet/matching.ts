/** Counts over pages: the rows whose texts match patterns, and the rows that have a value at a node of the schema. */
import { EXIT, Fault, describeCause, printable } from '../../core/errors.js'
import { malformedParquet } from './faults.js'
import type { Leaf, PlacedNode } from './schema.js'
import type { Page } from './pages.js'

/** A text that must occur, or the source of a regular expression (flag `u`) that must match somewhere. */
export type TextPattern = string | { readonly regex: string }

export interface TextMatches {
  /** the column that is read: the first candidate that the schema has */
  readonly column: string
  /** number of rows that match each pattern, whatever else they match */
  readonly matches: Readonly<Record<string, number>>
  /** number of rows that match more than one pattern: each counts in every pattern's `matches` and once here */
  readonly several: number
  /** number of rows with a text that matches no pattern */
  readonly unmatched: number
  /** number of rows without a text */
  readonly nulls: number
}

/** Receives every page of a column, in order. */
export interface PageVisitor {
  page(page: Page): void
}

type Test = (text: string) => boolean

/** @throws Fault exit 2 for an invalid regular expression */
export function compilePatterns(patterns: Readonly<Record<string, TextPattern>>): ReadonlyMap<string, Test> {
  return new Map(
    Object.entries(patterns).map(([name, pattern]): [string, Test] => {
      if (typeof pattern === 'string') return [name, text => text.includes(pattern)]
      try {
        const regex = new RegExp(pattern.regex, 'u')
        return [name, text => regex.test(text)]
      } catch (cause) {
        throw new Fault({
          format: 'usage',
          problem: `invalid pattern ${printable(name)}`,
          found: printable(describeCause(cause)),
          expected: 'a regular expression',
          exitCode: EXIT.usage,
          cause
        })
      }
    })
  )
}

export class TextCounter implements PageVisitor {
  readonly #leaf: Leaf
  readonly #tests: readonly [string, Test][]
  readonly #counts: number[]
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  #several = 0
  #unmatched = 0
  #nulls = 0
  #row = 0

  constructor(leaf: Leaf, tests: ReadonlyMap<string, Test>) {
    const { type } = leaf.element
    if (type !== 'BYTE_ARRAY') throw malformedParquet('wrong column type', `${type}`, 'BYTE_ARRAY, a text')
    if (leaf.repetition > 0) throw malformedParquet('unsupported', 'a list of texts in each row', 'one text a row')
    this.#leaf = leaf
    this.#tests = [...tests]
    this.#counts = this.#tests.map(() => 0)
  }

  page({ definition, levels, values, indexes }: Page): void {
    // A text of the dictionary is decoded and matched once, however many rows have it.
    const known: (readonly boolean[] | undefined)[] = []
    let next = 0
    for (let i = 0; i < levels; i++, this.#row++) {
      if (definition !== null && definition[i] < this.#leaf.definition) {
        this.#nulls++
        continue
      }
      if (indexes === null) this.#count(this.#matched(values[next]))
      else {
        const at = indexes[next]
        known[at] ??= this.#matched(values[at])
        this.#count(known[at])
      }
      next++
    }
  }

  result(): TextMatches {
    return {
      column: this.#leaf.path.join('.'),
      matches: Object.fromEntries(this.#tests.map(([name], i) => [name, this.#counts[i]])),
      several: this.#several,
      unmatched: this.#unmatched,
      nulls: this.#nulls
    }
  }

  #matched(value: unknown): readonly boolean[] {
    if (!(value instanceof Uint8Array)) throw malformedParquet('missing value', typeof value, 'a text').at({ index: this.#row })
    let text: string
    try {
      text = this.#decoder.decode(value)
    } catch (cause) {
      throw new Fault({
        format: 'parquet',
        problem: 'wrong encoding',
        found: 'bytes that are not UTF-8',
        expected: 'UTF-8',
        place: { index: this.#row },
        cause
      })
    }
    return this.#tests.map(([, test]) => test(text))
  }

  #count(matched: readonly boolean[]): void {
    let patterns = 0
    for (let i = 0; i < matched.length; i++) {
      if (!matched[i]) continue
      patterns++
      this.#counts[i]++
    }
    if (patterns === 0) this.#unmatched++
    else if (patterns > 1) this.#several++
  }
}

/** Counts rows in which the node, or at least one of its elements inside a list, is not null. */
export class PresenceCounter implements PageVisitor {
  readonly #definition: number
  #rows = 0
  /** true if the row of the last level is counted already */
  #counted = false

  constructor(node: PlacedNode) {
    this.#definition = node.definition
  }

  page({ definition, repetition, levels }: Page): void {
    for (let i = 0; i < levels; i++) {
      if (repetition === null || repetition[i] === 0) this.#counted = false
      if (this.#counted || (definition !== null && definition[i] < this.#definition)) continue
      this.#counted = true
      this.#rows++
    }
  }

  result(): number {
    return this.#rows
  }
}
