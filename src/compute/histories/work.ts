/**
 * Long work in pieces: a generator that yields between pieces and returns the result. Its driver may let the event loop
 * turn, show progress, or stop. The work does not depend on the driver.
 */
export type Work<T> = Generator<void, T, void>

/** Approximate number of operations between two yields: a few milliseconds. */
export const PIECE = 1 << 21

/** Lets the event loop turn. Rejects where the work has to stop. */
export type Checkpoint = () => Promise<void>

/** Runs all pieces without a pause. */
export function finish<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/** Runs all pieces, with a checkpoint between them. */
export async function inTurns<T>(work: Work<T>, checkpoint: Checkpoint): Promise<T> {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    await checkpoint()
  }
}
