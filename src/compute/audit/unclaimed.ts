/**
 * Finds values that a page cites from the outputs and that no claim checks. A place is checked where a claim refers to
 * it, or where a source of a discrepancy states the value that must stand there. Everything inside a checked list or
 * object is checked too. A value derived from checked values is not: it needs a claim of its own.
 */
import type { Claims } from '../../schema/claims.js'
import type { PageText, UnclaimedValue } from './contract.js'

/** @param pages null: no page exists yet */
export function unclaimedValues({ claims, discrepancies }: Claims, pages: readonly PageText[] | null): UnclaimedValue[] | null {
  if (pages === null) return null
  const checked = new Set([
    ...claims.flatMap(({ from, elements }) => [...from, ...elements]),
    ...discrepancies.flatMap(({ sources }) =>
      sources.flatMap(({ value, reference }) => (value === null || reference === null ? [] : [reference]))
    )
  ])
  return pages.flatMap(({ cited = [] }) => cited.filter(({ reference }) => !isChecked(reference, checked)))
}

function isChecked(reference: string, checked: ReadonlySet<string>): boolean {
  const start = reference.indexOf('#')
  for (let end = reference.length; end > start; end = reference.lastIndexOf('/', end - 1)) {
    if (checked.has(reference.slice(0, end))) return true
  }
  return false
}
