/**
 * The command line as plain data: what was asked for, before anything is done. Unknown commands and options, missing
 * values and contradictions are usage faults (exit 2) that say what exists.
 */
import { availableParallelism } from 'node:os'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { EXIT, Fault, describeCause, printable } from '../core/errors.js'
import { FIGURE_FORMATS, type FigureFormat } from '../render/figures/config.js'
import { diagnoseToldOptions, type DiagnoseToldOptions } from './diagnose-options.js'
import { DEFAULT_OUT } from '../render/outputs/output-names.js'

export interface CommonOptions {
  readonly json: boolean
  readonly quiet: boolean
  readonly verbose: boolean
}

export interface RunOptions extends CommonOptions {
  /** study folder; null: the synthetic replica (`all`, `verify`) or no study (`traces`) */
  readonly study: string | null
  readonly out: string
  readonly threads: number
  /** empty with --no-figures */
  readonly formats: readonly FigureFormat[]
  /** which tables of tokens are written */
  readonly tables: { readonly arrow: boolean; readonly parquet: boolean }
}

export interface DiagnoseOptions extends CommonOptions, DiagnoseToldOptions {
  readonly paths: readonly string[]
  readonly out: string
  readonly threads: number
  /** empty with --no-figures */
  readonly formats: readonly FigureFormat[]
}

export interface AuditOptions extends CommonOptions {
  /** study folder; null: the synthetic replica */
  readonly study: string | null
  readonly threads: number
  /** folder for `audit.json`; null: it is written nowhere */
  readonly out: string | null
  /** true: a value that a page cites and no claim holds fails, whatever the study says */
  readonly strict: boolean
}

export interface InitOptions extends CommonOptions {
  /** folder of exports */
  readonly dir: string
  /** study file; null: study.json in the folder, with a manifest beside it */
  readonly out: string | null
  /** name of the study; null: the folder's */
  readonly name: string | null
}

export interface AllOptions extends RunOptions {
  /** false: everything is computed again, whatever the last run recorded */
  readonly cache: boolean
}

export interface VerifyCommand extends CommonOptions {
  /** study folder; null: the synthetic replica */
  readonly study: string | null
  /** a folder of outputs to compare with its own record; null: the study is verified */
  readonly outputs: string | null
  /** true: every input is read again by other libraries */
  readonly secondReader: boolean
  readonly format: 'text' | 'sha256sum'
}

export interface ManifestCommand extends CommonOptions {
  readonly study: string
  readonly write: boolean
}

/** What a fetch into a folder without a study is to get. */
export interface FetchTarget {
  readonly entity: string
  readonly project: string
  /** display names; none: those of the runs that are named by their ids */
  readonly names: readonly string[]
}

export interface FetchCommand extends CommonOptions {
  /** folder of the study, or the folder that is to become one */
  readonly study: string
  /** null: the study says which runs */
  readonly into: FetchTarget | null
  /** ids of the runs to fetch; null: all that are selected */
  readonly ids: readonly string[] | null
  /** ids of runs that are not fetched */
  readonly notIds: readonly string[]
  /** one label of the study's fetch.runs; null: all */
  readonly only: string | null
  /** null: WANDB_BASE_URL, else W&B's own */
  readonly baseUrl: string | null
  readonly deadlineMinutes: number
}

export type Command =
  | ({ readonly command: 'all' } & AllOptions)
  | ({ readonly command: 'traces'; readonly paths: readonly string[] } & RunOptions)
  | ({ readonly command: 'diagnose' } & DiagnoseOptions)
  | ({ readonly command: 'verify' } & VerifyCommand)
  | ({ readonly command: 'audit' } & AuditOptions)
  | ({ readonly command: 'study init' } & InitOptions)
  | ({ readonly command: 'manifest' } & ManifestCommand)
  | ({ readonly command: 'fetch' } & FetchCommand)
  | { readonly command: 'help' }
  | { readonly command: 'version' }

