/**
 * `setup.sh` and `.ci/run`, run in a temporary checkout with a PATH of stubs: node (which states the version that a test wants),
 * npm, apt-get, pkg-config, compiler, id and uname. Each stub writes its call into a log.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { isTooOld, NODE_NEEDED } from '../src/core/node-version.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const POSIX_ONLY = { skip: process.platform === 'win32' ? 'shell scripts' : false }
const APT_LINE = 'apt-get install -y build-essential pkg-config python3 libcairo2-dev libpango1.0-dev libjpeg-dev libgif-dev librsvg2-dev'
const BREW_LINE = 'brew install pkg-config cairo pango libpng jpeg giflib librsvg'

const LOCK = {
  name: 'x',
  lockfileVersion: 3,
  packages: {
    '': { name: 'x' },
    'node_modules/canvas': { version: '3.2.3', integrity: 'sha512-a' },
    'node_modules/other-platform': { version: '1.0.0', integrity: 'sha512-b', optional: true }
  }
}

const STUBS: { readonly [name: string]: string } = {
  node: `if [ "$1" = -p ] && [ "$2" = process.versions.node ]; then echo "\${FAKE_NODE-20.20.2}"; exit; fi
exec '${process.execPath}' "$@"`,
  npm: `echo "npm $*" >>"$CALLS"
case $1 in
  ci)
    if [ -n "\${NPM_FAILS-}" ]; then i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo "log line $i"; done; exit 7; fi
    rm -rf node_modules; mkdir -p node_modules/canvas
    '${process.execPath}' -e 'const l = JSON.parse(fs.readFileSync("package-lock.json", "utf8")); delete l.packages[""]; delete l.packages["node_modules/other-platform"]; fs.writeFileSync("node_modules/.package-lock.json", JSON.stringify(l))'
    echo "\${CANVAS-}" >node_modules/canvas/index.js ;;
  run)
    if [ "$2" = test:all ]; then echo '# { total: 2, pass: 2 }'; exit; fi
    if [ -n "\${BUILD_FAILS-}" ]; then echo 'src/a.ts(1,1): error TS1'; exit 2; fi; mkdir -p dist; echo 'console.log(process.argv[2])' >dist/run.js ;;
  test)
    [ ! -x "\${CRITIC_TRACES_PYTHON-}" ] || echo 'with numpy' >>"$CALLS"
    [ -n "\${TESTS_FAIL-}" ] || { echo '# { total: 1, pass: 1 }'; exit; }
    echo '    not ok 7 - the one that fails'; i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo "covered $i"; done; exit 9 ;;
esac`,
  'apt-get': `echo "apt-get $* frontend=$DEBIAN_FRONTEND" >>"$CALLS"
if [ "$1" = install ] && [ -n "\${APT_FAILS-}" ]; then echo 'E: no such package'; exit 100; fi
if [ "$1" = install ]; then touch "$CALLS.installed"; fi`,
  // --exists <library>: there unless listed in LACKS, or once apt-get has installed
  'pkg-config': `[ -e "$CALLS.installed" ] && exit 0
for l in \${LACKS-}; do [ "$l" = "$2" ] && exit 1; done
exit 0`,
  id: 'echo "${FAKE_UID-1000}"',
  uname: 'echo "${FAKE_UNAME-Linux}"',
  'c++': 'exit 0',
  make: 'exit 0',
  // a virtual environment has a Python that logs what it is asked for
  python3: `[ "$2" = venv ] || exit 0
mkdir -p "$3/bin"
printf '#!/bin/sh\\necho "python $*" >>"$CALLS"\\n[ -z "\${PIP_FAILS-}" ]\\n' >"$3/bin/python"
chmod +x "$3/bin/python"`
}

/** What the scripts use of a POSIX system; everything else in PATH is a stub. */
const TOOLS = ['sh', 'bash', 'env', 'dirname', 'mktemp', 'rm', 'cat', 'tail', 'sed', 'touch', 'mkdir', 'tee', 'grep', 'head', 'chmod']

