/**
 * Where the traces of a snapshot come from, one class a kind: a page, a folder of NPZ files, a trainer's dump. Each gives the
 * tasks of the pool in canonical order, and says at the end what it read.
 */
import { packSample, placeOfSample } from '../compute/traces/sample-trace.js'
import type { SampleSource } from '../compute/traces/contract.js'
import type { TraceTask, TraceTaskBase } from '../compute/traces/trace-task.js'
import { Fault } from '../core/errors.js'
import { isLeftOut, type Dump } from '../ingest/dumps/contract.js'
import { SlicePool } from '../ingest/json/pool.js'
import { PageSource } from '../ingest/traces/page.js'
import { sampleKeys } from '../schema/sample-keys.js'
import type { LeftOut, ReadDump } from '../schema/samples.js'
import type { HashedFile } from '../schema/study.js'
import type { SnapshotHeader } from '../schema/traces.js'
import type { Done, RunContext } from './context.js'
import type { SnapshotWork } from './snapshot.js'

/** What a source says when its last trace was measured. */
export interface SourceEnd {
  readonly header: Omit<SnapshotHeader, 'traceCount'>
  /** the page; null without one */
  readonly html: HashedFile | null
  /** what the reader of a dump found out; null for the other kinds */
  readonly dump: ReadDump | null
}

export interface TraceSource {
  tasks(): AsyncGenerator<TraceTask, void, void>
  /** Takes back the memory of a task that was answered. */
  release(task: TraceTask): void
  /** Leaves a bad trace out, where the source may. */
  leaveOut(index: number, fault: Fault, sample: SampleSource | null): boolean
  /** called with the number of traces measured so far */
  onTrace(done: number): void
  end(): SourceEnd
}

export interface SourceOptions {
  /** a free buffer for the columns of a later trace; null: there is none */
  readonly room: () => SharedArrayBuffer | null
  readonly onProgress: Done | undefined
}

export async function openTraceSource(context: RunContext, work: SnapshotWork, options: SourceOptions): Promise<TraceSource> {
  const base = taskBase(work)
  const { plan } = work
  if (plan.html !== null) return new PageTraces(context, work, plan.html, base, options)
  if (plan.kind === 'npz-folder') return new NpzTraces(context, plan.npzFiles, base, options)
  const { signal } = context
  const { onProgress } = options
  const { names, skipBad } = work.settings.dump ?? { names: {}, skipBad: false }
  const { openDump } = await import('../ingest/dumps/formats.js')
  const dump = await openDump(plan.folder, plan.dumpFiles, { keys: sampleKeys(names), skipBad, signal, onProgress })
  return new DumpTraces(context, dump, base, options)
}

type Base = Omit<TraceTaskBase, 'index' | 'room'>

function taskBase({ plan: { folder }, settings: { traces, expectations } }: SnapshotWork): Base {
  return {
    folder,
    keys: traces.keys,
    jumpThreshold: traces.jump_threshold,
    successThreshold: traces.success_threshold,
    endMarker: expectations.boundary_end_marker
  }
}

/** The header of a snapshot without a page. */
const NO_PAGE: SourceEnd['header'] = { snapshotTime: null, alignment: null, synthetic: false }

class PageTraces implements TraceSource {
  readonly #context: RunContext
  readonly #page: PageSource
  readonly #name: string
  readonly #base: Base
  readonly #options: SourceOptions

  constructor(context: RunContext, { settings, sourceName }: SnapshotWork, html: string, base: Base, options: SourceOptions) {
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
  readonly #base: Base
  readonly #options: SourceOptions

  constructor(context: RunContext, files: readonly string[], base: Base, options: SourceOptions) {
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

class DumpTraces implements TraceSource {
  readonly #context: RunContext
  readonly #dump: Dump
  readonly #base: Base
  readonly #options: SourceOptions
  readonly #buffers = new SlicePool()
  readonly #leftOut: LeftOut[] = []

  constructor(context: RunContext, dump: Dump, base: Base, options: SourceOptions) {
    this.#context = context
    this.#dump = dump
    this.#base = base
    this.#options = options
  }

  async *tasks(): AsyncGenerator<TraceTask, void, void> {
    try {
      for await (const item of this.#dump.samples(['values', 'returns'])) {
        this.#context.throwIfInterrupted()
        if (isLeftOut(item)) this.#leftOut.push(item)
        else {
          const sample = packSample(item, this.#buffers)
          yield { kind: 'sample', ...this.#base, room: this.#options.room(), index: item.index, sample }
        }
      }
    } finally {
      await this.#dump.close()
    }
  }

  release(task: TraceTask): void {
    if (task.kind === 'sample') this.#buffers.give(task.sample.buffer)
  }

  leaveOut(index: number, fault: Fault, sample: SampleSource | null): boolean {
    // The place is told beside the reason, and the folder as the user spelled it is no part of an output.
    const reason = new Fault({ ...fault.details, place: {} }).message
    this.#leftOut.push({ index, place: sample === null ? {} : placeOfSample(sample), reason })
    return true
  }

  onTrace(): void {
    // The dump counts the bytes that were read.
  }

  end(): SourceEnd {
    const { facts, inputs } = this.#dump
    const leftOut = [...this.#leftOut].sort((a, b) => a.index - b.index)
    return { header: NO_PAGE, html: null, dump: { facts, inputs, leftOut } }
  }
}