export const HELP = `critic-traces: verify, measure and draw what an RL critic predicted

usage
  node dist/run.js all                 the whole study: verify every input, measure, draw, write
  node dist/run.js traces PATH…        critic-trace snapshots: folders, HTML files, or a folder of many
  node dist/run.js diagnose PATH…      how returns were made, what went wrong, and how good the critic is
  node dist/run.js verify              every file of the study against its source_manifest.json
  node dist/run.js verify --outputs OUT   every output that the record of its run lists, by its hash
  node dist/run.js audit               every published value against what the inputs give, computed afresh
  node dist/run.js study init DIR      a commented study.json and its manifest for a folder of exports
  node dist/run.js manifest            what the manifest of --study DIR lacks; with --write, a new one
  node dist/run.js fetch ENTITY/PROJECT NAME… --into DIR   W&B histories of the runs of these names, and a study
                                       of them that "all --study DIR" runs
  node dist/run.js fetch --study DIR   W&B histories that the study names, each with a certificate that it is whole
  node dist/run.js --help | --version

options
  --study DIR        study folder with study.json (default: the synthetic replica, generated once;
                     traces: none, so that nothing is expected of how the snapshot was sampled)
  --out DIR          output folder (default: artifacts); study init: a study file to write alone, as a draft;
                     audit: a folder for audit.json (default: it is written nowhere); nothing there is read
  --name NAME        study init: name of the study (default: the folder's)
  --threads N        worker threads (default: one a core but the main thread's; same bytes at any N)
  --formats LIST     figure formats out of png,svg,pdf (default: all three)
  --no-figures       no figures
  --gamma X          diagnose: the discount that was told; checked against the one that the numbers show
  --lambda-returns X, --lambda-advantages X   diagnose: the same of lambda; adaptive:ALPHA for a length-adaptive one
  --sampling TEXT    diagnose: how trajectories were chosen: "every trajectory", "stratified by outcome" or "not stated" (default)
  --fail-on KIND     diagnose: exit 1 where this kind of finding shows (may be repeated; docs/diagnose.md lists them)
  --history FILE     diagnose: logged explained variance to compare: JSON Lines or CSV with a step
  --against PATH     diagnose: another snapshot or dump; every statistic of both, and the difference
  --key NAME=THEIRS  diagnose: name of an array or field in a dump, such as values=critic_values (may be repeated)
  --success-above X  diagnose: score above which a sample without an outcome is a success (default: 0)
  --jump-above X     diagnose: a change of value is a jump when its absolute value is larger (default: 0.1)
  --skip-bad         diagnose: leave bad samples of a dump out and count them, instead of stopping
  --parquet          traces, all: every token in training_data/critic-traces.parquet too, for SQL (docs/outputs.md)
  --no-arrow         traces, all: no training_data/critic-traces.arrow
  --outputs OUT      verify: a folder of outputs against the run.json in it; no study is looked at, nothing computed
  --second-reader    verify: page, NPZ, parquet and histories read again by other libraries, value by value
  --format FORMAT    verify: text, or sha256sum for lines that sha256sum -c reads (default: text)
  --no-cache         all: compute again even where inputs, settings and outputs are unchanged since the last run
  --into DIR         fetch: a folder for histories and study; it may be there already
  --run ID           fetch: this run alone of those that are selected (may be repeated)
  --not-run ID       fetch: not this run (may be repeated)
  --only LABEL       fetch: the runs of one label of the study's fetch.runs (default: all)
  --base-url URL     fetch: another W&B server (default: WANDB_BASE_URL, else base_url of ~/.config/wandb/settings,
                     else https://api.wandb.ai); HTTPS_PROXY and NO_PROXY are obeyed
  --deadline MIN     fetch: minutes until it gives up; what it has stays for the next one (default: 60)
  --strict           audit: fail where a page cites a value from an output that no claim holds (a study may demand it)
  --write            manifest: write it; roles, revisions and date of the one that is there stay
  --json             one JSON object on standard output instead of tables
  --quiet            no progress and no tables; errors only
  --verbose          stack traces and causes with errors

key
  fetch takes the W&B key from WANDB_API_KEY, else from the netrc entry of the host; it is written nowhere

replica
  kept in CRITIC_TRACES_CACHE, else in XDG_CACHE_HOME/critic-traces, else in ~/.cache/critic-traces (about 49 MB)

exit codes
  0 fine   1 a check failed   2 usage   3 unreadable or malformed input   130 interrupted
`

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
  study: { type: 'string' },
  outputs: { type: 'string' },
  'second-reader': { type: 'boolean' },
  out: { type: 'string' },
  name: { type: 'string' },
  threads: { type: 'string' },
  formats: { type: 'string' },
  'no-figures': { type: 'boolean' },
  gamma: { type: 'string' },
  'lambda-returns': { type: 'string' },
  'lambda-advantages': { type: 'string' },
  sampling: { type: 'string' },
  'fail-on': { type: 'string', multiple: true },
  history: { type: 'string' },
  against: { type: 'string' },
  key: { type: 'string', multiple: true },
  'success-above': { type: 'string' },
  'jump-above': { type: 'string' },
  'skip-bad': { type: 'boolean' },
  parquet: { type: 'boolean' },
  'no-arrow': { type: 'boolean' },
  'no-cache': { type: 'boolean' },
  into: { type: 'string' },
  run: { type: 'string', multiple: true },
  'not-run': { type: 'string', multiple: true },
  only: { type: 'string' },
  'base-url': { type: 'string' },
  deadline: { type: 'string' },
  strict: { type: 'boolean' },
  write: { type: 'boolean' },
  format: { type: 'string' },
  json: { type: 'boolean' },
  quiet: { type: 'boolean', short: 'q' },
  verbose: { type: 'boolean', short: 'v' }
} as const satisfies NonNullable<ParseArgsConfig['options']>

