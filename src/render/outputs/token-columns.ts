/**
 * The columns of tokens that every table of them has, Arrow and Parquet alike, and their widths:
 *
 *     trace              int32             canonical index
 *     value, return      float32, float64  float64 where a number of the file is no float32
 *     response_position  int32, int64      int64 where a position of the file is too large
 *
 * A token's place among those of its trace is no column: it is the number of smaller positions, and would take a fifth of the
 * bytes.
 */
import { asInt64 } from '../../core/int64.js'
import type { TokenArrays } from '../../compute/traces/contract.js'

/** Bytes of an element. */
export interface TokenWidths {
  readonly value: 4 | 8
  readonly return: 4 | 8
  readonly response_position: 4 | 8
}

export const NARROWEST: TokenWidths = { value: 4, return: 4, response_position: 4 }

/** The tokens of one trace, or of several that follow each other. */
export interface TokenBlock extends TokenArrays {
  readonly traces: ReadonlyArray<{ readonly trace: number; readonly tokens: number }>
}

/** One trace as a block. */
export function blockOf(trace: number, { values, returns, responsePositions }: TokenArrays): TokenBlock {
  const tokens = values.length
  if (returns.length !== tokens || responsePositions.length !== tokens) {
    throw new Error(`trace ${trace} has columns of ${tokens}, ${returns.length} and ${responsePositions.length} elements`)
  }
  return { traces: [{ trace, tokens }], values, returns, responsePositions }
}

export function tokensOf({ traces }: Pick<TokenBlock, 'traces'>): number {
  return traces.reduce((sum, { tokens }) => sum + tokens, 0)
}

export function widthsOf({ values, returns, responsePositions }: TokenArrays): TokenWidths {
  return {
    value: widthOf(values),
    return: widthOf(returns),
    response_position: widthOf(responsePositions)
  }
}

function widthOf({ BYTES_PER_ELEMENT }: TokenArrays[keyof TokenArrays]): 4 | 8 {
  return BYTES_PER_ELEMENT === 8 ? 8 : 4
}

export function widest(a: TokenWidths, b: TokenWidths): TokenWidths {
  const wider = (x: 4 | 8, y: 4 | 8): 4 | 8 => (x === 8 ? 8 : y)
  return {
    value: wider(a.value, b.value),
    return: wider(a.return, b.return),
    response_position: wider(a.response_position, b.response_position)
  }
}

export function sameWidths(a: TokenWidths, b: TokenWidths): boolean {
  return a.value === b.value && a.return === b.return && a.response_position === b.response_position
}

/** The arrays with at least these widths. One that has its width stays as it is, the others are converted. */
export function widened({ values, returns, responsePositions }: TokenArrays, widths: TokenWidths): TokenArrays {
  return {
    values: widths.value === 8 && values instanceof Float32Array ? new Float64Array(values) : values,
    returns: widths.return === 8 && returns instanceof Float32Array ? new Float64Array(returns) : returns,
    responsePositions:
      widths.response_position === 8 && responsePositions instanceof Int32Array ? asInt64(responsePositions) : responsePositions
  }
}

/** Arrays of so many tokens, to be filled. */
export function emptyArrays(tokens: number, widths: TokenWidths): TokenArrays {
  return {
    values: widths.value === 8 ? new Float64Array(tokens) : new Float32Array(tokens),
    returns: widths.return === 8 ? new Float64Array(tokens) : new Float32Array(tokens),
    responsePositions: widths.response_position === 8 ? new BigInt64Array(tokens) : new Int32Array(tokens)
  }
}

/** Blocks that follow each other as one, copied, as wide as the widest of them. */
export function concatenated(blocks: readonly TokenBlock[]): TokenBlock {
  const widths = blocks.map(widthsOf).reduce(widest, NARROWEST)
  const whole = emptyArrays(
    blocks.reduce((sum, block) => sum + tokensOf(block), 0),
    widths
  )
  let at = 0
  for (const block of blocks) {
    const { values, returns, responsePositions } = widened(block, widths)
    whole.values.set(values, at)
    whole.returns.set(returns, at)
    // Sound: both have the width of the column.
    ;(whole.responsePositions as Int32Array).set(responsePositions as Int32Array, at)
    at += values.length
  }
  return { traces: blocks.flatMap(({ traces }) => traces), ...whole }
}

/** The elements' bytes, in the order of the columns. */
export function bytesOf({ values, returns, responsePositions }: TokenArrays): readonly [Uint8Array, Uint8Array, Uint8Array] {
  return [bytesOfArray(values), bytesOfArray(returns), bytesOfArray(responsePositions)]
}

function bytesOfArray({ buffer, byteOffset, byteLength }: TokenArrays[keyof TokenArrays]): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
