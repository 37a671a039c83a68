/**
 * Tag names, and the classes in which the HTML standard groups them (13.2.4.2 "The stack of open elements", 13.2.4.3 "The
 * list of active formatting elements", 13.2.6 "Tree construction"). The version is the living standard of 2026, in which
 * `select` has no insertion mode of its own and bounds scopes.
 *
 * Each open element has a key. The key of an HTML element is its name, that of an SVG or MathML element is its lower-case
 * name behind `svg/` or `math/`. No tag name contains a slash, so keys never collide.
 */

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

/** Special elements: the search for the element of a stray end tag stops at them. */
export const SPECIAL = names(`
  address applet area article aside base basefont bgsound blockquote body br button caption center col colgroup dd
  details dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header
  hgroup hr html iframe img input keygen li link listing main marquee menu meta nav noembed noframes noscript object
  ol p param plaintext pre script search section select source style summary table tbody td template textarea tfoot
  th thead title tr track ul wbr xmp
  math/mi math/mo math/mn math/ms math/mtext math/annotation-xml svg/foreignobject svg/desc svg/title`)

/** Elements that end the search for an element "in scope". */
export const SCOPE = names(`
  applet caption html table td th marquee object select template
  math/mi math/mo math/mn math/ms math/mtext math/annotation-xml svg/foreignobject svg/desc svg/title`)

/** Elements that "generate implied end tags" closes. */
export const IMPLIED_END = names('dd dt li optgroup option p rb rp rt rtc')

export const FORMATTING = names('a b big code em font i nobr s small strike strong tt u')

export const HEADINGS = names('h1 h2 h3 h4 h5 h6')

/** Start tags that close an open `p` and open a block. */
export const BLOCK_START = names(`
  address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer header hgroup
  main menu nav ol p search section summary ul`)

/** End tags that close everything up to the element of their name, if it is in scope. */
export const BLOCK_END = names(`
  address article aside blockquote button center details dialog dir div dl fieldset figcaption figure footer header
  hgroup listing main menu nav ol pre search section select summary ul`)

/** Start tags that do not begin the body. */
export const BEFORE_BODY = names(`
  html head base basefont bgsound frameset link meta noframes noscript script style template title`)

/** Start tags that end the current part of a table in its insertion mode. */
export const TABLE_PARTS = names('caption col colgroup tbody td tfoot th thead tr')

/** Start tags that end foreign content (`font` does with one of three attributes). */
export const BREAKOUT = names(`
  b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta
  nobr ol p pre ruby s small span strong strike sub sup table tt u ul var`)

export const SVG_HTML_POINTS = names('svg/foreignobject svg/desc svg/title')
export const MATHML_TEXT_POINTS = names('math/mi math/mo math/mn math/ms math/mtext')

/** Attributes that affect the result, by tag name. Formatting elements are compared by all of their attributes. */
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

export function isHidden(tag: Tag): boolean {
  return tag.attributes.get('type')?.toLowerCase() === 'hidden'
}

/** Lower case of ASCII letters only: other bytes may belong to UTF-8 sequences. */
export function asciiLowerCase(text: string): string {
  return /[A-Z]/.test(text) ? text.replace(/[A-Z]+/g, letters => letters.toLowerCase()) : text
}
