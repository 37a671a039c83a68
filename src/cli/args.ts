/**
 * The command line as plain data: what was asked for, before anything is done. Unknown commands and options, missing
 * values and contradictions are usage faults (exit 2) that say what exists.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { describeCause, nearest, printable, type Fault } from '../core/errors.js'
import { FIGURE_FILES, FIGURE_FORMATS, type FigureFile } from '../render/figures/config.js'
import { DEFAULT_EXPLORE_OUT, DEFAULT_OUT } from '../render/outputs/output-names.js'
import { diagnoseOptions, type DiagnoseTold } from './diagnose-args.js'
import { fetchOptions, type FetchTold } from './fetch-args.js'
import { parseShard, type ShardTold } from './shard.js'
import { COMMAND_NAMES, OPTIONS, optionsOf, type CommandName, type OptionName, type OptionSpec, type OptionValues } from './options.js'
import { tracesOptions, type TraceTold } from './traces-args.js'
import { folder, meant, pathText, usage } from './usage.js'
import { watchOptions, type WatchTold } from './watch-args.js'

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
  readonly formats: readonly FigureFile[]
  /** which tables of tokens are written */
  readonly tables: { readonly arrow: boolean; readonly parquet: boolean }
}

export interface TracesOptions extends RunOptions, TraceTold {
  readonly paths: readonly string[]
  /** null: the whole */
  readonly shard: ShardTold | null
}

export interface WatchOptions extends Omit<TracesOptions, 'shard'>, WatchTold {}

export interface DiagnoseOptions extends TracesOptions, DiagnoseTold {}

export interface ExploreOptions extends Omit<TracesOptions, 'shard'> {
  /** true: the page has the texts of turns */
  readonly texts: boolean
  /** port of the server, 0: any that is free; null: the page is written, and nothing served */
  readonly port: number | null
}

export interface MergeOptions extends CommonOptions, Pick<RunOptions, 'out' | 'threads' | 'formats'> {
  /** partials, or folders of them */
  readonly paths: readonly string[]
  /** a partial to write in place of outputs; null: outputs */
  readonly partial: string | null
  /** partials of another critic, or a folder of them; null: nothing is compared */
  readonly against: string | null
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
  /** a folder of outputs whose figures are read back; null: none */
  readonly figures: string | null
  /** true: every input is read again by other libraries */
  readonly secondReader: boolean
  readonly format: 'text' | 'sha256sum'
}

export interface ManifestCommand extends CommonOptions {
  readonly study: string
  readonly write: boolean
}

export interface FetchCommand extends CommonOptions, FetchTold {}

export type Command =
  | ({ readonly command: 'all' } & AllOptions)
  | ({ readonly command: 'traces' } & TracesOptions)
  | ({ readonly command: 'watch' } & WatchOptions)
  | ({ readonly command: 'diagnose' } & DiagnoseOptions)
  | ({ readonly command: 'explore' } & ExploreOptions)
  | ({ readonly command: 'merge' } & MergeOptions)
  | ({ readonly command: 'verify' } & VerifyCommand)
  | ({ readonly command: 'audit' } & AuditOptions)
  | ({ readonly command: 'study init' } & InitOptions)
  | ({ readonly command: 'manifest' } & ManifestCommand)
  | ({ readonly command: 'fetch' } & FetchCommand)
  | { readonly command: 'help'; readonly topic: CommandName | null }
  | { readonly command: 'version' }

const MAX_THREADS = 256

const EXISTING = [...new Set(COMMAND_NAMES.map(firstWord))]

