/**
 * Runs `task` over the items, at most `concurrency` at a time; the results are in the order of the items. After a failure no
 * further item is started. The running ones are awaited, so that no file stays open after the call. Then the failure of the
 * earliest item is thrown.
 */
export async function mapLimited<T, R>(
  items: readonly T[],
  concurrency: number,
  task: (item: T, index: number, slot: number) => Promise<R>
): Promise<R[]> {
  const results = new Array<R>(items.length)
  const failures: { readonly index: number; readonly error: unknown }[] = []
  let next = 0
  const slots = Array.from({ length: Math.min(concurrency, items.length) }, async (_, slot) => {
    while (next < items.length && failures.length === 0) {
      const index = next++
      try {
        results[index] = await task(items[index], index, slot)
      } catch (error) {
        failures.push({ index, error })
      }
    }
  })
  await Promise.all(slots)
  if (failures.length > 0) throw failures.reduce((a, b) => (b.index < a.index ? b : a)).error
  return results
}
