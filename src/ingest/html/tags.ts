/** A start tag as the tokenizer passes it on, and the attributes that it keeps. */

/** How the tokenizer reads on after a start tag. */
export type ContentModel = 'data' | 'rcdata' | 'rawtext' | 'script' | 'plaintext'

/** A start tag. The tokenizer reuses the object: it is valid until the next tag. */
export interface Tag {
  /** lower case, as latin1 text of the bytes */
  readonly name: string
  readonly selfClosing: boolean
  /** only the attributes that `keepsAttribute` names; the first of duplicates */
  readonly attributes: ReadonlyMap<string, string>
}

/** The kinds of characters in a run of text, as bits. White space alone opens nothing. */
export const TEXT = { space: 1, nul: 2, other: 4 } as const

const names = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/))

/** Formatting elements (HTML standard, 13.2.4.3), which are compared by all of their attributes. */
const FORMATTING = names('a b big code em font i nobr s small strike strong tt u')

/** Attributes that affect the result, by tag name. Formatting elements keep all of theirs. */
const KEPT: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['script', names('id')],
  ['input', names('type')],
  ['annotation-xml', names('encoding')],
  ['meta', names('charset content http-equiv')]
])

export function keepsAttributes(tag: string): boolean {
  return KEPT.has(tag) || FORMATTING.has(tag)
}

export function keepsAttribute(tag: string, attribute: string): boolean {
  return KEPT.get(tag)?.has(attribute) ?? FORMATTING.has(tag)
}

/** Lower case of ASCII letters only: other bytes may belong to UTF-8 sequences. */
export function asciiLowerCase(text: string): string {
  return /[A-Z]/.test(text) ? text.replace(/[A-Z]+/g, letters => letters.toLowerCase()) : text
}
