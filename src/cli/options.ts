/**
 * Every command and every option once: which commands take an option, its type, and its line of help. The parser (`args.ts`)
 * and the help (`help.ts`) are made of these two tables, so an option of another command is one word in its list, and a new
 * option is one entry. Data only: help loads nothing else.
 */
export const CLI_COMMANDS = {
  all: {
    arguments: '',
    does: 'the whole study: verify every input, measure, draw, write',
    example: 'all --study my-study --out out'
  },
  traces: {
    arguments: 'PATH…',
    does: "critic traces: trainers' dumps, NPZ files, HTML pages, or folders of them",
    example: 'traces my-run --jump-above 0.2 --out out'
  },
  watch: {
    arguments: 'PATH…',
    does: 'critic traces as a trainer writes them; figure and page stay current',
    example: 'watch my-run/dumps --out out'
  },
  diagnose: {
    arguments: 'PATH…',
    does: 'how returns were made, what went wrong, how good the critic is',
    example: 'diagnose my-run --gamma 1 --fail-on values-off-by-one --out out'
  },
  explore: {
    arguments: 'PATH…',
    does: 'one page of traces: table, curves down to tokens, jumps, diagnostics',
    example: 'explore my-run/step_10 my-run/step_20 --out out'
  },
  merge: {
    arguments: 'PARTIALS…',
    does: 'what the shards of traces or diagnose measured, to the outputs of one machine',
    example: 'merge out/partials --out out'
  },
  verify: {
    arguments: '',
    does: 'every file of a study, or of a folder of outputs, against the list of hashes',
    example: 'verify --study my-study'
  },
  audit: {
    arguments: '',
    does: 'every published value against what the inputs give, computed afresh',
    example: 'audit --study my-study'
  },
  'study init': {
    arguments: 'DIR',
    does: 'a commented study.json and its manifest for a folder of exports',
    example: 'study init my-exports --name "My study"'
  },
  manifest: {
    arguments: '--study DIR',
    does: 'what the manifest of a study lacks; with --write, a new one',
    example: 'manifest --study my-study --write'
  },
  fetch: {
    arguments: 'ENTITY/PROJECT NAME… --into DIR',
    does: 'W&B histories, each with a certificate, and a study of them; or --study DIR',
    example: 'fetch my-team/my-project ppo ppo-baseline --into my-study'
  }
} as const satisfies Readonly<Record<string, CommandSpec>>

interface CommandSpec {
  /** what stands behind the command's name */
  readonly arguments: string
  /** one line */
  readonly does: string
  readonly example: string
}

export type CommandName = keyof typeof CLI_COMMANDS
export const COMMAND_NAMES = Object.keys(CLI_COMMANDS) as readonly CommandName[]

export interface OptionSpec {
  readonly type: 'boolean' | 'string'
  readonly short?: string
  /** may be given several times */
  readonly multiple?: true
  /** the word for its value in the help; several where the commands differ */
  readonly value?: HelpText
  readonly commands: readonly CommandName[]
  /** one sentence; several where the commands differ */
  readonly help: HelpText
}

export type HelpText = string | Readonly<Partial<Record<CommandName, string>>>

const EVERY: readonly CommandName[] = COMMAND_NAMES
const RUN = ['all', 'traces', 'watch'] as const
const DRAWING = [...RUN, 'diagnose', 'merge'] as const
const SAMPLES = ['traces', 'watch', 'diagnose', 'explore'] as const
const STUDIES = ['all', 'traces', 'watch', 'diagnose', 'explore', 'verify', 'audit', 'manifest', 'fetch'] as const
const REPLICA = 'study folder with study.json (default: the synthetic replica, generated once)'

const EXPECTED_OF_TRACES =
  'study whose critic_traces section says what is expected; an option goes before it (default: none: checks are reported only)'

