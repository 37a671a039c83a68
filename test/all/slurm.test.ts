/** The jobs of deploy/slurm on a Slurm that the test starts: one task killed, one partial torn, the bytes of one machine. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { runCli } from '../support/cli.js'
import { CLEAN, diagnosticDump } from '../support/diagnostic-dumps.js'
import { writeDump } from '../support/diagnostic-files.js'
import { root } from '../support/paths.js'
import { mergedOutputsOf, outputsOf } from '../support/shards.js'
import { noSlurm, Slurm, until } from '../support/slurm.js'

const [SHARDS, SNAPSHOTS, KILLED, TORN] = [8, 64, 3, 5]

/** The program, which in the first attempt of one task hangs where its partial would get its name. */
function writeProgram(work: string): string {
  const name = `shard-${KILLED}-of-${SHARDS}.arrow`
  const hook = `
    const { writeFileSync } = require('node:fs')
    const files = require('node:fs/promises')
    const { rename } = files
    files.rename = (from, to) => {
      if (!to.endsWith('/${name}')) return rename(from, to)
      writeFileSync('${work}/hangs', '')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    }
    require('node:module').syncBuiltinESMExports()`
  const program = `#!/bin/sh
    if [ "\${SLURM_ARRAY_TASK_ID:-}" = ${KILLED} ] && mkdir '${work}/first' 2>/dev/null; then
      export NODE_OPTIONS='--require ${work}/hook.cjs'
    fi
    exec '${process.execPath}' '${join(root, 'dist/run.js')}' "$@"`
  writeFileSync(join(work, 'hook.cjs'), hook)
  writeFileSync(join(work, 'program'), program)
  chmodSync(join(work, 'program'), 0o755)
  return join(work, 'program')
}

t.test('an array of 8 over 64 snapshots', { skip: noSlurm() }, async t => {
  const work = realpathSync(mkdtempSync(join(tmpdir(), 'critic-traces-slurm-')))
  t.teardown(() => rmSync(work, { recursive: true, force: true }))
  const [dumps, out, whole] = ['dumps', 'out', 'whole'].map(name => join(work, name))
  for (let k = 1; k <= SNAPSHOTS; k++) {
    mkdirSync(join(dumps, `run_${k}`), { recursive: true })
    writeDump(join(dumps, `run_${k}/step_${k}.jsonl`), diagnosticDump({ ...CLEAN, seed: k, samples: 4 }))
  }
  for (const command of [['traces', '--no-arrow'], ['diagnose']]) {
    const { code, stderr } = await runCli([...command, dumps, '--no-figures', '--quiet', '--out', whole])
    t.strictSame([code, stderr], [0, ''])
  }
  const slurm = await Slurm.start(join(work, 'slurm'))
  t.teardown(() => slurm.stop())

  const environment = { CRITIC_TRACES: writeProgram(work), MERGE_OPTIONS: '--no-figures' }
  const submit = (env: Readonly<Record<string, string>> = {}): readonly string[] => {
    const told = slurm.run(join(root, 'deploy/slurm/submit.sh'), [String(SHARDS), out, dumps], work, { ...environment, ...env })
    const [, array, merge] = /^array (\d+), merge (\d+)\n$/.exec(told) ?? []
    return [array, merge]
  }
  const partial = (shard: number): string => `shard-${shard}-of-${SHARDS}.arrow`
  const partials = (): readonly string[] => readdirSync(join(out, 'partials')).sort()
  const allPartials = Array.from({ length: SHARDS }, (_, shard) => partial(shard))

  const [array, merge] = submit()
  await until('one task hangs and the others have ended', () => {
    const others = [...slurm.states(array)].filter(([task, state]) => task !== String(KILLED) && state === 'COMPLETED')
    return others.length === SHARDS - 1 && readdirSync(work).includes('hangs')
  })
  t.strictSame(
    partials().filter(name => name.startsWith('shard')),
    allPartials.filter(name => name !== partial(KILLED))
  )
  t.equal(slurm.states(merge).get('N/A'), 'PENDING', 'the merge waits')
  truncateSync(join(out, 'partials', partial(TORN)), 1000)
  await slurm.requeue(`${array}_${KILLED}`)
  t.strictSame(await slurm.ended(array), ['COMPLETED'], 'the task that was killed ran again')
  t.match(slurm.run('scontrol', ['show', 'job', `${array}_${KILLED}`], work), /\bRestarts=1\b/)
  t.strictSame(partials(), allPartials, 'what was killed left nothing')

  t.strictSame(await slurm.ended(merge), ['FAILED'])
  const refusal = readFileSync(join(work, `critic-traces-merge-${merge}.log`), 'utf8')
  t.match(refusal, `partials/${partial(TORN)}`)
  t.notMatch(refusal, partial(KILLED))
  t.strictSame(mergedOutputsOf(out), {}, 'a merge that refuses writes nothing')

  const [one, second] = submit({ TASKS: String(TORN) })
  t.strictSame([...(await slurm.ended(one)), ...(await slurm.ended(second))], ['COMPLETED', 'COMPLETED'])
  t.strictSame([...slurm.states(one).keys()], [String(TORN)])
  t.strictSame(mergedOutputsOf(out), outputsOf(whole), 'the bytes of one machine')
  t.equal(Object.keys(outputsOf(whole)).filter(path => path.endsWith('/critic-trace-statistics.json')).length, SNAPSHOTS)
})
