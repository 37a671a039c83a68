/** States in which a run of W&B can still log. */
const GROWING_STATES = new Set(['running', 'pending', 'preempting'])

export function isGrowingState(state: string): boolean {
  return GROWING_STATES.has(state)
}
