/**
 * The outputs of one run as one transaction over a folder: every file is written under a temporary name, and all of
 * them take their places together in `commit`, or none does.
 *
 *     open ──> file … write … end ──> commit ──> every file new
 *       └────────────┴──────────────────┴─────> abort, or any failure: every file as it was, no temporary file left
 *
 * A reader sees each file whole, old or new, at every moment. A process killed between two renames of `commit` leaves
 * some files new and some old (each whole), in the order in which they were created: create last what says that a run
 * is complete. Temporary files of a killed run go when the folder is next opened (of another host's, an hour later). Two runs into one folder at once do
 * not damage each other's files, but whose files win is open, file by file.
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
  /** subfolders to clean of a killed run's temporary files at once; others are cleaned when first written to */
  readonly folders?: readonly string[]
}

export interface FileOptions {
  /** compute the SHA-256 of the bytes as they pass; about 0.7 ms per MB */
  readonly sha256?: boolean
}

interface Entry {
  readonly file: OutputFile
  readonly temp: string
  readonly target: string
}

/** One target's way through commit. */
interface Replacement {
  readonly target: string
  /** the old content's other name; null where there was no old content */
  readonly backup: string | null
  /** the target's name is gone from the old content: renamed, not linked */
  readonly moved: boolean
  replaced: boolean
}

/** The subfolders that the pipeline writes to. */
export const OUTPUT_FOLDERS: readonly string[] = ['training_data', 'wandb', 'figures', 'materials', 'preview']

/** Relative path with `/` between its parts; throws where it could leave the folder. */
function checkedPath(path: string): string {
  const parts = path.split('/')
  const bad = path === '' || isAbsolute(path) || path.includes('\0') || path.includes('\\') ||
    parts.some(part => part === '' || part === '.' || part === '..')
  if (bad) {
    throw new Fault({
      format: 'output', problem: 'path refused', found: printable(path),
      expected: 'a relative path inside the output folder'
    })
  }
  return parts.join('/')
}

