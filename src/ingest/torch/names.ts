/**
 * The names that stand in a torch pickle and are understood. Every other name is an `Opaque`, and so is what is built of it.
 *
 * Sources: torch/_utils.py (`_rebuild_*`), torch/serialization.py (`persistent_id`), torch/storage.py.
 */
import { printable, type Place } from '../../core/errors.js'
import { storedTensor } from '../tensors/stored-tensor.js'
import { ITEM_SIZE } from '../tensors/dtypes.js'
import { isTensor, Opaque, type TensorDtype } from '../tensors/tensor.js'
import { torchFault } from './faults.js'
import { latin1Bytes, numpyDtype, numpyFromBuffer, numpyReconstruct, numpyScalar } from './numpy.js'
import { EncodedBytes, pickleKind, setItem, type PickleDict, type PickleNames, type PickleValue } from './pickle-machine.js'
import { Storages, StorageValue, type StorageType } from './storages.js'

const READ_VALUES = 'a plain value or a tensor'

/** What is made of a call's arguments. @param place of the call */
type Build = (args: readonly PickleValue[], place: Place) => PickleValue

/** A name with a meaning. As a value of the tree it is not read. */
class KnownName extends Opaque {
  constructor(
    name: string,
    readonly build: Build | null,
    readonly storage: StorageType | null,
    readonly dtype: TensorDtype | null
  ) {
    super('torch', name, READ_VALUES)
  }
}

function storageType(dtype: TensorDtype): StorageType {
  return { dtype, itemSize: ITEM_SIZE[dtype] }
}

function unread(itemSize: number): StorageType {
  return { dtype: null, itemSize }
}

const STORAGE_TYPES: Readonly<Record<string, StorageType>> = {
  DoubleStorage: storageType('F64'),
  FloatStorage: storageType('F32'),
  HalfStorage: storageType('F16'),
  BFloat16Storage: storageType('BF16'),
  LongStorage: storageType('I64'),
  IntStorage: storageType('I32'),
  ShortStorage: storageType('I16'),
  CharStorage: storageType('I8'),
  ByteStorage: storageType('U8'),
  BoolStorage: storageType('BOOL'),
  // counts bytes; the dtype stands beside it
  UntypedStorage: { dtype: 'U8', itemSize: 1 },
  // Their sizes are known, so that the storages behind them are found in a file of the older format.
  ComplexFloatStorage: unread(8),
  ComplexDoubleStorage: unread(16),
  QInt8Storage: unread(1),
  QUInt8Storage: unread(1),
  QUInt4x2Storage: unread(1),
  QUInt2x4Storage: unread(1),
  QInt32Storage: unread(4)
}

const DTYPES: Readonly<Record<string, TensorDtype>> = {
  float64: 'F64',
  double: 'F64',
  float32: 'F32',
  float: 'F32',
  float16: 'F16',
  half: 'F16',
  bfloat16: 'BF16',
  int64: 'I64',
  long: 'I64',
  int32: 'I32',
  int: 'I32',
  int16: 'I16',
  short: 'I16',
  int8: 'I8',
  uint64: 'U64',
  uint32: 'U32',
  uint16: 'U16',
  uint8: 'U8',
  bool: 'BOOL'
}

/** Empty bytes in protocol 2. */
function noBytes(name: string, args: readonly PickleValue[]): PickleValue {
  return args.length === 0 ? new EncodedBytes(name, new Uint8Array(0)) : new Opaque('torch', name, READ_VALUES)
}

/** A function of numpy under the name of its module before version 2 and since. */
function numpyOf(module: string, name: string, build: Build): Readonly<Record<string, Build>> {
  return Object.fromEntries(['numpy.core', 'numpy._core'].map(part => [`${part}.${module} ${name}`, build]))
}

const BUILDS: Readonly<Record<string, Build>> = {
  'collections OrderedDict': orderedDict,
  '_codecs encode': latin1Bytes,
  '__builtin__ bytes': args => noBytes('__builtin__.bytes', args),
  'builtins bytes': args => noBytes('builtins.bytes', args),
  'numpy dtype': numpyDtype,
  ...numpyOf('multiarray', 'scalar', numpyScalar),
  ...numpyOf('multiarray', '_reconstruct', numpyReconstruct),
  ...numpyOf('numeric', '_frombuffer', numpyFromBuffer),
  'torch._utils _rebuild_parameter': ([tensor = null], place) => {
    if (isTensor(tensor) || tensor instanceof Opaque) return tensor
    throw malformed(`a parameter of ${pickleKind(tensor)}`, 'of a tensor', place)
  },
  // before torch 0.4
  'torch._utils _rebuild_tensor': (args, place) => rebuildTensor(args, 4, null, place),
  'torch._utils _rebuild_tensor_v2': (args, place) => rebuildTensor(args, 6, null, place),
  'torch._utils _rebuild_tensor_v3': (args, place) => {
    const [, , , , , , dtype = null] = args
    if (!(dtype instanceof Opaque)) throw malformed(`${pickleKind(dtype)} as dtype`, 'a dtype', place)
    return dtype instanceof KnownName && dtype.dtype !== null ? rebuildTensor(args, 7, dtype.dtype, place) : dtype
  }
}

