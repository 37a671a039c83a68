/**
 * The schema of a Parquet file as a tree, with its leaves: the columns that hold data, in the order of the file.
 * Levels follow Dremel, as parquet-format states: an optional or repeated node adds one definition level, and a repeated
 * node also adds one repetition level.
 */
import type { LogicalType, SchemaElement } from 'hyparquet'
import { count, malformedParquet } from './faults.js'
import { printable } from '../../core/errors.js'
import type { SchemaNode } from '../../schema/outputs/evidence-parts.js'

/** A node with the levels and columns that the readers need. */
export interface PlacedNode {
  readonly node: SchemaNode
  /** names from below the root */
  readonly path: readonly string[]
  /** lowest definition level at which the value is present and not null */
  readonly definition: number
  readonly repetition: number
  /** index of the first column below the node, or of the node itself; null for a group without columns */
  readonly firstLeaf: number | null
}

export interface Leaf extends PlacedNode {
  readonly element: SchemaElement
  /** 0-based position among the columns of every row group */
  readonly index: number
}

export interface Schema {
  readonly children: readonly SchemaNode[]
  /** every node below the root, depth first */
  readonly nodes: readonly PlacedNode[]
  readonly leaves: readonly Leaf[]
}

const MAX_DEPTH = 64

export function buildSchema(elements: readonly SchemaElement[]): Schema {
  const nodes: PlacedNode[] = []
  const leaves: Leaf[] = []
  let next = 0

  const build = (path: readonly string[], definition: number, repetition: number): SchemaNode => {
    const element = elements[next++]
    if (element === undefined) throw malformedParquet('malformed schema', 'fewer elements than its groups hold', 'all of them')
    if (path.length >= MAX_DEPTH) throw malformedParquet('schema too deep', `more than ${MAX_DEPTH} levels`, 'fewer')
    const name = element.name ?? ''
    const own = [...path, name]
    // Some writers leave the repetition out. As in parquet-cpp, thrift's default holds: the first value of the enum.
    const kind = element.repetition_type ?? 'REQUIRED'
    const placed = {
      path: own,
      definition: definition + (kind === 'REQUIRED' ? 0 : 1),
      repetition: repetition + (kind === 'REPEATED' ? 1 : 0)
    }
    const children: SchemaNode[] = []
    const node: SchemaNode = { name, type: element.type ?? null, logical: annotation(element), repetition: kind, children }
    const at = nodes.length
    const firstLeaf = leaves.length
    nodes.push({ ...placed, node, firstLeaf })
    const length = count(element.num_children ?? 0, 'number of children', elements.length)
    if (element.type !== undefined) {
      if (length > 0) throw malformedParquet('malformed schema', `children of column ${printable(own.join('.'))}`, 'none')
      leaves.push({ ...placed, node, firstLeaf, element, index: firstLeaf })
    }
    for (let i = 0; i < length; i++) children.push(build(own, placed.definition, placed.repetition))
    if (leaves.length === firstLeaf) nodes[at] = { ...placed, node, firstLeaf: null }
    return node
  }

  const root = elements[next++]
  if (root === undefined) throw malformedParquet('malformed schema', 'no elements', 'a root')
  const length = count(root.num_children ?? 0, 'number of children', elements.length)
  const children = Array.from({ length }, () => build([], 0, 0))
  if (next !== elements.length) throw malformedParquet('malformed schema', `${elements.length - next} elements in no group`, 'none')
  return { children, nodes, leaves }
}

/** The only node whose names, joined by dots, are `path`; null without one. */
export function findNode(schema: Schema, path: string): PlacedNode | null {
  const found = schema.nodes.filter(placed => placed.path.join('.') === path)
  if (found.length > 1) throw malformedParquet('ambiguous column', `${found.length} of ${printable(path)}`, 'one of that name')
  return found[0] ?? null
}

function annotation(element: SchemaElement): string | null {
  const { logical_type: logical, converted_type: converted } = element
  // hyparquet represents an annotation that it does not know as an object without a type.
  if (logical?.type !== undefined) return logicalText(logical)
  if (converted === 'DECIMAL') return `DECIMAL(${element.precision ?? 0},${element.scale ?? 0})`
  return converted === 'UTF8' ? 'STRING' : (converted ?? null)
}

function logicalText(logical: LogicalType): string {
  switch (logical.type) {
    case 'DECIMAL':
      return `DECIMAL(${logical.precision},${logical.scale})`
    case 'INTEGER':
      return `${logical.isSigned ? 'INT' : 'UINT'}_${logical.bitWidth}`
    case 'TIME':
    case 'TIMESTAMP':
      return `${logical.type}(${logical.unit}${logical.isAdjustedToUTC ? ',UTC' : ''})`
    default:
      return logical.type
  }
}
