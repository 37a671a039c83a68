/**
 * A file that is written over several runs of the program. The bytes of a killed run are kept, and the next run appends to
 * them.
 *
 *     .<name>.partial         the bytes so far
 *     .<name>.partial.json    the journal: how many bytes are valid, their SHA-256, and the writer's own state after them
 *
 * The journal is replaced (temporary file, fsync, rename) after its bytes are on the disk. So bytes beyond its count belong
 * to an unfinished write and are cut off. No file has the final name before `finish`.
 */
import { createHash, type Hash } from 'node:crypto'
import { rename, rm, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Fault } from '../core/errors.js'
import { readText } from '../core/still-file.js'
import { openRegular } from '../core/system/open.js'
import { outputFault } from '../render/outputs/output-fault.js'
import { nodeOutputFs } from '../render/outputs/output-fs.js'
import { OutputSet } from '../render/outputs/output-set.js'
import { sweepLeftOvers } from '../render/outputs/temp-names.js'

const READ_CHUNK_BYTES = 1024 * 1024

/** Shortest time between journals. A kill loses what was written since the last one; writing one costs two fsyncs. */
const JOURNAL_INTERVAL_MS = 250

/** Largest journal: that of a very long history. */
const MAX_JOURNAL_BYTES = 64 * 1024 * 1024

interface Journal {
  readonly bytes: number
  readonly sha256: string
  readonly state: unknown
}

export interface FinishedFile {
  readonly bytes: number
  readonly sha256: string
}

export class ResumableFile {
  readonly #path: string
  readonly #partial: string
  readonly #handle: FileHandle
  readonly #hash: Hash
  #bytes: number
  /** time of the last journal */
  #journalled = -Infinity
  /** state that is not in the journal yet */
  #pending: { readonly state: unknown } | null = null
  /** the writer's state after the last valid bytes; null: there are none yet */
  readonly state: unknown

  private constructor(path: string, handle: FileHandle, hash: Hash, bytes: number, state: unknown) {
    this.#path = path
    this.#partial = partialName(path)
    this.#handle = handle
    this.#hash = hash
    this.#bytes = bytes
    this.state = state
  }

  /**
   * Opens the file of a killed run, or begins a new one. The folder is created. Bytes that the journal does not cover are
   * dropped.
   *
   * @param usable tells whether the state of an earlier run can be resumed
   * @throws Fault exit 3: the folder or file cannot be written
   */
  static async open(path: string, usable: (state: unknown) => boolean): Promise<ResumableFile> {
    try {
      await nodeOutputFs.makeFolder(dirname(path))
      const partial = partialName(path)
      // A link in the file's place could lead anywhere.
      const { handle } = await openRegular(partial, { create: true, links: 'refuse' })
      try {
        const journal = await readJournal(path)
        const hash = createHash('sha256')
        const whole = journal !== null && usable(journal.state) && (await hashStart(handle, journal.bytes, hash)) === journal.sha256
        const bytes = whole ? journal.bytes : 0
        await handle.truncate(bytes)
        return new ResumableFile(path, handle, whole ? hash : createHash('sha256'), bytes, whole ? journal.state : null)
      } catch (error) {
        await handle.close()
        throw error
      }
    } catch (error) {
      throw outputFault(error instanceof Fault && error.cause !== undefined ? error.cause : error, path)
    }
  }

  /** Removes what a killed run left of a file that is no longer needed. */
  static async discard(path: string): Promise<void> {
    try {
      await removeJournal(path)
      await rm(partialName(path), { force: true })
    } catch (error) {
      throw outputFault(error, path)
    }
  }

  /** Appends bytes, with the state after them. A later run can use them once the journal covers them: soon, and on `close`. */
  async append(data: Uint8Array, state: unknown): Promise<void> {
    try {
      for (let taken = 0; taken < data.byteLength; ) {
        const { bytesWritten } = await this.#handle.write(data, taken, data.byteLength - taken, this.#bytes + taken)
        taken += bytesWritten
      }
      this.#hash.update(data)
      this.#bytes += data.byteLength
      this.#pending = { state }
      if (performance.now() - this.#journalled >= JOURNAL_INTERVAL_MS) await this.#writeJournal()
    } catch (error) {
      throw outputFault(error, this.#path)
    }
  }

  async #writeJournal(): Promise<void> {
    if (this.#pending === null) return
    const { state } = this.#pending
    await this.#handle.datasync()
    const journal: Journal = { bytes: this.#bytes, sha256: this.#hash.copy().digest('hex'), state }
    await writeAlone(journalName(this.#path), `${JSON.stringify(journal)}\n`)
    this.#pending = null
    this.#journalled = performance.now()
  }

  /** Path of the file until it has its final name. All bytes are on the disk when this resolves. */
  async partial(): Promise<string> {
    await this.#flushed()
    return this.#partial
  }

  async #flushed(): Promise<void> {
    try {
      await this.#writeJournal()
    } catch (error) {
      throw outputFault(error, this.#path)
    }
  }

  /** Gives the file its final name. An older file of that name is replaced. */
  async finish(): Promise<FinishedFile> {
    try {
      await this.#handle.sync()
      await this.#handle.close()
      await rename(this.#partial, this.#path)
      await removeJournal(this.#path)
      await nodeOutputFs.syncFolder(dirname(this.#path))
      return { bytes: this.#bytes, sha256: this.#hash.copy().digest('hex') }
    } catch (error) {
      throw outputFault(error, this.#path)
    }
  }

  /** Leaves the file and its journal for the next run. */
  async close(): Promise<void> {
    try {
      await this.#flushed()
    } finally {
      await this.#handle.close()
    }
  }
}

function partialName(path: string): string {
  return join(dirname(path), `.${basename(path)}.partial`)
}

function journalName(path: string): string {
  return `${partialName(path)}.json`
}

/** Removes the journal, and what a run left that was killed while it replaced the journal: a later sweep would restore it. */
async function removeJournal(path: string): Promise<void> {
  const folder = dirname(path)
  if ((await nodeOutputFs.inspect(folder)) === null) return
  await sweepLeftOvers(nodeOutputFs, folder)
  await rm(journalName(path), { force: true })
}

async function writeAlone(path: string, content: string): Promise<void> {
  await OutputSet.writeAlone(dirname(path), basename(path), content)
}

/** Null if there is no journal, or none that this program could have written. */
async function readJournal(path: string): Promise<Journal | null> {
  const name = journalName(path)
  try {
    const { bytes, sha256, state } = {
      ...(JSON.parse(await readText(name, { links: 'refuse', maxBytes: MAX_JOURNAL_BYTES })) as Partial<Journal>)
    }
    return Number.isSafeInteger(bytes) && Number(bytes) >= 0 && typeof sha256 === 'string' ? { bytes: Number(bytes), sha256, state } : null
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof Fault) return null
    throw error
  }
}

/** Hash of the first bytes; null if the file is shorter. */
async function hashStart(handle: FileHandle, bytes: number, hash: Hash): Promise<string | null> {
  const chunk = new Uint8Array(Math.min(bytes, READ_CHUNK_BYTES))
  for (let at = 0; at < bytes; ) {
    const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.length, bytes - at), at)
    if (bytesRead === 0) return null
    hash.update(chunk.subarray(0, bytesRead))
    at += bytesRead
  }
  return hash.copy().digest('hex')
}
