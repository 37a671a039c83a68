/**
 * The netrc grammar as Python's `netrc` module (3.11 and later) reads it. W&B's own tools read keys with that module.
 *
 * - Tokens are separated by space, tab, CR and LF. A token that starts with `"` runs to the next `"`, white space
 *   included; a quote inside another token is an ordinary character. A backslash takes the next character as it is, in
 *   both kinds.
 * - `machine NAME` or `default` starts an entry; `login` (or `user`), `account` and `password` with a value follow, in
 *   any order. A later entry of the same name replaces the earlier one. `default` may stand anywhere, and is used if no
 *   machine has the name.
 * - `macdef NAME` runs to the next empty line.
 * - A token that starts with `#` begins a comment, which runs to the end of its line.
 * - An empty quoted token in place of a keyword ends the file.
 *
 * There is one difference. Python's rule for comments is narrower by accident: after an empty line, and after `#word`
 * outside an entry, it reads the rest of the comment's line as words. It then refuses the file, or accepts an entry that
 * was commented out. Here every comment is skipped.
 *
 * Passwords are secrets: a Fault names the line and quotes nothing of it.
 */
import { EXIT, Fault, type Place } from '../core/errors.js'

const ENTRY_END: ReadonlySet<string> = new Set(['', 'machine', 'default', 'macdef'])

class Lexer {
  readonly #text: string
  #at = 0
  #tokenAt = 0

  constructor(text: string) {
    // Python reads files with universal newlines.
    this.#text = text.replace(/\r\n?/g, '\n')
  }

  /** the line of the last token, from 1 */
  get line(): number {
    return this.#text.slice(0, this.#tokenAt).split('\n').length
  }

  #next(): string {
    return this.#text[this.#at++] ?? ''
  }

  /** The next token; '' at the end of the file. */
  token(): string {
    let c = this.#next()
    while (c !== '' && ' \t\n\r'.includes(c)) c = this.#next()
    this.#tokenAt = this.#at - 1
    const quoted = c === '"'
    if (quoted) c = this.#next()
    let token = ''
    for (; c !== ''; c = this.#next()) {
      if (quoted ? c === '"' : ' \t\n\r'.includes(c)) break
      token += c === '\\' ? this.#next() : c
    }
    this.#at = Math.min(this.#at, this.#text.length)
    return token
  }

  /** Skips the rest of the line, unless the last token (a comment's first word) ended with it. */
  skipComment(): void {
    if (this.#text[this.#at - 1] !== '\n') this.restOfLine()
  }

  /** The rest of the line with its line break; '' at the end of the file. */
  restOfLine(): string {
    const end = this.#text.indexOf('\n', this.#at)
    const line = this.#text.slice(this.#at, end === -1 ? undefined : end + 1)
    this.#at += line.length
    return line
  }
}

/**
 * The password for a machine: of its own entry, else of `default`; null without either, '' if the entry has none.
 *
 * @throws Fault exit 2 with the line, for a file that Python's module refuses (except for its comments)
 */
export function netrcPassword(text: string, machine: string, place: Place): string | null {
  const passwords = readEntries(text, place)
  // Python keeps both in one table, so an entry `machine default` is the default.
  return passwords.get(machine) ?? passwords.get('default') ?? null
}

function readEntries(text: string, place: Place): ReadonlyMap<string, string> {
  const lexer = new Lexer(text)
  const passwords = new Map<string, string>()
  const malformed = (found: string, expected: string): Fault =>
    new Fault({
      format: 'netrc',
      problem: 'malformed',
      found,
      expected,
      place: { ...place, line: lexer.line },
      exitCode: EXIT.usage
    })

  let keyword = lexer.token()
  while (keyword !== '') {
    if (keyword.startsWith('#')) {
      lexer.skipComment()
      keyword = lexer.token()
    } else if (keyword === 'macdef') {
      lexer.token()
      for (let line = ''; line !== '\n'; ) {
        line = lexer.restOfLine()
        if (line === '') throw malformed('a macro without an end', 'an empty line after macdef')
      }
      keyword = lexer.token()
    } else if (keyword === 'machine' || keyword === 'default') {
      const name = keyword === 'default' ? 'default' : lexer.token()
      if (name === '') throw malformed('machine without a name', 'a host name')
      const entry = readEntry(lexer, malformed)
      passwords.set(name, entry.password)
      keyword = entry.next
    } else {
      throw malformed('an unknown word', 'machine, default, macdef or a comment')
    }
  }
  return passwords
}

/** Reads the entry behind `machine NAME`, up to the keyword of the next entry. */
function readEntry(
  lexer: Lexer,
  malformed: (found: string, expected: string) => Fault
): { readonly password: string; readonly next: string } {
  let password = ''
  for (;;) {
    const token = lexer.token()
    if (token.startsWith('#')) {
      lexer.skipComment()
    } else if (ENTRY_END.has(token)) {
      return { password, next: token }
    } else if (token === 'password') {
      password = lexer.token()
    } else if (token === 'login' || token === 'user' || token === 'account') {
      lexer.token()
    } else {
      throw malformed('an unknown word', 'login, password, account or the next machine')
    }
  }
}
