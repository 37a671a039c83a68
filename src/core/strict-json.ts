/**
 * Small JSON files that people write by hand (study, manifest), read strictly: RFC 8259, UTF-8 with or without a BOM.
 *
 * JSON.parse gives the values. Before it runs, one pass over the text finds what JSON.parse does not tell: the place of an
 * error (Node 20 often names none) and a key that occurs twice in one object (JSON.parse silently keeps the last). Not for
 * the snapshot, which is streamed.
 */
import { hash } from 'node:crypto'
import { Fault, describeCause, printable, type Place } from './errors.js'
import { wordsOf, type StillWords } from './still.js'
import { readWhole } from './still-file.js'

/** Deepest nesting. No study nests deeper; a file that does is taken for an attack on the stack. */
const MAX_DEPTH = 64

/** The problem in the Fault for a file that is missing. */
const MISSING_FILE = 'missing file'

/** Rethrows an error of reading a JSON file. Where the file is missing, the Fault says how to get one. */
export function withWayTo(expected: string): (error: unknown) => never {
  return error => {
    if (!(error instanceof Fault) || error.details.problem !== MISSING_FILE) throw error
    throw new Fault({ ...error.details, expected })
  }
}

export interface JsonFile {
  readonly value: unknown
  /** of the file's bytes, lower-case hexadecimal */
  readonly sha256: string
  readonly bytes: number
}

export interface JsonRules {
  /** a number is a Fault where no double has its digits: 9007199254740993, 70.40000000000000000001 */
  readonly exactNumbers?: boolean
}

function jsonWords(format: string): StillWords {
  return {
    ...wordsOf(format, { opened: 'a readable JSON file', read: 'a readable JSON file' }),
    tooLarge: (path, _bytes, max) =>
      new Fault({
        format,
        problem: 'file too large',
        found: `more than ${max} bytes`,
        expected: `at most ${max}`,
        place: { file: path }
      })
  }
}

/**
 * Reads a whole small file and parses it.
 *
 * @throws Fault for more than `maxBytes`, anything but a regular file, or a file that changes meanwhile
 */
export async function readJsonFile(path: string, format: string, maxBytes: number, rules: JsonRules = {}): Promise<JsonFile> {
  const place = { file: path }
  const data = await readWhole(path, jsonWords(format), maxBytes)
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data)
  } catch (cause) {
    throw new Fault({ format, problem: 'wrong encoding', found: 'bytes that are not UTF-8', expected: 'UTF-8', place, cause })
  }
  const sha256 = hash('sha256', data)
  return { value: parseStrictJson(text, format, place, rules), sha256, bytes: data.length }
}

// Patterns of the tokens. The sticky flag makes a match start at `lastIndex`.
const WHITESPACE = /[ \t\n\r]*/y
const STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y

/** The value of a JSON text. A leading U+FEFF is skipped. */
export function parseStrictJson(text: string, format: string, place: Place = {}, rules: JsonRules = {}): unknown {
  const start = text.startsWith('\ufeff') ? 1 : 0
  checkGrammar(text, start, format, place, rules)
  const body = text.slice(start)
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new Fault({ format, problem: 'malformed JSON', found: printable(describeCause(cause)), place, cause })
  }
}

/** Whether the double that a number is read as has the written digits. */
export function isExact(literal: string): boolean {
  const digits = literal
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '')
  const value = Math.abs(Number(literal))
  // The field's own check refuses Infinity.
  if (digits === '' || !Number.isFinite(value)) return true
  // No published value has so many digits.
  if (digits.length > 100) return false
  return (
    value
      .toExponential(digits.length - 1)
      .replace(/e.*$/, '')
      .replace('.', '') === digits
  )
}

/** One pass with an explicit stack: `keys` of the open objects, null for an open list. */
function checkGrammar(text: string, start: number, format: string, place: Place, { exactNumbers = false }: JsonRules): void {
  let at = start
  const stack: (Set<string> | null)[] = []

  const fail = (problem: string, expected: string, found?: string, where = at): never => {
    const before = text.slice(0, where)
    const line = before.split('\n').length
    const column = where - (before.lastIndexOf('\n') + 1) + 1
    const seen = found ?? (where >= text.length ? 'end of file' : printable(JSON.stringify(text[where])))
    throw new Fault({
      format,
      problem,
      found: `${seen} at line ${line} column ${column}`,
      expected,
      place: { ...place, offset: Buffer.byteLength(before) }
    })
  }
  const skip = (): string => {
    WHITESPACE.lastIndex = at
    WHITESPACE.test(text)
    at = WHITESPACE.lastIndex
    return text[at] ?? ''
  }
  const take = (pattern: RegExp, expected: string): string => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match === null) return fail('malformed JSON', expected)
    at += match[0].length
    return match[0]
  }
  const key = (keys: Set<string>): void => {
    if (skip() !== '"') fail('malformed JSON', 'a quoted field name')
    const where = at
    const quoted = take(STRING, 'a closed string without control characters or unknown escapes')
    const name = String(JSON.parse(quoted))
    if (keys.has(name)) fail('field stated twice', 'each field once', printable(quoted), where)
    keys.add(name)
    if (skip() !== ':') fail('malformed JSON', '":"')
    at++
  }

  for (;;) {
    // A value comes next.
    const c = skip()
    if (c === '{' || c === '[') {
      if (stack.length === MAX_DEPTH) fail('nesting too deep', `at most ${MAX_DEPTH} levels`)
      at++
      const keys = c === '{' ? new Set<string>() : null
      if (skip() !== (keys === null ? ']' : '}')) {
        stack.push(keys)
        if (keys !== null) key(keys)
        continue
      }
      at++
    } else if (c === '"') {
      take(STRING, 'a closed string without control characters or unknown escapes')
    } else {
      const where = at
      const scalar = take(SCALAR, 'a JSON value')
      if (exactNumbers && /^[-0-9]/.test(scalar) && !isExact(scalar))
        fail('inexact number', 'digits that a double has', printable(scalar, 60), where)
    }
    // A value has ended: close what ends with it, then a comma leads to the next value.
    for (;;) {
      const next = skip()
      const open = stack.at(-1)
      if (open === undefined) {
        if (at < text.length) fail('malformed JSON', 'end of file')
        return
      }
      if (next === (open === null ? ']' : '}')) {
        at++
        stack.pop()
        continue
      }
      if (next !== ',') fail('malformed JSON', open === null ? '"," or "]"' : '"," or "}"')
      at++
      if (open !== null) key(open)
      break
    }
  }
}
