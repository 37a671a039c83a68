/** The files of a dump: opened, recognised and planned one after another, and opened again when their rows are read. */
import { join } from 'node:path'
import type { ByteSource } from '../../core/byte-source.js'
import { stepFromDumpName } from '../../core/file-names.js'
import { comparingWords } from '../../core/still.js'
import { openStill, type StillFile } from '../../core/still-file.js'
import type { HashedFile } from '../../schema/study.js'
import type { SampleKeys } from '../../schema/sample-keys.js'
import type { DumpFormat, DumpPart } from './part.js'
import { readAhead } from './read-ahead.js'

/** What is known of a file when it was planned, without its content. */
export interface FilePlan extends Omit<DumpPart, 'row' | 'all'> {
  readonly name: string
  readonly size: number
  /** stated by the file, else by its name */
  readonly step: number | null
}

export interface OpenPart {
  readonly plan: FilePlan
  readonly part: DumpPart
  /** Hash of the whole file. */
  hashed(signal?: AbortSignal): Promise<HashedFile>
  /** @throws where the file did not stand still since it was opened */
  assertStill(): Promise<void>
  close(): Promise<void>
}

/** @param onBytes called with the number of bytes of each read */
export async function openPart(
  folder: string,
  name: string,
  formatOf: (source: ByteSource) => Promise<DumpFormat>,
  keys: SampleKeys,
  onBytes: (bytes: number) => void = () => undefined
): Promise<OpenPart> {
  const file = await openStill(join(folder, name), comparingWords('dump'))
  try {
    const source = readAhead(counted(file, onBytes))
    const format = await formatOf(source)
    const part = await format.open({ name, source }, keys)
    const { row: _row, all: _all, ...known } = part
    const plan = { ...known, name, size: file.size, step: part.step ?? stepFromDumpName(name) }
    return {
      plan,
      part,
      hashed: async signal => ({ path: name, sha256: await file.sha256({ signal }), bytes: file.size }),
      assertStill: () => file.assertStill(),
      close: () => file.close()
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

function counted(file: StillFile, onBytes: (bytes: number) => void): ByteSource {
  return {
    size: file.size,
    async slice(start, end) {
      const bytes = await file.slice(start, end)
      onBytes(bytes.length)
      return bytes
    },
    async fill(bytes, start) {
      await file.fill(bytes, start)
      onBytes(bytes.length)
    }
  }
}
