/**
 * Waits until something may have changed below the watched folders: an event of the system, or the end of a time, since network
 * folders send no events of what other machines write. An event says only that it is time to look; what has changed is seen by
 * looking. So nothing is lost where events are lost, doubled, or come in another order.
 *
 * One `fs.watch` a folder. chokidar has one a file (docs/libraries.md).
 */
import { watch, type FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'

export class Wake {
  readonly #signal: AbortSignal
  readonly #watchers = new Map<string, { readonly identity: string; readonly watcher: FSWatcher }>()
  readonly #refused = new Set<string>()
  #woken = false
  #waiting: (() => void) | null = null

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', this.wake)
  }

  /**
   * Watches these folders and no others from now on.
   *
   * @param folders with what tells a folder from another one of its name: where it was made anew, it is watched anew
   * @param paths as given: the folders around them are watched for their names alone
   * @returns folders that the system refuses to watch, each once, with its reason
   */
  watch(folders: ReadonlyMap<string, string>, paths: readonly string[]): Array<{ readonly folder: string; readonly cause: unknown }> {
    const asked = new Map<string, { readonly identity: string; readonly only: ReadonlySet<string> | null }>()
    for (const path of paths) {
      const before = asked.get(dirname(path))?.only ?? []
      asked.set(dirname(path), { identity: '', only: new Set([...before, basename(path)]) })
    }
    for (const [folder, identity] of folders) asked.set(folder, { identity, only: null })
    for (const [folder, { identity, watcher }] of this.#watchers) {
      if (asked.get(folder)?.identity === identity) continue
      watcher.close()
      this.#watchers.delete(folder)
    }
    const refused: Array<{ readonly folder: string; readonly cause: unknown }> = []
    for (const [folder, { identity, only }] of asked) {
      if (this.#watchers.has(folder)) continue
      try {
        const watcher = watch(folder, { persistent: false }, (_event, name) => {
          if (only === null || name === null || only.has(name)) this.wake()
        })
        // The folder is gone, which the next look shows.
        watcher.on('error', this.wake)
        this.#watchers.set(folder, { identity, watcher })
      } catch (cause) {
        if (!this.#refused.has(folder) && only === null) refused.push({ folder, cause })
        this.#refused.add(folder)
      }
    }
    return refused
  }

  readonly wake = (): void => {
    this.#woken = true
    this.#waiting?.()
  }

  /** Waits for an event, an abort, or the end of the time. At once where one came since the last wait. @param ms may be Infinity */
  async wait(ms: number): Promise<void> {
    if (!this.#woken && !this.#signal.aborted) {
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, Math.min(ms, 2 ** 31 - 1))
        this.#waiting = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#waiting = null
    this.#woken = false
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.wake)
    for (const { watcher } of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }
}
