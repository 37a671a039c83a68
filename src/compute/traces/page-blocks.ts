/**
 * The blocks of one trace for the page of the explorer, each packed with gzip: its tokens as an Arrow IPC stream with one batch and the
 * columns of `TOKEN_COLUMNS`, each in the narrowest type that loses nothing, and the texts of its turns as JSON.
 */
import { columnFromArray, tableFromColumns, tableToIPC } from '@uwdata/flechette'
import { gzipSync } from 'node:zlib'
import { TOKEN_COLUMNS, type TurnTexts } from '../../schema/explorer.js'
import type { TokenArrays } from './contract.js'
import { withheldTexts } from './withheld-texts.js'

export interface PageWanted {
  /** whether its tokens are wanted */
  readonly tokens: boolean
  /** whether the texts of its turns are wanted */
  readonly texts: boolean
}

export interface PageBlocks {
  /** null: not wanted */
  readonly tokens: Uint8Array | null
  /** null: not wanted, or the trace has none */
  readonly texts: Uint8Array | null
  /** passages that were taken out of its texts */
  readonly withheld: number
}

/** Blocks with the tokens of their trace. */
export type TokenBlocks = PageBlocks & { readonly tokens: Uint8Array }

/**
 * @param arrays null: not wanted
 * @param texts null: not wanted, or the trace has none
 */
export function pageBlocks(arrays: TokenArrays, texts: TurnTexts | null): TokenBlocks
export function pageBlocks(arrays: TokenArrays | null, texts: TurnTexts | null): PageBlocks
export function pageBlocks(arrays: TokenArrays | null, texts: TurnTexts | null): PageBlocks {
  const shown = texts === null ? null : withheldTexts(texts)
  return {
    tokens: arrays === null ? null : packed(arrowStream(arrays)),
    texts: shown === null ? null : packed(Buffer.from(JSON.stringify(shown), 'utf8')),
    withheld: shown?.removed ?? 0
  }
}

/** Levels 1 to 3 give the same bytes of float32 values, level 6 a hundredth less for a quarter more time. */
const LEVEL = 1

function packed(bytes: Uint8Array): Uint8Array {
  // Copied: on its way between threads a part of a buffer takes the whole buffer along.
  return new Uint8Array(gzipSync(bytes, { level: LEVEL, chunkSize: 2 ** 16 }))
}

function arrowStream({ values, returns, responsePositions }: TokenArrays): Uint8Array {
  const columns = [values, returns, stepsOf(responsePositions)]
  const table = tableFromColumns(columns.map((column, c) => [TOKEN_COLUMNS[c], columnFromArray(column)] as const))
  const stream = tableToIPC(table, { format: 'stream' })
  if (stream === null) throw new Error('flechette wrote nothing for a table')
  return stream
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
