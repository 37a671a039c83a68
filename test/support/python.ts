/** A Python that has numpy, for what runs in trainers: named by CRITIC_TRACES_PYTHON, else `python3`. */
import { spawnSync } from 'node:child_process'

export interface PythonRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const named = process.env['CRITIC_TRACES_PYTHON']
const python = named === undefined || named === '' ? 'python3' : named

/** Why tests that need numpy are skipped; false: there is one. */
export const WITHOUT_NUMPY: string | false =
  spawnSync(python, ['-c', 'import numpy']).status === 0
    ? false
    : `${python} has no numpy: pip install numpy, and CRITIC_TRACES_PYTHON names the Python that has it`

export function runPython(args: readonly string[], cwd: string): PythonRun {
  const { status, stdout, stderr } = spawnSync(python, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
  })
  return { code: status, stdout, stderr }
}
