/**
 * Runs a bundle of `dist/bundle/` with what the engine has compiled of it before (`build.ts` writes both), which takes a
 * fraction of the time of loading its modules one by one. What the engine kept from another version of itself it refuses,
 * and compiles anew. CommonJS, because a thread or process that loads no ES module starts faster.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { constants, Script } from 'node:vm'

/** A bundle's code as a function of what Node hands to a CommonJS module. */
type Wrapper = (exports: object, require: NodeJS.Require, module: { exports: object }, filename: string, dirname: string) => void

const FOLDER = join(__dirname, '../bundle')

export interface Bundle {
  readonly exports: object
  /** everything compiled of the bundle so far, for later runs */
  readonly compiled: () => Buffer
}

/** @param name of a file in `dist/bundle/`, without `.cjs` */
export function loadBundle(name: string): Bundle {
  const file = join(FOLDER, `${name}.cjs`)
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'latin1')}\n})`, {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...compiledBefore(name)
  })
  const module = { exports: {} }
  const run = script.runInThisContext() as Wrapper
  run(module.exports, createRequire(file), module, file, FOLDER)
  return { exports: module.exports, compiled: () => script.createCachedData() }
}

export function compiledFile(name: string): string {
  return join(FOLDER, `${name}.compiled`)
}

function compiledBefore(name: string): { cachedData?: Buffer } {
  try {
    return { cachedData: readFileSync(compiledFile(name)) }
  } catch {
    // none there, as while it is made: the engine compiles what it needs
    return {}
  }
}
