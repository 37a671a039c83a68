/**
 * `watch PATH…`: analyses what a trainer writes as it comes, and keeps index, table, figure and page over steps current.
 *
 *     look (study/watched.ts) ──► state (watch/state.ts) ──► one unit that stands still ──► analysed as by `traces`
 *        ▲                                                                                     │
 *        └── wait (watch/wake.ts) ◄── index, table, figure, page: when no unit is left ◄──────┘
 *
 * Each output takes its place whole (`transaction.ts`), so a process that is killed at any moment leaves nothing half-written, and
 * the next one finds the snapshots that are done unchanged.
 */
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describeCause } from '../core/errors.js'
import { isInside, realPlace } from '../core/system/folder.js'
import { lockFolder } from '../render/outputs/folder-lock.js'
import { BATCH_INDEX, DEFAULT_OUT } from '../render/outputs/output-names.js'
import { refuseOutputsAtInputs } from '../render/outputs/output-place.js'
import { sampleKeys } from '../schema/sample-keys.js'
import { shortNames } from '../study/inventory.js'
import {
  FileMemory,
  findUnits,
  labelOfEntry,
  sourcesOf,
  stepOfUnit,
  walkFiles,
  type Walked,
  type WatchedFault,
  type WatchedUnit
} from '../study/watched.js'
import { refusedName, runOne, sweepOutputs, tokenizerReader, type BatchRun } from './batch.js'
import { writeBatchIndex, type IndexEntry, type WrittenIndex } from './batch-index.js'
import type { SnapshotResult } from './batch-result.js'
import { WatchState, type Observed } from './watch/state.js'
import { Wake } from './watch/wake.js'

export type WatchReport =
  | { readonly kind: 'watching' }
  /** nothing is at a path: a trainer may make it later */
  | { readonly kind: 'waiting'; readonly path: string }
  /** it changed before it was analysed, or after */
  | { readonly kind: 'writing' | 'changed'; readonly label: string }
  | WatchGone
  /** `again`: its files held something else before */
  | { readonly kind: 'ended'; readonly label: string; readonly result: SnapshotResult; readonly again: boolean }
  | { readonly kind: 'index'; readonly written: WrittenIndex }
  | { readonly kind: 'note'; readonly text: string }
  /** no file is below a path where there were some: it may be a network folder that is not there now */
  | { readonly kind: 'empty'; readonly path: string }
  /** with `once`: it does not stand still */
  | { readonly kind: 'left'; readonly label: string }

/** A unit whose files are gone, cannot be read any more, or hold another step now: its entry left the index, or stays there (`keepDeleted`). */
export interface WatchGone {
  readonly kind: 'gone'
  readonly label: string
  readonly isKept: boolean
  /** its file is there and cannot be read */
  readonly isBroken: boolean
  /** what its file holds now; null: nothing that is known */
  readonly replaced: { readonly step: number | null; readonly by: number | null } | null
}

export interface WatchRun extends Omit<BatchRun, 'onStart' | 'onProgress' | 'onEnd' | 'onIndex' | 'signal'> {
  /** ends the watch; what is being analysed is given up */
  readonly signal: AbortSignal
  /** how long a file must stand still before it is read, in milliseconds */
  readonly settleMs: number
  /** longest time between two looks, in milliseconds */
  readonly pollMs: number
  /** true: the entry of a unit that is gone stays in the index */
  readonly keepDeleted: boolean
  /** true: analyses what is there, and ends */
  readonly once: boolean
  /** milliseconds, increasing */
  readonly now: () => number
  readonly onReport: (report: WatchReport) => void
}

/** Shortest time between two looks, in milliseconds. A trainer that writes sends many events. */
const LEAST_GAP_MS = 250
/** So many times as long as a look takes there is none: after an event, though never for longer than the settling time; and without one. */
const BUSY_GAPS = 10
const IDLE_GAPS = 50
/** In a long queue the index is written so often, in milliseconds. */
const INDEX_EVERY_MS = 30_000

/** @returns what every unit that is there gave, in the order of the paths and steps. @throws Fault where the outputs cannot be written */
export async function runWatch(run: WatchRun): Promise<SnapshotResult[]> {
  refuseOutputsAtInputs(run.paths, run.out)
  const lock = await lockFolder(run.out, 'watch')
  const watching = new Watching(run)
  try {
    await sweepOutputs(run.out)
    await watching.run().catch((error: unknown) => {
      // A signal is the usual end of a watch.
      if (!run.signal.aborted) throw error
    })
    await watching.end()
    return watching.results
  } finally {
    watching.close()
    await lock.release()
  }
}

