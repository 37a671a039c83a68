/**
 * Reads a pickle (protocols 0 to 5) without calling anything. A class or function is a name, an `Opaque`; what it would have
 * built is what `PickleNames` makes of it.
 *
 * Source: CPython's Modules/_pickle.c and Lib/pickletools.py. As in `_pickle.c`, nothing is popped beyond a mark. Stricter:
 * one value must be left at the end, and no key may stand twice in a dict. Not supported: strings of protocol 0 (`S`, written
 * by Python 2 alone), persistent ids in text, buffers outside of the pickle.
 *
 * Own code, because pickleparser 0.2.1 gives other values than CPython without a word, for pickles that CPython wrote:
 * negative integers beyond 32 bits, integers beyond 2^53, a byte order mark in front of a text, half surrogate pairs (37 of
 * 156 pickles of a table of values). It also pops from an empty stack, writes into the pickle where keys are set on bytes,
 * and lets BUILD set prototypes.
 */
import type { Place } from '../../core/errors.js'
import { Opaque } from '../tensors/tensor.js'
import { PickleBytes } from './pickle-bytes.js'
import { PickleMachine, type PickleNames, type PickleValue } from './pickle-machine.js'

export interface Pickle {
  readonly value: PickleValue
  /** bytes up to its end */
  readonly length: number
  /** lists, tuples and dicts that the pickle refers to more than once */
  readonly shared: ReadonlySet<PickleValue>
}

/** How large a pickle may be. */
export interface PickleLimits {
  readonly bytes: number
  /** of its values in memory, about */
  readonly memory: number
}

const MAX_PROTOCOL = 5
const STOP = 0x2e

/** Sets are not read. */
const SET = new Opaque('torch', 'builtins.set', 'a list')
const FROZEN_SET = new Opaque('torch', 'builtins.frozenset', 'a list')

/**
 * Reads the pickle at the start of `bytes`. @param place of the first byte
 * @throws EndOfPickle where the bytes end before it does; Fault where it is malformed
 */
export function readPickle(bytes: Uint8Array<ArrayBuffer>, names: PickleNames, { memory }: PickleLimits, place: Place): Pickle {
  const from = new PickleBytes(bytes, place)
  const machine = new PickleMachine(names, memory, place)
  for (;;) {
    machine.opcodeAt = from.at
    const opcode = from.u8()
    if (opcode === STOP) return { value: machine.result(), length: from.at, shared: machine.shared }
    STEPS[opcode](from, machine)
    if (from.at > from.frameEnd && machine.opcodeAt < from.frameEnd)
      throw machine.fault('an opcode across the end of a frame', 'one within it')
  }
}

type Step = (from: PickleBytes, machine: PickleMachine) => void

