/** `npm test -- NAME`: which names find a test file, and what is said of one that does not. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { root } from './support/paths.js'

function runNamed(...names: readonly string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, [join(root, 'dist/tools/test.js'), ...names], { encoding: 'utf8', cwd: root })
}

t.test('a name, a file name and a path find the same test', async t => {
  const { status, stdout, stderr } = runNamed('errors', 'errors.test.ts', 'test/errors.test.ts', './dist/test/errors.test.js')
  t.strictSame([status, stderr], [0, ''], stdout)
  t.equal(stdout.match(/^ok - dist\/test\/errors\.test\.js # /gm)?.length, 4)
})

t.test('a wrong name is one line with the nearest right one; nothing runs', async t => {
  for (const [name, nearest] of [
    ['npzz', 'npz'],
    ['hmtl.test.ts', 'html'],
    ['test/fech', 'all/fetch'],
    ['all/histories', 'histories']
  ]) {
    const { status, stdout, stderr } = runNamed('errors', name)
    t.strictSame([status, stdout], [1, ''], name)
    t.equal(stderr, `no test ${name}, expected a name such as ${nearest}\n`)
  }
})
