/**
 * Finds the snapshots that the paths of a command line mean. The plan is plain data, made before anything is parsed.
 *
 * A path is an HTML page (`.html`, `.htm`, either with `.gz`), a folder with `index.html` or `index.html.gz`, a folder with
 * NPZ files and no page, or a folder that holds such folders at any depth. A folder that is a snapshot is not searched
 * further. A search skips symbolic links to folders and folders that begin with a dot. NPZ files whose names begin with a
 * dot are skipped too, as by a shell's `*.npz`. Not supported: pages of other names, unless they are named.
 */
import { lstatSync, realpathSync, statSync, type Dirent, type Stats } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { Fault, describeCause, printable } from '../core/errors.js'
import { kindOf } from '../core/system/open.js'
import { canonicalRelative, compareCodepoints, errorCode, isSafeRelative, resolveInside } from '../core/paths.js'
import { snapshotNames, stepFromName } from '../core/file-names.js'

export interface SnapshotPlan {
  readonly kind: 'html' | 'npz-folder' | 'dump'
  /** folder of the page or of the NPZ files, in the spelling of the path that led to it */
  readonly folder: string
  /** path of the page; null for a folder of NPZ files */
  readonly html: string | null
  /** names of the NPZ files in the folder (not below it), ordered by code point */
  readonly npzFiles: readonly string[]
  /** names of the dump's files in the folder, ordered by code point; none for the other kinds */
  readonly dumpFiles: readonly string[]
  /** true: of a folder, the one file that the path names */
  readonly oneFile?: true
  /** number of the other files beside those of a dump; none: there are none */
  readonly passedOver?: number
  /**
   * Name of the snapshot in outputs: the last name of the given path (with as many names before it as distinguish it from
   * the other paths), and what follows below. It does not depend on the working folder or on the spelling of the path.
   */
  readonly source: string
  /** name of the snapshot's output folder: unique in the plan, stable for the same paths, safe on every system */
  readonly name: string
}

interface FoundSnapshot extends Omit<SnapshotPlan, 'name' | 'source'> {
  /** real path of the page or folder; equal for one snapshot that is reached twice */
  readonly real: string
}

const PAGE = /\.html?(?:\.gz)?$/i
const DUMP_ENDING = /\.(?:npz|pt|pth|safetensors|jsonl|parquet)$/i
const NPZ = /\.npz$/i
/** This program's own archive of many traces: a folder of outputs is not a folder of traces. */
const OWN_ARCHIVE = 'critic-trace-arrays.npz'
const EXPECTED = "an HTML page, a trainer's dump, a folder with index.html, dumps or NPZ files, or a folder of such folders"

/**
 * The snapshots that the paths mean, in the order of the paths, within each search ordered by code point. A snapshot that
 * is reached twice counts once. A path that leads to nothing is a Fault. It is thrown, or passed to `onFault` with the
 * path's name in outputs; the other paths are then still read.
 *
 * @param except a real path that no search enters: the folder of the program's own outputs. It may be given as a path.
 * @param recognise `recogniseFile`, or the same from memory
 */
export async function findSnapshots(
  paths: readonly string[],
  onFault?: (fault: Fault, source: string) => void,
  except: string | null = null,
  recognise: typeof recogniseFile = recogniseFile
): Promise<SnapshotPlan[]> {
  const given = shortNames(paths)
  const found = new Map<string, FoundSnapshot & { readonly source: string }>()
  for (const [i, path] of paths.entries()) {
    // A path to a dump leads to the folder around it.
    const sourceOf = (file: string): string =>
      [given[i], ...relative(path, file).split(sep)].filter(s => s !== '' && s !== '..').join('/') || '.'
    for await (const item of survey(path, { except, recognise })) {
      if (item instanceof Fault) {
        if (onFault === undefined) throw item
        onFault(item, sourceOf(item.place.file ?? path))
      } else if (!found.has(item.real))
        found.set(item.real, { ...item, source: sourceOf(item.html ?? (item.oneFile === true ? path : item.folder)) })
    }
  }
  const plans = [...found.values()]
  const names = snapshotNames(plans.map(p => ({ real: p.real, segments: nameSegments(p) })))
  return plans.map(({ real: _real, ...plan }, i) => ({ ...plan, name: names[i] }))
}

