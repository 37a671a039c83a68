/**
 * Character references in an attribute value (HTML standard, 13.2.5.72 to 13.2.5.80). They are resolved as far as a value
 * can equal printable ASCII text without an ampersand. A reference to any other character becomes U+FFFD, and a named
 * reference outside the table stays as it is. Such a value never equals the text, and by the standard it would not either.
 */

const REPLACEMENT = '\ufffd'

/** Every named reference to ASCII text except `&`. */
const NAMED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Tab: '\t',
    NewLine: '\n',
    excl: '!',
    quot: '"',
    QUOT: '"',
    num: '#',
    dollar: '$',
    percnt: '%',
    apos: "'",
    lpar: '(',
    rpar: ')',
    ast: '*',
    midast: '*',
    plus: '+',
    comma: ',',
    period: '.',
    sol: '/',
    colon: ':',
    semi: ';',
    lt: '<',
    LT: '<',
    equals: '=',
    gt: '>',
    GT: '>',
    quest: '?',
    commat: '@',
    lsqb: '[',
    lbrack: '[',
    bsol: '\\',
    rsqb: ']',
    rbrack: ']',
    Hat: '^',
    lowbar: '_',
    UnderBar: '_',
    grave: '`',
    DiacriticalGrave: '`',
    lcub: '{',
    lbrace: '{',
    verbar: '|',
    vert: '|',
    VerticalLine: '|',
    rcub: '}',
    rbrace: '}',
    fjlig: 'fj'
  })
)

/** Hexadecimal, decimal and named references, and names that need no semicolon unless `=`, a letter or a digit follows. */
const REFERENCE = /&(?:#[xX]([0-9A-Fa-f]+);?|#([0-9]+);?|([A-Za-z]+);|(quot|QUOT|lt|LT|gt|GT)(?![=0-9A-Za-z]))/g

function character(code: number): string {
  return code < 0x80 ? String.fromCharCode(code) : REPLACEMENT
}

/** The value with its ASCII references resolved. @param value latin1 text of the bytes */
export function decodeHtmlReferences(value: string): string {
  if (!value.includes('&')) return value
  return value.replace(REFERENCE, (whole: string, hex?: string, decimal?: string, name?: string, bare?: string) => {
    if (hex !== undefined) return character(parseInt(hex, 16))
    if (decimal !== undefined) return character(parseInt(decimal, 10))
    return NAMED.get(name ?? bare ?? '') ?? whole
  })
}
