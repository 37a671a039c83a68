/**
 * Which faults end the fetch of one run alone. The others come: a project of a hundred runs is not lost because one of them
 * was deleted, is damaged, or is refused by its server.
 */
import { Fault } from '../core/errors.js'

/**
 * Problems that every run would meet: the address, the network, the key, an answer that repeats the key. Going on would only
 * repeat them.
 */
const OF_EVERY_RUN: ReadonlySet<string> = new Set([
  'refused',
  'host unknown',
  'certificate refused',
  'TLS failed',
  'proxy refused',
  'answer not HTTP',
  'answer with the key',
  'redirect refused',
  'too many redirects'
])

/** Formats of faults about what the server said of a run. Faults of files and of outputs concern the whole study. */
const OF_A_RUN: ReadonlySet<string> = new Set(['wandb'])

export function endsRunAlone(error: unknown): error is Fault {
  return error instanceof Fault && OF_A_RUN.has(error.details.format) && !OF_EVERY_RUN.has(error.details.problem)
}
