/** The formats of dumps: one line each. A file is recognised by its content, and its name plays no part. */
import { openStill } from '../../core/still-file.js'
import { Fault } from '../../core/errors.js'
import type { Dump, DumpOptions } from './contract.js'

/** The smallest seam of a reader: some bytes of something of known size. */
export interface ByteSource {
  readonly byteLength: number
  slice(start: number, end: number): Promise<Uint8Array>
}

export interface DumpFormat {
  /** first word of its messages */
  readonly name: string
  /** @param head the first bytes: 4096, or all of a shorter file */
  recognises(head: Uint8Array, source: ByteSource): Promise<boolean>
  /** @param files names in the folder: ranks of a rollout, steps of a series */
  open(folder: string, files: readonly string[], options: DumpOptions): Promise<Dump>
}

export const DUMP_FORMATS: readonly DumpFormat[] = []

const HEAD_BYTES = 4096

/** The format of a file; null: none of them. */
export async function recogniseDump(path: string): Promise<DumpFormat | null> {
  const file = await openStill(path)
  try {
    const source = { byteLength: file.size, slice: (start: number, end: number) => file.slice(start, end) }
    const head = await file.slice(0, Math.min(HEAD_BYTES, file.size))
    for (const format of DUMP_FORMATS) if (await format.recognises(head, source)) return format
    return null
  } finally {
    await file.close()
  }
}

/** @throws Fault where the files are of no format, or of several */
export async function openDump(folder: string, files: readonly string[], _options: DumpOptions): Promise<Dump> {
  throw new Fault({
    format: 'dump',
    problem: 'not recognised',
    found: files.join(', '),
    expected: DUMP_FORMATS.map(f => f.name).join(', '),
    place: { file: folder }
  })
}
