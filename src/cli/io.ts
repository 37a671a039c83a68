/** What the command line needs of its surroundings. It is passed in, so that tests can watch it. */
import type { Environment, TextStream } from '../render/terminal/text.js'

export interface CliIo {
  readonly stdout: TextStream
  readonly stderr: TextStream
  readonly env: Environment
  /** milliseconds, increasing */
  readonly now: () => number
  readonly signal: AbortSignal
}

/** What a command returns: its exit code, and the object that `--json` prints. */
export interface CommandResult {
  readonly exitCode: number
  readonly report: object
}
