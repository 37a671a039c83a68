/** `verify --outputs`: a folder of outputs against the record of its run. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { parseCommand } from '../src/cli/args.js'
import { loadStudy } from '../src/study/study.js'
import { verifyCertificates } from '../src/ingest/certificate/verify.js'
import { checkOutputs, outputFaults, type OutputsReport } from '../src/runs/outputs-check.js'
import { runCli } from './support/cli.js'
import { faultOf, tree } from './support/folders.js'
import { writeHistoryStudy } from './support/history-folder.js'
import { fixture, root } from './support/paths.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-outputs-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))
const STUDY_OUT = join(work, 'study-out')
const BATCH_OUT = join(work, 'batch-out')

/** Path and status of all but the `ok` ones. */
const notOk = ({ files }: OutputsReport): [string, string][] => files.filter(f => f.status !== 'ok').map(f => [f.path, f.status])

/** A copy that may be changed. */
let copies = 0
function copied(of: string): string {
  const dir = join(work, `copy${copies++}`)
  cpSync(of, dir, { recursive: true })
  return dir
}

t.before(async () => {
  writeHistoryStudy(join(work, 'study'))
  const all = await runCli(['all', '--study', join(work, 'study'), '--out', STUDY_OUT, '--no-figures'])
  if (all.code !== 0) throw new Error(all.stderr)
  for (const name of ['one', 'two']) cpSync(fixture('snapshot'), join(work, 'snaps', name), { recursive: true })
  const traces = await runCli(['traces', join(work, 'snaps'), '--out', BATCH_OUT, '--no-figures'])
  if (traces.code !== 0) throw new Error(traces.stderr)
})

t.test('arguments', t => {
  t.match(parseCommand(['verify', '--outputs', 'out']), { command: 'verify', outputs: 'out', study: null, secondReader: false })
  t.match(parseCommand(['verify', '--second-reader']), { command: 'verify', outputs: null, secondReader: true })
  for (const more of [['--study', 'x'], ['--second-reader']])
    t.throws(() => parseCommand(['verify', '--outputs', 'out', ...more]), /contradiction/)
  t.throws(() => parseCommand(['verify', '--outputs', '']), /wrong --outputs/)
  t.end()
})

t.test('what a run wrote is as it recorded; neither study nor replica is needed', async t => {
  renameSync(join(work, 'study'), join(work, 'away'))
  const env = { CRITIC_TRACES_CACHE: join(work, 'no-cache') }
  const before = tree(STUDY_OUT)
  const run = await runCli(['verify', '--outputs', STUDY_OUT], { env })
  renameSync(join(work, 'away'), join(work, 'study'))
  t.match(run, { code: 0, stderr: /^verifying .*\n$/ })
  t.match(run.stdout, /^\d+ ok, 0 by size only, 0 mismatch, 0 missing, 0 unlisted$/m)
  t.match(run.stdout, /^beside +timings\.json +how long the run took: differs from run to run$/m)
  t.match(run.stdout, /^beside +run\.json +the record itself$/m)
  t.strictSame(
    tree(work).filter(path => path.startsWith('no-cache')),
    [],
    'no replica is made'
  )
  t.strictSame(tree(STUDY_OUT), before, 'nothing is written')
  const record = JSON.parse(readFileSync(join(STUDY_OUT, 'run.json'), 'utf8')) as { outputs: { path: string }[] }
  const report = await checkOutputs(STUDY_OUT)
  t.strictSame(
    report.files.filter(f => f.status === 'ok').map(f => f.path),
    record.outputs.map(f => f.path).sort()
  )
  t.match(JSON.parse((await runCli(['verify', '--outputs', STUDY_OUT, '--json'])).stdout), {
    exit_code: 0,
    outputs: STUDY_OUT,
    ok: true,
    records: ['run.json'],
    counts: { ok: record.outputs.length }
  })
})

t.test('two records that state one file otherwise: each statement is held against it', async t => {
  const dir = copied(BATCH_OUT)
  const record = JSON.parse(readFileSync(join(dir, 'one/run.json'), 'utf8')) as { outputs: { path: string; bytes: number }[] }
  const [file] = record.outputs.filter(({ path }) => path.endsWith('.json'))
  const second = (outputs: readonly object[]): void =>
    writeFileSync(join(dir, 'one/diagnose-run.json'), JSON.stringify({ ...record, outputs }))
  second([file])
  const same = await checkOutputs(dir)
  t.ok(same.ok)
  t.strictSame(same.records, ['one/diagnose-run.json', 'one/run.json', 'two/run.json'])
  second([{ ...file, bytes: file.bytes + 1 }])
  const { files, ok } = await checkOutputs(dir)
  t.notOk(ok)
  t.strictSame(
    files
      .filter(({ path }) => path === `one/${file.path}`)
      .map(({ status }) => status)
      .sort(),
    ['mismatch', 'ok']
  )
})

