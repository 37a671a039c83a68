/**
 * The one error class that reaches the shell. A message has one grammar:
 *
 *     <format> <problem>: <found>, expected <what> (<place>)
 *
 * The place names file, member, trace, array, index and byte offset, as far as they are known where the error is made. Outer
 * callers add what they know with `at()`. The cause is kept. A message holds no text that looks like a secret: `[withheld]`
 * replaces it.
 */
import { withoutSecrets } from './secrets.js'
import { systemText } from './system/error.js'

/** Process exit codes. 0 is success. */
export const EXIT = { ok: 0, checkFailed: 1, usage: 2, badInput: 3, interrupted: 130 } as const

export type FailureCode = 1 | 2 | 3 | 130

/** Where in the input something was found. Every field is optional; the outermost reader knows the file. */
export interface Place {
  readonly file?: string
  /** member of a container (an NPZ member, a sheet, a JSON pointer of a study file) */
  readonly member?: string
  /** 0-based position of the trace in the snapshot */
  readonly trace?: number
  readonly uid?: string
  readonly step?: number
  /** `values`, `returns`, `response_positions` … */
  readonly array?: string
  /** 0-based element index */
  readonly index?: number
  /** 0-based byte offset in `file` (in the decoded text where the page is not UTF-8) */
  readonly offset?: number
  /** line of a text file, from 1 */
  readonly line?: number
  /** column in that line, from 1, in UTF-16 units */
  readonly column?: number
}

export interface FaultDetails {
  /** what was being read: `html`, `json`, `npz`, `npy`, `zip`, `snapshot`, `study`, `manifest`, `trace`, `output`, `usage` … */
  readonly format: string
  readonly problem: string
  readonly found?: string
  readonly expected?: string
  readonly place?: Place
  /** default 3: unreadable or malformed input */
  readonly exitCode?: FailureCode
  readonly cause?: unknown
}

/** A fault as plain data, for the way from a worker to the main thread. */
export interface SerializedFault extends Omit<FaultDetails, 'cause'> {
  readonly cause?: string
}

/** Most characters of a file's text that a message repeats. Input is not trusted, and a message is one line. */
const MAX_QUOTED = 120

/**
 * Control characters, line separators, bidirectional overrides and characters without a width. On a terminal they could fake
 * other lines.
 *
 * The pattern is kept as source text, as in every module that each run loads. As a literal, a pattern with Unicode properties
 * costs up to half a millisecond when the engine reads it, even where it is not used, and again when it first runs. ASCII
 * text is handled without it.
 */
const UNPRINTABLE = '[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]'
const PLAIN = /^[\x20-\x7e]*$/

/** Characters after the quoted piece that are searched for secrets too: half a secret is not recognised as one. */
const LOOKED_AT_BEHIND = 1024

/** Text from a file, made fit for a message: one line, capped, control characters escaped, secrets withheld. */
export function printable(text: string, max: number = MAX_QUOTED): string {
  return shown(text, max, false)
}

/** The same for an id, a hash or a path, in which forty hexadecimal digits are not taken for a key. */
export function printableId(text: string, max: number = MAX_QUOTED): string {
  return shown(text, max, true)
}