class Watching {
  readonly #run: WatchRun
  readonly #state: WatchState
  readonly #wake: Wake
  readonly #memory: FileMemory
  readonly #readTokenizer = tokenizerReader()
  /** the real path that is never entered */
  readonly #except = realPlace(DEFAULT_OUT)
  #units = new Map<string, WatchedUnit>()
  #faults = new Map<string, WatchedFault>()
  readonly #results = new Map<string, SnapshotResult>()
  /** every unit as it was seen last */
  readonly #seen = new Map<string, WatchedUnit>()
  /** units that are gone, of which nobody was told yet: true where the entry stays */
  readonly #gone = new Map<string, boolean>()
  /** sources of the entries that left the index: of an earlier run nothing else is known */
  readonly #sources = new Map<string, string>()
  #walked = ''
  /** paths below which the last look found no file */
  #empty: ReadonlySet<string> = new Set()
  #looked = { at: -Infinity, walking: 0, took: 0 }
  /** the index does not say what the results do */
  #stale: boolean
  #indexed = -Infinity

  constructor(run: WatchRun) {
    this.#run = run
    this.#state = new WatchState(run.settleMs)
    this.#wake = new Wake(run.signal)
    this.#memory = new FileMemory(sampleKeys(run.settings.dump?.names ?? {}))
    this.#stale = existsSync(join(run.out, BATCH_INDEX))
  }

