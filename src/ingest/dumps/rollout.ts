/**
 * The files of one rollout. Ranks share its samples, and some ranks hold the same ones: tensor parallelism and pipelines do so.
 * A sample is taken once, from the file that holds most arrays of it.
 */
import { createHash } from 'node:crypto'
import { Fault, printable } from '../../core/errors.js'
import type { FilePlan, OpenPart } from './files.js'
import type { RowOrder } from './part.js'

/** Note on a list of scores that is not used. */
export const UNKNOWN_ORDER = 'raw_reward is a list over the whole rollout, and the samples do not say their places in it: it is not used'

/** A row of one of the files. */
interface RowOfFile {
  readonly file: number
  readonly row: number
}

/** A sample, and the rows of other files that hold it too. */
export interface RolloutRow extends RowOfFile {
  readonly copies: readonly RowOfFile[]
}

export interface Rollout {
  readonly step: number | null
  readonly files: readonly FilePlan[]
  /** the rows in canonical order; null: those of each file in turn */
  readonly rows: readonly RolloutRow[] | null
  /** files that hold nothing but samples of other files */
  readonly repeats: readonly FilePlan[]
  /** whether lists of scores over the rollout are read by the samples' indexes; null: there are none that would be */
  readonly scoresByIndex: boolean | null
}

/** Files by step, in the order of the steps. Files without a step stand alone, behind the others, in the given order. */
export function groupByStep(files: readonly FilePlan[]): FilePlan[][] {
  const groups = new Map<number, FilePlan[]>()
  const alone: FilePlan[][] = []
  for (const file of files) {
    const group = file.step === null ? undefined : groups.get(file.step)
    if (file.step === null) alone.push([file])
    else if (group === undefined) groups.set(file.step, [file])
    else group.push(file)
  }
  const ordered = [...groups].sort(([a], [b]) => a - b).map(([, group]) => group.sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0)))
  return [...ordered, ...alone]
}

/** @param signatureOf tells of files without places whether they hold the same samples; null: unknown */
export async function planRollout(files: readonly FilePlan[], signatureOf: (file: FilePlan) => Promise<string | null>): Promise<Rollout> {
  const { step } = files[0]
  const orders = files.map(({ order }) => order)
  if (orders.some(order => order === null)) return { step, files, rows: null, repeats: [], scoresByIndex: null }
  refuseSameRank(files)
  const entries = orders.flatMap((order, file) => (order ?? []).map((at, row) => ({ file, row, at })))
  const place = placeOf(entries.map(({ at }) => at))
  const kept = place === null ? await withoutRepeatedFiles(files, entries, signatureOf) : withoutRepeats(files, entries, place)
  const used = new Set(kept.map(({ file }) => file))
  const rankOf = ({ file, at }: PlacedEntry): number => at.rank ?? files[file].rank ?? file
  const compare = (a: PlacedEntry, b: PlacedEntry): number =>
    (place === null ? rankOf(a) - rankOf(b) : place(a.at) - place(b.at)) || a.file - b.file || a.row - b.row
  const rows = kept.toSorted(compare).map(({ file, row, copies }) => ({ file, row, copies }))
  return { step, files, rows, scoresByIndex: readsByIndex(files), repeats: files.filter(({ rows: n }, file) => !used.has(file) && n !== 0) }
}

/** Whether the indexes of all samples are 0 to N - 1 for lists of N scores. Indexes that count on from an earlier rollout are not. */
function readsByIndex(files: readonly FilePlan[]): boolean | null {
  const totals = new Set(files.map(({ scoresByIndex }) => scoresByIndex))
  if (totals.size === 1 && totals.has(null)) return null
  const [total] = totals
  const indexes = new Set(files.flatMap(({ order }) => (order ?? []).map(({ index }) => index)))
  return totals.size === 1 && total !== null && indexes.size === total && [...indexes].every(at => at !== null && at < total)
}

/** Two files of one rank are not parts of one rollout: they would be of two runs. */
function refuseSameRank(files: readonly FilePlan[]): void {
  const names = new Map<number, string>()
  for (const { rank, name, format, step } of files) {
    if (rank === null) continue
    const other = names.get(rank)
    if (other !== undefined) {
      const found = `rank ${rank} of step ${step} in ${printable(other)} too`
      throw new Fault({ format, problem: 'stated twice', found, expected: 'one file for each rank and step', place: { file: name } })
    }
    names.set(rank, name)
  }
}