function shown(text: string, max: number, identity: boolean): string {
  const known = withoutSecrets(text.slice(0, max + LOOKED_AT_BEHIND), identity)
  const cut = text.length > max + LOOKED_AT_BEHIND || known.length > max
  const kept = cut ? known.slice(0, max) : known
  const escaped = PLAIN.test(kept)
    ? kept
    : kept.replace(new RegExp(UNPRINTABLE, 'gu'), c => {
        const hex = (c.codePointAt(0) ?? 0).toString(16)
        return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`
      })
  return cut ? `${escaped}… (${text.length} characters)` : escaped
}

function placeText(place: Place): string {
  const parts: string[] = []
  if (place.file !== undefined) parts.push(printableId(place.file, 400))
  if (place.member !== undefined) parts.push(`member ${printableId(place.member)}`)
  if (place.trace !== undefined) parts.push(`trace ${place.trace}`)
  if (place.uid !== undefined) parts.push(`uid ${printableId(place.uid)}`)
  if (place.step !== undefined) parts.push(`step ${place.step}`)
  if (place.array !== undefined) parts.push(printable(place.array))
  if (place.index !== undefined) parts.push(`index ${place.index}`)
  if (place.offset !== undefined) parts.push(`byte ${place.offset}`)
  if (place.line !== undefined) parts.push(`line ${place.line}`)
  if (place.column !== undefined) parts.push(`column ${place.column}`)
  return parts.join(', ')
}

function compose(d: FaultDetails): string {
  // These two may hold hashes and ids, so bare digits stay. Text that may hold a key of bare digits went through printable() before.
  const found = d.found === undefined ? '' : `: ${withoutSecrets(d.found, true)}`
  const expected = d.expected === undefined ? '' : `, expected ${withoutSecrets(d.expected, true)}`
  const place = d.place === undefined ? '' : placeText(d.place)
  return `${d.format} ${d.problem}${found}${expected}${place === '' ? '' : ` (${place})`}`
}

/** The text of anything thrown, for a message or a cause. Errors of the operating system have the words of `core/system/error.ts`. */
export function describeCause(cause: unknown): string {
  return systemText(cause) ?? (cause instanceof Error ? cause.message : String(cause))
}

export class Fault extends Error {
  override readonly name = 'Fault'
  readonly details: FaultDetails

  constructor(details: FaultDetails) {
    super(compose(details), details.cause === undefined ? undefined : { cause: details.cause })
    this.details = details
  }

  get exitCode(): FailureCode {
    return this.details.exitCode ?? EXIT.badInput
  }

  get place(): Place {
    return this.details.place ?? {}
  }

  /** The same fault with more of its place filled in. Fields that are set already stay: the innermost reader set them. */
  at(place: Place): Fault {
    const fault = new Fault({ ...this.details, place: { ...place, ...this.details.place } })
    if (this.stack !== undefined) fault.stack = this.stack
    return fault
  }

  serialize(): SerializedFault {
    const { cause, ...rest } = this.details
    return cause === undefined ? rest : { ...rest, cause: describeCause(cause) }
  }

  static deserialize(s: SerializedFault): Fault {
    const { cause, ...rest } = s
    return cause === undefined ? new Fault(rest) : new Fault({ ...rest, cause: new Error(cause) })
  }
}

/** Anything thrown as a Fault. A Fault stays and gains the place; anything else becomes the cause of a new Fault. */
export function toFault(error: unknown, format: string, place: Place = {}): Fault {
  if (error instanceof Fault) return error.at(place)
  return new Fault({ format, problem: 'failed', found: printable(describeCause(error), 400), place, cause: error })
}

/** The known name nearest to a mistyped one. At most a third of the characters may be wrong; null when no name is so near. */
export function nearest(name: string, known: readonly string[]): string | null {
  // A field name of a thousand characters is no typing mistake.
  if (name.length > 64) return null
  let best: string | null = null
  let bestDistance = Math.floor(name.length / 3) + 1
  const wanted = name.toLowerCase()
  for (const candidate of known) {
    const other = candidate.toLowerCase()
    // A file may have 200,000 names, and a distance is at least the difference of the lengths.
    if (Math.abs(wanted.length - other.length) >= bestDistance) continue
    const distance = editDistance(wanted, other)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Edits (insert, delete, replace, swap of neighbours) between two short texts: optimal string alignment distance. */
function editDistance(a: string, b: string): number {
  let older: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)
      row[j] = Math.min(replaced, previous[j] + 1, row[j - 1] + 1)
      // before the first character there is none, which is equal to no character
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], older[j - 2] + 1)
    }
    older = previous
    previous = row
  }
  return previous[b.length]
}

/** Several failed checks, or several wrong fields of a file, one line each. The exit code of the command is the gravest of theirs. */
export class Failures extends Error {
  override readonly name = 'Failures'

  constructor(readonly faults: readonly Fault[]) {
    super(faults.map(f => f.message).join('\n'))
  }
}

/** What was read is refused, for one reason or for several. */
export function isRefusal(error: unknown): error is Fault | Failures {
  return error instanceof Fault || error instanceof Failures
}
