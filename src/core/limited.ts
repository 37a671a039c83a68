/**
 * Runs `task` over items, at most `concurrency` at once; results in the items' order. After a failure no further item is
 * begun, the ones under way are waited for (no file stays open behind the caller's back), and the failure of the
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
