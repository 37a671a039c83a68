/** One request to the emulator by node:http alone: what comes back, byte for byte, and how it ends. */
import { request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  /** false: the connection ended before the answer did */
  readonly complete: boolean
}

export interface PostOptions {
  readonly key?: string
  readonly headers?: OutgoingHttpHeaders
  readonly method?: string
  readonly signal?: AbortSignal
}

/** Sends a text; rejects where no answer begins. */
export function send(url: string, body: string, { key, headers = {}, method = 'POST', signal }: PostOptions = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const authorization = key === undefined ? {} : { authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}` }
    const sent = request(
      url,
      {
        method,
        agent: false,
        headers: { 'content-type': 'application/json', ...authorization, ...headers },
        ...(signal === undefined ? {} : { signal })
      },
      response => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        // an answer that is cut is an error of the stream; `complete` tells
        response.on('error', () => undefined)
        response.on('close', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            bytes: Buffer.concat(chunks),
            complete: response.complete
          })
        )
      }
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Sends a query. */
export function post(url: string, query: string, variables: Readonly<Record<string, unknown>>, options: PostOptions): Promise<Reply> {
  return send(`${url}/graphql`, JSON.stringify({ query, variables }), options)
}
