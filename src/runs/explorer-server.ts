/**
 * The server of an explorer: on the loopback address, read-only, for its own page. What it answers is in memory or in the file of
 * `ServedTraces`; a request names traces by number, and no file.
 *
 * Other sites that a browser has open reach a loopback address too. So a request must name this host (a site whose name leads here
 * names its own), no other origin may read an answer (no CORS, and Cross-Origin-Resource-Policy), and no frame may show the page.
 */
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { columnFromArray, tableFromColumns, tableToIPC } from '@uwdata/flechette'
import { describeCause, EXIT, Fault, printable } from '../core/errors.js'
import { NO_TEXTS, VIEW_COLUMNS, type TraceView } from '../render/explorer/contract.js'
import type { ServedTraces } from './served-traces.js'

const ADDRESS = '127.0.0.1'
/** A view in a window asks for a bucket a pixel, a CSV for a bucket a token of each of its parts. */
const MAX_BUCKETS = 100_000

export interface ServedExplorer {
  /** the page */
  readonly html: string
  /** by the number of their snapshot */
  readonly snapshots: readonly ServedTraces[]
}

export interface ServerAnswer {
  readonly status: number
  readonly type: string
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

export interface ExplorerRequest {
  readonly method: string | undefined
  /** path and query */
  readonly url: string | undefined
  /** one, or several where the request names several */
  readonly host: string | readonly string[] | undefined
}

/** A request that is not answered as it asks. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string
  ) {
    super(message)
  }
}

export class ExplorerServer {
  readonly #server: Server
  readonly #port: number
  #explorer: ServedExplorer | null = null

  private constructor(server: Server) {
    this.#server = server
    this.#port = (server.address() as AddressInfo).port
    server.on('request', ({ method, url, headersDistinct: { host } }, response) => {
      send(response, this.#answer({ method, url, host }))
    })
  }

  /** Takes the port before anything is read. @param port 0: any that is free. @throws Fault where it is not free */
  static async open(port: number): Promise<ExplorerServer> {
    const server = createServer()
    await new Promise<void>((resolve, reject) => {
      server.once('error', cause => reject(portTaken(port, cause)))
      server.listen(port, ADDRESS, resolve)
    })
    return new ExplorerServer(server)
  }

  get url(): string {
    return `http://${ADDRESS}:${this.#port}/`
  }

  serve(explorer: ServedExplorer): void {
    this.#explorer = explorer
  }

  async close(): Promise<void> {
    const closed = new Promise<void>(resolve => {
      this.#server.close(() => resolve())
    })
    this.#server.closeAllConnections()
    await closed
  }

  #answer(request: ExplorerRequest): ServerAnswer {
    return answerOf(this.#explorer, [`${ADDRESS}:${this.#port}`, `localhost:${this.#port}`], request)
  }
}

/**
 * @param explorer null: its traces are still being read
 * @param hosts what a request may name as its host
 */
export function answerOf(explorer: ServedExplorer | null, hosts: readonly string[], { method, url, host }: ExplorerRequest): ServerAnswer {
  try {
    const [named = 'none', ...others] = typeof host === 'string' ? [host] : (host ?? [])
    if (others.length > 0) throw new Refusal(400, `hosts: ${others.length + 1}, expected one`)
    if (!hosts.includes(named.toLowerCase())) throw new Refusal(421, `host: ${quoted(named)}, expected ${hosts.join(' or ')}`)
    // Node leaves the body of an answer to HEAD out.
    if (method !== 'GET' && method !== 'HEAD') throw new Refusal(405, `method: ${quoted(method ?? 'none')}, expected GET or HEAD`)
    const [path, query = '', ...rest] = (url ?? '').split('?')
    const answer = rest.length === 0 && Object.hasOwn(ANSWERS, path) ? ANSWERS[path] : undefined
    if (answer === undefined) throw new Refusal(404, `path: ${quoted(path)}, expected ${Object.keys(ANSWERS).join(', ')}`)
    if (explorer === null) throw new Refusal(503, 'the traces are still being read')
    return answer(explorer, query)
  } catch (error) {
    // A fault of the file that holds the tokens is told to the reader; nothing in it comes from the request.
    const { status, message } = error instanceof Refusal ? error : { status: 500, message: describeCause(error) }
    const headers = status === 405 ? { Allow: 'GET, HEAD' } : {}
    return { status, type: 'text/plain; charset=utf-8', body: `${message}\n`, headers }
  }
}

