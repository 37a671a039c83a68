/**
 * Rollouts as slime and its kin dump them: a dictionary for each sample (version 2), or lists over the samples, a file a rank
 * (before). Mask, values and returns have as many numbers as the response has tokens; `tokens` holds the prompt too.
 *
 * `raw_reward` is a list over the whole rollout, also in the file of one rank. Its order is that of the rollout, so a sample finds
 * its own by its place there; else by its index, where those of all ranks are 0 to N - 1 for N scores; else, where the file has N
 * samples and says nothing of their order, by that of the file.
 */
import { Fault, type Place } from '../../core/errors.js'
import type { SampleArray } from '../../schema/samples.js'
import { SAMPLE_KEY_NAMES, type SampleKeys } from '../../schema/sample-keys.js'
import { isTensor, Opaque, type Tensor, type TensorNumbers } from '../tensors/tensor.js'
import type { TorchValue } from '../torch/torch.js'
import { rowFault, type RowContext } from './fields.js'
import type { DumpPart, FieldOfRow, PlacedRow, RowOrder, Wanted } from './part.js'
import {
  tokenArraysOf,
  checkFound,
  endWords,
  findNames,
  isList,
  nearNotes,
  rowOfRecord,
  type FoundNames,
  type RecordValue
} from './records.js'
import { UNKNOWN_ORDER } from './rollout.js'
import { widthOf } from './tensor-table.js'

/** Samples of a file, by number and name. */
export interface StoredRollout {
  readonly kind: string
  readonly rows: number
  /** names that the samples have */
  readonly names: readonly string[]
  /** lists that are not one value a sample, by name: what stands there, in words */
  readonly uneven: ReadonlyMap<string, string>
  /** names that have one value a sample, although the value may come as a tensor of one axis */
  readonly scalars: ReadonlySet<string>
  /** what stands beside the samples; null: nothing */
  readonly top: ReadonlyMap<TorchValue, TorchValue> | null
  get(row: number, name: string): TorchValue | undefined
}

export function openRecords(rollout: StoredRollout, file: string, keys: SampleKeys): DumpPart {
  const { rows, names, top } = rollout
  const place = { file }
  const isScore = (name: string): boolean => name === 'raw_reward' && top?.has(name) === true
  const found = findNames(keys, (name, kind) => {
    const value = rows === 0 || !names.includes(name) ? undefined : rollout.get(0, name)
    return kind === 'list' ? isNumberList(value) && !rollout.scalars.has(name) : isScalarValue(value) || isScore(name)
  })
  refuseUneven(rollout, keys, place)
  for (const key of ['response_mask', 'attention_mask'] as const) {
    const name = found.has(key) ? undefined : keys[key].find(other => rows > 0 && isNumber(rollout.get(0, other)))
    if (name === undefined || !names.includes(name)) continue
    throw new Fault({
      format: 'torch',
      problem: `wrong ${key}`,
      found: 'one value a sample',
      expected: 'a list of numbers a sample',
      place: { ...place, array: name }
    })
  }
  checkFound(found, keys, names, 'torch', place)
  const scores = rewardsOf(rollout, found)
  const without = found.get('score') === 'raw_reward' && !names.includes('raw_reward') ? withoutScore(found, rollout, keys) : found
  const named = scores === null ? without : found
  const samples = new Samples(rollout, named, without, scores, file)
  return {
    format: 'torch',
    kind: rollout.kind,
    mask: named.get('response_mask') ?? null,
    end: endWords(named, false),
    notes: [
      ...nearNotes(named, keys, names, name => (rows > 0 && rollout.get(0, name) === null ? 'None' : null)),
      ...unreadNotes(rollout, named, keys, place),
      ...(named === found ? [] : [UNKNOWN_ORDER])
    ],
    rules: { padded: false, exact: true },
    step: integerAt(top, keys.step),
    rank: integerAt(top, ['rank']),
    rows,
    arrays: samples.widths(),
    hasTokenIds: named.has('token_ids'),
    order: samples.order(),
    scoresByIndex: scores?.byIndex === true ? scores.total : null,
    row: (index, wanted) => samples.row(index, wanted),
    async *all(wanted) {
      for (let index = 0; index < rows; index++) yield await samples.row(index, wanted)
    }
  }
}

