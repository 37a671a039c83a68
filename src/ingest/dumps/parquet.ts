/**
 * Parquet files with one row a sample: a list column for what every token has. The columns are read side by side, page by page, so
 * that memory holds a page of each.
 */
import type { ByteSource } from '../../core/byte-source.js'
import { Fault, printable } from '../../core/errors.js'
import { refuseBombs } from '../parquet/audit.js'
import { readFooter, type Footer } from '../parquet/footer.js'
import { PARQUET_MAGIC } from './magic.js'
import type { DumpFormat, PlacedRow } from './part.js'
import { columnRows, kindOfLeaf, nameOfLeaf, type ColumnRows } from './parquet-column.js'
import { findNames, rowOfRecord, type RecordValue } from './records.js'
import { rowPart } from './row-part.js'
import type { Leaf } from '../parquet/schema.js'

export const PARQUET_DUMP: DumpFormat = {
  name: 'parquet',
  async recognises(head, source) {
    if (!PARQUET_MAGIC.every((byte, i) => head[i] === byte)) return false
    try {
      return (await readFooter(source)).schema.leaves.some(leaf => kindOfLeaf(leaf) === 'list')
    } catch (error) {
      if (error instanceof Fault) return false
      throw error
    }
  },
  async open({ name: file, source }, keys) {
    const footer = await readChecked(source, file)
    const { leaves, ambiguous } = leavesByName(footer)
    const found = findNames(keys, (name, kind) => {
      const leaf = leaves.get(name)
      return leaf !== undefined && kindOfLeaf(leaf) === kind
    })
    for (const name of found.values()) if (ambiguous.has(name)) throw ambiguousColumn(name, file)
    const column = (name: string): ColumnRows => columnRows(source, footer, leafOf(leaves, name), file)
    const step = footer.rows > 0 && found.has('step') ? await column(found.get('step') ?? '').next() : null
    return rowPart(
      {
        format: 'parquet',
        file,
        names: [...leaves.keys()],
        found,
        step: typeof step === 'number' && Number.isSafeInteger(step) && step >= 0 ? step : null,
        rows: footer.rows,
        width: name => (leafOf(leaves, name).element.type === 'FLOAT' ? 'float32' : 'float64'),
        async *read(names, needed): AsyncGenerator<PlacedRow, void, void> {
          const columns = [...names].map(name => ({ name, rows: column(name) }))
          try {
            for (let index = 0; index < footer.rows; index++) {
              const values = new Map<string, RecordValue>()
              for (const { name, rows } of columns) values.set(name, await rows.next())
              const place = { file, trace: index }
              yield { place, read: () => rowOfRecord(values, found, needed, { format: 'parquet', place }) }
            }
            for (const { rows } of columns) await rows.end()
          } finally {
            for (const { rows } of columns) await rows.close()
          }
        }
      },
      keys
    )
  }
}

async function readChecked(source: ByteSource, file: string): Promise<Footer> {
  try {
    const footer = await readFooter(source)
    for (const { chunks } of footer.groups) refuseBombs(chunks)
    return footer
  } catch (error) {
    throw error instanceof Fault ? error.at({ file }) : error
  }
}

function leafOf(leaves: ReadonlyMap<string, Leaf>, name: string): Leaf {
  const leaf = leaves.get(name)
  if (leaf === undefined) throw new Error(`no column ${name}`)
  return leaf
}

interface NamedLeaves {
  readonly leaves: ReadonlyMap<string, Leaf>
  /** names of several columns, as a list of structs has */
  readonly ambiguous: ReadonlySet<string>
}

function leavesByName(footer: Footer): NamedLeaves {
  const leaves = new Map<string, Leaf>()
  const ambiguous = new Set<string>()
  for (const leaf of footer.schema.leaves) {
    const name = nameOfLeaf(leaf)
    if (leaves.has(name)) ambiguous.add(name)
    else leaves.set(name, leaf)
  }
  return { leaves, ambiguous }
}

function ambiguousColumn(name: string, file: string): Fault {
  const found = `two of ${printable(name)}`
  return new Fault({ format: 'parquet', problem: 'ambiguous column', found, expected: 'one of that name', place: { file } })
}
