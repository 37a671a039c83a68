/** Dumps of one file or of several: rollouts in the order of their steps, the ranks of each merged. */
import { Fault, printable } from '../../core/errors.js'
import type { HashedFile } from '../../schema/study.js'
import { SAMPLE_ARRAYS, type DumpFacts, type DumpReading, type LeftOut, type Sample, type SampleArray } from '../../schema/samples.js'
import { isLeftOut, type Beside, type Dump, type DumpOptions, type PartRange } from './contract.js'
import { requireSame } from './copies.js'
import type { FilePlan, OpenPart } from './files.js'
import type { PlacedRow, Wanted } from './part.js'
import { factsOf, NOTHING_FOUND, type GrowingFindings } from './findings.js'
import { sampleOf } from './response.js'
import { UNKNOWN_ORDER, type Rollout } from './rollout.js'

/** Where the files of a planned dump come from. */
export interface SeriesFiles {
  /** Opens a file again. @param onBytes called with the number of bytes of each read */
  open(plan: FilePlan, onBytes: (bytes: number) => void): Promise<OpenPart>
  /** Closes files that are still open since they were planned. */
  close(): Promise<void>
}

/** What a critic is measured by. One file without it would take it from all the others. */
const OF_EVERY_FILE = ['values', 'returns'] as const

export class Series implements Dump {
  readonly rows: number | null
  readonly arrays: ReadonlyMap<SampleArray, 'float32' | 'float64'>
  readonly hasTokenIds: boolean
  readonly inputs: HashedFile[] = []
  readonly #rollouts: readonly Rollout[]
  readonly #from: SeriesFiles
  readonly #options: DumpOptions
  readonly #findings: GrowingFindings = { ...NOTHING_FOUND }
  readonly #open = new Set<OpenPart>()
  /** bytes of the files that are read */
  #bytes = 0

  constructor(rollouts: readonly Rollout[], from: SeriesFiles, options: DumpOptions) {
    this.#rollouts = rollouts
    this.#from = from
    this.#options = options
    const files = this.#files()
    for (const key of OF_EVERY_FILE) requireInAll(files, key)
    requireSameMask(files)
    this.rows = rollouts.reduce<number | null>((sum, rollout) => add(sum, rowsOf(rollout)), 0)
    this.arrays = commonArrays(files)
    this.hasTokenIds = files.every(file => file.hasTokenIds)
  }

  get facts(): DumpFacts {
    return factsOf(this.reading)
  }

