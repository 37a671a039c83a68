/**
 * Whole columns of a Parquet file as lines of text, one a row, in the form of fixtures/parquet/make.py: the pages are the
 * project's, their nesting is put together by hyparquet.
 */
import { createHash } from 'node:crypto'
import { parquetSchema, type SchemaElement, type SchemaTree } from 'hyparquet'
import { assembleLists, assembleNested } from 'hyparquet/src/assemble.js'
import { DEFAULT_PARSERS, parseFloat16 } from 'hyparquet/src/convert.js'
import { readFooter, type Footer } from '../../src/ingest/parquet/footer.js'
import { columnPages, type Page } from '../../src/ingest/parquet/pages.js'
import type { Leaf } from '../../src/ingest/parquet/schema.js'
import type { SchemaNode } from '../../src/schema/outputs/evidence-parts.js'
import type { ByteSource } from '../../src/core/byte-source.js'
import { openStill } from '../../src/core/still-file.js'

export interface ColumnReading {
  readonly first: string | null
  readonly last: string | null
  readonly sha256: string
}

type Nested = string | null | undefined | readonly Nested[] | { readonly [key: string]: Nested }

export async function readColumns(path: string): Promise<{ footer: Footer; columns: Record<string, ColumnReading> }> {
  const file = await openStill(path)
  try {
    const footer = await readFooter(file)
    const tree = parquetSchema({
      schema: footer.metadata.schema.map(element => ({ repetition_type: 'REQUIRED' as const, ...present(element) }))
    })
    const columns: Record<string, ColumnReading> = {}
    for (const node of footer.schema.children) {
      const lines: string[] = []
      for (let g = 0; g < footer.groups.length; g++) {
        const rows = await readGroup(file, footer, g, node, tree)
        if (rows.length !== footer.groups[g].rows) throw new Error(`${rows.length} rows of ${node.name}`)
        for (const row of rows) lines.push(text(row, node))
      }
      columns[node.name] = {
        first: lines[0] ?? null,
        last: lines.at(-1) ?? null,
        sha256: createHash('sha256')
          .update(lines.map(line => `${line}\n`).join(''))
          .digest('hex')
      }
    }
    return { footer, columns }
  } finally {
    await file.close()
  }
}

function present(element: SchemaElement): SchemaElement {
  return Object.fromEntries(Object.entries(element).filter(([, value]) => value !== undefined)) as unknown as SchemaElement
}

async function readGroup(source: ByteSource, footer: Footer, index: number, node: SchemaNode, tree: SchemaTree): Promise<Nested[]> {
  const group = footer.groups[index]
  const data = new Map<string, Nested[]>()
  const top = tree.children.find(child => child.element.name === node.name)!
  for (const chunk of group.chunks) {
    const { leaf } = chunk
    if (leaf.path[0] !== node.name) continue
    const steps = [tree]
    for (const name of leaf.path) steps.push(steps.at(-1)!.children.find(child => child.element.name === name)!)
    const output: Nested[] = []
    for await (const page of columnPages(source, group, chunk, { pages: 0, checksummed: 0 })) {
      const values = texts(page, leaf)
      if (leaf.path.length === 1 && leaf.repetition === 0) {
        let next = 0
        for (let i = 0; i < page.levels; i++) output.push(page.definition === null || page.definition[i] === 1 ? values[next++] : null)
      } else if (leaf.definition === 0) {
        for (const value of values) output.push(value)
      } else {
        assembleLists(output, [...page.definition!], page.repetition === null ? [] : [...page.repetition], values, steps)
      }
    }
    data.set(leaf.path.join('.'), output)
  }
  if (top.children.length > 0 && group.rows > 0) assembleNested(data as Map<string, never[]>, top, DEFAULT_PARSERS)
  return data.get(node.name) ?? []
}

function text(value: Nested, node: SchemaNode, isElement = false): string {
  if (value === null || value === undefined) return 'n'
  if (typeof value === 'string') return value
  const list = (element: SchemaNode): string => {
    if (!Array.isArray(value)) throw new Error(`no list at ${node.name}`)
    return `[${(value as readonly Nested[]).map(item => text(item, element, true)).join(',')}]`
  }
  if (node.repetition === 'REPEATED' && !isElement) return list(node)
  if (node.logical === 'LIST') {
    const [child] = node.children
    return list(child.children.length === 1 && child.logical === null && child.name !== 'array' ? child.children[0] : child)
  }
  const fields = value as { readonly [key: string]: Nested }
  if (node.logical === 'MAP') {
    const item = node.children[0].children[1]
    return `{${Object.entries(fields)
      .map(([key, v]) => `${key}:${text(v, item)}`)
      .join(',')}}`
  }
  return `{${node.children.map(child => `${child.name}:${text(fields[child.name], child)}`).join(',')}}`
}

function texts({ values, indexes }: Page, leaf: Leaf): string[] {
  const own = Array.from(values as ArrayLike<unknown>, value => leafText(value, leaf))
  return indexes === null ? own : Array.from(indexes, index => own[index])
}

function leafText(value: unknown, { node, element }: Leaf): string {
  const { logical } = node
  if (typeof value === 'boolean') return value ? 't' : 'f'
  if (typeof value === 'bigint') return `i${logical?.startsWith('UINT') ? BigInt.asUintN(64, value) : value}`
  if (typeof value === 'number') {
    if (element.type === 'INT32') return `i${logical?.startsWith('UINT') ? value >>> 0 : value}`
    return double(value)
  }
  if (!(value instanceof Uint8Array)) throw new Error(`a value of type ${typeof value}`)
  const bytes = Buffer.from(value)
  if (logical?.startsWith('DECIMAL')) return `i${BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`))}`
  if (logical === 'FLOAT16') return double(parseFloat16(value)!)
  return logical === 'STRING' ? `s${JSON.stringify(bytes.toString('utf8'))}` : `x${bytes.toString('hex')}`
}

function double(value: number): string {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return `d${bytes.toString('hex')}`
}
