/**
 * The stack of open elements (HTML standard, 13.2.4.2) without a tree: only the elements' keys. Every question that
 * the insertion modes ask per tag is answered without a walk down the stack, so that a million nested elements take
 * linear time: each slot knows the next lower slot with the same key, and the topmost special element, scope boundary
 * and HTML element at or below it.
 *
 * Not supported: more than MAX_OPEN elements at once. The rare steps that do walk or rebuild the stack are charged to
 * a budget; a page made to exhaust it is refused.
 */
import { Fault } from '../../core/errors.js'
import { IMPLIED_END, MATHML_TEXT_POINTS, SCOPE, SPECIAL, SVG_HTML_POINTS, type Tag } from './tags.js'

/** About 100 MB of slots. Browsers stop nesting at 512. */
const MAX_OPEN = 2 ** 20
/** Steps that walk or rebuild, over the whole page: about a second. */
const MAX_STEPS = 2 ** 26

/** An element that is looked for by identity. `index` is its slot, or -1 while it is not open. */
export interface Handle {
  index: number
}

/** What the adjusted current node makes of a token. */
export const KIND = {
  html: 0,
  /** SVG or MathML, no integration point */
  foreign: 1,
  /** MathML text integration point */
  textPoint: 2,
  /** HTML integration point */
  htmlPoint: 3
} as const
export type ElementKind = (typeof KIND)[keyof typeof KIND]

interface OpenElement {
  readonly key: string
  readonly kind: ElementKind
  readonly handle: Handle | null
}

export class OpenElements {
  readonly #keys: string[] = []
  readonly #kinds: ElementKind[] = []
  readonly #handles: (Handle | null)[] = []
  readonly #sameBelow: number[] = []
  readonly #specialAt: number[] = []
  readonly #scopeAt: number[] = []
  readonly #htmlAt: number[] = []
  /** key -> its topmost slot; absent when no such element is open */
  readonly #topmost = new Map<string, number>()
  #steps = 0

  get top(): number {
    return this.#keys.length - 1
  }

  get currentKey(): string {
    return this.#keys[this.#keys.length - 1]
  }

  get currentKind(): ElementKind {
    return this.#kinds[this.#kinds.length - 1]
  }

  get currentHandle(): Handle | null {
    return this.#handles[this.#handles.length - 1]
  }

  handleAt(index: number): Handle | null {
    return this.#handles[index]
  }

  has(key: string): boolean {
    return this.#topmost.has(key)
  }

  /** Slot of the topmost element with this key, or -1. */
  indexOf(key: string): number {
    return this.#topmost.get(key) ?? -1
  }

  /** Slot of the topmost scope boundary. */
  get scopeBoundary(): number {
    return this.#scopeAt[this.top]
  }

  inScope(key: string): boolean {
    return this.indexOf(key) >= this.scopeBoundary
  }

  inButtonScope(key: string): boolean {
    return this.indexOf(key) >= Math.max(this.scopeBoundary, this.indexOf('button'))
  }

  inListItemScope(key: string): boolean {
    return this.indexOf(key) >= Math.max(this.scopeBoundary, this.indexOf('ol'), this.indexOf('ul'))
  }

  inTableScope(key: string): boolean {
    return this.indexOf(key) >= Math.max(0, this.indexOf('table'), this.indexOf('template'))
  }

  /** Slot of the topmost special element. */
  get topmostSpecial(): number {
    return this.#specialAt[this.top]
  }

  /** Slot of the topmost HTML element. */
  get topmostHtml(): number {
    return this.#htmlAt[this.top]
  }

  /** Slot of the next special element below a slot, or -1. */
  specialBelow(index: number): number {
    return index === 0 ? -1 : this.#specialAt[index - 1]
  }

  keyAt(index: number): string {
    return this.#keys[index]
  }

