/**
 * Audits a Parquet file as evidence: identity, shape, schema, how the texts of its rows match patterns, whether a field is
 * present. It is read by row group, column and page. Every column is decoded, so that a damaged one is found, unless the
 * request restricts decoding to the columns it needs.
 *
 * Page checksums: a CRC-32 in a page header is checked on every page that is decoded; a wrong one is a Fault (exit 1).
 * Most writers leave it out. The audit states how many of the pages read had one. The file's SHA-256 covers the rest.
 */
import { nearest, printable } from '../../core/errors.js'
import { withoutSecrets } from '../../core/secrets.js'
import { comparingWords } from '../../core/still.js'
import { openStill } from '../../core/still-file.js'
import { toParquetFault, malformedParquet } from './faults.js'
import { describeColumn, readFooter, type Chunk, type Footer } from './footer.js'
import { compilePatterns, PresenceCounter, TextCounter, type PageVisitor, type TextMatches, type TextPattern } from './matching.js'
import { columnPages, type PageTally } from './pages.js'
import type { SchemaNode } from '../../schema/outputs/evidence-parts.js'
import { findNode } from './schema.js'
import type { ByteSource } from '../../core/byte-source.js'

export interface DatasetRequest {
  /** texts to count; the column is the first of `columns` (dotted paths, `extra_info.task_path`) that the schema has */
  readonly texts?: {
    readonly columns: readonly string[]
    /** by name; see `TextPattern` */
    readonly patterns: Readonly<Record<string, TextPattern>>
  }
  /** dotted path of an optional field (`extra_info.agent_harness`) */
  readonly field?: string
  /** columns to decode: all (default), so that a damaged one is found, or those that `texts` and `field` need */
  readonly decode?: 'all' | 'requested'
}

export interface ParquetAuditOptions {
  readonly signal?: AbortSignal | undefined
  /** called with the number of bytes of each step while the file is hashed; the sum is the file's size */
  readonly onBytes?: (bytes: number) => void
}

export interface FieldPresence {
  readonly path: string
  readonly inSchema: boolean
  /** number of rows with a value that is not null; 0 if the schema has no such field */
  readonly nonNullRows: number
}

export interface DatasetAudit {
  /** of the whole file, lower-case hexadecimal */
  readonly sha256: string
  readonly bytes: number
  readonly rows: number
  readonly rowGroups: number
  /** number of leaf columns */
  readonly columns: number
  /** number of columns whose pages were decoded; of the others only the footer and the file's SHA-256 were checked */
  readonly columnsDecoded: number
  readonly createdBy: string | null
  /** codecs and encodings that the footer states for any column, in alphabetical order */
  readonly codecs: readonly string[]
  readonly encodings: readonly string[]
  readonly schema: readonly SchemaNode[]
  /** keys of the file's key-value metadata in file order; the values are left out, since they may be large or private */
  readonly metadataKeys: readonly string[]
  /** number of pages decoded, and of those with a CRC-32, which was right */
  readonly checked: Readonly<PageTally>
  /** null where the request has no `texts` */
  readonly texts: TextMatches | null
  /** null where the request has no `field` */
  readonly field: FieldPresence | null
}

/**
 * Audits the file at `path`. Memory holds the footer, one megabyte, and one page at a time.
 * @throws Fault exit 3 for anything but an intact, unencrypted Parquet file, or if no candidate column is in the schema;
 * exit 1 for a wrong page checksum or a file that changed while it was read
 */
export async function auditParquet(path: string, request: DatasetRequest = {}, options: ParquetAuditOptions = {}): Promise<DatasetAudit> {
  const tests = compilePatterns(request.texts?.patterns ?? {})
  const file = await openStill(path, comparingWords('parquet'))
  try {
    // A file that is not Parquet is refused before it is hashed.
    const footer = await readFooter(file)
    const sha256 = await file.sha256(options)
    const texts = request.texts === undefined ? null : textCounter(footer, request.texts.columns, tests)
    const field = request.field === undefined ? null : fieldCounter(footer, request.field)
    const visitors: LeafVisitor[] = []
    if (texts !== null) visitors.push(texts)
    if (field?.visitor !== undefined) visitors.push(field.visitor)
    const all = request.decode !== 'requested'
    const checked = await visitColumns(file, footer, visitors, all, options.signal)
    await file.assertStill()
    const { metadata, schema, groups } = footer
    const metas = groups.flatMap(group => group.chunks.map(chunk => chunk.meta))
    return {
      sha256,
      bytes: file.size,
      rows: footer.rows,
      rowGroups: groups.length,
      columns: schema.leaves.length,
      columnsDecoded: all ? schema.leaves.length : new Set(visitors.map(({ leaf }) => leaf)).size,
      createdBy: metadata.created_by === undefined ? null : withoutSecrets(metadata.created_by),
      codecs: distinct(metas.map(meta => meta.codec)),
      encodings: distinct(metas.flatMap(meta => meta.encodings ?? [])),
      schema: schema.children,
      metadataKeys: metadata.key_value_metadata?.map(entry => entry.key) ?? [],
      checked,
      texts: texts === null ? null : texts.counter.result(),
      field:
        field === null
          ? null
          : {
              path: field.path,
              inSchema: field.inSchema,
              nonNullRows: field.visitor?.counter.result() ?? 0
            }
    }
  } catch (error) {
    if (options.signal?.aborted === true) throw error
    throw toParquetFault(error, 'unreadable', { file: path })
  } finally {
    await file.close()
  }
}

