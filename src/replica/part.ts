/**
 * The parts of the replica. Each has a seed of its own and writes its files into the study's folder. Adding a part changes
 * no byte of the others.
 */
import { dirname, join } from 'node:path'
import { makeFolder } from '../core/system/folder.js'
import { HashedWriter } from './bytes.js'
import type { WrittenFile } from './bytes.js'
import type { Random } from './random.js'

/** An entry of the manifest. */
export interface ReplicaFile extends WrittenFile {
  /** path relative to the study, with `/` */
  readonly path: string
  readonly role: string
}

/** Takes the next bytes of a file. The caller may change them once the promise resolves. */
export type Send = (bytes: Uint8Array) => Promise<void>

/** The folder of a study under construction. Every file is listed for the manifest, in the order of writing. */
export class StudyFolder {
  readonly #files: ReplicaFile[] = []

  constructor(
    readonly dir: string,
    readonly signal: AbortSignal | undefined
  ) {}

  get files(): readonly ReplicaFile[] {
    return this.#files
  }

  /** Writes one file from what `produce` sends. The file is on the disk and listed when this returns. */
  async write(path: string, role: string, produce: (send: Send) => Promise<void>): Promise<void> {
    this.signal?.throwIfAborted()
    const full = join(this.dir, ...path.split('/'))
    await makeFolder(dirname(full))
    const file = await HashedWriter.create(full)
    try {
      await produce(async bytes => {
        this.signal?.throwIfAborted()
        await file.write(bytes)
      })
    } catch (error) {
      await file.abandon()
      throw error
    }
    this.#files.push({ path, role, ...(await file.close()) })
  }

  async writeText(path: string, role: string, text: string): Promise<void> {
    await this.write(path, role, send => send(Buffer.from(text)))
  }
}

export interface ReplicaPart {
  /** key of the part's section in the study file */
  readonly section: string
  readonly seed: string
  /** Writes the part's files and returns its section of the study file. */
  readonly write: (folder: StudyFolder, random: Random) => Promise<object>
}
