/** The formats of dumps: one line each. A file is recognised by its content, and its name plays no part. */
import type { ByteSource } from '../../core/byte-source.js'
import { Fault } from '../../core/errors.js'
import { openStill } from '../../core/still-file.js'
import type { SampleKeys } from '../../schema/sample-keys.js'
import type { Dump, DumpOptions } from './contract.js'
import { damageOf } from './damage.js'
import { openPart, type FilePlan, type OpenPart } from './files.js'
import { JSON_LINES_DUMP } from './json-lines.js'
import { NPZ_DUMP } from './npz.js'
import { PARQUET_DUMP } from './parquet.js'
import type { DumpFormat } from './part.js'
import { readAhead } from './read-ahead.js'
import { groupByStep, planRollout, signatureOfTokens, type Rollout } from './rollout.js'
import { SAFETENSORS_DUMP } from './safetensors.js'
import { Series, type SeriesFiles } from './series.js'
import { TORCH_DUMP } from './torch.js'

/** In the order of asking. `.pt` and NPZ are both ZIP archives; the first looks at fewer bytes. */
const DUMP_FORMATS: readonly DumpFormat[] = [TORCH_DUMP, NPZ_DUMP, PARQUET_DUMP, SAFETENSORS_DUMP, JSON_LINES_DUMP]

const HEAD_BYTES = 4096
/** Up to so many files stay open, with their tables of contents, from the plan to the last sample. */
const KEPT_OPEN = 8

/** The format of a file; null: none of them. */
export async function recogniseDump(path: string): Promise<DumpFormat | null> {
  const file = await openStill(path)
  try {
    return await formatOf(readAhead(file))
  } finally {
    await file.close()
  }
}

/** Why a file that no format recognises is a damaged dump; null: it is a file of another kind. */
export async function damageOfDump(path: string): Promise<Fault | null> {
  const file = await openStill(path)
  try {
    return await damageOf(readAhead(file), path)
  } finally {
    await file.close()
  }
}

/**
 * The step that a dump states for all of its rows, else that of its name; null: neither says one.
 *
 * @throws Fault where the file cannot be read as a dump
 */
export async function stepOfDump(folder: string, name: string, keys: SampleKeys): Promise<number | null> {
  const opened = await openPart(folder, name, source => knownFormatOf(source, name), keys)
  await opened.close()
  return opened.plan.step
}

async function knownFormatOf(source: ByteSource, name: string): Promise<DumpFormat> {
  const found = await formatOf(source)
  if (found === null) throw (await damageOf(source, name)) ?? notRecognised(name)
  return found
}

async function formatOf(source: ByteSource): Promise<DumpFormat | null> {
  const head = await source.slice(0, Math.min(HEAD_BYTES, source.size))
  for (const format of DUMP_FORMATS) if (await format.recognises(head, source)) return format
  return null
}

/**
 * Opens a dump: one file, the ranks of a rollout, the steps of a series. Every file's table of contents is read here, and rows
 * when the samples are read.
 *
 * @throws Fault where a file is of no format, or the files are of several
 */
export async function openDump(folder: string, files: readonly string[], options: DumpOptions): Promise<Dump> {
  const keep = files.length <= KEPT_OPEN
  const kept = new Map<string, OpenPart>()
  const counts = new Map<string, (bytes: number) => void>()
  let format: DumpFormat | null = null
  const sameFormat =
    (name: string) =>
    async (source: ByteSource): Promise<DumpFormat> => {
      const found = await knownFormatOf(source, name)
      if (format !== null && found !== format) throw twoFormats(name, found, format)
      format = found
      return found
    }
  const open = (name: string): Promise<OpenPart> =>
    openPart(folder, name, sameFormat(name), options.keys, bytes => counts.get(name)?.(bytes))
  try {
    const plans: FilePlan[] = []
    for (const name of files) {
      options.signal?.throwIfAborted()
      const part = await open(name)
      plans.push(part.plan)
      if (keep) kept.set(name, part)
      else await part.close()
    }
    const signatureOf = async ({ name }: FilePlan): Promise<string | null> => {
      const part = kept.get(name) ?? (await open(name))
      try {
        return await signatureOfTokens(part)
      } finally {
        if (!kept.has(name)) await part.close()
      }
    }
    const rollouts: Rollout[] = []
    for (const group of groupByStep(plans)) rollouts.push(await planRollout(group, signatureOf))
    const from: SeriesFiles = {
      async open({ name }, onBytes) {
        counts.set(name, onBytes)
        const part = kept.get(name) ?? (await open(name))
        kept.delete(name)
        return part
      },
      close: () => closeAll(kept)
    }
    return new Series(rollouts, from, options)
  } catch (error) {
    await closeAll(kept)
    throw error
  }
}

async function closeAll(parts: Map<string, OpenPart>): Promise<void> {
  for (const [name, part] of [...parts]) {
    parts.delete(name)
    await part.close()
  }
}

function notRecognised(file: string): Fault {
  const expected = 'a .pt, .npz or .safetensors file, JSON Lines or Parquet with lists of numbers'
  return new Fault({ format: 'dump', problem: 'not recognised', found: 'content of another format', expected, place: { file } })
}

function twoFormats(file: string, found: DumpFormat, format: DumpFormat): Fault {
  return new Fault({
    format: 'dump',
    problem: 'several formats',
    found: found.name,
    expected: `${format.name}, as the files before it`,
    place: { file }
  })
}
