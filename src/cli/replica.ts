/** The study that holds where none is named: the synthetic replica, generated once into the cache folder. */
import type { CliIo } from './io.js'

export async function studyFolder(named: string | null, io: CliIo, log: (line: string) => void): Promise<string> {
  if (named !== null) return named
  const { defaultCacheDir, ensureReplica } = await import('../replica/index.js')
  return ensureReplica({ cacheDir: defaultCacheDir(io.env), signal: io.signal, log })
}
