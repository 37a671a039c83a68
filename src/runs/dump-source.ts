/**
 * The traces of a trainer's dump. A second dump of the same traces may be read beside it, sample by sample in canonical order:
 * each pair must be equal.
 */
import { basename, join, sep } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { neighbourValues } from '../compute/diagnostics/record.js'
import { packSample, placeOfSample, type PackedSample } from '../compute/traces/sample-trace.js'
import type { SampleSource } from '../compute/traces/contract.js'
import type { TraceTask } from '../compute/traces/trace-task.js'
import { EXIT, Fault } from '../core/errors.js'
import { isBeside, isLeftOut, type Dump, type DumpOptions, type PartRange } from '../ingest/dumps/contract.js'
import { factsOf } from '../ingest/dumps/findings.js'
import { openDump } from '../ingest/dumps/formats.js'
import { SlicePool } from '../ingest/json/pool.js'
import { spansOf, turnTextsOf } from '../ingest/tokenizer/spans.js'
import { readTokenizer, type TokenDecoder, type TokenizerFile } from '../ingest/tokenizer/tokenizer.js'
import { sampleKeys } from '../schema/sample-keys.js'
import { SAMPLE_ARRAYS, type LeftOut, type Sample } from '../schema/samples.js'
import { findSnapshots } from '../study/inventory.js'
import type { Done, RunContext } from './context.js'
import type { SnapshotSettings, SnapshotWork } from './snapshot-work.js'
import { NO_PAGE, type SourceEnd, type SourceOptions, type TaskBase, type TraceSource } from './trace-source.js'

/** What a measured trace is made of, beside the mask. */
const TRACE_OF_SAMPLE = ['values', 'returns'] as const

const WITHOUT_IDS = 'no token ids, so the tokenizer gives no texts'

/**
 * The dump of a snapshot, with the table of contents of each of its files.
 *
 * @param onProgress called with the bytes read so far
 * @param forRecords records are made of its samples. They outlive the young generation: one that stays small is emptied all the time
 */
export function openPlannedDump(
  { plan, settings }: SnapshotWork,
  signal: AbortSignal | undefined,
  onProgress: Done | undefined,
  forRecords = false
): Promise<Dump> {
  if (!forRecords) keepYoungGenerationSmall()
  return openDump(plan.folder, plan.dumpFiles, { ...readingOf(settings), passedOver: plan.passedOver, signal, onProgress })
}

/**
 * The arrays of a dump die young, and their memory is freed with the small objects that hold it. A young generation that has grown
 * keeps 40 to 60 MB of dead arrays, and is no faster here.
 */
function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

function readingOf({ dump }: SnapshotSettings): Pick<DumpOptions, 'keys' | 'skipBad'> {
  return { keys: sampleKeys(dump?.names ?? {}), skipBad: dump?.skipBad ?? false }
}

export async function openDumpTraces(
  context: RunContext,
  work: SnapshotWork,
  base: TaskBase,
  options: SourceOptions
): Promise<TraceSource> {
  const { settings, tokenizer: given } = work
  const { against = null, tokenizer: path = null } = settings.dump ?? {}
  const { columns: measured } = base.wanted
  const { signal } = context
  const dump = work.dump ?? (await openPlannedDump(work, signal, options.onProgress, options.wanted.record !== null))
  try {
    if (measured) requireTraces(dump, work.plan.dumpFiles[0])
    const tokenizer = path === null || !measured ? null : (given ?? (await readTokenizer(path)))
    const texts = tokenizer === null || !dump.hasTokenIds ? null : await tokenizer.load()
    const second = against === null ? null : await openSecond(against, { ...readingOf(settings), signal })
    return new DumpTraces(context, { dump, part: work.part ?? null, second }, { file: tokenizer, texts }, base, options)
  } catch (error) {
    await dump.close()
    throw error
  }
}

