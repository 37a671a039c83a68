/**
 * Reads the body of a server's answer: the `data` of a GraphQL answer (HTTP 200), or the message of an error.
 *
 * Server text is untrusted: messages are capped and escaped, and at most three are quoted. The caller has checked that the
 * key does not occur in the body.
 */
import { Fault, printable } from '../core/errors.js'
import { parseStrictJson } from '../core/strict-json.js'
import type { FaultMaker } from './broken.js'
import type { Answer } from './http.js'

const MAX_MESSAGES = 3

const EXPECTED = 'a GraphQL answer in JSON'

/**
 * The `data` member of an answer with status 200.
 *
 * @throws Fault, not to be retried: not UTF-8, not JSON, `errors` or `error` in it, no `data`
 */
export function dataOf({ body, contentType }: Answer, fault: FaultMaker): unknown {
  const text = utf8(body)
  if (text === null) throw fault('answer not UTF-8', 'other bytes', 'UTF-8')
  const value = parse(text, contentType, fault)
  if (!isObject(value)) throw fault('answer not GraphQL', jsonKind(value), EXPECTED)
  const messages = messagesOf(value)
  if (messages !== null) throw fault('query refused', messages, 'an answer without errors')
  const data = value['data']
  if (!isObject(data)) throw fault('answer without data', `data is ${jsonKind(data)}`, 'an object')
  return data
}

/** The message of an answer with another status, quoted; null if there is none that can be read. */
export function errorMessage({ body }: Answer): string | null {
  const text = utf8(body)
  if (text === null) return null
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
  if (!isObject(value)) return null
  return messagesOf(value) ?? (typeof value['message'] === 'string' ? quoted(value['message']) : null)
}

function utf8(body: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

function parse(text: string, contentType: string, fault: FaultMaker): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // Without a cause: V8's message quotes the text at length.
    if (!(error instanceof SyntaxError)) throw error
    if (/^text\/html\b/i.test(contentType) || /^\s*<(?:!doctype|html)\b/i.test(text)) {
      throw fault('answer not JSON', 'an HTML page, of a login or a proxy perhaps', EXPECTED)
    }
    if (text.trim() === '') throw fault('answer not JSON', 'nothing', EXPECTED)
    throw answerNotJson(text, fault)
  }
}

/** Adds the offset, which the strict reader states and JSON.parse does not. Its stricter rules are not applied. */
function answerNotJson(text: string, fault: FaultMaker): Fault {
  const plain = fault('answer not JSON', 'malformed text', EXPECTED)
  try {
    parseStrictJson(text, 'wandb')
    return plain
  } catch (error) {
    const { offset } = error instanceof Fault && error.details.problem === 'malformed JSON' ? error.place : {}
    if (offset === undefined) return plain
    const number = /^-?(?:NaN|Infinity)/.exec(Buffer.from(text).toString('utf8', offset, offset + 9))?.[0]
    if (number !== undefined) {
      return fault('answer not JSON', `bare ${number} at byte ${offset}`, 'JSON, which has no NaN or Infinity')
    }
    return fault('answer not JSON', `malformed at byte ${offset}`, EXPECTED)
  }
}

/** The messages of `errors` or `error`; null if there are none (absent, null or an empty list). */
function messagesOf({ errors, error }: Readonly<Record<string, unknown>>): string | null {
  const all: readonly unknown[] = Array.isArray(errors) ? errors : [errors]
  const listed = [...all.slice(0, MAX_MESSAGES), error].filter(e => e !== undefined && e !== null)
  if (listed.length === 0) return null
  const more = all.length > MAX_MESSAGES ? ` and ${all.length - MAX_MESSAGES} more` : ''
  return `${listed.map(quotedError).join('; ')}${more}`
}

function quotedError(error: unknown): string {
  if (typeof error === 'string') return quoted(error)
  if (isObject(error) && typeof error['message'] === 'string') return quoted(error['message'])
  return 'an error without a message'
}

function quoted(message: string): string {
  return `"${printable(message)}"`
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function jsonKind(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
