/**
 * Where the traces of a snapshot come from, one class a kind: a page, a folder of NPZ files, a trainer's dump. Each gives the
 * tasks of the pool in canonical order, and says at the end what it read.
 */
import type { TraceTask } from '../compute/traces/trace-task.js'
import { PageSource } from '../ingest/traces/page.js'
import type { RunContext } from './context.js'
import type { SnapshotWork } from './snapshot-work.js'
import { NO_PAGE, type SourceEnd, type SourceOptions, type TaskBase, type TraceSource } from './trace-source.js'

export async function openTraceSource(context: RunContext, work: SnapshotWork, options: SourceOptions): Promise<TraceSource> {
  const base = taskBase(work, options)
  const { plan } = work
  if (plan.html !== null) return new PageTraces(context, work, plan.html, base, options)
  if (plan.kind === 'npz-folder') return new NpzTraces(context, plan.npzFiles, base, options)
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
  readonly #name: string
  readonly #base: TaskBase
  readonly #options: SourceOptions

  constructor(context: RunContext, { settings, sourceName }: SnapshotWork, html: string, base: TaskBase, options: SourceOptions) {
    const { chunkBytes, signal } = context
    this.#context = context
    this.#page = new PageSource(html, { keys: settings.traces.keys, chunkBytes, signal, onProgress: options.onProgress })
    this.#name = sourceName ?? context.pathOf(html)
    this.#base = base
    this.#options = options
  }

  async *tasks(): AsyncGenerator<TraceTask, void, void> {
    for await (const { index, offset, bytes } of this.#page.slices()) {
      this.#context.throwIfInterrupted()
      yield { kind: 'snapshot', ...this.#base, room: this.#options.room(), index, offset, bytes }
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
    return { header, html: { path: this.#name, sha256, bytes }, dump: null }
  }
}

class NpzTraces implements TraceSource {
  readonly #context: RunContext
  readonly #files: readonly string[]
  readonly #base: TaskBase
  readonly #options: SourceOptions

  constructor(context: RunContext, files: readonly string[], base: TaskBase, options: SourceOptions) {
    this.#context = context
    this.#files = files
    this.#base = base
    this.#options = options
  }

  async *tasks(): AsyncGenerator<TraceTask, void, void> {
    for (const [index, npz] of this.#files.entries()) {
      this.#context.throwIfInterrupted()
      yield { kind: 'npz', ...this.#base, room: this.#options.room(), index, npz }
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
    return { header: NO_PAGE, html: null, dump: null }
  }
}
