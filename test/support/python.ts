/** A Python that has numpy, for what runs in trainers: named by CRITIC_TRACES_PYTHON, else `python3`. */
import { execFileSync, spawnSync } from 'node:child_process'

export interface PythonRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const named = process.env['CRITIC_TRACES_PYTHON']
const command = named === undefined || named === '' ? 'python3' : named

/** Why tests that need numpy are skipped; false: there is one. */
export const WITHOUT_NUMPY: string | false =
  spawnSync(command, ['-c', 'import numpy']).status === 0
    ? false
    : `${command} has no numpy: pip install numpy, and CRITIC_TRACES_PYTHON names the Python that has it`

/** Path of the interpreter; of no meaning where tests are skipped. */
export const PYTHON: string =
  WITHOUT_NUMPY === false ? execFileSync(command, ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim() : command

export function runPython(args: readonly string[], cwd: string): PythonRun {
  const { status, stdout, stderr } = spawnSync(PYTHON, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
  })
  return { code: status, stdout, stderr }
}
