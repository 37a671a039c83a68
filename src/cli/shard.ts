/** Which shard a task is: told as I/N, or found in the variables that its scheduler sets, where the user asks for that. */
import type { Environment } from '../render/terminal/text.js'
import { printable, type Fault } from '../core/errors.js'
import type { ShardNumber } from '../runs/shards/contract.js'
import { usage } from './usage.js'

/** Most shards of a run. */
const MAX_SHARDS = 1_000_000

/** @param count null: the scheduler says how many there are */
export type ShardTold = ShardNumber | { readonly index: 'auto'; readonly count: number | null }

const EXPECTED = 'I/N with 0 <= I < N, auto, or auto/N; N at most 1,000,000'

/** @throws Fault with exit code 2 */
export function parseShard(text: string): ShardTold {
  const [, index, count] = /^(auto|\d{1,7})(?:\/(\d{1,7}))?$/.exec(text) ?? []
  const shards = count === undefined ? null : Number(count)
  const isCount = shards === null || (shards >= 1 && shards <= MAX_SHARDS)
  if (index === 'auto' && isCount) return { index, count: shards }
  if (index === undefined || shards === null || !isCount || Number(index) >= shards) throw wrong(printable(JSON.stringify(text)), EXPECTED)
  return { index: Number(index), count: shards }
}

interface Scheduler {
  readonly name: string
  /** the variable whose presence says that this scheduler runs the task */
  readonly variable: string
  /** the other variables that are read */
  readonly others: readonly string[]
  /** @param told number of shards that the user states */
  shard(read: (name: string) => number | null, told: number | null): ShardNumber
}

const SCHEDULERS: readonly Scheduler[] = [
  {
    name: 'Slurm',
    variable: 'SLURM_ARRAY_TASK_ID',
    others: ['SLURM_ARRAY_TASK_MIN', 'SLURM_ARRAY_TASK_MAX', 'SLURM_ARRAY_TASK_STEP', 'SLURM_ARRAY_TASK_COUNT'],
    shard: slurmShard
  },
  {
    name: 'Kubernetes',
    variable: 'JOB_COMPLETION_INDEX',
    others: ['SHARD_COUNT'],
    shard: countedBy('JOB_COMPLETION_INDEX', 'SHARD_COUNT')
  },
  {
    name: 'AWS Batch',
    variable: 'AWS_BATCH_JOB_ARRAY_INDEX',
    others: ['AWS_BATCH_JOB_ARRAY_SIZE'],
    shard: countedBy('AWS_BATCH_JOB_ARRAY_INDEX', 'AWS_BATCH_JOB_ARRAY_SIZE')
  }
]

/** @throws Fault with exit code 2 where the variables are missing, of two schedulers, or describe no whole range */
export function shardOf(told: ShardTold, env: Environment): ShardNumber {
  if (told.index !== 'auto') return told
  const found = SCHEDULERS.filter(({ variable }) => env[variable] !== undefined)
  const [scheduler] = found
  if (scheduler === undefined) throw wrong('no task of an array', `one of ${SCHEDULERS.map(({ variable }) => variable).join(', ')}`)
  if (found.length > 1) throw wrong(`${found.map(({ variable }) => variable).join(' and ')}`, 'those of one scheduler')
  const { name, variable, others, shard } = scheduler
  const read = (asked: string): number | null => {
    if (asked !== variable && !others.includes(asked)) throw new Error(`${asked} is no variable of ${name}`)
    const text = env[asked]
    if (text === undefined) return null
    if (!/^\d{1,9}$/.test(text)) throw wrong(`${asked}=${printable(text)}`, 'a natural number')
    return Number(text)
  }
  const own = shard(read, told.count)
  if (own.count < 1 || own.count > MAX_SHARDS) throw wrong(`${own.count} shards`, `1 to ${MAX_SHARDS}`)
  if (own.index >= own.count) throw wrong(`task ${own.index} of an array of ${own.count}`, `a task from 0 to ${own.count - 1}`)
  return own
}

/**
 * Where the user states N, the array is 0 to N-1 or some of that: a task that runs alone is the task of its number. Else its variables must
 * describe a range without a gap. A range of one task is not enough: the rerun of one task has it too.
 */
function slurmShard(read: (name: string) => number | null, told: number | null): ShardNumber {
  const needed = (name: string): number => {
    const number = read(name)
    if (number === null) throw wrong(`no ${name}`, 'what Slurm sets for a task of an array')
    return number
  }
  const id = needed('SLURM_ARRAY_TASK_ID')
  if (told !== null) {
    const first = read('SLURM_ARRAY_TASK_MIN')
    const isWhole = read('SLURM_ARRAY_TASK_COUNT') === told && told > 1
    const expected = `--array=0-${told - 1}, as auto/${told} counts`
    if (isWhole && first !== 0) throw wrong(`an array from ${first}`, expected)
    const last = read('SLURM_ARRAY_TASK_MAX')
    if (last !== null && last >= told) throw wrong(`an array up to ${last}`, expected)
    return { index: id, count: told }
  }
  const [min, max, step, count] = ['MIN', 'MAX', 'STEP', 'COUNT'].map(name => needed(`SLURM_ARRAY_TASK_${name}`))
  const range = `task ${id} of ${min}-${max}:${step} with ${count} tasks`
  const isRange = step >= 1 && max >= min && (max - min) % step === 0 && (max - min) / step + 1 === count
  if (!isRange || id < min || id > max || (id - min) % step !== 0) throw wrong(range, 'an array that is a range without a gap, or auto/N')
  if (count === 1 && min !== 0) throw wrong(range, 'several tasks; auto/N where one task of an array 0-(N-1) runs again')
  return { index: (id - min) / step, count }
}

function countedBy(index: string, count: string): Scheduler['shard'] {
  return (read, told) => {
    const stated = read(count)
    if (told !== null && stated !== null && told !== stated) throw wrong(`auto/${told} and ${count}=${stated}`, 'one number of shards')
    const shards = told ?? stated
    if (shards === null) throw wrong(`${index} without ${count}`, `${count}, or auto/N`)
    return { index: read(index) ?? 0, count: shards }
  }
}

function wrong(found: string, expected: string): Fault {
  return usage('wrong --shard', found, expected)
}
