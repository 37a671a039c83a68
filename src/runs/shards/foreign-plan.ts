/** What two partials of runs with other inputs differ in, in words: the first path, with its sizes. */
import { counted, formatCount } from '../../core/counts.js'
import { printable } from '../../core/errors.js'
import type { PartialMeta, PlannedSnapshot } from './contract.js'

/** What a partial says of the inputs of its run: all that is counted, and the files of the snapshots that it has a part of. */
export type StatedPlan = Pick<PartialMeta, 'count' | 'snapshots' | 'failed' | 'planned' | 'planSha256'>

export interface PlanDifference {
  readonly found: string
  readonly expected: string
}

export function plansThatDiffer(odd: StatedPlan, usual: StatedPlan): PlanDifference {
  const texts = (textOf: (plan: StatedPlan) => string): PlanDifference => ({ found: textOf(odd), expected: textOf(usual) })
  if (odd.count !== usual.count) return texts(({ count }) => counted(count, 'shard'))
  for (const snapshot of odd.planned) {
    const other = usual.planned.find(({ number }) => number === snapshot.number)
    const differing = other === undefined ? null : snapshotsThatDiffer(snapshot, other)
    if (differing !== null) return differing
  }
  if (odd.snapshots !== usual.snapshots) return texts(({ snapshots }) => counted(snapshots, 'snapshot'))
  const led = ({ failed }: StatedPlan): string => failed.map(({ source }) => source).join(', ')
  if (led(odd) !== led(usual)) return texts(plan => `paths that lead to no snapshot: ${printable(led(plan) || 'none', 400)}`)
  // Each has traces of snapshots that the other one has none of.
  return texts(({ planSha256 }) => `inputs ${planSha256.slice(0, 12)}`)
}

function snapshotsThatDiffer(odd: PlannedSnapshot, usual: PlannedSnapshot): PlanDifference | null {
  const { source } = usual.plan
  if (odd.plan.source !== source) return { found: printable(odd.plan.source, 400), expected: printable(source, 400) }
  const pathOf = (name: string): string => printable(`/${source}`.endsWith(`/${name}`) ? source : `${source}/${name}`, 400)
  const sizes = [odd, usual].map(({ files }) => new Map(files.map(({ path, bytes }) => [path, bytes])))
  for (const name of new Set([...sizes[0].keys(), ...sizes[1].keys()])) {
    const [own, other] = sizes.map(files => files.get(name))
    if (own === other) continue
    const path = pathOf(name)
    if (own === undefined) return { found: `no ${path}`, expected: 'one' }
    return { found: `${path}, ${formatCount(own)} bytes`, expected: other === undefined ? 'no such file' : `${formatCount(other)} bytes` }
  }
  const beside = ({ plan: { npzFiles, passedOver = 0 } }: PlannedSnapshot): string => JSON.stringify([npzFiles, passedOver])
  if (odd.plan.kind === usual.plan.kind && beside(odd) === beside(usual)) return null
  const other = odd.plan.npzFiles.find(name => !usual.plan.npzFiles.includes(name))
  const lacking = usual.plan.npzFiles.find(name => !odd.plan.npzFiles.includes(name))
  if (other !== undefined) return { found: pathOf(other), expected: 'no such file' }
  if (lacking !== undefined) return { found: `no ${pathOf(lacking)}`, expected: 'one' }
  return { found: `${printable(source, 400)} with other files beside it`, expected: 'the same ones' }
}
