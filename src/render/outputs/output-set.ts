/**
 * The outputs of one run as one transaction over a folder. Every file is written under a temporary name. `commit`
 * renames all of them to their places, or none.
 *
 *     open ──> file … write … end ──> commit ──> every file new
 *       └────────────┴──────────────────┴─────> abort, or any failure: every file as it was, no temporary file left
 *
 * A reader sees each file whole, old or new, at every moment. A process that is killed between two renames of `commit`
 * leaves some files new and some old, each of them whole, in the order in which they were created. The file that says
 * that a run is complete must therefore be created last. The temporary files of a killed run are removed when the
 * folder is next opened; those of another host an hour later. Two runs into one folder at the same time do not damage
 * each other's files, but which run's file remains is undefined for each file.
 */
import { basename, dirname, isAbsolute, join, sep } from 'node:path'
import { Fault, printable } from '../../core/errors.js'
import { HEARTBEAT_MS } from '../../core/system/alive.js'
import { systemName } from '../../core/system/error.js'
import { inTheWay, realPlace } from '../../core/system/folder.js'
import { OutputFile, type FileSummary } from './output-file.js'
import { outputFault } from './output-fault.js'
import { nodeOutputFs, type OutputFs } from './output-fs.js'
import { sweepFolders, sweepLeftOvers, tempName, unlinkIfThere } from './temp-names.js'

export { OutputFile, type FileSummary } from './output-file.js'
export { nodeOutputFs, type OutputFs, type OutputHandle } from './output-fs.js'

export interface OutputSetOptions {
  /** the file system; tests pass one that fails */
  readonly fs?: OutputFs
  /** subfolders in which a killed run's temporary files are removed at once; others are cleaned at the first write to them */
  readonly folders?: readonly string[]
}

export interface FileOptions {
  /** compute the SHA-256 of the bytes while they are written; about 0.7 ms per MB */
  readonly sha256?: boolean
}

interface OutputEntry {
  readonly file: OutputFile
  /** computes the SHA-256, as `FileOptions` asked */
  readonly hashed: boolean
  readonly temp: string
  readonly target: string
}

/** The state of one target during commit. */
interface Replacement {
  readonly target: string
  /** second name of the old content; null where there was no old content */
  readonly backup: string | null
  /** the old content was renamed and not linked, so the target's name is free */
  readonly moved: boolean
  replaced: boolean
}

/** Files that may be open although they have ended: those that wait until they are on the disk. */
const ENDED_OPEN = 3

/** The subfolders to which the pipeline writes. */
export const OUTPUT_FOLDERS: readonly string[] = ['training_data', 'wandb', 'figures', 'materials', 'preview']

/**
 * A relative path with `/` between its parts.
 * @throws Fault where the path could lead out of the folder
 */
function checkedPath(path: string): string {
  const parts = path.split('/')
  const bad =
    path === '' ||
    isAbsolute(path) ||
    path.includes('\0') ||
    path.includes('\\') ||
    parts.some(part => part === '' || part === '.' || part === '..')
  if (bad) {
    throw new Fault({
      format: 'output',
      problem: 'path refused',
      found: printable(path),
      expected: 'a relative path inside the output folder'
    })
  }
  return parts.join('/')
}

export class OutputSet {
  /** the output folder, as given */
  readonly dir: string
  readonly #fs: OutputFs
  readonly #entries: OutputEntry[] = []
  /** files that others replaced and that can still be read */
  readonly #replaced: OutputEntry[] = []
  readonly #paths = new Set<string>()
  /** files that are being created */
  readonly #starting = new Set<Promise<OutputFile>>()
  /** the closing of each ended file, in the order of their ends; never rejects */
  #closing: Promise<unknown>[] = []
  readonly #jsonTexts = new Map<string, string>()
  /** folders that exist, lie in `dir` and hold no left-over files */
  readonly #ready = new Set<string>()
  /** folders that this set created, deepest first */
  #created: string[] = []
  #realDir = ''
  #state: 'open' | 'committing' | 'committed' | 'aborted' = 'open'
  #failure: Fault | null = null
  #commit: Promise<readonly FileSummary[]> | null = null
  #abort: Promise<void> | null = null
  #heart: NodeJS.Timeout | undefined

  private constructor(dir: string, fs: OutputFs) {
    this.dir = dir
    this.#fs = fs
  }