/** @throws Fault where the dump lacks what a trace is made of, with the nearest name that it has */
export function requireTraces({ arrays, facts }: Dump, file: string): void {
  for (const array of TRACE_OF_SAMPLE) {
    if (arrays.has(array)) continue
    const found = [[...arrays.keys()].join(', '), ...facts.notes.filter(note => note.startsWith(`no ${array};`))].join('; ')
    const expected = `${array} beside ${[...arrays.keys()].includes('values') ? 'values' : 'returns'}, or --key ${array}=NAME`
    throw new Fault({ format: 'dump', problem: 'missing array', found, expected, place: { file, array } })
  }
}

async function openSecond(path: string, options: DumpOptions): Promise<SecondDump> {
  const plans = await findSnapshots([path])
  const [plan] = plans
  if (plans.length === 1 && plan.kind === 'dump') {
    const { folder } = plan
    const dump = await inSecond(openDump(folder, plan.dumpFiles, options), folder)
    requireTraces(dump, path)
    return { dump, folder }
  }
  const found = plans.length === 1 ? 'a page or NPZ files of one trace each' : `${plans.length} snapshots`
  throw new Fault({ format: 'usage', problem: 'wrong --against', found, expected: 'one dump', place: { file: path }, exitCode: EXIT.usage })
}

async function inSecond<T>(reading: Promise<T>, folder: string): Promise<T> {
  try {
    return await reading
  } catch (error) {
    throw error instanceof Fault ? atSecond(error, folder) : error
  }
}

/** The second dump may have files of the names that the first has: its faults say which folder they are in. */
function atSecond(fault: Fault, folder: string): Fault {
  const { file } = fault.place
  if (file === undefined || basename(file) !== file) return fault
  const below = join(folder, file)
  return new Fault({ ...fault.details, place: { ...fault.place, file: below === file ? `.${sep}${file}` : below } })
}

/** The sample at the same place of the second dump. */
function sameSample(sample: Sample, { done, value }: IteratorResult<Sample | LeftOut, void>): Sample {
  if (done === true || value === undefined) throw unpaired(sample, 'only in the first dump', 'the same traces in both')
  if (isLeftOut(value)) throw unpaired(sample, `left out of the second dump: ${value.reason}`, 'the same traces in both')
  return value
}

function unpaired({ index, place }: Pick<Sample, 'index' | 'place'>, found: string, expected: string): Fault {
  return new Fault({
    format: 'trace',
    problem: 'not in both',
    found,
    expected,
    place: { ...place, trace: index },
    exitCode: EXIT.checkFailed
  })
}

/** What gives the spans their texts. */
interface Texts {
  /** null: none is named */
  readonly file: TokenizerFile | null
  /** null: none is named, or the dump has no token ids */
  readonly texts: TokenDecoder | null
}

interface SecondDump {
  readonly dump: Dump
  readonly folder: string
}

/** What is read. */
interface ReadDumps {
  readonly dump: Dump
  /** of the bytes of the dump; null: the whole */
  readonly part: PartRange | null
  /** holds the same traces; null: nothing is compared. A part is compared with nothing */
  readonly second: SecondDump | null
}

/** A sample in shared memory, which goes back to the pool when every task that reads it was answered. */
interface HeldSample {
  readonly packed: PackedSample
  readonly against: PackedSample | null
  /** false: it stands beside the part that is measured */
  readonly isOwn: boolean
  readers: number
}

class DumpTraces implements TraceSource {
  readonly #context: RunContext
  readonly #dump: Dump
  readonly #part: PartRange | null
  readonly #second: SecondDump | null
  readonly #texts: Texts
  readonly #base: TaskBase
  readonly #options: SourceOptions
  readonly #buffers = new SlicePool()
  readonly #leftOut: LeftOut[] = []
  /** what each task under way reads */
  readonly #read = new Map<TraceTask, readonly HeldSample[]>()

  constructor(context: RunContext, { dump, part, second }: ReadDumps, texts: Texts, base: TaskBase, options: SourceOptions) {
    this.#context = context
    this.#dump = dump
    this.#part = part
    this.#second = second
    this.#texts = texts
    this.#base = base
    this.#options = options
  }

