/**
 * The limits that the system sets to the addresses and to the data of this process (`ulimit -v`, which Slurm's VSizeFactor sets too;
 * `ulimit -d`), and how many threads fit below them. A thread that finds no room ends the whole process, without a word of ours: so
 * threads are counted before they start. Linux alone enforces these limits and says what they are; elsewhere nothing is limited.
 */
import { readFileSync } from 'node:fs'
import { counted, formatCount } from '../counts.js'

export interface SystemLimit {
  readonly of: 'addresses' | 'data'
  /** as messages say it: what is limited, to how much, by what */
  readonly words: string
  /** bytes that are not used yet */
  readonly free: number
  /** bytes that this process uses. A thread takes no more: it has an engine of its own, and shares all else */
  readonly used: number
  /** bytes that the work in this thread and the system's own threads may take */
  readonly work: number
}

const MIB = 2 ** 20

/** `work` is measured: `traces` and `all` on the replica, with a margin; see docs/performance.md. */
const KINDS = [
  { of: 'addresses', option: 'ulimit -v', row: /^Max address space +(\d+)/m, used: /^VmSize:\s+(\d+) kB/m, work: 448 * MIB },
  { of: 'data', option: 'ulimit -d', row: /^Max data size +(\d+)/m, used: /^VmData:\s+(\d+) kB/m, work: 96 * MIB }
] as const

/** The limits that this process has; none where the system sets none, or does not say. */
export function systemLimits(): readonly SystemLimit[] {
  const limits = read('limits')
  const set = KINDS.flatMap(kind => {
    const limit = Number(kind.row.exec(limits)?.[1] ?? NaN)
    return Number.isNaN(limit) ? [] : [{ ...kind, limit }]
  })
  if (set.length === 0) return []
  const status = read('status')
  return set.flatMap(({ of, option, limit, used: row, work }) => {
    const used = 1024 * Number(row.exec(status)?.[1] ?? NaN)
    if (Number.isNaN(used)) return []
    return [{ of, words: `${of} to ${formatCount(Math.floor(limit / MIB))} MiB (${option})`, free: limit - used, used, work }]
  })
}

/** How many of these threads may start; 0: the calling thread does their work. */
export function threadsBelow(limits: readonly SystemLimit[], threads: number): number {
  return Math.min(threads, ...limits.map(({ free, used, work }) => Math.max(0, Math.floor((free - work) / used))))
}

/** What a user is told where less than was asked for fits. @param short limits that something was given up for */
export function limitNote(short: readonly SystemLimit[], { asked, threads }: { readonly asked: number; readonly threads: number }): string {
  const fewer =
    threads === asked ? '' : `; ${threads === 0 ? 'no thread' : counted(threads, 'thread')} of ${formatCount(asked)} beside the main one`
  return `the system limits ${short.map(({ words }) => words).join(' and ')}${fewer}`
}

/** A file of the system on this process; empty where there is none. */
function read(name: string): string {
  try {
    return readFileSync(`/proc/self/${name}`, 'latin1')
  } catch {
    return ''
  }
}
