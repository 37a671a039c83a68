/** A Slurm of one node on loopback (slurm-up.sh), and what its commands say of jobs. */
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { root } from './paths.js'

const NEEDED = ['slurmctld', 'slurmd', 'sbatch', 'munged', 'mungekey']
/** Debian has the daemons where only root looks. */
const PATH = [process.env['PATH'], '/usr/sbin', '/sbin'].join(delimiter)
/** Seconds that a state is waited for. A test that comes here has failed. */
const PATIENCE = 1200

/** Why tests that need Slurm are skipped; false: it can be started. */
export function noSlurm(): string | false {
  const missing = NEEDED.filter(name => !PATH.split(delimiter).some(folder => existsSync(join(folder, name))))
  if (missing.length > 0) return `no ${missing.join(', ')}: apt-get install slurm-wlm munge`
  return process.getuid?.() === 0 ? false : 'not root, who alone starts Slurm and its jobs'
}

export class Slurm {
  readonly #dir: string
  readonly #env: NodeJS.ProcessEnv

  private constructor(dir: string) {
    const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...env } = process.env
    this.#dir = dir
    this.#env = { ...env, PATH, SLURM_CONF: join(dir, 'slurm.conf') }
  }

  /** @param dir to be made, with a short path: it holds a socket */
  static async start(dir: string): Promise<Slurm> {
    const slurm = new Slurm(dir)
    const ports = await Promise.all([freePort(), freePort()])
    // A file, not a pipe: the daemons keep the streams that they are started with.
    mkdirSync(dir)
    const log = openSync(join(dir, 'up.log'), 'w')
    const { status } = spawnSync(join(root, 'test/support/slurm-up.sh'), [dir, ...ports.map(String)], {
      stdio: ['ignore', log, log],
      env: slurm.#env
    })
    closeSync(log)
    if (status === 0) return slurm
    await slurm.#stopDaemons()
    const logs = readdirSync(dir).filter(name => name.endsWith('.log'))
    throw new Error(`slurm-up.sh ended with ${status}\n${logs.map(name => readFileSync(join(dir, name), 'utf8')).join('\n')}`)
  }

  /** Ends every job, then Slurm itself. */
  async stop(): Promise<void> {
    this.run('scancel', ['--user=root'], this.#dir)
    await until('every job has ended', () => this.run('squeue', ['--noheader'], this.#dir) === '')
    await this.#stopDaemons()
  }

  async #stopDaemons(): Promise<void> {
    for (const name of ['slurmd', 'slurmctld', 'munged']) {
      const file = join(this.#dir, `${name}.pid`)
      if (!existsSync(file)) continue
      const pid = Number(readFileSync(file, 'utf8'))
      process.kill(pid, 'SIGTERM')
      await until(`${name} has ended`, () => !existsSync(`/proc/${pid}`))
    }
  }

  /** Runs one command to its end. @returns its standard output */
  run(command: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): string {
    const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env: { ...this.#env, ...env }, encoding: 'utf8' })
    if (status === 0) return stdout
    throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stderr}`, { cause: error })
  }

  /** State of a job, or of each task of an array by its number, such as COMPLETED. */
  states(job: string): ReadonlyMap<string, string> {
    const lines = this.run('squeue', ['--noheader', '--array', '--states=all', `--jobs=${job}`, '--format=%K %T'], this.#dir)
      .trim()
      .split('\n')
    return new Map(lines.map(line => line.split(' ') as [string, string]))
  }

  /** Kills a running task, which runs again. Slurm would let it wait for two minutes. */
  async requeue(task: string): Promise<void> {
    this.run('scontrol', ['requeue', task], this.#dir)
    await until(`task ${task} is killed`, () => [...this.states(task).values()].every(state => state === 'PENDING'))
    this.run('scontrol', ['update', `jobid=${task}`, 'starttime=now'], this.#dir)
  }

  /** Waits until the job, with all its tasks, has ended. @returns its states, each once */
  async ended(job: string): Promise<readonly string[]> {
    const running = ['PENDING', 'RUNNING', 'COMPLETING', 'CONFIGURING', 'REQUEUED', 'SUSPENDED']
    await until(`job ${job} has ended`, () => [...this.states(job).values()].every(state => !running.includes(state)))
    return [...new Set(this.states(job).values())]
  }
}

export async function until(what: string, is: () => boolean): Promise<void> {
  for (const end = performance.now() + PATIENCE * 1000; !is(); await wait(200))
    if (performance.now() > end) throw new Error(`not within ${PATIENCE} s: ${what}`)
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
