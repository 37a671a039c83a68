/**
 * Whether a tree of a pickle can be walked. A pickle can put a list into itself, nest lists a million deep, or refer to one
 * list many times, level above level: 40 lists of two references each are a tree of 2^40.
 */
import type { Fault, Place } from '../../core/errors.js'
import { torchFault } from './faults.js'
import type { Pickle } from './pickle.js'
import type { PickleDict, PickleValue } from './pickle-machine.js'

/** Deepest nesting, as in JSON. */
const MAX_DEPTH = 1024
/** Most values of the tree for each byte of the pickle, beside those that any tree may have. */
const VALUES_PER_BYTE = 64
const FREE_VALUES = 2 ** 20

interface Measure {
  /** values of the tree below, each as often as it stands there */
  readonly size: number
  /** levels below */
  readonly height: number
}

type Container = readonly PickleValue[] | PickleDict

function isContainer(value: PickleValue): value is Container {
  return typeof value === 'object' && (Array.isArray(value) || value instanceof Map)
}

/** @throws Fault for a tree with a cycle, deeper than `MAX_DEPTH`, or many times larger than its pickle */
export function checkTree({ value, length, shared }: Pickle, place: Place): void {
  const most = FREE_VALUES + VALUES_PER_BYTE * length
  const tooDeep = (): Fault => torchFault('pickle too deep', `more than ${MAX_DEPTH} levels`, 'fewer', place)
  // What is referred to once is met once. Of the others the measure is kept; null while they are open.
  const known = new Map<Container, Measure | null>()

  const measure = (node: Container, depth: number): Measure => {
    const before = known.get(node)
    if (before === null) throw torchFault('malformed pickle', 'a list or dict that contains itself', 'a tree', place)
    if (before !== undefined) {
      if (depth + before.height > MAX_DEPTH) throw tooDeep()
      return before
    }
    const isShared = shared.has(node)
    if (isShared) known.set(node, null)
    const result = measureChildren(node, depth)
    if (isShared) known.set(node, result)
    return result
  }

  const measureChildren = (node: Container, depth: number): Measure => {
    if (depth > MAX_DEPTH) throw tooDeep()
    let size = node instanceof Map ? 2 * node.size : node.length
    let height = 0
    const add = (child: PickleValue): void => {
      if (!isContainer(child)) return
      const inner = measure(child, depth + 1)
      size += inner.size
      height = Math.max(height, inner.height + 1)
      if (size > most) throw torchFault('pickle too large', `a tree of more than ${most} values`, `at most ${most}`, place)
    }
    if (node instanceof Map) {
      for (const [key, child] of node) {
        add(key)
        add(child)
      }
    } else {
      for (const child of node) add(child)
    }
    return { size, height }
  }

  if (isContainer(value)) measure(value, 1)
}
