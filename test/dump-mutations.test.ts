/**
 * Damaged dumps of every container: each is refused with a Fault, or read. A hundred thousand in `npm run soak`; each thousand has a
 * process of its own, with limits of CPU time and memory.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { rounds, seedOf } from './support/rounds.js'

const CHILD = fileURLToPath(new URL('support/dump-mutations-child.js', import.meta.url))
const BATCH = 1000
/** of one process: CPU time in seconds, JavaScript's heap and the whole process in MiB */
const LIMITS = { cpu: 240, heap: 128, peak: 512 }

interface Answer {
  readonly refused: number
  readonly read: number
  readonly slowest: number
  readonly maxRss: number
}

t.test('damaged dumps end with a Fault, or give samples', t => {
  const [total, seed] = [rounds(BATCH), seedOf(24)]
  const folder = t.testdir()
  const sum = { refused: 0, read: 0, slowest: 0, maxRss: 0 }
  for (let first = 0; first < total; first += BATCH) {
    const count = Math.min(BATCH, total - first)
    const args = [`--max-old-space-size=${LIMITS.heap}`, '--enable-source-maps', CHILD, folder, ...[seed, first, count].map(String)]
    const script = `ulimit -t ${LIMITS.cpu}; exec "$0" "$@"`
    const { status, stdout, stderr } = spawnSync('sh', ['-c', script, process.execPath, ...args], { encoding: 'utf8', maxBuffer: 2 ** 26 })
    const lines = stdout.trimEnd().split('\n')
    if (status !== 0) {
      t.fail(`seed ${seed}, ${lines.at(-1)}: ${stderr.slice(0, 4000)}`)
      continue
    }
    const answer = JSON.parse(lines.at(-1) ?? '') as Answer
    sum.refused += answer.refused
    sum.read += answer.read
    sum.slowest = Math.max(sum.slowest, answer.slowest)
    sum.maxRss = Math.max(sum.maxRss, answer.maxRss)
  }
  t.comment(`seed ${seed}: ${JSON.stringify(sum)}`)
  t.equal(sum.refused + sum.read, total)
  t.ok(sum.refused > total / 4 && sum.read > total / 20, `${sum.refused} refused, ${sum.read} read`)
  t.ok(sum.maxRss < LIMITS.peak * 1024, `${sum.maxRss} KiB at most`)
  t.end()
})
