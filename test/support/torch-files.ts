/** Torch files for tests: pickles opcode by opcode, ZIP archives and files of the older format around them. */
import { crc32 } from 'node:zlib'
import type { ByteSource } from '../../src/core/byte-source.js'

/** A source in memory that counts what is read of it. */
export interface CountedSource extends ByteSource {
  /** bytes read so far */
  read: number
  /** the largest slice so far */
  largest: number
}

export function sourceOf(bytes: Uint8Array): CountedSource {
  return {
    size: bytes.length,
    read: 0,
    largest: 0,
    slice(start, end) {
      if (start < 0 || start > end || end > bytes.length)
        return Promise.reject(new RangeError(`slice ${start} to ${end} of ${bytes.length}`))
      this.read += end - start
      this.largest = Math.max(this.largest, end - start)
      return Promise.resolve(new Uint8Array(bytes.subarray(start, end)))
    }
  }
}

/** A piece of a pickle. */
export type Code = Buffer

export const byte = (value: number): Code => Buffer.from([value])
const u32 = (value: number): Code => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

export const join = (...pieces: readonly Code[]): Code => Buffer.concat(pieces)
/** Opcodes as they are written, in Latin-1. */
export const raw = (text: string): Code => Buffer.from(text, 'latin1')
export const text = (value: string): Code => join(raw('X'), u32(Buffer.byteLength(value)), Buffer.from(value))
export const tuple = (...items: readonly Code[]): Code => join(raw('('), ...items, raw('t'))
export const list = (...items: readonly Code[]): Code => join(raw(']('), ...items, raw('e'))
export const dict = (entries: Readonly<Record<string, Code>>): Code =>
  join(raw('}('), ...Object.entries(entries).flatMap(([key, value]) => [text(key), value]), raw('u'))
export const global = (module: string, name: string): Code => raw(`c${module}\n${name}\n`)
export const call = (callee: Code, ...args: readonly Code[]): Code => join(callee, tuple(...args), raw('R'))
export const put = (index: number): Code => join(raw('r'), u32(index))
export const get = (index: number): Code => join(raw('j'), u32(index))

export function int(value: number): Code {
  if (value === (value | 0)) {
    const bytes = Buffer.alloc(5, 'J')
    bytes.writeInt32LE(value, 1)
    return bytes
  }
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt(value))
  return join(byte(0x8a), byte(8), bytes)
}

export const OrderedDict: Code = call(global('collections', 'OrderedDict'))

export interface TensorCode {
  /** class of the storage; default FloatStorage */
  readonly type?: string
  readonly key?: string
  /** elements of the storage; default: as many as the shape has */
  readonly count?: number
  readonly offset?: number
  readonly shape?: readonly number[]
  /** default: C order */
  readonly stride?: readonly number[]
}

const product = (numbers: readonly number[]): number => numbers.reduce((a, b) => a * b, 1)

export function storage({ type = 'FloatStorage', key = '0', count, shape = [2] }: TensorCode): Code {
  return join(tuple(text('storage'), global('torch', type), text(key), text('cpu'), int(count ?? product(shape))), raw('Q'))
}

/** What `_rebuild_tensor_v2` is called with. */
export function tensorArguments(tensor: TensorCode = {}): Code[] {
  const { offset = 0, shape = [2] } = tensor
  const stride = tensor.stride ?? shape.map((_, axis) => product(shape.slice(axis + 1)))
  return [storage(tensor), int(offset), tuple(...shape.map(int)), tuple(...stride.map(int)), byte(0x89), OrderedDict]
}

export function tensor(code: TensorCode = {}): Code {
  return call(global('torch._utils', '_rebuild_tensor_v2'), ...tensorArguments(code))
}

/** A tensor with a dtype beside an untyped storage of `count` bytes. */
export function typedTensor(dtype: string, code: TensorCode): Code {
  return call(global('torch._utils', '_rebuild_tensor_v3'), ...tensorArguments({ type: 'UntypedStorage', ...code }), global('torch', dtype))
}

/** A whole pickle of protocol 2. */
export const pickle = (...pieces: readonly Code[]): Code => join(raw('\x80\x02'), ...pieces, raw('.'))

export type Members = readonly (readonly [name: string, bytes: Uint8Array])[]

/** A ZIP of stored members, as torch writes one: each member's data at a multiple of 64. */
export function zip(members: Members): Uint8Array {
  const pieces: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [name, bytes] of members) {
    const nameBytes = Buffer.from(name)
    const padding = 64 + ((64 - ((at + 30 + nameBytes.length + 4) % 64)) % 64)
    const extra = Buffer.alloc(4 + padding, 'Z')
    extra.write('FB', 0)
    extra.writeUInt16LE(padding, 2)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(0x0800, 6)
    local.writeUInt32LE(crc32(bytes), 14)
    local.writeUInt32LE(bytes.length, 18)
    local.writeUInt32LE(bytes.length, 22)
    local.writeUInt16LE(nameBytes.length, 26)
    local.writeUInt16LE(extra.length, 28)
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50, 0)
    local.copy(central, 8, 6, 28)
    central.writeUInt32LE(at, 42)
    directory.push(central, nameBytes)
    pieces.push(local, nameBytes, extra, Buffer.from(bytes))
    at += 30 + nameBytes.length + extra.length + bytes.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(members.length, 8)
  end.writeUInt16LE(members.length, 10)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(at, 16)
  return new Uint8Array(Buffer.concat([...pieces, ...directory, end]))
}

/** An archive around a pickle. `storages` by key. */
export function archive(code: Code, storages: Readonly<Record<string, Uint8Array>> = {}, more: Members = []): Uint8Array {
  return zip([['a/data.pkl', code], ...Object.entries(storages).map(([key, bytes]) => [`a/data/${key}`, bytes] as const), ...more])
}

export const MAGIC: Code = pickle(join(byte(0x8a), byte(10), Buffer.from('6cfc9c46f9206aa85019', 'hex')))
const FACTS: Code = pickle(dict({ little_endian: byte(0x88), protocol_version: int(1001) }))

export interface LegacyStorage {
  readonly key: string
  /** number of elements, as the file states it */
  readonly count: number
  readonly bytes: Uint8Array
}

/** A file of the older format. */
export function legacy(code: Code, storages: readonly LegacyStorage[] = [], version = 1001): Uint8Array {
  const pieces: Uint8Array[] = [MAGIC, pickle(int(version)), FACTS, code, pickle(list(...storages.map(({ key }) => text(key))))]
  for (const { count, bytes } of storages) {
    const head = Buffer.alloc(8)
    head.writeBigInt64LE(BigInt(count))
    pieces.push(head, bytes)
  }
  return new Uint8Array(Buffer.concat(pieces))
}

export function floats(...values: readonly number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(values).buffer)
}
