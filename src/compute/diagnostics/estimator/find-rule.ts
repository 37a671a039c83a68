/**
 * The rule for masked tokens: at each gap between turns the return of the token in front, less its reward, against what each rule
 * lets follow. Rules that give the same there are told apart by what they store at masked tokens, where they store different things.
 */
import type { Transition } from './transition.js'
import { ROUNDINGS } from './inside.js'
import { unpackGaps } from './packed-gaps.js'
import { SINGLE } from './precision.js'
import type { EstimatorRecord } from './record.js'
import type { Relation } from './relation.js'
import { RULES } from './rules/index.js'
import { type Rule, type RuleCoefficients, usedReward } from './rules/rule.js'
import type { RuleName } from '../../../schema/diagnostics.js'

export interface RulePlace {
  readonly sample: number
  readonly token: number
}

export interface FoundRule {
  /** the first that fits; null: none, or no coefficients */
  readonly rule: Rule | null
  /** the form of it that fits */
  readonly form: number
  readonly alternatives: readonly RuleName[]
  /** where none fits: the one with the fewest departures, and its first one */
  readonly nearest: RuleName | null
  readonly departure: RulePlace | null
  /** gaps that were looked at */
  readonly gaps: number
}

/** Largest residual of one transition that is rounding. */
export function allowed(rounding: number, scale: number): number {
  return (rounding <= 2 * SINGLE ? ROUNDINGS * rounding : 2 * rounding) * scale
}

export function scaleOf(record: EstimatorRecord, t: Transition): number {
  return Math.max(record.scale, Math.abs(t.next?.value ?? 0) + Math.abs(t.next?.ret ?? 0) + Math.abs(t.here.ret))
}

export function coefficientsFor(relation: Relation): RuleCoefficients {
  const shift = relation.name === 'values one later' ? 1 : relation.name === 'values one earlier' ? -1 : 0
  const rewardShift = relation.name === 'rewards one later' ? -1 : relation.name === 'rewards one earlier' ? 1 : 0
  return { a: relation.a, b: relation.b, beta: relation.beta, shift, rewardShift }
}

interface RuleRow {
  readonly record: EstimatorRecord
  readonly transition: Transition
  readonly y: number
  readonly allowed: number
  /** what may stand beside the continuation: the final reward, at the last trainable token or behind it */
  readonly more: (rule: Rule) => readonly number[]
}

/** What the gaps say of one form of a rule. */
interface Judged {
  readonly rule: Rule
  readonly form: number
  /** gaps that depart, of those with numbers, and the first of them */
  misses: number
  first: RulePlace | null
  tested: number
}

/** A share of gaps may carry what no rule knows, such as a reward of one turn. */
const FEW = 0.02

/** Each rule, in the form of it that departs least. */
function judge(rows: Iterable<RuleRow>, c: RuleCoefficients): Judged[] {
  const unseen = (rule: Rule, form: number): Judged => ({ rule, form, misses: 0, first: null, tested: 0 })
  const judged = RULES.map(rule => ({ rule, forms: [unseen(rule, 0)] }))
  for (const row of rows) {
    for (const { rule, forms } of judged) {
      const answers = rule.continuation(row.transition, c) ?? []
      while (forms.length < answers.length) forms.push(unseen(rule, forms.length))
      for (const [form, value] of answers.entries()) if (!Number.isNaN(value)) tally(forms[form], row, value)
    }
  }
  return judged.map(({ forms }) =>
    forms.reduce((best, one) => (best.tested === 0 || (one.tested > 0 && one.misses < best.misses) ? one : best))
  )
}

function tally(judged: Judged, { record, transition, y, allowed: limit, more }: RuleRow, value: number): void {
  judged.tested += 1
  if (more(judged.rule).some(beside => Math.abs(y - value - beside) <= limit)) return
  judged.misses += 1
  judged.first ??= { sample: record.index, token: transition.here.token }
}

/** Share of masked tokens at which something else is stored than each rule stores; null: nothing is known of it. */
function storedOtherwise(judged: readonly Judged[], rows: Iterable<RuleRow>, c: RuleCoefficients): readonly (number | null)[] {
  let known = 0
  const others = judged.map(() => 0)
  // stored values are not those that masked tokens used
  for (const { transition, allowed: limit } of c.shift === 0 && judged.length > 0 ? rows : []) {
    for (const pair of transition.pairs) {
      known += 1
      for (const [k, { rule }] of judged.entries()) {
        if (!rule.stored(pair, transition, c).some(x => Math.abs(x - pair.here.ret) <= 2 * limit)) others[k] += 1
      }
    }
  }
  return others.map(other => (known === 0 ? null : other / known))
}

function isEvery(rows: Iterable<RuleRow>, is: (transition: Transition) => boolean): boolean {
  for (const { transition } of rows) if (!is(transition)) return false
  return true
}

/** They are made again each time: of many samples they would not fit into memory. */
function gapRows(records: readonly EstimatorRecord[], relation: Relation, c: RuleCoefficients): Iterable<RuleRow> {
  return {
    *[Symbol.iterator]() {
      for (const record of records) {
        for (const transition of record.ends === null ? [] : unpackGaps(record.ends.gaps)) {
          yield {
            record,
            transition,
            y: transition.here.ret - usedReward(transition, c),
            allowed: allowed(relation.rounding(record), scaleOf(record, transition)),
            more: () => NOTHING
          }
        }
      }
    }
  }
}

const NOTHING = [0]

