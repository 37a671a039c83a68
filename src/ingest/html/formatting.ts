/**
 * The list of active formatting elements and the adoption agency (HTML standard, 13.2.4.3 and 13.2.6.4.7). They decide
 * which elements are open after `<b><p></b>` and the like, and so whether a later end tag leaves an SVG. Without a tree
 * a clone of a formatting element is the element itself in a new place.
 *
 * Not supported: telling attributes apart beyond the first 64 KiB of a tag, or by the spelling of named character
 * references other than ASCII ones (the limit of three equal elements compares attributes).
 */
import { KIND, type Handle, type OpenElements } from './open-elements.js'
import type { Tag } from './tags.js'

interface Formatting extends Handle {
  readonly name: string
  readonly attributes: string
  /** still in the list */
  listed: boolean
}

type ListEntry = Formatting | null

/** Elements equal in name and attributes that the list keeps behind a marker. */
const MAX_EQUAL = 3
const MAX_ROUNDS = 8
const MAX_KEPT_BETWEEN = 3

export class FormattingElements {
  /** null is a marker */
  readonly #list: ListEntry[] = []
  readonly #open: OpenElements

  constructor(open: OpenElements) {
    this.#open = open
  }

  mark(): void {
    this.#list.push(null)
  }

  clearToMarker(): void {
    while (this.#list.length > 0) {
      const entry = this.#list.pop()
      if (!entry) return
      entry.listed = false
    }
  }

  /** Opens a formatting element and lists it. */
  push(tag: Tag): void {
    const attributes = [...tag.attributes].map(([name, value]) => `${name}=${value}`).sort().join('\0')
    let equal = 0
    let earliest = -1
    for (let i = this.#list.length - 1; i >= 0; i--) {
      const entry = this.#list[i]
      this.#open.charge(1)
      if (entry === null) break
      if (entry.name !== tag.name || entry.attributes !== attributes) continue
      equal++
      earliest = i
    }
    if (equal >= MAX_EQUAL) this.#unlist(earliest)
    const entry: Formatting = { name: tag.name, attributes, index: -1, listed: true }
    this.#list.push(entry)
    this.#open.push(tag.name, KIND.html, entry)
  }

  /** Opens again every listed element behind the last marker that is not open. */
  reconstruct(): void {
    let first = this.#list.length
    while (first > 0) {
      const entry = this.#list[first - 1]
      if (entry === null || entry.index >= 0) break
      first--
    }
    this.#open.charge(this.#list.length - first)
    for (let i = first; i < this.#list.length; i++) {
      const entry = this.#list[i]
      if (entry !== null) this.#open.push(entry.name, KIND.html, entry)
    }
  }

  /** Before a second `<a>`: closes the listed one, if any. */
  closeListed(name: string): void {
    const index = this.#lastIndexOf(name)
    const entry = this.#list[index]
    if (!entry) return
    this.adopt(name)
    if (entry.listed) this.#unlist(this.#list.indexOf(entry))
    if (entry.index >= 0) this.#open.remove(entry.index)
  }

  /** The adoption agency. False when the token is to be treated as any other end tag. */
  adopt(name: string): boolean {
    const open = this.#open
    if (open.currentKey === name && !this.#isListed(open.currentHandle)) {
      open.pop()
      return true
    }
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const position = this.#lastIndexOf(name)
      const entry = this.#list[position]
      if (!entry) return false
      if (entry.index < 0) {
        this.#unlist(position)
        return true
      }
      if (entry.index < open.scopeBoundary) return true
      const block = this.#furthestBlock(entry.index)
      if (block < 0) {
        open.truncate(entry.index)
        this.#unlist(position)
        return true
      }
      this.#moveBehind(entry, block)
    }
    return true
  }

  /** The lowest special element above a slot, or -1. */
  #furthestBlock(index: number): number {
    let block = -1
    for (let i = this.#open.topmostSpecial; i > index; i = this.#open.specialBelow(i)) {
      block = i
      this.#open.charge(1)
    }
    return block
  }

  /** One round: thins out the elements between the formatting element and the block, and moves it behind the block. */
  #moveBehind(entry: Formatting, block: number): void {
    const keep = new Set<number>()
    let bookmark: Formatting | null = null
    for (let i = block - 1, seen = 1; i > entry.index; i--, seen++) {
      const handle = this.#open.handleAt(i)
      if (!this.#isListed(handle)) continue
      if (seen > MAX_KEPT_BETWEEN) {
        this.#unlist(this.#list.indexOf(handle))
        continue
      }
      if (keep.size === 0) bookmark = handle
      keep.add(i)
    }
    this.#open.charge(block - entry.index + this.#list.length)
    if (bookmark !== null) {
      this.#list.splice(this.#list.indexOf(entry), 1)
      this.#list.splice(this.#list.indexOf(bookmark) + 1, 0, entry)
    }
    this.#open.adopt(entry.index, block, keep)
  }

  #isListed(handle: Handle | null): handle is Formatting {
    return handle !== null && 'listed' in handle && handle.listed === true
  }

  /** Position of the last entry of this name behind the last marker, or -1. */
  #lastIndexOf(name: string): number {
    for (let i = this.#list.length - 1; i >= 0; i--) {
      const entry = this.#list[i]
      this.#open.charge(1)
      if (entry === null) return -1
      if (entry.name === name) return i
    }
    return -1
  }

  #unlist(position: number): void {
    this.#open.charge(this.#list.length - position)
    const [entry] = this.#list.splice(position, 1)
    if (entry) entry.listed = false
  }
}
