/** References to the outputs of a run, `data.json#/values/x/value`: the path of a JSON output and a JSON pointer (RFC 6901). */
import type { DerivedValue, Reference } from '../schema/evidence.js'
import { pattern, type Kind } from '../core/checker.js'
import type { NamedField } from './cross-checks.js'

const REFERENCE = /^(?=.{1,300}$)[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*\.json#(?:\/(?:[^~\/]|~[01])*)+$/

export const reference: Kind<string> = pattern('a reference: the path of a JSON output, "#" and a JSON pointer; at most 300', REFERENCE)

/** Path and unescaped tokens of a checked reference. */
export function splitReference(text: string): { readonly path: string; readonly tokens: readonly string[] } {
  const hash = text.indexOf('#')
  const tokens = text.slice(hash + 2).split('/').map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  return { path: text.slice(0, hash), tokens }
}

/** The references in an operation, with their places in it. */
export function operandsOf(operation: DerivedValue['operation']): readonly NamedField[] {
  if ('scale' in operation) return [{ at: 'scale', value: operation.scale }]
  const pairs: readonly [string, readonly Reference[]][] = Object.entries(operation)
  return pairs.flatMap(([name, pair]) => pair.map((value, k) => ({ at: `${name}[${k}]`, value })))
}
