/**
 * The stack, the marks and the memo of a pickle, with the rules that CPython's unpickler has for them. Memory is counted
 * before it is taken.
 */
import { printable, type Place } from '../../core/errors.js'
import { Opaque, type Tensor } from '../tensors/tensor.js'
import { torchFault } from './faults.js'
import type { PickleBytes } from './pickle-bytes.js'

/** A value while it is built. A tuple is an array that is frozen. */
export type PickleValue = null | boolean | number | bigint | string | Uint8Array | Tensor | Opaque | readonly PickleValue[] | PickleDict

export type PickleDict = Map<PickleValue, PickleValue>

/** What names, calls and persistent ids of a pickle stand for. `offset` is the place of the opcode, for a fault. */
export interface PickleNames {
  global(module: string, name: string): Opaque
  /** the result of a call that is not made */
  reduce(callee: Opaque, args: readonly PickleValue[], offset: number): PickleValue
  persistent(id: PickleValue, offset: number): PickleValue
}

/** An object whose state follows with BUILD. Until then it is not read. */
export abstract class Unbuilt extends Opaque {
  /** entries of the memo that it stands in, which is before its state is known */
  readonly entries: number[] = []

  /** What it is with its state. */
  abstract build(state: PickleValue, place: Place): PickleValue
}

/** Bytes as protocol 2 has them: a call with a text. numpy's elements are such; as a value of the tree they are not read. */
export class EncodedBytes extends Opaque {
  constructor(
    name: string,
    readonly bytes: Uint8Array<ArrayBuffer>
  ) {
    super('torch', name, 'a plain value or a tensor')
  }
}

const EMPTY_TUPLE: readonly PickleValue[] = Object.freeze([])

/** What an object takes in memory, about. */
const LIST_BYTES = 96
const DICT_BYTES = 256
const BYTES_BYTES = 256
const VALUE_BYTES = 32
const ITEM_BYTES = 8
/** A dict entry: key, value, and the tables of a Map. */
const ENTRY_BYTES = 40
/** A byte of a text of numpy, which has four for a character. */
const TEXT_BYTES = 16
const MAX_STACK = 2 ** 26
/** Most entries of one Map. */
const MAX_ENTRIES = 2 ** 23

export class PickleMachine {
  /** lists, tuples and dicts that were referred to more than once */
  readonly shared = new Set<PickleValue>()
  /** offset of the opcode that is carried out */
  opcodeAt = 0
  readonly #names: PickleNames
  readonly #maxMemory: number
  /** of the first byte */
  readonly #place: Place
  readonly #stack: PickleValue[] = []
  /** heights of the stack at the open marks */
  readonly #marks: number[] = []
  /** height below which nothing is popped */
  #fence = 0
  readonly #memo: PickleValue[] = []
  /** memo entries beyond the first that is missing */
  readonly #scattered = new Map<number, PickleValue>()
  #memory = 0

  /**
   * @param maxMemory most bytes of all values, about. A pickle can ask for a hundred times its size: an opcode of one byte
   * makes a dict.
   */
  constructor(names: PickleNames, maxMemory: number, place: Place) {
    this.#names = names
    this.#maxMemory = maxMemory
    this.#place = place
  }