export class OutputSet {
  /** the output folder, as given */
  readonly dir: string
  readonly #fs: OutputFs
  readonly #entries: Entry[] = []
  readonly #paths = new Set<string>()
  /** files that are being made */
  readonly #starting = new Set<Promise<OutputFile>>()
  readonly #jsonTexts = new Map<string, string>()
  /** folders that exist, are inside `dir` and hold no leftovers */
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
   * Creates the folder where it is missing, checks that it can be written to, removes what a killed run left.
   * Throws a Fault (exit code 3) otherwise. The folder itself may be a symbolic link.
   */
  static async open(dir: string, options: OutputSetOptions = {}): Promise<OutputSet> {
    const set = new OutputSet(dir, options.fs ?? nodeOutputFs)
    try {
      await set.#prepareRoot()
      await sweepFolders(set.#fs, dir, (options.folders ?? OUTPUT_FOLDERS).map(checkedPath))
      set.#heart = setInterval(() => { void set.beat() }, HEARTBEAT_MS).unref()
    } catch (error) {
      await set.abort()
      throw outputFault(error, dir)
    }
    return set
  }

  /**
   * Removes what killed runs left in every subfolder that has the outputs of a snapshot, as a batch writes them, whether this
   * run comes to that snapshot or not.
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

  /** The sign of life of every temporary file, see temp-names.ts. What cannot be touched is left to its own time. */
  async beat(): Promise<void> {
    try {
      const now = await this.#fs.now(this.dir)
      await Promise.allSettled(this.#entries.map(entry => this.#fs.touch(entry.temp, now)))
    } catch (error) {
      // A disk that is full takes no probe; the run's own writes say so.
      if (systemName(error) === null) throw error
    }
  }

  /** Starts a file. `path` is relative, with `/`; its folder is created. Throws a Fault. */
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
      // The set was given up while the file was made: its discard has waited for it.
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

  async #start(relative: string, target: string, sha256: boolean): Promise<OutputFile> {
    await this.#prepareFolder(dirname(target))
    const old = await this.#fs.inspect(target)
    if (old?.kind === 'folder') throw this.#unwritable('a folder', 'a file', target)
    const temp = join(dirname(target), tempName(basename(target), 'tmp'))
    const handle = await this.#fs.create(temp)
    const file = new OutputFile(relative, target, handle, sha256, error => this.#fail(error))
    this.#entries.push({ file, temp, target })
    return file
  }

  /** Text of every JSON document written so far, by path: what is computed from documents sees the bytes that readers will. */
  get jsonTexts(): ReadonlyMap<string, string> {
    return this.#jsonTexts
  }

  /** Paths of all files begun so far. */
  get paths(): readonly string[] {
    return [...this.#paths]
  }

  /** A whole small file at once, hashed. */
  async write(path: string, content: string | Uint8Array): Promise<FileSummary> {
    if (typeof content === 'string' && path.endsWith('.json')) this.#jsonTexts.set(path, content)
    const file = await this.file(path, { sha256: true })
    await file.write(typeof content === 'string' ? Buffer.from(content, 'utf8') : content)
    return file.end()
  }

  /** One small file as a transaction of its own. */
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
   * Ends every file, waits until all are on the disk, then renames each to its place, in the order of creation.
   * Throws the Fault of what failed, with every file as it was before.
   */
  async commit(): Promise<readonly FileSummary[]> {
    if (this.#commit === null) {
      this.#checkOpen()
      this.#state = 'committing'
      this.#commit = this.#commitAll()
    }
    return this.#commit
  }

  /** Gives up: removes every temporary file, and folders that the set created. Idempotent; does nothing after commit. */
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

  /** Why nothing more is written: the first failure, or that the caller gave up. */
  #reason(): Fault {
    this.#failure ??= new Fault({ format: 'output', problem: 'given up', place: { file: this.dir } })
    return this.#failure
  }

  #unwritable(found: string, expected: string, file: string): Fault {
    return new Fault({ format: 'output', problem: 'unwritable', found, expected, place: { file } })
  }

  async #fail(error: unknown): Promise<void> {
    this.#failure ??= outputFault(error, this.dir)
    // inside commit the one that runs it cleans up, when nothing is under way any more
    if (this.#state === 'open') this.#state = 'aborted'
    if (this.#state === 'aborted') await this.#discard()
  }

  async #prepareRoot(): Promise<void> {
    this.#created = [...await this.#makeFolder(this.dir)]
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
    while (await this.#fs.inspect(existing) === null) existing = dirname(existing)
    const real = await this.#fs.realPath(existing).catch((error: unknown) => {
      // A link to nothing, or to itself: what matters is where it points.
      if (['ENOENT', 'ELOOP'].includes(systemName(error) ?? '')) return realPlace(existing)
      throw error
    })
    const inside = this.#realDir.endsWith(sep) ? this.#realDir : this.#realDir + sep
    if (real !== this.#realDir && !real.startsWith(inside)) {
      throw this.#unwritable(`a link to ${printable(real, 400)}`, 'a folder inside the output folder', existing)
    }
    this.#created.unshift(...await this.#makeFolder(folder))
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

  /** Gives the old content a second name, so that it can come back when a later rename fails. */
  async #keepOld(target: string): Promise<Replacement> {
    if (await this.#fs.inspect(target) === null) return { target, backup: null, moved: false, replaced: false }
    const backup = join(dirname(target), tempName(basename(target), 'bak'))
    try {
      await this.#fs.link(target, backup)
      return { target, backup, moved: false, replaced: false }
    } catch (error) {
      if (systemName(error) === null) throw error
      // no hard links on this file system, or not to this file: the name is free for the instant until the rename
      await this.#fs.rename(target, backup)
      return { target, backup, moved: true, replaced: false }
    }
  }

  async #putBack(replacements: readonly Replacement[], cause: Fault): Promise<void> {
    const failed: string[] = []
    for (const { target, backup, moved, replaced } of replacements) {
      try {
        // renaming one name of a file to another name of the same file does nothing: an unused link is removed
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
      format: 'output', problem: 'not restored', found: printable(failed.join('; '), 1000),
      expected: 'the earlier files back in place', place: { file: this.dir }, cause
    })
  }

  #discard(): Promise<void> {
    this.#abort ??= this.#discardAll()
    return this.#abort
  }

  async #discardAll(): Promise<void> {
    clearInterval(this.#heart)
    const known = this.#entries.length
    const discarded = this.#entries.map(entry => entry.file.discard(this.#reason()))
    // A file that is just being made would leave its folder behind.
    await Promise.allSettled(this.#starting)
    discarded.push(...this.#entries.slice(known).map(entry => entry.file.discard(this.#reason())))
    await Promise.all(discarded)
    // what cannot be removed now is removed when the folder is next opened; the first failure is the one to report
    await Promise.allSettled(this.#entries.map(entry => unlinkIfThere(this.#fs, entry.temp)))
    for (const folder of this.#created) await Promise.allSettled([this.#fs.removeFolder(folder)])
  }
}