  get reading(): DumpReading {
    const files = this.#files()
    const joined = (words: readonly string[]): string => [...new Set(words)].join(', ')
    const { passedOver = 0 } = this.#options
    const others =
      passedOver === 1 ? '1 other file in the folder is passed over' : `${passedOver} other files in the folder are passed over`
    const masks = files.flatMap(({ mask }) => mask ?? [])
    return {
      kind: joined(files.map(({ kind }) => kind)),
      mask: masks.length === 0 ? null : joined(masks),
      end: joined(files.map(({ end }) => end)),
      notes: [...files.flatMap(file => file.notes), ...this.#seriesNotes(files)],
      findings: { ...this.#findings },
      laterNotes: passedOver > 0 ? [others] : [],
      files: this.#rollouts.flatMap(rollout => rollout.files.map(({ name }) => name))
    }
  }

  #seriesNotes(files: readonly FilePlan[]): string[] {
    const notes: string[] = []
    const repeats = this.#rollouts.flatMap(rollout => rollout.repeats).length
    if (repeats > 0) {
      const what = repeats === 1 ? '1 file holds' : `${repeats} files hold`
      notes.push(`${what} the same samples as the file of another rank: each sample is taken once`)
    }
    if (this.#rollouts.some(({ scoresByIndex }) => scoresByIndex === false)) notes.push(UNKNOWN_ORDER)
    for (const key of SAMPLE_ARRAYS) {
      const missing = files.filter(({ arrays }) => !arrays.has(key))
      if (missing.length > 0 && missing.length < files.length) notes.push(`no ${key} in ${missing[0].name}, so there are none`)
    }
    return notes
  }

  /** Files that rows are read from. */
  #files(): FilePlan[] {
    return this.#rollouts.flatMap(({ files, repeats }) => files.filter(file => !repeats.includes(file)))
  }

  async *samples(arrays: readonly SampleArray[], tokenIds = false): AsyncGenerator<Sample | LeftOut, void, void> {
    const wanted = this.#wanted(arrays, tokenIds)
    let index = 0
    for (const rollout of this.#rollouts) {
      for await (const row of this.#rows(rollout, wanted)) yield this.#sample(row, index++, wanted, rollout.step)
    }
    if (index === 0) throw emptyDump(this.#rollouts[0].files[0].name)
  }

  async *samplesWithin(
    part: PartRange,
    arrays: readonly SampleArray[],
    tokenIds = false
  ): AsyncGenerator<Sample | LeftOut | Beside, void, void> {
    if (this.rows === 0) throw emptyDump(this.#rollouts[0].files[0].name)
    const wanted = this.#wanted(arrays, tokenIds)
    let index = 0
    let isWithin = false
    let start = 0
    for (const [r, rollout] of this.#rollouts.entries()) {
      const from = start
      start += bytesOf(rollout)
      if (from >= part.to && !isWithin) return
      if (start <= part.from) {
        index += rowsOf(rollout) ?? (await this.#countRows(rollout, wanted))
        continue
      }
      const startOf = rowStarts(rollout, from)
      const state = { isDone: false }
      let last: RowOfPart | null = null
      let k = 0
      for await (const row of this.#rows(rollout, wanted, { isHashed: from < part.to, state })) {
        const at = startOf(row, k++)
        if (at < part.from) last = row
        else if (at < part.to) {
          if (!isWithin) {
            const before = (last === null ? null : this.#besideOf(last, wanted, rollout)) ?? (await this.#lastBefore(r, k - 1, wanted))
            if (before !== null) yield { beside: before }
          }
          isWithin = true
          yield this.#sample(row, index + k - 1, wanted, rollout.step)
        } else {
          const behind = isWithin ? this.#besideOf(row, wanted, rollout) : null
          if (behind !== null) yield { beside: behind }
          state.isDone = !isWithin || behind !== null
        }
      }
      if (state.isDone) return
      index += k
    }
  }

  #wanted(arrays: readonly SampleArray[], tokenIds: boolean): Wanted {
    return { arrays: new Set(arrays.filter(key => this.arrays.has(key))), tokenIds: tokenIds && this.hasTokenIds }
  }

  /** The rows of a rollout, and its files hashed beside them. @param how by default all rows are read */
  async *#rows(
    rollout: Rollout,
    wanted: Wanted,
    { isHashed, state }: { readonly isHashed: boolean; readonly state: { readonly isDone: boolean } } = WHOLE
  ): AsyncGenerator<RowOfPart, void, void> {
    const parts: OpenPart[] = []
    try {
      for (const file of rollout.files) parts.push(await this.#openCounted(file))
      // Beside the rows: a thread of the system reads, and this one has time while others measure.
      const hashes = isHashed ? hashesOf(parts, this.#options.signal) : null
      const asked = { ...wanted, scoresByIndex: rollout.scoresByIndex === true }
      for await (const item of rowsInOrder(rollout, parts, asked)) {
        this.#options.signal?.throwIfAborted()
        yield item
        if (state.isDone) break
      }
      const hashed = await hashes
      if (hashed !== null && 'error' in hashed) throw hashed.error
      for (const part of parts) await part.assertStill()
      if (hashed !== null) this.inputs.push(...hashed.files)
    } finally {
      for (const part of parts) await this.#closePart(part)
    }
    this.#bytes += bytesOf(rollout)
    this.#options.onProgress?.(this.#bytes)
  }

  async #countRows(rollout: Rollout, wanted: Wanted): Promise<number> {
    let count = 0
    for await (const _ of this.#rows(rollout, wanted, NOT_HASHED)) count++
    return count
  }

  /** The last sample before row `k` of a rollout, or of those before it; null: there is none. */
  async #lastBefore(r: number, k: number, wanted: Wanted): Promise<Sample | null> {
    for (let at = r; at >= 0; at--) {
      const rollout = this.#rollouts[at]
      const end = at === r ? k : Infinity
      // Most often the last row is one. Only where it is left out, every row is read.
      for (const readsAll of [false, true]) {
        let last: RowOfPart | null = null
        let found: Sample | null = null
        let count = 0
        for await (const row of this.#rows(rollout, wanted, NOT_HASHED)) {
          if (count++ >= end) break
          if (readsAll) found = this.#besideOf(row, wanted, rollout) ?? found
          else last = row
        }
        if (last !== null) found = this.#besideOf(last, wanted, rollout)
        if (found !== null) return found
      }
    }
    return null
  }

  /** A row beside a part as a sample; null: it is left out. What is wrong with it is told where it belongs. */
  #besideOf({ row: { place, read }, part: { plan } }: RowOfPart, wanted: Wanted, { step }: Rollout): Sample | null {
    try {
      const sample = sampleOf(read(), {
        format: plan.format,
        place,
        index: -1,
        rules: plan.rules,
        wanted,
        step,
        findings: { ...NOTHING_FOUND }
      })
      return isLeftOut(sample) ? null : sample
    } catch (error) {
      if (error instanceof Fault) return null
      throw error
    }
  }

  #sample(
    { row: { place, read }, part: { plan }, copies }: RowOfPart,
    index: number,
    wanted: Wanted,
    step: number | null
  ): Sample | LeftOut {
    try {
      const row = read()
      const sample = sampleOf(row, { format: plan.format, place, index, rules: plan.rules, wanted, step, findings: this.#findings })
      for (const copy of copies) requireSame({ place, row }, { place: copy.place, row: copy.read() }, plan.format)
      return sample
    } catch (error) {
      if (!this.#options.skipBad || !(error instanceof Fault)) throw error
      // The place is told beside the reason.
      return { index, place: { ...place, ...error.place }, reason: new Fault({ ...error.details, place: {} }).message }
    }
  }

  async #openCounted(plan: FilePlan): Promise<OpenPart> {
    let read = 0
    const { onProgress } = this.#options
    const before = this.#bytes + this.#openBytes()
    const part = await this.#from.open(plan, bytes => {
      // Some bytes are read twice, as of a table of contents.
      read = Math.min(plan.size, read + bytes)
      onProgress?.(before + read)
    })
    this.#open.add(part)
    const { rows, arrays } = part.plan
    if (rows === plan.rows && [...plan.arrays.keys()].every(key => arrays.has(key))) return part
    await this.#closePart(part)
    throw new Fault({
      format: 'dump',
      problem: 'changed while it was read',
      found: `${rows} rows`,
      expected: `${plan.rows}, as before`,
      place: { file: plan.name }
    })
  }

  #openBytes(): number {
    return [...this.#open].reduce((sum, { plan }) => sum + plan.size, 0)
  }

  async #closePart(part: OpenPart): Promise<void> {
    if (this.#open.delete(part)) await part.close()
  }

  async close(): Promise<void> {
    for (const part of [...this.#open]) await this.#closePart(part)
    await this.#from.close()
  }
}

const WHOLE = { isHashed: true, state: { isDone: false } }
const NOT_HASHED = { ...WHOLE, isHashed: false }

function bytesOf({ files }: Rollout): number {
  return files.reduce((sum, { size }) => sum + size, 0)
}

/** Where row k of a rollout begins that itself begins at `from`. */
function rowStarts(rollout: Rollout, from: number): (row: RowOfPart, k: number) => number {
  const rows = rowsOf(rollout)
  const bytes = BigInt(bytesOf(rollout))
  if (rows !== null) return (_row, k) => from + Number((BigInt(k) * bytes) / BigInt(rows))
  const starts = new Map<string, number>()
  let start = from
  for (const { name, size } of rollout.files) {
    starts.set(name, start)
    start += size
  }
  return ({ row: { offset = 0 }, part }) => (starts.get(part.plan.name) ?? from) + offset
}

function emptyDump(file: string): Fault {
  return new Fault({ format: 'dump', problem: 'empty', found: '0 rows', expected: 'at least one', place: { file } })
}

/** @throws Fault where some files have a mask and some have none: in these every token would count */
function requireSameMask(files: readonly FilePlan[]): void {
  const masked = files.find(({ mask }) => mask !== null)
  const unmasked = files.find(({ mask }) => mask === null)
  if (masked === undefined || unmasked === undefined) return
  throw new Fault({
    format: 'dump',
    problem: 'missing mask',
    found: 'no mask',
    expected: `one as in ${printable(masked.name)}, which has ${printable(masked.mask ?? '')}, or none in any file`,
    place: { file: unmasked.name }
  })
}

/** The hashes of files, one file after another. Never rejects, for it is awaited last. */
async function hashesOf(
  parts: readonly OpenPart[],
  signal: AbortSignal | undefined
): Promise<{ readonly files: readonly HashedFile[] } | { readonly error: unknown }> {
  const files: HashedFile[] = []
  try {
    for (const part of parts) files.push(await part.hashed(signal))
    return { files }
  } catch (error) {
    return { error }
  }
}

function add(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b
}

function rowsOf({ files, rows }: Rollout): number | null {
  return rows?.length ?? files.reduce<number | null>((sum, file) => add(sum, file.rows), 0)
}

/** @throws Fault for a file without an array that others have, with the name in it that comes near */
function requireInAll(files: readonly FilePlan[], key: SampleArray): void {
  const having = files.find(({ arrays }) => arrays.has(key))
  const lacking = files.find(({ arrays }) => !arrays.has(key))
  if (having === undefined || lacking === undefined) return
  const near = lacking.notes.find(note => note.startsWith(`no ${key};`))
  const found = near?.split('?')[0].concat('?') ?? `no ${key}`
  const place = { file: lacking.name, array: key }
  throw new Fault({ format: lacking.format, problem: 'missing array', found, expected: `${key}, as ${having.name} has`, place })
}

/** Arrays that all files have, in the wider of their widths. */
function commonArrays(files: readonly FilePlan[]): ReadonlyMap<SampleArray, 'float32' | 'float64'> {
  const keys = SAMPLE_ARRAYS.filter(key => files.every(({ arrays }) => arrays.has(key)))
  return new Map(keys.map(key => [key, files.some(({ arrays }) => arrays.get(key) === 'float64') ? 'float64' : 'float32']))
}

interface RowOfPart {
  readonly row: PlacedRow
  readonly part: OpenPart
  /** the same sample in other files */
  readonly copies: readonly PlacedRow[]
}

async function* rowsInOrder({ rows }: Rollout, parts: readonly OpenPart[], wanted: Wanted): AsyncGenerator<RowOfPart, void, void> {
  if (rows === null) {
    for (const part of parts) for await (const row of part.part.all(wanted)) yield { row, part, copies: [] }
    return
  }
  const readRow = ({ part, plan }: OpenPart, row: number): Promise<PlacedRow> => {
    if (part.row === null) throw new Error(`rows of ${plan.name} cannot be read in any order`)
    return part.row(row, wanted)
  }
  for (const { file, row, copies } of rows) {
    const read = await readRow(parts[file], row)
    yield { row: read, part: parts[file], copies: await Promise.all(copies.map(copy => readRow(parts[copy.file], copy.row))) }
  }
}
