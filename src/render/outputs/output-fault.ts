/** Faults of writing: what the operating system said, what was wanted, and the path. Exit code 3. */
import { Fault, printable, toFault } from '../../errors.js'
import { systemCode } from './output-fs.js'

/** What would have had to be true, by the system's code. */
const EXPECTED: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'free space on the disk'],
  ['EDQUOT', 'free space in the disk quota'],
  ['EFBIG', 'a file system that takes files of this size'],
  ['EIO', 'a disk without errors'],
  ['EMFILE', 'a higher limit of open files'],
  ['ENFILE', 'a higher limit of open files'],
  ['ENAMETOOLONG', 'a shorter path']
])

/** Node's `ENOSPC: no space left on device, write` without the name of the call. */
function systemText(error: unknown, code: string): string {
  const text = error instanceof Error ? error.message : code
  const match = /^[A-Z0-9]+: ([^,]+)/.exec(text)
  return match === null ? code : `${code} ${printable(match[1] ?? '')}`
}

/** The fault of a failed file operation on `path`; a Fault passes through unchanged. */
export function outputFault(error: unknown, path: string): Fault {
  if (error instanceof Fault) return error
  const code = systemCode(error)
  if (code === null || !/^E[A-Z0-9]+$/.test(code)) return toFault(error, 'output', { file: path })
  return new Fault({
    format: 'output',
    problem: 'unwritable',
    found: systemText(error, code),
    expected: EXPECTED.get(code) ?? 'a writable folder',
    place: { file: path },
    cause: error
  })
}
