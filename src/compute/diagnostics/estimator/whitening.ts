/**
 * Whitening and the lambda of advantages. One slope and one constant for all samples of a step: the batch was whitened, or
 * nothing was (slope 1, constant 0). Else one for each rank, for each sample, or for parts of samples: the first partition under
 * which every sample's residual is rounding.
 */
import { maxOf, minOf } from '../../../core/extremes.js'
import type { Whitening } from '../../../schema/diagnostics.js'
import type { Form } from './form.js'
import { type AdvantageRelation, fitGroups, type GroupFit, grouped, type Known, type LambdaModel, type GroupMember } from './groups.js'
import { isStated } from './coefficients.js'
import type { EstimatorRecord } from './record.js'
import { roundingOf, tolerance } from './relation.js'

export type LambdaAdvantages = number | { readonly adaptive_alpha: number }
export type ValueShift = 'pre-action' | 'values one later' | 'values one earlier'

export interface WhiteningGroup {
  readonly group: string
  /** sigma and mean that the group was whitened with; null mean where the constant does not tell it (gamma lambda = 1) */
  readonly sigma: number
  readonly mean: number | null
}

export interface AdvantageAudit {
  readonly whitening: Whitening | null
  readonly lambda: LambdaAdvantages | null
  /** what lambda was found by; null: no fit */
  readonly fit: GroupFit | null
  readonly groups: readonly WhiteningGroup[]
  /** where the values had to be taken for the advantages to follow */
  readonly shift: ValueShift
  /** true: every sample with rows follows */
  readonly follows: boolean
  /** by index of the sample, where a sample as a whole follows one relation */
  readonly relations: ReadonlyMap<number, AdvantageRelation>
}

export const NO_ADVANTAGES: AdvantageAudit = {
  whitening: null,
  lambda: null,
  fit: null,
  groups: [],
  shift: 'pre-action',
  follows: false,
  relations: new Map()
}
const MODELS: readonly LambdaModel[] = ['fixed', 'adaptive']
/** Share of the parts that a cut inside them may spoil. */
const SPOILED = 0.5
/** Rows by which a form has to exceed its unknowns. */
const SPARE_ROWS = 4

type FormOf = (record: EstimatorRecord) => Form | null

function membersOf(records: readonly EstimatorRecord[], formOf: FormOf, groupOf: (r: EstimatorRecord) => string): GroupMember[] {
  const advantages = roundingOf(records, 'advantages')
  const values = roundingOf(records, 'values')
  // advantages of one sample may all be 0
  const least = 0.01 * records.reduce((max, r) => Math.max(max, r.advantageScale), 0)
  return records.flatMap(record => {
    const form = formOf(record)
    const size = Math.max(least, record.advantageScale)
    if (form === null || size === 0) return []
    const allowed = (slope: number): number => {
      // advantages are differences: they were rounded where values and returns are large
      const scale = size + Math.abs(slope) * record.scale
      return (
        Math.max(tolerance(advantages(record)), tolerance(Math.min(values(record), advantages(record)))) * Math.max(scale, Number.MIN_VALUE)
      )
    }
    return [{ index: record.index, form, length: record.trainable, weight: 1 / size ** 2, group: groupOf(record), tolerance: allowed }]
  })
}

function stepOf(record: EstimatorRecord): string {
  return record.step === null ? '' : `step ${record.step}`
}

function name(...parts: readonly string[]): string {
  return parts.filter(p => p !== '').join(', ')
}

function fitsAll(fit: GroupFit): boolean {
  return fit.fits.length > 0 && fit.fits.every(Boolean)
}

/**
 * Where another column gives the same, slopes may be anything, and the groups say nothing of their values. The errors of slopes are
 * those beside a known shared coefficient, so that has to be determined too.
 */
function isDetermined(fit: GroupFit): boolean {
  if (fit.sharedError > 0.1 * Math.max(1, Math.abs(fit.shared))) return false
  return [...fit.groups.values()].every(g => g.slope > 10 * g.slopeError)
}

