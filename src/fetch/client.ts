/**
 * Queries to a W&B server. Each is one POST of a GraphQL query, retried by the rules of `retry.ts`, up to one deadline for
 * all queries.
 *
 * - HTTP 200 with data is the answer. Everything else is a Fault (`wandb …`, exit 3) that names the address and the subject
 *   of the query. 408, 429, 5xx other than 501 and broken connections are retried first.
 * - Redirects: 307 and 308 to the same origin are followed, five at most. Another origin would receive the key, and other
 *   statuses would turn the query into a GET: both are refused.
 * - An answer that contains the key, in its headers or body, is refused, and nothing of it is quoted.
 * - Waiting between tries uses the clock that is passed in. At the deadline a timer in real time ends running requests and
 *   the queue.
 */
import type { LookupFunction } from 'node:net'
import { Fault, printable } from '../core/errors.js'
import { addressText, type Address } from '../ingest/certificate/address.js'
import { dataOf, errorMessage } from './body.js'
import type { Broken, FaultMaker } from './broken.js'
import { Wire, type Answer } from './http.js'
import type { ApiKey } from './key.js'
import type { ProxyServer } from './proxy.js'
import { backoffMs, isRetried, retryAfterMs, systemClock, type Clock } from './retry.js'
import { Slots } from './slots.js'

export type { Clock } from './retry.js'

export interface Retry {
  /** subject of the query */
  readonly what: string
  /** `HTTP 429`, `connection reset (ECONNRESET)` … */
  readonly reason: string
  /** number of the failed try, from 1 */
  readonly attempt: number
  readonly waitMs: number
}

export interface ClientOptions {
  readonly address: Address
  readonly key: ApiKey
  readonly signal?: AbortSignal | undefined
  /** ms for all requests together, from creation; at most 2^31 - 1 (24 days) */
  readonly deadlineMs: number
  /** ms without a byte after which a connection counts as broken (default 60 s) */
  readonly idleMs?: number
  /** ms to wait for the message of an error (default 5 s) */
  readonly errorMs?: number
  readonly clock?: Clock
  /** a random number in [0, 1) */
  readonly random?: () => number
  /** resolves host names (default: the system's) */
  readonly lookup?: LookupFunction
  /** the proxy that requests go through (default: none) */
  readonly proxy?: ProxyServer | null
  /** called before each wait */
  readonly onRetry?: (retry: Retry) => void
}

const MAX_UNDER_WAY = 4
const MAX_REDIRECTS = 5
const IDLE_MS = 60_000
const ERROR_MS = 5000

/** Longest timer. Longer ones fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** One query that is being sent. */
interface PendingQuery {
  readonly body: Buffer
  readonly what: string
  readonly fault: FaultMaker
  /** number of failed tries */
  failures: number
  /** reason of the last failure */
  last: string
}

/** Reason of the internal signal after the deadline's timer has fired. */
const DEADLINE = Symbol('deadline')

export class WandbClient {
  readonly #options: ClientOptions
  readonly #clock: Clock
  readonly #wire: Wire
  readonly #slots: Slots
  /** joins the caller's signal, the deadline and close() */
  readonly #stop = new AbortController()
  readonly #deadlineAt: number
  readonly #timer: NodeJS.Timeout
  readonly #onAbort: () => void

