/** XML names with resolved prefixes (Namespaces in XML 1.0). */

export interface XmlName {
  /** namespace URI, '' for none */
  readonly uri: string
  readonly local: string
}

/** Attributes of the element that is opened now. Valid only during the call. */
export interface XmlAttributes {
  /** value of the attribute without a prefix */
  get(local: string): string | undefined
  /** value of the attribute in one of these namespaces */
  getIn(uris: ReadonlySet<string>, local: string): string | undefined
}

/** Most names that one scope or reader caches. Office files have a few dozen. */
export const MAX_CACHED_NAMES = 1000
const NAME = /^[A-Za-z_\u0080-\uffff][\w.\u0080-\uffff-]*(?::[A-Za-z_\u0080-\uffff][\w.\u0080-\uffff-]*)?$/
const XML_URI = 'http://www.w3.org/XML/1998/namespace'

/** True if the text is a name with at most one prefix. */
export function isQName(text: string): boolean {
  return NAME.test(text)
}

/** The prefixes that one element declares, and a cache of the names resolved in it. */
export class Scope {
  readonly own = new Map<string, string>()
  readonly #names = new Map<string, XmlName>()
  readonly #parent: Scope | null

  constructor(parent: Scope | null) {
    this.#parent = parent
  }

  prefix(prefix: string): string | undefined {
    return this.own.get(prefix) ?? this.#parent?.prefix(prefix)
  }

  /** The name; null if its prefix is not declared, or if it is no name. */
  resolve(raw: string): XmlName | null {
    const known = this.#names.get(raw)
    if (known !== undefined) return known
    if (!isQName(raw)) return null
    const colon = raw.indexOf(':')
    const uri = this.prefix(colon < 0 ? '' : raw.slice(0, colon))
    if (uri === undefined) return null
    const name = { uri, local: raw.slice(colon + 1) }
    if (this.#names.size < MAX_CACHED_NAMES) this.#names.set(raw, name)
    return name
  }
}

export function rootScope(): Scope {
  const scope = new Scope(null)
  scope.own.set('', '').set('xml', XML_URI)
  return scope
}

export class Attributes implements XmlAttributes {
  readonly values = new Map<string, string>()
  scope: Scope

  constructor(scope: Scope) {
    this.scope = scope
  }

  get(local: string): string | undefined {
    return this.values.get(local)
  }

  getIn(uris: ReadonlySet<string>, local: string): string | undefined {
    for (const [raw, value] of this.values) {
      const colon = raw.indexOf(':')
      if (colon < 0 || raw.slice(colon + 1) !== local) continue
      const uri = this.scope.prefix(raw.slice(0, colon))
      if (uri !== undefined && uris.has(uri)) return value
    }
    return undefined
  }
}