  get results(): SnapshotResult[] {
    const there = [...this.#units.keys(), ...this.#faults.keys()]
    return [...new Set([...there, ...this.#results.keys()])].flatMap(name => this.#results.get(name) ?? [])
  }

  close(): void {
    this.#wake.close()
  }

  /** After a signal too the index has what was analysed. */
  async end(): Promise<void> {
    if (this.#stale && this.#results.size > 0) await this.#writeIndex()
  }

  async run(): Promise<void> {
    const { paths, signal, once, now, settleMs, onReport } = this.#run
    const begun = now()
    onReport({ kind: 'watching' })
    for (const path of paths) if (!existsSync(path)) onReport({ kind: 'waiting', path })
    for (;;) {
      await this.#look()
      for (let next = this.#state.next(now()); next !== null && !signal.aborted; next = this.#state.next(now())) {
        await this.#analyse(next.name, next.state)
        if (now() - this.#indexed > INDEX_EVERY_MS) await this.#writeIndex(signal)
        await this.#lookIfDue()
      }
      if (signal.aborted) return
      if (this.#stale && (this.#results.size > 0 || this.#state.open.length === 0)) await this.#writeIndex(signal)
      if (once && (this.#state.open.length === 0 || this.#looked.at - begun >= settleMs)) return this.#endOnce()
      await this.#pause()
    }
  }

  #endOnce(): void {
    for (const name of this.#state.open) {
      if (this.#units.has(name)) this.#run.onReport({ kind: 'left', label: this.#label(name) })
    }
  }

  /** Until something may have changed, or a unit may stand still. */
  async #pause(): Promise<void> {
    const { now, pollMs, settleMs, signal } = this.#run
    const { at, walking, took } = this.#looked
    const settled = this.#state.wait(now()) ?? Infinity
    await this.#wake.wait(Math.min(settled, Math.max(pollMs, IDLE_GAPS * walking)))
    const early = at + Math.max(LEAST_GAP_MS, Math.min(settleMs, BUSY_GAPS * took)) - now()
    // Events that come now are seen by the look that follows.
    if (early > 0 && !signal.aborted) await new Promise(resolve => setTimeout(resolve, early))
  }

  async #lookIfDue(): Promise<void> {
    const { at, took } = this.#looked
    if (this.#run.now() - at > Math.max(LEAST_GAP_MS, BUSY_GAPS * took)) await this.#look()
  }

  /** Looks at every file, and says what has changed. */
  async #look(): Promise<void> {
    const { paths, now } = this.#run
    const at = now()
    const walked = await walkFiles(paths, this.#except)
    const walking = now() - at
    for (const { folder, cause } of this.#wake.watch(walked.folders, paths)) {
      this.#note(`no events of ${folder} (${describeCause(cause)}): it is looked at every ${this.#run.pollMs / 1000} s`)
    }
    if (walked.text !== this.#walked) {
      const { units, faults } = await findUnits(paths, walked, this.#except, this.#memory)
      this.#walked = walked.text
      this.#units = new Map([...this.#unseen(walked), ...units.map(unit => [unit.plan.name, unit] as const)])
      this.#faults = new Map(faults.map(fault => [`\0${fault.fault.message}`, fault]))
      for (const [name, unit] of this.#units) this.#seen.set(name, unit)
    }
    this.#observe(at)
    this.#looked = { at, walking, took: now() - at }
  }

  /** The units below paths that have no file now: nothing says that they were deleted. */
  #unseen(walked: Walked): Array<readonly [string, WatchedUnit]> {
    const { paths, onReport } = this.#run
    const empty = new Set(paths.filter(path => ![...walked.files.keys()].some(file => isInside(path, file))))
    const kept = [...this.#units].filter(([, unit]) => [...empty].some(path => isInside(path, unit.files[0])))
    for (const path of empty) if (!this.#empty.has(path) && kept.length > 0) onReport({ kind: 'empty', path })
    this.#empty = empty
    return kept
  }

  #observe(at: number): void {
    const { onReport } = this.#run
    const observed = (of: ReadonlyMap<string, WatchedUnit | WatchedFault>): Observed[] =>
      [...of].map(([name, { state, modified }]) => ({ name, state, age: Date.now() - modified }))
    for (const { kind, name } of this.#state.observe([...observed(this.#units), ...observed(this.#faults)], at)) {
      if (kind === 'deleted') {
        this.#leave(name)
      } else if (this.#units.has(name)) {
        onReport({ kind: this.#results.has(name) ? 'changed' : 'writing', label: this.#label(name) })
      }
    }
    this.#tellGone()
  }

  #leave(name: string): void {
    if (!this.#results.has(name)) return
    if (this.#run.keepDeleted && this.#results.get(name)?.status !== 'failed') {
      this.#gone.set(name, true)
    } else {
      this.#results.delete(name)
      this.#stale = true
    }
  }

  /** A file that holds another step now was replaced: that is told when the step is known, so when it was analysed. */
  #tellGone(): void {
    for (const [name, isKept] of this.#gone) {
      const holder = this.#holderOf(name)
      if (holder !== undefined && !this.#results.has(holder.plan.name)) continue
      this.#gone.delete(name)
      const [step, by] = [stepOfUnit(name), holder === undefined ? null : stepOfUnit(holder.plan.name)]
      const isFailed = holder !== undefined && by === null && this.#results.get(holder.plan.name)?.status === 'failed'
      const isBroken = isFailed || this.#isFault(name)
      const label = holder === undefined || isBroken ? this.#label(name) : basename(holder.files[0])
      const replaced = holder === undefined ? null : { step, by }
      this.#run.onReport({ kind: 'gone', label, isKept, isBroken, replaced })
    }
  }

  /** The unit that a file of one that is gone belongs to now. */
  #holderOf(name: string): WatchedUnit | undefined {
    const before = this.#seen.get(name)?.files
    const source = this.#sources.get(name)
    const holds = ({ files, plan }: WatchedUnit): boolean =>
      before === undefined ? source !== undefined && sourcesOf(plan).includes(source) : before.some(file => files.includes(file))
    return [...this.#units.values()].find(holds)
  }

  /** Whether the file of a unit that is gone is one that leads to no unit. */
  #isFault(name: string): boolean {
    const before = this.#seen.get(name)?.files
    return [...this.#faults.values()].some(({ fault, source }) =>
      before === undefined ? source === this.#sources.get(name) : before.includes(fault.place.file ?? '')
    )
  }

  /** Whether a file of it was seen as one of a unit that is gone. */
  #wasOther(name: string): boolean {
    const files = this.#units.get(name)?.files ?? [this.#faults.get(name)?.fault.place.file ?? '']
    return [...this.#seen].some(([other, unit]) => !this.#units.has(other) && unit.files.some(file => files.includes(file)))
  }

  async #analyse(name: string, state: string): Promise<void> {
    const again = this.#results.has(name)
    const result = await this.#resultOf(name)
    if (result === null) return
    if (result.status === 'failed') {
      await this.#look()
      const now = this.#units.get(name) ?? this.#faults.get(name)
      // A failure on a file that is being written, or is gone, is none.
      if (now?.state !== state) return
    }
    // The columns of an outcome are not kept.
    this.#results.set(name, { ...result, outcome: null })
    this.#stale = true
    this.#tellGone()
    const isAgain = again || (result.status === 'failed' && this.#wasOther(name))
    this.#run.onReport({ kind: 'ended', label: this.#label(name), result, again: isAgain })
  }

  async #resultOf(name: string): Promise<SnapshotResult | null> {
    const { signal, settings, pool, out, formats, chunkBytes, paths } = this.#run
    const found = this.#faults.get(name)
    if (found !== undefined) {
      return { plan: null, status: 'failed', statistics: null, outcome: null, faults: [found.fault], source: found.source }
    }
    const plan = this.#units.get(name)?.plan
    if (plan === undefined) return null
    return refusedName(plan) ?? runOne({ paths, settings, pool, out, formats, chunkBytes, signal }, plan, this.#readTokenizer)
  }

  async #writeIndex(signal?: AbortSignal): Promise<void> {
    const { out, formats, pool, settings, paths, onReport } = this.#run
    const given = shortNames(paths)
    const leaves = ({ name, source, status }: IndexEntry): boolean => {
      const from = given.findIndex(path => source === path || source?.startsWith(`${path}/`) === true)
      if (this.#run.keepDeleted && status === 'ok') return false
      if (from === -1 || name === null || source === null || this.#units.has(name) || this.#empty.has(paths[from])) return false
      this.#sources.set(name, source)
      return true
    }
    const run = { out, formats, threads: pool.threads, synthetic: settings.synthetic, leaves, signal }
    const written = await writeBatchIndex(run, this.results)
    this.#stale = false
    this.#indexed = this.#run.now()
    for (const name of written.gone) this.#gone.set(name, false)
    this.#tellGone()
    onReport({ kind: 'index', written })
  }

  #label(name: string): string {
    const source = this.#sources.get(name)
    return this.#seen.get(name)?.label ?? this.#faults.get(name)?.source ?? (source === undefined ? name : labelOfEntry(name, source))
  }

  #note(text: string): void {
    this.#run.onReport({ kind: 'note', text })
  }
}
