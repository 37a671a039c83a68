/**
 * The values of all traces. Characters are drawn per trace, and two scales (noise, kicks) are found for the pool. Then the
 * published counts and sums are settled exactly in the 38 traces that are not examples. Each step keeps the results of the
 * earlier ones, so the order is fixed: examples, scales, boundary jumps, internal jumps, boundary sum, internal sum.
 */
import type { Outcome } from '../schema/traces.js'
import { quantize, spacing } from './bfloat16.js'
import { makeExample } from './examples.js'
import type { TraceLayout } from './layout.js'
import { walk, wanderingLevels } from './model.js'
import type { Character, Components, RiseTiming } from './model.js'
import type { Random } from './random.js'
import { boundaryFlags, changesOf, effectOnChanges, floorAt, isInternal, keepsJumps, pooledChanges, settleSum } from './settle.js'
import type { Token, ValueTrace } from './settle.js'
import * as target from './targets.js'

/** Properties of one trace, drawn once for the whole pool so that the published counts hold. */
interface Role {
  readonly rises: boolean
  /** mean |change| at boundaries is below the internal one; one trace of the pool */
  readonly smooth: boolean
  /** the critic is wrong for most of the trace; one success and one failure */
  readonly misjudged: boolean
}

interface Draft {
  readonly trace: ValueTrace
  readonly components: Components
}

function assignRoles(layouts: readonly TraceLayout[], random: Random): Map<TraceLayout, Role> {
  const others = (outcome: Outcome): TraceLayout[] =>
    random.shuffle(layouts.filter(layout => layout.outcome === outcome && layout.example === null))
  const roles = new Map<TraceLayout, Role>()
  // the success example rises and the failure example falls; the smooth trace is a success
  others('success').forEach((layout, i) => {
    roles.set(layout, { rises: i < target.RISING_SUCCESSES - 1, smooth: i === target.RISING_SUCCESSES, misjudged: i === 0 })
  })
  others('failure').forEach((layout, i) => {
    roles.set(layout, { rises: i >= target.FALLING_FAILURES - 1, smooth: false, misjudged: i === 0 })
  })
  return roles
}

/** Belief at the start and at the end. */
function drawEnds(outcome: Outcome, { rises, misjudged }: Role, random: Random): readonly [number, number] {
  const u = random.uniform()
  if (misjudged) return outcome === 'success' ? [random.between(0.27, 0.36), 0.97] : [random.between(0.74, 0.84), 0.05]
  if (outcome === 'success') {
    if (rises) return [random.between(0.42, 0.88), random.between(0.93, 1)]
    const start = random.between(0.86, 0.985)
    return [start, Math.max(0.62, start - random.between(0.03, 0.06) - 0.25 * u * u)]
  }
  return rises ? [random.between(0.06, 0.14), random.between(0.22, 0.32)] : [random.between(0.14, 0.78), 0.24 * u * u]
}

function quantizeInto({ trace, components: { base, noise, kick } }: Draft, a: number, b: number): void {
  const { values } = trace
  for (let t = 0; t < values.length; t++) values[t] = quantize(base[t] + a * noise[t] + b * kick[t], floorAt(trace, t))
}

/** 2^-14: half way to the end of the range in which bfloat16 is as fine as `BOUNDARY_GRID` */
const FINEST_START = 128 * target.BOUNDARY_GRID

/** the internal sum need not be exact: the rounding of its published mean leaves 4.8e-5 */
const INTERNAL_TOLERANCE = 2 ** -22

const PACES: readonly RiseTiming[] = ['early', 'even', 'even', 'late']

const DELTA_MARGIN = 0.012
/** least ratio of the boundary mean to the internal mean; for the smooth trace, the inverse is the largest ratio */
const RATIO_MARGIN = 1.05
const SMOOTHEST = 0.8

function fitsRole({ values }: ValueTrace, rises: boolean): boolean {
  const delta = values[values.length - 1] - values[0]
  return rises ? delta > DELTA_MARGIN : delta < -DELTA_MARGIN
}

