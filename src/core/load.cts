/**
 * Runs a bundle of `dist/bundle/` with the code that the engine compiled of it before; `build.ts` writes both. This takes a
 * fraction of the time of loading the modules one by one. The file is CommonJS, because a thread or process that loads no ES
 * module starts faster.
 *
 * The engine refuses code that another version of the engine compiled, and compiles anew. It does not notice another bundle of
 * the same length, a changed byte, or another release of Node with the same version of the engine: code that 20.20 compiled ends
 * 20.15 with a segmentation fault. The checksums at the end of the compiled file show all three.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { constants, Script } from 'node:vm'
import { crc32 } from 'node:zlib'

/** The code of a bundle, as a function of what Node gives to a CommonJS module. */
type Wrapper = (exports: object, require: NodeJS.Require, module: { exports: object }, filename: string, dirname: string) => void

const FOLDER = join(__dirname, '../../bundle')
const CHECKSUMS = 8
const NODE = `${process.version} ${process.platform} ${process.arch}`

export interface Bundle {
  readonly exports: object
  /** content of `compiledFile` for later runs: everything compiled of the bundle so far */
  readonly compiled: () => Buffer
}

/**
 * @param name name of a file in `dist/bundle/`, without `.cjs`
 * @throws the system's error where the file cannot be read
 */
export function loadBundle(name: string): Bundle {
  const file = join(FOLDER, `${name}.cjs`)
  const source = readFileSync(file)
  const cachedData = compiledBefore(name, source)
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source.toString('latin1')}\n})`, {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData === null ? {} : { cachedData })
  })
  const module = { exports: {} }
  const run = script.runInThisContext() as Wrapper
  run(module.exports, createRequire(file), module, file, FOLDER)
  return {
    exports: module.exports,
    compiled() {
      const code = script.createCachedData()
      return sealed(source, code)
    }
  }
}

export function compiledFile(name: string): string {
  return join(FOLDER, `${name}.compiled`)
}

/**
 * The compiled code of an earlier run. Null where there is none (as while the build makes it), where it belongs to another
 * bundle or release of Node, or where it is damaged. The engine then compiles what it needs.
 */
function compiledBefore(name: string, source: Buffer): Buffer | null {
  let content: Buffer
  try {
    content = readFileSync(compiledFile(name))
  } catch {
    return null
  }
  const code = content.subarray(0, Math.max(0, content.length - CHECKSUMS))
  return content.subarray(code.length).equals(checksums(source, code)) ? code : null
}

/** Content of a compiled file: the code and its checksums. */
export function sealed(source: Buffer, code: Buffer): Buffer {
  return Buffer.concat([code, checksums(source, code)])
}

function checksums(source: Buffer, code: Buffer): Buffer {
  const sums = Buffer.alloc(CHECKSUMS)
  sums.writeUInt32LE(crc32(source, crc32(NODE)), 0)
  sums.writeUInt32LE(crc32(code), 4)
  return sums
}