t.test('a batch: a record for each snapshot; what is recorded by size alone is never ok by hash', async t => {
  const report = await checkOutputs(BATCH_OUT)
  t.ok(report.ok)
  t.strictSame(report.records, ['one/run.json', 'two/run.json'])
  const bySize = ['critic-trace-arrays.npz', 'critic-traces.arrow']
  t.strictSame(notOk(report), [
    ['critic-trace-snapshots.json', 'beside'],
    ...['one', 'two'].flatMap(name => [
      [`${name}/run.json`, 'beside'],
      ...bySize.map(file => [`${name}/training_data/${file}`, 'size only'])
    ])
  ])
  const dir = copied(BATCH_OUT)
  const arrow = join(dir, 'one/training_data/critic-traces.arrow')
  const bytes = readFileSync(arrow)
  writeFileSync(
    arrow,
    bytes.map(byte => byte ^ 1)
  )
  t.ok((await checkOutputs(dir)).ok, 'content of the same size is not noticed, and not called ok')
  truncateSync(arrow, bytes.length - 1)
  appendFileSync(join(dir, 'two/training_data/critic-trace-index.json'), ' ')
  t.match(await runCli(['verify', '--outputs', dir]), {
    code: 1,
    stderr:
      /file differs: \d+ bytes, \d+ bytes, recorded \d+, expected \d+ bytes as recorded \(.*one\/training_data\/critic-traces\.arrow\)\n.*two\/training_data\/critic-trace-index\.json\)/
  })
  rmSync(join(dir, 'two/run.json'))
  t.match(
    (await faultOf(checkOutputs(dir))).message,
    /^run record missing file: nothing, expected a readable JSON file \(.*two\/run\.json\)$/,
    'the index says that it was done'
  )
  // A snapshot that failed may have none.
  const failing = copied(BATCH_OUT)
  const index = join(failing, 'critic-trace-snapshots.json')
  writeFileSync(index, readFileSync(index, 'utf8').replace(/"ok"(?![\s\S]*"ok")/, '"failed"'))
  rmSync(join(failing, 'two'), { recursive: true })
  t.strictSame((await checkOutputs(failing)).records, ['one/run.json'])
})

t.test(
  'sha256sum accepts and refuses the lines as verify does',
  { skip: spawnSync('sha256sum', ['--version']).status === 0 ? false : 'no sha256sum' },
  async t => {
    for (const out of [STUDY_OUT, BATCH_OUT]) {
      const dir = copied(out)
      const { code, stdout, stderr } = await runCli(['verify', '--outputs', dir, '--format', 'sha256sum'])
      t.equal(code, 0)
      t.equal(stderr.replace(/^verifying.*\n/, ''), out === BATCH_OUT ? 'note: 4 recorded by size alone, with no line\n' : '')
      t.equal(stdout.trimEnd().split('\n').length, (await checkOutputs(dir)).counts.ok)
      execFileSync('sha256sum', ['--check', '--strict', '--quiet'], { cwd: dir, input: stdout })
      const [first] = stdout.split('\n')
      appendFileSync(join(dir, first.slice(66)), 'x')
      t.equal(spawnSync('sha256sum', ['--check', '--strict', '--status'], { cwd: dir, input: stdout }).status, 1)
      t.match(await runCli(['verify', '--outputs', dir, '--format', 'sha256sum']), { code: 1, stdout })
    }
  }
)

