/** The command line: what it accepts, what it says, how it exits. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync, chmodSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import { Random } from '../src/replica/random.js'
import { parseCommand } from '../src/cli/args.js'
import { helpText } from '../src/cli/help.js'
import { COMMAND_NAMES, CLI_COMMANDS, OPTIONS, optionsOf, type OptionName } from '../src/cli/options.js'
import type { Fault } from '../src/core/errors.js'
import { runCli } from './support/cli.js'
import { unprefixed } from './support/csv-tables.js'
import { tree } from './support/folders.js'
import { schemaProblems } from './support/json-schema.js'
import { root } from './support/paths.js'
import { hashes } from './support/run.js'
import { randomTraces, writeSnapshot } from './support/snapshot.js'

function temp(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'critic-traces-cli-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

t.test('a command line becomes plain data', t => {
  t.match(parseCommand(['all', '--threads', '7', '--out=o', '--formats', 'pdf,PNG']), {
    command: 'all',
    threads: 7,
    out: 'o',
    formats: ['png', 'pdf'],
    study: null,
    json: false
  })
  t.match(parseCommand(['all', '--formats', 'svg,column.dark.PDF,dark.svg']), { formats: ['svg', 'dark.svg', 'column.dark.pdf'] })
  t.match(parseCommand(['traces', 'a', '--no-figures', 'b', '--study', 's', '-q']), {
    command: 'traces',
    paths: ['a', 'b'],
    formats: [],
    study: 's',
    quiet: true
  })
  t.match(parseCommand(['verify', '--format', 'sha256sum']), { command: 'verify', format: 'sha256sum' })
  t.match(parseCommand(['study', 'init', 'd', '--name', 'N', '--json']), {
    command: 'study init',
    dir: 'd',
    out: null,
    name: 'N',
    json: true
  })
  t.match(parseCommand(['traces', 'a', '--key', 'values=v', '--key=response_mask=m=1', '--success-above=-0.5', '--marker', '</s>']), {
    keys: { values: 'v', response_mask: 'm=1' },
    successAbove: -0.5,
    jumpAbove: null,
    marker: '</s>',
    skipBad: false,
    against: null,
    tokenizer: null
  })
  t.match(parseCommand(['traces', 'a', '--jump-above', '1e-3', '--skip-bad', '--against', 'b.pt', '--tokenizer', 't.json']), {
    keys: {},
    successAbove: null,
    jumpAbove: 0.001,
    marker: null,
    skipBad: true,
    against: 'b.pt',
    tokenizer: 't.json'
  })
  t.same(parseCommand(['--help']), { command: 'help', topic: null })
  t.same(parseCommand(['all', '-h']), { command: 'help', topic: 'all' })
  t.same(parseCommand(['help', 'traces']), { command: 'help', topic: 'traces' })
  t.same(parseCommand(['help', 'study', 'init']), { command: 'help', topic: 'study init' })
  t.same(parseCommand(['study', 'init', '--help']), { command: 'help', topic: 'study init' })
  t.match(parseCommand(['traces', 'a']), { tables: { arrow: true, parquet: false } })
  t.match(parseCommand(['traces', 'a', '--parquet']), { tables: { arrow: true, parquet: true } })
  t.match(parseCommand(['all', '--no-arrow']), { tables: { arrow: false, parquet: false } })
  t.end()
})

t.test('what is no command line says what one is', t => {
  const refused: ReadonlyArray<readonly [string[], RegExp]> = [
    [[], /^usage no command: nothing, expected all, traces, watch, diagnose, merge, verify, audit, study, manifest, fetch$/],
    [['al'], /^usage unknown command: al, expected all, traces, watch, diagnose, merge, verify, audit, study, manifest, fetch$/],
    [['alll'], /^usage unknown command: alll, .*; did you mean all\?$/],
    [['__proto__'], /^usage unknown command: __proto__/],
    [['traces'], /^usage no path: traces without PATH/],
    [['all', 'x'], /^usage unexpected argument: x, expected no argument after all$/],
    [['help', 'trace'], /^usage unknown command: trace, expected .*; did you mean traces\?$/],
    [['frobnicate', '--help'], /^usage unknown command: frobnicate, expected all, .*, fetch$/],
    [['all', '--thread', '1'], /^usage unknown option: --thread, expected one that all --help lists; did you mean --threads\?$/],
    [['traces', 'x', '--jump-abve', '1'], /^usage unknown option: --jump-abve, .*; did you mean --jump-above\?$/],
    [['--sutdy', 's'], /^usage unknown option: --sutdy, expected one that help COMMAND lists; did you mean --study\?$/],
    [['all', '-x'], /^usage unknown option: -x, expected one that all --help lists$/],
    [
      ['traces', 'x', '--success-above', '-x'],
      /^usage wrong option: .* is ambiguous, expected --success-above=VALUE where the value begins with a dash$/
    ],
    [['traces', 'x', '--success-above', '0x10'], /^usage wrong --success-above: "0x10", expected a finite number$/],
    [['traces', 'x', '--success-above', '1e999'], /wrong --success-above: "1e999"/],
    [['traces', 'x', '--success-above', ''], /wrong --success-above: ""/],
    [['traces', 'x', '--jump-above=-1'], /^usage wrong --jump-above: -1, expected a number of at least 0$/],
    [['traces', 'x', '--marker', ''], /^usage wrong --marker: "", expected a text$/],
    [['traces', 'x', '--against', ''], /^usage wrong --against: "", expected a file$/],
    [['traces', 'x', '--key', 'values'], /^usage wrong --key: "values", expected NAME=THEIRS, such as values=critic_values$/],
    [['traces', 'x', '--key', '=v'], /^usage wrong --key: "=v"/],
    [['traces', 'x', '--key', 'values='], /^usage wrong --key: "values="/],
    [['traces', 'x', '--key', 'vlaues=v'], /^usage unknown --key: vlaues, expected one of values, .*; did you mean values\?$/],
    [['traces', 'x', '--key', '__proto__=v'], /^usage unknown --key: __proto__/],
    [['traces', 'x', '--key', 'values=a', '--key', 'values=b'], /^usage contradiction: --key values twice, expected one of them$/],
    [['all', '--key', 'values=v'], /^usage option not for all: --key/],
    [['all', '--threads'], /^usage wrong option: .*threads/],
    [['all', '--threads', '0'], /^usage wrong --threads: 0, expected an integer from 1 to 256$/],
    [['all', '--threads', '1e1'], /wrong --threads: 1e1/],
    [['all', '--threads', '300'], /wrong --threads: 300/],
    [['all', '--formats', 'dark.column.png'], /^usage wrong --formats: "dark.column.png", expected a list/],
    [
      ['all', '--formats', 'png,gif'],
      /^usage wrong --formats: "gif", expected a list out of png,svg,pdf, each also as dark.png, column.png or column.dark.png$/
    ],
    [['all', '--formats', ''], /wrong --formats: ""/],
    [['all', '--formats', 'png', '--no-figures'], /contradiction/],
    [['all', '--quiet', '--verbose'], /contradiction/],
    [['all', '--out', ''], /wrong --out/],
    [['all', '--format', 'text'], /^usage option not for all: --format, .*; did you mean --formats\?$/],
    [['verify', '--out', 'x'], /^usage option not for verify: --out/],
    [['verify', '--format', 'md5'], /^usage wrong --format: md5, expected text or sha256sum$/],
    [['verify', '--format', 'sha256sum', '--json'], /contradiction/],
    [['study'], /^usage no subcommand: study, expected study init DIR$/],
    [['study', 'make', 'x'], /^usage unknown subcommand: study make, expected study init DIR$/],
    [['study', 'init'], /^usage no folder: study init without DIR, expected a folder of exports$/],
    [['study', 'init', ''], /^usage wrong DIR: "", expected a folder$/],
    [['study', 'init', 'a', 'b'], /^usage unexpected argument: b, expected no argument after the folder$/],
    [['study', 'init', 'a', '--out', ''], /^usage wrong --out: "", expected a file$/],
    [['study', 'init', 'a', '--name', ''], /^usage wrong --name: "", expected a text of 1 to 200 characters$/],
    [['study', 'init', 'a', '--threads', '2'], /^usage option not for study init: --threads/],
    [['all', '--name', 'x'], /^usage option not for all: --name/],
    ...(Object.keys(OPTIONS) as OptionName[])
      .filter(name => OPTIONS[name].type === 'string' && !('multiple' in OPTIONS[name]))
      .map((name): [string[], RegExp] => [
        [OPTIONS[name].commands[0], `--${name}`, '1', `--${name}=2`],
        new RegExp(`: --${name} twice, expected one of them$`)
      ])
  ]
  for (const [argv, message] of refused) {
    try {
      parseCommand(argv)
      t.fail(argv.join(' '))
    } catch (error) {
      t.match((error as Fault).message, message, argv.join(' '))
      t.equal((error as Fault).exitCode, 2)
    }
  }
  t.end()
})

t.test('help and version go to standard output, usage faults to standard error', async t => {
  const help = await runCli(['--help'])
  t.match(help, { code: 0, stderr: '' })
  for (const word of [
    'all',
    'traces PATH',
    'verify',
    'audit',
    'study init DIR',
    'help COMMAND',
    'exit codes',
    '130',
    'CRITIC_TRACES_CACHE',
    'XDG_CACHE_HOME/critic-traces',
    '~/.cache/critic-traces'
  ])
    t.ok(help.stdout.includes(word), word)
  const lines = help.stdout.trimEnd().split('\n')
  t.ok(lines.length >= 20 && lines.length <= 30, `one screen: ${lines.length} lines`)
  for (const topic of [
    ['traces', '--help'],
    ['help', 'traces']
  ]) {
    t.match(await runCli(topic), {
      code: 0,
      stderr: '',
      stdout: /^critic-traces traces: .*\n\nusage: .* traces PATH… \[options\]\n[\s\S]*\nexample\n {2}node /
    })
  }
  t.match(await runCli(['--version']), { code: 0, stdout: /^critic-traces \d+\.\d+\.\d+\n$/, stderr: '' })
  const wrong = await runCli(['frobnicate'])
  t.match(wrong, { code: 2, stdout: '' })
  t.equal(
    wrong.stderr,
    'critic-traces: usage unknown command: frobnicate, expected all, traces, watch, diagnose, merge, verify, audit, study, manifest, fetch\n' +
      'critic-traces: --help lists the commands\n'
  )
})

t.test('the help of a command has its options, each once, and an example that the parser takes', async t => {
  const wordsOf = (option: string): RegExp => new RegExp(`^ {2}(?:-\\w, )?--${option}(?: [^ ]+)? {2,}\\S`, 'm')
  for (const command of COMMAND_NAMES) {
    const text = helpText(command)
    for (const option of Object.keys(OPTIONS) as OptionName[]) {
      t.equal(wordsOf(option).test(text), optionsOf(command).includes(option), `${command}: --${option}`)
    }
    t.ok(
      text.split('\n').every(line => line.length <= 100),
      `${command}: no line is longer than 100 characters`
    )
    const example = /^ {2}node dist\/run\.js (.*)$/m.exec(text)?.[1] ?? ''
    const argv = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word)
    t.equal(parseCommand(argv).command, command, example)
  }
  t.notMatch(helpText('verify'), /--threads|--key/)
  t.match(helpText('study init'), /--out FILE/)
  t.end()
})

t.test('the examples of the help work', async t => {
  const dir = temp(t)
  const random = new Random('examples')
  for (const name of ['my-run', 'my-study/snap', 'my-exports/snap']) {
    await writeSnapshot(
      join(dir, name),
      randomTraces(random, 1, () => 20)
    )
  }
  writeFileSync(join(dir, 'my-study/study.json'), JSON.stringify({ schema_version: 1, name: 'n', critic_traces: { snapshot: 'snap' } }))
  for (const command of ['manifest', 'verify', 'all', 'traces', 'study init'] as const) {
    const argv = [...CLI_COMMANDS[command].example.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word)
    const run = await runCli(argv, { cwd: dir })
    t.match(run, { code: 0 }, `${argv.join(' ')}: ${run.stderr}`)
  }
})

t.test('a snapshot of anyone: outputs, tables, one JSON object', async t => {
  const dir = temp(t)
  await writeSnapshot(
    join(dir, 'snap'),
    randomTraces(new Random('cli'), 3, i => 50 + 13 * i),
    { float32: true }
  )
  const run = await runCli(['traces', 'snap', '--out', 'out', '--formats', 'svg'], { cwd: dir })
  t.match(run, { code: 0 }, run.stderr)
  t.match(run.stdout, /6 traces, 495 tokens, trainer steps 10-12/)
  t.match(run.stdout, /values, returns and positions of all 6 traces equal their NPZ arrays exactly/)
  t.same(readdirSync(join(dir, 'out')).sort(), [
    'critic-trace-by-step.csv',
    'critic-trace-by-step.csv-metadata.json',
    'critic-trace-snapshots.json',
    'figures',
    'preview',
    'snap'
  ])
  t.same(readdirSync(join(dir, 'out/figures')), ['critic-traces-over-steps.svg'])
  t.same(readdirSync(join(dir, 'out/snap')).sort(), ['figures', 'run.json', 'training_data'])
  t.same(readdirSync(join(dir, 'out/snap/figures')), ['08-critic-traces.svg'])
  t.same(readdirSync(join(dir, 'out/snap/training_data')).sort(), [
    'critic-trace-arrays.npz',
    'critic-trace-index.json',
    'critic-trace-statistics.json',
    'critic-trace-trajectories.csv',
    'critic-trace-trajectories.csv-metadata.json',
    'critic-traces.arrow',
    'critic-turn-boundary-audit.json'
  ])
  for (const path of ['critic-trace-snapshots', 'snap/run', ...['index', 'statistics'].map(n => `snap/training_data/critic-trace-${n}`)]) {
    const name = basename(path)
    const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'))
    t.same(
      schemaProblems(read(join(root, `docs/schemas/${name}.schema.json`)), read(join(dir, `out/${path}.json`))),
      [],
      `${name} follows its schema`
    )
  }
  const documents = tree(join(dir, 'out')).filter(path => path.endsWith('.json'))
  t.equal(documents.length, 7)
  for (const path of documents) {
    const document = unprefixed(JSON.parse(readFileSync(join(dir, 'out', path), 'utf8')))
    const verified = Object.entries(document)[Object.keys(document).indexOf('synthetic') + 1]
    t.strictSame(
      verified,
      [path === 'snap/run.json' ? 'manifest' : 'inputs_verified', null],
      `${path}: nothing was verified against a manifest`
    )
  }
  const json = await runCli(['traces', 'snap', '--out', 'out2', '--no-figures', '--json', '--quiet'], { cwd: dir })
  t.match(json, { code: 0, stderr: '' })
  t.match(JSON.parse(json.stdout), { command: 'traces', exit_code: 0, synthetic: false, snapshots: [{ name: 'snap', status: 'done' }] })
  const again = await runCli(['traces', 'snap', '--out', 'out2', '--no-figures', '--json', '--quiet'], { cwd: dir })
  t.match(JSON.parse(again.stdout), { snapshots: [{ status: 'unchanged', statistics: { traces: 6 } }] })
  const quiet = await runCli(['traces', 'snap', '--out', 'out3', '--no-figures', '--quiet'], { cwd: dir })
  t.match(quiet, { code: 0, stdout: '', stderr: '' })
})

t.test('a bad snapshot does not stop the rest, and says what is wrong in one line', async t => {
  const dir = temp(t)
  const random = new Random('batch')
  for (const name of ['a', 'b', 'c'])
    await writeSnapshot(
      join(dir, 'many', name),
      randomTraces(random, 2, () => 40)
    )
  const page = join(dir, 'many/b/index.html')
  writeFileSync(page, readFileSync(page, 'utf8').slice(0, 900))
  const run = await runCli(['traces', 'many', 'nothing-here', '--out', 'out', '--no-figures', '--quiet'], { cwd: dir })
  t.equal(run.code, 3)
  const lines = run.stderr.trimEnd().split('\n')
  t.equal(lines.length, 2, run.stderr)
  t.match(lines[0], /nothing-here/)
  t.match(lines[1], /^critic-traces: .*many\/b\/index\.html.*byte \d+/)
  t.same(readdirSync(join(dir, 'out')).sort(), [
    'a',
    'c',
    'critic-trace-by-step.csv',
    'critic-trace-by-step.csv-metadata.json',
    'critic-trace-snapshots.json',
    'preview'
  ])
  const index = JSON.parse(readFileSync(join(dir, 'out/critic-trace-snapshots.json'), 'utf8')) as { snapshots: object[] }
  t.match(index.snapshots, [
    { status: 'failed' },
    { name: 'a', status: 'ok' },
    { name: 'b', status: 'failed', faults: [{ exit_code: 3 }] },
    { name: 'c' }
  ])
})

t.test('a folder of NPZ files is analysed and marked unverified', async t => {
  const dir = temp(t)
  await writeSnapshot(
    join(dir, 'snap'),
    randomTraces(new Random('npz'), 2, () => 30)
  )
  rmSync(join(dir, 'snap/index.html'))
  const run = await runCli(['traces', 'snap', '--out', 'out', '--no-figures'], { cwd: dir })
  t.match(run, { code: 0 }, run.stderr)
  t.match(run.stdout, /^one source for every trace, not compared$/m)
  const statistics = JSON.parse(readFileSync(join(dir, 'out/snap/training_data/critic-trace-statistics.json'), 'utf8')) as object
  t.match(statistics, {
    verified: false,
    traces: 4,
    tokens: 120,
    distinct_uids: 4,
    steps: [10, 11],
    success: { traces: 2 },
    failure: { traces: 2 },
    checks: { npz_exactly_equal: null }
  })
})

t.test('each snapshot of a batch says by itself that it is synthetic, and the index says it of all', async t => {
  const dir = temp(t)
  const random = new Random('labels')
  const editJson = (json: string): string => json.replace('{', '{"synthetic":true,')
  await writeSnapshot(
    join(dir, 'many/made'),
    randomTraces(random, 1, () => 20),
    { editJson }
  )
  await writeSnapshot(
    join(dir, 'many/real'),
    randomTraces(random, 1, () => 20)
  )
  await writeSnapshot(
    join(dir, 'many/torn'),
    randomTraces(random, 1, () => 20),
    { editJson: json => editJson(json).slice(0, 500) }
  )
  const read = (path: string): unknown => JSON.parse(readFileSync(join(dir, path), 'utf8'))
  const first = await runCli(['traces', 'many', '--out', 'out', '--no-figures'], { cwd: dir })
  t.equal(first.code, 3)
  t.match(first.stdout, /\nmade +done, SYNTHETIC +2 +40 .*\nreal +done +2 +40 .*\ntorn +failed/)
  const written = hashes(join(dir, 'out'))
  for (const status of ['unchanged', 'done']) {
    const run = await runCli(['traces', 'many', '--out', 'out', '--no-figures', '--json', '-q'], { cwd: dir })
    t.match(JSON.parse(run.stdout), {
      synthetic: true,
      snapshots: [
        { name: 'made', status, statistics: { synthetic: true } },
        { status, statistics: { synthetic: false } },
        { status: 'failed', statistics: null }
      ]
    })
    const index = read('out/critic-trace-snapshots.json')
    t.match(index, {
      synthetic: true,
      snapshots: [
        { name: 'made', synthetic: true },
        { name: 'real', synthetic: false },
        { name: 'torn', synthetic: null }
      ]
    })
    t.same(schemaProblems(JSON.parse(readFileSync(join(root, 'docs/schemas/critic-trace-snapshots.schema.json'), 'utf8')), index), [])
    t.match([read('out/made/run.json'), read('out/real/run.json')], [{ synthetic: true }, { synthetic: false }])
    t.same(hashes(join(dir, 'out')), written)
    for (const name of ['made', 'real']) rmSync(join(dir, 'out', name), { recursive: true })
  }
  const real = await runCli(['traces', 'many/real', '--out', 'out', '--no-figures', '--json', '-q'], { cwd: dir })
  t.match(JSON.parse(real.stdout), { synthetic: false })
  t.match(read('out/critic-trace-snapshots.json'), {
    synthetic: false,
    snapshots: [
      { name: 'torn', status: 'failed', kept: true, synthetic: null },
      { name: 'real', synthetic: false }
    ]
  })
})

t.test('a study that does not say synthetic does not hide that its snapshot does', async t => {
  const dir = temp(t)
  await writeSnapshot(
    join(dir, 'study/snap'),
    randomTraces(new Random('hide'), 1, () => 20),
    { editJson: json => json.replace('{', '{"made_up":true,') }
  )
  const study = async (fields: object, keys: object): Promise<void> => {
    const text = JSON.stringify({ schema_version: 1, name: 'n', ...fields, critic_traces: { snapshot: 'snap', keys } })
    writeFileSync(join(dir, 'study/study.json'), text)
    t.match(await runCli(['manifest', '--study', 'study', '--write'], { cwd: dir }), { code: 0 })
  }
  const all = ['all', '--study', 'study', '--out', 'out', '--no-figures', '-q']
  const traces = ['traces', 'study/snap', '--study', 'study', '--out', 'traces', '--no-figures', '-q']
  const statistics = (out: string): unknown =>
    JSON.parse(readFileSync(join(dir, out, 'training_data/critic-trace-statistics.json'), 'utf8'))
  const renamed = { synthetic: 'made_up' }
  for (const fields of [{}, { synthetic: false }]) {
    await study(fields, renamed)
    for (const command of [all, traces]) {
      t.match(await runCli(command, { cwd: dir }), {
        code: 1,
        stderr:
          /^critic-traces: snapshot synthetic differs: true in the page, false in the study, expected true in the study too \(.*index\.html\)\n$/
      })
    }
    t.notOk(readdirSync(dir).includes('out'), 'nothing is written')
  }
  for (const keys of [renamed, {}]) {
    await study({ synthetic: true }, keys)
    t.match(await runCli(all, { cwd: dir }), { code: 0, stderr: '' })
    t.match(await runCli(traces, { cwd: dir }), { code: 0, stderr: '' })
    t.match([statistics('out'), statistics('traces/snap')], [{ synthetic: true }, { synthetic: true }])
  }
  await study({}, {})
  t.match(await runCli(all, { cwd: dir }), { code: 0, stderr: '' }, 'a key of another name says nothing')
  t.match(statistics('out'), { synthetic: false })
})

t.test('outputs that cannot be written are one line', async t => {
  const dir = temp(t)
  await writeSnapshot(
    join(dir, 'snap'),
    randomTraces(new Random('out'), 1, () => 20)
  )
  writeFileSync(join(dir, 'file'), '')
  const file = await runCli(['traces', 'snap', '--out', 'file', '--no-figures', '--quiet'], { cwd: dir })
  t.equal(file.code, 3)
  t.match(file.stderr, /^critic-traces: output unwritable: a file, expected a folder \(file/)
  mkdirSync(join(dir, 'locked'))
  symlinkSync('/dev/full', join(dir, 'full'))
  const full = await runCli(['traces', 'snap', '--out', 'full/x', '--no-figures', '--quiet'], { cwd: dir })
  t.equal(full.code, 3)
  t.match(full.stderr, /^critic-traces: output unwritable: .*\n$/)
  chmodSync(join(dir, 'locked'), 0o555)
  if (process.getuid?.() !== 0) {
    const locked = await runCli(['traces', 'snap', '--out', 'locked/x', '--no-figures', '--quiet'], { cwd: dir })
    t.equal(locked.code, 3)
    t.match(locked.stderr, /output unwritable: EACCES/)
  }
  chmodSync(join(dir, 'locked'), 0o755)
})

t.test('progress goes on when nobody reads it, and a full standard output is one line', async t => {
  const dir = temp(t)
  await writeSnapshot(
    join(dir, 'snap'),
    randomTraces(new Random('pipes'), 1, () => 20)
  )
  const deaf = await runCli(['traces', 'snap', '--out', 'deaf', '--no-figures'], {
    cwd: dir,
    onStart: child => {
      child.stderr?.destroy()
    }
  })
  t.equal(deaf.code, 0)
  t.ok(readdirSync(join(dir, 'deaf/snap')).includes('run.json'))
  const mute = await runCli(['traces', 'snap', '--out', 'mute', '--no-figures'], {
    cwd: dir,
    onStart: child => {
      child.stdout?.destroy()
    }
  })
  t.equal(mute.code, 0)
  const gone = await runCli(['traces', 'nowhere', 'snap', '--out', 'gone', '--no-figures'], {
    cwd: dir,
    onStart: child => {
      child.stdout?.destroy()
    }
  })
  t.equal(gone.code, 3, 'the exit code does not depend on a reader')
  const full = await runCli(['--help'], { cwd: dir, stdout: '/dev/full' })
  t.match(full, { code: 3, stderr: /^critic-traces: output unwritable: ENOSPC.*\n$/ })
})

t.test('verify says what differs on standard error, even when quiet', async t => {
  const dir = temp(t)
  const study = { schema_version: 1, name: 'made up', critic_traces: { snapshot: '.' } }
  writeFileSync(join(dir, 'study.json'), JSON.stringify(study))
  const files = [
    { path: 'study.json', sha256: '0'.repeat(64), bytes: 1, role: 'study' },
    { path: 'gone', sha256: '0'.repeat(64), bytes: 1, role: 'npz' }
  ]
  writeFileSync(join(dir, 'source_manifest.json'), JSON.stringify({ snapshot: '2026-01-01', files, revisions: {} }))
  writeFileSync(join(dir, 'extra'), '')
  const run = await runCli(['verify', '--study', dir, '--quiet'])
  t.match(run, { code: 1, stdout: '' })
  t.same(
    run.stderr
      .trimEnd()
      .split('\n')
      .map(line => line.replace(/: .*\(/, ' (').replace(dir, 'DIR')),
    ['critic-traces (DIR/extra)', 'critic-traces (DIR/gone)', 'critic-traces (DIR/study.json)']
  )
  t.match(run.stderr, /file not listed.*\n.*file missing.*\n.*file differs/)
})

t.test('outputs are no inputs, figures that are not drawn again go, a replica given by its path is synthetic', async t => {
  const dir = temp(t)
  await writeSnapshot(
    join(dir, 'snap'),
    randomTraces(new Random('again'), 1, () => 20)
  )
  for (const expected of ['done', 'unchanged']) {
    const run = await runCli(['traces', '.', '--out', 'artifacts', '--formats', 'svg', '--json', '-q'], { cwd: dir })
    t.match(JSON.parse(run.stdout), { exit_code: 0, snapshots: [{ name: 'snap', status: expected }] })
  }
  await runCli(['traces', '.', '--out', 'artifacts', '--no-figures', '-q'], { cwd: dir })
  t.same(readdirSync(join(dir, 'artifacts/snap/figures')), [])
  const study = { schema_version: 1, name: 'made up', synthetic: true, critic_traces: { snapshot: 'snap' } }
  writeFileSync(join(dir, 'study.json'), JSON.stringify(study))
  const run = await runCli(['traces', 'snap', '--out', 'artifacts', '--no-figures', '--json', '-q'], { cwd: dir })
  t.match(JSON.parse(run.stdout), { snapshots: [{ status: 'done', statistics: { synthetic: true } }] })
})

t.test('kill -9 in the middle of a batch: the batch goes on, and ends with the same bytes', async t => {
  const dir = temp(t)
  const random = new Random('killed')
  for (let k = 0; k < 6; k++)
    await writeSnapshot(
      join(dir, 'many', `s${k}`),
      randomTraces(random, 3, () => 400)
    )
  const args = ['traces', 'many', '--formats', 'svg', '-q']
  t.equal((await runCli([...args, '--out', 'whole'], { cwd: dir })).code, 0)
  for (const after of [250, 500, 800]) {
    const killed = await runCli([...args, '--out', 'part'], {
      cwd: dir,
      onStart: child => {
        setTimeout(() => child.kill('SIGKILL'), after)
      }
    })
    t.ok(killed.signal === 'SIGKILL' || killed.code === 0)
  }
  t.match(await runCli([...args, '--out', 'part'], { cwd: dir }), { code: 0, stderr: '' })
  t.same(hashes(join(dir, 'part')), hashes(join(dir, 'whole')), 'no temporary file is left either')
})

t.test('a run that ends before its threads have loaded their code ends cleanly', async t => {
  const dir = temp(t)
  for (const threads of ['1', '2', '7', '7']) {
    const run = await runCli(['traces', '/dev/zero', '--out', 'out', '--threads', threads], { cwd: dir })
    t.match(run, { code: 3, signal: null, stderr: /^critic-traces: snapshot wrong kind of file: a device, .*\n$/ })
  }
})

t.test('a record that no longer speaks of the outputs is gone before they change', async t => {
  const dir = temp(t)
  const traces = randomTraces(new Random('record'), 1, () => 30)
  await writeSnapshot(join(dir, 'snap'), traces)
  await runCli(['traces', 'snap', '--out', 'out', '--no-figures', '-q'], { cwd: dir })
  const record = readFileSync(join(dir, 'out/snap/run.json'))
  const { retireRecord } = await import('../src/runs/record.js')
  t.same((await retireRecord(join(dir, 'out/snap'))).length, 7)
  t.notOk(readdirSync(join(dir, 'out/snap')).includes('run.json'))
  const run = await runCli(['traces', 'snap', '--out', 'out', '--no-figures', '-q', '--json'], { cwd: dir })
  t.match(JSON.parse(run.stdout), { snapshots: [{ status: 'done' }] }, 'without a record nothing is skipped')
  t.same(readFileSync(join(dir, 'out/snap/run.json')), record)
})

t.test('the package entry does what the command line does', async t => {
  const dir = temp(t)
  await writeSnapshot(
    join(dir, 'snap'),
    randomTraces(new Random('library'), 2, () => 30)
  )
  await runCli(['traces', 'snap', '--out', 'cli', '--no-figures', '-q'], { cwd: dir })
  // By the package's own name, as another project would import it.
  const library = (await import(['critic', 'traces'].join('-'))) as typeof import('../src/index.js')
  const pool = library.openTracePool(2)
  const settings = {
    traces: library.DEFAULT_CRITIC_TRACE_STUDY,
    expectations: library.REPORTED_WITHOUT_STUDY,
    enforced: false,
    examplesRequired: false,
    synthetic: false
  }
  const [result] = await library.runBatch({ paths: [join(dir, 'snap')], settings, pool, out: join(dir, 'library'), formats: [] })
  await pool.destroy()
  t.match(result, { status: 'done', statistics: { traces: 4, verified: true } })
  const strip = (all: Record<string, string>) =>
    Object.fromEntries(Object.entries(all).filter(([path]) => !/index|snapshots|run\.json/.test(path)))
  t.same(strip(hashes(join(dir, 'library'))), strip(hashes(join(dir, 'cli'))), 'the same bytes')
})
