/** `verify --second-reader`: the study's inputs read again by other libraries, as lines and a table. */
import { Fault, printable } from '../core/errors.js'
import type { ManifestReport } from '../study/manifest.js'
import { counted, formatCount } from '../core/counts.js'
import type { createProgress } from '../render/terminal/progress.js'
import { formatTable, type TableOptions } from '../render/terminal/table.js'
import type { Study } from '../schema/study.js'
import { planSecond, runSecond, type NamedReading, type SecondOptions } from '../second/run.js'

export async function readAgain(
  dir: string,
  study: Study,
  manifest: ManifestReport,
  progress: Awaited<ReturnType<typeof createProgress>>,
  options: SecondOptions
): Promise<NamedReading[]> {
  const plan = planSecond(dir, study, manifest)
  const reading = progress.phase({ label: 'second reader', total: plan.length, unit: 'files' })
  const readings = await runSecond(plan, {
    ...options,
    onFiles: done => {
      reading.update(done)
    }
  })
  reading.finish()
  return readings
}

/** One fault for each file that is read differently, or that our reader refuses. */
export function secondFaults(readings: readonly NamedReading[]): Fault[] {
  return readings.flatMap(({ fault }) => (fault === null ? [] : [Fault.deserialize(fault)]))
}

/** Counts, then a row for every file that is not the same, with the reason, then notes. */
export function secondTable(readings: readonly NamedReading[], options: TableOptions): string {
  const number = (status: NamedReading['status']): number => readings.filter(r => r.status === status).length
  const count = (status: NamedReading['status']): string => formatCount(number(status))
  const values = readings.reduce((sum, r) => sum + r.values, 0)
  const refused = number('refused')
  const head =
    `second reader: ${count('same')} same, ${count('different')} different, ${count('not readable')} not readable by the second` +
    `${refused === 0 ? '' : `, ${formatCount(refused)} refused by ours`}; ${counted(values, 'value')} compared\n`
  const rows = readings.filter(({ status }) => status !== 'same')
  const table =
    rows.length === 0
      ? ''
      : formatTable(
          [{ title: 'second reader' }, { title: 'file' }, { title: 'values', align: 'right' }, { title: 'reason' }],
          rows.map(reading => [
            { text: reading.status, tone: reading.status === 'not readable' ? 'muted' : 'bad' },
            reading.path,
            formatCount(reading.values),
            reasonOf(reading)
          ]),
          options
        )
  return head + table + readings.flatMap(({ path, notes }) => notes.map(note => `note: ${printable(path, 400)}: ${note}\n`)).join('')
}

function reasonOf({ fault, unread, unreadParts }: NamedReading): string {
  if (fault !== null) return `${fault.problem}`
  const [{ part, reason }] = unread
  const more = unreadParts > 1 ? ` (and ${formatCount(unreadParts - 1)} more)` : ''
  return `${part === null ? '' : `${part}: `}${reason}${more}`
}
