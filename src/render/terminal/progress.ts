/**
 * Shows the progress of a run on stderr: a bar with rate and time left on a terminal, plain lines elsewhere (a log, a
 * CI job), nothing when quiet. Stream, clock and environment are passed in.
 *
 * The package cli-progress redraws the bar. It is loaded only when a bar is drawn. The numbers in the bar are made
 * here. The bar neither hides the cursor nor catches signals, so a killed run leaves the terminal as it was.
 */
import { printable, printableId } from '../../core/errors.js'
import { formatCount } from '../../core/counts.js'
import { formatBytes, formatDuration, formatQuantity } from './numbers.js'
import { fitText, isInteractive, textWidth, type Environment, type TextStream } from './text.js'

export interface ProgressOptions {
  readonly stream: TextStream
  readonly env: Environment
  /** milliseconds, increasing: `performance.now` */
  readonly now: () => number
  readonly quiet?: boolean
  /** least time between two plain lines of one phase, in milliseconds; default 1000 */
  readonly intervalMs?: number
}

export interface PhaseOptions {
  /** name of the activity, such as `hashing` */
  readonly label: string
  /** amount of work; null where it is unknown */
  readonly total: number | null
  /** `bytes`, or the plural of the counted things, such as `traces` */
  readonly unit: string
}

/** One phase of the work. Calls after `finish` are ignored. */
export interface Phase {
  /** work done so far, from the start of the phase */
  update(done: number): void
  /** ends the phase and writes its last line; `done` defaults to the last update */
  finish(done?: number): void
}

export interface Progress {
  /** begins a phase; an open phase ends first */
  phase(options: PhaseOptions): Phase
  /** writes a line of its own, such as a warning, above the bar where there is one; nothing when quiet */
  line(text: string): void
  /**
   * ends an open phase without a line about its result; may be called twice. It must be called on every exit path,
   * because it ends the bar's timer
   */
  close(): void
}

/** A way to show progress. `text` gives the line about a phase for a width in cells. */
interface Display {
  begin(text: (width: number) => string): void
  changed(): void
  end(lastLine: string | null): void
  line(text: string): void
}

export async function createProgress(options: ProgressOptions): Promise<Progress> {
  const { stream, env, now, quiet = false, intervalMs = 1000 } = options
  const display = quiet ? SILENT : isInteractive(stream, env) ? await barDisplay(stream) : plainDisplay(stream, now, intervalMs)
  let open: Phase | null = null
  return {
    phase: phaseOptions => {
      open?.finish()
      const state = new PhaseState(phaseOptions, now)
      display.begin(width => state.describe(width))
      const phase: Phase = {
        update: done => {
          if (open !== phase) return
          state.done = done
          display.changed()
        },
        finish: done => {
          if (open !== phase) return
          open = null
          if (done !== undefined) state.done = done
          display.end(state.summary())
        }
      }
      open = phase
      return phase
    },
    line: text => display.line(printableId(text, 2000)),
    close: () => {
      if (open === null) return
      open = null
      display.end(null)
    }
  }
}

/** The numbers of one phase, and the text about them. */
class PhaseState {
  done = 0
  readonly #start: number
  readonly #options: PhaseOptions
  readonly #now: () => number

  constructor(options: PhaseOptions, now: () => number) {
    this.#options = { ...options, label: printable(options.label), unit: printable(options.unit) }
    this.#now = now
    this.#start = now()
  }

  get #seconds(): number {
    return Math.max(0, (this.#now() - this.#start) / 1000)
  }

  #amount(value: number): string {
    return this.#options.unit === 'bytes' ? formatBytes(value) : formatCount(value)
  }

