/**
 * What `watch` knows of the units below its paths, as a state machine: observations go in, events and the next unit to analyse come
 * out. No file and no clock is here; times are milliseconds and only their differences matter.
 *
 *     new ──> waiting ── stands still for the settling time ──> given out by `next` ──> known
 *                ▲  │ changes: writing                                                    │
 *                └──┴───────────────── changes: changed, its failure counts no more ◄─────┘      gone: deleted
 */

/** What stands still or does not: equal where no file of it has changed. */
export interface Observed {
  readonly name: string
  readonly state: string
  /** how long ago the last of its files was changed */
  readonly age: number
}

export interface WatchEvent {
  /** `writing`: for the first time, not yet analysed; `changed`: after it was analysed */
  readonly kind: 'writing' | 'changed' | 'deleted'
  readonly name: string
}

interface WatchEntry {
  state: string
  /** when the state was first seen */
  since: number
  /** it was given out, and has not changed since */
  known: boolean
  /** it was given out at any time */
  everKnown: boolean
  toldWriting: boolean
}

/** A file that nobody has changed for so long is not being written, even where the clocks of hosts differ: no need to watch it settle. */
export const LONG_UNCHANGED_MS = 60_000

export class WatchState {
  readonly #settle: number
  /** in the order of the last observation */
  #entries = new Map<string, WatchEntry>()

  /** @param settle how long a unit must stand still, in milliseconds */
  constructor(settle: number) {
    this.#settle = settle
  }

  /** @param seen all units that there are, in the order in which they are to be analysed */
  observe(seen: readonly Observed[], now: number): WatchEvent[] {
    const events: WatchEvent[] = []
    const entries = new Map<string, WatchEntry>()
    for (const unit of seen) {
      const { name } = unit
      const before = this.#entries.get(name)
      const entry = before ?? this.#fresh(unit, now)
      entries.set(name, entry)
      if (entry.state === unit.state) continue
      if (!entry.toldWriting) events.push({ kind: entry.known ? 'changed' : 'writing', name })
      Object.assign(entry, { ...this.#fresh(unit, now), everKnown: entry.everKnown, toldWriting: true })
    }
    for (const [name, { everKnown, toldWriting }] of this.#entries) {
      if (!entries.has(name) && (everKnown || toldWriting)) events.push({ kind: 'deleted', name })
    }
    this.#entries = entries
    return events
  }

  #fresh({ state, age }: Observed, now: number): WatchEntry {
    const since = age >= Math.max(this.#settle, LONG_UNCHANGED_MS) ? -Infinity : now
    return { state, since, known: false, everKnown: false, toldWriting: false }
  }

  /** The first unit that stands still and is not known; it is known from now on. Null: none. */
  next(now: number): { readonly name: string; readonly state: string } | null {
    for (const [name, entry] of this.#entries) {
      if (entry.known || now - entry.since < this.#settle) continue
      Object.assign(entry, { known: true, everKnown: true, toldWriting: false })
      return { name, state: entry.state }
    }
    return null
  }

  /** How long until a unit may stand still for long enough. Null: all are known. */
  wait(now: number): number | null {
    const open = [...this.#entries.values()].filter(({ known }) => !known)
    return open.length === 0 ? null : Math.max(0, Math.min(...open.map(({ since }) => since)) + this.#settle - now)
  }

  /** Names of the units that were not given out in their present state. */
  get open(): readonly string[] {
    return [...this.#entries].filter(([, { known }]) => !known).map(([name]) => name)
  }
}
