/**
 * What a run may do to the folder that it is given: a `run.json` of anyone's removes nothing of theirs, an output folder is not
 * on, around or in an input, and the bytes do not depend on how a path was spelled. The built program, with real files.
 */
import { execFileSync, spawnSync, type ChildProcess } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { Random } from '../../src/replica/random.js'
import { OutputSet } from '../../src/render/outputs/output-set.js'
import { removeOutputs } from '../../src/render/outputs/removed-outputs.js'
import { RESERVED_OUTPUTS, isOutputName } from '../../src/schema/outputs.js'
import { GENERATOR } from '../../src/core/version.js'
import { runCli } from '../support/cli.js'
import { root } from '../support/paths.js'
import { contents, faultOf, sha256, tree } from '../support/folders.js'
import { hashes } from '../support/run.js'
import { randomTraces, writeSnapshot } from '../support/snapshot.js'

function temp(t: Test): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'critic-traces-out-')))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Latin-1: what a text has of bytes. */
function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, 'latin1')
}

const snapshot = (dir: string, seed = 'out'): Promise<void> =>
  Promise.resolve(
    writeSnapshot(
      dir,
      randomTraces(new Random(seed), 1, () => 20)
    )
  )

const RUN = ['--no-figures', '-q'] as const

t.test('names of outputs: the program makes them, or a study may choose them, or nobody', t => {
  const chosen = [
    'figures/08-critic-traces.png',
    'figures/a.pdf',
    'wandb/curves.csv',
    'time_display.json',
    'training_data/x.csv-metadata.json',
    'materials/notes of r6.md'
  ]
  for (const path of [...RESERVED_OUTPUTS, ...chosen]) t.ok(isOutputName(path), path)
  const nobody = [
    '',
    '.',
    'notes.txt',
    'figures/a.jpg',
    'figures/b/a.png',
    '../audit.json',
    '/audit.json',
    'wandb/../x.json',
    'a/x.json',
    './x.json',
    '.x.json',
    'figures/../a.png',
    'wandb//x.csv',
    'materials/..',
    'materials/a/b.md',
    'materials/',
    'wandb/x.csv\n',
    'wandb\\x.csv',
    `${'x'.repeat(200)}.csv`
  ]
  for (const path of nobody) t.notOk(isOutputName(path), JSON.stringify(path))
  t.end()
})

