/**
 * Searches texts of a document for a pattern of a study. Neither text nor pattern is trusted. The study's checks refuse
 * patterns that take exponential time. This search stops after a second, because a pattern of polynomial time can also
 * be slow on a long text.
 */
import { createContext, Script, type Context } from 'node:vm'

/** Excel's own limit on the text of a cell. */
const MAX_TEXT = 32_767
const TIME_LIMIT_MS = 1000

export type TextMatch =
  /** group 1 of the first match */
  { readonly group: string } | { readonly problem: 'no match' | 'too long' | 'too slow' }

/** Node can stop a running regular expression only inside a script with a time limit. */
const SEARCH = new Script('{ const match = new RegExp(source, "u").exec(text); match === null ? null : match[1] ?? "" }')

const NO_CODE = { codeGeneration: { strings: false, wasm: false } } as const

export class TextSearch {
  #context: Context | null = null
  readonly #timeLimit: number

  constructor(timeLimitMs: number = TIME_LIMIT_MS) {
    this.#timeLimit = timeLimitMs
  }

  /** @param pattern a valid regular expression with one group */
  find(pattern: string, text: string): TextMatch {
    if (text.length > MAX_TEXT) return { problem: 'too long' }
    this.#context ??= createContext(Object.create(null) as Context, NO_CODE)
    const context = this.#context
    context['source'] = pattern
    context['text'] = text
    try {
      const group: unknown = SEARCH.runInContext(context, { timeout: this.#timeLimit })
      return typeof group === 'string' ? { group } : { problem: 'no match' }
    } catch (error) {
      // `instanceof Error` fails here, because the error belongs to the other context.
      const timedOut = typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
      if (timedOut) return { problem: 'too slow' }
      throw error
    }
  }
}