  push(key: string, kind: ElementKind = KIND.html, handle: Handle | null = null): void {
    const index = this.#keys.length
    if (index >= MAX_OPEN) {
      const found = `${index + 1} open elements`
      throw new Fault({ format: 'html', problem: 'nested too deep', found, expected: `at most ${MAX_OPEN}` })
    }
    this.#keys.push(key)
    this.#kinds.push(kind)
    this.#handles.push(handle)
    this.#sameBelow.push(this.indexOf(key))
    this.#specialAt.push(SPECIAL.has(key) ? index : this.#specialAt[index - 1] ?? 0)
    this.#scopeAt.push(SCOPE.has(key) ? index : this.#scopeAt[index - 1] ?? 0)
    this.#htmlAt.push(kind === KIND.html ? index : this.#htmlAt[index - 1] ?? 0)
    this.#topmost.set(key, index)
    if (handle !== null) handle.index = index
  }

  /** Opens an SVG or MathML element; a self-closing one is not opened. */
  pushForeign(namespace: 'svg' | 'math', tag: Tag): void {
    if (tag.selfClosing) return
    const key = `${namespace}/${tag.name}`
    const encoding = key === 'math/annotation-xml' ? tag.attributes.get('encoding')?.toLowerCase() : undefined
    const isHtmlPoint = SVG_HTML_POINTS.has(key) || encoding === 'text/html' || encoding === 'application/xhtml+xml'
    this.push(key, isHtmlPoint ? KIND.htmlPoint : MATHML_TEXT_POINTS.has(key) ? KIND.textPoint : KIND.foreign)
  }

  pop(): void {
    const key = this.#keys.pop()
    this.#kinds.pop()
    const handle = this.#handles.pop()
    const below = this.#sameBelow.pop()
    this.#specialAt.pop()
    this.#scopeAt.pop()
    this.#htmlAt.pop()
    if (key === undefined || below === undefined) return
    if (below < 0) this.#topmost.delete(key)
    else this.#topmost.set(key, below)
    if (handle) handle.index = -1
  }

  /** Closes every element at `index` and above. */
  truncate(index: number): void {
    while (this.#keys.length > index) this.pop()
  }

  popThrough(key: string): void {
    this.truncate(this.indexOf(key))
  }

  /** "Generate implied end tags", except for elements with the key `except`. */
  closeImplied(except = ''): void {
    while (IMPLIED_END.has(this.currentKey) && this.currentKey !== except) this.pop()
  }

  /** Closes one element and leaves those above it open. */
  remove(index: number): void {
    const above = this.#take(index).slice(1)
    for (const slot of above) this.push(slot.key, slot.kind, slot.handle)
  }

  /**
   * One round of the adoption agency: of the elements from slot `from` up, drops the formatting element (the first)
   * and those between it and slot `block` that are not in `keep`, and opens the formatting element again above `block`.
   */
  adopt(from: number, block: number, keep: ReadonlySet<number>): void {
    const slots = this.#take(from)
    for (let i = from + 1; i <= block; i++) {
      const slot = slots[i - from]
      if (i === block || keep.has(i)) this.push(slot.key, slot.kind, slot.handle)
    }
    this.push(slots[0].key, slots[0].kind, slots[0].handle)
    for (const slot of slots.slice(block - from + 1)) this.push(slot.key, slot.kind, slot.handle)
  }

  /** Accounts for `count` steps of a walk whose length the page chooses. */
  charge(count: number): void {
    this.#steps += count
    if (this.#steps > MAX_STEPS) {
      throw new Fault({
        format: 'html',
        problem: 'too tangled',
        found: `more than ${MAX_STEPS} steps to close misnested elements`,
        expected: 'a page with fewer open formatting elements'
      })
    }
  }

  #take(from: number): OpenElement[] {
    this.charge(this.#keys.length - from)
    const slots: OpenElement[] = []
    for (let i = from; i < this.#keys.length; i++) {
      slots.push({ key: this.#keys[i], kind: this.#kinds[i], handle: this.#handles[i] })
    }
    this.truncate(from)
    return slots
  }
}
