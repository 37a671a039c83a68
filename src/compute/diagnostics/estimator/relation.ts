/**
 * Which relation the returns follow inside turns, over all samples: the plain one, or one of its known alternatives. Coefficients
 * are those that all samples share; a sample follows the relation where its residual under them is rounding.
 */
import { applied, type Form, fitShared, type AffineMap, squares, type Weighted } from './form.js'
import { packed, type Solution, varianceAlong } from './linear.js'
import { SINGLE } from './precision.js'
import type { EstimatorRecord } from './record.js'

export type RelationName =
  | 'pre-action'
  | 'values one later'
  | 'values one earlier'
  | 'rewards one later'
  | 'rewards one earlier'
  | 'values of the sample before'
  | 'values of the sample behind'

/** Root mean square of a residual that is rounding, in roundings. */
const RMS_ROUNDINGS = 8
/** Fewer rows in all say nothing. */
const FEWEST_ROWS = 12

interface Hypothesis {
  readonly name: RelationName
  readonly form: (record: EstimatorRecord) => Form | null
  /** parameters: of the values, of the next return, of -kl */
  readonly map: AffineMap
  /** columns of which one must not be 0 throughout: without them it is the plain relation */
  readonly needs: readonly number[]
  /** the plain relation over the same rows */
  readonly plain: AffineMap
}

const PLAIN: AffineMap = {
  b: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1]
  ],
  fixed: [0, 0, 0]
}

/** Rows of the wide form that carry value, reward and KL: V[t+v], r[t+r]. */
function wide(value: 0 | 1 | 2, reward: 0 | 1 | 2): AffineMap {
  const b = Array.from({ length: 10 }, () => [0, 0, 0])
  const fixed = new Array<number>(10).fill(0)
  b[value][0] = 1
  b[3][1] = 1
  fixed[4 + reward] = 1
  b[7 + reward][2] = 1
  return { b, fixed }
}

/** delta with V' of another sample: R[t] = gamma V'[t+1] + gamma lambda (R[t+1] - V[t+1]) + r[t]. */
const FOREIGN: AffineMap = {
  b: [
    [1, 0, 0],
    [0, 1, 0],
    [0, -1, 0],
    [0, 0, 1]
  ],
  fixed: [0, 0, 0, 0]
}

const OWN: AffineMap = {
  b: [
    [0, 0, 0],
    [0, 1, 0],
    [1, 0, 0],
    [0, 0, 1]
  ],
  fixed: [0, 0, 0, 0]
}

const WIDE = wide(1, 0)

const HYPOTHESES: readonly Hypothesis[] = [
  { name: 'pre-action', form: r => r.returns.plain, map: PLAIN, needs: [], plain: PLAIN },
  { name: 'values one later', form: r => r.returns.wide, map: wide(2, 0), needs: [2], plain: WIDE },
  { name: 'values one earlier', form: r => r.returns.wide, map: wide(0, 0), needs: [0], plain: WIDE },
  { name: 'rewards one later', form: r => r.returns.wide, map: wide(1, 1), needs: [5, 8], plain: WIDE },
  { name: 'rewards one earlier', form: r => r.returns.wide, map: wide(1, 2), needs: [6, 9], plain: WIDE },
  { name: 'values of the sample before', form: r => r.returns.before, map: FOREIGN, needs: [0], plain: OWN },
  { name: 'values of the sample behind', form: r => r.returns.behind, map: FOREIGN, needs: [0], plain: OWN },
  // the plain one again, where tokens hold rewards that the dump does not state
  { name: 'pre-action', form: r => r.returns.trimmed ?? r.returns.plain, map: PLAIN, needs: [], plain: PLAIN }
]

export interface JudgedSample {
  readonly record: EstimatorRecord
  readonly form: Form
  /** root mean square residual over the sample's scale */
  readonly rms: number
  readonly fits: boolean
}

export interface Relation {
  readonly name: RelationName
  readonly foreign: boolean
  /** a, b, beta to the columns of its samples' forms */
  readonly map: AffineMap
  /** coefficients of the value, of the next return, of -kl */
  readonly a: number
  readonly b: number
  readonly beta: number
  /** normal equations' inverse and the residual over scale, for standard errors */
  readonly solution: Solution
  readonly noise: number
  readonly rows: number
  readonly samples: readonly JudgedSample[]
  /** residual of the best relation with values off by one, beside a coarse type; null: not looked at */
  readonly rival: number | null
  /** share of samples that follow it */
  readonly share: number
  /** relative rounding of the arrays that it compares, by sample */
  readonly rounding: (record: EstimatorRecord) => number
}

/** The relative rounding of an array in this dump: the finest of any sample, since short numbers are exact in any type. */
export function roundingOf(
  records: readonly EstimatorRecord[],
  name: keyof EstimatorRecord['precision']
): (record: EstimatorRecord) => number {
  const relative = records.reduce((finest, r) => Math.min(finest, r.precision[name].relative), 1)
  const absolute = records.reduce((coarsest, r) => Math.max(coarsest, r.precision[name].absolute), 0)
  return record => relative + (record.scale > 0 ? (2 * absolute) / record.scale : 0)
}

