/** Dumps for tests: named arrays written as each of the formats that trainers' dumps have. */
import { parquetWriteBuffer, type SchemaElement } from 'hyparquet-writer'
import { encodeNpyHeader } from '../../src/ingest/npz/encode.js'
import { archive } from './archives.js'
import { archive as torchArchive, dict, int, join, list, pickle, raw, tensor, text, type Code } from './torch-files.js'

/** An array as the tables of cases have it. */
export interface TestArray {
  /** as numpy calls it; or `text` */
  readonly dtype: string
  readonly shape: readonly number[]
  /** in C order */
  readonly data: readonly (number | string | boolean)[]
}

export type TestArrays = Readonly<Record<string, TestArray>>

interface Dtype {
  readonly npy: string
  readonly safetensors: string
  readonly torch: string
  /** undefined: the writer does it by itself */
  readonly array?: new (
    data: readonly number[]
  ) => { readonly buffer: ArrayBuffer }
}

const DTYPES: Readonly<Record<string, Dtype>> = {
  float64: { npy: '<f8', safetensors: 'F64', torch: 'Double', array: Float64Array },
  float32: { npy: '<f4', safetensors: 'F32', torch: 'Float', array: Float32Array },
  float16: { npy: '<f2', safetensors: 'F16', torch: 'Half' },
  int64: { npy: '<i8', safetensors: 'I64', torch: 'Long' },
  int32: { npy: '<i4', safetensors: 'I32', torch: 'Int', array: Int32Array },
  int16: { npy: '<i2', safetensors: 'I16', torch: 'Short', array: Int16Array },
  int8: { npy: '|i1', safetensors: 'I8', torch: 'Char', array: Int8Array },
  uint8: { npy: '|u1', safetensors: 'U8', torch: 'Byte', array: Uint8Array },
  bool: { npy: '|b1', safetensors: 'BOOL', torch: 'Bool', array: Uint8Array }
}

/** Numbers of a case: JSON has no NaN. */
export function numbersOf({ data }: TestArray): number[] {
  return data.map(Number)
}

function bytesOf(array: TestArray): Uint8Array {
  const numbers = numbersOf(array)
  const { array: Numbers } = DTYPES[array.dtype]
  if (Numbers !== undefined) return new Uint8Array(new Numbers(numbers).buffer)
  if (array.dtype === 'int64') return new Uint8Array(BigInt64Array.from(numbers, BigInt).buffer)
  return new Uint8Array(Uint16Array.from(numbers, halfBits).buffer)
}

/** Bits of a number that half precision holds exactly. */
function halfBits(x: number): number {
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0
  const size = Math.abs(x)
  if (size === 0) return sign
  const exponent = Math.max(-14, Math.floor(Math.log2(size)))
  const fraction = size / 2 ** exponent
  return sign | (fraction < 1 ? fraction * 1024 : ((exponent + 15) << 10) | ((fraction - 1) * 1024))
}

export function isText({ dtype }: TestArray): boolean {
  return dtype === 'text'
}

export interface NpzOptions {
  readonly deflate?: boolean
  readonly fortran?: boolean
  readonly bigEndian?: boolean
}

/** As `np.savez` or `np.savez_compressed` writes it. */
export function npzFile(arrays: TestArrays, { deflate = false, fortran = false, bigEndian = false }: NpzOptions = {}): Promise<Uint8Array> {
  return archive(
    Object.entries(arrays).map(([name, array]) => [name, isText(array) ? npyText(array) : npy(array, fortran, bigEndian), { deflate }])
  )
}

function npy(array: TestArray, fortran: boolean, bigEndian: boolean): Uint8Array[] {
  const { npy: descr } = DTYPES[array.dtype]
  const [rows = 1, columns = 1] = array.shape
  const isTransposed = fortran && array.shape.length === 2
  const data = isTransposed ? Array.from(array.data, (_, i) => array.data[(i % rows) * columns + Math.floor(i / rows)]) : array.data
  const bytes = bytesOf({ ...array, data })
  const size = Number(descr[2])
  if (bigEndian) for (let at = 0; at < bytes.length; at += size) bytes.subarray(at, at + size).reverse()
  return [encodeNpyHeader(bigEndian ? descr.replace('<', '>') : descr, array.shape, isTransposed), bytes]
}

function npyText({ shape, data }: TestArray): Uint8Array[] {
  const points = data.map(item => Array.from(String(item), c => c.codePointAt(0) ?? 0))
  const longest = Math.max(1, ...points.map(item => item.length))
  const units = points.flatMap(item => [...item, ...new Array<number>(longest - item.length).fill(0)])
  return [encodeNpyHeader(`<U${longest}`, shape), new Uint8Array(Uint32Array.from(units).buffer)]
}

/** Arrays of text are left out: safetensors has none. */
export function safetensorsFile(arrays: TestArrays, metadata: Readonly<Record<string, string>> = {}): Uint8Array {
  const header: Record<string, unknown> = Object.keys(metadata).length === 0 ? {} : { __metadata__: metadata }
  const parts: Uint8Array[] = []
  let at = 0
  for (const [name, array] of Object.entries(arrays)) {
    if (isText(array)) continue
    const bytes = bytesOf(array)
    header[name] = { dtype: DTYPES[array.dtype].safetensors, shape: array.shape, data_offsets: [at, at + bytes.length] }
    parts.push(bytes)
    at += bytes.length
  }
  const json = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(json.length))
  return new Uint8Array(Buffer.concat([length, json, ...parts]))
}

