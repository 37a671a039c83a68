/**
 * Identity and layout of the synthetic traces: step, outcome, uid, retained tokens, spans, response positions. Totals are
 * exact by construction: `TOKENS` tokens and `BOUNDARIES` boundaries over `TRACES` traces.
 */
import type { Outcome } from '../schema/traces.js'
import type { Random } from './random.js'
import * as target from './targets.js'
import type { ExampleTarget } from './targets.js'

export interface TraceLayout {
  readonly step: number
  readonly outcome: Outcome
  readonly uid: string
  readonly tokens: number
  /** retained index at which each span starts; the first is 0 */
  readonly spanStarts: Int32Array
  /** position of each retained token in the response; a gap of more than one at every span start but the first */
  readonly positions: Int32Array
  /** null for all traces but the two examples */
  readonly example: ExampleTarget | null
}

const FEWEST_TOKENS = 4000
const MOST_TOKENS = 60000
const FEWEST_BOUNDARIES = 20
const MOST_BOUNDARIES = 150
const SHORTEST_SPAN = 14

/** A version-4 UUID from the random stream. */
function uid(random: Random): string {
  const hex = Array.from({ length: 4 }, () => random.next().toString(16).padStart(8, '0')).join('')
  const variant = '89ab'.charAt(random.below(4))
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, variant + hex.slice(17, 20), hex.slice(20)].join('-')
}

/** Moves integers inside [low, high] to the given sum, by shares that are as even as the bounds allow. */
function settleLayoutSum(numbers: number[], sum: number, low: number, high: number): void {
  let missing = sum - numbers.reduce((a, b) => a + b, 0)
  while (missing !== 0) {
    const open = numbers.flatMap((n, i) => ((missing > 0 ? n < high : n > low) ? [i] : []))
    if (open.length === 0) throw new RangeError(`no ${numbers.length} integers in [${low}, ${high}] sum to ${sum}`)
    const share = Math.trunc(missing / open.length) || Math.sign(missing)
    for (const i of open) {
      if (missing === 0) break
      const moved = Math.min(high, Math.max(low, numbers[i] + share))
      missing -= moved - numbers[i]
      numbers[i] = moved
    }
  }
}

/** Span starts. Turns are short tool calls and long stretches of reasoning, so their lengths vary widely. */
function cutSpans(tokens: number, boundaries: number, forced: number | null, random: Random): Int32Array {
  const weights = Array.from({ length: boundaries + 1 }, () => {
    const u = random.uniform()
    return 0.12 + (random.uniform() < 0.62 ? 0.7 * u : 0.8 + 3.2 * u * u)
  })
  const total = weights.reduce((a, b) => a + b, 0)
  const room = tokens - SHORTEST_SPAN * weights.length
  const lengths = weights.map(w => SHORTEST_SPAN + Math.floor((w / total) * room))
  settleLayoutSum(lengths, tokens, SHORTEST_SPAN, tokens)
  const starts = new Int32Array(lengths.length)
  for (let i = 1; i < starts.length; i++) starts[i] = starts[i - 1] + lengths[i - 1]
  if (forced !== null) {
    let nearest = 1
    for (let i = 2; i < starts.length; i++) {
      if (Math.abs(starts[i] - forced) < Math.abs(starts[nearest] - forced)) nearest = i
    }
    starts[nearest] = forced
  }
  return starts
}

/** Number of tokens that the mask leaves out between two spans: tool output and formatting, tens to thousands, mostly few. */
function omittedTokens(random: Random): number {
  const octave = 4 + Math.min(random.below(8), random.below(9))
  return 9 + Math.floor(2 ** octave * (1 + random.uniform()))
}

function placeTokens(tokens: number, spanStarts: Int32Array, random: Random): Int32Array {
  const positions = new Int32Array(tokens)
  let position = 0
  let span = 1
  for (let i = 0; i < tokens; i++) {
    if (i === spanStarts[span]) {
      position += omittedTokens(random)
      span++
    }
    positions[i] = position++
  }
  return positions
}

function layTrace(
  step: number,
  outcome: Outcome,
  tokens: number,
  boundaries: number,
  example: ExampleTarget | null,
  random: Random
): TraceLayout {
  const spanStarts = cutSpans(tokens, boundaries, example === null ? null : example.jump.index + 1, random)
  return { step, outcome, uid: uid(random), tokens, spanStarts, positions: placeTokens(tokens, spanStarts, random), example }
}

/** The traces of the snapshot, by step, the success before the failure. */
export function layTraces(random: Random): TraceLayout[] {
  const slots: Array<{ step: number; outcome: Outcome; example: ExampleTarget | null }> = []
  for (let step = target.FIRST_STEP; step <= target.LAST_STEP; step++) {
    slots.push({ step, outcome: 'success', example: step === target.SUCCESS_EXAMPLE.step ? target.SUCCESS_EXAMPLE : null })
    slots.push({ step, outcome: 'failure', example: step === target.FAILURE_EXAMPLE.step ? target.FAILURE_EXAMPLE : null })
  }
  const others = slots.filter(slot => slot.example === null)
  const examples = [target.SUCCESS_EXAMPLE, target.FAILURE_EXAMPLE]
  const tokens = others.map(slot => {
    const u = random.uniform()
    return Math.round(slot.outcome === 'success' ? 4300 + 44000 * u * u : 8600 + (47000 * (u + u * u)) / 2)
  })
  settleLayoutSum(tokens, target.TOKENS - examples.reduce((n, e) => n + e.tokens, 0), FEWEST_TOKENS, MOST_TOKENS)
  const boundaries = tokens.map(n => {
    // longer trajectories have longer turns
    const turns = Math.round(n / (random.between(130, 290) + n / 240))
    return Math.min(MOST_BOUNDARIES, Math.max(FEWEST_BOUNDARIES, turns))
  })
  const otherBoundaries = target.BOUNDARIES - examples.reduce((n, e) => n + e.boundaries, 0)
  settleLayoutSum(boundaries, otherBoundaries, FEWEST_BOUNDARIES, MOST_BOUNDARIES)
  let other = 0
  return slots.map(({ step, outcome, example }) => {
    const i = example === null ? other++ : -1
    return layTrace(
      step,
      outcome,
      example?.tokens ?? tokens[i],
      example?.boundaries ?? boundaries[i],
      example,
      random.fork(`${step}/${outcome}`)
    )
  })
}

/** The two traces of the step after the snapshot. */
export function layExcluded(random: Random): TraceLayout[] {
  return (['success', 'failure'] as const).map(outcome => {
    const own = random.fork(`${target.EXCLUDED_STEP}/${outcome}`)
    return layTrace(target.EXCLUDED_STEP, outcome, 6000 + own.below(9000), 24 + own.below(40), null, own)
  })
}