t.test("a record of anyone's: only what this program wrote, as it wrote it, in the folder itself, goes", async t => {
  const dir = temp(t)
  const out = join(dir, 'out')
  const ours = JSON.stringify({ schema: 'x', generator: GENERATOR })
  const csvw = JSON.stringify({ '@context': 'http://www.w3.org/ns/csvw', 'x:generator': { 'x:name': GENERATOR.name } })
  /** Everything that a record lists rightly, with its bytes. */
  const files: readonly (readonly [string, string, boolean])[] = [
    ['figures/01-old.png', `\x89PNG\r\n\x1a\n tEXtSoftware\0${GENERATOR.name} 1`, true],
    ['figures/01-old.svg', `<!-- Written by ${GENERATOR.name} 1. --><svg a>`, true],
    ['figures/01-old.pdf', `%PDF-1.5 /Creator (${GENERATOR.name} 1) %%EOF`, true],
    ['audit.json', ours, true],
    ['training_data/critic-trace-arrays.npz', 'PK trace_000_response_positions.npyPK synthetic.npyPK', true],
    ['wandb/points.arrow', `ARROW1\0\0 ${GENERATOR.name} 1\0 generator\0`, true],
    ['preview/source-notes.html', `<p>Written by ${GENERATOR.name} 1.</p></html>`, true],
    ['source-notes.md', `text\n\nWritten by ${GENERATOR.name} 1.\n`, true],
    ['data.json', '{"mine": 1}', false],
    ['article.md', 'my text', false],
    ['preview/article.html', '<p>my text</p></html>', false],
    ['figures/mine.png', '\x89PNG mine', false],
    ['figures/08-critic-traces.png', '\x89PNG\r\n mine', false],
    ['figures/mine.svg', '<svg >critic-traces 1', false],
    ['figures/mine.pdf', '%PDF-1.4 mine %%EOF', false],
    ['wandb/observations.arrow', 'ARROW1\0\0 generator\0', false],
    ['training_data/critic-traces.arrow', 'columns', false],
    ['wandb/lineage.csv', 'a\r\n', false],
    ['wandb/mine.json', ours, true],
    ['wandb/curves.csv', 'a\r\n', true],
    ['wandb/curves.csv-metadata.json', csvw, true],
    ['package.json', '{"name": "somebody"}', false],
    ['wandb/theirs.csv', 'a\r\n', false],
    ['thesis.tex', 'years of work', false],
    ['figures/photo.jpg', 'a photo', false],
    ['wandb/list.json', '[1]', false],
    ['wandb/broken.json', '{', false],
    ['null.json', 'null', false]
  ]
  for (const [path, text] of files) write(join(out, path), text)
  write(join(dir, 'victim/audit.json'), 'victim')
  write(join(dir, 'victim/a.png'), 'victim')
  symlinkSync('../victim', join(out, 'materials'))
  write(join(dir, 'victim/multilingual-case-evidence.json'), ours)
  symlinkSync(join(dir, 'victim/a.png'), join(out, 'figures/link.png'))
  write(join(out, 'figures/changed.png'), 'drawn over')
  write(join(out, 'figures/longer.png'), 'drawn')
  execFileSync('mkfifo', [join(out, 'figures/pipe.png')])
  mkdirSync(join(out, 'figures/folder.png'))
  const listed = (path: string, text: string) => ({ path, sha256: sha256(Buffer.from(text, 'latin1')), bytes: text.length })
  const before = contents(join(dir, 'victim'))
  const left = await removeOutputs(
    out,
    [
      ...files.map(([path, text]) => listed(path, text)),
      listed('materials/multilingual-case-evidence.json', ours),
      listed('figures/link.png', 'victim'),
      listed('../victim/audit.json', 'victim'),
      listed(join(dir, 'victim/audit.json'), 'victim'),
      listed('figures/../../victim/audit.json', 'victim'),
      listed('figures/changed.png', 'drawn once'),
      { ...listed('figures/longer.png', 'drawn'), bytes: 4 },
      listed('figures/pipe.png', ''),
      listed('figures/folder.png', ''),
      listed('figures/gone.png', 'x'),
      listed('nowhere/at.png', 'x'),
      { path: 'article.md', sha256: null, bytes: 7 }
    ],
    GENERATOR.name
  )
  t.same(contents(join(dir, 'victim')), before)
  for (const [path, , goes] of files) t.equal(existsSync(join(out, path)), !goes, path)
  const kept = files.filter(([path, , goes]) => !goes && isOutputName(path)).map(([path]) => path)
  t.same(
    left,
    [...kept, ...['link', 'changed', 'longer', 'pipe', 'folder'].map(name => `figures/${name}.png`), 'article.md'],
    'what stays is said'
  )
  for (const path of ['link.png', 'changed.png', 'longer.png', 'pipe.png', 'folder.png']) t.ok(existsSync(join(out, 'figures', path)), path)

  const columns = `ARROW1\0\0 ${GENERATOR.name} 1\0 generator\0`
  write(join(out, 'article.md'), `\n\nWritten by ${GENERATOR.name} 1.`)
  write(join(out, 'training_data/critic-traces.arrow'), columns)
  const bySize = ['article.md', 'training_data/critic-traces.arrow'].map(path => ({
    path,
    sha256: null,
    bytes: readFileSync(join(out, path)).length
  }))
  t.same(await removeOutputs(out, bySize, GENERATOR.name), ['article.md'])
  t.ok(existsSync(join(out, 'article.md')), 'by size alone go the files alone that are recorded so')
  t.notOk(existsSync(join(out, 'training_data/critic-traces.arrow')))
})