/** The last name of each path, with as many names before it as distinguish it from the others: how outputs call it. */
export function shortNames(paths: readonly string[]): string[] {
  const parts = paths.map(path =>
    resolve(path)
      .split(sep)
      .filter(s => s !== '')
  )
  const names = parts.map(() => '')
  let open = parts.map((_, i) => i)
  for (let length = 1; open.length > 0; length++) {
    const sharing = new Map<string, Set<string>>()
    for (const i of open) {
      names[i] = parts[i].slice(-length).join('/')
      const whole = sharing.get(names[i]) ?? new Set()
      sharing.set(names[i], whole.add(parts[i].join('/')))
    }
    open = open.filter(i => (sharing.get(names[i])?.size ?? 0) > 1 && parts[i].length > length)
  }
  return names
}

/**
 * The parts of the name, outermost folder first. An index page is named by its folder, any other page and a dump of one file by
 * itself.
 */
function nameSegments({ kind, html, real }: FoundSnapshot): string[] {
  const segments = real.split(sep).filter(s => s !== '')
  const folders = segments.slice(0, -1)
  if (html !== null) {
    const page = basename(html).replace(PAGE, '')
    return page === '' || page === 'index' ? folders : [...folders, page]
  }
  return kind === 'dump' ? [...folders, basename(real).replace(DUMP_ENDING, '')] : segments
}

function snapshotFault(problem: string, path: string, found: string, cause?: unknown, expected: string = EXPECTED): Fault {
  return new Fault({ format: 'snapshot', problem, found, expected, place: { file: path }, cause })
}

interface Search {
  readonly except: string | null
  readonly recognise: typeof recogniseFile
}

async function* survey(path: string, how: Search): AsyncGenerator<FoundSnapshot | Fault> {
  let info: Stats
  try {
    info = await stat(path)
  } catch (cause) {
    yield snapshotFault(errorCode(cause) === 'ENOENT' ? 'not found' : 'unreadable path', path, describeCause(cause), cause)
    return
  }
  if (info.isFile() && PAGE.test(path)) {
    yield await pagePlan(path)
  } else if (info.isFile()) {
    yield await filePlan(path, how)
  } else if (!info.isDirectory()) {
    yield snapshotFault('wrong kind of file', path, kindOf(info) ?? printable(JSON.stringify(basename(path))))
  } else {
    let any = false
    for await (const item of search(path, how)) {
      any = true
      yield item
    }
    if (!any) yield snapshotFault('not found', path, 'a folder without any')
  }
}

async function pagePlan(html: string): Promise<FoundSnapshot | Fault> {
  try {
    const kind = kindOf(await stat(html))
    if (kind !== null) return snapshotFault('wrong kind of file', html, kind)
    const folder = dirname(html)
    const npzFiles = npzNames(await readdir(folder, { withFileTypes: true }))
    return { kind: 'html', folder, html, npzFiles, dumpFiles: [], real: await realpath(html) }
  } catch (cause) {
    return snapshotFault('unreadable path', html, describeCause(cause), cause)
  }
}

