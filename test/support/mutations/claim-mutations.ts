/** Mutations of what is published: of the claims file, of the manifest, of a page's text. */
import type { AuditReport } from '../../../src/compute/audit/contract.js'
import type { Random } from '../random.js'
import { changeCharacter, changeDigit } from './mutation.js'

/** A claim as the file states it. */
export interface StatedClaim {
  readonly id: string
  readonly kind: string
  readonly definition: string
  readonly value: unknown
  readonly decimals?: number
  readonly scale?: number
  readonly from?: string | readonly string[]
  readonly elements?: readonly string[]
}

export interface ClaimMutation {
  readonly what: string
  readonly claim: StatedClaim
}

/** One digit of every published number, one character of every text, every truth value, every reference. */
export function* claimsMutations(claims: readonly StatedClaim[], control: AuditReport, random: Random): Generator<ClaimMutation> {
  for (const [i, claim] of claims.entries()) {
    const computed = control.claims[i].computed
    const replaced = (what: string, more: Partial<StatedClaim>): ClaimMutation => ({
      what: `${claim.id}: ${what}`,
      claim: { ...claim, ...more }
    })
    const value = changedValue(claim.value, computed, claim.decimals ?? null, random)
    if (value !== null) {
      yield replaced(`${JSON.stringify(claim.value)} -> ${JSON.stringify(value)}`, { value })
      // A claim cannot be talked out of its comparison.
      if (claim.from !== undefined && i % 4 === 1) yield replaced(`${JSON.stringify(value)}, of kind source`, { value, kind: 'source' })
    }
    if (typeof claim.from === 'string') {
      const cut = claim.from.lastIndexOf('/') + 1
      const from = claim.from.slice(0, cut) + changeCharacter(claim.from.slice(cut), random)
      if (i % 4 === 0) yield replaced(`from ${claim.from} -> ${from}`, { from })
    }
    if (claim.scale !== undefined) yield replaced('ten times the scale', { scale: claim.scale * 10 })
  }
}

function changedValue(value: unknown, computed: unknown, decimals: number | null, random: Random): unknown {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'string') return changeCharacter(value, random)
  if (Array.isArray(value)) {
    if (value.length === 0) return null
    const at = random.below(value.length)
    return value.map((one: unknown, i) =>
      i === at ? changedValue(one, Array.isArray(computed) ? computed[at] : null, decimals, random) : one
    )
  }
  const unit = decimals === null ? Number.MIN_VALUE : 0.99 * 10 ** -decimals
  // A decimal tie agrees with both of its neighbours, and what is published to the last digit of a double with the next
  // double: neither is a wrong publication of it.
  const ulp = 2 ** (Math.floor(Math.log2(Math.abs(Number(value)) || 1)) - 52)
  const tie = decimals === null || typeof computed !== 'number' ? -1 : 0.5000001 * 10 ** -decimals + 1.01 * ulp
  for (let tries = 0; tries < 100; tries++) {
    const text = changeDigit(JSON.stringify(value), random, unit)
    if (text !== null && Math.abs(Number(text) - Number(computed)) > tie) return Number(text)
  }
  return null
}

export interface StatedDiscrepancy {
  readonly id: string
  readonly sources: { readonly [label: string]: unknown }
}

/** One digit of what a source is said to state, where it is said beside a reference. */
export function* sourceMutations(
  discrepancies: readonly StatedDiscrepancy[],
  random: Random
): Generator<{ readonly what: string; readonly discrepancies: readonly StatedDiscrepancy[] }> {
  for (const [i, { id, sources }] of discrepancies.entries()) {
    for (const [label, source] of Object.entries(sources)) {
      const { value, decimals = null, reference } = source as { value?: unknown; decimals?: number | null; reference?: string }
      if (value === undefined || reference === undefined) continue
      const changed = changedValue(value, value, decimals, random)
      if (changed === null) continue
      const replaced = { ...sources, [label]: { value: changed, decimals, reference } }
      yield {
        what: `${id}, ${label}: ${JSON.stringify(value)} -> ${JSON.stringify(changed)}`,
        discrepancies: discrepancies.map((d, k) => (k === i ? { ...d, sources: replaced } : d))
      }
    }
  }
}

interface ListedFile {
  path: string
  sha256: string
  bytes: number
}

/** The manifest's text with one hash, length or path wrong, an entry missing or listed twice. */
export function* manifestMutations(text: string, random: Random): Generator<readonly [what: string, text: string]> {
  const manifest = JSON.parse(text) as { files: ListedFile[] }
  for (const [i, { path }] of manifest.files.entries()) {
    const edit = (what: string, change: (files: ListedFile[]) => void): readonly [string, string] => {
      const copy = structuredClone(manifest)
      change(copy.files)
      return [`${path}: ${what}`, JSON.stringify(copy)]
    }
    yield edit('digit of the hash', files => {
      const at = random.below(64)
      const digit = random.pick([...'0123456789abcdef'].filter(d => d !== files[i].sha256[at]))
      files[i].sha256 = files[i].sha256.slice(0, at) + digit + files[i].sha256.slice(at + 1)
    })
    yield edit('length', files => {
      files[i].bytes += 1
    })
    yield edit('character of the path', files => {
      files[i].path = changeCharacter(path, random)
    })
    yield edit('not listed', files => {
      files.splice(i, 1)
    })
    yield edit('hash of another file', files => {
      files[i].sha256 = files[(i + 1) % files.length].sha256
    })
  }
}

/** A page's text with one digit of one number changed, one word of a disclosure left out, or a sentence that must not stand there. */
export function* proseMutations(
  text: string,
  passages: readonly string[],
  forbidden: readonly string[],
  random: Random
): Generator<readonly [what: string, text: string]> {
  for (const passage of passages) {
    const at = text.indexOf(passage)
    if (at < 0) throw new Error(`the page does not say: ${passage}`)
    const instead = (changed: string): string => text.slice(0, at) + changed + text.slice(at + passage.length)
    for (const match of passage.matchAll(/(?<![\w.])\d[\d,]*(?:\.\d+)?/g)) {
      const plain = match[0].replaceAll(',', '')
      for (let n = 0; n < 3; n++) {
        const changed = changeDigit(plain, random)
        if (changed !== null)
          yield [
            `${match[0]} -> ${changed}`,
            instead(passage.slice(0, match.index) + changed + passage.slice(match.index + match[0].length))
          ]
      }
    }
    const words = passage.split(' ')
    for (const i of random.shuffle([...words.keys()]).slice(0, 4))
      yield [`without "${words[i]}"`, instead(words.filter((_, k) => k !== i).join(' '))]
  }
  for (const sentence of forbidden) yield [`with "${sentence}"`, `${text} ${sentence}`]
}
