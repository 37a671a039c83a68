/**
 * A file that is written over several runs of the program: what a killed run wrote is kept, and the next one goes on
 * behind it.
 *
 *     .<name>.partial         what is there so far
 *     .<name>.partial.json    how many of its bytes count, their SHA-256, and the writer's own state after them
 *
 * The journal is replaced (temporary file, fsync, rename) after the bytes that it speaks of are on the disk, so bytes
 * behind its count are those of a write that did not end: they are cut off. Nothing is at the file's own name before
 * `finish`.
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

/** A kill costs what was written since the journal was; writing it costs two fsyncs and its own length. */
const JOURNAL_INTERVAL_MS = 250

/** Of a very long history. */
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
  /** when the journal was written last */
  #journalled = -Infinity
  /** what is to be in the journal and is not yet */
  #pending: { readonly state: unknown } | null = null
  /** what the writer said after the last bytes that count; null: there are none yet */
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
   * Opens what a killed run left, or begins. The folder is created. What a journal does not vouch for is dropped.
   *
   * @param usable whether the state of an earlier run can be gone on from
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
        const whole = journal !== null && usable(journal.state) && await hashStart(handle, journal.bytes, hash) === journal.sha256
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

  /** Removes what a killed run left of a file that is not wanted any more. */
  static async discard(path: string): Promise<void> {
    try {
      await removeJournal(path)
      await rm(partialName(path), { force: true })
    } catch (error) {
      throw outputFault(error, path)
    }
  }

  /** Adds bytes and says what is known after them. They count for a later run once the journal says so: soon, and when this is closed. */
  async append(data: Uint8Array, state: unknown): Promise<void> {
    try {
      for (let taken = 0; taken < data.byteLength;) {
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

  /** Where the bytes are until the file has its name: all of them once this has resolved. */
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

  /** The file takes its name; an older one is replaced. */
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

  /** Leaves everything for the next run. */
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

/** With what a run that was killed while it replaced the journal left of it: a later sweep would put that in its place. */
async function removeJournal(path: string): Promise<void> {
  const folder = dirname(path)
  if (await nodeOutputFs.inspect(folder) === null) return
  await sweepLeftOvers(nodeOutputFs, folder)
  await rm(journalName(path), { force: true })
}

async function writeAlone(path: string, content: string): Promise<void> {
  await OutputSet.writeAlone(dirname(path), basename(path), content)
}

/** Null where there is none, or none that a run of this program could have written. */
async function readJournal(path: string): Promise<Journal | null> {
  const name = journalName(path)
  try {
    const { bytes, sha256, state } = { ...JSON.parse(await readText(name, { links: 'refuse', maxBytes: MAX_JOURNAL_BYTES })) as Partial<Journal> }
    return Number.isSafeInteger(bytes) && Number(bytes) >= 0 && typeof sha256 === 'string' ? { bytes: Number(bytes), sha256, state } : null
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof Fault) return null
    throw error
  }
}

/** Hash of the first bytes; null where the file is shorter. */
async function hashStart(handle: FileHandle, bytes: number, hash: Hash): Promise<string | null> {
  const chunk = new Uint8Array(Math.min(bytes, READ_CHUNK_BYTES))
  for (let at = 0; at < bytes;) {
    const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.length, bytes - at), at)
    if (bytesRead === 0) return null
    hash.update(chunk.subarray(0, bytesRead))
    at += bytesRead
  }
  return hash.copy().digest('hex')
}
