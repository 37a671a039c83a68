/**
 * The tokens of one trace as a page holds them: gzip of an Arrow IPC stream with one batch and the columns of `TOKEN_COLUMNS`, each in
 * the narrowest type that loses nothing.
 */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Schema } from 'apache-arrow'
import type { TokenArrays } from '../../compute/traces/contract.js'
import { loadArrow } from '../outputs/arrow-library.js'
import { TOKEN_COLUMNS } from './contract.js'

const packed = promisify(gzip)

/** Levels 1 to 3 give the same bytes of float32 values, level 6 a hundredth less for a quarter more time. */
const LEVEL = 1

/** @param arrays must not change until the promise resolves */
export function tokenBlock(arrays: TokenArrays): Promise<Buffer> {
  return packedBlock(arrowStream(arrays))
}

export function packedBlock(bytes: Uint8Array): Promise<Buffer> {
  return packed(bytes, { level: LEVEL, chunkSize: Math.max(1024, Math.min(2 ** 16, bytes.length >> 1)) })
}

function arrowStream({ values, returns, responsePositions }: TokenArrays): Uint8Array {
  const arrow = loadArrow()
  const columns = [values, returns, stepsOf(responsePositions)]
  const typeOf = (column: (typeof columns)[number]) =>
    column instanceof Int32Array ? new arrow.Int32() : column instanceof Float32Array ? new arrow.Float32() : new arrow.Float64()
  const fields = columns.map((column, c) => new arrow.Field(TOKEN_COLUMNS[c], typeOf(column), false))
  const { length } = values
  const schema: Schema = new arrow.Schema(fields)
  const children = columns.map((data, c) => arrow.makeData({ type: schema.fields[c].type, length, data }))
  const type = new arrow.Struct(schema.fields)
  const writer = new arrow.RecordBatchStreamWriter()
  writer.write(new arrow.RecordBatch(schema, arrow.makeData({ type, length, children, nullCount: 0 })))
  writer.close()
  return writer.toUint8Array(true)
}

/** [tokens] each position minus the one before; the first as it is. Positions are integers of at most 2^53. */
function stepsOf(positions: TokenArrays['responsePositions']): Int32Array | Float64Array {
  const { length } = positions
  const first = Number(positions[0])
  const isNarrow = positions instanceof Int32Array && positions[length - 1] - first < 2 ** 31
  const steps = isNarrow ? new Int32Array(length) : new Float64Array(length)
  let before = 0
  for (let i = 0; i < length; i++) {
    const position = Number(positions[i])
    steps[i] = position - before
    before = position
  }
  return steps
}