  async *tasks(): AsyncGenerator<TraceTask, void, void> {
    if (this.#base.wanted.record === null) {
      for await (const held of this.#samples()) if (held.isOwn) yield this.#task(held, null, null)
    } else yield* this.#besideOthers()
  }

  /** A record looks at the values of the samples on both sides. */
  async *#besideOthers(): AsyncGenerator<TraceTask, void, void> {
    let before: HeldSample | null = null
    let current: HeldSample | null = null
    for await (const behind of this.#samples()) {
      if (current?.isOwn === true) {
        current.readers++
        behind.readers++
        yield this.#task(current, before, behind)
      }
      before = current
      current = behind
    }
    if (current?.isOwn === true) yield this.#task(current, before, null)
  }

  #task(held: HeldSample, before: HeldSample | null, behind: HeldSample | null): TraceTask {
    const { packed, against } = held
    const neighbours = neighbourValues(before?.packed.sample ?? null, behind?.packed.sample ?? null)
    const { index } = packed.sample
    const task: TraceTask = {
      kind: 'sample',
      ...this.#base,
      room: this.#options.room(),
      page: this.#options.page?.() ?? null,
      index,
      sample: packed,
      neighbours,
      against
    }
    this.#read.set(
      task,
      [held, before, behind].filter(sample => sample !== null)
    )
    return task
  }

  async *#samples(): AsyncGenerator<HeldSample, void, void> {
    const { texts } = this.#texts
    const others = this.#second?.dump.samples(TRACE_OF_SAMPLE)
    try {
      const arrays = this.#base.wanted.record === null ? TRACE_OF_SAMPLE : SAMPLE_ARRAYS
      const part = this.#part
      const items = part === null ? this.#dump.samples(arrays, texts !== null) : this.#dump.samplesWithin(part, arrays, texts !== null)
      for await (const item of items) {
        this.#context.throwIfInterrupted()
        if (isBeside(item)) {
          yield { packed: packSample(item.beside, this.#buffers), against: null, isOwn: false, readers: 1 }
          continue
        }
        const other = others === undefined ? null : await inSecond(others.next(), this.#second?.folder ?? '')
        if (isLeftOut(item)) {
          if (other !== null && other.done !== true && !isLeftOut(other.value)) {
            throw unpaired(item, `left out of the first dump: ${item.reason}`, 'the same traces in both')
          }
          this.#leftOut.push(item)
          continue
        }
        // Here and not in the threads: each of them would load the tokenizer, which takes longer than the ends of a million spans.
        const spans = texts === null ? null : spansOf(item, texts, this.#base.endMarker)
        const turns = texts === null || this.#options.page?.()?.texts !== true ? undefined : turnTextsOf(item, texts)
        const packed = packSample(item, this.#buffers, spans, turns)
        const against = other === null ? null : packSample(sameSample(item, other), this.#buffers)
        yield { packed, against, isOwn: true, readers: 1 }
      }
      const more = await others?.next()
      if (more?.done === false) {
        throw atSecond(unpaired(more.value, 'only in the second dump', 'the same traces in both'), this.#second?.folder ?? '')
      }
    } finally {
      await Promise.all([this.#dump.close(), this.#second?.dump.close()])
    }
  }

  release(task: TraceTask): void {
    for (const held of this.#read.get(task) ?? []) {
      held.readers--
      if (held.readers > 0) continue
      this.#buffers.give(held.packed.buffer)
      if (held.against !== null) this.#buffers.give(held.against.buffer)
    }
    this.#read.delete(task)
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
    const { inputs } = this.#dump
    const { file, texts } = this.#texts
    const read = this.#dump.reading
    const reading = file !== null && texts === null ? { ...read, laterNotes: [...read.laterNotes, WITHOUT_IDS] } : read
    const facts = factsOf(reading)
    const tokenizer = file === null ? null : { sha256: file.sha256, bytes: file.bytes }
    const leftOut = [...this.#leftOut].sort((a, b) => a.index - b.index)
    const dump = { facts, inputs, leftOut, against: this.#second?.dump.inputs ?? null, tokenizer }
    return { header: NO_PAGE, html: null, dump, reading, namedElsewhere: null }
  }
}
