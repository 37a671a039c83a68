/** The tokens and texts that a page holds. A trace is decoded when it is first asked for; the last few stay decoded. */
import { tableFromIPC } from '@uwdata/flechette'
import { NO_TEXTS, TOKEN_COLUMNS, type TraceReference, type TraceStore, type TraceTexts, type TraceView } from '../contract.js'
import { traceTokens, viewOf, type TraceTokens } from '../view.js'

/** Traces that stay decoded: two that are compared, and two to go back to. */
const KEPT = 4

export class EmbeddedStore implements TraceStore {
  readonly #page: Document
  /** by the id of their block, the one used last at the end */
  readonly #decoded = new Map<string, Promise<TraceTokens>>()

  constructor(page: Document) {
    this.#page = page
  }

  async view(trace: TraceReference, from: number, to: number, buckets: number): Promise<TraceView> {
    return viewOf(await this.#tokens(trace), { from, to, buckets })
  }

  async texts({ snapshot, trace }: TraceReference): Promise<TraceTexts> {
    const id = `texts-${snapshot}-${trace}`
    if (this.#page.getElementById(id) === null) throw new Error(NO_TEXTS)
    return JSON.parse(new TextDecoder().decode(await this.#block(id))) as TraceTexts
  }

  #tokens({ snapshot, trace }: TraceReference): Promise<TraceTokens> {
    const id = `tokens-${snapshot}-${trace}`
    const tokens = this.#decoded.get(id) ?? this.#block(id).then(decodedTokens)
    this.#decoded.delete(id)
    this.#decoded.set(id, tokens)
    const [oldest] = this.#decoded.keys()
    if (this.#decoded.size > KEPT) this.#decoded.delete(oldest)
    return tokens
  }

  /** The bytes behind base64 and gzip. */
  async #block(id: string): Promise<Uint8Array> {
    const element = this.#page.getElementById(id)
    if (element === null) throw new Error(`the page has no block ${id}`)
    const text = atob(element.textContent)
    const packed = new Uint8Array(text.length)
    for (let i = 0; i < packed.length; i++) packed[i] = text.charCodeAt(i)
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))
    return new Uint8Array(await new Response(unpacked).arrayBuffer())
  }
}

function decodedTokens(stream: Uint8Array): TraceTokens {
  const table = tableFromIPC(stream)
  const [values, returns, steps] = TOKEN_COLUMNS.map(name => table.getChild(name).toArray())
  // Sound: the page's writer has these types, see blocks.ts.
  return traceTokens(values as TraceTokens['values'], returns as TraceTokens['returns'], steps as Int32Array | Float64Array)
}
