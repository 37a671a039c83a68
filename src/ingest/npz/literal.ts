/**
 * Parses the part of Python's literal syntax that NPY headers use: strings in either quotes, decimal integers (with the
 * `L` of Python 2), True, False, None, tuples, lists and dicts. Nothing is evaluated. Everything else is a syntax fault.
 *
 * Source: the Python language reference, 2.4 and 6.2, as far as `ast.literal_eval` accepts it. Not supported: string
 * prefixes, escapes (kept as written: no dtype or key that is read here has one), joined strings, comments, floats.
 */
import { Fault, printable, type Place } from '../../core/errors.js'

export type Literal =
  | { readonly kind: 'string' | 'name'; readonly text: string; readonly at: number; readonly end: number }
  | { readonly kind: 'int'; readonly value: number; readonly text: string; readonly at: number; readonly end: number }
  | { readonly kind: 'tuple' | 'list'; readonly items: readonly Literal[]; readonly at: number; readonly end: number }
  | {
      readonly kind: 'dict'
      readonly entries: readonly (readonly [key: Literal, value: Literal])[]
      readonly at: number
      readonly end: number
    }

/** Structured dtypes nest lists of tuples. No real header is nested deeper. */
const MAX_DEPTH = 32

class Parser {
  readonly #spacePattern = /[ \t\n\r\f]*/y
  readonly #stringPattern = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"/y
  readonly #intPattern = /[+-]?(?:0|[1-9][0-9]*)L?(?![0-9A-Z_a-z.])/y
  readonly #namePattern = /(?:True|False|None)(?![0-9A-Z_a-z])/y
  readonly #text: string
  readonly #placeAt: (index: number) => Place
  #pos = 0

  constructor(text: string, placeAt: (index: number) => Place) {
    this.#text = text
    this.#placeAt = placeAt
  }

  whole(): Literal {
    const value = this.#value(0)
    this.#space()
    if (this.#pos < this.#text.length) throw this.#unexpected('nothing after the dict')
    return value
  }

  #unexpected(expected: string): Fault {
    const rest = this.#text.slice(this.#pos, this.#pos + 40).trimEnd()
    const found = rest === '' ? 'the end of the header' : `'${printable(rest)}'`
    return new Fault({ format: 'npy', problem: 'bad header', found, expected, place: this.#placeAt(this.#pos) })
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#pos
    const m = pattern.exec(this.#text)
    if (m !== null) this.#pos = pattern.lastIndex
    return m
  }

  #space(): void {
    this.#match(this.#spacePattern)
  }

  #take(char: string): boolean {
    this.#space()
    if (this.#text[this.#pos] !== char) return false
    this.#pos++
    return true
  }

  #value(depth: number): Literal {
    this.#space()
    const at = this.#pos
    if (depth > MAX_DEPTH) throw this.#unexpected(`at most ${MAX_DEPTH} levels of brackets`)
    const string = this.#match(this.#stringPattern)
    if (string !== null) return { kind: 'string', text: string[1] ?? string[2], at, end: this.#pos }
    const int = this.#match(this.#intPattern)
    if (int !== null) return { kind: 'int', value: parseInt(int[0], 10), text: int[0], at, end: this.#pos }
    const name = this.#match(this.#namePattern)
    if (name !== null) return { kind: 'name', text: name[0], at, end: this.#pos }
    if (this.#take('(')) return this.#tuple(at, depth)
    if (this.#take('[')) return { kind: 'list', items: this.#items(']', depth).items, at, end: this.#pos }
    if (this.#take('{')) return this.#dict(at, depth)
    throw this.#unexpected('a Python literal')
  }

  /** `(3)` is the integer 3, `(3,)` a tuple. */
  #tuple(at: number, depth: number): Literal {
    const { items, comma } = this.#items(')', depth)
    return items.length === 1 && !comma ? items[0] : { kind: 'tuple', items, at, end: this.#pos }
  }

  #items(close: string, depth: number): { readonly items: Literal[]; readonly comma: boolean } {
    const items: Literal[] = []
    for (;;) {
      if (this.#take(close)) return { items, comma: items.length > 0 }
      items.push(this.#value(depth + 1))
      if (this.#take(close)) return { items, comma: false }
      if (!this.#take(',')) throw this.#unexpected(`, or ${close}`)
    }
  }

  #dict(at: number, depth: number): Literal {
    const entries: (readonly [Literal, Literal])[] = []
    for (;;) {
      if (this.#take('}')) break
      const key = this.#value(depth + 1)
      if (!this.#take(':')) throw this.#unexpected(':')
      entries.push([key, this.#value(depth + 1)])
      if (this.#take('}')) break
      if (!this.#take(',')) throw this.#unexpected(', or }')
    }
    return { kind: 'dict', entries, at, end: this.#pos }
  }
}

/** The value of `text`. @param placeAt turns an index of the text into a place in the file, for faults */
export function parsePythonLiteral(text: string, placeAt: (index: number) => Place): Literal {
  return new Parser(text, placeAt).whole()
}
