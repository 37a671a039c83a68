/**
 * Checks between the fields of a section, which a JSON Schema cannot express: names are unique, references have targets,
 * outputs do not overwrite each other. The first fault is thrown, with the field's path.
 */
import { Fault, nearest } from '../core/errors.js'
import { describeValue, type CheckContext } from '../core/checker.js'
import { isDeviceName } from '../core/file-names.js'

/** Most names that a message lists. */
const MAX_LISTED = 12

/** A field: its path and its value. */
export interface NamedField {
  readonly at: string
  readonly value: string
}

export class CrossChecks {
  constructor(readonly context: CheckContext) {}

  refuse(problem: string, found: string, expected: string): never {
    throw new Fault({ format: this.context.format, problem, found, expected, place: this.context.place })
  }

  /** Checks that no value occurs twice. @param same maps values that count as equal to one text */
  unique(stated: readonly NamedField[], same: (value: string) => string = value => value): void {
    const first = new Map<string, string>()
    for (const { at, value } of stated) {
      const earlier = first.get(same(value))
      if (earlier !== undefined) {
        this.refuse('stated twice', `${at} is ${describeValue(value)}, as is ${earlier}`, 'a different one for each')
      }
      first.set(same(value), at)
    }
  }

  known(name: string, at: string, known: readonly string[], what: string): void {
    if (known.includes(name)) return
    const near = nearest(name, known)
    const more = known.length > MAX_LISTED ? `, … (${known.length})` : ''
    const hint = near === null ? '' : `; did you mean ${near}?`
    this.refuse('unknown name', `${at} is ${describeValue(name)}`, `${what}: ${known.slice(0, MAX_LISTED).join(', ')}${more}${hint}`)
  }

  /** Checks a list of references: each is known and occurs once. */
  references(names: readonly string[], at: string, known: readonly string[], what: string): void {
    names.forEach((name, i) => this.known(name, `${at}[${i}]`, known, what))
    this.unique(names.map((value, i) => ({ at: `${at}[${i}]`, value })))
  }

  /** Checks that a name is not that of a fixed output or figure, and not a device name of Windows. */
  free(at: string, value: string, reserved: readonly string[], what: string): void {
    const taken = reserved.find(name => fold(name) === fold(value))
    if (taken !== undefined) {
      this.refuse('name taken', `${at} is ${describeValue(value)}`, `another name than that of the ${what} ${taken}`)
    }
    if (isDeviceName(value.slice(value.lastIndexOf('/') + 1))) {
      this.refuse('name taken', `${at} is ${describeValue(value)}`, 'a name that is no device of Windows')
    }
  }
}

/** Folds case: on some file systems names that differ only in case are the same. The names are ASCII. */
export function fold(name: string): string {
  return name.toLowerCase()
}
