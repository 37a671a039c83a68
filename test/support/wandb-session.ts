/** A client and the server that it asks, with a key that must not be found anywhere. */
import type { Socket } from 'node:net'
import type { Test } from 'tap'
import { parseAddress } from '../../src/ingest/certificate/address.js'
import { WandbClient, type ClientOptions, type Retry } from '../../src/fetch/client.js'
import { ApiKey } from '../../src/fetch/key.js'
import { TestClock, leaks, openServer, type Reply, type TestServer } from './wandb-server.js'

export const KEY = '0123456789abcdef0123456789abcdefcanary42'
/** Python 3.11: base64.b64encode(b'api:' + key) */
export const AUTHORIZATION = 'Basic YXBpOjAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5YWJjZGVmY2FuYXJ5NDI='
/** 2026-10-07T12:00:00Z */
export const NOON = 1_791_374_400_000

export interface Session {
  readonly server: TestServer
  readonly client: WandbClient
  readonly clock: TestClock
  readonly retries: Retry[]
}

export async function session(t: Test, replies: readonly Reply[], options: Partial<ClientOptions> = {}): Promise<Session> {
  const server = await openServer(replies)
  const clock = new TestClock(NOON)
  const retries: Retry[] = []
  const client = new WandbClient({
    address: parseAddress(server.url),
    key: new ApiKey(KEY, 'netrc'),
    deadlineMs: 1_800_000,
    clock,
    random: () => 0,
    onRetry: retry => retries.push(retry),
    ...options
  })
  t.teardown(async () => {
    client.close()
    await server.close()
    if (leaks([client, retries], KEY).length > 0) throw new Error('the key is in the client or in what it reports')
  })
  return { server, client, clock, retries }
}

export const ask = (client: WandbClient, what = 'the viewer'): Promise<unknown> =>
  client.query('query Viewer { viewer { id } }', { a: [1, 'é'] }, what)

/** The start of an answer, and then what becomes of its connection. */
export const partial =
  (status: number, text: string, headers: Readonly<Record<string, string>>, then: (socket: Socket) => void): Reply =>
  response => {
    response.writeHead(status, headers)
    response.write(text, () => {
      if (response.socket !== null) then(response.socket)
    })
  }

export const HALF = '{"data":{"vie'
export const CUT = { 'Content-Length': '999' }