/** The opcodes by CPython's names for them. First those that torch writes by default, in protocol 2. */
const OPCODES: readonly (readonly [opcode: number, name: string, step: Step])[] = [
  [0x4b, 'BININT1', (from, machine) => machine.push(from.u8())],
  [0x4d, 'BININT2', (from, machine) => machine.push(from.u16())],
  [0x4a, 'BININT', (from, machine) => machine.push(from.i32())],
  [0x8a, 'LONG1', (from, machine) => pushSized(from, machine, from.integer(from.u8()))],
  [0x47, 'BINFLOAT', (from, machine) => machine.push(from.f64())],
  [0x4e, 'NONE', (_, machine) => machine.push(null)],
  [0x88, 'NEWTRUE', (_, machine) => machine.push(true)],
  [0x89, 'NEWFALSE', (_, machine) => machine.push(false)],
  [0x58, 'BINUNICODE', (from, machine) => pushSized(from, machine, from.text(from.u32()))],
  [0x71, 'BINPUT', (from, machine) => machine.put(from.u8())],
  [0x72, 'LONG_BINPUT', (from, machine) => machine.put(from.u32())],
  [0x68, 'BINGET', (from, machine) => machine.get(from.u8())],
  [0x6a, 'LONG_BINGET', (from, machine) => machine.get(from.u32())],
  [0x28, 'MARK', (from, machine) => machine.mark(from)],
  [0x5d, 'EMPTY_LIST', (_, machine) => machine.pushList([])],
  [0x61, 'APPEND', (_, machine) => machine.append([machine.pop()])],
  [0x65, 'APPENDS', (_, machine) => machine.append(machine.popMark())],
  [0x7d, 'EMPTY_DICT', (_, machine) => machine.pushDict([])],
  [0x73, 'SETITEM', (_, machine) => machine.setItems(machine.popMany(2))],
  [0x75, 'SETITEMS', (_, machine) => machine.setItems(machine.popMark())],
  [0x29, 'EMPTY_TUPLE', (_, machine) => machine.pushTuple([])],
  [0x74, 'TUPLE', (_, machine) => machine.pushTuple(machine.popMark())],
  [0x85, 'TUPLE1', (_, machine) => machine.pushTuple(machine.popMany(1))],
  [0x86, 'TUPLE2', (_, machine) => machine.pushTuple(machine.popMany(2))],
  [0x87, 'TUPLE3', (_, machine) => machine.pushTuple(machine.popMany(3))],
  [0x51, 'BINPERSID', (_, machine) => machine.persist()],
  [0x63, 'GLOBAL', (from, machine) => machine.pushGlobal(from.name(), from.name())],
  [0x52, 'REDUCE', (_, machine) => call(machine)],
  [0x62, 'BUILD', (_, machine) => machine.build()],
  [0x80, 'PROTO', protocol],
  // protocols 3 to 5
  [0x95, 'FRAME', from => from.frame()],
  [0x94, 'MEMOIZE', (_, machine) => machine.put()],
  [0x8c, 'SHORT_BINUNICODE', (from, machine) => pushSized(from, machine, from.text(from.u8()))],
  [0x8d, 'BINUNICODE8', (from, machine) => pushSized(from, machine, from.text(from.u64()))],
  [0x43, 'SHORT_BINBYTES', (from, machine) => pushSized(from, machine, from.copy(from.u8()))],
  [0x42, 'BINBYTES', (from, machine) => pushSized(from, machine, from.copy(from.u32()))],
  [0x8e, 'BINBYTES8', (from, machine) => pushSized(from, machine, from.copy(from.u64()))],
  [0x96, 'BYTEARRAY8', (from, machine) => pushSized(from, machine, from.copy(from.u64()))],
  [0x93, 'STACK_GLOBAL', stackGlobal],
  [0x8f, 'EMPTY_SET', (_, machine) => machine.push(SET)],
  [0x90, 'ADDITEMS', (_, machine) => machine.addItems()],
  [0x91, 'FROZENSET', frozenSet],
  // protocols 0 and 1, and Python 2
  [0x49, 'INT', (from, machine) => pushSized(from, machine, from.decimalOrBool())],
  [0x4c, 'LONG', (from, machine) => pushSized(from, machine, from.decimal())],
  [0x8b, 'LONG4', (from, machine) => pushSized(from, machine, from.integer(from.u32()))],
  [0x46, 'FLOAT', (from, machine) => machine.push(from.float())],
  [0x56, 'UNICODE', (from, machine) => pushSized(from, machine, from.escapedLine())],
  [0x55, 'SHORT_BINSTRING', (from, machine) => pushSized(from, machine, from.textOrBytes(from.u8()))],
  [0x54, 'BINSTRING', (from, machine) => pushSized(from, machine, from.textOrBytes(from.u32()))],
  [0x6c, 'LIST', (_, machine) => machine.pushList(machine.popMark())],
  [0x64, 'DICT', (_, machine) => machine.pushDict(machine.popMark())],
  [0x70, 'PUT', (from, machine) => machine.put(from.memoIndex())],
  [0x67, 'GET', (from, machine) => machine.get(from.memoIndex())],
  [0x30, 'POP', (_, machine) => machine.discard()],
  [0x31, 'POP_MARK', (_, machine) => void machine.popMark()],
  [0x32, 'DUP', (_, machine) => machine.duplicate()],
  // objects of classes
  [0x81, 'NEWOBJ', (_, machine) => call(machine)],
  [0x92, 'NEWOBJ_EX', callWithNames],
  [0x69, 'INST', callOfName],
  [0x6f, 'OBJ', callSinceMark],
  [0x82, 'EXT1', (from, machine) => machine.pushGlobal('copyreg', `extension ${from.u8()}`)],
  [0x83, 'EXT2', (from, machine) => machine.pushGlobal('copyreg', `extension ${from.u16()}`)],
  [0x84, 'EXT4', (from, machine) => machine.pushGlobal('copyreg', `extension ${from.u32()}`)]
]

const STEPS: readonly Step[] = Array.from({ length: 256 }, (_, opcode) => OPCODES.find(([code]) => code === opcode)?.[2] ?? unknown)

function unknown(from: PickleBytes, machine: PickleMachine): void {
  const opcode = from.bytes[machine.opcodeAt]
  throw machine.fault(`opcode 0x${opcode.toString(16).padStart(2, '0')}`, 'one that a pickle in one piece has')
}

function protocol(from: PickleBytes, machine: PickleMachine): void {
  const version = from.u8()
  if (version > MAX_PROTOCOL) throw machine.fault(`protocol ${version}`, `at most ${MAX_PROTOCOL}`)
}

function pushSized(from: PickleBytes, machine: PickleMachine, value: string | Uint8Array | bigint | number | boolean): void {
  machine.pushSized(value, from.at)
}

function stackGlobal(_: PickleBytes, machine: PickleMachine): void {
  const [module, name] = machine.popMany(2)
  machine.pushGlobal(module, name)
}

function frozenSet(_: PickleBytes, machine: PickleMachine): void {
  machine.popMark()
  machine.push(FROZEN_SET)
}

/** The value of a call, with its arguments on top of the stack. Nothing is called. */
function call(machine: PickleMachine): void {
  const [callee, args] = machine.popMany(2)
  machine.call(callee, args)
}

/** The same with named arguments on top, which are dropped. */
function callWithNames(_: PickleBytes, machine: PickleMachine): void {
  machine.pop()
  call(machine)
}

/** The same of a name that follows, with what was pushed since the mark. */
function callOfName(from: PickleBytes, machine: PickleMachine): void {
  const [module, name] = [from.name(), from.name()]
  machine.pushTuple(machine.popMark())
  machine.pushGlobal(module, name)
  const callee = machine.pop()
  machine.call(callee, machine.pop())
}

/** The same with the class first behind the mark. */
function callSinceMark(_: PickleBytes, machine: PickleMachine): void {
  const [callee = null, ...args] = machine.popMark()
  machine.pushTuple(args)
  machine.call(callee, machine.pop())
}
