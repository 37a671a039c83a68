/** `timings.json`. */
import { flag, list, number, type Infer } from '../../core/checker.js'
import { envelopeFields, output } from './document.js'
import { closed, someText, whole } from './kinds.js'

export const TIMINGS = output(
  'timings',
  {
    title: 'Timings',
    description: 'How long the phases of a run took. The only output that differs from run to run.'
  },
  {
    ...envelopeFields('timings'),
    unchanged: { kind: flag, doc: 'true where nothing had changed since the last run and nothing was computed' },
    threads: { kind: whole(1), doc: 'worker threads' },
    phases: {
      kind: list(
        closed({
          phase: { kind: someText, doc: 'what was done' },
          seconds: { kind: number(0), doc: 'how long it took' }
        })
      ),
      doc: 'in the order of the run'
    },
    seconds: { kind: number(0), doc: 'the whole run, to the writing of this file' }
  }
)

export type TimingsDocument = Infer<typeof TIMINGS>