t.test('every kind of difference, named; exit 1', async t => {
  const paths = (JSON.parse(readFileSync(join(STUDY_OUT, 'run.json'), 'utf8')) as { outputs: { path: string }[] }).outputs.map(f => f.path)
  const [changed, gone, linked, folder, piped] = paths
  const dir = copied(STUDY_OUT)
  const text = readFileSync(join(dir, changed))
  text[0] ^= 1
  writeFileSync(join(dir, changed), text)
  rmSync(join(dir, gone))
  renameSync(join(dir, linked), join(work, 'elsewhere'))
  symlinkSync(join(work, 'elsewhere'), join(dir, linked))
  rmSync(join(dir, folder))
  mkdirSync(join(dir, folder))
  rmSync(join(dir, piped))
  execFileSync('mkfifo', [join(dir, piped)])
  writeFileSync(join(dir, 'notes.txt'), 'mine')
  writeFileSync(join(dir, '.run.json.ct1-host-x.tmp'), '')
  const report = await checkOutputs(dir)
  t.strictSame(
    notOk(report)
      .filter(([, status]) => status !== 'beside')
      .sort(),
    [
      ['.run.json.ct1-host-x.tmp', 'unlisted'],
      [changed, 'mismatch'],
      [folder, 'mismatch'],
      [gone, 'missing'],
      [linked, 'mismatch'],
      ['notes.txt', 'unlisted'],
      [piped, 'mismatch']
    ].sort()
  )
  const reason = (path: string): string | null | undefined => report.files.find(f => f.path === path)?.reason
  t.strictSame([changed, gone, linked, folder, piped].map(reason), [
    'other content',
    'no such file',
    'is a link',
    'is a folder',
    'is a special file'
  ])
  t.equal(outputFaults(report, dir).length, 7)
  t.ok(outputFaults(report, dir).every(fault => fault.exitCode === 1 && fault.place.file?.startsWith(dir)))
  const run = await runCli(['verify', '--outputs', dir])
  t.match(run, { code: 1, stdout: /, 0 by size only, 4 mismatch, 1 missing, 2 unlisted$/m })
  t.match(run.stderr, /outputs file not recorded: 4 bytes, expected only what the run recorded \(.*notes\.txt\)/)
  const temporary = '.run.json.ct123-0a1b2c3d-0a1b2c3d.tmp'
  writeFileSync(join(dir, temporary), 'half')
  t.match(
    (await runCli(['verify', '--outputs', dir])).stderr,
    /file not recorded: 4 bytes, left by a run that was interrupted, unless one is writing now: the next run into the folder removes it, expected .*\.tmp\)/
  )
  rmSync(join(dir, temporary))
  t.match(run.stderr, /outputs file differs: is a link, expected [0-9a-f]{64}, \d+ bytes as recorded/)
  const behind = copied(STUDY_OUT)
  renameSync(join(behind, 'wandb'), join(work, 'moved'))
  symlinkSync(join(work, 'moved'), join(behind, 'wandb'))
  const links = await checkOutputs(behind)
  t.ok(links.files.filter(f => f.path.startsWith('wandb/')).every(f => f.status === 'mismatch' && f.reason === 'lies behind a link'))
  t.notOk(links.ok)
})

t.test('whatever is no folder and in no record is unlisted, and named', async t => {
  const dir = copied(STUDY_OUT)
  symlinkSync(work, join(dir, 'extra'))
  symlinkSync(join(work, 'nothing-there'), join(dir, 'wandb/evil.png'))
  symlinkSync(work, join(dir, '.DS_Store'))
  execFileSync('mkfifo', [join(dir, 'wandb/pipe')])
  rmSync(join(dir, 'timings.json'))
  symlinkSync(join(work, 'a'), join(dir, 'timings.json'))
  mkdirSync(join(dir, 'empty'))
  const report = await checkOutputs(dir)
  t.strictSame(
    report.files.filter(f => f.status !== 'ok' && f.status !== 'beside').map(f => [f.path, f.status, f.reason, f.found]),
    [
      ['.DS_Store', 'unlisted', 'a link, in no record', null],
      ['extra', 'unlisted', 'a link, in no record', null],
      ['timings.json', 'unlisted', 'a link, in no record', null],
      ['wandb/evil.png', 'unlisted', 'a link, in no record', null],
      ['wandb/pipe', 'unlisted', 'a named pipe, in no record', null]
    ]
  )
  const run = await runCli(['verify', '--outputs', dir])
  t.match(run, {
    code: 1,
    stdout: /, 5 unlisted$/m,
    stderr: /outputs file not recorded: a named pipe, in no record, expected only what the run recorded \(.*pipe\)/
  })
})

t.test('an empty .gitkeep keeps an output folder in a repository, as artifacts/ of this one; with content it is unlisted', async t => {
  const dir = copied(STUDY_OUT)
  copyFileSync(join(root, 'artifacts/.gitkeep'), join(dir, '.gitkeep'))
  const run = await runCli(['verify', '--outputs', dir])
  t.match(run, { code: 0, stdout: /^beside +\.gitkeep +keeps the folder in a repository, has no content$/m })
  t.match(run.stdout, /, 0 unlisted$/m)
  writeFileSync(join(dir, 'wandb/.gitkeep'), '')
  writeFileSync(join(dir, '.gitkeep'), 'x')
  t.match(await runCli(['verify', '--outputs', dir]), { code: 1, stdout: /, 2 unlisted$/m })
})

t.test('a record, or the index of a batch, that is a link or lies behind one is refused', async t => {
  const moved = (of: string, path: string): string => {
    const dir = copied(of)
    const away = join(work, `away${copies++}`)
    renameSync(join(dir, path), away)
    symlinkSync(away, join(dir, path))
    return dir
  }
  const cases: ReadonlyArray<readonly [of: string, path: string, message: RegExp]> = [
    [STUDY_OUT, 'run.json', /^run record unreadable file: it is a link, expected the file that the run wrote \(.*run\.json\)$/],
    [BATCH_OUT, 'one/run.json', /^run record unreadable file: it is a link, .*one\/run\.json\)$/],
    [BATCH_OUT, 'one', /^run record unreadable file: it lies behind a link, .*one\/run\.json\)$/],
    [BATCH_OUT, 'critic-trace-snapshots.json', /^batch index unreadable file: it is a link, /]
  ]
  for (const [of, path, message] of cases) {
    const fault = await faultOf(checkOutputs(moved(of, path)))
    t.match(fault.message, message)
    t.equal(fault.exitCode, 3)
  }
  const whole = join(work, 'whole')
  symlinkSync(STUDY_OUT, whole)
  t.ok((await checkOutputs(whole)).ok, 'the folder that was named may be a link')
})

