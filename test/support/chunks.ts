/** Cutting bytes into chunks, and numbers to do it at random with a seed. */

/** Numbers in [0, 1) that a seed decides (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * The bytes in chunks of `size` bytes, or of what `size` gives each time (at least 1). Every chunk lies in the same
 * memory, which is overwritten when the next one is asked for: a reader that keeps a chunk without a copy is caught.
 */
export function* cut(bytes: Uint8Array, size: number | (() => number)): Generator<Uint8Array, void, void> {
  const memory = new Uint8Array(bytes.length)
  for (let from = 0; from < bytes.length; ) {
    const length = Math.min(Math.max(1, Math.floor(typeof size === 'number' ? size : size())), bytes.length - from)
    memory.set(bytes.subarray(from, from + length))
    yield memory.subarray(0, length)
    memory.fill(0x58)
    from += length
  }
}

/** The same as an async iterable, as byte sources are. */
export async function* cutAsync(bytes: Uint8Array, size: number | (() => number)): AsyncGenerator<Uint8Array> {
  yield* cut(bytes, size)
}