const KNOWN: ReadonlyMap<string, KnownName> = new Map(
  [
    ...Object.entries(BUILDS).map(([key, build]) => [key, build, null, null] as const),
    ...Object.entries(STORAGE_TYPES).flatMap(([name, type]) =>
      ['torch', 'torch.storage'].map(module => [`${module} ${name}`, null, type, null] as const)
    ),
    ...Object.entries(DTYPES).map(([name, dtype]) => [`torch ${name}`, null, null, dtype] as const)
  ].map(([key, build, type, dtype]) => [key, new KnownName(key.replace(' ', '.'), build, type, dtype)])
)

/** The names of one pickle, and the storages that it refers to. */
export class TorchNames implements PickleNames {
  readonly storages: Storages
  readonly #place: Place

  /** @param place of the pickle's first byte */
  constructor(place: Place) {
    this.#place = place
    this.storages = new Storages(place)
  }

  global(module: string, name: string): Opaque {
    return KNOWN.get(`${module} ${name}`) ?? new Opaque('torch', `${module}.${name}`, READ_VALUES)
  }

  reduce(callee: Opaque, args: readonly PickleValue[], offset: number): PickleValue {
    if (!(callee instanceof KnownName)) return callee
    return callee.build === null ? new Opaque('torch', callee.name, READ_VALUES) : callee.build(args, this.#at(offset))
  }

  /** A storage: class, key, device, count, and in the older format a part of another one. */
  persistent(id: PickleValue, offset: number): PickleValue {
    const place = this.#at(offset)
    if (!Array.isArray(id)) throw malformed(`a persistent id of ${pickleKind(id)}`, 'a tuple', place)
    const [what, type = null, key = null, , count = null, view = null] = id as readonly PickleValue[]
    // the older format: a module's class with its source text
    if (what === 'module' && type instanceof Opaque) return type
    if (what !== 'storage') throw malformed(`a persistent id of ${printable(String(what))}`, 'a storage', place)
    if (!(type instanceof Opaque)) throw malformed(`${pickleKind(type)} as class of a storage`, 'a class', place)
    if (typeof key !== 'string') throw malformed(`${pickleKind(key)} as key of a storage`, 'a text', place)
    const elements = integer(count, 'count of a storage', place)
    if (!(type instanceof KnownName) || type.storage === null) {
      this.storages.refused.set(key, type)
      return type
    }
    const storage = this.storages.add(key, elements, type.storage, offset)
    if (view === null) return new StorageValue(type.name, READ_VALUES, storage, type.storage)
    if (!Array.isArray(view)) throw malformed(`${pickleKind(view)} as part of a storage`, 'key, start and count', place)
    const [, start = null, length = null] = view as readonly PickleValue[]
    const [from, size] = [integer(start, 'start of a part', place), integer(length, 'count of a part', place)]
    return new StorageValue(type.name, READ_VALUES, this.storages.view(storage, from, size, type.storage, offset), type.storage)
  }

  #at(offset: number): Place {
    return { ...this.#place, offset: (this.#place.offset ?? 0) + offset }
  }
}

function malformed(found: string, expected: string, place: Place): Error {
  return torchFault('malformed pickle', found, expected, place)
}

function integer(value: PickleValue, what: string, place: Place): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  const found = typeof value === 'number' || typeof value === 'bigint' ? printable(String(value)) : pickleKind(value)
  throw malformed(`${found} as ${what}`, 'an integer from 0 to 2^53', place)
}

function integers(value: PickleValue, what: string, place: Place): readonly number[] {
  if (!Array.isArray(value)) throw malformed(`${pickleKind(value)} as ${what}`, 'a tuple of integers', place)
  return (value as readonly PickleValue[]).map(item => integer(item, what, place))
}

/** An OrderedDict is called without arguments, or by Python 2 with its items. */
function orderedDict(args: readonly PickleValue[], place: Place): PickleDict {
  const dict: PickleDict = new Map()
  if (args.length === 0) return dict
  const [items] = args
  if (!Array.isArray(items)) throw malformed(`${pickleKind(items)} as items of an OrderedDict`, 'a list of pairs', place)
  for (const pair of items as readonly PickleValue[]) {
    if (!Array.isArray(pair) || pair.length !== 2) throw malformed(`${pickleKind(pair)} as item of an OrderedDict`, 'key and value', place)
    const problem = setItem(dict, pair[0], pair[1])
    if (problem !== null) throw malformed(problem.found, problem.expected, place)
  }
  return dict
}

/** @param dtype as stated beside the storage; null: that of the storage */
function rebuildTensor(args: readonly PickleValue[], least: number, dtype: TensorDtype | null, place: Place): PickleValue {
  const [storage = null, offset = null, shape = null, stride = null] = args
  if (args.length < least) throw malformed(`a tensor of ${args.length} arguments`, `${least} or more`, place)
  if (!(storage instanceof Opaque)) throw malformed(`a tensor over ${pickleKind(storage)}`, 'over a storage', place)
  if (!(storage instanceof StorageValue)) return storage
  const read = dtype ?? storage.type.dtype
  if (read === null) return storage
  const layout = {
    dtype: read,
    shape: integers(shape, 'shape', place),
    stride: integers(stride, 'stride', place),
    offset: integer(offset, 'offset', place)
  }
  return storedTensor(storage.storage, layout, 'torch', place)
}
