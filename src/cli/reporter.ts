/**
 * What one command prints and where: progress and faults on standard error, its summary on standard output. There is no
 * summary where the command is to be quiet or prints an object.
 */
import { Failures, type Fault } from '../core/errors.js'
import { createProgress, type Progress } from '../render/terminal/progress.js'
import type { TableOptions } from '../render/terminal/table.js'
import { wantsColour, lineWidth } from '../render/terminal/text.js'
import type { CommonOptions } from './args.js'
import type { CliIo, CommandResult } from './io.js'
import { faultLines } from './lines.js'

export class Reporter {
  readonly io: CliIo
  readonly progress: Progress
  readonly #options: CommonOptions

  constructor(options: CommonOptions, io: CliIo, progress: Progress) {
    this.#options = options
    this.io = io
    this.progress = progress
  }

  /** true: the summary lists everything and cuts no text, instead of what fits a screen */
  get verbose(): boolean {
    return this.#options.verbose
  }

  /** Prints the summary. @param text called only where the summary is printed */
  async tell(text: (table: TableOptions) => string | Promise<string>): Promise<void> {
    this.progress.close()
    const { quiet, json, verbose } = this.#options
    if (quiet || json) return
    const { stdout, env } = this.io
    stdout.write(await text({ colour: wantsColour(stdout, env), ...(verbose ? {} : { width: lineWidth(stdout) }) }))
  }

  tellFaults(faults: readonly Fault[]): void {
    for (const line of faultLines(faults, this.#options.verbose)) this.io.stderr.write(`${line}\n`)
  }
}

/**
 * Runs a command with a reporter. The reporter's progress ends however the command ends.
 * It first prints the note, if there is one, and at the end what figures could not show.
 */
export async function reporting(
  { note = null, ...options }: CommonOptions & { readonly note?: string | null },
  io: CliIo,
  command: (reporter: Reporter) => Promise<CommandResult>
): Promise<CommandResult> {
  const progress = await createProgress({ stream: io.stderr, env: io.env, now: io.now, quiet: options.quiet })
  try {
    if (note !== null) progress.line(`note: ${note}`)
    const result = await command(new Reporter(options, io, progress))
    const missing = await missingCharacters()
    if (missing !== null) progress.line(`note: ${missing}`)
    return result
  } finally {
    progress.close()
  }
}

async function missingCharacters(): Promise<string | null> {
  const { missingNote } = await import('../render/figures/fonts.js')
  return missingNote()
}

/** @throws Failures where there are any */
export function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw new Failures(faults)
}
