/** A small HTTP server that answers by script, a clock that does not wait, and the search for a key in what is thrown. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import type { Clock } from '../../src/fetch/client.js'

export type Reply = (response: ServerResponse, request: IncomingMessage) => void

export interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface TestServer {
  readonly url: string
  readonly received: readonly Received[]
  readonly mostUnderWay: () => number
  readonly close: () => Promise<void>
}

/** Answers the requests with the replies in turn; the last one answers all that follow. */
export async function openServer(
  replies: readonly Reply[],
  tls?: { readonly key: string; readonly cert: string },
  host = '127.0.0.1'
): Promise<TestServer> {
  const received: Received[] = []
  let [underWay, most] = [0, 0]
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    most = Math.max(most, ++underWay)
    response.on('close', () => underWay--)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const reply = replies[Math.min(received.length, replies.length - 1)]
      const { method, url, headers } = request
      received.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
      reply(response, request)
    })
  }
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener)
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject)
    server.listen(0, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: tls === undefined ? `http://${host.includes(':') ? `[${host}]` : host}:${port}` : `https://localhost:${port}`,
    received,
    mostUnderWay: () => most,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

export function answer(status: number, body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Reply {
  return response => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
    response.end(body)
  }
}

export const json = (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Reply =>
  answer(status, JSON.stringify(value), headers)

export const fine = json({ data: { viewer: { id: 'v' } } })

/** Sleeping advances it; nothing is waited for. */
export class TestClock implements Clock {
  readonly waits: number[] = []
  #now: number

  constructor(now: number) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  async sleep(ms: number): Promise<void> {
    this.waits.push(ms)
    this.#now += ms
  }
}

/** Every text that a careless program could print of a thrown thing, its causes included. */
function everythingOf(thrown: unknown): string {
  const texts: string[] = []
  const seen = new Set<unknown>()
  for (let at = thrown; at !== undefined && at !== null && !seen.has(at); at = at instanceof Error ? at.cause : undefined) {
    seen.add(at)
    texts.push(String(at), JSON.stringify(at) ?? '')
    for (const customInspect of [true, false]) {
      const all = { depth: Infinity, maxStringLength: Infinity, maxArrayLength: Infinity }
      texts.push(inspect(at, { ...all, showHidden: true, getters: true, customInspect }))
    }
    if (at instanceof Error) texts.push(at.message, at.stack ?? '')
  }
  return texts.join('\n')
}

/** The pieces of a key in what was thrown: any eight characters of it, plain, in base64, or as node prints a buffer. */
export function leaks(thrown: unknown, key: string): readonly string[] {
  const all = everythingOf(thrown).toLowerCase()
  const forms = [key, Buffer.from(`api:${key}`).toString('base64')]
  return forms
    .flatMap(form => Array.from({ length: form.length - 7 }, (_, i) => form.slice(i, i + 8)))
    .flatMap(piece => [piece, [...Buffer.from(piece)].map(b => b.toString(16)).join(' ')])
    .filter(piece => all.includes(piece.toLowerCase()))
}