/** @throws Fault for a list under a known name of another length than the samples: a mask that is passed over masks nothing */
function refuseUneven({ uneven, rows }: StoredRollout, keys: SampleKeys, place: Place): void {
  for (const key of SAMPLE_KEY_NAMES) {
    for (const name of keys[key]) {
      const found = uneven.get(name)
      if (found === undefined) continue
      const expected = `${rows}, one for each sample`
      throw new Fault({ format: 'torch', problem: 'lengths differ', found, expected, place: { ...place, array: name } })
    }
  }
}

/** Fields that are missing because their value in the first sample is of a class that is not read. */
function unreadNotes(rollout: StoredRollout, found: FoundNames, keys: SampleKeys, place: Place): string[] {
  return SAMPLE_KEY_NAMES.flatMap(key => {
    if (found.has(key) || rollout.rows === 0) return []
    return keys[key].flatMap(name => {
      const value = rollout.get(0, name)
      return value instanceof Opaque ? [`not read: ${value.fault({ ...place, array: name }).message}`] : []
    })
  })
}

/** The names with another one for the score. */
function withoutScore(found: FoundNames, rollout: StoredRollout, keys: SampleKeys): FoundNames {
  const other = keys.score.find(name => name !== 'raw_reward' && rollout.names.includes(name) && isScalarValue(rollout.get(0, name)))
  const names = new Map(found)
  names.delete('score')
  return other === undefined ? names : names.set('score', other)
}

interface ListedScores {
  /** by row of the file */
  readonly values: readonly TorchValue[]
  /** scores in the whole list */
  readonly total: number
  /** true: only the indexes of all ranks tell whether this is their order */
  readonly byIndex: boolean
}

/** The score of each sample from a list over the rollout; null: there is none, or its order is unknown. */
function rewardsOf(rollout: StoredRollout, found: FoundNames): ListedScores | null {
  const rewards = rollout.top?.get('raw_reward')
  if (!Array.isArray(rewards) || found.get('score') !== 'raw_reward' || rollout.names.includes('raw_reward')) return null
  const list: readonly TorchValue[] = rewards
  const total = list.length
  for (const key of ['rollout_position', 'sample_index'] as const) {
    const name = found.get(key)
    if (name === undefined) continue
    const places = Array.from({ length: rollout.rows }, (_, row) => integerOf(rollout.get(row, name)))
    if (places.some(at => at === null || at >= total)) return null
    return { values: places.map(at => list[at ?? 0]), total, byIndex: key === 'sample_index' }
  }
  return total === rollout.rows ? { values: list, total, byIndex: false } : null
}

class Samples {
  readonly #rollout: StoredRollout
  readonly #found: FoundNames
  /** the names where the listed scores are not used */
  readonly #without: FoundNames
  readonly #scores: ListedScores | null
  readonly #file: string

  constructor(rollout: StoredRollout, found: FoundNames, without: FoundNames, scores: ListedScores | null, file: string) {
    this.#rollout = rollout
    this.#found = found
    this.#without = without
    this.#scores = scores
    this.#file = file
  }

