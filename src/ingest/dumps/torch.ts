/**
 * Files of `torch.save`: slime's dumps of a rollout, in both versions; a dictionary of [B, T] tensors; a dictionary of lists over
 * samples; a list of samples.
 */
import { Fault } from '../../core/errors.js'
import { shapeText } from '../npz/encode.js'
import { readTorch, recogniseTorch, type TorchValue } from '../torch/torch.js'
import { isTensor, Opaque } from '../tensors/tensor.js'
import { SAMPLE_ARRAYS } from '../../schema/samples.js'
import type { SampleKeys } from '../../schema/sample-keys.js'
import { openPadded } from './padded.js'
import type { DumpFormat } from './part.js'
import { openRecords, type StoredRollout } from './slime.js'
import type { ArrayTable, TableColumn, TableEntry } from './table.js'
import { tensorEntry, tooRepeated } from './tensor-table.js'

type TorchMap = ReadonlyMap<TorchValue, TorchValue>

export const TORCH_DUMP: DumpFormat = {
  name: 'torch',
  recognises: async (_head, source) => (await recogniseTorch(source)) !== null,
  async open({ name: file, source }, keys) {
    const tree = await readTorch(source, { file })
    const rollout = rolloutOf(tree, keys)
    if (rollout !== null) return openRecords(rollout, file, keys)
    if (isMap(tree)) return openPadded(tableOf(tree, file), keys)
    if (tree instanceof Opaque) throw tree.fault({ file })
    const found = isTensor(tree) ? 'a tensor' : Array.isArray(tree) ? 'a list' : tree === null ? 'None' : `a ${typeof tree}`
    throw new Fault({ format: 'torch', problem: 'no dump', found, expected: 'a dictionary, or a list of dictionaries', place: { file } })
  }
}

function isMap(value: TorchValue | undefined): value is TorchMap {
  return value instanceof Map
}

function isList(value: TorchValue | undefined): value is readonly TorchValue[] {
  return Array.isArray(value)
}

/** The samples of a file that has them one by one; null: it has not. */
function rolloutOf(tree: TorchValue, keys: SampleKeys): StoredRollout | null {
  if (isList(tree)) return tree.length > 0 && tree.every(isMap) ? rowsOf('one dictionary a sample', tree, null) : null
  if (!isMap(tree)) return null
  const samples = tree.get('samples')
  if (isList(samples) && samples.every(isMap)) {
    const version = tree.get('format_version')
    return rowsOf(typeof version === 'number' ? `slime debug dump, version ${version}` : 'one dictionary a sample', samples, tree)
  }
  const data = tree.get('rollout_data')
  if (isMap(data)) return columnsOf('slime debug dump, before version 2', data, tree)
  return hasLists(tree, keys) ? columnsOf('lists over samples', tree, tree) : null
}

function rowsOf(kind: string, samples: readonly TorchMap[], top: TorchMap | null): StoredRollout {
  const names = namesOf(samples[0])
  return { kind, rows: samples.length, names, uneven: new Map(), scalars: new Set(), top, get: (row, name) => samples[row].get(name) }
}

function columnsOf(kind: string, data: TorchMap, top: TorchMap): StoredRollout {
  const names = namesOf(data)
  const counted = ['response_lengths', 'tokens', 'loss_masks', ...names].map(name => data.get(name)).find(isList)
  const rows = counted?.length ?? 0
  // raw_reward is of the whole rollout, in the order of the rollout, even where it has as many numbers.
  const isColumn = (name: TorchValue): boolean => lengthOf(data.get(name)) === rows && name !== 'raw_reward'
  return {
    kind,
    rows,
    names: names.filter(isColumn),
    uneven: new Map(names.flatMap(name => unevenLength(name, data.get(name), rows))),
    scalars: new Set(names.filter(name => isTensor(data.get(name)))),
    top: data === top ? top : new Map([...top, ...[...data].filter(([name]) => !isColumn(name))]),
    get: (row, name) => elementOf(data.get(name), row)
  }
}

/**
 * Whether a dictionary holds a list of one-dimensional tensors or of lists: tokens of one sample each. Beside a batch of tokens such
 * a list is something else, as messages.
 */
function hasLists(tree: TorchMap, keys: SampleKeys): boolean {
  const isBatch = (value: TorchValue | undefined): boolean => isTensor(value) && value.shape.length === 2
  if (SAMPLE_ARRAYS.some(key => keys[key].some(name => isBatch(tree.get(name))))) return false
  return [...tree.values()].some(value => isList(value) && value.length > 0 && value.every(item => isSequence(item)))
}

function isSequence(value: TorchValue): boolean {
  return isTensor(value) ? value.shape.length === 1 : isList(value)
}

function lengthOf(value: TorchValue | undefined): number | null {
  if (isList(value)) return value.length
  return isTensor(value) && value.shape.length === 1 ? value.shape[0] : null
}

/** The name with the number of values that stand under it, where these are not one a sample. raw_reward is of the whole rollout. */
function unevenLength(name: string, value: TorchValue | undefined, rows: number): [string, string][] {
  const shape = isTensor(value) ? value.shape : isList(value) ? [value.length] : []
  if (name === 'raw_reward' || shape.length === 0 || (shape.length === 1 && shape[0] === rows)) return []
  return [[name, shape.length === 1 ? (shape[0] === 1 ? '1 value' : `${shape[0]} values`) : `a tensor of shape ${shapeText(shape)}`]]
}

function elementOf(value: TorchValue | undefined, row: number): TorchValue | undefined {
  if (isList(value)) return value[row]
  return isTensor(value) ? value.rows(row, row + 1) : undefined
}

function namesOf(map: TorchMap | undefined): string[] {
  return [...(map?.keys() ?? [])].filter(name => typeof name === 'string')
}

function tableOf(tree: TorchMap, file: string): ArrayTable {
  const entries = new Map<string, TableEntry>()
  const refused = new Map<string, Fault>()
  for (const [name, value] of tree) {
    if (typeof name !== 'string') continue
    if (value instanceof Opaque) refused.set(name, value.fault({ file, array: name }))
    else if (isTensor(value)) {
      const fault = tooRepeated(value, 'torch', { file, array: name })
      if (fault === null) entries.set(name, tensorEntry(value))
      else refused.set(name, fault)
    } else {
      const column = isList(value) ? value : [value]
      const unread = column.find(item => item instanceof Opaque)
      if (unread !== undefined) refused.set(name, unread.fault({ file, array: name }))
      if (column.every(isScalar)) entries.set(name, columnEntry(column.map(x => (typeof x === 'bigint' ? Number(x) : x))))
    }
  }
  return { format: 'torch', place: { file }, entries, refused }
}

function isScalar(value: TorchValue): value is string | number | boolean | bigint | null {
  return value === null || ['string', 'number', 'boolean', 'bigint'].includes(typeof value)
}

function columnEntry(column: TableColumn): TableEntry {
  return { array: null, columnLength: column.length, column: async () => column }
}
