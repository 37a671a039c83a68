/** The result of a second reading, and the comparison that makes it. Plain data, since it is sent between processes. */
import { EXIT, Fault, printable, type Place, type SerializedFault } from '../core/errors.js'

/**
 * `same`: every value was read twice and is equal. `different`: a value differs, or only one reader has it. `not readable`:
 * the second reader cannot judge the file, or some part of it; all that it can judge is equal. `refused`: our reader
 * refuses the file.
 */
export type SecondStatus = 'same' | 'different' | 'not readable' | 'refused'

/** A part of a file that the second reader cannot judge. */
export interface Unread {
  /** null: the whole file */
  readonly part: string | null
  readonly reason: string
}

export interface SecondReading {
  readonly status: SecondStatus
  /** number of values that both readers gave and that are equal */
  readonly values: number
  /** the first parts that the second reader cannot judge, and the number of all such parts */
  readonly unread: readonly Unread[]
  readonly unreadParts: number
  /** remarks on the verdict */
  readonly notes: readonly string[]
  /** the first difference, or the reason why our reader refuses the file */
  readonly fault: SerializedFault | null
}

/** Most unread parts that are kept. All are counted. */
const MAX_UNREAD = 20

/** The second reader's value differs from ours. */
class Different extends Error {
  constructor(readonly fault: Fault) {
    super(fault.message)
  }
}

/** One file's comparison. The first difference ends it. */
export class Comparison {
  readonly #format: string
  readonly #second: string
  readonly #place: Place
  readonly #unread: Unread[] = []
  readonly #notes: string[] = []
  #unreadParts = 0
  #values = 0

  /** @param format for messages, as `second`: the names of the libraries */
  constructor(format: string, second: string, file: string) {
    this.#format = format
    this.#second = second
    this.#place = { file }
  }

  /** Ends the comparison if the two differ; NaN equals itself, 0 differs from -0. For lengths and counts, not for values. */
  agree(ours: unknown, second: unknown, place: Place = {}): void {
    if (!Object.is(ours, second)) throw this.different(ours, second, place)
  }

  /** The same for a value of the file, which is counted. */
  same(ours: unknown, second: unknown, place: Place = {}): void {
    this.agree(ours, second, place)
    this.#values++
  }

  /** Counts values that were compared elsewhere. */
  add(values: number): void {
    this.#values += values
  }

  different(ours: unknown, second: unknown, place: Place): Error {
    return this.otherwise(shown(ours), shown(second), place)
  }

  /** A difference described in words. */
  otherwise(ours: string, second: string, place: Place = {}): Error {
    return new Different(
      new Fault({
        format: this.#format,
        problem: 'second reader differs',
        found: `${second} from ${this.#second}`,
        expected: `${ours} as our reader reads`,
        place: { ...this.#place, ...place },
        exitCode: EXIT.checkFailed
      })
    )
  }

  unread(part: string | null, reason: string): void {
    this.#unreadParts++
    if (this.#unread.length < MAX_UNREAD)
      this.#unread.push({ part: part === null ? null : printable(part), reason: printable(reason, 400) })
  }

  note(text: string): void {
    this.#notes.push(text)
  }

  /** Runs the comparison to its end, or to the first difference. A Fault is a refusal of our reader. */
  async run(compare: () => Promise<void> | void): Promise<SecondReading> {
    try {
      await compare()
    } catch (error) {
      if (error instanceof Different) return this.#reading('different', error.fault)
      if (error instanceof Fault) return this.#reading('refused', error.at(this.#place))
      throw error
    }
    return this.#reading(this.#unreadParts > 0 ? 'not readable' : 'same', null)
  }

  #reading(status: SecondStatus, fault: Fault | null): SecondReading {
    return {
      status,
      values: this.#values,
      unread: this.#unread,
      unreadParts: this.#unreadParts,
      notes: this.#notes,
      fault: fault?.serialize() ?? null
    }
  }
}

/** The reading of a file that the second reader cannot judge at all. */
export function notReadable(reason: string): SecondReading {
  return {
    status: 'not readable',
    values: 0,
    unread: [{ part: null, reason: printable(reason, 400) }],
    unreadParts: 1,
    notes: [],
    fault: null
  }
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return printable(JSON.stringify(value))
  if (typeof value === 'bigint') return `${value}`
  if (value instanceof Uint8Array) return `bytes ${printable(Buffer.from(value).toString('hex'))}`
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (Object.is(value, -0)) return '-0'
  return typeof value === 'object' && value !== null ? 'an object' : printable(String(value))
}

/** The message of a value that a library threw: some throw texts. */
export function thrown(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
