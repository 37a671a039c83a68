/** The files of a folder of outputs that hold what its figures draw, read at most once each. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Table } from 'apache-arrow'
import { Fault } from '../../core/errors.js'
import type { Infer, Kind } from '../../core/checker.js'
import { comparingWords } from '../../core/still.js'
import { readWhole } from '../../core/still-file.js'
import { readJsonFile } from '../../core/strict-json.js'
import { errorCode } from '../../core/paths.js'
import { MAX_CSV_BYTES, readCsv } from '../../ingest/csv/table.js'

const MAX_JSON_BYTES = 256 * 1024 * 1024
/** Points of curves: 80 bytes each. */
const MAX_POINTS_BYTES = 2 ** 30

/** A CSV output. */
export interface DataTable {
  readonly rows: ReadonlyArray<readonly string[]>
  /** Number of a column. @throws Fault exit 3: it has none of this name */
  column(name: string): number
}

export class DataFiles {
  readonly root: string
  readonly #documents = new Map<string, unknown>()
  readonly #tables = new Map<string, DataTable>()
  #points: Table | null = null

  constructor(root: string) {
    this.root = root
  }

  async has(path: string): Promise<boolean> {
    return stat(join(this.root, path)).then(
      () => true,
      (error: unknown) => {
        if (errorCode(error) === 'ENOENT') return false
        throw error
      }
    )
  }

  /** A JSON output, checked against its kind. @throws Fault exit 3 */
  async json<K extends Kind<unknown>>(path: string, kind: K): Promise<Infer<K>> {
    const file = join(this.root, path)
    if (!this.#documents.has(path)) {
      const { value } = await readJsonFile(file, 'output', MAX_JSON_BYTES)
      this.#documents.set(path, kind.read(value, '', { format: 'output', place: { file }, paths: [] }))
    }
    return this.#documents.get(path) as Infer<K>
  }

  /** @throws Fault exit 3 */
  async csv(path: string): Promise<DataTable> {
    const known = this.#tables.get(path)
    if (known !== undefined) return known
    const file = join(this.root, path)
    const { head, rows } = readCsv(await readWhole(file, comparingWords('csv'), MAX_CSV_BYTES), file)
    const column = (name: string): number => {
      const at = head.indexOf(name)
      if (at >= 0) return at
      throw new Fault({ format: 'csv', problem: 'missing column', found: 'nothing', expected: name, place: { file } })
    }
    const table = { rows, column }
    this.#tables.set(path, table)
    return table
  }

  /** An Arrow file, as a table. @throws Fault exit 3 */
  async arrow(path: string): Promise<Table> {
    if (this.#points !== null) return this.#points
    const file = join(this.root, path)
    const [{ loadArrow }, bytes] = await Promise.all([
      import('../../render/outputs/arrow-library.js'),
      readWhole(file, comparingWords('arrow'), MAX_POINTS_BYTES)
    ])
    try {
      this.#points = loadArrow().tableFromIPC(bytes)
    } catch (cause) {
      throw new Fault({ format: 'arrow', problem: 'unreadable file', found: 'bytes that apache-arrow refuses', place: { file }, cause })
    }
    return this.#points
  }
}