  constructor(options: ClientOptions) {
    const { address, signal, deadlineMs, idleMs = IDLE_MS, errorMs = ERROR_MS, clock = systemClock, lookup, proxy = null } = options
    if (!(deadlineMs > 0 && deadlineMs <= MAX_TIMER_MS)) throw new RangeError(`deadlineMs is ${deadlineMs}`)
    this.#options = options
    this.#clock = clock
    this.#wire = new Wire({ secure: address.base.protocol === 'https:', connections: MAX_UNDER_WAY, idleMs, errorMs, lookup, proxy })
    this.#slots = new Slots(MAX_UNDER_WAY, this.#stop.signal)
    this.#deadlineAt = clock.now() + deadlineMs
    this.#timer = setTimeout(() => this.#stop.abort(DEADLINE), deadlineMs)
    // Requests keep the process alive; the deadline alone must not.
    this.#timer.unref()
    this.#onAbort = () => this.#stop.abort(signal?.reason)
    if (signal?.aborted === true) this.#onAbort()
    else signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  /**
   * Sends a query. At most 4 are sent at a time; the others wait in order.
   *
   * @param what subject of the query, for messages: `history of run x, steps 100 to 199`
   * @returns the `data` object of the answer
   * @throws Fault exit 3: the server's answer, the network, the deadline; the signal's reason when it aborts
   */
  async query(query: string, variables: Readonly<Record<string, unknown>>, what: string): Promise<unknown> {
    const ask: PendingQuery = {
      body: Buffer.from(JSON.stringify({ query, variables })),
      what,
      fault: this.#faultMaker(what),
      failures: 0,
      last: 'no answer to those before'
    }
    try {
      return await this.#slots.run(() => this.#ask(ask))
    } catch (error) {
      const { aborted, reason } = this.#stop.signal
      if (!aborted) throw error
      throw reason === DEADLINE ? this.#late(ask) : reason
    }
  }

  /** Ends running and waiting queries, and the connections. */
  close(): void {
    clearTimeout(this.#timer)
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    if (!this.#stop.signal.aborted) this.#stop.abort(new Error('the client is closed'))
    this.#wire.close()
  }

  #faultMaker(what: string, note = ''): FaultMaker {
    const { address, proxy } = this.#options
    const through = proxy === null || proxy === undefined ? '' : ` through the proxy ${proxy.host}`
    const file = `${addressText(address)}${through}, ${printable(what, 250)}${note}`
    return (problem, found, expected) => new Fault({ format: 'wandb', problem, found, expected, place: { file } })
  }

  async #ask(ask: PendingQuery): Promise<unknown> {
    const { signal } = this.#stop
    for (;;) {
      if (this.#clock.now() >= this.#deadlineAt) throw this.#late(ask)
      if (ask.failures === 0) ask.last = 'no answer yet'
      const outcome = await this.#send(ask)
      if (outcome.kind === 'answer' && outcome.status === 200) return dataOf(outcome, ask.fault)
      const { reason, waitMs } = this.#failed(outcome, ++ask.failures, ask.what)
      ask.last = reason
      if (this.#clock.now() + waitMs >= this.#deadlineAt) throw this.#late(ask, waitMs)
      this.#options.onRetry?.({ what: ask.what, reason, attempt: ask.failures, waitMs })
      await this.#clock.sleep(waitMs, signal)
      signal.throwIfAborted()
    }
  }

  /** The reason of a failed try, and how long to wait. @throws Fault if the query is not retried */
  #failed(outcome: Answer | Broken, failures: number, what: string): { readonly reason: string; readonly waitMs: number } {
    const ordinary = (): number => backoffMs(failures, (this.#options.random ?? Math.random)())
    if (outcome.kind === 'broken') return { reason: outcome.reason, waitMs: ordinary() }
    const { status, retryAfter } = outcome
    const message = errorMessage(outcome)
    const found = message === null ? `HTTP ${status}` : `HTTP ${status} ${message}`
    if (!isRetried(status)) throw this.#refusal(status, found, what)
    if (retryAfter === undefined) return { reason: found, waitMs: ordinary() }
    const asked = retryAfterMs(retryAfter, this.#clock.now())
    if (asked === null) return { reason: `${found}, Retry-After not understood`, waitMs: ordinary() }
    return { reason: found, waitMs: asked === 0 ? ordinary() : asked }
  }

  #refusal(status: number, found: string, what: string): Fault {
    const plain = this.#faultMaker(what)
    const aboutKey = this.#faultMaker(what, `, key of ${this.#options.key.source}`)
    if (status === 401) return aboutKey('refused', found, 'an API key that the server knows')
    if (status === 403) return aboutKey('refused', found, 'an API key that may read this')
    if (status === 404) return plain('project not found', found, 'a project of this name on this server, or a W&B server at this address')
    return plain('request failed', found, 'HTTP 200')
  }

  /** One try, with its redirects. */
  async #send({ body, fault }: PendingQuery): Promise<Answer | Broken> {
    const { key, address } = this.#options
    let url = address.endpoint
    for (let redirects = 0; ; redirects++) {
      const outcome = await this.#wire.post(url, key.authorization(), body, this.#stop.signal, fault)
      if (outcome.kind === 'broken') return outcome
      // As latin1, so that bytes that are not UTF-8 are searched too: the key is ASCII.
      if (key.occursIn(outcome.rawHeaders.join('\n')) || key.occursIn(outcome.body.toString('latin1'))) {
        throw fault('answer with the key', 'withheld', 'an answer without it')
      }
      if (outcome.status < 300 || outcome.status > 399) return outcome
      if (redirects === MAX_REDIRECTS) throw fault('too many redirects', `more than ${MAX_REDIRECTS}`, 'an answer')
      url = redirectTarget(outcome, url, fault)
    }
  }

  #late({ failures, last, fault }: PendingQuery, waitMs?: number): Fault {
    const seconds = (ms: number): string => `${Math.ceil(ms / 1000)} s`
    const tries = failures === 0 ? '' : ` after ${failures} ${failures === 1 ? 'try' : 'tries'}`
    const wait = waitMs === undefined ? '' : `, the next would be in ${seconds(waitMs)}`
    return fault('deadline passed', `${last}${tries}${wait}`, `an answer within ${seconds(this.#options.deadlineMs)}`)
  }
}

/** @throws Fault for every redirect that is not followed; it names the other host, but not the path */
function redirectTarget({ status, location }: Answer, from: URL, fault: FaultMaker): URL {
  const expected = `an answer from ${from.origin}`
  if (location === undefined || !URL.canParse(location, from.href)) {
    throw fault('redirect refused', `HTTP ${status} without a location`, expected)
  }
  const to = new URL(location, from)
  const origin = printable(`${to.protocol}//${to.host}`)
  if (to.origin !== from.origin || to.username !== '' || to.password !== '') {
    throw fault('redirect refused', `HTTP ${status} to ${origin}`, `${expected}; the key is sent to no other`)
  }
  if (status !== 307 && status !== 308) {
    throw fault('redirect refused', `HTTP ${status} to ${origin}`, `${expected}, or HTTP 307 or 308`)
  }
  return to
}