type OptionName = keyof typeof OPTIONS

const COMMON: readonly OptionName[] = ['help', 'version', 'json', 'quiet', 'verbose']
const RUN: readonly OptionName[] = [...COMMON, 'study', 'out', 'threads', 'formats', 'no-figures', 'parquet', 'no-arrow']

const ALLOWED: Readonly<Record<string, readonly OptionName[]>> = {
  all: [...RUN, 'no-cache'],
  traces: RUN,
  diagnose: [
    ...COMMON,
    'out',
    'threads',
    'formats',
    'no-figures',
    'gamma',
    'lambda-returns',
    'lambda-advantages',
    'sampling',
    'fail-on',
    'history',
    'against',
    'key',
    'success-above',
    'jump-above',
    'skip-bad'
  ],
  verify: [...COMMON, 'study', 'outputs', 'second-reader', 'format'],
  audit: [...COMMON, 'study', 'out', 'threads', 'strict'],
  study: [...COMMON, 'out', 'name'],
  manifest: [...COMMON, 'study', 'write'],
  fetch: [...COMMON, 'study', 'into', 'run', 'not-run', 'only', 'base-url', 'deadline']
}

const MAX_THREADS = 256

/** @throws Fault with exit code 2 */
export function parseCommand(argv: readonly string[]): Command {
  const { values, positionals } = parse(argv)
  if (values.help === true) return { command: 'help' }
  if (values.version === true) return { command: 'version' }
  const [name, ...paths] = positionals
  if (name === undefined) throw usage('no command', 'nothing', Object.keys(ALLOWED).join(', '))
  const allowed = Object.hasOwn(ALLOWED, name) ? ALLOWED[name] : undefined
  if (allowed === undefined) throw usage('unknown command', printable(name), Object.keys(ALLOWED).join(', '))
  for (const option of Object.keys(values) as OptionName[]) {
    if (!allowed.includes(option)) throw usage(`option not for ${name}`, `--${option}`, allowed.map(o => `--${o}`).join(' '))
  }
  if (values.quiet === true && values.verbose === true) throw usage('contradiction', '--quiet and --verbose', 'one of them')
  const common: CommonOptions = {
    json: values.json === true,
    quiet: values.quiet === true,
    verbose: values.verbose === true
  }
  if (name === 'study') return { command: 'study init', ...initOptions(paths, values), ...common }
  if (name === 'traces') {
    if (paths.length === 0) throw usage('no path', 'traces without PATH', 'snapshot folders, HTML files or a folder of many')
    return { command: 'traces', paths, ...runOptions(values), ...common }
  }
  if (name === 'diagnose') {
    if (paths.length === 0)
      throw usage('no path', 'diagnose without PATH', "trainers' dumps, snapshot folders, HTML files or a folder of many")
    const { out, threads, formats } = runOptions(values)
    return { command: 'diagnose', paths, out, threads, formats, ...diagnoseToldOptions(values), ...common }
  }
  if (name === 'fetch') return { command: 'fetch', ...fetchOptions(paths, values), ...common }
  if (paths.length > 0) throw usage('unexpected argument', printable(paths[0]), `no argument after ${name}`)
  if (name === 'verify') {
    const format = values.format ?? 'text'
    if (format !== 'text' && format !== 'sha256sum') throw usage('wrong --format', printable(format), 'text or sha256sum')
    if (format === 'sha256sum' && common.json) throw usage('contradiction', '--json and --format sha256sum', 'one of them')
    const [study, outputs] = [folder('study', values.study), folder('outputs', values.outputs)]
    const secondReader = values['second-reader'] === true
    if (outputs !== null && study !== null) throw usage('contradiction', '--outputs and --study', 'one of them')
    if (outputs !== null && secondReader) throw usage('contradiction', '--outputs and --second-reader', 'one of them')
    return { command: 'verify', study, outputs, secondReader, format, ...common }
  }
  if (name === 'audit') {
    const [study, out] = [folder('study', values.study), folder('out', values.out)]
    return { command: 'audit', study, out, threads: threadCount(values.threads), strict: values.strict === true, ...common }
  }
  if (name === 'manifest') {
    const study = folder('study', values.study)
    if (study === null) throw usage('no study', 'manifest without --study', '--study DIR')
    return { command: 'manifest', study, write: values.write === true, ...common }
  }
  return { command: 'all', cache: values['no-cache'] !== true, ...runOptions(values), ...common }
}

