/**
 * Scalar fields of a trace from the 0-d members of its NPZ: step, score, uid, outcome and prediction stage, as far as they
 * are present. Used for a folder of NPZ files without a snapshot.
 */
import { EXIT, Fault, printable } from '../../core/errors.js'
import { stepFromName } from '../../core/file-names.js'
import { OUTCOME_FORMS, outcomeOfNumber } from './outcome.js'
import { asFloat64, isText, type NpyArray } from '../npz/npy.js'
import type { Npz } from '../npz/npz.js'
import type { Outcome, SnapshotKeys, TraceFields } from '../../schema/traces.js'

/**
 * @param name name of the NPZ; it gives the step where no member states it
 * @param file the NPZ with its folder, for faults
 */
export function fieldsOfNpz(npz: Npz, name: string, keys: SnapshotKeys, file: string = name): TraceFields {
  return {
    step: stepOfNpz(npz, name, keys, file),
    outcome: outcomeMember(npz, file, keys.outcome),
    score: numberMember(npz, file, keys.score),
    uid: textMember(npz, file, keys.uid),
    predictionStage: textMember(npz, file, keys.prediction_stage),
    npz: name,
    valueMean: null,
    valueRmse: null
  }
}

/** The trainer step: the 0-d member, else the number after `step` in the file's name, else null. */
export function stepOfNpz(npz: Npz, name: string, keys: SnapshotKeys, file: string = name): number | null {
  const step = numberMember(npz, file, keys.step)
  if (step === null) return stepFromName(name)
  if (!Number.isSafeInteger(step)) throw wrongMember(file, keys.step, String(step), 'an integer')
  return step
}

/**
 * True if a 0-d bool of the NPZ states that its data were generated. A member of that name of any other kind belongs to
 * another trainer. It is not read, so that an object array there does not make the file unreadable.
 */
export function saysSynthetic(npz: Npz, keys: SnapshotKeys): boolean {
  return npz.has(keys.synthetic) && isFlag(npz, keys.synthetic) && Number(npz.read(keys.synthetic).data[0]) !== 0
}

function isFlag(npz: Npz, name: string): boolean {
  try {
    const { dtype, shape } = npz.header(name)
    return dtype.kind === 'b' && shape.length === 0
  } catch (error) {
    if (error instanceof Fault) return false
    throw error
  }
}

function scalarMember(npz: Npz, file: string, name: string): NpyArray | null {
  if (!npz.has(name)) return null
  const array = npz.read(name)
  if (array.data.length !== 1) throw wrongMember(file, name, `${array.data.length} elements`, 'one')
  return array
}

function numberMember(npz: Npz, file: string, name: string): number | null {
  const array = scalarMember(npz, file, name)
  if (array === null) return null
  const [value] = asFloat64(array, { file, member: name })
  if (!Number.isFinite(value)) throw wrongMember(file, name, String(value), 'a finite number')
  return value
}

/** Text, or an integer as text. Trainers write uids in both forms. */
function textMember(npz: Npz, file: string, name: string): string | null {
  const array = scalarMember(npz, file, name)
  if (array === null) return null
  if (!isText(array.data)) return String(array.data[0])
  const [text] = array.data
  if (!text.isWellFormed()) throw wrongMember(file, name, 'half a surrogate pair', 'text')
  return text
}

function outcomeMember(npz: Npz, file: string, member: string): Outcome | null {
  const array = scalarMember(npz, file, member)
  if (array === null) return null
  if (isText(array.data)) {
    const [text] = array.data
    if (text === 'success' || text === 'failure') return text
    throw wrongMember(file, member, JSON.stringify(printable(text)), OUTCOME_FORMS)
  }
  const [value] = asFloat64(array, { file, member })
  const outcome = outcomeOfNumber(value)
  if (outcome === null) throw wrongMember(file, member, String(value), OUTCOME_FORMS)
  return outcome
}

function wrongMember(file: string, member: string, found: string, expected: string): Fault {
  return new Fault({ format: 'npz', problem: 'wrong member', found, expected, place: { file, member }, exitCode: EXIT.badInput })
}