/** A lambda that differs by sample has to leave clearly less than one that does not. */
function bestModel(members: readonly GroupMember[], known: Known): GroupFit {
  const [fixed, adaptive] = MODELS.map(model => fitGroups(members, known, model))
  if (fitsAll(fixed)) return fitsAll(adaptive) && adaptive.excess < 0.6 * fixed.excess && fixed.excess > 0.1 ? adaptive : fixed
  return fitsAll(adaptive) ? adaptive : fixed
}

function lambdaOf(fit: GroupFit, known: Known): LambdaAdvantages | null {
  if (known.gamma === 0) return null
  if (fit.model === 'fixed') return isStated(fit.sharedError / known.gamma) ? fit.shared / known.gamma : null
  const alpha = known.gamma / fit.shared
  return fit.shared !== 0 && (alpha * fit.sharedError) / Math.abs(fit.shared) <= 0.01 ? { adaptive_alpha: alpha } : null
}

function groupsOf(fit: GroupFit): WhiteningGroup[] {
  return [...fit.groups].map(([group, { slope, constant }]) => {
    const rest = 1 - fit.shared
    return { group, sigma: 1 / slope, mean: fit.model === 'fixed' && Math.abs(rest) > 1e-6 ? -constant / (slope * rest) : null }
  })
}

/** Rounded advantages bias the slope by about their rounding. */
function isUnwhitened(fit: GroupFit, rounding: number): boolean {
  const spare = Math.max(1e-5, 8 * rounding)
  return [...fit.groups.values()].every(
    g => Math.abs(g.slope - 1) <= 5 * g.slopeError + spare && Math.abs(g.constant) <= 5 * g.constantError + spare
  )
}

/** Slopes that fall into few tight clusters of at least two samples: ranks that the dump does not name. */
function clusters(fit: GroupFit): Map<string, string> | null {
  const sorted = [...fit.groups].sort((x, y) => x[1].slope - y[1].slope)
  const of = new Map<string, string>()
  let cluster = 0
  let size = 0
  let smallest = Number.POSITIVE_INFINITY
  sorted.forEach(([group, g], i) => {
    const before = sorted[i - 1]?.[1]
    if (before !== undefined && g.slope - before.slope > 8 * (g.slopeError + before.slopeError) + 1e-6 * Math.abs(g.slope)) {
      smallest = Math.min(smallest, size)
      size = 0
      cluster += 1
    }
    size += 1
    of.set(group, `group ${cluster + 1}`)
  })
  return Math.min(smallest, size) >= 2 && cluster > 0 && (cluster + 1) * 2 <= sorted.length ? of : null
}

function bySegment(records: readonly EstimatorRecord[], known: Known, pooled: boolean): AdvantageAudit | null {
  const cut = records.filter(r => r.advantages.segments !== null)
  const most = cut.reduce((max, r) => Math.max(max, r.advantages.segments?.length ?? 0), 0)
  const members = Array.from({ length: most }, (_, segment) =>
    membersOf(
      cut,
      r => r.advantages.segments?.[segment] ?? null,
      r => name(stepOf(r), pooled ? '' : `sample ${r.index}`, `part ${segment + 1} of ${r.advantages.segments?.length ?? 0}`)
    )
  ).flat()
  const groups = grouped(members)
  for (const model of MODELS) {
    const good: GroupMember[] = []
    let total = 0
    for (const of of groups.values()) {
      if (of.reduce((sum, m) => sum + m.form.n, 0) < 3 + SPARE_ROWS) continue
      total += 1
      if (fitsAll(fitGroups(of, known, model))) good.push(...of)
    }
    const kept = new Set(good.map(m => m.group)).size
    if (kept < Math.max(2, total * SPOILED)) continue
    const fit = fitGroups(good, known, model)
    if (!fitsAll(fit) || !isDetermined(fit)) continue
    const slopes = [...fit.groups.values()]
    const [low, high] = [minOf(slopes.map(s => s.slope)), maxOf(slopes.map(s => s.slope))]
    const error = maxOf(slopes.map(s => s.slopeError))
    const [from, to] = [minOf(slopes.map(s => s.constant)), maxOf(slopes.map(s => s.constant))]
    if (high - low <= 8 * error + 1e-5 * Math.abs(high) && to - from <= 8 * maxOf(slopes.map(s => s.constantError)) + 1e-5) continue
    return { ...NO_ADVANTAGES, whitening: 'within-sample', lambda: lambdaOf(fit, known), fit, groups: groupsOf(fit), follows: true }
  }
  return null
}

