/** Collects the reasons why quantities of a document are null, by JSON pointer, while the document is built. */

export class Reasons {
  readonly #texts: Record<string, string> = {}

  /** Notes the reason and returns null. */
  none(pointer: string, why: string): null {
    this.#texts[pointer] = why
    return null
  }

  /** Returns a finite number unchanged. Notes overflow as the reason and returns null for any other number. */
  finite(value: number, pointer: string): number | null {
    return Number.isFinite(value) ? value : this.none(pointer, 'the arithmetic leaves the double range')
  }

  get texts(): { readonly [pointer: string]: string } {
    return this.#texts
  }
}

/** `none` for several fields of one object that share a reason. */
export function reasonsAt(reasons: Reasons, at: string, why: string): (field: string) => null {
  return field => reasons.none(`${at}/${field}`, why)
}
