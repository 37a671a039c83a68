/** What a reference to an output says: its path and its pointer. */
import type { DerivedValue } from '../schema/evidence.js'
import type { Reference } from '../schema/reference.js'
import type { NamedField } from './cross-checks.js'

/** Path and unescaped tokens of a checked reference. */
export function splitReference(text: string): { readonly path: string; readonly tokens: readonly string[] } {
  const hash = text.indexOf('#')
  const tokens = text
    .slice(hash + 2)
    .split('/')
    .map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  return { path: text.slice(0, hash), tokens }
}

/** The references in an operation, with their places in it. */
export function operandsOf(operation: DerivedValue['operation']): readonly NamedField[] {
  if ('scale' in operation) return [{ at: 'scale', value: operation.scale }]
  const pairs: readonly [string, readonly Reference[]][] = Object.entries(operation)
  return pairs.flatMap(([name, pair]) => pair.map((value, k) => ({ at: `${name}[${k}]`, value })))
}