type Values = ReturnType<typeof parse>['values']

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true, strict: true })
  } catch (cause) {
    const code = (cause as { code?: unknown }).code
    if (typeof code === 'string' && code.startsWith('ERR_PARSE_ARGS_')) {
      throw usage('wrong option', printable(describeCause(cause).split(/\n|\. To specify/)[0]), 'an option that --help lists')
    }
    throw cause
  }
}

function runOptions(values: Values): Omit<RunOptions, keyof CommonOptions> {
  if (values['no-figures'] === true && values.formats !== undefined) {
    throw usage('contradiction', '--no-figures and --formats', 'one of them')
  }
  return {
    study: folder('study', values.study),
    out: folder('out', values.out) ?? DEFAULT_OUT,
    threads: threadCount(values.threads),
    formats: values['no-figures'] === true ? [] : formatList(values.formats),
    tables: { arrow: values['no-arrow'] !== true, parquet: values.parquet === true }
  }
}

const DEFAULT_DEADLINE_MINUTES = 60
/** A week. */
const MAX_DEADLINE_MINUTES = 10_080

/** Most display names or ids of a command line. */
const MAX_CHOSEN = 1000

function fetchOptions([path, ...names]: readonly string[], values: Values): Omit<FetchCommand, keyof CommonOptions> {
  const [study, dir] = [folder('study', values.study), folder('into', values.into)]
  const { only = null, 'base-url': baseUrl = null, deadline, run: ids = null, 'not-run': notIds = [] } = values
  if (study !== null && dir !== null) throw usage('contradiction', '--study and --into', 'one of them')
  const place = study ?? dir
  if (place === null) throw usage('no study', 'fetch without --study and --into', 'ENTITY/PROJECT NAME… --into DIR, or --study DIR')
  if (study !== null && path !== undefined)
    throw usage('unexpected argument', printable(path), 'no argument with --study, which says what to fetch')
  if (dir !== null && only !== null) throw usage('contradiction', '--into and --only', 'one of them: --only is a label of a study')
  for (const [option, chosen] of [
    ['NAME', names],
    ['--run', ids ?? []],
    ['--not-run', notIds]
  ] as const) {
    if (chosen.includes('')) throw usage(`wrong ${option}`, '""', 'a text')
    if (chosen.length > MAX_CHOSEN) throw usage(`too many ${option}`, String(chosen.length), `at most ${MAX_CHOSEN}`)
  }
  const both = notIds.find(id => ids?.includes(id) ?? false)
  if (both !== undefined) throw usage('contradiction', `--run and --not-run ${printable(both)}`, 'one of them')
  const deadlineMinutes = deadline === undefined ? DEFAULT_DEADLINE_MINUTES : /^\d{1,5}$/.test(deadline) ? Number(deadline) : NaN
  if (deadline !== undefined && !(deadlineMinutes >= 1 && deadlineMinutes <= MAX_DEADLINE_MINUTES)) {
    throw usage('wrong --deadline', printable(deadline), `minutes, an integer from 1 to ${MAX_DEADLINE_MINUTES}`)
  }
  const into = dir === null ? null : fetchTarget(path, names, ids !== null)
  return { study: place, into, ids, notIds, only, baseUrl, deadlineMinutes }
}