/** A value of a `.pt` file. */
export type TorchItem = null | number | string | boolean | TestArray | readonly TorchItem[] | { readonly [key: string]: TorchItem }

/** A file as `torch.save` writes it. Arrays of text become lists. */
export function torchFile(value: TorchItem): Uint8Array {
  const storages: Record<string, Uint8Array> = {}
  const code = (item: TorchItem): Code => {
    if (item === null) return raw('N')
    if (typeof item === 'boolean') return raw(item ? '\x88' : '\x89')
    if (typeof item === 'string') return text(item)
    if (typeof item === 'number') return Number.isSafeInteger(item) ? int(item) : float(item)
    if (Array.isArray(item)) return list(...(item as readonly TorchItem[]).map(code))
    if (!isArray(item)) return dict(Object.fromEntries(Object.entries(item).map(([key, entry]) => [key, code(entry)])))
    if (isText(item)) return list(...item.data.map(code))
    const key = String(Object.keys(storages).length)
    storages[key] = bytesOf(item)
    return tensor({ type: `${DTYPES[item.dtype].torch}Storage`, key, count: item.data.length, shape: item.shape })
  }
  return torchArchive(pickle(code(value)), storages)
}

function isArray(item: object): item is TestArray {
  return 'dtype' in item && 'data' in item
}

function float(value: number): Code {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return join(raw('G'), bytes)
}

/** A row of a table: a list for what tokens have, a value for what the trajectory has. */
export type TestRow = Readonly<Record<string, number | string | boolean | null | readonly (number | boolean | null)[]>>

/** The rows of [B, T], [B], [B, 1] and 0-d arrays. */
export function testRowsOf(arrays: TestArrays): TestRow[] {
  const named = Object.entries(arrays)
  const rows = Math.max(...named.map(([, { shape }]) => shape[0] ?? 1))
  return Array.from(
    { length: rows },
    (_, row) =>
      Object.fromEntries(
        named.map(([name, { shape, data }]) => {
          const columns = shape[1] ?? 1
          const isList = shape.length === 2 && (columns > 1 || name === 'values' || name === 'returns' || name === 'response_mask')
          return [name, isList ? data.slice(row * columns, (row + 1) * columns) : data[data.length === 1 ? 0 : row]] as const
        })
      ) as TestRow
  )
}

/** As Python's `json.dumps` writes rows: NaN and Infinity stand bare. */
export function jsonLines(rows: ReadonlyArray<Readonly<Record<string, unknown>>>): Uint8Array {
  const bare = (_: string, x: unknown): unknown => (typeof x === 'number' && !Number.isFinite(x) ? `@${x}@` : x)
  return new Uint8Array(Buffer.from(rows.map(row => `${JSON.stringify(row, bare).replace(/"@(-?\w+)@"/g, '$1')}\n`).join('')))
}

/** @param types Parquet's type of each column's numbers @param pageSize bytes of a page, about: small ones cut lists */
export function parquetFile(
  rows: readonly TestRow[],
  types: Readonly<Record<string, string>>,
  rowGroupSize = 2,
  pageSize = 64
): Uint8Array {
  const names = Object.keys(types)
  const schema: SchemaElement[] = [{ name: 'root', num_children: names.length }]
  for (const name of names) {
    const type = types[name]
    const element: SchemaElement =
      type === 'STRING' ? { name, type: 'BYTE_ARRAY', converted_type: 'UTF8' } : { name, type: type as 'FLOAT' }
    if (Array.isArray(rows[0][name])) {
      schema.push({ name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' })
      schema.push({ name: 'list', repetition_type: 'REPEATED', num_children: 1 })
      schema.push({ ...element, name: 'element', repetition_type: 'OPTIONAL' })
    } else schema.push({ ...element, repetition_type: 'OPTIONAL' })
  }
  const big = (x: unknown): unknown => (typeof x === 'number' ? BigInt(x) : x)
  const columnData = names.map(name => ({
    name,
    data: rows.map(row => {
      const value = row[name]
      if (types[name] !== 'INT64') return value
      return Array.isArray(value) ? (value as readonly unknown[]).map(big) : big(value)
    })
  }))
  return new Uint8Array(parquetWriteBuffer({ columnData, schema, rowGroupSize, pageSize }))
}

/** Parquet with a list of structs beside the lists of numbers, as `messages` is. */
export function parquetWithMessages(values: readonly (readonly number[])[]): Uint8Array {
  const list = (name: string, children: number): SchemaElement[] => [
    { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    ...(children === 0
      ? [{ name: 'element', type: 'FLOAT', repetition_type: 'OPTIONAL' } as const]
      : [{ name: 'element', repetition_type: 'OPTIONAL', num_children: children } as const])
  ]
  const text = (name: string): SchemaElement => ({ name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' })
  const root = { name: 'root', num_children: 3 }
  const schema = [root, ...list('values', 0), ...list('messages', 2), text('role'), text('content'), ...list('returns', 0)]
  const messages = values.map(() => [{ role: 'user', content: 'x' }])
  const columnData = Object.entries({ values, messages, returns: values }).map(([name, data]) => ({ name, data: [...data] }))
  return new Uint8Array(parquetWriteBuffer({ columnData, schema }))
}