t.test('a foreign run.json in --out, as the issue has it: through a link and beside', async t => {
  const dir = temp(t)
  await snapshot(join(dir, 'in/s2'))
  t.equal((await runCli(['traces', 'in', '--out', 'out', ...RUN], { cwd: dir })).code, 0)
  const record = JSON.parse(readFileSync(join(dir, 'out/s2/run.json'), 'utf8')) as { settings_sha256: string; outputs: object[] }
  write(join(dir, 'victim/file'), 'precious')
  symlinkSync('../../victim', join(dir, 'out/s2/l'))
  write(join(dir, 'out/s2/notes.txt'), 'mine')
  write(join(dir, 'out/s2/figures/own.png'), 'mine')
  const hostile = ['l/file', 'notes.txt', 'figures/own.png', 'figures/../../../victim/file'].map(path => ({
    path,
    sha256: '0'.repeat(64),
    bytes: 4
  }))
  write(join(dir, 'out/s2/run.json'), JSON.stringify({ ...record, settings_sha256: 'other', outputs: [...record.outputs, ...hostile] }))
  t.match(await runCli(['traces', 'in', '--out', 'out', ...RUN], { cwd: dir }), { code: 0, stderr: '' })
  t.equal(readFileSync(join(dir, 'victim/file'), 'utf8'), 'precious')
  t.equal(readFileSync(join(dir, 'out/s2/notes.txt'), 'utf8'), 'mine')
  t.equal(readFileSync(join(dir, 'out/s2/figures/own.png'), 'utf8'), 'mine')
})

t.test('a named pipe, a folder or a link in the place of a recorded file does not hold a run', async t => {
  const dir = temp(t)
  await snapshot(join(dir, 'in/s'))
  const args = ['traces', 'in', '--out', 'out', '--json', ...RUN]
  t.equal((await runCli(args, { cwd: dir })).code, 0)
  const first = hashes(join(dir, 'out'))
  const output = join(dir, 'out/s/training_data/critic-trace-statistics.json')
  for (const place of [
    () => execFileSync('mkfifo', [output]),
    () => symlinkSync('/dev/zero', output),
    () => {
      renameSync(join(dir, 'out/s/training_data/critic-trace-index.json'), join(dir, 'kept'))
      symlinkSync(join(dir, 'kept'), output)
    }
  ]) {
    unlinkSync(output)
    place()
    const run = await runCli(args, { cwd: dir })
    t.match(JSON.parse(run.stdout), { exit_code: 0, snapshots: [{ status: 'done' }] })
    t.same(hashes(join(dir, 'out')), first)
  }
  const arrow = join(dir, 'out/s/training_data/critic-traces.arrow')
  unlinkSync(arrow)
  mkdirSync(arrow)
  const blocked = await runCli(args, { cwd: dir })
  t.match(blocked, {
    code: 3,
    stderr: /^critic-traces: output unwritable: a folder, expected a file \(out\/s\/training_data\/critic-traces\.arrow\)\n$/
  })
  rmSync(arrow, { recursive: true })

  const record = join(dir, 'out/s/run.json')
  unlinkSync(record)
  execFileSync('mkfifo', [record])
  t.match(await runCli(args, { cwd: dir }), { code: 0, stderr: '' })
  t.same(hashes(join(dir, 'out')), first)
  unlinkSync(record)
  mkdirSync(record)
  const folder = await runCli(args, { cwd: dir })
  t.match(folder, { code: 3, stderr: /^critic-traces: output unwritable: E[A-Z]+ [a-z ]+, expected [a-z ]+ \(out\/s\/run\.json\)\n$/ })
  rmSync(record, { recursive: true })
  t.equal((await runCli(args, { cwd: dir })).code, 0)

  const npz = tree(join(dir, 'in/s')).find(path => path.endsWith('.npz')) as string
  unlinkSync(join(dir, 'in/s', npz))
  execFileSync('mkfifo', [join(dir, 'in/s', npz)])
  const input = await runCli(args, { cwd: dir })
  t.match(input, { code: 3, stderr: new RegExp(`^critic-traces: snapshot unreadable npz: "${npz}", a named pipe,`) })
})

