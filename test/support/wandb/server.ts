/** Answers as bytes on a connection: gzip where it is accepted, and the ways in which an answer can be cut. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { find, type Behaviour } from './script.js'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const MAX_REQUEST_BYTES = 1024 * 1024

/** The body of a request; null where it is longer than a query can be. */
export async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= MAX_REQUEST_BYTES) chunks.push(chunk)
  }
  return bytes > MAX_REQUEST_BYTES ? null : Buffer.concat(chunks).toString()
}

export function jsonAnswer(status: number, value: unknown): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}

export function errorAnswer(status: number, message: string): Answer {
  return jsonAnswer(status, { errors: [{ message }], data: null })
}

const LOGIN_PAGE = '<!DOCTYPE html><html><head><title>Log in</title></head><body><form action="/login"></form></body></html>'

/** The answer that a behaviour puts in place of the real one, where it does. */
export function replacement(behaviour: Behaviour, authorization: string): Answer | null {
  if (behaviour.kind === 'status') {
    const headers = { 'content-type': 'application/json', ...behaviour.headers }
    return { status: behaviour.status, headers, body: behaviour.body ?? `{"errors":[{"message":"scripted ${behaviour.status}"}]}` }
  }
  if (behaviour.kind === 'redirect') {
    return { status: behaviour.status ?? 307, headers: { location: behaviour.to, 'content-type': 'text/plain' }, body: 'moved' }
  }
  if (behaviour.kind === 'html') return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: LOGIN_PAGE }
  if (behaviour.kind === 'echoKey') {
    const plain = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString()
    return errorAnswer(behaviour.status ?? 400, `bad request with ${authorization}, which is ${plain}`)
  }
  if (behaviour.kind === 'errors200') {
    const { form, message = 'scripted error' } = behaviour
    if (form === 'error') return jsonAnswer(200, { error: message })
    return jsonAnswer(200, { data: null, errors: [form === 'objects' ? { message, path: ['project'] } : message] })
  }
  return null
}

/** A bare NaN where a number or a row stands, as servers in Python write it; else in `extensions`. */
function withBareNaN(body: string): string {
  const changed = body.replace(/("history":\[)(?=")|("historyLineCount":|"lastStep":)-?\d+/, (_, list?: string, number?: string) =>
    list === undefined ? `${number}NaN` : `${list}NaN,`
  )
  return changed === body ? body.replace(/\}$/, ',"extensions":{"cost":NaN}}') : changed
}

function edited(answer: Answer, behaviours: readonly Behaviour[]): string {
  const edit = find(behaviours, 'edit')
  const body = edit === undefined ? answer.body : JSON.stringify(edit.edit(JSON.parse(answer.body)))
  return find(behaviours, 'bareNaN') === undefined ? body : withBareNaN(body)
}

/** Sends an answer, changed and cut as the behaviours say. */
export function send(request: IncomingMessage, response: ServerResponse, answer: Answer, behaviours: readonly Behaviour[]): void {
  const how = find(behaviours, 'truncate')?.how
  const text = edited(answer, behaviours)
  const gzip = how === 'gzip' || /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  const plain = Buffer.from(how === 'text' ? text.slice(0, text.length >> 1) : text)
  const whole = gzip ? gzipSync(plain) : plain
  const bytes = how === 'gzip' ? whole.subarray(0, whole.length >> 1) : whole
  const headers = { ...answer.headers, ...(gzip ? { 'content-encoding': 'gzip', vary: 'Accept-Encoding' } : {}) }
  if (how === 'length' || how === 'chunked') {
    response.writeHead(answer.status, how === 'length' ? { ...headers, 'content-length': String(bytes.length) } : headers)
    response.write(bytes.subarray(0, bytes.length >> 1), () => response.socket?.destroySoon())
    return
  }
  response.writeHead(answer.status, { ...headers, 'content-length': String(bytes.length) })
  response.end(bytes)
}
