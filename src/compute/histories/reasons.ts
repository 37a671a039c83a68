/** Why a quantity of a document is null: collected under its JSON pointer while the document is built. */

export class Reasons {
  readonly #texts: Record<string, string> = {}

  /** Notes why, and is the null. */
  none(pointer: string, why: string): null {
    this.#texts[pointer] = why
    return null
  }

  /** A number that arithmetic on finite numbers gave, or null where it left the double range. */
  finite(value: number, pointer: string): number | null {
    return Number.isFinite(value) ? value : this.none(pointer, 'the arithmetic leaves the double range')
  }

  get texts(): { readonly [pointer: string]: string } {
    return this.#texts
  }
}

/** `none` for several fields of one object, all for one reason. */
export function reasonsAt(reasons: Reasons, at: string, why: string): (field: string) => null {
  return field => reasons.none(`${at}/${field}`, why)
}
