/** The help: all commands on one screen, or one command with its options and an example. */
import {
  COMMAND_NAMES,
  CLI_COMMANDS,
  OPTIONS,
  optionsOf,
  type CommandName,
  type HelpText,
  type OptionName,
  type OptionSpec
} from './options.js'

const PROGRAM = 'node dist/run.js'
const WIDTH = 100

/** Options that every command takes stand in the overview too. */
const EVERYWHERE: readonly OptionName[] = ['json', 'quiet', 'verbose', 'help', 'version']

/** @param topic null: all commands */
export function helpText(topic: CommandName | null): string {
  return topic === null ? overview() : commandHelp(topic)
}

function overview(): string {
  const commands = COMMAND_NAMES.map(
    name => [`${name} ${shortArguments(CLI_COMMANDS[name].arguments)}`.trimEnd(), CLI_COMMANDS[name].does] as const
  )
  return `critic-traces: verify, measure and draw what an RL critic predicted

usage: ${PROGRAM} COMMAND [options]

commands
${columns(commands)}
  ${PROGRAM} help COMMAND, or COMMAND --help: its options and an example

options of every command
${columns(EVERYWHERE.map(name => [optionWord(name, 'all'), textFor('all', OPTIONS[name].help)] as const))}

W&B key: WANDB_API_KEY, else the netrc entry of the host; it is written nowhere
replica: kept in CRITIC_TRACES_CACHE, else in XDG_CACHE_HOME/critic-traces, else in ~/.cache/critic-traces
         (about 49 MB)
exit codes: 0 fine, 1 a check failed, 2 usage, 3 unreadable or malformed input, 130 interrupted
`
}

/** Most characters of a command's arguments in the overview; its own help has all. */
const MAX_ARGUMENTS = 12

function shortArguments(given: string): string {
  return given.length > MAX_ARGUMENTS ? '…' : given
}

function commandHelp(command: CommandName): string {
  const { arguments: given, does, example } = CLI_COMMANDS[command]
  return `critic-traces ${command}: ${does}

usage: ${PROGRAM} ${`${command} ${given}`.trimEnd()} [options]

options
${columns(optionsOf(command).map(name => [optionWord(name, command), textFor(command, OPTIONS[name].help)] as const))}

example
  ${PROGRAM} ${example}
`
}

/** `-q, --quiet`, `--out DIR` */
function optionWord(name: OptionName, command: CommandName): string {
  const { short, value }: OptionSpec = OPTIONS[name]
  return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${textFor(command, value)}`}`
}

function textFor(command: CommandName, text: HelpText): string {
  const own = typeof text === 'string' ? text : text[command]
  if (own === undefined) throw new Error(`an option of ${command} has no text for it`)
  return own
}

/** Two columns; a text that is too long goes on below its own beginning. */
function columns(rows: ReadonlyArray<readonly [left: string, right: string]>): string {
  const left = rows.reduce((widest, [word]) => Math.max(widest, word.length), 0) + 2
  return rows.map(([word, text]) => `  ${word.padEnd(left)}${wrapped(text, WIDTH - left - 2).join(`\n${' '.repeat(left + 2)}`)}`).join('\n')
}

function wrapped(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines[lines.length - 1]
    if (last === '') lines[lines.length - 1] = word
    else if (last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
