/**
 * The partials of a merge: found, read one after another, and held against each other. What is wrong with them is told of all at
 * once. Memory holds what they say of their runs, and of their traces those of one partial.
 */
import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { copyOf } from '../../compute/diagnostics/packed-record.js'
import { Failures, Fault, describeCause, printable } from '../../core/errors.js'
import { compareCodepoints } from '../../core/paths.js'
import type { DumpReading } from '../../schema/samples.js'
import type { MeasuredPart, PartialMeta, PartialRow, PlannedSnapshot } from './contract.js'
import { plansThatDiffer } from './foreign-plan.js'
import { Scratch, stateOfFile, type PartialState } from './partial-bytes.js'
import { partialRows, readPartial, type OpenPartial } from './partial-file.js'

const ENDING = '.arrow'

/** What all partials of a run have in common. */
export type RunHead = Omit<PartialMeta, 'shards' | 'planned' | 'parts'>

export interface Partials {
  readonly files: readonly string[]
  readonly head: RunHead
  /** in the order of the shards */
  readonly shards: readonly number[]
  /** by their place among those of the run */
  readonly planned: ReadonlyMap<number, PlannedSnapshot>
  /** by shard and snapshot */
  readonly parts: readonly MeasuredPart[]
  /** The traces of one snapshot, partial by partial. The bytes of a row stay until the next one is asked for. */
  rows(snapshot: number): Iterable<PartialRow>
  /** The curve of a trace of a snapshot whose rows were read; null: it has none. */
  curve(snapshot: number, trace: number): Uint8Array | null
}

/**
 * @param isWhole true: every shard of the run must be there
 * @throws Failures with one Fault for each partial that is torn, foreign, doubled or differently set, and one for those missing
 */
export async function openPartials(paths: readonly string[], isWhole: boolean): Promise<Partials> {
  const faults: Fault[] = []
  const reading = new PartialsReading()
  const scratch = new Scratch()
  for (const path of await partialFiles(paths, faults)) {
    try {
      const state = stateOfFile(path)
      reading.add(readPartial(path, scratch), state)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      faults.push(error)
    }
  }
  faults.push(...reading.faults(isWhole))
  if (faults.length > 0) throw new Failures(faults)
  return reading.partials(scratch)
}

/** Each file once, folders by the names in them. */
async function partialFiles(paths: readonly string[], faults: Fault[]): Promise<readonly string[]> {
  const found = new Map<string, string>()
  for (const path of paths) {
    try {
      const names = (await stat(path)).isDirectory()
        ? (await readdir(path)).filter(name => name.endsWith(ENDING)).sort(compareCodepoints)
        : null
      if (names?.length === 0) throw unreadable(path, 'a folder without any', undefined)
      for (const file of names === null ? [path] : names.map(name => join(path, name))) found.set(await realpath(file), file)
    } catch (error) {
      faults.push(error instanceof Fault ? error : unreadable(path, describeCause(error), error))
    }
  }
  return [...found.values()]
}

function unreadable(file: string, found: string, cause: unknown): Fault {
  return new Fault({
    format: 'partial',
    problem: 'not found',
    found,
    expected: `partials (*${ENDING}), or a folder of them`,
    place: { file },
    cause
  })
}

interface KnownPartial {
  readonly path: string
  readonly state: PartialState
  readonly shards: readonly number[]
  /** numbers of the snapshots that it has traces of */
  readonly snapshots: ReadonlySet<number>
  readonly head: RunHead
}

/** What makes two partials belong together, each with the words for one that does not. */
const ASPECTS: ReadonlyArray<readonly [problem: string, of: (head: RunHead) => string, expected: string]> = [
  [
    'of another program',
    ({ generator, versions }) => JSON.stringify([generator, versions]),
    'the version of the program, the engine and the libraries'
  ],
  ['differently set', ({ settingsSha256 }) => settingsSha256, 'the settings'],
  [
    'foreign',
    ({ planSha256, count }) => `${count} shards, inputs ${planSha256.slice(0, 12)}`,
    'the inputs, their sizes and the number of shards'
  ]
]

