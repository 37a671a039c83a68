/**
 * What it means that a file stands still while it is read. One rule holds for all readers: between the opening and the last
 * byte, size, modification time, identity (device and inode) and change time stay the same, and the path still names the
 * file. The change time shows a writer that sets the old modification time again. A new hard link or new permissions change
 * it too.
 *
 * Each reader gives its own messages as data: `StillWords`. `system/open.ts` handles links, folders, named pipes and devices.
 */
import type { BigIntStats } from 'node:fs'
import { EXIT, Fault, describeCause, printable } from './errors.js'
import { causeName } from './system/error.js'
import { unreadable, whyUnreadable } from './system/open.js'

/** Largest file that is read whole, into one buffer: Node reads no more at once. */
export const MAX_WHOLE_BYTES = 2 ** 31 - 1

/** Bytes of a chunk. Reading in pieces of 64 KiB takes several times as long. */
export const CHUNK_BYTES = 1024 * 1024

/** How a file differs from what it was when it was opened. */
export interface Change {
  /**
   * the first that holds. `cut`: the file ended inside a part that was asked for; `gone`: its path names nothing; `status`:
   * the change time differs
   */
  readonly kind: 'cut' | 'size' | 'modified' | 'gone' | 'replaced' | 'status'
  readonly before: BigIntStats
  /** the file that was opened; where it was replaced, the file that has its name now */
  readonly now: BigIntStats
  /** bytes up to the file's end; null where it was not read to its end */
  readonly read: number | null
  /** of `gone`: the error for the path */
  readonly cause?: unknown
}

/** Whether two results of `stat` are of one file. */
export function isSameFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.dev === b.dev
}

/** What the path named after the reading: a file, or an error. */
export type Named = { readonly stat: BigIntStats } | { readonly cause: unknown }

/** The rule: the first difference, or null. @param own the open file after the reading @param named what its path names then */
export function changeOf(before: BigIntStats, own: BigIntStats, named: Named, read: number | null): Change | null {
  const change = (kind: Change['kind'], now = own): Change => ({
    kind,
    before,
    now,
    read,
    ...('cause' in named ? { cause: named.cause } : {})
  })
  if (own.size !== before.size || (read !== null && BigInt(read) !== before.size)) return change('size')
  if (own.mtimeNs !== before.mtimeNs) return change('modified')
  if ('cause' in named) return change('gone')
  // Compared before the change time, which changes too where another file takes the name.
  if (!isSameFile(named.stat, before)) return change('replaced', named.stat)
  return own.ctimeNs === before.ctimeNs ? null : change('status')
}

/** The change where a read ended inside a part, at the byte `read`. */
export function cutAt(before: BigIntStats, read: number): Change {
  return { kind: 'cut', before, now: before, read }
}

/** The errors that a reader makes. */
export interface StillWords {
  /** @param cause what `system/open.ts` threw */
  notOpened(path: string, cause: unknown): Error
  notRead(path: string, cause: unknown): Error
  changed(path: string, change: Change): Error
  tooLarge(path: string, bytes: bigint, max: number): Error
}

/** The error for a change. For a file that is gone, it says why nothing can be read. */
export function changeError(words: StillWords, path: string, change: Change): Error {
  return change.kind === 'gone' ? words.notRead(path, change.cause) : words.changed(path, change)
}

/** What happened, in words: `it was replaced`. */
export function happened(kind: Change['kind']): string {
  return HAPPENED[kind]
}

const HAPPENED: Readonly<Record<Change['kind'], string>> = {
  cut: 'its size changed',
  size: 'its size changed',
  modified: 'its modification time changed',
  gone: 'it was removed',
  replaced: 'it was replaced',
  status: 'its change time changed'
}

export interface Expected {
  /** what is expected of a file that cannot be opened */
  readonly opened?: string
  /** what is expected of a file that cannot be read */
  readonly read?: string
}

/** Messages that say what happened, under the name of the format: `npz changed while it was read: it was replaced`. */
export function wordsOf(format: string, { opened = 'a regular file', read }: Expected = {}): StillWords {
  return {
    notOpened(path, cause) {
      const missing = causeName(cause) === 'ENOENT'
      return new Fault({
        format,
        problem: missing ? 'missing file' : 'unreadable file',
        found: missing ? 'nothing' : whyUnreadable(cause),
        expected: opened,
        place: { file: path },
        cause
      })
    },
    notRead: (path, cause) =>
      new Fault({
        format,
        problem: 'unreadable file',
        found: printable(describeCause(cause)),
        ...(read === undefined ? {} : { expected: read }),
        place: { file: path },
        cause
      }),
    changed: (path, { kind }) => changedFault(format, path, happened(kind), 'a file that stands still'),
    tooLarge: (path, bytes, max) =>
      new Fault({
        format,
        problem: 'file too large',
        found: `${bytes} bytes`,
        expected: `at most ${max}`,
        place: { file: path }
      })
  }
}

/**
 * Messages that say what differs: `snapshot changed while it was read: 10 bytes, then 12`. Of a file that cannot be read they
 * repeat the words of `system/open.ts`.
 */
export function comparingWords(format: string): StillWords {
  return {
    notOpened: (path, cause) => (cause instanceof Fault ? cause : unreadable(path, describeCause(cause), cause)),
    notRead: (path, cause) => unreadable(path, describeCause(cause), cause),
    changed: (path, change) => changedFault(format, path, differenceOf(change), 'the same file before and after'),
    tooLarge: (path, bytes, max) => unreadable(path, `${bytes} bytes`, undefined, `at most ${max}`)
  }
}

function differenceOf({ kind, before, now, read }: Change): string {
  if (kind === 'cut') return `${read} bytes, then no more`
  if (now.size !== before.size) return `${before.size} bytes, then ${now.size}`
  if (now.mtimeNs !== before.mtimeNs) return 'another modification time'
  if (!isSameFile(now, before)) return 'another file under its name'
  return kind === 'size' ? `${before.size} bytes, then ${read} read` : 'another change time'
}

function changedFault(format: string, path: string, found: string, expected: string): Fault {
  return new Fault({ format, problem: 'changed while it was read', found, expected, place: { file: path }, exitCode: EXIT.checkFailed })
}
