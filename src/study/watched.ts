/**
 * What lies in folders that a trainer writes to: files with their states, and the units that are analysed one by one. A folder
 * with `index.html` or with NPZ files of one trace each is one unit, as it is one snapshot. The files of a folder of dumps are one
 * unit for each step that they state, or their names (the ranks of a step are read together); a file without a step is one by itself.
 *
 * Files whose names begin with a dot, or end in .tmp, .part, .partial or .incomplete, are a writer's own and are not looked at.
 */
import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, join, normalize, resolve } from 'node:path'
import { Fault } from '../core/errors.js'
import { snapshotNames, stepFromDumpName } from '../core/file-names.js'
import { realPlace } from '../core/system/folder.js'
import type { SampleKeys } from '../schema/sample-keys.js'
import { findSnapshots, recogniseFile, type Recognised, type SnapshotPlan } from './inventory.js'

/** A file as `stat` sees it. Two states are equal where their texts are. */
export interface FileState {
  readonly text: string
  /** time of the last change of its content, in milliseconds since 1970 */
  readonly modified: number
}

export interface Walked {
  /** regular files by path, as the given paths spell it */
  readonly files: ReadonlyMap<string, FileState>
  /** folders that were searched, each with what tells it from another of its name */
  readonly folders: ReadonlyMap<string, string>
  /** equal where nothing has changed between two walks */
  readonly text: string
}

/** What is analysed at once. */
export interface WatchedUnit {
  readonly plan: SnapshotPlan
  /** its name in messages: of one file, the file's */
  readonly label: string
  /** path of its page, and of its files */
  readonly files: readonly string[]
  /** the states of all its files, as text */
  readonly state: string
  /** time of the last change of one of its files, in milliseconds since 1970 */
  readonly modified: number
}

export interface WatchedFault {
  readonly fault: Fault
  readonly source: string
  readonly state: string
  readonly modified: number
}

export interface WatchedPlaces {
  readonly units: readonly WatchedUnit[]
  readonly faults: readonly WatchedFault[]
}

const WRITERS_OWN = /^\.|\.(?:tmp|part|partial|incomplete)$/i

/** Files looked at at a time. */
const AT_A_TIME = 32

/** Every regular file below the paths. A path that is gone has none. @param except as `findSnapshots` has it */
export async function walkFiles(paths: readonly string[], except: string | null): Promise<Walked> {
  const files = new Map<string, FileState>()
  const folders = new Map<string, string>()
  const visit = async (folder: string, entries: readonly Dirent[]): Promise<void> => {
    folders.set(folder, await identityOf(folder))
    const kept = entries.filter(({ name }) => !WRITERS_OWN.test(name))
    const names = kept.filter(e => !e.isDirectory()).map(({ name }) => name)
    for (let i = 0; i < names.length; i += AT_A_TIME) {
      await Promise.all(names.slice(i, i + AT_A_TIME).map(name => note(files, join(folder, name))))
    }
    for (const { name } of kept.filter(e => e.isDirectory())) {
      const below = join(folder, name)
      if (except !== null && name === basename(except) && realPlace(below) === except) continue
      const within = await entriesOf(below)
      if (within !== null) await visit(below, within)
    }
  }
  for (const path of paths) {
    const entries = await entriesOf(path)
    if (entries === null) await note(files, normalize(path))
    else await visit(path, entries)
  }
  const lines = [...files].map(([path, { text }]) => `${path}\0${text}`)
  return { files, folders, text: [...lines, ...[...folders].flat()].join('\n') }
}

async function identityOf(folder: string): Promise<string> {
  const info = await stat(folder, { bigint: true }).catch(() => null)
  return `${info?.dev}:${info?.ino}`
}

/** Null for what is no folder, or cannot be read as one now. */
async function entriesOf(folder: string): Promise<readonly Dirent[] | null> {
  return readdir(folder, { withFileTypes: true }).catch(() => null)
}

async function note(files: Map<string, FileState>, path: string): Promise<void> {
  const info = await stat(path, { bigint: true }).catch(() => null)
  if (info?.isFile() !== true) return
  files.set(path, { text: `${info.dev}:${info.ino}:${info.size}:${info.mtimeNs}`, modified: Number(info.mtimeMs) })
}

interface Remembered {
  readonly text: string
  kind?: Promise<Recognised>
  step?: Promise<number | null>
}

/** What files are, for as long as their states are the same: each is opened once. */
export class FileMemory {
  readonly #keys: SampleKeys
  #walked: Walked = { files: new Map(), folders: new Map(), text: '' }
  #known = new Map<string, Remembered>()

  /** @param keys what the arrays of dumps are called */
  constructor(keys: SampleKeys) {
    this.#keys = keys
  }

  /** Files that are gone or have changed are forgotten. */
  renew(walked: Walked): void {
    this.#walked = walked
    this.#known = new Map([...this.#known].filter(([path, { text }]) => walked.files.get(path)?.text === text))
  }

  recognise = (path: string): Promise<Recognised> => {
    const known = this.#of(path)
    known.kind ??= recogniseFile(path)
    return known.kind
  }

  /** Of a dump that is damaged, or not written to its end: the step that its name states. */
  step(folder: string, name: string): Promise<number | null> {
    const known = this.#of(join(folder, name))
    known.step ??= this.#statedStep(folder, name)
    return known.step
  }

