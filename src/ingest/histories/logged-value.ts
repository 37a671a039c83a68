/**
 * One logged metric of a training history by trainer step: JSON Lines as W&B exports them, one object a row, or a CSV with a head.
 * Rows without a step or a finite value are left out and counted. Two different values of one step are refused: which of them the
 * trainer meant is not known.
 */
import { Fault, printable, type Place } from '../../core/errors.js'
import { readCsv } from '../csv/table.js'

/** A metric with the names that trainers log it by, and those of the step beside it, the better ones first. */
export interface LoggedMetric {
  readonly what: string
  readonly names: readonly string[]
  /** what another name looks like; it is taken where one key alone does */
  readonly pattern: RegExp
}

export const EXPLAINED_VARIANCE: LoggedMetric = {
  what: 'explained variance',
  names: [
    'critic/vf_explained_var',
    'critic/explained_variance',
    'train/explained_variance',
    'losses/explained_variance',
    'rollout/explained_variance',
    'explained_variance'
  ],
  pattern: /explained[_-]?var/i
}

const STEP_NAMES = ['training/global_step', 'rollout/step', 'train/step', 'trainer/global_step', 'global_step', 'step', '_step'] as const

export interface LoggedValues {
  readonly key: string
  readonly stepKey: string
  readonly byStep: ReadonlyMap<number, number>
  /** rows that gave no value, by reason */
  readonly leftOut: readonly LeftOutRows[]
}

const LEFT_OUT_REASONS = ['no value', 'value not finite', 'value no number', 'no whole step'] as const

export interface LeftOutRows {
  readonly reason: (typeof LEFT_OUT_REASONS)[number]
  readonly rows: number
}

type LoggedRow = Readonly<Record<string, unknown>>

/** @throws Fault where the file is neither, or does not say which key or step is meant */
export function readLoggedValues(bytes: Uint8Array, file: string, metric: LoggedMetric): LoggedValues {
  const first = firstCharacter(bytes)
  if (first === '[') throw fault('wrong kind of file', 'a JSON array', 'JSON Lines, one object a line, or a CSV with a head', { file })
  const rows = first === '{' ? jsonRows(bytes, file) : csvRows(bytes, file)
  const keys = [...new Set(rows.flatMap(Object.keys))]
  const key = metric.names.find(name => keys.includes(name)) ?? onlyMatch(keys, file, metric)
  const stepKey = STEP_NAMES.find(name => rows.some(row => row[key] !== undefined && isStep(row[name])))
  if (stepKey === undefined) throw fault('no step', `rows with ${printable(key)}`, `a step beside it: ${STEP_NAMES.join(', ')}`, { file })
  const byStep = new Map<number, number>()
  const leftOut = new Map<LeftOutRows['reason'], number>()
  for (const row of rows) {
    const { [key]: value, [stepKey]: step } = row
    const reason = whyLeftOut(value, step)
    if (reason !== null) leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1)
    else if (isStep(step) && typeof value === 'number') {
      const earlier = byStep.get(step) ?? value
      if (earlier !== value) throw fault('step stated twice', `${earlier} and ${value} at step ${step}`, 'one value a step', { file })
      byStep.set(step, value)
    }
  }
  if (byStep.size === 0) throw fault('no value', `no number under ${printable(key)}`, `a logged ${metric.what}`, { file })
  return {
    key,
    stepKey,
    byStep: new Map([...byStep].sort(([a], [b]) => a - b)),
    leftOut: LEFT_OUT_REASONS.flatMap(reason => {
      const count = leftOut.get(reason)
      return count === undefined ? [] : [{ reason, rows: count }]
    })
  }
}

function whyLeftOut(value: unknown, step: unknown): LeftOutRows['reason'] | null {
  if (value === undefined || value === null) return 'no value'
  if (typeof value === 'string' && /^[+-]?(?:nan|inf|infinity)$/i.test(value.trim())) return 'value not finite'
  if (typeof value !== 'number') return 'value no number'
  if (!Number.isFinite(value)) return 'value not finite'
  return isStep(step) ? null : 'no whole step'
}

function onlyMatch(keys: readonly string[], file: string, { what, names, pattern }: LoggedMetric): string {
  const found = keys.filter(key => pattern.test(key))
  if (found.length === 1) return found[0]
  const seen = found.length === 0 ? `no key of ${keys.length}` : `several keys: ${found.slice(0, 5).map(printable).join(', ')}`
  throw fault(`no logged ${what}`, seen, `one key such as ${names[0]} or ${names[names.length - 1]}`, { file })
}

function isStep(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value)
}

function firstCharacter(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, 64)).toString('utf8').trimStart().slice(0, 1)
}

function jsonRows(bytes: Uint8Array, file: string): LoggedRow[] {
  return Buffer.from(bytes)
    .toString('utf8')
    .split('\n')
    .flatMap((text, i): LoggedRow[] => {
      if (text.trim() === '') return []
      const place = { file, line: i + 1 }
      let row: unknown
      try {
        row = parsedRow(text.trim())
      } catch (cause) {
        if (!(cause instanceof SyntaxError)) throw cause
        throw fault('malformed', 'a line that is no JSON', 'one object a line', place, cause)
      }
      if (typeof row !== 'object' || row === null || Array.isArray(row)) throw fault('wrong row', 'no object', 'one object a line', place)
      return [row as LoggedRow]
    })
}

/** Python writes NaN and Infinity bare, which JSON has not. Here they become texts. */
function parsedRow(text: string): unknown {
  return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g, token => (token.startsWith('"') ? token : `"${token}"`)))
}

function csvRows(bytes: Uint8Array, file: string): LoggedRow[] {
  const { head, rows } = readCsv(bytes, file)
  return rows.map(cells =>
    Object.fromEntries(
      cells.flatMap((cell, i) =>
        cell.trim() === '' || head[i] === '' ? [] : [[head[i], Number.isNaN(Number(cell)) ? cell : Number(cell)]]
      )
    )
  )
}

function fault(problem: string, found: string, expected: string, place: Place, cause?: unknown): Fault {
  return new Fault({ format: 'history', problem, found, expected, place, cause })
}
