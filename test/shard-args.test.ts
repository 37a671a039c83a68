/** Which shard a task is: as told, and by the variables that schedulers set (values as Slurm, Kubernetes and AWS Batch document them). */
import t from 'tap'
import { parseShard, shardOf } from '../src/cli/shard.js'
import { Fault } from '../src/core/errors.js'

const messageOf = (work: () => unknown): string => {
  try {
    return JSON.stringify(work())
  } catch (error) {
    if (error instanceof Fault) return `${error.exitCode} ${error.message}`
    throw error
  }
}

t.test('I/N as it is told', t => {
  t.strictSame(parseShard('0/1'), { index: 0, count: 1 })
  t.strictSame(parseShard('07/64'), { index: 7, count: 64 })
  t.strictSame(parseShard('auto'), { index: 'auto', count: null })
  t.strictSame(parseShard('auto/8'), { index: 'auto', count: 8 })
  for (const text of ['', '3', '8/8', '-1/8', '1/0', 'auto/0', '1/8/2', '1.0/8', '0x1/8', '0/99999999999', '9999999/9999999999', 'Auto']) {
    t.match(
      messageOf(() => parseShard(text)),
      /^2 usage wrong --shard: .*, expected I\/N with 0 <= I < N, auto, or auto\/N; N at most 1,000,000$/,
      text
    )
  }
  t.end()
})

const slurm = (id: number, min: number, max: number, step: number, count: number): Record<string, string> => ({
  SLURM_ARRAY_TASK_ID: String(id),
  SLURM_ARRAY_TASK_MIN: String(min),
  SLURM_ARRAY_TASK_MAX: String(max),
  SLURM_ARRAY_TASK_STEP: String(step),
  SLURM_ARRAY_TASK_COUNT: String(count)
})

const CASES: ReadonlyArray<readonly [told: string, env: Readonly<Record<string, string>>, answer: string]> = [
  // --array=0-7, 1-8, 10-24:2
  ['auto', slurm(3, 0, 7, 1, 8), '{"index":3,"count":8}'],
  ['auto', slurm(8, 1, 8, 1, 8), '{"index":7,"count":8}'],
  ['auto', slurm(14, 10, 24, 2, 8), '{"index":2,"count":8}'],
  ['auto', slurm(0, 0, 0, 1, 1), '{"index":0,"count":1}'],
  // --array=0,2,7 has a gap; a rerun --array=3 looks like a whole array
  [
    'auto',
    slurm(2, 0, 7, 1, 3),
    '2 usage wrong --shard: task 2 of 0-7:1 with 3 tasks, expected an array that is a range without a gap, or auto/N'
  ],
  ['auto', slurm(3, 3, 3, 1, 1), '2 usage wrong --shard: task 3 of 3-3:1 with 1 tasks, expected several tasks'],
  ['auto', slurm(3, 0, 7, 2, 4), '2 usage wrong --shard: task 3 of 0-7:2 with 4 tasks, expected an array'],
  ['auto/8', slurm(3, 3, 3, 1, 1), '{"index":3,"count":8}'],
  ['auto/8', slurm(3, 0, 7, 1, 8), '{"index":3,"count":8}'],
  ['auto/8', slurm(3, 1, 8, 1, 8), '2 usage wrong --shard: an array from 1, expected --array=0-7, as auto/8 counts'],
  // --array=2,5,7 is a rerun of some; 0-14:2 and 3-9 are whole ranges of other numbers
  ['auto/8', slurm(5, 2, 7, 1, 3), '{"index":5,"count":8}'],
  ['auto/8', slurm(4, 0, 14, 2, 8), '2 usage wrong --shard: an array up to 14, expected --array=0-7, as auto/8 counts'],
  ['auto/8', slurm(4, 3, 9, 1, 7), '2 usage wrong --shard: an array up to 9, expected --array=0-7, as auto/8 counts'],
  ['auto/8', slurm(8, 8, 8, 1, 1), '2 usage wrong --shard: an array up to 8, expected --array=0-7, as auto/8 counts'],
  ['auto', { SLURM_ARRAY_TASK_ID: '3' }, '2 usage wrong --shard: no SLURM_ARRAY_TASK_MIN, expected what Slurm sets for a task of an array'],
  [
    'auto',
    { ...slurm(3, 0, 7, 1, 8), SLURM_ARRAY_TASK_MAX: '7;' },
    '2 usage wrong --shard: SLURM_ARRAY_TASK_MAX=7;, expected a natural number'
  ],
  ['auto', { JOB_COMPLETION_INDEX: '5', SHARD_COUNT: '6' }, '{"index":5,"count":6}'],
  ['auto', { JOB_COMPLETION_INDEX: '6', SHARD_COUNT: '6' }, '2 usage wrong --shard: task 6 of an array of 6, expected a task from 0 to 5'],
  [
    'auto',
    { JOB_COMPLETION_INDEX: '5' },
    '2 usage wrong --shard: JOB_COMPLETION_INDEX without SHARD_COUNT, expected SHARD_COUNT, or auto/N'
  ],
  ['auto/6', { JOB_COMPLETION_INDEX: '5' }, '{"index":5,"count":6}'],
  [
    'auto/8',
    { JOB_COMPLETION_INDEX: '5', SHARD_COUNT: '6' },
    '2 usage wrong --shard: auto/8 and SHARD_COUNT=6, expected one number of shards'
  ],
  ['auto', { JOB_COMPLETION_INDEX: '0', SHARD_COUNT: '0' }, '2 usage wrong --shard: 0 shards, expected 1 to 1000000'],
  ['auto', { AWS_BATCH_JOB_ARRAY_INDEX: '1', AWS_BATCH_JOB_ARRAY_SIZE: '2' }, '{"index":1,"count":2}'],
  [
    'auto',
    { ...slurm(3, 0, 7, 1, 8), JOB_COMPLETION_INDEX: '3', SHARD_COUNT: '8' },
    '2 usage wrong --shard: SLURM_ARRAY_TASK_ID and JOB_COMPLETION_INDEX, expected those of one scheduler'
  ],
  [
    'auto',
    { SHARD_COUNT: '8' },
    '2 usage wrong --shard: no task of an array, expected one of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX'
  ],
  // Nothing is read unasked.
  ['2/4', { ...slurm(3, 0, 7, 1, 8), JOB_COMPLETION_INDEX: 'x' }, '{"index":2,"count":4}']
]

t.test('the variables of schedulers', t => {
  for (const [told, env, answer] of CASES) {
    const found = messageOf(() => shardOf(parseShard(told), env))
    t.equal(found.slice(0, answer.length), answer, `${told} ${JSON.stringify(env)}`)
  }
  t.end()
})