t.test('an output folder is not, does not hold and does not lie in an input', async t => {
  const dir = temp(t)
  await snapshot(join(dir, 'data/s'))
  write(join(dir, 'data/run.json'), 'mine')
  write(join(dir, 'data/s/figures/08-critic-traces.svg'), 'mine')
  symlinkSync('data', join(dir, 'link'))
  symlinkSync('data/new', join(dir, 'to-come'))
  mkdirSync(join(dir, 'elsewhere'))
  const before = [contents(join(dir, 'data')), tree(dir)]
  const refused: readonly (readonly [string, string, 'inside' | 'around'])[] = [
    ['data', 'data', 'inside'],
    ['data', './data/', 'inside'],
    ['data', 'link', 'inside'],
    ['link', 'data', 'inside'],
    ['data', 'data/out', 'inside'],
    ['data', 'link/a/b', 'inside'],
    ['data', 'to-come', 'inside'],
    ['data/s', '.', 'around'],
    ['data/s', 'data', 'around'],
    ['data/s', 'link', 'around'],
    ['data/s/index.html', 'data/s', 'around'],
    ['.', '.', 'inside'],
    ['.', 'out', 'inside'],
    ['data', join(dir, 'data'), 'inside'],
    [join(dir, 'data'), 'elsewhere/../data', 'inside']
  ]
  for (const [input, out, where] of refused) {
    const run = await runCli(['traces', input, '--out', out, '--formats', 'svg', '-q'], { cwd: dir })
    t.match(run, { code: 2, stdout: '' }, `${input} ${out}`)
    t.match(run.stderr, `critic-traces: usage output ${where} an input: ${out}, expected a folder outside ${input} that does not hold it\n`)
  }
  t.same([contents(join(dir, 'data')), tree(dir)], before, 'nothing was written, no folder made')
  t.notOk(existsSync(join(dir, 'out')))

  for (let round = 0; round < 2; round++) {
    const run = await runCli(['traces', '.', '--json', ...RUN], { cwd: dir })
    t.match(JSON.parse(run.stdout), { exit_code: 0, out: 'artifacts', snapshots: [{ name: 's' }] })
    t.equal((JSON.parse(run.stdout) as { snapshots: object[] }).snapshots.length, 1, 'the default folder is not read')
  }
  await snapshot(join(dir, 'artifacts/more'))
  const without = JSON.parse((await runCli(['traces', '.', '--json', ...RUN], { cwd: dir })).stdout) as { snapshots: object[] }
  t.equal(without.snapshots.length, 1, 'whatever lies in it')
  const named = await runCli(['traces', 'artifacts/more', '--out', 'elsewhere', '--json', ...RUN], { cwd: dir })
  t.match(JSON.parse(named.stdout), { exit_code: 0, snapshots: [{ name: 'more' }] }, 'but where it is named')
  t.match(await runCli(['traces', 'artifacts/more', ...RUN], { cwd: dir }), { code: 2, stderr: /output around an input: artifacts/ })
  t.equal(readFileSync(join(dir, 'data/run.json'), 'utf8'), 'mine')
})

