/**
 * Regular expressions from a study or its claims, in the syntax of JavaScript's Unicode mode. They are not trusted: a
 * backtracking matcher takes exponential time for `(a+)+$`. The check depends on the pattern alone. It refuses
 *
 * - a repetition of a part that holds a repetition, an option or an alternative
 * - a back reference
 * - more than `MAX_WAYS` ways to match by options, alternatives and counted repetitions
 * - more than `MAX_OPEN` repetitions without an end, or two of a part that matches nearly everything
 *
 * A pattern that passes takes polynomial time. The code that matches it limits that time.
 */
import { Fault } from './errors.js'
import { describeValue, refine, text, type CheckContext, type Kind } from './checker.js'

const MAX_PATTERN = 200

/** Limit of the product of the ways to match: `a?` has 2, `a{0,40}` has 41, `(?:a|b|c)` has 3. */
const MAX_WAYS = 100_000

/** Limit of the repetitions without an end: `a*`, `a+`, `a{2,}`. */
const MAX_OPEN = 4

/** What stands before a quantifier and matches nearly every character: `.`, `[^.]`, `\S`. */
const WIDE = /^(?:\.|\[\^|\\[DSWP])/

/** A quantifier at the start of the text, with its two numbers where it has them. */
const QUANTIFIER = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/

interface OpenGroup {
  readonly start: number
  /** a quantifier or an alternative stands inside */
  varies: boolean
  alternatives: number
}

/** What was found, and what was expected. */
interface PatternProblem {
  readonly found: string
  readonly expected: string
}

/** Why a pattern that must find one number is refused; null where it is accepted. */
export function patternProblem(source: string): PatternProblem | null {
  const compiled = compile(source)
  if (compiled === null) return { found: 'no regular expression', expected: "one that JavaScript's RegExp takes with its flag u" }
  const groups = (new RegExp(`(?:${source})|`, 'u').exec('')?.length ?? 1) - 1
  if (groups !== 1) {
    return { found: `${groups} groups in parentheses`, expected: 'one, around the number; (?:…) where it is for grouping only' }
  }
  return slownessProblem(source)
}

function compile(source: string): RegExp | null {
  try {
    return new RegExp(source, 'u')
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Why a valid pattern may take too long on some text; null where it cannot. */
export function slownessProblem(source: string): PatternProblem | null {
  const whole: OpenGroup = { start: 0, varies: false, alternatives: 1 }
  const open: OpenGroup[] = [whole]
  const vary = (): void => {
    for (const group of open) group.varies = true
  }
  let [ways, endless, wide] = [1, 0, 0]
  let closed: OpenGroup | null = null
  let [at, atom] = [0, 0]
  while (at < source.length) {
    const rest = source.slice(at)
    const quantifier = QUANTIFIER.exec(rest)
    if (quantifier !== null) {
      const { least, most } = bounds(quantifier)
      if (closed?.varies === true && most > 1) return nested(source.slice(closed.start, at + quantifier[0].length))
      if (most !== Infinity) ways *= most - least + 1
      else endless++
      if (most === Infinity && closed === null && WIDE.test(source.slice(atom, at))) wide++
      vary()
      closed = null
      at += quantifier[0].length
      continue
    }
    const character = rest[0]
    const group: OpenGroup | null = character === ')' ? (open.pop() ?? null) : null
    if (character === '\\' && /^\\(?:[1-9]|k)/.test(rest)) return nested(rest.slice(0, 2))
    atom = at
    if (group !== null) ways *= group.alternatives
    if (character === '(') {
      open.push({ start: at, varies: false, alternatives: 1 })
      // in `(?:`, `(?=` and `(?<name>` the question mark is no quantifier
      at += /^\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?/.exec(rest)?.[0].length ?? 1
    } else {
      if (character === '|') {
        vary()
        open[open.length - 1].alternatives++
      }
      at += character === '[' ? classLength(rest) : character === '\\' ? 2 : 1
    }
    closed = group
  }
  ways *= whole.alternatives
  if (ways > MAX_WAYS) return { found: `${ways} ways by options, alternatives and counted repetitions`, expected: `at most ${MAX_WAYS}` }
  if (endless > MAX_OPEN) return { found: `${endless} repetitions without an end`, expected: `at most ${MAX_OPEN}` }
  if (wide > 1) return { found: `${wide} repetitions without an end of what matches nearly everything`, expected: 'at most 1' }
  return null
}

function nested(part: string): PatternProblem {
  return { found: `the part ${describeValue(part)}`, expected: 'no repetition of what varies, no reference back' }
}

function bounds([quantifier, least, comma, most]: RegExpExecArray): { readonly least: number; readonly most: number } {
  if (least !== undefined) return { least: Number(least), most: Number(comma === '' ? least : most === '' ? Infinity : most) }
  return { least: quantifier.startsWith('+') ? 1 : 0, most: quantifier.startsWith('?') ? 1 : Infinity }
}

/** Length of the character class at the start of the text. */
function classLength(text: string): number {
  let at = 1
  while (at < text.length && text[at] !== ']') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

export const safePattern: Kind<string> = refine(text(MAX_PATTERN), (source, at, context: CheckContext) => {
  const problem = patternProblem(source)
  if (problem === null) return source
  throw new Fault({
    format: context.format,
    problem: 'unsafe pattern',
    found: `${at} is ${describeValue(source)}, with ${problem.found}`,
    expected: problem.expected,
    place: context.place
  })
})
