/**
 * Regular expressions that a study states: JavaScript's, in Unicode mode, with exactly one group. A study is hostile until
 * checked, and a backtracking matcher takes exponential time for `(a+)+$`: what is repeated may hold no repetition, no
 * option and no alternative, and nothing refers back. What is left takes polynomial time, which whoever matches caps.
 */
import { Fault } from '../../errors.js'
import { describeValue, refine, text, type CheckContext, type Kind } from './checker.js'

const MAX_PATTERN = 200

/** A quantifier at the start of the text, with its two numbers where it has them. */
const QUANTIFIER = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/

interface OpenGroup {
  readonly start: number
  /** a quantifier or an alternative stands inside */
  varies: boolean
}

/** Why the pattern is refused; null where nothing is wrong with it. The answer says what was found and what was expected. */
export function patternProblem(source: string): { readonly found: string; readonly expected: string } | null {
  const compiled = compile(source)
  if (compiled === null) return { found: 'no regular expression', expected: 'one that JavaScript\'s RegExp takes with its flag u' }
  const groups = (new RegExp(`(?:${source})|`, 'u').exec('')?.length ?? 1) - 1
  if (groups !== 1) {
    return { found: `${groups} groups in parentheses`, expected: 'one, around the number; (?:…) where it is for grouping only' }
  }
  const repeated = nestedRepetition(source)
  if (repeated === null) return null
  return { found: `the part ${describeValue(repeated)}`, expected: 'no repetition of what varies, no reference back' }
}

function compile(source: string): RegExp | null {
  try {
    return new RegExp(source, 'u')
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** The first part of a valid pattern that repeats something that varies, or refers back; null where none does. */
function nestedRepetition(source: string): string | null {
  const open: OpenGroup[] = []
  const vary = (): void => { for (const group of open) group.varies = true }
  let closed: OpenGroup | null = null
  let at = 0
  while (at < source.length) {
    const rest = source.slice(at)
    const quantifier = QUANTIFIER.exec(rest)
    if (quantifier !== null) {
      if (closed !== null && closed.varies && repeats(quantifier)) return source.slice(closed.start, at + quantifier[0].length)
      vary()
      closed = null
      at += quantifier[0].length
      continue
    }
    const character = rest[0]
    const group: OpenGroup | null = character === ')' ? open.pop() ?? null : null
    if (character === '\\' && /^\\(?:[1-9]|k)/.test(rest)) return rest.slice(0, 2)
    if (character === '(') {
      open.push({ start: at, varies: false })
      // `(?:`, `(?=`, `(?<name>`: its question mark repeats nothing
      at += /^\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?/.exec(rest)?.[0].length ?? 1
    } else {
      if (character === '|') vary()
      at += character === '[' ? classLength(rest) : character === '\\' ? 2 : 1
    }
    closed = group
  }
  return null
}

/** True where the quantifier allows more than one of what it stands behind. */
function repeats([quantifier, least, comma, most]: RegExpExecArray): boolean {
  if (quantifier.startsWith('?')) return false
  if (least === undefined) return true
  return Number(comma === '' ? least : most === '' ? Infinity : most) > 1
}

/** Length of the class that the text begins with. */
function classLength(text: string): number {
  let at = 1
  while (at < text.length && text[at] !== ']') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

export const safePattern: Kind<string> = refine(text(MAX_PATTERN), (source, at, context: CheckContext) => {
  const problem = patternProblem(source)
  if (problem === null) return source
  throw new Fault({
    format: context.format, problem: 'unsafe pattern', found: `${at} is ${describeValue(source)}, with ${problem.found}`,
    expected: problem.expected, place: context.place
  })
})