  /** ` traces`, ` trace` behind a count of 1, nothing behind bytes */
  #word(count: number): string {
    const { unit } = this.#options
    if (unit === 'bytes') return ''
    return ` ${count === 1 ? unit.replace(/ies$/, 'y').replace(/s$/, '') : unit}`
  }

  /** ` 28 MB/s`; empty before any work is done */
  #rate(): string {
    const seconds = this.#seconds
    if (this.done <= 0 || seconds <= 0) return ''
    const rate = this.done / seconds
    return this.#options.unit === 'bytes' ? `${formatBytes(rate)}/s` : `${formatQuantity(rate)}${this.#word(rate)}/s`
  }

  /**
   * `hashing [=====-----]  35 %  12 MB of 34 MB  20 MB/s  1.1 s left`. The bar takes the rest of `width`; there is none
   * where that is 0
   */
  describe(width: number): string {
    const { label, total } = this.#options
    const rate = this.#rate()
    if (total === null) {
      const parts = [label, `${this.#amount(this.done)}${this.#word(this.done)}`, rate].filter(s => s !== '')
      return fitText(parts.join('  '), width === 0 ? Infinity : width)
    }
    const share = total > 0 ? Math.min(1, Math.max(0, this.done / total)) : 1
    const secondsLeft = (this.#seconds * (1 - share)) / share
    const left = share === 0 || share === 1 ? '' : secondsLeft < 1 ? '< 1 s left' : `${formatDuration(secondsLeft)} left`
    const percent = `${String(Math.floor(share * 100)).padStart(3)} %`
    const numbers = [percent, `${this.#amount(this.done)} of ${this.#amount(total)}${this.#word(total)}`, rate, left]
      .filter(s => s !== '')
      .join('  ')
    if (width === 0) return `${label}  ${numbers.trimStart()}`
    const cells = Math.min(40, width - textWidth(label) - textWidth(numbers) - 5)
    if (cells < 5) return fitText(`${label}  ${numbers.trimStart()}`, width)
    const full = Math.floor(share * cells)
    return `${label}  [${'='.repeat(full)}${'-'.repeat(cells - full)}] ${numbers}`
  }

  /** `hashing  34.3 MB in 1.2 s (28 MB/s)` */
  summary(): string {
    const { label } = this.#options
    const rate = this.#rate()
    return `${label}  ${this.#amount(this.done)}${this.#word(this.done)} in ${formatDuration(this.#seconds)}${rate === '' ? '' : ` (${rate})`}`
  }
}

const SILENT: Display = { begin: () => undefined, changed: () => undefined, end: () => undefined, line: () => undefined }

/**
 * Writes a line when at least the interval has passed since the last line, and one at the end. A shorter phase has its
 * last line only.
 */
function plainDisplay(stream: TextStream, now: () => number, intervalMs: number): Display {
  let text: (width: number) => string = () => ''
  let last = now()
  return {
    begin: describe => {
      text = describe
      last = now()
    },
    changed: () => {
      if (now() - last < intervalMs) return
      last = now()
      stream.write(`${text(0)}\n`)
    },
    end: lastLine => {
      if (lastLine !== null) stream.write(`${lastLine}\n`)
    },
    line: line => {
      stream.write(`${line}\n`)
    }
  }
}

async function barDisplay(stream: TextStream): Promise<Display> {
  const { default: cliProgress } = await import('cli-progress')
  let text: (width: number) => string = () => ''
  const create = (): InstanceType<typeof cliProgress.SingleBar> =>
    new cliProgress.SingleBar({
      // cli-progress uses only write, isTTY and columns of a stream.
      stream: stream as NodeJS.WritableStream,
      format: (_options, params) => text(Math.max(1, params.maxWidth - 1)),
      fps: 10,
      hideCursor: false,
      // Leaves the terminal's line wrapping unchanged. The text is cut to the width anyway.
      linewrap: true,
      clearOnComplete: true,
      gracefulExit: false
    })
  let bar: InstanceType<typeof cliProgress.SingleBar> | null = null
  const start = (): void => {
    bar = create()
    bar.start(1, 0)
  }
  const stop = (): void => {
    bar?.stop()
    bar = null
  }
  return {
    begin: describe => {
      text = describe
      start()
    },
    // The bar redraws by its own timer. This call redraws it where the event loop was too busy for the timer.
    changed: () => bar?.update(0),
    end: lastLine => {
      stop()
      if (lastLine !== null) stream.write(`${lastLine}\n`)
    },
    line: line => {
      const running = bar !== null
      stop()
      stream.write(`${line}\n`)
      if (running) start()
    }
  }
}