interface LeafVisitor<Counter extends PageVisitor = PageVisitor> {
  readonly leaf: number
  readonly counter: Counter
}

function textCounter(
  { schema }: Footer,
  candidates: readonly string[],
  tests: ReturnType<typeof compilePatterns>
): LeafVisitor<TextCounter> {
  for (const path of candidates) {
    const node = findNode(schema, path)
    if (node === null) continue
    const leaf = schema.leaves.find(({ node: own }) => own === node.node)
    if (leaf === undefined) throw malformedParquet('wrong column type', `${printable(path)} is a group`, 'a text')
    try {
      return { leaf: leaf.index, counter: new TextCounter(leaf, tests) }
    } catch (error) {
      throw toParquetFault(error, 'unreadable', { array: describeColumn(leaf) })
    }
  }
  const near = nearest(
    candidates[0],
    schema.leaves.map(leaf => leaf.path.join('.'))
  )
  const hint = near === null ? '' : `; did you mean ${printable(near)}?`
  throw malformedParquet('missing column', `none of ${printable(candidates.join(', '))}`, `one of them in the schema${hint}`)
}

function fieldCounter(
  { schema }: Footer,
  path: string
): {
  readonly path: string
  readonly inSchema: boolean
  readonly visitor?: LeafVisitor<PresenceCounter>
} {
  const node = findNode(schema, path)
  // A group without columns has no levels to read: no row can show a value.
  if (node === null || node.firstLeaf === null) return { path, inSchema: node !== null }
  return { path, inSchema: true, visitor: { leaf: node.firstLeaf, counter: new PresenceCounter(node) } }
}

/** Most bytes that the pages of a request may inflate to: 4 GiB, or this multiple of the columns' size in the file. */
const FREE_BYTES = 4 * 1024 ** 3
const MAX_RATIO = 256
/** Most values of the pages, about ten seconds; or 64 per byte of the file. A run states any number in five bytes. */
const FREE_VALUES = 2 ** 30
const VALUES_PER_BYTE = 64

async function visitColumns(
  source: ByteSource,
  { groups }: Footer,
  visitors: readonly LeafVisitor[],
  all: boolean,
  signal?: AbortSignal
): Promise<PageTally> {
  const tally: PageTally = { pages: 0, checksummed: 0 }
  const wanted = groups.map(group => ({
    group,
    chunks: group.chunks.filter(chunk => all || visitors.some(visitor => visitor.leaf === chunk.leaf.index))
  }))
  refuseBombs(wanted.flatMap(({ chunks }) => chunks))
  for (const { group, chunks } of wanted) {
    for (const chunk of chunks) {
      const own = visitors.filter(visitor => visitor.leaf === chunk.leaf.index)
      for await (const page of columnPages(source, group, chunk, tally, signal)) {
        try {
          for (const { counter } of own) counter.page(page)
        } catch (error) {
          throw toParquetFault(error, 'unreadable', { member: `row group ${group.index}`, array: describeColumn(chunk.leaf) })
        }
      }
    }
  }
  return tally
}

/** Refuses, before anything is inflated, columns whose footer states more than their bytes can hold. */
export function refuseBombs(chunks: readonly Chunk[]): void {
  const stored = chunks.reduce((sum, chunk) => sum + chunk.end - chunk.start, 0)
  const inflated = chunks.reduce((sum, chunk) => sum + chunk.uncompressedBytes, 0)
  const limit = Math.max(FREE_BYTES, MAX_RATIO * stored)
  if (inflated > limit) throw malformedParquet('inflates too far', `${inflated} bytes from ${stored}`, `at most ${limit}`)
  const values = chunks.reduce((sum, chunk) => sum + chunk.values, 0)
  const most = Math.max(FREE_VALUES, VALUES_PER_BYTE * stored)
  if (values > most) throw malformedParquet('too many values', `${values} in ${stored} bytes`, `at most ${most}`)
}

function distinct(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}