/** A file that is no page by its name: a dump, or the NPZ file of one trace. */
async function filePlan(path: string, { recognise }: Search): Promise<FoundSnapshot | Fault> {
  try {
    const [folder, name] = [dirname(path), basename(path)]
    const found = { folder, html: null, real: await realpath(path), oneFile: true } as const
    const recognised = await recognise(path)
    if (recognised === 'dump') return { kind: 'dump', ...found, npzFiles: [], dumpFiles: [name] }
    if (NPZ.test(path)) return { kind: 'npz-folder', ...found, npzFiles: [name], dumpFiles: [] }
    return recognised ?? snapshotFault('not recognised', path, printable(JSON.stringify(name)))
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

/** What a file is by its content: a dump, a damaged one (the Fault says why), or a file of another kind (null). */
export type Recognised = 'dump' | Fault | null

/** @throws where the file cannot be opened */
export async function recogniseFile(path: string): Promise<Recognised> {
  const { recogniseDump, damageOfDump } = await import('../ingest/dumps/formats.js')
  return (await recogniseDump(path)) !== null ? 'dump' : damageOfDump(path)
}

interface DumpFolder {
  /** names of the dumps, by their content */
  readonly dumps: readonly string[]
  /** files that begin like a dump or are named like one, and cannot be read */
  readonly damaged: ReadonlyMap<string, Fault>
  /** files that cannot be opened */
  readonly unreadable: readonly Fault[]
  /** names of the files of another kind */
  readonly others: readonly string[]
}

/** What the files of a folder are, ordered by code point. */
async function dumpsOf(folder: string, files: readonly Dirent[], { recognise }: Search): Promise<DumpFolder> {
  const dumps: string[] = []
  const damaged = new Map<string, Fault>()
  const unreadable: Fault[] = []
  const others: string[] = []
  const looked = files.filter(({ name }) => !name.startsWith('.') && name !== OWN_ARCHIVE)
  for (const file of looked.sort((a, b) => compareCodepoints(a.name, b.name))) {
    const { name } = file
    const path = join(folder, name)
    const isNamedDump = DUMP_ENDING.test(name)
    try {
      const info = await stat(path)
      const kind = kindOf(info)
      if (kind !== null) {
        if (isNamedDump && !info.isDirectory()) unreadable.push(snapshotFault('wrong kind of file', path, kind, undefined, 'a file'))
        continue
      }
      const recognised = await recognise(path)
      if (recognised === 'dump') dumps.push(name)
      else if (recognised === null) others.push(name)
      else damaged.set(name, recognised)
    } catch (error) {
      // It went since the folder was read, or is a link that leads nowhere.
      if (errorCode(error) === 'ENOENT' && !(isNamedDump && file.isSymbolicLink())) continue
      unreadable.push(error instanceof Fault ? error : snapshotFault('unreadable path', path, describeCause(error), error))
    }
  }
  return { dumps, damaged, unreadable, others }
}

async function* search(folder: string, how: Search): AsyncGenerator<FoundSnapshot | Fault> {
  let entries: Dirent[]
  try {
    entries = await readdir(folder, { withFileTypes: true })
  } catch (cause) {
    yield snapshotFault('unreadable folder', folder, describeCause(cause), cause, 'a folder that can be read')
    return
  }
  const entriesOfFiles = entries.filter(e => !e.isDirectory())
  const files = entriesOfFiles.map(e => e.name)
  const pages = ['index.html', 'index.html.gz'].filter(name => files.includes(name))
  const npzFiles = npzNames(entries)
  const pageFiles = files.filter(name => PAGE.test(name) && !name.startsWith('.')).sort(compareCodepoints)
  if (pages.length === 2) {
    yield snapshotFault('stated twice', folder, 'index.html and index.html.gz', undefined, 'one of them, or the page itself as the path')
    return
  }
  if (pages.length === 1) {
    yield await pagePlan(join(folder, pages[0]))
    return
  }
  if (npzFiles.length > 0 && pageFiles.length > 0) {
    // Without an index page it is not clear which page verifies the files. Reading them unverified would hide that.
    const found = `NPZ files beside ${printable(pageFiles.join(', '))}, none named index.html`
    yield snapshotFault('unclear page', folder, found, undefined, 'the page itself as the path, or a page named index.html')
    return
  }
  const { dumps, damaged, unreadable, others } = await dumpsOf(folder, entriesOfFiles, how)
  const real = await realpath(folder)
  if (dumps.length > 0) {
    yield* unreadable
    const singles = others.filter(name => npzFiles.includes(name))
    if (singles.length > 0) yield besideDumps(folder, singles)
    // Beside dumps a damaged file is one of them, and reading it says what is wrong.
    const dumpFiles = [...dumps, ...damaged.keys()].sort(compareCodepoints)
    const passedOver = others.length - singles.length
    yield { kind: 'dump', folder, html: null, npzFiles: [], dumpFiles, ...(passedOver === 0 ? {} : { passedOver }), real }
    return
  }
  // A folder of one trace a file says itself what is wrong with one of them.
  yield* unreadable.filter(({ place }) => !npzFiles.includes(basename(place.file ?? '')))
  for (const [name, fault] of damaged) if (!npzFiles.includes(name)) yield fault
  if (npzFiles.length > 0) {
    yield { kind: 'npz-folder', folder, html: null, npzFiles, dumpFiles: [], real }
  } else {
    const folders = entries.filter(e => e.isDirectory() && !e.name.startsWith('.')).map(e => e.name)
    for (const name of folders.sort(compareCodepoints)) {
      const below = join(folder, name)
      if (how.except !== null && name === basename(how.except) && realFolder(below) === how.except) continue
      yield* search(below, how)
    }
  }
}

/** NPZ files that are no dumps: the dumps are read without them, and the user is told. */
function besideDumps(folder: string, [first, ...more]: readonly string[]): Fault {
  const found = `no array of two axes, beside dumps that have one${more.length === 0 ? '' : ` (and ${more.length} more such files)`}`
  const expected = 'a dump of many traces, or a folder for traces of a file each'
  return snapshotFault('not of the dumps', join(folder, first), found, undefined, expected)
}

/** Links are included. Whether one leads out of the folder is checked when it is opened (`resolveBeside`). */
function npzNames(entries: readonly Dirent[]): string[] {
  return entries
    .filter(e => !e.isDirectory() && NPZ.test(e.name) && !e.name.startsWith('.') && e.name !== OWN_ARCHIVE)
    .map(e => e.name)
    .sort(compareCodepoints)
}

export interface Amount {
  readonly total: number | null
  readonly unit: 'bytes' | 'traces'
}

/** The amount of a snapshot that is read: bytes of its page, or number of NPZ files. */
export async function amountOf(plan: SnapshotPlan): Promise<Amount> {
  if (plan.kind === 'npz-folder') return { total: plan.npzFiles.length, unit: 'traces' }
  const read = plan.html === null ? plan.dumpFiles.map(name => join(plan.folder, name)) : [plan.html]
  const sizes = await Promise.all(
    read.map(path =>
      stat(path)
        .then(({ size }) => size)
        .catch(() => null)
    )
  )
  return { total: sizes.includes(null) ? null : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0), unit: 'bytes' }
}

/** The plan's NPZ files that the page does not name, with the step in their name. @param named as the page writes them */
export function excludedNpz(
  plan: Pick<SnapshotPlan, 'npzFiles'>,
  named: ReadonlySet<string>
): { readonly path: string; readonly step: number | null }[] {
  const canonical = new Set([...named].map(canonicalRelative))
  return plan.npzFiles.filter(name => !canonical.has(name)).map(path => ({ path, step: stepFromName(path) }))
}

/**
 * Path to open for the `npz` field of a trace, with links below the folder resolved. The field is untrusted. A Fault is
 * thrown if it is absolute, climbs, holds a backslash or NUL, or is a link out of the folder, and if the file is missing or
 * not regular (a named pipe would block the program). The caller adds the page and the trace with `at()`.
 */
export function resolveBeside(folder: string, name: string): string {
  const refuse = (problem: string, found: string): Fault =>
    new Fault({ format: 'snapshot', problem, found, expected: 'the name of a file beside the page' })
  const quoted = (): string => printable(JSON.stringify(name))
  if (!isSafeRelative(name)) throw refuse('unsafe npz path', quoted())
  // The usual case: no folder and no link, so nothing leads out. It takes one system call instead of three.
  const beside = join(folder, name)
  if (!name.includes('/') && isPlainFile(beside)) return beside
  const resolved = resolveInside(realFolder(folder), name)
  switch (resolved.kind) {
    case 'outside':
      throw refuse('unsafe npz path', `${quoted()}, a link that leads out of the folder`)
    case 'missing':
      throw refuse('missing npz', quoted())
    case 'unreadable':
      throw refuse('unreadable npz', `${quoted()} (${resolved.code})`)
    case 'inside': {
      const kind = kindOf(statSync(resolved.real))
      if (kind !== null) throw refuse('unreadable npz', `${quoted()}, ${kind}`)
      return resolved.real
    }
  }
}

function isPlainFile(path: string): boolean {
  try {
    return lstatSync(path).isFile()
  } catch {
    return false
  }
}

function realFolder(folder: string): string {
  try {
    return realpathSync.native(folder)
  } catch (cause) {
    const expected = 'a folder that can be read'
    throw new Fault({
      format: 'snapshot',
      problem: 'unreadable folder',
      found: describeCause(cause),
      expected,
      place: { file: folder },
      cause
    })
  }
}
