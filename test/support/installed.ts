/**
 * This package as another project has it: `npm pack`'s tarball and its dependencies in an empty folder, laid out as `npm install` does,
 * from this checkout's packages. Nothing is asked of a registry, and nothing of the checkout is found from there.
 */
import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { root } from './paths.js'

export interface PackedFile {
  readonly path: string
}

interface Lock {
  /** by path of the folder; '' is this package */
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>
}

/** As in a user's shell: neither the test runner nor `npm test` is there. */
export function userEnvironment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const ours = Object.entries(process.env).filter(([name]) => !/^(?:npm_|NODE_OPTIONS$|NODE_V8_COVERAGE$)/i.test(name))
  return { ...Object.fromEntries(ours), ...extra }
}

/** Packs what `dist/` holds: the build is not run again. */
function pack(args: readonly string[]): { readonly filename: string; readonly files: readonly PackedFile[] } {
  const json = execFileSync('npm', ['pack', '--json', '--ignore-scripts', ...args], {
    cwd: root,
    encoding: 'utf8',
    env: userEnvironment(),
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 2 ** 24
  })
  return (JSON.parse(json) as [ReturnType<typeof pack>])[0]
}

export function packedFiles(): string[] {
  return pack(['--dry-run'])
    .files.map(file => file.path)
    .sort()
}

/** A project that has nothing but this package, gone with the test. */
export function install(t: Test): string {
  // not below the checkout: its packages would be found from there
  const project = mkdtempSync(join(tmpdir(), 'critic-traces-installed-'))
  t.teardown(() => rmSync(project, { recursive: true, force: true }))
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, 'critic-traces'), { recursive: true })
  mkdirSync(join(modules, '.bin'))
  const { filename } = pack(['--pack-destination', project])
  execFileSync('tar', ['-xzf', join(project, filename), '--strip-components=1', '-C', join(modules, 'critic-traces')])
  rmSync(join(project, filename))

  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
  for (const [path, { dev }] of Object.entries(packages)) {
    // binaries of other systems are not there
    const wanted = path !== '' && dev !== true && existsSync(join(root, path)) && !existsSync(join(project, path))
    if (wanted) cpSync(join(root, path), join(project, path), { recursive: true })
  }
  const { bin } = JSON.parse(readFileSync(join(modules, 'critic-traces/package.json'), 'utf8')) as {
    readonly bin: Readonly<Record<string, string>>
  }
  for (const [name, file] of Object.entries(bin)) {
    chmodSync(join(modules, 'critic-traces', file), 0o755)
    symlinkSync(join('../critic-traces', file), join(modules, '.bin', name))
  }
  return project
}

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export function runIn(
  project: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {}
): Promise<Ended> {
  return new Promise(resolve => {
    execFile(program, args, { cwd: project, env: userEnvironment(env), maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}