class PartialsReading {
  readonly #known: KnownPartial[] = []
  readonly #planned = new Map<number, PlannedSnapshot>()
  readonly #parts: MeasuredPart[] = []
  readonly #readings = new Map<number, DumpReading>()

  /** @throws Fault for a snapshot whose outputs would lie elsewhere */
  add({ path, meta, planned: plannedOf }: OpenPartial, state: PartialState): void {
    const { shards, parts, ...head } = meta
    const planned = parts.every(({ snapshot }) => this.#planned.has(snapshot)) ? [] : plannedOf()
    for (const { plan } of planned) {
      const isName = /^[^/\\\0]+$/.test(plan.name) && plan.name !== '.' && plan.name !== '..'
      if (!isName) throw fault('unsafe name', printable(JSON.stringify(plan.name)), 'the name of a folder', path)
    }
    // Of what is the same in every partial memory holds one.
    const same = this.#known.find(
      ({ head: { settingsSha256, planSha256 } }) => settingsSha256 === head.settingsSha256 && planSha256 === head.planSha256
    )
    this.#known.push({
      path,
      state,
      shards,
      snapshots: new Set(parts.map(({ snapshot }) => snapshot)),
      head: same === undefined ? head : { ...head, settings: same.head.settings, failed: same.head.failed }
    })
    for (const { number, ...snapshot } of planned) if (!this.#planned.has(number)) this.#planned.set(number, snapshot)
    for (const part of parts) this.#parts.push(this.#shared(part))
  }

  #shared(part: MeasuredPart): MeasuredPart {
    if (part.dump === null) return part
    const first = this.#readings.get(part.snapshot) ?? part.dump.reading
    this.#readings.set(part.snapshot, first)
    const { files, notes, laterNotes } = first
    return { ...part, dump: { ...part.dump, reading: { ...part.dump.reading, files, notes, laterNotes } } }
  }

  faults(isWhole: boolean): Fault[] {
    const odd = ASPECTS.flatMap(([problem, of, expected]) => this.#differing(problem, of, expected))
    const ways = ASPECTS.map(([, of]) => [of, this.#usual(of)] as const)
    const usual = this.#known.filter(({ head }) => ways.every(([of, way]) => of(head) === way))
    return [...odd, ...doubled(usual), ...(isWhole ? missing(usual) : [])]
  }

  /** What most have. */
  #usual(of: (head: RunHead) => string): string | undefined {
    const counts = new Map<string, number>()
    for (const { head } of this.#known) counts.set(of(head), (counts.get(of(head)) ?? 0) + 1)
    return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0]
  }

  #differing(problem: string, of: (head: RunHead) => string, expected: string): Fault[] {
    const usual = this.#usual(of)
    const like = this.#known.find(({ head }) => of(head) === usual)
    if (like === undefined) return []
    return this.#known
      .filter(({ head }) => of(head) !== usual)
      .map(odd => {
        const { path, head, snapshots } = odd
        if (problem === 'foreign') {
          const near =
            this.#known.find(other => of(other.head) === usual && [...snapshots].some(number => other.snapshots.has(number))) ?? like
          return foreign(odd, near)
        }
        const differ =
          problem === 'differently set' ? settingsInWords(head.settings, like.head.settings) : programThatDiffers(head, like.head)
        return fault(problem, printable(differ.join(', '), 400), `${expected} of ${printable(like.path, 400)}`, path)
      })
  }

  partials(scratch: Scratch): Partials {
    const [{ head }] = this.#known
    const byShard = [...this.#known].sort((a, b) => a.shards[0] - b.shards[0])
    const parts = [...this.#parts].sort((a, b) => a.shard - b.shard || a.snapshot - b.snapshot)
    const withCurves = new Map<string, KnownPartial>()
    function* rowsOf(partial: KnownPartial, snapshot: number): Iterable<PartialRow> {
      for (const row of partialRows(partial.path, partial.state, snapshot, scratch)) {
        if (row.curve.length > 0) withCurves.set(`${snapshot}/${row.trace}`, partial)
        yield row
      }
    }
    return {
      files: byShard.map(({ path }) => path),
      head,
      shards: byShard.flatMap(({ shards }) => shards).sort((a, b) => a - b),
      planned: this.#planned,
      parts,
      *rows(snapshot) {
        for (const partial of byShard) if (partial.snapshots.has(snapshot)) yield* rowsOf(partial, snapshot)
      },
      curve(snapshot, trace) {
        const partial = withCurves.get(`${snapshot}/${trace}`)
        for (const row of partial === undefined ? [] : rowsOf(partial, snapshot)) if (row.trace === trace) return copyOf(row.curve)
        return null
      }
    }
  }
}

function doubled(partials: readonly KnownPartial[]): Fault[] {
  const first = new Map<number, string>()
  return partials.flatMap(({ path, shards }) => {
    const again = shards.filter(shard => first.has(shard))
    for (const shard of shards) if (!first.has(shard)) first.set(shard, path)
    if (again.length === 0) return []
    return [fault('doubled', `${shardsText(again)}, also in ${printable(first.get(again[0]) ?? '', 400)}`, 'each shard once', path)]
  })
}

function missing(partials: readonly KnownPartial[]): Fault[] {
  const [first] = partials
  if (first === undefined) return []
  const there = new Set(partials.flatMap(({ shards }) => shards))
  const { count } = first.head
  const absent: number[] = []
  for (let shard = 0; shard < count; shard++) if (!there.has(shard)) absent.push(shard)
  if (absent.length === 0) return []
  return [fault('missing', `no ${shardsText(absent)}`, `every shard of ${count}`, undefined)]
}

function fault(problem: string, found: string, expected: string, file: string | undefined): Fault {
  return new Fault({ format: 'partial', problem, found, expected, place: file === undefined ? {} : { file } })
}

/** Of the inputs: the first path that both partials have otherwise. Their lists of files are read again. */
function foreign(odd: KnownPartial, usual: KnownPartial): Fault {
  const planOf = ({ path, head }: KnownPartial) => ({ ...head, planned: readPartial(path).planned() })
  const { found, expected } = plansThatDiffer(planOf(odd), planOf(usual))
  return fault('foreign', found, `${expected}, as ${printable(usual.path, 400)} has`, odd.path)
}

/** `versions.node 18.0.0` */
function programThatDiffers({ generator, versions }: RunHead, other: RunHead): string[] {
  const own: Readonly<Record<string, unknown>> = { ...generator, ...versions }
  const names = settingsThatDiffer(own, { ...other.generator, ...other.versions })
  return names.map(name => `${name} ${String(own[name] ?? 'not stated')}`)
}

/** `snapshot.traces.jump_threshold is 0.5, not 0.3`, for each setting that two runs have otherwise. */
export function settingsInWords(own: unknown, other: unknown): string[] {
  const text = (of: unknown, path: string): string => {
    const value = path.split('.').reduce<unknown>((at, name) => (isPlain(at) ? at[name] : undefined), of)
    return value === undefined ? 'not stated' : printable(JSON.stringify(value), 60)
  }
  return settingsThatDiffer(own, other).map(path => `${path} is ${text(own, path)}, not ${text(other, path)}`)
}

/** Names of the settings that two runs have otherwise, such as `snapshot.dump.skipBad`. */
function settingsThatDiffer(a: unknown, b: unknown, path = ''): string[] {
  if (isDeepStrictEqual(a, b)) return []
  if (!isPlain(a) || !isPlain(b)) return [path]
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].flatMap(name => settingsThatDiffer(a[name], b[name], path === '' ? name : `${path}.${name}`))
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `shards 3, 5-7` */
function shardsText(shards: readonly number[]): string {
  const runs: [number, number][] = []
  for (const shard of shards) {
    const last = runs[runs.length - 1]
    if (last !== undefined && last[1] === shard - 1) last[1] = shard
    else runs.push([shard, shard])
  }
  const texts = runs.slice(0, 20).map(([from, to]) => (from === to ? String(from) : `${from}-${to}`))
  return `shard${shards.length === 1 ? '' : 's'} ${texts.join(', ')}${runs.length > 20 ? ` and ${runs.length - 20} more ranges` : ''}`
}
