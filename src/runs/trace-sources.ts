/**
 * Where the traces of a snapshot come from, one class a kind: a page, a folder of NPZ files, a trainer's dump. Each gives the
 * tasks of the pool in canonical order, and says at the end what it read.
 */
import type { TraceTask } from '../compute/traces/trace-task.js'
import type { PartRange } from '../ingest/dumps/contract.js'
import { PageSource, placeInPage } from '../ingest/traces/page.js'
import type { RunContext } from './context.js'
import type { SnapshotWork } from './snapshot-work.js'
import { NO_PAGE, type SourceEnd, type SourceOptions, type TaskBase, type TraceSource } from './trace-source.js'

export async function openTraceSource(context: RunContext, work: SnapshotWork, options: SourceOptions): Promise<TraceSource> {
  const base = taskBase(work, options)
  const { plan } = work
  if (plan.html !== null) return new PageTraces(context, work, plan.html, base, options)
  if (plan.kind === 'npz-folder') return new NpzTraces(context, plan.npzFiles, work.part, base, options)
  const { openDumpTraces } = await import('./dump-source.js')
  return openDumpTraces(context, work, base, options)
}

function taskBase({ plan: { folder }, settings: { traces, expectations } }: SnapshotWork, { wanted }: SourceOptions): TaskBase {
  return {
    wanted,
    folder,
    keys: traces.keys,
    jumpThreshold: traces.jump_threshold,
    successThreshold: traces.success_threshold,
    endMarker: expectations.boundary_end_marker
  }
}

class PageTraces implements TraceSource {
  readonly #context: RunContext
  readonly #page: PageSource
  readonly #path: string
  readonly #name: string
  readonly #base: TaskBase
  readonly #options: SourceOptions
  readonly #part: PartRange | null
  /** that traces outside the part seem to name */
  readonly #named = new Set<string>()

  constructor(context: RunContext, { settings, sourceName, part }: SnapshotWork, html: string, base: TaskBase, options: SourceOptions) {
    const { chunkBytes, signal } = context
    this.#context = context
    this.#path = html
    this.#part = part ?? null
    this.#page = new PageSource(html, { keys: settings.traces.keys, chunkBytes, signal, onProgress: options.onProgress })
    this.#name = sourceName ?? context.pathOf(html)
    this.#base = base
    this.#options = options
  }

  async *tasks(): AsyncGenerator<TraceTask, void, void> {
    const part = this.#part
    const placeOf = part === null ? null : await placeInPage(this.#path)
    const named = new NamedFiles(this.#base.keys.npz)
    for await (const { index, offset, bytes } of this.#page.slices()) {
      this.#context.throwIfInterrupted()
      if (part !== null && placeOf !== null && !isIn(part, placeOf(offset))) {
        named.of(bytes).forEach(name => this.#named.add(name))
        this.#page.release(bytes)
        continue
      }
      yield { kind: 'snapshot', ...this.#base, room: this.#options.room(), page: this.#options.page?.() ?? null, index, offset, bytes }
    }
  }

  release(task: TraceTask): void {
    if (task.kind === 'snapshot') this.#page.release(task.bytes)
  }

  leaveOut(): boolean {
    return false
  }

  onTrace(): void {
    // The page counts the bytes that were read.
  }

  end(): SourceEnd {
    const { header, sha256, bytes } = this.#page
    const html = { path: this.#name, sha256, bytes }
    return { header, html, dump: null, reading: null, namedElsewhere: this.#part === null ? null : [...this.#named] }
  }
}

/** What a member `npz` of a trace says, without parsing the trace: no text of JSON has the same bytes. */
class NamedFiles {
  readonly #pattern: RegExp

  constructor(key: string) {
    const name = JSON.stringify(key).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    this.#pattern = new RegExp(`${name}\\s*:\\s*("(?:[^"\\\\]|\\\\.)*")`, 'g')
  }

  of({ buffer, byteOffset, byteLength }: Uint8Array): string[] {
    const text = Buffer.from(buffer, byteOffset, byteLength).toString('utf8')
    return [...text.matchAll(this.#pattern)].flatMap(([, name]) => {
      try {
        return [JSON.parse(name) as string]
      } catch {
        return []
      }
    })
  }
}

function isIn({ from, to }: PartRange, at: number): boolean {
  return at >= from && at < to
}

class NpzTraces implements TraceSource {
  readonly #context: RunContext
  readonly #files: readonly string[]
  readonly #part: PartRange
  readonly #base: TaskBase
  readonly #options: SourceOptions

  constructor(context: RunContext, files: readonly string[], part: PartRange | undefined, base: TaskBase, options: SourceOptions) {
    this.#context = context
    this.#files = files
    this.#part = part ?? { from: 0, to: files.length }
    this.#base = base
    this.#options = options
  }

  async *tasks(): AsyncGenerator<TraceTask, void, void> {
    for (const [index, npz] of this.#files.entries()) {
      this.#context.throwIfInterrupted()
      if (!isIn(this.#part, index)) continue
      yield { kind: 'npz', ...this.#base, room: this.#options.room(), page: this.#options.page?.() ?? null, index, npz }
    }
  }

  release(): void {
    // A thread reads the file itself.
  }

  leaveOut(): boolean {
    return false
  }

  onTrace(done: number): void {
    this.#options.onProgress?.(done)
  }

  end(): SourceEnd {
    return { header: NO_PAGE, html: null, dump: null, reading: null, namedElsewhere: null }
  }
}
