/**
 * apache-arrow, loaded when first asked for. The package's minified build is one file and loads in 23-43 ms where
 * `import('apache-arrow')`, 150 modules, takes 150-270 ms; the public classes are the same, so the types are the
 * package's own. Names that begin with an underscore do not exist in it.
 */
import { createRequire } from 'node:module'
import type * as Arrow from 'apache-arrow'

export type ArrowLibrary = Pick<typeof Arrow,
  'AsyncByteQueue' | 'Bool' | 'Dictionary' | 'Field' | 'Float64' | 'Int32' | 'Int64' | 'RecordBatch' | 'RecordBatchFileWriter' |
  'RecordBatchStreamWriter' | 'Schema' | 'Struct' | 'Utf8' | 'makeData' | 'vectorFromArray'>

const NAMES: ReadonlyArray<keyof ArrowLibrary> = [
  'AsyncByteQueue', 'Bool', 'Dictionary', 'Field', 'Float64', 'Int32', 'Int64', 'RecordBatch', 'RecordBatchFileWriter',
  'RecordBatchStreamWriter', 'Schema', 'Struct', 'Utf8', 'makeData', 'vectorFromArray'
]

function isArrowLibrary(module: unknown): module is ArrowLibrary {
  if (typeof module !== 'object' || module === null) return false
  const entries = new Map(Object.entries(module))
  return NAMES.every(name => typeof entries.get(name) === 'function')
}

/** Loads the library; later calls are answered from Node's module cache. */
export function loadArrow(): ArrowLibrary {
  const library: unknown = createRequire(import.meta.url)('apache-arrow/Arrow.esnext.min')
  if (!isArrowLibrary(library)) throw new Error(`apache-arrow lacks one of ${NAMES.join(', ')}`)
  return library
}
