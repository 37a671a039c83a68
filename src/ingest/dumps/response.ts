/**
 * A sample of a stored row: which of its tokens are the response, which of them the policy generated, and its fields.
 *
 * Arrays have T numbers. They are the response, perhaps padded; or, where the row states the length of prompt and response
 * together and the arrays are that long, prompt and response. Mask, attention mask and token ids may have more than T
 * numbers: the last T belong to the arrays.
 *
 * Where nothing but the attention mask is stated, a token that it does not attend is padding, on either side.
 *
 * The response ends where the attention mask says; else where its length says; else, in a padded batch, behind the last
 * column in which any array is not 0.
 */
import type { LeftOut, Sample, SampleArray, SampleNumbers } from '../../schema/samples.js'
import type { TensorNumbers } from '../tensors/tensor.js'
import { flagField, integerField, outcomeField, rowFault, scoreField, uidField, type RowContext } from './fields.js'
import { endOfNonZero, NO_TRAINED_TOKEN, ONLY_PADDING, readMask } from './mask.js'
import type { GrowingFindings } from './findings.js'
import type { EndRules, NamedNumbers, RawRow, Wanted } from './part.js'
import { expand } from './positions.js'

/** Most tokens of a row. No response has so many, and a few bytes of a deflated archive may state any number. */
export const MAX_TOKENS = 2 ** 24

interface RowTask extends RowContext {
  readonly index: number
  readonly rules: EndRules
  readonly wanted: Wanted
  /** step of the file, for rows that state none */
  readonly step: number | null
  readonly findings: GrowingFindings
}

/** @throws Fault for a row that is wrong */
export function sampleOf(row: RawRow, task: RowTask): Sample | LeftOut {
  const { index, place, wanted, findings } = task
  const { start, end, mask } = responseOf(row, task)
  if (!mask.includes(1)) return { index, place, reason: row.mask === null ? ONLY_PADDING : NO_TRAINED_TOKEN }
  const fields = {
    step: integerField(task, 'step', row.step) ?? task.step,
    outcome: outcomeField(task, row.outcome),
    score: scoreField(task, row.score) ?? summedScore(row, start, end, task, findings),
    uid: uidField(task, row.uid),
    truncated: flagField(task, 'truncated', row.truncated),
    rank: row.rank
  }
  const arrays = new Map<SampleArray, SampleNumbers>()
  for (const [key, { data }] of row.arrays) {
    if (wanted.arrays.has(key)) arrays.set(key, asSampleNumbers(data.subarray(start, end)))
  }
  const tokenIds = wanted.tokenIds && row.tokenIds !== null ? idsOf(row, row.tokenIds, start, end, task) : null
  const sample = { index, place, fields, mask, arrays: Object.fromEntries(arrays), tokenIds }
  return row.positions === null ? sample : expand(sample, row.positions, start, end, task)
}

interface Response {
  /** the response in the arrays, from its first to behind its last token */
  readonly start: number
  readonly end: number
  /** of the response alone */
  readonly mask: Uint8Array
}

function responseOf(row: RawRow, task: RowTask): Response {
  const length = arrayLength(row, task)
  const stated = integerField(task, 'response length', row.responseLength)
  const total = integerField(task, 'total length', row.totalLength)
  const trained = new Uint8Array(length).fill(1)
  if (row.mask !== null) readBits(row.mask, trained, task)
  const attended = row.attention === null ? null : readBits(row.attention, new Uint8Array(length), task)
  if (attended !== null && row.mask === null) trained.set(attended)
  const whole = total !== null && total <= length && (row.tokenIds === null || row.tokenIds.data.length === length) ? total : null
  const prompt = whole !== null && whole !== stated ? promptLength(trained, whole, stated, task) : 0
  const end = prompt > 0 && whole !== null ? whole : endOf(row, trained, attended, stated ?? whole, task)
  if (end === prompt && !isPadding(row, stated, task)) throw rowFault(task, 'empty response', '0 tokens', 'at least one')
  const behind = row.mask === null ? -1 : trained.indexOf(1, end)
  if (behind >= 0) {
    const expected = `0 behind the end of the response, which has ${end - prompt} tokens`
    throw rowFault(task, 'wrong mask', '1', expected, { array: row.mask?.name ?? 'response_mask', index: behind })
  }
  const unattended = attended === null ? -1 : trained.findIndex((bit, t) => bit === 1 && attended[t] === 0)
  if (unattended >= 0) {
    const expected = `0 where ${row.attention?.name} is 0`
    throw rowFault(task, 'wrong mask', '1', expected, { array: row.mask?.name ?? 'response_mask', index: unattended })
  }
  if (prompt > 0) task.findings.promptRows++
  return { start: prompt, end, mask: trained.subarray(prompt, end) }
}

/** Whether a row without any token is one that fills up the batch: all its numbers are 0, and nothing states a length. */
function isPadding(row: RawRow, stated: number | null, { rules }: RowTask): boolean {
  return rules.padded && row.attention === null && stated === null
}