/** @throws Fault with exit code 2 */
export function parseCommand(argv: readonly string[]): Command {
  const { values, positionals } = parse(argv)
  const [name, ...paths] = positionals
  if (name === 'help') return { command: 'help', topic: paths.length === 0 ? null : commandOf(paths[0]) }
  if (values.help === true) return { command: 'help', topic: name === undefined ? null : commandOf(name) }
  if (values.version === true) return { command: 'version' }
  if (name === undefined) throw usage('no command', 'nothing', EXISTING.join(', '))
  const command = commandOf(name)
  const allowed = optionsOf(command)
  for (const option of Object.keys(values) as OptionName[]) {
    if (!allowed.includes(option)) {
      const hint = meant(nearest(option, allowed), '--')
      throw usage(`option not for ${command}`, `--${option}`, `${allowed.map(o => `--${o}`).join(' ')}${hint}`)
    }
  }
  if (values.quiet === true && values.verbose === true) throw usage('contradiction', '--quiet and --verbose', 'one of them')
  const common: CommonOptions = {
    json: values.json === true,
    quiet: values.quiet === true,
    verbose: values.verbose === true
  }
  if (command === 'study init') return { command, ...initOptions(paths, values), ...common }
  if (command === 'traces' || command === 'watch' || command === 'diagnose' || command === 'explore') {
    if (paths.length === 0)
      throw usage('no path', `${command} without PATH`, "trainers' dumps, snapshot folders, HTML files or a folder of many")
    const told = { paths, ...runOptions(values), ...tracesOptions(values), ...common }
    if (command === 'watch') return { command, ...told, ...watchOptions(values) }
    if (command === 'explore')
      return { command, ...told, out: folder('out', values.out) ?? DEFAULT_EXPLORE_OUT, texts: values.texts === true, port: portOf(values) }
    const shard = shardOption(values)
    if (command === 'traces') return { command, ...told, shard }
    return { command, ...told, shard, ...diagnoseOptions(values) }
  }
  if (command === 'merge') return { command, ...mergeOptions(paths, values), ...common }
  if (command === 'fetch') return { command, ...fetchOptions(paths, values), ...common }
  if (paths.length > 0) throw usage('unexpected argument', printable(paths[0]), `no argument after ${name}`)
  if (command === 'verify') {
    const format = values.format ?? 'text'
    if (format !== 'text' && format !== 'sha256sum') throw usage('wrong --format', printable(format), 'text or sha256sum')
    if (format === 'sha256sum' && common.json) throw usage('contradiction', '--json and --format sha256sum', 'one of them')
    const [study, outputs, figures] = [folder('study', values.study), folder('outputs', values.outputs), folder('figures', values.figures)]
    const secondReader = values['second-reader'] === true
    if (outputs !== null && study !== null) throw usage('contradiction', '--outputs and --study', 'one of them')
    if (outputs !== null && secondReader) throw usage('contradiction', '--outputs and --second-reader', 'one of them')
    if (figures !== null) {
      const other = [study, outputs].some(one => one !== null) || secondReader || values.format !== undefined
      if (other) throw usage('contradiction', '--figures with another check or --format', 'one of them')
    }
    return { command, study, outputs, figures, secondReader, format, ...common }
  }
  if (command === 'audit') {
    const [study, out] = [folder('study', values.study), folder('out', values.out)]
    return { command, study, out, threads: threadCount(values.threads), strict: values.strict === true, ...common }
  }
  if (command === 'manifest') {
    const study = folder('study', values.study)
    if (study === null) throw usage('no study', 'manifest without --study', '--study DIR')
    return { command, study, write: values.write === true, ...common }
  }
  return { command, cache: values['no-cache'] !== true, ...runOptions(values), ...common }
}

function firstWord(command: CommandName): string {
  return command.split(' ')[0]
}

/** The command that a first word begins. */
function commandOf(word: string): CommandName {
  const command = COMMAND_NAMES.find(name => firstWord(name) === word)
  if (command !== undefined) return command
  throw usage('unknown command', printable(word), `${EXISTING.join(', ')}${meant(nearest(word, EXISTING), '')}`)
}

/** Options with a value, of which the last one would win without a word. A flag given twice says what it says once. */
const isSingle = (option: string): boolean => {
  const spec: OptionSpec | undefined = (OPTIONS as Readonly<Record<string, OptionSpec>>)[option]
  return spec?.type === 'string' && spec.multiple !== true
}

const NUMBER_OPTIONS: readonly string[] = ['--success-above', '--jump-above']

/** `--success-above -1` as `--success-above=-1`: the parser takes what begins with a dash for an option. */
function withNumbers(argv: readonly string[]): string[] {
  const args: string[] = []
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  for (let i = 0; i < argv.length; i++) {
    const isNumber = i + 1 < end && NUMBER_OPTIONS.includes(argv[i]) && /^-[.\d]/.test(argv[i + 1])
    args.push(isNumber ? `${argv[i]}=${argv[++i]}` : argv[i])
  }
  return args
}

function parse(argv: readonly string[]): { readonly values: OptionValues; readonly positionals: readonly string[] } {
  try {
    const parsed = parseArgs({ args: withNumbers(argv), options: OPTIONS, allowPositionals: true, strict: true, tokens: true })
    const given = parsed.tokens.flatMap(token => (token.kind === 'option' ? [token.name] : []))
    const twice = given.find((option, i) => isSingle(option) && given.indexOf(option) < i)
    if (twice !== undefined) throw usage('contradiction', `--${twice} twice`, 'one of them')
    return parsed
  } catch (cause) {
    const { code } = cause as { readonly code?: unknown }
    if (typeof code !== 'string' || !code.startsWith('ERR_PARSE_ARGS_')) throw cause
    const said = describeCause(cause)
    const unknown = /^Unknown option '(-[^']*)'/.exec(said)
    if (unknown !== null) throw unknownOption(unknown[1], argv)
    const dash = /'(?:-\w, )?(--[\w-]+)[^']*' argument is ambiguous/.exec(said)
    const expected = dash === null ? 'an option as --help lists it' : `${dash[1]}=VALUE where the value begins with a dash`
    throw usage('wrong option', printable(said.split(/\.?\n|\. To specify/)[0]), expected)
  }
}

