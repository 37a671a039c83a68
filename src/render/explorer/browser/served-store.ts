/** The tokens and texts that the page's server has. The last few views stay, so that a reader who goes back waits for nothing. */
import { tableFromIPC } from '@uwdata/flechette'
import { VIEW_COLUMNS, type TraceReference, type TraceStore, type TraceTexts, type TraceView } from '../contract.js'

/** Views that stay: some steps of zoom of two traces. */
const KEPT = 24

export class ServedStore implements TraceStore {
  /** by their address, the one used last at the end */
  readonly #views = new Map<string, Promise<TraceView>>()

  view({ snapshot, trace }: TraceReference, from: number, to: number, buckets: number): Promise<TraceView> {
    const address = `tokens?${query({ snapshot, trace, from, to, buckets })}`
    const view = this.#views.get(address) ?? this.#load(address, from, to)
    this.#views.delete(address)
    this.#views.set(address, view)
    const [oldest] = this.#views.keys()
    if (this.#views.size > KEPT) this.#views.delete(oldest)
    return view
  }

  async texts({ snapshot, trace }: TraceReference): Promise<TraceTexts> {
    return (await (await answer(`texts?${query({ snapshot, trace })}`)).json()) as TraceTexts
  }

  async #load(address: string, from: number, to: number): Promise<TraceView> {
    try {
      const table = tableFromIPC(new Uint8Array(await (await answer(address)).arrayBuffer()))
      // Sound: the server's columns have these types, see `TraceView`.
      const columns = Object.fromEntries(VIEW_COLUMNS.map(name => [name, table.getChild(name).toArray()])) as unknown as TraceView
      return { ...columns, from, to }
    } catch (reason) {
      // It is asked for again: a server may come back.
      this.#views.delete(address)
      throw reason
    }
  }
}

function query(numbers: Readonly<Record<string, number>>): string {
  return Object.entries(numbers)
    .map(([name, number]) => `${name}=${number}`)
    .join('&')
}

async function answer(address: string): Promise<Response> {
  const response = await fetch(address).catch((cause: unknown) => {
    throw new Error('the server does not answer', { cause })
  })
  if (!response.ok) throw new Error(`the server says: ${(await response.text()).trim()}`)
  return response
}
