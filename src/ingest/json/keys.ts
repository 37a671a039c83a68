/**
 * Maps the keys of the file to their meaning.
 */

import type { Buffer } from 'node:buffer'
import { Fault, printable } from '../../core/errors.js'
import { decodeString } from './text.js'

export class KeyTable<K extends string> {
  readonly #names = new Map<string, K>()

  /** Longest raw spelling of any of the keys (every character as a \u escape). A longer key is unknown. */
  readonly longest: number

  /**
   * `keys` maps our names to the file's. A mapping that gives one key of the file two meanings would lose one of them.
   * @throws Fault exit 2 for such a mapping: the study file is wrong, not the snapshot
   */
  constructor(keys: Readonly<Record<K, string>>, wanted: readonly K[]) {
    for (const ours of wanted) {
      const theirs = keys[ours]
      const other = this.#names.get(theirs)
      if (other !== undefined) {
        throw new Fault({
          format: 'json',
          problem: 'key mapping ambiguous',
          found: `"${printable(theirs)}" for ${other} and ${ours}`,
          expected: 'a key of its own for each',
          exitCode: 2
        })
      }
      this.#names.set(theirs, ours)
    }
    this.longest = Math.max(...wanted.map(ours => 6 * keys[ours].length))
  }

  /** Our name for a key of the file. @param raw the validated bytes between its quotes */
  find(raw: Buffer): K | undefined {
    return raw.length > this.longest ? undefined : this.#names.get(decodeString(raw))
  }
}
