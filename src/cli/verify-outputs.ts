/** `verify --outputs OUT`: a folder of outputs against the record of its run. */
import { EXIT } from '../core/errors.js'
import { formatSha256sum } from '../study/manifest.js'
import { checkOutputs, outputFaults, type OutputsReport } from '../runs/outputs-check.js'
import { createProgress } from '../render/terminal/progress.js'
import { formatTable, type TableOptions } from '../render/terminal/table.js'
import { wantsColour } from '../render/terminal/text.js'
import type { VerifyCommand } from './args.js'
import type { CliIo, CommandResult } from './io.js'
import { faultLines } from './lines.js'

export async function verifyOutputs(out: string, options: VerifyCommand, io: CliIo): Promise<CommandResult> {
  const progress = await createProgress({ stream: io.stderr, env: io.env, now: io.now, quiet: options.quiet })
  try {
    let done = 0
    const hashing = progress.phase({ label: 'verifying', total: null, unit: 'bytes' })
    const report = await checkOutputs(out, {
      signal: io.signal,
      onBytes: bytes => {
        done += bytes
        hashing.update(done)
      }
    })
    hashing.finish()
    progress.close()
    if (options.format === 'sha256sum') {
      io.stdout.write(formatSha256sum(report))
      const { 'size only': sizeOnly } = report.counts
      if (sizeOnly > 0 && !options.quiet) io.stderr.write(`note: ${sizeOnly} recorded by size alone, with no line\n`)
    } else if (!options.quiet && !options.json) {
      io.stdout.write(`outputs in ${out}, ${report.records.length === 1 ? '1 record' : `${report.records.length} records`}\n`)
      io.stdout.write(outputsStatus(report, { colour: wantsColour(io.stdout, io.env) }))
    }
    const faults = outputFaults(report, out)
    for (const line of faultLines(faults, options.verbose)) io.stderr.write(`${line}\n`)
    return { exitCode: faults.length > 0 ? EXIT.checkFailed : EXIT.ok, report: { outputs: out, ...report } }
  } finally {
    progress.close()
  }
}

/** What is not plainly ok, one row each. */
function outputsStatus({ files, counts }: OutputsReport, options: TableOptions): string {
  const { ok, 'size only': sizeOnly, mismatch, missing, unlisted } = counts
  const head = `${ok} ok, ${sizeOnly} by size only, ${mismatch} mismatch, ${missing} missing, ${unlisted} unlisted\n`
  const rest = files.filter(({ status }) => status !== 'ok')
  if (rest.length === 0) return head
  return head + formatTable(
    [{ title: 'status' }, { title: 'file' }, { title: '' }],
    rest.map(({ path, status, reason }) => [
      { text: status, tone: status === 'size only' || status === 'beside' ? 'muted' : 'bad' }, path, { text: reason ?? '', tone: 'muted' }
    ]),
    options
  )
}
