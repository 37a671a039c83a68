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
    step(opcode, from, machine)
  }
}

function step(opcode: number, from: PickleBytes, machine: PickleMachine): void {
  switch (opcode) {
    case 0x4b: // BININT1
      return machine.push(from.u8())
    case 0x4d: // BININT2
      return machine.push(from.u16())
    case 0x4a: // BININT
      return machine.push(from.i32())
    case 0x47: // BINFLOAT
      return machine.push(from.f64())
    case 0x4e: // NONE
      return machine.push(null)
    case 0x88: // NEWTRUE
      return machine.push(true)
    case 0x89: // NEWFALSE
      return machine.push(false)
    case 0x71: // BINPUT
      return machine.put(from.u8())
    case 0x72: // LONG_BINPUT
      return machine.put(from.u32())
    case 0x94: // MEMOIZE
      return machine.put()
    case 0x68: // BINGET
      return machine.get(from.u8())
    case 0x6a: // LONG_BINGET
      return machine.get(from.u32())
    case 0x58: // BINUNICODE
      return machine.pushSized(from.text(from.u32()))
    case 0x8c: // SHORT_BINUNICODE
      return machine.pushSized(from.text(from.u8()))
    case 0x8d: // BINUNICODE8
      return machine.pushSized(from.text(from.u64()))
    case 0x28: // MARK
      return machine.mark()
    case 0x65: // APPENDS
      return machine.append(machine.popMark())
    case 0x61: // APPEND
      return machine.append([machine.pop()])
    case 0x75: // SETITEMS
      return machine.setItems(machine.popMark())
    case 0x73: // SETITEM
      return machine.setItems(machine.popMany(2))
    case 0x5d: // EMPTY_LIST
      return machine.pushList([])
    case 0x7d: // EMPTY_DICT
      return machine.pushDict([])
    case 0x29: // EMPTY_TUPLE
      return machine.pushTuple([])
    case 0x74: // TUPLE
      return machine.pushTuple(machine.popMark())
    case 0x85: // TUPLE1
    case 0x86: // TUPLE2
    case 0x87: // TUPLE3
      return machine.pushTuple(machine.popMany(opcode - 0x84))
    case 0x51: // BINPERSID
      return machine.persist()
    case 0x63: // GLOBAL
      return machine.pushGlobal(from.line(), from.line())
    case 0x52: // REDUCE
      return call(machine)
    case 0x62: // BUILD
      return machine.build()
    default:
      return rareStep(opcode, from, machine)
  }
}

/** What torch does not write by default: other protocols, Python 2, objects of classes. */
function rareStep(opcode: number, from: PickleBytes, machine: PickleMachine): void {
  switch (opcode) {
    case 0x80: {
      // PROTO
      const protocol = from.u8()
      if (protocol > MAX_PROTOCOL) throw machine.fault(`protocol ${protocol}`, `at most ${MAX_PROTOCOL}`)
      return
    }
    case 0x95: // FRAME: its bytes follow in any case
      from.u64()
      return
    case 0x8a: // LONG1
      return machine.pushSized(from.integer(from.u8()))
    case 0x8b: // LONG4
      return machine.pushSized(from.integer(from.u32()))
    case 0x49: // INT
      return machine.pushSized(from.decimalOrBool())
    case 0x4c: // LONG
      return machine.pushSized(from.decimal())
    case 0x46: // FLOAT
      return machine.push(from.float())
    case 0x56: // UNICODE
      return machine.pushSized(from.escapedLine())
    case 0x54: // BINSTRING
      return machine.pushSized(from.textOrBytes(from.u32()))
    case 0x55: // SHORT_BINSTRING
      return machine.pushSized(from.textOrBytes(from.u8()))
    case 0x42: // BINBYTES
      return machine.pushSized(from.copy(from.u32()))
    case 0x43: // SHORT_BINBYTES
      return machine.pushSized(from.copy(from.u8()))
    case 0x8e: // BINBYTES8
    case 0x96: // BYTEARRAY8
      return machine.pushSized(from.copy(from.u64()))
    case 0x6c: // LIST
      return machine.pushList(machine.popMark())
    case 0x64: // DICT
      return machine.pushDict(machine.popMark())
    case 0x8f: // EMPTY_SET
      return machine.push(SET)
    case 0x90: // ADDITEMS
      return machine.addItems()
    case 0x91: // FROZENSET
      machine.popMark()
      return machine.push(FROZEN_SET)
    case 0x30: // POP
      return machine.discard()
    case 0x31: // POP_MARK
      machine.popMark()
      return
    case 0x32: // DUP
      return machine.duplicate()
    case 0x70: // PUT
      return machine.put(from.memoIndex())
    case 0x67: // GET
      return machine.get(from.memoIndex())
    case 0x93: {
      // STACK_GLOBAL
      const [module, name] = machine.popMany(2)
      return machine.pushGlobal(module, name)
    }
    case 0x81: // NEWOBJ
      return call(machine)
    case 0x92: // NEWOBJ_EX: with named arguments on top
      machine.pop()
      return call(machine)
    case 0x69: {
      // INST: a call of a name with what follows the mark
      const [module, name] = [from.line(), from.line()]
      machine.pushTuple(machine.popMark())
      machine.pushGlobal(module, name)
      const callee = machine.pop()
      return machine.call(callee, machine.pop())
    }
    case 0x6f: {
      // OBJ: the same, the class first
      const [callee = null, ...args] = machine.popMark()
      machine.pushTuple(args)
      return machine.call(callee, machine.pop())
    }
    case 0x82: // EXT1
      return machine.pushGlobal('copyreg', `extension ${from.u8()}`)
    case 0x83: // EXT2
      return machine.pushGlobal('copyreg', `extension ${from.u16()}`)
    case 0x84: // EXT4
      return machine.pushGlobal('copyreg', `extension ${from.u32()}`)
    default:
      throw machine.fault(`opcode 0x${opcode.toString(16).padStart(2, '0')}`, 'one that a pickle in one piece has')
  }
}

/** The value of a call, with its arguments on top of the stack. Nothing is called. */
function call(machine: PickleMachine): void {
  const [callee, args] = machine.popMany(2)
  machine.call(callee, args)
}
