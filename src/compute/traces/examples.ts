/**
 * Chooses the two example trajectories while results stream by in canonical order. At most a handful of traces is kept.
 * A study names the examples by step, outcome or uid. Otherwise a rule chooses: the success whose value rises most from
 * first to last token, and the failure whose value falls most; the earlier trace on a tie.
 */
import { counted } from '../../core/counts.js'
import { EXIT, Fault } from '../../core/errors.js'
import type { TraceSelector } from '../../schema/critic-traces.js'
import type { Outcome } from '../../schema/traces.js'
import type { ExampleTrace, TraceColumns, TraceResult } from './contract.js'

export interface ChosenExample {
  readonly result: TraceResult | null
  readonly trace: ExampleTrace | null
  /** how it was picked, or why there is none, as a sentence for the output */
  readonly rule: string
}

export interface ChosenExamples {
  readonly success: ChosenExample
  readonly failure: ChosenExample
}

/** What a figure draws of a trace. */
export type ExampleCurve = Pick<TraceColumns, 'values' | 'boundaries'>

interface Kept {
  readonly result: TraceResult
  readonly trace: ExampleTrace
}

const RULES: Readonly<Record<Outcome, string>> = {
  success: 'by rule: the success whose value rises most from first to last token, the earlier trace on a tie',
  failure: 'by rule: the failure whose value falls most from first to last token, the earlier trace on a tie'
}

export class ExampleCollector {
  readonly #named: Partial<Record<Outcome, Kept>> = {}
  readonly #ruled: Partial<Record<Outcome, Kept>> = {}
  #unknown = 0
  readonly #selectors: Readonly<Record<Outcome, TraceSelector | null>>
  readonly #required: boolean

  /**
   * @param required the snapshot must hold a named example (it is the study's own); otherwise the rule replaces a
   *   missing one, and its text says so
   */
  constructor(selectors: Readonly<Record<Outcome, TraceSelector | null>>, required: boolean) {
    this.#selectors = selectors
    this.#required = required
  }

  /** Takes one trace, in canonical order. Columns of a kept trace are copied, so the caller may reuse them. */
  offer(result: TraceResult, columns: ExampleCurve): void {
    const { outcome } = result.fields
    if (outcome === null) {
      this.#unknown++
      return
    }
    for (const role of ['success', 'failure'] as const) {
      const selector = this.#selectors[role]
      if (selector === null || !matches(selector, role, result)) continue
      const earlier = this.#named[role]
      if (earlier !== undefined) {
        throw new Fault({
          format: 'study',
          problem: `${role} example is ambiguous`,
          found: `traces ${earlier.result.index} and ${result.index} match ${describeSelector(selector)}`,
          expected: `exactly one trace: examples.${role} of the study with more of step, outcome and uid`,
          exitCode: EXIT.checkFailed
        })
      }
      this.#named[role] = keep(result, columns)
    }
    const best = this.#ruled[outcome]
    if (best === undefined || surpasses(outcome, result, best.result)) this.#ruled[outcome] = keep(result, columns)
  }

  /**
   * The choice after the last trace.
   * @throws Fault (exit 1) where a required example is missing
   */
  choose(): ChosenExamples {
    return { success: this.#chooseOne('success'), failure: this.#chooseOne('failure') }
  }

  #chooseOne(role: Outcome): ChosenExample {
    const selector = this.#selectors[role]
    const named = this.#named[role]
    if (selector !== null && named !== undefined) return { ...named, rule: `named by the study: ${describeSelector(selector)}` }
    if (selector !== null && this.#required) {
      throw new Fault({
        format: 'study',
        problem: `${role} example is missing`,
        found: `no trace with ${describeSelector(selector)}`,
        expected: `exactly one, or no examples.${role} in the study: the rule then chooses`,
        exitCode: EXIT.checkFailed
      })
    }
    const ruled = this.#ruled[role]
    if (ruled === undefined) {
      const unknown = this.#unknown === 0 ? '' : `; the outcome of ${counted(this.#unknown, 'trace')} is unknown`
      return { result: null, trace: null, rule: `the snapshot holds no ${this.#unknown === 0 ? '' : 'known '}${role}${unknown}` }
    }
    const why = selector === null ? '' : `the study names ${describeSelector(selector)}, which this snapshot does not hold; `
    return { ...ruled, rule: why + RULES[role] }
  }
}

/**
 * The traces of a part of a snapshot that may be its examples: those that the study names, and the best of each outcome. Of the
 * named ones two are enough to say that they are ambiguous.
 */
export class ExampleCandidates {
  readonly #named: Readonly<Record<Outcome, Kept[]>> = { success: [], failure: [] }
  readonly #best: Partial<Record<Outcome, Kept>> = {}
  readonly #selectors: Readonly<Record<Outcome, TraceSelector | null>>

  constructor(selectors: Readonly<Record<Outcome, TraceSelector | null>>) {
    this.#selectors = selectors
  }

  /** Takes one trace, in canonical order. Columns of a kept trace are copied, so the caller may reuse them. */
  offer(result: TraceResult, columns: ExampleCurve): void {
    const { outcome } = result.fields
    if (outcome === null) return
    for (const role of ['success', 'failure'] as const) {
      const selector = this.#selectors[role]
      const named = this.#named[role]
      if (selector !== null && named.length < 2 && matches(selector, role, result)) named.push(keep(result, columns))
    }
    const best = this.#best[outcome]
    if (best === undefined || surpasses(outcome, result, best.result)) this.#best[outcome] = keep(result, columns)
  }

  /** Their curves by canonical position. */
  curves(): ReadonlyMap<number, ExampleCurve> {
    const kept = [...this.#named.success, ...this.#named.failure, ...Object.values(this.#best)]
    return new Map(kept.map(({ result, trace: { values, boundaries } }) => [result.index, { values, boundaries }]))
  }
}

function keep(result: TraceResult, columns: ExampleCurve): Kept {
  const { fields, statistics } = result
  return {
    result,
    trace: {
      outcome: fields.outcome as Outcome,
      step: fields.step,
      uid: fields.uid,
      values: new Float64Array(columns.values),
      boundaries: columns.boundaries.slice(),
      maxBoundaryJump: statistics.maxBoundaryJump
    }
  }
}

function surpasses(outcome: Outcome, a: TraceResult, b: TraceResult): boolean {
  return outcome === 'success' ? a.statistics.delta > b.statistics.delta : a.statistics.delta < b.statistics.delta
}

function matches(selector: TraceSelector, role: Outcome, { fields }: TraceResult): boolean {
  return (
    fields.outcome === (selector.outcome ?? role) &&
    (selector.step === undefined || fields.step === selector.step) &&
    (selector.uid === undefined || fields.uid === selector.uid)
  )
}

function describeSelector(selector: TraceSelector): string {
  const parts: string[] = []
  if (selector.step !== undefined) parts.push(`step ${selector.step}`)
  if (selector.outcome !== undefined) parts.push(`outcome ${selector.outcome}`)
  if (selector.uid !== undefined) parts.push(`uid ${selector.uid}`)
  return parts.join(', ')
}
