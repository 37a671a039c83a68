/**
 * The leaves of a JSON configuration: dotted path, value, text as written, line. Array elements count from 0
 * (`stages.0.name`). A top-level `inherits`, `extends`, `parent`, `base` or `_base_` (a path or a list of paths) names
 * parents. A key that contains a dot gives the same path as nesting.
 */
import { parseStrictJson } from '../../core/strict-json.js'
import { Fault } from '../../core/errors.js'
import { configFault } from './faults.js'

export interface ConfigLeaf {
  readonly path: string
  readonly value: string | number | boolean | null
  /** a number, word or empty container as written; a string without its quotes and escapes */
  readonly text: string
  readonly line: number
  /** path of the outermost list that contains the leaf */
  readonly list: string | null
}

export interface JsonConfig {
  readonly parents: readonly { readonly path: string; readonly line: number }[]
  readonly leaves: readonly ConfigLeaf[]
}

const PARENT_KEY = /^(?:inherits|extends|parent|base|_base_)(?:\.\d+)?$/
const TOKEN = /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|([^{}[\],:"\s]+))/y

export function parseJsonConfig(text: string, file: string): JsonConfig {
  try {
    const value = parseStrictJson(text, 'config', { file })
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw configFault('wrong type', 'another value', 'one JSON object', file)
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    // The parser's message may quote the file. Only its position is used.
    const { offset } = error.place
    if (offset === undefined) throw configFault(error.details.problem, 'another value', 'one JSON object', file)
    throw configFault('malformed JSON', 'unexpected text', 'RFC 8259, each field once', file, lineOf(Buffer.from(text), offset))
  }
  const all = leavesOf(text)
  const isParent = ({ path, value }: ConfigLeaf): boolean => typeof value === 'string' && PARENT_KEY.test(path)
  return {
    parents: all.filter(isParent).map(({ text: path, line }) => ({ path, line })),
    leaves: all.filter(leaf => !isParent(leaf))
  }
}

/** Walks well-formed text. */
function leavesOf(text: string): ConfigLeaf[] {
  const leaves: ConfigLeaf[] = []
  /** open containers; the name is the index of the next element in a list, the last key in an object */
  const open: { name: string | number; empty: boolean }[] = []
  let keyDue = false
  let line = 1
  let counted = 0
  TOKEN.lastIndex = text.startsWith('\ufeff') ? 1 : 0
  const path = (depth: number): string =>
    open
      .slice(0, depth)
      .map(({ name }) => name)
      .join('.')
  const add = (value: ConfigLeaf['value'], written: string): void => {
    const list = open.findIndex(({ name }) => typeof name === 'number')
    leaves.push({ path: path(open.length), value, text: written, line, list: list < 0 ? null : path(list) })
  }
  const leaf = (value: ConfigLeaf['value'], written: string): void => {
    const top = open.at(-1)
    if (top !== undefined) top.empty = false
    add(value, written)
  }
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [, mark, quoted, scalar] = match
    const start = TOKEN.lastIndex - (mark ?? quoted ?? scalar).length
    for (; counted < start; counted++) if (text[counted] === '\n') line++
    if (mark === '{' || mark === '[') {
      const top = open.at(-1)
      if (top !== undefined) top.empty = false
      open.push({ name: mark === '[' ? 0 : '', empty: true })
      keyDue = mark === '{'
    } else if (mark === '}' || mark === ']') {
      const closed = open.pop()
      if (closed?.empty === true && open.length > 0) add(null, mark === '}' ? '{}' : '[]')
      keyDue = false
    } else if (mark === ',') {
      const top = open.at(-1)
      if (typeof top?.name === 'number') top.name++
      else keyDue = true
    } else if (quoted !== undefined) {
      const value = String(JSON.parse(quoted))
      const top = open.at(-1)
      if (keyDue && top !== undefined) {
        top.name = value
        keyDue = false
      } else leaf(value, value)
    } else if (scalar !== undefined) {
      leaf(scalar === 'true' ? true : scalar === 'false' ? false : scalar === 'null' ? null : Number(scalar), scalar)
    }
  }
  return leaves
}

function lineOf(bytes: Buffer, offset: number): number {
  let line = 1
  for (let i = 0; i < offset && i < bytes.length; i++) if (bytes[i] === 0x0a) line++
  return line
}