t.test('what is in the way of an output folder is named', async t => {
  const dir = temp(t)
  const at = (name: string): string => join(dir, name)
  execFileSync('mkfifo', [at('pipe')])
  write(at('file'), 'mine')
  for (const [link, target] of [
    ['ring', 'ring'],
    ['nothing', 'nowhere'],
    ['out/pipe', at('pipe')],
    ['out/away', at('elsewhere')],
    ['out/ring', 'ring'],
    ['out/in', 'nowhere']
  ]) {
    mkdirSync(dirname(at(link)), { recursive: true })
    symlinkSync(target, at(link))
  }
  const ways: readonly (readonly [string, string, string])[] = [
    ['pipe', 'pipe', 'a named pipe'],
    ['pipe/x', 'pipe', 'a named pipe'],
    ['file', 'file', 'a file'],
    ['file/x/y', 'file', 'a file'],
    ['ring/x', 'ring', 'a link that leads back to itself'],
    ['nothing', 'nothing', 'a link to nothing'],
    ['nothing/x', 'nothing', 'a link to nothing']
  ]
  for (const [out, place, found] of ways) {
    t.equal((await faultOf(OutputSet.open(at(out)))).message, `output unwritable: ${found}, expected a folder (${at(place)})`)
  }
  t.equal((await faultOf(OutputSet.open('/dev/null'))).message, 'output unwritable: a device, expected a folder (/dev/null)')
  for (const [folder, sentence] of [
    ['away', `a link to ${at('elsewhere')}, expected a folder inside the output folder`],
    ['ring', 'a link that leads back to itself, expected a folder'],
    ['in', 'a link to nothing, expected a folder']
  ]) {
    const set = await OutputSet.open(at('out'))
    t.equal((await faultOf(set.file(`${folder}/x.json`))).message, `output unwritable: ${sentence} (${at('out')}/${folder})`)
    await set.abort()
  }
})

/** A folder mounted in a second place, seen by one command alone. */
const MOUNT = 'mount --bind data bind && exec "$0" "$@"'
const mounts = spawnSync('unshare', ['-rm', 'true']).status === 0

t.test('nor through a folder that is mounted twice', { skip: mounts ? false : 'this system lets nobody mount' }, async t => {
  const dir = temp(t)
  await snapshot(join(dir, 'data/s'))
  mkdirSync(join(dir, 'bind'))
  const before = contents(join(dir, 'data'))
  for (const [input, out, where] of [
    ['data', 'bind', 'inside'],
    ['data', 'bind/new/out', 'inside'],
    ['data/s', 'bind', 'around'],
    ['bind', 'data', 'inside']
  ]) {
    const args = ['-rm', 'sh', '-c', MOUNT, process.execPath, join(root, 'dist/run.js'), 'traces', input, '--out', out, ...RUN]
    const { status, stderr } = spawnSync('unshare', args, { cwd: dir, encoding: 'utf8' })
    t.equal(status, 2, `${input} ${out}`)
    t.match(stderr, `critic-traces: usage output ${where} an input: ${out}, expected a folder outside ${input} that does not hold it\n`)
  }
  t.same(contents(join(dir, 'data')), before)
})

t.test('a study is not around its outputs nor in them', async t => {
  const dir = temp(t)
  await snapshot(join(dir, 'study/snap'))
  write(join(dir, 'study/study.json'), JSON.stringify({ schema_version: 1, name: 'made up', critic_traces: { snapshot: 'snap' } }))
  const before = contents(dir)
  for (const [out, where] of [
    ['study', 'inside'],
    ['study/out', 'inside'],
    ['.', 'around'],
    ['..', 'around']
  ]) {
    for (const args of [
      ['all', '--study', 'study'],
      ['audit', '--study', 'study'],
      ['traces', 'study/snap', '--study', 'study']
    ]) {
      const run = await runCli([...args, '--out', out], { cwd: dir })
      t.match(run, { code: 2, stderr: new RegExp(`^critic-traces: usage output ${where} the study: `) }, `${args[0]} ${out}`)
    }
  }
  t.same(contents(dir), before)
})