const ANSWERS: Readonly<Record<string, (explorer: ServedExplorer, query: string) => ServerAnswer>> = {
  '/': ({ html }, query) => {
    numbersOf(query, [])
    return { status: 200, type: 'text/html; charset=utf-8', body: html }
  },
  '/tokens': ({ snapshots }, query) => {
    const [snapshot, trace, from, to, buckets] = numbersOf(query, ['snapshot', 'trace', 'from', 'to', 'buckets'])
    const traces = tracesOf(snapshots, snapshot, trace)
    const tokens = traces.tokens(trace)
    inRange('from', from, 0, tokens - 1)
    inRange('to', to, from + 1, tokens)
    inRange('buckets', buckets, 1, MAX_BUCKETS)
    return { status: 200, type: 'application/vnd.apache.arrow.stream', body: arrowOf(traces.view(trace, { from, to, buckets })) }
  },
  '/texts': ({ snapshots }, query) => {
    const [snapshot, trace] = numbersOf(query, ['snapshot', 'trace'])
    const body = tracesOf(snapshots, snapshot, trace).texts(trace)
    if (body === null)
      throw new Refusal(404, `texts: none of trace ${trace}, expected a trace with texts and a server with --texts; ${NO_TEXTS}`)
    return { status: 200, type: 'application/json', body, headers: { 'Content-Encoding': 'gzip' } }
  }
}

/** Each of the names once, and nothing else; each an integer. */
function numbersOf(query: string, names: readonly string[]): number[] {
  const given = new URLSearchParams(query)
  const unknown = [...given.keys()].find((name, i, all) => !names.includes(name) || all.indexOf(name) < i)
  if (unknown !== undefined)
    throw new Refusal(400, `parameter: ${quoted(unknown)}, expected ${names.length === 0 ? 'none' : `each of ${names.join(', ')} once`}`)
  return names.map(name => {
    const text = given.get(name)
    if (text === null || !/^\d{1,10}$/.test(text)) throw new Refusal(400, `${name}: ${quoted(text ?? 'none')}, expected an integer`)
    return Number(text)
  })
}

function tracesOf(snapshots: readonly ServedTraces[], snapshot: number, trace: number): ServedTraces {
  inRange('snapshot', snapshot, 0, snapshots.length - 1)
  inRange('trace', trace, 0, snapshots[snapshot].traces - 1)
  return snapshots[snapshot]
}

function inRange(name: string, value: number, least: number, most: number): void {
  if (value < least || value > most) throw new Refusal(400, `${name}: ${value}, expected an integer from ${least} to ${most}`)
}

function quoted(text: string): string {
  return printable(JSON.stringify(text))
}

function arrowOf(view: TraceView): Uint8Array {
  const stream = tableToIPC(tableFromColumns(VIEW_COLUMNS.map(name => [name, columnFromArray(view[name])] as const)), { format: 'stream' })
  if (stream === null) throw new Error('flechette wrote nothing for a table')
  return stream
}

/** The page has a policy of its own, which says what its one script may do. This adds what a page cannot say. */
const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff'
}

function send(response: ServerResponse, { status, type, body, headers }: ServerAnswer): void {
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body
  response.writeHead(status, { ...HEADERS, 'Content-Type': type, 'Content-Length': bytes.length, ...headers })
  response.end(bytes)
}

function portTaken(port: number, cause: Error): Fault {
  return new Fault({
    format: 'serve',
    problem: 'without its port',
    found: `${ADDRESS}:${port}, ${describeCause(cause)}`,
    expected: 'a free one; without --port any that is free is taken',
    exitCode: EXIT.usage,
    cause
  })
}