  /**
   * Creates the folder where it is missing, checks that it can be written to, and removes what a killed run left. The
   * folder itself may be a symbolic link.
   * @throws Fault (exit 3) where any of these fails
   */
  static async open(dir: string, options: OutputSetOptions = {}): Promise<OutputSet> {
    const set = new OutputSet(dir, options.fs ?? nodeOutputFs)
    try {
      await set.#prepareRoot()
      await sweepFolders(set.#fs, dir, (options.folders ?? OUTPUT_FOLDERS).map(checkedPath))
      set.#heart = setInterval(() => {
        void set.beat()
      }, HEARTBEAT_MS).unref()
    } catch (error) {
      await set.abort()
      throw outputFault(error, dir)
    }
    return set
  }

  /**
   * Removes what killed runs left in every subfolder that has the outputs of a snapshot, as a batch writes them. This
   * covers snapshots that the present run does not reach.
   */
  async sweepSnapshots(): Promise<void> {
    try {
      for (const name of await this.#fs.list(this.dir)) {
        const folder = join(this.dir, name)
        if ((await this.#fs.inspect(folder))?.kind !== 'folder') continue
        const within = await this.#fs.list(folder)
        if (!within.includes('run.json') && !OUTPUT_FOLDERS.some(output => within.includes(output))) continue
        await sweepFolders(this.#fs, this.dir, [name, ...OUTPUT_FOLDERS.map(output => `${name}/${output}`)])
      }
    } catch (error) {
      throw outputFault(error, this.dir)
    }
  }

  /**
   * Renews the sign of life of every temporary file, see temp-names.ts. The time of a file that cannot be touched stays
   * as it is.
   */
  async beat(): Promise<void> {
    try {
      const now = await this.#fs.now(this.dir)
      await Promise.allSettled([...this.#entries, ...this.#replaced].map(entry => this.#fs.touch(entry.temp, now)))
    } catch (error) {
      // A full disk takes no probe file. The run's own writes report that.
      if (systemName(error) === null) throw error
    }
  }

  /**
   * Starts a file and creates its folder.
   * @param path relative, with `/`
   * @throws Fault where the path, its folder or the file is refused
   */
  async file(path: string, options: FileOptions = {}): Promise<OutputFile> {
    const relative = checkedPath(path)
    this.#checkOpen()
    if (this.#paths.has(relative)) throw new Error(`${relative} is already being written`)
    this.#paths.add(relative)
    const target = join(this.dir, relative)
    const starting = this.#start(relative, target, options.sha256 ?? false)
    this.#starting.add(starting)
    try {
      const file = await starting
      // The set was aborted while the file was created. Its discard has waited for the file.
      if (this.#state !== 'open') throw this.#reason()
      return file
    } catch (error) {
      const fault = outputFault(error, target)
      await this.#fail(fault)
      throw fault
    } finally {
      this.#starting.delete(starting)
    }
  }

  /**
   * Starts a file anew, for a layout that only its later content tells. The new file takes the place of `file`, which can be
   * read until `drop`.
   */
  async anew(file: OutputFile): Promise<OutputFile> {
    this.#checkOpen()
    const at = this.#entries.findIndex(entry => entry.file === file)
    const old = this.#entries[at]
    if (old === undefined) throw new Error(`${file.path} is no file of this set`)
    const created = this.#create(file.path, old.target, old.hashed).then(entry => {
      this.#entries[at] = entry
      this.#replaced.push(old)
      return entry.file
    })
    this.#starting.add(created)
    try {
      const fresh = await created
      if (this.#state !== 'open') throw this.#reason()
      return fresh
    } catch (error) {
      const fault = outputFault(error, old.target)
      await this.#fail(fault)
      throw fault
    } finally {
      this.#starting.delete(created)
    }
  }

  /** Removes a file that another has replaced. */
  async drop(file: OutputFile): Promise<void> {
    const entry = this.#replaced.find(each => each.file === file)
    if (entry === undefined) throw new Error(`${file.path} was not replaced`)
    await file.discard(new Fault({ format: 'output', problem: 'replaced', place: { file: entry.target } }))
    try {
      await unlinkIfThere(this.#fs, entry.temp)
    } catch (error) {
      const fault = outputFault(error, entry.target)
      await this.#fail(fault)
      throw fault
    }
    this.#replaced.splice(this.#replaced.indexOf(entry), 1)
  }

  async #start(relative: string, target: string, sha256: boolean): Promise<OutputFile> {
    await this.#prepareFolder(dirname(target))
    const old = await this.#fs.inspect(target)
    if (old?.kind === 'folder') throw this.#unwritable('a folder', 'a file', target)
    const entry = await this.#create(relative, target, sha256)
    this.#entries.push(entry)
    return entry.file
  }

  async #create(relative: string, target: string, hashed: boolean): Promise<OutputEntry> {
    while (this.#closing.length >= ENDED_OPEN) await this.#closing.shift()
    const temp = join(dirname(target), tempName(basename(target), 'tmp'))
    const handle = await this.#fs.create(temp)
    const on = { failure: (error: unknown) => this.#fail(error), end: (file: OutputFile) => this.#closeInTurn(file) }
    return { file: new OutputFile(relative, target, handle, hashed, on), hashed, temp, target }
  }

  /**
   * Puts an ended file on the disk and closes it, so that a run needs few open files. One file after another: each sync holds one of
   * the four threads that the writes of the next files need.
   */
  #closeInTurn(file: OutputFile): void {
    const before = this.#closing.at(-1) ?? Promise.resolve()
    // `commit` seals every file again, and reports the failure.
    this.#closing.push(before.then(() => file.seal()).catch(() => undefined))
  }

  /**
   * Text of every JSON document written so far, by path. Computations over documents therefore see the same bytes as
   * readers.
   */
  get jsonTexts(): ReadonlyMap<string, string> {
    return this.#jsonTexts
  }

  /** Paths of all files started so far. */
  get paths(): readonly string[] {
    return [...this.#paths]
  }

  /** Writes a whole small file at once, with its hash. */
  async write(path: string, content: string | Uint8Array): Promise<FileSummary> {
    if (typeof content === 'string' && path.endsWith('.json')) this.#jsonTexts.set(path, content)
    const file = await this.file(path, { sha256: true })
    await file.write(typeof content === 'string' ? Buffer.from(content, 'utf8') : content)
    return file.end()
  }

  /** Writes one small file as a transaction of its own. */
  static async writeAlone(dir: string, path: string, content: string): Promise<void> {
    const set = await OutputSet.open(dir)
    try {
      await set.write(path, content)
      await set.commit()
    } catch (error) {
      await set.abort()
      throw error
    }
  }

  /**
   * Ends every file, waits until all are on the disk, then renames each to its place in the order of creation.
   * @throws Fault of the failed operation; every file is then as it was before
   */
  async commit(): Promise<readonly FileSummary[]> {
    if (this.#commit === null) {
      this.#checkOpen()
      this.#state = 'committing'
      this.#commit = this.#commitAll()
    }
    return this.#commit
  }

  /** Removes every temporary file and the folders that the set created. Idempotent. Does nothing after commit. */
  async abort(): Promise<void> {
    if (this.#commit !== null) {
      await Promise.allSettled([this.#commit])
      return
    }
    this.#state = 'aborted'
    await this.#discard()
  }

  #checkOpen(): void {
    if (this.#state === 'aborted') throw this.#reason()
    if (this.#state !== 'open') throw new Error(`the output set of ${this.dir} is ${this.#state}`)
  }

  /** The reason why nothing more is written: the first failure, or the abort by the caller. */
  #reason(): Fault {
    this.#failure ??= new Fault({ format: 'output', problem: 'given up', place: { file: this.dir } })
    return this.#failure
  }

  #unwritable(found: string, expected: string, file: string): Fault {
    return new Fault({ format: 'output', problem: 'unwritable', found, expected, place: { file } })
  }

  async #fail(error: unknown): Promise<void> {
    this.#failure ??= outputFault(error, this.dir)
    // During commit, `#commitAll` cleans up when no operation is running any more.
    if (this.#state === 'open') this.#state = 'aborted'
    if (this.#state === 'aborted') await this.#discard()
  }

  async #prepareRoot(): Promise<void> {
    this.#created = [...(await this.#makeFolder(this.dir))]
    this.#realDir = await this.#fs.realPath(this.dir)
    await this.#fs.checkWritable(this.dir)
    await sweepLeftOvers(this.#fs, this.dir)
    this.#ready.add(dirname(join(this.dir, 'file')))
  }

  async #makeFolder(folder: string): Promise<readonly string[]> {
    try {
      return await this.#fs.makeFolder(folder)
    } catch (error) {
      const blocked = ['EEXIST', 'ENOTDIR', 'ELOOP'].includes(systemName(error) ?? '') ? await inTheWay(folder) : null
      throw blocked === null ? error : this.#unwritable(blocked.found, 'a folder', blocked.path)
    }
  }

  async #prepareFolder(folder: string): Promise<void> {
    if (this.#ready.has(folder)) return
    let existing = folder
    while ((await this.#fs.inspect(existing)) === null) existing = dirname(existing)
    const real = await this.#fs.realPath(existing).catch((error: unknown) => {
      // For a link to nothing or to itself, the place to which it points is checked.
      if (['ENOENT', 'ELOOP'].includes(systemName(error) ?? '')) return realPlace(existing)
      throw error
    })
    const inside = this.#realDir.endsWith(sep) ? this.#realDir : this.#realDir + sep
    if (real !== this.#realDir && !real.startsWith(inside)) {
      throw this.#unwritable(`a link to ${printable(real, 400)}`, 'a folder inside the output folder', existing)
    }
    this.#created.unshift(...(await this.#makeFolder(folder)))
    await sweepLeftOvers(this.#fs, folder)
    this.#ready.add(folder)
  }

  async #commitAll(): Promise<readonly FileSummary[]> {
    clearInterval(this.#heart)
    let replacements: readonly Replacement[]
    let summaries: readonly FileSummary[]
    try {
      summaries = await Promise.all(this.#entries.map(entry => entry.file.seal()))
      replacements = await this.#replaceAll()
    } catch (error) {
      this.#state = 'aborted'
      this.#failure ??= outputFault(error, this.dir)
      await this.#discard()
      throw this.#failure
    }
    this.#state = 'committed'
    for (const { backup } of replacements) {
      if (backup === null) continue
      try {
        await unlinkIfThere(this.#fs, backup)
      } catch (error) {
        throw outputFault(error, backup)
      }
    }
    return summaries
  }

  async #replaceAll(): Promise<readonly Replacement[]> {
    const replacements: Replacement[] = []
    let target = this.dir
    try {
      for (const entry of this.#entries) {
        target = entry.target
        const replacement = await this.#keepOld(target)
        replacements.push(replacement)
        await this.#fs.rename(entry.temp, target)
        replacement.replaced = true
      }
      for (target of new Set(this.#entries.map(entry => dirname(entry.target)))) await this.#fs.syncFolder(target)
    } catch (error) {
      const fault = outputFault(error, target)
      await this.#putBack(replacements, fault)
      throw fault
    }
    return replacements
  }

  /** Gives the old content a second name, so that it can be restored when a later rename fails. */
  async #keepOld(target: string): Promise<Replacement> {
    if ((await this.#fs.inspect(target)) === null) return { target, backup: null, moved: false, replaced: false }
    const backup = join(dirname(target), tempName(basename(target), 'bak'))
    try {
      await this.#fs.link(target, backup)
      return { target, backup, moved: false, replaced: false }
    } catch (error) {
      if (systemName(error) === null) throw error
      // The file system or this file allows no hard link. The name is then free until the rename that follows.
      await this.#fs.rename(target, backup)
      return { target, backup, moved: true, replaced: false }
    }
  }

  async #putBack(replacements: readonly Replacement[], cause: Fault): Promise<void> {
    const failed: string[] = []
    for (const { target, backup, moved, replaced } of replacements) {
      try {
        // Renaming one name of a file to another name of the same file does nothing, so an unused link is removed.
        if (backup === null) {
          if (replaced) await this.#fs.unlink(target)
        } else if (replaced || moved) await this.#fs.rename(backup, target)
        else await this.#fs.unlink(backup)
      } catch (error) {
        failed.push(`${target} (${outputFault(error, target).message})`)
      }
    }
    if (failed.length === 0) return
    throw new Fault({
      format: 'output',
      problem: 'not restored',
      found: printable(failed.join('; '), 1000),
      expected: 'the earlier files back in place',
      place: { file: this.dir },
      cause
    })
  }

  #discard(): Promise<void> {
    this.#abort ??= this.#discardAll()
    return this.#abort
  }

  async #discardAll(): Promise<void> {
    clearInterval(this.#heart)
    const known = new Set([...this.#entries, ...this.#replaced])
    const discarded = [...known].map(entry => entry.file.discard(this.#reason()))
    // A file that is still being created would leave its folder behind.
    await Promise.allSettled(this.#starting)
    const all = new Set([...known, ...this.#entries, ...this.#replaced])
    discarded.push(...[...all].filter(entry => !known.has(entry)).map(entry => entry.file.discard(this.#reason())))
    await Promise.all(discarded)
    // Files that cannot be removed now are removed when the folder is next opened. Only the first failure is reported.
    await Promise.allSettled([...all].map(entry => unlinkIfThere(this.#fs, entry.temp)))
    for (const folder of this.#created) await Promise.allSettled([this.#fs.removeFolder(folder)])
  }
}
