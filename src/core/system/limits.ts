/**
 * The limits that the system sets to the addresses, the data and the open files of this process (`ulimit -v`, which Slurm's
 * VSizeFactor sets too; `-d`; `-n`), and how many threads fit below them. A thread that finds no room ends the whole process, in the
 * engine's words: so threads are counted before they start. Linux alone says these limits; elsewhere none is known.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { counted, formatCount } from '../counts.js'
import { Fault } from '../errors.js'
import { systemName } from './error.js'

export interface SystemLimit {
  readonly of: 'addresses' | 'data' | 'open files'
  /** what is limited, to how much, by what */
  readonly words: string
  /** in bytes or files, as `free`, `work` and `thread` are */
  readonly limit: number
  /** what is not used yet */
  readonly free: number
  /** what the work of the calling thread and the system's own threads may need */
  readonly work: number
  /** what one more thread may need */
  readonly thread: number
}

const MIB = 2 ** 20
/** Files that a thread's event loop holds open: four on Node 20, five on 22 and 24. */
const FILES_A_THREAD = 5

/**
 * A thread has an engine of its own and shares all else, so it takes no more addresses and data than the process has when it
 * starts. `work` is what `traces` and `all` on the replica were measured to take, with a margin (docs/performance.md).
 */
const KINDS = [
  { of: 'addresses', option: 'ulimit -v', row: /^Max address space +(\d+)/m, work: 640 * MIB, used: () => memoryOf('VmSize') },
  { of: 'data', option: 'ulimit -d', row: /^Max data size +(\d+)/m, work: 160 * MIB, used: () => memoryOf('VmData') },
  // the listing is open itself while it is made
  { of: 'open files', option: 'ulimit -n', row: /^Max open files +(\d+)/m, work: 10, used: () => readdirSync('/proc/self/fd').length - 1 }
] as const

/** The limits of this process; none where the system sets none, or does not say. @throws the system's EMFILE */
export function systemLimits(): readonly SystemLimit[] {
  try {
    const limits = ofProcess('limits')
    return KINDS.flatMap(({ of, option, row, work, used }) => {
      const limit = Number(row.exec(limits)?.[1] ?? NaN)
      if (Number.isNaN(limit)) return []
      const now = used()
      const words = `${of} to ${amountOf(of, limit)} (${option})`
      return [{ of, words, limit, free: limit - now, work, thread: of === 'open files' ? FILES_A_THREAD : now }]
    })
  } catch (error) {
    if (systemName(error) === 'EMFILE') throw error
    return []
  }
}

/** What a command takes at least, on the replica and in this thread alone: MiB of addresses and of data beyond those of Node, open files. */
export interface Needs {
  readonly addresses: number
  readonly data: number
  readonly files: number
}

/** The limits that are too low for a command, as faults. Below them the engine or a library would end the process. */
export function lowLimits(limits: readonly SystemLimit[], command: string, { addresses, data, files }: Needs): Fault[] {
  const needed = { addresses: addresses * MIB, data: data * MIB, 'open files': files }
  return limits.flatMap(({ of, words, limit, free }) => {
    const total = of === 'open files' ? files : limit - free + needed[of]
    if (limit >= total) return []
    return [new Fault({ format: 'system', problem: 'limit too low', found: words, expected: `${amountOf(of, total)} for ${command}` })]
  })
}

/** How many of these threads may start; 0: the calling thread does their work. */
export function threadsBelow(limits: readonly SystemLimit[], threads: number): number {
  return Math.min(threads, ...limits.map(({ free, work, thread }) => Math.max(0, Math.floor((free - work) / thread))))
}

/** What a user is told where something was given up. @param short the limits that it was given up for */
export function limitNote(short: readonly SystemLimit[], { asked, threads }: { readonly asked: number; readonly threads: number }): string {
  const fewer =
    threads === asked ? '' : `; ${threads === 0 ? 'no thread' : counted(threads, 'thread')} of ${formatCount(asked)} beside the main one`
  return `the system limits ${short.map(({ words }) => words).join(' and ')}${fewer}`
}

function amountOf(of: SystemLimit['of'], amount: number): string {
  return of === 'open files' ? formatCount(amount) : `${formatCount(Math.ceil(amount / MIB))} MiB`
}

function memoryOf(row: 'VmSize' | 'VmData'): number {
  return 1024 * Number(new RegExp(`^${row}:\\s+(\\d+) kB`, 'm').exec(ofProcess('status'))?.[1])
}

function ofProcess(file: 'limits' | 'status'): string {
  return readFileSync(`/proc/self/${file}`, 'latin1')
}
