/**
 * The message for an error that no command caught: a module that could not be read, a thread that could not start. `run.ts`
 * loads this module before anything else, so that it is there when no file can be opened any more.
 */
import { neededToWrite, systemName, systemText } from './error.js'

/**
 * The message as one line. `core/errors.ts` makes texts printable. Where that very module cannot be read, neither path nor
 * message is repeated.
 */
export async function lastWords(error: unknown): Promise<string> {
  const errors = await import('../errors.js').catch(() => null)
  const name = systemName(error)
  if (name === null) {
    const found = errors === null ? 'an error that could not be read' : errors.printable(errors.describeCause(error).split('\n')[0], 400)
    return `critic-traces: run failed: ${found}, expected to finish\n`
  }
  const { path } = error as { readonly path?: unknown }
  const place = errors === null || typeof path !== 'string' ? '' : ` (${errors.printableId(path, 400)})`
  return `critic-traces: run failed: ${systemText(error) ?? name}, expected ${neededToWrite(name)}${place}\n`
}