function byPartition(records: readonly EstimatorRecord[], formOf: FormOf, known: Known, shift: ValueShift): AdvantageAudit | null {
  const result = (whitening: Whitening | null, fit: GroupFit): AdvantageAudit => ({
    whitening,
    lambda: lambdaOf(fit, known),
    fit,
    groups: groupsOf(fit),
    shift,
    follows: true,
    relations: new Map(fit.relations.map((relation, i) => [fit.members[i].index, relation]))
  })
  const rows = records.reduce((sum, r) => sum + (formOf(r)?.n ?? 0), 0)
  if (rows < 3 + SPARE_ROWS) return null
  const batch = bestModel(membersOf(records, formOf, stepOf), known)
  if (fitsAll(batch)) {
    if (shift !== 'pre-action' && !isDetermined(batch)) return null
    // without values in them the slope says nothing of sigma
    const seen = isDetermined(batch) && [...batch.groups.values()].every(g => isStated(g.slopeError / 10))
    if (isUnwhitened(batch, roundingOf(records, 'advantages')(records[0]))) return result(seen ? 'none' : null, batch)
    // a step with one sample does not tell its batch from the sample
    return result(seen && records.length > batch.groups.size ? 'batch' : null, batch)
  }
  if (records.some(r => r.rank !== null)) {
    const rank = bestModel(
      membersOf(records, formOf, r => name(stepOf(r), r.rank === null ? '' : `rank ${r.rank}`)),
      known
    )
    if (fitsAll(rank) && isDetermined(rank)) return result('rank', rank)
  }
  const long = records.filter(r => (formOf(r)?.n ?? 0) >= 3 + SPARE_ROWS)
  if (long.length < 2) return null
  const sample = bestModel(
    membersOf(long, formOf, r => name(stepOf(r), `sample ${r.index}`)),
    known
  )
  if (!fitsAll(sample) || !isDetermined(sample)) return null
  const found = clusters(sample)
  if (found !== null) {
    const rank = bestModel(
      membersOf(long, formOf, r => found.get(name(stepOf(r), `sample ${r.index}`)) ?? ''),
      known
    )
    if (fitsAll(rank)) return result('rank', rank)
  }
  return result('sample', sample)
}

/** `relation`: where the returns found the values, null where they do not say. */
export function auditAdvantages(records: readonly EstimatorRecord[], known: Known, relation: ValueShift | null): AdvantageAudit {
  const forms: readonly (readonly [ValueShift, FormOf])[] = [
    ['pre-action', r => r.advantages.total],
    ['values one later', r => r.advantages.late],
    ['values one earlier', r => r.advantages.early]
  ]
  for (const [shift, formOf] of forms) {
    if (relation !== null && shift !== relation) continue
    const usable = records.filter(r => formOf(r) !== null)
    if (usable.length === 0) continue
    const found = byPartition(usable, formOf, known, shift)
    if (found !== null) return found
    if (shift === 'pre-action') {
      const parts = bySegment(records, known, true) ?? bySegment(records, known, false)
      if (parts !== null) return parts
    }
  }
  return NO_ADVANTAGES
}
