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
import { DECISIVE, findNames, noteOfNull, rowOfRecord, type FoundNames, type RecordValue } from './records.js'
import type { SampleKeys } from '../../schema/sample-keys.js'
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
    const nulls = refuseOtherTypes(footer, keys, found, file)
    const column = (name: string): ColumnRows => columnRows(source, footer, leafOf(leaves, name), file)
    const step = footer.rows > 0 && found.has('step') ? await column(found.get('step') ?? '').next() : null
    const part = rowPart(
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
    return { ...part, notes: [...nulls.map(noteOfNull), ...part.notes] }
  }
}

/**
 * A column of another type under the name of a decisive array is no missing column.
 * @returns names of columns whose type is null
 */
function refuseOtherTypes({ schema }: Footer, keys: SampleKeys, found: FoundNames, file: string): readonly string[] {
  const nulls: string[] = []
  for (const key of DECISIVE) {
    if (found.has(key)) continue
    const leaf = schema.leaves.find(({ path: [name] }) => keys[key].includes(name))
    if (leaf === undefined) continue
    const [array] = leaf.path
    if (leaf.path.length === 1 && NULL_TYPES.includes(leaf.element.logical_type?.type ?? '')) {
      nulls.push(array)
      continue
    }
    const place = { file, array }
    throw new Fault({ format: 'parquet', problem: `wrong ${key}`, found: wordsOf(leaf), expected: 'a column of lists of numbers', place })
  }
  return nulls
}

/** Names that a column of nulls alone has had in the format. */
const NULL_TYPES: readonly string[] = ['NULL', 'UNKNOWN']

function wordsOf({ element, path, repetition }: Leaf): string {
  if (repetition > 1) return 'a column of lists of lists'
  if (repetition === 1) return `a column of lists of ${element.type}`
  return path.length > 1 ? 'a column of structs' : `a column of ${element.type}`
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
