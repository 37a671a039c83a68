/** Names of the files that shards write, relative to their output folder. */
import type { ShardNumber } from './contract.js'

export const PARTIALS_FOLDER = 'partials'
export const TOKENS_FOLDER = 'tokens'

/** What Hive, Spark, DuckDB and pyarrow take for null. */
const HIVE_NULL = '__HIVE_DEFAULT_PARTITION__'

/** With as many digits as every shard of the run: names are then in the order of the shards. */
export function shardDigits({ index, count }: ShardNumber): string {
  return String(index).padStart(String(count - 1).length, '0')
}

export function partialPath(shard: ShardNumber): string {
  return `${PARTIALS_FOLDER}/shard-${shardDigits(shard)}-of-${shard.count}.arrow`
}

/** Number of shards that the name of a partial states; null: it is no such name. */
export function countOfName(name: string): number | null {
  const [, count] = /^shard-\d+-of-(\d+)\.arrow$/.exec(name) ?? []
  return count === undefined ? null : Number(count)
}

/** Whether a path is one that a shard gives to a file of its dataset. */
export function isTokenPart(path: string, shard: ShardNumber): boolean {
  const [, , , file, ...more] = path.split('/')
  return (
    path.startsWith(`${TOKENS_FOLDER}/snapshot=`) &&
    more.length === 0 &&
    new RegExp(`^part-${shardDigits(shard)}-\\d+\\.parquet$`).test(file)
  )
}

/** `step=112`. @param value a number, or the name of a snapshot's folder, in which nothing has another meaning in a path */
export function hiveFolder(name: string, value: string | null): string {
  return `${name}=${value ?? HIVE_NULL}`
}
