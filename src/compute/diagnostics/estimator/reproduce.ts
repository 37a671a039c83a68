/**
 * Whether a told discount or lambda gives the stored numbers. A recovered number is as good as the numbers that it came from, so
 * the told one is put in its place, all other unknowns are fitted anew, and what is left has to be rounding of the stored type.
 */
import { applied, type AffineMap, fitShared } from './form.js'
import { fitGroups, type GroupFit, type Known } from './groups.js'
import { SINGLE } from './precision.js'
import { type JudgedSample, type Relation, rmsOf, tolerance } from './relation.js'
import type { LambdaAdvantages } from './whitening.js'

/** a, b and beta where one of gamma and lambda is known: the other one and beta are left. */
function mapWith({ foreign }: Relation, name: 'gamma' | 'lambda', told: number): AffineMap {
  if (name === 'gamma') {
    return {
      b: [
        [foreign ? 0 : -1, 0],
        [1, 0],
        [0, 1]
      ],
      fixed: [told, 0, 0]
    }
  }
  return {
    b: [
      [foreign ? 1 : 1 - told, 0],
      [told, 0],
      [0, 1]
    ],
    fixed: [0, 0, 0]
  }
}

/** outer after inner. */
function composed(outer: AffineMap, inner: AffineMap): AffineMap {
  return {
    b: outer.b.map(row => inner.b[0].map((_, p) => row.reduce((sum, c, j) => sum + c * inner.b[j][p], 0))),
    fixed: applied(outer, inner.fixed)
  }
}

/** What the told number may leave, beside what the recovered one leaves: the least squares themselves take half of coarse rounding. */
const LARGER = 2

/** @param left, own root mean squares over scale that the told number and the recovered one leave; singles round at each operation */
function isRounding(left: number, own: number): boolean {
  return left <= Math.max(tolerance(SINGLE), LARGER * own)
}

function rootMeanSquare(samples: readonly JudgedSample[], rms: (sample: JudgedSample) => number): number {
  const rows = samples.reduce((sum, { form }) => sum + form.n, 0)
  return Math.sqrt(samples.reduce((sum, sample) => sum + rms(sample) ** 2 * sample.form.n, 0) / rows)
}

/** Whether the samples that follow the relation follow it with this gamma or lambda of the returns too. */
export function returnsFollow(relation: Relation, name: 'gamma' | 'lambda', told: number): boolean {
  const map = composed(relation.map, mapWith(relation, name, told))
  const followed = relation.samples.filter(s => s.fits)
  const fitted = fitShared(
    followed.map(({ record, form }) => ({ form, map, weight: 1 / record.scale ** 2 })),
    2
  )
  const columns = applied(map, fitted.x)
  return isRounding(
    rootMeanSquare(followed, ({ record, form }) => rmsOf(form, columns, record.scale)),
    rootMeanSquare(followed, s => s.rms)
  )
}

/** Whether advantages that follow one lambda follow this one too, beside a discount. */
export function advantagesFollow({ members, noise }: GroupFit, known: Known, told: LambdaAdvantages): boolean {
  const fitted =
    typeof told === 'number'
      ? fitGroups(members, known, 'fixed', known.gamma * told)
      : fitGroups(members, known, 'adaptive', known.gamma / told.adaptive_alpha)
  return isRounding(fitted.noise, noise)
}
