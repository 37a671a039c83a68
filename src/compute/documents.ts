/**
 * Holds the JSON documents of a run in memory and resolves references into them. A reference is
 * `<output path>#<JSON pointer>`, such as `data.json#/values/gspo.verified/value`. The pointer has the plain form of
 * RFC 6901 (`~1` is `/`, `~0` is `~`). The percent-encoded form of URI fragments is not supported. Only own members resolve: `__proto__` and
 * `length` lead nowhere unless a document has them as members.
 */
import { createHash } from 'node:crypto'
import { printable } from '../core/errors.js'

/**
 * The value at a reference, or the reason why there is none. The value may be null; `undefinedReason` gives the reason
 * for that.
 */
export type Resolution = { readonly value: unknown } | { readonly reason: string }

export interface Pointed {
  /** output path */
  readonly file: string
  /** JSON pointer; '' is the whole document */
  readonly pointer: string
}

export type JsonObject = { readonly [name: string]: unknown }

/** `0` or a number without a leading zero (RFC 6901, section 4). */
const ARRAY_INDEX = /^(?:0|[1-9][0-9]*)$/

/** An escape other than `~0` and `~1`. */
const BAD_ESCAPE = /~(?![01])/

/** Splits a reference at its first `#` into path and pointer. Null where the text is no reference. */
export function parseReference(reference: string): Pointed | null {
  const hash = reference.indexOf('#')
  if (hash < 1) return null
  const pointer = reference.slice(hash + 1)
  if (BAD_ESCAPE.test(pointer) || (pointer !== '' && !pointer.startsWith('/'))) return null
  return { file: reference.slice(0, hash), pointer }
}

/** The unescaped member names and array indexes of a valid pointer. */
export function pointerTokens(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Escapes one token for a pointer. */
export function escapeToken(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1')
}

export class Documents {
  readonly #texts = new Map<string, string>()
  readonly #parsed = new Map<string, Resolution>()
  readonly #hashes = new Map<string, string>()

  /** @param texts JSON text by output path */
  constructor(texts: ReadonlyMap<string, string> = new Map()) {
    for (const [path, text] of texts) this.add(path, text)
  }

  get paths(): readonly string[] {
    return [...this.#texts.keys()]
  }

  /** @throws Error where the path already has a document: references resolved earlier would change their meaning */
  add(path: string, text: string): void {
    if (this.#texts.has(path)) throw new Error(`${path} was added before`)
    this.#texts.set(path, text)
  }

  /** SHA-256 of the document's text as UTF-8, lower-case hexadecimal; null without such a document. */
  sha256(path: string): string | null {
    const text = this.#texts.get(path)
    if (text === undefined) return null
    const known = this.#hashes.get(path) ?? createHash('sha256').update(text).digest('hex')
    this.#hashes.set(path, known)
    return known
  }

  /** The value at a reference, or a one-line reason that names the missing part. */
  resolve(reference: string): Resolution {
    const pointed = parseReference(reference)
    if (pointed === null) return { reason: `${printable(reference)} is no reference: a path, "#" and a JSON pointer` }
    const { file, pointer } = pointed
    const whole = this.#document(file)
    if ('reason' in whole) return whole
    let value = whole.value
    let at = ''
    for (const token of pointerTokens(pointer)) {
      const next = child(value, token)
      if (next === null) return { reason: this.#missing(file, at, token, value) }
      value = next.value
      at += `/${escapeToken(token)}`
    }
    return { value }
  }

  /** The reason that the document's own `undefined_reasons` states for a null. Null where it states none. */
  undefinedReason(reference: string): string | null {
    const pointed = parseReference(reference)
    return pointed === null ? null : this.#statedReason(pointed.file, pointed.pointer)
  }

  /**
   * The objects on the path to a reference, outermost first, with the referenced object itself. Empty where the
   * reference leads nowhere.
   */
  enclosing(reference: string): readonly JsonObject[] {
    const pointed = parseReference(reference)
    const whole = pointed === null ? null : this.#document(pointed.file)
    if (pointed === null || whole === null || 'reason' in whole) return []
    const values: unknown[] = [whole.value]
    for (const token of pointerTokens(pointed.pointer)) {
      const next = child(values[values.length - 1], token)
      if (next === null) return []
      values.push(next.value)
    }
    return values.filter(isObject)
  }

  #document(file: string): Resolution {
    const known = this.#parsed.get(file)
    if (known !== undefined) return known
    const text = this.#texts.get(file)
    if (text === undefined) return { reason: `there is no output ${printable(file)}` }
    const parsed = parsedText(file, text)
    this.#parsed.set(file, parsed)
    return parsed
  }

  #statedReason(file: string, pointer: string): string | null {
    const whole = this.#document(file)
    if ('reason' in whole || !isObject(whole.value)) return null
    const reasons = own(whole.value, 'undefined_reasons')
    const text = isObject(reasons) ? own(reasons, pointer) : undefined
    return typeof text === 'string' ? printable(text, 400) : null
  }

  #missing(file: string, at: string, token: string, parent: unknown): string {
    const place = `${printable(file)}#${printable(at)}`
    if (parent === null) {
      const why = this.#statedReason(file, at)
      return `${place} is null${why === null ? '' : `: ${why}`}`
    }
    if (Array.isArray(parent)) return `${place} is a list of ${parent.length} and has no element ${printable(token)}`
    if (isObject(parent)) return `${place} has no member ${printable(JSON.stringify(token))}`
    return `${place} is no object and no list, so ${printable(JSON.stringify(token))} leads nowhere`
  }
}

function parsedText(file: string, text: string): Resolution {
  try {
    const value: unknown = JSON.parse(text)
    return { value }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { reason: `${printable(file)} is not JSON: ${printable(error.message)}` }
  }
}

/** The member or element that a token names. A wrapper distinguishes a null value from a missing one. */
function child(parent: unknown, token: string): { readonly value: unknown } | null {
  if (Array.isArray(parent)) {
    const elements: readonly unknown[] = parent
    return ARRAY_INDEX.test(token) && Number(token) < elements.length ? { value: elements[Number(token)] } : null
  }
  return isObject(parent) && Object.hasOwn(parent, token) ? { value: parent[token] } : null
}

/** What an object inherits is no member. */
export function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
