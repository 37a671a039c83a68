/**
 * Parser for `.env` files that shells source. The file is read and never run. It understands KEY=VALUE with quotes,
 * `export`, comments, and lines that name a parent:
 *
 *     source base.env        . ./base.env        source "$(dirname "${BASH_SOURCE[0]}")/base.env"
 *     INHERIT=base.env       # inherits: base.env        (in the first line that is not blank)
 *
 * A value is the text after quote removal. `$NAME`, `${NAME:-default}` and `$(command)` stay as written: their expansion
 * depends on the shell that ran the file, which is unknown, and expanding could copy a secret from one key to another.
 *
 * Of a line whose key is not wanted only the end is looked for. Everything else that a shell would run (`if`, functions,
 * commands) is refused, because its effect is unknown; so is `${NAME:=…}`, which assigns. `set`, `shopt`, `echo` and
 * `export NAME` on lines of their own are skipped.
 */
import { configFault } from './faults.js'

export interface Assignment {
  readonly kind: 'assignment'
  readonly key: string
  /** null where only a shell could tell the value; `problem` then says why */
  readonly text: string | null
  readonly problem: string | null
  /** `KEY+=value` */
  readonly append: boolean
  /** 1-based */
  readonly line: number
}

export interface Parent {
  readonly kind: 'parent'
  /** as the file names it: relative to that file */
  readonly path: string
  readonly line: number
}

export interface Removal {
  readonly kind: 'unset'
  readonly key: string
  readonly line: number
}

export type EnvEntry = Assignment | Parent | Removal

const KEY = /^(?:export\s+|declare\s+(?:-x\s+)?|readonly\s+)?([A-Za-z_][A-Za-z0-9_]*)(\+?)=/
const SOURCE = /^(?:source|\.)\s+(.*)$/
const INHERIT_KEY = /^(?:export\s+)?INHERITS?(?:_FROM)?=/
const INHERIT_COMMENT = /^#\s*(?:inherits?|extends)(?:\s+from)?\s*[:=]?\s*(\S+\.(?:env|json))\s*$/i
const HARMLESS = /^(?:set\s+[-+]|shopt\s|echo(?:\s|$)|export\s+[A-Za-z_]\w*\s*$)[^$;&|<>`]*$/
const SELF = String.raw`"?\$(?:\{BASH_SOURCE(?:\[0\])?\}|BASH_SOURCE|0)"?`
const DIRNAME = String.raw`\$\(dirname\s+(?:--\s+)?${SELF}\)`
const CD_PWD = String.raw`\$\(cd\s+"?${DIRNAME}"?\s*&&\s*pwd(?:\s+-P)?\)`
/** Expressions for the folder of the sourced file in bash. */
const OWN_FOLDER = new RegExp(String.raw`^(?:${DIRNAME}|${CD_PWD}|\$\{BASH_SOURCE(?:\[0\])?%/\*\})/`)

/** Entries of a file in their order. @param file its name in messages */
export function parseEnv(text: string, file: string): EnvEntry[] {
  const entries: EnvEntry[] = []
  let at = text.startsWith('\ufeff') ? 1 : 0
  let line = 1
  let first = true
  while (at < text.length) {
    const lineEnd = endOfLine(text, at)
    const start = line
    const content = text.slice(at, lineEnd).trim()
    const isFirst = first && content !== ''
    if (content !== '') first = false
    if (content === '' || content.startsWith('#')) {
      const inherit = isFirst ? INHERIT_COMMENT.exec(content) : null
      if (inherit !== null) entries.push({ kind: 'parent', path: inherit[1], line })
      at = lineEnd + 1
      line++
      continue
    }
    while (at < lineEnd && /\s/.test(text[at])) at++
    const key = KEY.exec(text.slice(at, lineEnd))
    const source = SOURCE.exec(content)
    const unset = /^unset\s+(?:-v\s+)?([A-Za-z_]\w*(?:\s+[A-Za-z_]\w*)*)\s*(?:#.*)?$/.exec(content)
    if (key !== null) {
      const word = readWord(text, at + key[0].length, file, start)
      if (isFirst && INHERIT_KEY.test(content)) {
        if (word.text === null) throw configFault('unreadable parent', word.problem ?? 'no path', 'a plain path', file, start)
        entries.push({ kind: 'parent', path: word.text, line: start })
      } else {
        entries.push({ kind: 'assignment', key: key[1], text: word.text, problem: word.problem, append: key[2] === '+', line: start })
      }
      line += count(text, at, word.end)
      at = word.end
      continue
    }
    if (source !== null) entries.push({ kind: 'parent', path: sourcePath(source[1], file, start), line: start })
    else if (unset !== null) for (const name of unset[1].split(/\s+/)) entries.push({ kind: 'unset', key: name, line: start })
    else if (!HARMLESS.test(content)) {
      throw configFault('unsupported line', 'a command', 'KEY=VALUE, source FILE or a comment', file, start)
    }
    at = lineEnd + 1
    line++
  }
  return entries
}

interface Word {
  readonly text: string | null
  readonly problem: string | null
  /** first character of the next line */
  readonly end: number
}

/** Reads the value at `at` by the shell's quoting rules, and finds the end of its line. */
function readWord(text: string, at: number, file: string, line: number): Word {
  let value = ''
  let problem: string | null = null
  const unclosed = (what: string): never => {
    throw configFault('unclosed quote', `${what} without an end`, 'the closing quote', file, line)
  }
  if (text[at] === '(') problem = 'an array'
  for (;;) {
    const c = text[at] ?? '\n'
    if (c === '\n' || (c === '\r' && (text[at + 1] ?? '\n') === '\n')) break
    if (c === ' ' || c === '\t') {
      const rest = text.slice(at, endOfLine(text, at)).trim()
      // A shell would take the rest as a command or a second assignment; other readers take it as part of the value.
      if (rest !== '' && !rest.startsWith('#')) problem ??= 'unquoted space'
      break
    }
    if (c === "'") {
      const end = text.indexOf("'", at + 1)
      if (end < 0) return unclosed('a single quote')
      value += text.slice(at + 1, end)
      at = end + 1
    } else if (c === '"') {
      for (at++; text[at] !== '"'; at++) {
        if (at >= text.length) return unclosed('a double quote')
        if (text[at] === '\\' && /["\\$`\n]/.test(text[at + 1] ?? '')) {
          at++
          value += text[at] === '\n' ? '' : text[at]
        } else value += text[at]
      }
      at++
    } else if (c === '\\') {
      if (text[at + 1] !== '\n') value += text[at + 1] ?? ''
      at += 2
    } else if (c === '$' && (text[at + 1] === '(' || text[at + 1] === '{')) {
      const end = endOfExpansion(text, at)
      if (end < 0) return unclosed('an expansion')
      value += text.slice(at, end)
      at = end
    } else if (c === '$' && (text[at + 1] === "'" || text[at + 1] === '"')) {
      problem ??= 'a quote with a dollar sign'
      value += c
      at++
    } else {
      if (c === ';' || c === '&' || c === '|' || c === '<' || c === '>' || c === '`') problem ??= 'an unquoted operator'
      value += c
      at++
    }
  }
  if (/\$\{\w+:?=/.test(value)) throw configFault('unsupported line', 'an expansion that assigns', 'plain values', file, line)
  return { text: problem === null ? value : null, problem, end: Math.min(text.length, endOfLine(text, at) + 1) }
}