  push(value: PickleValue): void {
    if (this.#stack.length === MAX_STACK) throw this.#large(`more than ${MAX_STACK} values on the stack`, MAX_STACK)
    this.#stack.push(value)
  }

  /** A value with memory of its own. @param end offset behind it: it takes about as many bytes as in the pickle */
  pushSized(value: string | Uint8Array | bigint | number | boolean, end: number): void {
    if (typeof value === 'object') this.#spend(BYTES_BYTES + value.length)
    else if (typeof value === 'string' || typeof value === 'bigint') this.#spend(VALUE_BYTES + end - this.opcodeAt)
    this.push(value)
  }

  pushList(items: PickleValue[]): void {
    this.#spend(LIST_BYTES + ITEM_BYTES * items.length)
    this.push(items)
  }

  pushTuple(items: PickleValue[]): void {
    if (items.length > 0) this.#spend(LIST_BYTES + ITEM_BYTES * items.length)
    this.push(items.length > 0 ? Object.freeze(items) : EMPTY_TUPLE)
  }

  pushDict(items: readonly PickleValue[]): void {
    this.#spend(DICT_BYTES)
    this.push(new Map())
    this.setItems(items)
  }

  pushGlobal(module: PickleValue, name: PickleValue): void {
    if (typeof name !== 'string' || typeof module !== 'string') throw this.fault('a global without a name', 'texts for module and name')
    this.#spend(DICT_BYTES + module.length + name.length)
    this.push(this.#names.global(module, name))
  }

  /** Opens a mark, with the numbers that follow it. */
  mark(from: PickleBytes): void {
    if (this.#marks.length === MAX_STACK) throw this.#large(`more than ${MAX_STACK} marks`, MAX_STACK)
    this.#fence = this.#stack.length
    this.#marks.push(this.#fence)
    from.numbers(this.#stack, MAX_STACK)
  }

  top(): PickleValue {
    if (this.#stack.length <= this.#fence) throw this.fault('an empty stack', 'a value on it')
    return this.#stack[this.#stack.length - 1]
  }

  pop(): PickleValue {
    const value = this.top()
    this.#stack.pop()
    return value
  }

  /** The last `count` values, in order. */
  popMany(count: number): PickleValue[] {
    const start = this.#stack.length - count
    if (start < this.#fence) throw this.fault(`${this.#stack.length - this.#fence} values on the stack`, `${count}`)
    return this.#stack.splice(start, count)
  }

  /** The values since the last mark, which is closed. */
  popMark(): PickleValue[] {
    const start = this.#marks.pop()
    if (start === undefined) throw this.fault('no mark', 'one')
    this.#fence = this.#marks.at(-1) ?? 0
    const values = this.#stack.slice(start)
    this.#stack.length = start
    return values
  }

  /** A value, or a mark without values: what `pickle.py` takes to be one thing. */
  discard(): void {
    if (this.#stack.length === this.#fence && this.#marks.length > 0) this.popMark()
    else this.pop()
  }

  /** The only value that is left. */
  result(): PickleValue {
    const value = this.pop()
    const left = this.#stack.length + this.#marks.length
    if (left > 0) throw this.fault(`${left} values and marks left at the end`, 'none')
    return value
  }

  duplicate(): void {
    this.#share(this.top())
    this.push(this.top())
  }

  /** Stores the top of the stack in the memo. */
  put(index: number = this.#memo.length + this.#scattered.size): void {
    const value = this.top()
    if (value instanceof Unbuilt) {
      this.#spend(ITEM_BYTES)
      value.entries.push(index)
    }
    if (index === this.#memo.length) this.#memo.push(value)
    else if (index < this.#memo.length) this.#memo[index] = value
    else {
      if (this.#scattered.size === MAX_ENTRIES) throw this.#large(`more than ${MAX_ENTRIES} memo entries out of order`, MAX_ENTRIES)
      this.#scattered.set(index, value)
    }
  }

  get(index: number): void {
    const value = index < this.#memo.length ? this.#memo[index] : this.#scattered.get(index)
    if (value === undefined) throw this.fault(`memo entry ${index}`, 'one that was stored')
    this.#share(value)
    this.push(value)
  }

  append(items: readonly PickleValue[]): void {
    const list = this.top()
    // the state of an object that is not read
    if (list instanceof Opaque) return
    if (!isList(list)) throw this.fault(`items for ${pickleKind(list)}`, 'for a list')
    this.#spend(ITEM_BYTES * items.length)
    for (const item of items) list.push(item)
  }

  setItems(items: readonly PickleValue[]): void {
    const dict = this.top()
    if (items.length % 2 === 1) throw this.fault('a key without a value', 'pairs')
    if (dict instanceof Opaque) return
    if (!(dict instanceof Map)) throw this.fault(`keys for ${pickleKind(dict)}`, 'for a dict')
    this.#spend((ENTRY_BYTES * items.length) / 2)
    for (let i = 0; i < items.length; i += 2) {
      const problem = setItem(dict, items[i], items[i + 1])
      if (problem !== null) throw this.fault(problem.found, problem.expected)
    }
  }

  addItems(): void {
    this.popMark()
    if (!(this.top() instanceof Opaque)) throw this.fault(`members for ${pickleKind(this.top())}`, 'for a set')
  }

  persist(): void {
    this.#spend(DICT_BYTES)
    this.push(this.#names.persistent(this.pop(), this.opcodeAt))
  }

  call(callee: PickleValue, args: PickleValue): void {
    if (!(callee instanceof Opaque)) throw this.fault(`a call of ${pickleKind(callee)}`, 'of a name')
    if (!Array.isArray(args) || isList(args)) throw this.fault(`${pickleKind(args)} of arguments`, 'a tuple')
    // Arguments that are stored once may be those of many calls.
    this.#spend(DICT_BYTES + ITEM_BYTES * args.length)
    this.#spendParts(args)
    this.push(this.#names.reduce(callee, args, this.opcodeAt))
  }

  /** Gives an object its state. Attributes of an object that is not read, or of an OrderedDict, are dropped. */
  build(): void {
    const state = this.pop()
    const target = this.top()
    if (target instanceof Unbuilt) {
      this.#replaceTop(target, this.#buildOf(target, state))
      return
    }
    if (!(target instanceof Opaque) && !(target instanceof Map)) throw this.fault(`attributes for ${pickleKind(target)}`, 'for an object')
  }

  /** What is made of values may hold each of them anew, and texts take more than the bytes that they are made of. */
  #spendParts(parts: readonly PickleValue[]): void {
    for (const part of parts) {
      if (Array.isArray(part)) this.#spend(ENTRY_BYTES * part.length)
      else if (typeof part === 'string') this.#spend(part.length)
      else if (part instanceof Uint8Array) this.#spend(TEXT_BYTES * part.length)
      else if (part instanceof EncodedBytes) this.#spend(TEXT_BYTES * part.bytes.length)
    }
  }

  #buildOf(target: Unbuilt, state: PickleValue): PickleValue {
    this.#spend(DICT_BYTES)
    if (Array.isArray(state)) this.#spendParts(state)
    return target.build(state, this.#here())
  }

  /** Puts an object with its state in the places of the one without. */
  #replaceTop(target: Unbuilt, value: PickleValue): void {
    this.#stack[this.#stack.length - 1] = value
    for (const index of target.entries) {
      if (index < this.#memo.length) {
        if (this.#memo[index] === target) this.#memo[index] = value
      } else if (this.#scattered.get(index) === target) this.#scattered.set(index, value)
    }
  }

  fault(found: string, expected: string): Error {
    return torchFault('malformed pickle', found, expected, this.#here())
  }

  #share(value: PickleValue): void {
    if (!(Array.isArray(value) || value instanceof Map) || value === EMPTY_TUPLE) return
    if (this.shared.size === MAX_ENTRIES) throw this.#large(`more than ${MAX_ENTRIES} shared lists`, MAX_ENTRIES)
    this.shared.add(value)
  }

  #spend(bytes: number): void {
    this.#memory += bytes
    if (this.#memory > this.#maxMemory) throw this.#large(`values of more than ${this.#maxMemory} bytes`, this.#maxMemory)
  }

  #large(found: string, most: number): Error {
    return torchFault('pickle too large', found, `at most ${most}`, this.#here())
  }

  #here(): Place {
    return { ...this.#place, offset: (this.#place.offset ?? 0) + this.opcodeAt }
  }
}

function isList(value: PickleValue): value is PickleValue[] {
  return Array.isArray(value) && !Object.isFrozen(value)
}

/** Adds an entry. @returns what is wrong with it, or null */
export function setItem(
  dict: PickleDict,
  key: PickleValue,
  value: PickleValue
): { readonly found: string; readonly expected: string } | null {
  if (isList(key) || key instanceof Map) return { found: `${pickleKind(key)} as a key`, expected: 'a text, a number or a tuple' }
  if (dict.has(key))
    return { found: `the key ${typeof key === 'object' ? pickleKind(key) : printable(String(key))} twice`, expected: 'each key once' }
  if (dict.size === MAX_ENTRIES) return { found: `more than ${MAX_ENTRIES} keys`, expected: `at most ${MAX_ENTRIES}` }
  dict.set(key, value)
  return null
}

/** What a value is, in the words of a message. */
export function pickleKind(value: PickleValue): string {
  if (value === null) return 'None'
  if (Array.isArray(value)) return isList(value) ? 'a list' : 'a tuple'
  if (value instanceof Map) return 'a dict'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof Opaque) return printable(value.name)
  return typeof value === 'object' ? 'a tensor' : `a ${typeof value}`
}