t.test('the same bytes however a path is spelled, from wherever', async t => {
  const dir = temp(t)
  await snapshot(join(dir, 'x/a/good'))
  await snapshot(join(dir, 'x/a/deep/page'), 'page')
  writeFileSync(join(dir, 'x/a/deep/page/index.html'), '<script id="data" type="application/json">{"traces": [</script>')
  write(join(dir, 'x/a/bad/index.html'), '<p>')
  write(join(dir, 'x/a/bad/index.html.gz'), '')
  const ways: readonly (readonly [string, string])[] = [
    ['./a', 'x'],
    ['a', 'x'],
    ['a/', 'x'],
    [join(dir, 'x/a'), 'x'],
    [join(dir, 'x/a'), '/'],
    ['../x/a', 'x'],
    ['x/a', '.'],
    ['.', 'x/a'],
    ['x//./a', '.']
  ]
  let first: Record<string, string> | null = null
  for (const [i, [path, cwd]] of ways.entries()) {
    const out = join(dir, `out${i}`)
    const run = await runCli(['traces', path, '--out', out, '--formats', 'svg', '-q'], { cwd: cwd === '/' ? cwd : join(dir, cwd) })
    t.equal(run.code, 3)
    const made = hashes(out)
    first ??= made
    t.same(made, first, `${path} from ${cwd}`)
    t.equal(Object.keys(made).length, 11)
    const all = Object.values(contents(out)).join('\n')
    t.notMatch(all, dir, 'no output holds where it lay')
  }
  const index = JSON.parse(readFileSync(join(dir, 'out0/critic-trace-snapshots.json'), 'utf8')) as {
    snapshots: Array<Record<string, unknown>>
  }
  t.match(
    index.snapshots.map(({ name, source }) => [name, source]),
    [
      [null, null],
      ['page', 'a/deep/page/index.html'],
      ['good', 'a/good/index.html']
    ]
  )
  t.match(JSON.stringify(index), /\(a\/bad\).*\(a\/deep\/page\/index\.html[,)]/)
  const traces = JSON.parse(readFileSync(join(dir, 'out0/good/training_data/critic-trace-index.json'), 'utf8')) as object
  t.match(traces, { html: { path: 'index.html' } })

  // Two of one name are told apart by the names before it.
  await snapshot(join(dir, 'y/a/good'), 'other')
  let two: Record<string, string> | null = null
  for (const [i, [paths, cwd]] of (
    [
      [['x/a', 'y/a'], '.'],
      [[join(dir, 'x/a/'), join(dir, 'y/a')], 'x'],
      [['../x/a', 'a'], 'y']
    ] as const
  ).entries()) {
    const out = join(dir, `both${i}`)
    await runCli(['traces', ...paths, '--out', out, ...RUN], { cwd: join(dir, cwd) })
    two ??= hashes(out)
    t.same(hashes(out), two)
  }
  const both = JSON.parse(readFileSync(join(dir, 'both0/critic-trace-snapshots.json'), 'utf8')) as {
    snapshots: Array<Record<string, unknown>>
  }
  t.same(
    both.snapshots.map(({ source }) => source),
    [null, 'x/a/deep/page/index.html', 'x/a/good/index.html', 'y/a/good/index.html']
  )
})

t.test('a signal ends every command: 130, and nothing is left', async t => {
  const dir = temp(t)
  mkdirSync(join(dir, 'tmp'))
  const env = { CRITIC_TRACES_CACHE: join(dir, 'cache'), TMPDIR: join(dir, 'tmp') }
  /** Sends the signal when the child has said something on standard error: it is at work then. */
  const interrupted = async (args: readonly string[], signal: NodeJS.Signals, when: RegExp): Promise<void> => {
    const onStart = (child: ChildProcess): void => {
      child.stderr?.on('data', (text: Buffer | string) => {
        if (when.test(String(text))) child.kill(signal)
      })
    }
    const run = await runCli(args, { cwd: dir, env, onStart })
    t.equal(run.code, 130, `${args.join(' ')}: ${run.stderr}`)
    t.match(run.stderr, /critic-traces: run interrupted: a signal, expected to finish; nothing is half-written\n$/)
    t.same(tree(dir), [], 'no file')
  }
  for (const [command, signal] of [
    ['all', 'SIGTERM'],
    ['verify', 'SIGHUP'],
    ['audit', 'SIGINT']
  ] as const) {
    await interrupted([command], signal, /replica: making critic/)
  }
  const nowhere = await runCli(['verify'], { cwd: dir, env: { CRITIC_TRACES_CACHE: '/proc/x' } })
  t.match(nowhere, {
    code: 3,
    stderr: /^critic-traces: replica not written: ENOENT no such file or directory, expected a writable cache folder [^\n]*\n$/
  })
})
