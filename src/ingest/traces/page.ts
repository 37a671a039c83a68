/**
 * Reads a snapshot page from disk into trace slices. The file's bytes are hashed as stored and inflated if they are gzip.
 * The content of the page's one `script#data` is cut into trace objects as they complete. Memory holds one chunk and one
 * trace.
 */
import { Fault } from '../../core/errors.js'
import { Kernel } from '../../kernel/kernel.js'
import type { SnapshotHeader, SnapshotKeys } from '../../schema/traces.js'
import { ByteTally, tallied } from '../../core/chunks.js'
import { gunzippedIfGzip } from '../../core/gunzip.js'
import { comparingWords } from '../../core/still.js'
import { fileChunks, openStill } from '../../core/still-file.js'
import { DataElement } from '../html/data-element.js'
import { SlicePool } from '../json/pool.js'
import { TraceSlicer } from '../json/slicer.js'
import type { TraceSlice } from '../json/trace.js'

export interface PageOptions {
  readonly keys: SnapshotKeys
  /** default 1 MiB; outputs do not depend on it */
  readonly chunkBytes?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** called with the number of bytes of the file read so far */
  readonly onProgress?: ((bytes: number) => void) | undefined
}

/** Kernels of finished pages, reused for later pages. */
const idle: Kernel[] = []

export class PageSource {
  readonly #path: string
  readonly #options: PageOptions
  readonly #tally = new ByteTally()
  readonly #pool = new SlicePool()
  #header: SnapshotHeader | null = null
  #sha256: string | null = null

  constructor(path: string, options: PageOptions) {
    this.#path = path
    this.#options = options
  }

  /**
   * The traces in the order of the page. A slice's buffer may be given back to `release` once nobody reads it any more.
   * @throws Fault if the page, its element or its JSON is incomplete, or if the file changed meanwhile. Traces before the
   * fault are yielded first.
   */
  async *slices(): AsyncGenerator<TraceSlice, void, void> {
    // Pages may be read side by side, and the thread's kernel holds a trace: so each page has a kernel of its own.
    const kernel = idle.pop() ?? new Kernel()
    try {
      yield* this.#slices(kernel)
    } finally {
      idle.push(kernel)
    }
  }

  async *#slices(kernel: Kernel): AsyncGenerator<TraceSlice, void, void> {
    const { keys, chunkBytes, signal, onProgress } = this.#options
    kernel.begin(0)
    const bytes = fileChunks(this.#path, {
      allocate: length => kernel.take(length),
      ...(chunkBytes === undefined ? {} : { chunkSize: chunkBytes }),
      ...(signal === undefined ? {} : { signal })
    })
    const element = new DataElement({ kernel })
    let slicer: TraceSlicer | null = null
    const slice = (piece: Uint8Array): TraceSlice[] => {
      slicer ??= new TraceSlicer({ keys, baseOffset: element.contentOffset, pool: this.#pool, kernel })
      return slicer.push(piece)
    }
    for await (const chunk of gunzippedIfGzip(tallied(bytes, this.#tally))) {
      for (const piece of await element.push(chunk)) yield* slice(piece)
      onProgress?.(this.#tally.bytes)
    }
    for (const piece of await element.end()) yield* slice(piece)
    slicer ??= new TraceSlicer({ keys, baseOffset: element.contentOffset, pool: this.#pool, kernel })
    this.#header = endOf(slicer)
    this.#sha256 = this.#tally.sha256()
  }

  /** Returns a slice's buffer to the pool for a later trace. */
  release(bytes: Uint8Array): void {
    this.#pool.give(bytes)
  }

  /** What the page states outside its traces. Available after the last slice. */
  get header(): SnapshotHeader {
    return this.#done(this.#header)
  }

  /** SHA-256 and size of the file as stored. Available after the last slice. */
  get sha256(): string {
    return this.#done(this.#sha256)
  }

  get bytes(): number {
    return this.#tally.bytes
  }

  #done<T>(value: T | null): T {
    if (value === null) throw new Error('the page was not read to its end')
    return value
  }
}

/** Ends the document. If it is truncated, the message names the likely cause: a raw `</script>` in a trace's text. */
function endOf(slicer: TraceSlicer): SnapshotHeader {
  try {
    return slicer.end()
  } catch (error) {
    if (!(error instanceof Fault) || error.details.problem !== 'truncated') throw error
    throw new Fault({ ...error.details, found: `the end of script#data (a raw </script> in a text ends it too)` })
  }
}

/**
 * Where an offset in the text of a page lies in its file: what a part of the page goes by. Of a gzip file it is as if all bytes were
 * packed alike, by the length that its end states (RFC 1952: ISIZE). Whatever that is, an offset has one place.
 */
export async function placeInPage(path: string): Promise<(offset: number) => number> {
  const file = await openStill(path, comparingWords('html'))
  try {
    const { size } = file
    const [head, tail] = [await file.slice(0, Math.min(2, size)), await file.slice(Math.max(0, size - 4), size)]
    const isGzip = head[0] === 0x1f && head[1] === 0x8b && tail.length === 4
    const stated = isGzip ? new DataView(tail.buffer, tail.byteOffset).getUint32(0, true) : size
    const share = size / Math.max(1, stated)
    return offset => Math.min(Math.max(0, size - 1), Math.floor(offset * share))
  } finally {
    await file.close()
  }
}
