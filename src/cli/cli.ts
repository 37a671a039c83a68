/**
 * The command line: parses it, runs the command, and turns errors into lines and an exit code. A command's code is loaded
 * when the command is asked for.
 */
import { EXIT, Failures, Fault, toFault } from '../core/errors.js'
import { parseCommand, type Command } from './args.js'
import type { CliIo, CommandResult } from './io.js'
import { COMMAND_NAMES } from './options.js'
import { faultLines } from './lines.js'
import type { Needs } from '../core/system/limits.js'
import { isIdentityName, withoutSecrets } from '../core/secrets.js'

/** Runs one command and returns the exit code. Never throws. */
export async function main(argv: readonly string[], io: CliIo): Promise<number> {
  let command: Command | null = null
  try {
    command = parseCommand(argv)
    if (command.command === 'help') {
      io.stdout.write((await import('./help.js')).helpText(command.topic))
      return EXIT.ok
    }
    if (command.command === 'version') {
      const { GENERATOR } = await import('../core/version.js')
      io.stdout.write(`${GENERATOR.name} ${GENERATOR.version}\n`)
      return EXIT.ok
    }
    const { exitCode, report } = await execute(command, io)
    if (command.json) printJson(io, { command: command.command, exit_code: exitCode, ...report })
    return exitCode
  } catch (error) {
    const faults = faultsOf(error, io.signal)
    const exitCode = Math.max(...faults.map(f => f.exitCode))
    const verbose = command !== null && 'verbose' in command && command.verbose
    for (const line of faultLines(faults, verbose)) io.stderr.write(`${line}\n`)
    if (exitCode === EXIT.usage) io.stderr.write(`critic-traces: ${helpHint(argv)}\n`)
    if (command !== null && 'json' in command && command.json) {
      const listed = faults.map(f => ({ message: f.message, exit_code: f.exitCode, place: f.place }))
      printJson(io, { command: command.command, exit_code: exitCode, faults: listed })
    }
    return exitCode
  }
}

async function execute(command: Exclude<Command, { command: 'help' | 'version' }>, io: CliIo): Promise<CommandResult> {
  if (command.command === 'verify') return (await import('./verify.js')).runVerify(command, io)
  if (command.command === 'manifest') return (await import('./manifest.js')).runManifest(command, io)
  if (command.command === 'fetch') return (await import('./fetch.js')).runFetch(command, io)
  if (command.command === 'study init') return (await import('./study.js')).runStudyInit(command, io)
  const { lowLimits, systemLimits } = await import('../core/system/limits.js')
  const low = lowLimits(systemLimits(), command.command, NEEDS[command.command])
  if (low.length > 0) throw new Failures(low)
  if (command.command === 'merge') return (await import('./merge.js')).runMerge(command, io)
  // The threads start first: they load their code while this thread loads its own.
  const { openTracePool } = await import('../compute/traces/pool.js')
  const pool = openTracePool(command.threads)
  try {
    if (command.command === 'all') return await (await import('./all.js')).runAll(command, io, pool)
    if (command.command === 'watch') return await (await import('./watch.js')).runWatchCommand(command, io, pool)
    if (command.command === 'explore') return await (await import('./explore.js')).runExploreCommand(command, io, pool)
    if (command.command === 'diagnose') return await (await import('./diagnose.js')).runDiagnoseCommand(command, io, pool)
    return command.command === 'audit'
      ? await (await import('./audit.js')).runAudit(command, io, pool)
      : await (await import('./traces.js')).runTraces(command, io, pool)
  } finally {
    await pool.destroy()
  }
}

/**
 * The least that each command was measured to work with, with a margin (docs/performance.md). In open files: at most 25 on Node 20, 25 to 30 on 22 and 24.
 */
const NEEDS: Readonly<Record<'all' | 'audit' | 'diagnose' | 'explore' | 'merge' | 'traces' | 'watch', Needs>> = {
  all: { addresses: 780, data: 145, files: 32 },
  audit: { addresses: 780, data: 145, files: 32 },
  diagnose: { addresses: 640, data: 120, files: 32 },
  explore: { addresses: 640, data: 120, files: 32 },
  merge: { addresses: 780, data: 145, files: 32 },
  traces: { addresses: 640, data: 120, files: 32 },
  watch: { addresses: 640, data: 120, files: 32 }
}

/** Where the help is for what could not be parsed. */
function helpHint([word = '', verb = '']: readonly string[]): string {
  const command = COMMAND_NAMES.find(name => name === word || name === `${word} ${verb}`)
  return command === undefined ? '--help lists the commands' : `${command} --help lists its options`
}

/** After an interruption only the interruption is reported, without what follows from it (an aborted read, a pool that was closed). */
function faultsOf(error: unknown, signal: AbortSignal): readonly Fault[] {
  if (signal.aborted) {
    return [
      new Fault({
        format: 'run',
        problem: 'interrupted',
        found: 'a signal',
        expected: 'to finish; nothing is half-written',
        exitCode: EXIT.interrupted
      })
    ]
  }
  return error instanceof Failures ? error.faults : [toFault(error, 'run')]
}

function printJson(io: CliIo, object: object): void {
  // Messages and elements of lists may hold ids, whose digits alone are no secret.
  const shown = (name: string, value: unknown): unknown =>
    typeof value === 'string' ? withoutSecrets(value, !/^(?:message|\d+)$/.test(name) && !isIdentityName(name)) : value
  io.stdout.write(`${JSON.stringify(object, shown, 2)}\n`)
}
