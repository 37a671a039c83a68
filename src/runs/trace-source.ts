/** What every source of traces gives: a page, a folder of NPZ files, a trainer's dump. */
import type { SampleSource } from '../compute/traces/contract.js'
import type { PageWanted } from '../compute/traces/page-blocks.js'
import type { TraceTask, TraceTaskBase, TraceWanted } from '../compute/traces/trace-task.js'
import { Fault } from '../core/errors.js'
import type { DumpReading, ReadDump } from '../schema/samples.js'
import type { HashedFile } from '../schema/study.js'
import type { SnapshotHeader } from '../schema/traces.js'
import type { Done } from './context.js'

/** What a source says when its last trace was measured. */
export interface SourceEnd {
  readonly header: Omit<SnapshotHeader, 'traceCount'>
  /** the page; null without one */
  readonly html: HashedFile | null
  /** what the reader of a dump found out; null for the other kinds */
  readonly dump: ReadDump | null
  /** its facts before they are put together; null for the other kinds */
  readonly reading: DumpReading | null
  /** of a part of a page: the NPZ files that its other traces seem to name; null where no part is measured */
  readonly namedElsewhere: readonly string[] | null
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
  readonly wanted: TraceWanted
  /** a free buffer for the columns of a later trace; null: there is none */
  readonly room: () => SharedArrayBuffer | null
  /** asked before each trace; default: nothing is wanted */
  readonly page?: (() => PageWanted | null) | undefined
  readonly onProgress: Done | undefined
}

export type TaskBase = Omit<TraceTaskBase, 'index' | 'room' | 'page'>

/** The header of a snapshot without a page. */
export const NO_PAGE: SourceEnd['header'] = { snapshotTime: null, alignment: null, synthetic: false }

/** @param first why the first of the rows was left out; null: there is none */
export function noSampleLeft(rows: number, first: string | null): Fault {
  const found = first === null ? 'no row' : `${rows === 1 ? '1 row' : `${rows} rows`} left out, the first for: ${first}`
  return new Fault({ format: 'dump', problem: 'no sample left', found, expected: 'at least one with a retained token' })
}
