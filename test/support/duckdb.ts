/** DuckDB as a second reader of tables. Only tests load it. */
import { DuckDBInstance, type DuckDBValue } from '@duckdb/node-api'

/** Names and types of the columns, and all rows. */
export async function queryDuckDb(
  sql: string
): Promise<{ readonly columns: readonly string[]; readonly rows: ReadonlyArray<readonly DuckDBValue[]> }> {
  const instance = await DuckDBInstance.create(':memory:')
  try {
    const connection = await instance.connect()
    try {
      const read = await connection.runAndReadAll(sql)
      return { columns: read.columnNames().map((name, i) => `${name} ${read.columnType(i).toString()}`), rows: read.getRows() }
    } finally {
      connection.closeSync()
    }
  } finally {
    instance.closeSync()
  }
}
