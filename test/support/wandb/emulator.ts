/**
 * An emulator of W&B's GraphQL API over real HTTP on the loopback interface: `POST /graphql` with
 * `Authorization: Basic base64("api:" + key)`. Every query is parsed, validated against the schema and executed; one that is
 * not valid gets HTTP 400 and is kept in `invalidQueries`. Facts about the API are in the header of `schema/traces.ts` and in the
 * public issues of its SDK. It knows no TLS, no rate limits but scripted ones, and no other address of W&B.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { execute, Kind, parse, validate, visit, type DocumentNode, type GraphQLError } from 'graphql'
import { Random } from '../random.js'
import { root, type Context } from './resolvers.js'
import { wandbSchema } from './schema.js'
import { compileScript, find, type Behaviour, type Script } from './script.js'
import { errorAnswer, jsonAnswer, readBody, replacement, send, type Answer } from './server.js'
import { Store, type Contents } from './store.js'

export interface EmulatorOptions extends Contents {
  readonly key: string
  readonly script?: Script
  /** of the samples; default 1 */
  readonly seed?: number
  /** most runs in one page; default 1,000 */
  readonly pageCap?: number
  /** ms since the epoch, for the log */
  readonly now?: () => number
}

export interface LoggedRequest {
  readonly index: number
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly operation: string | null
  readonly fields: readonly string[]
  readonly variables: Readonly<Record<string, unknown>>
  readonly attempt: number
  readonly at: number
  readonly authorized: boolean
  /** null: nothing was answered */
  status: number | null
}

export interface InvalidQuery {
  readonly query: string
  readonly messages: readonly string[]
}

export interface Emulator {
  /** `http://127.0.0.1:port`, without `/graphql` */
  readonly url: string
  readonly requests: readonly Readonly<LoggedRequest>[]
  readonly invalidQueries: readonly InvalidQuery[]
  /** most requests that were under way at once */
  readonly maxUnderWay: number
  /** what is served; may be changed between requests */
  readonly store: Store
  /** from now on, this script */
  setScript(script: Script): void
  /** Ends every connection. Throws where the emulator itself failed, as with a script that names a run that is not there. */
  close(): Promise<void>
}

interface GraphqlRequest {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
  /** null: the query is no GraphQL */
  readonly document: DocumentNode | null
  readonly operation: string | null
  readonly fields: readonly string[]
  readonly syntaxErrors: readonly GraphQLError[]
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function readGraphql(body: string | null): GraphqlRequest {
  const value = parseJson(body ?? '') as { query?: unknown; variables?: unknown; operationName?: unknown } | null
  const query = typeof value?.query === 'string' ? value.query : ''
  const variables = (value?.variables ?? {}) as Readonly<Record<string, unknown>>
  try {
    const document = parse(query)
    const fields = new Set<string>()
    visit(document, {
      Field: node => {
        fields.add(node.name.value)
      }
    })
    const named = document.definitions.find(d => d.kind === Kind.OPERATION_DEFINITION && d.name !== undefined)
    const name = named?.kind === Kind.OPERATION_DEFINITION ? (named.name?.value ?? null) : null
    // the SDK sends an empty name where it means none
    const operation = typeof value?.operationName === 'string' && value.operationName !== '' ? value.operationName : name
    return { query, variables, document, operation, fields: [...fields], syntaxErrors: [] }
  } catch (error) {
    return { query, variables, document: null, operation: null, fields: [], syntaxErrors: [error as GraphQLError] }
  }
}

class RunningEmulator {
  readonly requests: LoggedRequest[] = []
  readonly invalidQueries: InvalidQuery[] = []
  readonly store: Store
  maxUnderWay = 0
  readonly #schema = wandbSchema()
  readonly #server = createServer((request, response) => this.#receive(request, response))
  readonly #options: EmulatorOptions
  readonly #random: Random
  readonly #attempts = new Map<string, number>()
  #script: ReturnType<typeof compileScript>
  #underWay = 0
  #failure: { readonly thrown: unknown } | null = null

  constructor(options: EmulatorOptions) {
    this.#options = options
    this.#random = new Random(options.seed ?? 1)
    this.#script = compileScript(options.script ?? [])
    this.store = new Store(options)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  setScript(script: Script): void {
    this.#script = compileScript(script)
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(0, '127.0.0.1', resolve)
    })
  }