/** True where each masked token counts like any other, its value or 0 for it. */
export function countsEachToken(rule: Rule | null): boolean {
  return rule?.name === 'every-token' || rule?.name === 'zeroed-values'
}

/** What is left of a reward at the end of the response in front of the masked tokens there. */
export function attenuated(reward: number, { masked }: Transition, c: RuleCoefficients): number {
  return reward * c.b ** masked
}

/** Without a gap, observations behind the last turn say something: the last return is what follows, with the score or without. */
function endRows(records: readonly EstimatorRecord[], relation: Relation, c: RuleCoefficients): RuleRow[] {
  return records.flatMap(record => {
    const last = record.ends?.last
    if (last === null || last === undefined || last.masked === 0 || (record.score === null && !record.has.rewards)) return []
    return [
      {
        record,
        transition: last,
        y: last.here.ret - usedReward(last, c),
        allowed: allowed(relation.rounding(record), scaleOf(record, last) + Math.abs(record.score ?? 0)),
        more: rule => {
          const score = record.score ?? 0
          const behind = last.cleared && countsEachToken(rule) ? [attenuated(score, last, c)] : []
          return record.has.rewards ? [0] : [0, score, ...behind]
        }
      }
    ]
  })
}

/** With gamma lambda = 1 and no part of the value every rule but the last goes on with the next return, known masked tokens or not. */
function passesReturns(c: RuleCoefficients): boolean {
  return Math.abs(c.b - 1) < 1e-5 && Math.abs(c.a) < 1e-5
}

function departsSeldom(j: Judged): boolean {
  return j.misses <= FEW * j.tested
}

/** Rules under which returns go over the gaps; all of them where there is none. */
function fitting(judged: readonly Judged[], rows: Iterable<RuleRow>, c: RuleCoefficients): Judged[] {
  if (isEvery(rows, () => false)) return [...judged]
  const carried = judged.some(j => j.rule.name === 'carry' && j.tested > 0 && departsSeldom(j))
  const fits = fewest(
    judged
      .filter(j => (j.tested > 0 ? departsSeldom(j) : passesReturns(c) && carried && j.rule.name !== 'reset'))
      .map(j => ({ j, other: j.misses }))
  )
  // behind the last turn a reward that is not the score departs from every rule
  return fits.length === 0 && isEvery(rows, ({ trainable }) => trainable === null) ? [...judged] : fits
}

/** Those without a departure, where some have none. */
function fewest(rules: readonly { readonly j: Judged; readonly other: number }[]): Judged[] {
  const none = rules.filter(r => r.other === 0)
  return (none.length > 0 ? none : rules).map(r => r.j)
}

/** Of rules that fit, those that what is stored at masked tokens leaves. */
function toldApart(
  fits: readonly Judged[],
  rows: Iterable<RuleRow>,
  records: readonly EstimatorRecord[],
  c: RuleCoefficients
): readonly Judged[] {
  const others = storedOtherwise(fits, rows, c)
  const agreeing = fewest(
    fits.flatMap((j, k) => {
      const other = others[k]
      return other === null || other > FEW ? [] : [{ j, other }]
    })
  )
  const masked = records.filter(r => (r.ends?.masked ?? 0) > 0)
  const zeros = masked.length > 0 && masked.every(r => r.ends?.maskedReturns === 0)
  const leftOut = fits.find(j => j.rule.name === 'trainable-only')
  // returns of 0 at masked tokens are those of this rule, and may be those of another, multiplied by the mask
  if (zeros && leftOut !== undefined) return [leftOut, ...fits.filter(j => j !== leftOut)]
  const told = agreeing.length > 0 ? agreeing : fits
  const left = told.filter(({ rule }) => {
    if (rule.name === 'carry') return !zeros
    // returns at masked tokens that no rule stores are still not those of a rule that stores none
    return rule.name !== 'trainable-only' || zeros || agreeing.length > 0 || isEvery(rows, ({ next }) => next === null)
  })
  return left.length > 0 ? left : told
}

/** No rule fits: the nearest one and where it is left first; neither where a rule could not be tested. */
function nearestOf(judged: readonly Judged[], rows: Iterable<RuleRow>, c: RuleCoefficients): Pick<FoundRule, 'nearest' | 'departure'> {
  if (judged.some(j => j.tested === 0)) return { nearest: null, departure: null }
  // masked tokens may agree with a rule where rewards of turns are not stated
  const others = storedOtherwise(judged, rows, c)
  const likely = judged.filter((_, k) => (others[k] ?? 1) <= FEW)
  const nearest = (likely.length > 0 ? likely : judged).reduce((best, j) => (j.misses < best.misses ? j : best))
  return { nearest: nearest.rule.name, departure: nearest.first }
}

export function findRule(records: readonly EstimatorRecord[], relation: Relation): FoundRule {
  const c = coefficientsFor(relation)
  const gaps = records.reduce((sum, { ends }) => sum + (ends?.gaps.count ?? 0), 0)
  const rows = gaps > 0 ? gapRows(records, relation, c) : endRows(records, relation, c)
  const judged = judge(rows, c)
  const [first, ...others] = toldApart(fitting(judged, rows, c), rows, records, c)
  if (first === undefined) return { rule: null, form: 0, alternatives: [], ...nearestOf(judged, rows, c), gaps }
  return {
    rule: first.rule,
    form: first.form,
    alternatives: others.map(j => j.rule.name),
    nearest: null,
    departure: null,
    gaps
  }
}
