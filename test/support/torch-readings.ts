/** Values of tensor files against the readings in fixtures/torch, which `make.py` there describes. */
import { isTensor, Opaque, type TensorData } from '../../src/ingest/tensors/tensor.js'

export type Reading = string | readonly Reading[] | { readonly [what: string]: unknown }

/** The value as a reading. An integer is told from a float by what is expected. */
export async function readingOf(value: unknown, expected: unknown): Promise<Reading> {
  if (isTensor(value)) {
    return { tensor: [value.dtype, [...value.shape], [...value.stride], hexOf(await value.read())] as const }
  }
  if (value instanceof Opaque) return { opaque: value.name }
  if (value === null) return 'n'
  if (typeof value === 'boolean') return value ? 't' : 'f'
  if (typeof value === 'bigint') return `i${value}`
  if (typeof value === 'number') return typeof expected === 'string' && expected.startsWith('i') ? `i${value}` : `d${doubleBits(value)}`
  if (typeof value === 'string') return `s${value}`
  if (value instanceof Uint8Array) return `x${Buffer.from(value).toString('hex')}`
  if (Array.isArray(value)) {
    const wanted = Array.isArray(expected) ? expected : []
    return Promise.all(value.map((item, i) => readingOf(item, wanted[i])))
  }
  if (!(value instanceof Map)) throw new TypeError(`no value of a tree: ${String(value)}`)
  const wanted = (expected as { readonly dict?: readonly (readonly unknown[])[] } | null)?.dict ?? []
  const entries = [...value].map(async ([key, item], i) => [await readingOf(key, wanted[i]?.[0]), await readingOf(item, wanted[i]?.[1])])
  return { dict: await Promise.all(entries) }
}

function doubleBits(value: number): string {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return bytes.toString('hex')
}

function hexOf({ buffer, byteOffset, byteLength }: TensorData): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex')
}
