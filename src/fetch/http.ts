/**
 * Sends one POST over a kept connection. The result is status, headers and the whole body, or the reason why the
 * connection broke.
 *
 * It uses node's own `http` and `https`, and certificates are checked whatever NODE_TLS_REJECT_UNAUTHORIZED says.
 * NODE_EXTRA_CA_CERTS adds authorities, for a server inside an organisation.
 *
 * Errors of node's modules are never passed on or kept as a cause: they hold requests with their headers, raw packets and
 * certificates, and one of these may hold the API key. The key's header is set on the finished request only, so that it is
 * in no options object (NODE_DEBUG=http prints those). No text of the server is quoted here, since it has not been searched
 * for the key yet.
 *
 * Through a proxy (`proxy.ts`) the same requests go in a tunnel. What the proxy itself answers is told apart from the server's answers.
 *
 * Not supported: HTTP/2, encodings other than gzip.
 */
import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Fault } from '../core/errors.js'
import { errorCode } from '../core/paths.js'
import { PREMATURE_CLOSE, brokenOf, type Broken, type FaultMaker } from './broken.js'
import { tunnelAgent, type ProxyServer } from './proxy.js'
import { isRetried } from './retry.js'

/** Largest decoded answer. A page of 100 rows is far smaller. */
const MAX_BODY_BYTES = 64 * 1024 * 1024

/** Largest answer that is an error. Only its message is used. */
const MAX_ERROR_BYTES = 1024 * 1024

export interface Answer {
  readonly kind: 'answer'
  readonly status: number
  readonly location: string | undefined
  readonly retryAfter: string | undefined
  readonly contentType: string
  /** names and values of all headers, alternating */
  readonly rawHeaders: readonly string[]
  /** decoded; empty if the status is not 200 and the body cannot be read whole */
  readonly body: Buffer
}

export interface WireOptions {
  readonly secure: boolean
  readonly connections: number
  /** ms without a byte in either direction after which a connection counts as broken */
  readonly idleMs: number
  /** ms to wait for the message of an error */
  readonly errorMs: number
  readonly lookup: LookupFunction | undefined
  /** null: requests go to the server itself */
  readonly proxy: ProxyServer | null
}

/** The status with which a proxy answered instead of opening a tunnel; null: none did. */
interface TunnelState {
  refusedWith: number | null
}

export class Wire {
  readonly #options: WireOptions
  #agent: Promise<HttpAgent> | null = null

  constructor(options: WireOptions) {
    this.#options = options
  }

  /**
   * @throws Fault for a failure that does not pass: an unknown host, a certificate, a proxy that refuses, an answer that is not
   * HTTP, too large or in an unknown encoding; the signal's reason when it aborts
   */
  async post(url: URL, authorization: string, body: Buffer, signal: AbortSignal, fault: FaultMaker): Promise<Answer | Broken> {
    const { idleMs, errorMs, proxy } = this.#options
    this.#agent ??= openAgent(this.#options)
    const request = this.#open(url, body, signal, await this.#agent)
    let response: IncomingMessage | null = null
    let idle = false
    const onIdle = (): void => {
      idle = true
      request.destroy()
    }
    request.on('timeout', onIdle)
    const tunnel = proxy === null ? null : tunnelOf(request, idleMs, onIdle)
    try {
      response = await responseOf(request, authorization, body)
      const answer = await answerOf(response, errorMs, fault)
      signal.throwIfAborted()
      return tunnel?.refusedWith == null ? answer : proxyAnswer(request, tunnel.refusedWith, fault)
    } catch (error) {
      signal.throwIfAborted()
      if (idle) return { kind: 'broken', reason: `no byte for ${idleMs / 1000} s` }
      if (tunnel?.refusedWith != null) return proxyAnswer(request, tunnel.refusedWith, fault)
      if (error instanceof Fault) throw error
      const code = errorCode(error)
      // The library's own error has no code: the proxy closed the connection before it answered.
      if (tunnel !== null && response === null && !/^[A-Z\d_]+$/.test(code)) {
        return { kind: 'broken', reason: 'connection closed by the proxy' }
      }
      return brokenOf(code, response !== null, url, fault)
    }
  }

