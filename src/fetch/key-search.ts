/**
 * Finds a key in a server's answer, since a server or a proxy may echo the request. The text is not copied, and every
 * repetition is bounded, so that no answer makes the search slow.
 *
 * Found: the key itself and its base64 at any alignment (so also `Basic …` and a longer text in base64), both in either
 * case, with any of the characters escaped as in JSON, JavaScript, URLs and HTML. Not found: a part of the key, ciphers,
 * hexadecimal, octal escapes, nested escapes of two kinds, base64 that is broken over lines.
 */

const HTML_NAMES: Readonly<Record<string, string>> = { '"': 'quot', '&': 'amp', "'": 'apos', '<': 'lt', '>': 'gt' }

/** JSON nested three times has seven backslashes before a quote. Each of these may be escaped too, up to three times. */
const BACKSLASHES = '(?:\\\\(?:u005c|x5c|u\\{0{0,6}5c\\}){0,3}){1,7}'

function literal(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16)}`
}

function spellings(character: string): string {
  const code = character.charCodeAt(0)
  const hex = code.toString(16)
  const plain = literal(character)
  const name = HTML_NAMES[character]
  const html = `(?:#0{0,6}${code}|#x0{0,6}${hex}${name === undefined ? '' : `|${name}`})`
  const script = `${BACKSLASHES}(?:${plain}|u00${hex}|x${hex}|u\\{0{0,6}${hex}\\})`
  return `(?:${plain}|${script}|%(?:25){0,3}${hex}|&(?:amp;){0,3}${html};?)`
}

/** The base64 characters that depend on the key alone, for a text that contains the key at this offset (modulo 3). */
function base64At(offset: number, key: string): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), Buffer.from(key)]).toString('base64')
  return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + key.length) * 8) / 6))
}

/** A pattern with all spellings of each character of the text. `-` and `_` are the URL-safe letters of base64. */
function pattern(text: string, write: (character: string) => string): RegExp {
  const either = (a: string, b: string): string => `(?:${write(a)}|${write(b)})`
  const parts = [...text].map(c => (c === '+' ? either('+', '-') : c === '/' ? either('/', '_') : write(c)))
  return new RegExp(parts.join(''), 'i')
}

/** Matches an escaped character. Escaped quotes do not count, since every history has many. */
const ESCAPE = /[%&]|\\[^"\\]/

/**
 * Returns a function that is true for a text that contains the key.
 *
 * @param key printable ASCII
 */
export function keySearch(key: string): (text: string) => boolean {
  const forms = [key, base64At(0, key), base64At(1, key), base64At(2, key)]
  const plain = forms.map(form => pattern(form, literal))
  const escaped = forms.map(form => pattern(form, spellings))
  const hasQuotes = /["\\]/.test(key)
  return text => plain.some(p => p.test(text)) || ((hasQuotes || ESCAPE.test(text)) && escaped.some(p => p.test(text)))
}