t.test('a record that is missing, malformed or not ours is a fault, exit 3', async t => {
  const text = readFileSync(join(STUDY_OUT, 'run.json'), 'utf8')
  const record = JSON.parse(text) as { outputs: object[] }
  const edited = (change: object): string => JSON.stringify({ ...record, ...change })
  const [first] = record.outputs
  const cases: ReadonlyArray<readonly [content: string | null, message: RegExp]> = [
    [
      null,
      /^run record missing file: nothing, expected run\.json or diagnose-run\.json or explore-run\.json or merge-run\.json, which a run writes last \(of a batch critic-trace-snapshots\.json, and one in each snapshot's folder\) \(.*run\.json\)$/
    ],
    ['', /^run record malformed JSON/],
    [text.slice(0, -10), /^run record malformed JSON/],
    ['[]', /^run record wrong field: the file is a list of 0, expected an object/],
    [edited({ schema: 'timings' }), /^run record wrong field: schema is "timings", expected "run"/],
    [edited({ schema_version: 2 }), /^run record wrong field: schema_version is 2, expected 1/],
    [
      edited({ generator: { name: 'other', version: '1' } }),
      /^run record wrong field: generator\.name is "other", expected "critic-traces"/
    ],
    [edited({ outputs: [] }), /^run record .*outputs/],
    [edited({ outputs: undefined }), /^run record missing field: outputs/],
    [edited({ outputs: [{ ...first, sha256: 'x' }] }), /^run record wrong field: outputs\[0\]\.sha256/],
    [edited({ outputs: [{ ...first, bytes: -1 }] }), /^run record wrong field: outputs\[0\]\.bytes is -1/],
    [
      edited({ outputs: [{ ...first, path: '../run.json' }] }),
      /^run record unsafe path: outputs\[0\]\.path is "\.\.\/run\.json", expected a relative path inside the folder of outputs/
    ],
    [
      edited({ outputs: [{ ...first, sha256: null }] }),
      /^run record wrong field: outputs\[0\]\.sha256 is null, expected 64 .*: only the files of columns of a batch are recorded by size/
    ],
    [
      edited({ outputs: [{ ...first, path: 'training_data/critic-traces.arrow', sha256: null }] }),
      /^run record wrong field: outputs\[0\]\.sha256 is null/
    ],
    [edited({ manifest: undefined }), /^run record missing field: manifest/],
    [edited({ outputs: [first, first] }), /^run record file stated twice/]
  ]
  for (const [content, message] of cases) {
    const dir = copied(STUDY_OUT)
    if (content === null) rmSync(join(dir, 'run.json'))
    else writeFileSync(join(dir, 'run.json'), content)
    const fault = await faultOf(checkOutputs(dir))
    t.match(fault.message, message)
    t.equal(fault.exitCode, 3)
  }
  t.match(await runCli(['verify', '--outputs', join(work, 'nowhere')]), {
    code: 3,
    stderr: /^critic-traces: outputs unreadable folder: ENOENT no such file or directory, expected a folder of outputs \(.*nowhere\)$/m
  })
  const file = join(work, 'a-file')
  writeFileSync(file, '')
  t.match(await runCli(['verify', '--outputs', file]), {
    code: 3,
    stderr: /^critic-traces: outputs unreadable folder: a file, expected a folder of outputs \(.*a-file\)$/m
  })
  t.match(await runCli(['verify', '--study', file]), {
    code: 3,
    stderr: /^critic-traces: study unreadable folder: a file, expected the folder of a study \(.*a-file\)$/m
  })
  const study = copied(join(work, 'study'))
  const { study: loaded } = await loadStudy(study)
  rmSync(join(study, 'wandb/history'), { recursive: true })
  writeFileSync(join(study, 'wandb/history'), '')
  t.match(
    (await faultOf(verifyCertificates(study, loaded))).message,
    /^history unreadable folder: ENOTDIR not a directory, expected a folder of histories \(.*history\)$/
  )
  const dir = copied(STUDY_OUT)
  rmSync(join(dir, 'run.json'))
  execFileSync('mkfifo', [join(dir, 'run.json')])
  t.match((await faultOf(checkOutputs(dir))).message, /unreadable file: a named pipe/, 'a pipe does not hold it')
})
