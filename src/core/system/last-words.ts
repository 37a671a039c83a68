/**
 * The line of what no command could catch: a module that could not be read, a thread that could not start. `run.ts` loads this
 * before anything else, so that the words are there when no file can be opened any more.
 */
import { neededToWrite, systemName, systemText } from './error.js'

/** What may stand in a line is known by `core/errors.ts`, which may be the very file that could not be read: then no path is told. */
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