interface PlacedEntry extends RowOfFile {
  readonly at: RowOrder
}

interface KeptEntry extends PlacedEntry, RolloutRow {}

type PlaceInRollout = (at: RowOrder) => number

/** The place that every sample states; null: not all do. */
function placeOf(orders: readonly RowOrder[]): PlaceInRollout | null {
  if (orders.every(({ position }) => position !== null)) return ({ position }) => position ?? 0
  return orders.every(({ index }) => index !== null) ? ({ index }) => index ?? 0 : null
}

/** A place belongs to one file: the one with most arrays, the first of several. Within a file it may stand more than once. */
function withoutRepeats(files: readonly FilePlan[], entries: readonly PlacedEntry[], place: PlaceInRollout): KeptEntry[] {
  const owner = new Map<number, number>()
  const held = new Map<number, Map<number, PlacedEntry[]>>()
  for (const entry of entries) {
    const { file } = entry
    const at = place(entry.at)
    const other = owner.get(at)
    if (other === undefined || files[file].arrays.size > files[other].arrays.size) owner.set(at, file)
    const byFile = held.get(at) ?? new Map<number, PlacedEntry[]>()
    const list = byFile.get(file)
    if (list === undefined) byFile.set(file, [entry])
    else list.push(entry)
    held.set(at, byFile)
  }
  return [...held].flatMap(([at, byFile]) => {
    const file = owner.get(at) ?? 0
    const kept = byFile.get(file) ?? []
    const others = [...byFile.values()].filter(list => list !== kept)
    const odd = others.find(list => list.length !== kept.length)
    if (odd !== undefined) throw oddCopies(files, at, kept, odd)
    return kept.map((entry, i) => ({ ...entry, copies: others.map(list => list[i]) }))
  })
}

function oddCopies(files: readonly FilePlan[], at: number, kept: readonly PlacedEntry[], odd: readonly PlacedEntry[]): Fault {
  const [first, other] = [files[kept[0].file], files[odd[0].file]]
  const found = `${odd.length} samples of place ${at} in the rollout`
  const expected = `${kept.length}, as in ${printable(first.name)}`
  return new Fault({ format: other.format, problem: 'copies differ', found, expected, place: { file: other.name } })
}

async function withoutRepeatedFiles(
  files: readonly FilePlan[],
  entries: readonly PlacedEntry[],
  signatureOf: (file: FilePlan) => Promise<string | null>
): Promise<KeptEntry[]> {
  if (files.length === 1) return entries.map(entry => ({ ...entry, copies: [] }))
  const owner = new Map<string, number>()
  const signatures: (string | null)[] = []
  for (const [index, file] of files.entries()) {
    const signature = await signatureOf(file)
    signatures.push(signature)
    if (signature === null) continue
    const other = owner.get(signature)
    if (other === undefined || file.arrays.size > files[other].arrays.size) owner.set(signature, index)
  }
  const isOwner = (file: number): boolean => {
    const signature = signatures[file]
    return signature === null || owner.get(signature) === file
  }
  const copiesOf = (file: number): number[] =>
    signatures[file] === null ? [] : [...signatures.keys()].filter(other => other !== file && signatures[other] === signatures[file])
  return entries
    .filter(({ file }) => isOwner(file))
    .map(entry => ({ ...entry, copies: copiesOf(entry.file).map(file => ({ file, row: entry.row })) }))
}

/** Hash of the token ids of all samples: two files with the same hold the same samples. Null where there are no ids. */
export async function signatureOfTokens({ part }: OpenPart): Promise<string | null> {
  const { row, rows } = part
  if (row === null || rows === null || !part.hasTokenIds) return null
  const hash = createHash('sha256')
  try {
    for (let i = 0; i < rows; i++) {
      const { tokenIds } = (await row(i, { arrays: new Set(), tokenIds: true })).read()
      if (tokenIds === null) return null
      hash.update(`${tokenIds.data.length};`)
      hash.update(new Uint8Array(tokenIds.data.buffer, tokenIds.data.byteOffset, tokenIds.data.byteLength))
    }
  } catch (error) {
    // The fault is reported when the row itself is read.
    if (error instanceof Fault) return null
    throw error
  }
  return hash.digest('hex')
}