function ratioOf(trace: ValueTrace): number {
  const [internal, boundary] = ([0, 1] as const).map(kind => changesOf(trace, kind)).map(c => c.sum / c.transitions)
  return boundary / internal
}

function draft(layout: TraceLayout, role: Role, random: Random): Draft {
  for (let n = 0; n < 200; n++) {
    const own = random.fork(`attempt ${n}`)
    const [start, end] = drawEnds(layout.outcome, role, own)
    const levels = wanderingLevels(
      layout.spanStarts.length,
      start,
      end,
      own.between(0.25, 0.95),
      role.misjudged ? 'late' : own.pick(PACES),
      own
    )
    const character: Character = {
      levels,
      noise: own.between(0.85, 1.2),
      kick: role.smooth ? 0.4 : own.between(0.8, 1.2),
      arrival: [0.1, 0.45],
      moods: 1
    }
    const trace: ValueTrace = { layout, values: new Float64Array(layout.tokens), boundary: boundaryFlags(layout) }
    const made = { trace, components: walk(layout, character, own) }
    quantizeInto(made, 1, 1)
    const ratio = ratioOf(trace)
    const fits = role.smooth ? ratio > SMOOTHEST && ratio < 1 / RATIO_MARGIN : ratio > RATIO_MARGIN
    if (fits && fitsRole(trace, role.rises)) return made
  }
  throw new RangeError(`replica trace at step ${layout.step} not reached`)
}

/** Scales of noise and kicks at which both pooled means are within 1e-5 of the published ones. */
function scaleDrafts(drafts: readonly Draft[], traces: readonly ValueTrace[]): { a: number; b: number } {
  let a = 1
  let b = 1
  for (let round = 0; round < 40; round++) {
    for (const one of drafts) quantizeInto(one, a, b)
    const internal = target.INTERNAL_SUM / pooledChanges(traces, 0).sum
    const boundary = target.BOUNDARY_SUM / pooledChanges(traces, 1).sum
    if (Math.abs(internal - 1) < 1e-5 && Math.abs(boundary - 1) < 1e-4) return { a, b }
    a *= internal
    b *= 1 + 1.4 * (boundary - 1) - 0.4 * (internal - 1)
  }
  throw new RangeError('replica scales not reached')
}

/**
 * Makes `missing` more transitions of one kind exceed the threshold (fewer, if it is negative). It moves the second token of
 * the nearest transitions across the threshold, one grid step at a time.
 */
function settleJumps(traces: readonly ValueTrace[], missing: number, kind: 0 | 1, random: Random): void {
  const near: Array<Token & { readonly distance: number }> = []
  for (const trace of traces) {
    const { values, boundary } = trace
    for (let t = 1; t + 1 < values.length; t++) {
      const excess = Math.abs(values[t] - values[t - 1]) - target.JUMP_THRESHOLD
      if (boundary[t - 1] !== kind || boundary[t] === 1 || Math.abs(excess) > 0.02) continue
      if (excess > 0 === missing < 0) near.push({ trace, t, distance: Math.abs(excess) })
    }
  }
  random.shuffle(near).sort((p, q) => p.distance - q.distance)
  let left = Math.abs(missing)
  for (const { trace, t } of near) {
    if (left === 0) return
    const { values } = trace
    const outward = Math.sign(values[t] - values[t - 1]) * Math.sign(missing)
    let value = values[t]
    for (let n = 0; n < 12 && Math.abs(value - values[t - 1]) > target.JUMP_THRESHOLD === missing < 0; n++) {
      value = quantize(value + outward * spacing(value, floorAt(trace, t)), floorAt(trace, t))
    }
    const crossed = Math.abs(value - values[t - 1]) > target.JUMP_THRESHOLD === missing > 0
    if (!crossed || !keepsJumps(trace, t, value, t - 1)) continue
    values[t] = value
    left--
  }
  if (left > 0) throw new RangeError(`replica jumps not reached: ${left} missing`)
}

