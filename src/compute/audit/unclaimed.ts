/**
 * The other direction of the audit: values that a page cites from the outputs although nothing published is compared there.
 * A place is checked where a claim refers to it, or a source of a discrepancy that states what must stand there; so is what
 * lies inside a list or an object of such a place. What follows from checked values is no checked value: a claim must say it.
 */
import type { Claims } from '../../schema/claims.js'
import type { PageText, UnclaimedValue } from './contract.js'

/** @param pages null: there are none yet */
export function unclaimedValues({ claims, discrepancies }: Claims, pages: readonly PageText[] | null): UnclaimedValue[] | null {
  if (pages === null) return null
  const checked = new Set([
    ...claims.flatMap(({ from, elements }) => [...from, ...elements]),
    ...discrepancies.flatMap(({ sources }) => sources.flatMap(({ value, reference }) => value === null || reference === null ? [] : [reference]))
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
