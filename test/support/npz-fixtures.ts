/** `fixtures/npz/valid.jsonl`: NPY and NPZ files with what numpy reads from each, and how the NPZ tests compare. */
import { createHash } from 'node:crypto'
import { Fault } from '../../src/core/errors.js'
import { readNpy, type NpyArray, type NpyData } from '../../src/ingest/npz/npy.js'
import { openNpz } from '../../src/ingest/npz/npz.js'
import { caseOf, casesOf } from './cases.js'

/** One array of a case: what numpy reads. */
export interface Expected {
  readonly descr: string
  readonly fortran_order: boolean
  readonly shape: readonly number[]
  readonly data: readonly string[]
  readonly raw_sha256: string
  readonly resaved_sha256: string
}

interface Valid {
  readonly arrays: Readonly<Record<string, Expected>>
}

export const VALID = casesOf<Valid>('npz/valid')

/** A file's bytes, in memory of their own. */
export function load(name: string): Uint8Array {
  return caseOf('npz/valid', name).bytes.slice()
}

export function expectedOf(name: string): Readonly<Record<string, Expected>> {
  return caseOf<Valid>('npz/valid', name).arrays
}

export function sha256(...parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

/** Reads a file of either kind whole; an `.npy` file's one array has the name ''. */
export function readAll(name: string, bytes: Uint8Array): Map<string, NpyArray> {
  if (name.endsWith('.npy')) return new Map([['', readNpy(bytes, { file: name })]])
  const npz = openNpz(bytes, { file: name })
  return new Map(npz.names.map(n => [n, npz.read(n)]))
}

/** Elements as Python prints them, but for floats: those as doubles. */
export function words(array: NpyArray): (string | number)[] {
  const kind = /[a-zA-Z]/.exec(array.descr)?.[0]
  return [...array.data].map(v => {
    if (typeof v === 'string') return v
    if (kind === 'f') return Number(v)
    return kind === 'b' ? (v === 1 ? 'True' : v === 0 ? 'False' : `bool ${v}`) : String(v)
  })
}

/** The fault that `run` throws; anything else thrown, or nothing, is an error. */
export function faultOf(run: () => unknown): Fault {
  try {
    run()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

export function sameData(a: NpyData, b: NpyData): boolean {
  return a.length === b.length && a.constructor === b.constructor && [...a].every((v, i) => Object.is(v, b[i]))
}