/** Offset behind the `}` or `)` that closes the expansion at `at`; -1 when it is not closed. */
function endOfExpansion(text: string, at: number): number {
  const open: string[] = []
  for (let i = at; i < text.length; i++) {
    const c = text[i]
    if (c === '$' && (text[i + 1] === '(' || text[i + 1] === '{')) open.push(text[++i] === '(' ? ')' : '}')
    else if (c === open.at(-1)) {
      open.pop()
      if (open.length === 0) return i + 1
    } else if (c === '\n') return -1
  }
  return -1
}

function sourcePath(rest: string, file: string, line: number): string {
  const refuse = (found: string): never => {
    throw configFault('unreadable parent', found, "a plain path, or one below the file's own folder", file, line)
  }
  let path = rest.replace(/[ \t]#.*$/, '').trim()
  const quoted = /^"(.*)"$/.exec(path) ?? /^'(.*)'$/.exec(path)
  if (quoted !== null) path = quoted[1]
  path = path.replace(OWN_FOLDER, '')
  // `"$(dirname "$0")"/base.env`: the quotes end before the slash.
  if (path.startsWith('"')) path = path.replace(/^"(.*?)"\//, '$1/').replace(OWN_FOLDER, '')
  if (path === '') return refuse('no path')
  if (/[$`"'\\;&|<>*?()\s]/.test(path)) return refuse('a path that only a shell can tell')
  return path
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

function count(text: string, from: number, to: number): number {
  let lines = 0
  for (let i = from; i < to; i++) if (text[i] === '\n') lines++
  return lines
}
