/**
 * One relation of the advantages over groups of forms: each group has its own slope 1 / sigma and its own constant, all share
 * what lambda adds. The groups' own unknowns are eliminated first (Schur complement).
 */
import { applied, type Form, type AffineMap, normalOf, squares } from './form.js'
import { packed, solveNormal } from './linear.js'

export interface Member {
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
  /** root mean square over tolerance, of all members */
  readonly excess: number
}

/** Parameters slope, constant, shared to the coefficients of V[t+1], V[t], A[t+1], 1, r[t], -kl[t]. */
function mapOf(member: Member, known: Known, model: LambdaModel): AffineMap {
  return {
    b: [
      [known.gamma, 0, 0],
      [-1, 0, 0],
      [0, 0, model === 'fixed' ? 1 : -1 / member.length],
      [0, 1, 0],
      [1, 0, 0],
      [known.beta, 0, 0]
    ],
    fixed: [0, 0, model === 'fixed' ? 0 : known.gamma, 0, 0, 0]
  }
}

/** Members by group, in the order of their first ones. */
export function grouped(members: readonly Member[]): Map<string, Member[]> {
  const groups = new Map<string, Member[]>()
  for (const member of members) {
    const of = groups.get(member.group)
    if (of === undefined) groups.set(member.group, [member])
    else of.push(member)
  }
  return groups
}

function product(a: readonly number[], h: readonly number[], b: readonly number[]): number {
  return a[0] * (h[0] * b[0] + h[1] * b[1]) + a[1] * (h[2] * b[0] + h[3] * b[1])
}

export function fitGroups(members: readonly Member[], known: Known, model: LambdaModel): GroupFit {
  let [left, right] = [0, 0]
  const parts = [...grouped(members)].map(([name, of]) => {
    const { h, g } = normalOf(
      of.map(m => ({ form: m.form, map: mapOf(m, known, model), weight: m.weight })),
      3
    )
    const at = (i: number, j: number): number => h[packed(i, j, 3)]
    const inverse = solveNormal([at(0, 0), at(0, 1), at(1, 1)], [g[0], g[1]], 2).covariance.map(x => (Number.isFinite(x) ? x : 0))
    const cross = [at(0, 2), at(1, 2)]
    left += at(2, 2) - product(cross, inverse, cross)
    right += g[2] - product(cross, inverse, [g[0], g[1]])
    return { name, inverse, cross, g }
  })
  const shared = left > 0 ? right / left : 0
  const solved = parts.map(({ name, inverse, cross, g }) => {
    const side = [g[0] - cross[0] * shared, g[1] - cross[1] * shared]
    return { name, inverse, slope: product([1, 0], inverse, side), constant: product([0, 1], inverse, side) }
  })
  const slopes = new Map(solved.map(s => [s.name, s]))
  let [sum, rows, weighted] = [0, 0, 0]
  const fits = members.map(member => {
    const { slope, constant } = slopes.get(member.group) ?? { slope: 0, constant: 0 }
    const s = squares(member.form, applied(mapOf(member, known, model), [slope, constant, shared]))
    const allowed = member.tolerance(slope)
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
          slope: s.slope,
          constant: s.constant,
          slopeError: noise * Math.sqrt(Math.max(0, s.inverse[0])),
          constantError: noise * Math.sqrt(Math.max(0, s.inverse[3]))
        }
      ])
    ),
    fits,
    excess: Math.sqrt(sum / Math.max(1, rows))
  }
}
