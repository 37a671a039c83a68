/**
 * Searches texts of a document for a study's pattern. Neither can be trusted: the study's checks refuse patterns that take
 * exponential time, and this one gives up after a second, which a polynomial one over a long text can take.
 */
import { createContext, Script, type Context } from 'node:vm'

/** Excel's own limit of a cell's text. */
const MAX_TEXT = 32_767
const TIME_LIMIT_MS = 1000

export type Found =
  /** group 1 of the first match */
  | { readonly group: string }
  | { readonly problem: 'no match' | 'too long' | 'too slow' }

/** A loop in the matcher's machine code can be stopped only where the code runs as a script of a context. */
const SEARCH = new Script('{ const match = new RegExp(source, "u").exec(text); match === null ? null : match[1] ?? "" }')

const NO_CODE = { codeGeneration: { strings: false, wasm: false } } as const

export class TextSearch {
  #context: Context | null = null
  readonly #timeLimit: number

  constructor(timeLimitMs: number = TIME_LIMIT_MS) {
    this.#timeLimit = timeLimitMs
  }

  /** @param pattern a valid regular expression with one group */
  find(pattern: string, text: string): Found {
    if (text.length > MAX_TEXT) return { problem: 'too long' }
    const context = (this.#context ??= createContext(Object.create(null) as Context, NO_CODE))
    context['source'] = pattern
    context['text'] = text
    try {
      const group: unknown = SEARCH.runInContext(context, { timeout: this.#timeLimit })
      return typeof group === 'string' ? { group } : { problem: 'no match' }
    } catch (error) {
      // Not an `instanceof Error`: it is the context's own.
      const timedOut = typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
      if (timedOut) return { problem: 'too slow' }
      throw error
    }
  }
}