  widths(): ReadonlyMap<SampleArray, 'float32' | 'float64'> {
    return new Map(
      tokenArraysOf(this.#found).map(key => {
        const name = this.#found.get(key) ?? ''
        for (let row = 0; row < this.#rollout.rows; row++) {
          const value = this.#rollout.get(row, name)
          if (!isTensor(value) || widthOf(value.dtype) === 'float64') return [key, 'float64']
        }
        return [key, 'float32']
      })
    )
  }

  order(): readonly RowOrder[] {
    const at = (row: number, key: 'rollout_position' | 'sample_index'): number | null => {
      const name = this.#found.get(key)
      return name === undefined ? null : integerOf(this.#rollout.get(row, name))
    }
    return Array.from({ length: this.#rollout.rows }, (_, row) => ({
      position: at(row, 'rollout_position'),
      index: at(row, 'sample_index'),
      rank: integerOf(this.#rollout.get(row, 'data_parallel_rank'))
    }))
  }

  /** Reads the tensors that are needed; what is wrong with the row is told by `read`. */
  async row(index: number, wanted: Wanted): Promise<PlacedRow> {
    const place: Place = { file: this.#file, trace: index }
    const scores = this.#scores?.byIndex === true && wanted.scoresByIndex !== true ? null : this.#scores
    const names = scores === this.#scores ? this.#found : this.#without
    const needed = neededArrays(names, wanted)
    const values = new Map<string, RecordValue>()
    const tensors: Promise<void>[] = []
    const plain = new Map<string, () => RecordValue>()
    for (const [key, name] of names) {
      const isNeeded = isList(key) ? needed.has(key as SampleArray) || !tokenArraysOf(names).includes(key as SampleArray) : true
      if (!isNeeded || (key === 'token_ids' && !wanted.tokenIds)) continue
      const value = this.#rollout.get(index, name)
      if (isTensor(value)) tensors.push(readTensor(value, isList(key)).then(data => void values.set(name, data)))
      else plain.set(name, () => plainValue(value, isList(key), { format: 'torch', place: { ...place, array: name } }))
    }
    await Promise.all(tensors)
    const found = wanted.tokenIds ? names : withoutIds(names)
    return {
      place,
      read: () => {
        const row = rowOfRecord({ get: name => values.get(name) ?? plain.get(name)?.() }, found, needed, { format: 'torch', place })
        const rank = integerOf(this.#rollout.get(index, 'data_parallel_rank'))
        return { ...row, score: scores === null ? row.score : listedScore(scores.values[index]), rank }
      }
    }
  }
}

function listedScore(value: TorchValue): FieldOfRow {
  return { name: 'raw_reward', value: isScalarValue(value) && !isTensor(value) ? value : null }
}

function neededArrays(names: FoundNames, { arrays }: Wanted): ReadonlySet<SampleArray> {
  const known = tokenArraysOf(names)
  const needed = new Set(known.filter(key => arrays.has(key) || (key === 'token_rewards' && !names.has('score'))))
  return needed.size === 0 ? new Set(known.slice(0, 1)) : needed
}

function withoutIds(found: FoundNames): FoundNames {
  return new Map([...found].filter(([key]) => key !== 'token_ids'))
}

function isNumberList(value: TorchValue | undefined): boolean {
  if (isTensor(value)) return value.shape.length === 1
  return Array.isArray(value) && value.every(x => typeof x === 'number' || typeof x === 'boolean')
}

function isNumber(value: TorchValue | undefined): boolean {
  return typeof value === 'number' || typeof value === 'boolean'
}

function isScalarValue(value: TorchValue | undefined): value is number | string | boolean | bigint | null | Tensor {
  if (isTensor(value)) return value.length === 1
  return value === null || ['number', 'string', 'boolean', 'bigint'].includes(typeof value)
}

async function readTensor(tensor: Tensor, asList: boolean): Promise<RecordValue> {
  const data = await tensor.readNumbers()
  return !asList && data.length === 1 ? data[0] : data
}

/** A value that is no tensor. What is neither a number nor a list of numbers is left to the row, which says where it stands. */
function plainValue(value: TorchValue | undefined, asList: boolean, context: RowContext): RecordValue {
  if (value === undefined || value === null) return value
  if (value instanceof Opaque) throw value.fault(context.place)
  if (Array.isArray(value)) return numbersOf(value, context)
  if (isScalarValue(value) && !isTensor(value)) return asList ? String(value) : value
  throw rowFault(context, 'wrong value', 'a dictionary or bytes', 'numbers')
}

function numbersOf(list: readonly TorchValue[], context: RowContext): TensorNumbers {
  const numbers = new Float64Array(list.length)
  for (let i = 0; i < list.length; i++) {
    const x = list[i]
    if (typeof x !== 'number' && typeof x !== 'boolean') throw rowFault(context, 'wrong value', typeof x, 'a list of numbers', { index: i })
    numbers[i] = Number(x)
  }
  return numbers
}

function integerAt(map: ReadonlyMap<TorchValue, TorchValue> | null, names: readonly string[]): number | null {
  for (const name of names) {
    const value = integerOf(map?.get(name))
    if (value !== null) return value
  }
  return null
}

function integerOf(value: TorchValue | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}