  async close(): Promise<void> {
    await new Promise<void>(resolve => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
    if (this.#failure !== null) throw new Error('the emulator failed', { cause: this.#failure.thrown })
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    this.#underWay++
    this.maxUnderWay = Math.max(this.maxUnderWay, this.#underWay)
    response.once('close', () => {
      this.#underWay--
    })
    this.#answer(request, response).catch((thrown: unknown) => {
      response.destroy()
      // a client that goes away while it sends is no failure of the emulator
      if (request.complete) this.#failure ??= { thrown }
    })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request)
    const asked = readGraphql(body)
    const entry = this.#log(request, asked)
    const behaviours = this.#script(entry)
    const slow = find(behaviours, 'slow')
    if (slow?.ms === 'never') return
    if (slow !== undefined) await sleep(slow.ms)
    const answer = await this.#decide(request, entry, asked, behaviours)
    this.#change(behaviours)
    if (answer === null) {
      request.socket.resetAndDestroy()
      return
    }
    entry.status = answer.status
    send(request, response, answer, behaviours)
  }

  #log(request: IncomingMessage, { query, operation, fields, variables }: GraphqlRequest): LoggedRequest {
    const same = JSON.stringify([query, variables])
    const attempt = (this.#attempts.get(same) ?? 0) + 1
    this.#attempts.set(same, attempt)
    const { method = '', url: path = '', headers } = request
    const expected = `Basic ${Buffer.from(`api:${this.#options.key}`).toString('base64')}`
    const entry: LoggedRequest = {
      index: this.requests.length,
      method,
      path,
      headers,
      operation,
      fields,
      variables,
      attempt,
      at: (this.#options.now ?? Date.now)(),
      authorized: headers.authorization === expected,
      status: null
    }
    this.requests.push(entry)
    return entry
  }

  /** null: the connection is reset */
  async #decide(
    request: IncomingMessage,
    entry: LoggedRequest,
    asked: GraphqlRequest,
    behaviours: readonly Behaviour[]
  ): Promise<Answer | null> {
    for (const behaviour of behaviours) {
      if (behaviour.kind === 'reset') return null
      const answer = replacement(behaviour, request.headers.authorization ?? '')
      if (answer !== null) return answer
    }
    if (entry.path !== '/graphql') return errorAnswer(404, 'not found')
    if (entry.method !== 'POST') return errorAnswer(405, 'method not allowed')
    if (!entry.authorized) return errorAnswer(401, 'user is not logged in')
    return this.#execute(asked, behaviours)
  }

  async #execute(asked: GraphqlRequest, behaviours: readonly Behaviour[]): Promise<Answer> {
    const { query, variables, document, operation, syntaxErrors } = asked
    const errors = document === null ? syntaxErrors : validate(this.#schema, document)
    if (document === null || errors.length > 0) return this.#invalid(query, errors)
    const { store } = this
    const context: Context = { store, random: this.#random, behaviours, pageCap: this.#options.pageCap ?? 1000 }
    const result = await execute({
      schema: this.#schema,
      document,
      rootValue: root,
      contextValue: context,
      variableValues: variables,
      operationName: operation
    })
    // without `data` nothing ran: the variables do not fit
    if (result.data === undefined) return this.#invalid(query, result.errors ?? [])
    const status = result.errors?.some(error => error.extensions.status === 403) ? 403 : 200
    return jsonAnswer(status, result)
  }

  #invalid(query: string, errors: readonly GraphQLError[]): Answer {
    this.invalidQueries.push({ query, messages: errors.map(error => error.message) })
    return jsonAnswer(400, { errors })
  }

  #change(behaviours: readonly Behaviour[]): void {
    for (const behaviour of behaviours) {
      if (behaviour.kind === 'grow') this.store.grow(behaviour.run, behaviour.rows)
      if (behaviour.kind === 'rename') this.store.run(behaviour.run).displayName = behaviour.displayName
      if (behaviour.kind === 'setState') this.store.run(behaviour.run).state = behaviour.state
    }
  }
}

/** Starts an emulator on a free port. */
export async function start(options: EmulatorOptions): Promise<Emulator> {
  const emulator = new RunningEmulator(options)
  await emulator.listen()
  return emulator
}