  async #statedStep(folder: string, name: string): Promise<number | null> {
    const { stepOfDump } = await import('../ingest/dumps/formats.js')
    try {
      return await stepOfDump(folder, name, this.#keys)
    } catch (error) {
      // The fault is told when the dump is analysed.
      if (error instanceof Fault) return stepFromDumpName(name)
      throw error
    }
  }

  /** A file that the walk did not see is not remembered. */
  #of(path: string): Remembered {
    const before = this.#known.get(path)
    if (before !== undefined) return before
    const state = this.#walked.files.get(path)
    const known: Remembered = { text: state?.text ?? '' }
    if (state !== undefined) this.#known.set(path, known)
    return known
  }
}

/** The units of a walkFiles, in the order of the paths, then of their names and steps. */
export async function findUnits(
  paths: readonly string[],
  walked: Walked,
  except: string | null,
  memory: FileMemory
): Promise<WatchedPlaces> {
  memory.renew(walked)
  const faults: WatchedFault[] = []
  const stateOf = (files: readonly string[]): { readonly state: string; readonly modified: number } => {
    const states = files.map(path => walked.files.get(path))
    return {
      state: files.map((path, i) => `${path}\0${states[i]?.text ?? ''}`).join('\n'),
      modified: states.reduce((latest, state) => Math.max(latest, state?.modified ?? Infinity), 0)
    }
  }
  const onFault = (fault: Fault, source: string): void => {
    // Nothing is there yet, or no longer.
    if (fault.details.problem === 'not found') return
    const file = fault.place.file ?? ''
    const own = walked.files.has(file) ? [file] : [...walked.files.keys()].filter(path => path.startsWith(join(file, '/')))
    faults.push({ fault, source, ...stateOf(own) })
  }
  const plans: SnapshotPlan[] = []
  for (const plan of await findSnapshots(paths, onFault, except, memory.recognise)) plans.push(...(await unitPlans(plan, walked, memory)))
  const names = snapshotNames(plans.map(plan => ({ real: realOf(plan), segments: [plan.name] })))
  const units = plans.map((plan, i) => {
    const files = filesOf(plan)
    return { plan: { ...plan, name: names[i] }, label: labelOf(plan), files, ...stateOf(files) }
  })
  return { units, faults }
}

function realOf({ folder, html, dumpFiles, npzFiles }: SnapshotPlan): string {
  return [resolve(html ?? folder), ...dumpFiles, ...npzFiles].join('\0')
}

function filesOf({ folder, html, npzFiles, dumpFiles }: SnapshotPlan): string[] {
  return [
    ...(html === null ? [] : [normalize(html)]),
    ...npzFiles.map(name => join(folder, name)),
    ...dumpFiles.map(name => join(folder, name))
  ]
}

function labelOf({ source, html, npzFiles, dumpFiles, name }: SnapshotPlan): string {
  if (html === null && npzFiles.length === 1) return npzFiles[0]
  return dumpFiles.length > 1 ? `${name} (${dumpFiles.length} files)` : basename(withoutIndex(source))
}

/** The same of an entry of the index, of which no more is known. */
export function labelOfEntry(name: string, source: string): string {
  const isOfFiles = name.startsWith(`${source.replaceAll('/', '--')}--`)
  return isOfFiles ? name : basename(withoutIndex(source))
}

/** The sources that its files would have as units of their own. */
export function sourcesOf({ source, oneFile, npzFiles, dumpFiles }: SnapshotPlan): readonly string[] {
  return oneFile === true ? [source] : [...npzFiles, ...dumpFiles].map(file => `${source}/${file}`)
}

/** An index page is called by its folder. */
function withoutIndex(source: string): string {
  return source.replace(/\/index\.html(?:\.gz)?$/, '')
}

/** The step that the name of a unit states; null: it is not that of a step. */
export function stepOfUnit(name: string): number | null {
  const stated = /--step-(\d+)$/.exec(name)
  return stated === null ? null : Number(stated[1])
}

/** Names by what leads to the unit from the given path, so that they stay when another folder appears. */
async function unitPlans(plan: SnapshotPlan, { files }: Walked, memory: FileMemory): Promise<SnapshotPlan[]> {
  const name = withoutIndex(plan.source).replaceAll('/', '--')
  if (plan.kind !== 'dump' || plan.oneFile === true) return [{ ...plan, name }]
  const { passedOver: _passedOver, ...rest } = plan
  const steps = new Map<number, string[]>()
  const alone: string[] = []
  // A file that came since the walk is seen by the next one.
  for (const file of plan.dumpFiles.filter(name => files.has(join(plan.folder, name)))) {
    const step = await memory.step(plan.folder, file)
    if (step === null) alone.push(file)
    else steps.set(step, [...(steps.get(step) ?? []), file])
  }
  const groups = [
    ...[...steps].sort(([a], [b]) => a - b).map(([step, files]) => [`step-${step}`, files] as const),
    ...alone.map(file => [file, [file]] as const)
  ]
  return groups.map(([key, dumpFiles]) => {
    const one = dumpFiles.length === 1 ? ({ oneFile: true, source: `${plan.source}/${dumpFiles[0]}` } as const) : {}
    return { ...rest, dumpFiles, ...one, name: `${name}--${key}` }
  })
}
