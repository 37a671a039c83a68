/** Runs a block of shell commands as a reader of the docs would, pasted into a folder that looks like the program's. */
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { root } from './paths.js'
import { PYTHON } from './python.js'

export interface ShellResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Makes a folder with what the commands of the docs find in a checkout: the program, its examples, and `python3`. */
export function likeCheckout(dir: string): void {
  for (const name of ['dist', 'examples']) symlinkSync(join(root, name), join(dir, name))
  mkdirSync(join(dir, '.bin'))
  writeFileSync(join(dir, '.bin/python3'), `#!/bin/sh\nexec '${PYTHON}' "$@"\n`)
  chmodSync(join(dir, '.bin/python3'), 0o755)
}

/** @param dir as `likeCheckout` made it */
export function runShell(commands: string, dir: string): Promise<ShellResult> {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, PATH = '', ...env } = process.env
  const path = `${join(dir, '.bin')}${delimiter}${PATH}`
  const child = spawn('/bin/sh', ['-e', '-c', commands], {
    cwd: dir,
    env: { ...env, PATH: path, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (part: string) => {
      text[name] += part
    })
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => resolve({ code, ...text }))
  })
}
