/** A reader of one XML part that needs only the names of each element and its ancestors. */
import { Fault, printable } from '../../core/errors.js'
import type { XmlAttributes, XmlHandler, XmlName } from './xml.js'

export abstract class ElementReader implements XmlHandler {
  /** Local names of the open elements, outermost first; '' for a foreign namespace, which matches no path. */
  protected readonly path: string[] = []
  readonly #format: string
  readonly #uris: ReadonlySet<string>
  readonly #root: string

  constructor(format: string, uris: ReadonlySet<string>, root: string) {
    this.#format = format
    this.#uris = uris
    this.#root = root
  }

  open(name: XmlName, attributes: XmlAttributes): void {
    const local = this.#uris.has(name.uri) ? name.local : ''
    if (this.path.length === 0 && local !== this.#root) {
      const found = `<${printable(name.local)}> of '${printable(name.uri)}'`
      throw new Fault({ format: this.#format, problem: 'not recognised', found, expected: `<${this.#root}> of its namespace` })
    }
    this.path.push(local)
    if (local !== '') this.enter(local, attributes)
  }

  close(): void {
    const local = this.path.at(-1)
    if (local !== undefined && local !== '') this.leave(local)
    this.path.pop()
  }

  /** True if the innermost open elements have these names, the innermost last. */
  protected within(...names: readonly string[]): boolean {
    const from = this.path.length - names.length
    return from >= 0 && names.every((name, i) => this.path[from + i] === name)
  }

  /** Called when an element opens; it is the last of `path`. */
  protected abstract enter(local: string, attributes: XmlAttributes): void
  /** Called when an element closes; it is still the last of `path`. */
  protected abstract leave(local: string): void
  abstract text(text: string): void
}
