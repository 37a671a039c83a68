/**
 * Runs tasks side by side and gives their results in the order in which the tasks came, never in the order in which they
 * finished: what is summed or written from them is then the same bytes at any number of threads.
 */

/**
 * @param tasks produced lazily: no further task is drawn while `window` are under way or waiting for their turn, which
 *   bounds memory and gives back-pressure to whoever reads the input
 * @param run must not throw synchronously
 * @returns results in task order. When `tasks` throws, the results of the tasks before it are given first; when `run`
 *   rejects, the results before it are given and nothing after it.
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
    queue.shift()
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
      // The head is awaited in its turn; until then a rejection further back must not count as unhandled.
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
