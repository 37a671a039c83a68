/**
 * Files that begin like a dump, or are named like one, and cannot be read: cut or empty files. Without this, one of them would
 * vanish from its folder, and a series would have a step less without a word.
 */
import type { ByteSource } from '../../core/byte-source.js'
import { Fault } from '../../core/errors.js'
import { openNpzFile } from '../npz/npz-file.js'
import { readFooter } from '../parquet/footer.js'
import { readSafetensors, statesHeader } from '../safetensors/safetensors.js'
import { isArchive, openArchive } from '../torch/archive.js'
import { PARQUET_MAGIC, ZIP_MAGIC } from './magic.js'

/** Most bytes of a first line of JSON that are looked at. */
const MAX_LINE = 2 ** 24

/**
 * Why a file that no format recognises is a damaged dump; null: it is a file of another kind.
 *
 * @param file name, whose ending says what it should be where its beginning does not
 */
export async function damageOf(source: ByteSource, file: string): Promise<Fault | null> {
  const ending = /\.(npz|pt|pth|safetensors|jsonl|parquet)$/i.exec(file)?.[1].toLowerCase()
  const place = { file }
  const head = await source.slice(0, Math.min(16, source.size))
  const begins = (magic: readonly number[]): boolean => magic.every((byte, i) => head[i] === byte)
  if (begins(ZIP_MAGIC)) {
    const isTorchName = ending === 'pt' || ending === 'pth'
    return faultOf(async () => {
      const { names } = await openArchive(source, place)
      if (isTorchName && !isArchive(names)) throw unlike('torch', 'a ZIP archive without a pickle', 'a member <prefix>/data.pkl', file)
      if (ending === 'npz')
        for (const header of (await openNpzFile(source, file)).headers.values()) if (header instanceof Fault) throw header
    })
  }
  if (begins(PARQUET_MAGIC)) return (await faultOf(() => readFooter(source)))?.at(place) ?? null
  if (statesHeader(head)) return faultOf(() => readSafetensors(source, place))
  if (ending === undefined) return null
  const format = ending === 'pth' || ending === 'pt' ? 'torch' : ending
  if (source.size === 0) return new Fault({ format, problem: 'truncated', found: '0 bytes', expected: 'a dump', place })
  if (ending === 'jsonl') return firstLine(source, file)
  const found = `bytes ${Buffer.from(head.subarray(0, 8)).toString('hex')} at the beginning`
  return unlike(format, found, `those of a .${ending} file`, file)
}

function unlike(format: string, found: string, expected: string, file: string): Fault {
  return new Fault({ format, problem: 'not recognised', found, expected, place: { file } })
}

async function faultOf(read: () => Promise<unknown>): Promise<Fault | null> {
  try {
    await read()
    return null
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

/** JSON without a list of numbers is another file, as a log of metrics. What is no JSON is damaged. */
async function firstLine(source: ByteSource, file: string): Promise<Fault | null> {
  const bytes = Buffer.from(await source.slice(0, Math.min(MAX_LINE, source.size)))
  const end = bytes.indexOf(0x0a)
  if (end < 0 && source.size > MAX_LINE) return null
  try {
    JSON.parse(bytes.toString('utf8', 0, end < 0 ? bytes.length : end).replace(/^\ufeff/, ''))
    return null
  } catch {
    const expected = 'one object a line'
    return new Fault({ format: 'jsonl', problem: 'malformed', found: 'a first line that is no JSON', expected, place: { file, line: 1 } })
  }
}