/** The nearest of the command's options is named. */
function unknownOption(given: string, argv: readonly string[]): Fault {
  const [word] = parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true, strict: false }).positionals
  const command = COMMAND_NAMES.find(name => firstWord(name) === word)
  const known = command === undefined ? (Object.keys(OPTIONS) as OptionName[]) : optionsOf(command)
  const name = given.replace(/^-+/, '')
  const where = command === undefined ? 'one that help COMMAND lists' : `one that ${command} --help lists`
  return usage('unknown option', printable(given), `${where}${meant(nearest(name, known), '--')}`)
}

function runOptions(values: OptionValues): Omit<RunOptions, keyof CommonOptions> {
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

const MAX_PORT = 65_535

function portOf({ serve = false, port: text, out }: OptionValues): number | null {
  if (!serve && text !== undefined) throw usage('no --serve', '--port alone', '--serve --port N')
  if (!serve) return null
  if (out !== undefined) throw usage('contradiction', '--serve and --out', 'one of them: a server writes no output')
  const port = text === undefined ? 0 : /^\d{1,5}$/.test(text) ? Number(text) : NaN
  if (!(port <= MAX_PORT)) throw usage('wrong --port', printable(text ?? ''), `an integer from 0 to ${MAX_PORT}`)
  return port
}

/** What a merge decides, or a shard cannot do. */
const NOT_OF_A_SHARD = ['formats', 'no-figures', 'parquet', 'no-arrow', 'against'] as const

function shardOption(values: OptionValues): ShardTold | null {
  if (values.shard === undefined) return null
  const other = NOT_OF_A_SHARD.find(option => values[option] !== undefined)
  const expected =
    other === 'against'
      ? 'shards of both without it, then merge PARTIALS --against PARTIALS; two dumps are compared value by value by traces without --shard'
      : 'one of them: a shard writes its partial and its tokens, and merge draws'
  if (other !== undefined) throw usage('contradiction', `--shard and --${other}`, expected)
  return parseShard(values.shard)
}

function mergeOptions(paths: readonly string[], values: OptionValues): Omit<MergeOptions, keyof CommonOptions> {
  if (paths.length === 0) throw usage('no path', 'merge without PARTIALS', 'partials, or folders of them')
  const partial = values.partial === undefined ? null : pathText('--partial', values.partial, 'a file')
  const other = (['out', 'formats', 'no-figures', 'against'] as const).find(option => values[option] !== undefined)
  if (partial !== null && other !== undefined) throw usage('contradiction', `--partial and --${other}`, 'one of them')
  const { out, threads, formats } = runOptions(values)
  const against = values.against === undefined ? null : pathText('--against', values.against, 'partials')
  return { paths, partial, against, out, threads, formats }
}

const MAX_STUDY_NAME = 200

function initOptions([verb, dir, ...rest]: readonly string[], values: OptionValues): Omit<InitOptions, keyof CommonOptions> {
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

function threadCount(text: string | undefined): number {
  // The main thread cuts the page and writes the outputs. It fills a core.
  if (text === undefined) return Math.min(Math.max(1, availableParallelism() - 1), MAX_THREADS)
  const threads = /^\d{1,4}$/.test(text) ? Number(text) : NaN
  if (!(threads >= 1 && threads <= MAX_THREADS)) throw usage('wrong --threads', printable(text), `an integer from 1 to ${MAX_THREADS}`)
  return threads
}

function formatList(text: string | undefined): readonly FigureFile[] {
  if (text === undefined) return FIGURE_FORMATS
  const named = text.split(',').map(f => f.trim().toLowerCase())
  for (const format of named) {
    if (!(FIGURE_FILES as readonly string[]).includes(format)) {
      throw usage(
        'wrong --formats',
        printable(JSON.stringify(format)),
        `a list out of ${FIGURE_FORMATS.join(',')}, each also as dark.png, column.png or column.dark.png`
      )
    }
  }
  return FIGURE_FILES.filter(file => named.includes(file))
}