/** In the order of the help. */
export const OPTIONS = {
  study: {
    type: 'string',
    value: 'DIR',
    commands: STUDIES,
    help: {
      all: REPLICA,
      verify: REPLICA,
      audit: REPLICA,
      traces: EXPECTED_OF_TRACES,
      watch: EXPECTED_OF_TRACES,
      diagnose: 'study whose critic_traces section says names, thresholds and how traces were chosen (default: none)',
      explore: 'study whose critic_traces section says names, thresholds and how traces were chosen (default: none)',
      manifest: 'study folder with study.json',
      fetch: 'study whose fetch section says what is fetched, in place of names and --into'
    }
  },
  out: {
    type: 'string',
    value: { all: 'DIR', traces: 'DIR', watch: 'DIR', diagnose: 'DIR', explore: 'DIR', merge: 'DIR', audit: 'DIR', 'study init': 'FILE' },
    commands: [...DRAWING, 'explore', 'audit', 'study init'],
    help: {
      all: 'output folder (default: artifacts)',
      traces: 'output folder; what earlier runs wrote there of other snapshots stays (default: artifacts)',
      watch: 'output folder, as of traces; one watch at a time (default: artifacts)',
      diagnose: 'output folder, with a subfolder for each snapshot or dump (default: artifacts)',
      explore: 'output folder (default: artifacts/explore)',
      merge: 'output folder, which may be that of the shards (default: artifacts)',
      audit: 'folder for audit.json (default: it is written nowhere); nothing there is read',
      'study init': 'a study file to write alone, as a draft'
    }
  },
  shard: {
    type: 'string',
    value: 'I/N',
    commands: ['traces', 'diagnose'],
    help: 'do part I of N, from 0, and write what merge needs; auto: as Slurm, Kubernetes or AWS Batch say; auto/N: of N (docs/scale.md)'
  },
  partial: {
    type: 'string',
    value: 'FILE',
    commands: ['merge'],
    help: 'write one partial of the given ones, which need not be all, in place of outputs'
  },
  key: {
    type: 'string',
    multiple: true,
    value: 'NAME=THEIRS',
    commands: SAMPLES,
    help: 'name of an array or field in the file, such as values=critic_values (docs/formats.md); may be repeated'
  },
  'success-above': {
    type: 'string',
    value: 'X',
    commands: SAMPLES,
    help: 'score above which a trace without an outcome is a success (default: 0)'
  },
  marker: {
    type: 'string',
    value: 'TEXT',
    commands: ['traces', 'watch'],
    help: 'text that ends a generated turn (default: <|im_end|>)'
  },
  'jump-above': {
    type: 'string',
    value: 'X',
    commands: SAMPLES,
    help: 'a change of value is a jump when its absolute value is larger (default: 0.1)'
  },
  'skip-bad': {
    type: 'boolean',
    commands: SAMPLES,
    help: 'leave bad samples of a dump out and list them, instead of stopping'
  },
  against: {
    type: 'string',
    value: { traces: 'FILE', diagnose: 'PATH', merge: 'PARTIALS' },
    commands: ['traces', 'diagnose', 'merge'],
    help: {
      traces: 'a second dump of the same traces, compared value by value',
      diagnose: 'another critic: a snapshot or dump; every statistic of both, and the difference',
      merge: 'partials of another critic, or a folder of them: what diagnose --against writes'
    }
  },
  gamma: { type: 'string', value: 'X', commands: ['diagnose'], help: 'the discount as configured; exit 1 where the numbers show another' },
  'lambda-returns': { type: 'string', value: 'X', commands: ['diagnose'], help: 'the same of the lambda of the returns' },
  'lambda-advantages': {
    type: 'string',
    value: 'X',
    commands: ['diagnose'],
    help: 'the same of the lambda of the advantages; adaptive:ALPHA for a length-adaptive one'
  },
  sampling: {
    type: 'string',
    value: 'TEXT',
    commands: ['diagnose'],
    help: 'how the trajectories were chosen: "every trajectory", "stratified by outcome" or "not stated" (default: as the study says, else not stated)'
  },
  'fail-on': {
    type: 'string',
    multiple: true,
    value: 'KIND',
    commands: ['diagnose'],
    help: 'exit 1 where this kind of finding shows, in either of two sets (docs/diagnostics.md lists them); may be repeated'
  },
  history: {
    type: 'string',
    value: 'FILE',
    commands: ['diagnose'],
    help: 'JSON Lines or CSV with the explained variance that was logged by step, to compare'
  },
  tokenizer: {
    type: 'string',
    value: 'FILE',
    commands: ['traces', 'watch', 'explore'],
    help: 'tokenizer.json that gives the texts of token ids'
  },
  texts: {
    type: 'boolean',
    commands: ['explore'],
    help: 'texts of turns too, without what looks like a secret; whoever has the page can read them'
  },
  serve: {
    type: 'boolean',
    commands: ['explore'],
    help: 'show any number of tokens in a page of 127.0.0.1 until Ctrl-C; no output is written'
  },
  port: { type: 'string', value: 'N', commands: ['explore'], help: 'port of --serve (default: any that is free)' },
  settle: {
    type: 'string',
    value: 'SECONDS',
    commands: ['watch'],
    help: 'how long a file must stand still before it is read (default: 5)'
  },
  poll: {
    type: 'string',
    value: 'SECONDS',
    commands: ['watch'],
    help: 'how often it looks where no event comes, as on network folders (default: 10)'
  },
  'keep-deleted': {
    type: 'boolean',
    commands: ['watch'],
    help: 'entries of deleted files stay, as for a trainer that keeps its last dumps alone'
  },
  once: {
    type: 'boolean',
    commands: ['watch'],
    help: 'analyse what is there and end, as for cron; without it a PATH that is not there yet is waited for'
  },
  name: { type: 'string', value: 'NAME', commands: ['study init'], help: "name of the study (default: the folder's)" },
  threads: {
    type: 'string',
    value: 'N',
    commands: [...DRAWING, 'explore', 'audit'],
    help: "worker threads (default: one a core but the main thread's; same bytes at any N)"
  },
  formats: {
    type: 'string',
    value: 'LIST',
    commands: DRAWING,
    help: 'figure files out of png,svg,pdf (default: all three); dark.svg: on a dark ground; column.pdf: 88 mm wide'
  },
  'no-figures': { type: 'boolean', commands: DRAWING, help: 'no figures' },
  parquet: {
    type: 'boolean',
    commands: RUN,
    help: 'every token in training_data/critic-traces.parquet too, for SQL (docs/outputs.md)'
  },
  'no-arrow': { type: 'boolean', commands: RUN, help: 'no training_data/critic-traces.arrow' },
  'no-cache': {
    type: 'boolean',
    commands: ['all'],
    help: 'compute again even where inputs, settings and outputs are unchanged since the last run'
  },
  outputs: {
    type: 'string',
    value: 'OUT',
    commands: ['verify'],
    help: 'a folder of outputs against the run.json in it; no study is looked at, nothing computed'
  },
  figures: {
    type: 'string',
    value: 'OUT',
    commands: ['verify'],
    help: "the SVG figures of a folder of outputs, every drawn point read back against the folder's data files"
  },
  'second-reader': {
    type: 'boolean',
    commands: ['verify'],
    help: 'page, NPZ, parquet and histories read again by other libraries, value by value'
  },
  format: {
    type: 'string',
    value: 'FORMAT',
    commands: ['verify'],
    help: 'text, or sha256sum for lines that sha256sum -c reads (default: text)'
  },
  strict: {
    type: 'boolean',
    commands: ['audit'],
    help: 'fail where a page cites a value from an output that no claim holds (a study may demand it)'
  },
  write: {
    type: 'boolean',
    commands: ['manifest'],
    help: 'write it; roles, revisions and date of the one that is there stay'
  },
  into: { type: 'string', value: 'DIR', commands: ['fetch'], help: 'a folder for histories and study; it may be there already' },
  run: {
    type: 'string',
    multiple: true,
    value: 'ID',
    commands: ['fetch'],
    help: 'this run alone of those that are selected (may be repeated)'
  },
  'not-run': { type: 'string', multiple: true, value: 'ID', commands: ['fetch'], help: 'not this run (may be repeated)' },
  only: { type: 'string', value: 'LABEL', commands: ['fetch'], help: "the runs of one label of the study's fetch.runs (default: all)" },
  'base-url': {
    type: 'string',
    value: 'URL',
    commands: ['fetch'],
    help: 'another W&B server (default: WANDB_BASE_URL, else base_url of ~/.config/wandb/settings, else https://api.wandb.ai); HTTPS_PROXY and NO_PROXY are obeyed'
  },
  deadline: {
    type: 'string',
    value: 'MIN',
    commands: ['fetch'],
    help: 'minutes until it gives up; what it has stays for the next one (default: 60)'
  },
  json: { type: 'boolean', commands: EVERY, help: 'one JSON object on standard output instead of tables' },
  quiet: { type: 'boolean', short: 'q', commands: EVERY, help: 'no progress and no tables; errors only' },
  verbose: {
    type: 'boolean',
    short: 'v',
    commands: EVERY,
    help: 'every row and file, and no text cut; stack traces and causes with errors'
  },
  help: { type: 'boolean', short: 'h', commands: EVERY, help: 'this text' },
  version: { type: 'boolean', commands: EVERY, help: 'name and version of the program' }
} as const satisfies Readonly<Record<string, OptionSpec>>

export type OptionName = keyof typeof OPTIONS

/** What the parser gives: a text, several texts, or true. */
export type OptionValues = {
  readonly [K in OptionName]?: (typeof OPTIONS)[K] extends { readonly multiple: true }
    ? readonly string[]
    : (typeof OPTIONS)[K]['type'] extends 'string'
      ? string
      : boolean
}

/** Names of the options that a command takes, in the order of the help. */
export function optionsOf(command: CommandName): readonly OptionName[] {
  return (Object.keys(OPTIONS) as OptionName[]).filter(name => (OPTIONS[name].commands as readonly CommandName[]).includes(command))
}