function fetchTarget(path: string | undefined, names: readonly string[], namesRuns: boolean): FetchTarget {
  const [entity = '', project = '', ...rest] = (path ?? '').split('/')
  if (entity === '' || project === '' || rest.length > 0 || entity.length > 200 || project.length > 200) {
    throw usage('wrong project', path === undefined ? 'nothing' : printable(path), 'ENTITY/PROJECT, as in the address of its page')
  }
  if (names.length === 0 && !namesRuns) throw usage('no run', 'neither NAME nor --run', 'display names of runs, or --run ID')
  return { entity, project, names }
}

const MAX_STUDY_NAME = 200

function initOptions([verb, dir, ...rest]: readonly string[], values: Values): Omit<InitOptions, keyof CommonOptions> {
  const { name = null } = values
  if (verb === undefined) throw usage('no subcommand', 'study', 'study init DIR')
  if (verb !== 'init') throw usage('unknown subcommand', `study ${printable(verb)}`, 'study init DIR')
  if (dir === undefined) throw usage('no folder', 'study init without DIR', 'a folder of exports')
  if (rest.length > 0) throw usage('unexpected argument', printable(rest[0]), 'no argument after the folder')
  if (name !== null && (name === '' || name.length > MAX_STUDY_NAME)) {
    throw usage('wrong --name', printable(JSON.stringify(name)), `a text of 1 to ${MAX_STUDY_NAME} characters`)
  }
  const out = values.out === undefined ? null : pathText('--out', values.out, 'a file')
  return { dir: pathText('DIR', dir, 'a folder'), out, name }
}

function folder(option: string, value: string | undefined): string | null {
  return value === undefined ? null : pathText(`--${option}`, value, 'a folder')
}

function pathText(argument: string, value: string, what: string): string {
  if (value === '' || value.includes('\0')) throw usage(`wrong ${argument}`, printable(JSON.stringify(value)), what)
  return value
}

function threadCount(text: string | undefined): number {
  // The main thread cuts the page and writes the outputs. It fills a core.
  if (text === undefined) return Math.min(Math.max(1, availableParallelism() - 1), MAX_THREADS)
  const threads = /^\d{1,4}$/.test(text) ? Number(text) : NaN
  if (!(threads >= 1 && threads <= MAX_THREADS)) throw usage('wrong --threads', printable(text), `an integer from 1 to ${MAX_THREADS}`)
  return threads
}

function formatList(text: string | undefined): readonly FigureFormat[] {
  if (text === undefined) return FIGURE_FORMATS
  const named = text.split(',').map(f => f.trim().toLowerCase())
  for (const format of named) {
    if (!(FIGURE_FORMATS as readonly string[]).includes(format)) {
      throw usage('wrong --formats', printable(JSON.stringify(format)), `a list out of ${FIGURE_FORMATS.join(',')}`)
    }
  }
  return FIGURE_FORMATS.filter(format => named.includes(format))
}

function usage(problem: string, found: string, expected: string): Fault {
  return new Fault({ format: 'usage', problem, found, expected, exitCode: EXIT.usage })
}