/** In hopeless traces the value nearest to zero becomes -0, as rounding makes of a tiny negative value. */
function plantNegativeZeros(traces: readonly ValueTrace[]): void {
  const hopeless = traces.filter(({ layout, values }) => layout.outcome === 'failure' && values[values.length - 1] < 0.02)
  for (const trace of hopeless) {
    const { values } = trace
    let nearest = 0
    for (let t = 1; t < values.length; t++) if (Math.abs(values[t]) < Math.abs(values[nearest])) nearest = t
    if (isInternal({ trace, t: nearest }) && keepsJumps(trace, nearest, 0)) values[nearest] = -0
  }
}

/**
 * Adds `missing` to the sum of |change| at boundaries, at span starts. One turn of a hopeless trace is set to start just
 * above zero, where the grid is fine enough for the last move.
 */
function settleBoundarySum(traces: readonly ValueTrace[], missing: number, random: Random): void {
  const starts = traces.flatMap(trace => Array.from(trace.layout.spanStarts.slice(1), t => ({ trace, t })))
  const finest = starts
    .filter(({ trace, t }) => trace.values[t - 1] > 0.01 && keepsJumps(trace, t, FINEST_START))
    .reduce((p, q) => (Math.abs(p.trace.values[p.t]) < Math.abs(q.trace.values[q.t]) ? p : q))
  const effect = ({ trace, t }: Token, value: number): number => effectOnChanges(trace, t, value, 1)
  const rest = missing - effect(finest, FINEST_START)
  finest.trace.values[finest.t] = FINEST_START
  settleSum(rest, 0, starts, 64, effect, random)
}

/** The same inside spans: any token for the coarse steps, tokens near zero for the fine ones. */
function settleInternalSum(traces: readonly ValueTrace[], missing: number, random: Random): void {
  const tokens: Token[] = []
  for (const trace of traces) {
    for (let t = 0; t < trace.values.length; t++) {
      const value = trace.values[t]
      const chosen = Math.abs(value) < 2 ** -12 ? value !== 0 : random.next() < 2 ** 27
      if (chosen && isInternal({ trace, t })) tokens.push({ trace, t })
    }
  }
  settleSum(missing, INTERNAL_TOLERANCE, tokens, 2, ({ trace, t }, value) => effectOnChanges(trace, t, value, 0), random)
}

/** Values of every trace of the snapshot, and of the traces of the next step, in the order of the layouts. */
export function makeValues(
  layouts: readonly TraceLayout[],
  excluded: readonly TraceLayout[],
  random: Random
): { readonly traces: readonly ValueTrace[]; readonly excluded: readonly ValueTrace[] } {
  const roles = assignRoles(layouts, random.fork('roles'))
  const drafts: Draft[] = []
  const traces = layouts.map(layout => {
    const own = random.fork(`${layout.step}/${layout.outcome}`)
    if (layout.example !== null) return makeExample(layout, layout.example, own)
    const role = roles.get(layout) ?? { rises: false, smooth: false, misjudged: false }
    const made = draft(layout, role, own)
    drafts.push(made)
    return made.trace
  })
  const { a, b } = scaleDrafts(drafts, traces)
  const others = drafts.map(one => one.trace)
  plantNegativeZeros(others)
  const boundaryJumps = pooledChanges(traces, 1).jumps
  const internalJumps = pooledChanges(traces, 0).jumps
  settleJumps(others, target.BOUNDARY_JUMPS - boundaryJumps, 1, random.fork('boundary jumps'))
  settleJumps(others, target.INTERNAL_JUMPS - internalJumps, 0, random.fork('internal jumps'))

  settleBoundarySum(others, target.BOUNDARY_SUM - pooledChanges(traces, 1).sum, random.fork('boundary sum'))
  settleInternalSum(others, target.INTERNAL_SUM - pooledChanges(traces, 0).sum, random.fork('internal sum'))

  const later = excluded.map(layout => {
    const role = { rises: layout.outcome === 'success', smooth: false, misjudged: false }
    const made = draft(layout, role, random.fork(`${layout.step}/${layout.outcome}`))
    quantizeInto(made, a, b)
    return made.trace
  })
  return { traces, excluded: later }
}
