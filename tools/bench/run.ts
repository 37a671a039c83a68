/**
 * `npm run bench`: compares this program with a Python peer that does the same work (tools/bench/peer.py: json and numpy).
 * Dumps are read against peer-dumps.py, and diagnosed against peer-diagnose.py (numpy, scikit-learn). Whole processes run in turn; medians and ratios are of one run. Needs python3 with numpy, and matplotlib for the figures.
 * What is missing is reported and left out. Prints a Markdown report; nothing here is a test.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defaultCacheDir, ensureReplica } from '../../src/replica/index.js'
import { loadStudy } from '../../src/study/study.js'
import { enlarge } from './enlarge.js'
import { figureDataOf } from './figure-data.js'
import { parseRates } from './rates.js'

interface Measurement {
  readonly wall: number
  readonly user: number
  readonly sys: number
  readonly peakKiB: number
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const RUN = join(ROOT, 'dist/run.js')
const ROUNDS = 5

const python = process.env['PYTHON'] ?? 'python3'

/**
 * The environment without NODE_EXTRA_CA_CERTS: Node parses that file of certificates at its start, before any program. No
 * command here uses a network.
 */
const { NODE_EXTRA_CA_CERTS: certificates, ...env } = process.env

function measure(command: readonly string[]): Measurement {
  const run = spawnSync(python, [join(ROOT, 'tools/bench/measure.py'), ...command], {
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const answer = JSON.parse(run.stdout) as Measurement & { readonly code: number }
  if (answer.code !== 0) throw new Error(`${command.join(' ')} ended with ${answer.code}\n${run.stderr}`)
  return answer
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1]
}

/** Each command once per round, in turn, so that a slow minute of the machine hits all of them. */
function inTurn(commands: Readonly<Record<string, () => readonly string[]>>, rounds = ROUNDS): Record<string, Measurement> {
  const seen: Record<string, Measurement[]> = {}
  for (let round = -1; round < rounds; round++) {
    for (const [name, command] of Object.entries(commands)) {
      const m = measure(command())
      if (round < 0) continue
      seen[name] ??= []
      seen[name].push(m)
    }
  }
  const of = (list: readonly Measurement[], key: keyof Measurement): number => median(list.map(m => m[key]))
  return Object.fromEntries(
    Object.entries(seen).map(([name, list]) => [
      name,
      { wall: of(list, 'wall'), user: of(list, 'user'), sys: of(list, 'sys'), peakKiB: of(list, 'peakKiB') }
    ])
  )
}

function has(module: string): boolean {
  return spawnSync(python, ['-c', `import ${module}`]).status === 0
}

function pythonVersions(): string {
  const versions = 'import sys, numpy; print("Python", sys.version.split()[0] + ", numpy", numpy.__version__)'
  return spawnSync(python, ['-c', versions], { encoding: 'utf8' }).stdout.trim()
}

const line = (text = ''): void => {
  process.stdout.write(`${text}\n`)
}
const row = (...cells: readonly string[]): void => line(`| ${cells.join(' | ')} |`)
const seconds = (x: number): string => `${x.toFixed(3)} s`
const mib = (kib: number): string => `${(kib / 1024).toFixed(0)} MiB`

function table(results: Readonly<Record<string, Measurement>>, against: string): void {
  row('command', 'wall', 'user', 'system', 'peak memory', `wall / ${against}`)
  row('---', '---:', '---:', '---:', '---:', '---:')
  for (const [name, m] of Object.entries(results)) {
    row(name, seconds(m.wall), seconds(m.user), seconds(m.sys), mib(m.peakKiB), (m.wall / results[against].wall).toFixed(3))
  }
  line()
}

const work = mkdtempSync(join(tmpdir(), 'critic-traces-bench-'))
let outs = 0
const out = (): string => join(work, `out-${outs++}`)
try {
  const study = await ensureReplica({ cacheDir: defaultCacheDir(process.env) })
  const snapshot = join(study, 'critic_traces')
  line(`${cpus()[0].model}, ${cpus().length} cores, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Node ${process.version}`)
  if (certificates !== undefined) line('NODE_EXTRA_CA_CERTS is left out of the environment of what is measured.')
  line()
  if (has('numpy')) traces(snapshot)
  else line(`${python} has no numpy: no comparison with the peer`)
  await rates(snapshot)
  if (has('numpy')) await memory(snapshot)
  if (has('numpy')) {
    dumps()
    diagnosed()
  }
  if (has('matplotlib')) await figures(snapshot)
  else line(`${python} has no matplotlib: no comparison of the figures`)
} finally {
  rmSync(work, { recursive: true, force: true })
}

function ours(snapshot: string, ...options: readonly string[]): readonly string[] {
  return [process.execPath, RUN, 'traces', snapshot, '--quiet', '--out', out(), ...options]
}

function peer(snapshot: string): readonly string[] {
  return [python, join(ROOT, 'tools/bench/peer.py'), snapshot, out()]
}

function traces(snapshot: string): void {
  line('## traces --no-figures')
  line()
  line(`Peer: ${pythonVersions()}`)
  line()
  const results = inTurn({
    ours: () => ours(snapshot, '--no-figures'),
    'ours, on one core': () => ['taskset', '-c', '0', ...ours(snapshot, '--no-figures')],
    'ours, 2 worker threads': () => ours(snapshot, '--no-figures', '--threads', '2'),
    peer: () => peer(snapshot),
    'JSON.parse of the page': () => [process.execPath, join(ROOT, 'dist/tools/bench/parse-page.js'), join(snapshot, 'index.html')],
    'floor: read and SHA-256': () => [process.execPath, join(ROOT, 'dist/tools/bench/floor.js'), join(snapshot, 'index.html')]
  })
  table(results, 'peer')
  line(
    `ours / floor: ${(results['ours'].wall / results['floor: read and SHA-256'].wall).toFixed(2)}; ` +
      `gain from the second core: ${(results['ours, on one core'].wall / results['ours'].wall).toFixed(2)}; ` +
      `peak memory / peer: ${(results['ours'].peakKiB / results['peer'].peakKiB).toFixed(2)}`
  )
  line()
}

async function rates(snapshot: string): Promise<void> {
  line('## Parsing, one thread')
  line()
  row('what', 'MB/s', 'tokens/s')
  row('---', '---:', '---:')
  for (const { name, megabytes, tokens } of await parseRates(join(snapshot, 'index.html'))) {
    row(name, megabytes.toFixed(0), tokens === null ? '' : `${(tokens / 1e6).toFixed(1)} million`)
  }
  line()
}

async function memory(snapshot: string): Promise<void> {
  line('## Ten times as many traces')
  line()
  const large = join(work, 'large')
  await enlarge(snapshot, large, 10)
  const results = inTurn({ once: () => ours(snapshot, '--no-figures'), 'ten times': () => ours(large, '--no-figures') }, 3)
  table(results, 'once')
  line(`peak memory, ten times / once: ${(results['ten times'].peakKiB / results['once'].peakKiB).toFixed(2)}`)
  line()
}

/** Ten million tokens with mask 1, and one million of them, as a padded batch and as a rollout. */
function dumps(): void {
  line('## Dumps of 10 million tokens: traces DUMP --no-figures --no-arrow')
  line()
  const sizes = { 'ten million': 1000, 'one million': 100 } as const
  for (const [name, samples] of Object.entries(sizes)) {
    const made = spawnSync(python, [join(ROOT, 'tools/bench/make-dumps.py'), join(work, name), String(samples)], { encoding: 'utf8' })
    if (made.status !== 0) throw new Error(`no dumps\n${made.stderr}`)
  }
  for (const file of ['step_1.npz', '1.pt']) {
    const dump = (size: keyof typeof sizes): string => join(work, size, file)
    const plain = ['--no-figures', '--no-arrow'] as const
    line(`### ${file}`)
    line()
    const results = inTurn({
      ours: () => ours(dump('ten million'), ...plain),
      'ours, one million': () => ours(dump('one million'), ...plain),
      peer: () => [python, join(ROOT, 'tools/bench/peer-dumps.py'), dump('ten million'), out()]
    })
    table(results, 'peer')
    const { ours: ten, 'ours, one million': one } = results
    line(
      `ours / peer: ${(ten.wall / results['peer'].wall).toFixed(2)}, CPU ${(cpuOf(ten) / cpuOf(results['peer'])).toFixed(2)}; at most 1.5 is asked ` +
        `for, 1.0 wanted. Peak memory, ten million / one million: ${(ten.peakKiB / one.peakKiB).toFixed(2)}; at most 1.25, or 160 MiB`
    )
    line()
  }
}

/** The same ten million tokens through `diagnose`; with scikit-learn, against a script of the same statistics. */
function diagnosed(): void {
  line('## Dumps of 10 million tokens: diagnose DUMP --no-figures')
  line()
  const sklearn = has('sklearn')
  if (!sklearn) line(`${python}: scikit-learn missing: no comparison with its statistics\n`)
  for (const file of ['step_1.npz', '1.pt']) {
    const dump = join(work, 'ten million', file)
    line(`### ${file}`)
    line()
    const results = inTurn({
      diagnose: () => [process.execPath, RUN, 'diagnose', dump, '--quiet', '--no-figures', '--out', out()],
      traces: () => ours(dump, '--no-figures', '--no-arrow'),
      ...(sklearn ? { peer: () => [python, join(ROOT, 'tools/bench/peer-diagnose.py'), dump, out()] } : {})
    })
    table(results, 'traces')
    const { diagnose, traces: alone } = results
    line(
      `diagnose / traces: ${(diagnose.wall / alone.wall).toFixed(2)}, CPU ${(cpuOf(diagnose) / cpuOf(alone)).toFixed(2)}; at most 2.0 is asked for` +
        (sklearn ? `. diagnose / peer: ${(diagnose.wall / results['peer'].wall).toFixed(2)}` : '')
    )
    line()
  }
}

function cpuOf({ user, sys }: Measurement): number {
  return user + sys
}

async function figures(snapshot: string): Promise<void> {
  const { study } = await loadStudy(dirname(snapshot))
  line('## Figures 3 to 8, three formats each')
  line()
  const data = join(work, 'figures.json')
  writeFileSync(data, await figureDataOf(dirname(snapshot), join(snapshot, 'index.html'), study))
  const ours = [process.execPath, join(ROOT, 'dist/tools/bench/figures.js'), data]
  const results = inTurn(
    {
      ours: () => [...ours, out()],
      'ours, one worker thread': () => [...ours, out(), '--threads', '1'],
      matplotlib: () => [python, join(ROOT, 'tools/bench/figures.py'), data, out()]
    },
    3
  )
  table(results, 'matplotlib')
  line(`ours / matplotlib: ${(results['ours'].wall / results['matplotlib'].wall).toFixed(3)}; at most 0.3 is asked for`)
}