interface Checkout {
  readonly dir: string
  readonly bin: string
  run(
    env?: { readonly [name: string]: string },
    script?: string,
    cwd?: string
  ): { status: number | null; stdout: string; stderr: string; calls: string[] }
}

/** Outside the repository: `require('canvas')` must find the stub only. */
function checkout(teardown: (f: () => void) => void, folder = 'checkout'): Checkout {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'critic-traces-setup-test-')))
  teardown(() => {
    rmSync(base, { recursive: true, force: true })
  })
  const dir = join(base, folder)
  const bin = join(base, 'bin')
  const log = join(base, 'calls')
  for (const path of [dir, bin, join(dir, 'src'), join(dir, '.ci')]) mkdirSync(path, { recursive: true })
  cpSync(join(ROOT, 'setup.sh'), join(dir, 'setup.sh'))
  cpSync(join(ROOT, '.ci/run'), join(dir, '.ci/run'))
  writeFileSync(join(dir, 'package.json'), '{"type": "module"}')
  writeFileSync(join(dir, 'package-lock.json'), JSON.stringify(LOCK))
  writeFileSync(join(dir, 'src/a.ts'), 'export {}\n')
  for (const [name, body] of Object.entries(STUBS)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  for (const tool of TOOLS) {
    symlinkSync(execFileSync('/bin/sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim(), join(bin, tool))
  }
  return {
    dir,
    bin,
    run: (env = {}, script = join(dir, 'setup.sh'), cwd = dir) => {
      rmSync(log, { force: true })
      // tap hands its loaders to every Node below it by NODE_OPTIONS: ten times slower, and not what a user's shell has.
      const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', 'unset NODE_OPTIONS; exec "$0"', script], {
        cwd,
        encoding: 'utf8',
        env: { PATH: bin, CALLS: log, TMPDIR: base, ...env },
        timeout: 600_000
      })
      return { status, stdout, stderr, calls: existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [] }
    }
  }
}

t.test('Node: 20.15 or newer; what was found and how to get a newer one', POSIX_ONLY, async t => {
  const c = checkout(f => {
    t.teardown(f)
  })
  for (const version of ['18.19.0', '20.14.9', '0.10.48', '9.0.0', '21.7.3', '22.0.0', '22.1.0']) {
    const { status, stderr, calls } = c.run({ FAKE_NODE: version })
    t.equal(status, 1)
    t.match(
      stderr,
      `setup: Node ${version} was found (${join(c.bin, 'node')}), 20.15 or newer (not 21, 22.0 or 22.1) is needed. Ways to get it:`
    )
    for (const way of ['https://nodejs.org/en/download', '; 20.15, 22 and 24 are tested\n', 'nvm install 24', 'brew install node@24'])
      t.match(stderr, way)
    t.same(calls, [], 'nothing is begun')
  }
  for (const version of ['20.15.0', '20.20.2', '22.2.0', '24.0.0', '100.1.0']) t.equal(c.run({ FAKE_NODE: version }).status, 0, version)
  for (const version of ['', 'nonsense', 'v20.x']) {
    const { status, stderr } = c.run({ FAKE_NODE: version })
    t.equal(status, 1)
    t.match(stderr, 'could not be read, 20.15 or newer (not 21, 22.0 or 22.1) is needed')
  }
  // The program itself has the same rule: without zlib.crc32 it cannot check a ZIP member.
  for (const version of ['18.19.0', '20.14.9', '0.10.48', '21.7.3', '22.0.0', '22.1.0']) t.ok(isTooOld(version), version)
  for (const version of ['20.15.0', '20.20.2', '22.2.0', '24.0.0', '100.1.0']) t.notOk(isTooOld(version), version)
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'critic-traces-setup-test-')))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  writeFileSync(join(dir, 'old.cjs'), "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })\n")
  const fake = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: process.env.FAKE_NODE } })\n"
  writeFileSync(join(dir, 'fake.cjs'), fake)
  for (const version of ['12.22.12', '18.20.8', '20.14.9', '20.15.0', '21.7.3', '22.1.0', '22.2.0', '24.0.0', '100.1.0']) {
    const args = ['--require', join(dir, 'fake.cjs'), join(ROOT, 'tools/check-node.cjs')]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, FAKE_NODE: version } })
    const found = `Node ${version} was found (${process.execPath}), ${NODE_NEEDED} is needed; ./setup.sh lists ways to get it\n`
    t.strictSame([status, stdout, stderr], isTooOld(version) ? [1, '', found] : [0, '', ''], `npm run build, ${version}`)
  }
  for (const command of [['all'], ['traces', 'x'], ['--version']]) {
    const args = ['--require', join(dir, 'old.cjs'), join(ROOT, 'dist/run.js'), ...command]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    t.strictSame([status, stdout], [3, ''])
    t.equal(stderr, 'critic-traces: Node too old: 18.20.8, expected 20.15 or newer (not 21, 22.0 or 22.1)\n')
  }
  const { engines, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string }
    scripts: { build: string; test: string }
  }
  t.equal(engines.node, '^20.15 || >=22.2')
  t.match(scripts.build, /^node tools\/check-node\.cjs && /)
  t.match(scripts.test, /^npm run build /)
  t.match(readFileSync(join(ROOT, '.github/workflows/ci.yml'), 'utf8'), 'node: ["20.15.1", "22", "24"]\n')
  unlinkSync(join(c.bin, 'npm'))
  t.match(c.run().stderr, 'setup: Node 20.20.2 was found without npm, 20.15 or newer (not 21, 22.0 or 22.1) is needed')
  unlinkSync(join(c.bin, 'node'))
  const without = c.run()
  t.equal(without.status, 1)
  t.match(without.stderr, 'setup: Node.js was not found, 20.15 or newer (not 21, 22.0 or 22.1) is needed')
})