/** Largest rms, over scale, that rounding explains. Coarse types round once where they are stored, singles at each operation. */
export function tolerance(rounding: number): number {
  return rounding <= 2 * SINGLE ? RMS_ROUNDINGS * rounding : 2 * rounding
}

export function rmsOf(form: Form, x: readonly number[], scale: number): number {
  return Math.sqrt(squares(form, x) / form.n) / scale
}

function evaluate(hypothesis: Hypothesis, records: readonly EstimatorRecord[], rounding: (r: EstimatorRecord) => number): Relation | null {
  const { map } = hypothesis
  const all: { readonly record: EstimatorRecord; readonly weighted: Weighted }[] = []
  for (const record of records) {
    const form = hypothesis.form(record)
    if (form !== null && record.scale > 0 && 2 * form.weighty >= form.n)
      all.push({ record, weighted: { form, map, weight: 1 / record.scale ** 2 } })
  }
  const rows = all.reduce((sum, { weighted }) => sum + weighted.form.n, 0)
  if (rows < FEWEST_ROWS) return null
  const { needs } = hypothesis
  if (needs.length > 0 && !all.some(({ weighted: { form } }) => needs.some(i => form.h[packed(i, i, form.own.length)] > 0))) return null
  const judge = (solution: Solution): JudgedSample[] => {
    const x = applied(map, solution.x)
    return all.map(({ record, weighted: { form } }) => {
      const rms = rmsOf(form, x, record.scale)
      return { record, form, rms, fits: rms <= tolerance(rounding(record)) }
    })
  }
  const share = (samples: readonly JudgedSample[]): number => samples.filter(s => s.fits).length / samples.length
  let solution = fitShared(
    all.map(a => a.weighted),
    3
  )
  let samples = judge(solution)
  if (share(samples) < 1) {
    // coefficients of those samples alone that follow the relation by themselves
    const good = all.filter(({ record, weighted }) => {
      const own = applied(map, fitShared([weighted], 3).x)
      return weighted.form.n >= 8 && rmsOf(weighted.form, own, record.scale) <= tolerance(rounding(record))
    })
    if (good.length > 0) {
      const other = fitShared(
        good.map(a => a.weighted),
        3
      )
      const judged = judge(other)
      if (share(judged) > share(samples)) [solution, samples] = [other, judged]
    }
  }
  const followed = samples.filter(s => s.fits)
  const counted = followed.length > 0 ? followed : samples
  const squared = counted.reduce((sum, s) => sum + s.rms ** 2 * s.form.n, 0)
  const noise = Math.sqrt(squared / counted.reduce((sum, s) => sum + s.form.n, 0))
  return {
    name: hypothesis.name,
    foreign: map === FOREIGN,
    map,
    a: solution.x[0],
    b: solution.x[1],
    beta: solution.x[2],
    solution,
    noise: Math.max(noise, SINGLE / 2),
    rows,
    samples,
    share: share(samples),
    rival: null,
    rounding
  }
}

/** What twice the log likelihood has to gain for an alternative, where both are within coarse rounding. */
const GAIN = 50

/** And the residual has to be this much smaller: rounded returns as regressors give other values a little to explain. */
const SMALLER = 0.9
const FOREIGN_SMALLER = 0.6

function gains(other: Relation, over: Relation): boolean {
  const ratio = other.noise / over.noise
  return ratio < (other.foreign ? FOREIGN_SMALLER : SMALLER) && Math.min(other.rows, over.rows) * (ratio ** -2 - 1) > GAIN
}

/** The relation that most samples follow, the plain one first; null where there are too few rows. */
export function findRelation(records: readonly EstimatorRecord[]): Relation | null {
  if (records.length === 0) return null
  const fine = roundingOf(records, 'returns')
  const values = roundingOf(records, 'values')
  const coarse = (record: EstimatorRecord): number => Math.max(fine(record), values(record))
  let best: Relation | null = null
  for (const rounding of [fine, coarse]) {
    const exact = rounding(records[0]) <= 2 * SINGLE
    const found: { readonly one: Relation; readonly hypothesis: Hypothesis }[] = []
    for (const hypothesis of HYPOTHESES) {
      const one = evaluate(hypothesis, records, rounding)
      if (one === null) continue
      if (one.name === 'pre-action' && one.share === 1 && exact) return one
      found.push({ one, hypothesis })
    }
    for (const { one, hypothesis } of found) {
      if (best === null || one.share > best.share) best = one
      else if (one.share === best.share && !exact) {
        // an alternative has to gain over the plain one on its own rows: they are fewer
        const over =
          best.name === 'pre-action'
            ? evaluate({ ...hypothesis, name: best.name, map: hypothesis.plain, needs: [] }, records, rounding)
            : best
        if (gains(one, over ?? best)) best = one
      }
    }
    if (best !== null && best.share === 1) {
      const shifted = found.map(({ one }) => one).filter(one => one.name === 'values one later' || one.name === 'values one earlier')
      return { ...best, rival: exact || shifted.length === 0 ? null : Math.min(...shifted.map(one => one.noise)) }
    }
  }
  return best
}

/** Standard error of a combination of a, b, beta. */
export function errorOf(relation: Relation, direction: readonly number[]): number {
  return relation.noise * Math.sqrt(varianceAlong(relation.solution, direction))
}
