/** `verify --outputs OUT`: compares a folder of outputs with the record of its run. */
import { counted, formatCount } from '../core/counts.js'
import { EXIT } from '../core/errors.js'
import { formatSha256sum } from '../study/manifest.js'
import { checkOutputs, outputFaults, type OutputsReport } from '../runs/outputs-check.js'
import { formatTable, type TableOptions } from '../render/terminal/table.js'
import type { VerifyCommand } from './args.js'
import { problems, verdictLine } from './closing.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting } from './reporter.js'

export async function verifyOutputs(out: string, options: VerifyCommand, io: CliIo): Promise<CommandResult> {
  return reporting(options, io, async reporter => {
    let done = 0
    const hashing = reporter.progress.phase({ label: 'verifying', total: null, unit: 'bytes' })
    const report = await checkOutputs(out, {
      signal: io.signal,
      onBytes: bytes => {
        done += bytes
        hashing.update(done)
      }
    })
    hashing.finish()
    if (options.format === 'sha256sum') {
      io.stdout.write(formatSha256sum(report))
      const { 'size only': sizeOnly } = report.counts
      if (sizeOnly > 0 && !options.quiet) io.stderr.write(`note: ${formatCount(sizeOnly)} recorded by size alone, with no line\n`)
    }
    const faults = outputFaults(report, out)
    const exitCode = faults.length > 0 ? EXIT.checkFailed : EXIT.ok
    reporter.tellFaults(faults)
    if (options.format !== 'sha256sum') {
      const { ok, 'size only': sizeOnly } = report.counts
      const verdict = verdictLine(exitCode, [...problems(faults.length), `${counted(ok + sizeOnly, 'output')} as recorded`])
      const records = counted(report.records.length, 'record')
      await reporter.tell(table => `outputs in ${out}, ${records}\n${outputsStatus(report, table)}${verdict}`)
    }
    return { exitCode, report: { outputs: out, ...report } }
  })
}

/** Counts, then one row for each file that is not plainly ok. */
function outputsStatus({ files, counts }: OutputsReport, options: TableOptions): string {
  const { ok, 'size only': sizeOnly, mismatch, missing, unlisted } = counts
  const count = formatCount
  const head =
    `${count(ok)} ok, ${count(sizeOnly)} by size only, ${count(mismatch)} mismatch, ${count(missing)} missing, ` +
    `${count(unlisted)} unlisted\n`
  const rest = files.filter(({ status }) => status !== 'ok')
  if (rest.length === 0) return head
  return (
    head +
    formatTable(
      [{ title: 'status' }, { title: 'file' }, { title: '' }],
      rest.map(({ path, status, reason }) => [
        { text: status, tone: status === 'size only' || status === 'beside' ? 'muted' : 'bad' },
        path,
        { text: reason ?? '', tone: 'muted' }
      ]),
      options
    )
  )
}
