/** Runs the built program as a user does, in a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './paths.js'

export interface CliResult {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** a file in place of the pipe */
  readonly stdout?: string
  /** sees the child as soon as it runs: to kill it */
  readonly onStart?: (child: ChildProcess) => void
}

/** Tests' runners instrument child processes; the program is to run as it is. */
function cleanEnvironment(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...env } = process.env
  return { ...env, ...extra }
}

export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const child = spawn(process.execPath, [join(root, 'dist/run.js'), ...args], {
    env: cleanEnvironment(options.env ?? {}),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    stdio: ['ignore', options.stdout === undefined ? 'pipe' : openSync(options.stdout, 'w'), 'pipe']
  })
  options.onStart?.(child)
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (part: string) => {
      text[name] += part
    })
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, ...text }))
  })
}