  #open(url: URL, body: Buffer, signal: AbortSignal, agent: HttpAgent): ClientRequest {
    const { secure, idleMs, lookup } = this.#options
    return (secure ? httpsRequest : httpRequest)({
      protocol: url.protocol,
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
      path: `${url.pathname}${url.search}`,
      method: 'POST',
      agent,
      ...(secure ? { rejectUnauthorized: true } : {}),
      signal,
      timeout: idleMs,
      ...(lookup === undefined ? {} : { lookup }),
      headers: {
        Accept: 'application/json',
        'Accept-Encoding': 'gzip',
        'Content-Type': 'application/json',
        'Content-Length': body.length,
        'User-Agent': 'critic-traces'
      }
    })
  }

  close(): void {
    // An agent that could not be opened has been reported by the request that needed it.
    this.#agent?.then(agent => agent.destroy()).catch(() => undefined)
  }
}

async function openAgent({ secure, connections: maxSockets, proxy }: WireOptions): Promise<HttpAgent> {
  if (proxy !== null) return tunnelAgent(proxy, maxSockets)
  return secure ? new HttpsAgent({ keepAlive: true, maxSockets, rejectUnauthorized: true }) : new HttpAgent({ keepAlive: true, maxSockets })
}

/** Watches the opening of the tunnel. Node's own timeout of a request begins only when it has its socket. */
function tunnelOf(request: ClientRequest, idleMs: number, onIdle: () => void): TunnelState {
  const state: TunnelState = { refusedWith: null }
  const timer = setTimeout(onIdle, idleMs)
  request.once('proxyConnect', ({ statusCode }: { readonly statusCode: number }) => {
    clearTimeout(timer)
    if (statusCode !== 200) state.refusedWith = statusCode
  })
  request.once('close', () => clearTimeout(timer))
  return state
}

function proxyAnswer(request: ClientRequest, status: number, fault: FaultMaker): Broken {
  // The agent made up a socket for the proxy's answer. Kept, it would keep the process alive until it is idle.
  request.destroy()
  if (isRetried(status)) return { kind: 'broken', reason: `HTTP ${status} of the proxy` }
  const expected = status === 407 ? 'a user and password that it takes, in the address of the proxy' : 'a tunnel to the server'
  throw fault('proxy refused', `HTTP ${status} of the proxy`, expected)
}

function responseOf(request: ClientRequest, authorization: string, body: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve)
    request.on('error', reject)
    // A request may close without an answer and without an error; the promise must still settle.
    request.on('close', () => reject(Object.assign(new Error('closed'), { code: PREMATURE_CLOSE })))
    request.setHeader('Authorization', authorization)
    request.end(body)
  })
}

async function answerOf(response: IncomingMessage, errorMs: number, fault: FaultMaker): Promise<Answer | Broken> {
  const status = response.statusCode ?? 0
  const { headers, rawHeaders } = response
  const answer = {
    kind: 'answer',
    status,
    rawHeaders,
    location: headers.location,
    retryAfter: headers['retry-after'],
    contentType: headers['content-type'] ?? ''
  } as const
  const limit = status === 200 ? MAX_BODY_BYTES : MAX_ERROR_BYTES
  // For an error the status is enough: if its body does not arrive in time, the message is left out.
  const hurry = status === 200 ? undefined : setTimeout(() => response.destroy(), errorMs)
  const body = await decodedBody(response, limit)
    .catch((error: unknown) => {
      if (status === 200) throw error
      return 'cut short'
    })
    .finally(() => clearTimeout(hurry))
  if (Buffer.isBuffer(body)) return { ...answer, body }
  if (status !== 200) return { ...answer, body: Buffer.alloc(0) }
  if (body === 'cut short') return { kind: 'broken', reason: 'answer cut short' }
  if (body === 'too large') throw fault('answer too large', `more than ${limit} bytes`, `at most ${limit}`)
  throw fault('answer not readable', body, 'gzip or no encoding')
}

const inflate = promisify(gunzip)

/** The body, or its problem: `cut short`, `too large`, or the fault of the encoding in words. */
async function decodedBody(response: IncomingMessage, limit: number): Promise<Buffer | string> {
  const raw = await rawBody(response, limit)
  if (raw === null) return 'too large'
  const encoding = (response.headers['content-encoding'] ?? 'identity').toLowerCase()
  if (encoding === 'identity' || encoding === '') return raw
  if (encoding !== 'gzip' && encoding !== 'x-gzip') return 'another encoding'
  try {
    return await inflate(raw, { maxOutputLength: limit })
  } catch (error) {
    const code = errorCode(error)
    if (code === 'Z_BUF_ERROR') return 'cut short'
    return code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : 'bytes that are not gzip'
  }
}

/** The raw body; null if it is larger than the limit. Memory is not allocated by the size in the header. */
async function rawBody(response: IncomingMessage, limit: number): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let total = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    total += chunk.length
    if (total > limit) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, total)
}
