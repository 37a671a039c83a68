/**
 * One relation of the advantages over groups of forms: each group has its own slope 1 / sigma and its own constant, all share
 * what lambda adds. The groups' own unknowns are eliminated first (Schur complement).
 */
import { applied, type Form, type AffineMap, normalOf, squares } from './form.js'
import { packed, solveNormal } from './linear.js'

export interface GroupMember {
  /** of the sample */
  readonly index: number
  readonly form: Form
  /** trainable tokens of the sample: the L of an adaptive lambda */
  readonly length: number
  readonly weight: number
  readonly group: string
  /** largest rms residual that rounding explains, given the slope */
  readonly tolerance: (slope: number) => number
}

export interface Known {
  readonly gamma: number
  /** coefficient of -kl that is not in the rewards */
  readonly beta: number
}

export type LambdaModel = 'fixed' | 'adaptive'

/** A[t] = slope delta[t] + shared A[t+1] + constant, in one sample. */
export interface AdvantageRelation {
  readonly slope: number
  readonly constant: number
  readonly shared: number
}

export interface GroupFit {
  readonly model: LambdaModel
  /** gamma lambda, or gamma / alpha */
  readonly shared: number
  readonly sharedError: number
  /** by group: slope, constant and their standard errors */
  readonly groups: ReadonlyMap<
    string,
    { readonly slope: number; readonly constant: number; readonly slopeError: number; readonly constantError: number }
  >
  readonly fits: readonly boolean[]
  readonly members: readonly GroupMember[]
  /** of each member */
  readonly relations: readonly AdvantageRelation[]
  /** root mean square over tolerance, of all members */
  readonly excess: number
  /** root mean square residual over the advantages' size, of all members; not below half a rounding of singles */
  readonly noise: number
}

/**
 * Parameters to the coefficients of V[t+1], V[t], A[t+1], 1, r[t], -kl[t]. A group's own: slope and constant; the shared one last.
 * The constant is -(1 - gamma lambda) mean / sigma. Where lambda = 1 - 1 / (alpha L) it differs by sample: -(mean / sigma)
 * (1 - gamma + gamma / (alpha L)), so a group has one constant and one over L.
 */
function mapOf(member: GroupMember, known: Known, model: LambdaModel): AffineMap {
  const over = 1 / member.length
  const fixed = model === 'fixed'
  const row = (slope: number, constant: number, shared: number): number[] => [slope, constant, ...(fixed ? [] : [constant * over]), shared]
  return {
    b: [row(known.gamma, 0, 0), row(-1, 0, 0), row(0, 0, fixed ? 1 : -over), row(0, 1, 0), row(1, 0, 0), row(known.beta, 0, 0)],
    fixed: [0, 0, fixed ? 0 : known.gamma, 0, 0, 0]
  }
}

/** Members by group, in the order of their first ones. */
export function grouped(members: readonly GroupMember[]): Map<string, GroupMember[]> {
  const groups = new Map<string, GroupMember[]>()
  for (const member of members) {
    const of = groups.get(member.group)
    if (of === undefined) groups.set(member.group, [member])
    else of.push(member)
  }
  return groups
}

/** a' M b for M [n * n]. */
function product(a: readonly number[], m: readonly number[], b: readonly number[]): number {
  const n = a.length
  let sum = 0
  for (let i = 0; i < n; i++) if (a[i] !== 0) for (let j = 0; j < n; j++) sum += a[i] * m[i * n + j] * b[j]
  return sum
}

/** @param told the shared coefficient; null: fitted */
export function fitGroups(members: readonly GroupMember[], known: Known, model: LambdaModel, told: number | null = null): GroupFit {
  const own = model === 'fixed' ? 2 : 3
  const units = Array.from({ length: own }, (_, i) => Array.from({ length: own }, (_, j) => Number(i === j)))
  let [left, right] = [0, 0]
  const parts = [...grouped(members)].map(([name, of]) => {
    const { h, g } = normalOf(
      of.map(m => ({ form: m.form, map: mapOf(m, known, model), weight: m.weight })),
      own + 1
    )
    const at = (i: number, j: number): number => h[packed(i, j, own + 1)]
    const local = units.flatMap((_, i) => units.slice(i).map((_, j) => at(i, i + j)))
    const side = Array.from(g.slice(0, own))
    const { inverse, covariance } = solveNormal(local, side, own)
    const cross = units.map((_, i) => at(i, own))
    left += at(own, own) - product(cross, inverse, cross)
    right += g[own] - product(cross, inverse, side)
    return { name, inverse, covariance, cross, side }
  })
  const shared = told ?? (left > 0 ? right / left : 0)
  const solved = parts.map(part => {
    const side = part.side.map((x, i) => x - part.cross[i] * shared)
    return { ...part, x: units.map(unit => product(unit, part.inverse, side)) }
  })
  const byName = new Map(solved.map(s => [s.name, s.x]))
  const relations = members.map(({ group, length }): AdvantageRelation => {
    const [slope, constant, over] = byName.get(group) ?? []
    return model === 'fixed'
      ? { slope, constant, shared }
      : { slope, constant: constant + over / length, shared: known.gamma - shared / length }
  })
  let [sum, rows, weighted] = [0, 0, 0]
  const fits = members.map(member => {
    const x = byName.get(member.group) ?? []
    const s = squares(member.form, applied(mapOf(member, known, model), [...x, shared]))
    const allowed = member.tolerance(x[0])
    const rms = Math.sqrt(s / member.form.n)
    sum += (rms / allowed) ** 2 * member.form.n
    weighted += s * member.weight
    rows += member.form.n
    return rms <= allowed
  })
  const noise = Math.max(Math.sqrt(weighted / Math.max(1, rows)), 2 ** -25)
  return {
    model,
    shared,
    sharedError: left > 0 ? noise / Math.sqrt(left) : Number.POSITIVE_INFINITY,
    groups: new Map(
      solved.map(s => [
        s.name,
        {
          slope: s.x[0],
          constant: s.x[1],
          slopeError: noise * Math.sqrt(Math.max(0, s.covariance[0])),
          constantError: noise * Math.sqrt(Math.max(0, s.covariance[own + 1]))
        }
      ])
    ),
    fits,
    members,
    relations,
    excess: Math.sqrt(sum / Math.max(1, rows)),
    noise
  }
}
