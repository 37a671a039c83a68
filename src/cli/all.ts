/** `all`: the study's inputs against its manifest, then its snapshot measured, checked, drawn and written. */
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { TracePool } from '../compute/pool.js'
import { EXIT, Fault } from '../errors.js'
import { amountOf, findSnapshots, type SnapshotPlan } from '../ingest/inventory.js'
import { readManifest, verifyManifest, type ManifestReport } from '../ingest/manifest.js'
import { manifestBytes } from './amounts.js'
import { manifestFaults } from './manifest-faults.js'
import { loadStudy } from '../ingest/study.js'
import { analyseSnapshot, Failures } from '../pipeline.js'
import { createProgress } from '../render/terminal/progress.js'
import { wantsColour } from '../render/terminal/text.js'
import { retireRecord, settingsHash, writeRunRecord } from '../runRecord.js'
import type { RunOptions } from './args.js'
import type { CliIo, CommandResult } from './io.js'
import { studyFolder } from './replica.js'
import { checksTable, manifestTable, outputsTable, statisticsTables } from './summary.js'

export async function runAll(options: RunOptions, io: CliIo, pool: TracePool): Promise<CommandResult> {
  const progress = await createProgress({ stream: io.stderr, env: io.env, now: io.now, quiet: options.quiet })
  try {
    const dir = await studyFolder(options.study, io, line => progress.line(line))
    refuseOutputsInside(dir, options.out)
    const { study, path: studyFile, sha256: studySha256 } = await loadStudy(dir)
    const traces = study.critic_traces
    if (traces === null) {
      throw new Fault({
        format: 'study', problem: 'missing section', found: 'no critic_traces', expected: 'a section that all can run', place: { file: studyFile }
      })
    }
    const manifest = await readManifest(join(dir, study.manifest))
    const hashing = progress.phase({ label: 'verifying', total: manifestBytes(manifest), unit: 'bytes' })
    const report = await verifyManifest(dir, manifest, {
      signal: io.signal,
      onProgress: p => hashing.update(p.bytesDone)
    })
    hashing.finish()
    const changed = manifestFaults(report, dir)
    if (changed.length > 0) throw new Failures(changed)
    const plan = await snapshotOf(join(dir, traces.snapshot))
    const settings = {
      traces,
      expectations: traces.expectations,
      enforced: true,
      examplesRequired: true,
      synthetic: study.synthetic
    }
    const reading = progress.phase({ label: 'measuring', ...(await amountOf(plan)) })
    let earlier: string[] = []
    const outcome = await analyseSnapshot({
      plan, settings, pool,
      beforeCommit: async () => { earlier = await retireRecord(options.out) },
      ...(plan.html === null ? {} : { sourceName: studyPath(dir, plan.html) }),
      out: options.out,
      formats: options.formats,
      verified: verifiedFiles(report, traces.snapshot),
      signal: io.signal,
      onProgress: done => reading.update(done)
    })
    reading.finish()
    await writeRunRecord(options.out, plan, settingsHash(settings, options.formats), study.synthetic, outcome, earlier, pool)
    progress.close()
    if (!options.quiet && !options.json) {
      const table = { colour: wantsColour(io.stdout, io.env) }
      io.stdout.write(
        `study ${study.name} in ${dir}\nmanifest: ${manifestTable(report, table)}\n` +
          `${statisticsTables(outcome.statistics, table)}\n${checksTable(outcome.checks, table)}\n${outputsTable(options.out, outcome.outputs, table)}`
      )
    }
    return {
      exitCode: EXIT.ok,
      report: {
        synthetic: study.synthetic,
        study: { name: study.name, path: dir, sha256: studySha256 },
        manifest: { sha256: report.manifest_sha256, counts: report.counts },
        out: options.out,
        statistics: outcome.statistics,
        checks: outcome.checks.map(({ check, expected, passed, total }) => ({ check, expected, passed, total })),
        outputs: outcome.outputs
      }
    }
  } finally {
    progress.close()
  }
}

/** Outputs in the study's own folder would be unlisted inputs of the next run. */
function refuseOutputsInside(dir: string, out: string): void {
  const path = relative(resolve(dir), resolve(out))
  if (path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)) return
  throw new Fault({
    format: 'usage', problem: 'output inside the study', found: out, expected: `a folder outside ${dir}`, exitCode: EXIT.usage
  })
}

/** A path below the study as the manifest writes it. */
function studyPath(dir: string, path: string): string {
  return relative(dir, path).split(sep).join('/')
}

async function snapshotOf(folder: string): Promise<SnapshotPlan> {
  const plans = await findSnapshots([folder])
  if (plans.length === 1) return plans[0]
  throw new Fault({
    format: 'study',
    problem: 'several snapshots',
    found: `${plans.length} below its snapshot folder`,
    expected: 'one',
    place: { file: folder }
  })
}

/** SHA-256 of the files in the snapshot's folder, by path relative to it. */
function verifiedFiles(report: ManifestReport, folder: string): Map<string, string> {
  const prefix = folder === '.' ? '' : `${folder.replace(/\/$/, '')}/`
  const files = new Map<string, string>()
  for (const { path, status, expected } of report.files) {
    if (status === 'ok' && expected !== null && path.startsWith(prefix)) files.set(path.slice(prefix.length), expected.sha256)
  }
  return files
}