t.test('missing libraries, not root: exactly those are named, with the apt line; nothing is begun', POSIX_ONLY, async t => {
  const c = checkout(f => {
    t.teardown(f)
  })
  unlinkSync(join(c.bin, 'make'))
  const { status, stdout, stderr, calls } = c.run({ LACKS: 'pangocairo libpng' })
  t.equal(status, 1)
  t.equal(
    stderr,
    [
      'setup: node-canvas is built from source; missing for that:',
      '  make',
      '  pangocairo',
      '  libpng',
      'setup: install them and run this again (or run this as root):',
      '  sudo apt-get update',
      `  sudo ${APT_LINE}`,
      ''
    ].join('\n')
  )
  t.equal(stdout, '')
  t.same(calls, [])
  unlinkSync(join(c.bin, 'pkg-config'))
  unlinkSync(join(c.bin, 'c++'))
  unlinkSync(join(c.bin, 'python3'))
  t.match(c.run().stderr, /a C\+\+ compiler\n {2}make\n {2}python3\n {2}pkg-config \(cairo, /)
  t.equal(c.run({ SKIP_NATIVE_CHECK: '1' }).status, 0, 'a prebuilt binary needs none of them')
  t.equal(c.run().status, 0, 'nor does one that is installed and loads')
})

t.test('missing libraries as root on Debian: installed, then npm ci and the build', POSIX_ONLY, async t => {
  const c = checkout(f => {
    t.teardown(f)
  })
  const { status, stdout, stderr, calls } = c.run({ LACKS: 'cairo', FAKE_UID: '0' })
  t.equal(status, 0)
  t.same(calls, [
    'apt-get update frontend=noninteractive',
    `${APT_LINE} frontend=noninteractive`,
    'npm ci --no-audit --no-fund',
    'npm run build'
  ])
  t.match(stderr, 'missing for that:\n  cairo\n')
  t.equal(stdout.trimEnd().split('\n').at(-1), 'setup: ready; next: node dist/run.js all')

  const failing = checkout(f => {
    t.teardown(f)
  })
  const failed = failing.run({ LACKS: 'cairo', FAKE_UID: '0', APT_FAILS: '1' })
  t.equal(failed.status, 1)
  t.match(failed.stderr, `${APT_LINE} failed with exit code 100; the end of its output:\n  E: no such package\n`)
  t.notOk(failed.calls.some(call => call.startsWith('npm')))
})

t.test('missing libraries on macOS and on a system without apt', POSIX_ONLY, async t => {
  const c = checkout(f => {
    t.teardown(f)
  })
  const mac = c.run({ LACKS: 'cairo', FAKE_UNAME: 'Darwin', FAKE_UID: '0' })
  t.equal(mac.status, 1)
  t.match(mac.stderr, `  xcode-select --install\n  ${BREW_LINE}\n`)
  t.notMatch(mac.stderr, 'apt-get')
  unlinkSync(join(c.bin, 'apt-get'))
  const other = c.run({ LACKS: 'cairo', FAKE_UID: '0' })
  t.equal(other.status, 1)
  t.match(other.stderr, 'install the development packages of these libraries')
  t.same([mac.calls, other.calls], [[], []])
})

t.test('a second run does only what has changed', POSIX_ONLY, async t => {
  const c = checkout(f => {
    t.teardown(f)
  })
  const lock = join(c.dir, 'package-lock.json')
  const stamp = join(c.dir, 'node_modules/.setup-node')
  const [ci, build] = ['npm ci --no-audit --no-fund', 'npm run build']
  t.same(c.run().calls, [ci, build])
  const second = c.run({ LACKS: 'cairo' })
  t.same(second.calls, [], 'the libraries are not asked for either')
  t.equal(second.stdout, 'setup: ready; next: node dist/run.js all\n')

  writeFileSync(join(c.dir, 'src/a.ts'), 'export const a = 1\n')
  writeFileSync(join(c.dir, 'dist/stale.js'), '')
  t.same(c.run().calls, [build], 'a changed source is built')
  t.notOk(existsSync(join(c.dir, 'dist/stale.js')), 'from a clean start')
  writeFileSync(join(c.dir, 'src/b.ts'), '')
  t.same(c.run().calls, [build], 'a new one too')
  rmSync(join(c.dir, 'src/b.ts'))
  t.same(c.run().calls, [build], 'and one that is gone')
  rmSync(join(c.dir, 'dist'), { recursive: true })
  t.same(c.run().calls, [build])

  const newer = structuredClone(LOCK)
  newer.packages['node_modules/canvas'].integrity = 'sha512-c'
  writeFileSync(lock, JSON.stringify(newer))
  t.same(c.run().calls, [ci, build], 'a changed lock')
  const added = { ...newer, packages: { ...newer.packages, 'node_modules/new': { version: '1.0.0' } } }
  writeFileSync(lock, JSON.stringify(added))
  t.same(c.run().calls, [ci, build], 'a package more')
  writeFileSync(lock, JSON.stringify(newer))
  t.same(c.run().calls, [ci, build], 'a package less')

  t.match(readFileSync(stamp, 'utf8'), new RegExp(`^${process.versions.node.split('.')[0]} ${process.platform} ${process.arch}\n$`))
  writeFileSync(stamp, `18 ${process.platform} ${process.arch}\n`)
  t.same(c.run().calls, [ci], 'another major version of Node')
  writeFileSync(join(c.dir, 'node_modules/canvas/index.js'), 'throw new Error("libcairo.so.2: cannot open")')
  t.same(c.run().calls, [ci], 'a binding that does not load')
  rmSync(stamp)
  t.same(c.run().calls, [], 'installed by hand with npm ci')
  t.ok(existsSync(stamp))
  rmSync(join(c.dir, 'node_modules'), { recursive: true })
  t.same(c.run().calls, [ci])
})

t.test('a failure shows the end of the log, and stops', POSIX_ONLY, async t => {
  const c = checkout(f => {
    t.teardown(f)
  })
  const ci = c.run({ NPM_FAILS: '1' })
  t.equal(ci.status, 1)
  t.match(ci.stderr, 'setup: npm ci failed with exit code 7; the end of its output:\n  log line 61\n')
  t.match(ci.stderr, 'log line 100')
  t.notMatch(ci.stderr, 'log line 60\n')
  t.same(ci.calls, ['npm ci --no-audit --no-fund'])
  const broken = c.run({ CANVAS: 'throw new Error("invalid ELF header")' })
  t.equal(broken.status, 1)
  t.match(broken.stderr, 'setup: npm ci has run, but node-canvas does not load: invalid ELF header')
  const build = c.run({ BUILD_FAILS: '1' })
  t.equal(build.status, 1)
  t.match(build.stderr, 'npm run build failed with exit code 2; the end of its output:\n  src/a.ts(1,1): error TS1\n')
  t.notMatch(build.stdout, 'ready')
  t.same(c.run().calls, ['npm run build'], 'a failed build is not taken for a finished one')
})

t.test('from any folder, with spaces in the path; a linked node_modules is left alone', POSIX_ONLY, async t => {
  const c = checkout(f => {
    t.teardown(f)
  }, 'a check out/-x $HOME')
  const { status, stdout } = c.run({}, join(c.dir, 'setup.sh'), tmpdir())
  t.equal(status, 0)
  t.equal(stdout.trimEnd().split('\n').at(-1), `setup: ready; next: cd '${c.dir}' && node dist/run.js all`)
  t.ok(existsSync(join(c.dir, 'dist/run.js')))

  const linked = checkout(f => {
    t.teardown(f)
  })
  mkdirSync(join(linked.dir, '../shared/canvas'), { recursive: true })
  symlinkSync('../shared', join(linked.dir, 'node_modules'))
  const refused = linked.run()
  t.equal(refused.status, 1)
  t.match(refused.stderr, 'setup: node_modules is a link (not installed yet); npm ci would empty the folder that it points at.')
  t.same(refused.calls, [])
})

t.test(".ci/run: the README's two commands, in order, stopping at the first failure", POSIX_ONLY, async t => {
  const c = checkout(f => {
    t.teardown(f)
  })
  const script = join(c.dir, '.ci/run')
  const good = c.run({}, script, tmpdir())
  t.equal(good.status, 0)
  const pip = 'python -m pip install -q --retries 1 --timeout 20 numpy==2.2.6'
  t.same(good.calls, ['npm ci --no-audit --no-fund', 'npm run build', 'npm run lint', pip, 'npm test', 'with numpy', 'npm run test:all'])
  const withoutPip = c.run({ PIP_FAILS: '1' }, script)
  t.same(withoutPip.calls.slice(-3), [pip, 'npm test', 'npm run test:all'], 'without numpy the tests run all the same')
  const asRoot = c.run({ PIP_FAILS: '1', FAKE_UID: '0' }, script)
  t.ok(asRoot.calls.includes('apt-get install -y -qq python3-numpy frontend=noninteractive'), 'as root there is the package')
  const own = c.run({ CRITIC_TRACES_PYTHON: join(c.bin, 'python3') }, script)
  t.same(own.calls.slice(-3), ['npm test', 'with numpy', 'npm run test:all'], 'a Python that was named is taken')
  t.equal(good.stdout.trimEnd().split('\n').at(-1), '# { total: 2, pass: 2 }', 'the summary of the tests comes last')

  const failedTests = c.run({ TESTS_FAIL: '1' }, script)
  t.equal(failedTests.status, 1)
  t.notOk(failedTests.calls.includes('npm run test:all'), 'the rest is not begun')
  t.match(failedTests.stdout, /covered 300\n {4}not ok 7 - the one that fails\n(?:covered \d+\n){30}$/, 'what failed comes last')

  const failedSetup = c.run({ FAKE_NODE: '18.0.0' }, script)
  t.same([failedSetup.status, failedSetup.calls], [1, []])
  const run = join(c.dir, 'dist/run.js')
  writeFileSync(run, 'console.log(process.argv[2]); process.exit(3)\n')
  const failedRun = c.run({}, script)
  t.same([failedRun.status, failedRun.calls], [3, []], 'no tests after a failed run')
  t.match(failedRun.stdout, '\nall\n')

  const readme = join(ROOT, 'README.md')
  if (existsSync(readme)) {
    const text = readFileSync(readme, 'utf8')
    t.match(text, './setup.sh && node dist/run.js all')
    t.match(text, 'npm test')
  }
})
