/**
 * Runs tasks in parallel and yields their results in task order. The order in which they finish has no effect, so sums
 * and files made from the results have the same bytes at any number of threads.
 */

/**
 * @param tasks drawn lazily: while `window` tasks are running or waiting for their turn, no further task is drawn. This
 *   bounds memory and gives back-pressure to the reader of the input
 * @param run must not throw synchronously
 * @returns results in task order. Where `tasks` throws, the results of earlier tasks come first. Where `run` rejects,
 *   the results of earlier tasks come first and nothing follows
 */
export async function* inOrder<T, R>(
  tasks: AsyncIterable<T>,
  run: (task: T) => Promise<R>,
  window: number
): AsyncGenerator<R, void, undefined> {
  const queue: Array<Promise<R>> = []
  let settledHead = false
  const watchHead = (): void => {
    settledHead = false
    const head = queue[0]
    if (head === undefined) return
    const mark = (): void => {
      if (queue[0] === head) settledHead = true
    }
    head.then(mark, mark)
  }
  const take = async (): Promise<R> => {
    const result = await queue[0]
    // The promise that leaves has been awaited.
    void queue.shift()
    watchHead()
    return result
  }
  const iterator = tasks[Symbol.asyncIterator]()
  let failure: { readonly error: unknown } | null = null
  try {
    while (failure === null) {
      let next: IteratorResult<T>
      try {
        next = await iterator.next()
      } catch (error) {
        failure = { error }
        break
      }
      if (next.done === true) break
      const promise = run(next.value)
      // The head of the queue is awaited in its turn. Until then a rejection behind it must not count as unhandled.
      promise.catch(() => undefined)
      queue.push(promise)
      if (queue.length === 1) watchHead()
      while (queue.length >= window || (settledHead && queue.length > 0)) yield await take()
    }
    while (queue.length > 0) yield await take()
  } finally {
    await iterator.return?.()
  }
  if (failure !== null) throw failure.error
}
