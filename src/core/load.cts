/**
 * Runs a bundle of `dist/bundle/` with what the engine has compiled of it before (`build.ts` writes both), which takes a
 * fraction of the time of loading its modules one by one. CommonJS, because a thread or process that loads no ES module
 * starts faster.
 *
 * What another version of the engine compiled, the engine refuses, and compiles anew. It does not see that the bundle is
 * another of the same length, or that a byte has changed: the checksums behind the compiled code do.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { constants, Script } from 'node:vm'
import { crc32 } from 'node:zlib'

/** A bundle's code as a function of what Node hands to a CommonJS module. */
type Wrapper = (exports: object, require: NodeJS.Require, module: { exports: object }, filename: string, dirname: string) => void

const FOLDER = join(__dirname, '../../bundle')
const CHECKSUMS = 8

export interface Bundle {
  readonly exports: object
  /** content of `compiledFile` for later runs: everything compiled of the bundle so far */
  readonly compiled: () => Buffer
}

/**
 * @param name of a file in `dist/bundle/`, without `.cjs`
 * @throws what the system says where it cannot be read
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
      return Buffer.concat([code, checksums(source, code)])
    }
  }
}

export function compiledFile(name: string): string {
  return join(FOLDER, `${name}.compiled`)
}

/** null where there is none, as while it is made, or one of another bundle, or a damaged one: the engine then compiles what it needs. */
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

function checksums(source: Buffer, code: Buffer): Buffer {
  const sums = Buffer.alloc(CHECKSUMS)
  sums.writeUInt32LE(crc32(source), 0)
  sums.writeUInt32LE(crc32(code), 4)
  return sums
}
