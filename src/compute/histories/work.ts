/**
 * Work that may take long, in pieces: a generator that yields between them and returns the result. Whoever drives it may
 * let the event loop turn, show progress, or stop; the work itself knows of none of that.
 */
export type Work<T> = Generator<void, T, void>

/** Operations between two yields, about: a few milliseconds. */
export const PIECE = 1 << 21

/** Lets the event loop turn; rejects where the work is to stop. */
export type Checkpoint = () => Promise<void>

/** All of it at once. */
export function finish<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/** All of it, with a checkpoint between the pieces. */
export async function inTurns<T>(work: Work<T>, checkpoint: Checkpoint): Promise<T> {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    await checkpoint()
  }
}