/** T: the length that all arrays of the row have. */
function arrayLength({ arrays, responseLength }: RawRow, task: RowTask): number {
  let first: NamedNumbers | null = null
  for (const array of arrays.values()) {
    first ??= array
    if (array.data.length === first.data.length) continue
    throw rowFault(task, 'lengths differ', `${array.data.length}`, `${first.data.length}, the length of ${first.name}`, {
      array: array.name
    })
  }
  if (first === null) throw rowFault(task, 'no array of tokens', 'none', 'at least one')
  if (first.data.length > MAX_TOKENS) {
    throw rowFault(task, 'row too long', `${first.data.length} tokens`, `at most ${MAX_TOKENS}`, { array: first.name })
  }
  const stated = task.rules.exact ? integerField(task, 'response length', responseLength) : null
  if (stated !== null && stated !== first.data.length) {
    const expected = `${stated}, as ${responseLength?.name} says`
    throw rowFault(task, 'lengths differ', `${first.data.length}`, expected, { array: first.name })
  }
  return first.data.length
}

/** Number of tokens before the response, in arrays that hold prompt and response. */
function promptLength(trained: Uint8Array, total: number, stated: number | null, task: RowTask): number {
  if (stated === null) return Math.max(0, trained.indexOf(1))
  if (stated <= total) return total - stated
  throw rowFault(task, 'lengths differ', `a response of ${stated} tokens`, `at most ${total}, the length with the prompt`)
}

function endOf(row: RawRow, trained: Uint8Array, attended: Uint8Array | null, stated: number | null, task: RowTask): number {
  const { length } = trained
  if (attended !== null) return attended.lastIndexOf(1) + 1
  if (stated !== null) {
    if (stated <= length || row.positions !== null) return Math.min(stated, length)
    const array = row.responseLength?.name ?? row.totalLength?.name ?? 'response_length'
    throw rowFault(task, 'lengths differ', `${stated}`, `at most ${length}, the length of the arrays`, { array })
  }
  if (!task.rules.padded) return length
  const arrays = [...row.arrays.values()].map(({ data }) => data)
  const end = endOfNonZero(row.mask === null ? arrays : [...arrays, trained], length)
  // Where the mask ends there too, nothing was guessed.
  if (end < length && (row.mask === null || end > trained.lastIndexOf(1) + 1)) {
    task.findings.zeroRows++
    task.findings.zeroColumns = Math.max(task.findings.zeroColumns, length - end)
  }
  return end
}

/** The last numbers of a mask, as many as `into` has. */
function readBits({ name, data }: NamedNumbers, into: Uint8Array, task: RowTask): Uint8Array {
  const from = data.length - into.length
  if (from < 0 || (from > 0 && task.rules.exact)) {
    throw rowFault(task, 'lengths differ', `${data.length}`, `${into.length}, the length of the arrays`, { array: name })
  }
  const odd = readMask(data, from, into)
  if (odd >= 0) throw rowFault(task, 'wrong mask', String(data[from + odd]), '0 or 1', { array: name, index: from + odd })
  return into
}

/** Numbers in the width that loses nothing: integers of more than 16 bits need a double. */
function asSampleNumbers(data: TensorNumbers): SampleNumbers {
  if (data instanceof Float32Array || data instanceof Float64Array) return data
  return data.BYTES_PER_ELEMENT <= 2 ? new Float32Array(data) : new Float64Array(data)
}

/** The sum of the scores of the tokens, else of their rewards; null where the row has neither. */
function summedScore(row: RawRow, start: number, end: number, task: RowTask, findings: GrowingFindings): number | null {
  const summed = row.tokenScores ?? row.arrays.get('token_rewards') ?? null
  if (summed === null) return null
  const { name, data } = summed
  const from = data.length - arrayLength(row, task)
  // Compensated: the sum of rewards that cancel is the double nearest to it.
  let sum = 0
  let lost = 0
  for (let t = from + start; t < from + end; t++) {
    const x = data[t]
    const next = sum + x
    lost += Math.abs(sum) >= Math.abs(x) ? sum - next + x : x - next + sum
    sum = next
  }
  const score = sum + lost
  if (!Number.isFinite(score)) throw rowFault(task, 'wrong score', `a sum of ${sum}`, 'finite numbers', { array: name })
  findings.summed = name
  return score
}

function idsOf(row: RawRow, { name, data }: NamedNumbers, start: number, end: number, task: RowTask): Int32Array {
  const from = data.length - arrayLength(row, task)
  if (from < 0) {
    const expected = `at least ${data.length - from}, the length of the arrays`
    throw rowFault(task, 'lengths differ', `${data.length}`, expected, { array: name })
  }
  const ids = new Int32Array(end - start)
  for (let t = 0; t < ids.length; t++) {
    const id = data[from + start + t]
    ids[t] = id
    if (ids[t] !== id) throw rowFault(task, 'wrong token id', String(id), 'an integer below 2^31', { array: name, index: from + start + t })
  }
  return ids
}
